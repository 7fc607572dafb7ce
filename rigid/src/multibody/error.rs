//! Errors of building a model.

/// A model that is not a mechanism.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Two links have one name.
    #[error("link '{name}': the name is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A value is out of range.
    #[error("link '{link}', {field}: {value} {unit} must be {requirement}")]
    Value {
        /// The link.
        link: String,
        /// Name of the value.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A joint moves no inertia.
    #[error(
        "link '{link}': its {joint} joint moves no inertia: neither the link nor its descendants \
         have enough mass or inertia, and there is no armature"
    )]
    NoInertia {
        /// The link.
        link: String,
        /// Its joint.
        joint: &'static str,
    },
    /// An inertia that is not physical.
    #[error(
        "link '{link}' with all that is fixed to it: inertia {inertia:?} kg m^2 (columns, about the \
         centre of mass): {reason}"
    )]
    Inertia {
        /// The link that a joint moves.
        link: String,
        /// What is wrong.
        reason: &'static str,
        /// The tensor about the centre of mass, link's axes \[kg m^2\], by columns.
        inertia: [[f64; 3]; 3],
    },
    /// A state that does not fit the model.
    #[error("state, {field}: {reason}")]
    State {
        /// Positions or velocities.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
}
