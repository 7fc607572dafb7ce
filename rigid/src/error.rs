//! Errors of bodies.

use crate::collision::CollisionError;
use crate::multibody::ModelError;
use crate::simulation::SimulationError;
use pliant_geometry::GeometryError;
use thiserror::Error;

/// Bad input, or a state that is not finite.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RigidError {
    /// A number that is out of its range.
    #[error("body '{body}': {field} is {value} {unit}; it must be {requirement}")]
    Value {
        /// Name of the body.
        body: String,
        /// Name of the field.
        field: &'static str,
        /// The value given.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A vector, pose or velocity with a component that is NaN or infinite, or a rotation that is
    /// not one.
    #[error("body '{body}': {field} is not {requirement}")]
    Invalid {
        /// Name of the body.
        body: String,
        /// Name of the field.
        field: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// An inertia that is not physical.
    #[error("body '{body}': inertia {inertia:?} kg m^2 (columns): {reason}")]
    Inertia {
        /// Name of the body.
        body: String,
        /// Why.
        reason: &'static str,
        /// The inertia \[kg m^2\], by columns.
        inertia: [[f64; 3]; 3],
    },
    /// A shape that cannot be used.
    #[error("body '{body}', geometry {geometry}: {source}")]
    Geometry {
        /// Name of the body.
        body: String,
        /// Number of the geometry.
        geometry: usize,
        /// What is wrong with it.
        source: GeometryError,
    },
    /// Two bodies with one name.
    #[error("body '{name}': the name is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A parent that does not exist yet or follows a path, or a parent of a free body.
    #[error("body '{body}': parent {parent} {reason}")]
    Parent {
        /// Name of the body.
        body: String,
        /// Number of the parent.
        parent: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A trajectory that is empty, not sorted, or ambiguous.
    #[error("body '{body}': trajectory key {key} at {time} s: {reason}")]
    Trajectory {
        /// Name of the body.
        body: String,
        /// Number of the key.
        key: usize,
        /// Its time \[s\].
        time: f64,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A step that is not the one the velocities were prepared for.
    #[error("a step of {step} s was asked for, but {}", match .prepared_step {
        Some(prepared) => format!("{prepared} s were prepared"),
        None => "none was prepared".to_owned(),
    })]
    StepNotPrepared {
        /// The step \[s\].
        step: f64,
        /// The step that was prepared \[s\]; `None` if none was.
        prepared_step: Option<f64>,
    },
    /// A list that must have one entry for each body.
    #[error("{what}: {found} given for {expected} bodies")]
    Count {
        /// What is counted.
        what: &'static str,
        /// Number given.
        found: usize,
        /// Number of bodies.
        expected: usize,
    },
    /// A setting that is out of its range.
    #[error("rigid settings: {field} is {value} {unit}; it must be finite and positive")]
    Setting {
        /// Name of the setting.
        field: &'static str,
        /// The value given.
        value: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// Files with more groups of shapes than there are bits.
    #[error("the geometries need {needed} collision groups; there are 32")]
    Groups {
        /// Groups that all files together need.
        needed: u32,
    },
    /// Links and joints that are not a mechanism.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Shapes that cannot touch.
    #[error(transparent)]
    Collision(#[from] CollisionError),
    /// A simulation that cannot start or continue.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl RigidError {
    pub(crate) fn value(
        body: &str,
        field: &'static str,
        value: f64,
        unit: &'static str,
        requirement: &'static str,
    ) -> Self {
        RigidError::Value { body: body.to_owned(), field, value, unit, requirement }
    }
}
