//! Laws of the format as a whole: the schema, and what validation refuses.

use serde_json::{Value, json};

use super::*;
use crate::builtin;

/// Visits every `properties` member of a JSON Schema with the definition's name and the property's.
fn properties(schema: &Value, place: &str, visit: &mut impl FnMut(&str, &str, &Value)) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(members)) = fields.get("properties") {
                for (name, member) in members {
                    visit(place, name, member);
                }
            }
            for (key, value) in fields {
                let place = if key.chars().next().is_some_and(char::is_uppercase) { key } else { place };
                properties(value, place, visit);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, place, visit)),
        _ => {}
    }
}

// Checks: the generated schema says the unit of every number, in brackets; unknown fields are
// refused by it too.
#[test]
fn the_schema_states_the_unit_of_every_number() {
    let schema = schema();
    let mut numbers = 0;
    properties(&schema, "Scene", &mut |place, name, member| {
        let text = member.to_string();
        let numeric = text.contains("\"number\"") || text.contains("\"integer\"");
        if !numeric || ["schema_version", "seed", "color"].contains(&name) {
            return;
        }
        numbers += 1;
        let description = member["description"].as_str().unwrap_or_default();
        assert!(description.contains('[') && description.contains(']'), "{place}.{name}: '{description}'");
    });
    assert!(numbers > 60, "only {numbers} numbers were found in the schema");
    assert_eq!(schema["additionalProperties"], json!(false));
}

// Checks: a scene with every default written out has no field that the schema does not describe.
#[test]
fn written_scenes_use_only_fields_of_the_schema() {
    let schema = schema();
    let mut known = std::collections::BTreeSet::new();
    properties(&schema, "Scene", &mut |_, name, _| {
        known.insert(name.to_owned());
    });
    fn keys(value: &Value, path: &str, visit: &mut impl FnMut(&str, &str)) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    visit(path, key);
                    keys(value, key, visit);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| keys(item, path, visit)),
            _ => {}
        }
    }
    for name in builtin::names() {
        let scene = builtin::scene(name).unwrap().unwrap();
        keys(&serde_json::to_value(&scene).unwrap(), "", &mut |parent, key| {
            let named = ["materials", "positions", "controls", "joints"].contains(&parent);
            assert!(named || known.contains(key), "{name}: {parent}.{key}");
        });
    }
}

fn problems(name: &str, assignments: &[&str]) -> Vec<String> {
    let scene = builtin::scene(name).unwrap().unwrap();
    let assignments: Vec<_> = assignments.iter().map(|a| Assignment::parse(a).unwrap()).collect();
    match validate(&apply(&scene, &assignments).unwrap()) {
        Ok(()) => Vec::new(),
        Err(error) => error.problems.iter().map(ToString::to_string).collect(),
    }
}

// Checks: invalid values are refused with path, value and unit. One case per line.
#[test]
fn bad_figures_are_named_with_value_and_unit() {
    for (scene, set, expected) in [
        (
            "elastic-drop",
            "materials.rubber.density=-5",
            "materials.rubber.density: -5 kg/m^3 must be positive",
        ),
        (
            "elastic-drop",
            "materials.rubber.youngs_modulus=0",
            "materials.rubber.youngs_modulus: 0 Pa must be positive",
        ),
        (
            "elastic-drop",
            "materials.rubber.poissons_ratio=0.5",
            "materials.rubber.poissons_ratio: 0.5 must be in (-1, 0.5)",
        ),
        (
            "elastic-drop",
            "materials.rubber.poissons_ratio=-1",
            "materials.rubber.poissons_ratio: -1 must be in (-1, 0.5)",
        ),
        (
            "dough-pin",
            "materials.dough.yield_stress=-1",
            "materials.dough.yield_stress: -1 Pa must be positive",
        ),
        (
            "sand-column",
            "materials.sand.friction_angle=30",
            "materials.sand.friction_angle: 30 rad must be in (0, pi/2)",
        ),
        ("elastic-drop", "dt=0", "dt: 0 s must be positive"),
        ("elastic-drop", "duration=-1", "duration: -1 s must be positive"),
        ("elastic-drop", "grid_spacing=0", "grid_spacing: 0 m must be positive"),
        ("elastic-drop", "substeps=0", "substeps: 0 must be positive, or \"auto\""),
        (
            "elastic-drop",
            "grid_spacing=null",
            "grid_spacing: null: soft bodies and cloths need the spacing of a grid [m]",
        ),
        ("sand-column", "soft=[]", "soft: [] and no cloths, bodies or robots: there is nothing to simulate"),
        (
            "elastic-drop",
            "soft[0].shape.half_extents[1]=-1",
            "soft[0].shape.half_extents[1]: -1 m must be positive",
        ),
        (
            "elastic-drop",
            "soft[0].sampling.spacing=1",
            "soft[0].sampling.spacing: 1 m must be at most grid_spacing, 0.02 m",
        ),
        (
            "elastic-drop",
            "soft[0].material=jelly",
            "soft[0].material: 'jelly' is not one of the materials [rubber]",
        ),
        (
            "elastic-drop",
            "soft[0].pose.orientation=[1,1,0,0]",
            "soft[0].pose.orientation: [1.0, 1.0, 0.0, 0.0] has norm",
        ),
        ("dough-pin", "bodies[roller].motion.mass=-1", "bodies[1].motion.mass: -1 kg must be positive"),
        (
            "dough-pin",
            "bodies[roller].motion.mass=null",
            "bodies[1].motion: give mass [kg] or density [kg/m^3]",
        ),
        (
            "dough-pin",
            "bodies[roller].motion.parent=nobody",
            "bodies[1].motion.parent: 'nobody' is not the name",
        ),
        (
            "dough-pin",
            "bodies[roller].motion.inertia=[1,1,3]",
            "bodies[1].motion.inertia: [1.0, 1.0, 3.0] kg m^2",
        ),
        (
            "dough-pin",
            "bodies[roller].name=handle",
            "bodies[1].name: the name 'handle' is used by another body",
        ),
        (
            "dough-pin",
            "bodies[0].motion.keyframes[1].time=0",
            "bodies[0].motion.keyframes[1].time: 0 s must be later",
        ),
        (
            "dough-pin",
            "bodies[0].geometries[0].friction=-1",
            "bodies[0].geometries[0].friction: -1 must not be negative",
        ),
        (
            "dough-pin",
            r#"bodies[0].geometries[0].adhesion={"stress":-1,"range":1e-3}"#,
            "bodies[0].geometries[0].adhesion.stress: -1 Pa must be positive",
        ),
        (
            "dough-pin",
            r#"bodies[0].geometries[0].adhesion={"stress":500,"range":0}"#,
            "bodies[0].geometries[0].adhesion.range: 0 m must be positive",
        ),
        ("dough-pin", "boundaries[0].normal=[0,0,0]", "boundaries[0].normal: [0, 0, 0] is no direction"),
        ("dough-pin", "contact.stiffness=-1", "contact.stiffness: -1 N/m must be positive"),
        ("dough-pin", "contact.stiction_tolerance=0", "contact.stiction_tolerance: 0 m/s must be positive"),
        ("dough-pin", "output.frame_interval=0", "output.frame_interval: 0 s must be positive"),
        ("dough-pin", "name=a/b", "name: 'a/b' must be letters"),
        ("dough-pin", "schema_version=2", "schema_version: version 2 is not supported"),
    ] {
        let found = problems(scene, &[set]);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{set}: {found:?}");
    }
}

// Checks: NaN and infinity, which JSON cannot write but Rust can, are refused as well.
#[test]
fn figures_that_are_not_finite_are_refused() {
    let mut scene = builtin::scene("elastic-drop").unwrap().unwrap();
    scene.dt = f64::NAN;
    scene.gravity[1] = f64::INFINITY;
    scene.soft[0].pose.orientation[0] = f64::NAN;
    let error = validate(&scene).unwrap_err();
    let paths: Vec<_> = error.problems.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["dt", "gravity[1]", "soft[0].pose.orientation"]);
    assert_eq!(error.problems[0].message, "NaN s must be finite");
}

// Checks: all problems are reported together.
#[test]
fn all_problems_are_collected() {
    assert_eq!(problems("elastic-drop", &["dt=-1", "duration=0", "materials.rubber.density=0"]).len(), 3);
}

/// A laundry bag held at its corners, a disc, a shirt and a table.
const CLOTHS: &str = r#"{
  "name": "cloths", "duration": 1, "dt": 0.01, "grid_spacing": 0.015625,
  "cloths": [
    { "name": "bag", "shape": { "type": "rectangle", "size": [0.42, 0.4], "parts": [29, 28] },
      "pose": { "position": [1, 2, 3], "orientation": [0.7071067811865476, 0, 0, 0.7071067811865476] },
      "material": { "density": 1500, "youngs_modulus": 3.2e6, "poissons_ratio": 0.4, "normal_stiffness": 4e5, "damping": 0.2 },
      "pins": [
        { "at": { "type": "corner", "corner": "lower-left" } },
        { "at": { "type": "corner", "corner": "lower-right" }, "release": 0.5 },
        { "at": { "type": "corner", "corner": "upper-right" }, "keyframes": [
          { "time": 0.1, "displacement": [0, 0, 0] }, { "time": 0.5, "displacement": [-0.1, 0, 0.2] } ] },
        { "at": { "type": "vertex", "vertex": 28 } },
        { "at": { "type": "nearest", "point": [0.001, -0.002, 0.001] } } ] },
    { "name": "disc", "shape": { "type": "disc", "radius": 0.1, "rings": 8 }, "velocity": [0, 0, -1],
      "material": { "density": 1000, "youngs_modulus": 1e5, "poissons_ratio": 0.3, "normal_stiffness": 1e5, "thickness": 0.001 },
      "color": [255, 0, 0], "back_color": [0, 0, 255] },
    { "name": "shirt", "shape": { "type": "t-shirt", "length": 0.5, "gap": 0.02 },
      "material": { "density": 1000, "youngs_modulus": 1e5, "poissons_ratio": 0.3, "normal_stiffness": 1e5 } }
  ],
  "bodies": [ { "name": "table", "motion": { "type": "fixed" }, "geometries": [ { "shape": { "type": "half-space" } } ] } ]
}"#;

fn cloths() -> Scene {
    parse_scene(CLOTHS).unwrap_or_else(|error| panic!("{error}"))
}

fn with(set: &str) -> Scene {
    apply(&cloths(), &[Assignment::parse(set).unwrap()]).unwrap_or_else(|error| panic!("{set}: {error}"))
}

// Checks: a scene with one of every cloth is valid, survives being written and read again, and has
// no field that the schema does not describe.
#[test]
fn cloths_are_valid_and_round_trip() {
    let scene = cloths();
    validate(&scene).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(parse_scene(&serde_json::to_string(&scene).unwrap()).unwrap(), scene);
    let unknown = CLOTHS.replace("\"release\"", "\"relase\"");
    let error = parse_scene(&unknown).unwrap_err();
    assert!(error.message.contains("unknown field `relase`"), "{error}");
}

// Checks: invalid values of cloths are refused with path, value and unit. One case per line.
#[test]
fn bad_figures_of_cloths_are_named_with_value_and_unit() {
    for (set, expected) in [
        ("cloths[disc].name=bag", "cloths[1].name: the name 'bag' is used by another cloth"),
        ("cloths[disc].name=table", "cloths[1].name: the name 'table' is used by another body"),
        ("grid_spacing=null", "grid_spacing: null: soft bodies and cloths need the spacing of a grid [m]"),
        ("cloths[bag].shape.size[1]=0", "cloths[0].shape.size[1]: 0 m must be positive"),
        ("cloths[bag].shape.parts[0]=0", "cloths[0].shape.parts[0]: 0 must be positive"),
        (
            "cloths[bag].pose.orientation=[1,1,0,0]",
            "cloths[0].pose.orientation: [1.0, 1.0, 0.0, 0.0] has norm",
        ),
        ("cloths[bag].material.density=-5", "cloths[0].material.density: -5 kg/m^3 must be positive"),
        ("cloths[bag].material.youngs_modulus=0", "cloths[0].material.youngs_modulus: 0 Pa must be positive"),
        (
            "cloths[bag].material.poissons_ratio=0.5",
            "cloths[0].material.poissons_ratio: 0.5 must be in (-1, 0.5)",
        ),
        ("cloths[bag].material.thickness=0", "cloths[0].material.thickness: 0 m must be positive"),
        (
            "cloths[bag].material.normal_stiffness=-1",
            "cloths[0].material.normal_stiffness: -1 Pa must be finite and not negative",
        ),
        (
            "cloths[bag].material.bending_stiffness=-1",
            "cloths[0].material.bending_stiffness: -1 N m must be finite and not negative",
        ),
        ("cloths[bag].material.damping=1.5", "cloths[0].material.damping: 1.5 must be in [0, 1]"),
        ("cloths[bag].pins[1].release=-1", "cloths[0].pins[1].release: -1 s must not be negative"),
        ("cloths[bag].pins[2].keyframes[0].time=-1", "cloths[0].pins[2].keyframes[0].time: -1 s must not be"),
        (
            "cloths[bag].pins[2].keyframes[1].time=0.1",
            "cloths[0].pins[2].keyframes[1].time: 0.1 s must be later than",
        ),
        (
            "cloths[bag].pins[2].keyframes[0].displacement[1]=1",
            "cloths[0].pins[2].keyframes[0].displacement: [0.0, 1.0, 0.0] m must be zero",
        ),
        (
            r#"cloths[disc].pins=[{"at":{"type":"corner","corner":"lower-left"}}]"#,
            "cloths[1].pins[0].at: only a rectangle has corners and edges",
        ),
        (
            r#"cloths[disc].pins=[{"at":{"type":"edge","edge":"left"}}]"#,
            "cloths[1].pins[0].at: only a rectangle has corners and edges",
        ),
        ("cloths[disc].shape.radius=-1", "cloths[1].shape.radius: -1 m must be positive"),
        ("cloths[disc].shape.rings=0", "cloths[1].shape.rings: 0 must be positive"),
        ("cloths[shirt].shape.length=0", "cloths[2].shape.length: 0 m must be positive and finite"),
        ("cloths[shirt].shape.spacing=-1", "cloths[2].shape.spacing: -1 m must be positive and finite"),
        ("cloths[shirt].shape.neck_width=0.5", "cloths[2].shape.neck_width: 0.5 m must be below chest_width"),
        (
            r#"cloths[disc].shape={"type":"mesh","file":"a.obj","scale":0}"#,
            "cloths[1].shape.scale: 0 m must be positive",
        ),
    ] {
        let found = match validate(&with(set)) {
            Ok(()) => Vec::new(),
            Err(error) => error.problems.iter().map(ToString::to_string).collect(),
        };
        assert!(found.len() == 1 && found[0].starts_with(expected), "{set}: {found:?}");
    }
    let mut scene = cloths();
    scene.cloths[0].velocity[2] = f64::NAN;
    assert_eq!(validate(&scene).unwrap_err().to_string(), "cloths[0].velocity[2]: NaN m/s must be finite");
}

// Checks: a rectangle turned by 90 degrees about z has its own +x along the world's +y; pins begin
// at the vertices that they name, follow their paths and release them; the defaults are the grid
// spacing and no damping.
#[test]
fn cloths_are_built_where_the_scene_says() {
    let scene = cloths();
    let grid = scene.grid_spacing.unwrap();
    let build = |at: usize| {
        scene.cloths[at].build(std::path::Path::new("."), grid).unwrap_or_else(|error| panic!("{error}"))
    };
    let (mesh, material, pins) = build(0);
    assert_eq!((mesh.vertices().len(), mesh.faces().len()), (30 * 29, 2 * 29 * 28));
    assert_eq!((material.thickness, material.damping, material.bending_stiffness), (grid, 0.2, 0.0));
    let corner = |x: f64, y: f64| nalgebra::Vector3::new(1.0 - y, 2.0 + x, 3.0);
    let corners = [corner(-0.21, -0.2), corner(0.21, -0.2), corner(0.21, 0.2), corner(-0.21, 0.2)];
    for (pin, corner) in pins.iter().zip(corners) {
        let start = mesh.vertices()[pin.vertex()];
        assert!((start - corner).norm() < 1e-14 && pin.position(0.0) == start, "{pin:?}");
    }
    assert!(pins[1].holds(0.49) && !pins[1].holds(0.5) && pins[0].holds(1e9));
    let half = pins[2].position(0.3) - corners[2];
    assert!((half - nalgebra::Vector3::new(-0.05, 0.0, 0.1)).norm() < 1e-14, "{half}");
    // 29 parts along x: the middle of the sheet is between two vertices, of which the one at +x is
    // nearer to the point.
    let middle = mesh.vertices()[pins[4].vertex()] - corner(0.21 / 29.0, 0.0);
    assert!(middle.norm() < 1e-14, "{middle}");
    let (disc, material, _) = build(1);
    assert_eq!((disc.faces().len(), material.thickness, material.damping), (6 * 64, 0.001, 1.0));
    let (shirt, _, _) = build(2);
    let top = shirt.vertices().iter().fold(f64::NEG_INFINITY, |top, x| top.max(x.y));
    let front = shirt.vertices().iter().fold(f64::NEG_INFINITY, |top, x| top.max(x.z));
    assert!((top - 0.25).abs() < 1e-15 && front == 0.01, "{top} {front}");
}

// Checks: an edge's pins hold all of its vertices, a clamped one those of the next row too, and no
// others: the bag's frame has 29 x 28 parts of 0.42 m x 0.4 m. Edges that share a corner are refused.
#[test]
fn edges_of_rectangles_are_held() {
    let build = |pins: &str| {
        let scene = with(&format!("cloths[bag].pins={pins}"));
        scene.cloths[0].build(std::path::Path::new("."), scene.grid_spacing.unwrap())
    };
    let (a, b) = (0.42 / 29.0, 0.4 / 28.0);
    // Distances from the edge inwards, in the sheet's own frame, which is turned by 90 degrees.
    let inwards = |edge: &str, x: &nalgebra::Vector3<f64>| match edge {
        "left" => (x.y - 2.0 + 0.21) / a,
        "right" => (0.21 - x.y + 2.0) / a,
        "lower" => (1.0 - x.x + 0.2) / b,
        _ => (0.2 - 1.0 + x.x) / b,
    };
    for edge in ["left", "right", "lower", "upper"] {
        for (clamped, rows) in [(false, 1), (true, 2)] {
            let at = format!(r#"{{"type":"edge","edge":"{edge}","clamped":{clamped}}}"#);
            let (mesh, _, pins) = build(&format!(r#"[{{"at":{at},"release":0.5}}]"#)).unwrap();
            let held: Vec<usize> = pins.iter().map(pliant_mpm::cloth::Pin::vertex).collect();
            for (vertex, x) in mesh.vertices().iter().enumerate() {
                let within = inwards(edge, x) < f64::from(rows) - 0.5;
                assert_eq!(held.contains(&vertex), within, "{edge} {clamped} {vertex}");
            }
            assert!(pins.iter().all(|pin| pin.holds(0.4) && !pin.holds(0.5)));
        }
    }
    let corner = r#"[{"at":{"type":"edge","edge":"left"}},{"at":{"type":"edge","edge":"upper"}}]"#;
    let error = build(corner).unwrap_err().to_string();
    assert_eq!(error, "cloth 'bag': pins[1]: vertex: 28 has two pins");
}

// Checks: errors of building name the cloth, the field and the values.
#[test]
fn cloths_that_cannot_be_built_are_named() {
    for (set, at, expected) in [
        ("cloths[bag].shape.parts=[5,5]", 0, "cloth 'bag': shape: faces[0]: longest edge is 0.1"),
        ("cloths[disc].shape.rings=400", 1, "cloth 'disc': shape: faces[0]: smallest altitude is"),
        ("cloths[shirt].shape.spacing=0.06", 2, "cloth 'shirt': shape: panel 'front': piece '"),
        (
            "cloths[bag].pins[3].at.vertex=870",
            0,
            "cloth 'bag': pins[3]: vertex: 870 is not one of the 870 vertices",
        ),
        ("cloths[bag].pins[3].at.vertex=0", 0, "cloth 'bag': pins[3]: vertex: 0 has two pins"),
        (
            "cloths[bag].pins[4].at.point=[0.3,0,0]",
            0,
            "cloth 'bag': pins[4].at.point: [0.3, 0.0, 0.0] m is 0.09 m",
        ),
        (r#"cloths[disc].shape={"type":"mesh","file":"none.obj"}"#, 1, "cloth 'disc': shape.file: "),
    ] {
        let cloth = &with(set).cloths[at];
        let error = cloth.build(std::path::Path::new("/nowhere"), 0.015625).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{set}: {error}");
    }
    let mesh = with(r#"cloths[disc].shape={"type":"mesh","file":"none.obj"}"#);
    let error = mesh.cloths[1].build(std::path::Path::new("/nowhere"), 0.015625).unwrap_err().to_string();
    assert!(error.contains("/nowhere/none.obj"), "{error}");
}
