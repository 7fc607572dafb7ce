//! Limits, couplers, loops, motors and controllers. (Error control is in `error_control.rs`.)

use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;

const G: f64 = 9.81;

/// A rod of 1 kg and 1 m that hangs by one end at `frame` on `parent`, turning about y.
fn rod(name: &str, parent: Option<LinkId>, frame: Isometry3<f64>, axis: Unit<Vector3<f64>>) -> Link {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3));
    Link {
        name: name.into(),
        parent,
        joint: JointKind::Revolute { axis },
        frame,
        inertia: RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.5), inertia),
        gravity: true,
        dofs: vec![Dof::default()],
    }
}

fn chain(links: usize) -> ModelBuilder {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let mut parent = None;
    for i in 0..links {
        let frame = Isometry3::translation(0.0, 0.0, if i == 0 { 0.0 } else { -1.0 });
        parent = Some(builder.add(rod(&i.to_string(), parent, frame, Vector3::y_axis())).unwrap());
    }
    builder
}

fn controlled(accuracy: f64) -> Integrator {
    Integrator::ErrorControlled { accuracy, max_step: 0.1 }
}

// A joint that falls onto its limit rests there within 1e-5 rad, at fixed and at controlled steps.
#[test]
fn a_joint_rests_on_its_limit() {
    for (lower, upper, start) in [(-0.3, 0.4, 1.0), (-0.3, 0.4, -1.0)] {
        for integrator in [Integrator::Fixed { step: 1e-3 }, controlled(1e-5)] {
            let mut builder = ModelBuilder::new(Vector3::new(-G * f64::signum(start), 0.0, 0.0));
            let mut link = rod("rod", None, Isometry3::identity(), Vector3::y_axis());
            link.dofs[0].limits = [lower, upper];
            builder.add(link).unwrap();
            let model = builder.build().unwrap();
            let mut state = model.zero_configuration();
            state.q[0] = 0.05;
            let mut simulation = Simulation::new(System::new(model), NoContacts, integrator, state).unwrap();
            simulation.advance_to(2.0).unwrap();
            let q = simulation.state().q[0];
            let limit = if start > 0.0 { upper } else { lower };
            assert!((q - limit).abs() < 1e-5, "{integrator:?}: {q} {limit}");
        }
    }
}

// The coupler keeps q_driven = ratio q_driver + offset within 1e-5 while both swing.
#[test]
fn a_coupler_holds_its_ratio() {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let a = builder.add(rod("a", None, Isometry3::identity(), Vector3::y_axis())).unwrap();
    let b = builder.add(rod("b", None, Isometry3::translation(0.0, 1.0, 0.0), Vector3::y_axis())).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    (state.q[0], state.q[1]) = (0.5, -0.9);
    let mut system = System::new(model);
    system.equalities.push(Equality::Coupler { driver: a, driven: b, ratio: -2.0, offset: 0.1 });
    let mut simulation =
        Simulation::new(system, NoContacts, Integrator::Fixed { step: 1e-3 }, state).unwrap();
    for k in 1..=100 {
        simulation.advance_to(f64::from(k) * 0.02).unwrap();
        let q = &simulation.state().q;
        assert!((q[1] + 2.0 * q[0] - 0.1).abs() < 1e-5, "{q:?}");
    }
}

// The loop of a four-bar linkage stays closed within 1e-5 m, by a ball constraint, a weld's axis
// free (a pin), and a bar of constant length; and it swings as its one degree of freedom lets it:
// all closures give the same motion.
#[test]
fn a_four_bar_linkage_stays_closed() {
    let mut ends = Vec::new();
    for kind in 0..2 {
        // A parallelogram of 1 m rods, 1 m wide: the middle rod hangs level.
        let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
        let left = builder.add(rod("left", None, Isometry3::identity(), Vector3::y_axis())).unwrap();
        let right = builder
            .add(rod("right", None, Isometry3::translation(1.0, 0.0, 0.0), Vector3::y_axis()))
            .unwrap();
        let frame = Isometry3::translation(0.0, 0.0, -1.0);
        let mut bar = rod("bar", Some(left), frame, Vector3::y_axis());
        let inertia = Matrix3::from_diagonal(&Vector3::new(1e-3, 1.0 / 12.0, 1.0 / 12.0));
        bar.inertia = RigidInertia::at_center(1.0, Vector3::new(0.5, 0.0, 0.0), inertia);
        let bar = builder.add(bar).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        let angle = 0.4;
        state.q.copy_from_slice(&[angle, angle, -angle]);
        let mut system = System::new(model);
        let links = [Some(bar), Some(right)];
        let points = [Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 0.0, -1.0)];
        system.equalities.push(if kind == 0 {
            Equality::Ball { links, points }
        } else {
            // The far end of the bar is 1 m from the pin of the right rod, wherever it hangs; the
            // rod itself swings by a coupler.
            let links = [Some(bar), None];
            Equality::Distance { links, points: [points[0], Point3::new(1.0, 0.0, 0.0)], distance: 1.0 }
        });
        if kind == 1 {
            system.equalities.push(Equality::Coupler {
                driver: left,
                driven: right,
                ratio: 1.0,
                offset: 0.0,
            });
        }
        let mut simulation =
            Simulation::new(system, NoContacts, Integrator::Fixed { step: 5e-4 }, state).unwrap();
        for k in 1..=40 {
            simulation.advance_to(f64::from(k) * 0.05).unwrap();
            let mut kinematics = Kinematics::new(&simulation.system().model);
            kinematics.update(&simulation.system().model, simulation.state());
            let gap = kinematics.pose(bar) * points[0] - kinematics.pose(right) * points[1];
            assert!(gap.norm() < 1e-5, "{kind}: {gap}");
        }
        ends.push(simulation.state().q[0]);
    }
    assert!((ends[0] - ends[1]).abs() < 1e-3, "{ends:?}");
}

// A weld holds a second rod as if it were one body: the pair falls as a rigid pendulum. The closed
// form is that of one rod, which the rod alone keeps to 1e-8 a step. By the trapezoid rule the pair
// does so to the second order. In first-order steps positions advance at the velocities of steps'
// ends: from rest they are ahead of the exact motion by up to half a step, v dt/2 at the rate v
// there; by less since the weight of the jointed half is that of half a step on, which slows a
// fall.
#[test]
fn a_weld_makes_two_bodies_one() {
    let time = 0.5;
    let swing = |welded: bool, integrator: Integrator| {
        let mut builder = chain(1);
        if welded {
            let mut free = rod("free", None, Isometry3::identity(), Vector3::y_axis());
            free.joint = JointKind::Free;
            free.dofs.clear();
            builder.add(free).unwrap();
        }
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        state.q[0] = 0.5;
        if welded {
            // The free rod lies in the hinged one.
            state.q[1..5].copy_from_slice(&[0.25_f64.cos(), 0.0, 0.25_f64.sin(), 0.0]);
        }
        let mut system = System::new(model);
        if welded {
            let frames = [Isometry3::identity(); 2];
            system.equalities.push(Equality::Weld { links: [Some(LinkId(0)), Some(LinkId(1))], frames });
        }
        let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
        simulation.advance_to(time).unwrap();
        (simulation.state().q[0], simulation.state().v[0])
    };
    let (exact, rate) = swing(false, Integrator::Fixed { step: 1e-3 });
    let second = swing(true, Integrator::Trapezoid { step: 1e-3, accuracy: None }).0 - exact;
    assert!(second.abs() < 1e-5, "trapezoid: {second}");
    let potential_offset = [1e-3, 5e-4].map(|step| {
        let off = swing(true, Integrator::Fixed { step }).0 - exact;
        println!("step {step}: {off:e}, half a step {:e}, trapezoid {second:e}", 0.5 * step * rate);
        assert!((0.0..1.0).contains(&(off / (0.5 * step * rate))), "step {step}: {off} {rate}");
        off
    });
    assert!(
        (potential_offset[0] / potential_offset[1] - 2.0).abs() < 0.02,
        "not of first order: {potential_offset:?}"
    );
}

// A motor gives its limit exactly, and no more, while its gain demands more.
#[test]
fn effort_is_clamped_exactly() {
    let model = chain(1).build().unwrap();
    let state = model.zero_configuration();
    let mut system = System::new(model);
    let control = Control::Position { target: 1.0, target_rate: 0.0, stiffness: 1e4, damping: 10.0 };
    let actuator =
        Actuator { link: LinkId(0), dof: 0, control, effort_limit: 3.0, gravity_compensation: false };
    system.actuators.push(actuator);
    let mut simulation =
        Simulation::new(system, NoContacts, Integrator::Fixed { step: 1e-3 }, state).unwrap();
    for k in 1..100 {
        simulation.advance_to(f64::from(k) * 1e-3).unwrap();
        assert_eq!(simulation.actuator_efforts().next().unwrap(), 3.0, "{k}");
    }
}

// Gravity compensation alone holds an arm where it is; PD control with it arrives without a sag.
#[test]
fn gravity_compensation_carries_the_weight() {
    let model = chain(3).build().unwrap();
    let mut state = model.zero_configuration();
    state.q.copy_from_slice(&[0.7, -0.4, 0.9]);
    let start = state.q.clone();
    let mut system = System::new(model);
    for l in 0..3 {
        let control = Control::Effort { effort: 0.0 };
        let actuator = Actuator {
            link: LinkId(l),
            dof: 0,
            control,
            effort_limit: f64::INFINITY,
            gravity_compensation: true,
        };
        system.actuators.push(actuator);
    }
    let mut simulation =
        Simulation::new(system, NoContacts, Integrator::Fixed { step: 1e-3 }, state).unwrap();
    simulation.advance_to(1.0).unwrap();
    for (q, start) in simulation.state().q.iter().zip(&start) {
        assert!((q - start).abs() < 1e-9, "{q} {start}");
    }
}

fn double_pendulum(integrator: Integrator, time: f64, damping: f64) -> (Vec<f64>, AdvanceSummary) {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    for mut link in chain(2).build().unwrap().links().to_vec() {
        link.dofs.iter_mut().for_each(|dof| dof.damping = damping);
        builder.add(link).unwrap();
    }
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q.copy_from_slice(&[1.0, 0.5]);
    let mut simulation = Simulation::new(System::new(model), NoContacts, integrator, state).unwrap();
    let summary = simulation.advance_to(time).unwrap();
    (simulation.state().q.clone(), summary)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

// On a double pendulum whose joints are stiffly damped, so that the convex problem has a part in
// it, tighter accuracy is closer to the solution at 1e-8, and so is a shorter fixed step, of first
// order or better. The error of one accepted step is within the accuracy (over many steps they add
// up). Without damping a step is exact: the contact-free motion, 1e-9 a step.
#[test]
fn error_falls_with_accuracy_and_step() {
    let time = 1.0;
    let (exact, _) = double_pendulum(controlled(1e-8), time, 1.0);
    let errors: Vec<f64> = [1e-1, 1e-3, 1e-5]
        .iter()
        .map(|&a| distance(&double_pendulum(controlled(a), time, 1.0).0, &exact))
        .collect();
    assert!(errors[0] > errors[1] && errors[1] > 3.0 * errors[2], "{errors:?}");
    let fixed = |step: f64| distance(&double_pendulum(Integrator::Fixed { step }, time, 1.0).0, &exact);
    let (coarse, fine) = (fixed(2e-3), fixed(1e-3));
    let order = (coarse / fine).log2();
    assert!(order > 0.9, "{coarse} {fine}: order {order}");
    let free = [1e-2, 1e-4].map(|step| double_pendulum(Integrator::Fixed { step }, time, 0.0).0);
    assert!(distance(&free[0], &free[1]) < 1e-6, "{free:?}");
    for accuracy in [1e-2, 1e-3, 1e-4, 1e-5] {
        // The first step from rest is the largest that the accuracy allows.
        let (found, summary) = double_pendulum(controlled(accuracy), 0.01, 1.0);
        let error = distance(&found, &double_pendulum(controlled(1e-9), 0.01, 1.0).0);
        assert!(error < accuracy * summary.steps as f64, "{accuracy}: {error} in {} steps", summary.steps);
    }
}

/// A PID controller of one joint, its integral a state of its own.
#[derive(Clone, Debug)]
struct Pid {
    target: f64,
    gains: [f64; 3],
}

impl ExternalSystem for Pid {
    fn states(&self) -> usize {
        1
    }

    fn derivative(&self, _: &Model, _: &Kinematics, state: &State, _: &[f64], rate: &mut [f64]) {
        rate[0] = self.target - state.q[0];
    }

    fn add_forces(&self, _: &Model, _: &Kinematics, state: &State, x: &[f64], forces: &mut [f64]) {
        let [p, i, d] = self.gains;
        forces[0] += p * (self.target - state.q[0]) + i * x[0] - d * state.v[0];
    }
}

// Checks: the integral takes up the weight, so the joint arrives exactly; x = m g d sin(target)/K_i
// at the end. A stiff one (a period of 6 ms) is stable at steps of 0.1 s: a wrong sign of K would
// not be.
#[test]
fn an_external_controller_with_a_state_is_implicit() {
    for (gains, step) in [([100.0, 50.0, 20.0], 1e-2), ([1e6, 1e6, 1e4], 0.1)] {
        let model = chain(1).build().unwrap();
        let state = model.zero_configuration();
        let mut system = System::new(model);
        system.externals.push(Box::new(Pid { target: 0.8, gains }));
        let mut simulation = Simulation::new(system, NoContacts, Integrator::Fixed { step }, state).unwrap();
        simulation.advance_to(60.0).unwrap();
        let q = simulation.state().q[0];
        assert!((q - 0.8).abs() < 1e-6, "{gains:?}: {q}");
        let weight = G * 0.5 * 0.8_f64.sin();
        let x = simulation.external_state()[0];
        assert!((gains[1] * x / weight - 1.0).abs() < 1e-4, "{gains:?}: {x}");
    }
}

/// Gives nothing but NaN.
#[derive(Clone, Debug)]
struct Broken;

impl ExternalSystem for Broken {
    fn add_forces(&self, _: &Model, _: &Kinematics, state: &State, _: &[f64], forces: &mut [f64]) {
        forces[0] = if state.time > 0.05 { f64::NAN } else { 0.0 };
    }
}

// Bad input: values out of range are refused before the first step; NaN from a controller ends in
// an error with its time, and the state stays the last good one.
#[test]
fn what_cannot_be_simulated_is_refused() {
    let start = |integrator, spoil: fn(&mut System, &mut State)| {
        let model = chain(2).build().unwrap();
        let mut state = model.zero_configuration();
        let mut system = System::new(model);
        spoil(&mut system, &mut state);
        Simulation::new(system, NoContacts, integrator, state).map(|_| ())
    };
    let good = Integrator::Fixed { step: 1e-3 };
    let actuator = |control, effort_limit| Actuator {
        link: LinkId(1),
        dof: 0,
        control,
        effort_limit,
        gravity_compensation: false,
    };
    assert!(start(good, |_, _| {}).is_ok());
    type Spoil = fn(&mut System, &mut State);
    let integrators = [
        (Integrator::Fixed { step: 0.0 }, "step"),
        (controlled(0.0), "accuracy"),
        (controlled(f64::NAN), "accuracy"),
        (Integrator::Trapezoid { step: -1.0, accuracy: None }, "step"),
        (Integrator::Trapezoid { step: 1.0, accuracy: Some(0.0) }, "accuracy"),
    ];
    for (integrator, word) in integrators {
        let error = start(integrator, |_, _| {}).unwrap_err().to_string();
        assert!(error.contains(word), "{word}: {error}");
    }
    let cases: [(Spoil, &str); 5] = [
        (|_, state| state.q[1] = f64::NAN, "positions"),
        (|_, state| state.v.push(0.0), "velocities"),
        (|system, _| system.applied.push(ForceVector::zero()), "one for every link"),
        (
            |system, _| {
                let (driver, driven) = (LinkId(0), LinkId(9));
                system.equalities.push(Equality::Coupler { driver, driven, ratio: 1.0, offset: 0.0 });
            },
            "equality 0, link: 9",
        ),
        (
            |system, _| {
                let (links, points) = ([Some(LinkId(0)), None], [Point3::origin(); 2]);
                system.equalities.push(Equality::Distance { links, points, distance: -1.0 });
            },
            "equality 0, distance: -1 m",
        ),
    ];
    for (spoil, word) in cases {
        let error = start(good, spoil).unwrap_err().to_string();
        assert!(error.contains(word), "{word}: {error}");
    }
    let gains = Control::Position { target: 0.0, target_rate: 0.0, stiffness: -1.0, damping: 0.0 };
    for (bad, word) in [
        (actuator(gains, 1.0), "stiffness: -1"),
        (actuator(Control::Effort { effort: 0.0 }, -1.0), "effort limit: -1"),
    ] {
        let model = chain(2).build().unwrap();
        let state = model.zero_configuration();
        let mut system = System::new(model);
        system.actuators.push(bad);
        let error = Simulation::new(system, NoContacts, good, state).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(word), "{word}: {error}");
    }
    let model = chain(1).build().unwrap();
    let state = model.zero_configuration();
    let mut system = System::new(model);
    system.externals.push(Box::new(Broken));
    let mut simulation =
        Simulation::new(system, NoContacts, Integrator::Fixed { step: 0.01 }, state).unwrap();
    let error = simulation.advance_to(1.0).unwrap_err();
    assert!(matches!(error, SimulationError::External { system: 0, index: 0, .. }), "{error}");
    assert!((simulation.state().time - 0.05).abs() < 0.011, "{}", simulation.state().time);
    assert!(simulation.state().q[0].is_finite());
}
