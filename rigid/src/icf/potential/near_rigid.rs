//! Constraints as stiff as a step resolves.

use core::f64::consts::PI;

/// Fraction of the step that a near-rigid constraint's period is (Castro et al. 2022).
const BETA: f64 = 0.1;
/// Steps shorter than this make a constraint no stiffer \[s\].
const SHORTEST: f64 = 1e-4;

/// Time scale tau \[s\] and regularisation R \[1/kg\] of a near-rigid constraint of mobility `w`
/// \[1/kg\] over a step.
pub(super) fn near_rigid(dt: f64, mobility: f64) -> (f64, f64) {
    let bounded = dt.max(SHORTEST);
    let tau = BETA * bounded / PI;
    (tau, (BETA * bounded).powi(2) * mobility / (4.0 * PI * PI * dt * (dt + tau)))
}
