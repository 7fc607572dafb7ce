//! Joint trajectories through waypoints.

use super::chain::Chain;
use super::error::InverseKinematicsError;
use super::quintic::quintic;
use super::solve::SolveSettings;
use super::straight::StraightPath;
use super::waypoint::{PathKind, Waypoint, WaypointTarget};

/// Settings of [`plan`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlanSettings {
    /// Time at which the path begins \[s\]; every waypoint is later.
    pub begin: f64,
    /// Longest time between two samples \[s\].
    pub interval: f64,
    /// Rate limit of each joint \[rad/s, m/s\].
    pub rates: Vec<f64>,
    /// Rest configuration \[rad, m\]: redundant joints stay near it.
    pub rest: Vec<f64>,
    /// Tolerances of the solver.
    pub solve: SolveSettings,
}

/// Joint coordinates in time.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPath {
    /// Times \[s\], increasing from that of the begin.
    pub times: Vec<f64>,
    /// One configuration per time \[rad, m\].
    pub configurations: Vec<Vec<f64>>,
    /// Rates there \[rad/s, m/s\].
    pub rates: Vec<Vec<f64>>,
    /// Index of the time of each waypoint.
    pub waypoints: Vec<usize>,
}

impl JointPath {
    /// Adds a path that begins where this one ends.
    pub fn append(&mut self, next: Self) {
        let before = self.times.len() - 1;
        self.waypoints.extend(next.waypoints.iter().map(|waypoint| before + waypoint));
        self.times.extend(next.times.into_iter().skip(1));
        self.configurations.extend(next.configurations.into_iter().skip(1));
        self.rates.extend(next.rates.into_iter().skip(1));
    }
}

/// Why there is no path.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The waypoints cannot be used as they are.
    #[error("{reason}")]
    Waypoint {
        /// Which waypoint, from 0.
        waypoint: usize,
        /// What is wrong.
        reason: String,
    },
    /// No configuration for a waypoint.
    #[error("{source}")]
    ToolGoal {
        /// Which waypoint, from 0.
        waypoint: usize,
        /// The residual.
        source: InverseKinematicsError,
    },
    /// No configuration on the path to a waypoint.
    #[error("on the path, at {time:.3} s: {source}")]
    PathKind {
        /// The waypoint at the end of the path, from 0.
        waypoint: usize,
        /// Time \[s\].
        time: f64,
        /// The residual.
        source: InverseKinematicsError,
    },
    /// A joint would exceed its rate limit, or jump.
    #[error(
        "at {time:.3} s the joint of '{joint}' needs a rate of {rate:.3}, faster than {limit:.3} rad/s or m/s"
    )]
    Rate {
        /// The waypoint at the end of the path, from 0.
        waypoint: usize,
        /// Time \[s\].
        time: f64,
        /// The link whose joint it is.
        joint: String,
        /// The rate \[rad/s, m/s\].
        rate: f64,
        /// The rate limit \[rad/s, m/s\].
        limit: f64,
    },
    /// A joint would leave its range.
    #[error("at {time:.3} s the joint of '{joint}' is at {value:.4}, outside its range [{:.4}, \
             {:.4}] rad or m", range[0], range[1])]
    Range {
        /// The waypoint at the end of the path, from 0.
        waypoint: usize,
        /// Time \[s\].
        time: f64,
        /// The link whose joint it is.
        joint: String,
        /// The coordinate \[rad, m\].
        value: f64,
        /// Its range.
        range: [f64; 2],
    },
}

impl PlanError {
    /// The waypoint concerned, from 0.
    pub fn waypoint(&self) -> usize {
        match self {
            Self::Waypoint { waypoint, .. }
            | Self::ToolGoal { waypoint, .. }
            | Self::PathKind { waypoint, .. }
            | Self::Rate { waypoint, .. }
            | Self::Range { waypoint, .. } => *waypoint,
        }
    }
}

/// A trajectory from the configuration `start` \[rad, m\] at the time of the begin through `waypoints`. Between
/// stops it is the minimum-jerk polynomial, `10 s^3 - 15 s^4 + 6 s^5` (Flash and Hogan 1985, J.
/// Neuroscience 5(7)), of each joint or of the tool's point and angle; at waypoints that are
/// passed, a quintic polynomial with the given velocities and zero acceleration there: straight
/// between waypoints on a line that are passed at constant velocity, rounded at corners.
///
/// # Errors
/// [`PlanError`], which names the waypoint.
pub fn plan(
    chain: &Chain,
    start: &[f64],
    waypoints: &[Waypoint],
    settings: &PlanSettings,
) -> Result<JointPath, PlanError> {
    check(chain, start, waypoints, settings)?;
    let path = JointPath {
        times: vec![settings.begin],
        configurations: vec![start.to_vec()],
        rates: vec![vec![0.0; start.len()]],
        waypoints: Vec::with_capacity(waypoints.len()),
    };
    let mut planner = Planner { chain, waypoints, settings, path };
    let mut first = 0;
    while first < waypoints.len() {
        let path_kind = waypoints[first].path_kind;
        let same = waypoints[first..].iter().take_while(|w| w.path_kind == path_kind).count();
        // A sequence of paths of one kind that ends at a stop.
        let last = (first..first + same - 1).find(|&w| !waypoints[w].pass).unwrap_or(first + same - 1);
        match path_kind {
            PathKind::Joint => planner.joint_space_path(first, last)?,
            PathKind::Straight => planner.straight_path(first, last)?,
        }
        first = last + 1;
    }
    planner.check_samples()?;
    Ok(planner.path)
}

fn check(
    chain: &Chain,
    start: &[f64],
    waypoints: &[Waypoint],
    settings: &PlanSettings,
) -> Result<(), PlanError> {
    let wrong = |waypoint: usize, reason: String| Err(PlanError::Waypoint { waypoint, reason });
    let count = chain.len();
    for (what, numbers) in
        [("start", start), ("rest configuration", &settings.rest), ("rates", &settings.rates)]
    {
        if numbers.len() != count || numbers.iter().any(|x| x.is_nan()) {
            return wrong(0, format!("the {what} has {} numbers for {count} joints", numbers.len()));
        }
    }
    if !(settings.interval.is_finite() && settings.interval > 0.0) {
        return wrong(0, format!("the sampling interval is {} s", settings.interval));
    }
    let mut before = settings.begin;
    for (at, waypoint) in waypoints.iter().enumerate() {
        if !(waypoint.time.is_finite() && waypoint.time > before) {
            return wrong(at, format!("{} s is not later than {before} s", waypoint.time));
        }
        before = waypoint.time;
        if let WaypointTarget::Configuration(configuration) = &waypoint.place {
            if configuration.len() != count {
                return wrong(
                    at,
                    format!("{} coordinates given for the {count} joints of the tool", configuration.len()),
                );
            }
            if waypoint.path_kind == PathKind::Straight {
                return wrong(at, "a straight path needs a tool pose as its end".into());
            }
        }
        if let Some(next) = waypoints.get(at + 1)
            && waypoint.pass
            && waypoint.path_kind != next.path_kind
        {
            return wrong(at, "a joint path and a straight path must be separated by a stop".into());
        }
    }
    Ok(())
}

struct Planner<'a> {
    chain: &'a Chain,
    waypoints: &'a [Waypoint],
    settings: &'a PlanSettings,
    path: JointPath,
}

impl Planner<'_> {
    fn last_configuration(&self) -> Vec<f64> {
        self.path.configurations.last().cloned().unwrap_or_default()
    }

    /// The start time of the path to a waypoint \[s\].
    fn begin(&self, waypoint: usize) -> f64 {
        waypoint.checked_sub(1).map_or(self.settings.begin, |before| self.waypoints[before].time)
    }

    /// Number of samples on the path to a waypoint.
    fn samples(&self, waypoint: usize) -> usize {
        let length = self.waypoints[waypoint].time - self.begin(waypoint);
        ((length / self.settings.interval).ceil() as usize).max(1)
    }

    fn push(&mut self, time: f64, configuration: Vec<f64>, rates: Vec<f64>) {
        self.path.times.push(time);
        self.path.configurations.push(configuration);
        self.path.rates.push(rates);
    }

    /// The paths to waypoints `first..=last`, straight in joint space.
    fn joint_space_path(&mut self, first: usize, last: usize) -> Result<(), PlanError> {
        let mut stops = vec![self.last_configuration()];
        let mut times = vec![self.begin(first)];
        for w in first..=last {
            let from = stops.last().cloned().unwrap_or_default();
            stops.push(self.solve_waypoint(w, &from)?);
            times.push(self.waypoints[w].time);
        }
        let joints = self.chain.len();
        let rate = |k: usize, j: usize| {
            if k == 0 || k + 1 == stops.len() {
                return 0.0;
            }
            passing_rate(
                (stops[k][j] - stops[k - 1][j]) / (times[k] - times[k - 1]),
                (stops[k + 1][j] - stops[k][j]) / (times[k + 1] - times[k]),
                (stops[k + 1][j] - stops[k - 1][j]) / (times[k + 1] - times[k - 1]),
            )
        };
        for (k, w) in (first..=last).enumerate() {
            let (from, length) = (times[k], times[k + 1] - times[k]);
            // A path without motion needs no samples.
            let count = if stops[k] == stops[k + 1] { 1 } else { self.samples(w) };
            for n in 1..=count {
                let s = n as f64 / count as f64;
                let along = |j: usize| {
                    quintic(stops[k][j], stops[k + 1][j], length * rate(k, j), length * rate(k + 1, j), s)
                };
                let [configuration, rates]: [Vec<f64>; 2] = if n == count {
                    [stops[k + 1].clone(), (0..joints).map(|j| rate(k + 1, j)).collect()]
                } else {
                    let points: Vec<[f64; 2]> = (0..joints).map(along).collect();
                    [points.iter().map(|p| p[0]).collect(), points.iter().map(|p| p[1] / length).collect()]
                };
                let time = if n == count { times[k + 1] } else { from + length * s };
                self.push(time, configuration, rates);
            }
            self.path.waypoints.push(self.path.times.len() - 1);
        }
        Ok(())
    }

    /// The configuration of a waypoint that is reached from `from`.
    fn solve_waypoint(&self, waypoint: usize, from: &[f64]) -> Result<Vec<f64>, PlanError> {
        match &self.waypoints[waypoint].place {
            WaypointTarget::Configuration(configuration) => {
                Ok(configuration.iter().zip(from).map(|(given, before)| given.unwrap_or(*before)).collect())
            }
            WaypointTarget::Tool(goal) => {
                let rest = &self.settings.rest;
                self.chain
                    .solve(goal, &[from, rest], Some(rest), &self.settings.solve)
                    .map(|solution| solution.configuration)
                    .map_err(|source| PlanError::ToolGoal { waypoint, source })
            }
        }
    }

    /// The paths to waypoints `first..=last`, straight for the tool.
    fn straight_path(&mut self, first: usize, last: usize) -> Result<(), PlanError> {
        let start = self.chain.pose(&self.last_configuration());
        let run = StraightPath::new(&start, self.begin(first), &self.waypoints[first..=last]);
        let run_begin = self.path.times.len() - 1;
        for (k, w) in (first..=last).enumerate() {
            // A waypoint out of reach gives its own error, not that of a path without a
            // configuration.
            if let WaypointTarget::Tool(goal) = &self.waypoints[w].place {
                let from = self.last_configuration();
                self.chain
                    .solve(goal, &[&from, &self.settings.rest], None, &self.settings.solve)
                    .map_err(|source| PlanError::ToolGoal { waypoint: w, source })?;
            }
            let segment = run.segment(k, &self.chain.pose(&self.last_configuration()).rotation);
            let (from, count) = (self.begin(w), self.samples(w));
            let mut done = 0.0;
            for n in 1..=count {
                let s = n as f64 / count as f64;
                let time = if n == count { self.waypoints[w].time } else { from + segment.length * s };
                let goal = segment.at(s);
                // Towards the rest configuration in proportion to the path, so that all motion
                // stops together.
                let progress = minimum_jerk(s);
                let pull = Some((self.settings.rest.as_slice(), (progress - done).clamp(0.0, 1.0)));
                done = progress;
                let configuration = self
                    .chain
                    .follow(&goal, &self.last_configuration(), pull, &self.settings.solve)
                    .map_err(|source| PlanError::PathKind { waypoint: w, time, source })?
                    .configuration;
                self.push(time, configuration, vec![0.0; self.chain.len()]);
            }
            self.path.waypoints.push(self.path.times.len() - 1);
        }
        self.difference(run_begin);
        Ok(())
    }

    /// Rates of the samples from `begin` on by central differences; zero at both ends, which are
    /// stops.
    fn difference(&mut self, begin: usize) {
        let JointPath { times, configurations, rates, .. } = &mut self.path;
        for n in begin + 1..times.len().saturating_sub(1) {
            // Of the parabola through three neighbours, which need not be evenly spaced.
            let (h0, h1) = (times[n] - times[n - 1], times[n + 1] - times[n]);
            for (j, rate) in rates[n].iter_mut().enumerate() {
                let slope0 = (configurations[n][j] - configurations[n - 1][j]) / h0;
                let slope1 = (configurations[n + 1][j] - configurations[n][j]) / h1;
                *rate = (slope0 * h1 + slope1 * h0) / (h0 + h1);
            }
        }
    }

    /// Checks that no joint jumps, is too fast or out of its range.
    fn check_samples(&self) -> Result<(), PlanError> {
        let JointPath { times, configurations, waypoints, .. } = &self.path;
        for n in 1..times.len() {
            let waypoint = waypoints.partition_point(|&w| w < n);
            for j in 0..self.chain.len() {
                let rate = (configurations[n][j] - configurations[n - 1][j]) / (times[n] - times[n - 1]);
                let (joint, time) = (self.chain.name(j).to_owned(), times[n]);
                let limit = self.settings.rates[j];
                if rate.abs() > limit {
                    return Err(PlanError::Rate { waypoint, time, joint, rate, limit });
                }
                let (value, range) = (configurations[n][j], self.chain.limits(j));
                // Rounding in files.
                if value < range[0] - 1e-6 || value > range[1] + 1e-6 {
                    return Err(PlanError::Range { waypoint, time, joint, value, range });
                }
            }
        }
        Ok(())
    }
}

/// `10 s^3 - 15 s^4 + 6 s^5`.
fn minimum_jerk(s: f64) -> f64 {
    s * s * s * (10.0 + s * (6.0 * s - 15.0))
}

/// Rate at which a joint passes a waypoint: the mean one, zero if it reverses, and limited so that
/// it does not overshoot (Fritsch and Carlson 1980, SIAM J. Numerical Analysis 17(2)).
fn passing_rate(before: f64, after: f64, mean: f64) -> f64 {
    if before * after <= 0.0 {
        return 0.0;
    }
    mean.signum() * mean.abs().min(1.875 * before.abs().min(after.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    // Checks: given ends and slopes, zero curvature there; between stops the minimum-jerk
    // polynomial.
    #[test]
    fn the_quintic_has_its_ends() {
        let at = |s| quintic(1.0, 4.0, 0.5, -2.0, s);
        assert_relative_eq!(at(0.0)[0], 1.0);
        assert_relative_eq!(at(0.0)[1], 0.5);
        assert_relative_eq!(at(1.0)[0], 4.0, epsilon = 1e-12);
        assert_relative_eq!(at(1.0)[1], -2.0, epsilon = 1e-12);
        let h = 1e-4;
        for s in [0.0, 1.0 - h] {
            // The curvature grows from zero with the third derivative, of the order of 100.
            assert!(((at(s + h)[1] - at(s)[1]) / h).abs() < 300.0 * h);
        }
        assert_relative_eq!(quintic(0.0, 1.0, 0.0, 0.0, 0.3)[0], minimum_jerk(0.3), epsilon = 1e-15);
    }
}
