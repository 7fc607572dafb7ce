//! Straight paths of a tool.

use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};

use super::quintic::quintic;
use super::solve::{Orientation, ToolGoal};
use super::waypoint::{Waypoint, WaypointTarget};

/// A sequence of straight paths: point and axes of the tool at its waypoints, and the velocities
/// there.
pub(super) struct StraightPath {
    times: Vec<f64>,
    points: Vec<Point3<f64>>,
    velocities: Vec<Vector3<f64>>,
    /// The axes, up to a turn that is free.
    rotations: Vec<UnitQuaternion<f64>>,
    spins: Vec<Vector3<f64>>,
    /// Requirements on the axes along the path to each waypoint; the first has no path.
    target: Vec<Orientation>,
}

impl StraightPath {
    /// From the pose `start` (in the base) at the time `begin` \[s\].
    pub fn new(start: &Isometry3<f64>, begin: f64, waypoints: &[Waypoint]) -> Self {
        let mut times = vec![begin];
        let mut points = vec![Point3::from(start.translation.vector)];
        let mut rotations = vec![start.rotation];
        let mut target = vec![Orientation::Full(start.rotation)];
        for waypoint in waypoints {
            let goal = match &waypoint.place {
                WaypointTarget::Tool(goal) => *goal,
                // Refused before.
                WaypointTarget::Configuration(_) => {
                    ToolGoal { position: points[points.len() - 1], orientation: Orientation::Free }
                }
            };
            let before = rotations[rotations.len() - 1];
            times.push(waypoint.time);
            points.push(goal.position);
            rotations.push(match goal.orientation {
                Orientation::Free => before,
                Orientation::Full(rotation) => rotation,
                Orientation::JointAxis { tool, base } => {
                    turn_between(&(before * tool.into_inner()), &base.into_inner()) * before
                }
            });
            target.push(goal.orientation);
        }
        let mean = |k: usize, difference: &dyn Fn(usize) -> Vector3<f64>| {
            if k == 0 || k + 1 == times.len() {
                return Vector3::zeros();
            }
            (difference(k) + difference(k + 1)) / (times[k + 1] - times[k - 1])
        };
        let shift = |k: usize| points[k] - points[k - 1];
        let turn = |k: usize| (rotations[k] * rotations[k - 1].inverse()).scaled_axis();
        let velocities = (0..times.len()).map(|k| mean(k, &shift)).collect();
        // Where one way fixes more axes than the next, the tool does not turn as it passes.
        let alike = |k: usize| {
            let kinds = |k: usize| target.get(k).map(core::mem::discriminant);
            kinds(k) == kinds(k + 1)
        };
        let spins =
            (0..times.len()).map(|k| if alike(k) { mean(k, &turn) } else { Vector3::zeros() }).collect();
        Self { times, points, velocities, rotations, spins, target }
    }

    /// The way from waypoint `k` of the run to the next, at whose beginning the tool really has the
    /// axes `actual`.
    pub fn segment(&self, k: usize, actual: &UnitQuaternion<f64>) -> Segment {
        let length = self.times[k + 1] - self.times[k];
        // A turn that was free is where it came to be.
        let full = |w: &Orientation| matches!(w, Orientation::Full(_));
        let from =
            if full(&self.target[k + 1]) && !full(&self.target[k]) { *actual } else { self.rotations[k] };
        let turn = (self.rotations[k + 1] * from.inverse()).scaled_axis();
        Segment {
            length,
            points: [self.points[k].coords, self.points[k + 1].coords],
            velocities: [self.velocities[k] * length, self.velocities[k + 1] * length],
            from,
            turn,
            turn_rates: [self.spins[k] * length, left_jacobian_inverse(&turn) * self.spins[k + 1] * length],
            target: self.target[k + 1],
        }
    }
}

/// One straight way; velocities are those per unit of its parameter s from 0 to 1.
pub(super) struct Segment {
    /// Length \[s\].
    pub length: f64,
    points: [Vector3<f64>; 2],
    velocities: [Vector3<f64>; 2],
    from: UnitQuaternion<f64>,
    /// Rotation vector of the whole turn, and its rates at both ends.
    turn: Vector3<f64>,
    turn_rates: [Vector3<f64>; 2],
    target: Orientation,
}

impl Segment {
    /// Where the tool is to be at s, from 0 to 1.
    pub fn at(&self, s: f64) -> ToolGoal {
        let [from, to] = &self.points;
        let position = Point3::from(Vector3::from_fn(|d, _| {
            quintic(from[d], to[d], self.velocities[0][d], self.velocities[1][d], s)[0]
        }));
        let turn = Vector3::from_fn(|d, _| {
            quintic(0.0, self.turn[d], self.turn_rates[0][d], self.turn_rates[1][d], s)[0]
        });
        let rotation = UnitQuaternion::from_scaled_axis(turn) * self.from;
        let orientation = match self.target {
            Orientation::Free => Orientation::Free,
            Orientation::Full(_) => Orientation::Full(rotation),
            Orientation::JointAxis { tool, .. } => Orientation::JointAxis { tool, base: rotation * tool },
        };
        ToolGoal { position, orientation }
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

/// Inverse of the matrix that takes the rate of a rotation vector to the angular velocity
/// (Chirikjian 2012, *Stochastic Models, Information Theory, and Lie Groups*, vol. 2, eq. 10.86).
fn left_jacobian_inverse(turn: &Vector3<f64>) -> Matrix3<f64> {
    let (angle, cross) = (turn.norm(), turn.cross_matrix());
    let factor = if angle < 1e-4 {
        1.0 / 12.0
    } else {
        1.0 / (angle * angle) - (1.0 + angle.cos()) / (2.0 * angle * angle.sin())
    };
    Matrix3::identity() - cross * 0.5 + cross * cross * factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    // Checks: a rotation vector r with rate r' turns R(r) at w = J(r) r'; here by differences of R.
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
