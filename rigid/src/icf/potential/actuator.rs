//! Actuators with a limited effort.

use super::constraint::{ConstraintPotential, Evaluation};

/// An actuator whose effort falls linearly with the velocity, `clamp(b - K v, +-e)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActuatorPotential {
    /// Effort at no velocity, b \[N m, N\].
    pub effort: f64,
    /// K, at least 0 \[N m s, N s/m\].
    pub gain: f64,
    /// Largest effort e \[N m, N\]; infinite where there is no limit.
    pub limit: f64,
    /// The step \[s\].
    pub dt: f64,
}

impl ConstraintPotential<1> for ActuatorPotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let wanted = self.effort - self.gain * v[0];
        let given = wanted.clamp(-self.limit, self.limit);
        let inside = wanted == given;
        let potential = if self.gain > 0.0 {
            // dt y^2 / 2K inside, continued by a line outside; less its value at rest, so that
            // small gains do not drown it.
            self.dt * given * (wanted - 0.5 * given) / self.gain - self.dt * self.rest_potential()
        } else {
            -self.dt * given * v[0]
        };
        let hessian = if inside { self.dt * self.gain } else { 0.0 };
        Evaluation { potential, impulse: [self.dt * given], hessian: [[hessian]] }
    }
}

impl ActuatorPotential {
    fn rest_potential(&self) -> f64 {
        let given = self.effort.clamp(-self.limit, self.limit);
        given * (self.effort - 0.5 * given) / self.gain
    }
}
