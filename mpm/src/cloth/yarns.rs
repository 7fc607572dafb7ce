//! The yarns of a woven fabric in its plane: energy and stress of a face, see [`super::weave`].

use super::model::{ClothMaterial, Polar, TINY};
use pliant_numeric::scalar::Real;

/// The yarns of a sheet as the kernels take them.
#[derive(Clone, Copy, Debug)]
pub struct YarnModel<T> {
    /// Stiffness Y of warp and weft \[Pa\].
    pub stiffness: [T; 2],
}

impl<T: Real> YarnModel<T> {
    /// Rounds those of a (valid) material to this precision; none without a weave.
    #[inline(always)]
    pub fn new(material: &ClothMaterial) -> Option<Self> {
        let weave = material.weave.as_ref()?;
        Some(Self { stiffness: weave.yarn_stiffness(&material.elastic).map(T::splat) })
    }

    /// Energy per rest volume \[J/m^3\]; `warp` is the cosine and sine of its angle in the material
    /// frame.
    #[inline(always)]
    pub fn energy_density(&self, polar: &Polar<T>, warp: [T; 2]) -> T {
        let half = T::splat(0.5);
        let [of_warp, of_weft] = yarns(polar, warp).map(|[x, y]| {
            let strain = x.mul_add(x, y * y).sqrt() - T::splat(1.0);
            half * strain * strain
        });
        self.stiffness[0].mul_add(of_warp, self.stiffness[1] * of_weft)
    }

    /// Biot stress \[Pa\], entries 11, 12, 22 in the material frame. A yarn of no length gives
    /// none.
    #[inline(always)]
    pub fn biot(&self, polar: &Polar<T>, warp: [T; 2]) -> [T; 3] {
        let (half, one) = (T::splat(0.5), T::splat(1.0));
        let tension = |stiffness: T, [x, y]: [T; 2]| {
            let length = x.mul_add(x, y * y).sqrt();
            let over_length = stiffness * (length - one) / length.max(T::splat(TINY));
            [over_length * x, over_length * y]
        };
        let [of_warp, of_weft] = yarns(polar, warp);
        let [c, s] = warp;
        let [ax, ay] = tension(self.stiffness[0], of_warp);
        let [bx, by] = tension(self.stiffness[1], of_weft);
        [
            ax.mul_add(c, -(bx * s)),
            half * (ax.mul_add(s, ay * c) + bx.mul_add(c, -(by * s))),
            ay.mul_add(s, by * c),
        ]
    }
}

/// U a and U b of a face (no unit).
#[inline(always)]
fn yarns<T: Real>(polar: &Polar<T>, [c, s]: [T; 2]) -> [[T; 2]; 2] {
    let [u11, u12, u22] = polar.stretch;
    [
        [u11.mul_add(c, u12 * s), u12.mul_add(c, u22 * s)],
        [u12.mul_add(c, -(u11 * s)), u22.mul_add(c, -(u12 * s))],
    ]
}
