//! The fast path: the explicit substep on the CPU, sixteen particles at a time, in parallel, the same bits for any
//! number of threads.
//!
//! One substep is [`Mpm::particles_to_grid`], whatever changes node velocities (contact), and
//! [`Mpm::grid_to_particles`]. [`crate::reference`] is the same algorithm in plain f64.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::arena::{Arena, copy_from_block};
use crate::blocks::{NodeBlock, Topology};
use crate::boundary::{Boundary, GridPlane};
use crate::error::MpmError;
use crate::g2p::{GridToParticles, Outcome};
use crate::grid::{FreeMotionSums, GatherArenas, Impulse, free_motion};
use crate::material::Material;
use crate::p2g::ParticlesToGrid;
use crate::particle::ParticleState;
use crate::simd::{Detected, Kernel, Level, Simd};
use crate::sort::Sorter;
use crate::tiles::{Store, Tile, par_blocks};

/// Node blocks handed to a thread at once, at least.
const NODE_GRAIN: usize = 8;

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
}

/// Particles, grid and scratch memory of the fast path.
#[derive(Clone, Debug)]
pub struct Mpm {
    pub(crate) grid_spacing: f64,
    pub(crate) materials: Vec<Material>,
    pub(crate) store: Store,
    pub(crate) topology: Topology,
    pub(crate) nodes: Vec<NodeBlock>,
    pub(crate) order: Order,
    pub(crate) level: Detected,
    planes: Vec<GridPlane>,
    sorter: Sorter,
    arenas: Vec<Arena>,
    sums: Vec<FreeMotionSums>,
    pub(crate) outcomes: Vec<Outcome>,
    count: usize,
    grid_version: u64,
    /// The particle that was lost. It is out of the reach of every arena, so nothing moves any more.
    pub(crate) lost: Option<MpmError>,
}

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
        if !(grid_spacing.is_finite() && grid_spacing > 0.0) {
            return Err(MpmError::GridSpacing { value: grid_spacing });
        }
        for (index, material) in materials.iter().enumerate() {
            material.validate().map_err(|source| MpmError::Material { index, source })?;
        }
        for (index, boundary) in boundaries.iter().enumerate() {
            boundary.validate(index)?;
        }
        let store = crate::particle::build_store(grid_spacing, &materials, particles)?;
        let mut mpm = Self {
            grid_spacing,
            materials,
            planes: boundaries.iter().map(|b| GridPlane::new(b, grid_spacing)).collect(),
            level: Detected::new(level),
            count: particles.len(),
            store,
            topology: Topology::default(),
            nodes: Vec::new(),
            order: Order { must_sort: false, runs_when_sorted: 0, runs: 0 },
            sorter: Sorter::default(),
            arenas: Vec::new(),
            sums: Vec::new(),
            outcomes: Vec::new(),
            grid_version: 0,
            lost: None,
        };
        mpm.rebuild_grid();
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

    /// Largest speed of a particle after the last substep [m/s].
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
            + bytes(&self.arenas)
            + bytes(&self.nodes)
            + bytes(&self.sums)
            + bytes(&self.outcomes)
    }

    /// Sorts the particles if that pays off; to be called once a step, before its substeps.
    pub fn begin_step(&mut self) {
        if self.lost.is_some() {
            return;
        }
        let stale = self.order.runs as f64 > STALE * self.order.runs_when_sorted as f64;
        if self.order.must_sort || stale {
            self.sort();
        }
    }

    fn sort(&mut self) {
        if self.sorter.sort(&mut self.store) {
            self.rebuild_grid();
        }
        self.order = Order { must_sort: false, runs_when_sorted: 0, runs: 0 };
    }

    /// Changes whenever node blocks come, go or move in [`Mpm::nodes`]; never 0.
    pub fn grid_version(&self) -> u64 {
        self.grid_version
    }

    pub(crate) fn rebuild_grid(&mut self) {
        self.grid_version += 1;
        self.topology.rebuild(&self.store.blocks);
        self.arenas.resize(self.store.blocks.len(), Arena::ZERO);
        self.outcomes.resize(self.store.blocks.len(), Outcome::default());
        self.nodes.resize(self.topology.keys.len(), NodeBlock::ZERO);
        self.sums.resize(self.topology.keys.len(), FreeMotionSums::default());
    }

    /// Particles to grid, then the nodes' free motion: v* = (m v)_i / m_i + dt g, then boundary conditions.
    ///
    /// `dt` is the substep [s], `gravity` in m/s^2, world frame. Does nothing once a particle is lost.
    pub fn particles_to_grid(&mut self, dt: f64, gravity: Vector3<f64>) -> FreeMotion {
        if self.lost.is_some() {
            return FreeMotion::default();
        }
        if self.order.must_sort {
            self.sort();
        }
        let (level, h) = (self.level, self.grid_spacing as f32);
        let store = &self.store;
        self.arenas.par_iter_mut().zip(&store.blocks).for_each(|(arena, block)| {
            level.run(ParticlesToGrid {
                block,
                kinematics: &store.kinematics[block.range()],
                deformation: &store.deformation[block.range()],
                arena,
                grid_spacing: h,
                dt: dt as f32,
            });
        });
        self.order.runs = self.arenas.iter().map(|a| u64::from(a.runs)).sum();
        if self.order.runs_when_sorted == 0 {
            self.order.runs_when_sorted = self.order.runs;
        }
        self.free_motion(gravity * dt)
    }

    /// Sums the arenas and moves the nodes.
    fn free_motion(&mut self, gravity_step: Vector3<f64>) -> FreeMotion {
        let (level, arenas, planes, h) = (self.level, &self.arenas, &self.planes, self.grid_spacing);
        self.nodes
            .par_iter_mut()
            .zip(&mut self.sums)
            .zip(self.topology.keys.par_iter().zip(&self.topology.particles_of_nodes))
            .with_min_len(NODE_GRAIN)
            .for_each(|((block, sums), (&key, neighbours))| {
                level.run(GatherArenas { block, neighbours, arenas });
                *sums = free_motion(block, key, gravity_step, planes, h);
            });
        let mut total = FreeMotion::default();
        for sums in &self.sums {
            total.mass += sums.mass;
            total.gravity += sums.gravity;
            total.boundary += sums.boundary;
            total.work += sums.work;
        }
        total
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
        let arenas = &self.arenas;
        let work = |b: usize,
                    block: &crate::tiles::ParticleBlock,
                    (kinematics, deformation): (&mut [Tile], &mut [Tile]),
                    outcome: &mut Outcome| {
            *outcome = level.run(CopyAndGather {
                around: &around[b],
                touched: arenas[b].touched,
                nodes,
                transfer: GridToParticles {
                    block,
                    kinematics,
                    deformation,
                    nodes: &[],
                    materials,
                    grid_spacing: h,
                    dt: dt as f32,
                },
            });
        };
        let tiles = (&mut self.store.kinematics[..], &mut self.store.deformation[..]);
        par_blocks(0, &self.store.blocks, tiles, &mut self.outcomes, &work);
        self.order.must_sort |= self.outcomes.iter().any(|o| o.sort);
        let lost = self.outcomes.iter().enumerate().find_map(|(b, o)| o.lost.map(|lost| (b, lost)));
        self.lost = lost.map(|(b, (tile, lane))| self.lost_particle(b, tile as usize, lane as usize));
        self.lost.clone().map_or(Ok(()), Err)
    }

    fn lost_particle(&self, block: usize, tile: usize, lane: usize) -> MpmError {
        let view = self.block(block);
        let i = tile * crate::simd::LANES + lane;
        MpmError::LostParticle {
            id: view.id(i),
            position: view.position(i).coords,
            velocity: view.velocity(i),
        }
    }
}

/// Copies the nodes that a block's particles reach, then runs the transfer on the copy.
struct CopyAndGather<'a> {
    around: &'a [u32; crate::sort::NEIGHBOURS],
    touched: u32,
    nodes: &'a [NodeBlock],
    transfer: GridToParticles<'a>,
}

impl Kernel for CopyAndGather<'_> {
    type Output = Outcome;

    #[inline(always)]
    fn run<S: Simd>(self) -> Outcome {
        let mut arena = Arena::ZERO;
        for (n, &node_block) in self.around.iter().enumerate() {
            if self.touched >> n & 1 == 1 {
                copy_from_block(&mut arena.values, n, &self.nodes[node_block as usize]);
            }
        }
        GridToParticles { nodes: &arena.values, ..self.transfer }.run::<S>()
    }
}
