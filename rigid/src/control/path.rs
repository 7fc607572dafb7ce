//! Joint trajectories: set points in time with interpolation.

use super::{check_finite, fail};
use crate::simulation::SimulationError;

/// Target positions, rates and accelerations, one number per joint. For a prismatic joint m
/// replaces rad.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTarget {
    /// Positions \[rad\].
    pub positions: Vec<f64>,
    /// Rates \[rad/s\].
    pub rates: Vec<f64>,
    /// Accelerations \[rad/s^2\].
    pub accelerations: Vec<f64>,
}

/// Interpolation between set points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interpolation {
    Hold,
    Linear,
    Cubic,
}

/// Set points of some joints in time. Before the first and after the last they are held.
#[derive(Clone, Debug, PartialEq)]
pub struct JointTrajectory {
    times: Vec<f64>,
    positions: Vec<Vec<f64>>,
    /// At the set points; empty for a linear path.
    rates: Vec<Vec<f64>>,
    between: Interpolation,
}

impl JointTrajectory {
    /// Constant at `positions` \[rad, m\].
    ///
    /// # Errors
    /// A position that is not finite.
    pub fn hold(positions: Vec<f64>) -> Result<Self, SimulationError> {
        Self::linear(vec![0.0], vec![positions])
    }

    /// Piecewise constant: `positions[i]` \[rad, m\] from `times[i]` \[s\] on.
    ///
    /// # Errors
    /// As [`linear`](Self::linear).
    pub fn steps(times: Vec<f64>, positions: Vec<Vec<f64>>) -> Result<Self, SimulationError> {
        Self { times, positions, rates: Vec::new(), between: Interpolation::Hold }.checked()
    }

    /// Piecewise linear: `positions[i]` \[rad, m\] at `times[i]` \[s\]. The rate jumps at set
    /// points.
    ///
    /// # Errors
    /// No set point, times that do not increase, set points of different lengths, values that are
    /// not finite.
    pub fn linear(times: Vec<f64>, positions: Vec<Vec<f64>>) -> Result<Self, SimulationError> {
        Self { times, positions, rates: Vec::new(), between: Interpolation::Linear }.checked()
    }

    /// Cubic from set point to set point, at rest in each: `p0 + (p1 - p0) (3 s^2 - 2 s^3)`, s from
    /// 0 to 1.
    ///
    /// # Errors
    /// As [`linear`](Self::linear).
    pub fn cubic(times: Vec<f64>, positions: Vec<Vec<f64>>) -> Result<Self, SimulationError> {
        let rates = positions.iter().map(|p| vec![0.0; p.len()]).collect();
        Self { times, positions, rates, between: Interpolation::Cubic }.checked()
    }

    /// Cubic Hermite polynomials through `positions[i]` \[rad, m\] with `rates[i]` \[rad/s, m/s\]
    /// at `times[i]` \[s\].
    ///
    /// # Errors
    /// As [`linear`](Self::linear).
    pub fn hermite(
        times: Vec<f64>,
        positions: Vec<Vec<f64>>,
        rates: Vec<Vec<f64>>,
    ) -> Result<Self, SimulationError> {
        Self { times, positions, rates, between: Interpolation::Cubic }.checked()
    }

    fn checked(self) -> Result<Self, SimulationError> {
        let count = self.times.len();
        if count == 0 {
            return fail("path", "set points", 0.0, "", "at least one");
        }
        if self.positions.len() != count {
            return fail("path", "positions", self.positions.len() as f64, "", "as many as times");
        }
        let rates_wanted = if self.between == Interpolation::Cubic { count } else { 0 };
        if self.rates.len() != rates_wanted {
            return fail("path", "rates", self.rates.len() as f64, "", "as many as times");
        }
        check_finite("path", "time", &self.times, "s")?;
        if let Some(pair) = self.times.windows(2).find(|pair| pair[1] <= pair[0]) {
            return fail("path", "time", pair[1], "s", "later than the one before");
        }
        let width = self.joints();
        for (field, rows, unit) in
            [("position", &self.positions, "rad or m"), ("rate", &self.rates, "rad/s or m/s")]
        {
            for row in rows {
                check_finite("path", field, row, unit)?;
                if row.len() != width {
                    return fail(
                        "path",
                        field,
                        row.len() as f64,
                        "numbers",
                        "as many as at the first set point",
                    );
                }
            }
        }
        Ok(self)
    }

    /// Number of joints.
    pub fn joints(&self) -> usize {
        self.positions.first().map_or(0, Vec::len)
    }

    /// Position \[rad, m\], rate and acceleration of one joint at time `t` \[s\]. At a set point:
    /// those of the interval that begins there.
    pub fn at(&self, joint: usize, t: f64) -> [f64; 3] {
        let after = self.times.partition_point(|&time| time <= t);
        if after == 0 || after == self.times.len() {
            let held = after.saturating_sub(1);
            return [self.positions[held][joint], 0.0, 0.0];
        }
        let before = after - 1;
        let length = self.times[after] - self.times[before];
        let s = (t - self.times[before]) / length;
        let (p0, p1) = (self.positions[before][joint], self.positions[after][joint]);
        let displacement = p1 - p0;
        if self.between == Interpolation::Hold {
            return [p0, 0.0, 0.0];
        }
        if self.between == Interpolation::Linear {
            return [p0 + displacement * s, displacement / length, 0.0];
        }
        let (m0, m1) = (self.rates[before][joint] * length, self.rates[after][joint] * length);
        // p0 + m0 s + b s^2 + c s^3 with the ends' values and slopes.
        let (b, c) = (3.0 * displacement - 2.0 * m0 - m1, m0 + m1 - 2.0 * displacement);
        [
            p0 + s * (m0 + s * (b + s * c)),
            (m0 + s * (2.0 * b + s * 3.0 * c)) / length,
            (2.0 * b + s * 6.0 * c) / (length * length),
        ]
    }

    /// All joints at time `t` \[s\].
    pub fn target(&self, t: f64) -> JointTarget {
        let mut target = JointTarget::default();
        for joint in 0..self.joints() {
            let [q, v, a] = self.at(joint, t);
            target.positions.push(q);
            target.rates.push(v);
            target.accelerations.push(a);
        }
        target
    }

    /// The first set point after `t` \[s\]: there the rate or the acceleration jumps.
    pub fn next_set_point(&self, t: f64) -> Option<f64> {
        self.times.get(self.times.partition_point(|&time| time <= t)).copied()
    }
}
