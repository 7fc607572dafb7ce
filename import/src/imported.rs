//! The contents of a file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use nalgebra::Isometry3;

use crate::error::ImportWarning;
use pliant_geometry::Drawn;
use pliant_rigid::collision::CollisionGeometry;
use pliant_rigid::multibody::{LinkId, State};
use pliant_rigid::simulation::{Control, System};
use pliant_rigid::{Appearance, MechanismDesc};

/// The contents of a file.
#[derive(Debug)]
pub struct Imported {
    /// Name of the model; empty if it has none.
    pub name: String,
    /// The mechanism with its motors and constraints.
    pub system: System,
    /// Shapes that can touch each other.
    pub geometries: Vec<CollisionGeometry>,
    /// Pairs of links that do not touch, besides those that
    /// [`CollisionModel`](pliant_rigid::collision::CollisionModel) always excludes.
    pub excluded: Vec<(LinkId, LinkId)>,
    /// Numbers of the geometries that pictures leave out.
    pub hidden: BTreeSet<usize>,
    /// Shapes that are only drawn.
    pub visuals: Vec<Visual>,
    /// The initial state.
    pub state: State,
    /// Other states that the file names.
    pub keyframes: Vec<Keyframe>,
    /// The joints in the order of the file.
    pub joints: Vec<ImportedJoint>,
    /// Inputs of the motors on joints, in the order of the file. Other motors are in
    /// `system.drives`, with their controls.
    pub inputs: Vec<Input>,
    /// Time step \[s\], if the file has one.
    pub time_step: Option<f64>,
    /// Settings for another engine's solver, as written: attribute and value. Nothing here uses
    /// them.
    pub hints: Vec<(String, String)>,
    /// What was approximated or left out.
    pub warnings: Vec<ImportWarning>,
    /// Every file that was read: the file itself, included files, meshes.
    pub files: Vec<PathBuf>,
}

/// Something that is only to be seen.
#[derive(Clone, Debug)]
pub struct Visual {
    /// Name.
    pub name: String,
    /// The link it is on; `None` is the world.
    pub link: Option<LinkId>,
    /// Its frame in the link's \[m\].
    pub pose: Isometry3<f64>,
    /// A solid, or a mesh as it is.
    pub shape: Drawn,
    /// Red, green, blue.
    pub color: [u8; 3],
}

/// A joint of the file. Several joints of one body become a chain of links, all but the last
/// without mass.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedJoint {
    /// Name; derived from the body's if the file has none.
    pub name: String,
    /// The link that it moves.
    pub link: LinkId,
    /// Largest effort \[N m, N\], if the file has one.
    pub effort_limit: Option<f64>,
    /// Largest rate \[rad/s, m/s\], if the file has one. It is not enforced.
    pub velocity_limit: Option<f64>,
}

/// A state that the file names.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Name.
    pub name: String,
    /// The state.
    pub state: State,
    /// Inputs of the motors, one number for each of [`Imported::inputs`].
    pub control: Vec<f64>,
    /// Controls of the drives, one number for each of `system.drives`.
    pub drive_control: Vec<f64>,
    /// Activations of the drives that have one, in their order.
    pub activation: Vec<f64>,
}

/// Input of a motor as the file defines it: the motor's effort, target position or target rate is
/// `scale * control + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name of the motor.
    pub name: String,
    /// Index of the actuator in the system.
    pub actuator: usize,
    /// Effort \[N m, N\], position \[rad, m\] or rate \[rad/s, m/s\] for each unit of control.
    pub scale: f64,
    /// The same at control 0.
    pub offset: f64,
    /// Least and greatest control; infinite without a limit.
    pub range: [f64; 2],
}

impl From<Imported> for MechanismDesc {
    fn from(imported: Imported) -> Self {
        let Imported { system, geometries, excluded, hidden, visuals, state, .. } = imported;
        let visual = |v: Visual| (v.link, Appearance { shape: v.shape, pose: v.pose, color: v.color });
        let visuals = visuals.into_iter().map(visual).collect();
        Self { system, geometries, excluded, hidden, visuals, state }
    }
}

impl Imported {
    /// The link that the joint of this name moves.
    pub fn joint(&self, name: &str) -> Option<LinkId> {
        self.joints.iter().find(|joint| joint.name == name).map(|joint| joint.link)
    }

    /// The keyframe of this name.
    pub fn keyframe(&self, name: &str) -> Option<&Keyframe> {
        self.keyframes.iter().find(|key| key.name == name)
    }

    /// Sets the controls of the drives: one number for each of `system.drives`, in the file's units,
    /// clamped to its range. Drives without a number keep their controls.
    pub fn set_drive_control(&mut self, control: &[f64]) {
        for (drive, control) in self.system.drives.iter_mut().zip(control) {
            drive.control = *control;
            drive.control = drive.clamped_control();
        }
    }

    /// Sets the inputs of the motors: one number for each of [`inputs`](Self::inputs), in the
    /// file's units, clamped to its range. Motors without a number keep their inputs.
    pub fn set_control(&mut self, control: &[f64]) {
        for (input, control) in self.inputs.iter().zip(control) {
            let value = input.scale * control.max(input.range[0]).min(input.range[1]) + input.offset;
            match &mut self.system.actuators[input.actuator].control {
                Control::Effort { effort } => *effort = value,
                Control::Position { target, .. } | Control::Velocity { target, .. } => *target = value,
            }
        }
    }
}
