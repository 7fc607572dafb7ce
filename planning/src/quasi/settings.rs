//! What can be chosen.

use super::error::QuasiError;

/// How a contact's force grows with its violation x \[N\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// `x+` (equation 16).
    Exact,
    /// `ln(1 + exp(beta x))/beta` (equation 23): smooth, and above `x+` by at most `ln 2/beta`
    /// \[N\], where x is 0.
    SoftPlus {
        /// beta \[1/N\], finite and positive. Contacts act across about `1/(beta K)` \[m\].
        beta: f64,
    },
}

impl Smoothing {
    /// Force \[N\].
    pub(super) fn push(self, x: f64) -> f64 {
        match self {
            Self::Exact => x.max(0.0),
            // The exponent is never positive.
            Self::SoftPlus { beta } => x.max(0.0) + (-(beta * x).abs()).exp().ln_1p() / beta,
        }
    }

    /// Its derivative; of an exact contact at 0 that of the side that does not push.
    pub(super) fn slope(self, x: f64) -> f64 {
        match self {
            Self::Exact => f64::from(u8::from(x > 0.0)),
            Self::SoftPlus { beta } => {
                let tail = (-(beta * x).abs()).exp();
                if x > 0.0 { 1.0 / (1.0 + tail) } else { tail / (1.0 + tail) }
            }
        }
    }
}

/// What the control of a joint says \[rad, m\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlMode {
    /// By how much it is to move in the step, the paper's u.
    #[default]
    Increments,
    /// Where it is to be at the end of the step.
    Targets,
}

/// Figures of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct QuasiSettings {
    /// h \[s\], finite and positive.
    pub step: f64,
    /// epsilon, finite and positive: how heavy objects are against their masses. With 1 a body that
    /// nothing holds falls by `g h^2` in a step.
    pub regularisation: f64,
    /// K_r of every joint in the order of its degree of freedom \[N m/rad, N/m\], finite and
    /// positive.
    pub drives: Vec<f64>,
    /// What controls mean.
    pub control: ControlMode,
    /// K of each of four facets of a contact \[N/m\], finite and positive. All of a body's contacts
    /// together hold it right where they touch with 4 K times their number at `epsilon m/h^2`;
    /// above twice that, steps overshoot and grow.
    pub stiffness: f64,
    /// D \[N s/m\], finite and not negative (equation 25).
    pub damping: f64,
    /// Directions of friction, even, at least 4 and at most 1024.
    pub facets: usize,
    /// How contacts begin.
    pub sharpness: Smoothing,
    /// Distance \[m\] from which on contacts are looked at, finite and positive. It should be more
    /// than what anything moves in a step, and with SoftPlus many times `1/(beta K)`.
    pub margin: f64,
}

impl QuasiSettings {
    /// The published settings for these steps \[s\], drives \[N m/rad, N/m\] and stiffness of
    /// contacts [N/m]: exact, four facets, epsilon 1, no damping, a margin of 10 mm.
    pub fn new(step: f64, drives: Vec<f64>, stiffness: f64) -> Self {
        Self {
            step,
            regularisation: 1.0,
            drives,
            control: ControlMode::Increments,
            stiffness,
            damping: 0.0,
            facets: 4,
            sharpness: Smoothing::Exact,
            margin: 0.01,
        }
    }

    /// Checks that all values are in range for this number of joints.
    ///
    /// # Errors
    /// [`QuasiError::Value`] and [`QuasiError::Length`], which give the name of the value.
    pub fn validate(&self, joints: usize) -> Result<(), QuasiError> {
        let positive = "finite and positive";
        let mut figures = vec![
            ("step", self.step, "s"),
            ("regularisation", self.regularisation, ""),
            ("stiffness", self.stiffness, "N/m"),
            ("margin", self.margin, "m"),
        ];
        if let Smoothing::SoftPlus { beta } = self.sharpness {
            figures.push(("beta", beta, "1/N"));
        }
        figures.extend(self.drives.iter().map(|k| ("drives", *k, "N m/rad or N/m")));
        for (field, value, unit) in figures {
            if !(value.is_finite() && value > 0.0) {
                return Err(QuasiError::Value { field, value, unit, requirement: positive });
            }
        }
        if !(self.damping.is_finite() && self.damping >= 0.0) {
            let (value, requirement) = (self.damping, "finite and not negative");
            return Err(QuasiError::Value { field: "damping", value, unit: "N s/m", requirement });
        }
        if !(4..=1024).contains(&self.facets) || !self.facets.is_multiple_of(2) {
            let (value, requirement) = (self.facets as f64, "even, at least 4 and at most 1024");
            return Err(QuasiError::Value { field: "facets", value, unit: "", requirement });
        }
        if self.drives.len() != joints {
            return Err(QuasiError::Length { field: "drives", found: self.drives.len(), expected: joints });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SoftPlus by its definition where that can be evaluated, and its slope by differences; at the
    /// kink of the exact law the side that does not push.
    #[test]
    fn forces_and_slopes_are_those_of_the_definitions() {
        for beta in [0.5, 3.0] {
            let law = Smoothing::SoftPlus { beta };
            for x in [-5.0, -0.3, 0.0, 0.2, 7.0_f64] {
                let defined = (1.0 + (beta * x).exp()).ln() / beta;
                assert!((law.push(x) - defined).abs() < 1e-14, "{beta} {x}");
                let difference = (law.push(x + 1e-5) - law.push(x - 1e-5)) / 2e-5;
                assert!((law.slope(x) - difference).abs() < 1e-9, "{beta} {x}");
            }
            assert_eq!((law.push(1e6), law.push(-1e6)), (1e6, 0.0));
        }
        assert_eq!([-1.0, 0.0, 1e-300].map(|x| Smoothing::Exact.slope(x)), [0.0, 0.0, 1.0]);
    }
}
