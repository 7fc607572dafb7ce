//! The scalar that the numerical kernels are written over.
//!
//! One source serves three precisions: `f64` (the reference), `f32` (one particle of the fast path)
//! and SIMD lanes of `f32` (16 particles at once). Code generic over [`Real`] must not branch on a
//! value: it computes both sides and takes one with [`Real::select`]. [`MaskOps::any`] may skip
//! work that no lane needs, as long as each lane's result does not depend on its neighbours. Every
//! generic function is `#[inline(always)]`, because the instruction set is chosen at run time by a
//! caller compiled for it, and only what is inlined into that caller is compiled for it too.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

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
    /// Result of a comparison: `bool` for `f64` and `f32`, one truth value a lane for SIMD types.
    type Mask: MaskOps;
    /// The constant `x` in every lane, rounded to this precision.
    fn splat(x: f64) -> Self;
    /// `self * a + b`, fused only where the hardware is known to fuse.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Square root; NaN for negative values.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The smaller of two numbers; which one is returned when one of them is NaN is not specified.
    fn min(self, o: Self) -> Self;
    /// The larger of two numbers; which one is returned when one of them is NaN is not specified.
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
}

/// Logic on the result of a comparison.
pub trait MaskOps: Copy {
    /// Lane-wise conjunction.
    fn and(self, o: Self) -> Self;
    /// Lane-wise disjunction.
    fn or(self, o: Self) -> Self;
    /// Lane-wise negation.
    fn not(self) -> Self;
    /// Whether any lane holds.
    fn any(self) -> bool;
    /// Whether all lanes hold.
    fn all(self) -> bool;
}

impl MaskOps for bool {
    #[inline(always)]
    fn and(self, o: Self) -> Self {
        self & o
    }
    #[inline(always)]
    fn or(self, o: Self) -> Self {
        self | o
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
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
                $t::min(self, o)
            }
            #[inline(always)]
            fn max(self, o: Self) -> Self {
                $t::max(self, o)
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
