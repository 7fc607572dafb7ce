//! Goals: what they measure, when, and what a run's manifest says of them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::path::Path;

use pliant_runner::run::{GoalResult, Manifest, Progress, RunOptions, Status, StopSignal, run};
use pliant_scenes::format::{
    Assignment, GridMotion, Scene, apply, goals_within_duration, parse_scene, validate,
};
use pliant_scenes::load::load;
use pliant_scenes::scenario::Scenario;

/// A block of 4 x 2 x 2 particles, 1 kg, and a ball fall for 0.5 s; nothing touches. The goals are
/// put in place of GOALS.
const FALL: &str = r#"{ "name": "fall", "duration": 0.5, "dt": 0.01, "substeps": 1, "gravity": [0, 0, -10], "grid_spacing": 0.1,
    "materials": { "m": { "model": "fixed-corotated", "density": 1000, "youngs_modulus": 1e3, "poissons_ratio": 0 } },
    "soft": [
        { "name": "other", "shape": { "type": "box", "half_extents": [0.05, 0.05, 0.05] }, "material": "m",
          "pose": { "position": [5, 0, 0] }, "sampling": { "counts": [2, 2, 2] } },
        { "name": "block", "shape": { "type": "box", "half_extents": [0.1, 0.05, 0.05] }, "material": "m",
          "pose": { "position": [0, 0, 2] }, "sampling": { "counts": [4, 2, 2] } }],
    "bodies": [
        { "name": "ball", "motion": { "type": "dynamic", "pose": { "position": [2, 0, 1] }, "joint": { "type": "free" }, "mass": 1 },
          "geometries": [{ "shape": { "type": "sphere", "radius": 0.1 } }] },
        { "name": "shelf", "motion": { "type": "fixed", "pose": { "position": [0, 0, 1.5], "orientation": [0, 1, 0, 0] } } }],
    "output": { "frame_interval": 0.5 },
    "goals": GOALS }"#;

fn fall(goals: &str) -> Scene {
    let scene = parse_scene(&FALL.replace("GOALS", goals)).unwrap();
    validate(&scene).unwrap();
    scene
}

fn options(out: &Path) -> RunOptions<'static> {
    RunOptions { pictures: false, ..RunOptions::new(out) }
}

fn goals(scene: &Scene) -> Vec<GoalResult> {
    let folder = tempfile::tempdir().unwrap();
    run(Scenario::new(scene).unwrap(), options(&folder.path().join("run"))).unwrap().manifest.goals
}

/// How far something has fallen after a time [m]: explicit velocities, so that k steps make g dt^2
/// k (k + 1)/2.
fn fallen(time: f64) -> f64 {
    let k = (time / 0.01).round();
    10.0 * 0.01 * 0.01 * k * (k + 1.0) / 2.0
}

fn near(goal: &GoalResult, met: Option<bool>, worst: f64, time: f64) {
    // Positions are f32 of cells of 0.1 m: 1e-7 of 0.4 m a step.
    let close = (goal.worst.0 - worst).abs() < 3e-6 && (goal.time.0 - time).abs() < 1e-9;
    assert!(goal.met == met && close, "{goal:?}, {met:?} {worst} at {time} s");
}

// Checks: each quantity is what its name says of particles at half a lattice spacing from the
// faces, 0.025 m, under free fall; a goal looks at its span and no other step, and the worst value
// is the one nearest to a bound or farthest beyond it.
#[test]
fn quantities_are_measured_in_their_span() {
    let found = goals(&fall(
        r#"[{ "name": "center", "soft": "block", "quantity": { "type": "center", "axis": "z" }, "until": 0.3, "min": 0.5 },
            { "name": "lowest", "soft": "block", "quantity": { "type": "lowest", "axis": "z" }, "from": 0.1, "max": 1.9 },
            { "name": "highest", "soft": "block", "quantity": { "type": "highest", "axis": "x" }, "from": 0.2, "until": 0.2, "min": 0.08 },
            { "name": "gap", "soft": "block", "quantity": { "type": "gap", "axis": "x" }, "min": 0.04, "max": 0.06 },
            { "name": "mass", "soft": "block", "quantity": { "type": "mass-in-box", "half_extents": [0.1, 0.2, 0.2], "pose":
              { "position": [0.1, 0, 2] } }, "until": 0.1, "min": 0.5 },
            { "name": "ball", "body": "ball", "quantity": { "type": "center", "axis": "z" }, "relative_to": "shelf", "max": 0.7 }]"#,
    ));
    near(&found[0], Some(true), 2.0 - fallen(0.3), 0.3);
    near(&found[1], Some(false), 1.975 - fallen(0.1), 0.1);
    near(&found[2], Some(false), 0.075, 0.2);
    near(&found[3], Some(true), 0.05, found[3].time.0);
    // Two of the four layers of particles are in the box: half of 2 kg.
    near(&found[4], Some(true), 1.0, 0.01);
    // The shelf's z axis points down, and is at 1.5 m.
    // A body that nothing touches falls by its parabola.
    near(&found[5], Some(false), 0.5 + 10.0 * 0.5 * 0.5 / 2.0, 0.5);
    assert_eq!([&found[0].unit, &found[4].unit], ["m", "kg"]);
}

// Checks: the quantities of a rope that is bent at a right angle and at rest so, 0.3 m and 0.4 m long on
// either side of the bend: its length is 0.7 m, its ends are 0.5 m apart, its centre is that of two lines, and
// 3/7 of its mass, 0.7 m pi (5 mm)^2 of 1000 kg/m^3, are beside the bend; half a segment's mass is at the
// bend itself.
#[test]
fn ropes_are_measured() {
    let scene = parse_scene(
        r#"{ "name": "bent", "duration": 0.02, "dt": 0.005, "gravity": [0, 0, 0], "grid_spacing": 0.1,
        "ropes": [{ "name": "cord", "naturally_curved": true, "segments": 14,
          "shape": { "type": "polyline", "points": [[0.3, 0, 0], [0, 0, 0], [0, 0.4, 0]] },
          "material": { "density": 1000, "radius": 0.005, "youngs_modulus": 1e6 } }],
        "goals": [{ "name": "length", "rope": "cord", "quantity": { "type": "length" }, "max": 1 },
          { "name": "ends", "rope": "cord", "quantity": { "type": "end-to-end" }, "min": 1 },
          { "name": "center", "rope": "cord", "quantity": { "type": "center", "axis": "x" }, "max": 1 },
          { "name": "highest", "rope": "cord", "quantity": { "type": "highest", "axis": "y" }, "max": 1 },
          { "name": "mass", "rope": "cord", "max": 1, "quantity": { "type": "mass-in-box", "half_extents": [0.15, 0.1, 0.1],
            "pose": { "position": [0.16, 0, 0] } } }] }"#,
    )
    .unwrap();
    validate(&scene).unwrap();
    let found = goals(&scene);
    let mass = 1000.0 * std::f64::consts::PI * 0.005_f64.powi(2) * (0.3 - 0.5 * 0.05);
    let expected = [0.7, 0.5, 0.15 * 0.3 / 0.7, 0.4, mass];
    for (goal, expected) in found.iter().zip(expected) {
        assert!((goal.worst.0 / expected - 1.0).abs() < 1e-5, "{goal:?}, not {expected}");
    }
    let met: Vec<_> = found.iter().map(|goal| goal.met).collect();
    assert_eq!(met, [Some(true), Some(false), Some(true), Some(true), Some(true)]);
}

// Checks: a run that is stopped and resumed judges as the run that was never stopped, to the bit; a
// goal whose span is not over is not judged, unless it is already missed.
#[test]
fn a_stopped_run_judges_the_same() {
    let scene = fall(
        r#"[{ "name": "early", "soft": "block", "quantity": { "type": "center", "axis": "x" }, "until": 0.05, "max": 1e-5 },
            { "name": "missed", "soft": "block", "quantity": { "type": "center", "axis": "z" }, "min": 1.99, "max": 3 },
            { "name": "whole", "soft": "block", "quantity": { "type": "lowest", "axis": "z" }, "min": 0 },
            { "name": "late", "soft": "block", "quantity": { "type": "lowest", "axis": "z" }, "from": 0.4, "min": 0 }]"#,
    );
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    let stop = StopSignal::new();
    let mut progress = |progress: &Progress| {
        if progress.done == 8 {
            stop.request();
        }
    };
    let stopped = RunOptions { stop: Some(&stop), progress: Some(&mut progress), ..options(&parts) };
    let manifest = run(Scenario::new(&scene).unwrap(), stopped).unwrap().manifest;
    assert_eq!(manifest.status, Status::Interrupted);
    let met: Vec<_> = manifest.goals.iter().map(|goal| goal.met).collect();
    assert_eq!(met, [Some(true), Some(false), None, None]);
    assert!(manifest.goals[3].worst.0.is_nan());
    let resumed =
        run(Scenario::new(&scene).unwrap(), RunOptions { resume: true, ..options(&parts) }).unwrap().manifest;
    assert_eq!(resumed.goals, goals(&scene));
    assert_eq!(resumed.goals_met(), (3, 4));
    assert_eq!(Manifest::read(&parts).unwrap(), resumed);
}

// Checks: what a run that blows up did not get to, it did not do.
#[test]
fn a_failed_run_misses_what_it_did_not_reach() {
    let mut scene = fall(
        r#"[{ "name": "end", "soft": "block", "quantity": { "type": "lowest", "axis": "z" }, "from": 0.5, "min": -9 }]"#,
    );
    // Ten metres a second more in every step: at 30 m/s a particle goes farther in one than it may,
    // where the grid does not go along.
    scene.gravity = [0.0, 0.0, -1000.0];
    scene.grid_motion = GridMotion::Fixed;
    let folder = tempfile::tempdir().unwrap();
    let manifest = run(Scenario::new(&scene).unwrap(), options(&folder.path().join("run"))).unwrap().manifest;
    assert_eq!((manifest.status, manifest.goals[0].met), (Status::Failed, Some(false)));
}

// Checks: every field at fault is named, with its value and unit.
#[test]
fn goals_are_validated() {
    let good =
        r#"[{ "name": "a", "soft": "block", "quantity": { "type": "center", "axis": "z" }, "min": 0 }]"#;
    let problem = |from: &str, to: &str| {
        let changed = good.replace(from, to);
        assert_ne!(changed, good);
        let scene = parse_scene(&FALL.replace("GOALS", &changed)).unwrap();
        validate(&scene).and_then(|()| goals_within_duration(&scene)).unwrap_err().to_string()
    };
    for (from, to, message) in [
        ("\"block\"", "\"blok\"", "goals[0].soft: 'blok' is not one of the soft bodies [other, block]"),
        ("\"soft\": \"block\"", "\"body\": \"bal\"", "goals[0].body: 'bal' is neither one of the bodies"),
        ("\"soft\": \"block\",", "", "goals[0]: give a soft, a cloth, a rope or a body"),
        (
            "\"soft\"",
            "\"body\": \"ball\", \"soft\"",
            "goals[0]: give a soft, a cloth, a rope or a body, and only one of them",
        ),
        ("\"soft\": \"block\"", "\"rope\": \"cord\"", "goals[0].rope: 'cord' is not one of the ropes []"),
        (
            "{ \"type\": \"center\", \"axis\": \"z\" }",
            "{ \"type\": \"end-to-end\" }",
            "goals[0].quantity: only a rope has a length and ends",
        ),
        ("\"min\": 0", "\"min\": 2, \"max\": 1", "goals[0].min: 2 m must be at most max, 1 m"),
        (", \"min\": 0", "", "goals[0]: give min, max or both"),
        ("\"min\"", "\"relative_to\": \"x\", \"min\"", "goals[0].relative_to: 'x' is neither"),
        ("\"min\"", "\"from\": -1, \"min\"", "goals[0].from: -1 s must not be negative"),
        (
            "\"min\"",
            "\"from\": 0.2, \"until\": 0.1, \"min\"",
            "goals[0].until: 0.1 s must be at least from, 0.2 s",
        ),
        ("\"min\"", "\"until\": 0.6, \"min\"", "goals[0].until: 0.6 s must be at most duration, 0.5 s"),
        ("\"min\"", "\"from\": 0.6, \"min\"", "goals[0].from: 0.6 s must be at most duration, 0.5 s"),
        ("\"a\"", "\"\"", "goals[0].name: '' must not be empty"),
        (
            "{ \"type\": \"center\", \"axis\": \"z\" }",
            "{ \"type\": \"mass-in-box\", \"half_extents\": [1, 0, 1] }",
            "goals[0].quantity.half_extents[1]: 0 m must be positive",
        ),
    ] {
        let found = problem(from, to);
        assert!(found.starts_with(message), "{found}\n{message}");
    }
    let rigid = good.replace("\"soft\": \"block\"", "\"body\": \"ball\"").replace("center", "lowest");
    let scene = parse_scene(&FALL.replace("GOALS", &rigid)).unwrap();
    assert!(validate(&scene).unwrap_err().to_string().starts_with("goals[0].quantity: only \"center\""));
    assert!(parse_scene(&FALL.replace("GOALS", &good.replace("\"z\"", "\"w\""))).is_err());
}

// Checks: a file's goals must lie within its duration, but a run may be cut short; what it does not
// reach is not judged.
#[test]
fn a_run_cut_short_is_no_error() {
    let goal = r#"[{ "name": "a", "soft": "block", "quantity": { "type": "center", "axis": "z" }, "from": 0.4, "min": 0 }]"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fall.json");
    std::fs::write(&path, FALL.replace("GOALS", goal)).unwrap();
    let path = path.to_str().unwrap();
    let set = |text: &str| [Assignment::parse(text).unwrap()];
    let scene = load(path, &set("duration=0.1")).unwrap();
    assert_eq!(goals(&scene)[0].met, None);
    assert!(load(path, &set("goals[a].from=0.6")).is_err());
    let scene = apply(&load(path, &[]).unwrap(), &set("goals[a].min=10")).unwrap();
    assert_eq!(goals(&scene)[0].met, Some(false));
}
