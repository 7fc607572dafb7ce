//! A small seeded generator, so that a scene's random numbers depend on its seed and on nothing
//! else.

/// Advances the state of a SplitMix64 generator and returns its next 64 uniform bits.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014):
/// 64 bits of state, period 2^64, passes BigCrush. The same numbers on every platform; not for
/// cryptography.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator whose numbers depend on `seed` alone.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        split_mix(&mut self.state)
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        // 53 bits fill the significand of an f64 without rounding.
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [`low`, `high`) (both ends finite, `low` <= `high`).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The first outputs for seed 1234567 of the reference implementation (Vigna, splitmix64.c,
    // 2015).
    #[test]
    fn matches_the_reference_sequence() {
        let mut generator = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        for value in expected {
            assert_eq!(generator.next_u64(), value);
        }
    }

    // Uniform on [-1, 3): mean 1, variance 16/12; the mean of n draws has standard deviation
    // sqrt(16/12/n), 5 of which are exceeded with probability 6e-7.
    #[test]
    fn uniform_has_its_mean_and_range() {
        let mut generator = SplitMix64::new(7);
        let n = 100_000;
        let mut sum = 0.0;
        for _ in 0..n {
            let x = generator.uniform_in(-1.0, 3.0);
            assert!((-1.0..3.0).contains(&x));
            sum += x;
        }
        let deviation = (16.0 / 12.0 / f64::from(n)).sqrt();
        assert!((sum / f64::from(n) - 1.0).abs() < 5.0 * deviation);
    }
}
