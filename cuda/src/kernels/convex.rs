//! The convex contact solve.

use super::{ContactClock, GridNodes};
use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// Threads of a block of the convex contact solve.
    pub const CONVEX_THREADS: u32 = 256;
    /// Tiles of 32 touched nodes or contacts up to which one block does the whole solve.
    pub const CONVEX_SMALL: u32 = 32;
    /// Tiles of a block in a larger solve.
    pub const CONVEX_TILES: u32 = 4;
    /// Sums that one pass forms at most.
    pub const CONVEX_SUMS: u32 = 8;
    /// f64 rows of a touched node: see `kernels/convex.cuh`.
    pub const CONVEX_NODE_ROWS: u32 = 20;
    /// f64 rows of a contact.
    pub const CONVEX_CONTACT_ROWS: u32 = 30;
    /// Rows of an unknown of the strongly coupled bodies: see `kernels/convex_bodies.cuh`.
    pub const CONVEX_BODY_ROWS: u32 = 14;
    /// Sums over the contacts of a strongly coupled body: the lower triangle of a 6 x 6 matrix at
    /// most.
    pub const CONVEX_BODY_SUMS: u32 = 21;
    /// Place of a body that is not strongly coupled among those that are.
    pub const CONVEX_NOT_STRONG: u32 = u32::MAX;
    /// Rows of a touched node in a linear system.
    pub const CONVEX_SYSTEM_ROWS: u32 = 25;
    /// Mark of a node that a sticky boundary holds: the solve does not move it.
    pub const CONVEX_FIXED: u32 = u32::MAX;
    /// Along an axis with an offset of this or more all weight is on the node of number offset - 8:
    /// a contact of a node.
    pub const CONVEX_ON_NODE: u32 = 8;
    /// Start of a solve: the free velocities.
    pub const CONVEX_GUESS_FREE: u32 = 0;
    /// Start of a solve: between the free velocities and what the guessed impulses do.
    pub const CONVEX_GUESS_IMPULSES: u32 = 1;
    /// Start of a solve: between the free velocities and the guessed ones.
    pub const CONVEX_GUESS_VELOCITIES: u32 = 2;
    /// Start of a solve: the better of the guessed velocities and what the guessed impulses do.
    pub const CONVEX_GUESS_SOLUTION: u32 = 3;
    /// Direction of a step: Newton's method with conjugate gradients.
    pub const CONVEX_NEWTON_CG: u32 = 0;
    /// Direction of a step: the true diagonal blocks.
    pub const CONVEX_BLOCK: u32 = 1;
    /// Direction of a step: the lumped diagonal blocks.
    pub const CONVEX_LUMPED_BLOCK: u32 = 2;
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
    /// End of a solve, before it began: more contacts or touched nodes than the capacity, or a node
    /// that the grid lacks.
    pub const CONVEX_CAPACITY_EXCEEDED: u32 = 5;
}

shared_structs! {
    /// The contacts of a substep as the convex solve reads them, an element each; `count[0]` of
    /// them are there. Contacts with the same base node that follow one another are worked on
    /// together; any order is right.
    pub struct ConvexContacts {
        /// Number of contacts; one element.
        pub count: Span<u32>,
        /// First node of the stencil, in nodes of the grid.
        pub base: Span<[i32; 3]>,
        /// The particle's place in cells from that node, in [0.5, 1.5]; or along an axis
        /// `CONVEX_ON_NODE` and more.
        pub offset: Span<[f32; 3]>,
        /// From the particle to where the contact acts [cells]; empty where all act at their
        /// particles.
        pub arm: Span<[f32; 3]>,
        /// Unit normal, outward from the body, world axes.
        pub normal: Span<[f32; 3]>,
        /// The body's velocity at the contact point, world axes [m/s].
        pub body_velocity: Span<[f32; 3]>,
        /// Signed distance [m], negative when overlapping.
        pub gap: Span<f32>,
        /// Stiffness [N/m].
        pub stiffness: Span<f32>,
        /// Coefficient of friction.
        pub friction: Span<f32>,
        /// What bounds friction; of a bonded contact with the tension's impulse added.
        pub lagged_normal_impulse: Span<f32>,
        /// Largest tension of a bonded contact [N], 0 without a bond.
        pub tension: Span<f32>,
        /// Hunt-Crossley dissipation [s/m]; empty where the setting holds for all.
        pub dissipation: Span<f32>,
        /// Stiction tolerance [m/s]; empty where the setting holds for all.
        pub stiction_tolerance: Span<f32>,
        /// Number of the body; only read where bodies are strongly coupled.
        pub body: Span<u32>,
        /// From the point that the body's velocity and impulses are about, world axes [m]; only
        /// read where bodies are strongly coupled.
        pub lever: Span<[f32; 3]>,
    }

    /// The strongly coupled bodies, and the memory for their part of it.
    pub struct ConvexBodies {
        /// How many bodies are strongly coupled, and the number of their unknowns: the rank of
        /// their mobility W = L L^T.
        pub counts: Span<u32>,
        /// For each body its place among the strongly coupled ones, or [`CONVEX_NOT_STRONG`].
        pub places: Span<u32>,
        /// L by rows, six for each strongly coupled body.
        pub factor: Span<f64>,
        /// What the velocity of each body changed by: angular [rad/s], linear [m/s]; zero where it
        /// is weakly coupled.
        pub body_velocity_changes: Span<[f64; 6]>,
        /// Memory of the unknowns, row by row.
        pub rows: Span<f64>,
        /// Changes of the strongly coupled bodies' velocities: at the iterate, then along a
        /// direction.
        pub velocities: Span<f64>,
        /// Sums over each tile of contacts for each strongly coupled body; those of bodies that a
        /// tile does not have are zero.
        pub tile_sums: Span<f64>,
        /// The same over all tiles.
        pub sums: Span<f64>,
        /// The bodies' sums times L.
        pub images: Span<f64>,
        /// The bodies' block of the Newton system, then its Cholesky factor.
        pub matrix: Span<f64>,
        /// The factor's inverse.
        pub inverse: Span<f64>,
        /// Length of a row of unknowns: 6 for each body there is room for.
        pub capacity: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Which contacts touch which nodes.
    pub struct ConvexIncidence {
        /// Number of contacts, of groups, of touched nodes; and zero, or the flags of the capacity
        /// that was exceeded.
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
        /// First entry of each touched node, and the number of entries.
        pub entry_begin: Span<u32>,
        /// Entries of each touched node, `27 contact + node of the stencil`, ascending: its contacts
        /// with a weight there.
        pub entries: Span<u32>,
        /// The weight of each entry.
        pub entry_weights: Span<f64>,
        /// Where each touched node lies in the grid.
        pub slots: Span<u32>,
    }

    /// Settings of a convex solve, in device memory so that they can change between runs of a
    /// recording.
    pub struct ConvexSettings {
        /// Length of the substep [s].
        pub substep: f64,
        /// Hunt-Crossley dissipation [s/m] of contacts without their own.
        pub dissipation: f64,
        /// Stiction tolerance [m/s] of contacts without their own.
        pub stiction_tolerance: f64,
        /// Relative tolerance of the residual.
        pub relative_tolerance: f64,
        /// Absolute tolerance of the residual [sqrt(J)].
        pub absolute_tolerance: f64,
        /// Most outer iterations.
        pub max_iterations: u32,
        /// Most products of one linear system.
        pub max_inner_iterations: u32,
        /// Where to start: `CONVEX_GUESS_FREE` and so on.
        pub guess: u32,
        /// How a step is directed: `CONVEX_NEWTON_CG` and so on.
        pub direction: u32,
    }

    /// Report of a convex solve.
    pub struct ConvexReport {
        /// Residual at the end [sqrt(J)].
        pub residual: f64,
        /// Tolerance that it had to be below [sqrt(J)].
        pub tolerance: f64,
        /// Objective at the end [J].
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
        /// Barriers of all blocks: none where one block does the whole solve.
        pub grid_barriers: u32,
    }

    /// Totals of the solves of a step, those without contacts not counted.
    pub struct ConvexTotals {
        /// Worst ratio of a solve's residual to its tolerance, of those whose tolerance is not
        /// zero.
        pub residual: f64,
        /// Contacts of all solves, those of nodes with grid boundary constraints among them.
        pub contacts: u64,
        /// Outer iterations of all solves.
        pub iterations: u64,
        /// Products with the Hessian in all solves.
        pub inner_iterations: u64,
        /// Linear systems that even double precision did not solve as far as asked, in all solves.
        pub unresolved_systems: u64,
        /// Number of solves.
        pub solves: u32,
        /// Contacts of a solve at most.
        pub most_contacts: u32,
        /// Outer iterations of a solve at most.
        pub most_iterations: u32,
        /// Solves that did not converge.
        pub not_converged: u32,
    }
}

kernel_parameters! {
    /// Numbers the nodes that contacts touch, by persistent blocks.
    pub struct ConvexNumberParameters = "convex_number" {
        /// The contacts; count, base nodes and offsets are read.
        pub contacts: ConvexContacts,
        /// Where their nodes are.
        pub grid: GridNodes,
        /// Which nodes they touch: the result.
        pub incidence: ConvexIncidence,
        /// Two tables of touched nodes that take turns, each a power of two long: the nodes' keys,
        /// 0 where free. The one that is not written holds the nodes of the last solve.
        pub table_keys: Span<u64>,
        /// The first place in `group_nodes` of the nodes of the table that is written.
        pub table_first: Span<u32>,
        /// Numbers of the tables' nodes.
        pub table_numbers: Span<u32>,
        /// Which table the last solve's nodes are in, and how much of it is used less one; zero of
        /// nothing.
        pub table_state: Span<u32>,
        /// Velocity of each touched node after the last solve, by its numbers [m/s].
        pub velocities: Span<[f64; 3]>,
        /// The same by the new numbers, or the free velocity where the last solve did not have the
        /// node.
        pub guess_velocities: Span<[f64; 3]>,
        /// Incidences of each touched node.
        pub node_counts: Span<u32>,
        /// A sum for each block.
        pub block_sums: Span<u32>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`] words.
        pub barrier: Span<u32>,
        /// Whether the substep takes place; empty where there is no step.
        pub clock: Span<ContactClock>,
        /// Stops the substep: see `MPM_STATUS_LIMIT`.
        pub status: Span<u32>,
        /// Capacity for contacts.
        pub contact_capacity: u32,
        /// Capacity for touched nodes.
        pub node_capacity: u32,
    }

    /// The whole convex contact solve, by persistent blocks.
    pub struct ConvexSolveParameters = "convex_solve" {
        /// The contacts.
        pub contacts: ConvexContacts,
        /// Which nodes they touch.
        pub incidence: ConvexIncidence,
        /// Settings; one element.
        pub settings: Span<ConvexSettings>,
        /// Free velocity [m/s] and mass [kg] of the grid's nodes; touched nodes get their new
        /// velocity.
        pub grid: Span<[f32; 4]>,
        /// `CONVEX_FIXED` for each of them that a sticky boundary holds; empty where none does.
        pub fixed_nodes: Span<u32>,
        /// Guessed velocities of the touched nodes [m/s].
        pub guess_velocities: Span<[f64; 3]>,
        /// Guessed impulses of the contacts on the particles [N s]; may be short.
        pub guess_impulses: Span<[f32; 3]>,
        /// Velocity of each touched node [m/s].
        pub velocities: Span<[f64; 3]>,
        /// Impulse of the contacts on each touched node [N s].
        pub node_impulses: Span<[f64; 3]>,
        /// Impulse of each contact on its particle [N s].
        pub impulses: Span<[f64; 3]>,
        /// The report; one element.
        pub report: Span<ConvexReport>,
        /// Objective, residual, tolerance and scale of the first iterates.
        pub trace: Span<[f64; 4]>,
        /// Mass that the solve moves and free velocity of each touched node, row by row: zero mass of
        /// a node that a sticky boundary holds.
        pub moved_nodes: Span<f64>,
        /// Memory of touched nodes, row by row within each tile of 32.
        pub node_rows: Span<f64>,
        /// Memory of contacts, likewise.
        pub contact_rows: Span<f64>,
        /// The linear system in single precision: rows of the nodes, likewise.
        pub single_rows: Span<f32>,
        /// Hessians of the contacts.
        pub single_hessians: Span<f32>,
        /// Scaled directions of the nodes.
        pub single_directions: Span<[f32; 4]>,
        /// Images of the contacts, at two places that take turns.
        pub single_images: Span<[f32; 4]>,
        /// In double precision: rows of the nodes.
        pub double_rows: Span<f64>,
        /// Nodes that the contacts of a block touch, but for its own: 27 for each contact at most.
        pub fringe_nodes: Span<u32>,
        /// Sums over tiles of 32 nodes, over the bodies' warps, and over tiles of contacts; twice
        /// [`CONVEX_SUMS`] rows.
        pub tile_sums: Span<f64>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`] words.
        pub barrier: Span<u32>,
        /// Totals of the solves of the step; one element.
        pub totals: Span<ConvexTotals>,
        /// Whether the substep takes place; empty where there is no step.
        pub clock: Span<ContactClock>,
        /// Stops the substep: see `MPM_STATUS_LIMIT`.
        pub status: Span<u32>,
        /// Length of a row of contacts.
        pub contact_capacity: u32,
        /// Length of a row of touched nodes.
        pub node_capacity: u32,
    }

    /// The same with strongly coupled bodies.
    pub struct ConvexSolveBodiesParameters = "convex_solve_bodies" {
        /// The solve.
        pub solve: ConvexSolveParameters,
        /// The bodies.
        pub bodies: ConvexBodies,
    }
}
