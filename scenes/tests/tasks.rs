//! Robots that do what a scene's tasks say.

use nalgebra::{Isometry3, Vector3};
use pliant_scenes::format::{Scene, parse_scene};
use pliant_scenes::scenario::Scenario;
use serde_json::{Value, json};

/// Between the pads of the wide gripper, in the frame of its hand [m].
const TOOL: f64 = 0.075;

/// An iiwa 7 with a wide gripper over a table, with a task and bodies on the table.
fn scene(task: &Value, bodies: &[Value], duration: f64) -> Scene {
    let table = json!({ "name": "table", "motion": { "type": "fixed", "pose": { "position": [0.5, 0, -0.02] } },
        "geometries": [{ "shape": { "type": "box", "half_extents": [0.5, 0.5, 0.02] }, "friction": 0.5 }] });
    let bodies: Vec<&Value> = [&table].into_iter().chain(bodies).collect();
    let scene = json!({ "name": "task", "duration": duration, "dt": 0.002,
        "rigid": { "stiffness": 1e5, "dissipation": 10, "stiction_tolerance": 1e-4 },
        "bodies": bodies,
        "robots": [{ "name": "arm", "model": "iiwa7", "keyframe": "ready" },
                   { "name": "hand", "model": "wide_gripper", "parent": "arm/flange", "keyframe": "open" }],
        "tasks": task.as_object().map(|task| vec![task]).unwrap_or_default() });
    serde_json::from_value(scene).unwrap()
}

fn down(position: [f64; 3]) -> Value {
    // Half a turn about x: the tool's z axis points down.
    json!({ "position": position, "orientation": [0, 1, 0, 0] })
}

fn task(waypoints: &Value, grippers: &Value) -> Value {
    json!({ "robot": "arm", "tool": { "link": "hand/hand", "pose": { "position": [0, 0, TOOL] } },
        "waypoints": waypoints, "grippers": grippers })
}

/// Steps until `time` [s].
fn run_to(scenario: &mut Scenario, time: f64) {
    while scenario.world.time() < time - 1e-9 {
        scenario.step().unwrap();
    }
}

fn pose(scenario: &Scenario, body: &str) -> Isometry3<f64> {
    let bodies = scenario.world.bodies();
    bodies.pose(bodies.find(body).unwrap())
}

fn tool(scenario: &Scenario) -> Isometry3<f64> {
    pose(scenario, "hand/hand") * Isometry3::translation(0.0, 0.0, TOOL)
}

/// Corners of a square, 0.2 m wide, over the table.
const SQUARE: [[f64; 3]; 5] =
    [[0.45, -0.1, 0.15], [0.65, -0.1, 0.15], [0.65, 0.1, 0.15], [0.45, 0.1, 0.15], [0.45, -0.1, 0.15]];

fn square(control: &Value) -> Scene {
    let mut waypoints = vec![json!({ "time": 1.5, "pose": down(SQUARE[0]) })];
    for (k, corner) in SQUARE.iter().enumerate().skip(1) {
        waypoints.push(json!({ "time": 1.5 + 0.6 * k as f64, "pose": down(*corner), "path": "straight" }));
    }
    let mut task = task(&json!(waypoints), &json!([]));
    task["control"] = control.clone();
    scene(&task, &[], 4.0)
}

/// Farthest of the tool from the sides of the square on its way, and from its corners at their
/// times [m].
fn deviations(scene: &Scene) -> [f64; 2] {
    let mut scenario = Scenario::new(scene).unwrap();
    let (mut off_line, mut off_corner) = (0.0_f64, 0.0_f64);
    for (k, corner) in SQUARE.iter().enumerate() {
        let (end, corner) = (1.5 + 0.6 * k as f64, Vector3::from(*corner));
        while k > 0 && scenario.world.time() < end - 1e-6 {
            let next = scenario.world.time() + scene.dt;
            run_to(&mut scenario, next);
            let from = Vector3::from(SQUARE[k - 1]);
            let (along, at) = ((corner - from).normalize(), tool(&scenario).translation.vector - from);
            off_line = off_line.max((at - along * at.dot(&along)).norm());
        }
        run_to(&mut scenario, end);
        off_corner = off_corner.max((tool(&scenario).translation.vector - corner).norm());
    }
    [off_line, off_corner]
}

// Checks: under position control the tool stays within 1 mm of the sides of the square while it
// moves, and is within 1 mm of the corners at their times. What there is of error: the
// accelerations, which gravity compensation does not include and which need torques of some 20 N m
// at most, 2e-5 rad of 1e6 N m/rad, 20 um at the tool; and paths in straight pieces between samples
// of 2 ms, 1e-6 m.
#[test]
fn a_tool_is_led_round_a_square() {
    let [off_line, off_corner] = deviations(&square(&json!({ "type": "position" })));
    println!("position control: {off_line:.2e} m off the line, {off_corner:.2e} m off the corners");
    assert!(off_line < 1e-3 && off_corner < 1e-3, "{off_line} {off_corner}");
    // Computed torque knows the accelerations, and integrates in steps of the first order: its
    // error is that of the steps.
    let [off_line, off_corner] =
        deviations(&square(&json!({ "type": "inverse-dynamics", "stiffness": 1000 })));
    println!("computed torque: {off_line:.2e} m off the line, {off_corner:.2e} m off the corners");
    assert!(off_line < 1e-3 && off_corner < 1e-3, "{off_line} {off_corner}");
}

// Checks: a box of 0.2 kg between pads that press with 40 N each at friction 0.5 or more is lifted
// with the tool, without slipping more than regularised friction creeps, v_s = 1e-4 m/s for some
// seconds; released, it falls to the table.
#[test]
fn a_hand_closes_on_a_box_and_lifts_it() {
    let boxed = json!({ "name": "box", "motion": { "type": "dynamic", "pose": { "position": [0.5, 0, 0.02495] },
        "joint": { "type": "free" }, "mass": 0.2 },
        "geometries": [{ "shape": { "type": "box", "half_extents": [0.015, 0.025, 0.025] }, "friction": 0.5 }] });
    let waypoints = json!([
        { "time": 1.0, "pose": down([0.5, 0.0, 0.15]) },
        { "time": 1.5, "pose": down([0.5, 0.0, 0.025]), "path": "straight" },
        { "time": 2.2, "pose": down([0.5, 0.0, 0.025]), "path": "straight" },
        { "time": 3.0, "pose": down([0.5, 0.0, 0.175]), "path": "straight" } ]);
    let grippers = json!([{ "robot": "hand", "commands": [
        { "time": 1.5, "opening": 0.02, "duration": 0.5, "effort": 30 },
        { "time": 3.2, "opening": 0.16, "duration": 0.2 } ] }]);
    let mut scenario = Scenario::new(&scene(&task(&waypoints, &grippers), &[boxed], 4.0)).unwrap();
    run_to(&mut scenario, 1.4);
    let opening = |p: &Scenario| {
        let fingers = ["hand/left_finger", "hand/right_finger"].map(|f| pose(p, f).translation.vector);
        (fingers[0] - fingers[1]).norm()
    };
    assert!((opening(&scenario) - 0.16).abs() < 1e-4, "{}", opening(&scenario));
    run_to(&mut scenario, 3.1);
    let height = pose(&scenario, "box").translation.vector.z;
    println!("box at {height:.5} m, pads {:.5} m apart", opening(&scenario));
    assert!((height - 0.175).abs() < 1e-3, "{height}");
    assert!((opening(&scenario) - 0.05).abs() < 5e-4, "{}", opening(&scenario));
    run_to(&mut scenario, 4.0);
    assert!((pose(&scenario, "box").translation.vector.z - 0.025).abs() < 1e-3);
    assert!((opening(&scenario) - 0.16).abs() < 1e-4, "{}", opening(&scenario));
}

// Checks: the hand weighs 0.3 kg, and its motors take the fingers to either end of their way, where
// the distance of the pads' faces is the commanded one.
#[test]
fn the_wide_gripper_opens_from_2_to_160_mm() {
    let hand = pliant_scenes::models::import(pliant_scenes::format::RobotModel::WideGripper).unwrap();
    let mass: f64 = hand.system.model.links().iter().map(|link| link.inertia.mass).sum();
    assert!((mass - 0.3).abs() < 1e-12, "{mass}");
    let grippers = json!([{ "robot": "hand", "commands": [
        { "time": 0.1, "opening": 0.002, "duration": 0.6 }, { "time": 1, "opening": 0.16, "duration": 0.6 } ] }]);
    let mut scenario =
        Scenario::new(&scene(&task(&json!([{ "time": 1, "joints": {} }]), &grippers), &[], 2.0)).unwrap();
    // Between the inner faces: each finger's frame is in its face.
    let opening = |p: &Scenario| {
        let fingers = ["hand/left_finger", "hand/right_finger"].map(|f| pose(p, f).translation.vector);
        (fingers[0] - fingers[1]).norm()
    };
    run_to(&mut scenario, 1.0);
    assert!((opening(&scenario) - 0.002).abs() < 1e-4, "{}", opening(&scenario));
    run_to(&mut scenario, 2.0);
    assert!((opening(&scenario) - 0.16).abs() < 1e-4, "{}", opening(&scenario));
}

// Checks: two arms on opposite sides of a table, each turned towards it, lead their tools along one
// line, 0.3 m apart, through waypoints that they pass: poses are in the world's frame for both. The
// tools stay on the line and apart to 0.1 mm, and do not stop where they pass.
#[test]
fn two_arms_move_together() {
    let mut described = serde_json::to_value(scene(&Value::Null, &[], 3.0)).unwrap();
    let half = 0.5_f64.sqrt();
    described["robots"] = json!([
        { "name": "left", "model": "iiwa7", "keyframe": "ready", "pose": { "position": [0, 0.8, 0], "orientation": [half, 0, 0, -half] } },
        { "name": "right", "model": "iiwa7", "keyframe": "ready", "pose": { "position": [0, -0.8, 0], "orientation": [half, 0, 0, half] } },
        { "name": "left_hand", "model": "wide_gripper", "parent": "left/flange", "keyframe": "open" },
        { "name": "right_hand", "model": "wide_gripper", "parent": "right/flange", "keyframe": "open" } ]);
    let task = |side: &str, y: f64| {
        let point = |time: f64, x: f64, timing: &str| json!({ "time": time, "pose": down([x, y, 0.2]), "path": "straight", "timing": timing });
        let start = json!({ "time": 1, "pose": down([-0.2, y, 0.2]) });
        json!({ "robot": side, "tool": { "link": format!("{side}_hand/hand"), "pose": { "position": [0, 0, TOOL] } },
            "waypoints": [start, point(1.6, 0.0, "pass"), point(2.2, 0.2, "stop")] })
    };
    described["tasks"] = json!([task("left", 0.15), task("right", -0.15)]);
    let mut scenario = Scenario::new(&serde_json::from_value(described).unwrap()).unwrap();
    run_to(&mut scenario, 1.0);
    let tools = |p: &Scenario| {
        ["left_hand/hand", "right_hand/hand"]
            .map(|hand| (pose(p, hand) * Isometry3::translation(0.0, 0.0, TOOL)).translation.vector)
    };
    let mut before = tools(&scenario)[0].x;
    while scenario.world.time() < 2.2 - 1e-6 {
        let next = scenario.world.time() + scenario.scene.dt;
        run_to(&mut scenario, next);
        let [left, right] = tools(&scenario);
        assert!((left - right - Vector3::new(0.0, 0.3, 0.0)).norm() < 1e-4, "{left} {right}");
        assert!((left.z - 0.2).abs() < 1e-4 && (left.y - 0.15).abs() < 1e-4, "{left}");
        if (next - 1.6).abs() < 1e-6 {
            // The mean velocity from one end to the other.
            let speed = (left.x - before) / scenario.scene.dt;
            assert!((speed - 0.4 / 1.2).abs() < 0.01, "{speed}");
        }
        before = left.x;
    }
}

fn refused(task: &Value) -> String {
    match Scenario::new(&scene(task, &[], 4.0)) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    }
}

// Checks: what cannot be done is refused before the run, by the path of its field. The shoulder of
// the arm is at (0, 0, 0.34) m, its wrist 0.8 m from there at most, and the tool 0.126 + 0.075 m
// from the wrist: the point (2, 0, 0.34) stays 0.999 m away in any orientation.
#[test]
fn what_cannot_be_done_is_refused_by_name() {
    let near = json!({ "time": 1, "pose": down([0.5, 0.0, 0.2]) });
    let far = json!([near, { "time": 2, "pose": down([0.5, 0.1, 0.2]) },
        { "name": "beyond", "time": 3, "pose": { "position": [2, 0, 0.34], "axis": [0, 0, -1] } }]);
    let error = refused(&task(&far, &json!([])));
    assert!(error.starts_with("tasks[0].waypoints[2] ('beyond')"), "{error}");
    assert!(error.contains("orientation is 0.999000 m"), "{error}");

    let fast = json!([{ "time": 0.02, "pose": down([0.5, 0.0, 0.2]) }]);
    let error = refused(&task(&fast, &json!([])));
    assert!(error.starts_with("tasks[0].waypoints[0]") && error.contains("faster than 10"), "{error}");

    let wide = json!([{ "robot": "hand", "commands": [{ "time": 1, "opening": 0.05 }, { "time": 2, "opening": 0.2 }] }]);
    let error = refused(&task(&json!([near]), &wide));
    assert!(error.starts_with("tasks[0].grippers[0].commands[1].opening: 0.2 m"), "{error}");
    assert!(error.contains("[0.002, 0.16] m"), "{error}");
    let strong = json!([{ "robot": "hand", "commands": [{ "time": 1, "opening": 0.05, "effort": 70 }] }]);
    let error = refused(&task(&json!([near]), &strong));
    assert!(error.contains("commands[0].effort: 70 N"), "{error}");
    let no_hand = json!([{ "robot": "arm", "commands": [{ "time": 1, "opening": 0.05 }] }]);
    let error = refused(&task(&json!([near]), &no_hand));
    assert!(error.contains("tasks[0].grippers[0].robot: 'arm' has 0 prismatic joints"), "{error}");

    let mut finger = task(&json!([near]), &json!([]));
    finger["tool"]["link"] = json!("hand/left_finger");
    let error = refused(&finger);
    assert!(error.starts_with("tasks[0].tool.link") && error.contains("hand/left_finger"), "{error}");

    let mut twice = scene(&task(&json!([near]), &json!([])), &[], 4.0);
    twice.tasks.push(twice.tasks[0].clone());
    let error = Scenario::new(&twice).err().unwrap().to_string();
    assert!(error.starts_with("tasks[1].robot") && error.contains("arm/link1"), "{error}");
}

// Checks: every value that is invalid on its own is reported with its path and unit.
#[test]
fn figures_of_tasks_are_checked() {
    for (waypoints, grippers, wanted) in [
        (json!([]), json!([]), "tasks[0].waypoints: [] has no waypoint"),
        (
            json!([{ "time": 0, "joints": [0, 0, 0, 0, 0, 0, 0] }]),
            json!([]),
            "tasks[0].waypoints[0].time: 0 s",
        ),
        (json!([{ "time": 1 }]), json!([]), "tasks[0].waypoints[0]: give joints or a pose"),
        (
            json!([{ "time": 1, "joints": { "axis2": 3 } }]),
            json!([]),
            "tasks[0].waypoints[0].joints.axis2: 3 rad",
        ),
        (
            json!([{ "time": 1, "joints": { "axis8": 3 } }]),
            json!([]),
            "tasks[0].waypoints[0].joints.axis8: 'axis8'",
        ),
        (
            json!([{ "time": 1, "joints": [0, 0] }]),
            json!([]),
            "tasks[0].waypoints[0]: 2 coordinates given for the 7 joints of the tool",
        ),
        (
            json!([{ "time": 1, "joints": { "axis1": 0 }, "path": "straight" }]),
            json!([]),
            "tasks[0].waypoints[0].path: \"straight\" needs a pose",
        ),
        (
            json!([{ "time": 1, "pose": { "position": [0.5, 0, 0.2], "axis": [0, 0, 0] } }]),
            json!([]),
            "tasks[0].waypoints[0].pose.axis: [0, 0, 0] is no direction",
        ),
        (
            json!([{ "time": 1, "joints": { "axis1": 0 } }]),
            json!([{ "robot": "hand", "commands": [{ "time": 1, "opening": 0.1 }, { "time": 1.2, "opening": 0.1 }] }]),
            "tasks[0].grippers[0].commands[0].duration: 0.5 s is longer",
        ),
        (
            json!([{ "time": 1, "joints": { "axis1": 0 }, "timing": "pass" },
                   { "time": 2, "pose": down([0.5, 0.0, 0.2]), "path": "straight" }]),
            json!([]),
            "tasks[0].waypoints[0].timing: \"pass\" is not possible between a joint path and a straight path",
        ),
    ] {
        let error = refused(&task(&waypoints, &grippers));
        assert!(error.contains(wanted), "{wanted}\n{error}");
    }
    let text = serde_json::to_string(&scene(&task(&json!([]), &json!([])), &[], 1.0)).unwrap();
    let error = parse_scene(&text.replace("\"grippers\"", "\"gripers\"")).unwrap_err().to_string();
    assert!(error.contains("unknown field `gripers`"), "{error}");
}

// Checks: what a weld of the scene holds falls from its release on, z = z0 - g (t - t_r)^2/2, up to
// g dt (t - t_r)/2 of the implicit step.
#[test]
fn a_weld_lets_go() {
    let mut with =
        serde_json::to_value(scene(&task(&json!([{ "time": 1, "joints": {} }]), &json!([])), &[], 1.0))
            .unwrap();
    with["bodies"].as_array_mut().unwrap().push(json!({ "name": "ball",
        "motion": { "type": "dynamic", "pose": { "position": [0.5, 0.3, 1] }, "joint": { "type": "free" }, "mass": 1 },
        "geometries": [{ "shape": { "type": "sphere", "radius": 0.05 } }] }));
    with["constraints"] = json!([{ "type": "weld", "bodies": [null, "ball"], "release": 0.3 }]);
    let mut scenario = Scenario::new(&serde_json::from_value(with).unwrap()).unwrap();
    run_to(&mut scenario, 0.3);
    assert!((pose(&scenario, "ball").translation.vector.z - 1.0).abs() < 1e-6);
    run_to(&mut scenario, 0.5);
    let error = pose(&scenario, "ball").translation.vector.z - (1.0 - 0.5 * 9.81 * 0.04);
    assert!(error.abs() < 0.5 * 9.81 * 0.002 * 0.2 * 1.01, "{error}");
}
