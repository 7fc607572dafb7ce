//! Errors of a part of a scene.

use pliant_import::ImportError;
use pliant_planning::inverse_kinematics::PlanError;
use pliant_rigid::{GeometryError, RigidError};

use crate::format;
use crate::format::limits::MOST_PARTICLES;
use crate::initial_checks::ResolutionError;
use pliant_coupling::sample::SampleError;
use pliant_io::mesh::MeshError;
use pliant_io::text::printable;

/// A part of a scene that cannot be built, with the path of its field.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// A mesh file cannot be read.
    #[error("{path}: {source}")]
    Mesh {
        /// Path of the field.
        path: String,
        /// What is wrong.
        source: MeshError,
    },
    /// A shape cannot be filled with particles.
    #[error("{path}: {source}")]
    Sample {
        /// Path of the field.
        path: String,
        /// What is wrong.
        source: SampleError,
    },
    /// A mesh that would hold more particles than a scene or the machine can have.
    #[error(
        "{path}: {particles:.3e} particles in a lattice of {cells:.3e} points would fill the mesh and take \
         {megabytes:.0} MB; at most {MOST_PARTICLES} points and {most} are allowed: use a larger spacing"
    )]
    TooLarge {
        /// Path of the field.
        path: String,
        /// Points of the lattice.
        cells: f64,
        /// Particles among them.
        particles: f64,
        /// Their memory \[MB\].
        megabytes: f64,
        /// The memory that is allowed.
        most: String,
    },
    /// A name in a model file holds a control character.
    #[error("{path}: {what} '{}' must not hold control characters", printable(name))]
    ControlCharacter {
        /// Path of the robot.
        path: String,
        /// What is named.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The grid or the particles are too coarse for a body.
    #[error("{path}: {source}")]
    Resolution {
        /// Path and name of the body.
        path: String,
        /// What is too coarse.
        source: ResolutionError,
    },
    /// A rigid shape cannot be used: an open or inside-out mesh, a flat hull.
    #[error("{path}: {source}")]
    Geometry {
        /// Path of the field.
        path: String,
        /// What is wrong.
        source: GeometryError,
    },
    /// A name that the scene does not define; validation reports it first.
    #[error("{path}: '{name}' is not defined")]
    Undefined {
        /// Path of the field.
        path: String,
        /// The name.
        name: String,
    },
    /// A body cannot be used.
    #[error("{path}: {source}")]
    BodySpec {
        /// Path of the body.
        path: String,
        /// What is wrong.
        source: Box<RigidError>,
    },
    /// A robot's model file cannot be read.
    #[error("{path}: {source}")]
    Import {
        /// Path of the robot.
        path: String,
        /// What is wrong.
        source: Box<ImportError>,
    },
    /// Parts of a robot's model file are approximated or left out, and the scene does not set
    /// `ignore_warnings`.
    #[error("{path}: {}; set ignore_warnings to run it all the same", warnings.join("; "))]
    Warnings {
        /// Path of the robot.
        path: String,
        /// What is approximated or left out.
        warnings: Vec<String>,
    },
    /// A value does not fit the robot's file.
    #[error("{path}: {reason}")]
    Robot {
        /// Path of the field.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A robot cannot do its task.
    #[error("{path}{}: {source}", label(name))]
    Task {
        /// Path of the waypoint.
        path: String,
        /// Name of the waypoint; empty if it has none.
        name: String,
        /// What is wrong.
        source: Box<PlanError>,
    },
    /// A cloth does not have a point of a sighting.
    #[error("{path}: {reason}")]
    Sighting {
        /// Path of the point.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A cloth cannot be built.
    #[error("{path}: {source}")]
    Cloth {
        /// Path of the cloth.
        path: String,
        /// What is wrong.
        source: Box<format::ClothError>,
    },
    /// A rope cannot be built.
    #[error("{path}: {source}")]
    Rope {
        /// Path of the rope.
        path: String,
        /// What is wrong.
        source: Box<format::RopeError>,
    },
    /// A body without volume cannot have its mass from a density.
    #[error("{path}: the geometries have no volume to take mass and inertia from")]
    NoVolume {
        /// Path of the field.
        path: String,
    },
}

/// A name after a path, if there is one.
fn label(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" ('{name}')") }
}
