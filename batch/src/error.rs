//! What a batch refuses.

use thiserror::Error;

/// A system that worlds cannot be made of, or a figure out of range.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BatchError {
    /// Something that batches do not do.
    #[error("a batch does not support {what} ({item}); {instead}")]
    Unsupported {
        /// What.
        what: String,
        /// Which one.
        item: String,
        /// What can be done instead.
        instead: &'static str,
    },
    /// A figure out of range.
    #[error("{item}: {field} is {value} {unit}, but must be {requirement}")]
    Value {
        /// What it belongs to.
        item: String,
        /// Which figure.
        field: &'static str,
        /// The figure.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A system or its settings are refused by themselves.
    #[error(transparent)]
    System(#[from] pliant_rigid::simulation::SimulationError),
}

impl BatchError {
    pub(super) fn value(
        item: impl Into<String>,
        field: &'static str,
        value: f64,
        unit: &'static str,
        requirement: &'static str,
    ) -> Self {
        Self::Value { item: item.into(), field, value, unit, requirement }
    }
}
