//! Sorting the particles on the device, and the grid that they reach.

use super::DeviceParticles;
use super::capacity::{BlockCapacities, bytes};
use crate::algorithms::{Scan, Sort};
use crate::kernels::{
    GridNodes, MPM_BLOCK_NODES, MPM_NEIGHBOURS, MPM_ROWS, MPM_SORT_THREADS, MpmSortClassifyParameters,
    MpmSortClearParameters, MpmSortFindOwnersParameters, MpmSortGatherParameters, MpmSortMakeKeysParameters,
    MpmSortMarkFirstParameters, MpmSortNumberBlocksParameters, MpmSortPlaceNodesParameters,
    MpmSortStoreParameters,
};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// A node of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceNode {
    /// Integer coordinates; it is at these times the grid spacing.
    pub index: [i32; 3],
    /// Velocity, world frame \[m/s\].
    pub velocity: [f32; 3],
    /// Mass \[kg\].
    pub mass: f32,
}

/// The grid on the device: blocks, who is whose neighbour, and the nodes.
#[derive(Debug)]
pub struct DeviceGrid {
    pub(super) blocks: BlockMemory,
    scratch: ParticleScratch,
}

/// Where a sort writes the indices of the particles of cloth.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClothPlaces {
    /// Numbers among the elements of cloth, of the last particles that were added; empty without
    /// cloth.
    pub(super) elements: Span<u32>,
    /// Index of each element's particle.
    pub(super) places: Span<u32>,
}

impl ClothPlaces {
    /// Without cloth.
    pub(super) const NONE: Self = Self { elements: Span::EMPTY, places: Span::EMPTY };
}

/// Memory for so many blocks.
#[derive(Debug)]
pub(super) struct BlockMemory {
    /// First particle of each particle block, and the end of the last.
    pub(super) starts: Buffer<u32>,
    /// Node blocks around each particle block.
    pub(super) nodes_of_particles: Buffer<u32>,
    /// Particle blocks around each node block, plus one; zero for none.
    pub(super) particles_of_nodes: Buffer<u32>,
    nodes: Buffer<[f32; 4]>,
    keys: Buffer<[i32; 3]>,
    table_keys: Buffer<u64>,
    table_slots: Buffer<u32>,
    /// Of the sort, which finds particle blocks by a table of its own.
    sort_keys: Buffer<u64>,
    sort_first: Buffer<u32>,
    sort_numbers: Buffer<u32>,
    new_keys: Buffer<[i32; 3]>,
    owners: Buffer<u32>,
    is_owner: Buffer<u32>,
    slots: Buffer<u32>,
    slot_scan: Scan,
    capacities: BlockCapacities,
}

/// Memory of the sort for the particles.
#[derive(Debug)]
struct ParticleScratch {
    places: Buffer<u32>,
    cells: Buffer<u32>,
    is_first: Buffer<u32>,
    numbers: Buffer<u32>,
    number_scan: Scan,
    keys: Buffer<u32>,
    order: Buffer<u32>,
    sort: Sort,
    rows: Buffer<f32>,
    ids: Buffer<u32>,
    materials: Buffer<u32>,
}

/// Places of a hash table for so many keys: at most half of them are taken.
fn places(keys: u32) -> usize {
    (2 * keys as usize).next_power_of_two().max(64)
}

/// Elements that a thread of the clearing kernel clears.
const CLEARED: u32 = 16;

impl BlockMemory {
    pub(super) fn new(device: &Device, capacities: BlockCapacities) -> Result<Self, DeviceError> {
        let BlockCapacities { particle_blocks, node_blocks } = capacities;
        let (blocks, slots, neighbours) =
            (particle_blocks as usize, node_blocks as usize, MPM_NEIGHBOURS as usize);
        let sort_places = places(particle_blocks);
        let pairs = blocks * neighbours;
        Ok(Self {
            starts: device.allocate(blocks + 1)?,
            nodes_of_particles: device.allocate(pairs)?,
            particles_of_nodes: device.allocate(slots * neighbours)?,
            nodes: device.allocate(slots * MPM_BLOCK_NODES as usize)?,
            keys: device.allocate(slots)?,
            table_keys: device.allocate(places(node_blocks))?,
            table_slots: device.allocate(places(node_blocks))?,
            sort_keys: device.allocate(sort_places)?,
            sort_first: device.allocate(sort_places)?,
            sort_numbers: device.allocate(sort_places)?,
            new_keys: device.allocate(blocks)?,
            owners: device.allocate(pairs)?,
            is_owner: device.allocate(pairs)?,
            slots: device.allocate(pairs)?,
            slot_scan: Scan::new(device, pairs)?,
            capacities,
        })
    }

    /// Size of all of it, in bytes.
    pub(super) fn bytes_needed(capacities: BlockCapacities) -> u64 {
        let BlockCapacities { particle_blocks, node_blocks } = capacities;
        let (blocks, slots, neighbours) =
            (particle_blocks as usize, node_blocks as usize, MPM_NEIGHBOURS as usize);
        let pairs = blocks * neighbours;
        bytes::<u32>(blocks + 1 + 4 * pairs + slots * neighbours)
            + bytes::<[f32; 4]>(slots * MPM_BLOCK_NODES as usize)
            + bytes::<[i32; 3]>(slots + blocks)
            + bytes::<u64>(places(node_blocks) + places(particle_blocks))
            + bytes::<u32>(places(node_blocks) + 2 * places(particle_blocks))
            + Scan::bytes_needed(pairs)
    }
}

impl ParticleScratch {
    fn new(device: &Device, particles: &DeviceParticles) -> Result<Self, DeviceError> {
        let count = particles.len();
        Ok(Self {
            places: device.allocate(count)?,
            cells: device.allocate(count)?,
            is_first: device.allocate(count)?,
            numbers: device.allocate(count)?,
            number_scan: Scan::new(device, count)?,
            keys: device.allocate(count)?,
            order: device.allocate(count)?,
            sort: Sort::new(device, count)?,
            rows: device.allocate(MPM_ROWS as usize * particles.rows().stride as usize)?,
            ids: device.allocate(count)?,
            materials: device.allocate(count)?,
        })
    }
}

impl DeviceGrid {
    /// Memory for these particles, with room for so many blocks. Nothing is in it before the first
    /// sort.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(
        device: &Device,
        particles: &DeviceParticles,
        capacities: BlockCapacities,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            blocks: BlockMemory::new(device, capacities)?,
            scratch: ParticleScratch::new(device, particles)?,
        })
    }

    /// What [`DeviceGrid::new`] allocates for so many particles, in bytes.
    pub fn bytes_needed(particles: usize, capacities: BlockCapacities) -> u64 {
        BlockMemory::bytes_needed(capacities)
            + bytes::<u32>(8 * particles)
            + Scan::bytes_needed(particles)
            + Sort::bytes_needed(particles)
            + DeviceParticles::bytes_of_rows(particles)
    }

    /// How many blocks there is room for.
    pub fn capacities(&self) -> BlockCapacities {
        self.blocks.capacities
    }

    /// The nodes as kernels get them.
    pub fn nodes(&self) -> GridNodes {
        GridNodes {
            nodes: self.blocks.nodes.span(),
            keys: self.blocks.keys.span(),
            table_keys: self.blocks.table_keys.span(),
            table_slots: self.blocks.table_slots.span(),
        }
    }

    /// Node blocks around each particle block, 27 of them, x slowest; slots of
    /// [`DeviceGrid::nodes`].
    pub fn nodes_of_particles(&self) -> Span<u32> {
        self.blocks.nodes_of_particles.span()
    }

    /// Number of particle blocks as of the last sort; one element.
    pub fn block_count(&self) -> &Buffer<u32> {
        self.scratch.number_scan.total()
    }

    /// Number of node blocks as of the last sort; one element.
    pub fn node_count(&self) -> &Buffer<u32> {
        self.blocks.slot_scan.total()
    }

    /// Keys of the node blocks, by slot: a block's first node is at 4 times the key.
    ///
    /// # Errors
    /// Those of the device.
    pub fn block_keys(&self) -> Result<Vec<[i32; 3]>, DeviceError> {
        let count = self.node_count().download()?[0].min(self.blocks.capacities.node_blocks);
        let mut keys = vec![[0; 3]; count as usize];
        self.blocks.keys.download_at(0, &mut keys)?;
        Ok(keys)
    }

    /// All nodes with mass, block by block.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self) -> Result<Vec<DeviceNode>, DeviceError> {
        let (nodes, keys) = (self.blocks.nodes.download()?, self.block_keys()?);
        let mut all = Vec::new();
        for (key, block) in keys.iter().zip(nodes.chunks(MPM_BLOCK_NODES as usize)) {
            for (n, &[x, y, z, mass]) in block.iter().enumerate().filter(|(_, node)| node[3] > 0.0) {
                let local = [n / 16, n / 4 % 4, n % 4];
                let index = [0, 1, 2].map(|d| key[d] * 4 + local[d] as i32);
                all.push(DeviceNode { index, velocity: [x, y, z], mass });
            }
        }
        Ok(all)
    }

    /// Appends what sorts the particles by block and cell and finds the node blocks that they
    /// reach, before substep `substep_index`.
    pub(super) fn issue_sort(
        &self,
        commands: &mut Commands,
        particles: &DeviceParticles,
        cloth: ClothPlaces,
        status: Span<u32>,
        substep_index: u32,
    ) {
        self.issue_numbering(commands, particles, status, substep_index);
        let s = &self.scratch;
        let bits = (self.blocks.capacities.particle_blocks * MPM_BLOCK_NODES).next_power_of_two().ilog2();
        s.sort.issue(commands, s.keys.span(), s.order.span(), 0..bits);
        let rows = particles.rows();
        let (keys, order, new_keys) = (s.keys.span(), s.order.span(), self.blocks.new_keys.span());
        let (spare_rows, spare_ids, spare_materials) = (s.rows.span(), s.ids.span(), s.materials.span());
        commands
            .launch(
                Launch::over(rows.count, MPM_SORT_THREADS, MPM_SORT_THREADS),
                &MpmSortGatherParameters {
                    particles: rows,
                    keys,
                    order,
                    new_keys,
                    block_starts: self.blocks.starts.span(),
                    spare_rows,
                    spare_ids,
                    spare_materials,
                    status,
                    substep_index,
                    unused: 0,
                },
            )
            .launch(
                Launch::over(rows.count.max(new_keys.len()), MPM_SORT_THREADS, MPM_SORT_THREADS),
                &MpmSortStoreParameters {
                    particles: rows,
                    keys,
                    new_keys,
                    spare_rows,
                    spare_ids,
                    spare_materials,
                    cloth_elements: cloth.elements,
                    cloth_places: cloth.places,
                    status,
                    substep_index,
                    unused: 0,
                },
            );
        self.issue_node_blocks(commands, particles, status, substep_index);
    }

    /// Numbers the blocks where the particles are, and makes the keys to sort by.
    fn issue_numbering(
        &self,
        commands: &mut Commands,
        particles: &DeviceParticles,
        status: Span<u32>,
        substep_index: u32,
    ) {
        let (s, b, rows) = (&self.scratch, &self.blocks, particles.rows());
        let over = Launch::over(rows.count, MPM_SORT_THREADS, MPM_SORT_THREADS);
        let (places, cells) = (s.places.span(), s.cells.span());
        let (table_first, table_numbers) = (b.sort_first.span(), b.sort_numbers.span());
        let (is_first, numbers) = (s.is_first.span(), s.numbers.span());
        commands.clear(b.sort_keys.span()).clear(table_first);
        commands.launch(
            over,
            &MpmSortClassifyParameters {
                particles: rows,
                table_keys: b.sort_keys.span(),
                table_first,
                places,
                cells,
                status,
                substep_index,
                capacity: b.capacities.particle_blocks,
            },
        );
        commands.launch(
            over,
            &MpmSortMarkFirstParameters { places, table_first, is_first, status, substep_index, unused: 0 },
        );
        s.number_scan.issue(commands, is_first, numbers);
        let new_keys = b.new_keys.span();
        commands.launch(
            over,
            &MpmSortNumberBlocksParameters {
                particles: rows,
                is_first,
                numbers,
                places,
                table_numbers,
                new_keys,
                status,
                substep_index,
                unused: 0,
            },
        );
        let (keys, order) = (s.keys.span(), s.order.span());
        commands.launch(
            over,
            &MpmSortMakeKeysParameters {
                places,
                cells,
                table_numbers,
                keys,
                order,
                status,
                substep_index,
                unused: 0,
            },
        );
    }

    /// Finds the node blocks around the particle blocks.
    fn issue_node_blocks(
        &self,
        commands: &mut Commands,
        particles: &DeviceParticles,
        status: Span<u32>,
        substep_index: u32,
    ) {
        let b = &self.blocks;
        let (block_count, block_keys) = (self.block_count().span(), particles.rows().block_keys);
        let (owners, is_owner, slots) = (b.owners.span(), b.is_owner.span(), b.slots.span());
        let (particles_of_nodes, table_keys) = (b.particles_of_nodes.span(), b.table_keys.span());
        let over = Launch::over(owners.len(), MPM_SORT_THREADS, MPM_SORT_THREADS);
        let most = particles_of_nodes.len().max(table_keys.len());
        commands.launch(
            Launch::over(most, CLEARED * MPM_SORT_THREADS, MPM_SORT_THREADS),
            &MpmSortClearParameters { particles_of_nodes, table_keys, status, substep_index, unused: 0 },
        );
        commands.launch(
            over,
            &MpmSortFindOwnersParameters {
                block_count,
                block_keys,
                table_keys: b.sort_keys.span(),
                table_numbers: b.sort_numbers.span(),
                owners,
                is_owner,
                status,
                substep_index,
                unused: 0,
            },
        );
        b.slot_scan.issue(commands, is_owner, slots);
        commands.launch(
            over,
            &MpmSortPlaceNodesParameters {
                block_count,
                block_keys,
                owners,
                slots,
                nodes_of_particles: b.nodes_of_particles.span(),
                particles_of_nodes,
                grid: self.nodes(),
                status,
                substep_index,
                unused: 0,
            },
        );
    }
}
