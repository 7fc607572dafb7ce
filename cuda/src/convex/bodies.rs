//! Strongly coupled bodies: strong coupling.

use super::memory::TILE;
use crate::kernels::{
    CONVEX_BODY_ROWS, CONVEX_BODY_SUMS, CONVEX_NOT_STRONG, CONVEX_THREADS, ConvexBodies, Kernel,
};
use crate::layout::Span;
use crate::{Buffer, Device, DeviceError};

/// Memory for the part of a solve that belongs to strongly coupled bodies: a few numbers for each
/// tile of contacts and body, and square matrices of the bodies' unknowns.
#[derive(Debug)]
pub(super) struct StrongBodyMemory {
    pub(super) counts: Buffer<u32>,
    pub(super) places: Buffer<u32>,
    pub(super) factor: Buffer<f64>,
    body_velocity_changes: Buffer<[f64; 6]>,
    rows: Buffer<f64>,
    velocities: Buffer<f64>,
    tile_sums: Buffer<f64>,
    sums: Buffer<f64>,
    images: Buffer<f64>,
    matrix: Buffer<f64>,
    inverse: Buffer<f64>,
    /// Capacity for strongly coupled bodies.
    pub(super) capacity: usize,
    /// Blocks that the device can hold.
    resident: u32,
}

impl StrongBodyMemory {
    /// For this many strongly coupled bodies of all `bodies`, in solves of up to `contacts`
    /// contacts.
    pub(super) fn new(
        device: &Device,
        capacity: usize,
        bodies: usize,
        contacts: usize,
    ) -> Result<Self, DeviceError> {
        let unknowns = 6 * capacity;
        Ok(Self {
            counts: device.upload(&[0; 2])?,
            places: device.upload(&vec![CONVEX_NOT_STRONG; bodies])?,
            factor: device.allocate(unknowns * unknowns)?,
            body_velocity_changes: device.upload(&vec![[0.0; 6]; bodies])?,
            rows: device.allocate(CONVEX_BODY_ROWS as usize * unknowns)?,
            velocities: device.allocate(2 * unknowns)?,
            tile_sums: tile_sums(device, capacity, contacts)?,
            sums: device.allocate(CONVEX_BODY_SUMS as usize * capacity)?,
            images: device.allocate(unknowns * unknowns)?,
            matrix: device.allocate(unknowns * unknowns)?,
            inverse: device.allocate(unknowns * unknowns)?,
            capacity,
            resident: device.resident_blocks(Kernel::ConvexSolveBodies, CONVEX_THREADS, 0)?,
        })
    }

    /// Fits the memory to solves of up to `contacts` contacts; all else stays.
    pub(super) fn grow(&mut self, device: &Device, contacts: usize) -> Result<(), DeviceError> {
        self.tile_sums = tile_sums(device, self.capacity, contacts)?;
        Ok(())
    }

    pub(super) fn spans(&self) -> ConvexBodies {
        ConvexBodies {
            counts: self.counts.span(),
            places: self.places.span(),
            factor: self.factor.span(),
            body_velocity_changes: self.body_velocity_changes.span(),
            rows: self.rows.span(),
            velocities: self.velocities.span(),
            tile_sums: self.tile_sums.span(),
            sums: self.sums.span(),
            images: self.images.span(),
            matrix: self.matrix.span(),
            inverse: self.inverse.span(),
            capacity: 6 * self.capacity as u32,
            unused: 0,
        }
    }

    /// Blocks that the device can hold of the kernel with bodies.
    pub(super) fn resident(&self) -> u32 {
        self.resident
    }

    pub(super) fn body_velocity_changes(&self) -> Span<[f64; 6]> {
        self.body_velocity_changes.span()
    }

    pub(super) fn download_body_velocity_changes(&self) -> Result<Vec<[f64; 6]>, DeviceError> {
        self.body_velocity_changes.download()
    }
}

fn tile_sums(device: &Device, capacity: usize, contacts: usize) -> Result<Buffer<f64>, DeviceError> {
    device.allocate(contacts.div_ceil(TILE) * capacity * CONVEX_BODY_SUMS as usize)
}
