//! Sorting the particles by block and cell.
//!
//! Particles move less than a block between sorts, so every new block gathers from its 27 old
//! neighbours, in a fixed order: parallel, without atomics, and the same order of particles for any
//! number of threads.

use rayon::prelude::*;

use crate::tiles::{
    BLOCK_CELLS, BlockKey, Half, ParticleBlock, ParticleStore, kinematics, padding_value, par_blocks, resize,
};
use pliant_numeric::simd::{F32x16, LANES};

/// Number of neighbours of a block, itself included.
pub(crate) const NEIGHBOURS: usize = 27;

/// Cells in a block.
const CELLS: usize = 64;

/// Rows of a tile that are permuted in one pass. More would need more spare memory, fewer more
/// passes.
const ROWS_AT_ONCE: usize = 3;

/// Smallest number of tiles in a parallel job.
const TILE_GRAIN: usize = 16;

/// Marks a lane without a particle.
const NO_SOURCE: u32 = u32::MAX;

/// Offset of each neighbour in blocks, each component in -1..=1; x slowest.
static OFFSETS: [[i32; 3]; NEIGHBOURS] = {
    let mut offsets = [[0; 3]; NEIGHBOURS];
    let mut n = 0;
    while n < NEIGHBOURS {
        offsets[n] = [n as i32 / 9 - 1, n as i32 / 3 % 3 - 1, n as i32 % 3 - 1];
        n += 1;
    }
    offsets
};

/// Offset of neighbour `n` in blocks.
#[inline(always)]
pub(crate) fn neighbour_offset(n: usize) -> [i32; 3] {
    OFFSETS[n]
}

/// The key one neighbour over; indices wrap at the ends of the 32-bit range.
pub(crate) fn neighbour_key(key: BlockKey, n: usize) -> BlockKey {
    let o = neighbour_offset(n);
    [key[0].wrapping_add(o[0]), key[1].wrapping_add(o[1]), key[2].wrapping_add(o[2])]
}

/// Destination of a particle at `position` (cells from its block's corner): neighbour, then cell,
/// in one number. The cell is that of the lowest node of its stencil.
fn destination(position: [f32; 3]) -> u16 {
    let (mut neighbour, mut cell) = (0, 0);
    for x in position {
        let base = (x - 0.5).floor() as i32;
        let block = base.div_euclid(BLOCK_CELLS).clamp(-1, 1);
        neighbour = neighbour * 3 + (block + 1);
        cell = cell * 4 + (base - block * BLOCK_CELLS).clamp(0, BLOCK_CELLS - 1);
    }
    (neighbour * CELLS as i32 + cell) as u16
}

/// Buffers of the sort, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorter {
    /// Destination of every particle, by old tile.
    codes: Vec<[u16; LANES]>,
    /// Bit n: some particle of this old block goes to its neighbour n.
    leaving: Vec<u32>,
    new_keys: Vec<BlockKey>,
    new_blocks: Vec<ParticleBlock>,
    /// First particle of each cell within its new block.
    cell_starts: Vec<[u32; CELLS]>,
    /// Source of each lane of the new tiles: old tile * 16 + lane.
    sources: Vec<[u32; LANES]>,
    /// Some rows of every new tile.
    spare: Vec<[F32x16; ROWS_AT_ONCE]>,
}

impl Sorter {
    /// Sorts the store; returns whether the set of blocks changed.
    pub(crate) fn sort(&mut self, store: &mut ParticleStore) -> bool {
        self.find_destinations(store);
        self.list_new_blocks(store);
        self.count(store);
        self.locate(store);
        self.permute(&mut store.kinematics, Half::Kinematics);
        self.permute(&mut store.deformation, Half::Deformation);
        let same = store.blocks.len() == self.new_blocks.len()
            && store.blocks.iter().zip(&self.new_blocks).all(|(a, b)| a.key == b.key);
        core::mem::swap(&mut store.blocks, &mut self.new_blocks);
        !same
    }

    fn find_destinations(&mut self, store: &ParticleStore) {
        resize(&mut self.codes, store.kinematics.len(), [0; LANES]);
        self.leaving.clear();
        resize(&mut self.leaving, store.blocks.len(), 0);
        let tiles = &store.kinematics;
        par_blocks(0, &store.blocks, &mut self.codes[..], &mut self.leaving, &|_, block, codes, leaving| {
            for (t, codes) in codes.iter_mut().enumerate() {
                let tile = &tiles[block.first_tile as usize + t];
                for l in 0..block.lanes(t) {
                    let position = core::array::from_fn(|d| tile[kinematics::POSITION + d].0[l]);
                    codes[l] = destination(position);
                    *leaving |= 1 << (codes[l] as usize / CELLS);
                }
            }
        });
    }

    /// The blocks that will hold particles, in the order of their keys.
    fn list_new_blocks(&mut self, store: &ParticleStore) {
        self.new_keys.clear();
        for (block, &leaving) in store.blocks.iter().zip(&self.leaving) {
            let keys = (0..NEIGHBOURS).filter(|n| leaving >> n & 1 == 1).map(|n| neighbour_key(block.key, n));
            self.new_keys.extend(keys);
        }
        self.new_keys.sort_unstable();
        self.new_keys.dedup();
    }

    /// Particles in each new block and cell.
    fn count(&mut self, store: &ParticleStore) {
        self.new_blocks.clear();
        self.new_blocks.extend(self.new_keys.iter().map(|&key| ParticleBlock {
            key,
            first_tile: 0,
            count: 0,
        }));
        resize(&mut self.cell_starts, self.new_keys.len(), [0; CELLS]);
        let (codes, leaving) = (&self.codes, &self.leaving);
        self.new_blocks.par_iter_mut().zip(&mut self.cell_starts).for_each(|(block, starts)| {
            *starts = [0; CELLS];
            for_each_arrival(block.key, store, codes, leaving, |cell, _| starts[cell] += 1);
            let mut sum = 0;
            for start in starts {
                sum += core::mem::replace(start, sum);
            }
            block.count = sum;
        });
        let mut tile = 0;
        for block in &mut self.new_blocks {
            block.first_tile = tile;
            tile += block.tiles() as u32;
        }
        resize(&mut self.sources, tile as usize, [NO_SOURCE; LANES]);
    }

    /// Finds the source of every lane of the new tiles.
    fn locate(&mut self, store: &ParticleStore) {
        let (codes, leaving) = (&self.codes, &self.leaving);
        let work =
            |_: usize, block: &ParticleBlock, sources: &mut [[u32; LANES]], next: &mut [u32; CELLS]| {
                if let Some(last) = sources.last_mut() {
                    *last = [NO_SOURCE; LANES];
                }
                for_each_arrival(block.key, store, codes, leaving, |cell, source| {
                    let at = next[cell] as usize;
                    next[cell] += 1;
                    sources[at / LANES][at % LANES] = source;
                });
            };
        par_blocks(0, &self.new_blocks, &mut self.sources[..], &mut self.cell_starts, &work);
    }

    /// Permutes one half of the state, some rows at a time, so that no second copy of it is needed.
    fn permute<const ROWS: usize>(&mut self, tiles: &mut Vec<[F32x16; ROWS]>, half: Half) {
        let count = self.sources.len();
        if tiles.len() < count {
            resize(tiles, count, [F32x16::ZERO; ROWS]);
        }
        resize(&mut self.spare, count, [F32x16::ZERO; ROWS_AT_ONCE]);
        for first in (0..ROWS).step_by(ROWS_AT_ONCE) {
            let (codes, old) = (&self.codes, &tiles[..]);
            self.spare.par_iter_mut().zip(&self.sources).with_min_len(TILE_GRAIN).for_each(
                |(rows, sources)| {
                    gather_rows(rows, first, half, old, sources, codes);
                },
            );
            tiles.par_iter_mut().zip(&self.spare).with_min_len(TILE_GRAIN).for_each(|(tile, rows)| {
                for (row, new) in tile[first..].iter_mut().zip(rows) {
                    *row = *new;
                }
            });
        }
        tiles.truncate(count);
    }
}

/// Rows `first..` of a new tile (as many as it has and `rows` holds), whose lanes come from
/// `sources`.
fn gather_rows<const ROWS: usize>(
    rows: &mut [F32x16; ROWS_AT_ONCE],
    first: usize,
    half: Half,
    old: &[[F32x16; ROWS]],
    sources: &[u32; LANES],
    codes: &[[u16; LANES]],
) {
    let lanes = sources.iter().position(|&s| s == NO_SOURCE).unwrap_or(LANES);
    for (l, &source) in sources[..lanes].iter().enumerate() {
        let (tile, lane) = (&old[source as usize / LANES], source as usize % LANES);
        for (row, old) in rows.iter_mut().zip(&tile[first..]) {
            row.0[l] = old.0[lane];
        }
    }
    for (row, r) in rows.iter_mut().zip(first..ROWS) {
        if half == Half::Kinematics && r < kinematics::POSITION + 3 {
            // From the corner of the new block.
            for (x, &source) in row.0.iter_mut().zip(&sources[..lanes]) {
                let (tile, lane) = (source as usize / LANES, source as usize % LANES);
                let offset = neighbour_offset(codes[tile][lane] as usize / CELLS)[r % 3];
                let moved = (BLOCK_CELLS * offset) as f32;
                if r < kinematics::POSITION {
                    // What rounding will take from the position, whose rows come next.
                    let position = old[tile][kinematics::POSITION + r].0[lane];
                    *x += position - ((position - moved) + moved);
                } else {
                    *x -= moved;
                }
            }
            let padding = if r < kinematics::POSITION { 0.0 } else { row.0[0] };
            row.0[lanes..].fill(padding);
        } else {
            row.0[lanes..].fill(padding_value(half, r));
        }
    }
}

/// Calls `arrive(cell, source)` for every particle that goes to the block `key`, in the old order.
fn for_each_arrival(
    key: BlockKey,
    store: &ParticleStore,
    codes: &[[u16; LANES]],
    leaving: &[u32],
    mut arrive: impl FnMut(usize, u32),
) {
    for n in 0..NEIGHBOURS {
        // For the old block at offset n this block is the opposite neighbour.
        let Ok(from) = store.blocks.binary_search_by(|b| b.key.cmp(&neighbour_key(key, n))) else { continue };
        let direction = NEIGHBOURS - 1 - n;
        if leaving[from] >> direction & 1 == 0 {
            continue;
        }
        let block = &store.blocks[from];
        for (t, tile) in block.range().enumerate() {
            for (l, &code) in codes[tile][..block.lanes(t)].iter().enumerate() {
                if code as usize / CELLS == direction {
                    arrive(code as usize % CELLS, (tile * LANES + l) as u32);
                }
            }
        }
    }
}

impl Sorter {
    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.codes.capacity() * size_of::<[u16; LANES]>()
            + self.leaving.capacity() * 4
            + self.new_keys.capacity() * size_of::<BlockKey>()
            + self.new_blocks.capacity() * size_of::<ParticleBlock>()
            + self.cell_starts.capacity() * size_of::<[u32; CELLS]>()
            + self.sources.capacity() * size_of::<[u32; LANES]>()
            + self.spare.capacity() * size_of::<[F32x16; ROWS_AT_ONCE]>()
    }
}
