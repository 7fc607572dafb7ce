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

    /// Upper bound of rho c^2 with rho the density at rest and c the speed of the fastest elastic
    /// wave where F is the deformation gradient, by the present distances \[Pa\]; lambda + 2 mu at
    /// the identity. Zero for models with a return mapping, which keeps F near the identity.
    ///
    /// A wave of direction n, now, has the direction M = F^T n / |F^T n| at rest, so that rho c^2 is
    /// |F^T n|^2 times the second derivative of the energy in the direction a (x) M, at most over
    /// unit vectors a and n. For a function of J that derivative is psi''(J) |cof(F) M|^2, and
    /// |cof(F) M| |F^T n| = J.
    fn wave_modulus(&self, _deformation_gradient: &Mat3<T>) -> T {
        T::splat(0.0)
    }
}

/// Upper bound of the square of the largest singular value of F, exact where the two smaller ones are
/// equal (Wolkowicz and Styan 1980): m + s sqrt(2), with m the mean of the squares of the singular
/// values and s their standard deviation.
#[inline(always)]
pub(super) fn largest_square<T: Real>(f: &Mat3<T>) -> T {
    let gram = Sym3::left_gram(f);
    let mean = gram.trace() * T::splat(1.0 / 3.0);
    let spread = gram.add_isotropic(-mean).norm_squared();
    mean + (spread * T::splat(2.0 / 3.0)).sqrt()
}
