//! Errors of a batch.

use thiserror::Error;

/// A system that a batch does not support, or a value out of range.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BatchError {
    /// Something that batches do not support.
    #[error("a batch does not support {what} ({item}); {instead}")]
    Unsupported {
        /// What.
        what: String,
        /// Which one.
        item: String,
        /// What can be done instead.
        instead: &'static str,
    },
    /// A value out of range.
    #[error("{item}: {field} is {value} {unit}, but must be {requirement}")]
    Value {
        /// What it belongs to.
        item: String,
        /// Name of the value.
        field: &'static str,
        /// The value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// The watch of the steps asked to stop.
    #[error("stopped on request after {done} of {all} steps of blocks of worlds")]
    Stopped {
        /// Steps done, summed over the blocks of worlds.
        done: u64,
        /// Steps asked for, likewise.
        all: u64,
    },
    /// The system or its settings are invalid.
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
