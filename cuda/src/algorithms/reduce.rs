//! Sums and maxima in an order that only the number of elements decides.

use crate::kernels::{
    MaxOfTilesParameters, MaxTilesF32Parameters, MaxTilesF64Parameters, REDUCE_THREADS, REDUCE_TILE,
    SumOfTilesParameters, SumTilesF32Parameters, SumTilesF64Parameters,
};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// Sums and maxima in f64. The order of the additions is fixed by the number of elements, so that
/// the same input gives the same bits on every device of one kind, whatever the schedule.
#[derive(Debug)]
pub struct Reduce {
    tiles: Buffer<f64>,
    result: Buffer<f64>,
}

impl Reduce {
    /// Scratch memory for up to `capacity` elements.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(device: &Device, capacity: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            tiles: device.allocate(capacity.div_ceil(REDUCE_TILE as usize).max(1))?,
            result: device.allocate(1)?,
        })
    }

    /// The result of the last reduction; one element.
    pub fn result(&self) -> &Buffer<f64> {
        &self.result
    }

    /// Appends the launches that add up f32 elements, at most the capacity; 0 of none.
    pub fn issue_sum_f32(&self, commands: &mut Commands, input: Span<f32>) {
        let (count, tile_sums) = (input.len(), self.tiles.span());
        commands.launch(over(count), &SumTilesF32Parameters { input, tile_sums, count, unused: 0 });
        self.issue_sum_of_tiles(commands, count);
    }

    /// Appends the launches that add up f64 elements, at most the capacity; 0 of none.
    pub fn issue_sum_f64(&self, commands: &mut Commands, input: Span<f64>) {
        let (count, tile_sums) = (input.len(), self.tiles.span());
        commands.launch(over(count), &SumTilesF64Parameters { input, tile_sums, count, unused: 0 });
        self.issue_sum_of_tiles(commands, count);
    }

    /// Appends the launches that find the largest of f32 elements, at most the capacity; NaN where
    /// one is NaN, minus infinity of none.
    pub fn issue_max_f32(&self, commands: &mut Commands, input: Span<f32>) {
        let (count, tile_maxima) = (input.len(), self.tiles.span());
        commands.launch(over(count), &MaxTilesF32Parameters { input, tile_maxima, count, unused: 0 });
        self.issue_max_of_tiles(commands, count);
    }

    /// Appends the launches that find the largest of f64 elements, at most the capacity; NaN where
    /// one is NaN, minus infinity of none.
    pub fn issue_max_f64(&self, commands: &mut Commands, input: Span<f64>) {
        let (count, tile_maxima) = (input.len(), self.tiles.span());
        commands.launch(over(count), &MaxTilesF64Parameters { input, tile_maxima, count, unused: 0 });
        self.issue_max_of_tiles(commands, count);
    }

    fn issue_sum_of_tiles(&self, commands: &mut Commands, count: u32) {
        let (tile_sums, total, tiles) = (self.tiles.span(), self.result.span(), count.div_ceil(REDUCE_TILE));
        commands.launch(
            Launch::new(1, REDUCE_THREADS),
            &SumOfTilesParameters { tile_sums, total, tiles, unused: 0 },
        );
    }

    fn issue_max_of_tiles(&self, commands: &mut Commands, count: u32) {
        let (tile_maxima, maximum, tiles) =
            (self.tiles.span(), self.result.span(), count.div_ceil(REDUCE_TILE));
        commands.launch(
            Launch::new(1, REDUCE_THREADS),
            &MaxOfTilesParameters { tile_maxima, maximum, tiles, unused: 0 },
        );
    }
}

fn over(count: u32) -> Launch {
    Launch::over(count, REDUCE_TILE, REDUCE_THREADS)
}
