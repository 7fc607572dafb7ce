//! A problem of a scene.

use std::fmt;

/// A problem of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the field, such as `soft[0].material.density`.
    pub path: String,
    /// The value, its unit and what it must be.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
