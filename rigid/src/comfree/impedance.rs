//! Impedance of a contact as a function of its depth: MuJoCo's `solimp`.

use crate::simulation::SimulationError;

/// The impedance r of a constraint as a function of its depth (MuJoCo's documentation, Computation,
/// Solver parameters; equation 13 of ComFree-Sim): from `minimum` at the surface to `maximum` at
/// `width` and below it, along two powers that meet at `midpoint`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpedanceCurve {
    /// At zero depth, in (0, 1).
    pub minimum: f64,
    /// From `width` on, in (0, 1).
    pub maximum: f64,
    /// Depth \[m, rad\] at which it is reached, positive.
    pub width: f64,
    /// Fraction of the width at which the powers meet, in (0, 1).
    pub midpoint: f64,
    /// The power, at least 1.
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
        match self.out_of_range() {
            Some((field, value, unit, requirement)) => {
                Err(SimulationError::value(item, field, value, unit, requirement))
            }
            None => Ok(()),
        }
    }

    /// The first value that is out of range: its name, value, unit and requirement.
    pub(crate) fn out_of_range(&self) -> Option<(&'static str, f64, &'static str, &'static str)> {
        let inside = |x: f64| x > 0.0 && x < 1.0;
        let between = "between 0 and 1, both excluded";
        if !inside(self.minimum) {
            Some(("impedance minimum", self.minimum, "", between))
        } else if !inside(self.maximum) {
            Some(("impedance maximum", self.maximum, "", between))
        } else if !(self.width.is_finite() && self.width > 0.0) {
            Some(("impedance width", self.width, "m", "finite and positive"))
        } else if !inside(self.midpoint) {
            Some(("impedance midpoint", self.midpoint, "", between))
        } else if !(self.power.is_finite() && self.power >= 1.0) {
            Some(("impedance power", self.power, "", "finite and at least 1"))
        } else {
            None
        }
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
