//! Why a model cannot be built.

/// A model that describes no mechanism.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Two links have one name.
    #[error("link '{name}': the name is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A figure is out of range.
    #[error("link '{link}', {field}: {value} {unit} must be {requirement}")]
    Value {
        /// The link.
        link: String,
        /// The figure.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// A link can be accelerated without a force.
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
    /// An inertia that no solid can have.
    #[error("link '{link}', inertia: {reason}")]
    Inertia {
        /// The link.
        link: String,
        /// What is wrong.
        reason: String,
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
