//! The nodes that the particles of one block reach.
//!
//! A block's particles touch its own 4^3 nodes and, with the stencil and one cell of drift since
//! the last sort, one layer before and three layers behind: 8^3 nodes at most. The transfers work
//! on them in a *scratchpad* of the thread. Only the box that the stencils really reach, the
//! *stencil box*, is kept: P2G writes it to the block's part of one pool, from which the grid pass
//! adds the stencil boxes in a fixed order.
//!
//! All of these hold nodes in rows of four along z, as node blocks do: one cache line, which is
//! loaded and stored as a whole.

use core::cell::RefCell;
use core::ops::Range;

use crate::blocks::BLOCK_NODES;
use crate::sort::neighbour_offset;
use crate::tiles::{ParticleBlock, Shares};
use pliant_numeric::simd::{F32x16, LANES};

/// Nodes along a scratchpad's edges x and y; the first is one before the block.
pub(crate) const EDGE: usize = 8;

/// Rows along a scratchpad's edge z: of the block before, of the block itself, of the block behind.
pub(crate) const EDGE_ROWS: usize = 3;

/// Nodes along a scratchpad's edge z.
pub(crate) const EDGE_Z: usize = EDGE_ROWS * BLOCK_NODES;

/// Floats from one node to the next along x, y.
pub(crate) const STRIDE_X: usize = EDGE * STRIDE_Y;
pub(crate) const STRIDE_Y: usize = EDGE_ROWS * LANES;

/// Floats from a stencil's first node that the kernels may access.
pub(crate) const STENCIL: usize = 2 * STRIDE_X + 2 * STRIDE_Y + LANES;

/// Positions (in cells from the block's corner) whose stencils the scratchpad holds: the lowest
/// stencil node is in -1..=4.
pub(crate) const LOWEST: f32 = -0.5;
pub(crate) const HIGHEST: f32 = 5.5;

/// Nodes as (momentum or velocity x, y, z, mass), z fastest.
#[repr(C, align(64))]
pub(crate) struct Scratchpad {
    pub values: [f32; EDGE * STRIDE_X],
}

impl Scratchpad {
    const ZERO: Self = Self { values: [0.0; EDGE * STRIDE_X] };

    /// Runs `work` with the thread's scratchpad, whose contents are those of its last use.
    pub(crate) fn with<R>(work: impl FnOnce(&mut Self) -> R) -> R {
        thread_local! {
            static ARENA: RefCell<Scratchpad> = const { RefCell::new(Scratchpad::ZERO) };
        }
        ARENA.with_borrow_mut(work)
    }

    /// Its rows, z fastest.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[[f32; LANES]] {
        self.values.as_chunks().0
    }

    #[inline(always)]
    pub(crate) fn rows_mut(&mut self) -> &mut [[f32; LANES]] {
        self.values.as_chunks_mut().0
    }
}

/// The box of a scratchpad that the stencils reach, and its location in the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StencilBox {
    /// Its first row in the pool.
    pub first_row: u32,
    /// First node along x and y, first row along z, in the scratchpad.
    pub first: [u8; 3],
    /// Nodes along x and y, rows along z.
    pub count: [u8; 3],
    /// Bit n: it has rows of neighbour n.
    neighbours: u32,
}

impl StencilBox {
    /// The box that the stencils of particles at `lowest..=highest` (cells from the block's corner)
    /// reach. Particles outside the scratchpad must be sorted first.
    pub(crate) fn around(lowest: [f32; 3], highest: [f32; 3]) -> Self {
        let mut stencil_box = Self::default();
        for d in 0..3 {
            let base = |x: f32| (x.clamp(LOWEST, HIGHEST - 0.5) - 0.5).floor() as i32;
            let (from, to) = match d {
                2 => {
                    let row = |node: i32| node.div_euclid(BLOCK_NODES as i32) + 1;
                    (row(base(lowest[d])), row(base(highest[d]) + 2))
                }
                _ => (base(lowest[d]) + 1, base(highest[d]) + 3),
            };
            stencil_box.first[d] = from as u8;
            stencil_box.count[d] = (to + 1 - from) as u8;
        }
        stencil_box.neighbours = stencil_box.find_neighbours();
        stencil_box
    }

    /// Bit n: it has rows of neighbour n; they are numbered with z fastest, x slowest.
    fn find_neighbours(&self) -> u32 {
        // The scratchpad's first node belongs to the block before, the next four to the block
        // itself.
        let along = |d: usize| {
            let nodes = i32::from(self.first[d])..i32::from(self.first[d]) + i32::from(self.count[d]);
            let middle = nodes.start <= BLOCK_NODES as i32 && nodes.end > 1;
            u32::from(nodes.start == 0)
                | u32::from(middle) << 1
                | u32::from(nodes.end > BLOCK_NODES as i32 + 1) << 2
        };
        let rows = ((1 << self.count[2]) - 1) << self.first[2];
        let spread = |bits: u32, part: u32, stride: u32| {
            (0..3).fold(0, |all, o| all | if bits >> o & 1 == 1 { part << (stride * o) } else { 0 })
        };
        spread(along(0), spread(along(1), rows, 3), 9)
    }

    /// Lowest and highest positions of particles whose stencils are within it, up to rounding
    /// [cells from the block's corner].
    pub(crate) fn bounds(&self) -> [[f64; 3]; 2] {
        let nodes = |d: usize| match d {
            // Rows along z.
            2 => {
                let (first, count) = (i32::from(self.first[2]) - 1, i32::from(self.count[2]));
                (first * BLOCK_NODES as i32, (first + count) * BLOCK_NODES as i32 - 1)
            }
            _ => {
                let first = i32::from(self.first[d]) - 1;
                (first, first + i32::from(self.count[d]) - 1)
            }
        };
        // A stencil's first node is half a cell to one and a half below its particle, and its last
        // the same above.
        let ends = [0, 1, 2].map(nodes);
        [ends.map(|(first, _)| f64::from(first) + 0.5), ends.map(|(_, last)| f64::from(last) - 0.5)]
    }

    /// Rows in it.
    pub(crate) fn rows(&self) -> usize {
        self.count.iter().map(|&n| usize::from(n)).product()
    }

    /// Calls `visit(row of the stencil_box, row of the scratchpad)`.
    #[inline(always)]
    pub(crate) fn for_each_row(&self, mut visit: impl FnMut(usize, usize)) {
        let (x0, y0, z0) = (self.first[0] as usize, self.first[1] as usize, self.first[2] as usize);
        let (nx, ny, nz) = (self.count[0] as usize, self.count[1] as usize, self.count[2] as usize);
        for x in 0..nx {
            for y in 0..ny {
                for z in 0..nz {
                    visit((x * ny + y) * nz + z, ((x0 + x) * EDGE + y0 + y) * EDGE_ROWS + z0 + z);
                }
            }
        }
    }

    /// Along x or y, the nodes (of the block) that the stencil box shares with a neighbouring block
    /// at this offset.
    #[inline(always)]
    fn shared(&self, axis: usize, offset: i32) -> Range<usize> {
        let from = i32::from(self.first[axis]) - 1 - BLOCK_NODES as i32 * offset;
        let to = from + i32::from(self.count[axis]);
        from.clamp(0, BLOCK_NODES as i32) as usize..to.clamp(0, BLOCK_NODES as i32) as usize
    }

    /// Calls `visit(row of the stencil_box, row of the scratchpad, row of the block)` for every row
    /// shared with neighbour `n`.
    #[inline(always)]
    pub(crate) fn for_each_shared_row(&self, n: usize, mut visit: impl FnMut(usize, usize, usize)) {
        if self.neighbours >> n & 1 == 0 {
            return;
        }
        let o = neighbour_offset(n);
        let z = (o[2] + 1) as usize;
        let (x0, y0, z0) = (self.first[0] as usize, self.first[1] as usize, self.first[2] as usize);
        let (ny, nz) = (self.count[1] as usize, self.count[2] as usize);
        // Node x of the neighbour is node 4 o + x + 1 of the scratchpad.
        let (corner_x, corner_y) = ((4 * o[0] + 4) as usize, (4 * o[1] + 4) as usize);
        for x in self.shared(0, o[0]) {
            for y in self.shared(1, o[1]) {
                let (ax, ay) = (corner_x + x - 3, corner_y + y - 3);
                visit(
                    ((ax - x0) * ny + ay - y0) * nz + z - z0,
                    (ax * EDGE + ay) * EDGE_ROWS + z,
                    x * BLOCK_NODES + y,
                );
            }
        }
    }
}

/// Assigns every stencil box its rows in the pool; returns the number of rows.
pub(crate) fn assign_pool_rows(stencil_boxes: &mut [StencilBox]) -> usize {
    let mut row = 0;
    for stencil_box in stencil_boxes {
        stencil_box.first_row = row as u32;
        row += stencil_box.rows();
    }
    row
}

/// The stencil boxes of consecutive blocks and their part of the pool.
pub(crate) struct StencilPoolSlice<'a> {
    pub stencil_boxes: &'a [StencilBox],
    pub rows: &'a mut [F32x16],
}

impl Shares for StencilPoolSlice<'_> {
    fn split(self, _: &[ParticleBlock], middle: usize) -> (Self, Self) {
        let (boxes_a, boxes_b) = self.stencil_boxes.split_at(middle);
        let at = (boxes_b[0].first_row - boxes_a[0].first_row) as usize;
        let (rows_a, rows_b) = self.rows.split_at_mut(at);
        (Self { stencil_boxes: boxes_a, rows: rows_a }, Self { stencil_boxes: boxes_b, rows: rows_b })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::NEIGHBOURS;

    /// Every row of a stencil box lies in exactly one neighbour, at the index that the node's
    /// coordinates give.
    #[test]
    fn every_row_of_a_window_is_shared_with_one_neighbour() {
        let axis: Vec<(f32, f32)> = vec![(-0.5, 5.49), (-0.5, -0.5), (0.5, 4.49), (1.7, 2.2), (4.5, 5.49)];
        for &x in &axis {
            for &y in &axis {
                for &z in &axis {
                    let stencil_box = StencilBox::around([x.0, y.0, z.0], [x.1, y.1, z.1]);
                    let mut seen = vec![0; stencil_box.rows()];
                    let mut scratchpad_rows = vec![0; stencil_box.rows()];
                    stencil_box.for_each_row(|w, a| scratchpad_rows[w] = a);
                    for n in 0..NEIGHBOURS {
                        stencil_box.for_each_shared_row(n, |w, a, b| {
                            seen[w] += 1;
                            assert_eq!(scratchpad_rows[w], a);
                            let o = neighbour_offset(n);
                            let scratchpad =
                                [a / EDGE_ROWS / EDGE, a / EDGE_ROWS % EDGE].map(|i| i as i32 - 1);
                            let block = [4 * o[0] + b as i32 / 4, 4 * o[1] + b as i32 % 4];
                            assert_eq!((scratchpad, a % EDGE_ROWS), (block, (o[2] + 1) as usize));
                        });
                    }
                    assert!(seen.iter().all(|&s| s == 1), "{stencil_box:?}: {seen:?}");
                }
            }
        }
    }

    /// The bounds of a stencil box contain the positions of its particles, and are at most a cell
    /// from them, along z at most four: stencils begin on whole nodes, rows on every fourth.
    #[test]
    fn bounds_hold_the_positions() {
        const SEED: u64 = 11;
        let mut random = pliant_testing::random::Random(SEED);
        for case in 0..1000 {
            let mut ends =
                || [0, 1, 2].map(|_| random.uniform(LOWEST.into(), f64::from(HIGHEST) - 1e-3) as f32);
            let (a, b) = (ends(), ends());
            let (low, high) =
                ([0, 1, 2].map(|d: usize| a[d].min(b[d])), [0, 1, 2].map(|d: usize| a[d].max(b[d])));
            let [from, to] = StencilBox::around(low, high).bounds();
            for d in 0..3 {
                let (below, above) = (f64::from(low[d]) - from[d], to[d] - f64::from(high[d]));
                let most = if d == 2 { 4.0 } else { 1.0 };
                assert!(
                    (-1e-6..=most).contains(&below) && (-1e-6..=most).contains(&above),
                    "seed {SEED}, case {case}, axis {d}: {from:?} {low:?} {high:?} {to:?}"
                );
            }
        }
    }
}
