//! Numbers that all crates share.
//!
//! - [`scalar`], [`linalg`], [`svd`]: formulas written once for `f64`, `f32`, lanes and numbers
//!   with derivatives; small matrices and their decompositions;
//! - [`rotation`], [`angle`], [`dual`]: rotations and poses, sine and cosine, numbers that carry
//!   derivatives, all over `f64`;
//! - [`spatial`]: spatial vectors and inertias of rigid bodies;
//! - [`simd`]: lanes of `f32` and `f64`, with the instruction set chosen at run time;
//! - [`cholesky`]: factors of small dense matrices;
//! - [`random`]: a small seeded generator.

/// An array of what an expression gives for each number, without a closure (see [`scalar`]).
#[macro_export]
macro_rules! each {
    ($k:ident in [$($i:literal),*] $e:expr) => {
        [$({ let $k: usize = $i; $e }),*]
    };
}

pub mod angle;
pub mod cholesky;
pub mod dual;
pub mod linalg;
pub mod random;
pub mod rotation;
pub mod scalar;
pub mod simd;
pub mod spatial;
pub mod svd;
