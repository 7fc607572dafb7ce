//! Bodies that answer within the solves: strong coupling.

use pliant_coupling::convex::Mobility;

use super::DeviceConvexSolver;
use crate::kernels::{
    CONVEX_BODY_ROWS, CONVEX_BODY_SUMS, CONVEX_NO_ANSWER, CONVEX_THREADS, ConvexBodies, Kernel,
};
use crate::layout::Span;
use crate::{Buffer, Device, DeviceError};

/// Memory for the part of a solve that belongs to bodies that answer: a few numbers for each tile of contacts and body, and square
/// matrices of the bodies' unknowns.
#[derive(Debug)]
pub(super) struct Bodies {
    counts: Buffer<u32>,
    places: Buffer<u32>,
    factor: Buffer<f64>,
    body_velocity_changes: Buffer<[f64; 6]>,
    rows: Buffer<f64>,
    velocities: Buffer<f64>,
    tile_sums: Buffer<f64>,
    sums: Buffer<f64>,
    images: Buffer<f64>,
    matrix: Buffer<f64>,
    inverse: Buffer<f64>,
    /// Bodies that can answer.
    capacity: usize,
    /// Blocks that the device can hold.
    resident: u32,
}

impl Bodies {
    /// For this many bodies that answer of all `bodies`, in solves of up to `contacts` contacts.
    fn new(device: &Device, capacity: usize, bodies: usize, contacts: usize) -> Result<Self, DeviceError> {
        let unknowns = 6 * capacity;
        Ok(Self {
            counts: device.upload(&[0; 2])?,
            places: device.upload(&vec![CONVEX_NO_ANSWER; bodies])?,
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
            answers: self.body_velocity_changes.span(),
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

    pub(super) fn download_answers(&self) -> Result<Vec<[f64; 6]>, DeviceError> {
        self.body_velocity_changes.download()
    }
}

fn tile_sums(device: &Device, capacity: usize, contacts: usize) -> Result<Buffer<f64>, DeviceError> {
    device.allocate(contacts.div_ceil(CONVEX_THREADS as usize) * capacity * CONVEX_BODY_SUMS as usize)
}

impl DeviceConvexSolver {
    /// Has bodies answer in the next solves as their `mobility` says, whose attachments do not matter: `places` has for each body of the
    /// contacts its number among the mobility's bodies, if it answers. Memory grows where there is too little. True where commands are to
    /// be recorded anew; where none answers, and none did, nothing happens.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set_mobility(&mut self, mobility: &Mobility, places: &[Option<u32>]) -> Result<bool, DeviceError> {
        let strongly_coupled = mobility.bodies();
        if strongly_coupled == 0 && self.bodies.is_none() {
            return Ok(false);
        }
        let fits =
            |memory: &&Bodies| memory.capacity >= strongly_coupled && memory.places.len() == places.len();
        let contacts = self.contact_capacity as usize;
        let is_new = self.bodies.as_ref().filter(fits).is_none();
        if is_new {
            self.bodies = Some(Bodies::new(&self.device, strongly_coupled, places.len(), contacts)?);
        }
        if let Some(memory) = &mut self.bodies {
            let place = |place: &Option<u32>| place.unwrap_or(CONVEX_NO_ANSWER);
            memory.counts.upload(&[strongly_coupled as u32, mobility.rank() as u32])?;
            memory.places.upload(&places.iter().map(place).collect::<Vec<_>>())?;
            memory.factor.upload(mobility.factor())?;
        }
        Ok(is_new)
    }

    /// What the last solve changed the velocity of each body by: angular \[rad/s\], linear \[m/s\], world axes, about the point that the
    /// contacts' levers are from. Zero of bodies that do not answer; nothing where none does.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download_answers(&self) -> Result<Vec<[f64; 6]>, DeviceError> {
        self.bodies.as_ref().map_or_else(|| Ok(Vec::new()), Bodies::download_answers)
    }
}
