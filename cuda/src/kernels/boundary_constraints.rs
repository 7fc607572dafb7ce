//! Grid boundary constraints: boundary conditions as part of the contact problem.

use super::{ContactArrays, ContactClock, ContactState, ConvexIncidence, GridNodes, MpmPlane};
use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// Threads of a block of the kernels of boundary constraints, and constraints whose impulses
    /// are summed by one of its blocks.
    pub const BOUNDARY_THREADS: u32 = 128;
    /// Numbers that are summed for the boundary constraints: angular impulse, linear impulse.
    pub const BOUNDARY_SUMS: u32 = 6;
}

shared_structs! {
    /// A contact of a node with a grid boundary constraint.
    pub struct BoundaryContact {
        /// Number of the boundary condition.
        pub plane: u32,
        /// Where the node lies in the grid.
        pub slot: u32,
    }
}

kernel_parameters! {
    /// Appends the contacts of touched nodes with boundary conditions to those of the particles, by
    /// persistent blocks.
    pub struct BoundaryAddParameters = "boundary_add" {
        /// The contacts.
        pub contacts: ContactArrays,
        /// Free velocities and masses.
        pub grid: GridNodes,
        /// Boundary conditions.
        pub planes: Span<MpmPlane>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// One element; gets the most contacts.
        pub state: Span<ContactState>,
        /// Slot of each of the 27 nodes of each contact that no contact with the same stencil comes
        /// before, if a boundary condition acts on it; [`CONTACT_NONE`](super::CONTACT_NONE) for
        /// others.
        pub places: Span<u32>,
        /// For each node of the grid, zero at first; in the end
        /// [`CONVEX_FIXED`](super::CONVEX_FIXED) for those that a sticky boundary holds.
        pub marks: Span<u32>,
        /// The contacts that are appended, in their order.
        pub constraints: Span<BoundaryContact>,
        /// Number of contacts before them; one element.
        pub first: Span<u32>,
        /// A sum for each block.
        pub block_sums: Span<u32>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`](super::GRID_BARRIER_WORDS) words.
        pub barrier: Span<u32>,
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Guesses the impulses of the boundary constraints.
    pub struct BoundaryGuessParameters = "boundary_guess" {
        /// The contacts; those of boundary constraints get their `last_impulse`.
        pub contacts: ContactArrays,
        /// Which touch which nodes.
        pub incidence: ConvexIncidence,
        /// Free velocity [m/s] and mass [kg] of all nodes of the grid.
        pub nodes: Span<[f32; 4]>,
        /// Boundary conditions.
        pub planes: Span<MpmPlane>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// See [`Kernel::BoundaryAdd`](super::Kernel::BoundaryAdd).
        pub constraints: Span<BoundaryContact>,
        /// Number of contacts before them; one element.
        pub first: Span<u32>,
    }

    /// Removes the rest of the velocities into the boundaries from the grid, and adds friction; by
    /// persistent blocks.
    pub struct BoundaryImposeParameters = "boundary_impose" {
        /// The contacts.
        pub contacts: ContactArrays,
        /// Whether they fitted the capacity.
        pub incidence: ConvexIncidence,
        /// Impulse of each contact in the solve [N s].
        pub impulses: Span<[f64; 3]>,
        /// Velocity [m/s] and mass [kg] of all nodes of the grid.
        pub nodes: Span<[f32; 4]>,
        /// Boundary conditions.
        pub planes: Span<MpmPlane>,
        /// Coefficient of friction of each.
        pub friction: Span<f64>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// See [`Kernel::BoundaryAdd`](super::Kernel::BoundaryAdd).
        pub constraints: Span<BoundaryContact>,
        /// Number of contacts before them; one element.
        pub first: Span<u32>,
        /// Impulse on the boundaries of each tile of [`BOUNDARY_THREADS`] of them.
        pub sums: Span<[f64; 6]>,
        /// See [`Kernel::ContactSumBodies`](super::Kernel::ContactSumBodies).
        pub totals: Span<[f64; 7]>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`](super::GRID_BARRIER_WORDS) words.
        pub barrier: Span<u32>,
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }
}
