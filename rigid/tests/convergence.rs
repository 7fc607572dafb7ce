//! How fast the integrators converge: order 1 of the first-order scheme and of step doubling, order
//! 2 of the trapezoid rule, against the classical Runge-Kutta method on forward dynamics by
//! articulated bodies, which shares no code with either, and against closed forms.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::floor::{Floor, box_on_floor, free_link};

const G: f64 = 9.81;

fn down() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G)
}

fn fixed(step: f64) -> Integrator {
    Integrator::Fixed { step }
}

fn trapezoid(step: f64) -> Integrator {
    Integrator::Trapezoid { step, accuracy: None }
}

/// Step doubling with steps of `step`, after a few shorter ones: the accuracy, far above the square
/// of it, never binds, and is tight enough for the solver to solve.
fn doubling(step: f64) -> Integrator {
    Integrator::ErrorControlled { accuracy: 20.0 * step * step, max_step: step }
}

/// A rod of 1 kg and 1 m that hangs by one end.
fn rod(name: &str, parent: Option<LinkId>, joint: JointKind, dof: Dof) -> Link {
    let count = joint.velocities();
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3));
    Link {
        name: name.into(),
        parent,
        joint,
        frame: Isometry3::translation(0.0, 0.0, if parent.is_some() { -1.0 } else { 0.0 }),
        inertia: RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.5), inertia),
        gravity: true,
        dofs: vec![dof; count],
    }
}

/// Two rods in a row.
fn double_pendulum(joint: JointKind, dof: Dof) -> Model {
    let mut builder = ModelBuilder::new(down());
    let first = builder.add(rod("first", None, joint.clone(), dof)).unwrap();
    builder.add(rod("second", Some(first), joint, dof)).unwrap();
    builder.build().unwrap()
}

fn hinge() -> JointKind {
    JointKind::Revolute { axis: Vector3::y_axis() }
}

/// `n` steps of the classical Runge-Kutta method to `time`, for models whose velocities are the
/// rates of their positions. `forces` writes the joint forces besides springs and dampers.
fn runge_kutta(
    model: &Model,
    start: &State,
    time: f64,
    n: usize,
    forces: &dyn Fn(&State, &mut [f64]),
) -> State {
    assert_eq!(model.positions(), model.velocities());
    let (mut kinematics, mut work) = (Kinematics::new(model), ForwardDynamicsBuffers::default());
    let (mut effort, mut a) = (vec![0.0; model.velocities()], vec![0.0; model.velocities()]);
    let mut state = start.clone();
    let h = time / n as f64;
    for _ in 0..n {
        let begin = state.clone();
        let mut at = state.clone();
        for (potential_offset, weight) in [(0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)] {
            kinematics.update(model, &at);
            forces(&at, &mut effort);
            for (i, dof) in model.dofs().iter().enumerate() {
                effort[i] -= dof.stiffness * (at.q[i] - dof.reference) + dof.damping * at.v[i];
            }
            forward_dynamics(model, &kinematics, &effort, &[], &mut work, &mut a);
            for i in 0..a.len() {
                state.q[i] += h * weight / 6.0 * at.v[i];
                state.v[i] += h * weight / 6.0 * a[i];
                let v = at.v[i];
                at.q[i] = begin.q[i] + potential_offset * h * v;
                at.v[i] = begin.v[i] + potential_offset * h * a[i];
            }
        }
    }
    state
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Slopes between the errors of steps that are halved from `step` on, and the last error.
fn orders(step: f64, halvings: usize, error: impl Fn(f64) -> f64) -> (Vec<f64>, f64) {
    let errors: Vec<f64> = (0..=halvings).map(|k| error(step / f64::from(1 << k))).collect();
    (errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect(), errors[halvings])
}

fn assert_order(name: &str, (slopes, _): &(Vec<f64>, f64), range: core::ops::Range<f64>) {
    assert!(slopes.iter().all(|slope| range.contains(slope)), "{name}: slopes {slopes:?}");
}

fn run<S: ContactSource>(
    system: System,
    source: S,
    state: &State,
    integrator: Integrator,
    time: f64,
) -> State {
    let mut simulation = Simulation::new(system, source, integrator, state.clone()).unwrap();
    simulation.advance_to(time).unwrap();
    simulation.state().clone()
}

// Positions and velocities of a double pendulum that swings wide.
#[test]
fn a_double_pendulum_shows_the_order_of_each_scheme() {
    let time = 1.0;
    let model = || double_pendulum(hinge(), Dof::default());
    let mut start = model().zero_configuration();
    start.q.copy_from_slice(&[1.0, 0.5]);
    let exact = runge_kutta(&model(), &start, time, 4000, &|_, f| f.fill(0.0));
    let error = |integrator: Integrator| {
        let end = run(System::new(model()), NoContacts, &start, integrator, time);
        distance(&end.q, &exact.q).max(distance(&end.v, &exact.v))
    };
    // Nothing acts on it: all have its motion to 1e-9 a step, at any step; a thousand steps, 1e-6.
    for h in [8e-3, 1e-3] {
        for integrator in [fixed(h), doubling(h), trapezoid(h)] {
            println!("{integrator:?}: {:e}", error(integrator));
            assert!(error(integrator) < 1e-6, "{integrator:?}: {}", error(integrator));
        }
    }
    for accuracy in [1e-1, 1e-5] {
        let end = error(Integrator::ErrorControlled { accuracy, max_step: 0.1 });
        println!("{accuracy}: {end:e}");
        assert!(end < 1e-6, "{accuracy}: {end}");
    }
}

// The same with what else acts on joints: springs, dampers, and motors with position control.
#[test]
fn joints_and_motors_are_of_second_order() {
    let time = 0.5;
    let dof = Dof { damping: 0.4, stiffness: 15.0, reference: 0.2, armature: 0.05, ..Dof::default() };
    let (stiffness, damping) = (40.0, 3.0);
    let system = || {
        let mut system = System::new(double_pendulum(hinge(), dof));
        let control = Control::Position { target: -0.3, target_rate: 0.1, stiffness, damping };
        let link = LinkId(1);
        system.actuators.push(Actuator {
            link,
            dof: 0,
            control,
            effort_limit: f64::INFINITY,
            gravity_compensation: false,
        });
        system
    };
    let mut start = system().model.zero_configuration();
    start.q.copy_from_slice(&[1.0, 0.5]);
    start.v.copy_from_slice(&[-1.0, 2.0]);
    let exact = runge_kutta(&system().model, &start, time, 4000, &|state, f| {
        f.copy_from_slice(&[0.0, stiffness * (-0.3 - state.q[1]) + damping * (0.1 - state.v[1])]);
    });
    let error = |integrator: Integrator| {
        let end = run(system(), NoContacts, &start, integrator, time);
        distance(&end.q, &exact.q).max(distance(&end.v, &exact.v))
    };
    assert_order("first order", &orders(4e-3, 2, |h| error(fixed(h))), 0.9..1.1);
    assert_order("step doubling", &orders(4e-3, 2, |h| error(doubling(h))), 0.9..1.1);
    let second = orders(4e-3, 2, |h| error(trapezoid(h)));
    assert_order("trapezoid", &second, 1.8..2.2);
    assert!(second.1 < 0.05 * error(fixed(1e-3)), "{second:?} {}", error(fixed(1e-3)));

    // A tighter accuracy is closer: a decade of it is the square root of that of the step, a factor
    // of 3.2 at first order. (At 1e-1 steps are as long as they may be.)
    let errors = [1e-1, 1e-3, 1e-5]
        .map(|accuracy| error(Integrator::Trapezoid { step: 0.1, accuracy: Some(accuracy) }));
    assert!(errors[0] > 10.0 * errors[1] && errors[1] > 10.0 * errors[2], "{errors:?}");
    let errors = [1e-3, 1e-4, 1e-5, 1e-6]
        .map(|accuracy| error(Integrator::ErrorControlled { accuracy, max_step: 0.1 }));
    println!("{errors:?}");
    assert!(errors.windows(2).all(|pair| (2.0..5.0).contains(&(pair[0] / pair[1]))), "{errors:?}");
}

// A body that tumbles about no principal axis: quaternions and gyroscopic terms. Against steps so
// short that their error is 1e-4 of the others' (order 2).
#[test]
fn tumbling_is_of_second_order() {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    builder.add(free_link("top", 1.0, Vector3::new(0.01, 0.02, 0.025))).unwrap();
    let model = builder.build().unwrap();
    let mut start = model.zero_configuration();
    start.v[..3].copy_from_slice(&[0.1, 2.0, 0.2]);
    let end = |step: f64| {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        builder.add(free_link("top", 1.0, Vector3::new(0.01, 0.02, 0.025))).unwrap();
        run(System::new(builder.build().unwrap()), NoContacts, &start, trapezoid(step), 1.0)
    };
    let exact = end(5e-5);
    let slopes = orders(2e-2, 2, |h| distance(&end(h).q, &exact.q));
    assert_order("trapezoid", &slopes, 1.9..2.1);
}

// A holonomic constraint is of second order too: the second rod is a body of its own, hung on the
// first by a ball.
#[test]
fn a_constraint_is_of_second_order() {
    let time = 0.5;
    let reduced = double_pendulum(hinge(), Dof::default());
    let mut start = reduced.zero_configuration();
    start.q.copy_from_slice(&[1.0, 0.5]);
    let exact = runge_kutta(&reduced, &start, time, 4000, &|_, f| f.fill(0.0));
    let hung = || {
        let mut builder = ModelBuilder::new(down());
        let first = builder.add(rod("first", None, hinge(), Dof::default())).unwrap();
        let second = builder.add(rod("second", None, JointKind::Free, Dof::default())).unwrap();
        let mut system = System::new(builder.build().unwrap());
        let points = [Point3::new(0.0, 0.0, -1.0), Point3::origin()];
        system.equalities.push(Equality::Ball { links: [Some(first), Some(second)], points });
        system
    };
    let mut state = hung().model.zero_configuration();
    let (a, b) = (1.0_f64, 0.75_f64);
    state.q.copy_from_slice(&[a, b.cos(), 0.0, b.sin(), 0.0, -a.sin(), 0.0, -a.cos()]);
    let error = |integrator: Integrator| {
        let end = run(hung(), NoContacts, &state, integrator, time);
        (end.q[0] - exact.q[0]).abs().max((end.v[0] - exact.v[0]).abs())
    };
    assert_order("first order", &orders(4e-3, 2, |h| error(fixed(h))), 0.9..1.1);
    assert_order("trapezoid", &orders(8e-3, 3, |h| error(trapezoid(h))), 1.8..2.2);
}

/// A ball of 1 kg that touches the floor at 0.5 m/s, without gravity or dissipation.
fn bouncer() -> (Model, State, Floor) {
    let radius = 0.05;
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let link = builder.add(free_link("ball", 1.0, Vector3::repeat(1e-3))).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[6] = radius + 0.005;
    state.v[5] = -0.5;
    let floor = Floor {
        balls: vec![(link, Point3::origin(), radius)],
        stiffness: 1e4,
        dissipation: 0.0,
        static_friction: 0.0,
        dynamic_friction: 0.0,
        stiction_tolerance: 1e-4,
        torsional_friction: 0.0,
        rolling_friction: 0.0,
    };
    (model, state, floor)
}

// The paper's figure 8: the energy that an elastic bounce gains or loses falls with the square of
// the step by the trapezoid rule. Contact begins 10 ms after the start and lasts pi sqrt(m/k). The
// error of a kink depends on where in a step it falls, so the largest of several phases counts.
#[test]
fn an_elastic_bounce_keeps_energy_to_second_order() {
    let error = |integrator: Integrator| {
        let mut worst = 0.0_f64;
        for phase in 0..7 {
            let (model, mut state, floor) = bouncer();
            if let Integrator::Trapezoid { step, .. } | Integrator::Fixed { step } = integrator {
                state.q[6] += 0.5 * step * f64::from(phase) / 7.0;
            }
            let end = run(System::new(model), floor, &state, integrator, 0.06);
            assert!(end.q[6] > 0.05, "it is still in contact");
            worst = worst.max((end.v[5] * end.v[5] / 0.25 - 1.0).abs());
        }
        worst
    };
    let second = orders(1e-3, 3, |h| error(trapezoid(h)));
    let first = orders(1e-3, 3, |h| error(fixed(h)));
    let mean = |slopes: &[f64]| slopes.iter().sum::<f64>() / slopes.len() as f64;
    assert!((0.8..1.2).contains(&mean(&first.0)), "{first:?}");
    assert!((1.7..2.4).contains(&mean(&second.0)), "{second:?}");
    assert!(second.1 < 0.1 * first.1, "{second:?} {first:?}");
}

// Contact runs: a box dropped from 5 cm, tilted, comes to rest at the depth of its springs, at
// steps that resolve them and at steps that do not (four springs of 1e6 N/m under 1 kg: 3.1 ms),
// and with controlled steps.
#[test]
fn a_dropped_box_comes_to_rest() {
    let controlled = Integrator::Trapezoid { step: 0.02, accuracy: Some(1e-4) };
    for integrator in [trapezoid(2e-4), trapezoid(1e-3), trapezoid(5e-3), controlled] {
        let (model, mut state, floor) = box_on_floor(down(), 0.5, 0.05);
        let turn = nalgebra::UnitQuaternion::from_scaled_axis(Vector3::new(0.2, 0.1, 0.0));
        state.q[..4].copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
        let depth = G / (4.0 * floor.stiffness);
        let mut simulation = Simulation::new(System::new(model), floor, integrator, state).unwrap();
        simulation.advance_to(2.0).unwrap();
        let end = simulation.state();
        let fastest = end.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(fastest < 1e-4, "{integrator:?}: {fastest}");
        assert!(((0.05 - end.q[6]) / depth - 1.0).abs() < 0.01, "{integrator:?}: {}", 0.05 - end.q[6]);
        let carried: f64 = simulation.contact_forces().map(|c| c.force.z).sum();
        assert!((carried / G - 1.0).abs() < 1e-3, "{integrator:?}: {carried}");
    }
}

// The stopping distance under the trapezoid rule: v^2/(2 mu g). Sliding friction is constant, so
// the rule is exact but for the last step and the settling: 0.2 %.
#[test]
fn a_sliding_box_stops_where_friction_stops_it() {
    for mu in [0.2, 0.4, 0.7] {
        let exact = 4.0 / (2.0 * mu * G);
        let controlled = Integrator::Trapezoid { step: 0.02, accuracy: Some(1e-4) };
        for integrator in [trapezoid(1e-3), trapezoid(5e-3), controlled] {
            let (model, mut state, floor) = box_on_floor(down(), mu, 0.0);
            state.q[6] -= G / (4.0 * floor.stiffness);
            state.v[3] = 2.0;
            let end = run(System::new(model), floor, &state, integrator, 2.5);
            assert!((end.q[4] / exact - 1.0).abs() < 2e-3, "{integrator:?}, mu {mu}: {} {exact}", end.q[4]);
        }
    }
}
