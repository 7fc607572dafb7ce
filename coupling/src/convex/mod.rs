//! Convex contact between the particles of a continuum and rigid bodies.
//!
//! In every substep the grid velocities minimise
//!
//! ```text
//! l(v) = 1/2 sum_i m_i |v_i - v*_i|^2 + sum_c l_c(v_c),   v_c = sum_i w_ic v_i - v_body
//! ```
//!
//! (Yu et al. 2025, "A Convex Formulation of Material Points and Rigid Bodies", eq. 8): the first
//! term is the explicit free motion `v*`, the second the potential of compliant contact with lagged
//! friction (Castro et al. 2023, "A Theory of Irrotational Contact Fields"). The problem is
//! strongly convex, so every [`Direction`] reaches the same point; they differ in how long that
//! takes.
//!
//! The velocities of strongly coupled bodies are unknowns as well ([`Mobility`]).
//!
//! [`ContactProblem`] is the problem, [`SolverSettings`] how to solve it, [`ConvexSolver`] the
//! workspace that does, and [`SolverInfo`] what happened. The contact model
//! of one contact is that of rigid bodies ([`pliant_rigid::contact_model`]). [`benchmark_problem`]
//! makes sequences of problems to measure with.

mod active;
pub mod benchmark_problem;
mod body_block;
mod factorised;
mod inner;
mod kernels;
mod layout;
mod lbfgs;
mod line_search;
mod mobility;
mod prepared;
mod problem;
mod settings;
mod solution;
mod solver;

pub use mobility::{Attachment, Mobility};
pub use problem::{ContactConstraint, ContactProblem, ProblemError};
pub use settings::{Direction, InitialGuess, SettingsError, SolverInfo, SolverSettings, StopReason};
pub(crate) use solution::{Solution, SolutionPart};
pub use solver::{ConvexSolver, IterationRecord};
