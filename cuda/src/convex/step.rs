//! The solver in the steps of a model: what stops a substep, more memory, and what the solves of a
//! step did.

use super::bodies::StrongBodyMemory;
use super::memory::{Incidence, MOVED_ROWS, STENCIL, Table, in_tiles, sums_stride, systems_bytes};
use super::{DeviceConvexSolver, TRACE, resident};
use crate::kernels::{
    CONVEX_CONTACT_ROWS, CONVEX_NODE_ROWS, CONVEX_SUMS, ContactClock, ContactSolution, ConvexReport,
    ConvexSettings, ConvexTotals, GRID_BARRIER_WORDS,
};
use crate::layout::Span;
use crate::mpm::grown_capacity;
use crate::staging::Staging;
use crate::{Commands, Device, DeviceError};

impl DeviceConvexSolver {
    /// What [`DeviceConvexSolver::new`] allocates, in bytes: without strongly coupled bodies.
    ///
    /// # Errors
    /// Those of the device.
    pub fn bytes_needed(device: &Device, contacts: usize, nodes: usize) -> Result<u64, DeviceError> {
        let (contacts, nodes) = (contacts.max(1), nodes.max(1));
        let vector = size_of::<[f64; 3]>();
        let of_nodes = nodes * (3 * vector + MOVED_ROWS * size_of::<f64>())
            + in_tiles(nodes) * CONVEX_NODE_ROWS as usize * size_of::<f64>();
        let rows = CONVEX_CONTACT_ROWS as usize * size_of::<f64>() + 6 * size_of::<f32>();
        let of_contacts = contacts * vector + in_tiles(contacts) * rows;
        let fringe = STENCIL * contacts * size_of::<u32>();
        let sums = 2 * CONVEX_SUMS as usize * sums_stride(contacts, nodes) * size_of::<f64>();
        let single = size_of::<ConvexSettings>()
            + size_of::<ConvexReport>()
            + size_of::<ConvexTotals>()
            + TRACE * size_of::<[f64; 4]>()
            + GRID_BARRIER_WORDS as usize * size_of::<u32>();
        Ok((of_nodes + of_contacts + fringe + sums + single) as u64
            + Incidence::bytes_needed(contacts, nodes)
            + systems_bytes(contacts, nodes) as u64
            + Table::bytes_needed(nodes, resident(device)?.max(1)))
    }

    /// Has solves be those of the substeps of a step, with that step's status
    /// ([`crate::mpm::DeviceMpm::status`]) and contact's clock
    /// ([`crate::contact::DeviceContactDetector::clock`]): where a substep is stopped they do
    /// nothing, and where it is full, or a solve fails, they stop it.
    pub fn follow(&mut self, status: Span<u32>, clock: Span<ContactClock>) {
        (self.status, self.clock) = (status, clock);
    }

    /// Grows the capacity for `contacts` contacts and `nodes` touched nodes and half as many more,
    /// where there is too little. The velocities that the last solve left, from which the next one
    /// starts, stay, as do settings and sums; other results go. Commands are to be recorded anew.
    ///
    /// # Errors
    /// [`DeviceError::CannotGrow`], with everything as it was.
    pub fn grow(&mut self, contacts: u32, nodes: u32) -> Result<(), DeviceError> {
        let (contact_capacity, node_capacity) = (self.contact_capacity, self.node_capacity);
        let (contacts, nodes) =
            (grown_capacity(contacts, contact_capacity), grown_capacity(nodes, node_capacity));
        if (contacts, nodes) == (contact_capacity, node_capacity) {
            return Ok(());
        }
        let sum = |contacts, nodes| u64::from(contacts) + u64::from(nodes);
        let refuse = DeviceError::cannot_grow(
            "contacts and touched nodes to solve",
            sum(contact_capacity, node_capacity),
            sum(contacts, nodes),
        );
        let needed = Self::bytes_needed(&self.device, contacts as usize, nodes as usize)?;
        self.device.check_free(needed).map_err(&refuse)?;
        let mut larger = Self::new(&self.device, contacts as usize, nodes as usize).map_err(&refuse)?;
        if let Some(blocks) = self.chosen_blocks {
            larger = larger.with_blocks(blocks);
        }
        if let Some(bodies) = &mut self.bodies {
            bodies.grow(&self.device, contacts as usize).map_err(&refuse)?;
        }
        let mut commands = Commands::new();
        commands
            .copy(self.settings.span(), larger.settings.span())
            .copy(self.report.span(), larger.report.span())
            .copy(self.totals.span(), larger.totals.span())
            .copy(self.velocities.span(), larger.velocities.span());
        self.table.issue_copy(&mut commands, &larger.table);
        self.device.submit(&commands)?;
        (larger.status, larger.clock) = (self.status, self.clock);
        larger.bodies = self.bodies.take();
        tracing::info!(
            contacts_from = contact_capacity,
            contacts_to = contacts,
            nodes_from = node_capacity,
            nodes_to = nodes,
            "room for more contacts and touched nodes in the solver on the device"
        );
        *self = larger;
        Ok(())
    }

    /// Contacts and touched nodes that there is room for.
    pub fn capacity(&self) -> (usize, usize) {
        (self.contact_capacity as usize, self.node_capacity as usize)
    }

    /// Stages the beginning of a step: there were no solves yet.
    pub fn begin_step(&mut self, staging: &mut Staging) {
        staging.clear(self.totals.span());
    }

    /// What the solves of the step so far did; one element.
    pub(crate) fn totals_span(&self) -> Span<ConvexTotals> {
        self.totals.span()
    }

    /// What the solves of the step so far did: waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn totals(&self) -> Result<ConvexTotals, DeviceError> {
        let mut totals = [bytemuck::Zeroable::zeroed()];
        self.totals.download_at(0, &mut totals)?;
        Ok(totals[0])
    }

    /// What the last solve found, as the exchange reads it.
    pub fn solution(&self) -> ContactSolution {
        ContactSolution {
            impulses: self.impulses.span(),
            velocities: self.velocities.span(),
            nodes: self.moved_nodes.span(),
            body_velocity_changes: self
                .bodies
                .as_ref()
                .map_or(Span::EMPTY, StrongBodyMemory::body_velocity_changes),
            node_stride: self.node_capacity,
            mass_row: 0,
            free_row: 1,
            unused: 0,
        }
    }
}
