//! The interface of constitutive models.

use pliant_numeric::linalg::{Mat3, Sym3};
use pliant_numeric::scalar::Real;

/// Response of a model to a trial deformation gradient.
#[derive(Clone, Copy, Debug)]
pub struct ConstitutiveResponse<T> {
    /// Elastic deformation gradient after the return mapping (no unit).
    pub deformation_gradient: Mat3<T>,
    /// Kirchhoff stress tau = J times the Cauchy stress \[Pa\], in the spatial frame.
    pub kirchhoff_stress: Sym3<T>,
    /// The history variable after the step.
    pub state: T,
    /// Elastic energy per rest volume dissipated by the return mapping [J/m^3]: that at the trial
    /// strain less that at the returned one. Zero without yielding, and for elastic models.
    pub dissipated: T,
}

/// A constitutive model.
///
/// `state` is the history variable, zero at the start. Von Mises: accumulated plastic strain
/// (no unit). Drucker-Prager: logarithmic volume gained in tension and not yet lost again
/// (Tampubolon et al. 2017). Elastic: unused.
pub trait Constitutive<T: Real>: Copy {
    /// Return mapping of the trial deformation gradient, then the Kirchhoff stress.
    fn update(&self, trial: Mat3<T>, state: T, substep: T) -> ConstitutiveResponse<T>;

    /// Elastic energy per rest volume \[J/m^3\]; zero at the identity.
    fn energy_density(&self, deformation_gradient: &Mat3<T>, state: T) -> T;
}
