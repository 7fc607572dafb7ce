//! Steps that end nowhere are errors that say whose.

use nalgebra::Vector3;
use pliant_rigid::collision::ContactMaterial;
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::ForceVector;
use pliant_rigid::simulation::{Integrator, Simulation, SimulationError, System};
use pliant_testing::comfree::{cube, down, on_floor};

/// A cube in the air that a force (N) along x acts on, advanced to `time`; what came, and the
/// position (m) after it.
fn pushed(
    solver: RigidSolver,
    integrator: Integrator,
    force: f64,
    time: f64,
) -> (Result<(), SimulationError>, f64, Vec<f64>) {
    let (model, state, source) = on_floor(down(), &[cube(0.1, 5.0)], ContactMaterial::with_friction(0.5));
    let mut system = System::new(model);
    system.solver = solver;
    system.applied = vec![ForceVector::new(Vector3::zeros(), Vector3::x() * force)];
    let mut simulation = Simulation::new(system, source, integrator, state).unwrap();
    let result = simulation.advance_to(time).map(|_| ());
    (result, simulation.state().time, simulation.state().q.clone())
}

// Checks: a body of one kilogram under F newtons has F dt more speed after a step. Where that is
// beyond 1e6 m/s the step is refused, in the first step as in the last, with the body, the time and
// the step; the state is that before it. A thousandth of the force is no error.
#[test]
fn a_body_faster_than_anything_is_an_error_in_any_step() {
    let dt = 1e-3;
    let closed = RigidSolver::ComFree(ComFreeSettings::default());
    let fixed = Integrator::Fixed { step: dt };
    let trapezoid = Integrator::Trapezoid { step: dt, accuracy: None };
    for (solver, integrator) in [(RigidSolver::Icf, fixed), (RigidSolver::Icf, trapezoid), (closed, fixed)] {
        // One step, and ten of which the last is the one.
        for (force, steps) in [(2e9, 1), (1.05e8, 10)] {
            let (result, at, q) = pushed(solver, integrator, force, dt * f64::from(steps));
            let Err(SimulationError::Diverged { time, step, body, quantity, value, .. }) = &result else {
                panic!("{solver:?} {integrator:?}: {result:?}")
            };
            assert_eq!((body.as_str(), *quantity), ("solid 0", "velocity"));
            assert!((step / dt - 1.0).abs() < 1e-9, "{step}");
            assert!((time - dt * f64::from(steps)).abs() < 1e-9 && *value > 1e6, "{time} {value}");
            assert!((at - dt * f64::from(steps - 1)).abs() < 1e-9, "the state is that before: {at}");
            assert!(q.iter().all(|x| x.is_finite()));
            let text = result.unwrap_err().to_string();
            assert!(text.contains("'solid 0'") && text.contains("shorter dt"), "{text}");
        }
        assert_eq!(pushed(solver, integrator, 2e6, dt).0, Ok(()));
    }
}
