//! Numbers that all crates share.
//!
//! - [`random`]: a small seeded generator;
//! - [`scalar`], [`linalg`], [`svd`]: formulas written once for `f64`, `f32` and lanes; small
//!   matrices and their decompositions;
//! - [`simd`]: sixteen `f32` lanes, with the instruction set chosen at run time;
//! - [`lanes`]: eight `f64` lanes across worlds, and numbers that carry derivatives.

pub mod lanes;
pub mod linalg;
pub mod random;
pub mod scalar;
pub mod simd;
pub mod svd;
