//! Explicit material point method (MPM): particles, constitutive models, sparse grid, transfers.
//!
//! - [`material`]: what a body is made of, in SI units, checked;
//! - [`constitutive`]: stress, plastic return and energy of every model, written once for `f64`, `f32` and SIMD lanes;
//! - [`scalar`], [`linalg`], [`svd`]: the number type those are generic over, small matrices and their decompositions.

pub mod constitutive;
pub mod linalg;
pub mod material;
pub mod scalar;
pub mod svd;

#[cfg(test)]
mod test_random;
