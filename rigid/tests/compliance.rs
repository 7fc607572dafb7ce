//! Constraints with a compliance.

#![allow(clippy::unwrap_used)] // everything here runs in tests

use nalgebra::{Isometry3, Vector3};
use pliant_rigid::comfree::ImpedanceCurve;
use pliant_rigid::multibody::{Dof, JointKind, Link, LinkId, ModelBuilder, RigidInertia};
use pliant_rigid::simulation::{Equality, Integrator, NoContacts, Simulation, System};
use pliant_rigid::{Compliance, LimitCompliance};

const MASS: f64 = 2.0;
const GRAVITY: f64 = 9.81;

fn flat(d: f64) -> ImpedanceCurve {
    ImpedanceCurve { minimum: d, maximum: d, ..ImpedanceCurve::default() }
}

/// A mass on a slide along z.
fn slider(dof: Dof) -> System {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -GRAVITY));
    builder
        .add(Link {
            name: "mass".to_owned(),
            parent: None,
            joint: JointKind::Prismatic { axis: Vector3::z_axis() },
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(MASS, Vector3::zeros(), nalgebra::Matrix3::identity()),
            gravity: true,
            dofs: vec![dof],
        })
        .unwrap();
    System::new(builder.build().unwrap())
}

fn position(system: System, steps: usize, time: f64) -> f64 {
    let state = system.model.zero_configuration();
    let integrator = Integrator::Fixed { step: time / steps as f64 };
    let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
    simulation.advance_to(time).unwrap();
    simulation.state().q[0]
}

// Checks: a limit at rest carries the load m g = k d r/R, R = (1 - d)/d A (MuJoCo documentation,
// Computation, Solver parameters).
#[test]
fn a_limit_at_rest_carries_the_load() {
    for (d, mobility) in [(0.5, 0.3), (0.9, 0.5), (0.2, 2.0)] {
        let compliance = Compliance::of_time_constant(0.03, 1.0, flat(d), mobility);
        let limit = LimitCompliance { compliance, margin: 0.01 };
        let dof = Dof { limits: [0.0, 1.0], limit_compliance: Some(limit), ..Dof::default() };
        let depth = MASS * GRAVITY * (1.0 - d) / d * mobility / (compliance.stiffness * d);
        let q = position(slider(dof), 3000, 3.0);
        assert!((q - (0.01 - depth)).abs() < 1e-6 * depth, "d {d}: {q}, {}", 0.01 - depth);
    }
}

// Checks: the damped oscillator (m + M) x'' + M b x' + M k d x = -m g with the mass M = 1/R of the
// constraint; the error falls with the step at least at the first order.
#[test]
fn an_equality_is_a_damped_oscillator_with_its_mass() {
    let (d, mobility, time) = (0.6, 0.7, 0.1);
    let compliance = Compliance::of_time_constant(0.05, 0.4, flat(d), mobility);
    let added = d / ((1.0 - d) * mobility);
    let total = MASS + added;
    let spring = added * compliance.stiffness * d / total;
    let decay = 0.5 * added * compliance.damping / total;
    let omega = (spring - decay * decay).sqrt();
    let rest = -MASS * GRAVITY / total / spring;
    let swing = (omega * time).cos() + decay / omega * (omega * time).sin();
    let exact = rest * (1.0 - (-decay * time).exp() * swing);
    let error = |steps| {
        let mut system = slider(Dof::default());
        let (driver, driven) = (LinkId(0), LinkId(0));
        let held = Box::new(Equality::Coupler { driver, driven, ratio: 0.0, offset: 0.0 });
        system.equalities.push(Equality::Compliant { compliance, turning: 0.0, lever: 0.0, held });
        (position(system, steps, time) - exact).abs()
    };
    let (coarse, fine) = (error(50), error(200));
    assert!(coarse < 0.1 * rest.abs() && fine < 0.3 * coarse, "{exact}: {coarse} {fine}");
}
