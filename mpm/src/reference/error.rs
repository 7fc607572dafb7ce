//! What can be wrong with a model of the reference.

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
    /// A particle names a material that is not there.
    #[error("particle {particle}: material is {material}, but there are {count} materials")]
    NoSuchMaterial {
        /// Index of the particle.
        particle: usize,
        /// The index it names.
        material: usize,
        /// How many materials there are.
        count: usize,
    },
    /// The grid spacing is not a positive length.
    #[error("grid_spacing is {0} m, but must be positive and finite")]
    GridSpacing(f64),
    /// A position is not a number, or the particles are too far apart for the reference's dense
    /// grid.
    #[error("particle {particle}: position is ({}, {}, {}) m, outside any grid", .position.x, .position.y, .position.z)]
    OutsideGrid {
        /// Index of the particle; those of each cloth (vertices, then centroids) count on from the
        /// others.
        particle: usize,
        /// Its position \[m\].
        position: Vector3<f64>,
    },
}
