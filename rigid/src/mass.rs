//! Mass and inertia of bodies.

use crate::error::RigidError;
use nalgebra::{Matrix3, Vector3};

/// Mass and inertia of a body. The origin of the body frame is the centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass \[kg\].
    pub mass: f64,
    /// Inertia about the body's origin, in the body frame \[kg m^2\].
    pub inertia: Matrix3<f64>,
}

impl MassProperties {
    /// Checks that a solid can have this mass and inertia: mass positive, inertia symmetric and
    /// positive definite, and no principal moment above the sum of the two others.
    ///
    /// # Errors
    /// [`RigidError::Value`] or [`RigidError::Inertia`] that name `body`.
    pub fn validate(&self, body: &str) -> Result<(), RigidError> {
        if !(self.mass.is_finite() && self.mass > 0.0) {
            return Err(RigidError::value(body, "mass", self.mass, "kg", "finite and positive"));
        }
        let refuse =
            |reason| Err(RigidError::Inertia { body: body.to_owned(), reason, inertia: self.inertia.into() });
        if !self.inertia.iter().all(|x| x.is_finite()) {
            return refuse("it is not finite");
        }
        let scale = self.inertia.abs().max();
        if (self.inertia - self.inertia.transpose()).abs().max() > 1e-9 * scale {
            return refuse("it is not symmetric");
        }
        let moments = self.inertia.symmetric_eigenvalues();
        // A moment this much smaller than the largest counts as 0.
        if moments.min() <= 1e-12 * scale {
            return refuse("it is not positive definite");
        }
        if !realisable(&moments, 0.0) {
            return refuse("one principal moment is larger than the sum of the two others");
        }
        Ok(())
    }
}

/// Whether principal moments are those of some distribution of mass: none is larger than the sum of
/// the two others. The allowance is for rounding in the file that gives the inertia; flat bodies
/// are exactly at the limit.
fn realisable(moments: &Vector3<f64>, rounding: f64) -> bool {
    moments.max() <= (moments.sum() - moments.max()) * (1.0 + 1e-6) + rounding
}

/// The same of a symmetric tensor about the centre of mass \[kg m^2\], known to `rounding`.
pub(crate) fn is_realisable(inertia: &Matrix3<f64>, rounding: f64) -> bool {
    realisable(&inertia.symmetric_eigenvalues(), rounding)
}
