//! What an instruction set offers, and what is compiled for it.

/// The bits of an f32's exponent.
pub(super) const EXPONENT_BITS: i32 = 0x7f80_0000;

/// Lanes in a vector, and particles in a tile.
pub const LANES: usize = 16;

/// Sixteen floats in memory, aligned to a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct F32x16(pub [f32; LANES]);

impl F32x16 {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0.0; LANES]);
}

/// One number of each of eight worlds in memory: a cache line, whatever the processor.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct F64x8(pub [f64; F64x8::LANES]);

impl F64x8 {
    /// Numbers in a row.
    pub const LANES: usize = 8;
    /// Zero in every lane.
    pub const ZERO: Self = Self([0.0; Self::LANES]);
}

/// One instruction set's vector of doubles, of the width of its registers. Nothing is fused.
///
/// Implementations are thin: every method is one or two instructions and `#[inline(always)]`, so
/// that it melts into the kernel compiled for that instruction set.
pub trait SimdDoubles: Copy + core::fmt::Debug + 'static {
    /// As many f64 as a register holds.
    type D: bytemuck::Pod;
    /// As many truth values.
    type DMask: Copy;
    /// Lanes in a vector; a divisor of [`F64x8::LANES`].
    const DOUBLES: usize = size_of::<Self::D>() / size_of::<f64>();

    /// `x` in every lane.
    fn splat_f64(x: f64) -> Self::D;
    /// `a + b`.
    fn add_f64(a: Self::D, b: Self::D) -> Self::D;
    /// `a - b`.
    fn sub_f64(a: Self::D, b: Self::D) -> Self::D;
    /// `a * b`.
    fn mul_f64(a: Self::D, b: Self::D) -> Self::D;
    /// `a / b`.
    fn div_f64(a: Self::D, b: Self::D) -> Self::D;
    /// `a` with the other sign.
    fn neg_f64(a: Self::D) -> Self::D;
    /// Square root.
    fn sqrt_f64(a: Self::D) -> Self::D;
    /// Magnitude.
    fn abs_f64(a: Self::D) -> Self::D;
    /// The lesser of two numbers; `b` where they are equal or either is NaN.
    fn min_f64(a: Self::D, b: Self::D) -> Self::D;
    /// The greater of two numbers; `b` where they are equal or either is NaN.
    fn max_f64(a: Self::D, b: Self::D) -> Self::D;
    /// `a < b`; false where either is NaN.
    fn lt_f64(a: Self::D, b: Self::D) -> Self::DMask;
    /// `a <= b`; false where either is NaN.
    fn le_f64(a: Self::D, b: Self::D) -> Self::DMask;
    /// `if_true` where the mask holds, else `if_false`.
    fn select_f64(m: Self::DMask, if_true: Self::D, if_false: Self::D) -> Self::D;
    /// Conjunction.
    fn and_f64(a: Self::DMask, b: Self::DMask) -> Self::DMask;
    /// Disjunction.
    fn or_f64(a: Self::DMask, b: Self::DMask) -> Self::DMask;
    /// Negation.
    fn not_f64(a: Self::DMask) -> Self::DMask;
    /// Bit l is lane l.
    fn bits_f64(a: Self::DMask) -> u8;
}

/// One instruction set's sixteen-lane f32 vector, and its vector of doubles. Thin as
/// [`SimdDoubles`].
pub trait Simd: SimdDoubles {
    /// Sixteen f32.
    type V: Copy;
    /// Sixteen truth values.
    type M: Copy;

    /// `x` in every lane.
    fn splat(x: f32) -> Self::V;
    /// Reads a row.
    fn load(row: &[f32; LANES]) -> Self::V;
    /// Writes a row.
    fn store(row: &mut [f32; LANES], v: Self::V);
    /// Asks for a cache line that is needed soon.
    fn prefetch(row: &[f32; LANES]);
    /// `a + b`.
    fn add(a: Self::V, b: Self::V) -> Self::V;
    /// `a - b`.
    fn sub(a: Self::V, b: Self::V) -> Self::V;
    /// `a * b`.
    fn mul(a: Self::V, b: Self::V) -> Self::V;
    /// `a / b`.
    fn div(a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, fused where the instruction set fuses.
    fn mul_add(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Square root.
    fn sqrt(a: Self::V) -> Self::V;
    /// Magnitude.
    fn abs(a: Self::V) -> Self::V;
    /// The lesser of two numbers.
    fn min(a: Self::V, b: Self::V) -> Self::V;
    /// The greater of two numbers.
    fn max(a: Self::V, b: Self::V) -> Self::V;
    /// Largest integer that is not greater.
    fn floor(a: Self::V) -> Self::V;
    /// Largest power of two that is not above the magnitude; 0 for 0 and subnormal numbers.
    fn power_of_two(a: Self::V) -> Self::V;
    /// Splits a positive normal x into (m, e) with x = m 2^e, m in [0.5, 1), e integral.
    fn split_exponent(a: Self::V) -> (Self::V, Self::V);
    /// m 2^e for integral e in [-126, 127].
    fn scale_exponent(m: Self::V, e: Self::V) -> Self::V;

    /// `a < b`; false where either is NaN.
    fn lt(a: Self::V, b: Self::V) -> Self::M;
    /// `a <= b`; false where either is NaN.
    fn le(a: Self::V, b: Self::V) -> Self::M;
    /// `if_true` where the mask holds, else `if_false`.
    fn select(m: Self::M, if_true: Self::V, if_false: Self::V) -> Self::V;
    /// Conjunction.
    fn mask_and(a: Self::M, b: Self::M) -> Self::M;
    /// Disjunction.
    fn mask_or(a: Self::M, b: Self::M) -> Self::M;
    /// Negation.
    fn mask_not(a: Self::M) -> Self::M;
    /// Bit l is lane l.
    fn mask_bits(a: Self::M) -> u16;
    /// Lane l is bit l.
    fn mask_from_bits(bits: u16) -> Self::M;

    /// The same four floats in each quarter: (q, q, q, q).
    fn broadcast_quad(quad: &[f32; 4]) -> Self::V;
    /// Entry I of each quarter in all four places of the quarter.
    fn broadcast_entry<const I: usize>(a: Self::V) -> Self::V;
    /// Spreads entries 9, 10, 11, 12 of a row over the four quarters: (r9 x4, r10 x4, r11 x4, r12
    /// x4).
    fn spread_z_weights(row: &[f32; LANES]) -> Self::V;
    /// Sums the first three quarters of each argument: result quarter n is the sum of a_n's
    /// quarters 0, 1, 2.
    fn sum_quads(a: [Self::V; 4]) -> Self::V;
    /// Loads sixteen floats from the start of `s` (which holds at least sixteen).
    fn load_slice(s: &[f32]) -> Self::V;
    /// Stores sixteen floats to the start of `s` (which holds at least sixteen).
    fn store_slice(s: &mut [f32], v: Self::V);
    /// Rows become columns: entry c of result r is entry r of argument c.
    fn transpose(rows: [Self::V; LANES]) -> [Self::V; LANES];
}

/// A computation that is compiled once for each instruction set.
pub trait Kernel {
    /// What it returns.
    type Output;
    /// Must be `#[inline(always)]` in implementations, with everything it calls.
    fn run<S: Simd>(self) -> Self::Output;
}
