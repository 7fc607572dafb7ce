//! Drucker-Prager plasticity for dry sand (Klar et al. 2016) with the volume correction of
//! Tampubolon et al. 2017.

use super::hencky::{Hencky, Principal, principal};
use super::{Constitutive, ConstitutiveResponse};
use crate::material::Elastic;
use pliant_numeric::linalg::{Mat3, Vec3};
use pliant_numeric::scalar::Real;

/// Drucker-Prager plasticity without cohesion: |dev tau| <= -alpha tr tau with alpha = sqrt(2/3) 2
/// sin(phi) / (3 - sin(phi)).
///
/// Strain outside the cone returns at constant volume; strain in tension returns to the tip, where
/// stress is zero. The volume that sand gains at the tip is stored in the history variable and must
/// be lost again before the sand resists.
#[derive(Clone, Copy, Debug)]
pub struct DruckerPrager<T> {
    /// Elastic response inside the cone.
    pub elastic: Hencky<T>,
    /// Cone slope in stress, alpha (no unit).
    pub alpha: T,
    /// Cone slope in strain, -|dev e| / tr e on the cone: alpha (3 lambda + 2 mu) / (2 mu) (no
    /// unit).
    pub strain_slope: T,
}

impl<T: Real> DruckerPrager<T> {
    /// From elastic constants and the angle of internal friction \[rad\].
    #[inline(always)]
    pub fn new(elastic: &Elastic, friction_angle: f64) -> Self {
        let (mu, lambda) = (elastic.shear_modulus(), elastic.lame_lambda());
        let sine = friction_angle.sin();
        let alpha = (2.0_f64 / 3.0).sqrt() * 2.0 * sine / (3.0 - sine);
        Self {
            elastic: Hencky { mu: T::splat(mu), lambda: T::splat(lambda) },
            alpha: T::splat(alpha),
            strain_slope: T::splat(alpha * (3.0 * lambda + 2.0 * mu) / (2.0 * mu)),
        }
    }
}

impl<T: Real> Constitutive<T> for DruckerPrager<T> {
    #[inline(always)]
    fn update(&self, trial: Mat3<T>, state: T, _substep: T) -> ConstitutiveResponse<T> {
        let zero = T::splat(0.0);
        let axes = principal(&trial);
        // Volume gained earlier counts as part of the strain (Tampubolon et al. 2017).
        let gained = state * T::splat(1.0 / 3.0);
        let (mean, deviator) = Principal::split(axes.strain.map(
            #[inline(always)]
            |e| e + gained,
        ));
        let trace = mean * T::splat(3.0);
        let norm = deviator.fused_norm_squared().sqrt();

        let tension = zero.le(trace);
        let allowed = -self.strain_slope * trace;
        let slides = allowed.lt(norm);
        let factor = T::select(slides, allowed / norm.max(T::splat(1e-30)), T::splat(1.0));
        let on_cone = deviator.map(
            #[inline(always)]
            |e| factor.mul_add(e, mean),
        );
        let strain = Vec3::<T>::select(tension, Vec3::zero(), on_cone);

        let no_volume = zero.le(state) & state.le(zero);
        let changed = tension | slides | axes.collapsed | !no_volume;
        ConstitutiveResponse {
            deformation_gradient: axes.recompose(changed, strain, &trial),
            kirchhoff_stress: axes.on_left_axes(self.elastic.principal_stress(strain)),
            // The difference to the returned strain is volume to be lost: tr e at the tip, nothing
            // elsewhere.
            state: T::select(tension, trace, zero),
            dissipated: T::select(
                changed,
                self.elastic.energy(axes.strain) - self.elastic.energy(strain),
                zero,
            ),
        }
    }

    #[inline(always)]
    fn energy_density(&self, deformation_gradient: &Mat3<T>, _state: T) -> T {
        self.elastic.energy_density(deformation_gradient)
    }
}
