//! Frames that are found on cloth during the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A frame that is found on a cloth once during the run, where its points are then. Its z axis is
/// that of the world. Poses of tasks may be given in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sighting {
    /// Name, unique among the sightings.
    pub name: String,
    /// The cloth.
    pub cloth: String,
    /// When: before the step that this time is in, or begins [s].
    pub time: f64,
    /// The origin: the mean of these points; at least one.
    pub origin: Vec<ClothPoint>,
    /// The x axis: horizontally to the mean of these points. Without points the axes are those of
    /// the world.
    #[serde(default)]
    pub toward: Vec<ClothPoint>,
    /// Where the x axis comes from: the mean of these points; without points the origin.
    #[serde(default)]
    pub from: Vec<ClothPoint>,
    /// Height of the origin in the world; null for that of the points [m].
    #[serde(default)]
    pub height: Option<f64>,
}

/// A point of a cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClothPoint {
    /// A key point of its shape by name. A rectangle has `lower-left`, `lower-right`, `upper-right`,
    /// `upper-left` and `center`, a disc `center`. A T-shirt has `hem-`, `side-` (where the side
    /// ends below the sleeve), `cuff-lower-`, `cuff-upper-`, `neck-`, each with `left` or `right`
    /// (+x), `hem-middle` and `neck-back`. Trousers have `hem-inner-`, `hem-outer-` and `waist-`, each
    /// with `left` or `right`, `waist-middle` and `crotch`, the point between the legs.
    KeyPoint {
        /// The name.
        name: String,
    },
    /// A vertex by its number.
    Vertex {
        /// The number, from 0 [-].
        vertex: u32,
    },
    /// The vertex that is nearest to a point of the sheet at rest, which must be within half of the
    /// longest edge there.
    Nearest {
        /// The point, in the cloth's own frame [m].
        point: [f64; 3],
    },
    /// The vertex that is then the farthest in a direction.
    Farthest {
        /// The direction, world frame; its length does not matter [-].
        direction: [f64; 3],
    },
}
