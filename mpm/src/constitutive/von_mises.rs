//! Von Mises plasticity over Hencky elasticity, perfectly plastic.

use super::hencky::{Hencky, Principal, principal};
use super::{Constitutive, ConstitutiveResponse};
use crate::material::Elastic;
use pliant_numeric::linalg::Mat3;
use pliant_numeric::scalar::Real;

/// Von Mises plasticity: |dev tau| <= sqrt(2/3) sigma_Y, radial return in Hencky strain (Simo and
/// Hughes, *Computational Inelasticity*, box 9.1 without hardening).
#[derive(Clone, Copy, Debug)]
pub struct VonMises<T> {
    /// Elastic response below yield.
    pub elastic: Hencky<T>,
    /// Largest |dev e| of the Hencky strain: sqrt(2/3) sigma_Y / (2 mu) (no unit).
    pub yield_strain: T,
}

impl<T: Real> VonMises<T> {
    /// From elastic constants and the yield stress in uniaxial tension \[Pa\].
    #[inline(always)]
    pub fn new(elastic: &Elastic, yield_stress: f64) -> Self {
        let mu = elastic.shear_modulus();
        Self {
            elastic: Hencky { mu: T::splat(mu), lambda: T::splat(elastic.lame_lambda()) },
            yield_strain: T::splat((2.0_f64 / 3.0).sqrt() * yield_stress / (2.0 * mu)),
        }
    }
}

impl<T: Real> Constitutive<T> for VonMises<T> {
    /// The state grows by sqrt(2/3) times the plastic strain increment's norm (equivalent plastic
    /// strain).
    #[inline(always)]
    fn update(&self, trial: Mat3<T>, state: T, _substep: T) -> ConstitutiveResponse<T> {
        let axes = principal(&trial);
        let (mean, deviator) = Principal::split(axes.strain);
        let norm = deviator.fused_norm_squared().sqrt();
        let yields = self.yield_strain.lt(norm);
        let one = T::splat(1.0);
        let factor = T::select(yields, self.yield_strain / norm.max(self.yield_strain), one);
        let strain = deviator.map(
            #[inline(always)]
            |e| factor.mul_add(e, mean),
        );
        let plastic_increment = (norm - self.yield_strain).max(T::splat(0.0));
        ConstitutiveResponse {
            deformation_gradient: axes.recompose(yields | axes.collapsed, strain, &trial),
            kirchhoff_stress: axes.on_left_axes(self.elastic.principal_stress(strain)),
            state: plastic_increment.mul_add(T::splat((2.0_f64 / 3.0).sqrt()), state),
            // mu (|dev e|^2 - yield^2), without cancellation.
            dissipated: self.elastic.mu
                * plastic_increment
                * (norm.max(self.yield_strain) + self.yield_strain),
        }
    }

    #[inline(always)]
    fn energy_density(&self, deformation_gradient: &Mat3<T>, _state: T) -> T {
        self.elastic.energy_density(deformation_gradient)
    }
}
