//! Gains of motors that are changed between steps.

use nalgebra::{Isometry3, Vector3};
use pliant_import::from_mjcf;
use pliant_numeric::random::SplitMix64;
use pliant_rigid::{Bodies, BodiesBuilder, RigidSettings, RobotHandle, SpatialImpulse};

const DT: f64 = 1e-3;
const HINGE: &str = r#"<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/>
<geom type="sphere" size="0.02" pos="0.3 0 0" mass="2"/></body>
<body pos="2 0 0"><joint name="bare" type="slide" axis="1 0 0"/><geom size="0.1" mass="3"/></body></worldbody>
<actuator><position joint="hinge" kp="100" kv="30"/></actuator></mujoco>"#;

const SLIDE: &str = r#"<mujoco><worldbody>
<body><joint name="slide" type="slide" axis="0 0 1"/><geom size="0.1" mass="3"/></body></worldbody>
<actuator><velocity joint="slide" kv="20"/></actuator></mujoco>"#;

fn robot(text: &str) -> (Bodies, RobotHandle) {
    let mut builder = BodiesBuilder::new();
    let robot = builder.robot("arm", from_mjcf(text, "").unwrap(), None, &Isometry3::identity()).unwrap();
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    (builder.build(gravity, DT, &RigidSettings::default()).unwrap(), robot)
}

fn step(bodies: &mut Bodies, steps: usize) {
    for _ in 0..steps {
        bodies.prepare(DT);
        bodies.integrate(DT, &vec![SpatialImpulse::zero(); bodies.len()]).unwrap();
    }
}

// Checks: statics. At rest a position motor of stiffness k bears the weight: k q = m g l cos q, with
// q downwards. The overdamped hinge settles as exp(-k t/d); 4 s are exp(-20). The solver stops
// within 1e-8 of the momentum.
#[test]
fn a_position_motor_has_its_present_stiffness() {
    let seed = 11;
    let mut draw = SplitMix64::new(seed);
    let (mut bodies, robot) = robot(HINGE);
    for _ in 0..4 {
        let k = draw.uniform_in(50.0, 400.0);
        robot.set_gains(&mut bodies, "hinge", k, k / 5.0).unwrap();
        step(&mut bodies, 4000);
        let q = robot.joint_state(&bodies, "hinge").unwrap().0[0];
        let weight = 2.0 * 9.81 * 0.3 * q.cos();
        assert!((k * q - weight).abs() < 1e-6 * weight, "seed {seed}: {k} {q} {}", k * q / weight - 1.0);
    }
}

// Checks: statics. Under a velocity motor of damping d a weight sinks at m g/d; it gets there as
// exp(-d t/m), in 8 s to exp(-26). A step may err by the solver's tolerance, 1e-8 of the momentum,
// and the weight of the step is in its scale, too: 2e-8 m v/dt in the force.
#[test]
fn a_velocity_motor_has_its_present_damping() {
    let seed = 12;
    let mut draw = SplitMix64::new(seed);
    let (mut bodies, robot) = robot(SLIDE);
    for _ in 0..4 {
        let d = draw.uniform_in(10.0, 60.0);
        robot.set_gains(&mut bodies, "slide", 0.0, d).unwrap();
        step(&mut bodies, 8000);
        let v = robot.joint_state(&bodies, "slide").unwrap().1[0];
        assert!((v * d + 3.0 * 9.81).abs() < 2e-8 * 3.0 * v.abs() / DT, "seed {seed}: {d} {v}");
    }
}

#[test]
fn gains_that_cannot_be_are_refused() {
    let (mut hinge, first) = robot(HINGE);
    let (mut slide, second) = robot(SLIDE);
    let refused = [
        (first.set_gains(&mut hinge, "hinge", -1.0, 0.0), "a gain is -1"),
        (first.set_gains(&mut hinge, "hinge", 1.0, f64::NAN), "a gain is NaN"),
        (second.set_gains(&mut slide, "slide", 1.0, 1.0), "no motor takes these gains"),
        (first.set_gains(&mut hinge, "bare", 1.0, 1.0), "no motor takes these gains"),
        (first.set_gains(&mut hinge, "elbow", 1.0, 1.0), "no joint 'elbow'"),
    ];
    for (result, part) in refused {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part), "{error} lacks {part}");
    }
}
