//! Repeatability of articulated bodies: a saved and restored run continues with the same bits.

use nalgebra::Vector3;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::floor::box_on_floor;

/// Pulls like a spring whose rest length is a state that creeps.
#[derive(Clone, Debug)]
struct Creep;

impl ExternalSystem for Creep {
    fn states(&self) -> usize {
        1
    }

    fn derivative(&self, _: &Model, _: &Kinematics, state: &State, x: &[f64], rate: &mut [f64]) {
        rate[0] = 3.0 * (state.q[4] - x[0]);
    }

    fn add_forces(&self, _: &Model, _: &Kinematics, state: &State, x: &[f64], forces: &mut [f64]) {
        forces[3] -= 4.0 * (state.q[4] - x[0]);
    }
}

// Checks: a snapshot holds everything. It goes through text, as a checkpoint does; the run from it,
// in a simulation that has been elsewhere meanwhile, equals the run that was never stopped, bit for
// bit. A box tumbles onto the floor, pulled by a system with a state.
#[test]
fn a_restored_run_continues_bit_for_bit() {
    for integrator in [
        Integrator::Fixed { step: 2e-3 },
        Integrator::ErrorControlled { accuracy: 1e-3, max_step: 0.05 },
        Integrator::Trapezoid { step: 2e-3, accuracy: None },
        Integrator::Trapezoid { step: 0.05, accuracy: Some(1e-3) },
    ] {
        let begin = || {
            let (model, mut state, floor) = box_on_floor(Vector3::new(0.0, 0.0, -9.81), 0.4, 0.2);
            state.v[..6].copy_from_slice(&[3.0, 1.0, 0.5, 1.0, 0.0, 0.0]);
            let mut system = System::new(model);
            system.externals.push(Box::new(Creep));
            Simulation::new(system, floor, integrator, state).unwrap()
        };
        let mut whole = begin();
        whole.advance_to(0.3).unwrap();
        let saved = serde_json::to_string(&whole.save()).unwrap();
        whole.advance_to(0.8).unwrap();

        let mut other = begin();
        other.advance_to(0.55).unwrap();
        other.restore(&serde_json::from_str(&saved).unwrap()).unwrap();
        other.advance_to(0.8).unwrap();
        assert_eq!(other.save(), whole.save(), "{integrator:?}");
        assert!(whole.state().q[6] < 0.12, "it has not reached the floor: {:?}", whole.state());

        let mut spoilt = whole.save();
        spoilt.external.push(0.0);
        assert!(other.restore(&spoilt).unwrap_err().to_string().contains("external states: 2"));
    }
}
