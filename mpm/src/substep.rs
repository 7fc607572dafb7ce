//! The two halves of a substep.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::cloth::LayerReport;
use crate::detail::{self, FindSubgridMotion, SubgridMotion};
use crate::dither::Dither;
use crate::engine::{GridMotionSums, Mpm, NODE_CHUNK, Tiles};
use crate::error::MpmError;
use crate::g2p::{BlockOutcome, GridToParticles};
use crate::grid::{FreeMotionSums, GridPass};
use crate::p2g::ParticlesToGrid;
use crate::rope::StrandReport;
use crate::scratchpad::{Scratchpad, StencilBox, StencilPoolSlice, assign_pool_rows};
use crate::sheets::ClothMeshes;
use crate::tiles::{ParticleBlock, PerBlock, par_blocks, resize};
use pliant_numeric::simd::F32x16;

impl Mpm {
    /// Particles to grid, then the nodes' free motion: v* = (m v)_i / m_i + substep g, then
    /// boundary conditions.
    ///
    /// `substep` is the substep \[s\], `gravity` in m/s^2, world frame. Does nothing once a
    /// particle is lost.
    pub fn particles_to_grid(&mut self, substep: f64, gravity: Vector3<f64>) -> GridMotionSums {
        if self.lost.is_some() {
            return GridMotionSums::default();
        }
        self.gravity = gravity;
        if self.order.must_sort {
            self.sort();
        }
        self.find_subgrid_motion(substep);
        self.scatter(self.last_substep().kick(substep), false);
        self.free_motion(gravity * substep, true)
    }

    /// Finds the subgrid motion of granular particles, to be added after this substep of `substep`
    /// \[s\].
    fn find_subgrid_motion(&mut self, substep: f64) {
        self.subgrid_fraction =
            detail::subgrid_retention(self.gravity.norm(), self.grid_spacing, substep) as f32;
        if !self.has_granular || self.subgrid_fraction == 0.0 {
            self.subgrid_motions.clear();
            return;
        }
        self.scatter(0.0, true);
        self.free_motion(Vector3::zeros(), false);
        resize(&mut self.subgrid_motions, self.store.kinematics.len(), [F32x16::ZERO; detail::ROWS]);
        let (level, h) = (self.level, self.grid_spacing as f32);
        let (nodes, around) = (&self.nodes, &self.topology.nodes_of_particles);
        let (kinematics, stencil_boxes) = (&self.store.kinematics, &self.stencil_boxes);
        let work =
            |b: usize, block: &ParticleBlock, subgrid_motions: &mut [SubgridMotion], _: &mut BlockOutcome| {
                Scratchpad::with(|scratchpad| {
                    level.run(FindSubgridMotion {
                        block,
                        kinematics: &kinematics[block.range()],
                        subgrid_motions,
                        stencil_box: &stencil_boxes[b],
                        around: &around[b],
                        nodes,
                        scratchpad,
                        grid_spacing: h,
                    });
                });
            };
        par_blocks(0, &self.store.blocks, &mut self.subgrid_motions[..], &mut self.outcomes, &work);
    }

    /// Particles, or only the granular ones, to stencil boxes, with the impulses of `kick` \[s\].
    fn scatter(&mut self, kick: f64, granular: bool) {
        let rows = assign_pool_rows(&mut self.stencil_boxes);
        if rows > self.pool.len() {
            // Stencil boxes grow as particles drift: extra capacity, so that this is rare.
            self.pool = Vec::new();
            resize(&mut self.pool, rows + rows / 3, F32x16::ZERO);
        }
        let (level, h) = (self.level, self.grid_spacing as f32);
        let (store, stencil_boxes) = (&self.store, &self.stencil_boxes);
        let granular_of = granular.then_some(&self.materials[..]);
        let cloth_from = self.sheets.is_some().then_some(self.materials.len());
        let work = |b: usize, block: &ParticleBlock, share: StencilPoolSlice, cell_runs: &mut u32| {
            *cell_runs = Scratchpad::with(|scratchpad| {
                level.run(ParticlesToGrid {
                    block,
                    kinematics: &store.kinematics[block.range()],
                    deformation: &store.deformation[block.range()],
                    stencil_box: &stencil_boxes[b],
                    rows: share.rows,
                    scratchpad,
                    grid_spacing: h,
                    kick: kick as f32,
                    cloth_from,
                    granular_of,
                })
            });
        };
        let pool = StencilPoolSlice { stencil_boxes, rows: &mut self.pool[..rows] };
        par_blocks(0, &store.blocks, pool, &mut self.cell_runs, &work);
        self.order.cell_runs = self.cell_runs.iter().map(|&r| u64::from(r)).sum();
        if self.order.runs_when_sorted == 0 {
            self.order.runs_when_sorted = self.order.cell_runs;
        }
    }

    /// Sums the stencil boxes and computes the free motion, with or without boundary conditions.
    fn free_motion(&mut self, gravity_step: Vector3<f64>, bounded: bool) -> GridMotionSums {
        let (level, grid_spacing, origin) = (self.level, self.grid_spacing, self.frame.origin);
        let planes = if bounded { &self.planes[..] } else { &[] };
        let (stencil_boxes, pool) = (&self.stencil_boxes, &self.pool);
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
                    stencil_boxes,
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
        GridMotionSums {
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
    /// two cells in this substep `substep` \[s\]. The particles are then unchanged, and every later
    /// call returns the same error until [`Mpm::read_state`].
    pub fn grid_to_particles(&mut self, substep: f64) -> Result<(), MpmError> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let (level, h) = (self.level, self.grid_spacing as f32);
        let (nodes, around, materials) = (&self.nodes, &self.topology.nodes_of_particles, &self.materials);
        let kept = self.sheets.as_deref().map_or(&[][..], |sheets| &sheets.kept);
        let dither = &Dither::of_substep(self.substeps);
        let (subgrid_motions, subgrid_fraction) = (&self.subgrid_motions, self.subgrid_fraction);
        let grid_velocity = self.frame.velocity.map(|v| v as f32).into();
        let work = |b: usize,
                    block: &ParticleBlock,
                    ((kinematics, deformation), PerBlock(stencil_box)): (Tiles, PerBlock<StencilBox>),
                    outcome: &mut BlockOutcome| {
            *outcome = Scratchpad::with(|scratchpad| {
                level.run(GridToParticles {
                    block,
                    kinematics,
                    deformation,
                    stencil_box: &mut stencil_box[0],
                    around: &around[b],
                    nodes,
                    scratchpad,
                    materials,
                    kept,
                    grid_spacing: h,
                    grid_velocity,
                    substep: substep as f32,
                    dither,
                    subgrid_motions: subgrid_motions.get(block.range()).unwrap_or_default(),
                    subgrid_fraction,
                })
            });
        };
        let tiles = (&mut self.store.kinematics[..], &mut self.store.deformation[..]);
        let shares = (tiles, PerBlock(&mut self.stencil_boxes[..]));
        par_blocks(0, &self.store.blocks, shares, &mut self.outcomes, &work);
        self.advance_sheets(substep);
        if self.outcomes.iter().all(|o| o.lost.is_none()) {
            self.damp_velocities(substep);
        }
        self.frame.origin = self.frame.after(substep);
        self.last_substep = substep;
        self.substeps += 1;
        self.order.must_sort |= self.outcomes.iter().any(|o| o.sort);
        let lost = self.outcomes.iter().enumerate().find_map(|(b, o)| o.lost.map(|lost| (b, lost)));
        self.lost = lost.map(|(b, (tile, lane))| self.lost_particle(b, tile as usize, lane as usize));
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// The step of the sheets, unless G2P lost a particle.
    fn advance_sheets(&mut self, substep: f64) {
        let lost = self.outcomes.iter().any(|o| o.lost.is_some());
        let times = [self.last_substep().kick(substep), substep];
        if let Some(sheets) = self.sheets.as_mut().filter(|_| !lost) {
            let origins = [self.frame.origin, self.frame.after(substep)];
            sheets.advance(&self.store, origins, times, self.gravity);
            self.scatter_sheets();
        }
    }

    /// Applies the pins of cloth and ropes to the grid in the substep of `substep` from `time` on \[s\]. To
    /// be called between [`Mpm::particles_to_grid`] and other changes of node velocities.
    pub fn apply_pins(&mut self, time: f64, substep: f64) {
        if let Some(sheets) = self.sheets.as_mut().filter(|_| self.lost.is_none()) {
            sheets.apply_pins_to_grid(
                &self.store,
                &self.topology,
                &mut self.nodes,
                self.frame.origin,
                (time, substep),
            );
        }
    }

    /// Begins a step at whose end layers of cloth have not passed through each other
    /// ([`Mpm::end_layer_contact`]). To be called between substeps.
    pub fn begin_layer_contact(&mut self) {
        if let Some(sheets) = self.sheets.as_mut().filter(|_| self.lost.is_none()) {
            sheets.begin_layer_contact(&self.store, self.frame.origin);
        }
    }

    /// Says that the next [`Mpm::grid_to_particles`] is the last of the step that
    /// [`Mpm::begin_layer_contact`] began: it keeps the layers apart.
    pub fn end_layer_contact(&mut self) {
        if let Some(sheets) = self.sheets.as_mut() {
            sheets.end_layer_contact();
        }
    }

    /// What contact between layers came to in the last step that kept them apart; none without cloth.
    pub fn layer_report(&self) -> Option<LayerReport> {
        let has_layers = |sheets: &&ClothMeshes| !sheets.patches.is_empty();
        self.sheets.as_deref().filter(has_layers).map(ClothMeshes::layer_report)
    }

    /// Says whether strands of ropes are kept from passing through each other, and apart by the sum of their
    /// radii, from here on, as they are at the start. Without it they meet in the grid alone.
    pub fn keep_strands_apart(&mut self, is_on: bool) {
        if let Some(sheets) = self.sheets.as_mut() {
            sheets.keep_strands_apart(is_on);
        }
    }

    /// What contact between strands of ropes came to in the last substep; none without ropes, and where they are
    /// not kept apart.
    pub fn strand_report(&self) -> Option<StrandReport> {
        self.sheets.as_deref().and_then(ClothMeshes::strand_report)
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
