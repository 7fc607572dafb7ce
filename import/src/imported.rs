//! The contents of a file.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::Isometry3;

use crate::error::ImportWarning;
use pliant_geometry::Drawn;
use pliant_rigid::collision::{CollisionGeometry, PairMaterial};
use pliant_rigid::multibody::{LinkId, State};
use pliant_rigid::simulation::System;
use pliant_rigid::{Appearance, MechanismDesc, MechanismNames, PoseTrajectory, Sensor, Site};

pub use pliant_rigid::{ImportedJoint, Input, Keyframe, Mocap};

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
    /// Pairs of `geometries` with a contact of their own: the `<pair>` of MJCF.
    pub pairs: Vec<PairMaterial>,
    /// Numbers of the geometries that pictures leave out.
    pub hidden: BTreeSet<usize>,
    /// Shapes that are only drawn.
    pub visuals: Vec<Visual>,
    /// Named places on links: the sites of MJCF that have a name.
    pub sites: Vec<Site>,
    /// Bodies that follow a path of the user, each with its link; they rest where the file puts
    /// them.
    pub mocaps: Vec<Mocap>,
    /// Sensors of MJCF, on parts of this mechanism.
    pub sensors: Vec<Sensor>,
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
    /// What a user may want to know: how well the parts of decomposed meshes fit, and which files of
    /// the cache were made anew.
    pub notes: Vec<String>,
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

impl From<Imported> for MechanismDesc {
    fn from(imported: Imported) -> Self {
        let Imported {
            system,
            geometries,
            excluded,
            pairs,
            hidden,
            visuals,
            sites,
            mocaps,
            sensors,
            state,
            keyframes,
            joints,
            inputs,
            ..
        } = imported;
        let visual = |v: Visual| (v.link, Appearance { shape: v.shape, pose: v.pose, color: v.color });
        let visuals = visuals.into_iter().map(visual).collect();
        let names = MechanismNames { joints, inputs, keyframes, sites, mocaps, sensors };
        Self { system, geometries, excluded, pairs, hidden, visuals, state, names }
    }
}

impl Imported {
    /// The link that the joint of this name moves.
    pub fn joint(&self, name: &str) -> Option<LinkId> {
        self.joints.iter().find(|joint| joint.name == name).map(|joint| joint.link)
    }

    /// The site of this name.
    pub fn site(&self, name: &str) -> Option<&Site> {
        self.sites.iter().find(|site| site.name == name)
    }

    /// The keyframe of this name.
    pub fn keyframe(&self, name: &str) -> Option<&Keyframe> {
        self.keyframes.iter().find(|key| key.name == name)
    }

    /// Puts the mocap bodies where a keyframe has them: poses in the file's world, in their order.
    pub fn place_mocaps(&mut self, poses: &[Isometry3<f64>]) {
        for (mocap, pose) in self.mocaps.iter().zip(poses) {
            self.system.model.set_path(mocap.link, Arc::new(PoseTrajectory::at_rest(pose)));
        }
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
            input.apply(*control, &mut self.system.actuators[input.actuator].control);
        }
    }
}
