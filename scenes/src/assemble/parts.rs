//! The rigid parts of a scene, and the inputs of their motors in time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use nalgebra::Vector3;
use pliant_import::WarningKind;
use pliant_rigid::multibody::LinkId;
use pliant_rigid::{BodiesBuilder, RobotHandle};

use super::error::AssembleError;
use super::inputs::TimedInputs;
use super::pending::PendingTask;

/// Bodies, robots and what drives them.
#[derive(Debug)]
pub struct RigidParts {
    /// The bodies; those of the robots come after the others, but before those attached to robots.
    /// A body's own origin is its centre of mass, a link's that of its joint.
    pub builder: BodiesBuilder,
    /// Centre of mass of each body in the frame that the scene gives the body \[m\]; zero for
    /// links.
    pub centers: Vec<Vector3<f64>>,
    /// Inputs of the motors over time.
    pub inputs: TimedInputs,
    /// Tasks that are planned during the run.
    pub tasks: Vec<PendingTask>,
    /// Names of joints by which the scene refers to them, by their links.
    pub joint_names: BTreeMap<LinkId, String>,
    /// The robots by name, in the scene's order.
    pub robots: Vec<RobotHandle>,
    /// Parts of robots' files that are approximated or left out, one line each, the gravest first.
    pub warnings: Vec<(WarningKind, String)>,
    /// How well decomposed meshes fit, and which files of the cache were made anew, one line each.
    pub notes: Vec<String>,
    /// Files that were read for the robots: models, what they include, meshes.
    pub files: Vec<PathBuf>,
}

/// Joints by their names in the scene.
pub(super) struct Joints {
    pub links: BTreeMap<String, LinkId>,
    /// The robots' joints in the order of their files: own name, link, largest effort \[N m, N\];
    /// and their motors.
    pub robots: BTreeMap<String, RobotJoints>,
}

pub(super) struct RobotJoints {
    pub joints: Vec<(String, LinkId, f64)>,
    /// Rate limit of each \[rad/s, m/s\], if the file has one.
    pub rates: Vec<Option<f64>>,
    pub actuators: Range<usize>,
}

impl Joints {
    /// The link that a joint moves.
    pub fn link(&self, name: &str, path: &str) -> Result<LinkId, AssembleError> {
        let undefined = || AssembleError::Undefined { path: path.to_owned(), name: name.to_owned() };
        self.links.get(name).copied().ok_or_else(undefined)
    }
}
