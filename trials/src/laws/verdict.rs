//! Verdicts on laws.

use serde::Serialize;

/// A law that a run broke.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the law.
    pub law: String,
    /// The measured value, relative to its scale \[-\].
    pub measured: f64,
    /// Its bound \[-\].
    pub bound: f64,
    /// Description with units.
    pub what: String,
}

/// A law's verdict.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Held,
    Skipped(&'static str),
    Broken(Finding),
}

/// A law that is broken without a measured value: a scene runs, but its transformed version does
/// not.
pub(super) fn broken(law: &str, reason: String) -> Verdict {
    Verdict::Broken(Finding { law: law.to_owned(), measured: f64::INFINITY, bound: 0.0, what: reason })
}

/// Broken if `measured`, relative to its scale, is above `bound` or NaN.
pub(super) fn at_most(law: &str, measured: f64, bound: f64, what: impl FnOnce() -> String) -> Verdict {
    // NaN is above every bound.
    if measured <= bound {
        return Verdict::Held;
    }
    Verdict::Broken(Finding { law: law.to_owned(), measured, bound, what: what() })
}

/// The greater of two, or NaN if either is.
pub(super) trait MaxOrNan {
    fn max_or_nan(self, other: f64) -> f64;
}

impl MaxOrNan for f64 {
    fn max_or_nan(self, other: f64) -> f64 {
        if self.is_nan() || other.is_nan() { f64::NAN } else { self.max(other) }
    }
}
