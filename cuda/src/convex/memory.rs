//! The parts of a solver's device memory.

use crate::kernels::{CONVEX_SYSTEM_ROWS, CONVEX_THREADS, ConvexIncidence, STENCIL_NODES};
use crate::{Buffer, Commands, Device, DeviceError};

/// Nodes of a contact's stencil.
pub(super) const STENCIL: usize = STENCIL_NODES as usize;

/// Elements whose sum a warp forms.
pub(super) const TILE: usize = 32;

/// Rows of a touched node that the exchange reads: mass and free velocity.
pub(super) const MOVED_ROWS: usize = 4;

/// Elements of the whole tiles that hold this many.
pub(super) fn in_tiles(elements: usize) -> usize {
    elements.next_multiple_of(TILE)
}

/// The numbers of contacts, groups and nodes, and who touches whom.
#[derive(Debug)]
pub(super) struct Incidence {
    pub(super) counts: Buffer<u32>,
    pub(super) contact_groups: Buffer<u32>,
    pub(super) group_begin: Buffer<u32>,
    pub(super) group_nodes: Buffer<u32>,
    pub(super) node_begin: Buffer<u32>,
    pub(super) incidences: Buffer<u32>,
    pub(super) entry_begin: Buffer<u32>,
    pub(super) entries: Buffer<u32>,
    pub(super) entry_weights: Buffer<f64>,
    pub(super) slots: Buffer<u32>,
}

impl Incidence {
    pub(super) fn new(device: &Device, contacts: usize, nodes: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            counts: device.upload(&[0; 4])?,
            contact_groups: device.allocate(contacts)?,
            group_begin: device.allocate(contacts + 1)?,
            group_nodes: device.allocate(STENCIL * contacts)?,
            node_begin: device.allocate(nodes + 1)?,
            incidences: device.allocate(STENCIL * contacts)?,
            entry_begin: device.allocate(nodes + 1)?,
            entries: device.allocate(STENCIL * contacts)?,
            entry_weights: device.allocate(STENCIL * contacts)?,
            slots: device.allocate(nodes)?,
        })
    }

    pub(super) fn bytes_needed(contacts: usize, nodes: usize) -> u64 {
        let words = 4 + contacts + (contacts + 1) + 5 * STENCIL * contacts + 2 * (nodes + 1) + nodes;
        (words * size_of::<u32>()) as u64
    }

    pub(super) fn spans(&self) -> ConvexIncidence {
        ConvexIncidence {
            counts: self.counts.span(),
            contact_groups: self.contact_groups.span(),
            group_begin: self.group_begin.span(),
            group_nodes: self.group_nodes.span(),
            node_begin: self.node_begin.span(),
            incidences: self.incidences.span(),
            entry_begin: self.entry_begin.span(),
            entries: self.entries.span(),
            entry_weights: self.entry_weights.span(),
            slots: self.slots.span(),
        }
    }
}

/// The workspace of the numbering: two tables of nodes, at least half of each free.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) keys: Buffer<u64>,
    pub(super) first: Buffer<u32>,
    pub(super) numbers: Buffer<u32>,
    pub(super) state: Buffer<u32>,
    pub(super) node_counts: Buffer<u32>,
    pub(super) block_sums: Buffer<u32>,
}

impl Table {
    pub(super) fn new(device: &Device, nodes: usize, blocks: u32) -> Result<Self, DeviceError> {
        let places = places(nodes);
        Ok(Self {
            keys: device.allocate(2 * places)?,
            first: device.allocate(places)?,
            numbers: device.allocate(2 * places)?,
            state: device.upload(&[0; 2])?,
            node_counts: device.allocate(nodes)?,
            block_sums: device.allocate(blocks as usize)?,
        })
    }

    pub(super) fn bytes_needed(nodes: usize, blocks: u32) -> u64 {
        let places = places(nodes);
        let words = places + 2 * places + 2 + nodes + blocks as usize;
        (2 * places * size_of::<u64>() + words * size_of::<u32>()) as u64
    }

    /// Appends that both tables' beginnings, and which one is the last solve's, are copied to a
    /// larger table. How much of a table is used, by which its places are found, stays as it is.
    pub(super) fn issue_copy(&self, commands: &mut Commands, larger: &Self) {
        let (from, to) = (self.first.span().len(), larger.first.span().len());
        commands.copy(self.state.span(), larger.state.span());
        for half in [0, 1] {
            commands
                .copy(self.keys.span().skip(half * from).first(from), larger.keys.span().skip(half * to))
                .copy(
                    self.numbers.span().skip(half * from).first(from),
                    larger.numbers.span().skip(half * to),
                );
        }
    }
}

/// Places of a table for so many nodes.
fn places(nodes: usize) -> usize {
    (2 * nodes).next_power_of_two().max(64)
}

/// Length of a row of the tiles' sums: tiles of nodes, the bodies' warps, tiles of contacts.
pub(super) fn sums_stride(contacts: usize, nodes: usize) -> usize {
    nodes.div_ceil(TILE) + CONVEX_THREADS as usize / TILE + contacts.div_ceil(TILE)
}

/// Bytes of the linear systems in both precisions.
pub(super) fn systems_bytes(contacts: usize, nodes: usize) -> usize {
    let rows = CONVEX_SYSTEM_ROWS as usize * in_tiles(nodes);
    rows * (size_of::<f32>() + size_of::<f64>()) + (nodes + 2 * contacts) * size_of::<[f32; 4]>()
}
