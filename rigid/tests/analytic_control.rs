//! Inverse dynamics along a path against its equations.

use nalgebra::{DVector, Isometry3, Matrix3, Vector3};
use pliant_import::Imported;
use pliant_rigid::control::*;
use pliant_rigid::multibody::{
    Dof, JointKind, Kinematics, Link, LinkId, MassMatrix, ModelBuilder, RigidInertia, mass_matrix,
    point_jacobian,
};
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::floor::free_link;

const G: f64 = 9.81;

fn robot(file: &str) -> Imported {
    let mut robot =
        pliant_import::load(format!("{}/../scenes/models/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    robot.system.actuators.clear();
    robot
}

/// All joints of a robot, or the first `count`.
fn joints(robot: &Imported, gains: [f64; 2], count: usize) -> Vec<ControlledJoint> {
    let [stiffness, damping] = gains;
    let joint = |link| ControlledJoint { link, dof: 0, stiffness, damping, effort_limit: f64::INFINITY };
    robot.joints.iter().take(count).map(|j| joint(j.link)).collect()
}

const READY: [f64; 7] = [0.0, 0.5, 0.0, -1.2, 0.0, 1.0, 0.0];
const THERE: [f64; 7] = [0.8, -0.3, 0.5, -0.6, -0.7, 0.2, 1.1];

/// Solution of e'' + k_d e' + k_p e = 0 with e = 1, e' = 0 at the start.
fn decay([kp, kd]: [f64; 2], t: f64) -> f64 {
    let square = kd * kd / 4.0 - kp;
    if square < 0.0 {
        let w = (-square).sqrt();
        (-kd / 2.0 * t).exp() * ((w * t).cos() + kd / 2.0 / w * (w * t).sin())
    } else {
        let (a, b) = (-kd / 2.0 + square.sqrt(), -kd / 2.0 - square.sqrt());
        (a * (b * t).exp() - b * (a * t).exp()) / (a - b)
    }
}

// Checks: positions, rates and accelerations of a path are derivatives of each other (central
// differences, step 1e-5: error below 1e-8 of them), hit the set points, and a cubic between two
// rests is p0 + (p1 - p0)(3 s^2 - 2 s^3).
#[test]
fn a_path_is_its_polynomial() {
    let times = vec![0.5, 1.5, 4.0];
    let points = vec![vec![1.0, -2.0], vec![0.0, 3.0], vec![0.5, 3.5]];
    let rates = vec![vec![0.1, 0.2], vec![-0.3, 0.0], vec![1.0, 2.0]];
    let cubic = JointTrajectory::cubic(times.clone(), points.clone()).unwrap();
    for path in [
        &cubic,
        &JointTrajectory::linear(times.clone(), points.clone()).unwrap(),
        &JointTrajectory::hermite(times.clone(), points.clone(), rates.clone()).unwrap(),
    ] {
        for (t, point) in times.iter().zip(&points) {
            assert_eq!(path.target(*t).positions, *point);
        }
        for k in 0..100 {
            let t = 0.013 + 0.05 * f64::from(k);
            for joint in 0..2 {
                let h = 1e-5;
                let [before, now, after] = [t - h, t, t + h].map(|t| path.at(joint, t));
                for order in 0..2 {
                    let slope = (after[order] - before[order]) / (2.0 * h);
                    assert!((slope - now[order + 1]).abs() < 1e-6, "{path:?} {t}: {slope} {now:?}");
                }
            }
        }
        assert_eq!(path.at(0, 0.0), [1.0, 0.0, 0.0]);
        assert_eq!(path.at(1, 9.0), [3.5, 0.0, 0.0]);
        assert_eq!(
            [0.0, 0.5, 3.0, 4.0].map(|t| path.next_set_point(t)),
            [Some(0.5), Some(1.5), Some(4.0), None]
        );
    }
    let s: f64 = 0.3;
    let exact = -2.0 + 5.0 * (3.0 * s * s - 2.0 * s * s * s);
    assert!((cubic.at(1, 0.5 + s)[0] - exact).abs() < 1e-14);
    let hermite = JointTrajectory::hermite(times, points, rates).unwrap();
    assert!(
        (hermite.at(1, 0.5)[1] - 0.2).abs() < 1e-14 && (hermite.at(0, 4.0 - 1e-12)[1] - 1.0).abs() < 1e-9
    );
}

/// Differences from the exact error dynamics while the arm goes from one set point to another, all
/// joints at once, its axes damped; the last joint is not driven by it but held by a motor.
fn tracking(gains: [f64; 2], integrator: Integrator) -> (Vec<f64>, usize) {
    let mut robot = robot("iiwa7.xml");
    let offset = 0.05;
    let path =
        JointTrajectory::cubic(vec![0.0, 1.0], vec![READY[..6].to_vec(), THERE[..6].to_vec()]).unwrap();
    let control = InverseDynamics::new(&robot.system.model, joints(&robot, gains, 6), path.clone()).unwrap();
    robot.system.externals.push(Box::new(control));
    let control = Control::Position { target: 0.0, target_rate: 0.0, stiffness: 1e5, damping: 2e2 };
    let link = robot.joints[6].link;
    robot.system.actuators.push(Actuator {
        link,
        dof: 0,
        control,
        effort_limit: f64::INFINITY,
        gravity_compensation: true,
    });
    robot.state.q.copy_from_slice(&READY);
    robot.state.q[..6].iter_mut().for_each(|q| *q -= offset);
    let mut simulation = Simulation::new(robot.system, NoContacts, integrator, robot.state).unwrap();
    let mut differences = Vec::new();
    let mut steps = 0;
    for k in 1..=24 {
        let summary = simulation.advance_to(0.05 * f64::from(k)).unwrap();
        steps += summary.steps + summary.rejected;
        let state = simulation.state();
        differences.extend((0..6).map(|joint| {
            let error = path.at(joint, state.time)[0] - state.q[joint];
            error - offset * decay(gains, state.time)
        }));
    }
    (differences, steps)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| x.abs().max(m))
}

// Checks: e'' + K_d e' + K_p e = 0 for every joint, whatever the others do (Siciliano et al. 2009,
// equation 8.60). The step is of first order: the difference from the exact decay halves with it,
// and what extrapolation to no step leaves is of second order, the square of the coarse run's
// relative difference or less.
#[test]
fn inverse_dynamics_follows_its_error_dynamics() {
    for gains in [[100.0, 14.0], [100.0, 20.1], [1e3, 1e3]] {
        let at = |step| tracking(gains, Integrator::Fixed { step }).0;
        let (coarse, fine) = (at(5e-4), at(2.5e-4));
        let order = (largest(&coarse) / largest(&fine)).log2();
        let extrapolated: Vec<f64> = coarse.iter().zip(&fine).map(|(c, f)| 2.0 * f - c).collect();
        assert!((order - 1.0).abs() < 0.1, "{gains:?}: order {order}");
        let rest = largest(&extrapolated) / largest(&coarse);
        assert!(rest < 0.03, "{gains:?}: {rest}");
    }
}

// Checks: error control follows the same dynamics, closer with tighter accuracy, and the gains of
// the scene `franka`, whose rate of 1000/s no step follows, cost at most twice the steps of soft
// ones.
#[test]
fn error_control_follows_inverse_dynamics() {
    let at = |gains, accuracy| {
        let (differences, steps) = tracking(gains, Integrator::ErrorControlled { accuracy, max_step: 0.1 });
        (largest(&differences), steps)
    };
    let (soft, stiff) = (at([1e2, 20.1], 1e-3), at([1e3, 1e3], 1e-3));
    assert!(stiff.1 < 2 * soft.1, "{soft:?} {stiff:?}");
    let tight = at([1e3, 1e3], 1e-5);
    // First order: the global error goes with the step, that is with the root of the accuracy.
    assert!(tight.0 < stiff.0 / 5.0, "{stiff:?} {tight:?}");
    assert!(tight.0 < 5e-3, "{tight:?}");
}

/// Largest position error of each step of a run of 2 s at steps of `step` that begins 0.02 rad off;
/// ends where the simulation does.
fn errors_at(robot: Imported, control: InverseDynamics, step: f64, start: &[f64]) -> Vec<f64> {
    let mut robot = robot;
    robot.system.externals.push(Box::new(control));
    for (i, (q, goal)) in robot.state.q.iter_mut().zip(start).enumerate() {
        *q = goal + if i % 2 == 0 { 0.02 } else { -0.02 };
    }
    let mut simulation =
        Simulation::new(robot.system, NoContacts, Integrator::Fixed { step }, robot.state).unwrap();
    let mut errors = Vec::new();
    for k in 1..=(2.0 / step) as u32 {
        if simulation.advance_to(step * f64::from(k)).is_err() {
            errors.push(f64::INFINITY);
            break;
        }
        let difference: Vec<f64> = simulation.state().q.iter().zip(start).map(|(q, goal)| q - goal).collect();
        errors.push(largest(&difference));
    }
    errors
}

// Checks: at K_p = K_d = 1000 and steps of 10 ms (ten times the fast time constant) nothing grows;
// the slow root decays with 1.001/s as it should (implicit Euler at that rate: 0.5 % off in 2 s;
// coupling in the first steps: 5 %).
#[test]
fn stiff_inverse_dynamics_is_stable_at_long_steps() {
    let robot = robot("iiwa7.xml");
    let path = JointTrajectory::hold(READY.to_vec()).unwrap();
    let control = InverseDynamics::new(&robot.system.model, joints(&robot, [1e3, 1e3], 7), path).unwrap();
    let errors = errors_at(robot, control, 0.01, &READY);
    assert!(largest(&errors) < 0.0201, "{:?}", &errors[..10]);
    let tail = &errors[50..];
    assert!(tail.windows(2).all(|pair| pair[1] < pair[0]), "{tail:?}");
    let rate = (tail[0] / tail[tail.len() - 1]).ln() / (0.01 * (tail.len() - 1) as f64);
    assert!((rate / 1.001 - 1.0).abs() < 0.05, "{rate}");
}

// Checks: with a period, control is stable at steps of up to twice the period, at any configuration
// and for any gains, also for an arm whose joints are coupled far more (no armature: the largest
// eigenvalue of diag(M)^-1 M is 3.4), where the gains as they are make a step of 10 ms unstable.
#[test]
fn a_digital_controller_is_stable_at_any_configuration() {
    let seed = 5;
    let mut random = Random::new(seed);
    let mut unstable = 0;
    for k in 0..12 {
        let robots = [robot("iiwa7.urdf"), robot("iiwa7.urdf")];
        let dofs = robots[0].system.model.dofs();
        // Away from the limits, which are not what is tested.
        let start: Vec<f64> = dofs.iter().map(|dof| 0.9 * dof.limits[1] * random.signed()).collect();
        let gain = [1e3, 1e5][k % 2];
        for (robot, period) in robots.into_iter().zip([0.01, 0.0]) {
            let path = JointTrajectory::hold(start.clone()).unwrap();
            let control =
                InverseDynamics::new(&robot.system.model, joints(&robot, [gain; 2], 7), path).unwrap();
            let control = control.with_period(period).unwrap();
            let errors = errors_at(robot, control, 0.01, &start);
            if period > 0.0 {
                assert!(largest(&errors) < 0.021, "seed {seed}, run {k}: {:?}", &errors[..20]);
                assert!(errors[199] < 0.02 * 0.2, "seed {seed}, run {k}: {}", errors[199]);
            } else if largest(&errors) > 0.1 {
                unstable += 1;
            }
        }
    }
    assert!(unstable > 0, "the plain law is as good: this test tests nothing");
}

// Checks: a load that the controller does not know, a box of 2 kg welded to the flange, is carried
// with the error M^-1 tau / K_p of the torques tau = J^T (0, 0, m g) that it asks for.
#[test]
fn an_unknown_load_is_carried_with_its_closed_form_error() {
    let mut robot = robot("iiwa7.xml");
    let (mass, gains) = (2.0, [400.0, 40.0]);
    let mut builder = ModelBuilder::new(robot.system.model.gravity);
    for link in robot.system.model.links() {
        builder.add(link.clone()).unwrap();
    }
    let load = builder.add(free_link("load", mass, Vector3::repeat(0.01))).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[..7].copy_from_slice(&READY);
    let mut kinematics = Kinematics::new(&model);
    kinematics.update(&model, &state);
    let flange = model.link("flange").unwrap();
    let pose = *kinematics.pose(flange);
    let (t, r) = (pose.translation.vector, pose.rotation);
    state.q[7..].copy_from_slice(&[r.w, r.i, r.j, r.k, t.x, t.y, t.z]);
    let mut system = System::new(model);
    let weld = Equality::Weld { links: [Some(flange), Some(load)], frames: [Isometry3::identity(); 2] };
    system.equalities.push(weld);
    let path = JointTrajectory::hold(READY.to_vec()).unwrap();
    let control = InverseDynamics::new(&system.model, joints(&robot, gains, 7), path).unwrap();
    system.externals.push(Box::new(control));
    robot.state = state;
    let mut simulation =
        Simulation::new(system, NoContacts, Integrator::Fixed { step: 5e-3 }, robot.state).unwrap();
    simulation.advance_to(3.0).unwrap();
    let (model, state) = (&simulation.system().model, simulation.state());
    kinematics.update(model, state);
    let mut inertia = MassMatrix::default();
    mass_matrix(model, &kinematics, &mut inertia);
    let place = kinematics.pose(flange).translation.vector;
    let jacobian = point_jacobian(model, &kinematics, flange, &place);
    let torques = DVector::from_fn(7, |i, _| jacobian[(5, i)] * mass * G);
    let expected = inertia.block(0).into_owned().cholesky().unwrap().solve(&torques) / gains[0];
    assert!(expected.amax() > 1e-2);
    for i in 0..7 {
        let error = READY[i] - state.q[i];
        assert!((error - expected[i]).abs() < 1e-6, "{i}: {error} {}", expected[i]);
    }
}

// Checks: a demand above the limit gets the limit: a turning rod without gravity has the constant
// acceleration e/I, and v = e t/I to rounding. With a spring and damping on the joint, and no
// target but the present, those are made up for: it stays at its speed.
#[test]
fn inverse_dynamics_has_its_limit_and_makes_up_for_springs() {
    let rod = |dof| Link {
        name: "rod".into(),
        parent: None,
        joint: JointKind::Revolute { axis: Vector3::y_axis() },
        frame: Isometry3::identity(),
        inertia: RigidInertia::at_center(1.0, Vector3::x(), Matrix3::identity()),
        gravity: true,
        dofs: vec![dof],
    };
    let simulate = |dof, gravity, joint, rate| {
        let mut builder = ModelBuilder::new(Vector3::z() * gravity);
        builder.add(rod(dof)).unwrap();
        let mut system = System::new(builder.build().unwrap());
        let mut state = system.model.zero_configuration();
        state.v[0] = rate;
        let path = JointTrajectory::hold(vec![100.0]).unwrap();
        system.externals.push(Box::new(InverseDynamics::new(&system.model, vec![joint], path).unwrap()));
        let mut simulation =
            Simulation::new(system, NoContacts, Integrator::Fixed { step: 1e-3 }, state).unwrap();
        simulation.advance_to(0.5).unwrap();
        simulation.state().clone()
    };
    let mut joint =
        ControlledJoint { link: LinkId(0), dof: 0, stiffness: 1e3, damping: 10.0, effort_limit: 3.0 };
    let state = simulate(Dof::default(), 0.0, joint, 0.0);
    assert!((state.v[0] / (3.0 * 0.5 / 2.0) - 1.0).abs() < 1e-12, "{state:?}");

    (joint.stiffness, joint.damping, joint.effort_limit) = (0.0, 0.0, f64::INFINITY);
    let dof = Dof { damping: 2.0, stiffness: 30.0, reference: 0.4, armature: 0.1, ..Dof::default() };
    let state = simulate(dof, -G, joint, 0.7);
    // Gravity's part lags by the turn of a step: m g d (1 kg, 1 m) times the turn, for half a
    // second, over I of 2.1.
    assert!((state.v[0] - 0.7).abs() < G * 0.7e-3 * 0.5 / 2.1, "{state:?}");
}

// Invalid input is refused, with the item, the field and its value.
#[test]
fn what_cannot_be_controlled_is_refused() {
    let robot = robot("iiwa7.xml");
    let model = &robot.system.model;
    let good = joints(&robot, [1.0, 1.0], 7);
    type Spoil = fn(&mut Vec<ControlledJoint>);
    let cases: [(Spoil, &str); 6] = [
        (|j| j[2].link = LinkId(99), "joint 2, link: 99"),
        (|j| j[2].dof = 1, "joint 2, dof: 1"),
        (|j| j[3] = j[1], "joint 3, dof: 0  must be named once"),
        (|j| j[0].stiffness = -1.0, "joint 0, stiffness: -1 1/s^2"),
        (|j| j[0].effort_limit = f64::NAN, "joint 0, effort limit: NaN"),
        (|j| j.truncate(3), "path: 7 joints"),
    ];
    for (spoil, words) in cases {
        let mut joints = good.clone();
        spoil(&mut joints);
        let path = JointTrajectory::hold(READY.to_vec()).unwrap();
        let error = InverseDynamics::new(model, joints, path).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let path = JointTrajectory::hold(READY.to_vec()).unwrap();
    let control = InverseDynamics::new(model, good, path).unwrap();
    assert!(control.with_period(-1.0).unwrap_err().to_string().contains("period: -1 s"));
    let paths = [
        (JointTrajectory::linear(vec![], vec![]), "set points: 0"),
        (JointTrajectory::linear(vec![0.0, 1.0], vec![vec![0.0]]), "positions: 1"),
        (JointTrajectory::cubic(vec![1.0, 1.0], vec![vec![0.0], vec![1.0]]), "time: 1 s"),
        (JointTrajectory::cubic(vec![0.0, 1.0], vec![vec![0.0], vec![1.0, 2.0]]), "position: 2 numbers"),
        (JointTrajectory::hermite(vec![0.0], vec![vec![0.0]], vec![vec![f64::NAN]]), "rate: NaN"),
    ];
    for (path, words) in paths {
        let error = path.unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}
