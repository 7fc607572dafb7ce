//! Mechanisms from files: MJCF (MuJoCo's XML) and URDF.
//!
//! What is understood, approximated, left out or refused is told for every element and attribute by the tables in `docs/import.md`,
//! which are printed from the tables that the code walks over every file ([`support_table`]). Nothing is dropped silently: what is left
//! out or approximated is a named [`ImportWarning`], what cannot be left out is an [`ImportError`].
//!
//! A file becomes an [`Imported`]: the [`System`] (mechanism, motors, constraints), the geometries that can touch, those that are only
//! to be seen, and the state to begin with.
//!
//! ```
//! use crate;
//!
//! let text = r#"<mujoco><worldbody><body name="bob" pos="0 0 1">
//!   <joint name="swing" axis="0 1 0" pos="0 0 0.5"/> <geom type="sphere" size="0.1" mass="2"/>
//! </body></worldbody></mujoco>"#;
//! let pendulum = import::from_mjcf(text, ".")?;
//! assert!(pendulum.warnings.is_empty());
//! assert_eq!(pendulum.system.model.velocities(), 1);
//! # Ok::<(), import::ImportError>(())
//! ```

mod element;
mod error;
mod mesh;
mod mjcf;
mod support;
mod urdf;

use std::path::Path;

use nalgebra::Isometry3;

use pliant_geometry::Shape;
use pliant_rigid::collision::CollisionGeometry;
use pliant_rigid::multibody::{LinkId, State};
use pliant_rigid::simulation::{Control, System};
use pliant_rigid::{Appearance, MechanismDesc};

pub use error::{ImportError, ImportWarning, Place, Problem};

/// What a file describes.
#[derive(Debug)]
pub struct Imported {
    /// Name of the model; empty where it has none.
    pub name: String,
    /// The mechanism with its motors and constraints.
    pub system: System,
    /// Shapes that can touch each other.
    pub geometries: Vec<CollisionGeometry>,
    /// Pairs of links that do not touch, besides those that [`Scene`](pliant_rigid::collision::Scene) leaves out by itself.
    pub excluded: Vec<(LinkId, LinkId)>,
    /// Shapes that are only to be seen.
    pub visuals: Vec<Visual>,
    /// The state to begin with.
    pub state: State,
    /// Other states that the file names.
    pub keyframes: Vec<Keyframe>,
    /// The joints in the order of the file.
    pub joints: Vec<ImportedJoint>,
    /// What the motors are told, in the order of the file.
    pub inputs: Vec<Input>,
    /// Time step (s), where the file gives one.
    pub time_step: Option<f64>,
    /// Settings for another engine's solver, as written: attribute and value. Nothing here uses them.
    pub hints: Vec<(String, String)>,
    /// What was approximated or left out.
    pub warnings: Vec<ImportWarning>,
}

/// A shape that is only to be seen.
#[derive(Clone, Debug)]
pub struct Visual {
    /// Name.
    pub name: String,
    /// The link it is on; `None` is the world.
    pub link: Option<LinkId>,
    /// Its frame in the link's (m).
    pub pose: Isometry3<f64>,
    /// The solid.
    pub shape: Shape,
    /// Red, green, blue.
    pub color: [u8; 3],
}

/// A joint of the file. Several joints of one body become a chain of links, all but the last without mass.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedJoint {
    /// Name; made from the body's where the file gives none.
    pub name: String,
    /// The link that it moves.
    pub link: LinkId,
    /// Largest effort (N m, N), where the file gives one.
    pub effort_limit: Option<f64>,
    /// Largest rate (rad/s, m/s), where the file gives one. Nothing enforces it.
    pub velocity_limit: Option<f64>,
}

/// A state that the file names.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Name.
    pub name: String,
    /// The state.
    pub state: State,
    /// What the motors are told, one number for each of [`Imported::inputs`].
    pub control: Vec<f64>,
}

/// What a motor is told, as the file understands it: the motor's effort, target position or target rate is
/// `scale * control + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Name of the motor.
    pub name: String,
    /// Which of the system's actuators.
    pub actuator: usize,
    /// Effort (N m, N), position (rad, m) or rate (rad/s, m/s) for each unit of control.
    pub scale: f64,
    /// The same at control 0.
    pub offset: f64,
    /// Least and greatest control; infinite where there is no limit.
    pub range: [f64; 2],
}

impl From<Imported> for MechanismDesc {
    fn from(imported: Imported) -> Self {
        let Imported { system, geometries, excluded, visuals, state, .. } = imported;
        let visual = |v: Visual| (v.link, Appearance { shape: v.shape, pose: v.pose, color: v.color });
        Self { system, geometries, excluded, visuals: visuals.into_iter().map(visual).collect(), state }
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

    /// Tells the motors what to do: one number for each of [`inputs`](Self::inputs), in the file's units, clamped to its range.
    /// Numbers that are missing leave their motors as they are.
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

/// Reads a mechanism from a file: MJCF where the root element is `<mujoco>`, URDF where it is `<robot>`. Meshes and included files are
/// found relative to the file.
///
/// # Errors
/// [`ImportError`] with file, line, element, attribute and value.
pub fn load(path: impl AsRef<Path>) -> Result<Imported, ImportError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| ImportError {
        place: Place { file: file.clone(), ..Place::default() },
        attribute: String::new(),
        value: String::new(),
        problem: Box::new(Problem::Unreadable(e.to_string())),
    })?;
    let root = element::parse(&text, &file)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    match root.tag.as_str() {
        "mujoco" => mjcf::read(root, directory),
        "robot" => urdf::read(&root, directory),
        _ => Err(root.fail(Problem::UnknownFormat)),
    }
}

/// Reads a mechanism from MJCF text; meshes and included files are found relative to `directory`.
///
/// # Errors
/// As [`load`].
pub fn from_mjcf(text: &str, directory: impl AsRef<Path>) -> Result<Imported, ImportError> {
    let root = element::parse(text, "<text>")?;
    if root.tag != "mujoco" {
        return Err(root.fail(Problem::UnknownFormat));
    }
    mjcf::read(root, directory.as_ref())
}

/// Reads a mechanism from URDF text; meshes are found relative to `directory`.
///
/// # Errors
/// As [`load`].
pub fn from_urdf(text: &str, directory: impl AsRef<Path>) -> Result<Imported, ImportError> {
    let root = element::parse(text, "<text>")?;
    if root.tag != "robot" {
        return Err(root.fail(Problem::UnknownFormat));
    }
    urdf::read(&root, directory.as_ref())
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// MuJoCo's XML.
    Mjcf,
    /// The Unified Robot Description Format.
    Urdf,
}

/// The table of what becomes of every element and attribute of a format, as Markdown.
pub fn support_table(format: Format) -> String {
    match format {
        Format::Mjcf => support::markdown(mjcf::TABLE),
        Format::Urdf => support::markdown(urdf::TABLE),
    }
}
