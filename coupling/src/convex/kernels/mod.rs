//! The hot loops, over plain slices, compiled for AVX-512, AVX2 and the baseline and chosen at run
//! time.
//!
//! Every sum has one fixed order and every multiply-add is fused in all versions, so that the bits
//! do not depend on the instruction set.

use std::hint::black_box;

use super::layout::Vector;

mod contact_model;
mod contacts;
mod linear;
mod nodes;
mod real;

pub(super) use contact_model::{LineSearchLanes, along, hessians, linearise_response, rays};
pub(super) use contacts::{diagonal_blocks_add, gather_add, scatter_add};
pub(super) use linear::{
    Lanes, NodeBlocks, Nodes, Rows, Stencil, WIDTH, conjugate, descend, expand_weights, invert_scaled,
    pack_hessians, product_add, scale_gradient, scale_solution,
};
pub(super) use nodes::{Norms, add_scaled, dot, gradient, slope, solve_blocks_negated};
pub(super) use real::Real;

/// The columns of a symmetric 3x3 matrix.
pub(super) type SymmetricColumns = [Vector; 3];

/// A symmetric 3x3 matrix as `[xx, yy, zz, xy, xz, yz, 0, 0]`: one AVX register of f32.
pub(super) type Matrix<T> = [T; 8];

/// In single precision, which is enough for a preconditioner.
pub(super) type Packed = Matrix<f32>;

const ZERO: Vector = [0.0; 4];

#[inline(always)]
fn axpy(a: f64, x: &Vector, y: &mut Vector) {
    for l in 0..4 {
        y[l] = a.mul_add(x[l], y[l]);
    }
}

/// The sum of the lanes. Through memory, since the compiler otherwise takes the sums in the loop
/// before it apart into scalars.
#[inline(always)]
fn sum(x: Vector) -> f64 {
    let x = black_box(x);
    (x[0] + x[1]) + (x[2] + x[3])
}
