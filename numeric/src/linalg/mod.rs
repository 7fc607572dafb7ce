//! Small matrices over [`Real`](crate::scalar::Real): vectors, general and symmetric 3x3 matrices.
//!
//! `nalgebra` is used in public types; inside kernels these types are used instead, because
//! everything here is certain to be inlined into a caller that is compiled for a wider instruction
//! set (see [`crate::scalar`]). Decompositions are in [`crate::svd`].
//!
//! Products of three terms come in two orders. The deformation of particles fuses where the
//! hardware does ([`Vec3::fused_dot`], and all that is made of it). Rigid bodies need the same bits
//! on every processor, in any number of lanes and from `nalgebra`: [`Vec3::dot`], [`Mat3::apply`],
//! [`Mat3::apply_inverse`] and [`Mat3::times`] add in the order of the entries and do not fuse.

mod matrix;
mod symmetric;
mod vector;

pub use matrix::Mat3;
pub use symmetric::Sym3;
pub use vector::Vec3;
