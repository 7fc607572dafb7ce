//! Numbers of many worlds in memory.

/// Worlds that lie side by side, whatever the processor: a cache line of numbers.
pub const LANES: usize = 8;

/// One number of each of [`LANES`] worlds.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [f64; LANES]);

impl Row {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0.0; LANES]);
}
