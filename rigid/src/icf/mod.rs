//! Irrotational contact fields (Castro et al. 2023, "A Theory of Irrotational Contact Fields"): the
//! velocities at the end of a step minimise a convex function,
//!
//! ```text
//! l(v) = 1/2 v^T A v - r^T v + sum_c l_c(J_c v + b_c),   A = M + dt D + dt^2 K,   r = A v0 - dt k0
//! ```
//!
//! with one potential for every contact, joint limit, effort-limited actuator, holonomic constraint
//! and dry joint. The model (constant data, [`multibody::Model`](crate::multibody::Model)), the
//! data of one problem ([`ConvexProblem`]) and the solver ([`Solver`]) are separate. [`potential`]
//! has the potentials one at a time, [`Pool`] many of one kind with their Jacobians.

mod block_cholesky;
mod block_matrix;
mod dof_pool;
mod line_search;
mod ordering;
mod pool;
pub mod potential;
mod problem;
mod solver;
mod stop;

pub use block_matrix::BlockMatrix;
pub use dof_pool::DofPool;
pub use pool::{ConstraintPool, Pool, Side};
pub use problem::ConvexProblem;
pub use solver::{SolveSettings, SolveSummary, Solver};
pub use stop::Stop;
