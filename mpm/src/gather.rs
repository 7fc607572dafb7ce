//! Gathering from the grid: nodes into the scratchpad, sums over stencils, affine fields.

use crate::blocks::NodeBlock;
use crate::scratchpad::{STRIDE_X, STRIDE_Y, Scratchpad, StencilBox};
use crate::sort::NEIGHBOURS;
use crate::weights::Stencils;
use pliant_numeric::linalg::Mat3;
use pliant_numeric::simd::{F32x16, LANES, Lanes, Simd};

/// Copies the velocities of the nodes in a block's stencil box.
#[inline(always)]
pub(crate) fn copy_nodes<S: Simd>(
    scratchpad: &mut Scratchpad,
    around: &[u32; NEIGHBOURS],
    nodes: &[NodeBlock],
    stencil_box: &StencilBox,
) {
    let values = scratchpad.rows_mut();
    for (n, &block) in around.iter().enumerate() {
        let rows = nodes[block as usize].nodes.as_flattened().as_chunks().0;
        stencil_box.for_each_shared_row(
            n,
            #[inline(always)]
            |_, a, b| S::store(&mut values[a], S::load(&rows[b])),
        );
    }
}

/// The nine runs of three nodes of a cell's stencil. The next particle in the same cell finds them
/// in registers.
#[inline(always)]
pub(crate) fn load_stencil<S: Simd>(stencil_box: &[f32]) -> [S::V; 9] {
    let mut nodes = [S::splat(0.0); 9];
    for i in 0..3 {
        for j in 0..3 {
            nodes[i * 3 + j] = S::load_slice(&stencil_box[i * STRIDE_X + j * STRIDE_Y..][..LANES]);
        }
    }
    nodes
}

/// Sums of w v, and of w v times the node's index along x, y, z, as four quads.
#[inline(always)]
pub(crate) fn gather_stencil<S: Simd>(nodes: &[S::V; 9], weights: &F32x16, sums: &mut F32x16) {
    // in_x[i] sums the nodes with index i along x; in_y[j] those with index j along y.
    let mut in_x = [S::splat(0.0); 3];
    let mut in_y = [S::splat(0.0); 3];
    for i in 0..3 {
        for j in 0..3 {
            let n = i * 3 + j;
            let weight = S::splat(weights.0[n]);
            in_x[i] = if j == 0 { S::mul(nodes[n], weight) } else { S::mul_add(nodes[n], weight, in_x[i]) };
            if j > 0 {
                in_y[j] =
                    if i == 0 { S::mul(nodes[n], weight) } else { S::mul_add(nodes[n], weight, in_y[j]) };
            }
        }
    }
    let two = S::splat(2.0);
    let along_z = S::spread_z_weights(&weights.0);
    let node_index = S::load(&[0., 0., 0., 0., 1., 1., 1., 1., 2., 2., 2., 2., 0., 0., 0., 0.]);
    let all = S::mul(S::add(S::add(in_x[0], in_x[1]), in_x[2]), along_z);
    let first_x = S::mul(S::mul_add(two, in_x[2], in_x[1]), along_z);
    let first_y = S::mul(S::mul_add(two, in_y[2], in_y[1]), along_z);
    let first_z = S::mul(all, node_index);
    S::store(&mut sums.0, S::sum_quads([all, first_x, first_y, first_z]));
}

/// Velocity and affine field from the gathered sums.
#[inline(always)]
pub(crate) fn affine_of<S: Simd>(
    stencils: &Stencils<S>,
    gathered: &[F32x16; LANES],
    h: f32,
) -> ([Lanes<S>; 3], Mat3<Lanes<S>>) {
    let mut rows = [S::splat(0.0); LANES];
    for l in 0..LANES {
        rows[l] = S::load(&gathered[l].0);
    }
    let columns = S::transpose(rows);
    let inverse_d = Lanes::<S>::all(4.0 / h);
    let mut velocity = [Lanes::<S>::all(0.0); 3];
    let mut affine = Mat3([[Lanes::<S>::all(0.0); 3]; 3]);
    for d in 0..3 {
        velocity[d] = Lanes::<S>(columns[d]);
        for e in 0..3 {
            let moment = Lanes::<S>(columns[4 + e * 4 + d]);
            affine.0[d][e] = inverse_d * (moment - stencils.offset[e] * velocity[d]);
        }
    }
    (velocity, affine)
}
