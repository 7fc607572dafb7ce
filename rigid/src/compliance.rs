//! Compliance of constraints that are defined by accelerations.
//!
//! A row J with the residual r obeys `J a + R f = -b J v - k d r`, with `R = (1 - d)/d A` and the
//! impedance `d(r)` (MuJoCo documentation, Computation, Solver parameters): its force is that of a
//! spring `k d/R`, a damper `b/R` and a mass `1/R` along the row.

use crate::comfree::ImpedanceCurve;

/// Compliance of a constraint that is not near-rigid. Units are those of a residual in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// k: acceleration for a residual, at an impedance of 1 \[1/s^2\].
    pub stiffness: f64,
    /// b: acceleration against a rate of the residual \[1/s\].
    pub damping: f64,
    /// d, as a function of the residual \[-\].
    pub impedance: ImpedanceCurve,
    /// A: inverse of the inertia along the row to which d refers \[1/kg\].
    pub mobility: f64,
}

/// Compliance of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitCompliance {
    /// The compliance.
    pub compliance: Compliance,
    /// Distance before the limit at which it begins to act \[rad, m\].
    pub margin: f64,
}

impl LimitCompliance {
    /// As [`Compliance::fault`].
    pub(crate) fn fault(&self) -> Option<(&'static str, f64, &'static str, &'static str)> {
        let holds = self.margin.is_finite() && self.margin >= 0.0;
        let own = (!holds).then_some(("margin", self.margin, "rad or m", "finite and not negative"));
        own.or_else(|| self.compliance.fault())
    }
}

/// The impulse `gain (target - v)` of a row with the velocity `v` at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CompliantLine {
    pub target: f64,
    pub gain: f64,
}

/// Smallest A \[1/kg\]: it avoids a division by zero.
const LEAST_MOBILITY: f64 = 1e-9;

impl Compliance {
    /// With the time constant \[s\] and the damping ratio \[-\] of the motion of the residual.
    pub fn of_time_constant(time: f64, ratio: f64, impedance: ImpedanceCurve, mobility: f64) -> Self {
        let d = impedance.maximum;
        let (stiffness, damping) = (1.0 / (d * time * ratio).powi(2), 2.0 / (d * time));
        Self { stiffness, damping, impedance, mobility }
    }

    /// The value that is out of range, as name, value, unit and requirement.
    pub(crate) fn fault(&self) -> Option<(&'static str, f64, &'static str, &'static str)> {
        let least = "finite and not negative";
        let figures = [
            ("compliance.stiffness", self.stiffness, "1/s^2"),
            ("compliance.damping", self.damping, "1/s"),
            ("compliance.mobility", self.mobility, "1/kg"),
        ];
        let own = figures.into_iter().find(|(_, x, _)| !(x.is_finite() && *x >= 0.0));
        own.map(|(field, x, unit)| (field, x, unit, least)).or_else(|| {
            let figure = self.impedance.out_of_range().next()?;
            Some((figure.field, figure.value, figure.unit, figure.requirement))
        })
    }

    /// The line of a step of `dt` \[s\] from the residual `error` \[m\], of which `distance` \[m\]
    /// decides the impedance, at the `rate` \[m/s\]. The spring and the damper act at the end of the
    /// step; in a trapezoid step also at its beginning. `carried` \[m/s\] is what the row of the step
    /// makes of the velocities of its beginning: the change from it is `h J a`. With the `rate` in
    /// its place the change of J counts, too: it is that of the rate itself.
    pub(crate) fn line(
        &self,
        error: f64,
        distance: f64,
        [rate, carried]: [f64; 2],
        dt: f64,
        is_trapezoid: bool,
    ) -> CompliantLine {
        let d = self.impedance.at(distance);
        let (spring, damper) = (dt * self.stiffness * d, dt * self.damping);
        // The mean residual over a trapezoid step, and its weights: rule of the other forces.
        let weight = if is_trapezoid { end_weight(damper + dt * (self.stiffness * d).sqrt()) } else { 1.0 };
        let reach = weight * dt * if is_trapezoid { 0.5 } else { 1.0 };
        let started = if is_trapezoid { reach } else { 0.0 };
        let known = carried - rate * (damper * (1.0 - weight) + spring * started) - spring * error;
        let stiff = 1.0 + damper * weight + spring * reach;
        let inverse = d / ((1.0 - d) * self.mobility.max(LEAST_MOBILITY));
        CompliantLine { target: known / stiff, gain: inverse * stiff }
    }
}

/// Weight of the end of a step for a force whose rate in a step is `z` (Kurtz and Castro 2025; see
/// `docs/book/src/theory/rigid.md`).
fn end_weight(z: f64) -> f64 {
    if z > 2.0 { 1.0 - 1.0 / z } else { 0.5 }
}
