//! The two precisions in which the linear system can be solved.

use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

/// f32 or f64.
pub(in super::super) trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// The largest root of an inverse mass whose square times a contact's Hessian stays in range.
    const LARGEST_SCALE: f64;
    fn of(x: f64) -> Self;
    fn double(self) -> f64;
    /// `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    fn inverse(self) -> Self;
    fn max(self, other: Self) -> Self;
}

macro_rules! real {
    ($real:ty, $largest_scale:expr) => {
        impl Real for $real {
            const LARGEST_SCALE: f64 = $largest_scale;
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as Self
            }
            #[inline(always)]
            fn double(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                <$real>::mul_add(self, b, c)
            }
            #[inline(always)]
            fn inverse(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                <$real>::max(self, other)
            }
        }
    };
}

real!(f32, 1e18);
real!(f64, 1e150);
