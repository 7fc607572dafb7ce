//! The quadratic B-spline stencil of sixteen particles, laid out for the transfers.

use crate::blocks::BLOCK_NODES;
use crate::bspline::quadratic_weights;
use crate::scratchpad::{EDGE, EDGE_Z};
use crate::tiles::{KinematicsTile, kinematics};
use pliant_numeric::simd::{F32x16, LANES, Lanes, Simd};

/// Stencils of a tile.
pub(crate) struct Stencils<S: Simd> {
    /// Lowest node of the stencil, cells from the block's corner.
    pub base: [Lanes<S>; 3],
    /// Position relative to it, in [0.5, 1.5).
    pub offset: [Lanes<S>; 3],
    /// Weights of the three nodes along each axis: `weight[axis][node]`.
    pub weight: [[Lanes<S>; 3]; 3],
}

impl<S: Simd> Stencils<S> {
    #[inline(always)]
    pub(crate) fn of(tile: &KinematicsTile) -> Self {
        let half = Lanes::all(0.5);
        let mut base = [half; 3];
        let mut offset = [half; 3];
        let mut weight = [[half; 3]; 3];
        for d in 0..3 {
            let x = Lanes::load(&tile[kinematics::POSITION + d]);
            base[d] = (x - half).floor();
            let f = x - base[d];
            offset[d] = f;
            weight[d] = quadratic_weights(f);
        }
        Self { base, offset, weight }
    }

    /// Index of the first float of each particle's stencil in the scratchpad.
    #[inline(always)]
    pub(crate) fn scratchpad_indices(&self) -> [usize; LANES] {
        let one = Lanes::all(1.0);
        let column = (self.base[0] + one) * Lanes::all(EDGE as f32) + self.base[1] + one;
        // The block's own nodes begin with the second row.
        let node = column * Lanes::all(EDGE_Z as f32) + self.base[2] + Lanes::all(BLOCK_NODES as f32);
        // Adding 2^23 leaves the integer in the low bits of the float.
        let mut row = F32x16::ZERO;
        (node + Lanes::all(8_388_608.0)).store(&mut row);
        let mut indices = [0; LANES];
        for l in 0..LANES {
            indices[l] = (row.0[l].to_bits() & 0x3ff) as usize * 4;
        }
        indices
    }

    /// One row per particle: the nine products of x and y weights (x slowest), the three z weights,
    /// zeros.
    #[inline(always)]
    pub(crate) fn particle_rows(&self, rows: &mut [F32x16; LANES]) {
        let mut columns = [S::splat(0.0); LANES];
        for i in 0..3 {
            for j in 0..3 {
                columns[i * 3 + j] = (self.weight[0][i] * self.weight[1][j]).0;
            }
            columns[9 + i] = self.weight[2][i].0;
        }
        let transposed = S::transpose(columns);
        for l in 0..LANES {
            S::store(&mut rows[l].0, transposed[l]);
        }
    }
}
