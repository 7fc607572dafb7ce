//! Fixed corotated (Stomakhin et al. 2012) and linear corotated (Zong et al. 2024) elasticity.

use super::response::largest_square;
use super::{Constitutive, ConstitutiveResponse};
use crate::material::Elastic;
use pliant_numeric::linalg::{Mat3, Sym3};
use pliant_numeric::scalar::Real;
use pliant_numeric::svd::polar;

/// Fixed corotated elasticity: psi = mu |F - R|^2 + lambda/2 \[J - 1\]^2.
#[derive(Clone, Copy, Debug)]
pub struct FixedCorotated<T> {
    /// Shear modulus \[Pa\].
    pub mu: T,
    /// First Lame parameter \[Pa\].
    pub lambda: T,
}

/// Linear corotated elasticity: psi = mu |S - I|^2 + lambda/2 tr(S - I)^2 with S = R^T F.
#[derive(Clone, Copy, Debug)]
pub struct LinearCorotated<T> {
    /// Shear modulus \[Pa\].
    pub mu: T,
    /// First Lame parameter \[Pa\].
    pub lambda: T,
}

impl<T: Real> FixedCorotated<T> {
    /// From elastic constants.
    #[inline(always)]
    pub fn new(elastic: &Elastic) -> Self {
        Self { mu: T::splat(elastic.shear_modulus()), lambda: T::splat(elastic.lame_lambda()) }
    }
}

impl<T: Real> LinearCorotated<T> {
    /// From elastic constants.
    #[inline(always)]
    pub fn new(elastic: &Elastic) -> Self {
        Self { mu: T::splat(elastic.shear_modulus()), lambda: T::splat(elastic.lame_lambda()) }
    }
}

impl<T: Real> Constitutive<T> for FixedCorotated<T> {
    #[inline(always)]
    fn update(&self, trial: Mat3<T>, state: T, _substep: T) -> ConstitutiveResponse<T> {
        let r = polar(&trial);
        let j = trial.determinant();
        // F - R is exact where it is small, which F F^T - R F^T would not be.
        let shear = Sym3::from_symmetric_product(&(trial - r), &trial).scale(self.mu + self.mu);
        let pressure = self.lambda * (j - T::splat(1.0)) * j;
        ConstitutiveResponse {
            deformation_gradient: trial,
            kirchhoff_stress: shear.add_isotropic(pressure),
            state,
            dissipated: T::splat(0.0),
        }
    }

    #[inline(always)]
    fn energy_density(&self, deformation_gradient: &Mat3<T>, _state: T) -> T {
        let r = polar(deformation_gradient);
        let volume = deformation_gradient.determinant() - T::splat(1.0);
        self.mu * (*deformation_gradient - r).norm_squared() + T::splat(0.5) * self.lambda * volume * volume
    }

    /// 2 mu s^2 + lambda J^2 with s the largest stretch: |F - R|^2 has second derivatives of at most 2.
    #[inline(always)]
    fn wave_modulus(&self, deformation_gradient: &Mat3<T>) -> T {
        let j = deformation_gradient.determinant();
        let volumetric = self.lambda.max(T::splat(0.0)) * j * j;
        (self.mu + self.mu).mul_add(largest_square(deformation_gradient), volumetric)
    }
}

/// tr(S - I) = tr(R^T (F - R)) for orthogonal R, without cancellation near the identity.
#[inline(always)]
fn stretch_trace<T: Real>(f: &Mat3<T>, r: &Mat3<T>) -> T {
    let e = *f - *r;
    r.row(0).fused_dot(e.row(0)) + r.row(1).fused_dot(e.row(1)) + r.row(2).fused_dot(e.row(2))
}

impl<T: Real> Constitutive<T> for LinearCorotated<T> {
    #[inline(always)]
    fn update(&self, trial: Mat3<T>, state: T, _substep: T) -> ConstitutiveResponse<T> {
        let r = polar(&trial);
        let volumetric = self.lambda * stretch_trace(&trial, &r);
        let shear = Sym3::from_symmetric_product(&(trial - r), &trial).scale(self.mu + self.mu);
        let left_stretch = Sym3::from_symmetric_product(&r, &trial);
        ConstitutiveResponse {
            deformation_gradient: trial,
            kirchhoff_stress: shear + left_stretch.scale(volumetric),
            state,
            dissipated: T::splat(0.0),
        }
    }

    #[inline(always)]
    fn energy_density(&self, deformation_gradient: &Mat3<T>, _state: T) -> T {
        let r = polar(deformation_gradient);
        let trace = stretch_trace(deformation_gradient, &r);
        self.mu * (*deformation_gradient - r).norm_squared() + T::splat(0.5) * self.lambda * trace * trace
    }

    /// s^2 (2 mu + lambda + \[lambda tr(S - I) - 2 mu\] / (s_2 + s_3)), where the last term, if it is
    /// positive, is that of the rotation: the second derivative of tr S for a (x) M is at most the
    /// inverse of the sum of the two smaller stretches. |F| <= tr S <= sqrt(3) |F|, and (s_2 + s_3)^2
    /// >= |F|^2 - s^2. A negative lambda takes nothing away.
    #[inline(always)]
    fn wave_modulus(&self, deformation_gradient: &Mat3<T>) -> T {
        let zero = T::splat(0.0);
        let two_mu = self.mu + self.mu;
        let (square, norm) = (largest_square(deformation_gradient), deformation_gradient.norm_squared());
        let [lower, upper] = [1.0, 3.0].map(|factor| (norm * T::splat(factor)).sqrt() - T::splat(3.0));
        let pull = (self.lambda * lower).max(self.lambda * upper);
        let smaller = (norm - square).max(norm * T::splat(1e-6)).sqrt();
        let turning = (pull - two_mu).max(zero) / smaller;
        square * (two_mu + self.lambda.max(zero) + turning)
    }
}
