//! The convex contact solve on the device: `pliant_coupling::convex` with the directions that
//! [`has_direction`] has, from contacts in device memory to velocities in device memory, without a
//! word to the host in between.
//!
//! [`DeviceConvexSolver`] is the workspace for a capacity. One cooperative kernel numbers the
//! touched nodes, another does the whole solve: Newton's method with block-preconditioned,
//! matrix-free conjugate gradients, the exact line search, the choice among the starts, the
//! stopping rule and the forcing, each as on the CPU, so that iteration counts can be compared.
//! One block does a solve of up to 1024 contacts and nodes; a larger one has a block for each 128,
//! and a product costs one barrier of theirs (conjugate gradients of Chronopoulos and Gear 1989, and
//! blocks that also work on the nodes
//! around their own).
//! Objective, gradient and every sum are f64 and in an order that neither the number of blocks nor
//! the schedule changes; the linear systems are f32, and f64 where the CPU does not trust f32
//! either.
//!
//! Strongly coupled bodies (`Mobility`, strong coupling) are part of it:
//! [`DeviceConvexSolver::set_mobility`]. The kernel with them is another one, so that what has none
//! pays nothing.
//!
//! The CPU's factorisation is not: where even f64 does not solve a system as far as asked, its
//! inexact solution, a direction of descent all the same, is taken, and the report counts it
//! ([`ConvexReport::unresolved_systems`]).

mod bodies;
mod memory;
mod mobility;
mod step;
mod upload;
mod warm_start;

use pliant_coupling::convex::{
    Direction, InitialGuess, SettingsError, SolverInfo, SolverSettings, StopReason,
};

use crate::kernels::{
    CONVEX_BLOCK, CONVEX_CAPACITY_EXCEEDED, CONVEX_CONTACT_ROWS, CONVEX_CONVERGED, CONVEX_GUESS_FREE,
    CONVEX_GUESS_IMPULSES, CONVEX_GUESS_SOLUTION, CONVEX_GUESS_VELOCITIES, CONVEX_ITERATION_LIMIT,
    CONVEX_LUMPED_BLOCK, CONVEX_NEWTON_CG, CONVEX_NO_CONTACTS, CONVEX_NODE_ROWS, CONVEX_STAGNATED,
    CONVEX_SUMS, CONVEX_SYSTEM_ROWS, CONVEX_THREADS, CONVEX_TILES, ContactClock, ConvexContacts,
    ConvexIncidence, ConvexNumberParameters, ConvexReport, ConvexSettings, ConvexSolveBodiesParameters,
    ConvexSolveParameters, ConvexTotals, GRID_BARRIER_WORDS, GridNodes, Kernel,
};
use crate::layout::Span;
use crate::staging::Staging;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

use bodies::StrongBodyMemory;
use memory::{Incidence, MOVED_ROWS, STENCIL, TILE, Table, in_tiles, sums_stride};
pub use upload::{DeviceContactProblem, DeviceSolution, HostIncidence, NodeSolution};

/// Iterates that the trace holds.
const TRACE: usize = 64;

/// What can go wrong before or after a solve on the device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvexError {
    /// The device failed.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// A setting cannot be used.
    #[error("{0}")]
    Settings(#[from] SettingsError),
    /// The device does not have this direction.
    #[error(
        "solver.direction {direction:?} is not one of newton_cg, block and lumped_block, which a device has"
    )]
    Direction {
        /// The direction.
        direction: Direction,
    },
    /// A contact of the problem is on a body that its mobility does not have.
    #[error("contact {contact} refers to strongly coupled body {body}; there are {bodies}")]
    Mobility {
        /// Index of the contact.
        contact: usize,
        /// Number of the body among the strongly coupled ones.
        body: u32,
        /// How many are strongly coupled.
        bodies: usize,
    },
    /// The problem's lists differ in length, or a row points beyond the nodes.
    #[error("contacts[{contact}].rows, node_mass and node_free_velocity do not fit together")]
    Shape {
        /// Index of the contact, or 0.
        contact: usize,
    },
    /// The weights of a contact are those of no quadratic B-spline and of no single node.
    #[error("contacts[{contact}].weights are not those of a quadratic B-spline or of a single node")]
    Stencil {
        /// Index of the contact.
        contact: usize,
    },
    /// More contacts or touched nodes than the solver was made for, or a contact with a node that
    /// the grid does not have.
    #[error(
        "the convex solver has a capacity of {contact_capacity} contacts and {node_capacity} \
         nodes, and all nodes must be in the grid"
    )]
    CapacityExceeded {
        /// Capacity for contacts.
        contact_capacity: usize,
        /// Capacity for touched nodes.
        node_capacity: usize,
    },
}

/// Settings of a solve on the device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceConvexSettings {
    /// Tolerances, limits, and the direction: one that [`has_direction`].
    pub solver: SolverSettings,
    /// Length of the substep \[s\].
    pub substep: f64,
    /// Hunt-Crossley dissipation \[s/m\] of contacts without their own.
    pub dissipation: f64,
    /// Stiction tolerance \[m/s\] of contacts without their own.
    pub stiction_tolerance: f64,
}

impl DeviceConvexSettings {
    /// As kernels get them.
    fn on_device(&self, guess: DeviceGuess) -> Result<ConvexSettings, ConvexError> {
        self.solver.validate()?;
        let direction = direction_code(self.solver.direction)
            .ok_or(ConvexError::Direction { direction: self.solver.direction })?;
        let count = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Ok(ConvexSettings {
            substep: self.substep,
            dissipation: self.dissipation,
            stiction_tolerance: self.stiction_tolerance,
            relative_tolerance: self.solver.relative_tolerance,
            absolute_tolerance: self.solver.absolute_tolerance,
            max_iterations: count(self.solver.max_iterations),
            max_inner_iterations: count(self.solver.max_inner_iterations),
            guess: guess.code(),
            direction,
        })
    }
}

/// Where a solve on the device starts; [`DeviceConvexSolver::issue`] says from which guesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceGuess {
    /// As [`InitialGuess::Free`].
    #[default]
    Free,
    /// As [`InitialGuess::Impulses`].
    Impulses,
    /// As [`InitialGuess::Velocities`].
    Velocities,
    /// As [`InitialGuess::Solution`].
    Solution,
}

impl DeviceGuess {
    fn code(self) -> u32 {
        match self {
            Self::Free => CONVEX_GUESS_FREE,
            Self::Impulses => CONVEX_GUESS_IMPULSES,
            Self::Velocities => CONVEX_GUESS_VELOCITIES,
            Self::Solution => CONVEX_GUESS_SOLUTION,
        }
    }
}

/// Whether a device can direct its steps so: by conjugate gradients or by diagonal blocks.
pub fn has_direction(direction: Direction) -> bool {
    direction_code(direction).is_some()
}

fn direction_code(direction: Direction) -> Option<u32> {
    match direction {
        Direction::NewtonCg => Some(CONVEX_NEWTON_CG),
        Direction::Block => Some(CONVEX_BLOCK),
        Direction::LumpedBlock => Some(CONVEX_LUMPED_BLOCK),
        Direction::Lbfgs { .. } | Direction::NewtonFactorised => None,
    }
}

impl From<InitialGuess<'_>> for DeviceGuess {
    fn from(guess: InitialGuess) -> Self {
        match guess {
            InitialGuess::Free => Self::Free,
            InitialGuess::Impulses(_) => Self::Impulses,
            InitialGuess::Velocities(_) => Self::Velocities,
            InitialGuess::Solution { .. } => Self::Solution,
        }
    }
}

/// The convex solve on a device, with memory for a number of contacts and touched nodes.
#[derive(Debug)]
pub struct DeviceConvexSolver {
    device: Device,
    contact_capacity: u32,
    node_capacity: u32,
    blocks: u32,
    /// What somebody chose.
    chosen_blocks: Option<u32>,
    settings: Buffer<ConvexSettings>,
    incidence: Incidence,
    guess_velocities: Buffer<[f64; 3]>,
    velocities: Buffer<[f64; 3]>,
    node_impulses: Buffer<[f64; 3]>,
    impulses: Buffer<[f64; 3]>,
    report: Buffer<ConvexReport>,
    trace: Buffer<[f64; 4]>,
    moved_nodes: Buffer<f64>,
    node_rows: Buffer<f64>,
    contact_rows: Buffer<f64>,
    single_rows: Buffer<f32>,
    single_directions: Buffer<[f32; 4]>,
    single_images: Buffer<[f32; 4]>,
    single_hessians: Buffer<f32>,
    double_rows: Buffer<f64>,
    tile_sums: Buffer<f64>,
    fringe_nodes: Buffer<u32>,
    barrier: Buffer<u32>,
    /// None before the first strongly coupled body.
    bodies: Option<StrongBodyMemory>,
    totals: Buffer<ConvexTotals>,
    clock: Span<ContactClock>,
    status: Span<u32>,
    table: Table,
}

/// Blocks that the device can hold of either kernel.
fn resident(device: &Device) -> Result<u32, DeviceError> {
    let solve = device.resident_blocks(Kernel::ConvexSolve, CONVEX_THREADS, 0)?;
    Ok(solve.min(device.resident_blocks(Kernel::ConvexNumber, CONVEX_THREADS, 0)?))
}

impl DeviceConvexSolver {
    /// Memory for up to `contacts` contacts that touch up to `nodes` nodes: about 990 bytes a
    /// contact and at most 710 a node.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, contacts: usize, nodes: usize) -> Result<Self, DeviceError> {
        let (contacts, nodes) = (contacts.max(1), nodes.max(1));
        // The longest rows must be countable.
        let too_long = |length: usize| DeviceError::BufferTooLong { length };
        let longest =
            contacts.saturating_mul(STENCIL).max(contacts.saturating_mul(CONVEX_CONTACT_ROWS as usize));
        u32::try_from(longest).map_err(|_| too_long(longest))?;
        let longest = nodes.saturating_mul(CONVEX_NODE_ROWS as usize);
        u32::try_from(longest).map_err(|_| too_long(longest))?;
        let shares = contacts.max(nodes).div_ceil(CONVEX_TILES as usize * TILE);
        let resident = resident(device)?;
        Ok(Self {
            device: device.clone(),
            contact_capacity: contacts as u32,
            node_capacity: nodes as u32,
            blocks: (shares as u32).clamp(1, resident.max(1)),
            chosen_blocks: None,
            settings: device.upload(&[bytemuck::Zeroable::zeroed()])?,
            incidence: Incidence::new(device, contacts, nodes)?,
            guess_velocities: device.allocate(nodes)?,
            velocities: device.allocate(nodes)?,
            node_impulses: device.allocate(nodes)?,
            impulses: device.allocate(contacts)?,
            report: device.upload(&[bytemuck::Zeroable::zeroed()])?,
            trace: device.allocate(TRACE)?,
            moved_nodes: device.allocate(MOVED_ROWS * nodes)?,
            node_rows: device.allocate(CONVEX_NODE_ROWS as usize * in_tiles(nodes))?,
            contact_rows: device.allocate(CONVEX_CONTACT_ROWS as usize * in_tiles(contacts))?,
            single_rows: device.allocate(CONVEX_SYSTEM_ROWS as usize * in_tiles(nodes))?,
            single_directions: device.allocate(nodes)?,
            single_images: device.allocate(2 * contacts)?,
            single_hessians: device.allocate(6 * in_tiles(contacts))?,
            double_rows: device.allocate(CONVEX_SYSTEM_ROWS as usize * in_tiles(nodes))?,
            tile_sums: device.allocate(2 * CONVEX_SUMS as usize * sums_stride(contacts, nodes))?,
            fringe_nodes: device.allocate(STENCIL * contacts)?,
            bodies: None,
            barrier: device.upload(&[0; GRID_BARRIER_WORDS as usize])?,
            totals: device.upload(&[bytemuck::Zeroable::zeroed()])?,
            clock: Span::EMPTY,
            status: Span::EMPTY,
            table: Table::new(device, nodes, resident.max(1))?,
        })
    }

    /// With another number of blocks, at least one and at most what the device holds at once. The
    /// results do not depend on it.
    #[must_use]
    pub fn with_blocks(self, blocks: u32) -> Self {
        let most = self.table.block_sums.len() as u32;
        Self { blocks: blocks.clamp(1, most), chosen_blocks: Some(blocks), ..self }
    }

    /// Sets what the next solves go by; recordings see it.
    ///
    /// # Errors
    /// [`ConvexError::Settings`] and those of the device.
    pub fn set(&mut self, settings: &DeviceConvexSettings, guess: DeviceGuess) -> Result<(), ConvexError> {
        Ok(self.settings.upload(&[settings.on_device(guess)?])?)
    }

    /// As [`DeviceConvexSolver::set`], from the next run on.
    ///
    /// # Errors
    /// [`ConvexError::Settings`].
    pub fn stage(
        &mut self,
        staging: &mut Staging,
        settings: &DeviceConvexSettings,
        guess: DeviceGuess,
    ) -> Result<(), ConvexError> {
        Ok(staging.upload(self.settings.span(), &[settings.on_device(guess)?])?)
    }

    /// Appends numbering and solve: `grid` holds the free velocity \[m/s\] and the mass \[kg\] of
    /// its nodes, of which the touched ones get their new velocity, unless the solve fails.
    ///
    /// The guesses are the impulses \[N s\] of the contacts, zero where there are too few, and the
    /// velocities that the last solve left at the same nodes, free ones at nodes it did not have.
    pub fn issue(
        &self,
        commands: &mut Commands,
        contacts: &ConvexContacts,
        grid: &GridNodes,
        guess_impulses: Span<[f32; 3]>,
    ) {
        self.issue_number(commands, contacts, grid);
        self.issue_solve(commands, contacts, grid.nodes, Span::EMPTY, guess_impulses);
    }

    /// Appends that the last solve's velocities are forgotten: the next guess is the free
    /// velocities.
    pub fn issue_forget(&self, commands: &mut Commands) {
        commands.clear(self.table.state.span());
    }

    /// Appends the numbering of the nodes that the contacts touch, by their base nodes. One solve
    /// follows each: what it leaves at the nodes is the next one's guess.
    pub fn issue_number(&self, commands: &mut Commands, contacts: &ConvexContacts, grid: &GridNodes) {
        commands.launch(
            Launch::new(self.blocks, CONVEX_THREADS).cooperative(),
            &ConvexNumberParameters {
                contacts: *contacts,
                grid: *grid,
                incidence: self.incidence.spans(),
                table_keys: self.table.keys.span(),
                table_first: self.table.first.span(),
                table_numbers: self.table.numbers.span(),
                table_state: self.table.state.span(),
                velocities: self.velocities.span(),
                guess_velocities: self.guess_velocities.span(),
                node_counts: self.table.node_counts.span(),
                block_sums: self.table.block_sums.span(),
                barrier: self.barrier.span(),
                clock: self.clock,
                status: self.status,
                contact_capacity: self.contact_capacity,
                node_capacity: self.node_capacity,
            },
        );
    }

    /// Appends the solve of contacts that have been numbered.
    ///
    /// `grid` and `guess_impulses` are as for [`DeviceConvexSolver::issue`]; the guessed velocities
    /// come with the numbering. Nodes of the grid whose mark in `fixed_nodes` is
    /// [`CONVEX_FIXED`](crate::kernels::CONVEX_FIXED) keep their velocity; empty, it holds none.
    pub fn issue_solve(
        &self,
        commands: &mut Commands,
        contacts: &ConvexContacts,
        grid: Span<[f32; 4]>,
        fixed_nodes: Span<u32>,
        guess_impulses: Span<[f32; 3]>,
    ) {
        let solve = ConvexSolveParameters {
            contacts: *contacts,
            incidence: self.incidence.spans(),
            settings: self.settings.span(),
            grid,
            fixed_nodes,
            guess_velocities: self.guess_velocities.span(),
            guess_impulses,
            velocities: self.velocities.span(),
            node_impulses: self.node_impulses.span(),
            impulses: self.impulses.span(),
            report: self.report.span(),
            trace: self.trace.span(),
            moved_nodes: self.moved_nodes.span(),
            node_rows: self.node_rows.span(),
            contact_rows: self.contact_rows.span(),
            single_rows: self.single_rows.span(),
            single_hessians: self.single_hessians.span(),
            single_directions: self.single_directions.span(),
            single_images: self.single_images.span(),
            double_rows: self.double_rows.span(),
            fringe_nodes: self.fringe_nodes.span(),
            tile_sums: self.tile_sums.span(),
            barrier: self.barrier.span(),
            totals: self.totals.span(),
            clock: self.clock,
            status: self.status,
            contact_capacity: self.contact_capacity,
            node_capacity: self.node_capacity,
        };
        let launch = |blocks| Launch::new(blocks, CONVEX_THREADS).cooperative();
        match &self.bodies {
            None => commands.launch(launch(self.blocks), &solve),
            Some(bodies) => commands.launch(
                launch(self.blocks.min(bodies.resident()).max(1)),
                &ConvexSolveBodiesParameters { solve, bodies: bodies.spans() },
            ),
        };
    }

    /// Velocity of each touched node \[m/s\], world axes.
    pub fn velocities(&self) -> Span<[f64; 3]> {
        self.velocities.span()
    }

    /// Impulse of the contacts on each touched node \[N s\], world axes.
    pub fn node_impulses(&self) -> Span<[f64; 3]> {
        self.node_impulses.span()
    }

    /// Impulse of each contact on its particle \[N s\], world axes; the body gets the opposite.
    pub fn impulses(&self) -> Span<[f64; 3]> {
        self.impulses.span()
    }

    /// Which contacts touch which nodes.
    pub fn incidence(&self) -> ConvexIncidence {
        self.incidence.spans()
    }

    /// What the last solve did, on the device.
    pub fn report_span(&self) -> Span<ConvexReport> {
        self.report.span()
    }

    /// What the last solve did.
    ///
    /// # Errors
    /// Those of the device.
    pub fn report(&self) -> Result<ConvexReport, DeviceError> {
        let mut report = [bytemuck::Zeroable::zeroed()];
        self.report.download_at(0, &mut report)?;
        Ok(report[0])
    }

    /// What a report says in the CPU's words.
    ///
    /// # Errors
    /// [`ConvexError::CapacityExceeded`] where the problem was too large.
    pub fn info(&self, report: &ConvexReport) -> Result<SolverInfo, ConvexError> {
        let stop = match report.stop {
            CONVEX_NO_CONTACTS => StopReason::NoContacts,
            CONVEX_CONVERGED => StopReason::Converged,
            CONVEX_STAGNATED => StopReason::StagnatedAtRounding,
            CONVEX_ITERATION_LIMIT => StopReason::IterationLimit,
            CONVEX_CAPACITY_EXCEEDED => return Err(self.capacity_exceeded()),
            // CONVEX_NOT_FINITE, and nothing else is written.
            _ => StopReason::NotFinite,
        };
        Ok(SolverInfo {
            iterations: report.iterations as usize,
            inner_iterations: report.inner_iterations as usize,
            residual: report.residual,
            tolerance: report.tolerance,
            objective: report.objective,
            line_search_iterations: report.line_search_iterations as usize,
            stop,
        })
    }

    fn capacity_exceeded(&self) -> ConvexError {
        ConvexError::CapacityExceeded {
            contact_capacity: self.contact_capacity as usize,
            node_capacity: self.node_capacity as usize,
        }
    }
}
