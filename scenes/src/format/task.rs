//! Tasks of robots: tools that move through waypoints, grippers that open and close.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Pose;
use super::drive::TargetPositions;

/// A robot that moves a tool through waypoints, from its initial joint positions at time 0. The
/// joint trajectory is computed by inverse kinematics: before the run up to the first waypoint in
/// the frame of a sighting, from there on from stop to stop. A waypoint out of reach is an error.
/// The joints between the world and the tool are driven, each of them one of the robot's, by motors
/// of their own, within the largest efforts that the robot's file gives; its other joints, and the
/// motors of its file on them, are left alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The robot.
    pub robot: String,
    /// The tool.
    pub tool: Tool,
    /// How the joints are driven.
    #[serde(default)]
    pub control: TaskControl,
    /// Largest joint rate; null for the limit of the robot's file, or 10 if it has none
    /// [rad/s, m/s].
    #[serde(default)]
    pub rate_limit: Option<f64>,
    /// Waypoints in order of time; at least one. The robot stays at the last.
    pub waypoints: Vec<Waypoint>,
    /// Grippers that open and close meanwhile.
    #[serde(default)]
    pub grippers: Vec<Gripper>,
}

/// A frame on a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The link: one of the robot's by its own name, or `robot/link`, for instance of a hand that
    /// is mounted on it.
    pub link: String,
    /// The tool's frame in that of the link.
    #[serde(default)]
    pub pose: Pose,
}

/// How the joints of a task are driven.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TaskControl {
    /// A motor on each joint: proportional and derivative control, implicit in time, with gravity
    /// compensation.
    Position {
        /// Stiffness K_p [N m/rad, N/m].
        #[serde(default = "stiffness")]
        stiffness: f64,
        /// Damping K_d; null for 2 sqrt(K_p) [N m s/rad, N s/m].
        #[serde(default)]
        damping: Option<f64>,
    },
    /// Computed torque: every joint has the acceleration that the path has there, and `K_p (target - q) + K_d (target rate - v)`. Steps of the
    /// integrator end at samples of the path, which are at most the scene's `dt` or 10 ms apart.
    InverseDynamics {
        /// K_p [1/s^2].
        stiffness: f64,
        /// K_d; null for 2 sqrt(K_p) [1/s].
        #[serde(default)]
        damping: Option<f64>,
    },
}

impl TaskControl {
    /// K_p and K_d.
    pub fn gains(&self) -> [f64; 2] {
        let (Self::Position { stiffness, damping } | Self::InverseDynamics { stiffness, damping }) = *self;
        [stiffness, damping.unwrap_or(2.0 * stiffness.sqrt())]
    }
}

impl Default for TaskControl {
    fn default() -> Self {
        Self::Position { stiffness: stiffness(), damping: None }
    }
}

/// A target at a time. Give `joints` or `pose`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// A name for messages.
    #[serde(default)]
    pub name: Option<String>,
    /// Time since the start; positive [s].
    pub time: f64,
    /// Coordinates of the joints between the world and the tool, in that order, or of some of them
    /// by name; others keep their values of the waypoint before [rad, m].
    #[serde(default)]
    pub joints: Option<TargetPositions>,
    /// Target of the tool's frame.
    #[serde(default)]
    pub pose: Option<ToolPose>,
    /// The path from the waypoint before.
    #[serde(default)]
    pub path: WaypointPath,
    /// Whether to stop there.
    #[serde(default)]
    pub timing: Timing,
    /// Of an arc: its height over half of the distance; 1 is half a circle [-].
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rise: f64,
}

/// Target of a tool's frame. Without orientation and axis its orientation is free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPose {
    /// Name of the sighting in whose frame the pose is; null for the world frame. The path to the
    /// waypoint is planned when the robot leaves the stop before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Its origin [m].
    pub position: [f64; 3],
    /// Its orientation as a unit quaternion (w, x, y, z) [-].
    #[serde(default)]
    pub orientation: Option<[f64; 4]>,
    /// Instead of the orientation: direction of its z axis; its length does not matter, and the
    /// rotation about it is free [-].
    #[serde(default)]
    pub axis: Option<[f64; 3]>,
}

/// Path between two waypoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaypointPath {
    /// Straight in joint space.
    #[default]
    Joint,
    /// The tool moves on a straight line in the world and rotates about one axis.
    Straight,
    /// The tool moves on half an ellipse that stands upright on the line to the waypoint, from stop
    /// to stop, and rotates about one axis.
    Arc,
}

/// Whether a robot stops at a waypoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// It stops. Between stops it moves with minimum jerk.
    #[default]
    Stop,
    /// The tool passes at the mean velocity of the neighbouring waypoints, which rounds the corner.
    /// Both paths must be of the same kind. The last waypoint is always a stop.
    Pass,
}

/// A gripper with two opposed prismatic fingers, each with a position motor, and its commands.
/// Until the first command the motors keep the inputs of the robot's file or keyframe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gripper {
    /// The gripper.
    pub robot: String,
    /// Commands in order of time; at least one.
    pub commands: Vec<GripperCommand>,
}

/// A command to a gripper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GripperCommand {
    /// Start time [s].
    pub time: f64,
    /// Target distance between the fingers, the sum of their coordinates. A value below the size of
    /// the object grasps it, a larger one releases it [m].
    pub opening: f64,
    /// Duration of the motion; it must end before the next command [s].
    #[serde(default = "duration")]
    pub duration: f64,
    /// Effort limit of each finger's motor from then on; null for the motor's own limit, which it
    /// may not exceed [N].
    #[serde(default)]
    pub effort: Option<f64>,
}

fn one() -> f64 {
    1.0
}

fn is_one(rise: &f64) -> bool {
    *rise == 1.0
}

fn stiffness() -> f64 {
    1e6
}

fn duration() -> f64 {
    0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: omitted fields have the documented values, and a written scene is read again.
    #[test]
    fn tasks_have_defaults() {
        let json = r#"{ "robot": "arm", "tool": { "link": "flange" }, "waypoints": [
            { "time": 1, "pose": { "position": [0.4, 0, 0.3], "axis": [0, 0, -1] } },
            { "time": 2, "joints": { "axis1": 0.5 }, "timing": "pass" } ],
            "grippers": [{ "robot": "hand", "commands": [{ "time": 1, "opening": 0.01 }] }] }"#;
        let task: Task = serde_json::from_str(json).unwrap();
        assert_eq!(task.control.gains(), [1e6, 2e3]);
        assert_eq!((task.waypoints[0].path, task.waypoints[0].timing), (WaypointPath::Joint, Timing::Stop));
        assert_eq!((task.grippers[0].commands[0].duration, task.grippers[0].commands[0].effort), (0.5, None));
        let again: Task = serde_json::from_str(&serde_json::to_string(&task).unwrap()).unwrap();
        assert_eq!(again, task);
        let control: TaskControl =
            serde_json::from_str(r#"{ "type": "inverse-dynamics", "stiffness": 400 }"#).unwrap();
        assert_eq!(control.gains(), [400.0, 40.0]);
    }
}
