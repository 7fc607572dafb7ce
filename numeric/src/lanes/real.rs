//! What a formula needs of a number.

use core::fmt::Debug;
use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Truth values, one a lane.
pub trait Mask: Copy + Debug + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// Whether any lane is true.
    fn any(self) -> bool;
}

/// A number, or one a lane.
///
/// Numbers are made from others ([`splat`](Self::splat)), because a vector may only be made where
/// the processor is known to have it.
pub trait Real:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// Truth values, one a lane.
    type Mask: Mask;

    /// The constant `x`, in all lanes.
    fn splat(self, x: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// The lesser; of equal ones the second.
    fn min(self, other: Self) -> Self;
    /// The greater; of equal ones the second.
    fn max(self, other: Self) -> Self;
    /// Whether it is less; false where either is not a number.
    fn lt(self, other: Self) -> Self::Mask;
    /// `then` where the mask is true, `otherwise` elsewhere.
    fn select(mask: Self::Mask, then: Self, otherwise: Self) -> Self;
    /// Sine and cosine of an angle \[rad\].
    fn sin_cos(self) -> (Self, Self);

    /// 0.
    #[inline(always)]
    fn zero(self) -> Self {
        self.splat(0.0)
    }

    /// 1.
    #[inline(always)]
    fn one(self) -> Self {
        self.splat(1.0)
    }

    /// Its square.
    #[inline(always)]
    fn squared(self) -> Self {
        self * self
    }

    /// Within [`low`, `high`].
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }

    /// 1 where it is 0 or greater, else -1.
    #[inline(always)]
    fn sign(self) -> Self {
        Self::select(self.lt(self.zero()), self.splat(-1.0), self.one())
    }
}
