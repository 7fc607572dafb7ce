//! Quasi-dynamic motion with contact in closed form, and its derivatives (Jin 2025,
//! "Complementarity-Free Multi-Contact Modeling and Optimization for Dexterous Manipulation"): a
//! model for planning of manipulation.
//!
//! The state consists of the positions `q` of a [`Model`](pliant_rigid::multibody::Model): free
//! bodies (the objects) and the revolute and prismatic joints of mechanisms fixed to the world
//! (the robot). There are no velocities. In a step of h seconds everything moves by the
//! displacement (equations 16, 23 and 25)
//!
//! `y = Q^-1 (b + J~^T lambda)`, `lambda = s(-K (J~ y_0 + phi) - D J~ y_0/h)`, `y_0 = Q^-1 b`
//!
//! in the tangent space (the order of velocities: angular, linear of a body's origin; joints).
//!
//! - Object blocks of Q (equation 5) are `epsilon M/h^2`, the mass matrix with its
//!   [regularisation](QuasiSettings::regularisation); their b is the weight. Joints have the
//!   stiffness K_r of their position control, and `b = K_r u` with the control u, a target
//!   displacement. The controllers compensate the robot's own weight, as in the paper. Springs,
//!   damping, dry friction, limits and armature of joints are not part of the model.
//! - A contact has a row of `J~ = J_n - mu d_j . J_t` for every direction d_j of its
//!   [`Facets`](pliant_rigid::comfree::Facets), and lambda \[N\] is a force by facet. K \[N/m\] is
//!   defined for four facets, as published; with n facets each has 4/n of the force.
//! - [`Smoothing`] chooses s: `x+` (equation 16) or SoftPlus (equation 23).
//! - Directions are horizontal and upwards in the contact's plane if that is steep, else along x
//!   and y: the limit is a vertical component of the normal of 0.9.
//!
//! Geometries must be spheres, capsules, boxes and half-spaces, whose contacts have closed forms.
//!
//! # Derivatives
//! [`QuasiDynamics::derivatives`] gives the Jacobians of the tangent of the next state (rotations
//! in the world's, or the joint's outer, axes, as in
//! [`Model::difference`](pliant_rigid::multibody::Model::difference)) with respect to the tangent
//! of the state and to the control, in closed form, including the dependence of contact points,
//! normals and distances, levers, joint axes, inertias and weights on the state. The cost grows
//! with the number of contacts times the few degrees of freedom of each; only clearing the matrices
//! grows with the square of all.
//!
//! Where the step is not differentiable they are one-sided, or those of one of the adjacent pieces:
//! - Exact contacts: at `x = 0` that of the side without force.
//! - Where the nearest features of a pair change (from the face of a box to its edge, the direction
//!   of least overlap) that of the branch of the pair's formulas; box corners and ends of capsules
//!   appear and disappear within a margin, at which a step may jump.
//! - At [`QuasiSettings::margin`] SoftPlus is cut off: the step jumps by the remainder, `4 ln(1 +
//!   exp(-beta K margin))/beta` N.
//! - Where the directions change from steep to level, `|n_z| = 0.9`: with few facets the step jumps
//!   there, with many hardly.

mod columns;
mod contact;
mod derivative;
mod dynamics;
mod error;
mod layout;
mod pairs;
mod settings;

pub use derivative::Derivatives;
pub use dynamics::{QuasiContact, QuasiDynamics};
pub use error::QuasiError;
pub use settings::{ControlMode, QuasiSettings, Smoothing};
