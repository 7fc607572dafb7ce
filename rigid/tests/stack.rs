//! Towers of boxes that stand by statics: random sizes, masses and offsets, both rigid solvers.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionModel, ContactMaterial};
use pliant_rigid::comfree::*;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::comfree::{G, down, geometry};

/// A box of a tower: half its sides (m), mass (kg), where its centre is over the floor (m).
#[derive(Clone, Copy, Debug)]
struct Brick {
    half: Vector3<f64>,
    mass: f64,
    at: [f64; 2],
}

/// How the masses of a tower go.
#[derive(Clone, Copy, Debug)]
enum Masses {
    Equal,
    /// From the first to the last by this factor in all.
    Graded(f64),
    /// Each separately, the heaviest this many times the lightest at most.
    Random(f64),
}

fn uniform(random: &mut Random, from: f64, to: f64) -> f64 {
    from + (to - from) * 0.5 * (1.0 + random.signed())
}

fn logarithmic(random: &mut Random, from: f64, to: f64) -> f64 {
    uniform(random, from.ln(), to.ln()).exp()
}

/// The least distance of the load's centre from the edge of a support, against half the support's
/// width, over all supports: above 0 the tower stands. Faces are level, so that each passes on one
/// force, the weight of what is above it, at the centre of that.
fn margin(bricks: &[Brick]) -> f64 {
    let mut least = 1.0_f64;
    for i in 0..bricks.len() {
        let mass: f64 = bricks[i..].iter().map(|b| b.mass).sum();
        for k in 0..2 {
            let center = bricks[i..].iter().map(|b| b.mass * b.at[k]).sum::<f64>() / mass;
            let [low, high] = edges(bricks, i, k);
            least = least.min(2.0 * (center - low).min(high - center) / (high - low));
        }
    }
    least
}

/// A tower of `count` that stands with at least `least` of its margin.
fn tower(random: &mut Random, count: usize, masses: Masses, least: f64) -> Vec<Brick> {
    let size = logarithmic(random, 0.02, 0.5);
    let mass = logarithmic(random, 0.01, 100.0);
    loop {
        let bricks: Vec<Brick> = (0..count)
            .map(|i| {
                let half = Vector3::from_fn(|_, _| 0.5 * size * uniform(random, 0.6, 1.0));
                let part = i as f64 / (count - 1).max(1) as f64;
                let factor = match masses {
                    Masses::Equal => 1.0,
                    Masses::Graded(ratio) => ratio.powf(part),
                    Masses::Random(ratio) => logarithmic(random, 1.0, ratio),
                };
                let at = [0, 1].map(|_| 0.12 * size * random.signed());
                Brick { half, mass: mass * factor, at }
            })
            .collect();
        if margin(&bricks) > least {
            return bricks;
        }
    }
}

fn build(bricks: &[Brick], solver: RigidSolver, dt: f64) -> Simulation<Collisions> {
    let material = ContactMaterial::with_friction(0.5);
    let mut builder = ModelBuilder::new(down());
    let mut geometries = vec![geometry("floor", None, Shape::HalfSpace, material)];
    for (i, brick) in bricks.iter().enumerate() {
        let shape = Shape::Box { half_extents: brick.half };
        let (mass, center, inertia) = shape.mass_properties(1.0).unwrap();
        let inertia = RigidInertia::at_center(brick.mass, center.coords, inertia * (brick.mass / mass));
        let name = format!("brick {i}");
        let (joint, frame) = (JointKind::Free, Isometry3::identity());
        let link =
            Link { name: name.clone(), parent: None, joint, frame, inertia, gravity: true, dofs: Vec::new() };
        let link = builder.add(link).unwrap();
        geometries.push(geometry(&name, Some(link), shape, material));
    }
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    let mut z = 0.0;
    for (i, brick) in bricks.iter().enumerate() {
        state.q[7 * i + 4..7 * i + 7].copy_from_slice(&[brick.at[0], brick.at[1], z + brick.half.z]);
        z += 2.0 * brick.half.z;
    }
    let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
    let mut system = System::new(model);
    system.solver = solver;
    Simulation::new(system, Collisions::new(scene, 1e-4), Integrator::Fixed { step: dt }, state).unwrap()
}

/// Slip (m) of a contact until it sticks: of the stiction tolerance over what it takes to load it.
const SETTLING: f64 = 1e-4;

/// Width (m) of the support of box `i` along an axis.
fn support(bricks: &[Brick], i: usize, k: usize) -> f64 {
    let [low, high] = edges(bricks, i, k);
    high - low
}

/// Its edges (m).
fn edges(bricks: &[Brick], i: usize, k: usize) -> [f64; 2] {
    let of = |b: &Brick| [b.at[k] - b.half[k], b.at[k] + b.half[k]];
    let [low, high] = of(&bricks[i]);
    let below = i.checked_sub(1).map_or([low, high], |j| of(&bricks[j]));
    [low.max(below[0]), high.min(below[1])]
}

/// What became of a tower.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    /// Largest loss of height against what the compliance of the contacts allows, at the end.
    sink: f64,
    /// The same in metres.
    sunk: f64,
    /// Largest tilt and way along the floor, likewise.
    tilt: f64,
    displacement: f64,
    /// Largest tilt (rad).
    turned: f64,
    /// Fastest along the floor over the second half (m/s).
    creep: f64,
    /// Steps in doubt.
    unreliable: usize,
}

/// Fastest along the floor (m/s) that counts as standing: the stiction tolerance of the contacts.
const CREEP: f64 = 1e-4;

/// Depth (m) of a contact under the force of a mass `load`, where `mass` rests on the floor:
/// `m(phi)` of at least 9/12 of that.
fn depth(load: f64, mass: f64, frequency: f64) -> f64 {
    load * G / (frequency * frequency * 9.0 * mass / 12.0)
}

fn stand(bricks: &[Brick], solver: RigidSolver, dt: f64, time: f64) -> Fate {
    let mut simulation = build(bricks, solver, dt);
    let start = simulation.state().q.clone();
    let first = simulation.advance_to(0.5 * time).unwrap().solver.unreliable;
    let middle = simulation.state().q.clone();
    let unreliable = first + simulation.advance_to(time).unwrap().solver.unreliable;
    let q = &simulation.state().q;
    let mut fate = Fate { unreliable, ..Fate::default() };
    let mass: f64 = bricks.iter().map(|b| b.mass).sum();
    let (mut sink, mut tilt, mut displacement) = (0.0, 0.0, 0.0);
    for (i, brick) in bricks.iter().enumerate() {
        let load: f64 = bricks[i..].iter().map(|b| b.mass).sum();
        let deep = depth(load, mass, 400.0);
        sink += deep;
        // A contact as deep as that at one edge and none at the other, and as much again for what
        // leans with it.
        tilt += 2.0 * deep * [0, 1].map(|k| 1.0 / support(bricks, i, k)).iter().sum::<f64>();
        displacement += tilt * 2.0 * brick.half.z + SETTLING;
        let p = &q[7 * i..7 * i + 7];
        let away = |from: &[f64]| (p[4] - from[7 * i + 4]).hypot(p[5] - from[7 * i + 5]);
        let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(p[0], p[1], p[2], p[3])).angle();
        let sunk = (start[7 * i + 6] - p[6]).abs();
        fate.sink = fate.sink.max(sunk / sink);
        fate.sunk = fate.sunk.max(sunk);
        fate.tilt = fate.tilt.max(turn / tilt);
        fate.turned = fate.turned.max(turn);
        fate.displacement = fate.displacement.max(away(&start) / displacement);
        fate.creep = fate.creep.max(away(&middle) / (0.5 * time));
    }
    fate
}

/// The default values of the closed form.
fn closed_form() -> RigidSolver {
    RigidSolver::ComFree(ComFreeSettings::default())
}

/// What a family of towers came to, at worst.
fn worst_of(dt: f64, masses: Masses, seeds: core::ops::Range<u64>, time: f64) -> Fate {
    let mut worst = Fate::default();
    for seed in seeds {
        let mut random = Random::new(seed);
        let count = 2 + (random.bits() % 14) as usize;
        let bricks = tower(&mut random, count, masses, 0.1);
        let fate = stand(&bricks, closed_form(), dt, time);
        let stands = fate.sink < 1.0 && fate.tilt < 1.0 && fate.displacement < 1.0 && fate.creep < CREEP;
        if !stands {
            println!("dt {dt} {masses:?} seed {seed}, {count} boxes, margin {}: {fate:?}", margin(&bricks));
        }
        worst.sink = worst.sink.max(fate.sink);
        worst.tilt = worst.tilt.max(fate.tilt);
        worst.displacement = worst.displacement.max(fate.displacement);
        worst.creep = worst.creep.max(fate.creep);
        worst.sunk = worst.sunk.max(fate.sunk);
        worst.turned = worst.turned.max(fate.turned);
        worst.unreliable = worst.unreliable.max(fate.unreliable);
    }
    worst
}

const FAMILIES: [(&str, Masses); 6] = [
    ("equal", Masses::Equal),
    ("to 1e3 upwards", Masses::Graded(1e3)),
    ("to 1e3 downwards", Masses::Graded(1e-3)),
    ("to 1e6 upwards", Masses::Graded(1e6)),
    ("to 1e6 downwards", Masses::Graded(1e-6)),
    ("random to 1e6", Masses::Random(1e6)),
];

// Checks: a tower whose supports all have the centre of what is above them stands. Its contacts are
// as deep as their stiffness lets them be, and what it leans follows from that; sticking friction
// holds to the stiction tolerance.
#[test]
fn towers_that_statics_lets_stand_stand() {
    for dt in [0.001, 0.002, 0.005, 0.01] {
        for (k, (name, masses)) in FAMILIES.into_iter().enumerate() {
            let first = 100 * k as u64;
            let fate = worst_of(dt, masses, first..first + 3, 4.0);
            println!("dt {dt}, {name}: {fate:?}");
            assert!(
                fate.sink < 1.0 && fate.tilt < 1.0 && fate.displacement < 1.0,
                "dt {dt}, {name}: {fate:?}"
            );
            assert!(fate.creep < CREEP, "dt {dt}, {name}: {fate:?}");
        }
    }
}

// Checks: a thousand kilograms on a gram on the floor press each of two contacts by at most 12
// g/(9 kappa), as any tower.
#[test]
fn a_ton_stands_on_a_gram() {
    let half = Vector3::repeat(0.05);
    let bricks = [1e-3, 1e3].map(|mass| Brick { half, mass, at: [0.0; 2] });
    for dt in [0.001, 0.002, 0.005, 0.01, 0.02] {
        let fate = stand(&bricks, closed_form(), dt, 3.0);
        println!("dt {dt}: sinks by {} m, {} of what may be", fate.sunk, fate.sink);
        assert!(
            fate.sink < 1.0 && fate.sunk < 2e-4 && fate.turned < 1e-6 && fate.creep < CREEP,
            "dt {dt}: {fate:?}"
        );
    }
}
