//! Holonomic constraints.

use super::constraint::{ConstraintPotential, Evaluation};
use super::near_rigid::near_rigid;
use crate::compliance::CompliantLine;

/// A holonomic constraint, one row: near-rigid or compliant, two-sided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HolonomicPotential {
    target: f64,
    stiffness: f64,
    error: f64,
}

impl HolonomicPotential {
    /// `error` \[m, rad\] is the constraint's value, which should be 0; `mobility` as in
    /// [`LimitPotential::new`](super::LimitPotential::new).
    pub fn new(error: f64, mobility: f64, dt: f64) -> Self {
        let (tau, r) = near_rigid(dt, mobility);
        Self { target: -error / (dt + tau), stiffness: 1.0 / r, error }
    }

    /// The same with a compliance.
    pub(crate) fn compliant(error: f64, line: CompliantLine) -> Self {
        Self { target: line.target, stiffness: line.gain, error }
    }

    /// The constraint's value \[m, rad\].
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// The same with an error greater by `more` \[m, rad\].
    pub fn shifted(self, more: f64, dt: f64) -> Self {
        let (tau, _) = near_rigid(dt, 1.0);
        Self { target: self.target - more / (dt + tau), error: self.error + more, ..self }
    }
}

impl ConstraintPotential<1> for HolonomicPotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let short = self.target - v[0];
        Evaluation {
            potential: 0.5 * self.stiffness * short * short,
            impulse: [self.stiffness * short],
            hessian: [[self.stiffness]],
        }
    }
}
