//! The window of nodes that the particles of one block reach.
//!
//! A block's particles touch its own 4^3 nodes and, with the stencil and one cell of drift since the last sort, one layer
//! before and three layers behind: 8^3 nodes. P2G sums into such an arena, the grid pass adds the arenas in a fixed
//! order, and G2P reads from a copy of it.

use crate::blocks::{BLOCK_NODES, NodeBlock};
use crate::simd::LANES;
use crate::sort::{NEIGHBOURS, neighbour_offset};

/// Nodes along an arena's edge.
pub(crate) const EDGE: usize = 8;

/// Floats from one node to the next along x, y.
pub(crate) const STRIDE_X: usize = EDGE * EDGE * 4;
pub(crate) const STRIDE_Y: usize = EDGE * 4;

/// Floats from a stencil's first node that the kernels may touch.
pub(crate) const WINDOW: usize = 2 * STRIDE_X + 2 * STRIDE_Y + LANES;

/// Positions (in cells from the block's corner) that the arena serves: the lowest stencil node is in -1..=4.
pub(crate) const LOWEST: f32 = -0.5;
pub(crate) const HIGHEST: f32 = 5.5;

/// Nodes as (momentum or velocity x, y, z, mass), z fastest; a vector may reach past the last node.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Arena {
    pub values: [f32; EDGE * EDGE * EDGE * 4 + LANES],
    /// Bit n: the part that lies in neighbour n may be non-zero.
    pub touched: u32,
    /// Changes of cell along the particles' order: how well they are still sorted.
    pub runs: u32,
}

impl Arena {
    pub(crate) const ZERO: Self = Self { values: [0.0; EDGE * EDGE * EDGE * 4 + LANES], touched: 0, runs: 0 };
}

/// Along one axis, the nodes shared by an arena and the neighbour at `offset`: (first in the arena, first in the block,
/// count).
pub(crate) fn overlap(offset: i32) -> (usize, usize, usize) {
    match offset {
        -1 => (0, 3, 1),
        0 => (1, 0, 4),
        _ => (5, 0, 3),
    }
}

/// The neighbours that stencils reach whose lowest nodes lie in `lowest..=highest` (arena indices less one) per axis.
pub(crate) fn touched_neighbours(lowest: [i32; 3], highest: [i32; 3]) -> u32 {
    let reaches = |d: usize, offset: i32| match offset {
        -1 => lowest[d] < 0,
        0 => lowest[d] < BLOCK_NODES as i32,
        _ => highest[d] + 2 >= BLOCK_NODES as i32,
    };
    (0..NEIGHBOURS).fold(0, |bits, n| {
        let o = neighbour_offset(n);
        bits | u32::from((0..3).all(|d| reaches(d, o[d]))) << n
    })
}

/// Calls `row(arena float index, block node index, nodes)` for every z-run shared with neighbour `n`.
#[inline(always)]
pub(crate) fn for_each_shared_row(n: usize, mut row: impl FnMut(usize, usize, usize)) {
    let o = neighbour_offset(n);
    let [(ax, bx, nx), (ay, by, ny), (az, bz, nz)] = [overlap(o[0]), overlap(o[1]), overlap(o[2])];
    for x in 0..nx {
        for y in 0..ny {
            let arena = (((ax + x) * EDGE + ay + y) * EDGE + az) * 4;
            row(arena, ((bx + x) * BLOCK_NODES + by + y) * BLOCK_NODES + bz, nz);
        }
    }
}

/// Adds the arena's part in neighbour `n` to that neighbour's nodes.
#[inline(always)]
pub(crate) fn add_to_block(arena: &Arena, n: usize, block: &mut NodeBlock) {
    for_each_shared_row(n, |a, b, count| {
        for (node, value) in block.nodes[b..b + count].iter_mut().zip(arena.values[a..].chunks_exact(4)) {
            for c in 0..4 {
                node[c] += value[c];
            }
        }
    });
}

/// Copies the nodes of neighbour `n` into its part of the arena.
#[inline(always)]
pub(crate) fn copy_from_block(values: &mut [f32], n: usize, block: &NodeBlock) {
    for_each_shared_row(n, |a, b, count| {
        for (value, node) in values[a..].chunks_exact_mut(4).zip(&block.nodes[b..b + count]) {
            value.copy_from_slice(node);
        }
    });
}
