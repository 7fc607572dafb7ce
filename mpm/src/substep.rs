//! The two halves of a substep.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::arena::{Arena, PoolShare, Window, place};
use crate::detail::{self, Detail, FindDetail};
use crate::engine::{FreeMotion, Mpm, NODE_CHUNK, Tiles};
use crate::error::MpmError;
use crate::g2p::{GridToParticles, Outcome};
use crate::grid::{FreeMotionSums, GridPass};
use crate::p2g::ParticlesToGrid;
use crate::tiles::{ParticleBlock, PerBlock, par_blocks, resize};
use pliant_numeric::simd::Row;

impl Mpm {
    /// Particles to grid, then the nodes' free motion: v* = (m v)_i / m_i + dt g, then boundary
    /// conditions.
    ///
    /// `dt` is the substep [s], `gravity` in m/s^2, world frame. Does nothing once a particle is
    /// lost.
    pub fn particles_to_grid(&mut self, dt: f64, gravity: Vector3<f64>) -> FreeMotion {
        if self.lost.is_some() {
            return FreeMotion::default();
        }
        self.gravity = gravity;
        if self.order.must_sort {
            self.sort();
        }
        self.find_details(dt);
        self.scatter(dt, false);
        self.free_motion(gravity * dt, true)
    }

    /// What granular particles do that the grid does not hold, to be given back after this substep
    /// of `dt` [s].
    fn find_details(&mut self, dt: f64) {
        self.kept_detail = detail::kept(self.gravity.norm(), self.grid_spacing, dt) as f32;
        if !self.keeps_details || self.kept_detail == 0.0 {
            self.details.clear();
            return;
        }
        self.scatter(0.0, true);
        self.free_motion(Vector3::zeros(), false);
        resize(&mut self.details, self.store.kinematics.len(), [Row::ZERO; detail::ROWS]);
        let (level, h) = (self.level, self.grid_spacing as f32);
        let (nodes, around) = (&self.nodes, &self.topology.nodes_of_particles);
        let (kinematics, windows) = (&self.store.kinematics, &self.windows);
        let work = |b: usize, block: &ParticleBlock, details: &mut [Detail], _: &mut Outcome| {
            Arena::with(|arena| {
                level.run(FindDetail {
                    block,
                    kinematics: &kinematics[block.range()],
                    details,
                    window: &windows[b],
                    around: &around[b],
                    nodes,
                    arena,
                    grid_spacing: h,
                });
            });
        };
        par_blocks(0, &self.store.blocks, &mut self.details[..], &mut self.outcomes, &work);
    }

    /// Particles, or only the granular ones, to windows, with the impulses of `dt` [s].
    fn scatter(&mut self, dt: f64, granular: bool) {
        let rows = place(&mut self.windows);
        if rows > self.pool.len() {
            // Windows grow as particles drift: room for that, so that it is done rarely.
            self.pool = Vec::new();
            resize(&mut self.pool, rows + rows / 3, Row::ZERO);
        }
        let (level, h) = (self.level, self.grid_spacing as f32);
        let (store, windows) = (&self.store, &self.windows);
        let granular_of = granular.then_some(&self.materials[..]);
        let cloth_from = self.sheets.is_some().then_some(self.materials.len());
        let work = |b: usize, block: &ParticleBlock, share: PoolShare, runs: &mut u32| {
            *runs = Arena::with(|arena| {
                level.run(ParticlesToGrid {
                    block,
                    kinematics: &store.kinematics[block.range()],
                    deformation: &store.deformation[block.range()],
                    window: &windows[b],
                    rows: share.rows,
                    arena,
                    grid_spacing: h,
                    dt: dt as f32,
                    cloth_from,
                    granular_of,
                })
            });
        };
        let pool = PoolShare { windows, rows: &mut self.pool[..rows] };
        par_blocks(0, &store.blocks, pool, &mut self.runs, &work);
        self.order.runs = self.runs.iter().map(|&r| u64::from(r)).sum();
        if self.order.runs_when_sorted == 0 {
            self.order.runs_when_sorted = self.order.runs;
        }
    }

    /// Sums the windows and moves the nodes, by the boundary conditions or without them.
    fn free_motion(&mut self, gravity_step: Vector3<f64>, bounded: bool) -> FreeMotion {
        let (level, grid_spacing, origin) = (self.level, self.grid_spacing, self.frame.origin);
        let planes = if bounded { &self.planes[..] } else { &[] };
        let (windows, pool) = (&self.windows, &self.pool);
        let (keys, around) = (&self.topology.keys, &self.topology.particles_of_nodes);
        let chunks = self.nodes.par_chunks_mut(NODE_CHUNK).zip(&mut self.sums).enumerate();
        chunks.for_each(|(c, (blocks, sums))| {
            *sums = FreeMotionSums::default();
            for (b, block) in (c * NODE_CHUNK..).zip(blocks) {
                let (key, neighbours) = (keys[b], &around[b]);
                *sums += level.run(GridPass {
                    block,
                    key,
                    neighbours,
                    windows,
                    pool,
                    gravity_step,
                    planes,
                    grid_spacing,
                    origin,
                });
            }
        });
        let mut total = FreeMotionSums::default();
        for &sums in &self.sums {
            total += sums;
        }
        FreeMotion {
            mass: total.mass,
            gravity: total.gravity,
            boundary: total.boundary,
            work: total.work,
            boundary_work: Some(total.boundary_work),
        }
    }

    /// Grid to particles with the node velocities as they are now, then the particles' motion and
    /// stress.
    ///
    /// # Errors
    /// [`MpmError::LostParticle`] if a particle's position is not a number, or it moved more than
    /// two cells in this substep `dt` [s]. The particles then stay as they are, and every later
    /// call gives the same error until [`Mpm::read_state`].
    pub fn grid_to_particles(&mut self, dt: f64) -> Result<(), MpmError> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let (level, h) = (self.level, self.grid_spacing as f32);
        let (nodes, around, materials) = (&self.nodes, &self.topology.nodes_of_particles, &self.materials);
        let sheets = self.sheets.as_deref().map_or(&[][..], |sheets| &sheets.materials);
        let (details, kept_detail) = (&self.details, self.kept_detail);
        let grid_velocity = self.frame.velocity.map(|v| v as f32).into();
        let work = |b: usize,
                    block: &ParticleBlock,
                    ((kinematics, deformation), PerBlock(window)): (Tiles, PerBlock<Window>),
                    outcome: &mut Outcome| {
            *outcome = Arena::with(|arena| {
                level.run(GridToParticles {
                    block,
                    kinematics,
                    deformation,
                    window: &mut window[0],
                    around: &around[b],
                    nodes,
                    arena,
                    materials,
                    sheets,
                    grid_spacing: h,
                    grid_velocity,
                    dt: dt as f32,
                    details: details.get(block.range()).unwrap_or_default(),
                    kept_detail,
                })
            });
        };
        let tiles = (&mut self.store.kinematics[..], &mut self.store.deformation[..]);
        let shares = (tiles, PerBlock(&mut self.windows[..]));
        par_blocks(0, &self.store.blocks, shares, &mut self.outcomes, &work);
        self.advance_sheets(dt);
        self.frame.origin = self.frame.after(dt);
        self.order.must_sort |= self.outcomes.iter().any(|o| o.sort);
        let lost = self.outcomes.iter().enumerate().find_map(|(b, o)| o.lost.map(|lost| (b, lost)));
        self.lost = lost.map(|(b, (tile, lane))| self.lost_particle(b, tile as usize, lane as usize));
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// What only sheets do, unless G2P lost a particle already.
    fn advance_sheets(&mut self, dt: f64) {
        let lost = self.outcomes.iter().any(|o| o.lost.is_some());
        if let Some(sheets) = self.sheets.as_mut().filter(|_| !lost) {
            sheets.advance(&self.store, self.frame.after(dt), dt, self.gravity);
            self.scatter_sheets();
        }
    }

    /// Lets the pins of cloth act on the grid in the substep of `dt` from `time` on [s]. To be
    /// called between [`Mpm::particles_to_grid`] and whatever else changes node velocities.
    pub fn hold_pins(&mut self, time: f64, dt: f64) {
        if let Some(sheets) = self.sheets.as_mut().filter(|_| self.lost.is_none()) {
            sheets.hold_grid(&self.store, &self.topology, &mut self.nodes, self.frame.origin, (time, dt));
        }
    }

    fn lost_particle(&self, block: usize, tile: usize, lane: usize) -> MpmError {
        let view = self.block(block);
        let i = tile * pliant_numeric::simd::LANES + lane;
        MpmError::LostParticle {
            id: view.id(i),
            position: view.position(i).coords,
            velocity: view.velocity(i),
        }
    }
}
