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

// The law: the generated schema says the unit of every number, in brackets; unknown fields are refused by it too.
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

// The law: a scene with every default written out has no field that the schema does not describe.
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
            let named = ["materials", "positions", "controls"].contains(&parent);
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

// The law: bad figures are refused with path, value and unit. One case a line.
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
            "grid_spacing: null: soft bodies need the spacing of a grid [m]",
        ),
        ("sand-column", "soft=[]", "soft: [] and bodies and robots as well: there is nothing to simulate"),
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
        ("dough-pin", "bodies[roller].name=handle", "bodies[1].name: 'handle' is taken by another body"),
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
        ("dough-pin", "schema_version=2", "schema_version: 2 is not a version"),
    ] {
        let found = problems(scene, &[set]);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{set}: {found:?}");
    }
}

// The law: NaN and infinity, which JSON cannot write but Rust can, are refused as well.
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

// The law: all problems are told at once.
#[test]
fn all_problems_are_collected() {
    assert_eq!(problems("elastic-drop", &["dt=-1", "duration=0", "materials.rubber.density=0"]).len(), 3);
}
