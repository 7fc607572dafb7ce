//! Friction between the yarns of a woven fabric as they turn on each other: hysteresis in shear.
//!
//! # Law
//! Warp a and weft b of a face, which cross at right angles at rest, have the shear gamma = 2 a . U b,
//! with U the stretch in the plane ([`super::model`]): the change of their angle where it is small.
//! Beside the stresses of [`super::weave`] there is the shear stress
//!
//! tau = (tau_0 / gamma_0) (gamma - gamma_s), |tau| <= tau_0,
//!
//! where gamma_s, zero at the start, follows gamma as far as the bound demands: a spring in series
//! with dry friction (Prandtl's element), as [`super::bending_friction`] has for curvature. Slip only
//! takes energy. The shear test of Kawabata's evaluation system (KES-FB1) has 2 HG = 2 tau_0 x thickness
//! as the distance of the branches of its loop. A cycle between shears that are d apart takes
//! 4 tau_0 (d / 2 - gamma_0) per volume.

use super::model::{ClothMaterial, Polar, TINY};
use pliant_numeric::scalar::Real;

/// [`ShearFriction`](super::ShearFriction) as the kernels take it.
#[derive(Clone, Copy, Debug)]
pub struct ShearFrictionModel<T> {
    /// Shear modulus before slip \[Pa\].
    pub modulus: T,
    /// Largest stress \[Pa\].
    pub bound: T,
}

impl<T: Real> ShearFrictionModel<T> {
    /// Rounds that of a (valid) material to this precision; none without.
    #[inline(always)]
    pub fn new(material: &ClothMaterial) -> Option<Self> {
        let friction = material.weave.as_ref()?.shear_friction.as_ref()?;
        Some(Self { modulus: T::splat(friction.modulus()), bound: T::splat(friction.stress) })
    }

    /// Shear of a face (no unit); `warp` is the cosine and sine of its angle in the material frame.
    #[inline(always)]
    pub fn shear(polar: &Polar<T>, [c, s]: [T; 2]) -> T {
        let [u11, u12, u22] = polar.stretch;
        let half = (c * s).mul_add(u22 - u11, (c * c - s * s) * u12);
        half + half
    }

    /// Slips until the stress is within its bound: how far the face has slipped then (no unit), and
    /// the energy lost per rest volume, the stress times the slip \[J/m^3\]. The energy stored falls by
    /// half of the modulus times the squared slip more: a step stores so much more than its forces, which
    /// are those of its start, do as work.
    #[inline(always)]
    pub fn slip(&self, shear: T, slipped: T) -> (T, T) {
        let one = T::splat(1.0);
        let trial = self.modulus * (shear - slipped);
        let size = trial.abs();
        let slips = self.bound.lt(size);
        let kept = self.bound / size.max(T::splat(TINY));
        let lost = self.bound * (size - self.bound) / self.modulus;
        (
            T::select(slips, (one - kept).mul_add(shear - slipped, slipped), slipped),
            T::select(slips, lost, T::splat(0.0)),
        )
    }

    /// Energy stored per rest volume \[J/m^3\].
    #[inline(always)]
    pub fn energy_density(&self, shear: T, slipped: T) -> T {
        let strain = shear - slipped;
        T::splat(0.5) * self.modulus * strain * strain
    }

    /// Biot stress \[Pa\], entries 11, 12, 22 in the material frame: tau (a b^T + b a^T).
    #[inline(always)]
    pub fn biot(&self, shear: T, slipped: T, [c, s]: [T; 2]) -> [T; 3] {
        let stress = self.modulus * (shear - slipped);
        let across = (stress + stress) * (c * s);
        [-across, stress * (c * c - s * s), across]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloth::{ShearFriction, Weave};
    use crate::material::Elastic;
    use pliant_testing::random::Random;

    fn material(friction: ShearFriction) -> ClothMaterial {
        let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.2 };
        let weave = Weave {
            shear_friction: Some(friction),
            ..Weave::new(nalgebra::Vector3::x(), elastic.youngs_modulus, 1e3)
        };
        ClothMaterial { weave: Some(weave), ..ClothMaterial::new(300.0, elastic, 1e-3, 1e5) }
    }

    /// After a slip the stress is within its bound, the energy has fallen by what was told and the second
    /// order of the slip, and nothing slips again. A cycle between two shears that are d apart takes 4 tau_0 (d / 2 - gamma_0), where
    /// this is positive. For random figures, to rounding.
    #[test]
    fn slip_takes_the_energy_of_the_loop() {
        let mut random = Random(73);
        let mut loops = 0;
        for _ in 0..500 {
            let mut size = |decades: f64| 10_f64.powf(decades * (random.unit() - 0.5));
            let friction = ShearFriction { stress: size(6.0), strain: 0.01 * size(2.0) };
            let model = ShearFrictionModel::<f64>::new(&material(friction)).unwrap();
            let (low, apart) = (random.vec3(-0.1, 0.1).0[0], friction.strain * 10.0 * random.unit());
            let (mut slipped, mut lost_in_cycle) = (0.0, 0.0);
            for step in 0..4000 {
                let phase = f64::from(step % 2000) / 1000.0;
                let shear = low + apart * phase.min(2.0 - phase);
                let before = model.energy_density(shear, slipped);
                let (now, lost) = model.slip(shear, slipped);
                let after = model.energy_density(shear, now);
                let fallen = lost + 0.5 * friction.modulus() * (now - slipped).powi(2);
                assert!(lost >= 0.0 && (before - after - fallen).abs() < 1e-12 * before, "{before} {after}");
                let stress = friction.modulus() * (shear - now);
                assert!(stress.abs() <= friction.stress * (1.0 + 1e-9), "{stress} of {}", friction.stress);
                assert!(model.slip(shear, now).1 < 1e-9 * before);
                slipped = now;
                lost_in_cycle += if step < 2000 { 0.0 } else { lost };
            }
            // The first slip after a turn starts within a step of d / 1000.
            let expected = (4.0 * friction.stress * (0.5 * apart - friction.strain)).max(0.0);
            let bound = 0.01 * friction.stress * apart;
            assert!((lost_in_cycle - expected).abs() < bound, "{lost_in_cycle} J/m^3, not {expected}");
            loops += usize::from(expected > 0.0);
        }
        assert!((200..450).contains(&loops), "{loops} loops");
    }
}
