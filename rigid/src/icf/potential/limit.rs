//! Limits of joints.

use super::constraint::{ConstraintPotential, Evaluation};
use super::near_rigid::near_rigid;
use crate::compliance::LimitCompliance;

/// A joint that is beyond a limit comes back with `min(x/T, s)` at a distance x [rad, m]: time
/// constant T \[s\] and speed s \[rad/s, m/s\].
const RETURN_TIME: f64 = 0.1;
const RETURN_SPEED: f64 = 0.5;
/// Largest depth beyond a limit at which a joint counts as resting on it [rad, m]: near-rigid
/// limits deform far less under any load, and no single step leads farther.
const RESTING_DEPTH: f64 = 1e-3;

/// A joint limit: near-rigid, one-sided. A joint farther beyond it than any load could press it
/// started there: it is returned at a bounded speed and not released faster, so that it comes to
/// rest at the limit instead of swinging past it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitPotential {
    /// 1 at a lower limit, -1 at an upper one.
    sign: f64,
    target: f64,
    /// Whether the joint is being returned to the limit: two-sided.
    is_recovering: bool,
    stiffness: f64,
    gap: f64,
    mobility: f64,
}

impl LimitPotential {
    /// `gap` \[rad, m\] is how far the joint is from the limit, negative beyond it; `mobility`
    /// \[1/(kg m^2), 1/kg\] the inverse of the joint's effective inertia.
    pub fn new(gap: f64, upper: bool, mobility: f64, dt: f64) -> Self {
        let (tau, r) = near_rigid(dt, mobility);
        let sign = if upper { -1.0 } else { 1.0 };
        let (at_once, beyond) = (-gap / (dt + tau), -gap);
        let target = at_once.min((beyond.max(RESTING_DEPTH) / RETURN_TIME).min(RETURN_SPEED));
        // The same stiffness against a load as without the bound on the speed.
        let stiffer = if beyond > 0.0 { at_once / target } else { 1.0 };
        Self { sign, target, is_recovering: beyond > RESTING_DEPTH, stiffness: stiffer / r, gap, mobility }
    }

    /// A limit with a compliance: it acts where it has been passed, and does not pull back. `rates`
    /// \[rad/s, m/s\] are those of the coordinate for [`Compliance::line`](crate::Compliance::line).
    pub(crate) fn compliant(
        (gap, rates): (f64, [f64; 2]),
        upper: bool,
        mobility: f64,
        limit: &LimitCompliance,
        dt: f64,
        is_trapezoid: bool,
    ) -> Self {
        let sign = if upper { -1.0 } else { 1.0 };
        let gap = gap - limit.margin;
        let line = limit.compliance.line(gap, gap, rates.map(|rate| sign * rate), dt, is_trapezoid);
        let stiffness = if gap < 0.0 { line.gain } else { 0.0 };
        Self { sign, target: line.target, is_recovering: false, stiffness, gap, mobility }
    }

    /// 1 at a lower limit, -1 at an upper one.
    pub(crate) fn sign(&self) -> f64 {
        self.sign
    }

    /// How far the joint is from the limit \[rad, m\].
    pub(crate) fn gap(&self) -> f64 {
        self.gap
    }

    /// The inverse of the joint's effective inertia \[1/(kg m^2), 1/kg\].
    pub(crate) fn mobility(&self) -> f64 {
        self.mobility
    }

    /// Velocity away from the limit \[rad/s, m/s\] below which it pushes.
    pub(crate) fn target(&self) -> f64 {
        self.target
    }

    /// Impulse against the velocity below that \[N m s/(rad/s), N s/(m/s)\].
    pub(crate) fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// Whether it acts at the velocity `v` \[rad/s, m/s\].
    pub(crate) fn is_reached(&self, v: f64) -> bool {
        self.is_recovering || self.sign * v < self.target
    }
}

impl ConstraintPotential<1> for LimitPotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let reached = self.is_reached(v[0]);
        let below = if reached { self.target - self.sign * v[0] } else { 0.0 };
        let hessian = if reached { self.stiffness } else { 0.0 };
        Evaluation {
            potential: 0.5 * self.stiffness * below * below,
            impulse: [self.sign * self.stiffness * below],
            hessian: [[hessian]],
        }
    }
}
