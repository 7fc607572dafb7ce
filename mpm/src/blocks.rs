//! The sparse grid: blocks of 4 x 4 x 4 nodes, and their neighbours.

use crate::sort::{NEIGHBOURS, neighbour_key};
use crate::tiles::{BlockKey, ParticleBlock, resize};

/// Nodes along a block's edge.
pub const BLOCK_NODES: usize = 4;

/// Nodes in a block.
pub const NODES: usize = 64;

/// No such neighbour.
pub(crate) const NONE: u32 = u32::MAX;

/// The nodes of one block: (velocity x, y, z \[m/s\], mass \[kg\]), z fastest.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct NodeBlock {
    /// Node (x, y, z) of the block is at `(x * 4 + y) * 4 + z`; nodes of zero mass are all zero.
    pub nodes: [[f32; 4]; NODES],
    /// No node of the block has mass.
    pub empty: bool,
}

impl NodeBlock {
    pub(crate) const ZERO: Self = Self { nodes: [[0.0; 4]; NODES], empty: true };
}

/// Node blocks around each particle block, and particle blocks around each node block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    /// Keys of the node blocks, sorted.
    pub keys: Vec<BlockKey>,
    /// Node blocks around each particle block.
    pub nodes_of_particles: Vec<[u32; NEIGHBOURS]>,
    /// Particle blocks around each node block; `NONE` where there is none.
    pub particles_of_nodes: Vec<[u32; NEIGHBOURS]>,
}

impl Topology {
    /// Rebuilds the tables for these particle blocks (sorted by key).
    pub(crate) fn rebuild(&mut self, blocks: &[ParticleBlock]) {
        self.keys.clear();
        self.keys.reserve_exact(blocks.len() * NEIGHBOURS);
        self.keys.extend(blocks.iter().flat_map(|b| (0..NEIGHBOURS).map(|n| neighbour_key(b.key, n))));
        self.keys.sort_unstable();
        self.keys.dedup();
        self.particles_of_nodes.clear();
        resize(&mut self.particles_of_nodes, self.keys.len(), [NONE; NEIGHBOURS]);
        resize(&mut self.nodes_of_particles, blocks.len(), [NONE; NEIGHBOURS]);
        for (p, (block, around)) in blocks.iter().zip(&mut self.nodes_of_particles).enumerate() {
            for (n, slot) in around.iter_mut().enumerate() {
                if let Ok(node_block) = self.keys.binary_search(&neighbour_key(block.key, n)) {
                    *slot = node_block as u32;
                    self.particles_of_nodes[node_block][NEIGHBOURS - 1 - n] = p as u32;
                }
            }
        }
    }
}
