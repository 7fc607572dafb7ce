//! The fast path: the explicit substep on the CPU, sixteen particles at a time, in parallel, the same bits for any
//! number of threads.
//!
//! One substep is [`Mpm::particles_to_grid`], whatever changes node velocities (contact), and
//! [`Mpm::grid_to_particles`]. [`crate::reference`] is the same algorithm in plain f64.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::arena::{Arena, PoolShare, Window, place};
use crate::blocks::{NodeBlock, Topology};
use crate::boundary::{Boundary, GridPlane};
use crate::cloth::{ClothMaterial, Patch, Sheet};
use crate::detail::{self, Detail, FindDetail};
use crate::error::MpmError;
use crate::g2p::{GridToParticles, MeasureWindow, Outcome};
use crate::grid::{FreeMotionSums, GridPass, Impulse};
use crate::material::Material;
use crate::p2g::ParticlesToGrid;
use crate::particle::ParticleState;
use crate::sheets::{PinImpulse, Scatter, Sheets};
use crate::sort::Sorter;
use crate::stable_step::largest_stable_substep;
use crate::tiles::{ParticleBlock, PerBlock, Store, Tile, par_blocks, resize};
use pliant_numeric::simd::{Detected, Level, Row};

/// Node blocks of which a thread takes one lot at a time, with one partial sum.
const NODE_CHUNK: usize = 8;

/// Sort again once the order costs this much more than a fresh one (changes of cell along the particles).
const STALE: f64 = 1.25;

/// What the free motion of one substep did to the momentum of all particles.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeMotion {
    /// Mass on the grid [kg].
    pub mass: f64,
    /// Impulse of gravity.
    pub gravity: Impulse,
    /// Impulse of the boundary conditions on the particles.
    pub boundary: Impulse,
    /// Work of gravity and of the boundary conditions [J].
    pub work: f64,
    /// The part of the boundary conditions, never above 0 but by rounding: the planes stand still [J]. Absent where it is not
    /// measured by itself.
    pub boundary_work: Option<f64>,
}

/// What the laws of the particles dissipated in one substep [J].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dissipated {
    /// Elastic energy that the return mappings took. Absent where cloth has friction against shear, whose loss is not measured.
    pub plastic: Option<f64>,
    /// Kinetic energy that the damping of cloth took.
    pub damping: f64,
}

/// Particles, grid and scratch memory of the fast path.
#[derive(Clone, Debug)]
pub struct Mpm {
    pub(crate) grid_spacing: f64,
    pub(crate) frame: GridFrame,
    pub(crate) materials: Vec<Material>,
    /// Densities of the materials and then of the sheets [kg/m^3].
    pub(crate) densities: Vec<f64>,
    pub(crate) sheets: Option<Box<Sheets>>,
    pub(crate) store: Store,
    pub(crate) topology: Topology,
    pub(crate) nodes: Vec<NodeBlock>,
    pub(crate) order: Order,
    pub(crate) level: Detected,
    planes: Vec<GridPlane>,
    sorter: Sorter,
    /// What the stencils of each block's particles reach.
    pub(crate) windows: Vec<Window>,
    /// The windows' rows.
    pool: Vec<Row>,
    /// Runs of particles in the same cell, by block.
    runs: Vec<u32>,
    /// By lot of node blocks.
    sums: Vec<FreeMotionSums>,
    pub(crate) outcomes: Vec<Outcome>,
    count: usize,
    grid_version: u64,
    /// The particle that was lost. It is out of the reach of every arena, so nothing moves any more.
    pub(crate) lost: Option<MpmError>,
    /// In the last P2G [m/s^2].
    gravity: Vector3<f64>,
    /// Whether any material is granular.
    keeps_details: bool,
    /// Of each tile, found in the last P2G; empty where nothing is granular.
    details: Vec<Detail>,
    /// Fraction of them that the next G2P gives back.
    kept_detail: f32,
}

/// Where the grid is, and how it moves.
///
/// The transfers take no notice of a common velocity of grid and particles, so a grid that goes with the material makes results the same in
/// every inertial frame, and substeps as long as without that velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GridFrame {
    /// World position of the node with coordinates zero [m].
    pub origin: Vector3<f64>,
    /// Velocity, world frame; each number is one of f32 [m/s].
    pub velocity: Vector3<f64>,
}

impl GridFrame {
    /// Where the grid is after `dt` [s].
    pub fn after(&self, dt: f64) -> Vector3<f64> {
        self.origin + dt * self.velocity
    }
}

/// Both halves of the state.
type Tiles<'a> = (&'a mut [Tile], &'a mut [Tile]);

/// How well the particles are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Some particle is out of its arena's reach.
    pub must_sort: bool,
    /// Changes of cell along the particles in the first transfer after the sort; 0 before it.
    pub runs_when_sorted: u64,
    /// The same in the last transfer.
    pub runs: u64,
}

impl Mpm {
    /// Builds the fast path.
    ///
    /// `grid_spacing` is h [m]. `level` asks for an instruction set; the best supported one at or below it is used.
    ///
    /// # Errors
    /// A grid spacing, a material parameter or a boundary out of range, no particles, a particle that is not finite (in f32) or whose block
    /// index does not fit 32 bits, or an unknown material.
    pub fn new(
        grid_spacing: f64,
        materials: Vec<Material>,
        particles: &[ParticleState],
        boundaries: &[Boundary],
        level: Level,
    ) -> Result<Self, MpmError> {
        Self::with_sheets(grid_spacing, materials, particles, &[], boundaries, level)
    }

    /// Builds the fast path with sheets of cloth as well.
    ///
    /// Their particles come after the others: of each sheet its vertices and then its centroids, see [`Mpm::patches`]; their
    /// materials count on from `materials`, one a sheet.
    ///
    /// # Errors
    /// As [`Mpm::new`], and what is wrong with a sheet ([`Sheet::check`]).
    pub fn with_sheets(
        grid_spacing: f64,
        materials: Vec<Material>,
        particles: &[ParticleState],
        sheets: &[Sheet],
        boundaries: &[Boundary],
        level: Level,
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
        let of_sheets = sheets.iter().map(|sheet| sheet.material.density);
        let densities: Vec<f64> = materials.iter().map(|m| m.density).chain(of_sheets).collect();
        let all: Vec<ParticleState>;
        let (first, particles) = if sheets.is_empty() {
            (particles.len(), particles)
        } else {
            if let Some((index, p)) =
                particles.iter().enumerate().find(|(_, p)| p.material >= materials.len())
            {
                let (material, count) = (p.material, materials.len());
                return Err(MpmError::UnknownMaterial { index, material, count });
            }
            all = particles.iter().copied().chain(Sheets::particles(sheets, materials.len())).collect();
            (particles.len(), &all[..])
        };
        let store = crate::particle::build_store(grid_spacing, &materials, &densities, particles)?;
        let level = Detected::new(level);
        let made = || Box::new(Sheets::new(sheets, first, grid_spacing, level));
        let sheets = (!sheets.is_empty()).then(made);
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
            order: Order { must_sort: false, runs_when_sorted: 0, runs: 0 },
            sorter: Sorter::default(),
            windows: Vec::new(),
            pool: Vec::new(),
            runs: Vec::new(),
            sums: Vec::new(),
            outcomes: Vec::new(),
            grid_version: 0,
            gravity: Vector3::zeros(),
            keeps_details: false,
            details: Vec::new(),
            kept_detail: 0.0,
            lost: None,
        };
        mpm.keeps_details = mpm.materials.iter().any(detail::keeps);
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

    /// Grid spacing h [m].
    pub fn grid_spacing(&self) -> f64 {
        self.grid_spacing
    }

    /// World position of the grid's node with coordinates zero [m].
    pub fn grid_origin(&self) -> Vector3<f64> {
        self.frame.origin
    }

    /// Velocity of the grid, world frame [m/s].
    pub fn grid_velocity(&self) -> Vector3<f64> {
        self.frame.velocity
    }

    /// Lets the grid move with `velocity` (m/s, world frame) from the next substep on, rounded to f32; one that is not finite there stands still.
    ///
    /// Particles move as before, but cross the grid with what their velocity differs by. To be called between substeps.
    pub fn set_grid_velocity(&mut self, velocity: Vector3<f64>) {
        let rounded = velocity.map(|v| f64::from(v as f32));
        self.frame.velocity = if rounded.iter().all(|v| v.is_finite()) { rounded } else { Vector3::zeros() };
    }

    /// The materials, by index.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// The instruction set in use.
    pub fn level(&self) -> Level {
        self.level.level()
    }

    /// Number of grid nodes that carry mass.
    pub fn active_nodes(&self) -> usize {
        self.nodes.iter().filter(|b| !b.empty).map(|b| b.nodes.iter().filter(|n| n[3] > 0.0).count()).sum()
    }

    /// What the materials dissipated in the last substep.
    pub fn dissipated(&self) -> Dissipated {
        let rubs = |m: &ClothMaterial| m.shear_stiffness > 0.0 && m.friction > 0.0;
        let known = !self.sheet_materials().iter().any(rubs);
        let (mut plastic, mut damping) = (0.0, 0.0);
        for outcome in &self.outcomes {
            plastic += outcome.plastic;
            damping += outcome.damping;
        }
        Dissipated { plastic: known.then_some(plastic), damping }
    }

    /// Largest speed of a particle after the last substep [m/s].
    pub fn max_speed(&self) -> f64 {
        f64::from(self.outcomes.iter().fold(0.0, |a: f32, o| a.max(o.speed_squared))).sqrt()
    }

    /// Largest speed of a particle relative to a `velocity` (world frame) [m/s].
    pub fn fastest_relative_to(&self, velocity: &Vector3<f64>) -> f64 {
        let velocity = [velocity.x as f32, velocity.y as f32, velocity.z as f32];
        let squares = (0..self.block_count()).into_par_iter().map(|b| self.block(b).largest_square(velocity));
        f64::from(squares.reduce(|| 0.0, f32::max)).sqrt()
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
            + bytes(&self.windows)
            + bytes(&self.pool)
            + bytes(&self.runs)
            + bytes(&self.nodes)
            + bytes(&self.sums)
            + bytes(&self.outcomes)
            + bytes(&self.details)
            + self.sheets.as_ref().map_or(0, |sheets| sheets.memory())
    }

    /// Sorts the particles if that pays off; to be called once a step, before its substeps.
    pub fn begin_step(&mut self) {
        let stale = self.order.runs as f64 > STALE * self.order.runs_when_sorted as f64;
        if self.order.must_sort || stale {
            self.sort();
        }
    }

    /// Sorts the particles by block and cell now. Nothing needs it: [`Mpm::begin_step`] does it
    /// where it pays off. To be called between substeps, not between the two halves of one.
    pub fn sort(&mut self) {
        if self.lost.is_some() {
            return;
        }
        if self.sorter.sort(&mut self.store) {
            self.rebuild_grid();
        } else {
            self.measure_windows();
            self.locate_sheets();
        }
        self.order = Order { must_sort: false, runs_when_sorted: 0, runs: 0 };
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
        resize(&mut self.windows, blocks, Window::default());
        resize(&mut self.runs, blocks, 0);
        resize(&mut self.outcomes, blocks, Outcome::default());
        resize(&mut self.nodes, node_blocks, NodeBlock::ZERO);
        resize(&mut self.sums, node_blocks.div_ceil(NODE_CHUNK), FreeMotionSums::default());
        self.measure_windows();
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
            sheets.find_forces(&self.store, 0.0, Vector3::zeros());
            self.scatter_sheets();
        }
    }

    /// Finds what the particles reach after they were put in a new order.
    fn measure_windows(&mut self) {
        let (level, store) = (self.level, &self.store);
        self.windows.par_iter_mut().zip(&store.blocks).for_each(|(window, block)| {
            *window = level.run(MeasureWindow { kinematics: &store.kinematics[block.range()] });
        });
    }

    /// Particles to grid, then the nodes' free motion: v* = (m v)_i / m_i + dt g, then boundary conditions.
    ///
    /// `dt` is the substep [s], `gravity` in m/s^2, world frame. Does nothing once a particle is lost.
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

    /// What granular particles do that the grid does not hold, to be given back after this substep of `dt` [s].
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

    /// Grid to particles with the node velocities as they are now, then the particles' motion and stress.
    ///
    /// # Errors
    /// [`MpmError::LostParticle`] if a particle's position is not a number, or it moved more than two cells in this
    /// substep `dt` [s]. The particles then stay as they are, and every later call gives the same error until
    /// [`Mpm::read_state`].
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

    /// Brings what the sheets found to their particles' lanes.
    fn scatter_sheets(&mut self) {
        let Some(sheets) = self.sheets.as_deref() else { return };
        let (level, materials) = (self.level, self.materials.len());
        let work = |_: usize,
                    block: &ParticleBlock,
                    ((kinematics, deformation), PerBlock(window)): (Tiles, PerBlock<Window>),
                    outcome: &mut Outcome| {
            let window = &mut window[0];
            let scatter = Scatter { sheets, materials, block, kinematics, deformation, window };
            if let Some(measured) = level.run(scatter) {
                *outcome = Outcome { plastic: outcome.plastic, damping: outcome.damping, ..measured };
            }
        };
        let tiles = (&mut self.store.kinematics[..], &mut self.store.deformation[..]);
        let shares = (tiles, PerBlock(&mut self.windows[..]));
        par_blocks(0, &self.store.blocks, shares, &mut self.outcomes, &work);
    }

    /// Lets the pins of cloth act on the grid in the substep of `dt` from `time` on [s]. To be called between
    /// [`Mpm::particles_to_grid`] and whatever else changes node velocities.
    pub fn hold_pins(&mut self, time: f64, dt: f64) {
        if let Some(sheets) = self.sheets.as_mut().filter(|_| self.lost.is_none()) {
            sheets.hold_grid(&self.store, &self.topology, &mut self.nodes, self.frame.origin, (time, dt));
        }
    }

    /// What the pins of cloth did in the last substep, complete after [`Mpm::grid_to_particles`].
    pub fn pin_impulse(&self) -> PinImpulse {
        self.sheets.as_ref().map_or_else(PinImpulse::default, |sheets| sheets.pin_impulse())
    }

    /// The sheets' particles and faces; empty without cloth.
    pub fn patches(&self) -> &[Patch] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.patches)
    }

    /// The sheets as they were given, from which another implementation of the same step makes its own tables; empty without cloth.
    pub fn sheets(&self) -> &[Sheet] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.sources)
    }

    /// What the sheets are made of.
    pub fn sheet_materials(&self) -> &[ClothMaterial] {
        self.sheets.as_ref().map_or(&[], |sheets| &sheets.materials)
    }

    /// Density of a material, those of sheets counting on from the others [kg/m^3].
    pub fn density(&self, material: usize) -> f64 {
        self.densities[material]
    }

    /// Speed of the fastest wave in a material, those of sheets counting on from the others, at small strain [m/s].
    pub fn wave_speed(&self, material: usize) -> f64 {
        match material.checked_sub(self.materials.len()) {
            Some(sheet) => self.sheet_materials()[sheet].wave_speed(),
            None => self.materials[material].pressure_wave_speed(),
        }
    }

    /// Largest stable substep for particles that move at up to `max_speed` [m/s]: [`largest_stable_substep`] and
    /// [`Stability::largest_substep`](crate::cloth::Stability::largest_substep) [s].
    pub fn largest_stable_substep(&self, max_speed: f64) -> f64 {
        let of_sheets =
            self.sheets.as_ref().map_or(f64::INFINITY, |sheets| sheets.largest_substep(max_speed));
        largest_stable_substep(self.grid_spacing, &self.materials, max_speed).min(of_sheets)
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
