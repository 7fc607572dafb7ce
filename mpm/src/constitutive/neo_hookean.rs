//! Compressible neo-Hookean elasticity (Bonet and Wood, *Nonlinear Continuum Mechanics*, section
//! 6.4).

use super::response::largest_square;
use super::{Constitutive, ConstitutiveResponse};
use crate::material::Elastic;
use pliant_numeric::linalg::{Mat3, Sym3};
use pliant_numeric::scalar::Real;

/// Volume ratio J below which ln J is continued by its tangent.
///
/// The model is unchanged above it. Below, stress grows with |J| rather than without bound, so that
/// an explicit step which carries a particle past J = 0 leaves it in a state from which it is
/// pushed back.
pub const EXTENSION_VOLUME_RATIO: f64 = 0.1;

/// Neo-Hookean elasticity: psi = mu/2 (|F|^2 - 3) - mu L(J) + lambda/2 L(J)^2, where L is ln J,
/// continued by its tangent below [`EXTENSION_VOLUME_RATIO`].
#[derive(Clone, Copy, Debug)]
pub struct NeoHookean<T> {
    /// Shear modulus \[Pa\].
    pub mu: T,
    /// First Lame parameter \[Pa\].
    pub lambda: T,
}

impl<T: Real> NeoHookean<T> {
    /// From elastic constants.
    #[inline(always)]
    pub fn new(elastic: &Elastic) -> Self {
        Self { mu: T::splat(elastic.shear_modulus()), lambda: T::splat(elastic.lame_lambda()) }
    }
}

/// `(L(J), J L'(J))`; the second is 1 above the extension.
#[inline(always)]
fn extended_logarithm<T: Real>(j: T) -> (T, T) {
    let smallest = T::splat(EXTENSION_VOLUME_RATIO);
    // Zero above the extension, where (J, 1) is (J, J/J).
    let below = j.min(smallest) - smallest;
    let inverse = T::splat(1.0 / EXTENSION_VOLUME_RATIO);
    (below.mul_add(inverse, j.max(smallest).ln()), below.mul_add(inverse, T::splat(1.0)))
}

impl<T: Real> Constitutive<T> for NeoHookean<T> {
    #[inline(always)]
    fn update(&self, trial: Mat3<T>, state: T, _substep: T) -> ConstitutiveResponse<T> {
        let (log_j, slope) = extended_logarithm(trial.determinant());
        let isotropic = (self.lambda * log_j - self.mu) * slope;
        let kirchhoff_stress = Sym3::left_gram(&trial).scale(self.mu).add_isotropic(isotropic);
        ConstitutiveResponse {
            deformation_gradient: trial,
            kirchhoff_stress,
            state,
            dissipated: T::splat(0.0),
        }
    }

    #[inline(always)]
    fn energy_density(&self, deformation_gradient: &Mat3<T>, _state: T) -> T {
        let (log_j, _) = extended_logarithm(deformation_gradient.determinant());
        let half = T::splat(0.5);
        let distortion = deformation_gradient.norm_squared() - T::splat(3.0);
        self.mu * (half * distortion - log_j) + half * self.lambda * log_j * log_j
    }

    /// mu s^2 + max(mu + lambda (1 - ln J), 0) with s the largest stretch. Below the extension J^2 psi''(J) is
    /// smaller than at its end.
    #[inline(always)]
    fn wave_modulus(&self, deformation_gradient: &Mat3<T>) -> T {
        let one = T::splat(1.0);
        let log_j = deformation_gradient.determinant().max(T::splat(EXTENSION_VOLUME_RATIO)).ln();
        let volumetric = (self.mu + self.lambda * (one - log_j)).max(T::splat(0.0));
        self.mu.mul_add(largest_square(deformation_gradient), volumetric)
    }
}
