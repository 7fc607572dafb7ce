//! Exclusive prefix sums.

use crate::kernels::{
    SCAN_THREADS, SCAN_TILE, ScanAddOffsetsParameters, ScanTileSumsParameters, ScanTilesParameters,
};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// Exclusive prefix sums of u32, modulo 2^32, in two levels (Blelloch 1990): tiles, the tiles' sums
/// by one block, and those added back.
#[derive(Debug)]
pub struct Scan {
    tile_sums: Buffer<u32>,
    total: Buffer<u32>,
}

impl Scan {
    /// Scratch memory for up to `capacity` elements.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(device: &Device, capacity: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            tile_sums: device.allocate(capacity.div_ceil(SCAN_TILE as usize).max(1))?,
            total: device.allocate(1)?,
        })
    }

    /// What [`Scan::new`] allocates, in bytes.
    pub fn bytes_needed(capacity: usize) -> u64 {
        4 * (capacity.div_ceil(SCAN_TILE as usize).max(1) as u64 + 1)
    }

    /// Appends the launches that write the sum of all elements before each one of `input` to
    /// `output`, which may be the same. Both have the same length, at most the capacity.
    pub fn issue(&self, commands: &mut Commands, input: Span<u32>, output: Span<u32>) {
        let count = input.len();
        let tiles = count.div_ceil(SCAN_TILE);
        let tile_sums = self.tile_sums.span();
        let over = Launch::over(count, SCAN_TILE, SCAN_THREADS);
        commands
            .launch(over, &ScanTilesParameters { input, output, tile_sums, count, unused: 0 })
            .launch(
                Launch::new(1, SCAN_THREADS),
                &ScanTileSumsParameters { tile_sums, total: self.total.span(), tiles, unused: 0 },
            )
            .launch(over, &ScanAddOffsetsParameters { output, tile_offsets: tile_sums, count, unused: 0 });
    }

    /// The sum of all elements of the last scan; one element.
    pub fn total(&self) -> &Buffer<u32> {
        &self.total
    }
}
