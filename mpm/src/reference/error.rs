//! Errors of the reference.

use nalgebra::Vector3;

use crate::material::MaterialError;

/// Why the reference cannot be built or stepped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReferenceError {
    /// A material parameter is out of range.
    #[error("material {index}: {source}")]
    Material {
        /// Index of the material.
        index: usize,
        /// The parameter.
        source: MaterialError,
    },
    /// A particle refers to a material that does not exist.
    #[error("particle {particle}: material is {material}, but there are {count} materials")]
    NoSuchMaterial {
        /// Index of the particle.
        particle: usize,
        /// The index given.
        material: usize,
        /// Number of materials.
        count: usize,
    },
    /// The grid spacing is not a positive length.
    #[error("grid_spacing is {0} m, but must be positive and finite")]
    GridSpacing(f64),
    /// A position is not a number, or the particles are too far apart for the reference's dense
    /// grid.
    #[error("particle {particle}: position is ({}, {}, {}) m, outside any grid", .position.x, .position.y, .position.z)]
    OutsideGrid {
        /// Index of the particle; those of each cloth (vertices, then centroids) follow the others.
        particle: usize,
        /// Its position \[m\].
        position: Vector3<f64>,
    },
}
