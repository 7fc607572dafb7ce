//! Arithmetic that is written once and done on one number or on many at a time.
//!
//! [`Real`] is what a formula needs of a number. It is done by `f64`, by vectors of as many as the
//! processor has lanes ([`Wide`]), and by numbers that carry their derivatives ([`Dual`]).
//! Comparisons give masks and choices take both sides, so that no formula branches on a number.
//! Products and sums are never fused, and sine and cosine are these same operations: one lane or
//! eight, every processor gives the same bits.

/// An array of what an expression gives for each number. The closure of `array::map` would be
/// compiled by itself, for the least of all processors.
#[macro_export]
macro_rules! each {
    ($k:ident in [$($i:literal),*] $e:expr) => {
        [$({ let $k: usize = $i; $e }),*]
    };
}
pub use each;

mod angle;
mod array;
mod double;
mod dual;
mod pose;
mod real;
mod rotation;
mod vector;
mod wide;

pub use angle::turn_terms;
pub use array::{F64x8, LANES};
pub use dual::Dual;
pub use pose::Pose;
pub use real::{Mask, Real};
pub use rotation::{Mat3, Quat};
pub use vector::Vec3;
pub use wide::Wide;
