//! The potentials of the constraints, one constraint at a time.
//!
//! A potential is a convex function of the constraint's velocity; its impulse is minus the
//! gradient, and its Hessian is positive semidefinite. All of them are finite for every finite
//! velocity.

mod actuator;
mod constraint;
mod contact;
mod holonomic;
mod joint_friction;
mod limit;
mod near_rigid;
mod transmission;

pub use actuator::ActuatorPotential;
pub use constraint::{ConstraintPotential, Evaluation};
pub use contact::{ContactParameters, ContactPotential};
pub use holonomic::HolonomicPotential;
pub use joint_friction::JointFrictionPotential;
pub use limit::LimitPotential;
pub use transmission::{DrivePotential, TendonSpring, TransmissionPotential};
