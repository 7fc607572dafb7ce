//! Numbers of many worlds in memory.

/// Worlds that lie side by side, whatever the processor: a cache line of numbers.
pub const LANES: usize = 8;

/// One number of each of [`LANES`] worlds.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct F64x8(pub [f64; LANES]);

impl F64x8 {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0.0; LANES]);
}
