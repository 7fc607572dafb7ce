//! The material point method: particles, grid, sort and transfers.

use pliant_mpm::constitutive::{hencky, neo_hookean};

use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// First rows of [`ParticleRows`]: position, cells from the corner of the particle's block, rounded.
    pub const ROW_POSITION: u32 = 0;
    /// Velocity [m/s].
    pub const ROW_VELOCITY: u32 = 3;
    /// Affine velocity field C by rows [1/s].
    pub const ROW_AFFINE: u32 = 6;
    /// Deformation gradient by rows [-]. A particle of cloth has instead of its columns the force
    /// on a vertex [N], the axial vector of the skew part of a face's stress times volume [J], and
    /// the face's director [-].
    pub const ROW_GRADIENT: u32 = 15;
    /// History variable of the constitutive model.
    pub const ROW_HISTORY: u32 = 24;
    /// Mass [kg].
    pub const ROW_MASS: u32 = 25;
    /// Rest volume [m^3].
    pub const ROW_VOLUME: u32 = 26;
    /// Kirchhoff stress times rest volume [J] as xx, yy, zz, xy, xz, yz.
    pub const ROW_STRESS: u32 = 27;
    /// Twice the distance from the particle to the surface that it stands for [m].
    pub const ROW_THICKNESS: u32 = 33;
    /// What rounding left of the position [cells]: the particle is at their sum.
    pub const ROW_POSITION_LOW: u32 = 34;
    /// Number of rows.
    pub const MPM_ROWS: u32 = 37;
    /// Nodes of a stencil.
    pub const STENCIL_NODES: u32 = 27;
    /// Nodes along an edge of a node block, and cells along an edge of a particle block.
    pub const BLOCK_EDGE: i32 = 4;
    /// Bits of a coordinate in the key of a block or node.
    pub const KEY_BITS: u32 = 21;
    /// Nodes of a node block, and cells of a particle block.
    pub const MPM_BLOCK_NODES: u32 = 64;
    /// Blocks around a block, itself included.
    pub const MPM_NEIGHBOURS: u32 = 27;
    /// Nodes of a scratchpad: what the particles of a block reach between two sorts.
    pub const MPM_SCRATCHPAD_NODES: u32 = 1000;
    /// Threads of a block of the particles' passes to the grid, and back, of a sort's kernels and
    /// of the balance's closing.
    pub const P2G_THREADS: u32 = 256;
    /// See [`P2G_THREADS`]: with atomic additions.
    pub const P2G_ATOMIC_THREADS: u32 = 128;
    /// See [`P2G_THREADS`].
    pub const G2P_THREADS: u32 = 128;
    /// See [`P2G_THREADS`].
    pub const MPM_SORT_THREADS: u32 = 256;
    /// See [`P2G_THREADS`].
    pub const MPM_BALANCE_THREADS: u32 = 256;
    /// See [`P2G_THREADS`]: of the particles' totals.
    pub const MPM_TOTAL_THREADS: u32 = 256;
    /// Particles whose totals one block of threads sums.
    pub const MPM_TOTAL_TILE: u32 = 1024;
    /// Entries of the particles' totals: mass; first moment; linear and angular momentum; kinetic
    /// and elastic energy.
    pub const MPM_TOTALS: u32 = 13;
    /// Entries of an balance of momentum: mass; impulse of gravity, linear and angular; impulse of
    /// the boundary conditions, linear and angular; work; number of nodes with mass. The first and
    /// the last are of one substep, the others sums.
    pub const MPM_BALANCE: u32 = 15;
    /// Entries that a node block has: the sums; the last substep's, which joins them when it can no
    /// longer be stopped and repeated; that substep's number.
    pub const MPM_BALANCE_ROW: u32 = 31;
    /// A particle that moves more cells than this in a substep and leaves its scratchpad is lost.
    pub const MPM_LOST_CELLS: u32 = 2;
    /// Blocks along an axis from the origin, exclusive.
    pub const MPM_KEY_LIMIT: u32 = (1 << 20) - 1;
    /// Words of the status: how many substeps of the step may run, 2^32 - 1 for all.
    pub const MPM_STATUS_LIMIT: u32 = 0;
    /// Flags that say why not all of them.
    pub const MPM_STATUS_FLAGS: u32 = 1;
    /// 2^32 - 1 less the lost particle's id.
    pub const MPM_STATUS_LOST: u32 = 2;
    /// Bits of the square of the largest speed after the last substep [m^2/s^2], as f32.
    pub const MPM_STATUS_SPEED: u32 = 3;
    /// Of the capacity that was exceeded, what is needed, as far as it was counted.
    pub const MPM_STATUS_NEEDED: u32 = 4;
    /// What the capacity was.
    pub const MPM_STATUS_CAPACITY: u32 = 5;
    /// Number of words.
    pub const MPM_STATUS_WORDS: u32 = 6;
    /// Flag: a particle left its scratchpad, and a sort is due.
    pub const MPM_DRIFTED: u32 = 1;
    /// Flag: a particle is lost.
    pub const MPM_LOST: u32 = 2;
    /// Flag: more particle blocks than the capacity.
    pub const MPM_TOO_MANY_PARTICLE_BLOCKS: u32 = 4;
    /// Flag: more node blocks than the capacity.
    pub const MPM_TOO_MANY_NODE_BLOCKS: u32 = 8;
    /// Flag: a block is too far from the origin.
    pub const MPM_OUT_OF_RANGE: u32 = 16;
    /// Flag: more contacts than their arrays hold.
    pub const CONTACT_TOO_MANY: u32 = 32;
    /// Flag: a particle touches more geometries than are followed.
    pub const CONTACT_TOO_MANY_GEOMETRIES: u32 = 64;
    /// Flag: more contacts than the solver's capacity.
    pub const CONVEX_TOO_MANY_CONTACTS: u32 = 128;
    /// Flag: more touched nodes than the solver's capacity.
    pub const CONVEX_TOO_MANY_NODES: u32 = 256;
    /// Flag: a contact touches a node that the grid does not have.
    pub const CONVEX_MISSING_NODE: u32 = 512;
    /// Flag: numbers of a contact solve are not finite.
    pub const CONVEX_FAILED: u32 = 1024;
    /// Model of a material: fixed corotated elasticity.
    pub const MPM_FIXED_COROTATED: u32 = 0;
    /// Neo-Hookean elasticity.
    pub const MPM_NEO_HOOKEAN: u32 = 1;
    /// Linear corotated elasticity.
    pub const MPM_LINEAR_COROTATED: u32 = 2;
    /// Von Mises plasticity.
    pub const MPM_VON_MISES: u32 = 3;
    /// Drucker-Prager plasticity.
    pub const MPM_DRUCKER_PRAGER: u32 = 4;
    /// Granular flow, whose particles keep subgrid motion: mpm/src/detail.rs.
    pub const MPM_GRANULAR: u32 = 5;
    /// The least principal stretch of the models with Hencky strain [-].
    pub const MPM_SMALLEST_STRETCH: f64 = hencky::SMALLEST_STRETCH;
    /// Ratio of volumes below which ln J of neo-Hookean elasticity goes on as its tangent [-].
    pub const MPM_EXTENSION_VOLUME_RATIO: f64 = neo_hookean::EXTENSION_VOLUME_RATIO;
    /// Numbers of a particle's subgrid motion: velocity [m/s], then affine field by rows [1/s].
    pub const MPM_SUBGRID_ROWS: u32 = 12;
    /// Boundary condition of a plane: sticky.
    pub const MPM_STICKY: u32 = 0;
    /// Slip without friction.
    pub const MPM_SLIP: u32 = 1;
    /// Slip with friction.
    pub const MPM_FRICTIONAL: u32 = 2;
}

shared_structs! {
    /// The grid: a node block of 4x4x4 nodes has 64 nodes in a row, z fastest.
    pub struct GridNodes {
        /// Velocity x, y, z [m/s] and mass [kg] of each node; nodes of zero mass are all zero.
        pub nodes: Span<[f32; 4]>,
        /// Key of each node block; its first node is at 4 times the key.
        pub keys: Span<[i32; 3]>,
        /// The table that finds a node block by its key: `find_key` of `kernels/mpm.cuh`. Its
        /// length is a power of two.
        pub table_keys: Span<u64>,
        /// Slot of the node block at each place of the table.
        pub table_slots: Span<u32>,
    }

    /// Particles in device memory, sorted by cell at the start of a step. Row r of particle i is
    /// `rows[r * stride + i]`. All rows are in the world frame; [`ROW_POSITION`] and the constants
    /// after it name them.
    pub struct ParticleRows {
        /// [`MPM_ROWS`] rows.
        pub rows: Span<f32>,
        /// The order in which each was added.
        pub ids: Span<u32>,
        /// Index of each one's material; those of cloth count on from the others.
        pub materials: Span<u32>,
        /// Slot of each one's block.
        pub blocks: Span<u32>,
        /// Key of each block; its corner is at 4 times the key [cells].
        pub block_keys: Span<[i32; 3]>,
        /// Number of particles.
        pub count: u32,
        /// Elements from one row to the next.
        pub stride: u32,
    }

    /// What may change from step to step.
    pub struct MpmSettings {
        /// Substep times gravity, world frame [m/s].
        pub gravity_step: [f64; 3],
        /// Grid spacing h [m].
        pub grid_spacing_f64: f64,
        /// Substep [s].
        pub substep_f64: f64,
        /// Grid spacing h [m].
        pub grid_spacing: f32,
        /// Substep [s].
        pub substep: f32,
        /// Fraction of the subgrid motion that granular particles keep after a substep.
        pub subgrid_retention: f32,
        /// Time over which internal forces act in the first substep [s]
        /// ([`pliant_mpm::LastSubstep::kick`]).
        pub first_kick: f32,
        /// Number of the first substep, counted from the start.
        pub first_number: u64,
    }

    /// A material.
    pub struct MpmMaterial {
        /// Which model: [`MPM_FIXED_COROTATED`] and those after it.
        pub model: u32,
        /// Shear modulus [Pa].
        pub mu: f32,
        /// First Lame parameter [Pa].
        pub lambda: f32,
        /// Von Mises: largest |dev e|; Drucker-Prager: slope of the cone, -|dev e| / tr e on it
        /// [-].
        pub yield_strain: f32,
        /// Granular flow, the cone of slow flow: sqrt(3)/2 m, with m = sqrt(J2)/p in simple shear
        /// [-].
        pub slow_ratio: f32,
        /// m (3 - m^2)/2 of that cone: how far its section is from a circle (0) towards a triangle
        /// (1).
        pub slow_triangularity: f32,
        /// As `slow_ratio`, of fast flow.
        pub fast_ratio: f32,
        /// As `slow_triangularity`, of fast flow.
        pub fast_triangularity: f32,
        /// Granular flow: the stress that relaxes at I = I_0, over substep and root of the pressure
        /// [sqrt(Pa)/s].
        pub relaxation: f32,
    }

    /// A boundary condition.
    pub struct MpmPlane {
        /// Unit normal into the domain.
        pub normal_f64: [f64; 3],
        /// Cells from the origin along the normal.
        pub offset: f64,
        /// Unit normal into the domain.
        pub normal: [f32; 3],
        /// Coefficient of friction.
        pub friction: f32,
        /// Which condition: [`MPM_STICKY`] and those after it.
        pub kind: u32,
        /// Zero.
        pub unused: u32,
    }
}

kernel_parameters! {
    /// Particles to grid, a block of threads a particle block, into its scratchpad.
    pub struct MpmParticlesToGridParameters = "mpm_particles_to_grid" {
        /// Particles.
        pub particles: ParticleRows,
        /// One element.
        pub settings: Span<MpmSettings>,
        /// Number of particle blocks; one element.
        pub block_count: Span<u32>,
        /// First particle of each block, and the end of the last.
        pub block_starts: Span<u32>,
        /// Momentum [N s] and mass [kg] of [`MPM_SCRATCHPAD_NODES`] nodes a particle block.
        pub scratchpads: Span<[f32; 4]>,
        /// Bounds of the stencil box in each scratchpad that is filled: lowest node, then the end.
        pub stencil_boxes: Span<[i32; 6]>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The materials, where granular particles alone are transferred, without forces; else
        /// empty.
        pub granular_of: Span<MpmMaterial>,
        /// The substep in the step.
        pub substep_index: u32,
        /// Number of materials that are not cloth; 2^32 - 1 without cloth.
        pub cloth_from: u32,
    }

    /// Particles to grid by atomic additions, a block of threads a particle block.
    pub struct MpmAtomicToGridParameters = "mpm_atomic_to_grid" {
        /// As without atomics; the scratchpads are not used.
        pub transfer: MpmParticlesToGridParameters,
        /// Momentum [N s] and mass [kg] of each node; zero at first.
        pub nodes: Span<[f32; 4]>,
        /// Node blocks around each particle block.
        pub nodes_of_particles: Span<u32>,
    }

    /// The grid pass: momenta from the scratchpads, or from the nodes themselves without
    /// scratchpads; free motion, boundary conditions, balance.
    pub struct MpmGridParameters = "mpm_move_grid" {
        /// The grid.
        pub grid: GridNodes,
        /// One element.
        pub settings: Span<MpmSettings>,
        /// Number of node blocks; one element.
        pub node_count: Span<u32>,
        /// Particle blocks around each node block, plus one; zero for none.
        pub particles_of_nodes: Span<u32>,
        /// The scratchpads.
        pub scratchpads: Span<[f32; 4]>,
        /// Their stencil boxes.
        pub stencil_boxes: Span<[i32; 6]>,
        /// Boundary conditions.
        pub planes: Span<MpmPlane>,
        /// Balance of each node block: [`MPM_BALANCE_ROW`] entries. Empty for the nodes' velocities
        /// alone, without gravity and boundary conditions.
        pub balances: Span<f64>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep in the step.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Adds the node blocks' balances to the step's, and clears them; by a single block.
    pub struct MpmSumBalanceParameters = "mpm_sum_balance" {
        /// Number of node blocks; one element.
        pub node_count: Span<u32>,
        /// Balance of each node block: [`MPM_BALANCE_ROW`] entries.
        pub balances: Span<f64>,
        /// The step's; [`MPM_BALANCE`] elements.
        pub total: Span<f64>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes next. Nothing happens where one before it has been stopped; what
        /// it left itself when it was tried is not counted.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Sums the particles' totals by tiles of [`MPM_TOTAL_TILE`].
    pub struct MpmTotalTilesParameters = "mpm_total_tiles" {
        /// Particles.
        pub particles: ParticleRows,
        /// Materials.
        pub materials: Span<MpmMaterial>,
        /// [`MPM_TOTALS`] entries a tile.
        pub tile_sums: Span<f64>,
        /// Grid spacing h [m].
        pub grid_spacing: f64,
    }

    /// Sums the tiles' totals; by a single block with a warp for each entry.
    pub struct MpmTotalsParameters = "mpm_totals" {
        /// [`MPM_TOTALS`] entries a tile.
        pub tile_sums: Span<f64>,
        /// [`MPM_TOTALS`] elements.
        pub totals: Span<f64>,
        /// Number of tiles.
        pub tiles: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Grid to particles, motion, return mapping and stress.
    pub struct MpmGridToParticlesParameters = "mpm_grid_to_particles" {
        /// Particles.
        pub particles: ParticleRows,
        /// The grid.
        pub grid: GridNodes,
        /// One element.
        pub settings: Span<MpmSettings>,
        /// Materials.
        pub materials: Span<MpmMaterial>,
        /// Number of particle blocks; one element.
        pub block_count: Span<u32>,
        /// First particle of each block, and the end of the last.
        pub block_starts: Span<u32>,
        /// Stencil boxes.
        pub stencil_boxes: Span<[i32; 6]>,
        /// Node blocks around each particle block.
        pub nodes_of_particles: Span<u32>,
        /// The subgrid motion of each granular particle in this substep: [`MPM_SUBGRID_ROWS`] rows
        /// as those of the particles. Empty where none is kept.
        pub subgrid_motions: Span<f32>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep in the step.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Finds the subgrid motion of granular particles from what they alone gave the grid, before
    /// the substep that adds it back.
    pub struct MpmFindSubgridMotionParameters = "mpm_find_subgrid_motion" {
        /// As for the transfer to the particles, which are not changed.
        pub transfer: MpmGridToParticlesParameters,
    }

    /// Probe: finds node blocks by their keys.
    pub struct ProbeFindNodesParameters = "probe_find_nodes" {
        /// The grid.
        pub grid: GridNodes,
        /// Keys.
        pub keys: Span<[i32; 3]>,
        /// Slot of each one's block; 2^32 - 1 where there is none.
        pub slots: Span<u32>,
    }

    /// Probe: a material's response to trial deformation gradients.
    pub struct ProbeConstitutiveParameters = "probe_constitutive" {
        /// Materials.
        pub materials: Span<MpmMaterial>,
        /// Deformation gradients by rows, and the history.
        pub trials: Span<[f32; 10]>,
        /// Deformation gradient by rows, history, Kirchhoff stress [Pa] as xx, yy, zz, xy, xz, yz.
        pub responses: Span<[f32; 16]>,
        /// Which material.
        pub material: u32,
        /// Substep [s].
        pub substep: f32,
    }
}
