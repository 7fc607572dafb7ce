//! Saving and restoring the particles, bit for bit.

use std::io::{Read, Write};

use crate::arena::{HIGHEST, LOWEST};
use crate::engine::{Mpm, Order};
use crate::error::MpmError;
use crate::g2p::SORT_REACH;
use crate::simd::{LANES, Row};
use crate::tiles::{ParticleBlock, ROWS, Store, Tile, kinematics};

/// First bytes of a saved state; the digit is its version.
const MAGIC: &[u8; 8] = b"pliantM1";

fn malformed(reason: impl Into<String>) -> MpmError {
    MpmError::Checkpoint { reason: reason.into() }
}

fn failed(error: std::io::Error) -> MpmError {
    malformed(error.to_string())
}

impl Mpm {
    /// Writes the particles, in their present order, little-endian.
    ///
    /// # Errors
    /// [`MpmError::Checkpoint`] with the reason why writing failed.
    pub fn write_state(&self, out: &mut impl Write) -> Result<(), MpmError> {
        let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(failed);
        put(MAGIC)?;
        for n in [
            self.len() as u64,
            self.store.blocks.len() as u64,
            self.store.kinematics.len() as u64,
            u64::from(self.order.must_sort),
            self.order.runs_when_sorted,
            self.order.runs,
        ] {
            put(&n.to_le_bytes())?;
        }
        for (block, outcome) in self.store.blocks.iter().zip(&self.outcomes) {
            for k in block.key {
                put(&k.to_le_bytes())?;
            }
            put(&block.count.to_le_bytes())?;
            put(&outcome.speed_squared.to_bits().to_le_bytes())?;
        }
        for tile in self.store.kinematics.iter().chain(&self.store.deformation) {
            for row in tile {
                for x in row.0 {
                    put(&x.to_bits().to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Takes a state written by [`Mpm::write_state`] of a model with as many particles. On an error the particles are as
    /// before.
    ///
    /// # Errors
    /// [`MpmError::Checkpoint`] with what does not fit.
    pub fn read_state(&mut self, input: &mut impl Read) -> Result<(), MpmError> {
        let mut magic = [0; 8];
        input.read_exact(&mut magic).map_err(failed)?;
        if &magic != MAGIC {
            return Err(malformed("not a particle state of this version"));
        }
        let mut header = [0_u64; 6];
        for n in &mut header {
            let mut bytes = [0; 8];
            input.read_exact(&mut bytes).map_err(failed)?;
            *n = u64::from_le_bytes(bytes);
        }
        let [count, blocks, tiles, must_sort, runs_when_sorted, runs] = header;
        if count != self.len() as u64 {
            return Err(malformed(format!("it has {count} particles, this model {}", self.len())));
        }
        if blocks > count || tiles > count {
            return Err(malformed(format!("{blocks} blocks and {tiles} tiles for {count} particles")));
        }
        let (store, speeds) = read_store(input, blocks as usize, tiles as usize, count)?;
        self.check_contents(&store, must_sort != 0)?;
        self.store = store;
        self.lost = None;
        self.order = Order { must_sort: must_sort != 0, runs_when_sorted, runs };
        self.rebuild_grid();
        for (outcome, speed) in self.outcomes.iter_mut().zip(speeds) {
            outcome.speed_squared = speed;
        }
        Ok(())
    }

    /// Every particle once; every lane, padding included, with a known material and within reach of the next transfer (or of the
    /// sort before it).
    fn check_contents(&self, store: &Store, must_sort: bool) -> Result<(), MpmError> {
        let mut seen = vec![false; self.len()];
        let reach = if must_sort { SORT_REACH } else { 0.0 };
        for block in &store.blocks {
            for (t, tile) in store.kinematics[block.range()].iter().enumerate() {
                for l in 0..LANES {
                    let id = tile[kinematics::ID].0[l].to_bits() as usize;
                    let material = tile[kinematics::MATERIAL].0[l].to_bits() as usize;
                    let position = [0, 1, 2].map(|d| tile[kinematics::POSITION + d].0[l]);
                    if !position.iter().all(|x| (LOWEST - reach..HIGHEST + reach).contains(x)) {
                        return Err(malformed(format!(
                            "particle {id} is at {position:?} cells from its block's corner, out of reach"
                        )));
                    }
                    let padding = l >= block.lanes(t);
                    let fresh = padding || seen.get_mut(id).is_some_and(|s| !core::mem::replace(s, true));
                    if !fresh || material >= self.materials.len() {
                        return Err(malformed(format!(
                            "particle {id} of material {material} does not belong here"
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}

fn read_u32(input: &mut impl Read) -> Result<u32, MpmError> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes).map_err(failed)?;
    Ok(u32::from_le_bytes(bytes))
}

fn read_store(
    input: &mut impl Read,
    blocks: usize,
    tiles: usize,
    count: u64,
) -> Result<(Store, Vec<f32>), MpmError> {
    let mut store = Store::default();
    let mut speeds = Vec::with_capacity(blocks);
    let (mut particles, mut first_tile) = (0, 0);
    for _ in 0..blocks {
        let mut key = [0; 3];
        for k in &mut key {
            *k = read_u32(input)? as i32;
        }
        let block = ParticleBlock { key, first_tile, count: read_u32(input)? };
        speeds.push(f32::from_bits(read_u32(input)?));
        if block.count == 0 || store.blocks.last().is_some_and(|last| last.key >= key) {
            return Err(malformed(format!("block {key:?} is empty or out of order")));
        }
        particles += u64::from(block.count);
        first_tile += block.tiles() as u32;
        store.blocks.push(block);
    }
    if particles != count || first_tile as usize != tiles {
        return Err(malformed(format!("its blocks hold {particles} particles in {first_tile} tiles")));
    }
    store.kinematics = read_tiles(input, tiles)?;
    store.deformation = read_tiles(input, tiles)?;
    Ok((store, speeds))
}

fn read_tiles(input: &mut impl Read, count: usize) -> Result<Vec<Tile>, MpmError> {
    let mut tiles = vec![[Row::ZERO; ROWS]; count];
    for tile in &mut tiles {
        for row in tile {
            for x in &mut row.0 {
                *x = f32::from_bits(read_u32(input)?);
            }
        }
    }
    Ok(tiles)
}
