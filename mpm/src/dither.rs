//! Sums of many small steps in f32 that are right on average.
//!
//! Positions and deformation gradients are f32. What moves by a few units in the last place (ulp) in a
//! substep is off by the same part of a ulp in each, if it is rounded to nearest, and what moves by less
//! than half of one does not move at all. So a part d of a ulp, -1/2 < d < 1/2, is added before a sum is
//! rounded ("dithering", Roberts 1962; "stochastic rounding", Croci et al. 2022). d is a Weyl sequence over
//! the substeps k, frac(k phi + phase) - 1/2 with the golden ratio phi, whose discrepancy is the least
//! (Niederreiter 1978): the sum of n equal steps, however small, is then right to some ulps, about log n.
//! The lanes of a tile have phases l / 16, so that a uniform strain is not off by the same in all particles at once.
//! Where nothing moves nothing changes.

use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F32x16, LANES, Lanes, Simd};

/// Fractional part of the golden ratio, times 2^64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Numbers of a particle that are dithered: its position, and its deformation gradient.
const ROWS: usize = 12;

/// The dither of one sum, by lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// d, times 2^-23: a part of the power of two that is not above a number.
    of_power: F32x16,
    /// A number times this is one within whose power of two d falls: a power of two has finer neighbours below.
    toward: F32x16,
}

/// The dither of a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dither {
    parts: [Part; ROWS],
}

impl Dither {
    /// That of substep `number`, counted from the start of the simulation.
    pub(crate) fn of_substep(number: u64) -> Self {
        let part = |row: usize| {
            let mut part = Part { of_power: F32x16::ZERO, toward: F32x16([1.0; LANES]) };
            for l in 0..LANES {
                let phase = (u64::MAX / ROWS as u64).wrapping_mul(row as u64);
                let phase = phase.wrapping_add((u64::MAX / LANES as u64).wrapping_mul(l as u64));
                let turn = number.wrapping_mul(GOLDEN).wrapping_add(phase);
                // Exact, and between the halves: at half a ulp there is a tie, which goes to the even number.
                let d = ((turn >> 41) as f32 + 0.5) * f32::EPSILON - 0.5;
                part.of_power.0[l] = d * f32::EPSILON;
                if d < 0.0 {
                    part.toward.0[l] = 1.0 - 0.5 * f32::EPSILON;
                }
            }
            part
        };
        Self { parts: core::array::from_fn(part) }
    }

    /// Of coordinate `d` of positions.
    pub(crate) fn of_position(&self, d: usize) -> &Part {
        &self.parts[d]
    }

    /// Of entry `i`, `j` of deformation gradients.
    pub(crate) fn of_gradient(&self, i: usize, j: usize) -> &Part {
        &self.parts[3 + 3 * i + j]
    }
}

impl Part {
    /// x + a b.
    #[inline(always)]
    pub(crate) fn add<S: Simd>(&self, x: Lanes<S>, a: Lanes<S>, b: Lanes<S>) -> Lanes<S> {
        let power = (x * Lanes::load(&self.toward)).power_of_two();
        x + a.mul_add(b, power * Lanes::load(&self.of_power))
    }
}
