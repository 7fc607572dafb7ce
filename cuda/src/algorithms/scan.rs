//! Exclusive prefix sums.

use crate::kernels::{SCAN_PROGRESS, SCAN_THREADS, SCAN_TILE, ScanParameters};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// Exclusive prefix sums of u32, modulo 2^32, in one pass over tiles that look back (Merrill and
/// Garland 2016).
#[derive(Debug)]
pub struct Scan {
    states: Buffer<u64>,
    progress: Buffer<u32>,
    total: Buffer<u32>,
}

impl Scan {
    /// Scratch memory for up to `capacity` elements.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn new(device: &Device, capacity: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            // No run has begun, and no tile has published anything.
            states: device.upload(&vec![0; tiles(capacity)])?,
            progress: device.upload(&[0; SCAN_PROGRESS as usize])?,
            // A step reads the sum before the first run, and finds nothing.
            total: device.upload(&[0])?,
        })
    }

    /// What [`Scan::new`] allocates, in bytes.
    pub fn bytes_needed(capacity: usize) -> u64 {
        8 * tiles(capacity) as u64 + 4 * (u64::from(SCAN_PROGRESS) + 1)
    }

    /// Appends the launch that writes the sum of all elements before each one of `input` to
    /// `output`, which may be the same. Both have the same length, at most the capacity.
    pub fn issue(&self, commands: &mut Commands, input: Span<u32>, output: Span<u32>) {
        let count = input.len();
        commands.launch(
            Launch::new(tiles(count as usize) as u32, SCAN_THREADS),
            &ScanParameters {
                input,
                output,
                states: self.states.span(),
                progress: self.progress.span(),
                total: self.total.span(),
                count,
                unused: 0,
            },
        );
    }

    /// The sum of all elements of the last scan; one element.
    pub fn total(&self) -> &Buffer<u32> {
        &self.total
    }
}

/// Tiles of so many elements; one of none, which writes the total.
fn tiles(count: usize) -> usize {
    count.div_ceil(SCAN_TILE as usize).max(1)
}
