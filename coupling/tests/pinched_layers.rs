//! Layers of cloth that two plates hold keep the force that their contacts have.

use crate::common::{prescribed, snapshot};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_coupling::{AutoOr, Settings, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant_mpm::material::Elastic;
use pliant_rigid::{BodyId, Shape};
use pliant_testing::Random;

/// Layers of cloth in the middle of two plates, which are wider, close on them and stand.
#[derive(Debug)]
struct Pinch {
    /// m
    h: f64,
    /// s
    dt: f64,
    /// Of the mesh: the length of its edges \[m\], and how many along a side.
    edge: f64,
    parts: usize,
    layers: usize,
    cloth: ClothMaterial,
    /// Of the particles, and the opening in the end \[m\].
    radius: f64,
    opening: f64,
    /// Of a contact \[N/m\].
    stiffness: f64,
    /// Where the plates' normal points.
    turn: UnitQuaternion<f64>,
    /// Of everything \[m/s\].
    velocity: Vector3<f64>,
    friction: f64,
}

/// Steps in which the plates close, and in all.
const CLOSING: u32 = 50;
const STEPS: u32 = 1000;

impl Pinch {
    fn random(random: &mut Random) -> Self {
        let h = random.log_uniform(0.004, 0.1);
        let dt = random.log_uniform(2e-4, 5e-3);
        let edge = h * random.uniform(0.3, 1.3);
        let elastic = Elastic { youngs_modulus: random.log_uniform(1e4, 1e6), poissons_ratio: 0.3 };
        let (density, thickness) = (random.log_uniform(100.0, 2000.0), h * random.log_uniform(0.02, 0.3));
        let cloth = ClothMaterial::new(density, elastic, thickness, random.log_uniform(1e4, 1e6));
        let radius = h * random.uniform(0.1, 0.5);
        Self {
            h,
            dt,
            edge,
            parts: 3 + random.bits() as usize % 4,
            layers: 1 + random.bits() as usize % 4,
            cloth: ClothMaterial { damping: random.unit(), ..cloth },
            radius,
            opening: 2.0 * radius * random.uniform(0.2, 0.9),
            stiffness: density * thickness * edge * edge * random.log_uniform(0.02, 2.0) / (dt * dt),
            turn: random.rotation(),
            velocity: if random.unit() < 0.5 { Vector3::zeros() } else { random.vector() },
            friction: random.unit(),
        }
    }

    fn axes(&self) -> [Vector3<f64>; 3] {
        [0, 1, 2].map(|axis| self.turn * Vector3::ith(axis, 1.0))
    }

    fn world(&self, random: &mut Random) -> World {
        let mut settings = Settings::new(self.h, self.dt);
        settings.gravity = Vector3::zeros();
        settings.contact.particle_radius = AutoOr::Value(self.radius);
        settings.contact.stiffness = AutoOr::Value(self.stiffness);
        let mut builder = World::builder(settings);
        let [u, v, up] = self.axes();
        let width = self.edge * self.parts as f64;
        for layer in 0..self.layers {
            // In the middle third of the room that there is in the end.
            let slot = self.opening / (3.0 * self.layers as f64);
            let height = slot * (random.unit() + layer as f64 - 0.5 * self.layers as f64);
            let corner = height * up - 0.5 * width * (u + v);
            let mesh = ClothMesh::rectangle(corner, width * u, width * v, [self.parts; 2]).unwrap();
            builder.cloth(Sheet { velocity: self.velocity, ..Sheet::new(mesh, self.cloth) });
        }
        // The plates touch the outer layers at the start at most.
        let start = self.radius + self.opening / 6.0;
        let closing = f64::from(CLOSING) * self.dt;
        let over = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
        for (name, turn) in [("lower", self.turn), ("upper", self.turn * over)] {
            let inwards = turn * Vector3::z();
            let pose = Isometry3::from_parts((-start * inwards).into(), turn);
            let closes = self.velocity + (start - 0.5 * self.opening) / closing * inwards;
            let keys = [(0.0, closes, Vector3::zeros()), (closing, self.velocity, Vector3::zeros())];
            builder.body(prescribed(name, Shape::HalfSpace, pose, self.friction, &keys)).unwrap();
        }
        builder.build().unwrap()
    }

    fn vertices(&self) -> usize {
        self.layers * (self.parts + 1).pow(2)
    }

    /// Largest distance of a vertex from the middle of the plates \[m\].
    fn farthest(&self, world: &mut World) -> f64 {
        let [.., up] = self.axes();
        let middle = up.dot(&world.bodies().pose(BodyId(0)).translation.vector) + 0.5 * self.opening;
        let positions = snapshot(world).positions;
        positions.into_iter().map(|x| (up.dot(&Vector3::from(x)) - middle).abs()).fold(0.0, f64::max)
    }
}

/// A contact has the force k (r - d) at a distance d below the particles' radius r. The distances of a
/// vertex from two plates that are b apart add up to b, and the layers press on both alike: so each plate
/// bears N k (r - b/2), N the vertices of all layers, wherever the layers are as long as both plates touch
/// them all, and more where one plate does not. The plates go on to bear it: what the grid adds while it
/// keeps layers apart fades, and this stays.
#[test]
fn layers_between_plates_keep_the_force_of_their_contacts() {
    let seed = 20261201;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let cases = std::env::var("PINCH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let mut touched_by_both = 0;
    for case in 0..cases {
        let pinch = Pinch::random(&mut random);
        let mut world = pinch.world(&mut random);
        let room = pinch.radius - 0.5 * pinch.opening;
        let law = pinch.vertices() as f64 * pinch.stiffness * room;
        let [.., up] = pinch.axes();
        let mut forces = Vec::new();
        for step in 1..=STEPS {
            world.step().unwrap();
            if step % (STEPS / 5) == 0 {
                let both = [(0, -1.0), (1, 1.0)];
                forces.push(both.map(|(body, side)| {
                    side * world.contact_wrench(BodyId(body)).unwrap().force.dot(&up) / law
                }));
            }
        }
        let farthest = pinch.farthest(&mut world) / room;
        println!("{case}: {pinch:?}\n  forces over the law {forces:.5?}, farthest {farthest:.2}");
        // The mean of the two does not see the layers swing between them.
        for [lower, upper] in &forces {
            assert!(0.5 * (lower + upper) > 0.999, "{case}: {lower} and {upper} of the law");
        }
        if farthest < 1.0 {
            touched_by_both += 1;
            let last = forces.last().unwrap();
            assert!(last.iter().all(|force| *force < 1.001), "{case}: {last:?} of the law");
        }
    }
    assert!(2 * touched_by_both > cases, "both plates touch all layers in {touched_by_both} of {cases}");
}
