//! The sort of the particles: their blocks, and the node blocks that they reach.

use super::{GridNodes, ParticleRows};
use crate::layout::{Span, kernel_parameters};

kernel_parameters! {
    /// Sorts particles, 1: each one's block, into the table.
    pub struct MpmSortClassifyParameters = "mpm_sort_classify" {
        /// Particles.
        pub particles: ParticleRows,
        /// Table of particle blocks: keys, zero at first.
        pub table_keys: Span<u64>,
        /// For each place, 2^32 - 1 less its first particle; zero at first.
        pub table_first: Span<u32>,
        /// Each particle's place in the table.
        pub places: Span<u32>,
        /// Each particle's cell in its block.
        pub cells: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Capacity for blocks.
        pub capacity: u32,
    }

    /// Clears the node blocks for a sort, unless it is not to run; then the last sort's stay.
    pub struct MpmSortClearParameters = "mpm_sort_clear" {
        /// Particle blocks around each node block.
        pub particles_of_nodes: Span<u32>,
        /// Table of node blocks.
        pub table_keys: Span<u64>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Sorts particles, 2: marks the first of each block.
    pub struct MpmSortMarkFirstParameters = "mpm_sort_mark_first" {
        /// Each particle's place in the table.
        pub places: Span<u32>,
        /// For each place, 2^32 - 1 less its first particle.
        pub table_first: Span<u32>,
        /// One for the first particle of a block, zero for others.
        pub is_first: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Sorts particles, 3: numbers the blocks.
    pub struct MpmSortNumberBlocksParameters = "mpm_sort_number_blocks" {
        /// Particles.
        pub particles: ParticleRows,
        /// Whether a particle is the first of its block.
        pub is_first: Span<u32>,
        /// How many blocks have their first particle before each one.
        pub numbers: Span<u32>,
        /// Each particle's place in the table.
        pub places: Span<u32>,
        /// Number of the block at each place.
        pub table_numbers: Span<u32>,
        /// Key of each block.
        pub new_keys: Span<[i32; 3]>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Sorts particles, 4: what to sort by.
    pub struct MpmSortMakeKeysParameters = "mpm_sort_make_keys" {
        /// Each particle's place in the table.
        pub places: Span<u32>,
        /// Each particle's cell.
        pub cells: Span<u32>,
        /// Number of the block at each place.
        pub table_numbers: Span<u32>,
        /// Block and cell of each particle.
        pub keys: Span<u32>,
        /// Each particle's index.
        pub order: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Sorts particles, 5: gathers them in their new order.
    pub struct MpmSortGatherParameters = "mpm_sort_gather" {
        /// Particles.
        pub particles: ParticleRows,
        /// Block and cell of each, sorted.
        pub keys: Span<u32>,
        /// Where each one was.
        pub order: Span<u32>,
        /// Key of each block.
        pub new_keys: Span<[i32; 3]>,
        /// First particle of each block, and the end of the last.
        pub block_starts: Span<u32>,
        /// Rows in the new order.
        pub spare_rows: Span<f32>,
        /// Ids in the new order.
        pub spare_ids: Span<u32>,
        /// Materials in the new order.
        pub spare_materials: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Sorts particles, 6: puts them back.
    pub struct MpmSortStoreParameters = "mpm_sort_store" {
        /// Particles.
        pub particles: ParticleRows,
        /// Block and cell of each, sorted.
        pub keys: Span<u32>,
        /// Key of each block.
        pub new_keys: Span<[i32; 3]>,
        /// Rows in the new order.
        pub spare_rows: Span<f32>,
        /// Ids in the new order.
        pub spare_ids: Span<u32>,
        /// Materials in the new order.
        pub spare_materials: Span<u32>,
        /// Number among the elements of cloth of each of the last particles that were added; empty
        /// without cloth.
        pub cloth_elements: Span<u32>,
        /// Index of each element's particle.
        pub cloth_places: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Finds node blocks, 1: for each particle block and neighbour, the first pair that names the
    /// same node block.
    pub struct MpmSortFindOwnersParameters = "mpm_sort_find_owners" {
        /// Number of particle blocks; one element.
        pub block_count: Span<u32>,
        /// Key of each particle block.
        pub block_keys: Span<[i32; 3]>,
        /// Table of particle blocks.
        pub table_keys: Span<u64>,
        /// Number of the block at each place.
        pub table_numbers: Span<u32>,
        /// That pair: 27 times the particle block and the neighbour.
        pub owners: Span<u32>,
        /// One where it is the pair itself, zero elsewhere and beyond the last block.
        pub is_owner: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Finds node blocks, 2: gives them their slots.
    pub struct MpmSortPlaceNodesParameters = "mpm_sort_place_nodes" {
        /// Number of particle blocks; one element.
        pub block_count: Span<u32>,
        /// Key of each particle block.
        pub block_keys: Span<[i32; 3]>,
        /// The pair that gives each its slot.
        pub owners: Span<u32>,
        /// Slots of the pairs that do.
        pub slots: Span<u32>,
        /// Node blocks around each particle block.
        pub nodes_of_particles: Span<u32>,
        /// Particle blocks around each node block, plus one; zero at first.
        pub particles_of_nodes: Span<u32>,
        /// Keys and table of node blocks, the table's keys zero at first.
        pub grid: GridNodes,
        /// See [`MPM_STATUS_LIMIT`].
        pub status: Span<u32>,
        /// The substep that comes after the sort.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }
}
