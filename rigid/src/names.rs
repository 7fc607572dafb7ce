//! Names of a mechanism's joints, inputs and states, as its file gives them.

use nalgebra::Isometry3;

use crate::multibody::{LinkId, State};
use crate::sensor::Sensor;
use crate::simulation::Control;

/// A joint of a file. Several joints of one body become a chain of links, all but the last
/// without mass.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedJoint {
    /// Name; derived from the body's if the file has none.
    pub name: String,
    /// The link that it moves, of the file's own model.
    pub link: LinkId,
    /// Largest effort \[N m, N\], if the file has one.
    pub effort_limit: Option<f64>,
    /// Largest rate \[rad/s, m/s\], if the file has one. It is not enforced.
    pub velocity_limit: Option<f64>,
}

/// A state that a file names.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Name.
    pub name: String,
    /// The state.
    pub state: State,
    /// Controls of the motors, one number for each [`Input`].
    pub control: Vec<f64>,
    /// Controls of the drives, one number for each of `system.drives`.
    pub drive_control: Vec<f64>,
    /// Activations of the drives that have one, in their order.
    pub activation: Vec<f64>,
    /// Poses of the mocap bodies in the file's world, in their order.
    pub mocaps: Vec<Isometry3<f64>>,
}

/// Input of a motor as a file defines it: the motor's effort, target position or target rate is
/// `scale * control + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name of the motor.
    pub name: String,
    /// Index of the actuator in the file's own system.
    pub actuator: usize,
    /// Effort \[N m, N\], position \[rad, m\] or rate \[rad/s, m/s\] for each unit of control.
    pub scale: f64,
    /// The same at control 0.
    pub offset: f64,
    /// Least and greatest control; infinite without a limit.
    pub range: [f64; 2],
}

impl Input {
    /// Sets a motor's effort or target for a `control` in the file's units, clamped to its range.
    pub fn apply(&self, control: f64, motor: &mut Control) {
        let value = self.scale * control.max(self.range[0]).min(self.range[1]) + self.offset;
        match motor {
            Control::Effort { effort } => *effort = value,
            Control::Position { target, .. } | Control::Velocity { target, .. } => *target = value,
        }
    }
}

/// A named place on a link, with axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Name.
    pub name: String,
    /// The link it is on; `None` is the world.
    pub link: Option<LinkId>,
    /// Its frame in the link's, in the world's without a link \[m\].
    pub pose: Isometry3<f64>,
}

/// A body that the user moves: its link is on a prescribed joint, whose frame is the file's world.
#[derive(Clone, Debug, PartialEq)]
pub struct Mocap {
    /// Name.
    pub name: String,
    /// Its link, of the file's own model.
    pub link: LinkId,
}

/// The names that a mechanism keeps when it is added to bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MechanismNames {
    /// The joints in the order of the file.
    pub joints: Vec<ImportedJoint>,
    /// Inputs of the motors on joints, in the order of the file.
    pub inputs: Vec<Input>,
    /// States that the file names.
    pub keyframes: Vec<Keyframe>,
    /// Named places, each with its link of the file's own model.
    pub sites: Vec<Site>,
    /// Bodies that follow a path of the user, each with its link.
    pub mocaps: Vec<Mocap>,
    /// Sensors, in the order of the file, on what the file's own system has.
    pub sensors: Vec<Sensor>,
}
