//! Dry friction of joints.

use super::constraint::{ConstraintPotential, Evaluation};
use super::contact::SIGMA;

/// Dry friction of a joint, with the same regularisation as that of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFrictionPotential {
    bound: f64,
    regularisation: f64,
    mobility: f64,
}

impl JointFrictionPotential {
    /// `force` is the largest it resists with \[N m, N\], `tolerance` the rate that still counts as
    /// rest \[rad/s, m/s\].
    pub fn new(force: f64, tolerance: f64, mobility: f64, dt: f64) -> Self {
        let bound = force * dt;
        Self { bound, regularisation: tolerance.max(SIGMA * mobility * bound), mobility }
    }

    /// Largest impulse it resists with \[N m s, N s\].
    pub(crate) fn bound(&self) -> f64 {
        self.bound
    }

    /// The inverse of the joint's effective inertia \[1/(kg m^2), 1/kg\].
    pub(crate) fn mobility(&self) -> f64 {
        self.mobility
    }
}

impl ConstraintPotential<1> for JointFrictionPotential {
    fn secant(&self, v: &[f64; 1]) -> [[f64; 1]; 1] {
        [[self.bound / v[0].hypot(self.regularisation)]]
    }

    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let eps = self.regularisation;
        let s = v[0].hypot(eps);
        let (c, e) = (self.bound / s, eps / s);
        Evaluation {
            potential: self.bound * v[0] * (v[0] / (s + eps)),
            impulse: [-c * v[0]],
            hessian: [[c * e * e]],
        }
    }
}
