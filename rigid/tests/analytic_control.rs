//! Controllers and force elements of `control` against their equations.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod common;

use std::f64::consts::{PI, TAU};

use common::Random;
use common::floor::free_link;
use nalgebra::{DVector, Isometry3, Matrix3, Point3, Unit, Vector3};
use pliant_rigid::collision::{CollisionGeometry, ContactMaterial, Scene};
use pliant_rigid::control::*;
use pliant_rigid::import::{self, Imported};
use pliant_rigid::multibody::{
    Dof, ForceVector, JointKind, Kinematics, Link, LinkId, MassMatrix, ModelBuilder, RigidInertia,
    mass_matrix, point_jacobian,
};
use pliant_rigid::simulation::*;
use pliant_rigid::{ConvexHull, Shape};

const G: f64 = 9.81;

fn robot(file: &str) -> Imported {
    let mut robot = import::load(format!("{}/../scenes/models/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
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

// The law: positions, rates and accelerations of a path are derivatives of each other (central differences, step 1e-5: error below
// 1e-8 of them), hit the set points, and a cubic between two rests is p0 + (p1 - p0)(3 s^2 - 2 s^3).
#[test]
fn a_path_is_its_polynomial() {
    let times = vec![0.5, 1.5, 4.0];
    let points = vec![vec![1.0, -2.0], vec![0.0, 3.0], vec![0.5, 3.5]];
    let rates = vec![vec![0.1, 0.2], vec![-0.3, 0.0], vec![1.0, 2.0]];
    let cubic = Path::cubic(times.clone(), points.clone()).unwrap();
    for path in [
        &cubic,
        &Path::linear(times.clone(), points.clone()).unwrap(),
        &Path::hermite(times.clone(), points.clone(), rates.clone()).unwrap(),
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
    let hermite = Path::hermite(times, points, rates).unwrap();
    assert!(
        (hermite.at(1, 0.5)[1] - 0.2).abs() < 1e-14 && (hermite.at(0, 4.0 - 1e-12)[1] - 1.0).abs() < 1e-9
    );
}

/// Differences from the exact error dynamics while the arm goes from one set point to another, all joints at once, its
/// axes damped; the last joint is not driven by it but held by a motor.
fn tracking(gains: [f64; 2], integrator: Integrator) -> (Vec<f64>, usize) {
    let mut robot = robot("iiwa7.xml");
    let offset = 0.05;
    let path = Path::cubic(vec![0.0, 1.0], vec![READY[..6].to_vec(), THERE[..6].to_vec()]).unwrap();
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

// The law: e'' + K_d e' + K_p e = 0 for every joint, whatever the others do (Siciliano et al. 2009, equation 8.60). The step is of
// first order: the difference from the exact decay halves with it, and what extrapolation to no step leaves is of second order,
// the square of the coarse run's relative difference or less.
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

// The law: error control follows the same dynamics, closer with tighter accuracy, and the gains of the scene `franka`, whose rate of
// 1000/s no step follows, cost at most twice the steps of soft ones.
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

/// Largest position error of each step of a run of 2 s at steps of `step` that begins 0.02 rad off; ends where the simulation does.
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

// The law: at K_p = K_d = 1000 and steps of 10 ms (ten times the fast time constant) nothing grows; the slow root decays with
// 1.001/s as it should (implicit Euler at that rate: 0.5 % off in 2 s; coupling in the first steps: 5 %).
#[test]
fn stiff_inverse_dynamics_is_stable_at_long_steps() {
    let robot = robot("iiwa7.xml");
    let path = Path::hold(READY.to_vec()).unwrap();
    let control = InverseDynamics::new(&robot.system.model, joints(&robot, [1e3, 1e3], 7), path).unwrap();
    let errors = errors_at(robot, control, 0.01, &READY);
    assert!(largest(&errors) < 0.0201, "{:?}", &errors[..10]);
    let tail = &errors[50..];
    assert!(tail.windows(2).all(|pair| pair[1] < pair[0]), "{tail:?}");
    let rate = (tail[0] / tail[tail.len() - 1]).ln() / (0.01 * (tail.len() - 1) as f64);
    assert!((rate / 1.001 - 1.0).abs() < 0.05, "{rate}");
}

// The law: with a period, control is stable at steps of up to twice the period, at any posture and for any gains, also for an arm
// whose joints are coupled far more (no armature: the largest eigenvalue of diag(M)^-1 M is 3.4), where the gains as they are make a
// step of 10 ms unstable.
#[test]
fn a_digital_controller_is_stable_in_any_posture() {
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
            let path = Path::hold(start.clone()).unwrap();
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

// The law: a load that the controller does not know, a box of 2 kg welded to the flange, is carried with the error M^-1 tau / K_p of
// the torques tau = J^T (0, 0, m g) that it asks for.
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
    let mut state = model.rest();
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
    let path = Path::hold(READY.to_vec()).unwrap();
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

// The law: what asks for more than the limit gets the limit: a turning rod without gravity has the constant acceleration e/I, and
// v = e t/I to rounding. With a spring and damping on the joint, and no target but the present, those are made up for:
// it stays at its speed.
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
        let mut state = system.model.rest();
        state.v[0] = rate;
        let path = Path::hold(vec![100.0]).unwrap();
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
    // Gravity's part lags by the turn of a step: m g d (1 kg, 1 m) times the turn, for half a second, over I of 2.1.
    assert!((state.v[0] - 0.7).abs() < G * 0.7e-3 * 0.5 / 2.1, "{state:?}");
}

// What cannot be is refused, with the item, the figure and its value.
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
        let path = Path::hold(READY.to_vec()).unwrap();
        let error = InverseDynamics::new(model, joints, path).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let path = Path::hold(READY.to_vec()).unwrap();
    let control = InverseDynamics::new(model, good, path).unwrap();
    assert!(control.with_period(-1.0).unwrap_err().to_string().contains("period: -1 s"));
    let paths = [
        (Path::linear(vec![], vec![]), "set points: 0"),
        (Path::linear(vec![0.0, 1.0], vec![vec![0.0]]), "positions: 1"),
        (Path::cubic(vec![1.0, 1.0], vec![vec![0.0], vec![1.0]]), "time: 1 s"),
        (Path::cubic(vec![0.0, 1.0], vec![vec![0.0], vec![1.0, 2.0]]), "position: 2 numbers"),
        (Path::hermite(vec![0.0], vec![vec![0.0]], vec![vec![f64::NAN]]), "rate: NaN"),
    ];
    for (path, words) in paths {
        let error = path.unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let cup = Cup { link: LinkId(0), point: Point3::origin(), axis: Vector3::z_axis() };
    let target = |radius| SuctionTarget {
        link: LinkId(1),
        pose: Isometry3::identity(),
        shape: Shape::Sphere { radius },
    };
    let law = LAW;
    let suctions = [
        (Suction::new(model, vec![cup], vec![target(-1.0)], law, vec![]), "suction target 0, radius: -1 m"),
        (Suction::new(model, vec![cup], vec![target(1.0)], law, vec![[1.0, 1.0]]), "end: 1 s"),
        (
            Suction::new(model, vec![cup], vec![target(1.0)], law, vec![[0.0, 1.0], [0.5, 2.0]]),
            "start: 0.5 s",
        ),
        (Suction::new(model, vec![], vec![], SuctionLaw { range: 0.0, ..law }, vec![]), "range: 0 m"),
        (Suction::new(model, vec![Cup { link: LinkId(50), ..cup }], vec![], law, vec![]), "cup 0, link: 50"),
    ];
    for (suction, words) in suctions {
        let error = suction.unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let push = ForceVector::new(Vector3::zeros(), Vector3::x());
    let back = Wave::PiecewiseLinear { points: vec![(1.0, push), (0.5, push)] };
    let error = AppliedWave::new(model, LinkId(0), Point3::origin(), back).unwrap_err().to_string();
    assert!(error.contains("time: 0.5 s"), "{error}");
}

const LAW: SuctionLaw = SuctionLaw { max_force: 50.0, half_distance: 2e-3, range: 0.05 };

// The law: F_m at contact and inside, half at d_h, F_m d_h/d far away (off by d_h/d), nothing from the range on; it falls everywhere and
// is smooth: its slope has no jump (differences over 1e-6 m stay within the curvature, which is at most 2 F_m/d_h^2).
#[test]
fn suction_falls_with_distance() {
    assert_eq!(LAW.force(0.0), 50.0);
    assert_eq!(LAW.force(-0.01), 50.0);
    assert!((LAW.force(2e-3) - 25.0).abs() < 1e-12);
    let d = 0.03;
    assert!((LAW.force(d) * d / (50.0 * 2e-3) - 1.0).abs() < 2e-3 / d);
    assert_eq!(LAW.force(0.05), 0.0);
    assert_eq!(LAW.force(0.06), 0.0);
    let (mut last, mut slope) = (LAW.force(1e-7), None::<f64>);
    let h = 1e-6;
    for k in 1..60_000 {
        let force = LAW.force(1e-7 + h * f64::from(k));
        assert!(force <= last);
        let fresh = (force - last) / h;
        if let Some(old) = slope {
            assert!((fresh - old).abs() < 2.0 * 50.0 / (2e-3 * 2e-3) * h, "{k}: {old} {fresh}");
        }
        (last, slope) = (force, Some(fresh));
    }
}

fn solids() -> [Shape; 5] {
    let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]];
    let hull = ConvexHull::new(&corners.map(|c| Point3::from(c) * 0.03)).unwrap();
    [
        Shape::Sphere { radius: 0.02 },
        Shape::Box { half_extents: Vector3::new(0.02, 0.03, 0.01) },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.02, 0.03, 0.01) },
        Shape::Cylinder { radius: 0.02, half_length: 0.02 },
        Shape::ConvexHull(hull),
    ]
}

// The laws: what the target gets the cup loses, force and moment about the world's origin (Newton's third law, one line of action; to
// rounding); the force is F(d) cos along the surface's normal; a cup that looks away, or is switched off, pulls nothing.
#[test]
fn suction_acts_on_cup_and_target_alike() {
    let seed = 8;
    let mut random = Random::new(seed);
    let mut pulled = 0;
    for k in 0..200 {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        let cup = builder.add(free_link("cup", 1.0, Vector3::repeat(0.1))).unwrap();
        let body = builder.add(free_link("body", 1.0, Vector3::repeat(0.1))).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.rest();
        for link in [cup, body] {
            let (t, r) = (random.vector() * 0.04, random.rotation());
            state.q[model.positions_of(link)].copy_from_slice(&[r.w, r.i, r.j, r.k, t.x, t.y, t.z]);
        }
        let shape = solids()[k % 5].clone();
        let place = Isometry3::from_parts((random.vector() * 0.02).into(), random.rotation());
        let (point, axis) = (Point3::from(random.vector() * 0.02), Unit::new_normalize(random.vector()));
        let cups = vec![Cup { link: cup, point, axis }];
        let targets = vec![SuctionTarget { link: body, pose: place, shape: shape.clone() }];
        let suction = Suction::new(&model, cups, targets, LAW, vec![[1.0, 2.0]]).unwrap();
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &state);
        let mut forces = vec![0.0; model.velocities()];
        suction.add_forces(&model, &kinematics, &state, &[], &mut forces);
        assert!(forces.iter().all(|f| *f == 0.0), "off before 1 s");
        state.time = 1.5;
        suction.add_forces(&model, &kinematics, &state, &[], &mut forces);

        let wrench = |link| {
            let f = &forces[model.velocities_of(link)];
            let force = Vector3::new(f[3], f[4], f[5]);
            let arm = kinematics.pose(link).translation.vector;
            (force, Vector3::new(f[0], f[1], f[2]) + arm.cross(&force))
        };
        let ((on_cup, cup_moment), (on_body, body_moment)) = (wrench(cup), wrench(body));
        assert!((on_cup + on_body).norm() < 1e-13, "seed {seed}, {k}");
        assert!((cup_moment + body_moment).norm() < 1e-13, "seed {seed}, {k}");

        let frame = kinematics.pose(body) * place;
        let from = kinematics.pose(cup) * point;
        let surface = shape.surface_point(&frame.inverse_transform_point(&from));
        let normal = frame * surface.normal.into_inner();
        let facing = -normal.dot(&(kinematics.pose(cup) * axis.into_inner()));
        let expected = normal * (LAW.force(surface.distance) * facing.max(0.0));
        assert!((on_body - expected).norm() < 1e-12, "seed {seed}, {k}: {on_body} {expected}");
        // On the line through the cup's opening.
        assert!((cup_moment - from.coords.cross(&on_cup)).norm() < 1e-12, "seed {seed}, {k}");
        pulled += usize::from(on_body.norm() > 1.0);
    }
    assert!(pulled > 30, "seed {seed}: {pulled}");
}

/// A plate that slides up and down with 3 x 2 bellows (springs of 1 N/m, damping 1, 10 mm of travel either way) whose cups hang 5 mm above
/// a box of 1 kg on the floor. The plate rises by 0.3 m between 0.5 and 1.5 s; the pump runs from 0.1 to 3 s.
fn vacuum(integrator: Integrator) -> Simulation<Collisions> {
    let slide = |name: String, parent, frame, mass: f64, dof| Link {
        name,
        parent,
        joint: JointKind::Prismatic { axis: Vector3::z_axis() },
        frame,
        inertia: RigidInertia::at_center(mass, Vector3::zeros(), Matrix3::identity() * (mass * 1e-4)),
        gravity: true,
        dofs: vec![dof],
    };
    let material =
        ContactMaterial { stiffness: 1e6, dissipation: 10.0, static_friction: 0.5, dynamic_friction: 0.5 };
    let solid = |name: String, link, shape| CollisionGeometry {
        name,
        link,
        pose: Isometry3::identity(),
        shape,
        material,
        group: 1,
        mask: 1,
        color: [180; 3],
    };
    let (half, tall) = (Vector3::new(0.1, 0.08, 0.05), 0.005);
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let height = Isometry3::translation(0.0, 0.0, 2.0 * half.z + 5e-3 + tall + 0.05);
    let plate = builder.add(slide("plate".into(), None, height, 2.0, Dof::default())).unwrap();
    let mut geometries = vec![solid("floor".into(), None, Shape::HalfSpace)];
    let mut cups = Vec::new();
    for i in 0..6 {
        let (x, y) = (0.05 * (f64::from(i % 3) - 1.0), 0.06 * (f64::from(i / 3) - 0.5));
        let frame = Isometry3::translation(x, y, -0.05);
        let dof = Dof { damping: 1.0, stiffness: 1.0, limits: [-0.01, 0.01], ..Dof::default() };
        let link = builder.add(slide(format!("bellows {i}"), Some(plate), frame, 0.01, dof)).unwrap();
        let shape = Shape::Cylinder { radius: 0.01, half_length: tall };
        geometries.push(solid(format!("cup {i}"), Some(link), shape));
        cups.push(Cup { link, point: Point3::new(0.0, 0.0, -tall), axis: -Vector3::z_axis() });
    }
    let inertia = Vector3::new(0.16 * 0.16 + 0.01, 0.05, 0.04 + 0.16 * 0.16) / 12.0;
    let body = builder.add(free_link("box", 1.0, inertia)).unwrap();
    let shape = Shape::Box { half_extents: half };
    geometries.push(solid("box".into(), Some(body), shape.clone()));
    let model = builder.build().unwrap();
    let mut state = model.rest();
    state.q[model.positions_of(body)][6] = half.z;
    let mut system = System::new(model);
    let model = &system.model;
    let targets = vec![SuctionTarget { link: body, pose: Isometry3::identity(), shape }];
    let suction = Suction::new(model, cups, targets, LAW, vec![[0.1, 3.0]]).unwrap();
    let joint =
        ControlledJoint { link: plate, dof: 0, stiffness: 1e4, damping: 2e2, effort_limit: f64::INFINITY };
    let path = Path::cubic(vec![0.5, 1.5], vec![vec![0.0], vec![0.3]]).unwrap();
    let lift = InverseDynamics::new(model, vec![joint], path).unwrap();
    system.externals.push(Box::new(suction));
    system.externals.push(Box::new(lift));
    let scene = Scene::new(geometries, &system.model, &[]).unwrap();
    Simulation::new(system, Collisions::new(scene, 1e-4), integrator, state).unwrap()
}

// The law: six cups lift a box of 1 kg and hold it where the plate, the bellows' stops (10 mm down) and the sag m g/(M K_p) of the
// plate under the unknown weight put it; everything is at rest then; switched off, it falls with g (the contacts that were
// pressed with 50 N each over 50 um give it a push of at most 6 sqrt(2 E m), m = 10 g: 3 cm/s).
#[test]
fn cups_lift_a_box_and_let_it_go() {
    for integrator in
        [Integrator::Fixed { step: 1e-3 }, Integrator::ErrorControlled { accuracy: 1e-4, max_step: 0.05 }]
    {
        let mut simulation = vacuum(integrator);
        let height = |s: &Simulation<Collisions>| s.state().q[s.system().model.positions() - 1];
        simulation.advance_to(0.09).unwrap();
        assert!((height(&simulation) - 0.05).abs() < 1e-4, "{integrator:?}: at the start");
        simulation.advance_to(2.9).unwrap();
        let sag = G / (2.06 * 1e4);
        let held = height(&simulation);
        assert!((held - (0.05 + 0.3 - 0.005 - sag)).abs() < 2e-4, "{integrator:?}: held at {held}");
        let fastest = largest(&simulation.state().v);
        assert!(fastest < 1e-3, "{integrator:?}: {fastest} m/s");
        // Newton on the box: what the cups pull and what their contacts push leave its weight.
        let pushed: f64 = simulation.contact_forces().map(|c| c.force.z.abs()).sum();
        // Error control at 1e-4 m leaves the stiff contacts' last tenth of a weight unresolved.
        let part = if matches!(integrator, Integrator::Fixed { .. }) { 0.01 } else { 0.1 };
        assert!((6.0 * 50.0 - pushed - G).abs() < part * G, "{integrator:?}: {pushed} N");

        simulation.advance_to(3.0).unwrap();
        simulation.advance_to(3.2).unwrap();
        let fallen = held - height(&simulation);
        assert!((fallen - G * 0.02).abs() < 0.03 * 0.2 + 2e-3, "{integrator:?}: {fallen} m in 0.2 s");
        simulation.advance_to(4.0).unwrap();
        assert!((height(&simulation) - 0.05).abs() < 1e-3, "{integrator:?}: on the floor again");
    }
}

/// A body without gravity that a wave acts on at `point`; its velocity at time `t`.
fn pushed(wave: Wave, point: Point3<f64>, step: f64, t: f64) -> Vec<f64> {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let link = builder.add(free_link("body", 2.0, Vector3::repeat(0.5))).unwrap();
    let mut system = System::new(builder.build().unwrap());
    let state = system.model.rest();
    system.externals.push(Box::new(AppliedWave::new(&system.model, link, point, wave).unwrap()));
    let mut simulation = Simulation::new(system, NoContacts, Integrator::Fixed { step }, state).unwrap();
    simulation.advance_to(t).unwrap();
    simulation.state().v.clone()
}

// The law: the impulse of half a period of a sine is amplitude T/pi, of force and torque. The steps add up a trapezoid (the ends are 0):
// off by (pi dt/T)^2/3 of it.
#[test]
fn half_a_period_gives_its_impulse() {
    let amplitude = ForceVector::new(Vector3::new(0.0, 0.3, 0.0), Vector3::new(10.0, 0.0, -4.0));
    let (frequency, step) = (0.5, 1e-3);
    let period = 1.0 / frequency;
    let wave = Wave::Sine { amplitude, frequency, phase: 0.0 };
    let v = pushed(wave, Point3::origin(), step, period / 2.0);
    let impulse = amplitude * (period / PI);
    let off = (PI * step / period).powi(2) / 3.0 * 1.01;
    for (found, wanted) in
        [(v[3] * 2.0, impulse.linear.x), (v[5] * 2.0, impulse.linear.z), (v[1] * 0.5, impulse.angular.y)]
    {
        assert!((found / wanted - 1.0).abs() < off, "{found} {wanted}");
    }
    // A quarter period on, it is a cosine; a whole period leaves nothing.
    let shifted = Wave::Sine { amplitude, frequency, phase: PI / 2.0 };
    assert!((shifted.at(0.3).linear.x - 10.0 * (TAU * 0.15).cos()).abs() < 1e-12);
    let v = pushed(shifted, Point3::origin(), step, period);
    assert!(v[3].abs() < 1e-9, "{v:?}");
}

// The law: a push of 10 N for 0.5 s between jumps, at a lever of 0.2 m, gives 5 N s and 1 N m s (the body hardly turns in that time); a
// ramp gives its area, right to the step's half times the change (implicit steps take the force at their end).
#[test]
fn pushes_and_ramps_give_their_area() {
    let push = |newton: f64| ForceVector::new(Vector3::zeros(), Vector3::x() * newton);
    let points = vec![(0.2, push(0.0)), (0.2, push(10.0)), (0.7, push(10.0)), (0.7, push(0.0))];
    let wave = Wave::PiecewiseLinear { points };
    assert_eq!([0.0, 0.2, 0.6999, 0.7, 3.0].map(|t| wave.at(t).linear.x), [0.0, 10.0, 10.0, 0.0, 0.0]);
    let v = pushed(wave.clone(), Point3::origin(), 1e-3, 1.0);
    // One step more or less at the jumps.
    assert!((v[3] * 2.0 - 5.0).abs() < 10.0 * 1.01e-3, "{v:?}");
    let heavy = Wave::PiecewiseLinear { points: vec![(0.0, push(0.01))] };
    let v = pushed(heavy, Point3::new(0.0, 0.2, 0.0), 1e-3, 1.0);
    assert!((v[2] * 0.5 + 0.2 * 0.01).abs() < 1e-6 && (v[3] * 2.0 - 0.01).abs() < 1e-12, "{v:?}");

    let ramp = Wave::PiecewiseLinear { points: vec![(0.0, push(0.0)), (1.0, push(6.0))] };
    assert!((ramp.at(0.25).linear.x - 1.5).abs() < 1e-15);
    let v = pushed(ramp, Point3::origin(), 1e-3, 1.0);
    assert!((v[3] * 2.0 - 3.0 - 0.5e-3 * 6.0).abs() < 1e-9, "{v:?}");

    let model = ModelBuilder::new(Vector3::zeros());
    let mut model = model;
    let link = model.add(free_link("body", 1.0, Vector3::repeat(1.0))).unwrap();
    let model = model.build().unwrap();
    let wave = AppliedWave::new(&model, link, Point3::origin(), wave).unwrap();
    assert_eq!([0.0, 0.2, 0.7].map(|t| wave.next_event(t)), [Some(0.2), Some(0.7), None]);
}
