//! How a solve ends.

/// Why a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The gradient is small enough.
    Gradient,
    /// The steps converge, and the estimated error is small enough.
    Error,
    /// No step lowers the cost any more in double precision.
    Rounding,
    /// The iteration limit was reached.
    Iterations,
    /// The cost or its Hessian is not finite.
    NotFinite,
}

impl Stop {
    /// Whether the velocities are the solution.
    pub fn is_converged(self) -> bool {
        matches!(self, Self::Gradient | Self::Error | Self::Rounding)
    }
}
