//! Errors of the material point method.

use nalgebra::Vector3;

/// Errors of [`crate::Mpm`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MpmError {
    /// The grid spacing is not a positive number.
    #[error("grid_spacing: {value} m must be positive and finite")]
    GridSpacing {
        /// The value given \[m\].
        value: f64,
    },
    /// A material parameter is out of range.
    #[error("materials[{index}]: {source}")]
    Material {
        /// Index of the material.
        index: usize,
        /// The parameter.
        source: crate::material::MaterialError,
    },
    /// A sheet of cloth is refused.
    #[error("sheets[{index}]: {source}")]
    Cloth {
        /// Index of the sheet.
        index: usize,
        /// What is wrong with it.
        source: crate::cloth::ClothError,
    },
    /// A rope is refused.
    #[error("ropes[{index}]: {source}")]
    Rope {
        /// Index of the rope.
        index: usize,
        /// What is wrong with it.
        source: crate::rope::RopeError,
    },
    /// A quantity of a boundary is out of range.
    #[error("boundaries[{index}].{field}: {value} {unit} {requirement}")]
    Boundary {
        /// Index in the order of the list.
        index: usize,
        /// Name of the quantity.
        field: &'static str,
        /// The value given.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// More particles than a 32-bit index counts.
    #[error("particles: {count} are more than {limit}")]
    TooManyParticles {
        /// Particles given.
        count: usize,
        /// Largest number.
        limit: usize,
    },
    /// A particle's quantity is out of range.
    #[error("particles[{index}].{field}: {value} {unit} {requirement}")]
    InvalidParticle {
        /// Index in the order of the list.
        index: usize,
        /// Name of the quantity.
        field: &'static str,
        /// The value given.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A particle's material index is out of range.
    #[error("particles[{index}].material: {material} is not one of the {count} materials")]
    UnknownMaterial {
        /// Index in the order of the list.
        index: usize,
        /// Material index given.
        material: usize,
        /// Number of materials.
        count: usize,
    },
    /// A particle's position stopped being a number, or it crossed two cells in one substep.
    #[error(
        "particle {id} was lost at ({:.4}, {:.4}, {:.4}) m with velocity ({:.4}, {:.4}, {:.4}) m/s",
        position.x, position.y, position.z, velocity.x, velocity.y, velocity.z
    )]
    LostParticle {
        /// The order in which it was added.
        id: u32,
        /// Its last position \[m\].
        position: Vector3<f64>,
        /// Its velocity \[m/s\].
        velocity: Vector3<f64>,
    },
    /// A saved state does not fit this model.
    #[error("checkpoint: {reason}")]
    Checkpoint {
        /// What does not fit.
        reason: String,
    },
}
