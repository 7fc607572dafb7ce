//! Particle storage: tiles of sixteen, one row of sixteen lanes for each quantity.
//!
//! A tile is the unit that one pass of the kernels loads; its rows are whole cache lines. The state
//! is split in two arrays of tiles (kinematics and deformation). A block of the grid owns whole
//! tiles, and pads its last one with particles of zero mass.
//!
//! Positions are in cells relative to the corner of the particle's block, so that precision does
//! not depend on the position in the world: 24 bits below four cells, at any block index. What a
//! particle moves in a substep may be less than one of these bits, so a position is the unevaluated
//! sum of two f32 (Dekker 1971), which compensated summation keeps (Kahan 1965): no motion is lost.

use pliant_numeric::simd::{F32x16, LANES, Lanes, Simd};

/// Sixteen particles' worth of one half of the state.
pub(crate) type KinematicsTile = [F32x16; kinematics::ROWS];

/// Sixteen particles' worth of the other half.
pub(crate) type DeformationTile = [F32x16; deformation::ROWS];

/// Prefetches rows of a tile that are needed soon: the transfers compute for long enough to hide
/// the latency.
#[inline(always)]
pub(crate) fn prefetch<S: Simd>(rows: &[F32x16]) {
    for row in rows {
        S::prefetch(&row.0);
    }
}

/// Rows of a kinematics tile.
pub(crate) mod kinematics {
    /// What rounding left of the position \[cells\], 3 rows. Before it, because the sort, which goes
    /// from row to row, finds it from both.
    pub(crate) const POSITION_LOW: usize = 0;
    /// Position in cells from the block's corner, rounded, 3 rows.
    pub(crate) const POSITION: usize = 3;
    /// Velocity \[m/s\], 3 rows.
    pub(crate) const VELOCITY: usize = 6;
    /// APIC affine velocity field C \[1/s\], 9 rows, row-major.
    pub(crate) const AFFINE: usize = 9;
    /// The order in which the particle was added, as the bits of a u32.
    pub(crate) const ID: usize = 18;
    /// Index of the material, as the bits of a u32.
    pub(crate) const MATERIAL: usize = 19;
    /// Number of rows.
    pub(crate) const ROWS: usize = 20;
}

/// Rows of a deformation tile.
pub(crate) mod deformation {
    /// Elastic deformation gradient, 9 rows, row-major.
    pub(crate) const GRADIENT: usize = 0;
    /// Kirchhoff stress times rest volume [J]: xx, yy, zz, xy, xz, yz.
    pub(crate) const STRESS_VOLUME: usize = 9;
    /// Mass \[kg\]; 0 in padding.
    pub(crate) const MASS: usize = 15;
    /// The model's history variable.
    pub(crate) const STATE: usize = 16;
    /// Number of rows.
    pub(crate) const ROWS: usize = 17;
}

/// Integer index of a block of 4 x 4 x 4 cells; its corner is at `4 * key` cells.
pub(crate) type BlockKey = [i32; 3];

/// Cells along a block's edge.
pub(crate) const BLOCK_CELLS: i32 = 4;

/// A block of cells that holds particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParticleBlock {
    pub key: BlockKey,
    /// Index of its first tile.
    pub first_tile: u32,
    /// Particles in it; they fill its tiles from the front.
    pub count: u32,
}

impl ParticleBlock {
    pub(crate) fn tiles(&self) -> usize {
        (self.count as usize).div_ceil(LANES)
    }

    pub(crate) fn range(&self) -> core::ops::Range<usize> {
        let first = self.first_tile as usize;
        first..first + self.tiles()
    }

    /// Particles in its tile `t` (0 is its first).
    pub(crate) fn lanes(&self, t: usize) -> usize {
        (self.count as usize - t * LANES).min(LANES)
    }
}

/// All particles, in the order of blocks and cells of the last sort.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParticleStore {
    pub blocks: Vec<ParticleBlock>,
    pub kinematics: Vec<KinematicsTile>,
    pub deformation: Vec<DeformationTile>,
}

/// Value of a padding lane: no mass, no motion, identity deformation; its position is that of its
/// tile's first lane.
pub(crate) fn padding_value(half: Half, row: usize) -> f32 {
    match half {
        Half::Kinematics => 0.0,
        Half::Deformation if matches!(row, 0 | 4 | 8) => 1.0,
        Half::Deformation => 0.0,
    }
}

/// Which half of the state a tile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Kinematics,
    Deformation,
}

/// Runs `work` on every block, in parallel, with the block's part of `shares` and of `outputs`.
///
/// `outputs` holds one element per block. Splitting by halves allocates nothing.
pub(crate) fn par_blocks<T: Shares, O: Send>(
    first: usize,
    blocks: &[ParticleBlock],
    shares: T,
    outputs: &mut [O],
    work: &(impl Fn(usize, &ParticleBlock, T, &mut O) + Sync),
) {
    match blocks {
        [] => {}
        [block] => work(first, block, shares, &mut outputs[0]),
        _ => {
            let middle = blocks.len() / 2;
            let (shares_a, shares_b) = shares.split(blocks, middle);
            let (blocks_a, blocks_b) = blocks.split_at(middle);
            let (outputs_a, outputs_b) = outputs.split_at_mut(middle);
            rayon::join(
                || par_blocks(first, blocks_a, shares_a, outputs_a, work),
                || par_blocks(first + middle, blocks_b, shares_b, outputs_b, work),
            );
        }
    }
}

/// Data of consecutive blocks that can be split into parts.
pub(crate) trait Shares: Send + Sized {
    /// The parts of `blocks[..middle]` and of `blocks[middle..]`, both not empty.
    fn split(self, blocks: &[ParticleBlock], middle: usize) -> (Self, Self);
}

/// One element per tile.
impl<T: Send> Shares for &mut [T] {
    fn split(self, blocks: &[ParticleBlock], middle: usize) -> (Self, Self) {
        self.split_at_mut((blocks[middle].first_tile - blocks[0].first_tile) as usize)
    }
}

/// One element per block.
pub(crate) struct PerBlock<'a, T>(pub &'a mut [T]);

impl<T: Send> Shares for PerBlock<'_, T> {
    fn split(self, _: &[ParticleBlock], middle: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at_mut(middle);
        (Self(a), Self(b))
    }
}

impl<A: Shares, B: Shares> Shares for (A, B) {
    fn split(self, blocks: &[ParticleBlock], middle: usize) -> (Self, Self) {
        let (a0, a1) = self.0.split(blocks, middle);
        let (b0, b1) = self.1.split(blocks, middle);
        ((a0, b0), (a1, b1))
    }
}

/// Reserves `len` elements and an eighth more: buffers grow rarely, and never reach twice the
/// needed size.
pub(crate) fn reserve_with_slack<T>(v: &mut Vec<T>, len: usize) {
    if len > v.capacity() {
        v.reserve_exact(len + len / 8 - v.len());
    }
}

/// Resizes, with some spare capacity.
pub(crate) fn resize<T: Clone>(v: &mut Vec<T>, len: usize, value: T) {
    reserve_with_slack(v, len);
    v.resize(len, value);
}

/// `high + low` where `high` is the nearest f32, and `low` what is left; both are found again after
/// `change` was added.
#[inline(always)]
pub(crate) fn add_to_sum<S: Simd>(sum: [Lanes<S>; 2], change: Lanes<S>) -> [Lanes<S>; 2] {
    let [high, low] = sum;
    let added = change + low;
    let rounded = high + added;
    [rounded, added - (rounded - high)]
}

/// A number as the unevaluated sum of two f32.
pub(crate) fn split(x: f64) -> [f32; 2] {
    let high = x as f32;
    [high, (x - f64::from(high)) as f32]
}

/// Stores `value` in the lanes of `mask`.
#[inline(always)]
pub(crate) fn store_masked<S: Simd>(row: &mut F32x16, mask: S::M, value: Lanes<S>) {
    let kept = S::load(&row.0);
    S::store(&mut row.0, S::select(mask, value.0, kept));
}
