//! Goals: conditions by which a run is judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Pose;

/// A condition on one measured quantity of a soft body, a rigid body, cloth or a rope that must hold at
/// every step of a time span. It does not change the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Name, unique among the goals.
    pub name: String,
    /// The soft body that is measured. Give one of this, `cloth`, `rope` and `body`, but none for
    /// crossings, which count all cloth.
    #[serde(default)]
    pub soft: Option<String>,
    /// The cloth that is measured: vertices and centroids take the place of particles.
    #[serde(default)]
    pub cloth: Option<String>,
    /// The rope that is measured: vertices take the place of particles.
    #[serde(default)]
    pub rope: Option<String>,
    /// The body or link `robot/link` that is measured.
    #[serde(default)]
    pub body: Option<String>,
    /// The measured quantity.
    pub quantity: Quantity,
    /// The body or link `robot/link` in whose frame it is measured; null for the world.
    #[serde(default)]
    pub relative_to: Option<String>,
    /// First time at which it has to hold [s].
    #[serde(default)]
    pub from: f64,
    /// Last time at which it has to hold; null for the end of the run [s]. A span shorter than a
    /// step means the nearest step.
    #[serde(default)]
    pub until: Option<f64>,
    /// Least value; null for none [the quantity's unit].
    #[serde(default)]
    pub min: Option<f64>,
    /// Greatest value; null for none [the quantity's unit].
    #[serde(default)]
    pub max: Option<f64>,
}

/// Quantity of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Quantity {
    /// A coordinate of the centre of mass of a soft body, or of the origin of a rigid one [m].
    Center {
        /// Which coordinate.
        axis: CoordinateAxis,
    },
    /// The least coordinate of a soft body's particles [m].
    Lowest {
        /// Which coordinate.
        axis: CoordinateAxis,
    },
    /// The greatest coordinate of a soft body's particles [m].
    Highest {
        /// Which coordinate.
        axis: CoordinateAxis,
    },
    /// The largest gap between neighbouring particles of a soft body along one coordinate [m]: a
    /// measure of tearing.
    Gap {
        /// Which coordinate.
        axis: CoordinateAxis,
    },
    /// The mass of a soft body's particles whose centres are in a box [kg].
    MassInBox {
        /// Half of each edge [m].
        half_extents: [f64; 3],
        /// The box's frame in that of `relative_to`.
        #[serde(default)]
        pose: Pose,
    },
    /// The length of a rope along its line [m].
    Length,
    /// The distance between the ends of a rope [m].
    EndToEnd,
    /// The area of the floor that a cloth covers, seen from above; layers count once [m^2]. Each
    /// step of the time span costs some milliseconds.
    CoveredArea,
    /// How many more crossings all cloth together has than at the start [crossings]: pairs of an
    /// edge, or a segment of a rope, and a face that it passes through. With `max` 0, nothing passes
    /// through cloth.
    /// Each step of the time span costs milliseconds: give `from`.
    NewCrossings,
}

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CoordinateAxis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl CoordinateAxis {
    /// Its number, from 0.
    pub fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

impl Quantity {
    /// Its unit.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::MassInBox { .. } => "kg",
            Self::NewCrossings => "crossings",
            Self::CoveredArea => "m^2",
            _ => "m",
        }
    }
}
