//! Explicit material point method (MPM): particles, constitutive models, sparse grid, transfers.
//!
//! - [`material`]: what a body is made of, in SI units, checked;
//! - [`constitutive`]: stress, plastic return and energy of every model, written once for `f64`, `f32` and SIMD lanes;
//! - [`scalar`], [`linalg`], [`svd`], [`bspline`]: the number type those are generic over, small matrices, their
//!   decompositions and the grid's weights;
//! - [`reference`](mod@reference): the plain f64 method that faster paths are held against;
//! - [`stable_step`]: the largest substep that explicit elasticity allows.

pub mod bspline;
pub mod constitutive;
pub mod linalg;
pub mod material;
pub mod reference;
pub mod scalar;
pub mod stable_step;
pub mod svd;

#[cfg(test)]
mod test_random;
