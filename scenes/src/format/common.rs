//! Small values that several parts of a scene share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pose of a frame: position and orientation, relative to the frame that the field names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pose {
    /// Origin of the frame [m].
    pub position: [f64; 3],
    /// Turn of the frame as a unit quaternion (w, x, y, z) [-].
    pub orientation: [f64; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self { position: [0.0; 3], orientation: [1.0, 0.0, 0.0, 0.0] }
    }
}
