//! `check`: what it says of a run before it, and how it refuses sizes and work that have no end.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use cli_support::Place;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_valid_scene_is_estimated() {
    let place = Place::new();
    let said = place.pliant(&["check", "elastic-drop"]).exits(0).out;
    for part in ["elastic-drop: valid; ", " steps, ", " MB of memory", "predicted: "] {
        assert!(said.contains(part), "'{part}' is not in {said}");
    }
    let told = json(&place.pliant(&["check", "elastic-drop", "--json"]).exits(0).out);
    assert_eq!((&told["valid"], &told["name"]), (&true.into(), &"elastic-drop".into()));
    assert_eq!(told["errors"].as_array().unwrap().len(), 0);
    let estimate = &told["estimate"];
    for field in ["particles", "steps", "substeps", "rigid_steps", "frames", "memory", "frame_bytes"] {
        assert!(estimate[field].as_u64().unwrap() > 0, "{field}: {estimate}");
    }
    assert!(estimate["predicted_wall_time"].as_f64().unwrap() > 0.0);
    assert_eq!(estimate["is_built"], true);
    assert_eq!(told["counts"]["soft"], 1);
}

// Checks: an invalid scene is one JSON object on standard output, with path, value, unit and message
// of each error, and exit code 2.
#[test]
fn an_invalid_scene_is_told_as_json() {
    let place = Place::new();
    let arguments = ["check", "elastic-drop", "--json", "--set"];
    let refused = |set: &str| {
        let told = place.pliant(&[&arguments[..], &[set]].concat()).exits(2);
        let told = json(&told.out);
        assert_eq!(told["valid"], false, "{set}");
        told["errors"][0].clone()
    };
    let error = refused("materials.rubber.density=-5");
    assert_eq!(error["path"], "materials.rubber.density");
    assert_eq!((&error["value"], &error["unit"]), (&(-5.0).into(), &"kg/m^3".into()));
    assert!(error["message"].as_str().unwrap().contains("must be positive"), "{error}");
    let error = refused("soft[0].sampling.counts=[4294967295,1,1]");
    assert_eq!(
        (&error["path"], &error["value"]),
        (&"soft[0].sampling.counts[0]".into(), &4_294_967_295_u64.into())
    );
    let error = refused("dt=fast");
    assert_eq!(error["path"], "dt");
    assert!(error["message"].as_str().unwrap().contains("fast"), "{error}");
    // Found as the world is built.
    let error = refused("soft[0].pose.position[2]=-0.5");
    assert!(error["message"].as_str().unwrap().contains("starts"), "{error}");
    place.write("broken.json", "{ \"name\": }");
    let error = json(&place.pliant(&["check", "broken.json", "--json"]).exits(2).out)["errors"][0].clone();
    assert_eq!(error["line"], 1);
}

// Checks: sizes that no machine holds end in an error with the field and the limit, not in a panic
// or for want of memory.
#[test]
fn absurd_sizes_are_refused() {
    let place = Place::new();
    for (scene, set, said) in [
        ("elastic-drop", "soft[0].sampling.counts=[100000,100000,100000]", "soft[0].sampling.counts"),
        ("elastic-drop", "soft[0].sampling.spacing=1e-6", "soft[0].sampling.spacing"),
        ("elastic-drop", "soft[0].shape.half_extents=[1000,1000,1000]", "soft[0].shape"),
        ("pile-scaling", "copies.count=100000", "copies.count"),
        ("stack", "dt=1e20", "dt: "),
        (
            "laundry",
            "cloths[0].shape={\"type\":\"rectangle\",\"size\":[1,1],\"parts\":[4294967295,4294967295]}",
            "cloths[0].shape.parts[0]: 4294967295 must be at most 20000",
        ),
    ] {
        place.pliant(&["check", scene, "--set", set]).exits(2).complains(said);
        place.pliant(&["run", scene, "--set", set]).exits(2).complains(said);
    }
    assert!(place.names().is_empty());
}

#[test]
fn bounds_of_the_command_line_are_kept() {
    let place = Place::new();
    for (option, value, said) in [
        ("--max-memory", "1M", "limits.memory: 1 MB is less than the"),
        ("--max-steps", "10", "at most limits.steps, 10, are allowed"),
        ("--max-wall-time", "0.000001", "limits.wall_time: 0.000001 s is less than the"),
    ] {
        for command in ["check", "run"] {
            place.pliant(&[command, "elastic-drop", option, value]).exits(2).complains(said);
        }
    }
    place.pliant(&["check", "elastic-drop", "--max-memory", "lots"]).exits(2).complains("512Mi");
    place.pliant(&["check", "elastic-drop", "--max-memory", "4GiB", "--max-steps", "100000"]).exits(0);
    assert!(place.names().is_empty());
}

// Checks: no name of a scene or of a model file reaches the terminal with a control character.
#[test]
fn control_characters_in_names_are_refused() {
    let place = Place::new();
    let said = place.pliant(&["check", "stack", "--set", "bodies[0].name=\"a\\u001b[31mb\""]).exits(2);
    said.complains("bodies[0].name: 'a\\u{1b}[31mb' must not hold the control character");
    let model = "<mujoco><worldbody><body name=\"a&#10;b\"><freejoint/><geom size=\"0.1\"/></body></worldbody></mujoco>";
    place.write("model.xml", model);
    place.pliant(&["check", "model.xml"]).exits(2).complains("'a\\nb' must not hold control characters");
}

#[test]
fn the_list_of_benchmarks_is_json() {
    let listed = json(&Place::new().pliant(&["bench", "--list", "--json"]).exits(0).out);
    assert!(listed.as_array().unwrap().iter().all(|part| part["name"].is_string()), "{listed}");
}
