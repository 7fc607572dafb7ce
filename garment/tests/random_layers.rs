//! Random presses, pinches and crumples of cloth: no layer passes through another, at any step.
//!
//! The law is that of incremental potential contact (Li, Kaufman and Jiang 2021): layers that do not
//! cross at the start never do. The cases are drawn over materials, spacings of the grid, steps, speeds
//! and sizes of what presses, none of them picked. Without contact between layers the same cases cross.

#![allow(clippy::unwrap_used)] // everything here runs in tests

use std::sync::atomic::{AtomicU64, Ordering};

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{ParticleSnapshot, Settings, StepReport, World, WorldBuilder};
use pliant_garment::crossings::CrossingDetector;
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, LayerReport, Sheet};
use pliant_mpm::material::Elastic;
use pliant_numeric::random::SplitMix64;
use pliant_rigid::{BodyDesc, Geometry, Motion, Shape, SpatialVelocity, Trajectory, VelocityKey};

const SEED: u64 = 20_261_128;

type V3 = Vector3<f64>;

/// What happens to the cloth.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Folded layers between a floor and a plate.
    Press,
    /// Folded layers between two small pads, which also drag them aside.
    Pinch,
    /// A sheet between four walls that close and open again.
    Crumple,
}

/// A case, as it was drawn.
#[derive(Debug)]
struct Case {
    kind: Kind,
    spacing: f64,
    dt: f64,
    youngs_modulus: f64,
    bending_stiffness: f64,
    damping: f64,
    /// Of what moves \[m/s\].
    speed: f64,
    /// Part of the thickness or width that is left at the end.
    part: f64,
    layers: usize,
    /// Of a pad \[m\].
    half_width: f64,
}

impl Case {
    fn new(kind: Kind, random: &mut SplitMix64) -> Self {
        let mut power = |low: f64, high: f64| 10.0_f64.powf(random.uniform_in(low, high));
        let spacing = power(-2.2, -1.7);
        let dt = power(-3.0, -2.4);
        let youngs_modulus = power(4.0, 5.5);
        let speed = power(-1.3, -0.5);
        let half_width = spacing * power(-0.3, 0.6);
        let bending_stiffness = if random.uniform() < 0.5 { 0.0 } else { 1e-6 / random.uniform_in(0.1, 1.0) };
        let damping = random.uniform_in(0.1, 1.0);
        let part = match kind {
            Kind::Press => random.uniform_in(0.3, 0.9),
            Kind::Pinch => random.uniform_in(0.1, 0.7),
            Kind::Crumple => random.uniform_in(0.25, 0.7),
        };
        let layers = 2 + (random.uniform() * 7.0) as usize;
        Self {
            kind,
            spacing,
            dt,
            youngs_modulus,
            bending_stiffness,
            damping,
            speed,
            part,
            layers,
            half_width,
        }
    }

    /// Layers in the folds of an accordion, 1.05 h above each other, on the plane z = 0.
    fn accordion(&self) -> (ClothMesh, V3) {
        let h = self.spacing;
        let size = [10.0 * h, 6.0 * h];
        let [along, across] = size.map(|side| (side / (0.9 * h)).ceil() as usize);
        let mut vertices = Vec::new();
        for layer in 0..self.layers {
            for i in 0..=along {
                let x = if layer % 2 == 0 { i } else { along - i } as f64 / along as f64 * size[0];
                let z = h * (0.51 + 1.05 * layer as f64);
                vertices.extend((0..=across).map(|j| V3::new(x, j as f64 / across as f64 * size[1], z)));
            }
        }
        let mut faces = Vec::new();
        for i in 0..self.layers * (along + 1) - 1 {
            for j in 0..across {
                let at = |i: usize, j: usize| i * (across + 1) + j;
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                faces.extend(if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
            }
        }
        let top = h * (1.05 * (self.layers as f64 - 1.0) + 1.02);
        (ClothMesh::new(vertices, faces).unwrap(), V3::new(size[0], size[1], top))
    }

    fn sheet(&self, mesh: ClothMesh) -> Sheet {
        let elastic = Elastic { youngs_modulus: self.youngs_modulus, poissons_ratio: 0.3 };
        let material = ClothMaterial::new(1000.0, elastic, self.spacing, 1e5);
        let (damping, bending_stiffness) = (self.damping, self.bending_stiffness);
        Sheet::new(mesh, ClothMaterial { damping, bending_stiffness, ..material })
    }

    /// The world, and for how long it is to be stepped \[s\].
    fn world(&self, layer_contact: bool, random: &mut SplitMix64) -> (World, f64) {
        let settings = Settings { layer_contact, ..Settings::new(self.spacing, self.dt) };
        let mut builder = World::builder(settings);
        let duration = match self.kind {
            Kind::Press => self.press(&mut builder),
            Kind::Pinch => self.pinch(&mut builder),
            Kind::Crumple => self.crumple(&mut builder, random),
        };
        (builder.build().unwrap(), duration)
    }

    fn press(&self, builder: &mut WorldBuilder) -> f64 {
        let (mesh, size) = self.accordion();
        builder.cloth(self.sheet(mesh));
        fixed(builder, "floor", Shape::HalfSpace, Isometry3::identity());
        let down = size.z * (1.0 - self.part) / self.speed;
        let half = V3::new(0.8 * size.x, 0.8 * size.y, 0.01);
        let at = V3::new(0.5 * size.x, 0.5 * size.y, size.z + 0.01);
        let path = [(0.0, -V3::z()), (down, V3::zeros()), (down + 0.1, V3::z()), (down + 0.2, V3::zeros())];
        moving(builder, "plate", half, at, self.speed, &path);
        down + 0.3
    }

    fn pinch(&self, builder: &mut WorldBuilder) -> f64 {
        let (mesh, size) = self.accordion();
        builder.cloth(self.sheet(mesh));
        fixed(builder, "floor", Shape::HalfSpace, Isometry3::translation(0.0, 0.0, -0.02));
        let half = V3::new(self.half_width, self.half_width, 0.01);
        let (close, aside) = (0.5 * size.z * (1.0 - self.part) / self.speed, 3.0 * self.spacing / self.speed);
        for (name, side) in [("lower", -1.0), ("upper", 1.0)] {
            let z = 0.5 * size.z + side * (0.5 * size.z + 0.01);
            let inwards = -side * V3::z();
            let path = [
                (0.0, inwards),
                (close, V3::x()),
                (close + aside, -inwards),
                (2.0 * close + aside, V3::zeros()),
            ];
            moving(builder, name, half, V3::new(0.3 * size.x, 0.4 * size.y, z), self.speed, &path);
        }
        2.0 * close + aside + 0.1
    }

    fn crumple(&self, builder: &mut WorldBuilder, random: &mut SplitMix64) -> f64 {
        let (h, side) = (self.spacing, 20.0 * self.spacing);
        let parts = (side / (0.9 * h)).ceil() as usize;
        let flat =
            ClothMesh::rectangle(V3::z() * (0.6 * h), V3::x() * side, V3::y() * side, [parts; 2]).unwrap();
        let mut mesh = self.sheet(flat);
        // So that it does not stay flat under the walls' pressure.
        mesh.velocity = V3::z() * random.uniform_in(0.0, 0.3 * self.speed);
        builder.cloth(mesh);
        fixed(builder, "floor", Shape::HalfSpace, Isometry3::identity());
        let closed = 0.5 * side * (1.0 - self.part) / self.speed;
        for (name, direction) in
            [("west", V3::x()), ("east", -V3::x()), ("south", V3::y()), ("north", -V3::y())]
        {
            let half = V3::repeat(0.9 * side) - direction.abs() * (0.9 * side - 0.02);
            let middle = V3::new(0.5 * side, 0.5 * side, 0.9 * side);
            let at = middle - direction * (0.5 * side + 0.02 + 0.6 * h);
            let path = [
                (0.0, direction),
                (closed, V3::zeros()),
                (closed + 0.1, -direction),
                (2.0 * closed + 0.1, V3::zeros()),
            ];
            moving(builder, name, half, at, self.speed, &path);
        }
        2.0 * closed + 0.2
    }
}

fn body(shape: Shape, name: &str, pose: Isometry3<f64>, motion: Motion) -> BodyDesc {
    let geometries = vec![Geometry::new(shape, 0.5)];
    BodyDesc { name: name.into(), pose, motion, geometries, appearance: Vec::new() }
}

fn fixed(builder: &mut WorldBuilder, name: &str, shape: Shape, pose: Isometry3<f64>) {
    builder.body(body(shape, name, pose, Motion::Fixed)).unwrap();
}

/// A box that moves in these directions from these times on.
fn moving(builder: &mut WorldBuilder, name: &str, half_extents: V3, at: V3, speed: f64, path: &[(f64, V3)]) {
    let key = |(time, direction): &(f64, V3)| {
        let velocity = SpatialVelocity { angular: V3::zeros(), linear: direction * speed };
        VelocityKey { time: *time, velocity }
    };
    let keys = path.iter().map(key).collect();
    let motion = Motion::Prescribed(Trajectory::Velocities(keys));
    let pose = Isometry3::translation(at.x, at.y, at.z);
    builder.body(body(Shape::Box { half_extents }, name, pose, motion)).unwrap();
}

/// What a case came to.
#[derive(Debug, Default)]
struct Found {
    /// Crossings, all steps together, and at the end.
    crossings: usize,
    at_end: usize,
    edge_steps: usize,
    /// Largest rise of the energy imbalance over the energy input \[-\].
    created: f64,
    layers: LayerReport,
}

/// The case of this number, with contact between layers or without.
fn run(number: u64, layer_contact: bool) -> Found {
    let mut random = SplitMix64::new(SEED + number);
    let kind = [Kind::Press, Kind::Pinch, Kind::Crumple][number as usize % 3];
    let case = Case::new(kind, &mut random);
    println!("{number}: {case:?}");
    let (mut world, duration) = case.world(layer_contact, &mut random);
    let check = CrossingDetector::new(world.cloths());
    let edges = 3 * world.cloths().iter().map(|cloth| cloth.faces.len()).sum::<usize>() / 2;
    let mut snapshot = ParticleSnapshot::default();
    let mut found = Found::default();
    while world.time() < duration {
        let StepReport { layers, .. } = world.step().unwrap();
        assert_eq!(layers.is_some(), layer_contact);
        found.layers = found.layers.with(&layers.unwrap_or_default());
        world.snapshot(&mut snapshot).unwrap();
        found.at_end = check.count(&snapshot.positions).count;
        found.crossings += found.at_end;
        found.edge_steps += edges;
        world.diagnostics();
    }
    found.created = world.energy().gain.unwrap().relative();
    found
}

/// Runs these cases, each with contact between layers and without, side by side: worlds this small gain
/// little from a second thread.
fn found_of(numbers: std::ops::Range<u64>) -> Vec<[Found; 2]> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(numbers.start);
    let take = || -> Vec<(u64, [Found; 2])> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own = taken.take_while(|number| *number < numbers.end);
        own.map(|number| (number, pool.install(|| [true, false].map(|on| run(number, on))))).collect()
    };
    let mut all = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect::<Vec<_>>()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, found)| found).collect()
}

/// Energy created over the energy input from which on a run warns.
const TOLD: f64 = 0.05;

/// Runs these cases, each with contact between layers, where nothing may cross at any step, and at most
/// one case in twenty creates so much energy that a run warns of it, and without; returns the crossings
/// without. (In the last such case seen, seven layers were pinched to an eighth of their thickness.)
fn run_cases(numbers: std::ops::Range<u64>) -> usize {
    println!("seed {SEED}");
    let (mut all, mut without, mut cases_without, mut told) = (LayerReport::default(), 0, 0, 0);
    let count = numbers.clone().count();
    for (number, [found, control]) in numbers.clone().zip(found_of(numbers)) {
        println!("{number}: {found:?}, without contact between layers {control:?}");
        assert_eq!((found.crossings, found.layers.unresolved), (0, 0), "case {number}: {found:?}");
        all = all.with(&found.layers);
        without += control.crossings;
        cases_without += usize::from(control.at_end > 0);
        told += usize::from(found.created > TOLD);
    }
    assert!(20 * told <= count, "{told} of {count} cases create energy");
    println!("{all:?}; without contact {without} crossings, at the end in {cases_without} cases");
    assert!(all.contacts > 0, "nothing touched");
    without
}

#[test]
fn layers_that_are_pressed_pinched_and_crumpled_do_not_cross() {
    run_cases(3..6);
}

// `LAYER_CASES=100` runs a hundred cases, from number `LAYER_FIRST` on.
#[test]
#[ignore = "slow tier"]
fn random_presses_pinches_and_crumples_without_a_crossing() {
    let number = |name: &str, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let first = number("LAYER_FIRST", 0);
    assert!(
        run_cases(first..first + number("LAYER_CASES", 8)) > 0,
        "the cases do not cross without contact between layers either"
    );
}

// The law: a leapfrog scheme whose substep does not change in phase with a vibration does not feed it (Skeel
// 1993). In this case the limit of stability of six layers, pinched, hovers between two and three substeps;
// where their number followed it at every step, 30 % of the energy was created.
#[test]
#[ignore = "slow tier"]
fn layers_pinched_at_the_edge_of_two_numbers_of_substeps_create_no_energy() {
    println!("seed {SEED}");
    let created = run(25, false).created;
    assert!(created < TOLD, "{created} of the energy input is created");
}

/// Bits of all particles.
fn bits(world: &World) -> Vec<u64> {
    let mut bits = Vec::new();
    world.mpm().for_each_particle(|id, p| {
        bits.push(u64::from(id));
        bits.extend(p.position.iter().chain(&p.velocity).map(|x| x.to_bits()));
    });
    bits
}

// The law: contact between layers depends neither on the number of threads nor on a stop: pinched layers
// end with the same bits on one thread and on three, and after a state that was saved half way and read
// into another world.
#[test]
fn contact_between_layers_repeats_to_the_bit() {
    let run = |threads: usize, stop: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let build = || {
                let mut random = SplitMix64::new(SEED + 4);
                let case = Case::new(Kind::Pinch, &mut random);
                case.world(true, &mut random)
            };
            let (mut world, duration) = build();
            let (mut contacts, mut stopped) = (0, !stop);
            while world.time() < 0.7 * duration {
                contacts += world.step().unwrap().layers.unwrap().contacts;
                if !stopped && contacts > 100 {
                    let mut state = Vec::new();
                    world.write_state(&mut state).unwrap();
                    world = build().0;
                    world.read_state(&mut state.as_slice()).unwrap();
                    stopped = true;
                }
            }
            assert!(stopped && contacts > 500, "{contacts} contacts");
            bits(&world)
        })
    };
    let whole = run(1, false);
    assert!(whole == run(3, false), "three threads give other bits than one");
    assert!(whole == run(2, true), "a stop gives other bits");
}
