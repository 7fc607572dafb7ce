//! All kernels, with their parameters and the constants they share with the host.
//!
//! `kernels/parameters.cuh` is generated from this list ([`header`]); a test compares the two.

use std::fmt::Write;

use crate::layout::{DeviceType, Layout, Span, kernels, shared_constants, shared_structs};

/// The parameters of a kernel, which also say which kernel it is.
pub trait Parameters: DeviceType {
    /// The kernel that takes them.
    const KERNEL: Kernel;
}

shared_constants! {
    /// Threads of a block of the scan kernels.
    pub const SCAN_THREADS: u32 = 256;
    /// Elements that a block scans.
    pub const SCAN_TILE: u32 = 2048;
    /// Threads of a block of the sort kernels.
    pub const SORT_THREADS: u32 = 256;
    /// Keys that a block sorts.
    pub const SORT_TILE: u32 = 2048;
    /// Bits of the key that a pass sorts by.
    pub const SORT_BITS: u32 = 8;
    /// Values of those bits.
    pub const SORT_DIGITS: u32 = 1 << SORT_BITS;
    /// Threads of a block of the reductions.
    pub const REDUCE_THREADS: u32 = 256;
    /// Elements that a block reduces.
    pub const REDUCE_TILE: u32 = 2048;
    /// Words of a grid barrier's memory.
    pub const GRID_BARRIER_WORDS: u32 = 2;
    /// Most threads of a block of a probe.
    pub const PROBE_THREADS: u32 = 256;

    // The convex contact solve.
    /// Threads of a block of the convex contact solve, and elements whose sum is formed by one of its blocks.
    pub const CONVEX_THREADS: u32 = 128;
    /// Sums that one pass forms at most.
    pub const CONVEX_SUMS: u32 = 4;
    /// f64 rows of a touched node: see `kernels/convex.cuh`.
    pub const CONVEX_NODE_ROWS: u32 = 20;
    /// f64 rows of a contact.
    pub const CONVEX_CONTACT_ROWS: u32 = 30;
    /// Rows of a touched node in a linear system.
    pub const CONVEX_SYSTEM_ROWS: u32 = 19;
    /// Along an axis with an offset of this or more all weight is on the node of number offset - 8: a contact of a node.
    pub const CONVEX_ON_NODE: u32 = 8;
    /// Start of a solve: the free velocities.
    pub const CONVEX_GUESS_FREE: u32 = 0;
    /// Start of a solve: between the free velocities and what the guessed impulses do.
    pub const CONVEX_GUESS_IMPULSES: u32 = 1;
    /// Start of a solve: between the free velocities and the guessed ones.
    pub const CONVEX_GUESS_VELOCITIES: u32 = 2;
    /// Start of a solve: the better of the guessed velocities and what the guessed impulses do.
    pub const CONVEX_GUESS_SOLUTION: u32 = 3;
    /// End of a solve: there are no contacts.
    pub const CONVEX_NO_CONTACTS: u32 = 0;
    /// End of a solve: the tolerance is reached.
    pub const CONVEX_CONVERGED: u32 = 1;
    /// End of a solve: the gradient is below its rounding.
    pub const CONVEX_STAGNATED: u32 = 2;
    /// End of a solve: too many iterations.
    pub const CONVEX_ITERATION_LIMIT: u32 = 3;
    /// End of a solve: a number is not finite.
    pub const CONVEX_NOT_FINITE: u32 = 4;
    /// End of a solve, before it began: more contacts or touched nodes than there is room for, or a node that the grid lacks.
    pub const CONVEX_NO_ROOM: u32 = 5;

    /// No contact, geometry, side or triangle.
    pub const CONTACT_NONE: u32 = u32::MAX;
    /// Threads of a block of the contact kernels, and particles of its tile.
    pub const CONTACT_THREADS: u32 = 256;
    /// Geometries that a particle can touch at once.
    pub const CONTACT_SLOTS: u32 = 8;
    /// Levels of a tree of triangles.
    pub const CONTACT_TREE_DEPTH: u32 = 40;
    /// Numbers that are summed for each body: angular impulse, linear impulse, work.
    pub const CONTACT_SUMS: u32 = 7;

    /// Rows of [`ParticleRows`].
    pub const MPM_ROWS: u32 = 33;
    /// Nodes of a node block, and cells of a particle block.
    pub const MPM_BLOCK_NODES: u32 = 64;
    /// Blocks around a block, itself included.
    pub const MPM_NEIGHBOURS: u32 = 27;
    /// Nodes of a window: what the particles of a block reach between two sorts.
    pub const MPM_WINDOW_NODES: u32 = 1000;
    /// Threads of a block of the particles' passes to the grid, and back, of a sort's kernels and of the account's closing.
    pub const P2G_THREADS: u32 = 64;
    /// See [`P2G_THREADS`].
    pub const G2P_THREADS: u32 = 128;
    /// See [`P2G_THREADS`].
    pub const MPM_SORT_THREADS: u32 = 256;
    /// See [`P2G_THREADS`].
    pub const MPM_CLOSE_THREADS: u32 = 256;
    /// Entries of an account of momentum: mass; impulse of gravity, linear and angular; impulse of the boundary conditions, linear and
    /// angular; work.
    pub const MPM_ACCOUNT: u32 = 14;
    /// A particle that moves more cells than this in a substep and leaves its window is lost.
    pub const MPM_LOST_CELLS: u32 = 2;
    /// Blocks along an axis from the origin, exclusive.
    pub const MPM_KEY_LIMIT: u32 = (1 << 20) - 1;
    /// Words of the status: how many substeps of the step may run, 2^32 - 1 for all.
    pub const MPM_STATUS_LIMIT: u32 = 0;
    /// Why not all of them.
    pub const MPM_STATUS_FLAGS: u32 = 1;
    /// 2^32 - 1 less the lost particle's id.
    pub const MPM_STATUS_LOST: u32 = 2;
    /// Bits of the square of the largest speed after the last substep [m^2/s^2], as f32.
    pub const MPM_STATUS_SPEED: u32 = 3;
    /// Number of words.
    pub const MPM_STATUS_WORDS: u32 = 4;
    /// Flag: a particle left its window, and a sort is due.
    pub const MPM_DRIFTED: u32 = 1;
    /// Flag: a particle is lost.
    pub const MPM_LOST: u32 = 2;
    /// Flag: more particle blocks than there is room for.
    pub const MPM_TOO_MANY_PARTICLE_BLOCKS: u32 = 4;
    /// Flag: more node blocks than there is room for.
    pub const MPM_TOO_MANY_NODE_BLOCKS: u32 = 8;
    /// Flag: a block is too far from the origin.
    pub const MPM_OUT_OF_RANGE: u32 = 16;
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
    /// Boundary condition of a plane: sticky.
    pub const MPM_STICKY: u32 = 0;
    /// Slip without friction.
    pub const MPM_SLIP: u32 = 1;
    /// Slip with friction.
    pub const MPM_FRICTIONAL: u32 = 2;
}

shared_structs! {
    /// Some bits of a key, by which a pass sorts.
    pub struct SortDigit {
        /// The lowest of the bits.
        pub shift: u32,
        /// The bits once shifted: 2^bits - 1.
        pub mask: u32,
    }

    /// The grid: a node block of 4x4x4 nodes has 64 nodes in a row, z fastest.
    pub struct GridNodes {
        /// Velocity x, y, z [m/s] and mass [kg] of each node; nodes of zero mass are all zero.
        pub nodes: Span<[f32; 4]>,
        /// Key of each node block; its first node is at 4 times the key.
        pub keys: Span<[i32; 3]>,
        /// The table that finds a node block by its key: `find_key` of `kernels/mpm.cuh`. Its length is a power of two.
        pub table_keys: Span<u64>,
        /// Slot of the node block at each place of the table.
        pub table_slots: Span<u32>,
    }

    /// The contacts of a substep as the convex solve reads them, an element each; `count[0]` of them are there. Contacts
    /// with the same base node that follow one another are worked on together; any order is right.
    pub struct ConvexContacts {
        /// Number of contacts; one element.
        pub count: Span<u32>,
        /// First node of the stencil, in nodes of the grid.
        pub base: Span<[i32; 3]>,
        /// The particle's place in cells from that node, in [0.5, 1.5]; or along an axis `CONVEX_ON_NODE` and more.
        pub offset: Span<[f32; 3]>,
        /// Unit normal, outward from the body, world axes.
        pub normal: Span<[f32; 3]>,
        /// The body's velocity at the contact point, world axes, in m/s.
        pub body_velocity: Span<[f32; 3]>,
        /// Signed distance in m, negative when overlapping.
        pub gap: Span<f32>,
        /// In N/m.
        pub stiffness: Span<f32>,
        /// Coefficient of friction.
        pub friction: Span<f32>,
        /// In N s, what bounds friction; of a bonded contact with the tension's impulse added.
        pub lagged_normal_impulse: Span<f32>,
        /// Largest tension of a bonded contact in N, 0 without a bond.
        pub tension: Span<f32>,
        /// Hunt-Crossley dissipation in s/m; empty where the setting holds for all.
        pub dissipation: Span<f32>,
        /// Stiction tolerance in m/s; empty where the setting holds for all.
        pub stiction_tolerance: Span<f32>,
    }

    /// Which contacts touch which nodes.
    pub struct ConvexIncidence {
        /// Number of contacts, of groups, of touched nodes, and whether there was no room for them.
        pub counts: Span<u32>,
        /// The group of each contact: consecutive contacts with one stencil.
        pub contact_groups: Span<u32>,
        /// First contact of each group, and the number of contacts.
        pub group_begin: Span<u32>,
        /// The touched nodes of each group's stencil, at `27 group + (3 i + j) 3 + k`.
        pub group_nodes: Span<u32>,
        /// First incidence of each touched node, and the number of incidences.
        pub node_begin: Span<u32>,
        /// Places in `group_nodes` of each touched node, ascending.
        pub incidences: Span<u32>,
        /// Where each touched node lies in the grid.
        pub slots: Span<u32>,
    }

    /// Settings of a convex solve, in device memory so that they can change between runs of a recording.
    pub struct ConvexSettings {
        /// Length of the substep in s.
        pub substep: f64,
        /// Hunt-Crossley dissipation in s/m of contacts without their own.
        pub dissipation: f64,
        /// Stiction tolerance in m/s of contacts without their own.
        pub stiction_tolerance: f64,
        /// Relative tolerance of the residual.
        pub relative_tolerance: f64,
        /// Absolute tolerance of the residual in sqrt(J).
        pub absolute_tolerance: f64,
        /// Most outer iterations.
        pub max_iterations: u32,
        /// Most products of one linear system.
        pub max_inner_iterations: u32,
        /// Where to start: `CONVEX_GUESS_FREE` and so on.
        pub guess: u32,
        /// Zero.
        pub unused: u32,
    }

    /// What a convex solve did.
    pub struct ConvexReport {
        /// Residual at the end in sqrt(J).
        pub residual: f64,
        /// What it had to be below in sqrt(J).
        pub tolerance: f64,
        /// Objective at the end in J.
        pub objective: f64,
        /// Why it ended: `CONVEX_CONVERGED` and so on.
        pub stop: u32,
        /// Outer iterations.
        pub iterations: u32,
        /// Products with the Hessian.
        pub inner_iterations: u32,
        /// Evaluations of the objective's derivative along a direction.
        pub line_search_iterations: u32,
        /// Number of contacts.
        pub contacts: u32,
        /// Number of groups of contacts.
        pub groups: u32,
        /// Number of touched nodes.
        pub nodes: u32,
        /// Linear systems that were solved in double precision.
        pub double_systems: u32,
        /// Linear systems that even double precision did not solve as far as asked.
        pub unresolved_systems: u32,
        /// Zero.
        pub unused: u32,
    }

    /// A geometry of a body, as contact sees it: constant while the bodies are.
    pub struct ContactGeometry {
        /// Kind of its shape: see `kernels/distance.cuh`.
        pub kind: u32,
        /// Number of its body.
        pub body: u32,
        /// Number of features: faces of a hull, triangles of a mesh.
        pub features: u32,
        /// 1 where particles can adhere, else 0.
        pub adhesive: u32,
        /// Box: half extents; sphere: radius; capsule and cylinder: radius, half length; ellipsoid: semi-axes; triangles: half of
        /// their bounding box [m].
        pub size: [f32; 3],
        /// Radius of a ball around the triangles, about the middle of their bounding box [m].
        pub radius: f32,
        /// Coulomb coefficient.
        pub friction: f32,
        /// Tensile stress of a bond [Pa].
        pub adhesion_stress: f32,
        /// Gap at which a bond breaks [m].
        pub adhesion_range: f32,
        /// First node of its tree of triangles.
        pub first_node: u32,
        /// First of its triangles.
        pub first_triangle: u32,
        /// First of its planes.
        pub first_plane: u32,
        /// Rotation from the shape's frame to the body's: w, x, y, z.
        pub rotation: [f64; 4],
        /// The shape's middle in the body's frame [m].
        pub translation: [f64; 3],
    }

    /// A node of a tree of triangles.
    pub struct ContactNode {
        /// Lowest corner of the box around its triangles [m].
        pub low: [f32; 3],
        /// Highest corner [m].
        pub high: [f32; 3],
        /// First triangle of a leaf; the right child of an inner node, whose left child follows it. Both count from the
        /// geometry's first.
        pub start: u32,
        /// Triangles of a leaf; 0 for an inner node.
        pub count: u32,
    }

    /// All geometries of all bodies. Frames have their origin in the middle of the shape.
    pub struct ContactShapes {
        /// Geometries, in the order of the bodies.
        pub geometries: Span<ContactGeometry>,
        /// Nodes of the trees.
        pub nodes: Span<ContactNode>,
        /// Corners a, b, c [m] and outward unit normal of each triangle, in the order of its tree.
        pub triangles: Span<[f32; 12]>,
        /// Sums of the normals of the triangles at edges ab, bc, ca, and angle-weighted sums of those at a, b, c.
        pub edge_normals: Span<[f32; 18]>,
        /// Feature of each triangle: its number in the mesh, its face of a hull.
        pub features: Span<u32>,
        /// Where each triangle of a mesh stands in `triangles`.
        pub slots: Span<u32>,
        /// Outward normal and offset [m] of each face of a hull.
        pub planes: Span<[f32; 4]>,
    }

    /// A body as contact sees it in a substep, world frame.
    pub struct ContactBody {
        /// Where its origin was at the start of the step, which impulses are about [m].
        pub origin: [f64; 3],
        /// Where its origin is in this substep [m].
        pub translation: [f64; 3],
        /// Rotation from its frame to the world's: w, x, y, z.
        pub rotation: [f64; 4],
        /// Angular velocity [rad/s].
        pub angular: [f64; 3],
        /// Velocity of its origin [m/s].
        pub linear: [f64; 3],
    }

    /// A geometry at its pose in this substep. Its middle is the sum of a cell and a fraction, so that what is relative to it is
    /// exact far from the world's origin.
    pub struct ContactPlaced {
        /// World to shape frame, by rows.
        pub inverse_rotation: [f32; 9],
        /// Cell of the grid in which its middle is.
        pub cell: [i32; 3],
        /// Its middle within that cell [cells].
        pub fraction: [f32; 3],
        /// Angular velocity, world frame [rad/s].
        pub angular: [f32; 3],
        /// Velocity of its middle, world frame [m/s].
        pub linear: [f32; 3],
        /// From the point that the body's impulses are about to its middle, world frame [m].
        pub lever: [f32; 3],
    }

    /// Where in a step contact is.
    pub struct ContactClock {
        /// Length of the substep [s].
        pub delta: f32,
        /// Number of the substep in its step.
        pub substep: u32,
        /// 1 where the substep takes place: see the limit of [`Kernel::ContactPlace`].
        pub active: u32,
        /// Zero.
        pub unused: u32,
    }

    /// What contact keeps from substep to substep besides the memories.
    pub struct ContactState {
        /// Number of remembered contacts.
        pub memories: u32,
        /// Bits of the largest `pressed_out` among them, as f32.
        pub farthest: u32,
        /// The same of those that are being remembered.
        pub next_farthest: u32,
        /// The most contacts of a substep.
        pub most_contacts: u32,
        /// The most geometries that a particle touched.
        pub most_of_particle: u32,
        /// Zero.
        pub unused: [u32; 3],
    }

    /// A contact of the last substep.
    pub struct ContactMemory {
        /// The particle's id.
        pub particle: u32,
        /// Number of the geometry.
        pub geometry: u32,
        /// Feature through which the particle came.
        pub feature: u32,
        /// 1 where the particle was pressed onto an adhesive geometry and held since.
        pub bonded: u32,
        /// Impulse on the particle, world frame [N s].
        pub impulse: [f32; 3],
        /// Its normal part; negative only for a bond under tension.
        pub normal_impulse: f32,
        /// Signed distance of the particle's centre, from `feature` [m].
        pub distance: f32,
        /// How far outside the geometry the particle is although it is behind `feature` [m].
        pub pressed_out: f32,
        /// Zero.
        pub unused: [u32; 2],
    }

    /// What decides which pairs touch, and how stiffly.
    pub struct ContactRules {
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Gap below which a pair is registered at any velocity [m].
        pub margin: f32,
        /// Radius of every particle [m]; 0 for half the edge of the cube of its volume.
        pub radius: f32,
        /// Stiffness of every contact [N/m]; 0 for `near_rigid` times mass over the square of the substep.
        pub stiffness: f32,
        /// See `stiffness`.
        pub near_rigid: f32,
        /// Hunt-Crossley dissipation [s/m].
        pub dissipation: f32,
        /// Zero.
        pub unused: u32,
    }

    /// The contacts of a substep, one element each: ordered by particle (in their order in memory), then geometry.
    pub struct ContactArrays {
        /// Number of contacts; one element.
        pub count: Span<u32>,
        /// The particle's id; [`CONTACT_NONE`] for a contact of a node with a wall of the grid.
        pub particle: Span<u32>,
        /// Number of the geometry.
        pub geometry: Span<u32>,
        /// Number of the body; the number of bodies for a wall of the grid.
        pub body: Span<u32>,
        /// Feature of the geometry.
        pub feature: Span<u32>,
        /// Lowest node of the particle's stencil.
        pub base: Span<[i32; 3]>,
        /// Position relative to that node [cells].
        pub offset: Span<[f32; 3]>,
        /// From the body to the particle, world frame.
        pub normal: Span<[f32; 3]>,
        /// Velocity of the body there, world frame [m/s].
        pub body_velocity: Span<[f32; 3]>,
        /// Position relative to the point that the body's impulses are about, world frame [m].
        pub lever: Span<[f32; 3]>,
        /// Gap [m], negative when overlapping.
        pub gap: Span<f32>,
        /// Gap of the particle's centre: without its radius [m].
        pub distance: Span<f32>,
        /// How far outside the geometry the particle is although `distance` is negative [m].
        pub pressed_out: Span<f32>,
        /// Stiffness [N/m].
        pub stiffness: Span<f32>,
        /// Coulomb coefficient.
        pub friction: Span<f32>,
        /// Normal impulse that bounds the friction [N s].
        pub lagged_normal_impulse: Span<f32>,
        /// Largest tension of a contact that is bonded at the start of the substep [N]; 0 for one that is not.
        pub tension: Span<f32>,
        /// Impulse on the particle in the last substep, world frame [N s]; zero for a new pair.
        pub last_impulse: Span<[f32; 3]>,
    }

    /// What is remembered of the last substep's contacts.
    pub struct ContactMemories {
        /// The contacts, a particle's in a row.
        pub list: Span<ContactMemory>,
        /// For the id of each particle, the first of its contacts in `list`, if that is of this particle; else it has none.
        pub first: Span<u32>,
        /// One element.
        pub state: Span<ContactState>,
    }

    /// What the solve of a substep found.
    pub struct ContactSolution {
        /// Impulse of each contact on its particle, world frame [N s].
        pub impulses: Span<[f64; 3]>,
        /// Velocity of each touched node [m/s].
        pub velocities: Span<[f64; 3]>,
        /// Rows of touched nodes: row r of node i is `nodes[r * node_stride + i]`.
        pub nodes: Span<f64>,
        /// What each body's velocity became less what contact saw, world frame about the body's impulses' point: angular [rad/s], linear
        /// [m/s]; empty where bodies do not answer.
        pub answers: Span<[f64; 6]>,
        /// Elements from one row of nodes to the next.
        pub node_stride: u32,
        /// Row with the mass that the solve moved [kg]; 0 for a node that a wall of the grid held.
        pub mass_row: u32,
        /// First of the three rows with the velocity before the solve [m/s].
        pub free_row: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Particles in device memory, sorted by cell at the start of a step. Row r of particle i is `rows[r * stride + i]`.
    ///
    /// Rows 0..3: position, cells from the corner of its block of 4x4x4 cells; 3..6: velocity [m/s]; 6..15: affine field C by rows [1/s];
    /// 15..24: deformation gradient by rows; 24: the model's history; 25: mass [kg]; 26: rest volume [m^3]; 27..33: Kirchhoff stress times
    /// rest volume [J] as xx, yy, zz, xy, xz, yz. All in the world frame.
    pub struct ParticleRows {
        /// 33 rows.
        pub rows: Span<f32>,
        /// The order in which each was added.
        pub ids: Span<u32>,
        /// Index of each one's material.
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
        /// Grid spacing h [m].
        pub grid_spacing: f32,
        /// Substep [s].
        pub delta: f32,
    }

    /// A material.
    pub struct MpmMaterial {
        /// Which model: [`MPM_FIXED_COROTATED`] and those after it.
        pub model: u32,
        /// Shear modulus [Pa].
        pub mu: f32,
        /// First Lame parameter [Pa].
        pub lambda: f32,
        /// Von Mises: largest |dev e|; Drucker-Prager: slope of the cone, -|dev e| / tr e on it (no unit).
        pub yield_strain: f32,
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

kernels! {
    /// Exclusive prefix sums within tiles of [`SCAN_TILE`] elements, and the sum of each tile.
    ScanTiles = "scan_tiles", ScanTilesParameters {
        /// Numbers to add up.
        input: Span<u32>,
        /// Sum of the numbers before each one in its tile; may be `input`.
        output: Span<u32>,
        /// Sum of each tile.
        tile_sums: Span<u32>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Exclusive prefix sums of the tiles' sums, in place, by a single block.
    ScanTileSums = "scan_tile_sums", ScanTileSumsParameters {
        /// Sum of each tile; becomes the sum of all tiles before it.
        tile_sums: Span<u32>,
        /// The sum of everything; one element.
        total: Span<u32>,
        /// Number of tiles.
        tiles: u32,
        /// Zero.
        unused: u32,
    }

    /// Adds to each element what lies before its tile.
    ScanAddOffsets = "scan_add_offsets", ScanAddOffsetsParameters {
        /// Prefix sums within tiles; become those of the whole.
        output: Span<u32>,
        /// Sum of all tiles before each.
        tile_offsets: Span<u32>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Counts how often each digit occurs in each tile of keys.
    SortCountDigits = "sort_count_digits", SortCountDigitsParameters {
        /// Keys.
        keys: Span<u32>,
        /// Occurrences at `digit * tiles + tile`.
        counts: Span<u32>,
        /// Number of keys.
        count: u32,
        /// Number of tiles.
        tiles: u32,
        /// What to sort by.
        digit: SortDigit,
    }

    /// Moves keys and values to where their digit belongs, keys of equal digits in the order they had.
    SortScatter = "sort_scatter", SortScatterParameters {
        /// Keys.
        keys: Span<u32>,
        /// A value for each key.
        values: Span<u32>,
        /// Keys in the order of their digits.
        sorted_keys: Span<u32>,
        /// Their values.
        sorted_values: Span<u32>,
        /// Exclusive prefix sums of the counts of [`Kernel::SortCountDigits`].
        offsets: Span<u32>,
        /// Number of keys.
        count: u32,
        /// Number of tiles.
        tiles: u32,
        /// What to sort by.
        digit: SortDigit,
    }

    /// Sums of tiles of [`REDUCE_TILE`] f32 elements, in f64.
    SumTilesF32 = "sum_tiles_f32", SumTilesF32Parameters {
        /// Numbers to add up.
        input: Span<f32>,
        /// Sum of each tile.
        tile_sums: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Sums of tiles of [`REDUCE_TILE`] f64 elements.
    SumTilesF64 = "sum_tiles_f64", SumTilesF64Parameters {
        /// Numbers to add up.
        input: Span<f64>,
        /// Sum of each tile.
        tile_sums: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// The sum of the tiles' sums, by a single block.
    SumOfTiles = "sum_of_tiles", SumOfTilesParameters {
        /// Sum of each tile.
        tile_sums: Span<f64>,
        /// The sum of all; one element.
        total: Span<f64>,
        /// Number of tiles.
        tiles: u32,
        /// Zero.
        unused: u32,
    }

    /// Maxima of tiles of [`REDUCE_TILE`] f32 elements; NaN where there is one.
    MaxTilesF32 = "max_tiles_f32", MaxTilesF32Parameters {
        /// Numbers to compare.
        input: Span<f32>,
        /// Maximum of each tile.
        tile_maxima: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Maxima of tiles of [`REDUCE_TILE`] f64 elements; NaN where there is one.
    MaxTilesF64 = "max_tiles_f64", MaxTilesF64Parameters {
        /// Numbers to compare.
        input: Span<f64>,
        /// Maximum of each tile.
        tile_maxima: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// The maximum of the tiles' maxima, by a single block; minus infinity of none.
    MaxOfTiles = "max_of_tiles", MaxOfTilesParameters {
        /// Maximum of each tile.
        tile_maxima: Span<f64>,
        /// The maximum of all; one element.
        maximum: Span<f64>,
        /// Number of tiles.
        tiles: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: one operation of a warp on the lanes of a mask. Lanes outside it write nothing.
    ProbeWarp = "probe_warp", ProbeWarpParameters {
        /// A value for each thread.
        input: Span<u32>,
        /// What the operation gives each thread.
        output: Span<u32>,
        /// Which operation: see `kernels/probe.cu`.
        operation: u32,
        /// Lanes that take part.
        mask: u32,
        /// Lane, distance or lane mask of a shuffle.
        parameter: u32,
        /// Width of a shuffle.
        width: u32,
    }

    /// Probe: shuffles f64 values along the warp, by exclusive or.
    ProbeShuffleF64 = "probe_shuffle_f64", ProbeShuffleF64Parameters {
        /// A value for each thread.
        input: Span<f64>,
        /// The value of lane `lane ^ lane_mask`.
        output: Span<f64>,
        /// The lanes' difference.
        lane_mask: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: every thread applies each atomic operation to cells that all threads share.
    ProbeAtomics = "probe_atomics", ProbeAtomicsParameters {
        /// An operand for each thread.
        operands: Span<u32>,
        /// u32 cells: add, subtract, minimum, maximum, and, or, exclusive or, exchange, compare-and-swap count.
        words: Span<u32>,
        /// i32 cells: add, minimum, maximum.
        integers: Span<i32>,
        /// u64 cells: add, minimum, maximum, exchange, compare-and-swap count.
        longs: Span<u64>,
        /// f32 cells: add, exchange.
        floats: Span<f32>,
        /// f64 cells: add, the same through compare-and-swap.
        doubles: Span<f64>,
        /// What each thread found before it added 1 to the last u32 cell.
        tickets: Span<u32>,
        /// Number of operands.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: each block turns its values by one place through shared memory, and counts with barriers.
    ProbeBlock = "probe_block", ProbeBlockParameters {
        /// A value for each thread.
        input: Span<u32>,
        /// The value of the next thread in the block, by static shared memory.
        next: Span<u32>,
        /// The value of the thread before in the block, by dynamic shared memory.
        previous: Span<u32>,
        /// For each thread, how many values in the block are odd, whether all are, whether any is.
        votes: Span<[u32; 3]>,
    }

    /// Probe: blocks exchange values across barriers of the whole grid.
    ProbeGrid = "probe_grid", ProbeGridParameters {
        /// Memory of the barrier, zero at first: [`GRID_BARRIER_WORDS`] words.
        barrier: Span<u32>,
        /// A value a block, in two halves that take turns.
        values: Span<u32>,
        /// Number of rounds; in each, a block's value becomes the sum of its two neighbours'.
        rounds: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: threads race for cells, so that the result tells the order they ran in.
    ProbeRaces = "probe_races", ProbeRacesParameters {
        /// The thread that wrote last; one element.
        last: Span<u32>,
        /// A sum of f32 in the order of the threads; one element.
        sum: Span<f32>,
    }

    /// Probe: bits and roots, a thread a value.
    ProbeArithmetic = "probe_arithmetic", ProbeArithmeticParameters {
        /// Values.
        input: Span<u32>,
        /// For each value, its set bits, lowest set bit from 1, leading zeros, and bits reversed.
        bits: Span<[u32; 4]>,
        /// For each value, the reciprocal root of 1 + the value, in f32 and in f64.
        roots: Span<[f64; 2]>,
    }

    /// Probe, emulated only: breaks one rule, so that a test can see it told.
    ProbeMisuse = "probe_misuse", ProbeMisuseParameters {
        /// Memory to miss.
        cells: Span<u32>,
        /// Which rule: see `kernels/misuse.cu`.
        rule: u32,
        /// Zero.
        unused: u32,
    }

    /// Numbers the nodes that contacts touch, by blocks that stay.
    ConvexNumber = "convex_number", ConvexNumberParameters {
        /// The contacts; count, base nodes and offsets are read.
        contacts: ConvexContacts,
        /// Where their nodes are.
        grid: GridNodes,
        /// Which nodes they touch: the result.
        incidence: ConvexIncidence,
        /// Two tables of touched nodes that take turns, each a power of two long: the nodes' keys, 0 where free. The one that is not
        /// written holds the nodes of the last solve.
        table_keys: Span<u64>,
        /// The first place in `group_nodes` of the nodes of the table that is written.
        table_first: Span<u32>,
        /// Numbers of the tables' nodes.
        table_numbers: Span<u32>,
        /// Which table was written last, and how much of it less one; zero of nothing.
        table_state: Span<u32>,
        /// Velocity of each touched node after the last solve, by its numbers, in m/s.
        velocities: Span<[f64; 3]>,
        /// The same by the new numbers, or the free velocity where the last solve did not have the node.
        guess_velocities: Span<[f64; 3]>,
        /// Incidences of each touched node.
        node_counts: Span<u32>,
        /// A sum for each block.
        block_sums: Span<u32>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`] words.
        barrier: Span<u32>,
        /// Contacts there is room for.
        contact_capacity: u32,
        /// Touched nodes there is room for.
        node_capacity: u32,
    }

    /// The whole convex contact solve, by blocks that stay.
    ConvexSolve = "convex_solve", ConvexSolveParameters {
        /// The contacts.
        contacts: ConvexContacts,
        /// Which nodes they touch.
        incidence: ConvexIncidence,
        /// Settings; one element.
        settings: Span<ConvexSettings>,
        /// Free velocity in m/s and mass in kg of the grid's nodes; touched nodes get their new velocity.
        grid: Span<[f32; 4]>,
        /// Guessed velocities of the touched nodes in m/s.
        guess_velocities: Span<[f64; 3]>,
        /// Guessed impulses of the contacts on the particles in N s; may be short.
        guess_impulses: Span<[f32; 3]>,
        /// Velocity of each touched node in m/s.
        velocities: Span<[f64; 3]>,
        /// Impulse of the contacts on each touched node in N s.
        node_impulses: Span<[f64; 3]>,
        /// Impulse of each contact on its particle in N s.
        impulses: Span<[f64; 3]>,
        /// What happened; one element.
        report: Span<ConvexReport>,
        /// Objective, residual, tolerance and scale of the first iterates.
        trace: Span<[f64; 4]>,
        /// Memory of touched nodes, row by row.
        node_rows: Span<f64>,
        /// Memory of contacts, row by row.
        contact_rows: Span<f64>,
        /// The linear system in single precision: rows of the nodes.
        single_rows: Span<f32>,
        /// Hessians of the contacts.
        single_hessians: Span<f32>,
        /// Scaled directions of the nodes.
        single_directions: Span<[f32; 4]>,
        /// Images of the contacts.
        single_images: Span<[f32; 4]>,
        /// In double precision: rows of the nodes.
        double_rows: Span<f64>,
        /// Scaled directions of the nodes.
        double_directions: Span<[f64; 4]>,
        /// Images of the contacts.
        double_images: Span<[f64; 4]>,
        /// Sums of tiles, twice [`CONVEX_SUMS`] rows.
        tile_sums: Span<f64>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`] words.
        barrier: Span<u32>,
        /// Length of a row of contacts.
        contact_capacity: u32,
        /// Length of a row of touched nodes.
        node_capacity: u32,
    }

    /// Probe: signed distances of points to one geometry.
    ProbeContactDistance = "probe_contact_distance", ProbeContactDistanceParameters {
        /// The geometries.
        shapes: ContactShapes,
        /// Points relative to the shape's middle [m].
        points: Span<[f32; 3]>,
        /// Feature that each point came through; [`CONTACT_NONE`] for none.
        sides: Span<u32>,
        /// Signed distances [m].
        distances: Span<f32>,
        /// Outward unit normals.
        normals: Span<[f32; 3]>,
        /// Features.
        features: Span<u32>,
        /// Lower bounds of the distances [m].
        lower_bounds: Span<f32>,
        /// Number of the geometry.
        geometry: u32,
        /// Zero.
        unused: u32,
    }

    /// Places the geometries for a substep.
    ContactPlace = "contact_place", ContactPlaceParameters {
        /// The geometries.
        shapes: ContactShapes,
        /// Bodies, substep by substep.
        bodies: Span<ContactBody>,
        /// Geometries at their poses.
        placed: Span<ContactPlaced>,
        /// One element.
        clock: Span<ContactClock>,
        /// One element.
        state: Span<ContactState>,
        /// Number of substeps of the step that may take place; empty for all.
        limit: Span<u32>,
        /// Grid spacing [m].
        grid_spacing: f64,
        /// Number of bodies.
        body_count: u32,
        /// Zero.
        unused: u32,
    }

    /// Finds which particles touch which geometries.
    ContactFind = "contact_find", ContactFindParameters {
        /// Particles.
        particles: ParticleRows,
        /// The geometries.
        shapes: ContactShapes,
        /// Geometries at their poses.
        placed: Span<ContactPlaced>,
        /// The last substep.
        memories: ContactMemories,
        /// One element.
        clock: Span<ContactClock>,
        /// Geometries of a particle, [`CONTACT_SLOTS`] rows of them.
        touched: Span<u32>,
        /// Each particle's number of geometries, and 256 times that of those before it in its tile.
        counts: Span<u32>,
        /// Contacts of each tile.
        tiles: Span<u32>,
        /// What decides.
        rules: ContactRules,
    }

    /// Writes the contacts.
    ContactFill = "contact_fill", ContactFillParameters {
        /// Particles.
        particles: ParticleRows,
        /// The geometries.
        shapes: ContactShapes,
        /// Geometries at their poses.
        placed: Span<ContactPlaced>,
        /// The last substep.
        memories: ContactMemories,
        /// One element.
        clock: Span<ContactClock>,
        /// See [`Kernel::ContactFind`].
        touched: Span<u32>,
        /// See [`Kernel::ContactFind`].
        counts: Span<u32>,
        /// Contacts of the tiles before each one.
        tiles: Span<u32>,
        /// Contacts of all tiles; one element.
        total: Span<u32>,
        /// What decides.
        rules: ContactRules,
        /// The contacts.
        contacts: ContactArrays,
    }

    /// Remembers the contacts, and sums what they give each body.
    ContactExchange = "contact_exchange", ContactExchangeParameters {
        /// The contacts.
        contacts: ContactArrays,
        /// The geometries.
        shapes: ContactShapes,
        /// What becomes of them.
        memories: ContactMemories,
        /// What the solve found.
        solution: ContactSolution,
        /// Bodies, substep by substep.
        bodies: Span<ContactBody>,
        /// One element.
        clock: Span<ContactClock>,
        /// Sums of each tile of contacts, then of nodes, for each body and the walls of the grid; zero at first.
        sums: Span<[f64; 7]>,
        /// Grid spacing [m].
        grid_spacing: f64,
        /// Number of bodies.
        body_count: u32,
        /// Zero.
        unused: u32,
    }

    /// Writes the velocities of the touched nodes to the grid, and gives bodies what the solve left over there.
    ContactExchangeNodes = "contact_exchange_nodes", ContactExchangeNodesParameters {
        /// The contacts.
        contacts: ContactArrays,
        /// Which touch which nodes.
        incidence: ConvexIncidence,
        /// What the solve found.
        solution: ContactSolution,
        /// Velocity [m/s] and mass [kg] of all nodes of the grid.
        nodes: Span<[f32; 4]>,
        /// Bodies, substep by substep.
        bodies: Span<ContactBody>,
        /// One element.
        clock: Span<ContactClock>,
        /// See [`Kernel::ContactExchange`].
        sums: Span<[f64; 7]>,
        /// Grid spacing [m].
        grid_spacing: f64,
        /// Number of bodies.
        body_count: u32,
        /// First tile of nodes.
        first_tile: u32,
    }

    /// Adds the tiles' sums to those of the step.
    ContactSumBodies = "contact_sum_bodies", ContactSumBodiesParameters {
        /// See [`Kernel::ContactExchange`].
        sums: Span<[f64; 7]>,
        /// For each body and the walls of the grid: impulse on it, angular [N m s] then linear [N s]; work of the body on the particles [J].
        totals: Span<[f64; 7]>,
        /// One element.
        clock: Span<ContactClock>,
        /// Number of tiles.
        tiles: u32,
        /// Number of bodies.
        body_count: u32,
    }

    /// Sorts particles, 1: each one's block, into the table.
    MpmSortClassify = "mpm_sort_classify", MpmSortClassifyParameters {
        /// Particles.
        particles: ParticleRows,
        /// Table of particle blocks: keys, zero at first.
        table_keys: Span<u64>,
        /// For each place, 2^32 - 1 less its first particle; zero at first.
        table_first: Span<u32>,
        /// Each particle's place in the table.
        places: Span<u32>,
        /// Each particle's cell in its block.
        cells: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Sorts particles, 2: marks the first of each block.
    MpmSortMarkFirst = "mpm_sort_mark_first", MpmSortMarkFirstParameters {
        /// Each particle's place in the table.
        places: Span<u32>,
        /// For each place, 2^32 - 1 less its first particle.
        table_first: Span<u32>,
        /// One for the first particle of a block, zero for others.
        is_first: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Sorts particles, 3: numbers the blocks.
    MpmSortNumberBlocks = "mpm_sort_number_blocks", MpmSortNumberBlocksParameters {
        /// Particles.
        particles: ParticleRows,
        /// Whether a particle is the first of its block.
        is_first: Span<u32>,
        /// How many blocks have their first particle before each one.
        numbers: Span<u32>,
        /// Each particle's place in the table.
        places: Span<u32>,
        /// Number of the block at each place.
        table_numbers: Span<u32>,
        /// Key of each block.
        new_keys: Span<[i32; 3]>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Sorts particles, 4: what to sort by.
    MpmSortMakeKeys = "mpm_sort_make_keys", MpmSortMakeKeysParameters {
        /// Each particle's place in the table.
        places: Span<u32>,
        /// Each particle's cell.
        cells: Span<u32>,
        /// Number of the block at each place.
        table_numbers: Span<u32>,
        /// Block and cell of each particle.
        keys: Span<u32>,
        /// Each particle's index.
        order: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Sorts particles, 5: gathers them in their new order.
    MpmSortGather = "mpm_sort_gather", MpmSortGatherParameters {
        /// Particles.
        particles: ParticleRows,
        /// Block and cell of each, sorted.
        keys: Span<u32>,
        /// Where each one was.
        order: Span<u32>,
        /// Key of each block.
        new_keys: Span<[i32; 3]>,
        /// First particle of each block, and the end of the last.
        block_starts: Span<u32>,
        /// Rows in the new order.
        spare_rows: Span<f32>,
        /// Ids in the new order.
        spare_ids: Span<u32>,
        /// Materials in the new order.
        spare_materials: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Sorts particles, 6: puts them back.
    MpmSortStore = "mpm_sort_store", MpmSortStoreParameters {
        /// Particles.
        particles: ParticleRows,
        /// Block and cell of each, sorted.
        keys: Span<u32>,
        /// Key of each block.
        new_keys: Span<[i32; 3]>,
        /// Rows in the new order.
        spare_rows: Span<f32>,
        /// Ids in the new order.
        spare_ids: Span<u32>,
        /// Materials in the new order.
        spare_materials: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Finds node blocks, 1: for each particle block and neighbour, the first pair that names the same node block.
    MpmSortFindOwners = "mpm_sort_find_owners", MpmSortFindOwnersParameters {
        /// Number of particle blocks; one element.
        block_count: Span<u32>,
        /// Key of each particle block.
        block_keys: Span<[i32; 3]>,
        /// Table of particle blocks.
        table_keys: Span<u64>,
        /// Number of the block at each place.
        table_numbers: Span<u32>,
        /// That pair: 27 times the particle block and the neighbour.
        owners: Span<u32>,
        /// One where it is the pair itself, zero elsewhere and beyond the last block.
        is_owner: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Finds node blocks, 2: gives them their slots.
    MpmSortPlaceNodes = "mpm_sort_place_nodes", MpmSortPlaceNodesParameters {
        /// Number of particle blocks; one element.
        block_count: Span<u32>,
        /// Key of each particle block.
        block_keys: Span<[i32; 3]>,
        /// The pair that gives each its slot.
        owners: Span<u32>,
        /// Slots of the pairs that do.
        slots: Span<u32>,
        /// Node blocks around each particle block.
        nodes_of_particles: Span<u32>,
        /// Particle blocks around each node block, plus one; zero at first.
        particles_of_nodes: Span<u32>,
        /// Keys and table of node blocks, the table's keys zero at first.
        grid: GridNodes,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep that comes after the sort.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Particles to grid, a block of threads a particle block, into its window.
    MpmParticlesToGrid = "mpm_particles_to_grid", MpmParticlesToGridParameters {
        /// Particles.
        particles: ParticleRows,
        /// One element.
        settings: Span<MpmSettings>,
        /// Number of particle blocks; one element.
        block_count: Span<u32>,
        /// First particle of each block, and the end of the last.
        block_starts: Span<u32>,
        /// Momentum [N s] and mass [kg] of [`MPM_WINDOW_NODES`] nodes a particle block.
        windows: Span<[f32; 4]>,
        /// Bounds of the box in each window that is filled: lowest node, then the end.
        boxes: Span<[i32; 6]>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep in the step.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Particles to grid by atomic additions, a block of threads a particle block.
    MpmAtomicToGrid = "mpm_atomic_to_grid", MpmAtomicToGridParameters {
        /// As without atomics; the windows are not used.
        transfer: MpmParticlesToGridParameters,
        /// Momentum [N s] and mass [kg] of each node; zero at first.
        nodes: Span<[f32; 4]>,
        /// Node blocks around each particle block.
        nodes_of_particles: Span<u32>,
    }

    /// The grid pass: momenta from the windows, or from the nodes themselves where there are no windows; free motion, boundary conditions, account.
    MpmMoveGrid = "mpm_move_grid", MpmGridParameters {
        /// The grid.
        grid: GridNodes,
        /// One element.
        settings: Span<MpmSettings>,
        /// Number of node blocks; one element.
        node_count: Span<u32>,
        /// Particle blocks around each node block, plus one; zero for none.
        particles_of_nodes: Span<u32>,
        /// The windows.
        windows: Span<[f32; 4]>,
        /// Their boxes.
        boxes: Span<[i32; 6]>,
        /// Boundary conditions.
        planes: Span<MpmPlane>,
        /// Account of each node block: [`MPM_ACCOUNT`] entries, summed over the substeps.
        accounts: Span<f64>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep in the step.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Adds the node blocks' accounts to the step's, and clears them; by a single block.
    MpmCloseAccount = "mpm_close_account", MpmCloseAccountParameters {
        /// Number of node blocks; one element.
        node_count: Span<u32>,
        /// Account of each node block.
        accounts: Span<f64>,
        /// The step's; [`MPM_ACCOUNT`] elements.
        total: Span<f64>,
    }

    /// Grid to particles, motion, return mapping and stress.
    MpmGridToParticles = "mpm_grid_to_particles", MpmGridToParticlesParameters {
        /// Particles.
        particles: ParticleRows,
        /// The grid.
        grid: GridNodes,
        /// One element.
        settings: Span<MpmSettings>,
        /// Materials.
        materials: Span<MpmMaterial>,
        /// Number of particle blocks; one element.
        block_count: Span<u32>,
        /// First particle of each block, and the end of the last.
        block_starts: Span<u32>,
        /// Boxes of the windows.
        boxes: Span<[i32; 6]>,
        /// Node blocks around each particle block.
        nodes_of_particles: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        status: Span<u32>,
        /// The substep in the step.
        substep: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: finds node blocks by their keys.
    ProbeFindNodes = "probe_find_nodes", ProbeFindNodesParameters {
        /// The grid.
        grid: GridNodes,
        /// Keys.
        keys: Span<[i32; 3]>,
        /// Slot of each one's block; 2^32 - 1 where there is none.
        slots: Span<u32>,
    }

    /// Probe: a material's response to trial deformation gradients.
    ProbeConstitutive = "probe_constitutive", ProbeConstitutiveParameters {
        /// Materials.
        materials: Span<MpmMaterial>,
        /// Deformation gradients by rows, and the history.
        trials: Span<[f32; 10]>,
        /// Deformation gradient by rows, history, Kirchhoff stress [Pa] as xx, yy, zz, xy, xz, yz.
        responses: Span<[f32; 16]>,
        /// Which material.
        material: u32,
        /// Zero.
        unused: u32,
    }
}

impl Kernel {
    /// Whether the kernel exists on a GPU; those that break rules do not.
    pub const fn is_on_gpu(self) -> bool {
        !matches!(self, Self::ProbeMisuse)
    }
}

/// The text of `kernels/parameters.cuh`: constants and structures, with assertions of their layout.
pub fn header() -> String {
    let mut text = String::from(
        "// Generated from cuda/src/kernels.rs by its test `parameters_header_is_current`; do not edit.\n\
         #pragma once\n\n#include \"prelude.cuh\"\n\n",
    );
    for (name, value, about) in CONSTANTS {
        comment(&mut text, "", about);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "constexpr uint32_t {name} = {value};");
    }
    let parameters = Kernel::ALL.iter().map(|kernel| kernel.layout());
    for layout in STRUCTURES.iter().map(|layout| layout()).chain(parameters) {
        text.push('\n');
        structure(&mut text, &layout);
    }
    text
}

fn structure(text: &mut String, layout: &Layout) {
    let name = layout.name;
    comment(text, "", layout.about);
    let _ = writeln!(text, "struct {name} {{");
    for field in &layout.fields {
        comment(text, "    ", field.about);
        let _ = writeln!(text, "    {} {};", field.cuda_type, field.name);
    }
    let (size, align) = (layout.size, layout.align);
    let _ = writeln!(
        text,
        "}};\nstatic_assert(sizeof({name}) == {size} && alignof({name}) == {align}, \"{name}\");"
    );
    for field in &layout.fields {
        let (field, offset) = (field.name, field.offset);
        let _ =
            writeln!(text, "static_assert(PLIANT_OFFSET({name}, {field}) == {offset}, \"{name}::{field}\");");
    }
}

/// Documentation as C++ comments, without the brackets of Rust's links.
fn comment(text: &mut String, indent: &str, about: &[&str]) {
    for line in about {
        let _ = writeln!(text, "{indent}//{}", line.replace("[`", "`").replace("`]", "`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One list of parameters and constants, in Rust; the C++ header follows it. PLIANT_WRITE_PARAMETERS=1 writes it anew.
    #[test]
    fn parameters_header_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/parameters.cuh");
        if std::env::var_os("PLIANT_WRITE_PARAMETERS").is_some() {
            std::fs::write(path, header()).unwrap();
        }
        let text = std::fs::read_to_string(path).unwrap_or_default().replace('\r', "");
        assert!(
            text == header(),
            "run PLIANT_WRITE_PARAMETERS=1 cargo test -p pliant-cuda --no-default-features --lib, then cuda/ptx.py"
        );
    }
}
