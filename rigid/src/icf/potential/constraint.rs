//! What every constraint potential gives.

/// Potential, impulse (minus the gradient) and Hessian at a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation<const N: usize> {
    /// Potential \[J\].
    pub potential: f64,
    /// Impulse \[N s, N m s\].
    pub impulse: [f64; N],
    /// Hessian, symmetric \[kg, kg m^2\].
    pub hessian: [[f64; N]; N],
}

/// A constraint of `N` velocities.
pub trait ConstraintPotential<const N: usize> {
    /// Potential, impulse and Hessian at the velocity `v` \[m/s, rad/s\].
    fn response(&self, v: &[f64; N]) -> Evaluation<N>;

    /// The Hessian of a quadratic that touches the potential at `v` and lies above it: for friction
    /// the secant, which knows of the kink where sliding turns to sticking. The Hessian itself
    /// where nothing better is known.
    fn secant(&self, v: &[f64; N]) -> [[f64; N]; N] {
        self.response(v).hessian
    }

    /// Potential and its first two derivatives along `dv`.
    #[inline]
    fn along(&self, v: &[f64; N], dv: &[f64; N]) -> [f64; 3] {
        let r = self.response(v);
        let mut sums = [r.potential, 0.0, 0.0];
        for a in 0..N {
            sums[1] -= r.impulse[a] * dv[a];
            for b in 0..N {
                sums[2] += dv[a] * r.hessian[a][b] * dv[b];
            }
        }
        sums
    }
}
