//! Memory of a model: how much it takes, and more of it.

use pliant_mpm::{Boundary, Mpm};

use super::capacity::bytes;
use super::cloth::DeviceCloth;
use super::sort::BlockMemory;
use super::step::{TransferMemory, detail_count};
use super::{BlockCapacities, DeviceGrid, DeviceMpm, DeviceParticles};
use crate::kernels::{
    CLOTH_PIN_SUMS, MPM_BALANCE, MPM_STATUS_WORDS, MPM_TOTAL_TILE, MPM_TOTALS, MpmMaterial, MpmPlane,
    MpmSettings,
};
use crate::staging::Staging;
use crate::{Commands, Device, DeviceError};

/// Half as much again as is needed; what there is where that is enough.
pub(crate) fn grown_capacity(needed: u32, capacity: u32) -> u32 {
    if needed <= capacity { capacity } else { needed.saturating_add(needed / 2) }
}

impl DeviceMpm {
    /// What [`DeviceMpm::new`] allocates, in bytes.
    pub fn bytes_needed(mpm: &Mpm, boundaries: &[Boundary], capacities: BlockCapacities) -> u64 {
        let blocks = (capacities.particle_blocks as usize).max(mpm.block_count());
        let tiles =
            mpm.len().div_ceil(MPM_TOTAL_TILE as usize).max(1) + DeviceCloth::energy_tiles(mpm) as usize;
        DeviceParticles::bytes_needed(mpm.len(), blocks)
            + DeviceGrid::bytes_needed(mpm.len(), capacities)
            + TransferMemory::bytes_needed(capacities)
            + Staging::bytes_needed()
            + bytes::<MpmSettings>(1)
            + bytes::<MpmMaterial>(mpm.materials().len())
            + bytes::<MpmPlane>(boundaries.len())
            + bytes::<f32>(detail_count(mpm))
            + DeviceCloth::bytes_needed(mpm)
            + bytes::<f64>((MPM_BALANCE + MPM_TOTALS + CLOTH_PIN_SUMS) as usize + tiles * MPM_TOTALS as usize)
            + bytes::<u32>(MPM_STATUS_WORDS as usize)
    }

    /// Refuses a model that does not fit what is free on the device.
    pub(super) fn check_room(
        device: &Device,
        mpm: &Mpm,
        boundaries: &[Boundary],
        capacities: BlockCapacities,
    ) -> Result<(), DeviceError> {
        let needed = Self::bytes_needed(mpm, boundaries, capacities);
        let memory = device.memory()?;
        if needed <= memory.free {
            return Ok(());
        }
        Err(DeviceError::ModelTooLarge {
            needed,
            free: memory.free,
            total: memory.total,
            particles: mpm.len(),
            particle_blocks: capacities.particle_blocks,
            node_blocks: capacities.node_blocks,
        })
    }

    /// Grows the capacity for these blocks and half as many more, where there is too little; the
    /// particles stay. Recordings of others that use the grid are to be made anew.
    ///
    /// # Errors
    /// [`DeviceError::CannotGrow`], with everything as it was.
    pub fn grow(&mut self, needed: BlockCapacities) -> Result<(), DeviceError> {
        let from = self.grid.capacities();
        let to = BlockCapacities {
            particle_blocks: grown_capacity(needed.particle_blocks, from.particle_blocks),
            node_blocks: grown_capacity(needed.node_blocks, from.node_blocks),
        };
        if to == from {
            return Ok(());
        }
        let refuse = DeviceError::cannot_grow("blocks of nodes and particles", total(from), total(to));
        let needed = BlockMemory::bytes_needed(to) + TransferMemory::bytes_needed(to);
        self.device.check_free(needed).map_err(&refuse)?;
        let blocks = BlockMemory::new(&self.device, to).map_err(&refuse)?;
        let transfers = TransferMemory::new(&self.device, to).map_err(&refuse)?;
        self.particles.grow(to.particle_blocks as usize).map_err(&refuse)?;
        if let Some(progress) = &mut self.progress {
            // The next substep begins with a sort, before which the balance is closed.
            progress.sorts.first = Some(progress.done);
            let substep_index = progress.done;
            let mut commands = Commands::new();
            self.issue_close(&mut commands, substep_index);
            self.device.submit(&commands)?;
        }
        (self.grid.blocks, self.transfers) = (blocks, transfers);
        self.recordings.clear();
        self.order.forget();
        tracing::info!(
            particle_blocks_from = from.particle_blocks,
            particle_blocks_to = to.particle_blocks,
            node_blocks_from = from.node_blocks,
            node_blocks_to = to.node_blocks,
            "room for more blocks on the device"
        );
        Ok(())
    }
}

fn total(capacities: BlockCapacities) -> u64 {
    u64::from(capacities.particle_blocks) + u64::from(capacities.node_blocks)
}
