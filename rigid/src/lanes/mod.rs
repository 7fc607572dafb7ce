//! Arithmetic that is written once and done on one number or on many at a time.
//!
//! [`Real`] is what a formula needs of a number. It is done by `f64`, by vectors of as many as the processor has lanes ([`Wide`]), and by
//! numbers that carry their derivatives ([`Dual`]). Comparisons give masks and choices take both sides, so that no formula branches on a
//! number. Products and sums are never fused, and sine and cosine are these same operations: one lane or eight, every processor gives
//! the same bits.

/// An array of what an expression gives for each number. The closure of `array::map` would be compiled by itself, for the least of all processors.
macro_rules! each {
    ($k:ident in [$($i:literal),*] $e:expr) => {
        [$({ let $k: usize = $i; $e }),*]
    };
}
pub(crate) use each;

mod angle;
mod array;
mod dual;
pub(crate) mod pairs;
mod pose;
mod real;
mod rotation;
mod vector;
mod wide;

pub(crate) use angle::turn_terms;
pub(crate) use array::{LANES, Row};
pub(crate) use dual::Dual;
pub(crate) use pose::Pose;
pub(crate) use real::{Mask, Real};
pub(crate) use rotation::{Mat3, Quat};
pub(crate) use vector::Vec3;
pub(crate) use wide::Wide;
