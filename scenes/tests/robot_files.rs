//! Robots from files that users bring, in a scene.

use std::path::PathBuf;

use pliant_scenes::format::{Scene, parse_scene};
use pliant_scenes::scenario::Scenario;
use serde_json::json;

/// A file in the folder of the tests.
fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// A scene without gravity with one robot.
fn scene(robot: serde_json::Value) -> Scene {
    let mut robot = robot;
    robot["name"] = "r".into();
    let text =
        json!({ "name": "s", "duration": 0.1, "dt": 0.001, "gravity": [0.0, 0.0, 0.0], "robots": [robot] });
    parse_scene(&text.to_string()).unwrap()
}

/// A link on a joint about z, with moments (`x`, 1, 4) [kg m^2] and 2 kg.
fn link(x: f64) -> String {
    format!(
        "<robot name=\"r\"><link name=\"w\"/><joint name=\"j\" type=\"continuous\"><parent link=\"w\"/><child link=\"m\"/>\
         <axis xyz=\"0 0 1\"/></joint><link name=\"m\"><visual><geometry><mesh filename=\"none.stl\"/></geometry>\
         </visual><inertial><mass value=\"2\"/><inertia ixx=\"{x}\" iyy=\"1\" izz=\"4\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>\
         </inertial></link></robot>"
    )
}

// Checks: what concerns pictures alone, and moments that no body has, do not refuse a scene; they
// are warnings. What needs a repair is refused with its name, and runs with it.
#[test]
fn a_scene_takes_files_with_harmless_warnings_and_named_repairs() {
    let odd = file("robot-files-odd.urdf", &link(1.0));
    let scenario = Scenario::new(&scene(json!({ "file": odd }))).unwrap();
    let said = scenario.warnings.join("\n");
    assert!(said.contains("principal moments") && said.contains("none.stl"), "{said}");
    let wrong = file("robot-files-wrong.urdf", &link(-1.0));
    let error = Scenario::new(&scene(json!({ "file": wrong }))).err().unwrap().to_string();
    assert!(error.contains("the repair 'inertia'"), "{error}");
    Scenario::new(&scene(json!({ "file": wrong, "repair": ["inertia"] }))).unwrap();
    // The root is free on request.
    let fixed = Scenario::new(&scene(json!({ "file": odd }))).unwrap();
    let free = Scenario::new(&scene(json!({ "file": odd, "floating": true }))).err().unwrap().to_string();
    assert!(free.contains("'r/w'") || free.contains("'w'"), "the root has no mass: {free}");
    assert_eq!(fixed.world.bodies().simulation().system().model.velocities(), 1);
}

// Checks: a scene's controls reach motors on tendons (Newton's second law). A fixed tendon with
// coefficients 1 and -2 pulls two slides of 1 kg by u = 3 N: accelerations 3 and -6 m/s^2.
#[test]
fn controls_reach_motors_on_tendons() {
    let slide = |name: &str, y: f64| {
        format!(
            "<body pos=\"0 {y} 0\"><joint name=\"{name}\" type=\"slide\" axis=\"1 0 0\"/>\
             <geom size=\"0.1\" mass=\"1\"/></body>"
        )
    };
    let text = format!(
        "<mujoco><worldbody>{}{}</worldbody><tendon><fixed name=\"t\"><joint joint=\"a\" coef=\"1\"/>\
         <joint joint=\"b\" coef=\"-2\"/></fixed></tendon><actuator><motor name=\"pull\" tendon=\"t\"/></actuator></mujoco>",
        slide("a", 0.0),
        slide("b", 1.0)
    );
    let path = file("robot-files-tendon.xml", &text);
    let mut scenario = Scenario::new(&scene(json!({ "file": path, "controls": { "pull": 3.0 } }))).unwrap();
    let steps = 20;
    for _ in 0..steps {
        scenario.step().unwrap();
    }
    let time = f64::from(steps) * 0.001;
    let v = &scenario.world.bodies().state().v;
    for (found, wanted) in v.iter().zip([3.0 * time, -6.0 * time]) {
        assert!((found - wanted).abs() < 1e-9, "{v:?}");
    }
    let unknown = scene(json!({ "file": path, "controls": { "push": 3.0 } }));
    assert!(Scenario::new(&unknown).err().unwrap().to_string().contains("push"));
}

// The law: of all robots, joints that start beyond their limits come first, then motors that are
// left out, then what else changes the motion, then the rest.
#[test]
fn what_changes_most_is_said_first() {
    let text = |joint: &str, rest: &str| {
        format!(
            "<mujoco><compiler angle=\"radian\"/><worldbody><body name=\"b\"><joint name=\"j\" {joint}/>\
             <geom size=\"0.1\"/></body></worldbody>{rest}</mujoco>"
        )
    };
    let springs = "<option wind=\"1 0 0\"/><asset><texture name=\"t\" type=\"2d\" file=\"none.png\"/>\
                   <material name=\"m\" texture=\"t\"/></asset>";
    let first = file("robot-files-springs.xml", &text("", springs));
    let motors = "<actuator><adhesion name=\"sticks\" body=\"b\" ctrlrange=\"0 1\"/></actuator>\
                  <keyframe><key name=\"far\" qpos=\"1.5\"/></keyframe>";
    let second = file("robot-files-motors.xml", &text("range=\"-1 1\" limited=\"true\"", motors));
    let robot = |name: &str, file: &PathBuf| json!({ "name": name, "file": file, "ignore_warnings": true });
    let mut far = robot("b", &second);
    far["keyframe"] = "far".into();
    far["pose"] = json!({ "position": [1.0, 0.0, 0.0] });
    let scene = json!({ "name": "s", "duration": 0.1, "dt": 0.001, "robots": [robot("a", &first), far] });
    let warnings = Scenario::new(&parse_scene(&scene.to_string()).unwrap()).unwrap().warnings;
    let place = |word: &str| {
        let found = warnings.iter().position(|warning| warning.contains(word));
        found.unwrap_or_else(|| panic!("'{word}' is not said: {warnings:#?}"))
    };
    let order = ["beyond its limit", "adhesion", "wind", "none.png"].map(place);
    assert!(order.is_sorted() && order[0] == 0 && order[1] == 1, "{order:?}: {warnings:#?}");
}
