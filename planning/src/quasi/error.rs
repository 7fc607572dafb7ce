//! Errors of quasi-dynamics.

use pliant_rigid::multibody::ModelError;

/// A model that quasi-dynamics does not support, or numbers that do not fit it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuasiError {
    /// A value is out of range.
    #[error("quasi-dynamics, {field}: {value} {unit} must be {requirement}")]
    Value {
        /// Name of the value.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A list does not have the length that the model needs.
    #[error("quasi-dynamics, {field}: {found} numbers given; the model has {expected}")]
    Length {
        /// The list.
        field: &'static str,
        /// Its length.
        found: usize,
        /// The length that it should have.
        expected: usize,
    },
    /// A joint that is not supported.
    #[error(
        "link '{link}': quasi-dynamics does not support a {joint} joint {place}: only free bodies \
         on the world and trees of revolute and prismatic joints fixed to it"
    )]
    RobotJoint {
        /// The link.
        link: String,
        /// Its joint.
        joint: &'static str,
        /// What it is on.
        place: &'static str,
    },
    /// Two geometries may touch, but their contact has no closed form.
    #[error(
        "geometries '{first_name}' ({first_shape}) and '{second_name}' ({second_shape}) may \
         collide, but contact of these shapes has no closed form; it exists for spheres, \
         capsules, boxes and half-spaces: exclude the pair by its links, groups or masks"
    )]
    CollisionPair {
        /// Name of the first.
        first_name: String,
        /// Its kind of shape.
        first_shape: &'static str,
        /// Name of the second.
        second_name: String,
        /// Its kind of shape.
        second_shape: &'static str,
    },
    /// The state does not fit the model.
    #[error(transparent)]
    State(#[from] ModelError),
    /// A step gave a value that is not finite.
    #[error(
        "quasi-dynamics: the step gave {value} for position {index}: use a smaller contact \
         stiffness or smaller control inputs"
    )]
    NotFinite {
        /// Number of the position.
        index: usize,
        /// Its value.
        value: f64,
    },
}
