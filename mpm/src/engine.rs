//! The fast path: the explicit substep on the CPU, sixteen particles at a time, in parallel, the
//! same bits for any number of threads.
//!
//! One substep is [`Mpm::particles_to_grid`], changes of node velocities (contact), and
//! [`Mpm::grid_to_particles`]. [`crate::reference`] is the same algorithm in plain f64.

use core::ops::Range;

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::blocks::{NodeBlock, Topology};
use crate::boundary::{Boundary, GridPlane};
use crate::cloth::{ClothMaterial, Sheet, SheetParticles};
use crate::detail::{self, SubgridMotion};
use crate::error::MpmError;
use crate::g2p::{BlockOutcome, MeasureStencilBox};
use crate::grid::{FreeMotionSums, Impulse};
use crate::material::Material;
use crate::particle::ParticleState;
use crate::rope::{Rope, RopeInternals, RopeMaterial};
use crate::scratchpad::StencilBox;
use crate::sheets::{ClothMeshes, PinImpulse, Scatter};
use crate::sort::Sorter;
use crate::stable_step::LastSubstep;
use crate::store::build_store;
use crate::tiles::{
    DeformationTile, KinematicsTile, ParticleBlock, ParticleStore, PerBlock, par_blocks, resize,
};
use pliant_numeric::simd::{Detected, F32x16, InstructionSet};

/// Number of node blocks in a chunk: a thread takes one chunk at a time, with one partial sum.
pub(crate) const NODE_CHUNK: usize = 8;

/// Sort again once the order costs this much more than a fresh one (changes of cell along the
/// particles).
const RESORT_RATIO: f64 = 1.25;

/// Momentum and energy that the free motion of one substep gave all particles.
#[derive(Clone, Copy, Debug, Default)]
pub struct GridMotionSums {
    /// Mass on the grid \[kg\].
    pub mass: f64,
    /// Impulse of gravity.
    pub gravity: Impulse,
    /// Impulse of the boundary conditions on the particles.
    pub boundary: Impulse,
    /// Work of gravity and of the boundary conditions \[J\].
    pub work: f64,
    /// The part of the boundary conditions, not positive up to rounding, because the planes are
    /// static \[J\]. Absent if it is not measured separately.
    pub boundary_work: Option<f64>,
}

/// Dissipation by the particles' constitutive models in one substep \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dissipated {
    /// Elastic energy dissipated by return mappings and by friction within cloth in bending
    /// and in shear, and by its tearing. Absent if cloth has friction against shear,
    /// whose loss is not measured.
    pub plastic: Option<f64>,
    /// Kinetic energy dissipated by the damping of cloth, and by mass-proportional damping.
    pub damping: f64,
    /// Impulse of mass-proportional damping on the particles, about the world's origin.
    pub drag: Impulse,
}

/// Particles, grid and scratch memory of the fast path.
#[derive(Clone, Debug)]
pub struct Mpm {
    pub(crate) grid_spacing: f64,
    pub(crate) frame: GridFrame,
    pub(crate) materials: Vec<Material>,
    /// Densities of the materials, then of the sheets and of the ropes \[kg/m^3\].
    pub(crate) densities: Vec<f64>,
    pub(crate) sheets: Option<Box<ClothMeshes>>,
    pub(crate) store: ParticleStore,
    pub(crate) topology: Topology,
    pub(crate) nodes: Vec<NodeBlock>,
    pub(crate) order: SortState,
    pub(crate) level: Detected,
    pub(crate) planes: Vec<GridPlane>,
    sorter: Sorter,
    /// Stencil box of each block's particles.
    pub(crate) stencil_boxes: Vec<StencilBox>,
    /// The stencil boxes' rows.
    pub(crate) pool: Vec<F32x16>,
    /// Runs of particles in the same cell, by block.
    pub(crate) cell_runs: Vec<u32>,
    /// One per chunk of node blocks.
    pub(crate) sums: Vec<FreeMotionSums>,
    pub(crate) outcomes: Vec<BlockOutcome>,
    count: usize,
    grid_version: u64,
    /// The particle that was lost. It is outside every scratchpad, so no particle is moved any
    /// more.
    pub(crate) lost: Option<MpmError>,
    /// Rates of mass-proportional damping, by material, then by sheet and by rope; empty for none \[1/s\].
    pub(crate) mass_damping: Vec<f64>,
    /// In the last P2G \[m/s^2\].
    pub(crate) gravity: Vector3<f64>,
    /// Length of the last substep; zero at the start \[s\].
    pub(crate) last_substep: f64,
    /// Substeps since the start.
    pub(crate) substeps: u64,
    /// Whether any material is granular.
    pub(crate) has_granular: bool,
    /// Of each tile, found in the last P2G; empty without granular materials.
    pub(crate) subgrid_motions: Vec<SubgridMotion>,
    /// Fraction of them that the next G2P adds.
    pub(crate) subgrid_fraction: f32,
}

/// Origin and velocity of the grid.
///
/// The transfers depend only on velocities relative to the grid. A grid that moves with the
/// material makes results the same in every inertial frame, and substeps as long as at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GridFrame {
    /// World position of the node with coordinates zero \[m\].
    pub origin: Vector3<f64>,
    /// Velocity, world frame, exact in f32 \[m/s\].
    pub velocity: Vector3<f64>,
}

impl GridFrame {
    /// Origin of the grid after `substep` \[s\].
    pub fn after(&self, substep: f64) -> Vector3<f64> {
        self.origin + substep * self.velocity
    }
}

/// Both halves of the state.
pub(crate) type Tiles<'a> = (&'a mut [KinematicsTile], &'a mut [DeformationTile]);

/// Order of the particles, and whether they must be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortState {
    /// Some particle is outside its scratchpad.
    pub must_sort: bool,
    /// Changes of cell along the particles in the first transfer after the sort; 0 before it.
    pub runs_when_sorted: u64,
    /// The same in the last transfer.
    pub cell_runs: u64,
}

impl Mpm {
    /// Builds the fast path.
    ///
    /// `grid_spacing` is h \[m\]. `level` asks for an instruction set; the best supported one at or
    /// below it is used.
    ///
    /// # Errors
    /// A grid spacing, a material parameter or a boundary out of range, no particles, a particle
    /// that is not finite (in f32) or whose block index does not fit 32 bits, or an unknown
    /// material.
    pub fn new(
        grid_spacing: f64,
        materials: Vec<Material>,
        particles: &[ParticleState],
        boundaries: &[Boundary],
        level: InstructionSet,
    ) -> Result<Self, MpmError> {
        Self::with_sheets(grid_spacing, materials, particles, &[], boundaries, level)
    }

    /// Builds the fast path with sheets of cloth as well.
    ///
    /// Their particles come after the others: of each sheet its vertices and then its centroids,
    /// see [`Mpm::sheet_particles`]; their materials follow `materials`, one per sheet.
    ///
    /// # Errors
    /// As [`Mpm::new`], and what is wrong with a sheet ([`Sheet::check`]).
    pub fn with_sheets(
        grid_spacing: f64,
        materials: Vec<Material>,
        particles: &[ParticleState],
        sheets: &[Sheet],
        boundaries: &[Boundary],
        level: InstructionSet,
    ) -> Result<Self, MpmError> {
        Self::with_ropes(grid_spacing, materials, particles, (sheets, &[]), boundaries, level)
    }

    /// Builds the fast path with sheets of cloth and ropes as well.
    ///
    /// Particles and materials of ropes follow those of the sheets: of each rope its vertices, see
    /// [`Mpm::rope_particles`].
    ///
    /// # Errors
    /// As [`Mpm::with_sheets`], and what is wrong with a rope ([`Rope::check`]).
    pub fn with_ropes(
        grid_spacing: f64,
        materials: Vec<Material>,
        particles: &[ParticleState],
        (sheets, ropes): (&[Sheet], &[Rope]),
        boundaries: &[Boundary],
        level: InstructionSet,
    ) -> Result<Self, MpmError> {
        if !(grid_spacing.is_finite() && grid_spacing > 0.0) {
            return Err(MpmError::GridSpacing { value: grid_spacing });
        }
        for (index, material) in materials.iter().enumerate() {
            material.validate().map_err(|source| MpmError::Material { index, source })?;
        }
        for (index, boundary) in boundaries.iter().enumerate() {
            boundary.validate(index)?;
        }
        for (index, sheet) in sheets.iter().enumerate() {
            sheet.check(grid_spacing).map_err(|source| MpmError::Cloth { index, source })?;
        }
        for (index, rope) in ropes.iter().enumerate() {
            rope.check(grid_spacing).map_err(|source| MpmError::Rope { index, source })?;
        }
        let of_sheets = sheets.iter().map(|sheet| sheet.material.density);
        let of_ropes = ropes.iter().map(|rope| rope.material.density);
        let densities: Vec<f64> =
            materials.iter().map(|m| m.density).chain(of_sheets).chain(of_ropes).collect();
        let none = sheets.is_empty() && ropes.is_empty();
        let all: Vec<ParticleState>;
        let (first, particles) = if none {
            (particles.len(), particles)
        } else {
            if let Some((index, p)) =
                particles.iter().enumerate().find(|(_, p)| p.material >= materials.len())
            {
                let (material, count) = (p.material, materials.len());
                return Err(MpmError::UnknownMaterial { index, material, count });
            }
            all = particles
                .iter()
                .copied()
                .chain(ClothMeshes::particles(sheets, ropes, materials.len()))
                .collect();
            (particles.len(), &all[..])
        };
        let store = build_store(grid_spacing, &materials, &densities, particles)?;
        let level = Detected::new(level);
        let made = || Box::new(ClothMeshes::new((sheets, ropes), first, grid_spacing, level));
        let sheets = (!none).then(made);
        let mut mpm = Self {
            grid_spacing,
            frame: GridFrame::default(),
            materials,
            densities,
            sheets,
            planes: boundaries.iter().map(|b| GridPlane::new(b, grid_spacing)).collect(),
            level,
            count: particles.len(),
            store,
            topology: Topology::default(),
            nodes: Vec::new(),
            order: SortState { must_sort: false, runs_when_sorted: 0, cell_runs: 0 },
            sorter: Sorter::default(),
            stencil_boxes: Vec::new(),
            pool: Vec::new(),
            cell_runs: Vec::new(),
            sums: Vec::new(),
            outcomes: Vec::new(),
            grid_version: 0,
            gravity: Vector3::zeros(),
            mass_damping: Vec::new(),
            last_substep: 0.0,
            substeps: 0,
            has_granular: false,
            subgrid_motions: Vec::new(),
            subgrid_fraction: 0.0,
            lost: None,
        };
        mpm.has_granular = mpm.materials.iter().any(detail::has_subgrid_motion);
        mpm.rebuild_grid();
        mpm.begin_sheets();
        let fastest = particles.iter().map(|p| p.velocity.norm_squared()).fold(0.0, f64::max);
        mpm.outcomes.iter_mut().for_each(|o| o.speed_squared = fastest as f32);
        Ok(mpm)
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Never true: a model without particles is not built.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Grid spacing h \[m\].
    pub fn grid_spacing(&self) -> f64 {
        self.grid_spacing
    }

    /// World position of the grid's node with coordinates zero \[m\].
    pub fn grid_origin(&self) -> Vector3<f64> {
        self.frame.origin
    }

    /// Velocity of the grid, world frame \[m/s\].
    pub fn grid_velocity(&self) -> Vector3<f64> {
        self.frame.velocity
    }

    /// Lets the grid move with `velocity` (m/s, world frame) from the next substep on, rounded to
    /// f32; if it is not finite there, the grid is at rest.
    ///
    /// The motion of particles does not change, only their velocity relative to the grid. To be
    /// called between substeps.
    pub fn set_grid_velocity(&mut self, velocity: Vector3<f64>) {
        let rounded = velocity.map(|v| f64::from(v as f32));
        self.frame.velocity = if rounded.iter().all(|v| v.is_finite()) { rounded } else { Vector3::zeros() };
    }

    /// The materials, by index.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// The instruction set in use.
    pub fn level(&self) -> InstructionSet {
        self.level.level()
    }

    /// Number of grid nodes that carry mass.
    pub fn active_nodes(&self) -> usize {
        self.nodes.iter().filter(|b| !b.empty).map(|b| b.nodes.iter().filter(|n| n[3] > 0.0).count()).sum()
    }

    /// Dissipation by the materials in the last substep.
    pub fn dissipated(&self) -> Dissipated {
        let rubs = |m: &ClothMaterial| m.shear_stiffness > 0.0 && m.friction > 0.0;
        let known = !self.sheet_materials().iter().any(rubs);
        let bent =
            self.sheets.as_ref().map_or(0.0, |sheets| sheets.lost_to_friction() + sheets.lost_to_tearing());
        let (mut plastic, mut damping, mut drag) = (bent, 0.0, Impulse::default());
        for outcome in &self.outcomes {
            plastic += outcome.plastic;
            damping += outcome.damping;
            drag += outcome.drag;
        }
        Dissipated { plastic: known.then_some(plastic), damping, drag }
    }

    /// The last substep; its length is zero at the start.
    pub fn last_substep(&self) -> LastSubstep {
        LastSubstep { length: self.last_substep, gravity: self.gravity, count: self.substeps }
    }

    /// Says which substep the particles have behind them that [`Mpm::set_particles`] took.
    pub fn set_last_substep(&mut self, last: LastSubstep) {
        (self.last_substep, self.gravity, self.substeps) = (last.length, last.gravity, last.count);
    }

    /// Largest speed of a particle after the last substep \[m/s\].
    pub fn max_speed(&self) -> f64 {
        f64::from(self.outcomes.iter().fold(0.0, |a: f32, o| a.max(o.speed_squared))).sqrt()
    }

    /// Bytes held for particles and grid.
    pub fn memory(&self) -> usize {
        fn bytes<T>(v: &Vec<T>) -> usize {
            v.capacity() * size_of::<T>()
        }
        let store =
            bytes(&self.store.blocks) + bytes(&self.store.kinematics) + bytes(&self.store.deformation);
        let topology = bytes(&self.topology.keys)
            + bytes(&self.topology.nodes_of_particles)
            + bytes(&self.topology.particles_of_nodes);
        store
            + topology
            + self.sorter.memory()
            + bytes(&self.stencil_boxes)
            + bytes(&self.pool)
            + bytes(&self.cell_runs)
            + bytes(&self.nodes)
            + bytes(&self.sums)
            + bytes(&self.outcomes)
            + bytes(&self.subgrid_motions)
            + self.sheets.as_ref().map_or(0, |sheets| sheets.memory())
    }

    /// Sorts the particles if that pays off; to be called once a step, before its substeps.
    pub fn begin_step(&mut self) {
        let stale = self.order.cell_runs as f64 > RESORT_RATIO * self.order.runs_when_sorted as f64;
        if self.order.must_sort || stale {
            self.sort();
        }
    }

    /// Sorts the particles by block and cell now. It is never required: [`Mpm::begin_step`] sorts
    /// when that pays off. To be called between substeps, not between the two halves of one.
    pub fn sort(&mut self) {
        if self.lost.is_some() {
            return;
        }
        if self.sorter.sort(&mut self.store) {
            self.rebuild_grid();
        } else {
            self.measure_stencil_boxes();
            self.locate_sheets();
        }
        self.order = SortState { must_sort: false, runs_when_sorted: 0, cell_runs: 0 };
    }

    /// Changes whenever node blocks come, go or move in [`Mpm::nodes`]; never 0.
    pub fn grid_version(&self) -> u64 {
        self.grid_version
    }

    /// Fits the grid to the blocks that hold particles.
    pub(crate) fn rebuild_grid(&mut self) {
        self.grid_version += 1;
        self.topology.rebuild(&self.store.blocks);
        let (blocks, node_blocks) = (self.store.blocks.len(), self.topology.keys.len());
        resize(&mut self.stencil_boxes, blocks, StencilBox::default());
        resize(&mut self.cell_runs, blocks, 0);
        resize(&mut self.outcomes, blocks, BlockOutcome::default());
        resize(&mut self.nodes, node_blocks, NodeBlock::ZERO);
        resize(&mut self.sums, node_blocks.div_ceil(NODE_CHUNK), FreeMotionSums::default());
        self.measure_stencil_boxes();
        self.locate_sheets();
    }

    fn locate_sheets(&mut self) {
        if let Some(sheets) = &mut self.sheets {
            sheets.locate(&self.store);
        }
    }

    /// The forces with which sheets start.
    fn begin_sheets(&mut self) {
        if let Some(sheets) = &mut self.sheets {
            sheets.fetch(&self.store);
            sheets.place_ropes();
            sheets.find_forces(&self.store, 0.0, Vector3::zeros());
            self.scatter_sheets();
        }
    }

    /// Finds the stencil boxes after a sort.
    fn measure_stencil_boxes(&mut self) {
        let (level, store) = (self.level, &self.store);
        self.stencil_boxes.par_iter_mut().zip(&store.blocks).for_each(|(stencil_box, block)| {
            *stencil_box = level.run(MeasureStencilBox { kinematics: &store.kinematics[block.range()] });
        });
    }

    /// Writes the results of the sheets to their particles' lanes.
    pub(crate) fn scatter_sheets(&mut self) {
        let Some(sheets) = self.sheets.as_deref() else { return };
        let (level, materials) = (self.level, self.materials.len());
        let work = |_: usize,
                    block: &ParticleBlock,
                    ((kinematics, deformation), PerBlock(stencil_box)): (Tiles, PerBlock<StencilBox>),
                    outcome: &mut BlockOutcome| {
            let stencil_box = &mut stencil_box[0];
            let scatter = Scatter { sheets, materials, block, kinematics, deformation, stencil_box };
            if let Some(measured) = level.run(scatter) {
                *outcome = BlockOutcome { plastic: outcome.plastic, damping: outcome.damping, ..measured };
            }
        };
        let tiles = (&mut self.store.kinematics[..], &mut self.store.deformation[..]);
        let shares = (tiles, PerBlock(&mut self.stencil_boxes[..]));
        par_blocks(0, &self.store.blocks, shares, &mut self.outcomes, &work);
    }

    /// Velocity (world frame) at which a pin holds particle `id` in this substep, known after
    /// [`Mpm::apply_pins`]; none for a particle that is not held \[m/s\].
    pub fn held_velocity(&self, id: u32) -> Option<Vector3<f64>> {
        self.sheets.as_ref()?.held_velocity(id)
    }

    /// Impulse of the pins of cloth in the last substep, complete after [`Mpm::grid_to_particles`].
    pub fn pin_impulse(&self) -> PinImpulse {
        self.sheets.as_ref().map_or_else(PinImpulse::default, |sheets| sheets.pin_impulse())
    }

    /// The sheets' particles and faces; empty without cloth. Faces that have torn have one vertex three times.
    pub fn sheet_particles(&self) -> &[SheetParticles] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.patches)
    }

    /// Number of faces of a sheet that have torn.
    pub fn torn_faces(&self, sheet: usize) -> usize {
        self.sheets.as_ref().and_then(|sheets| sheets.torn_faces().nth(sheet)).unwrap_or(0)
    }

    /// The sheets as they were given, for other implementations of the same step; empty without
    /// cloth.
    pub fn sheets(&self) -> &[Sheet] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.sources)
    }

    /// Materials of the sheets.
    pub fn sheet_materials(&self) -> &[ClothMaterial] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.materials)
    }

    /// What is inside a rope; none without such a one.
    pub fn rope_internals(&self, rope: usize) -> Option<RopeInternals> {
        self.sheets.as_ref()?.rope_internals(rope)
    }

    /// Ids of the particles of each rope, in the order of its vertices; empty without ropes.
    pub fn rope_particles(&self) -> &[Range<usize>] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.ropes.particles)
    }

    /// The ropes as they were given; empty without ropes.
    pub fn ropes(&self) -> &[Rope] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.ropes.sources)
    }

    /// Materials of the ropes.
    pub fn rope_materials(&self) -> &[RopeMaterial] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.ropes.materials)
    }

    /// Density of a material; those of sheets and then of ropes follow the others \[kg/m^3\].
    pub fn density(&self, material: usize) -> f64 {
        self.densities[material]
    }

    /// Speed of the fastest wave in a material at small strain; those of sheets and then of ropes follow the
    /// others \[m/s\].
    pub fn wave_speed(&self, material: usize) -> f64 {
        match material.checked_sub(self.materials.len()) {
            Some(sheet) => match sheet.checked_sub(self.sheet_materials().len()) {
                Some(rope) => self.rope_materials()[rope].wave_speed(),
                None => self.sheet_materials()[sheet].wave_speed(),
            },
            None => self.materials[material].pressure_wave_speed(),
        }
    }
}
