//! Quasi-dynamic motion with contact in closed form, and its derivatives (Jin 2025,
//! "Complementarity-Free Multi-Contact Modeling and Optimization for Dexterous Manipulation"): the
//! model that planners of manipulation use.
//!
//! The state is where things are, the positions `q` of a [`Model`](pliant_rigid::multibody::Model):
//! free bodies (the objects) and the revolute and prismatic joints of mechanisms that stand on the
//! world (the robot). There are no velocities. In a step of h seconds everything moves by the
//! displacement (equations 16, 23 and 25)
//!
//! `y = Q^-1 (b + J~^T lambda)`, `lambda = s(-K (J~ y_0 + phi) - D J~ y_0/h)`, `y_0 = Q^-1 b`
//!
//! in the tangent space (the order of velocities: angular, linear of a body's origin; joints).
//!
//! - Object blocks of Q (equation 5) are `epsilon M/h^2`, the mass matrix with its [regularisation](QuasiSettings::regularisation); their b is the weight. Joints have
//!   their drives' stiffness K_r, and `b = K_r u` with the control u, a wanted displacement. Drives carry the robot's own weight, as
//!   the low-level controllers of the paper do. What joints have besides (springs, damping, dry friction, limits, armature) is no part of the model.
//! - A contact has a row of `J~ = J_n - mu d_j . J_t` for every direction d_j of its [`Facets`](pliant_rigid::comfree::Facets), and lambda \[N\] is a force by facet. K \[N/m\]
//!   belongs to four facets, as published; of n facets each has 4/n of the force.
//! - [`Smoothing`] says what s is: `x+` (equation 16) or SoftPlus (equation 23).
//! - Directions lie along the horizontal and up in the contact's plane where that is steep, else along x and y: 0.9 of the normal's
//!   vertical component divides the two.
//!
//! Geometries must be spheres, capsules, boxes and half-spaces, whose contacts have closed forms.
//!
//! # Derivatives
//! [`QuasiDynamics::derivatives`] gives the Jacobians of the tangent of the next state (turns in
//! the world's, or the joint's outer, axes, as in
//! [`Model::difference`](pliant_rigid::multibody::Model::difference)) with respect to the tangent
//! of the state and to the control, in closed form, with how contact points, normals and distances,
//! levers, joint axes, inertias and weights change with the state. The work goes with the number of
//! contacts times the few degrees of freedom that each has; only clearing the matrices goes with
//! the square of all.
//!
//! Where the step has no derivative they are one-sided, or that of one of the pieces that meet:
//! - Exact contacts: at `x = 0` the side that does not push.
//! - Where the nearest features of a pair change (from the face of a box to its edge, the direction of least overlap) the piece that the pair's formulas take there;
//!   box corners and ends of capsules come and go with a margin of their own, by which a step may jump.
//! - At [`QuasiSettings::margin`] SoftPlus is cut off: the step jumps by what is left there, `4 ln(1 + exp(-beta K margin))/beta` N.
//! - Where the directions change from steep to level, `|n_z| = 0.9`: with few facets the step jumps there, with many it hardly does.

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
