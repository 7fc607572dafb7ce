//! Where a path goes through.

use super::solve::ToolGoal;

/// Where a waypoint is.
#[derive(Clone, Debug, PartialEq)]
pub enum WaypointTarget {
    /// A posture \[rad, m\]. A joint without a coordinate stays where it is at the waypoint before.
    Configuration(Vec<Option<f64>>),
    /// A pose of the tool in the base of the chain.
    Tool(ToolGoal),
}

/// How the chain gets to a waypoint from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// Straight in the space of the joints.
    Joint,
    /// The tool's origin straight, its turn about one axis.
    Straight,
}

/// Where to be at which time.
#[derive(Clone, Debug, PartialEq)]
pub struct Waypoint {
    /// Time \[s\].
    pub time: f64,
    /// Where.
    pub place: WaypointTarget,
    /// How to get there.
    pub path_kind: PathKind,
    /// Whether it is passed without a stop, at the mean velocity from the waypoint before to the
    /// one after. Elsewhere, and at the last waypoint, there is a stop.
    pub pass: bool,
}
