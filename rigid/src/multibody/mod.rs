//! Articulated bodies in reduced coordinates.
//!
//! A [`Model`] is constant: links in trees, their joints and inertias. A [`State`] changes:
//! positions `q`, velocities `v`. [`Kinematics`] follows from both: poses, velocities and joint
//! axes in the world. It is the input of the mass matrix ([`mass_matrix`]), inverse dynamics
//! ([`inverse_dynamics`]), forward dynamics ([`forward_dynamics`]), Jacobians and energies.
//!
//! Spatial quantities are in world axes about the origin of the link they belong to, so that moving
//! one from link to link is a shift and precision does not depend on the distance from the world's
//! origin. Accelerations are classical: the linear part is the acceleration of the link's origin.
//! (Featherstone 2008, *Rigid Body Dynamics Algorithms*, has the algorithms in link axes and with
//! spatial accelerations.)

mod algebra;
mod builder;
mod energy;
mod error;
mod floating;
mod forward_dynamics;
mod free_motion;
mod inertia_check;
mod inverse_dynamics;
mod jacobian;
mod joint;
mod kinematics;
mod link;
mod mass_matrix;
mod model;
mod runge_kutta;
mod state;

pub use algebra::cross_matrix;
pub use algebra::{ForceVector, MotionVector, RigidInertia};
pub use builder::ModelBuilder;
pub use energy::{kinetic_energy, potential_energy};
pub use error::ModelError;
pub(crate) use floating::FreeFloatingTree;
pub use forward_dynamics::{ForwardDynamicsBuffers, forward_dynamics};
pub(crate) use free_motion::ContactFreeMotion;
pub use inertia_check::RigidGroup;
pub use inverse_dynamics::{InverseDynamicsBuffers, bias_forces, inverse_dynamics};
pub use jacobian::{for_each_axis, point_jacobian};
pub use joint::JointKind;
pub use joint::quaternion;
pub use kinematics::Kinematics;
pub(crate) use kinematics::PathSide;
pub use link::{Dof, Link, LinkId, Tree};
pub use mass_matrix::{MassMatrix, mass_matrix};
pub use model::Model;
pub use state::State;
pub(crate) use state::{copy_positions, copy_tree};
