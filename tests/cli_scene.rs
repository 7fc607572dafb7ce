//! `list`, `show`, `schema`, `check`, `bench --list`: what they print is what the library has.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use cli_support::Place;
use serde_json::Value;

#[test]
fn every_listed_scene_is_shown_and_checked() {
    let place = Place::new();
    let list: Value = serde_json::from_str(&place.pliant(&["list", "--json"]).exits(0).out).unwrap();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let soft = ["elastic-drop", "hold", "shake", "dough-rolling", "dough-pin", "sand-column", "incline"];
    let rigid = ["cylinder", "ball-drop", "slide-cube", "stack"];
    let closed = [
        "spin-sphere",
        "roll-cylinder",
        "sphere-between-planes",
        "primitive-pile",
        "pile-scaling",
        "cube-in-hand",
    ];
    let clutter = ["conveyor", "clutter-soft", "clutter-hard"];
    let robots = ["gripper", "franka", "vacuum"];
    let both = ["soft-grasp", "sand-scoop", "bread-split"];
    let cloth = ["box-bagging", "laundry", "bagging-hand", "laundry-thrown"];
    let garments = ["tshirt-folding", "sleeves-folding", "trousers-folding", "towel-folding"];
    let fine = ["dough-rolling-fine", "sand-scoop-fine"];
    assert_eq!(
        names,
        [&soft[..], &rigid, &closed, &clutter, &robots, &both, &cloth, &garments, &fine].concat()
    );
    let listed = place.pliant(&["list"]).exits(0).out;
    assert_eq!(listed.lines().count(), names.len());
    assert!(listed.contains("(Lube et al. 2004)\n"), "{listed}");
    for name in names {
        place.pliant(&["check", name]).exits(0);
        // Checks: a scene as shown is a scene, the same one.
        let shown = place.pliant(&["show", name]).exits(0).out;
        place.write("shown.json", &shown);
        assert_eq!(place.pliant(&["show", "shown.json"]).exits(0).out, shown);
        place.pliant(&["check", "shown.json"]).exits(0);
    }
}

#[test]
fn set_time_and_seed_change_what_is_shown() {
    let place = Place::new();
    let arguments =
        ["show", "hold", "--time", "0.5", "--seed", "7", "--set", "materials.foam.youngs_modulus=2e4"];
    let shown: Value = serde_json::from_str(&place.pliant(&arguments).exits(0).out).unwrap();
    assert_eq!(shown["duration"], 0.5);
    assert_eq!(shown["seed"], 7);
    assert_eq!(shown["materials"]["foam"]["youngs_modulus"], 2e4);
}

#[test]
fn the_schema_is_json_that_refuses_unknown_fields() {
    let schema: Value = serde_json::from_str(&Place::new().pliant(&["schema"]).exits(0).out).unwrap();
    assert_eq!(schema["title"], "Scene");
    assert_eq!(schema["additionalProperties"], false);
    for field in ["name", "duration", "dt"] {
        assert!(schema["required"].as_array().unwrap().iter().any(|f| f == field), "{field}");
    }
}

#[test]
fn bench_lists_its_parts() {
    Place::new().pliant(&["bench", "--list"]).exits(0);
}
