//! A histogram of positive numbers with a fixed relative resolution.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Width of a bin relative to its numbers \[-\].
pub const RESOLUTION: f64 = 0.01;

/// Numbers below the first bin count as this one, and those beyond the last as that one: 1 ns to
/// 12 days, if they are milliseconds.
const RANGE: (f64, f64) = (1e-6, 1e9);

/// Counts in bins whose bounds grow by [`RESOLUTION`], with the exact sum and bounds. At most 3500
/// bins are ever filled, so that its size does not grow with the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Numbers in each bin that is not empty.
    bins: BTreeMap<u32, u64>,
    count: u64,
    sum: f64,
}

fn bin(value: f64) -> u32 {
    // NaN is in the first bin.
    let value = value.max(RANGE.0).min(RANGE.1);
    ((value / RANGE.0).ln() / RESOLUTION.ln_1p()) as u32
}

impl Histogram {
    /// Counts a number.
    pub fn add(&mut self, value: f64) {
        *self.bins.entry(bin(value)).or_default() += 1;
        self.count += 1;
        self.sum += value;
    }

    /// Numbers counted \[-\].
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The number below which the fraction `part` of them lies, by the nearest rank, within half of
    /// [`RESOLUTION`]; none without numbers.
    pub fn quantile(&self, part: f64) -> Option<f64> {
        let rank = ((part * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut before = 0;
        let (bin, _) = self.bins.iter().find(|(_, count)| {
            before += **count;
            before >= rank
        })?;
        // The middle of the bin, of the same ratio to both bounds.
        Some(RANGE.0 * ((f64::from(*bin) + 0.5) * RESOLUTION.ln_1p()).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: quantiles of a million numbers over nine decades are within half the resolution of
    // those of the sorted numbers; the histogram stays small, and reads back as it was.
    #[test]
    fn quantiles_are_within_the_resolution_and_the_size_does_not_grow() {
        let mut state = 20_u64;
        let mut numbers: Vec<f64> = (0..1_000_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                10f64.powf(9.0 * (state >> 11) as f64 / (1_u64 << 53) as f64 - 4.0)
            })
            .collect();
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        numbers.iter().for_each(|number| histogram.add(*number));
        numbers.sort_by(f64::total_cmp);
        for part in [0.0, 1e-3, 0.05, 0.5, 0.95, 0.999, 1.0] {
            let at = ((part * numbers.len() as f64).ceil() as usize).max(1) - 1;
            let (found, exact) = (histogram.quantile(part).unwrap(), numbers[at]);
            assert!((found / exact - 1.0).abs() <= 0.5001 * RESOLUTION, "{part}: {found}, not {exact}");
        }
        let text = serde_json::to_string(&histogram).unwrap();
        assert!(text.len() < 40_000, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
    }

    #[test]
    fn numbers_beyond_the_range_are_counted_at_its_ends() {
        let mut histogram = Histogram::default();
        [0.0, 1e12].into_iter().for_each(|number| histogram.add(number));
        assert!(histogram.quantile(0.1).unwrap() < 1.01e-6 && histogram.quantile(1.0).unwrap() > 0.99e9);
        assert_eq!((histogram.count(), histogram.sum()), (2, 1e12));
    }
}
