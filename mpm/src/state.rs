//! Saving and restoring the particles, bit for bit.

use std::io::{Read, Write};

use nalgebra::Vector3;

use crate::engine::{GridFrame, Mpm, SortState};
use crate::error::MpmError;
use crate::g2p::SORT_REACH;
use crate::scratchpad::{HIGHEST, LOWEST};
use crate::store::{locate_particle, padding};
use crate::stored::ParticleRecord;
use crate::tiles::{DeformationTile, Half, KinematicsTile, ParticleBlock, ParticleStore, kinematics};
use pliant_numeric::simd::{F32x16, LANES};

/// First bytes of a saved state; the digit is its version.
const MAGIC: &[u8; 8] = b"pliantM4";

/// Bound on what rounding leaves of a position \[cells\]: half of a unit in the last place of f32 at 8 cells,
/// which is 2.4e-7, once from a sum and once from the sort, with room.
const MOST_LOW: f32 = 1e-6;

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
            self.order.cell_runs,
            self.substeps,
        ] {
            put(&n.to_le_bytes())?;
        }
        let vectors = [&self.frame.origin, &self.frame.velocity, &self.gravity];
        for x in vectors.into_iter().flatten().chain([&self.last_substep]) {
            put(&x.to_bits().to_le_bytes())?;
        }
        for (block, outcome) in self.store.blocks.iter().zip(&self.outcomes) {
            for k in block.key {
                put(&k.to_le_bytes())?;
            }
            put(&block.count.to_le_bytes())?;
            put(&outcome.speed_squared.to_bits().to_le_bytes())?;
        }
        let rows = self.store.kinematics.iter().flatten().chain(self.store.deformation.iter().flatten());
        for x in rows.flat_map(|row| row.0) {
            put(&x.to_bits().to_le_bytes())?;
        }
        for x in self.sheets.iter().flat_map(|sheets| sheets.saved()) {
            put(&x.to_bits().to_le_bytes())?;
        }
        Ok(())
    }

    /// Takes a state written by [`Mpm::write_state`] of a model with as many particles. On an error
    /// the particles are as before.
    ///
    /// # Errors
    /// [`MpmError::Checkpoint`] with what does not fit.
    pub fn read_state(&mut self, input: &mut impl Read) -> Result<(), MpmError> {
        let mut magic = [0; 8];
        input.read_exact(&mut magic).map_err(failed)?;
        if &magic != MAGIC {
            return Err(malformed("not a particle state of this version"));
        }
        let mut header = [0_u64; 7];
        for n in &mut header {
            *n = read_u64(input)?;
        }
        let frame = GridFrame { origin: read_vector(input)?, velocity: read_vector(input)? };
        let (gravity, last_substep) = (read_vector(input)?, f64::from_bits(read_u64(input)?));
        if !(last_substep >= 0.0 && last_substep.is_finite()) {
            return Err(malformed(format!("its last substep is {last_substep} s")));
        }
        let [count, blocks, tiles, must_sort, runs_when_sorted, cell_runs, substeps] = header;
        if count != self.len() as u64 {
            return Err(malformed(format!("it has {count} particles, this model {}", self.len())));
        }
        if blocks > count || tiles > count {
            return Err(malformed(format!("{blocks} blocks and {tiles} tiles for {count} particles")));
        }
        let (store, speeds) = read_store(input, blocks as usize, tiles as usize, count)?;
        self.check_contents(&store, must_sort != 0)?;
        let of_sheets = self.read_sheets(input)?;
        self.store = store;
        self.frame = frame;
        (self.gravity, self.last_substep, self.substeps) = (gravity, last_substep, substeps);
        self.lost = None;
        self.order = SortState { must_sort: must_sort != 0, runs_when_sorted, cell_runs };
        self.rebuild_grid();
        if let Some(sheets) = &mut self.sheets {
            sheets.restore_saved(&of_sheets);
        }
        self.fetch_sheets();
        for (outcome, speed) in self.outcomes.iter_mut().zip(speeds) {
            outcome.speed_squared = speed;
        }
        Ok(())
    }

    /// Takes the state of all particles, bit for bit; those of a block in the order given.
    /// [`BlockView::stored`](crate::BlockView::stored) reads them. On an error the particles are as
    /// before.
    ///
    /// # Errors
    /// [`MpmError::Checkpoint`] where particles are missing or doubled, out of reach of their
    /// block, or of an unknown material, or where the second part of a position is no rounding.
    pub fn set_particles(&mut self, particles: &[ParticleRecord]) -> Result<(), MpmError> {
        if particles.len() != self.len() {
            return Err(malformed(format!(
                "{} particles given; the model has {}",
                particles.len(),
                self.len()
            )));
        }
        let mut order: Vec<u32> = (0..particles.len() as u32).collect();
        // Stable: within a block as given.
        order.sort_by_key(|&i| particles[i as usize].block);
        let of = |&i: &u32| &particles[i as usize];
        let mut store = ParticleStore::default();
        for group in order.chunk_by(|a, b| of(a).block == of(b).block) {
            let first_tile = store.kinematics.len() as u32;
            let key = of(&group[0]).block;
            store.blocks.push(ParticleBlock { key, first_tile, count: group.len() as u32 });
            for chunk in group.chunks(LANES) {
                let mut motion: KinematicsTile = padding(Half::Kinematics);
                let mut strain: DeformationTile = padding(Half::Deformation);
                for (l, particle) in chunk.iter().enumerate() {
                    let (of_motion, of_strain) = of(particle).rows();
                    motion.iter_mut().zip(of_motion).for_each(|(row, value)| row.0[l] = value);
                    strain.iter_mut().zip(of_strain).for_each(|(row, value)| row.0[l] = value);
                }
                for row in &mut motion[kinematics::POSITION..][..3] {
                    let first = row.0[0];
                    row.0[chunk.len()..].fill(first);
                }
                store.kinematics.push(motion);
                store.deformation.push(strain);
            }
        }
        let here = |x: &f32| (LOWEST..HIGHEST).contains(x);
        let must_sort = particles.iter().any(|p| !p.position.iter().all(here));
        self.check_contents(&store, must_sort)?;
        self.store = store;
        self.lost = None;
        self.order = SortState { must_sort, runs_when_sorted: 0, cell_runs: 0 };
        self.rebuild_grid();
        if let Some(sheets) = &mut self.sheets {
            sheets.fetch(&self.store);
            sheets.place_ropes();
        }
        self.fetch_sheets();
        let fastest = particles.iter().map(|p| p.velocity.iter().map(|v| v * v).sum()).fold(0.0, f32::max);
        self.outcomes.iter_mut().for_each(|o| o.speed_squared = fastest);
        Ok(())
    }

    /// Moves the grid's origin to the world's, at rest, for backends that require it. Positions are
    /// rounded once more.
    ///
    /// # Errors
    /// [`MpmError::InvalidParticle`] where a particle is too far from the world's origin.
    pub fn reset_grid_frame(&mut self) -> Result<(), MpmError> {
        if self.frame == GridFrame::default() {
            return Ok(());
        }
        let mut particles = Vec::with_capacity(self.len());
        for b in 0..self.block_count() {
            let view = self.block(b);
            for i in 0..view.len() {
                let mut particle = view.stored(i);
                let place = locate_particle(particle.id as usize, &view.position(i), self.grid_spacing)?;
                (particle.block, particle.position, particle.position_low) =
                    (place.key, place.local, place.low);
                particles.push(particle);
            }
        }
        self.frame = GridFrame::default();
        self.set_particles(&particles)
    }

    /// What sheets and ropes have beside their particles, which it follows.
    fn read_sheets(&self, input: &mut impl Read) -> Result<Vec<f64>, MpmError> {
        let Some(sheets) = &self.sheets else { return Ok(Vec::new()) };
        let mut figures = vec![0.0; sheets.saved_len()];
        for x in &mut figures {
            *x = f64::from_bits(read_u64(input)?);
        }
        sheets.check_saved(&figures).map_err(malformed)?;
        Ok(figures)
    }

    /// Updates the sheets from their particles.
    fn fetch_sheets(&mut self) {
        if let Some(sheets) = &mut self.sheets {
            sheets.forget_contact();
            sheets.fetch(&self.store);
            sheets.measure(&self.store);
        }
    }

    /// Every particle once; every lane, padding included, with a known material and within reach of
    /// the next transfer (or of the sort before it).
    fn check_contents(&self, store: &ParticleStore, must_sort: bool) -> Result<(), MpmError> {
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
                            "particle {id} is {position:?} cells from the corner of its block, \
                             outside the block's stencils"
                        )));
                    }
                    let low = [0, 1, 2].map(|d| tile[kinematics::POSITION_LOW + d].0[l]);
                    if !low.iter().all(|x| x.abs() <= MOST_LOW) {
                        return Err(malformed(format!(
                            "particle {id}: what rounding left of its position is {low:?} cells, \
                             beyond {MOST_LOW:e}"
                        )));
                    }
                    let padding = l >= block.lanes(t);
                    let fresh = padding || seen.get_mut(id).is_some_and(|s| !core::mem::replace(s, true));
                    let belongs = match self.sheets.as_ref().filter(|sheets| !padding && id >= sheets.first())
                    {
                        Some(sheets) => {
                            sheets.sheet_of(id).is_some_and(|sheet| self.materials.len() + sheet == material)
                        }
                        // Padding may have any material, that of a sheet if there are no others.
                        None => material < if padding { self.densities.len() } else { self.materials.len() },
                    };
                    if !fresh || !belongs {
                        return Err(malformed(format!(
                            "particle {id} has material {material}, which particle data of this \
                             kind cannot hold"
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}

fn read_u64(input: &mut impl Read) -> Result<u64, MpmError> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes).map_err(failed)?;
    Ok(u64::from_le_bytes(bytes))
}

/// A vector of finite numbers.
fn read_vector(input: &mut impl Read) -> Result<Vector3<f64>, MpmError> {
    let mut v = Vector3::zeros();
    for x in &mut v {
        *x = f64::from_bits(read_u64(input)?);
    }
    if v.iter().all(|x| x.is_finite()) {
        Ok(v)
    } else {
        Err(malformed(format!("the grid frame has a value that is not finite: {v:?}")))
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
) -> Result<(ParticleStore, Vec<f32>), MpmError> {
    let mut store = ParticleStore::default();
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

fn read_tiles<const ROWS: usize>(
    input: &mut impl Read,
    count: usize,
) -> Result<Vec<[F32x16; ROWS]>, MpmError> {
    let mut tiles = vec![[F32x16::ZERO; ROWS]; count];
    for tile in &mut tiles {
        for row in tile {
            for x in &mut row.0 {
                *x = f32::from_bits(read_u32(input)?);
            }
        }
    }
    Ok(tiles)
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix3, Point3, Vector3};

    use super::*;
    use crate::material::{Elastic, Material, Model};
    use crate::{InstructionSet, ParticleState};
    use pliant_testing::random::Random;

    /// A written state is read again, bit for bit, in any order of the blocks; a state that does
    /// not fit the model is refused and changes nothing.
    #[test]
    fn stored_particles_go_in_as_they_came_out() {
        let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 };
        let materials = vec![Material { density: 1e3, model: Model::NeoHookean(elastic) }];
        let mut random = Random(5);
        let states: Vec<_> = (0..200)
            .map(|_| {
                let mut at = |scale: f64| Vector3::from(random.vec3(-scale, scale));
                let (position, velocity) = (Point3::from(at(0.5)), at(1.0));
                let mut state = ParticleState::new(position, velocity, 1e-6, 0);
                state.affine = Matrix3::from(random.mat3(-1.0, 1.0));
                state
            })
            .collect();
        let mut mpm = Mpm::new(0.05, materials, &states, &[], InstructionSet::detect()).unwrap();
        let bits = |mpm: &Mpm| {
            let mut bytes = Vec::new();
            mpm.write_state(&mut bytes).unwrap();
            bytes
        };
        let mut stored = Vec::new();
        for b in (0..mpm.block_count()).rev() {
            let view = mpm.block(b);
            stored.extend((0..view.len()).map(|i| view.stored(i)));
        }
        let before = bits(&mpm);
        mpm.set_particles(&stored).unwrap();
        // All except the speeds of the blocks, which are that of the fastest particle of all.
        let speeds = 104 + 20 * mpm.block_count();
        assert!(bits(&mpm)[speeds..] == before[speeds..]);

        let before = bits(&mpm);
        let refused = |change: fn(&mut Vec<ParticleRecord>)| {
            let mut wrong = stored.clone();
            change(&mut wrong);
            let mut mpm = mpm.clone();
            let error = mpm.set_particles(&wrong).unwrap_err();
            assert!(bits(&mpm) == before);
            error.to_string()
        };
        assert!(refused(|p| p.truncate(7)).contains("7 particles given; the model has 200"));
        assert!(refused(|p| p[3].id = p[4].id).contains("cannot hold"));
        assert!(refused(|p| p[3].material = 1).contains("has material 1"));
        assert!(refused(|p| p[3].position_low[1] = 1e-3).contains("what rounding left"));
        assert!(refused(|p| p[3].position_low[2] = f32::NAN).contains("what rounding left"));
        assert!(refused(|p| p[3].position[1] = f32::NAN).contains("outside the block's stencils"));
    }
}
