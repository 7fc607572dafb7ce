//! Waypoints.

use super::solve::ToolGoal;

/// Target of a waypoint.
#[derive(Clone, Debug, PartialEq)]
pub enum WaypointTarget {
    /// A configuration \[rad, m\]. A joint without a coordinate keeps its value of the waypoint
    /// before.
    Configuration(Vec<Option<f64>>),
    /// A pose of the tool in the base of the chain.
    Tool(ToolGoal),
}

/// Kind of the path to a waypoint from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// Straight in joint space.
    Joint,
    /// The tool's origin moves straight and its frame rotates about one axis.
    Straight,
}

/// A target at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Waypoint {
    /// Time \[s\].
    pub time: f64,
    /// The target.
    pub place: WaypointTarget,
    /// The path to it.
    pub path_kind: PathKind,
    /// Whether it is passed without a stop, at the mean velocity from the waypoint before to the
    /// one after. Otherwise, and at the last waypoint, there is a stop.
    pub pass: bool,
}
