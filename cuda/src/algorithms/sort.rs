//! Sorting by some bits of a key.

use std::ops::Range;

use super::Scan;
use crate::kernels::{
    SORT_BITS, SORT_DIGITS, SORT_THREADS, SORT_TILE, SortCountDigitsParameters, SortDigit,
    SortScatterParameters,
};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// Stable radix sort of u32 keys with u32 values, by a range of the key's bits, [`SORT_BITS`] a
/// pass from the lowest on.
#[derive(Debug)]
pub struct Sort {
    counts: Buffer<u32>,
    scan: Scan,
    keys: Buffer<u32>,
    values: Buffer<u32>,
}

impl Sort {
    /// Scratch memory for up to `capacity` keys.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(device: &Device, capacity: usize) -> Result<Self, DeviceError> {
        let counts = Self::counts(capacity);
        Ok(Self {
            counts: device.allocate(counts)?,
            scan: Scan::new(device, counts)?,
            keys: device.allocate(capacity)?,
            values: device.allocate(capacity)?,
        })
    }

    /// Digits that the tiles of so many keys count.
    fn counts(capacity: usize) -> usize {
        capacity.div_ceil(SORT_TILE as usize).max(1) * SORT_DIGITS as usize
    }

    /// What [`Sort::new`] allocates, in bytes.
    pub fn bytes_needed(capacity: usize) -> u64 {
        let counts = Self::counts(capacity);
        4 * (counts as u64 + 2 * capacity as u64) + Scan::bytes_needed(counts)
    }

    /// Appends the launches that sort `keys` and `values` in place by the given bits of the keys;
    /// keys that agree in them stay in order. Both spans have the same length, at most the
    /// capacity.
    pub fn issue(&self, commands: &mut Commands, keys: Span<u32>, values: Span<u32>, bits: Range<u32>) {
        let count = keys.len();
        let tiles = count.div_ceil(SORT_TILE).max(1);
        let over = Launch::over(count, SORT_TILE, SORT_THREADS);
        let counts = self.counts.span().first(tiles * SORT_DIGITS);
        let scratch = (self.keys.span().first(count), self.values.span().first(count));
        let (mut from, mut to) = ((keys, values), scratch);
        let end = bits.end.min(u32::BITS);
        let mut passes = 0;
        for shift in (bits.start..end).step_by(SORT_BITS as usize) {
            let digit = SortDigit { shift, mask: (1 << SORT_BITS.min(end - shift)) - 1 };
            commands.launch(over, &SortCountDigitsParameters { keys: from.0, counts, count, tiles, digit });
            self.scan.issue(commands, counts, counts);
            commands.launch(
                over,
                &SortScatterParameters {
                    keys: from.0,
                    values: from.1,
                    sorted_keys: to.0,
                    sorted_values: to.1,
                    offsets: counts,
                    count,
                    tiles,
                    digit,
                },
            );
            (from, to) = (to, from);
            passes += 1;
        }
        if passes % 2 == 1 {
            commands.copy(scratch.0, keys).copy(scratch.1, values);
        }
    }
}
