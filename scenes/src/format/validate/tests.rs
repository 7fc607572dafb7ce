//! Validation of articulated scenes. Soft ones are tested with the format.

use crate::format::{Assignment, Scene, apply, parse_scene, validate};

/// One of everything.
const EVERYTHING: &str = r#"{
  "name": "everything", "duration": 1, "dt": 0.01,
  "rigid": { "integrator": { "type": "error-controlled", "accuracy": 1e-4 }, "stiffness": 1e5 },
  "bodies": [
    { "name": "ground", "motion": { "type": "fixed" }, "geometries": [
      { "shape": { "type": "height-field", "heights": [[0, 0.1, 0], [0, 0, 0.1]], "spacing": [1, 2] } } ] },
    { "name": "rod", "motion": { "type": "dynamic", "mass": 1,
      "joint": { "type": "revolute", "axis": [0, 1, 0], "position": [0, 0, 0.5], "damping": 0.1, "armature": 0.01,
                 "friction_loss": 0.2, "stiffness": 3, "reference": 0.1, "limits": [-1, 1] } },
      "geometries": [ { "shape": { "type": "capsule", "radius": 0.05, "half_length": 0.5 }, "friction": 0.3,
        "static_friction": 0.4, "stiffness": 1e4, "dissipation": 2, "group": 2, "mask": 5 } ] },
    { "name": "egg", "motion": { "type": "dynamic", "density": 500, "parent": "rod",
      "joint": { "type": "universal", "axes": [[1, 0, 0], [0, 1, 0]], "limits": [null, [-1, 1]] } },
      "geometries": [ { "shape": { "type": "ellipsoid", "half_axes": [0.1, 0.2, 0.3] }, "collision": false } ] },
    { "name": "puck", "motion": { "type": "dynamic", "density": 500, "pose": { "position": [2, 0, 0] },
      "joint": { "type": "planar", "damping": [1, 2, 3] } },
      "geometries": [ { "shape": { "type": "cylinder", "radius": 0.1, "half_length": 0.02 } } ] },
    { "name": "bob", "motion": { "type": "dynamic", "density": 500, "parent": "arm/link7",
      "joint": { "type": "ball", "damping": 0.1 } },
      "geometries": [ { "shape": { "type": "sphere", "radius": 0.02 } } ] }
  ],
  "robots": [
    { "name": "arm", "model": "panda", "keyframe": "ready", "positions": { "joint1": 0.5 },
      "controls": { "joint2": 3, "joint3": { "type": "sine", "amplitude": 5, "frequency": 1 } } },
    { "name": "hand", "model": "parallel_gripper", "parent": "arm/flange" },
    { "name": "other", "file": "other.urdf", "positions": { "anything": 1 }, "controls": { "any": 1 }, "ignore_warnings": true }
  ],
  "actuators": [
    { "name": "push", "joint": "rod", "effort_limit": 10, "gravity_compensation": true,
      "control": { "type": "position", "stiffness": 100, "damping": 10,
        "value": { "type": "keyframes", "keyframes": [{ "time": 0, "value": 0 }, { "time": 1, "value": 0.5 }] } } },
    { "name": "turn", "joint": "puck", "dof": 2, "control": { "type": "velocity", "value": 1, "damping": 5 } },
    { "name": "twist", "joint": "bob", "dof": 1, "control": { "type": "effort", "value": 0.1 } },
    { "name": "extra", "joint": "other/elbow", "control": { "type": "effort", "value": 0.1 } }
  ],
  "forces": [ { "body": "puck", "force": [10, 0, 0], "wave": { "type": "sine", "amplitude": 1, "frequency": 0.5 } } ],
  "constraints": [
    { "type": "ball", "bodies": ["puck", null], "points": [[0, 0, 0], [2, 0, 0]] },
    { "type": "distance", "bodies": ["rod", "egg"], "points": [[0, 0, 0], [0, 0, 0]], "distance": 1 },
    { "type": "weld", "bodies": ["egg", "other/foot"] },
    { "type": "coupler", "driver": "rod", "driven": "egg", "ratio": -1 }
  ],
  "controllers": [
    { "type": "inverse-dynamics", "robot": "arm", "stiffness": 1000, "damping": 1000, "targets": [
      { "time": 0, "positions": { "joint1": 0.2 } }, { "time": 0.5, "positions": [0, 0, 0, -2, 0, 1.5, 0] } ] },
    { "type": "suction", "cups": ["arm/flange"], "force": 50, "range": 0.005, "on": [0.1, 0.9], "targets": ["puck"] }
  ]
}"#;

fn everything() -> Scene {
    parse_scene(EVERYTHING).unwrap_or_else(|e| panic!("{e}"))
}

fn problems(set: &str) -> Vec<String> {
    problems_of_all(&[set])
}

fn problems_of_all(set: &[&str]) -> Vec<String> {
    let assignments: Vec<_> = set.iter().map(|set| Assignment::parse(set).unwrap()).collect();
    let scene = apply(&everything(), &assignments).unwrap_or_else(|e| panic!("{set:?}: {e}"));
    match validate(&scene) {
        Ok(()) => Vec::new(),
        Err(error) => error.problems.iter().map(ToString::to_string).collect(),
    }
}

// Checks: a scene with one of everything is valid, and survives being written and read again.
#[test]
fn one_of_everything_is_valid_and_round_trips() {
    let scene = everything();
    validate(&scene).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(parse_scene(&serde_json::to_string(&scene).unwrap()).unwrap(), scene);
}

// Checks: the closed-form solver accepts only the integrators that it supports.
#[test]
fn steps_that_the_closed_form_has_not_are_refused() {
    let comfree = "rigid_solver=comfree";
    let trapezoid = r#"rigid.integrator={"type":"trapezoid","step":0.01}"#;
    let per_step = r#"rigid.comfree.gains={"type":"per-step","stiffness":0.1,"damping":0.001}"#;
    // The scene is error controlled.
    assert_eq!(problems_of_all(&[comfree]), Vec::<String>::new());
    for wrong in [trapezoid, "rigid.comfree.form=published", per_step] {
        assert_eq!(problems_of_all(&[wrong]), Vec::<String>::new(), "{wrong}");
        let initial_target = problems_of_all(&[comfree, wrong]);
        assert!(
            matches!(&initial_target[..], [one] if one.starts_with("rigid.integrator.type: ") && one.contains("\"comfree\"")),
            "{wrong}: {initial_target:?}"
        );
    }
}

// Checks: a joint or motor that the scene does not mention can be set by its name.
#[test]
fn a_robots_joints_and_motors_can_be_set_by_name() {
    let set = ["robots[arm].positions.joint3=0.25", "robots[arm].controls.joint5=2"];
    let set: Vec<_> = set.iter().map(|s| Assignment::parse(s).unwrap()).collect();
    let scene = apply(&everything(), &set).unwrap();
    assert_eq!((scene.robots[0].positions["joint1"], scene.robots[0].positions["joint3"]), (0.5, 0.25));
    assert_eq!(scene.robots[0].controls["joint5"].at(0.0), 2.0);
}

fn refused(cases: &[(&str, &str)]) {
    for (set, expected) in cases {
        let found = problems(set);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{set}: {found:?}");
    }
}

// Checks: invalid values are refused with path, value and unit. One case per line.
#[test]
fn bad_figures_of_bodies_are_named_with_value_and_unit() {
    refused(&[
        ("rigid.integrator.accuracy=0", "rigid.integrator.accuracy: 0 rad or m must be positive"),
        (
            r#"rigid.integrator={"type":"fixed","step":0.02}"#,
            "rigid.integrator.step: 0.02 s must be at most dt, 0.01 s",
        ),
        (
            r#"rigid.integrator={"type":"fixed","step":0.003}"#,
            "rigid.integrator.step: 0.003 s must go into dt, 0.01 s, a whole number of times; 4 steps of 0.0025 s would",
        ),
        (r#"rigid.integrator={"type":"trapezoid","step":0}"#, "rigid.integrator.step: 0 s must be positive"),
        ("rigid.stiffness=0", "rigid.stiffness: 0 N/m must be positive"),
        ("rigid.dissipation=-1", "rigid.dissipation: -1 s/m must not be negative"),
        ("rigid.comfree.facets=5", "rigid.comfree.facets: 5 must be even and in [4, 1024]"),
        ("rigid.comfree.facets=0", "rigid.comfree.facets: 0 must be even and in [4, 1024]"),
        ("rigid.comfree.separation_speed=0", "rigid.comfree.separation_speed: 0 m/s must be positive"),
        ("rigid.comfree.gains.frequency=0", "rigid.comfree.gains.frequency: 0 rad/s must be positive"),
        (
            r#"rigid.comfree.gains={"type":"per-step","stiffness":0.1,"damping":-1}"#,
            "rigid.comfree.gains.damping: -1 must be finite and not negative",
        ),
        (
            "bodies[1].geometries[0].impedance.maximum=1",
            "bodies[1].geometries[0].impedance.maximum: 1 must be between 0 and 1, both excluded",
        ),
        (
            "bodies[1].geometries[0].impedance.power=0.5",
            "bodies[1].geometries[0].impedance.power: 0.5 must be at least 1",
        ),
        (
            "bodies[1].geometries[0].torsional_friction=-1",
            "bodies[1].geometries[0].torsional_friction: -1 m must not be negative",
        ),
        ("rigid.stiction_tolerance=0", "rigid.stiction_tolerance: 0 m/s must be positive"),
        (
            "bodies[1].geometries[0].static_friction=0.2",
            "bodies[1].geometries[0].static_friction: 0.2 must be at least friction, 0.3",
        ),
        ("bodies[1].geometries[0].stiffness=0", "bodies[1].geometries[0].stiffness: 0 N/m must be positive"),
        (
            "bodies[1].geometries[0].dissipation=-1",
            "bodies[1].geometries[0].dissipation: -1 s/m must not be negative",
        ),
        (
            "bodies[2].geometries[0].shape.half_axes[1]=0",
            "bodies[2].geometries[0].shape.half_axes[1]: 0 m must be positive",
        ),
        (
            "bodies[0].geometries[0].shape.heights=[[1,2]]",
            "bodies[0].geometries[0].shape.heights: 1 rows of 2 heights",
        ),
        (
            "bodies[0].geometries[0].shape.heights[1]=[1,2]",
            "bodies[0].geometries[0].shape.heights[1]: 2 heights must be as many",
        ),
        (
            "bodies[0].geometries[0].shape.spacing[1]=0",
            "bodies[0].geometries[0].shape.spacing[1]: 0 m must be positive",
        ),
        (
            "bodies[1].motion.joint.damping=-1",
            "bodies[1].motion.joint.damping: -1 N m s/rad must not be negative",
        ),
        (
            "bodies[1].motion.joint.armature=-1",
            "bodies[1].motion.joint.armature: -1 kg m^2 must not be negative",
        ),
        ("bodies[1].motion.joint.friction_loss=-1", "bodies[1].motion.joint.friction_loss: -1 N m must not"),
        (
            "bodies[1].motion.joint.stiffness=-1",
            "bodies[1].motion.joint.stiffness: -1 N m/rad must not be negative",
        ),
        (
            "bodies[1].motion.joint.limits=[1,0]",
            "bodies[1].motion.joint.limits[0]: 1 rad must be at most the greatest, 0 rad",
        ),
        ("bodies[1].motion.joint.axis=[0,0,0]", "bodies[1].motion.joint.axis: [0, 0, 0] is no direction"),
        (
            "bodies[2].motion.joint.axes[1]=[2,0,0]",
            "bodies[2].motion.joint.axes: [1.0, 0.0, 0.0] and [2.0, 0.0, 0.0] must not be parallel",
        ),
        (
            "bodies[2].motion.joint.limits[1]=[2,1]",
            "bodies[2].motion.joint.limits[1][0]: 2 rad must be at most",
        ),
        (
            "bodies[3].motion.joint.damping[0]=-1",
            "bodies[3].motion.joint.damping[0]: -1 N s/m must not be negative",
        ),
        (
            "bodies[3].motion.joint.damping[2]=-1",
            "bodies[3].motion.joint.damping[2]: -1 N m s/rad must not be negative",
        ),
        (
            "bodies[3].motion.joint.orientation=[2,0,0,0]",
            "bodies[3].motion.joint.orientation: [2.0, 0.0, 0.0, 0.0] has norm 2",
        ),
        (
            "bodies[2].motion.parent=puck",
            "bodies[2].motion.parent: 'puck' is not the name of a body listed before this one",
        ),
        (
            "bodies[4].motion.parent=arm/link99",
            "bodies[4].motion.parent: 'link99' is not one of the robot's links [link0, ",
        ),
        ("bodies[0].name=arm/rock", "bodies[0].name: 'arm/rock' reads as a link of the robot 'arm'"),
    ]);
}

#[test]
fn bad_figures_of_robots_are_named_with_value_and_unit() {
    refused(&[
        ("robots[1].name=arm", "robots[1].name: 'arm' is taken by another robot"),
        ("robots[1].name=puck", "robots[1].name: 'puck' is taken by a body"),
        ("robots[1].name=a/b", "robots[1].name: 'a/b' must not be empty or hold '/'"),
        ("robots[2].file=null", "robots[2]: give a file or a model"),
        ("robots[2].model=panda", "robots[2]: give a file or a model, not both"),
        (
            "robots[1].parent=other/x",
            "robots[1].parent: 'other/x' is neither a fixed or prescribed body nor a link",
        ),
        ("robots[1].parent=rod", "robots[1].parent: 'rod' is neither a fixed or prescribed body"),
        ("robots[0].keyframe=home", "robots[0].keyframe: 'home' is not one of the robot's keyframes [ready]"),
        (
            r#"robots[0].positions={"joint9":0}"#,
            "robots[0].positions.joint9: 'joint9' is not one of the robot's joints [joint1, ",
        ),
        (
            "robots[0].positions.joint1=3",
            "robots[0].positions.joint1: 3 rad must be in the joint's range, [-2.8973, 2.8973] rad",
        ),
        (
            r#"robots[0].controls={"joint9":0}"#,
            "robots[0].controls.joint9: 'joint9' is not one of the robot's motors",
        ),
        (
            "robots[0].controls.joint3.frequency=0",
            "robots[0].controls.joint3.frequency: 0 Hz must be positive",
        ),
        (
            "robots[0].controls.joint3.frequency=50",
            "robots[0].controls.joint3.frequency: 50 Hz must be below 50 Hz",
        ),
    ]);
}

#[test]
fn bad_figures_of_drives_are_named_with_value_and_unit() {
    refused(&[
        ("actuators[1].name=push", "actuators[1].name: 'push' is taken by another actuator"),
        ("actuators[0].joint=ground", "actuators[0].joint: 'ground' has no joint: it is fixed or prescribed"),
        (
            "actuators[0].joint=nobody",
            "actuators[0].joint: 'nobody' is neither one of the bodies [ground, rod, ",
        ),
        ("actuators[0].joint=bob", "actuators[0].joint: 'bob' has no coordinate to control"),
        (
            "actuators[0].joint=arm/elbow",
            "actuators[0].joint: 'elbow' is not one of the robot's joints [joint1, ",
        ),
        (
            "actuators[1].dof=3",
            "actuators[1].dof: 3 is not below the joint's number of degrees of freedom, 3",
        ),
        ("actuators[0].effort_limit=-1", "actuators[0].effort_limit: -1 N m or N must not be negative"),
        (
            "actuators[0].control.stiffness=-1",
            "actuators[0].control.stiffness: -1 N m/rad or N/m must not be negative",
        ),
        (
            "actuators[0].control.value.keyframes=[]",
            "actuators[0].control.value.keyframes: [] has no keyframe",
        ),
        (
            "actuators[0].control.value.keyframes[1].time=0",
            "actuators[0].control.value.keyframes[1].time: 0 s must be later",
        ),
        ("forces[0].body=ground", "forces[0].body: 'ground' is fixed or prescribed: no force moves it"),
        ("forces[0].body=egg/x", "forces[0].body: 'egg/x' is neither one of the bodies"),
        ("constraints[0].bodies[0]=puk", "constraints[0].bodies[0]: 'puk' is neither one of the bodies"),
        (
            "constraints[0].bodies=[null,null]",
            "constraints[0].bodies: must be at least one that forces can move",
        ),
        (
            "constraints[0].bodies=[null,\"ground\"]",
            "constraints[0].bodies: must be at least one that forces can move",
        ),
        ("constraints[1].bodies=[\"rod\",\"rod\"]", "constraints[1].bodies: must be two different bodies"),
        ("constraints[1].distance=0", "constraints[1].distance: 0 m must be positive"),
        ("constraints[3].driven=bob", "constraints[3].driven: 'bob' has no coordinate to couple"),
        ("constraints[3].driven=rod", "constraints[3].driven: 'rod' cannot follow itself"),
        (
            "controllers[0].robot=leg",
            "controllers[0].robot: 'leg' is not one of the robots [arm, hand, other]",
        ),
        ("controllers[0].stiffness=-1", "controllers[0].stiffness: -1 1/s^2 must not be negative"),
        (
            "controllers[0].targets[1].time=0",
            "controllers[0].targets[1].time: 0 s must be later than the target before it, 0 s",
        ),
        (
            "controllers[0].targets[0].positions={\"joint1\":9}",
            "controllers[0].targets[0].positions.joint1: 9 rad must be in",
        ),
        (
            "controllers[0].targets[1].positions=[0,1]",
            "controllers[0].targets[1].positions: 2 values must be one for each of the 7 joints",
        ),
        ("controllers[1].cups=[]", "controllers[1].cups: [] names no body"),
        ("controllers[1].targets[0]=ground", "controllers[1].targets[0]: 'ground' is fixed or prescribed"),
        (
            "controllers[1].on=[0.5,0.2]",
            "controllers[1].on[1]: 0.2 s must be later than the beginning, 0.5 s",
        ),
        ("controllers[1].range=0", "controllers[1].range: 0 m must be positive"),
    ]);
}

// Checks: an unknown field in a robot is reported with its position, although a robot's `model`
// looks like a tag.
#[test]
fn a_wrong_field_of_a_robot_is_named() {
    let error = parse_scene(&EVERYTHING.replace("\"joint1\": 0.5 }", "\"joint1\": \"left\" }")).unwrap_err();
    assert_eq!(error.path, "robots[0].positions.joint1", "{error}");
    let error = parse_scene(&EVERYTHING.replace("\"panda\"", "\"pandah\"")).unwrap_err();
    assert!(error.path == "robots[0].model" && error.message.contains("`panda`"), "{error}");
    let error = parse_scene(&EVERYTHING.replace("\"friction_loss\"", "\"friction_lost\"")).unwrap_err();
    assert!(error.message.contains("unknown field `friction_lost`"), "{error}");
}

// Checks: a value that is not finite is refused in every field.
#[test]
fn figures_that_are_not_finite_are_refused() {
    let mut scene = everything();
    scene.forces[0].torque[2] = f64::NAN;
    scene.actuators[2].control = crate::format::Control::Effort { value: f64::INFINITY.into() };
    scene.robots[2].positions.insert("anything".into(), f64::NAN);
    let error = validate(&scene).unwrap_err();
    let paths: Vec<_> = error.problems.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["robots[2].positions.anything", "actuators[2].control.value", "forces[0].torque[2]"]);
}
