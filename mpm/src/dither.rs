//! Sums of many small strains in f32 that are right on average.
//!
//! Deformation gradients are f32. What is strained by a few units in the last place (ulp) in a substep is
//! off by the same part of a ulp in each, if sums are rounded to nearest, and what is strained by less than
//! half of one is not strained at all. So a part d of a ulp, -1/2 < d < 1/2, is added before a sum is rounded
//! ("dithering", Roberts 1962; "stochastic rounding", Croci et al. 2022). d is a Weyl sequence over the
//! substeps k, frac(k phi + phase) - 1/2 with the golden ratio phi, whose discrepancy is the least
//! (Niederreiter 1978): the sum of n equal steps, however small, is then right to some ulps, about log n.
//! The lanes of a tile have phases l / 16, so that a uniform strain is not off by the same in all particles
//! at once. Where nothing is strained nothing changes.

use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F32x16, LANES, Lanes, Simd};

/// Fractional part of the golden ratio, times 2^64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Entries of a deformation gradient.
const ENTRIES: usize = 9;

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
    parts: [Part; ENTRIES],
}

impl Dither {
    /// Sums are rounded to nearest.
    pub(crate) const NONE: Self =
        Self { parts: [Part { of_power: F32x16::ZERO, toward: F32x16([1.0; LANES]) }; ENTRIES] };

    /// That of substep `number`, counted from the start of the simulation.
    pub(crate) fn of_substep(number: u64) -> Self {
        let phase = |k: usize, of: usize| (u64::MAX / of as u64).wrapping_mul(k as u64);
        let part = |entry: usize| {
            let mut part = Part { of_power: F32x16::ZERO, toward: F32x16([1.0; LANES]) };
            let entry = number.wrapping_mul(GOLDEN).wrapping_add(phase(entry, ENTRIES));
            for l in 0..LANES {
                let turn = entry.wrapping_add(phase(l, LANES));
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

    /// Of entry `i`, `j` of deformation gradients.
    #[inline(always)]
    pub(crate) fn of_gradient(&self, i: usize, j: usize) -> &Part {
        &self.parts[3 * i + j]
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
