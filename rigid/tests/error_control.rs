//! Error control.
//!
//! What the method promises is local (Kurtz and Castro 2025, sections V-A and V-E): the positions
//! at the end of one accepted step differ from the exact ones, begun at the same state, by at most
//! the accuracy. That is an estimate, the leading term of a series, and so it holds while the
//! motion is smooth. In a step in which a contact begins or ends it does not: both trials may miss
//! the same impact.
//!
//! The error of a whole run is something else: the local ones, each carried on by the motion, which
//! may shrink it (a box that comes to rest) or let it grow. Velocities are not controlled: a bounce
//! that loses speed within the accuracy of its positions is off by that loss times the flight after
//! it. So the law tested is the local one, in every step of a run; of whole runs, that the errors
//! are within the sum of the local ones where nothing amplifies them, and that they fall with the
//! accuracy at the rate of the scheme, its square root at first order, where something does.

use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::floor::{Floor, box_on_floor, free_link};

const G: f64 = 9.81;

fn down() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G)
}

fn controlled(accuracy: f64) -> Integrator {
    Integrator::ErrorControlled { accuracy, max_step: 0.1 }
}

fn trapezoid(accuracy: f64) -> Integrator {
    Integrator::Trapezoid { step: 0.1, accuracy: Some(accuracy) }
}

/// A run whose every step was made again at an accuracy of 1e-8. Errors as parts of the accuracy.
#[derive(Debug, Default)]
struct Measured {
    steps: usize,
    /// Largest error of a step.
    largest: f64,
    /// Largest error of a step during which no contact begins or ends, and how many there are.
    smooth: f64,
    smooth_steps: usize,
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Runs a scene to `time` as `integrator(accuracy)`, and every step of it again at 1e-8.
/// `touching_in` gives the contacts of a state.
fn measure<S: ContactSource>(
    scene: impl Fn(Integrator) -> Simulation<S>,
    touching_in: fn(&State) -> u32,
    integrator: fn(f64) -> Integrator,
    accuracy: f64,
    time: f64,
) -> Measured {
    let mut run = scene(integrator(accuracy));
    let mut exact = scene(controlled(1e-8));
    let mut measured = Measured::default();
    while run.state().time < time {
        let before = run.save();
        // What it would try next; where that is rejected, the same stretch takes several steps.
        let until = (before.state.time + before.next_step.min(0.1)).min(time);
        let steps = run.advance_to(until).unwrap().steps;
        // Error control of the reference begins anew: its step is not that of the other.
        exact.restore(&Snapshot { next_step: 1e-5, ..before.clone() }).unwrap();
        let start = before.state.time;
        let mut changes = false;
        let touching = touching_in(&before.state);
        for k in 1..=16 {
            exact
                .advance_to(if k == 16 { until } else { start + (until - start) * f64::from(k) / 16.0 })
                .unwrap();
            changes |= touching_in(exact.state()) != touching;
        }
        changes |= touching_in(run.state()) != touching;
        let error = distance(&run.state().q, &exact.state().q) / accuracy;
        measured.steps += steps;
        let each = error / steps as f64;
        measured.largest = measured.largest.max(each);
        if !changes {
            measured.smooth = measured.smooth.max(each);
            measured.smooth_steps += steps;
        }
    }
    measured
}

/// A box that falls from 2 cm, tilted, at `speed` \[m/s\] along the floor: it bounces on its corners,
/// slides and stops.
fn sliding_box(integrator: Integrator, speed: f64) -> Simulation<Floor> {
    let (model, mut state, mut floor) = box_on_floor(down(), 0.4, 0.02);
    (floor.stiffness, floor.dissipation, floor.stiction_tolerance) = (1e5, 2.0, 1e-3);
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.05, 0.1, 0.0));
    state.q[..4].copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
    state.v[3] = speed;
    Simulation::new(System::new(model), floor, integrator, state).unwrap()
}

/// A ball of 1 kg that falls from 10 cm on a floor of 1e4 N/m and bounces.
fn dropped_ball(integrator: Integrator) -> Simulation<Floor> {
    let radius = 0.05;
    let mut builder = ModelBuilder::new(down());
    let link = builder.add(free_link("ball", 1.0, Vector3::repeat(1e-3))).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[6] = radius + 0.1;
    let floor = Floor {
        balls: vec![(link, Point3::origin(), radius)],
        stiffness: 1e4,
        dissipation: 0.5,
        static_friction: 0.3,
        dynamic_friction: 0.3,
        stiction_tolerance: 1e-3,
        torsional_friction: 0.0,
        rolling_friction: 0.0,
    };
    Simulation::new(System::new(model), floor, integrator, state).unwrap()
}

/// Two rods of 1 kg and 1 m, their joints as given.
fn chain(dof: Dof) -> Model {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3));
    let mut builder = ModelBuilder::new(down());
    let mut parent = None;
    for i in 0..2 {
        let link = Link {
            name: i.to_string(),
            parent,
            joint: JointKind::Revolute { axis: Vector3::y_axis() },
            frame: Isometry3::translation(0.0, 0.0, if i == 0 { 0.0 } else { -1.0 }),
            inertia: RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.5), inertia),
            gravity: true,
            dofs: vec![dof],
        };
        parent = Some(builder.add(link).unwrap());
    }
    builder.build().unwrap()
}

fn double_pendulum(integrator: Integrator) -> Simulation<NoContacts> {
    pendulum(Dof::default(), integrator)
}

/// The same with joints that are sprung and damped, so that the convex problem moves it.
fn sprung_pendulum(integrator: Integrator) -> Simulation<NoContacts> {
    pendulum(Dof { damping: 0.4, stiffness: 15.0, reference: 0.2, ..Dof::default() }, integrator)
}

fn pendulum(dof: Dof, integrator: Integrator) -> Simulation<NoContacts> {
    let model = chain(dof);
    let mut state = model.zero_configuration();
    state.q.copy_from_slice(&[1.0, 0.5]);
    Simulation::new(System::new(model), NoContacts, integrator, state).unwrap()
}

/// The corners that are in the floor, one a bit.
fn corners(state: &State) -> u32 {
    let q = &state.q;
    let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]));
    let mut set = 0;
    for (k, (x, y)) in [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)].into_iter().enumerate() {
        set |= u32::from((turn * Vector3::new(x, y, -0.05)).z + q[6] < 0.0) << k;
    }
    set
}

/// Above 1 by what the next term of the series adds.
const LOCAL: f64 = 1.15;
/// Where steps are as long as half a vibration of a box on its corners, no series counts: the
/// trapezoid rule's error is at most its difference from the first-order step, which is the estimate,
/// and that step's own error together. That the latter keeps [`LOCAL`] is taken from the first-order
/// rule, not shown.
const TRAPEZOID: f64 = 1.0 + LOCAL;

type Scheme = fn(f64) -> Integrator;

const SCHEMES: [Scheme; 2] = [controlled, trapezoid];

// Without contact every step keeps its promise: what nothing touches moves far better than asked
// for, and of what springs and dampers move the largest error of a step uses at least half of it by
// step doubling, or steps would be shorter than they need be; but for steps as long as they may be.
// (The trapezoid rule's estimate is that of the first-order step; what it keeps is better.)
#[test]
fn every_smooth_step_is_as_accurate_as_asked_for() {
    let mut used = Vec::new();
    for scheme in SCHEMES {
        for accuracy in [1e-1, 1e-2, 1e-3, 1e-4] {
            let measured = measure(double_pendulum, |_| 0, scheme, accuracy, 1.0);
            let name = scheme(accuracy);
            assert!(measured.largest < LOCAL, "{name:?}: {measured:?}");
            let measured = measure(sprung_pendulum, |_| 0, scheme, accuracy, 1.0);
            println!("sprung, {name:?}: {measured:?}");
            assert!(measured.largest < LOCAL, "sprung, {name:?}: {measured:?}");
            // A second in steps of 0.1 s, and the start.
            if measured.steps > 20 && matches!(name, Integrator::ErrorControlled { .. }) {
                used.push(measured.largest);
            }
        }
    }
    println!("{used:?}");
    assert!(used.len() >= 2 && used.iter().all(|largest| *largest > 0.5), "{used:?}");
}

// With contact, impacts excepted: in flight, within a contact that lasts several steps, sliding and
// at rest. Boxes of random speeds: of 24, the trapezoid rule left up to 1.6 times the accuracy in a
// single step of four.
#[test]
fn every_step_between_impacts_is_as_accurate_as_asked_for() {
    // Steps without an impact, at the loosest accuracy and at others: that there are enough for a
    // judgement.
    let mut substep_states = [0; 2];
    let seed = 21;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let speeds: Vec<f64> = (0..8).map(|_| 1.0 + 0.5 * random.signed()).collect();
    for scheme in SCHEMES {
        for accuracy in [1e-2, 1e-3, 1e-4] {
            let ball = measure(dropped_ball, |s| u32::from(s.q[6] < 0.05), scheme, accuracy, 0.6);
            let sliding = speeds.iter().map(|&speed| {
                let drop = move |integrator| sliding_box(integrator, speed);
                (format!("box of {speed} m/s"), measure(drop, corners, scheme, accuracy, 0.5))
            });
            for (name, measured) in sliding.chain([("ball".to_owned(), ball)]) {
                let vibrates = name != "ball" && scheme(accuracy) == trapezoid(accuracy);
                let most = if vibrates { TRAPEZOID } else { LOCAL };
                let name = format!("{name}, {:?}", scheme(accuracy));
                assert!(measured.smooth < most, "{name}: {measured:?}");
                substep_states[usize::from(accuracy < 1e-2)] += measured.smooth_steps;
                // An impact that both trials step over: no more than the motion itself in such a
                // step.
                assert!(measured.largest * accuracy < 5e-2, "{name}: {measured:?}");
            }
        }
    }
    assert!(substep_states[0] >= 10 && substep_states[1] >= 300, "{substep_states:?}");
}

// Whole runs. The pendulum does not amplify errors for a second: within the sum of what every step
// may leave. The ball's bounces do; there the error falls as the step does, with the square root of
// the accuracy (a factor of 3.2 a decade), and by the trapezoid rule it is smaller at the same
// accuracy.
#[test]
fn whole_runs_converge() {
    let run = |integrator| {
        let mut simulation = double_pendulum(integrator);
        let steps = simulation.advance_to(1.0).unwrap().steps;
        (simulation.state().q.clone(), steps)
    };
    let exact = run(controlled(1e-8)).0;
    let sprung = |integrator| {
        let mut simulation = sprung_pendulum(integrator);
        let steps = simulation.advance_to(1.0).unwrap().steps;
        (simulation.state().q.clone(), steps)
    };
    let exact_sprung = sprung(controlled(1e-8)).0;
    for scheme in SCHEMES {
        for accuracy in [1e-1, 1e-2, 1e-3, 1e-4] {
            let (q, steps) = run(scheme(accuracy));
            let error = distance(&q, &exact);
            assert!(error < accuracy * steps as f64, "{:?}: {error} in {steps} steps", scheme(accuracy));
            let (q, steps) = sprung(scheme(accuracy));
            let error = distance(&q, &exact_sprung);
            println!("sprung, {:?}: {} of the accuracy, {steps} steps", scheme(accuracy), error / accuracy);
            assert!(
                error < accuracy * steps as f64,
                "sprung, {:?}: {error} in {steps} steps",
                scheme(accuracy)
            );
        }
    }

    let height = |integrator| {
        let mut simulation = dropped_ball(integrator);
        simulation.advance_to(0.6).unwrap();
        simulation.state().q[6]
    };
    let exact = height(trapezoid(1e-8));
    let errors = [1e-6, 1e-7, 1e-8].map(|accuracy| (height(controlled(accuracy)) - exact).abs());
    for pair in errors.windows(2) {
        let factor = pair[0] / pair[1];
        assert!((2.0..5.0).contains(&factor), "{errors:?}");
    }
    let second = (height(trapezoid(1e-6)) - exact).abs();
    assert!(second < 0.1 * errors[0], "{second} {errors:?}");
}

/// Position control of both rods as a controller of the user's own, which error control knows
/// nothing about.
#[derive(Clone, Debug)]
struct Servo {
    gains: [f64; 2],
}

impl ExternalSystem for Servo {
    fn add_forces(&self, _: &Model, _: &Kinematics, state: &State, _: &[f64], forces: &mut [f64]) {
        for n in 0..2 {
            forces[n] += self.gains[0] * (TARGET - state.q[n]) - self.gains[1] * state.v[n];
        }
    }
}

const TARGET: f64 = 0.5;

/// Steps tried in 5 s of two rods held at [`TARGET`] against their weight, and where the first is
/// then.
fn hold(gain: f64, external: bool) -> (usize, f64) {
    let model = chain(Dof::default());
    let mut state = model.zero_configuration();
    state.q.fill(TARGET);
    let mut system = System::new(model);
    let damping = 2.0 * (gain * 5.0).sqrt();
    if external {
        system.externals.push(Box::new(Servo { gains: [gain, damping] }));
    } else {
        for l in 0..2 {
            let control = Control::Position { target: TARGET, target_rate: 0.0, stiffness: gain, damping };
            let (link, effort_limit) = (LinkId(l), f64::INFINITY);
            system.actuators.push(Actuator {
                link,
                dof: 0,
                control,
                effort_limit,
                gravity_compensation: false,
            });
        }
    }
    let mut simulation = Simulation::new(system, NoContacts, controlled(1e-3), state).unwrap();
    let summary = simulation.advance_to(5.0).unwrap();
    (summary.steps + summary.rejected, simulation.state().q[0])
}

// A controller of high gain costs no more steps than a soft one, at any gain, whether it is an
// actuator or a system outside. At 1e8 N m/rad an explicit controller would need steps below
// 2/omega, with omega^2 = 1e8/0.33 (the least of the joints' inertias is less still): 0.1 ms, some
// 40 000 of them.
#[test]
fn stiff_controllers_cost_no_more_steps_than_soft_ones() {
    for external in [false, true] {
        let (soft, _) = hold(1e2, external);
        for gain in [1e3, 1e4, 1e5, 1e6, 1e7, 1e8] {
            let (steps, q) = hold(gain, external);
            assert!(steps <= soft, "external {external}, gain {gain:e}: {steps} steps, {soft} at 1e2");
            // The weight of both rods bends the first joint by less than m g (1.5 m + 0.5 m)/K.
            assert!((q - TARGET).abs() < 2.0 * G / gain, "external {external}, gain {gain:e}: {q}");
        }
    }
}
