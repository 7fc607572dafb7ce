//! Integrators.

use super::error::SimulationError;
use crate::comfree::{Form, Gains, RigidSolver};

/// Integrator of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Integrator {
    /// Fixed steps; the last before the requested time may be shorter.
    Fixed {
        /// The step \[s\].
        step: f64,
    },
    /// CENIC (Kurtz and Castro 2025): every step is taken once whole and once as two halves; the
    /// difference of the positions is the error, and the halves are kept.
    ///
    /// The accuracy is that of one step, and of positions only: errors of steps add up, and an
    /// error of the velocity in a bounce persists. Steps with lasting contact or without contact
    /// keep the accuracy; one in which contact begins may exceed it if both trials miss the impact.
    ErrorControlled {
        /// Largest error of a position in a step \[rad, m\].
        accuracy: f64,
        /// Longest step \[s\].
        max_step: f64,
    },
    /// CENIC's second-order trapezoid rule (section V-B there): the first-order step predicts, a
    /// second solve with the contacts found at its end corrects. Second order for two solves a step
    /// (three with holonomic constraints), and elastic bounces keep their energy; forces too stiff
    /// for the step are damped as at first order, and systems outside stay of first order.
    Trapezoid {
        /// The step \[s\]; the longest with an accuracy.
        step: f64,
        /// Largest difference of a position from the first-order step's \[rad, m\]; without it all
        /// steps are of one length.
        accuracy: Option<f64>,
    },
}

impl Integrator {
    /// Refuses integrators that a solver does not support: the closed-form one has no corrector,
    /// and error control only with contacts that do not depend on the step.
    pub(super) fn check_solver(&self, solver: &RigidSolver) -> Result<(), SimulationError> {
        let RigidSolver::ComFree(settings) = solver else { return Ok(()) };
        let reason = match (self, settings.form, settings.gains) {
            (Self::Fixed { .. }, ..) => return Ok(()),
            (Self::ErrorControlled { .. }, Form::Predicted, Gains::Physical { .. }) => return Ok(()),
            (Self::ErrorControlled { .. }, ..) => {
                "error control needs its predicted form with gains that do not change with the step"
            }
            (Self::Trapezoid { .. }, ..) => "it has no second-order corrector: use fixed steps",
        };
        Err(SimulationError::Integrator { reason })
    }

    pub(super) fn validate(&self) -> Result<(), SimulationError> {
        let positive = |field, value: f64, unit| {
            if value.is_finite() && value > 0.0 {
                Ok(())
            } else {
                Err(SimulationError::value("integrator", field, value, unit, "finite and positive"))
            }
        };
        match *self {
            Self::Fixed { step } => positive("step", step, "s"),
            Self::ErrorControlled { accuracy, max_step } => {
                positive("accuracy", accuracy, "")?;
                positive("max_step", max_step, "s")
            }
            Self::Trapezoid { step, accuracy } => {
                positive("step", step, "s")?;
                accuracy.map_or(Ok(()), |accuracy| positive("accuracy", accuracy, ""))
            }
        }
    }
}
