//! How much there is room for.

use pliant_mpm::Mpm;

use crate::kernels::MPM_NEIGHBOURS;

/// How many blocks there is room for on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCapacities {
    /// Blocks of cells that hold particles.
    pub particle_blocks: u32,
    /// Blocks of nodes: those and their neighbours.
    pub node_blocks: u32,
}

impl BlockCapacities {
    /// Half as many again as the particles have now, and some.
    pub fn for_model(mpm: &Mpm) -> Self {
        let with_room = |blocks: usize| (blocks + blocks / 2) as u32;
        let particle_blocks = with_room(mpm.block_count()) + 8;
        Self { particle_blocks, node_blocks: with_room(mpm.nodes().len()) + 8 * MPM_NEIGHBOURS }
    }
}

/// Bytes of so many elements.
pub(super) fn bytes<T>(elements: usize) -> u64 {
    elements as u64 * size_of::<T>() as u64
}
