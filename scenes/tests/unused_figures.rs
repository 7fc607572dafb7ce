//! What a solver leaves out is said, by name.

use pliant_scenes::format::{Scene, parse_scene};
use pliant_scenes::scenario::Scenario;
use pliant_scenes::worlds::worlds;
use serde_json::{Value, json};

const ROBOT: &str = r#"<mujoco><worldbody><body name="arm"><joint name="j" range="-1 1" axis="0 1 0"/>
<geom size="0.1" mass="1" contype="0" conaffinity="0"/><body name="hand" pos="0 0 1"><joint name="k" axis="0 1 0"/>
<geom name="tip" size="0.1" mass="1" solref="0.05 1"/></body></body></worldbody>
<equality><joint joint1="k" joint2="j"/></equality></mujoco>"#;

fn scene(solver: &str, rigid: &Value, geometry: &Value, robots: &Value) -> Scene {
    let mut ball = json!({ "shape": { "type": "sphere", "radius": 0.1 } });
    ball.as_object_mut().unwrap().extend(geometry.as_object().unwrap().clone());
    let free = json!({ "type": "dynamic", "pose": { "position": [5.0, 0.0, 0.0] }, "joint": { "type": "free" }, "mass": 1.0, "inertia": [0.01, 0.01, 0.01] });
    let text = json!({
        "name": "unused", "dt": 0.001, "duration": 0.01, "rigid_solver": solver, "rigid": rigid, "robots": robots,
        "bodies": [
            { "name": "floor", "motion": { "type": "fixed", "pose": { "position": [0.0, 0.0, -5.0] } },
              "geometries": [{ "shape": { "type": "half-space" } }] },
            { "name": "ball", "motion": free, "geometries": [ball] }
        ]
    });
    parse_scene(&text.to_string()).unwrap()
}

fn unused(scene: &Scene) -> Vec<String> {
    let warnings = Scenario::new(scene).unwrap().warnings;
    warnings.into_iter().filter(|line| line.starts_with("the solver does not use")).collect()
}

// Checks: every solver names the figures that its form leaves out (rigid/src/comfree, icf), each in
// one line with the names of all that has it; what a form uses is not spoken of, and a file's usual
// figures are not either.
#[test]
fn solvers_name_what_they_leave_out() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.xml");
    std::fs::write(&file, ROBOT).unwrap();
    let robots = json!([{ "name": "r", "file": file, "ignore_warnings": true }]);
    let (none, predicted) = (json!([]), json!({}));
    let published = json!({ "comfree": { "form": "published" } });
    let plain = json!({});
    for (solver, rigid) in [("icf", &predicted), ("comfree", &predicted), ("comfree", &published)] {
        assert_eq!(unused(&scene(solver, rigid, &plain, &none)), [] as [&str; 0], "{solver}");
    }
    let figures = json!({
        "stiffness": 5e5, "restitution": 0.5, "static_friction": 0.9, "friction": 0.4, "torsional_friction": 0.01,
        "impedance": { "minimum": 0.5 }
    });
    let said = unused(&scene("icf", &predicted, &figures, &robots));
    let expected = [("torsional and rolling friction of 'ball[0]'", 1), ("impedance of 'ball[0]'", 1)];
    let check = |said: &[String], expected: &[(&str, usize)]| {
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for (text, count) in expected {
            assert_eq!(said.iter().filter(|line| line.contains(text)).count(), *count, "{text}: {said:#?}");
        }
    };
    check(&said, &expected);
    let contact = [("dissipation of 'ball[0]', 'r/hand[0]'", 1), ("the static friction of 'ball[0]'", 1)];
    check(&unused(&scene("comfree", &predicted, &figures, &robots)), &contact);
    let joints = [("joint limits of 'r/arm':", 1), ("the equalities '0'", 1)];
    let all = [joints[0], joints[1], contact[0], contact[1]];
    check(&unused(&scene("comfree", &published, &figures, &robots)), &all);
    // A batch is published whatever the scene says; it has no rebounds and takes no equalities.
    std::fs::write(&file, ROBOT.replace("<joint joint1=\"k\" joint2=\"j\"/>", "")).unwrap();
    let (_, scenario) = worlds(&scene("comfree", &predicted, &figures, &robots), 1).unwrap();
    let said: Vec<_> = scenario.warnings.into_iter().filter(|l| l.starts_with("the solver")).collect();
    check(&said, &[joints[0], contact[0], contact[1], ("the restitution of 'ball[0]'", 1)]);
    // The contact of a pair, too.
    let pair = "<contact><pair geom1=\"tip\" geom2=\"p\" solref=\"0.05 1\"/></contact></mujoco>";
    let plane = "<worldbody><geom name=\"p\" type=\"plane\" size=\"1 1 1\" pos=\"0 0 -3\"/>";
    std::fs::write(&file, ROBOT.replace("</mujoco>", pair).replace("<worldbody>", plane)).unwrap();
    let said = unused(&scene("comfree", &predicted, &plain, &robots));
    check(&said, &[("dissipation of 'r/hand[0]', 'r/hand[0] and r/world[0]'", 1)]);
}
