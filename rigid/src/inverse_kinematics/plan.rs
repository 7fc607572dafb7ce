//! Paths of postures through waypoints.

use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};

use super::chain::Chain;
use super::error::InverseKinematicsError;
use super::solve::{Goal, Orientation, Settings};

/// Where a waypoint is.
#[derive(Clone, Debug, PartialEq)]
pub enum WaypointPlace {
    /// A posture (rad, m).
    Posture(Vec<f64>),
    /// A pose of the tool in the base of the chain.
    Tool(Goal),
}

/// How the chain gets to a waypoint from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Straight in the space of the joints.
    Joint,
    /// The tool's origin straight, its turn about one axis.
    Straight,
}

/// Where to be at which time.
#[derive(Clone, Debug, PartialEq)]
pub struct Waypoint {
    /// Time (s).
    pub time: f64,
    /// Where.
    pub place: WaypointPlace,
    /// How to get there.
    pub way: Way,
    /// Whether it is passed without a stop, at the mean velocity from the waypoint before to the one after. Elsewhere, and at the last
    /// waypoint, there is a stop.
    pub pass: bool,
}

/// How paths are made.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanSettings {
    /// Longest time between two samples (s).
    pub interval: f64,
    /// Fastest that each joint may move (rad/s, m/s).
    pub rates: Vec<f64>,
    /// The posture (rad, m) near which postures stay where the tool leaves them a choice.
    pub rest: Vec<f64>,
    /// When a posture is good enough.
    pub solve: Settings,
}

/// Joint coordinates in time.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPath {
    /// Times (s), from 0 on, later and later.
    pub times: Vec<f64>,
    /// A posture a time (rad, m).
    pub postures: Vec<Vec<f64>>,
    /// Rates there (rad/s, m/s).
    pub rates: Vec<Vec<f64>>,
    /// Which of the times each waypoint has.
    pub waypoints: Vec<usize>,
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
    /// No posture for a waypoint.
    #[error("{source}")]
    Goal {
        /// Which waypoint, from 0.
        waypoint: usize,
        /// What remains.
        source: InverseKinematicsError,
    },
    /// No posture on the way to a waypoint.
    #[error("on the way, at {time:.3} s: {source}")]
    Way {
        /// The waypoint at the end of the way, from 0.
        waypoint: usize,
        /// Time (s).
        time: f64,
        /// What remains.
        source: InverseKinematicsError,
    },
    /// A joint would have to jump, or at least to move faster than it may.
    #[error(
        "at {time:.3} s the joint of '{joint}' would have to move at {rate:.3}, faster than {limit:.3} rad/s or m/s"
    )]
    Rate {
        /// The waypoint at the end of the way, from 0.
        waypoint: usize,
        /// Time (s).
        time: f64,
        /// The link whose joint it is.
        joint: String,
        /// The rate (rad/s, m/s).
        rate: f64,
        /// The fastest (rad/s, m/s).
        limit: f64,
    },
    /// A joint would leave its range.
    #[error("at {time:.3} s the joint of '{joint}' would be at {value:.4}, out of its range [{:.4}, {:.4}] rad or m", range[0], range[1])]
    Range {
        /// The waypoint at the end of the way, from 0.
        waypoint: usize,
        /// Time (s).
        time: f64,
        /// The link whose joint it is.
        joint: String,
        /// The coordinate (rad, m).
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
            | Self::Goal { waypoint, .. }
            | Self::Way { waypoint, .. }
            | Self::Rate { waypoint, .. }
            | Self::Range { waypoint, .. } => *waypoint,
        }
    }
}

/// A path from the posture `start` (rad, m) at time 0 through `waypoints`. Between stops it is the polynomial of least jerk,
/// `10 s^3 - 15 s^4 + 6 s^5` (Flash and Hogan 1985, J. Neuroscience 5(7)), of each joint or of the tool's point and angle; where
/// waypoints are passed, the polynomial of the fifth degree with the velocities there and no acceleration: straight between waypoints
/// on a line that are passed evenly, round at corners.
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
        times: vec![0.0],
        postures: vec![start.to_vec()],
        rates: vec![vec![0.0; start.len()]],
        waypoints: Vec::with_capacity(waypoints.len()),
    };
    let mut planner = Planner { chain, waypoints, settings, path };
    let mut first = 0;
    while first < waypoints.len() {
        let way = waypoints[first].way;
        let same = waypoints[first..].iter().take_while(|w| w.way == way).count();
        // A run of one way that ends at a stop.
        let last = (first..first + same - 1).find(|&w| !waypoints[w].pass).unwrap_or(first + same - 1);
        match way {
            Way::Joint => planner.joint_run(first, last)?,
            Way::Straight => planner.straight_run(first, last)?,
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
    for (what, numbers) in [("start", start), ("rest posture", &settings.rest), ("rates", &settings.rates)] {
        if numbers.len() != count || numbers.iter().any(|x| x.is_nan()) {
            return wrong(0, format!("the {what} has {} numbers for {count} joints", numbers.len()));
        }
    }
    if !(settings.interval.is_finite() && settings.interval > 0.0) {
        return wrong(0, format!("an interval of {} s between samples", settings.interval));
    }
    let mut before = 0.0;
    for (at, waypoint) in waypoints.iter().enumerate() {
        if !(waypoint.time.is_finite() && waypoint.time > before) {
            return wrong(at, format!("{} s is not later than {before} s", waypoint.time));
        }
        before = waypoint.time;
        if let WaypointPlace::Posture(posture) = &waypoint.place {
            if posture.len() != count {
                return wrong(at, format!("{} coordinates for the tool's {count} joints", posture.len()));
            }
            if waypoint.way == Way::Straight {
                return wrong(at, "a straight way needs a pose of the tool to end at".into());
            }
        }
        if let Some(next) = waypoints.get(at + 1)
            && waypoint.pass
            && waypoint.way != next.way
        {
            return wrong(at, "between a way of the joints and a straight one there must be a stop".into());
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
    fn last_posture(&self) -> Vec<f64> {
        self.path.postures.last().cloned().unwrap_or_default()
    }

    /// The time at which the way to a waypoint begins (s).
    fn begin(&self, waypoint: usize) -> f64 {
        waypoint.checked_sub(1).map_or(0.0, |before| self.waypoints[before].time)
    }

    /// Number of samples on the way to a waypoint.
    fn samples(&self, waypoint: usize) -> usize {
        let length = self.waypoints[waypoint].time - self.begin(waypoint);
        ((length / self.settings.interval).ceil() as usize).max(1)
    }

    fn push(&mut self, time: f64, posture: Vec<f64>, rates: Vec<f64>) {
        self.path.times.push(time);
        self.path.postures.push(posture);
        self.path.rates.push(rates);
    }

    /// The ways to waypoints `first..=last`, straight for the joints.
    fn joint_run(&mut self, first: usize, last: usize) -> Result<(), PlanError> {
        let mut stops = vec![self.last_posture()];
        let mut times = vec![self.begin(first)];
        for w in first..=last {
            let from = stops.last().cloned().unwrap_or_default();
            stops.push(self.posture(w, &from)?);
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
            // What stands still needs no samples.
            let count = if stops[k] == stops[k + 1] { 1 } else { self.samples(w) };
            for n in 1..=count {
                let s = n as f64 / count as f64;
                let along = |j: usize| {
                    quintic(stops[k][j], stops[k + 1][j], length * rate(k, j), length * rate(k + 1, j), s)
                };
                let [posture, rates]: [Vec<f64>; 2] = if n == count {
                    [stops[k + 1].clone(), (0..joints).map(|j| rate(k + 1, j)).collect()]
                } else {
                    let points: Vec<[f64; 2]> = (0..joints).map(along).collect();
                    [points.iter().map(|p| p[0]).collect(), points.iter().map(|p| p[1] / length).collect()]
                };
                let time = if n == count { times[k + 1] } else { from + length * s };
                self.push(time, posture, rates);
            }
            self.path.waypoints.push(self.path.times.len() - 1);
        }
        Ok(())
    }

    /// The posture of a waypoint that is reached from `from`.
    fn posture(&self, waypoint: usize, from: &[f64]) -> Result<Vec<f64>, PlanError> {
        match &self.waypoints[waypoint].place {
            WaypointPlace::Posture(posture) => Ok(posture.clone()),
            WaypointPlace::Tool(goal) => {
                let rest = &self.settings.rest;
                self.chain
                    .solve(goal, &[from, rest], Some(rest), &self.settings.solve)
                    .map(|solution| solution.posture)
                    .map_err(|source| PlanError::Goal { waypoint, source })
            }
        }
    }

    /// The ways to waypoints `first..=last`, straight for the tool.
    fn straight_run(&mut self, first: usize, last: usize) -> Result<(), PlanError> {
        let run = StraightRun::new(self, first, last);
        let run_begin = self.path.times.len() - 1;
        for (k, w) in (first..=last).enumerate() {
            // A waypoint out of reach is told as such, not as a way on which there is no posture any more.
            if let WaypointPlace::Tool(goal) = &self.waypoints[w].place {
                let from = self.last_posture();
                self.chain
                    .solve(goal, &[&from, &self.settings.rest], None, &self.settings.solve)
                    .map_err(|source| PlanError::Goal { waypoint: w, source })?;
            }
            let segment = run.segment(k, &self.chain.pose(&self.last_posture()).rotation);
            let (from, count) = (self.begin(w), self.samples(w));
            let mut done = 0.0;
            for n in 1..=count {
                let s = n as f64 / count as f64;
                let time = if n == count { self.waypoints[w].time } else { from + segment.length * s };
                let goal = segment.at(s);
                // Towards the rest posture in step with the way, so that all stops together.
                let progress = minimum_jerk(s);
                let pull = Some((self.settings.rest.as_slice(), (progress - done).clamp(0.0, 1.0)));
                done = progress;
                let posture = self
                    .chain
                    .follow(&goal, &self.last_posture(), pull, &self.settings.solve)
                    .map_err(|source| PlanError::Way { waypoint: w, time, source })?
                    .posture;
                self.push(time, posture, vec![0.0; self.chain.len()]);
            }
            self.path.waypoints.push(self.path.times.len() - 1);
        }
        self.difference(run_begin);
        Ok(())
    }

    /// Rates of the samples from `begin` on by central differences; zero at both ends, which are stops.
    fn difference(&mut self, begin: usize) {
        let JointPath { times, postures, rates, .. } = &mut self.path;
        for n in begin + 1..times.len().saturating_sub(1) {
            // Of the parabola through three neighbours, which need not be evenly spaced.
            let (h0, h1) = (times[n] - times[n - 1], times[n + 1] - times[n]);
            for (j, rate) in rates[n].iter_mut().enumerate() {
                let slope0 = (postures[n][j] - postures[n - 1][j]) / h0;
                let slope1 = (postures[n + 1][j] - postures[n][j]) / h1;
                *rate = (slope0 * h1 + slope1 * h0) / (h0 + h1);
            }
        }
    }

    /// No joint jumps, is too fast or out of its range.
    fn check_samples(&self) -> Result<(), PlanError> {
        let JointPath { times, postures, waypoints, .. } = &self.path;
        for n in 1..times.len() {
            let waypoint = waypoints.partition_point(|&w| w < n);
            for j in 0..self.chain.len() {
                let rate = (postures[n][j] - postures[n - 1][j]) / (times[n] - times[n - 1]);
                let (joint, time) = (self.chain.name(j).to_owned(), times[n]);
                let limit = self.settings.rates[j];
                if rate.abs() > limit {
                    return Err(PlanError::Rate { waypoint, time, joint, rate, limit });
                }
                let (value, range) = (postures[n][j], self.chain.limits(j));
                // Rounding in files.
                if value < range[0] - 1e-6 || value > range[1] + 1e-6 {
                    return Err(PlanError::Range { waypoint, time, joint, value, range });
                }
            }
        }
        Ok(())
    }
}

/// What a run of straight ways goes through: the point and the axes of the tool at its waypoints, and the velocities there.
struct StraightRun {
    times: Vec<f64>,
    points: Vec<Point3<f64>>,
    velocities: Vec<Vector3<f64>>,
    /// The axes, up to a turn that is free.
    rotations: Vec<UnitQuaternion<f64>>,
    spins: Vec<Vector3<f64>>,
    /// What is wanted of the axes on the way to each waypoint; the first has no way to it.
    wanted: Vec<Orientation>,
}

impl StraightRun {
    fn new(planner: &Planner, first: usize, last: usize) -> Self {
        let start: Isometry3<f64> = planner.chain.pose(&planner.last_posture());
        let mut times = vec![planner.begin(first)];
        let mut points = vec![Point3::from(start.translation.vector)];
        let mut rotations = vec![start.rotation];
        let mut wanted = vec![Orientation::Full(start.rotation)];
        for waypoint in &planner.waypoints[first..=last] {
            let goal = match &waypoint.place {
                WaypointPlace::Tool(goal) => *goal,
                // Refused before.
                WaypointPlace::Posture(posture) => {
                    let pose = planner.chain.pose(posture);
                    let orientation = Orientation::Full(pose.rotation);
                    Goal { position: pose.translation.vector.into(), orientation }
                }
            };
            let before = rotations[rotations.len() - 1];
            times.push(waypoint.time);
            points.push(goal.position);
            rotations.push(match goal.orientation {
                Orientation::Free => before,
                Orientation::Full(rotation) => rotation,
                Orientation::Axis { tool, base } => {
                    turn_between(&(before * tool.into_inner()), &base.into_inner()) * before
                }
            });
            wanted.push(goal.orientation);
        }
        let mean = |k: usize, way: &dyn Fn(usize) -> Vector3<f64>| {
            if k == 0 || k + 1 == times.len() {
                return Vector3::zeros();
            }
            (way(k) + way(k + 1)) / (times[k + 1] - times[k - 1])
        };
        let shift = |k: usize| points[k] - points[k - 1];
        let turn = |k: usize| (rotations[k] * rotations[k - 1].inverse()).scaled_axis();
        let velocities = (0..times.len()).map(|k| mean(k, &shift)).collect();
        // Where one way fixes more axes than the next, the tool does not turn as it passes.
        let alike = |k: usize| {
            let kinds = |k: usize| wanted.get(k).map(core::mem::discriminant);
            kinds(k) == kinds(k + 1)
        };
        let spins =
            (0..times.len()).map(|k| if alike(k) { mean(k, &turn) } else { Vector3::zeros() }).collect();
        Self { times, points, velocities, rotations, spins, wanted }
    }

    /// The way from waypoint `k` of the run to the next, at whose beginning the tool really has the axes `actual`.
    fn segment(&self, k: usize, actual: &UnitQuaternion<f64>) -> Segment {
        let length = self.times[k + 1] - self.times[k];
        // A turn that was free is where it came to be.
        let full = |w: &Orientation| matches!(w, Orientation::Full(_));
        let from =
            if full(&self.wanted[k + 1]) && !full(&self.wanted[k]) { *actual } else { self.rotations[k] };
        let turn = (self.rotations[k + 1] * from.inverse()).scaled_axis();
        Segment {
            length,
            points: [self.points[k].coords, self.points[k + 1].coords],
            velocities: [self.velocities[k] * length, self.velocities[k + 1] * length],
            from,
            turn,
            turn_rates: [self.spins[k] * length, left_jacobian_inverse(&turn) * self.spins[k + 1] * length],
            wanted: self.wanted[k + 1],
        }
    }
}

/// One straight way; velocities are those per unit of its parameter s from 0 to 1.
struct Segment {
    length: f64,
    points: [Vector3<f64>; 2],
    velocities: [Vector3<f64>; 2],
    from: UnitQuaternion<f64>,
    /// Rotation vector of the whole turn, and its rates at both ends.
    turn: Vector3<f64>,
    turn_rates: [Vector3<f64>; 2],
    wanted: Orientation,
}

impl Segment {
    fn at(&self, s: f64) -> Goal {
        let [from, to] = &self.points;
        let position = Point3::from(Vector3::from_fn(|d, _| {
            quintic(from[d], to[d], self.velocities[0][d], self.velocities[1][d], s)[0]
        }));
        let turn = Vector3::from_fn(|d, _| {
            quintic(0.0, self.turn[d], self.turn_rates[0][d], self.turn_rates[1][d], s)[0]
        });
        let rotation = UnitQuaternion::from_scaled_axis(turn) * self.from;
        let orientation = match self.wanted {
            Orientation::Free => Orientation::Free,
            Orientation::Full(_) => Orientation::Full(rotation),
            Orientation::Axis { tool, .. } => Orientation::Axis { tool, base: rotation * tool },
        };
        Goal { position, orientation }
    }
}

/// The shortest turn that takes one direction to another.
fn turn_between(a: &Vector3<f64>, b: &Vector3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::rotation_between(a, b).unwrap_or_else(|| {
        // Opposite: about any direction across.
        let other = if a.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
        UnitQuaternion::from_scaled_axis(a.cross(&other).normalize() * core::f64::consts::PI)
    })
}

/// Inverse of the matrix that takes the rate of a rotation vector to the angular velocity (Chirikjian 2012, *Stochastic Models,
/// Information Theory, and Lie Groups*, vol. 2, eq. 10.86).
fn left_jacobian_inverse(turn: &Vector3<f64>) -> Matrix3<f64> {
    let (angle, cross) = (turn.norm(), turn.cross_matrix());
    let factor = if angle < 1e-4 {
        1.0 / 12.0
    } else {
        1.0 / (angle * angle) - (1.0 + angle.cos()) / (2.0 * angle * angle.sin())
    };
    Matrix3::identity() - cross * 0.5 + cross * cross * factor
}

/// `10 s^3 - 15 s^4 + 6 s^5`.
fn minimum_jerk(s: f64) -> f64 {
    s * s * s * (10.0 + s * (6.0 * s - 15.0))
}

/// Value and slope at s, from 0 to 1, of the polynomial of the fifth degree with the given ends and slopes and no curvature at either end.
fn quintic(from: f64, to: f64, slope0: f64, slope1: f64, s: f64) -> [f64; 2] {
    let way = to - from;
    let c3 = 10.0 * way - 6.0 * slope0 - 4.0 * slope1;
    let c4 = -15.0 * way + 8.0 * slope0 + 7.0 * slope1;
    let c5 = 6.0 * way - 3.0 * slope0 - 3.0 * slope1;
    [
        from + s * (slope0 + s * s * (c3 + s * (c4 + s * c5))),
        slope0 + s * s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)),
    ]
}

/// Rate with which a joint passes a waypoint: the mean one, but none where it turns back, and never so fast that it overshoots (Fritsch
/// and Carlson 1980, SIAM J. Numerical Analysis 17(2)).
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

    // The law: ends and slopes as asked, no curvature there; between stops the polynomial of least jerk.
    #[test]
    fn the_quintic_has_its_ends() {
        let at = |s| quintic(1.0, 4.0, 0.5, -2.0, s);
        assert_relative_eq!(at(0.0)[0], 1.0);
        assert_relative_eq!(at(0.0)[1], 0.5);
        assert_relative_eq!(at(1.0)[0], 4.0, epsilon = 1e-12);
        assert_relative_eq!(at(1.0)[1], -2.0, epsilon = 1e-12);
        let h = 1e-4;
        for s in [0.0, 1.0 - h] {
            // The curvature grows from none as the third derivative says, of the order of 100.
            assert!(((at(s + h)[1] - at(s)[1]) / h).abs() < 300.0 * h);
        }
        assert_relative_eq!(quintic(0.0, 1.0, 0.0, 0.0, 0.3)[0], minimum_jerk(0.3), epsilon = 1e-15);
    }

    // The law: a rotation vector r with rate r' turns R(r) at w = J(r) r'; here by differences of R.
    #[test]
    fn rates_of_rotation_vectors_are_angular_velocities() {
        let (turn, spin) = (Vector3::new(0.4, -1.1, 0.7), Vector3::new(0.3, 0.2, -0.9));
        let rate = left_jacobian_inverse(&turn) * spin;
        let h = 1e-5;
        let at = |t: f64| UnitQuaternion::from_scaled_axis(turn + rate * t);
        let found = (at(h) * at(-h).inverse()).scaled_axis() / (2.0 * h);
        assert_relative_eq!(found, spin, epsilon = 1e-8);
    }
}
