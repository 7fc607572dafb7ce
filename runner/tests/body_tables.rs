//! Wrenches in `bodies.csv` and `forces.csv`, joints in `joints.csv`. The laws are Newton's second
//! and third, statics, and the closed forms of a pendulum and a lever.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::path::Path;

use nalgebra::Vector3;
use pliant_runner::run::{
    BODIES, BodyRow, DIAGNOSTICS, JointRow, RunOptions, Status, read_bodies, read_forces, read_frame_list,
    read_joints, run,
};
use pliant_scenes::format::{RigidSolver, Scene, parse_scene};
use pliant_scenes::scenario::Scenario;
use pliant_testing::Random;
use serde_json::{Value, json};

fn run_scene(scene: &Value, out: &Path) -> Scene {
    let scene = parse_scene(&scene.to_string()).unwrap();
    let options = RunOptions { pictures: false, threads: Some(1), ..RunOptions::new(out) };
    let manifest = run(Scenario::new(&scene).unwrap(), options).unwrap().manifest;
    assert_eq!((manifest.status, manifest.error), (Status::Completed, None));
    scene
}

/// The last values of two frames, and what lies between them.
struct Interval<'a> {
    length: f64,
    before: &'a [BodyRow],
    after: &'a [BodyRow],
}

/// All frames but the first; velocities come by a second read.
fn intervals(frames: &[Vec<BodyRow>]) -> Vec<Interval<'_>> {
    let pairs = frames.windows(2);
    pairs.map(|w| Interval { length: w[1][0].time - w[0][0].time, before: &w[0], after: &w[1] }).collect()
}

/// Columns `vx`, `vy`, `vz` of `bodies.csv`, by frame and body.
fn velocities(out: &Path, bodies: usize) -> Vec<Vec<Vector3<f64>>> {
    let mut reader = csv::Reader::from_path(out.join(BODIES)).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = ["vx", "vy", "vz"].map(|name| header.iter().position(|column| column == name).unwrap());
    let rows: Vec<Vector3<f64>> = reader
        .records()
        .map(|row| {
            let row = row.unwrap();
            Vector3::from(at.map(|column| row[column].parse::<f64>().unwrap()))
        })
        .collect();
    rows.chunks(bodies).map(<[_]>::to_vec).collect()
}

/// Solvers and integrators.
fn solvers(dt: f64) -> Vec<(&'static str, Value)> {
    vec![
        ("icf", json!({ "type": "fixed" })),
        ("icf", json!({ "type": "fixed", "step": dt / 3.0 })),
        ("icf", json!({ "type": "trapezoid" })),
        ("icf", json!({ "type": "error-controlled", "accuracy": 1e-4, "max_step": 0.1 })),
        ("icf", json!({ "type": "error-controlled", "accuracy": 1e-4, "max_step": 0.1, "order": "second" })),
        ("comfree", json!({ "type": "fixed" })),
        ("comfree", json!({ "type": "error-controlled", "accuracy": 1e-3, "max_step": 0.1 })),
    ]
}

/// A stack that falls a little way onto a floor, in tilted gravity. With `hinged` the second box is
/// on a hinge on the first. Returns the scene and the masses \[kg\], the floor's as zero.
fn stack(
    random: &mut Random,
    (solver, integrator): &(&str, Value),
    dt: f64,
    hinged: bool,
) -> (Value, Vec<f64>) {
    let floor = random.choose(&["half-space", "box"]);
    let shape = match floor {
        "box" => json!({ "type": "box", "half_extents": [1.0, 1.0, 0.2] }),
        _ => json!({ "type": "half-space" }),
    };
    let depth = if floor == "box" { -0.2 } else { 0.0 };
    let restitution = random.choose(&[0.0, 0.6]);
    let mut bodies = vec![json!({
        "name": "floor", "motion": { "type": "fixed", "pose": { "position": [0.1, -0.2, depth] } },
        "geometries": [{ "shape": shape, "friction": 0.9 }]
    })];
    let mut masses = vec![0.0];
    let mut top = random.choose(&[0.0, 0.01]);
    for k in 0..2 + (random.unit() * 2.0) as usize {
        let half = [random.uniform(0.06, 0.1), random.uniform(0.06, 0.1), random.uniform(0.02, 0.04)];
        let mass = random.log_uniform(0.5, 5.0);
        let joint = if hinged && k == 1 {
            json!({ "type": "revolute", "axis": [0.0, 0.0, 1.0] })
        } else {
            json!({ "type": "free" })
        };
        let parent = if hinged && k == 1 { json!("box, 0") } else { Value::Null };
        bodies.push(json!({
            "name": format!("box, {k}"),
            "motion": {
                "type": "dynamic", "pose": { "position": [0.0, 0.0, top + half[2]] }, "joint": joint,
                "mass": mass, "parent": parent
            },
            "geometries": [{
                "shape": { "type": "box", "half_extents": half }, "friction": 0.9, "restitution": restitution
            }]
        }));
        top += 2.0 * half[2];
        masses.push(mass);
    }
    let (tilt, heading) = (random.uniform(0.0, 0.15), random.uniform(0.0, std::f64::consts::TAU));
    let gravity = [9.81 * tilt.sin() * heading.cos(), 9.81 * tilt.sin() * heading.sin(), -9.81 * tilt.cos()];
    let scene = json!({
        "name": "stack", "duration": 1.0, "dt": dt, "gravity": gravity, "rigid_solver": solver,
        "rigid": { "integrator": integrator, "stiffness": 1e6, "dissipation": 10.0 },
        "bodies": bodies, "output": { "frame_interval": 0.1, "forces": ["floor", "box, 0"] }
    });
    (scene, masses)
}

/// Checks the laws in the tables of a stack's run.
fn check_stack(out: &Path, scene: &Scene, masses: &[f64], hinged: bool, what: &str) {
    let frames = read_bodies(out, masses.len()).unwrap();
    let speeds = velocities(out, masses.len());
    let gravity = Vector3::from(scene.gravity);
    let weight = masses.iter().sum::<f64>() * gravity.norm();
    assert!(frames[0].iter().all(|row| row.contacts.is_none() && row.particles.is_none()), "{what}");
    let mut loaded = 0.0_f64;
    for (k, interval) in intervals(&frames).iter().enumerate() {
        let wrenches: Vec<_> = interval.after.iter().map(|row| row.contacts.unwrap()).collect();
        // Newton's third law: the floor's wrench is among them.
        let sum: Vector3<f64> = wrenches.iter().map(|wrench| wrench.force).sum();
        assert!(sum.norm() < 1e-9 * weight, "{what}, frame {k}: forces add up to {sum} N");
        // And that of moments, as far as the bodies stood where they are at the end.
        let moved = |b: usize| {
            (interval.after[b].pose.translation.vector - interval.before[b].pose.translation.vector).norm()
        };
        let largest = wrenches.iter().map(|wrench| wrench.force.norm()).fold(weight, f64::max);
        let slack = (0..masses.len()).map(moved).fold(1e-9, f64::max) * largest * masses.len() as f64;
        let moments: Vector3<f64> = (interval.after.iter().zip(&wrenches))
            .map(|(row, wrench)| wrench.torque + row.pose.translation.vector.cross(&wrench.force))
            .sum();
        assert!(moments.norm() < slack, "{what}, frame {k}: moments add up to {moments} N m, not {slack:e}");
        // Newton's second law of every free body; of two on a hinge together. The closed form keeps
        // it to rounding. The convex solver stops where velocities are right to 1e-8 (a thousandth
        // of the accuracy under error control), not where impulses balance: in the first contact,
        // whose friction has no force of an earlier step, up to 3e-3 of the weight were missing in
        // 57 seeds, later 5e-5.
        let bound = match (&scene.rigid_solver, k) {
            (RigidSolver::Comfree, _) => 1e-5,
            (RigidSolver::Icf, 0) => 1e-2,
            (RigidSolver::Icf, _) => 2e-4,
        };
        let missing = |b: usize| {
            let change = (speeds[k + 1][b] - speeds[k][b]) * (masses[b] / interval.length);
            change - wrenches[b].force - gravity * masses[b]
        };
        let groups: Vec<Vec<usize>> = match hinged {
            true => [vec![1, 2]].into_iter().chain((3..masses.len()).map(|b| vec![b])).collect(),
            false => (1..masses.len()).map(|b| vec![b]).collect(),
        };
        for group in groups {
            let off: Vector3<f64> = group.iter().map(|&b| missing(b)).sum();
            assert!(off.norm() < bound * weight, "{what}, frame {k}, bodies {group:?}: {off} N are missing");
        }
        loaded = loaded.max(wrenches[0].force.norm());
    }
    assert!(loaded > 0.9 * weight, "{what}: nothing touches the floor");
    assert!(!std::fs::read_to_string(out.join(DIAGNOSTICS)).unwrap().contains("NaN"), "{what}");
    // At rest the floor has the weight of all.
    let last = frames.last().unwrap();
    let end = speeds.last().unwrap().iter().map(Vector3::norm).fold(0.0, f64::max);
    if end < 1e-3 {
        let on_floor = last[0].contacts.unwrap().force;
        let off = (on_floor - gravity * masses.iter().sum::<f64>()).norm();
        assert!(off < 0.02 * weight, "{what}: the floor has {on_floor} N of {weight} N");
    }
    // Means of steps add up to the mean of the frame.
    let rows = read_forces(out).unwrap();
    let (from, to) = (frames[frames.len() - 2][0].time, last[0].time);
    for name in ["floor", "box, 0"] {
        let of: Vec<_> = rows
            .iter()
            .filter(|row| row.body == name && row.time > from + 1e-9 && row.time < to + 1e-9)
            .collect();
        let mean = of.iter().map(|row| row.contacts.unwrap().force).sum::<Vector3<f64>>() / of.len() as f64;
        let frame = last.iter().find(|row| row.body == name).unwrap().contacts.unwrap().force;
        assert!((mean - frame).norm() < 1e-9 * weight, "{what}: {name}: {mean} N and {frame} N");
    }
}

fn stacks(seeds: std::ops::Range<u64>) {
    let folder = tempfile::tempdir().unwrap();
    for seed in seeds {
        let mut random = Random::new(seed);
        let dt = random.choose(&[0.002, 0.005, 0.01]);
        for (s, solver) in solvers(dt).iter().enumerate() {
            let hinged = random.unit() < 0.4;
            let (scene, masses) = stack(&mut random, solver, dt, hinged);
            let what = format!("seed {seed}, {solver:?}, dt {dt}, hinged {hinged}");
            let out = folder.path().join(format!("{seed}-{s}"));
            let scene = run_scene(&scene, &out);
            check_stack(&out, &scene, &masses, hinged, &what);
        }
    }
}

#[test]
fn every_body_has_the_wrench_of_its_contacts() {
    stacks(0..4);
}

#[test]
#[ignore = "slow tier"]
fn every_body_has_the_wrench_of_its_contacts_in_many_stacks() {
    stacks(4..60);
}

// Newton's second law of a box under soft material: the wrenches of particles, of contact with the
// floor and the weight make its motion. The floor reads the weight of both at the end.
#[test]
fn particles_and_bodies_have_columns_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let scene = json!({
        "name": "loaded", "duration": 0.6, "dt": 0.005, "grid_spacing": 0.03,
        "materials": { "jelly": {
            "model": "fixed-corotated", "density": 500.0, "youngs_modulus": 2e4, "poissons_ratio": 0.3
        } },
        "soft": [{
            "name": "block", "shape": { "type": "box", "half_extents": [0.05, 0.05, 0.05] }, "material": "jelly",
            "pose": { "position": [0.0, 0.0, 0.111] }, "sampling": { "counts": [8, 8, 8] }
        }],
        "bodies": [
            { "name": "floor", "motion": { "type": "fixed" },
              "geometries": [{ "shape": { "type": "half-space" }, "friction": 0.5 }] },
            { "name": "plate", "motion": {
                "type": "dynamic", "pose": { "position": [0.0, 0.0, 0.03] }, "joint": { "type": "free" }, "mass": 2.0
              },
              "geometries": [{ "shape": { "type": "box", "half_extents": [0.15, 0.15, 0.03] }, "friction": 0.5 }] }
        ],
        "output": { "frame_interval": 0.05 }
    });
    run_scene(&scene, &out);
    let (frames, speeds) = (read_bodies(&out, 2).unwrap(), velocities(&out, 2));
    for (k, interval) in intervals(&frames).iter().enumerate() {
        let plate = &interval.after[1];
        let change: Vector3<f64> = (speeds[k + 1][1] - speeds[k][1]) * (2.0 / interval.length);
        let weight = Vector3::new(0.0, 0.0, 2.0 * 9.81);
        let force = plate.contacts.unwrap().force + plate.particles.unwrap().force - weight;
        assert!((change - force).norm() < 1e-4 * 24.0, "frame {k}: {change} and {force} N");
    }
    let last = frames.last().unwrap();
    let (floor, plate) = (&last[0], &last[1]);
    assert!((floor.contacts.unwrap().force.z + 2.5 * 9.81).abs() < 0.5, "{floor:?}");
    assert!((plate.particles.unwrap().force.z + 0.5 * 9.81).abs() < 0.5, "{plate:?}");
    assert!(floor.particles.unwrap().force.norm() < 1e-9, "{floor:?}");
    // Every frame is listed with its digest.
    let list = read_frame_list(&out).unwrap();
    assert_eq!(list.len(), frames.len());
    for row in list {
        let path = pliant_runner::run::frame_path(&out, row.frame);
        assert_eq!((row.particles, row.file.bytes), (512, std::fs::metadata(&path).unwrap().len()));
        pliant_io::digest::Hasher::of_prefix(&path, &row.file).unwrap();
    }
    assert!(!std::fs::read_to_string(out.join(DIAGNOSTICS)).unwrap().contains("NaN"));
}

fn joints(scene: &Value) -> Vec<JointRow> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_scene(scene, &out);
    read_joints(&out).unwrap()
}

/// A rod of 2 kg whose centre is 0.3 m beside its hinge about y: level, along x.
fn lever(actuators: &Value) -> Value {
    json!({
        "name": "lever", "duration": 0.2, "dt": 1e-4,
        "bodies": [{
            "name": "lever, long", "motion": {
                "type": "dynamic", "joint": {
                    "type": "revolute", "axis": [0.0, 1.0, 0.0], "position": [-0.3, 0.0, 0.0]
                },
                "mass": 2.0, "inertia": [0.01, 0.06, 0.06]
            },
            "geometries": [{ "shape": { "type": "box", "half_extents": [0.3, 0.02, 0.02] } }]
        }],
        "actuators": actuators, "output": { "frame_interval": 0.02 }
    })
}

// The closed form of a compound pendulum: with the angle q below the level the hinge carries
// m (a - g), where the centre at the distance d has the acceleration d q'' across and d q'^2 along
// the rod, and (I + m d^2) q'' = m g d cos q. A row has the mean of the last step: off by half a
// step of its change, about 40 N/s times 0.1 ms. Before the first step there is no reaction, and
// without a motor no effort.
#[test]
fn a_pendulum_passes_its_reaction() {
    let rows = joints(&lever(&json!([])));
    assert_eq!(rows.len(), 11);
    assert!(rows[0].reaction.is_none() && rows[0].position == Some(0.0));
    for row in &rows[1..] {
        assert_eq!((&row.joint[..], &row.link[..], row.dof), ("lever, long", "lever, long", Some(0)));
        assert_eq!(row.effort, None);
        let (q, rate) = (row.position.unwrap(), row.velocity.unwrap());
        let (m, d, g) = (2.0, 0.3, 9.81);
        let along = Vector3::new(q.cos(), 0.0, -q.sin());
        let across = Vector3::new(-q.sin(), 0.0, -q.cos());
        let turning = m * g * d * q.cos() / (0.06 + m * d * d);
        let up = Vector3::new(0.0, 0.0, g);
        let expected = (across * (d * turning) - along * (d * rate * rate) + up) * m;
        let found = row.reaction.unwrap();
        assert!((found.force - expected).norm() < 0.02, "t = {}: {found:?}, not {expected}", row.time);
        assert!(found.torque.norm() < 0.01, "t = {}: {found:?}", row.time);
    }
    assert!(rows[10].velocity.unwrap() > 1.0);
}

// Statics: a motor that holds the lever level has the moment of its weight, m g d = 5.886 N m,
// which the joint passes with the drive's.
#[test]
fn a_motor_that_holds_a_lever_has_its_moment() {
    let motor = json!([{
        "name": "motor", "joint": "lever, long",
        "control": { "type": "position", "value": 0.0, "stiffness": 1e5, "damping": 5e3 }
    }]);
    let rows = joints(&lever(&motor));
    let last = rows.last().unwrap();
    let found = last.reaction.unwrap();
    let (effort, moment) = (last.effort.unwrap(), 2.0 * 9.81 * 0.3);
    assert!((effort + moment).abs() < 1e-3, "{effort} N m");
    assert!((found.torque.y - effort).abs() < 1e-6, "{found:?}");
    assert!((found.force - Vector3::new(0.0, 0.0, 2.0 * 9.81)).norm() < 1e-2, "{found:?}");
}
