//! What can go wrong with a part of a scene.

use pliant_import::ImportError;
use pliant_planning::inverse_kinematics::PlanError;
use pliant_rigid::{GeometryError, RigidError};

use crate::format;
use crate::initial_checks::ResolutionError;
use crate::sample::SampleError;
use pliant_io::mesh::MeshError;

/// A part of a scene that cannot be made, with the path of its field.
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
    /// A name that the scene does not define; validation tells it first.
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
    /// A robot's model file holds what is approximated or left out, and the scene does not say that
    /// this is all right.
    #[error("{path}: {}; set ignore_warnings to run it nevertheless", warnings.join("; "))]
    Warnings {
        /// Path of the robot.
        path: String,
        /// What is approximated or left out.
        warnings: Vec<String>,
    },
    /// A figure does not fit what a robot's file says.
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
        /// Name of the waypoint; empty where it has none.
        name: String,
        /// What is wrong.
        source: Box<PlanError>,
    },
    /// A cloth cannot be made.
    #[error("{path}: {source}")]
    Cloth {
        /// Path of the cloth.
        path: String,
        /// What is wrong.
        source: Box<format::ClothError>,
    },
    /// A body without volume cannot have its mass from a density.
    #[error("{path}: the geometries have no volume to take mass and inertia from")]
    NoVolume {
        /// Path of the field.
        path: String,
    },
}

/// A name after a path, where there is one.
fn label(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" ('{name}')") }
}
