//! What robots are to do: tools led through waypoints, hands that open and close.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Pose;
use super::drive::TargetPositions;

/// A robot that leads a tool through waypoints, from where its joints start at time 0. What its joints have to do for that is found before
/// the run; a waypoint that cannot be reached is an error. The joints between the world and the tool are driven, each of them one of
/// the robot's, by motors of their own, within the largest efforts that the robot's file gives; its other joints, and the motors of its
/// file on them, are left alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The robot.
    pub robot: String,
    /// What is led.
    pub tool: Tool,
    /// How the joints are driven.
    #[serde(default)]
    pub control: TaskControl,
    /// Fastest that a joint may have to move; null for what the robot's file says, or 10 where it says nothing [rad/s, m/s].
    #[serde(default)]
    pub rate_limit: Option<f64>,
    /// Where to be, in order of time; at least one. After the last the robot stays.
    pub waypoints: Vec<Waypoint>,
    /// Hands that open and close meanwhile.
    #[serde(default)]
    pub grippers: Vec<Gripper>,
}

/// A frame on a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The link: one of the robot's by its own name, or `robot/link`, for instance of a hand that is mounted on it.
    pub link: String,
    /// The tool's frame in that of the link.
    #[serde(default)]
    pub pose: Pose,
}

/// How the joints of a task are driven.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TaskControl {
    /// A motor on each joint holds its coordinate: proportional and derivative control, implicit in time, that also carries the weight of
    /// what hangs on the joint.
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

/// Where to be at a time. Give `joints` or `pose`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// A name for messages.
    #[serde(default)]
    pub name: Option<String>,
    /// Time since the start; positive [s].
    pub time: f64,
    /// Coordinates of the joints between the world and the tool, in that order, or of some of them by name; one that is not named stays
    /// where it is at the waypoint before [rad, m].
    #[serde(default)]
    pub joints: Option<TargetPositions>,
    /// Where the tool's frame is to be.
    #[serde(default)]
    pub pose: Option<ToolPose>,
    /// How to get there from the waypoint before.
    #[serde(default)]
    pub path: WaypointPath,
    /// Whether to stop there.
    #[serde(default)]
    pub timing: Timing,
}

/// Where a tool's frame is to be. Without orientation and axis its turn is free.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPose {
    /// Its origin, world frame [m].
    pub position: [f64; 3],
    /// Its turn as a unit quaternion (w, x, y, z), world frame [-].
    #[serde(default)]
    pub orientation: Option<[f64; 4]>,
    /// Instead of the orientation: where its z axis points, world frame; its length does not matter, and the turn about it is free [-].
    #[serde(default)]
    pub axis: Option<[f64; 3]>,
}

/// How a robot gets from waypoint to waypoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaypointPath {
    /// Straight in the space of the joints.
    #[default]
    Joint,
    /// The tool straight through the world, turning about one axis.
    Straight,
}

/// Whether a robot stops at a waypoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// It does. Between stops it moves with the least jerk.
    #[default]
    Stop,
    /// It goes through at the mean velocity between the waypoints before and after, which rounds the ways off next to corners. Both ways
    /// must be of one kind. At the last waypoint there is a stop in any case.
    Pass,
}

/// A hand with two fingers that slide against each other, each with a position motor, and what it is told. Until the first command its motors
/// are told what the robot's file or keyframe says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gripper {
    /// The hand.
    pub robot: String,
    /// What it is told, in order of time; at least one.
    pub commands: Vec<GripperCommand>,
}

/// What a hand is told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GripperCommand {
    /// When it begins [s].
    pub time: f64,
    /// Distance between the fingers to go to, the sum of their coordinates. Less than the size of what is between them presses on it,
    /// more lets it go [m].
    pub opening: f64,
    /// How long that takes; it must end before the next command begins [s].
    #[serde(default = "duration")]
    pub duration: f64,
    /// Largest force of each finger's motor from then on; null for the motor's own, which it may not exceed [N].
    #[serde(default)]
    pub effort: Option<f64>,
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

    // The law: what is left out has the documented value, and what is written is read again.
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
