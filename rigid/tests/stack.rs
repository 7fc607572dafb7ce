//! Towers of boxes that stand by statics: random sizes, masses and offsets, both rigid solvers.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod common;

use common::Random;
use common::comfree::{G, down, geometry};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{ContactMaterial, Scene};
use pliant_rigid::comfree::*;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;

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
    /// Each by itself, the heaviest this many times the lightest at most.
    Random(f64),
}

fn uniform(random: &mut Random, from: f64, to: f64) -> f64 {
    from + (to - from) * 0.5 * (1.0 + random.signed())
}

fn logarithmic(random: &mut Random, from: f64, to: f64) -> f64 {
    uniform(random, from.ln(), to.ln()).exp()
}

/// The least distance of the load's centre from the edge of a support, against half the support's width, over all supports: above 0 the
/// tower stands. Faces are level, so that each passes on one force, the weight of what is above it, at the centre of that.
fn margin(bricks: &[Brick]) -> f64 {
    let mut least = 1.0_f64;
    for (i, above) in bricks.iter().enumerate() {
        let mass: f64 = bricks[i..].iter().map(|b| b.mass).sum();
        for k in 0..2 {
            let center = bricks[i..].iter().map(|b| b.mass * b.at[k]).sum::<f64>() / mass;
            let below = i.checked_sub(1).map(|j| bricks[j]);
            let low = (above.at[k] - above.half[k]).max(below.map_or(f64::MIN, |b| b.at[k] - b.half[k]));
            let high = (above.at[k] + above.half[k]).min(below.map_or(f64::MAX, |b| b.at[k] + b.half[k]));
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
    let mut state = model.rest();
    let mut z = 0.0;
    for (i, brick) in bricks.iter().enumerate() {
        state.q[7 * i + 4..7 * i + 7].copy_from_slice(&[brick.at[0], brick.at[1], z + brick.half.z]);
        z += 2.0 * brick.half.z;
    }
    let scene = Scene::new(geometries, &model, &[]).unwrap();
    let mut system = System::new(model);
    system.solver = solver;
    Simulation::new(system, Collisions::new(scene, 1e-4), Integrator::Fixed { step: dt }, state).unwrap()
}

/// What became of a tower.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    /// Largest loss of height against what the compliance of the contacts allows, at the end.
    sink: f64,
    /// The same in metres.
    sunk: f64,
    /// Largest tilt (rad) and way along the floor (m).
    tilt: f64,
    way: f64,
    /// Fastest along the floor over the second half (m/s).
    creep: f64,
}

/// Depth (m) of a contact under the force of a mass `load`, where `mass` rests on the floor: `m(phi)` of at least 9/12 of that.
fn depth(load: f64, mass: f64, frequency: f64) -> f64 {
    load * G / (frequency * frequency * 9.0 * mass / 12.0)
}

fn stand(bricks: &[Brick], solver: RigidSolver, dt: f64, time: f64) -> Fate {
    let mut simulation = build(bricks, solver, dt);
    let start = simulation.state().q.clone();
    simulation.advance_to(0.5 * time).unwrap();
    let middle = simulation.state().q.clone();
    simulation.advance_to(time).unwrap();
    let q = &simulation.state().q;
    let mut fate = Fate::default();
    let mass: f64 = bricks.iter().map(|b| b.mass).sum();
    let mut allowed = 0.0;
    for i in 0..bricks.len() {
        let load: f64 = bricks[i..].iter().map(|b| b.mass).sum();
        allowed += depth(load, mass, 400.0);
        let p = &q[7 * i..7 * i + 7];
        let away = |from: &[f64]| (p[4] - from[7 * i + 4]).hypot(p[5] - from[7 * i + 5]);
        let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(p[0], p[1], p[2], p[3]));
        let sunk = (start[7 * i + 6] - p[6]).abs();
        fate.sink = fate.sink.max(sunk / allowed);
        fate.sunk = fate.sunk.max(sunk);
        fate.tilt = fate.tilt.max(turn.angle());
        fate.way = fate.way.max(away(&start));
        fate.creep = fate.creep.max(away(&middle) / (0.5 * time));
    }
    fate
}

#[test]
fn survey() {
    if let Ok(seed) = std::env::var("SEED") { return trace(seed.parse().unwrap()); }
    let n: u64 = std::env::var("N").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    let time: f64 = std::env::var("T").ok().and_then(|s| s.parse().ok()).unwrap_or(3.0);
    let comfree = RigidSolver::ComFree(ComFreeSettings::default());
    for solver in [comfree] {
        for dt in [0.001, 0.002, 0.005, 0.01] {
            for (name, masses) in [
                ("equal", Masses::Equal),
                ("up 1e3", Masses::Graded(1e3)),
                ("down 1e3", Masses::Graded(1e-3)),
                ("up 1e6", Masses::Graded(1e6)),
                ("down 1e6", Masses::Graded(1e-6)),
                ("random 1e6", Masses::Random(1e6)),
            ] {
                let mut worst = Fate::default();
                let clock = std::time::Instant::now();
                for seed in 0..n {
                    let mut random = Random::new(seed);
                    let count = 2 + (random.bits() % 14) as usize;
                    let bricks = tower(&mut random, count, masses, 0.1);
                    let fate = stand(&bricks, solver, dt, time);
                    if fate.sink > 1.0 || fate.tilt > 0.05 {
                        println!(
                            "  seed {seed} count {count} margin {} size {} {fate:?}",
                            margin(&bricks),
                            bricks[0].half.x
                        );
                    }
                    worst.sink = worst.sink.max(fate.sink);
                    worst.sunk = worst.sunk.max(fate.sunk);
                    worst.tilt = worst.tilt.max(fate.tilt);
                    worst.way = worst.way.max(fate.way);
                    worst.creep = worst.creep.max(fate.creep);
                }
                println!("dt {dt} {name}: {:.2} s {worst:?}", clock.elapsed().as_secs_f64());
            }
        }
    }
}
fn trace(seed: u64) {
    let mut random = Random::new(seed);
    let count = 2 + (random.bits() % 14) as usize;
    let bricks = tower(&mut random, count, Masses::Graded(1e6), 0.1);
    let mut s = build(&bricks, RigidSolver::ComFree(ComFreeSettings::default()), 0.001);
    for b in &bricks { println!("{b:?}"); }
    for k in 1..40 {
        s.advance_to(0.001 * k as f64).unwrap();
        let v = &s.state().v;
        let f: Vec<String> = v.chunks(6).map(|v| format!("{:.1e}/{:.1e}", v[3].hypot(v[4]).hypot(v[5]), v[0].hypot(v[1]).hypot(v[2]))).collect();
        println!("{k} {}", f.join(" "));
    }
}
