//! A row of a sweep's table.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::record::{Manifest, Status};

/// A variant of a sweep, and a row of its table.
#[derive(Clone, Debug, Default)]
pub struct SweepRow {
    /// Name of the variant.
    pub name: String,
    /// Its changes: path and value.
    pub changes: BTreeMap<String, Value>,
    /// Status of its run; none without one.
    pub status: Option<Status>,
    /// Why it failed or is missing.
    pub error: Option<String>,
    /// Manifest of its run; none without one.
    pub manifest: Option<Manifest>,
}
