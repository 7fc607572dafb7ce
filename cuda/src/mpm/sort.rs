//! Sorting the particles on the device, and the grid that they reach.

use pliant_mpm::Mpm;

use super::DeviceParticles;
use crate::algorithms::{Scan, Sort};
use crate::kernels::{
    GridNodes, MPM_BLOCK_NODES, MPM_NEIGHBOURS, MPM_ROWS, MPM_SORT_THREADS, MpmSortClassifyParameters,
    MpmSortFindOwnersParameters, MpmSortGatherParameters, MpmSortMakeKeysParameters,
    MpmSortMarkFirstParameters, MpmSortNumberBlocksParameters, MpmSortPlaceNodesParameters,
    MpmSortStoreParameters,
};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

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

/// A node of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceNode {
    /// Integer coordinates; it is at these times the grid spacing.
    pub index: [i32; 3],
    /// Velocity, world frame [m/s].
    pub velocity: [f32; 3],
    /// Mass [kg].
    pub mass: f32,
}

/// The grid on the device: blocks, who is whose neighbour, and the nodes.
#[derive(Debug)]
pub struct DeviceGrid {
    /// First particle of each particle block, and the end of the last.
    pub(super) block_starts: Buffer<u32>,
    /// Node blocks around each particle block.
    pub(super) nodes_of_particles: Buffer<u32>,
    /// Particle blocks around each node block, plus one; zero for none.
    pub(super) particles_of_nodes: Buffer<u32>,
    nodes: Buffer<[f32; 4]>,
    keys: Buffer<[i32; 3]>,
    table_keys: Buffer<u64>,
    table_slots: Buffer<u32>,
    capacities: BlockCapacities,
    scratch: SortScratch,
}

/// Memory of the sort.
#[derive(Debug)]
struct SortScratch {
    table_keys: Buffer<u64>,
    table_first: Buffer<u32>,
    table_numbers: Buffer<u32>,
    places: Buffer<u32>,
    cells: Buffer<u32>,
    is_first: Buffer<u32>,
    numbers: Buffer<u32>,
    number_scan: Scan,
    new_keys: Buffer<[i32; 3]>,
    keys: Buffer<u32>,
    order: Buffer<u32>,
    sort: Sort,
    rows: Buffer<f32>,
    ids: Buffer<u32>,
    materials: Buffer<u32>,
    owners: Buffer<u32>,
    is_owner: Buffer<u32>,
    slots: Buffer<u32>,
    slot_scan: Scan,
}

/// Places of a hash table for so many keys: at most half of them are taken.
fn places(keys: u32) -> usize {
    (2 * keys as usize).next_power_of_two().max(64)
}

impl SortScratch {
    fn new(device: &Device, particles: &DeviceParticles, capacity: u32) -> Result<Self, DeviceError> {
        let count = particles.len();
        let (places, pairs) = (places(capacity), (capacity * MPM_NEIGHBOURS) as usize);
        let stride = particles.rows().stride as usize;
        Ok(Self {
            table_keys: device.allocate(places)?,
            table_first: device.allocate(places)?,
            table_numbers: device.allocate(places)?,
            places: device.allocate(count)?,
            cells: device.allocate(count)?,
            is_first: device.allocate(count)?,
            numbers: device.allocate(count)?,
            number_scan: Scan::new(device, count)?,
            new_keys: device.allocate(capacity as usize)?,
            keys: device.allocate(count)?,
            order: device.allocate(count)?,
            sort: Sort::new(device, count)?,
            rows: device.allocate(MPM_ROWS as usize * stride)?,
            ids: device.allocate(count)?,
            materials: device.allocate(count)?,
            owners: device.allocate(pairs)?,
            is_owner: device.allocate(pairs)?,
            slots: device.allocate(pairs)?,
            slot_scan: Scan::new(device, pairs)?,
        })
    }
}

impl DeviceGrid {
    /// Memory for these particles, with room for so many blocks. Nothing is in it before the first sort.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(
        device: &Device,
        particles: &DeviceParticles,
        capacities: BlockCapacities,
    ) -> Result<Self, DeviceError> {
        let BlockCapacities { particle_blocks, node_blocks } = capacities;
        let (blocks, slots) = (particle_blocks as usize, node_blocks as usize);
        let neighbours = MPM_NEIGHBOURS as usize;
        Ok(Self {
            block_starts: device.allocate(blocks + 1)?,
            nodes_of_particles: device.allocate(blocks * neighbours)?,
            particles_of_nodes: device.allocate(slots * neighbours)?,
            nodes: device.allocate(slots * MPM_BLOCK_NODES as usize)?,
            keys: device.allocate(slots)?,
            table_keys: device.allocate(places(node_blocks))?,
            table_slots: device.allocate(places(node_blocks))?,
            capacities,
            scratch: SortScratch::new(device, particles, particle_blocks)?,
        })
    }

    /// How many blocks there is room for.
    pub fn capacities(&self) -> BlockCapacities {
        self.capacities
    }

    /// The nodes as kernels get them.
    pub fn nodes(&self) -> GridNodes {
        GridNodes {
            nodes: self.nodes.span(),
            keys: self.keys.span(),
            table_keys: self.table_keys.span(),
            table_slots: self.table_slots.span(),
        }
    }

    /// Node blocks around each particle block, 27 of them, x slowest; slots of [`DeviceGrid::nodes`].
    pub fn nodes_of_particles(&self) -> Span<u32> {
        self.nodes_of_particles.span()
    }

    /// Number of particle blocks as of the last sort; one element.
    pub fn block_count(&self) -> &Buffer<u32> {
        self.scratch.number_scan.total()
    }

    /// Number of node blocks as of the last sort; one element.
    pub fn node_count(&self) -> &Buffer<u32> {
        self.scratch.slot_scan.total()
    }

    /// Keys of the node blocks, by slot: a block's first node is at 4 times the key.
    ///
    /// # Errors
    /// Those of the device.
    pub fn block_keys(&self) -> Result<Vec<[i32; 3]>, DeviceError> {
        let count = self.node_count().download()?[0].min(self.capacities.node_blocks);
        let mut keys = vec![[0; 3]; count as usize];
        self.keys.download_at(0, &mut keys)?;
        Ok(keys)
    }

    /// All nodes with mass, block by block.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self) -> Result<Vec<DeviceNode>, DeviceError> {
        let (nodes, keys) = (self.nodes.download()?, self.block_keys()?);
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

    /// Appends what sorts the particles by block and cell and finds the node blocks that they reach, before substep `substep`.
    pub(super) fn issue_sort(
        &self,
        commands: &mut Commands,
        particles: &DeviceParticles,
        status: Span<u32>,
        substep: u32,
    ) {
        self.issue_numbering(commands, particles, status, substep);
        let s = &self.scratch;
        let bits = (self.capacities.particle_blocks * MPM_BLOCK_NODES).next_power_of_two().ilog2();
        s.sort.issue(commands, s.keys.span(), s.order.span(), 0..bits);
        let rows = particles.rows();
        let (keys, order, new_keys) = (s.keys.span(), s.order.span(), s.new_keys.span());
        let (spare_rows, spare_ids, spare_materials) = (s.rows.span(), s.ids.span(), s.materials.span());
        commands
            .launch(
                Launch::over(rows.count, MPM_SORT_THREADS, MPM_SORT_THREADS),
                &MpmSortGatherParameters {
                    particles: rows,
                    keys,
                    order,
                    new_keys,
                    block_starts: self.block_starts.span(),
                    spare_rows,
                    spare_ids,
                    spare_materials,
                    status,
                    substep,
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
                    status,
                    substep,
                    unused: 0,
                },
            );
        self.issue_node_blocks(commands, particles, status, substep);
    }

    /// Numbers the blocks where the particles are, and makes the keys to sort by.
    fn issue_numbering(
        &self,
        commands: &mut Commands,
        particles: &DeviceParticles,
        status: Span<u32>,
        substep: u32,
    ) {
        let (s, rows) = (&self.scratch, particles.rows());
        let over = Launch::over(rows.count, MPM_SORT_THREADS, MPM_SORT_THREADS);
        let (places, cells) = (s.places.span(), s.cells.span());
        let (table_first, table_numbers) = (s.table_first.span(), s.table_numbers.span());
        let (is_first, numbers) = (s.is_first.span(), s.numbers.span());
        commands.clear(s.table_keys.span()).clear(table_first);
        commands.launch(
            over,
            &MpmSortClassifyParameters {
                particles: rows,
                table_keys: s.table_keys.span(),
                table_first,
                places,
                cells,
                status,
                substep,
                unused: 0,
            },
        );
        commands.launch(
            over,
            &MpmSortMarkFirstParameters { places, table_first, is_first, status, substep, unused: 0 },
        );
        s.number_scan.issue(commands, is_first, numbers);
        let new_keys = s.new_keys.span();
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
                substep,
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
                substep,
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
        substep: u32,
    ) {
        let s = &self.scratch;
        let (block_count, block_keys) = (s.number_scan.total().span(), particles.rows().block_keys);
        let (owners, is_owner, slots) = (s.owners.span(), s.is_owner.span(), s.slots.span());
        let over = Launch::over(owners.len(), MPM_SORT_THREADS, MPM_SORT_THREADS);
        commands.clear(self.particles_of_nodes.span()).clear(self.table_keys.span());
        commands.launch(
            over,
            &MpmSortFindOwnersParameters {
                block_count,
                block_keys,
                table_keys: s.table_keys.span(),
                table_numbers: s.table_numbers.span(),
                owners,
                is_owner,
                status,
                substep,
                unused: 0,
            },
        );
        s.slot_scan.issue(commands, is_owner, slots);
        commands.launch(
            over,
            &MpmSortPlaceNodesParameters {
                block_count,
                block_keys,
                owners,
                slots,
                nodes_of_particles: self.nodes_of_particles.span(),
                particles_of_nodes: self.particles_of_nodes.span(),
                grid: self.nodes(),
                status,
                substep,
                unused: 0,
            },
        );
    }
}
