//! Absurd sizes are refused before anything is built, with the field, the value and the limit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pliant_numeric::random::SplitMix64;
use pliant_scenes::builtin;
use pliant_scenes::estimate::Estimate;
use pliant_scenes::format::{Assignment, Scene, apply, parse_scene, validate};
use pliant_scenes::scenario::Scenario;
use serde_json::{Value, json};

fn changed(name: &str, changes: &[&str]) -> Scene {
    let changes: Vec<_> = changes.iter().map(|text| Assignment::parse(text).unwrap()).collect();
    apply(&builtin::scene(name).unwrap().unwrap(), &changes).unwrap()
}

// The law: validation, which builds nothing, refuses sizes that no machine holds and work without an
// end; the message has the field, the value with its unit, and the limit.
#[test]
fn absurd_sizes_are_refused_by_validation() {
    let mut wrong = Vec::new();
    for (scene, changes, parts) in [
        (
            "laundry",
            &["cloths[0].shape={\"type\":\"rectangle\",\"size\":[1,1],\"parts\":[4294967295,4294967295]}"][..],
            &["cloths[0].shape.parts[0]: 4294967295", "at most 20000"][..],
        ),
        (
            "laundry",
            &["cloths[0].shape={\"type\":\"rectangle\",\"size\":[1,1],\"parts\":[20000,20000]}"],
            &["cloths[0].shape.parts: [20000, 20000]", "particles", "at most 100000000"],
        ),
        (
            "laundry",
            &["cloths[0].shape={\"type\":\"disc\",\"radius\":1,\"rings\":4294967295}"],
            &["cloths[0].shape.rings: 4294967295", "at most 10000"],
        ),
        (
            "tshirt-folding",
            &["cloths[0].shape.spacing=1e-9"],
            &["cloths[0].shape.spacing: 0.000000001 m", "at most 100000000"],
        ),
        (
            "elastic-drop",
            &["soft[0].sampling.counts=[4294967295,1,1]"],
            &["soft[0].sampling.counts[0]: 4294967295", "at most 100000"],
        ),
        (
            "elastic-drop",
            &["soft[0].sampling.counts=[100000,100000,100000]"],
            &["soft[0].sampling.counts: [100000, 100000, 100000]", "1.000e15", "at most 100000000"],
        ),
        (
            "elastic-drop",
            &["soft[0].sampling.spacing=1e-6"],
            &["soft[0].sampling.spacing: 0.000001 m", "at most 100000000"],
        ),
        (
            "elastic-drop",
            &["soft[0].shape.half_extents=[1000,1000,1000]"],
            &["soft[0].shape: ", "0.01 m", "at most 100000000"],
        ),
        ("elastic-drop", &["grid_spacing=1e-300"], &["soft[0].shape: ", "at most 100000000"]),
        ("pile-scaling", &["copies.count=100000"], &["copies.count: 100000", "at most 20000"]),
        ("pile-scaling", &["copies.count=20000"], &["copies.count: 20000", "240001 bodies", "at most 20000"]),
        ("stack", &["dt=1e20"], &["dt: 100000000000000000000 s must be at most duration"]),
        ("elastic-drop", &["dt=1e-12"], &["dt: 0.000000000001 s makes", "limits.steps, 10000000"]),
        (
            "stack",
            &["rigid.integrator={\"type\":\"fixed\",\"step\":1e-12}"],
            &["rigid.integrator.step: ", "limits.rigid_steps, 100000000"],
        ),
        (
            "stack",
            &["rigid.integrator={\"type\":\"error-controlled\",\"max_step\":1e-12}"],
            &["rigid.integrator.max_step: ", "limits.rigid_steps, 100000000"],
        ),
        (
            "elastic-drop",
            &["materials.rubber.youngs_modulus=1e18"],
            &["substeps: \"auto\" needs", "limits.substeps"],
        ),
        (
            "elastic-drop",
            &["substeps=1000000"],
            &["substeps: 1000000 of a step", "limits.substeps, 100000000"],
        ),
        ("elastic-drop", &["substeps=4294967295"], &["substeps: 4294967295 must be at most 10000000"]),
        (
            "elastic-drop",
            &["output.frame_interval=1e-9", "dt=1e-7", "duration=0.5"],
            &["output.frame_interval", "at most 1000000"],
        ),
        ("elastic-drop", &["limits.memory=1000"], &["limits.memory: 0 MB is less than the"]),
        ("elastic-drop", &["limits.steps=3"], &["dt: ", "limits.steps, 3"]),
        ("elastic-drop", &["limits.wall_time=1e-9"], &["limits.wall_time: 0.000000001 s is less than"]),
        (
            "elastic-drop",
            &["soft[0].pose.position[0]=1e300"],
            &["soft[0].pose.position[0]: ", " m must be at most 1e"],
        ),
        (
            "elastic-drop",
            &["solver.max_iterations=4294967295"],
            &["solver.max_iterations: 4294967295 must be at most 1000000"],
        ),
        (
            "elastic-drop",
            &["soft[0].name=\"a\\nb\""],
            &["soft[0].name: 'a\\nb' must not hold the control character '\\n'"],
        ),
        ("stack", &["bodies[0].name=\"\\u001b[31m\""], &["bodies[0].name: '\\u{1b}[31m' must not hold"]),
        (
            "elastic-drop",
            &[
                "materials={\"a\\tb\":{\"model\":\"neo-hookean\",\"density\":1,\"youngs_modulus\":1,\"poissons_ratio\":0}}",
            ],
            &["materials: 'a\\tb' must not"],
        ),
    ] {
        let error =
            validate(&changed(scene, changes)).map_or_else(|error| error.to_string(), |()| "valid".into());
        for part in parts.iter().filter(|part| !error.contains(**part)) {
            wrong.push(format!("{changes:?}: '{part}' is not in: {error}"));
        }
        assert!(!error.chars().any(|c| c.is_control() && c != '\n'), "{error:?}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// The law: the built-in scenes are far from the limits of work, and the estimate of the scene alone
// is that of its world, but for what only the world knows.
#[test]
fn built_in_scenes_are_within_the_limits() {
    for name in builtin::names() {
        let scene = builtin::scene(name).unwrap().unwrap();
        let Estimate { steps, substeps, rigid_steps, .. } = Estimate::of(&scene);
        assert!(10 * steps <= scene.limits.steps, "{name}: {steps} steps");
        assert!(10 * substeps <= scene.limits.substeps, "{name}: {substeps} substeps");
        assert!(10 * rigid_steps <= scene.limits.rigid_steps, "{name}: {rigid_steps} rigid steps");
    }
    for name in ["elastic-drop", "dough-rolling", "sand-column", "soft-grasp", "stack"] {
        let scene = builtin::scene(name).unwrap().unwrap();
        let (before, built) = (Estimate::of(&scene), Scenario::new(&scene).unwrap().estimate());
        assert_eq!(before.particles, built.particles, "{name}");
        assert!(before.substeps <= built.substeps, "{name}: {before:?} {built:?}");
        assert!(before.bodies <= built.bodies, "{name}: {before:?} {built:?}");
    }
}

/// Values that a hostile user writes.
fn extremes() -> Vec<Value> {
    let mut all: Vec<Value> =
        [0.0, -1.0, 1e-300, 1e-12, 1e-6, 0.5, 1e6, 1e9, 1e20, 1e30, -1e30, 1e300].map(Value::from).into();
    all.extend([
        json!(0),
        json!(1),
        json!(-1),
        json!(65_536),
        json!(4_294_967_295_u64),
        json!(u64::MAX),
        Value::Null,
    ]);
    all
}

/// The paths of all numbers of a scene, as JSON pointers.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(k, item)| numbers(item, &format!("{at}/{k}"), found));
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                numbers(item, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

/// Draws scenes with one or two numbers replaced by extremes, and checks them as the command does:
/// nothing panics, and nothing that is let through is large. The memory that a scene may need is set
/// so that a build takes a fraction of a second; the bound on time is many times that.
fn hostile(seed: u64, draws: usize, names: &[&str]) {
    const LONGEST: Duration = Duration::from_secs(30);
    let mut random = SplitMix64::new(seed);
    let mut draw = |count: usize| (random.uniform() * count as f64) as usize % count.max(1);
    let extremes = extremes();
    let mut slowest: Vec<(Duration, String)> = Vec::new();
    let mut counts = [0; 4];
    for n in 0..draws {
        let name = names[draw(names.len())];
        let mut scene = builtin::scene(name).unwrap().unwrap();
        scene.limits.memory = Some(200_000_000);
        let mut json = serde_json::to_value(&scene).unwrap();
        let mut paths = Vec::new();
        numbers(&json, "", &mut paths);
        paths.retain(|path| path != "/limits/memory");
        let mut said = format!("seed {seed}, draw {n}: {name}");
        for _ in 0..=draw(2) {
            let (path, value) = (&paths[draw(paths.len())], &extremes[draw(extremes.len())]);
            *json.pointer_mut(path).unwrap() = value.clone();
            said += &format!(" {path}={value}");
        }
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let Ok(scene) = parse_scene(&json.to_string()) else { return 0 };
            if validate(&scene).is_err() {
                return 1;
            }
            if Scenario::new(&scene).is_err() { 2 } else { 3 }
        }));
        let took = start.elapsed();
        match outcome {
            Ok(kind) => counts[kind] += 1,
            Err(_) => panic!("{said}: panicked"),
        }
        assert!(took < LONGEST, "{said}: {took:?}");
        slowest.push((took, said));
        slowest.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
        slowest.truncate(8);
    }
    let [unread, invalid, unbuilt, built] = counts;
    eprintln!("{unread} not read, {invalid} invalid, {unbuilt} not built, {built} built; slowest:");
    slowest.iter().for_each(|(took, said)| eprintln!("{took:?} {said}"));
}

#[test]
fn hostile_numbers_are_refused_or_built() {
    hostile(1, 300, &["elastic-drop", "dough-pin", "stack", "roll-cylinder", "pile-scaling", "incline"]);
}

#[test]
#[ignore = "slow tier"]
fn hostile_numbers_are_refused_or_built_in_every_scene() {
    // Finer resolutions of the others would only take longer.
    let names: Vec<_> = builtin::names().filter(|name| !name.ends_with("-fine")).collect();
    let seed = std::env::var("PLIANT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2);
    hostile(seed, 4000, &names);
}
