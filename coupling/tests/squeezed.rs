//! Bodies on layers that something holds from the other side: `coupling: auto` sees how stiff they are.

use crate::common::{block, fixed, fixed_corotated, sliding};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{AutoOr, Settings, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant_mpm::material::Elastic;
use pliant_rigid::{BodyId, Shape};
use pliant_testing::random::Random;

/// What lies on the table.
#[derive(Clone, Copy, Debug)]
enum Layer {
    /// So many particles high.
    Rubber(usize),
    Cloth,
}

/// A layer on a table, and a plate on a vertical rail that a constant force presses on it.
#[derive(Debug)]
struct Press {
    layer: Layer,
    /// s
    dt: f64,
    /// Of the particles \[m\].
    spacing: f64,
    /// Pa
    youngs_modulus: f64,
    /// kg
    mass: f64,
    /// N
    force: f64,
    /// Of contact \[N/m\]; none is the library's choice.
    stiffness: Option<f64>,
}

/// Particles along each side of the layer.
const SIDE: usize = 6;

impl Press {
    /// The plate's mass is 0.01 to 100 times the layer's, the force up to a tenth of Young's modulus on its
    /// upper face.
    fn random(random: &mut Random) -> Self {
        let layer = random.choose(&[Layer::Cloth, Layer::Rubber(1), Layer::Rubber(2), Layer::Rubber(5)]);
        let (spacing, youngs_modulus) = (random.log_uniform(0.004, 0.02), random.log_uniform(3e3, 3e5));
        let area = (SIDE as f64 * spacing).powi(2);
        let height = match layer {
            Layer::Rubber(count) => count as f64 * spacing,
            Layer::Cloth => 1e-3,
        };
        let stiffness = random.log_uniform(0.1, 10.0) * youngs_modulus * spacing;
        Self {
            layer,
            dt: random.log_uniform(5e-4, 0.01),
            spacing,
            youngs_modulus,
            mass: random.log_uniform(0.01, 100.0) * 1000.0 * area * height,
            force: random.log_uniform(0.01, 0.1) * youngs_modulus * area,
            stiffness: (random.unit() < 0.7).then_some(stiffness),
        }
    }

    fn world(&self) -> World {
        let h = 2.0 * self.spacing;
        let mut settings = Settings::new(h, self.dt);
        settings.gravity = Vector3::zeros();
        settings.contact.stiffness = self.stiffness.map_or(AutoOr::Auto, AutoOr::Value);
        let radius = 0.25 * h;
        if matches!(self.layer, Layer::Cloth) {
            settings.contact.particle_radius = AutoOr::Value(radius);
        }
        let mut builder = World::builder(settings);
        let side = SIDE as f64 * self.spacing;
        let corner = Vector3::new(-0.5 * side, -0.5 * side, 0.0);
        let top = match self.layer {
            Layer::Rubber(count) => {
                let rubber = builder.material(fixed_corotated(self.youngs_modulus, 0.3, 1000.0));
                let counts = [SIDE, SIDE, count];
                builder.particles(block(rubber, corner.into(), counts, self.spacing, Vector3::zeros()));
                count as f64 * self.spacing
            }
            Layer::Cloth => {
                let elastic = Elastic { youngs_modulus: self.youngs_modulus, poissons_ratio: 0.3 };
                let material = ClothMaterial::new(1000.0, elastic, 1e-3, self.youngs_modulus);
                let at = corner + Vector3::new(0.0, 0.0, radius);
                let mesh = ClothMesh::rectangle(at, side * Vector3::x(), side * Vector3::y(), [SIDE; 2]);
                builder.cloth(Sheet::new(mesh.unwrap(), material));
                2.0 * radius
            }
        };
        builder.body(fixed("table", Shape::HalfSpace, Isometry3::identity(), 1.0)).unwrap();
        let half_extents = Vector3::new(4.0, 4.0, 0.5) * self.spacing;
        let pose = Isometry3::translation(0.0, 0.0, top + half_extents.z);
        let force = Vector3::new(0.0, 0.0, -self.force);
        let plate = Shape::Box { half_extents };
        builder.body(sliding("plate", plate, pose, 0.5, self.mass, Vector3::z(), 0.0, force)).unwrap();
        builder.build().unwrap()
    }

    /// Energy that the scheme created over the energy input in two hundred steps, and the least height of the
    /// plate's lower face over the table \[m\], where the plate is coupled so.
    fn run(&self, strongly: bool) -> Option<(f64, f64)> {
        let mut world = self.world();
        if world.strongly_coupled().next().is_some() != strongly {
            return None;
        }
        let mut lowest = f64::INFINITY;
        for _ in 0..200 {
            world.step().unwrap();
            world.diagnostics();
            lowest = lowest.min(world.bodies().pose(BodyId(1)).translation.z - 0.5 * self.spacing);
        }
        Some((world.energy().gain.unwrap().relative(), lowest))
    }
}

/// Where `coupling: auto` leaves a body weakly coupled, what pushes it back a step late is that of at most
/// a quarter of its mass, and so is the energy that this creates, over the energy input: for layers of
/// cloth and rubber between the body and a table, from one particle to more than a wave passes in a step.
/// With the inertia of the layer alone, without its stiffness, plates of up to fifty times the layer's
/// mass were coupled weakly and created up to 700 times the energy.
#[test]
fn a_layer_does_not_drive_the_body_that_squeezes_it() {
    let seed = 3301;
    println!("seed {seed}");
    let (mut random, mut weak) = (Random::new(seed), 0);
    for number in 0..70 {
        let press = Press::random(&mut random);
        let Some((created, _)) = press.run(false) else { continue };
        weak += 1;
        println!("{number}: {created:.4} {press:?}");
        assert!(created < 0.25, "{number}: {created}");
    }
    println!("{weak} of 70 weakly coupled");
    assert!(weak > 15);
}

/// A plate that a force presses on a layer, strongly coupled, never passes it: its lower face stays above the
/// table, also where it bounces off and the force turns it around within a step. (Where nearness was that at
/// its present velocity, 2 of 78 plates went through layer and table in a step.) And a quarter of the presses
/// at most create what runs warn of, 5 % of the energy input. Energy between the ways of a body's own steps
/// and of the substeps is not created and comes back; counted as created, 45 of 78 were above that.
#[test]
fn a_plate_does_not_pass_the_layer_that_it_presses() {
    let seed = 3301;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let cases = std::env::var("PRESS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(110);
    let mut all = Vec::new();
    for number in 0..cases {
        let press = Press::random(&mut random);
        let Some((created, lowest)) = press.run(true) else { continue };
        println!("{number}: {created:.4}, {lowest:.2e} m {press:?}");
        assert!(lowest > 0.0, "{number}: {lowest} m above the table");
        all.push(created);
    }
    all.sort_by(f64::total_cmp);
    let above = all.iter().filter(|created| **created > 0.05).count();
    println!("{above} of {} strongly coupled create more than 5 %, the worst {:?}", all.len(), all.last());
    assert!(4 * above <= all.len(), "{above} of {}", all.len());
}
