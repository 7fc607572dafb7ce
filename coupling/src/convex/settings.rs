//! Settings of the solver and what it reports.

use serde::{Deserialize, Serialize};

/// How a step direction is found. All reach the same minimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Direction {
    /// The true 3x3 diagonal blocks `m_i I + sum_c w_ic^2 G_c` (Yu et al. 2025, Algorithm 1).
    Block,
    /// The lumped blocks `m_i I + sum_c w_ic G_c`, which majorise the contact Hessian (weights sum
    /// to one, Jensen).
    LumpedBlock,
    /// Limited-memory BFGS (Nocedal and Wright 2006, Algorithm 7.4) with the true diagonal blocks
    /// as its first matrix.
    Lbfgs {
        /// Number of pairs kept, at least 1.
        memory: usize,
    },
    /// Newton with matrix-free products and block-preconditioned conjugate gradients, solved only
    /// as far as the outer iteration needs (Eisenstat and Walker 1996). Both Newton directions
    /// replace friction's Hessian by the quadratic that majorises friction while they are far from
    /// the solution.
    #[default]
    NewtonCg,
    /// Newton with a block Cholesky factorisation over the touched nodes.
    NewtonFactorised,
}

/// Settings of [`ConvexSolver::solve`](super::ConvexSolver::solve).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, default)]
pub struct SolverSettings {
    /// The step direction.
    pub direction: Direction,
    /// `eps_r` of the stopping rule `|M^-1/2 grad| < eps_a + eps_r max(|M^1/2 (v - v_mean)|,
    /// |M^-1/2 J^T gamma|)` (Castro et al. 2022, SAP, where `v_mean` is zero). With the nodes' mean
    /// velocity taken off, the rule is the same in every inertial frame.
    pub relative_tolerance: f64,
    /// `eps_a` of the stopping rule \[sqrt(J)\].
    pub absolute_tolerance: f64,
    /// Most outer iterations.
    pub max_iterations: usize,
    /// Most conjugate-gradient iterations within one outer iteration.
    pub max_inner_iterations: usize,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            direction: Direction::default(),
            relative_tolerance: 1e-3,
            absolute_tolerance: 16.0 * f64::EPSILON,
            max_iterations: 1000,
            max_inner_iterations: 500,
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// A tolerance is negative or not finite.
    #[error("{field} = {value} {unit} must be finite and not negative")]
    Tolerance {
        /// Name of the setting.
        field: &'static str,
        /// The value.
        value: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// A count is zero.
    #[error("{field} = 0 must be at least 1")]
    Count {
        /// Name of the setting.
        field: &'static str,
    },
}

impl SolverSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`SettingsError`] naming the setting, its value and its unit.
    pub fn validate(&self) -> Result<(), SettingsError> {
        for (field, value, unit) in [
            ("relative_tolerance", self.relative_tolerance, ""),
            ("absolute_tolerance", self.absolute_tolerance, "sqrt(J)"),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(SettingsError::Tolerance { field, value, unit });
            }
        }
        let memory = if let Direction::Lbfgs { memory } = self.direction { memory } else { 1 };
        for (field, count) in [
            ("max_iterations", self.max_iterations),
            ("max_inner_iterations", self.max_inner_iterations),
            ("direction.lbfgs.memory", memory),
        ] {
            if count == 0 {
                return Err(SettingsError::Count { field });
            }
        }
        Ok(())
    }
}

/// Where the iteration starts. The solver looks for the best point between the free velocities and
/// the guess, so a bad guess costs one evaluation and no more.
#[derive(Clone, Copy, Debug)]
pub enum InitialGuess<'a> {
    /// The free velocities `v*`.
    Free,
    /// `v* + M^-1 J^T gamma`: impulses on the particles \[N s\], world axes, one per contact (for
    /// instance those of the last substep, zero for new contacts). Missing ones count as zero.
    Impulses(&'a [[f64; 3]]),
    /// Node velocities \[m/s\]; missing ones count as the free ones.
    Velocities(&'a [[f64; 4]]),
    /// Both: these node velocities \[m/s\], and for the strongly coupled bodies the velocity
    /// changes by these impulses \[N s\].
    Solution {
        /// As in [`InitialGuess::Velocities`].
        velocities: &'a [[f64; 4]],
        /// As in [`InitialGuess::Impulses`].
        impulses: &'a [[f64; 3]],
    },
}

/// Why the solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// There are no contacts; the velocities are the free ones.
    NoContacts,
    /// The stopping rule holds.
    Converged,
    /// The gradient is as small as f64 can make it: below the rounding error of evaluating it.
    /// Counts as converged, although the tolerance asked for is smaller.
    StagnatedAtRounding,
    /// `max_iterations` was reached first. The velocities are the best found.
    IterationLimit,
    /// A number of the problem is not finite, or its rows or lengths are not valid: see
    /// [`ContactProblem::validate`](super::ContactProblem::validate). The velocities are the free
    /// ones and the impulses zero.
    NotFinite,
}

impl StopReason {
    /// Whether the velocities are a solution.
    pub fn is_converged(self) -> bool {
        matches!(self, Self::NoContacts | Self::Converged | Self::StagnatedAtRounding)
    }
}

/// What a solve did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverInfo {
    /// Outer iterations (steps taken).
    pub iterations: usize,
    /// Products with the Hessian (conjugate gradients), or factorisations.
    pub inner_iterations: usize,
    /// `|M^-1/2 grad|` at the end \[sqrt(J)\].
    pub residual: f64,
    /// Bound that it had to fall below \[sqrt(J)\].
    pub tolerance: f64,
    /// The objective `l` at the end \[J\].
    pub objective: f64,
    /// Evaluations of the objective's derivative along a direction.
    pub line_search_iterations: usize,
    /// Why it stopped.
    pub stop: StopReason,
}

impl SolverInfo {
    /// Of a problem that needs no solving.
    pub(crate) fn without_contacts(settings: &SolverSettings) -> Self {
        Self {
            iterations: 0,
            inner_iterations: 0,
            residual: 0.0,
            tolerance: settings.absolute_tolerance,
            objective: 0.0,
            line_search_iterations: 0,
            stop: StopReason::NoContacts,
        }
    }
}
