//! The lanes as a scalar type, so that the constitutive models run on sixteen particles at a time.

use core::fmt;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, MulAssign, Neg, Not, Sub, SubAssign};

use super::Simd;
use crate::scalar::{Mask, Real};

/// Sixteen f32 of the instruction set `S`, with operators.
#[derive(Clone, Copy)]
pub struct Lanes<S: Simd>(pub S::V);

/// Sixteen truth values.
#[derive(Clone, Copy)]
pub struct LaneMask<S: Simd>(pub S::M);

impl<S: Simd> fmt::Debug for Lanes<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = [0.0; super::LANES];
        S::store(&mut row, self.0);
        row.fmt(f)
    }
}

operators! { Lanes<Simd>:
    Add(add, o) = add;
    Sub(sub, o) = sub;
    Mul(mul, o) = mul;
    Div(div, o) = div;
}

assignments! { Lanes<Simd>:
    AddAssign(add_assign) = add;
    SubAssign(sub_assign) = sub;
    MulAssign(mul_assign) = mul;
}

operators! { LaneMask<Simd>:
    BitAnd(bitand, o) = mask_and;
    BitOr(bitor, o) = mask_or;
    Not(not) = mask_not;
}

impl<S: Simd> Neg for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(S::sub(S::splat(0.0), self.0))
    }
}

impl<S: Simd> Mask for LaneMask<S> {
    #[inline(always)]
    fn any(self) -> bool {
        S::mask_bits(self.0) != 0
    }
    #[inline(always)]
    fn all(self) -> bool {
        S::mask_bits(self.0) == u16::MAX
    }
}

/// ln 2 split in two, so that `e * LN2_HIGH` is exact for exponents (Cody and Waite 1980).
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

impl<S: Simd> Lanes<S> {
    /// Reads a row.
    #[inline(always)]
    pub fn load(row: &super::F32x16) -> Self {
        Self(S::load(&row.0))
    }

    /// Rows side by side. (Not `array::map`: what is not inlined is not compiled for the
    /// instruction set.)
    #[inline(always)]
    pub fn load_all<const N: usize>(rows: &[super::F32x16; N]) -> [Self; N] {
        let mut lanes = [Self::all(0.0); N];
        for n in 0..N {
            lanes[n] = Self::load(&rows[n]);
        }
        lanes
    }

    /// Writes a row.
    #[inline(always)]
    pub fn store(self, row: &mut super::F32x16) {
        S::store(&mut row.0, self.0);
    }

    /// Largest integer that is not greater, lane by lane.
    #[inline(always)]
    pub fn floor(self) -> Self {
        Self(S::floor(self.0))
    }

    /// Largest power of two that is not above the magnitude, lane by lane; 0 for 0 and subnormal numbers.
    #[inline(always)]
    pub fn power_of_two(self) -> Self {
        Self(S::power_of_two(self.0))
    }

    /// The f32 constant in all lanes.
    #[inline(always)]
    pub fn all(x: f32) -> Self {
        Self(S::splat(x))
    }

    /// Polynomial by Horner's rule, highest power first.
    #[inline(always)]
    fn horner(self, coefficients: &[f32]) -> Self {
        let mut r = S::splat(coefficients[0]);
        for &c in &coefficients[1..] {
            r = S::mul_add(r, self.0, S::splat(c));
        }
        Self(r)
    }
}

impl<S: Simd> Real for Lanes<S> {
    type Mask = LaneMask<S>;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(S::splat(x as f32))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(S::mul_add(self.0, a.0, b.0))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(S::sqrt(self.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(S::abs(self.0))
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        Self(S::min(self.0, o.0))
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        Self(S::max(self.0, o.0))
    }

    /// Natural logarithm of positive normal lanes, within 2 ulp or 1e-7 absolute near one (minimax
    /// polynomial of the Cephes library's `logf`, Moshier 1992).
    #[inline(always)]
    fn ln(self) -> Self {
        let (m, e) = S::split_exponent(self.0);
        let low = S::lt(m, S::splat(core::f32::consts::FRAC_1_SQRT_2));
        let one = S::splat(1.0);
        let e = Self(S::select(low, S::sub(e, one), e));
        let m = S::select(low, S::add(m, m), m);
        let x = Self(S::sub(m, one));
        let p = x.horner(&[
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ]);
        let z = x * x;
        let y = (x * z * p) + e * Self::all(LN2_LOW) - Self::all(0.5) * z;
        x + y + e * Self::all(LN2_HIGH)
    }

    /// Exponential, argument clamped to where the result is a normal number (minimax polynomial of
    /// the Cephes library's `expf`, Moshier 1992).
    #[inline(always)]
    fn exp(self) -> Self {
        let x = self.max(Self::all(-87.0)).min(Self::all(88.0));
        let n = (x * Self::all(core::f32::consts::LOG2_E) + Self::all(0.5)).floor();
        let x = x - n * Self::all(LN2_HIGH) - n * Self::all(LN2_LOW);
        let p = x.horner(&[1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_58e-2, 1.666_666_5e-1, 0.5]);
        let y = p * x * x + x + Self::all(1.0);
        Self(S::scale_exponent(y.0, n.0))
    }

    #[inline(always)]
    fn lt(self, o: Self) -> LaneMask<S> {
        LaneMask(S::lt(self.0, o.0))
    }
    #[inline(always)]
    fn le(self, o: Self) -> LaneMask<S> {
        LaneMask(S::le(self.0, o.0))
    }
    #[inline(always)]
    fn select(mask: LaneMask<S>, if_true: Self, if_false: Self) -> Self {
        Self(S::select(mask.0, if_true.0, if_false.0))
    }
    #[inline(always)]
    fn epsilon() -> f64 {
        f64::from(f32::EPSILON)
    }
    #[inline(always)]
    fn jacobi_sweeps() -> usize {
        <f32 as Real>::jacobi_sweeps()
    }
}
