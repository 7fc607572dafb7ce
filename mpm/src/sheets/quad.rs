//! Four f32 that stay together: three coordinates and one more. Loops over all four become one
//! instruction each.

/// See the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub(super) struct F32x4(pub [f32; 4]);

impl F32x4 {
    pub(super) const ZERO: Self = Self([0.0; 4]);

    #[inline(always)]
    pub(super) fn plus(self, o: Self) -> Self {
        Self(core::array::from_fn(|d| self.0[d] + o.0[d]))
    }

    #[inline(always)]
    pub(super) fn minus(self, o: Self) -> Self {
        Self(core::array::from_fn(|d| self.0[d] - o.0[d]))
    }

    #[inline(always)]
    pub(super) fn times(self, s: f32) -> Self {
        Self(self.0.map(|x| x * s))
    }

    /// The first three entries, in f64.
    pub(super) fn vector(self) -> nalgebra::Vector3<f64> {
        let [x, y, z, _] = self.0.map(f64::from);
        nalgebra::Vector3::new(x, y, z)
    }
}
