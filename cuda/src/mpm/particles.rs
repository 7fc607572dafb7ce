//! Particles in device memory, from the host and back.

use pliant_mpm::{Mpm, ParticleRecord};

use super::DeviceMpmError;
use super::capacity::bytes;
use crate::kernels::{
    MPM_ROWS, ParticleRows, ROW_AFFINE, ROW_GRADIENT, ROW_HISTORY, ROW_MASS, ROW_POSITION, ROW_POSITION_LOW,
    ROW_STRESS, ROW_THICKNESS, ROW_VELOCITY, ROW_VOLUME,
};
use crate::{Buffer, Device, DeviceError};

/// Particles that share a row's cache line.
const ALIGNMENT: usize = 32;

/// Elements from one row of so many particles to the next.
pub(super) fn stride_of(particles: usize) -> usize {
    particles.next_multiple_of(ALIGNMENT)
}

/// All particles of a model in device memory.
#[derive(Debug)]
pub struct DeviceParticles {
    rows: Buffer<f32>,
    ids: Buffer<u32>,
    materials: Buffer<u32>,
    blocks: Buffer<u32>,
    block_keys: Buffer<[i32; 3]>,
    count: usize,
    stride: usize,
}

impl DeviceParticles {
    /// Copies the particles of a model, in their present order, with a capacity of `block_capacity`
    /// blocks, or as many as there are.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(device: &Device, mpm: &Mpm, block_capacity: usize) -> Result<Self, DeviceError> {
        let count = mpm.len();
        let stride = stride_of(count);
        let mut rows = vec![0.0_f32; MPM_ROWS as usize * stride];
        let (mut ids, mut materials, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        let mut keys = vec![[0; 3]; block_capacity.max(mpm.block_count())];
        for b in 0..mpm.block_count() {
            let view = mpm.block(b);
            for i in 0..view.len() {
                let (at, particle) = (ids.len(), view.stored(i));
                let parts: [(u32, &[f32]); 10] = [
                    (ROW_POSITION, &particle.position),
                    (ROW_POSITION_LOW, &particle.position_low),
                    (ROW_VELOCITY, &particle.velocity),
                    (ROW_AFFINE, &particle.affine),
                    (ROW_GRADIENT, &particle.deformation_gradient),
                    (ROW_HISTORY, &[particle.history]),
                    (ROW_MASS, &[particle.mass]),
                    (ROW_VOLUME, &[view.volume(i) as f32]),
                    (ROW_STRESS, &particle.stress_volume),
                    (ROW_THICKNESS, &[view.extent(i).thickness as f32]),
                ];
                for (first, values) in parts {
                    for (n, value) in values.iter().enumerate() {
                        rows[(first as usize + n) * stride + at] = *value;
                    }
                }
                keys[b] = particle.block;
                ids.push(particle.id);
                materials.push(particle.material);
                blocks.push(b as u32);
            }
        }
        Ok(Self {
            rows: device.upload(&rows)?,
            ids: device.upload(&ids)?,
            materials: device.upload(&materials)?,
            blocks: device.upload(&blocks)?,
            block_keys: device.upload(&keys)?,
            count,
            stride,
        })
    }

    /// Rows of so many particles, in bytes.
    pub(super) fn bytes_of_rows(particles: usize) -> u64 {
        bytes::<f32>(MPM_ROWS as usize * stride_of(particles))
    }

    /// What [`DeviceParticles::new`] allocates for so many particles, in bytes, where the blocks
    /// are not more than there is room for.
    pub fn bytes_needed(particles: usize, block_capacity: usize) -> u64 {
        Self::bytes_of_rows(particles) + bytes::<u32>(3 * particles) + bytes::<[i32; 3]>(block_capacity)
    }

    /// Grows the capacity to so many blocks.
    pub(super) fn grow(&mut self, block_capacity: usize) -> Result<(), DeviceError> {
        self.block_keys.grow(block_capacity).map(|_| ())
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Never true: a model without particles is not built.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The particles as kernels get them.
    pub fn rows(&self) -> ParticleRows {
        ParticleRows {
            rows: self.rows.span(),
            ids: self.ids.span(),
            materials: self.materials.span(),
            blocks: self.blocks.span(),
            block_keys: self.block_keys.span(),
            count: self.count as u32,
            stride: self.stride as u32,
        }
    }

    /// Copies all particles to the host, in the device's order.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self) -> Result<Vec<ParticleRecord>, DeviceError> {
        let (rows, keys) = (self.rows.download()?, self.block_keys.download()?);
        let (ids, materials, blocks) =
            (self.ids.download()?, self.materials.download()?, self.blocks.download()?);
        let particle = |i: usize| ParticleRecord {
            id: ids[i],
            material: materials[i],
            block: keys[blocks[i] as usize],
            position: self.values(&rows, ROW_POSITION, i),
            position_low: self.values(&rows, ROW_POSITION_LOW, i),
            velocity: self.values(&rows, ROW_VELOCITY, i),
            affine: self.values(&rows, ROW_AFFINE, i),
            deformation_gradient: self.values(&rows, ROW_GRADIENT, i),
            stress_volume: self.values(&rows, ROW_STRESS, i),
            mass: self.values::<1>(&rows, ROW_MASS, i)[0],
            history: self.values::<1>(&rows, ROW_HISTORY, i)[0],
        };
        Ok((0..self.count).map(particle).collect())
    }

    /// Values of particle `i` in consecutive rows.
    fn values<const N: usize>(&self, rows: &[f32], first: u32, i: usize) -> [f32; N] {
        std::array::from_fn(|n| rows[(first as usize + n) * self.stride + i])
    }

    /// Copies all particles to a model on the host, bit for bit; blocks in the host's order, and
    /// particles within a block in the device's.
    ///
    /// # Errors
    /// Those of the device, and of [`Mpm::set_particles`] where the model is another one.
    pub fn write_back(&self, mpm: &mut Mpm) -> Result<(), DeviceMpmError> {
        Ok(mpm.set_particles(&self.download()?)?)
    }
}
