//! Motors on single degrees of freedom.

use super::error::SimulationError;
use crate::multibody::{JointKind, LinkId, Model, State};

/// Control of a motor. Units of a revolute joint; for a prismatic one m and N replace rad and N m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// A given effort \[N m\].
    Effort {
        /// The effort.
        effort: f64,
    },
    /// Proportional and derivative control.
    Position {
        /// Target position \[rad\].
        target: f64,
        /// Target rate there \[rad/s\].
        target_rate: f64,
        /// Stiffness K_p \[N m/rad\].
        stiffness: f64,
        /// Damping K_d \[N m s/rad\].
        damping: f64,
    },
    /// Follows a rate.
    Velocity {
        /// Target rate \[rad/s\].
        target: f64,
        /// K_d \[N m s/rad\].
        damping: f64,
    },
}

/// A motor on one degree of freedom of a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// The link whose joint it drives.
    pub link: LinkId,
    /// Which degree of freedom of that joint.
    pub dof: usize,
    /// Its control.
    pub control: Control,
    /// Effort limit in both directions \[N m\]; infinite without a limit.
    pub effort_limit: f64,
    /// Whether it compensates the gravity of all links beyond the joint, within its limit.
    pub gravity_compensation: bool,
}

impl Actuator {
    pub(super) fn validate(&self, model: &Model, index: usize) -> Result<(), SimulationError> {
        let fail = |field, value, unit, requirement| {
            Err(SimulationError::value(format!("actuator {index}"), field, value, unit, requirement))
        };
        let Some(link) = model.links().get(self.link.0) else {
            return fail("link", self.link.0 as f64, "", "a link of the model");
        };
        if self.dof >= link.joint.velocities() {
            return fail("dof", self.dof as f64, "", "a degree of freedom of its joint");
        }
        // An infinite limit means no limit.
        if self.effort_limit.is_nan() || self.effort_limit < 0.0 {
            return fail("effort limit", self.effort_limit, "N m or N", "not negative");
        }
        let finite = |field, x: f64| if x.is_finite() { Ok(()) } else { fail(field, x, "SI", "finite") };
        let gain = |field, x: f64| {
            if x.is_finite() && x >= 0.0 { Ok(()) } else { fail(field, x, "SI", "finite and not negative") }
        };
        match self.control {
            Control::Effort { effort } => finite("effort", effort),
            Control::Velocity { target, damping } => {
                finite("target", target)?;
                gain("damping", damping)
            }
            Control::Position { target, target_rate, stiffness, damping } => {
                finite("target", target)?;
                finite("target rate", target_rate)?;
                gain("stiffness", stiffness)?;
                gain("damping", damping)?;
                if matches!(link.joint, JointKind::Ball | JointKind::Free) {
                    return fail("target", target, "rad", "on a joint with a coordinate");
                }
                Ok(())
            }
        }
    }

    /// The degree of freedom in `v`.
    pub(super) fn velocity(&self, model: &Model) -> usize {
        model.velocities_of(self.link).start + self.dof
    }

    /// Effort at zero velocity at the end of a step, and the gain K with which it falls: control
    /// acts on the final position `q0 + dt v`.
    pub(super) fn linear(&self, model: &Model, state: &State, dt: f64) -> (f64, f64) {
        match self.control {
            Control::Effort { effort } => (effort, 0.0),
            Control::Velocity { target, damping } => (damping * target, damping),
            Control::Position { target, target_rate, stiffness, damping } => {
                let q = state.q[model.positions_of(self.link).start + self.dof];
                (stiffness * (target - q) + damping * target_rate, damping + dt * stiffness)
            }
        }
    }
}
