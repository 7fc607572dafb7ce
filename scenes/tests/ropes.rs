//! Ropes of scenes: what is refused and how, and what is built.

use nalgebra::Vector3;
use pliant_mpm::rope::RopeMaterial;
use pliant_scenes::estimate::rope_particles;
use pliant_scenes::format::{Scene, parse_scene, validate};
use pliant_scenes::scenario::Scenario;
use pliant_testing::Random;
use serde_json::{Value, json};

/// A scene of one rope, a line of 0.3 m, with these fields besides.
fn scene(fields: Value) -> Value {
    let mut rope = json!({
        "name": "cable",
        "shape": { "type": "line", "from": [0, 0, 0.1], "to": [0.3, 0, 0.1] },
        "material": { "density": 1200, "radius": 0.004, "youngs_modulus": 1e6 }
    });
    for (field, value) in fields.as_object().unwrap() {
        rope[field] = value.clone();
    }
    json!({ "name": "ropes", "duration": 0.02, "dt": 0.005, "grid_spacing": 0.02, "ropes": [rope] })
}

fn material(field: &str, value: Value) -> Value {
    let mut material = json!({ "density": 1200, "radius": 0.004, "youngs_modulus": 1e6 });
    material[field] = value;
    json!({ "material": material })
}

fn parsed(scene: &Value) -> Result<Scene, String> {
    let scene = parse_scene(&scene.to_string()).map_err(|error| error.to_string())?;
    validate(&scene).map_err(|error| error.to_string())?;
    Ok(scene)
}

/// Values out of range are refused when the scene is read, with the path of the field, value and unit.
#[test]
fn bad_ropes_are_refused_by_path_value_and_unit() {
    let pin = |pin: Value| json!({ "pins": [pin] });
    let end = json!({ "type": "end" });
    let clamped = json!({ "type": "end", "clamped": true });
    for (fields, expected) in [
        (json!({ "colour": [0, 0, 0] }), "unknown field `colour`"),
        (json!({ "segments": 0 }), "ropes[0].segments: 0 must be positive"),
        (json!({ "shape": { "type": "line", "from": [0, 0, 1], "to": [0, 0, 1] } }), "ropes[0].shape.to: "),
        (
            json!({ "shape": { "type": "polyline", "points": [[0, 0, 1]] } }),
            "ropes[0].shape.points: 1 given, but a line needs at least 2",
        ),
        (
            json!({ "shape": { "type": "helix", "radius": -1, "pitch": 0, "turns": 1 } }),
            "ropes[0].shape.radius: -1 m must be positive",
        ),
        (
            json!({ "shape": { "type": "helix", "radius": 1, "pitch": 0, "turns": 0 } }),
            "ropes[0].shape.turns: 0 must be finite and not zero",
        ),
        (json!({ "shape": { "type": "spline" } }), "unknown variant `spline`"),
        (json!({ "mass_damping": -1 }), "ropes[0].mass_damping: -1 1/s must not be negative"),
        (material("density", json!(0)), "ropes[0].material.density: 0 kg/m^3 must be positive"),
        (material("radius", json!(-1)), "ropes[0].material.radius: -1 m must be positive"),
        (material("youngs_modulus", json!(-5)), "ropes[0].material.youngs_modulus: -5 Pa must be positive"),
        (material("poissons_ratio", json!(-1)), "ropes[0].material.poissons_ratio: -1 must be in (-1, 0.5]"),
        (material("shear_modulus", json!(0)), "ropes[0].material.shear_modulus: 0 Pa must be positive"),
        (
            material("bending_stiffness", json!(-1)),
            "ropes[0].material.bending_stiffness: -1 N m^2 must be finite and not negative",
        ),
        (material("damping", json!(2)), "ropes[0].material.damping: 2 must be in [0, 1]"),
        (pin(json!({ "at": { "type": "middle" } })), "unknown variant `middle`"),
        (pin(json!({ "at": end, "release": -1 })), "ropes[0].pins[0].release: -1 s must not be negative"),
        (
            pin(json!({ "at": end, "turns": [{ "time": 0, "angle": 0 }] })),
            "ropes[0].pins[0].turns: only a clamped end is turned",
        ),
        (
            pin(json!({ "at": clamped, "turns": [{ "time": 0, "angle": 1 }] })),
            "ropes[0].pins[0].turns[0].angle: 1 rad must be zero",
        ),
        (
            pin(json!({ "at": clamped, "turns": [{ "time": 1, "angle": 0 }, { "time": 1, "angle": 2 }] })),
            "ropes[0].pins[0].turns[1].time: 1 s must be later",
        ),
        (
            pin(json!({ "at": end, "keyframes": [{ "time": 0, "displacement": [1, 0, 0] }] })),
            "ropes[0].pins[0].keyframes[0].displacement: [1.0, 0.0, 0.0] m must be zero",
        ),
    ] {
        let error = parsed(&scene(fields)).unwrap_err();
        assert!(error.contains(expected), "{error}\nnot {expected}");
    }
    let mut without_grid = scene(json!({}));
    without_grid["grid_spacing"] = json!(null);
    let error = parsed(&without_grid).unwrap_err();
    assert!(error.contains("grid_spacing: null: ropes need the spacing of a grid"), "{error}");
    let mut twice = scene(json!({}));
    let first = twice["ropes"][0].clone();
    twice["ropes"].as_array_mut().unwrap().push(first);
    let error = parsed(&twice).unwrap_err();
    assert!(error.contains("ropes[1].name: the name 'cable' is used by another rope"), "{error}");
    let many = parsed(&scene(json!({ "segments": 4_000_000_000_u32 }))).unwrap_err();
    assert!(many.contains("ropes[0].segments"), "{many}");
}

/// What the grid and the line refuse has the name of the rope.
#[test]
fn ropes_that_do_not_fit_the_grid_are_refused() {
    let pin = |at: Value| json!({ "pins": [{ "at": at }] });
    for (fields, expected) in [
        (json!({ "segments": 5 }), "rope 'cable': segment 0: is 0.06 m long"),
        (json!({ "segments": 100 }), "rope 'cable': segment 0: is 0.003"),
        (material("radius", json!(0.03)), "rope 'cable': material.radius: 0.03 m must be at most the grid"),
        (json!({ "twist": 1e4 }), "rope 'cable': twist: 10000 rad must be finite, and at most"),
        (
            pin(json!({ "type": "vertex", "vertex": 31 })),
            "rope 'cable': pins[0]: vertex: 31 is not one of the 31",
        ),
        (
            json!({ "pins": [{ "at": { "type": "start", "clamped": true } }, { "at": { "type": "vertex", "vertex": 1 } }] }),
            "rope 'cable': pins[1]: vertex: 1 has two pins",
        ),
        (
            pin(json!({ "type": "nearest", "point": [0, 0, 0] })),
            "rope 'cable': pins[0].at.point: [0.0, 0.0, 0.0] m is 0.1 m from the nearest vertex, 0",
        ),
        (
            json!({ "segments": 20, "shape": { "type": "polyline", "points": [[0, 0, 0], [0.1, 0, 0], [0.0134, 0, 0.05]] } }),
            "rope 'cable': points[",
        ),
    ] {
        let found = Scenario::new(&parsed(&scene(fields)).unwrap()).err().unwrap().to_string();
        assert!(found.contains(expected), "{found}\nnot {expected}");
    }
}

/// `segments: "auto"` gives segments that the grid takes, for radii up to the grid spacing: a line of three spacings
/// or more divides into segments from a radius to 4/3 of a spacing.
#[test]
fn automatic_segments_fit_the_grid() {
    let seed = 31;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for _ in 0..200 {
        let radius = 0.02 * random.uniform(0.02, 1.0);
        let end = 0.02 * random.uniform(3.0, 60.0);
        let mut fields = material("radius", json!(radius));
        fields["shape"] = json!({ "type": "line", "from": [0, 0, 0.1], "to": [end, 0, 0.1] });
        let built = Scenario::new(&parsed(&scene(fields)).unwrap());
        assert!(built.is_ok(), "radius {radius} m, length {end} m: {}", built.err().unwrap());
    }
}

/// A rope comes to the world with its line, pins and turns; the estimate of particles is that of the built one; a
/// scene is written as it was read.
#[test]
fn ropes_come_to_the_world() {
    let fields = json!({
        "pose": { "position": [1, 2, 3] },
        "segments": 25,
        "twist": 2,
        "pins": [
            { "at": { "type": "start", "clamped": true } },
            { "at": { "type": "nearest", "point": [0.145, 0, 0.1] } },
            {
                "at": { "type": "end", "clamped": true }, "release": 3,
                "turns": [{ "time": 0, "angle": 0 }, { "time": 2, "angle": 6 }],
                "keyframes": [{ "time": 0, "displacement": [0, 0, 0] }, { "time": 1, "displacement": [-0.1, 0, 0] }]
            }
        ]
    });
    let scene = parsed(&scene(fields)).unwrap();
    let mut scenario = Scenario::new(&scene).unwrap();
    let rope = scenario.world.mpm().ropes()[0].clone();
    assert_eq!(rope.vertices.len(), 26);
    assert!((rope.vertices[25] - Vector3::new(1.3, 2.0, 3.1)).norm() < 1e-12);
    let held: Vec<_> = rope.pins.iter().map(pliant_mpm::cloth::Pin::vertex).collect();
    assert_eq!(held, [0, 1, 12, 24, 25]);
    assert!((rope.pins[4].position(1.0) - Vector3::new(1.2, 2.0, 3.1)).norm() < 1e-12);
    assert_eq!(rope.twist_pins.len(), 2);
    assert_eq!((rope.twist_pins[0].segment(), rope.twist_pins[0].angle(1.0)), (0, 0.0));
    assert_eq!((rope.twist_pins[1].segment(), rope.twist_pins[1].angle(1.0)), (24, 3.0));
    assert!(rope.twist_pins[1].holds(2.9) && !rope.twist_pins[1].holds(3.0));
    // E / (2 (1 + nu)), nu = 1/2.
    assert!((rope.material.shear_modulus - 1e6 / 3.0).abs() < 1.0);
    assert_eq!(rope_particles(&scene, &scene.ropes[0]), 26.0);
    assert_eq!(scenario.world.particle_count(), 26);
    scenario.step().unwrap();
    let written = serde_json::to_string(&scene).unwrap();
    assert_eq!(parse_scene(&written).unwrap(), scene);
}

/// Every other figure of a rope comes to the world as it was given.
#[test]
fn figures_of_ropes_come_to_the_world() {
    let figures = json!({
        "density": 900, "radius": 0.003, "youngs_modulus": 2e6, "shear_modulus": 5e5,
        "bending_stiffness": 1e-4, "twist_stiffness": 2e-4, "damping": 0.7
    });
    let fields = json!({
        "material": figures, "naturally_curved": true, "twist": 1.5, "mass_damping": 0.4,
        "velocity": [1, -2, 0.5]
    });
    let scenario = Scenario::new(&parsed(&scene(fields)).unwrap()).unwrap();
    let mpm = scenario.world.mpm();
    let rope = &mpm.ropes()[0];
    let material = RopeMaterial {
        density: 900.0,
        radius: 0.003,
        youngs_modulus: 2e6,
        shear_modulus: 5e5,
        bending_stiffness: Some(1e-4),
        twist_stiffness: Some(2e-4),
        damping: 0.7,
    };
    assert_eq!(rope.material, material);
    assert!(rope.is_naturally_curved);
    assert_eq!((rope.twist, rope.velocity), (1.5, Vector3::new(1.0, -2.0, 0.5)));
    assert_eq!(mpm.mass_damping(), [0.4]);
}

/// Random lines: vertices are at equal distances along them, to the rounding off of corners, and the ends are those
/// of the line. A helix has the length of its formula.
#[test]
fn lines_are_divided_evenly() {
    let mut random = Random(81);
    for case in 0..50 {
        let (radius, pitch, turns) =
            (random.uniform(0.05, 0.2), random.uniform(0.0, 0.1), random.uniform(0.3, 3.0));
        let shape = json!({ "type": "helix", "radius": radius, "pitch": pitch, "turns": turns });
        let scene = parsed(&scene(json!({ "shape": shape, "naturally_curved": true }))).unwrap();
        let rope = scene.ropes[0].build(0.02).unwrap();
        let length = turns * (core::f64::consts::TAU * radius).hypot(pitch);
        let found: f64 = rope.edges().map(|edge| edge.norm()).sum();
        // A chord of length l of a circle of radius R is shorter by l^2 / (24 R^2).
        let chord = length / (rope.vertices.len() - 1) as f64;
        let shorter = (chord / radius).powi(2) / 24.0;
        assert!(
            (1.0 - found / length - shorter).abs() < 0.2 * shorter + 1e-5,
            "seed 81, case {case}: {found} {length}"
        );
        let [least, most] =
            rope.edges().fold([f64::INFINITY, 0.0], |[a, b], e| [a.min(e.norm()), f64::max(b, e.norm())]);
        assert!(most / least < 1.001, "seed 81, case {case}: {least} {most}");
        assert!(most <= 0.0101, "half of the grid spacing: {most}");
        assert!((rope.vertices[0] - Vector3::new(radius, 0.0, -0.5 * pitch * turns)).norm() < 1e-12);
    }
}
