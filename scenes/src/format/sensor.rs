//! Sensors on bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Pose;

/// A sensor on a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sensor {
    /// A rectangle on a body's surface that records contact with particles.
    TactilePad(TactilePad),
}

impl Sensor {
    /// Its name.
    pub fn name(&self) -> &str {
        let Self::TactilePad(pad) = self;
        &pad.name
    }
}

/// A tactile pad: a rectangle on a body's surface that records contact with particles. It writes
/// rows of `sensors.csv`, the table `tactile/NAME.csv` of its bins and pictures of the pressure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TactilePad {
    /// Name, for files; unique among the sensors. Letters, digits, '-', '_' and '.'.
    pub name: String,
    /// The body that carries it, or a link `robot/link`.
    pub body: String,
    /// The pad's frame in the body's: origin in the middle of the rectangle, x and y along its
    /// edges, z along the outward normal.
    #[serde(default)]
    pub pose: Pose,
    /// Half of its edges along x and y [m].
    pub half_extents: [f64; 2],
    /// Bins along x and y [-]; bins smaller than the particle spacing show single particles.
    pub bins: [u32; 2],
    /// Largest distance of a contact point above or below the rectangle [m]; default: the grid
    /// spacing.
    #[serde(default)]
    pub reach: Option<f64>,
}
