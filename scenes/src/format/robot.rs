//! Robots: mechanisms from model files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pliant_import::{Decompose, LoadOptions, Repair};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::PoseKeyframe;
use super::common::Pose;
use super::signal::Signal;

/// A mechanism from a model file. The rest of the scene refers to its links, joints and motors as
/// `robot/link`, `robot/joint` and `robot/motor`.
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
    /// What the robot is mounted on: a fixed or prescribed body, or the link `robot/link` of a
    /// robot listed before this one; null for the world.
    #[serde(default)]
    pub parent: Option<String>,
    /// The frame of the file's world in that of the parent.
    #[serde(default)]
    pub pose: Pose,
    /// Initial keyframe of the file; null for its default state.
    #[serde(default)]
    pub keyframe: Option<String>,
    /// Initial coordinates of joints by name; they override those of the keyframe [rad, m].
    #[serde(default)]
    pub positions: BTreeMap<String, f64>,
    /// Inputs of the file's motors by name, in the file's units; they override those of the
    /// keyframe [the file's unit].
    #[serde(default)]
    pub controls: BTreeMap<String, Signal>,
    /// Paths of the file's mocap bodies by name. Those without a path rest where the file has them.
    #[serde(default)]
    pub mocap: BTreeMap<String, MocapPath>,
    /// Whether the root of a URDF moves freely (true) or is fixed to the parent (false); null: as
    /// the SRDF beside the file says, and fixed without one. MJCF says it by itself.
    #[serde(default)]
    pub floating: Option<bool>,
    /// Repairs of the file that change its physics; the error of a file that needs one names it.
    #[serde(default)]
    pub repair: Vec<Repair>,
    /// Decomposes collision meshes that are not convex into convex hulls; null: each touches as its
    /// one convex hull.
    #[serde(default)]
    pub decompose: Option<Decompose>,
    /// Whether to run although parts of the file that can change the motion are approximated or
    /// left out. Each of them gives a warning in any case.
    #[serde(default)]
    pub ignore_warnings: bool,
}

/// Path of a mocap body, in the frame of the file's world: linear in position and constant in
/// angular velocity between keyframes, at rest before the first and after the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MocapPath {
    /// The keyframes, in order of time; at least one.
    pub keyframes: Vec<PoseKeyframe>,
}

impl Robot {
    /// How its file is read, with the folder that keeps the hulls of decomposed meshes.
    pub(crate) fn load_options(&self, cache: Option<&Path>) -> LoadOptions {
        LoadOptions {
            floating: self.floating,
            repairs: self.repair.iter().copied().collect(),
            decompose: self.decompose,
            cache: cache.map(Path::to_path_buf),
        }
    }
}

/// The models that come with Pliant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RobotModel {
    /// A seven-axis arm like the KUKA LBR iiwa 7.
    Iiwa7,
    /// A seven-axis arm like the Franka Emika Panda.
    Panda,
    /// A gripper with two parallel fingers.
    ParallelGripper,
    /// A gripper with two parallel fingers, opening 2 to 160 mm.
    WideGripper,
    /// The same with broad pads, for cloth.
    ClothGripper,
    /// A gripper with two thin blades, for edges of cloth on a table, opening 2 to 80 mm.
    BladeGripper,
    /// A gantry over a table, with a wrist that turns and tilts.
    Gantry,
    /// The same with its column 0.15 m beside the bridge, in +y: two of them, one turned by half a turn,
    /// reach the same y.
    OffsetGantry,
    /// A hand with four fingers like the Allegro Hand.
    AllegroHand,
    /// A human figure.
    Humanoid,
    /// A walking robot with four legs.
    Quadruped,
}
