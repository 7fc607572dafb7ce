//! A robot by name.

use nalgebra::{DVector, Isometry3, Matrix3, Point3, Vector3};
use pliant_rigid::multibody::{Dof, JointKind, Link, LinkId, ModelBuilder, RigidInertia};
use pliant_rigid::simulation::{Actuator, Control, System};
use pliant_rigid::*;

const G: f64 = 9.81;
const NODES: [usize; 4] = [0, 0, 1, 1];

/// Numbers in [-1, 1] (Knuth's linear congruence of 64 bits).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }
}

/// A tree of five hinges about random axes, in a random state, with a torque motor on each.
fn tree(draw: &mut Draw) -> MechanismDesc {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    for l in 0..5 {
        let frame = Isometry3::new(draw.vector() * 0.3, draw.vector());
        let inertia =
            RigidInertia::at_center(1.0 + 0.5 * draw.next(), draw.vector() * 0.1, Matrix3::identity() * 0.02);
        builder
            .add(Link {
                name: format!("link{l}"),
                parent: (l > 0).then(|| LinkId(NODES[l - 1])),
                joint: JointKind::Revolute { axis: nalgebra::Unit::new_normalize(draw.vector()) },
                frame,
                inertia,
                gravity: true,
                dofs: vec![Dof::default()],
            })
            .unwrap();
    }
    let mut system = System::new(builder.build().unwrap());
    let mut state = system.model.zero_configuration();
    state.q.iter_mut().for_each(|q| *q = draw.next());
    state.v.iter_mut().for_each(|v| *v = draw.next());
    let control = Control::Effort { effort: 0.0 };
    let mut names = MechanismNames::default();
    for l in 0..5 {
        let link = LinkId(l);
        system.actuators.push(Actuator {
            link,
            dof: 0,
            control,
            effort_limit: f64::INFINITY,
            gravity_compensation: false,
        });
        let (effort_limit, velocity_limit) = (None, None);
        names.joints.push(ImportedJoint { name: format!("joint{l}"), link, effort_limit, velocity_limit });
        let range = [-1.0, 1.0];
        names.inputs.push(Input { name: format!("motor{l}"), actuator: l, scale: 3.0, offset: 0.5, range });
    }
    let home = system.model.zero_configuration();
    names.keyframes.push(Keyframe {
        name: "home".into(),
        state: home,
        control: vec![0.1; 5],
        drive_control: vec![],
        activation: vec![],
        mocaps: vec![],
    });
    MechanismDesc {
        system,
        geometries: vec![],
        excluded: vec![],
        pairs: vec![],
        hidden: Default::default(),
        visuals: vec![],
        state,
        names,
    }
}

/// Two robots of one seed on two bases.
fn pair(seed: u64) -> (Bodies, RobotHandle, RobotHandle) {
    let mut builder = BodiesBuilder::new();
    let left = builder.robot("left", tree(&mut Draw(seed)), None, &Isometry3::identity()).unwrap();
    let base = Isometry3::new(Vector3::new(3.0, 1.0, 0.5), Vector3::z() * 0.7);
    let right = builder.robot("right", tree(&mut Draw(seed)), None, &base).unwrap();
    let bodies = builder.build(Vector3::new(0.0, 0.0, -G), 1e-4, &RigidSettings::default()).unwrap();
    (bodies, left, right)
}

fn step(bodies: &mut Bodies, dt: f64) {
    bodies.prepare(dt);
    let impulses = vec![SpatialImpulse::zero(); bodies.len()];
    bodies.integrate(dt, &impulses).unwrap();
}

// Checks: both copies of a robot have the names of the file, each its own links and states, and
// poses that differ by the bases. An unknown name is refused with the nearest ones first.
#[test]
fn names_survive_two_copies() {
    let (bodies, left, right) = pair(1);
    assert!(
        left.joints().eq(right.joints())
            && left.actuators().eq(["motor0", "motor1", "motor2", "motor3", "motor4"])
    );
    assert_eq!(left.positions(&bodies), right.positions(&bodies));
    let base = Isometry3::new(Vector3::new(3.0, 1.0, 0.5), Vector3::z() * 0.7);
    for link in left.links() {
        assert_ne!(left.link(link), right.link(link));
        let (a, b) = (base * left.pose(&bodies, link).unwrap(), right.pose(&bodies, link).unwrap());
        assert!((a.to_homogeneous() - b.to_homogeneous()).amax() < 1e-12, "{link}");
    }
    let Err(RobotError::Unknown { nearest, .. }) = left.joint("jiont3x") else { panic!("known") };
    assert_eq!(nearest[0], "joint3");
}

// Checks: Jacobian times velocities is the velocity of the link's origin; the mass matrix gives the
// kinetic energy; and under no effort the accelerations of a short step of `dt` are those of
// M a = -bias, to first order in `dt`: within a step of 1e-6 s the point's velocity and the
// accelerations change by `dt` times a rate, of which the bounds allow 100 and 1000 times `scale`.
#[test]
fn jacobian_mass_and_bias_agree_with_the_motion() {
    for seed in 0..10 {
        println!("seed {seed}");
        let (mut bodies, left, right) = pair(seed);
        let mut energy = 0.0;
        for robot in [&left, &right] {
            let v = DVector::from_vec(robot.velocities(&bodies));
            let found = robot.jacobian(&bodies, "link4", &Point3::origin()).unwrap() * &v;
            let wanted = robot.velocity(&bodies, "link4").unwrap();
            assert!((found.fixed_rows::<3>(0) - wanted.angular).amax() < 1e-12);
            assert!((found.fixed_rows::<3>(3) - wanted.linear).amax() < 1e-12);
            energy += 0.5 * v.dot(&(robot.mass_matrix(&bodies) * &v));
        }
        assert!((energy / bodies.kinetic_energy() - 1.0).abs() < 1e-12);
        // The Jacobian of a point against the change of its place over a step.
        let point = Point3::new(0.1, -0.2, 0.3);
        let before = right.pose(&bodies, "link4").unwrap() * point;
        let rate =
            right.jacobian(&bodies, "link4", &point).unwrap() * DVector::from_vec(right.velocities(&bodies));
        let mass = right.mass_matrix(&bodies);
        let wanted = mass.cholesky().unwrap().solve(&-DVector::from_vec(right.bias(&bodies)));
        let (v, dt) = (DVector::from_vec(right.velocities(&bodies)), 1e-6);
        step(&mut bodies, dt);
        let moved = (right.pose(&bodies, "link4").unwrap() * point - before) / dt;
        let scale = 1.0 + wanted.amax();
        assert!((moved - rate.fixed_rows::<3>(3)).amax() < 1e-4 * scale);
        let found = (DVector::from_vec(right.velocities(&bodies)) - v) / dt;
        assert!((found - &wanted).amax() < 1e-3 * scale, "{wanted}");
    }
}

// Checks: with the bias as effort a robot at rest stays at rest, and the joint of its root carries
// the weight of all its links (Newton's third law).
#[test]
fn a_robot_at_rest_is_held_by_its_bias() {
    let mut builder = BodiesBuilder::new();
    let desc = tree(&mut Draw(5)).at_keyframe("home").unwrap();
    let mass: f64 = desc.system.model.links().iter().map(|link| link.inertia.mass).sum();
    let robot = builder.robot("arm", desc, None, &Isometry3::identity()).unwrap();
    let mut bodies = builder.build(Vector3::new(0.0, 0.0, -G), 1e-3, &RigidSettings::default()).unwrap();
    assert!(robot.joint_reaction(&bodies, "joint0").unwrap().is_none());
    for _ in 0..10 {
        let efforts = robot.bias(&bodies);
        robot.set_efforts(&mut bodies, &efforts).unwrap();
        step(&mut bodies, 1e-3);
    }
    assert!(robot.velocities(&bodies).iter().all(|v| v.abs() < 1e-9));
    let force = robot.joint_reaction(&bodies, "joint0").unwrap().unwrap();
    assert!((force.linear - Vector3::z() * mass * G).amax() < 1e-6, "{force:?}");
}

// Checks: controls by name reach the actuators of that robot alone, scaled and clamped as the file
// says; targets of another kind and efforts that are not finite are refused.
#[test]
fn controls_by_name_equal_those_by_index() {
    let (mut bodies, _, right) = pair(3);
    right.set_control(&mut bodies, "motor2", 7.0).unwrap();
    right.set_target(&mut bodies, "joint4", JointTarget::Effort(-2.5)).unwrap();
    let mut wanted = [0.0; 10];
    (wanted[7], wanted[9]) = (3.5, -2.5);
    let found = bodies.simulation().system().actuators.iter().map(|a| a.control);
    assert!(found.eq(wanted.map(|effort| Control::Effort { effort })));
    step(&mut bodies, 1e-4);
    assert!((right.effort(&bodies, "motor2").unwrap() - 3.5).abs() < 1e-9);
    let wrong = right.set_target(&mut bodies, "joint1", JointTarget::Velocity(1.0));
    assert!(matches!(wrong, Err(RobotError::Kind { .. })));
    assert!(matches!(right.set_efforts(&mut bodies, &[0.0; 4]), Err(RobotError::Count { expected: 5, .. })));
    assert!(matches!(right.set_control(&mut bodies, "motor0", f64::NAN), Err(RobotError::NotFinite { .. })));
}
