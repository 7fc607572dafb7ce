//! Impedance of a contact as a function of its depth: MuJoCo's `solimp`.

use serde::{Deserialize, Serialize};

use crate::out_of_range::OutOfRange;
use crate::simulation::SimulationError;

/// How the impedance r of a contact grows with its depth with the closed-form solver, MuJoCo's
/// `solimp`: from `minimum` at the surface to `maximum` at `width` and below it, along two powers
/// that meet at `midpoint` (MuJoCo's documentation, Computation, Solver parameters; equation 13 of
/// ComFree-Sim).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ImpedanceCurve {
    /// At zero depth, in (0, 1).
    pub minimum: f64,
    /// From `width` on, between 0 and 1 \[-\].
    pub maximum: f64,
    /// Depth at which `maximum` is reached \[m, in a joint rad\].
    pub width: f64,
    /// Fraction of the width at which the powers meet, in (0, 1).
    pub midpoint: f64,
    /// Power of the curve, at least 1 \[-\].
    pub power: f64,
}

impl Default for ImpedanceCurve {
    fn default() -> Self {
        Self::MUJOCO
    }
}

impl ImpedanceCurve {
    /// MuJoCo's default: 0.9, 0.95, 1 mm, 0.5, 2.
    pub const MUJOCO: Self = Self { minimum: 0.9, maximum: 0.95, width: 0.001, midpoint: 0.5, power: 2.0 };

    /// Checks that all five values are in range.
    ///
    /// # Errors
    /// [`SimulationError::Value`] with the name of `item` and of the value.
    pub fn validate(&self, item: &str) -> Result<(), SimulationError> {
        self.out_of_range().next().map_or(Ok(()), |figure| Err(SimulationError::figure(item, figure)))
    }

    /// The figures that are out of range, as fields of an `impedance`.
    pub fn out_of_range(&self) -> impl Iterator<Item = OutOfRange> {
        let inside = |field, x: f64| {
            OutOfRange::unless(x > 0.0 && x < 1.0, field, x, "", "between 0 and 1, both excluded")
        };
        let power = self.power;
        [
            inside("impedance.minimum", self.minimum),
            inside("impedance.maximum", self.maximum),
            OutOfRange::unless_positive("impedance.width", self.width, "m"),
            inside("impedance.midpoint", self.midpoint),
            OutOfRange::unless(
                power.is_finite() && power >= 1.0,
                "impedance.power",
                power,
                "",
                "at least 1 and finite",
            ),
        ]
        .into_iter()
        .flatten()
    }

    /// r at a depth \[m, rad\], which may have either sign.
    pub fn at(&self, depth: f64) -> f64 {
        let x = (depth.abs() / self.width).min(1.0);
        let (m, p) = (self.midpoint, self.power);
        // The usual power needs no logarithm.
        let power = |x: f64| if p == 2.0 { x * x } else { x.powf(p) };
        let rise = if x < m { m * power(x / m) } else { 1.0 - (1.0 - m) * power((1.0 - x) / (1.0 - m)) };
        self.minimum + (self.maximum - self.minimum) * rise
    }

    /// `r/(1 - r)` at a depth: stiffness of a constraint relative to its effective mass.
    pub fn ratio(&self, depth: f64) -> f64 {
        let r = self.at(depth);
        r / (1.0 - r)
    }

    /// That of two surfaces: the mean of every value, as MuJoCo mixes `solimp` of equal weights.
    pub fn combine(&self, other: &Self) -> Self {
        let mean = |a: f64, b: f64| 0.5 * (a + b);
        Self {
            minimum: mean(self.minimum, other.minimum),
            maximum: mean(self.maximum, other.maximum),
            width: mean(self.width, other.width),
            midpoint: mean(self.midpoint, other.midpoint),
            power: mean(self.power, other.power),
        }
    }
}
