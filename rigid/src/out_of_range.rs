//! Figures outside of their range, as the checks of several types find them.

/// A figure outside of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// Path of the field from the type that was checked.
    pub field: &'static str,
    /// The value, in `unit`.
    pub value: f64,
    /// Its unit; empty for a number without one.
    pub unit: &'static str,
    /// What it must be.
    pub requirement: &'static str,
}

impl OutOfRange {
    /// None where the figure holds.
    pub fn unless(
        holds: bool,
        field: &'static str,
        value: f64,
        unit: &'static str,
        requirement: &'static str,
    ) -> Option<Self> {
        (!holds).then_some(Self { field, value, unit, requirement })
    }

    /// None where the value is positive and finite.
    pub fn unless_positive(field: &'static str, value: f64, unit: &'static str) -> Option<Self> {
        Self::unless(value.is_finite() && value > 0.0, field, value, unit, "positive and finite")
    }

    /// None where the value is finite and not negative.
    pub fn unless_not_negative(field: &'static str, value: f64, unit: &'static str) -> Option<Self> {
        Self::unless(value.is_finite() && value >= 0.0, field, value, unit, "finite and not negative")
    }
}
