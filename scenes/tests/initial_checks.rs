//! Starts that are checked: what is placed in something else is refused with the place and the
//! depth, what touches is not; and what stands stays.

use nalgebra::{UnitQuaternion, Vector3};
use pliant_coupling::{ALLOWED_OVERLAP, BuildError, ParticleSnapshot};
use pliant_numeric::random::SplitMix64;
use pliant_scenes::assemble::AssembleError;
use pliant_scenes::builtin;
use pliant_scenes::format::{Scene, parse_scene};
use pliant_scenes::initial_checks::{Overlap, RIGID_OVERLAP};
use pliant_scenes::scenario::{Scenario, SceneError};
use serde_json::{Value, json};

fn scene(grid: f64, soft: Value, bodies: Value) -> Scene {
    let text = json!({
        "name": "start", "dt": 0.005, "duration": 0.1, "grid_spacing": grid, "soft": soft, "bodies": bodies
    });
    parse_scene(&text.to_string()).unwrap()
}

fn soft(name: &str, shape: &Value, at: Vector3<f64>) -> Value {
    let rubber = json!({ "model": "fixed-corotated", "density": 1000.0, "youngs_modulus": 1e5, "poissons_ratio": 0.3 });
    let position: [f64; 3] = at.into();
    json!({ "name": name, "shape": shape, "pose": { "position": position }, "material": rubber })
}

fn fixed(name: &str, shape: &Value) -> Value {
    json!({ "name": name, "motion": { "type": "fixed" }, "geometries": [{ "shape": shape }] })
}

/// A scene's world, or why it has none.
fn start(scene: &Scene) -> Result<Scenario, SceneError> {
    Scenario::new(scene)
}

/// A random shape that soft and rigid bodies have, and half of its height [m].
fn shape(random: &mut SplitMix64, grid: f64) -> (Value, f64) {
    let mut side = || grid * random.uniform_in(1.5, 4.0);
    let sides = [side(), side(), side()];
    match random.next_u64() % 3 {
        0 => (json!({ "type": "box", "half_extents": sides }), sides[2]),
        1 => (json!({ "type": "sphere", "radius": sides[0] }), sides[0]),
        _ => (json!({ "type": "cylinder", "radius": sides[0], "half_length": sides[2] }), sides[2]),
    }
}

/// By how much the deepest particle of a shape may be less deep than the shape [m]. Flat faces: not
/// at all, but for single precision. A ball: the nearest particle of its outer shell is within 0.9
/// of a particle's edge of the lowest point, so higher by the sagitta.
fn short_of(shape: &Value, grid: f64) -> f64 {
    let rounding = 1e-6 * grid;
    match shape["radius"].as_f64() {
        Some(radius) if shape["type"] == "sphere" => {
            (0.9 * 0.55 * grid).powi(2) / (2.0 * (radius - 0.28 * grid)) + rounding
        }
        _ => rounding,
    }
}

const SEED: u64 = 184;

// Checks: refused if and only if the depth is above the limit, up to what the particles show of the
// shape; the reported depth is the one it was placed at.
#[test]
fn soft_bodies_in_a_floor_or_a_body_are_refused_with_their_depth() {
    let mut random = SplitMix64::new(SEED);
    let (mut refused, mut worst) = (0, 0.0_f64);
    for case in 0..60 {
        let grid = random.uniform_in(1e-3, 0.05);
        let (shape, half) = shape(&mut random, grid);
        let limit = ALLOWED_OVERLAP * grid;
        let depth = if case % 3 == 0 {
            limit * random.uniform_in(-2.0, 4.0)
        } else {
            grid * random.uniform_in(-1.0, 1.0)
        };
        let across = Vector3::new(random.uniform_in(-1.0, 1.0), random.uniform_in(-1.0, 1.0), 0.0) * grid;
        let in_floor = random.uniform() < 0.5;
        let floor = if in_floor {
            fixed("anvil", &json!({ "type": "half-space" }))
        } else {
            // As high as twice the grid, so that its top is the nearest face everywhere.
            json!({ "name": "anvil", "motion": { "type": "fixed", "pose": { "position": [0, 0, -8.0 * grid] } },
                "geometries": [{ "shape": { "type": "box", "half_extents": [20.0 * grid, 20.0 * grid, 8.0 * grid] } }] })
        };
        let body = soft("d", &shape, across + Vector3::z() * (half - depth));
        let short = short_of(&shape, grid);
        let told = format!("seed {SEED}, case {case}: {shape} at depth {depth} of grid {grid}");
        match start(&scene(grid, json!([body]), json!([floor]))) {
            Ok(_) => assert!(depth < limit + short, "{told}: accepted"),
            Err(SceneError::Build(BuildError::Overlap { part, body, depth: found, position, .. })) => {
                assert!(depth > limit - 1e-6 * grid, "{told}: refused at {found}");
                assert!(found < depth + 1e-6 * grid && found > depth - short, "{told}: {found} told");
                assert!(part == "soft[0] 'd'" && body == "body `anvil`", "{part} {body}");
                assert!(position.z.abs() < 2.0 * grid, "{told}: {position}");
                worst = worst.max((found - depth).abs() / grid);
                refused += 1;
            }
            Err(other) => panic!("{told}: {other}"),
        }
    }
    println!("{refused} refused; largest error of a depth {worst:.4} grid spacings");
    assert!((10..50).contains(&refused), "{refused}");
}

// The same of soft bodies on each other, face to face; boxes 30 mm inside each other are refused.
#[test]
fn soft_bodies_in_soft_bodies_are_refused_with_their_depth() {
    let mut random = SplitMix64::new(SEED + 1);
    for case in 0..40 {
        let grid = random.uniform_in(1e-3, 0.05);
        let wide = json!({ "type": "box", "half_extents": [8.0 * grid, 8.0 * grid, 2.0 * grid] });
        let (shape, half) = shape(&mut random, grid);
        let limit = ALLOWED_OVERLAP * grid;
        let depth = if case % 2 == 0 {
            limit * random.uniform_in(-2.0, 4.0)
        } else {
            grid * random.uniform_in(-1.0, 1.0)
        };
        let across = Vector3::new(random.uniform_in(-1.0, 1.0), random.uniform_in(-1.0, 1.0), 0.0) * grid;
        let below = soft("a", &wide, Vector3::zeros());
        let above = soft("b", &shape, across + Vector3::z() * (2.0 * grid + half - depth));
        let short = short_of(&shape, grid);
        let told = format!("seed {}, case {case}: {shape} at depth {depth} of grid {grid}", SEED + 1);
        let pair = if random.uniform() < 0.5 { json!([below, above]) } else { json!([above, below]) };
        match start(&scene(grid, pair, json!([]))) {
            Ok(_) => assert!(depth < limit + short, "{told}: accepted"),
            Err(SceneError::Overlap(error)) => {
                let [Overlap { depth: found, .. }] = error.overlaps[..] else { panic!("{error}") };
                assert!(depth > limit - 1e-6 * grid, "{told}: {error}");
                assert!(found < depth + 1e-6 * grid && found > depth - short, "{told}: {error}");
            }
            Err(other) => panic!("{told}: {other}"),
        }
    }
    let cube = json!({ "type": "box", "half_extents": [0.05, 0.05, 0.05] });
    let two = json!([soft("a", &cube, Vector3::zeros()), soft("b", &cube, Vector3::x() * 0.07)]);
    let mut inside = scene(0.02, two, json!([]));
    let error = start(&inside).err().unwrap().to_string();
    assert!(
        error.contains("soft[0] 'a'") && error.contains("soft[1] 'b'") && error.contains("3.0000e-2 m"),
        "{error}"
    );
    // A cube in the middle of a great one, in either order: it is deep in that, not that in it.
    let great = json!({ "type": "box", "half_extents": [0.2, 0.2, 0.2] });
    let great = soft("great", &great, Vector3::zeros());
    let small = soft("small", &cube, Vector3::zeros());
    for pair in [json!([great, small]), json!([small, great])] {
        let Err(SceneError::Overlap(error)) = start(&scene(0.02, pair, json!([]))) else { panic!() };
        let [Overlap { depth, .. }] = error.overlaps[..] else { panic!("{error}") };
        assert!((0.15..=0.2 + 1e-6).contains(&depth), "{error}");
    }
    inside.allow_overlap = vec!["b".to_owned()];
    start(&inside).unwrap();
    inside.allow_overlap = vec!["c".to_owned()];
    assert!(start(&inside).err().unwrap().to_string().contains("allow_overlap[0]"));
}

// Bodies on a floor or on a box: refused beyond the stated part of their size, or beyond what they
// weigh the contact down; the depth is exact.
#[test]
fn bodies_in_bodies_are_refused_with_their_depth() {
    let mut random = SplitMix64::new(SEED + 2);
    let mut refused = 0;
    for case in 0..60 {
        let size = random.uniform_in(5e-3, 0.2);
        let (shape, half) = shape(&mut random, size);
        let radius = match shape["type"].as_str() {
            Some("sphere") => half,
            Some("cylinder") => half.hypot(shape["radius"].as_f64().unwrap()),
            _ => (0..3).map(|k| shape["half_extents"][k].as_f64().unwrap().powi(2)).sum::<f64>().sqrt(),
        };
        let mass = random.uniform_in(0.01, 20.0);
        // Two surfaces of 1e6 N/m in series.
        let limit = (RIGID_OVERLAP * radius).max(mass * 9.81 / 5e5);
        let depth = if case % 2 == 0 {
            limit * random.uniform_in(-2.0, 4.0)
        } else {
            half * random.uniform_in(-0.5, 0.5)
        };
        let anvil = json!({ "name": "anvil", "motion": { "type": "fixed", "pose": { "position": [0, 0, -30.0 * size] } },
            "geometries": [{ "shape": { "type": "box", "half_extents": [20.0 * size, 20.0 * size, 30.0 * size] } }] });
        let floor =
            if random.uniform() < 0.5 { anvil } else { fixed("anvil", &json!({ "type": "half-space" })) };
        let body = json!({ "name": "b", "motion": { "type": "dynamic", "pose": { "position": [0, 0, half - depth] },
            "joint": { "type": "free" }, "mass": mass }, "geometries": [{ "shape": shape }] });
        let told = format!("seed {}, case {case}: {shape} at depth {depth}, limit {limit}", SEED + 2);
        let placed = scene(0.01, json!([]), json!([floor, body]));
        match start(&placed) {
            Ok(_) => assert!(depth <= limit * (1.0 + 1e-6), "{told}: accepted"),
            Err(SceneError::Overlap(error)) => {
                let [Overlap { depth: found, place, .. }] = &error.overlaps[..] else { panic!("{error}") };
                assert!(
                    depth > limit * (1.0 - 1e-6) && (found - depth).abs() < 1e-6 * radius,
                    "{told}: {error}"
                );
                assert!(place[2].abs() <= 1.001 * depth, "{told}: {error}");
                refused += 1;
            }
            Err(other) => panic!("{told}: {other}"),
        }
    }
    assert!((15..50).contains(&refused), "{refused}");
}

/// Triangles of the unit cube, outwards, in OBJ.
const CUBE: &str = "v -.5 -.5 -.5\nv .5 -.5 -.5\nv -.5 .5 -.5\nv .5 .5 -.5\nv -.5 -.5 .5\nv .5 -.5 .5\nv -.5 .5 .5\nv .5 .5 .5
f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n";

// Checks: what is inside a closed mesh and too small to reach its surface is in it all the same, by
// the depth of its middle or more; what is outside is not.
#[test]
fn what_a_mesh_has_swallowed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.obj");
    std::fs::write(&file, CUBE).unwrap();
    let mesh = fixed("mesh", &json!({ "type": "mesh", "file": file }));
    let mut random = SplitMix64::new(SEED + 3);
    for case in 0..60 {
        let size = random.uniform_in(0.005, 0.1);
        let mut side = || size * random.uniform_in(0.4, 1.0);
        let [a, b, c] = [side(), side(), side()];
        let shape = match case % 6 {
            0 => json!({ "type": "sphere", "radius": a }),
            1 => json!({ "type": "box", "half_extents": [a, b, c] }),
            2 => json!({ "type": "cylinder", "radius": a, "half_length": b }),
            3 => json!({ "type": "capsule", "radius": a, "half_length": b }),
            4 => json!({ "type": "ellipsoid", "half_axes": [a, b, c] }),
            _ => {
                json!({ "type": "convex-hull", "points": [[a, b, c], [-a, -b, c], [-a, b, -c], [a, -b, -c]] })
            }
        };
        let mut place = [(); 3].map(|()| random.uniform_in(-0.45, 0.45));
        let refused = case % 4 != 3;
        if !refused {
            place[case / 4 % 3] = 0.5 + 2.0 * size;
        }
        let turn: [f64; 4] = UnitQuaternion::from_scaled_axis(Vector3::from(place) * 7.0).coords.into();
        let pose = json!({ "position": place, "orientation": [turn[3], turn[0], turn[1], turn[2]] });
        let body = json!({ "name": "body", "motion": { "type": "dynamic", "pose": pose,
            "joint": { "type": "free" }, "mass": 1.0 }, "geometries": [{ "shape": shape }] });
        let told = format!("seed {}, case {case}: {shape} at {place:?} m", SEED + 3);
        let found = start(&scene(0.01, json!([]), json!([mesh, body])));
        let Err(SceneError::Overlap(error)) = found else {
            assert!(!refused && found.is_ok(), "{told}: {:?}", found.err());
            continue;
        };
        let middle = place.iter().map(|x| 0.5 - x.abs()).fold(0.5, f64::min);
        let [Overlap { depth, .. }] = error.overlaps[..] else { panic!("{error}") };
        assert!(refused && depth >= middle - 1e-6, "{told}: {error}");
    }
}

// Issue: a particle radius of 1 m, a 0.1 m cube that becomes one particle; counts that leave holes
// in the grid.
#[test]
fn radii_and_grids_that_do_not_fit_a_body_are_refused() {
    let cube = json!({ "type": "box", "half_extents": [0.05, 0.05, 0.05] });
    let placed = |grid: f64| scene(grid, json!([soft("cube", &cube, Vector3::zeros())]), json!([]));
    let mut wide = placed(0.02);
    wide.contact.particle_radius = pliant_scenes::format::AutoOr::Value(1.0);
    let error = start(&wide).err().unwrap().to_string();
    assert!(error.contains("contact.particle_radius: 1 m"), "{error}");
    wide.grid_spacing = Some(0.1);
    wide.contact.particle_radius = pliant_scenes::format::AutoOr::Value(0.06);
    let error = start(&wide).err().unwrap().to_string();
    assert!(error.contains("particle_radius of 0.06 m") && error.contains("soft[0] 'cube'"), "{error}");

    let Err(SceneError::Assemble(error @ AssembleError::Resolution { .. })) = start(&placed(0.2)) else {
        panic!()
    };
    assert!(error.to_string().contains("soft[0] 'cube'") && error.to_string().contains("0.2 m"), "{error}");
    let one = start(&placed(0.08)).unwrap().warnings;
    assert!(one.len() == 1 && one[0].contains("1.25 grid cells"), "{one:?}");
    assert!(start(&placed(0.05)).unwrap().warnings.is_empty());

    // One particle across 0.1 m, on a grid of cells as wide.
    let mut one = placed(0.1);
    one.soft[0].sampling.counts = Some([1, 2, 2]);
    let error = start(&one).err().unwrap().to_string();
    assert!(error.contains("fewer than 2 across"), "{error}");
    let mut holes = placed(0.02);
    holes.soft[0].sampling.counts = Some([4, 10, 10]);
    let error = start(&holes).err().unwrap().to_string();
    assert!(error.contains("would be empty"), "{error}");
}

// Every built-in scene starts as it is checked to.
#[test]
fn built_in_scenes_start_apart() {
    let failed: Vec<String> = builtin::names()
        .filter_map(|name| {
            let scenario = start(&builtin::scene(name).unwrap().unwrap());
            match scenario {
                Ok(scenario) => {
                    println!("{name}: {:?}", scenario.warnings);
                    None
                }
                Err(error) => Some(format!("{name}: {error}")),
            }
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Mean height of the particles [m].
fn height(scenario: &Scenario) -> f64 {
    let particles = scenario.world.mpm().particles();
    particles.iter().map(|p| p.position.z).sum::<f64>() / particles.len() as f64
}

// A dough cylinder that stands on the floor hopped by 19 mm, with 9 % of plastic strain. Checks:
// bodies that touch without overlap have no energy to hop with. It sinks by its static compression,
// rho g H^2 / 2E = 26 micrometres of its height, swings by as much again, and does not yield: rho g
// H = 0.4 kPa is below 2.7 kPa.
#[test]
fn dough_that_stands_on_a_floor_stays() {
    for (shape, half) in [
        (
            json!({ "type": "cylinder", "radius": 0.03059038233777838, "half_length": 0.018068670435980445 }),
            0.018068670435980445,
        ),
        (json!({ "type": "sphere", "radius": 0.03 }), 0.03),
        (json!({ "type": "box", "half_extents": [0.03, 0.02, 0.013] }), 0.013),
    ] {
        let mut dough = soft("d", &shape, Vector3::z() * half);
        dough["material"] = json!({ "model": "von-mises", "density": 1200.0, "youngs_modulus": 3e5,
            "poissons_ratio": 0.24, "yield_stress": 2700.0 });
        let mut scenario =
            start(&scene(0.01, json!([dough]), json!([fixed("floor", &json!({ "type": "half-space" }))])))
                .unwrap();
        let begin = height(&scenario);
        let (mut rise, mut sink) = (0.0_f64, 0.0_f64);
        for _ in 0..60 {
            scenario.world.step().unwrap();
            let moved = height(&scenario) - begin;
            (rise, sink) = (rise.max(moved), sink.max(-moved));
        }
        println!("{shape}: rises by {:.4} mm, sinks by {:.4} mm", 1e3 * rise, 1e3 * sink);
        let mut snapshot = ParticleSnapshot::default();
        scenario.world.snapshot(&mut snapshot).unwrap();
        let yielded = snapshot.state.iter().copied().fold(0.0, f32::max);
        println!("plastic strain {yielded}");
        assert!(rise < 1e-5, "{shape}: rises by {rise} m");
        // A ball stands on a point, which flattens.
        assert!(yielded == 0.0 || shape["type"] == "sphere", "{shape}: {yielded}");
    }
}

/// How high the middle of a box of this material rises that starts `depth` [m] inside a floor,
/// beyond that depth [m].
fn hop(material: &Value, grid: f64, depth: f64) -> f64 {
    let shape = json!({ "type": "box", "half_extents": [3.0 * grid, 2.0 * grid, 2.0 * grid] });
    let mut body = soft("d", &shape, Vector3::z() * (2.0 * grid - depth));
    body["material"] = material.clone();
    let mut placed = scene(grid, json!([body]), json!([fixed("floor", &json!({ "type": "half-space" }))]));
    placed.allow_overlap = vec!["d".to_owned()];
    let mut scenario = start(&placed).unwrap();
    let begin = height(&scenario);
    let mut rise = 0.0_f64;
    for _ in 0..30 {
        scenario.world.step().unwrap();
        rise = rise.max(height(&scenario) - begin);
    }
    rise - depth
}

// What is still allowed hardly moves what stands.
#[test]
fn an_overlap_that_is_allowed_hardly_hops() {
    for (name, material) in [
        (
            "rubber",
            json!({ "model": "fixed-corotated", "density": 1000.0, "youngs_modulus": 1e6, "poissons_ratio": 0.4 }),
        ),
        (
            "dough",
            json!({ "model": "von-mises", "density": 1200.0, "youngs_modulus": 3e5, "poissons_ratio": 0.24, "yield_stress": 2700.0 }),
        ),
    ] {
        for grid in [0.005, 0.02] {
            for part in [1e-3, 3e-3, 1e-2, 3e-2, 1e-1] {
                println!(
                    "{name}, grid {grid} m, depth {part} h: hops by {:.4} h",
                    hop(&material, grid, part * grid) / grid
                );
            }
            let allowed = hop(&material, grid, ALLOWED_OVERLAP * grid);
            assert!(allowed < 0.05 * grid, "{name}: {allowed} m on a grid of {grid} m");
        }
    }
}

// Checks: at rest contact of stiffness k is compressed by m g/k. What that is more than half of a
// body's size is said, with the body; less is not.
#[test]
fn a_contact_too_soft_for_the_weight_is_said() {
    let mut random = SplitMix64::new(1818);
    let mut logarithmic = |low: f64, high: f64| low * (high / low).powf(random.uniform_in(0.0, 1.0));
    for draw in 0..40 {
        let (radius, mass) = (logarithmic(1e-3, 1.0), logarithmic(1e-3, 1e3));
        let part = logarithmic(0.01, 100.0);
        // Of two surfaces in series, so that the weight presses them by `part` of the radius.
        let stiffness = 2.0 * mass * 9.81 / (part * radius);
        let geometry = |shape: Value| json!([{ "shape": shape, "stiffness": stiffness }]);
        let text = json!({
            "name": "soft-contact", "dt": 0.001, "duration": 0.1, "bodies": [
                { "name": "floor", "motion": { "type": "fixed" }, "geometries": geometry(json!({ "type": "half-space" })) },
                {
                    "name": "ball",
                    "motion": { "type": "dynamic", "joint": { "type": "free" }, "mass": mass, "pose": { "position": [0.0, 0.0, radius] } },
                    "geometries": geometry(json!({ "type": "sphere", "radius": radius }))
                },
            ]
        });
        let said = start(&parse_scene(&text.to_string()).unwrap()).unwrap().warnings;
        let what = format!("draw {draw}: {mass} kg, {part} of {radius} m: {said:?}");
        assert_eq!(
            said.iter().any(|said| said.contains("body 'ball'") && said.contains("stiffness")),
            part > 0.5,
            "{what}"
        );
    }
}
