//! Copies of a scene's free bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Copies of all free bodies on a square lattice along x and y. All else exists once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// Number of copies, including the original [-]. The bodies of copy k from 1 on are called
    /// `NAME.k`.
    pub count: u32,
    /// Distance between neighbours [m].
    pub pitch: f64,
    /// Standard deviation of each component of a random velocity that is added to every body's own,
    /// drawn from the scene's seed [m/s].
    #[serde(default)]
    pub velocity_deviation: f64,
}
