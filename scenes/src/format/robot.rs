//! Robots: mechanisms that a model file describes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Pose;
use super::signal::Signal;

/// A mechanism from a model file. Its links, joints and motors are known to the rest of the scene as `robot/link`, `robot/joint` and
/// `robot/motor`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Robot {
    /// Name, without '/'; unique among robots and bodies.
    pub name: String,
    /// MJCF or URDF file; a relative path is relative to the scene file. Give this or `model`.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// One of the models that come with Pliant. Give this or `file`.
    #[serde(default)]
    pub model: Option<RobotModel>,
    /// What the robot is mounted on: a fixed or prescribed body, or the link `robot/link` of a robot listed before this one; null for
    /// the world.
    #[serde(default)]
    pub parent: Option<String>,
    /// The frame of the file's world in that of the parent.
    #[serde(default)]
    pub pose: Pose,
    /// Keyframe of the file to begin with; null for its own state.
    #[serde(default)]
    pub keyframe: Option<String>,
    /// Coordinates of joints at the start, by the joints' names; they go before the keyframe's [rad, m].
    #[serde(default)]
    pub positions: BTreeMap<String, f64>,
    /// What the file's motors are told, by the motors' names, in the file's units; they go before the keyframe's [the file's unit].
    #[serde(default)]
    pub controls: BTreeMap<String, Signal>,
    /// Whether to run although the file holds what is approximated or left out. Each such thing is told either way.
    #[serde(default)]
    pub ignore_warnings: bool,
}

/// The models that come with Pliant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RobotModel {
    /// A seven-axis arm like the KUKA LBR iiwa 7.
    Iiwa7,
    /// A seven-axis arm like the Franka Emika Panda.
    Panda,
    /// A hand with two parallel fingers.
    ParallelGripper,
    /// A hand with two parallel fingers that opens from 2 to 160 mm.
    WideGripper,
    /// The same with broad pads, for pinching cloth softly.
    ClothGripper,
    /// A hand with four fingers like the Allegro Hand.
    AllegroHand,
    /// A human figure.
    Humanoid,
    /// A walking robot with four legs.
    Quadruped,
}
