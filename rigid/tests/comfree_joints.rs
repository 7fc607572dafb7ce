//! Joints, motors and constraints under the closed-form solver, error control, and the response
//! that strong coupling needs.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_rigid::comfree::*;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_rigid::*;
use pliant_testing::Random;
use pliant_testing::comfree::*;
use pliant_testing::floor::{Floor, box_on_floor, free_link};

fn predicted() -> RigidSolver {
    RigidSolver::ComFree(ComFreeSettings::default())
}

/// A rod of 1 kg and 1 m that hangs by one end at `frame` on `parent`, turning about y.
fn rod(name: &str, parent: Option<LinkId>, frame: Isometry3<f64>) -> Link {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3));
    Link {
        name: name.into(),
        parent,
        joint: JointKind::Revolute { axis: Vector3::y_axis() },
        frame,
        inertia: RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.5), inertia),
        gravity: true,
        dofs: vec![Dof::default()],
    }
}

fn system(builder: ModelBuilder) -> System {
    let mut system = System::new(builder.build().unwrap());
    system.solver = predicted();
    system
}

fn started(system: System, q: &[f64], step: f64) -> Simulation<NoContacts> {
    let mut state = system.model.zero_configuration();
    state.q.copy_from_slice(q);
    Simulation::new(system, NoContacts, Integrator::Fixed { step }, state).unwrap()
}

// A joint that falls onto its limit rests there within 1e-5 rad; the published impedance sinks by
// the depth that carries the weight.
#[test]
fn a_joint_rests_on_its_limit() {
    for (settings, most) in
        [(ComFreeSettings::default(), 1e-5), (ComFreeSettings::published(0.5, 0.005), 0.05)]
    {
        for sign in [1.0, -1.0] {
            let mut builder = ModelBuilder::new(Vector3::new(-sign * G, 0.0, 0.0));
            let mut link = rod("rod", None, Isometry3::identity());
            link.dofs[0].limits = [-0.3, 0.4];
            builder.add(link).unwrap();
            let mut system = system(builder);
            system.solver = RigidSolver::ComFree(settings);
            let mut simulation = started(system, &[0.05], 1e-3);
            simulation.advance_to(3.0).unwrap();
            let beyond = sign * (simulation.state().q[0] - if sign > 0.0 { 0.4 } else { -0.3 });
            println!("{:?}: {beyond} rad beyond", settings.form);
            assert!(beyond.abs() < most, "{:?}: {beyond}", settings.form);
        }
    }
}

// Dry friction holds a joint up to its torque, and takes it from the motion beyond.
#[test]
fn a_dry_joint_holds_and_brakes() {
    // A flywheel (about y) of 1 kg m^2 with 2 N m of friction under a torque.
    for (torque, held) in [(1.9, true), (2.5, false)] {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        let mut link = rod("wheel", None, Isometry3::identity());
        link.inertia = RigidInertia::at_center(1.0, Vector3::zeros(), Matrix3::identity());
        link.dofs[0].friction_loss = 2.0;
        builder.add(link).unwrap();
        let mut system = system(builder);
        let control = Control::Effort { effort: torque };
        let (link, effort_limit) = (LinkId(0), f64::INFINITY);
        system.actuators.push(Actuator { link, dof: 0, control, effort_limit, gravity_compensation: false });
        let mut simulation = started(system, &[0.0], 2e-3);
        simulation.advance_to(1.0).unwrap();
        let v = simulation.state().v[0];
        let expected = if held { 1e-4 * torque / 2.0 } else { 0.5 };
        assert!((v / expected - 1.0).abs() < 1e-2, "{torque}: {v} {expected}");
    }
}

// A motor gives its limit exactly while its gain demands more, and carries a weight within it.
#[test]
fn effort_is_clamped_exactly() {
    let mut builder = ModelBuilder::new(down());
    builder.add(rod("rod", None, Isometry3::identity())).unwrap();
    let mut system = system(builder);
    let control = Control::Position { target: 1.0, target_rate: 0.0, stiffness: 1e4, damping: 10.0 };
    let (link, effort_limit) = (LinkId(0), 3.0);
    system.actuators.push(Actuator { link, dof: 0, control, effort_limit, gravity_compensation: false });
    let mut simulation = started(system, &[0.0], 1e-3);
    for k in 1..100 {
        simulation.advance_to(f64::from(k) * 1e-3).unwrap();
        assert!((simulation.actuator_efforts().next().unwrap() - 3.0).abs() < 1e-14, "{k}");
    }
    simulation.system_mut().actuators[0].effort_limit = 100.0;
    simulation.advance_to(2.0).unwrap();
    let q = simulation.state().q[0];
    let sag = 0.5 * G * q.sin() / 1e4;
    assert!((q - (1.0 - sag)).abs() < 1e-6, "{q}");
}

// A four-bar linkage stays closed; a coupler between two trees and a weld of two free bodies drift
// by what is said here.
#[test]
fn constraints_stay_closed() {
    let mut builder = ModelBuilder::new(down());
    let left = builder.add(rod("left", None, Isometry3::identity())).unwrap();
    let middle = builder.add(rod("middle", Some(left), Isometry3::translation(0.0, 0.0, -1.0))).unwrap();
    let right = builder.add(rod("right", Some(middle), Isometry3::translation(0.0, 0.0, -1.0))).unwrap();
    let mut closed = system(builder);
    // One tree: the loop's end is on the world.
    let (links, points) = ([Some(right), None], [Point3::new(0.0, 0.0, -1.0), Point3::new(1.0, 0.0, 0.0)]);
    closed.equalities.push(Equality::Ball { links, points });
    let angle = 0.4_f64;
    let turn = core::f64::consts::FRAC_PI_2;
    let mut simulation = started(closed, &[angle, -turn - angle, -turn + angle], 5e-4);
    let mut worst = 0.0_f64;
    for k in 1..=40 {
        simulation.advance_to(f64::from(k) * 0.05).unwrap();
        let mut kinematics = Kinematics::new(&simulation.system().model);
        kinematics.update(&simulation.system().model, simulation.state());
        worst = worst.max((kinematics.pose(right) * points[0] - points[1]).norm());
    }
    println!("loop of one tree: {worst} m");
    assert!(worst < 1e-5, "{worst}");

    let mut builder = ModelBuilder::new(down());
    let driver = builder.add(rod("a", None, Isometry3::identity())).unwrap();
    let driven = builder.add(rod("b", None, Isometry3::translation(0.0, 1.0, 0.0))).unwrap();
    let mut coupled = system(builder);
    coupled.equalities.push(Equality::Coupler { driver, driven, ratio: -2.0, offset: 0.1 });
    let mut simulation = started(coupled, &[0.5, -0.9], 1e-3);
    let mut worst = 0.0_f64;
    for k in 1..=100 {
        simulation.advance_to(f64::from(k) * 0.02).unwrap();
        let q = &simulation.state().q;
        worst = worst.max((q[1] + 2.0 * q[0] - 0.1).abs());
    }
    println!("coupler between trees: {worst} rad");
    assert!(worst < 1e-3, "{worst}");

    // Two free bodies of 1 kg, one beside the other, thrown with a turn.
    let mut builder = ModelBuilder::new(down());
    let a = builder.add(free_link("a", 1.0, Vector3::repeat(0.01))).unwrap();
    let b = builder.add(free_link("b", 1.0, Vector3::repeat(0.01))).unwrap();
    let mut welded = system(builder);
    let frames = [Isometry3::translation(0.1, 0.0, 0.0), Isometry3::translation(-0.1, 0.0, 0.0)];
    welded.equalities.push(Equality::Weld { links: [Some(a), Some(b)], frames });
    let mut state = welded.model.zero_configuration();
    state.q[11] = 0.2;
    state.v.copy_from_slice(&[0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.4, 0.8]);
    let mut simulation =
        Simulation::new(welded, NoContacts, Integrator::Fixed { step: 1e-3 }, state).unwrap();
    let mut worst = 0.0_f64;
    for k in 1..=100 {
        simulation.advance_to(f64::from(k) * 0.01).unwrap();
        let mut kinematics = Kinematics::new(&simulation.system().model);
        kinematics.update(&simulation.system().model, simulation.state());
        let apart = (kinematics.pose(a) * frames[0]).inverse() * (kinematics.pose(b) * frames[1]);
        worst = worst.max(apart.translation.vector.norm()).max(apart.rotation.angle());
    }
    println!("weld of two free bodies: {worst} m or rad");
    assert!(worst < 1e-3, "{worst}");
}

// Integrators that it cannot serve are refused; error control with physical gains keeps a box where
// it slides to.
#[test]
fn integrators_are_refused_or_served() {
    let run = |solver: ComFreeSettings, integrator: Integrator| {
        let (model, mut state, floor) = box_on_floor(down(), 0.4, 0.0);
        state.v[3] = 2.0;
        let mut system = System::new(model);
        system.solver = RigidSolver::ComFree(solver);
        let mut simulation = Simulation::new(system, floor, integrator, state)?;
        simulation.advance_to(2.0)?;
        Ok::<f64, SimulationError>(simulation.state().q[4])
    };
    let controlled = Integrator::ErrorControlled { accuracy: 1e-4, max_step: 0.05 };
    let trapezoid = Integrator::Trapezoid { step: 1e-3, accuracy: None };
    let refused = |result| matches!(result, Err(SimulationError::Integrator { .. }));
    assert!(refused(run(ComFreeSettings::default(), trapezoid)));
    assert!(refused(run(ComFreeSettings::published(0.3, 0.005), controlled)));
    let per_step = Gains::PerStep { stiffness: 20.0, damping: 0.4 };
    assert!(refused(run(ComFreeSettings { gains: per_step, ..ComFreeSettings::default() }, controlled)));
    let displacement = run(ComFreeSettings::default(), controlled).unwrap();
    println!("error control: {displacement} m of 0.5097");
    assert!((displacement / 0.5097 - 1.0).abs() < 0.02, "{displacement}");
    let bad = ComFreeSettings { facets: 3, ..ComFreeSettings::default() };
    let refusal = run(bad, Integrator::Fixed { step: 1e-3 }).unwrap_err().to_string();
    assert_eq!(refusal, "closed-form solver, facets: 3  must be even and in [4, 1024]");
}

// The response that strong coupling uses is that of a step: a box that sticks to the floor responds
// to impulses with its contacts' gains.
#[test]
fn the_answer_is_what_the_step_does() {
    let mut random = Random::new(5);
    for case in 0..10 {
        let (model, mut state, floor) = box_on_floor(down(), 0.8, 0.0);
        state.q[6] -= 5e-4;
        let mut system = System::new(model);
        system.solver = predicted();
        system.applied = vec![ForceVector::zero()];
        let mut simulation = Simulation::new(system, floor, Integrator::Fixed { step: 2e-3 }, state).unwrap();
        simulation.advance_to(0.1).unwrap();
        let before = simulation.state().clone();
        let point = Vector3::from_row_slice(&before.q[4..7]);
        let mut response = LinearResponse::default();
        simulation.linearise_response(2e-3, &[(LinkId(0), point)], &mut response).unwrap();
        let push = ForceVector::new(random.vector() * 0.05, random.vector());
        simulation.system_mut().applied[0] = push;
        simulation.advance_to(0.102).unwrap();
        let p = push.to_vector() * 2e-3;
        for i in 0..6 {
            let answer: f64 = (0..6).map(|j| response.mobility[6 * i + j] * p[j]).sum();
            let error = before.v[i] + response.change[i] + answer - simulation.state().v[i];
            // Friction's gain is proportional to the normal impulse, which the response treats as
            // constant.
            assert!(error.abs() < 5e-5, "case {case} component {i}: {error:e}");
        }
    }
}

// The joints' reactions: a plate welded to the world passes the weight of what rolls to rest on it,
// and the moment of its friction.
#[test]
fn contact_wrenches_have_the_moments_of_friction() {
    let mut builder = ModelBuilder::new(down());
    let mut lift = free_link("lift", 0.0, Vector3::zeros());
    (lift.inertia, lift.joint) = (RigidInertia::zero(), JointKind::Prismatic { axis: Vector3::z_axis() });
    lift.frame = Isometry3::translation(0.0, 0.0, 0.05);
    let lift = builder.add(lift).unwrap();
    let mut ball = body("ball", &Shape::Sphere { radius: 0.05 });
    (ball.joint, ball.parent) = (JointKind::Revolute { axis: Vector3::z_axis() }, Some(lift));
    let mass = ball.inertia.mass;
    let ball = builder.add(ball).unwrap();
    let mut system = system(builder);
    system.model.gravity = down();
    let floor = Floor {
        balls: vec![(ball, Point3::origin(), 0.05)],
        stiffness: 1e6,
        dissipation: 0.0,
        static_friction: 0.5,
        dynamic_friction: 0.5,
        stiction_tolerance: 1e-4,
        torsional_friction: 0.002,
        rolling_friction: 0.0,
    };
    let mut state = system.model.zero_configuration();
    state.v[1] = 30.0;
    let mut simulation = Simulation::new(system, floor, Integrator::Fixed { step: 1e-3 }, state).unwrap();
    simulation.advance_to(0.5).unwrap();
    let wrench = simulation.contact_wrenches()[ball.0];
    assert!((wrench.linear.z / (mass * G) - 1.0).abs() < 1e-6, "{wrench:?}");
    assert!((wrench.angular.z / (-0.002 * mass * G) - 1.0).abs() < 1e-6, "{wrench:?}");
    let reaction = simulation.joint_reactions()[ball.0];
    assert!(reaction.angular.z.abs() < 1e-9, "about its axis the joint passes nothing: {reaction:?}");
}
