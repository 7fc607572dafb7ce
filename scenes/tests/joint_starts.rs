//! How bodies on joints start: with the turn that a scene gives them, beyond limits with a word of
//! warning, and rebounding as specified.

// A test fails by panicking, in its helpers too.

use pliant_numeric::random::SplitMix64;
use pliant_scenes::format::parse_scene;
use pliant_scenes::scenario::Scenario;
use serde_json::json;

fn vector(random: &mut SplitMix64) -> [f64; 3] {
    core::array::from_fn(|_| random.uniform_in(-1.0, 1.0))
}

fn scene(joint: serde_json::Value, more: serde_json::Value) -> String {
    let mut motion = json!({
        "type": "dynamic", "joint": joint, "mass": 0.7, "inertia": [2e-3, 3e-3, 4e-3],
    });
    motion.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({
        "name": "start", "dt": 0.002, "duration": 0.1,
        "bodies": [{ "name": "body", "geometries": [], "motion": motion }],
    })
    .to_string()
}

// An angular velocity that a joint can have is the one that the body has, wherever the joint is.
// What a joint cannot have of it falls away.
#[test]
fn an_angular_velocity_is_kept_about_offset_joints() {
    let seed = 5;
    println!("seed {seed}");
    let mut random = SplitMix64::new(seed);
    for draw in 0..30 {
        let at = vector(&mut random);
        let spin = random.uniform_in(-30.0, 30.0);
        let (joint, given, expected) = match draw % 3 {
            0 => {
                let axis = vector(&mut random);
                let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
                let turn = axis.map(|x| spin * x / length);
                (json!({ "type": "revolute", "axis": axis, "position": at }), turn, turn)
            }
            1 => {
                let turn = vector(&mut random).map(|x| 30.0 * x);
                (json!({ "type": "ball", "position": at }), turn, turn)
            }
            _ => {
                let turn = vector(&mut random).map(|x| 30.0 * x);
                let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
                let kept = [turn[0], turn[1], 0.0];
                (json!({ "type": "universal", "axes": axes, "position": at }), turn, kept)
            }
        };
        let text = scene(joint.clone(), json!({ "angular_velocity": given }));
        let scenario = Scenario::new(&parse_scene(&text).unwrap()).unwrap();
        let bodies = scenario.world.bodies();
        let found = bodies.velocity(bodies.find("body").unwrap());
        for d in 0..3 {
            let off = (found.angular[d] - expected[d]).abs();
            assert!(off < 1e-12 * 60.0, "{joint}: {} for {expected:?}", found.angular);
        }
    }
}

// A joint that starts beyond its limit is named, with the distance and the unit; one within is not.
#[test]
fn joints_beyond_their_limits_are_named() {
    for (limits, warnings) in [([0.2, 1.0], 1), ([-1.0, -0.3], 1), ([-0.1, 0.1], 0)] {
        let joint = json!({ "type": "revolute", "axis": [0.0, 1.0, 0.0], "limits": limits });
        let scenario = Scenario::new(&parse_scene(&scene(joint, json!({}))).unwrap()).unwrap();
        assert_eq!(scenario.warnings.len(), warnings, "{:?}", scenario.warnings);
        for warning in &scenario.warnings {
            let beyond = if limits[0] > 0.0 { "0.2000 rad" } else { "0.3000 rad" };
            assert!(warning.contains("'body'") && warning.contains(beyond), "{warning}");
        }
    }
}

// Restitution out of range is refused by name and value.
#[test]
fn restitution_is_a_part() {
    for wrong in [-0.1, 1.5] {
        let text = json!({
            "name": "ball", "dt": 0.002, "duration": 0.1,
            "bodies": [{ "name": "ball", "motion": { "type": "dynamic", "joint": { "type": "free" }, "density": 1000.0 },
                "geometries": [{ "shape": { "type": "sphere", "radius": 0.05 }, "restitution": wrong }] }],
        });
        let refused = Scenario::new(&parse_scene(&text.to_string()).unwrap()).err().unwrap().to_string();
        assert!(refused.contains("restitution") && refused.contains(&wrong.to_string()), "{refused}");
    }
}

// A joint that is coupled to one that the scene places starts where the coupling demands it: of a
// gripper with two fingers, the second at -0.5 of the first, plus 0.1. One that the scene places
// elsewhere is named.
#[test]
fn coupled_joints_start_together() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name| {
        format!(
            r#"<link name="{name}"><inertial><mass value="1"/>
            <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>"#
        )
    };
    let joint = |child, mimic| {
        format!(
            r#"<joint name="{child}" type="prismatic"><parent link="palm"/><child link="{child}"/>
            <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/>{mimic}</joint>"#
        )
    };
    let mimic = r#"<mimic joint="left" multiplier="-0.5" offset="0.1"/>"#;
    let links = ["palm", "left", "right"].map(link).concat();
    let text = format!(r#"<robot name="hand">{links}{}{}</robot>"#, joint("left", ""), joint("right", mimic));
    let file = folder.path().join("hand.urdf");
    std::fs::write(&file, text).unwrap();
    for (positions, right, warnings) in
        [(json!({ "left": 0.6 }), -0.2, 0), (json!({ "left": 0.6, "right": 0.3 }), 0.3, 1)]
    {
        let scene = json!({
            "name": "hand", "dt": 0.002, "duration": 0.1,
            "robots": [{ "name": "hand", "file": file, "positions": positions }],
        });
        let scenario = Scenario::new(&parse_scene(&scene.to_string()).unwrap()).unwrap();
        let bodies = scenario.world.bodies();
        let found = ["hand/left", "hand/right"]
            .map(|name| bodies.pose(bodies.find(name).unwrap()).translation.vector.x);
        assert!((found[0] - 0.6).abs() < 1e-15 && (found[1] - right).abs() < 1e-15, "{found:?}");
        assert_eq!(scenario.warnings.len(), warnings, "{:?}", scenario.warnings);
        assert!(scenario.warnings.iter().all(|w| w.contains("-0.2000 m") && w.contains("right")));
    }
}
