//! Results of the contact solve: what grid, bodies and contact cache get.

use super::{
    ContactArrays, ContactBody, ContactClock, ContactPlacement, ContactShapes, ContactState, ConvexIncidence,
    DeviceContactCache,
};
use crate::layout::{Span, kernel_parameters, shared_structs};

shared_structs! {
    /// Path of a body's reference point for impulses in a step, world frame.
    pub struct ContactReference {
        /// Its velocity at the start of the step [m/s].
        pub velocity: [f64; 3],
        /// Its acceleration without particles and contact [m/s^2].
        pub acceleration: [f64; 3],
        /// Mass of the body [kg]; infinite where impulses do not move the point.
        pub mass: f64,
        /// Length of a substep [s].
        pub substep: f64,
        /// Over the substeps so far, the sum of the cross products of its displacement since the
        /// first and the impulse [N m s].
        pub moment_of_travel: [f64; 3],
        /// Substeps so far.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Strongly coupled bodies of a step: `pliant_coupling::StronglyCoupledBodies`.
    pub struct ContactStrongBodies {
        /// Numbers of the bodies.
        pub bodies: Span<u32>,
        /// Their mobility by rows, six for each.
        pub mobility: Span<f64>,
        /// Their velocities at the start of the step, six numbers each [rad/s, m/s].
        pub start: Span<f64>,
        /// Change of velocity over the step without impulses of particles.
        pub gain: Span<f64>,
        /// Correction of the lag of their poses.
        pub lag: Span<f64>,
        /// Number of substeps, and the length of one [s].
        pub step: Span<[f64; 2]>,
    }

    /// The solution of a substep's contact problem.
    pub struct ContactSolution {
        /// Impulse of each contact on its particle, world frame [N s].
        pub impulses: Span<[f64; 3]>,
        /// Velocity of each touched node [m/s].
        pub velocities: Span<[f64; 3]>,
        /// Rows of touched nodes: row r of node i is `nodes[r * node_stride + i]`.
        pub nodes: Span<f64>,
        /// Change of each body's velocity from the state at the substep, world frame about the
        /// reference point: angular [rad/s], linear [m/s]; empty where no body is strongly coupled.
        pub body_velocity_changes: Span<[f64; 6]>,
        /// Elements from one row of nodes to the next.
        pub node_stride: u32,
        /// Row with the mass that the solve moved [kg]; 0 for a node that a grid boundary
        /// constraint held.
        pub mass_row: u32,
        /// First of the three rows with the velocity before the solve [m/s].
        pub free_row: u32,
        /// Zero.
        pub unused: u32,
    }
}

kernel_parameters! {
    /// Caches the contacts, writes the velocities of the touched nodes to the grid, and sums what both
    /// give each body: the contacts their impulses, the nodes what the solve left over there.
    pub struct ContactExchangeParameters = "contact_exchange" {
        /// The contacts.
        pub contacts: ContactArrays,
        /// The geometries.
        pub shapes: ContactShapes,
        /// Which touch which nodes.
        pub incidence: ConvexIncidence,
        /// Velocity [m/s] and mass [kg] of all nodes of the grid.
        pub nodes: Span<[f32; 4]>,
        /// The cache that they are written to.
        pub contact_cache: DeviceContactCache,
        /// The solution.
        pub solution: ContactSolution,
        /// Bodies, substep by substep.
        pub bodies: Span<ContactBody>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// Sums of each tile of contacts, then of nodes, for each body and the grid boundary
        /// constraints.
        pub sums: Span<[f64; 7]>,
        /// Grid spacing [m].
        pub grid_spacing: f64,
        /// Number of bodies.
        pub body_count: u32,
        /// First tile of nodes.
        pub first_tile: u32,
    }

    /// Adds the tiles' sums to those of the step, moves the reference points of the impulses, places
    /// the geometries for the next substep, and ends this one for contact.
    pub struct ContactSumBodiesParameters = "contact_sum_bodies" {
        /// See [`Kernel::ContactExchange`].
        pub sums: Span<[f64; 7]>,
        /// For each body and the grid boundary constraints: impulse on it, angular [N m s] then
        /// linear [N s]; work of the body on the particles [J].
        pub totals: Span<[f64; 7]>,
        /// Bodies, substep by substep, and once more: the next substep's points are written.
        pub bodies: Span<ContactBody>,
        /// What is placed.
        pub placement: ContactPlacement,
        /// Paths of the reference points, one a body.
        pub references: Span<ContactReference>,
        /// One element.
        pub clock: Span<ContactClock>,
        /// One element.
        pub state: Span<ContactState>,
        /// Number of tiles.
        pub tiles: u32,
        /// First tile of nodes.
        pub first_tile: u32,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Moves the strongly coupled bodies to the next substep, and places their geometries.
    pub struct ContactMoveBodiesParameters = "contact_move_bodies" {
        /// The bodies.
        pub strongly_coupled: ContactStrongBodies,
        /// See [`Kernel::ContactSumBodies`]: of the step so far.
        pub totals: Span<[f64; 7]>,
        /// Bodies, substep by substep, and once more: the next substep's are written.
        pub bodies: Span<ContactBody>,
        /// What is placed.
        pub placement: ContactPlacement,
        /// One element.
        pub clock: Span<ContactClock>,
        /// Number of bodies.
        pub body_count: u32,
        /// Zero.
        pub unused: u32,
    }
}
