//! The scalar that the numerical kernels are written over.
//!
//! One source serves `f64`, `f32`, lanes of `f32` (16 particles at once), lanes of `f64` (worlds of
//! a batch) and numbers with derivatives. Code generic over [`Real`] must not branch on a value: it
//! computes both sides and takes one with [`Real::select`]. [`Mask::any`] may skip work that no
//! lane needs, as long as each lane's result does not depend on its neighbours. Every generic
//! function is `#[inline(always)]`, because the instruction set is chosen at run time by a caller
//! compiled for it, and only what is inlined into that caller is compiled for it too. That is also
//! why arrays are written with [`each!`](crate::each): the closure of `array::map` would be
//! compiled separately, for the baseline instruction set.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, MulAssign, Neg, Not, Sub, SubAssign};

/// A real number, or SIMD lanes of independent real numbers.
pub trait Real:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// Result of a comparison: `bool` for a single number, one truth value a lane for SIMD types.
    type Mask: Mask;
    /// The constant `x` in every lane, rounded to this precision.
    fn splat(x: f64) -> Self;
    /// `self * a + b`, fused only in lanes of `f32` where the hardware fuses.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Square root; NaN for negative values.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The lesser of two numbers; `o` where they are equal or either is NaN.
    fn min(self, o: Self) -> Self;
    /// The greater of two numbers; `o` where they are equal or either is NaN.
    fn max(self, o: Self) -> Self;
    /// Natural logarithm of a positive number.
    fn ln(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// `self < o`; false where either is NaN.
    fn lt(self, o: Self) -> Self::Mask;
    /// `self <= o`; false where either is NaN.
    fn le(self, o: Self) -> Self::Mask;
    /// `if_true` where the mask holds, else `if_false`.
    fn select(mask: Self::Mask, if_true: Self, if_false: Self) -> Self;
    /// Distance from 1 to the next larger number of the lane precision.
    fn epsilon() -> f64;
    /// Sweeps of cyclic Jacobi after which a symmetric 3x3 matrix is diagonal to this precision.
    fn jacobi_sweeps() -> usize;

    /// 0.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
    /// 1.
    #[inline(always)]
    fn one() -> Self {
        Self::splat(1.0)
    }
    /// Its square.
    #[inline(always)]
    fn squared(self) -> Self {
        self * self
    }
    /// Within `low` and `high`.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
    /// 1 where it is 0 or greater, else -1.
    #[inline(always)]
    fn sign(self) -> Self {
        Self::select(self.lt(Self::zero()), Self::splat(-1.0), Self::one())
    }
}

/// A real number of double precision: `f64`, its lanes, or with derivatives. Never fused: one lane
/// or eight, every processor gives the same bits. Constants may be right operands.
pub trait Double: Real + Add<f64, Output = Self> + Sub<f64, Output = Self> + Mul<f64, Output = Self> {
    /// Sine and cosine of an angle \[rad\].
    fn sin_cos(self) -> (Self, Self);
}

/// Truth values, one a lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// Whether any lane holds.
    fn any(self) -> bool;
    /// Whether all lanes hold.
    fn all(self) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
}

macro_rules! impl_real {
    ($t:ident, $sweeps:literal) => {
        impl Real for $t {
            type Mask = bool;
            #[inline(always)]
            fn splat(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self * a + b
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn min(self, o: Self) -> Self {
                if self < o { self } else { o }
            }
            #[inline(always)]
            fn max(self, o: Self) -> Self {
                if self > o { self } else { o }
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $t::ln(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $t::exp(self)
            }
            #[inline(always)]
            fn lt(self, o: Self) -> bool {
                self < o
            }
            #[inline(always)]
            fn le(self, o: Self) -> bool {
                self <= o
            }
            #[inline(always)]
            fn select(mask: bool, if_true: Self, if_false: Self) -> Self {
                if mask { if_true } else { if_false }
            }
            #[inline(always)]
            fn epsilon() -> f64 {
                f64::from($t::EPSILON)
            }
            #[inline(always)]
            fn jacobi_sweeps() -> usize {
                $sweeps
            }
        }
    };
}

// Measured by the tests of `svd`: 4 sweeps are needed in f32 (3 leave 14 epsilon), 5 suffice in
// f64.
impl_real!(f32, 4);
impl_real!(f64, 6);
