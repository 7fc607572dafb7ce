//! Where a path goes through.

use super::solve::Goal;

/// Where a waypoint is.
#[derive(Clone, Debug, PartialEq)]
pub enum WaypointPlace {
    /// A posture (rad, m). A joint without a coordinate stays where it is at the waypoint before.
    Posture(Vec<Option<f64>>),
    /// A pose of the tool in the base of the chain.
    Tool(Goal),
}

/// How the chain gets to a waypoint from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Straight in the space of the joints.
    Joint,
    /// The tool's origin straight, its turn about one axis.
    Straight,
}

/// Where to be at which time.
#[derive(Clone, Debug, PartialEq)]
pub struct Waypoint {
    /// Time (s).
    pub time: f64,
    /// Where.
    pub place: WaypointPlace,
    /// How to get there.
    pub way: Way,
    /// Whether it is passed without a stop, at the mean velocity from the waypoint before to the
    /// one after. Elsewhere, and at the last waypoint, there is a stop.
    pub pass: bool,
}
