//! Inverse kinematics: configurations that put a tool at a given pose, and paths through a list of
//! waypoints.
//!
//! - [`Chain`]: the joints from a base to a tool.
//! - [`ToolGoal`]: a point, and an orientation, an axis or neither.
//! - [`Chain::solve`]: a configuration for a goal; [`Chain::follow`]: the configuration for a goal
//!   near the last one.
//! - [`plan`]: joint coordinates in time through [`Waypoint`]s, straight in joint space or for the
//!   tool.
//! - [`Arc`]: waypoints on half an ellipse.

mod arc;
mod chain;
mod error;
mod plan;
mod quintic;
mod solve;
mod straight;
mod waypoint;

pub use arc::Arc;
pub use chain::Chain;
pub use error::{InverseKinematicsError, Unreachable};
pub use plan::{JointPath, PlanError, PlanSettings, plan};
pub use solve::{ConfigurationSolution, Orientation, SolveSettings, ToolGoal};
pub use waypoint::{PathKind, Waypoint, WaypointTarget};
