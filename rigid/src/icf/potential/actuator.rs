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
        clamped_line(self.effort, self.gain, [-self.limit, self.limit], self.dt, v[0])
    }
}

/// The impulse `dt clamp(effort - gain v, low, high)` with its potential.
pub(super) fn clamped_line(effort: f64, gain: f64, [low, high]: [f64; 2], dt: f64, v: f64) -> Evaluation<1> {
    let wanted = effort - gain * v;
    let given = wanted.clamp(low, high);
    let inside = wanted == given;
    let potential = if gain > 0.0 {
        // dt y^2 / 2K inside, continued by a line outside; less its value at rest, so that small
        // gains do not drown it.
        let at_rest = effort.clamp(low, high);
        dt * given * (wanted - 0.5 * given) / gain - dt * (at_rest * (effort - 0.5 * at_rest) / gain)
    } else {
        -dt * given * v
    };
    let hessian = if inside { dt * gain } else { 0.0 };
    Evaluation { potential, impulse: [dt * given], hessian: [[hessian]] }
}
