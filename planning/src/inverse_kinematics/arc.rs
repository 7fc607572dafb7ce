//! Arcs of a tool, as waypoints on them.

use core::f64::consts::PI;

use nalgebra::{Isometry3, Point3, Unit, Vector3};

use super::solve::{Orientation, ToolGoal};
use super::waypoint::{PathKind, Waypoint, WaypointTarget};

/// Parts of an arc: neighbouring waypoints are 22.5 degrees apart, and what is between them is
/// rounded.
const PARTS: u32 = 8;

/// Half an ellipse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// Height of the ellipse's crest above the chord, for half a chord of 1 m \[-\]. 1 is half a
    /// circle.
    pub rise: f64,
    /// Direction of the crest in the base; what of it is along the chord has no effect.
    pub up: Unit<Vector3<f64>>,
}

impl Arc {
    /// Waypoints from the pose `start` (in the base) at the time `begin` \[s\] to `end`, at
    /// `time` \[s\]. The tool passes those between and stops at the last. With the angle `a` from 0
    /// to pi, the tool's origin is at
    ///
    /// `start + (1 - cos a) / 2 (end - start) + rise |end - start| / 2 sin a n`
    ///
    /// where n is `up` made perpendicular to the chord; an orientation that is given is reached in
    /// the share `(1 - cos a) / 2` of the turn.
    pub fn waypoints(&self, start: &Isometry3<f64>, begin: f64, end: &ToolGoal, time: f64) -> Vec<Waypoint> {
        let from = Point3::from(start.translation.vector);
        let chord = end.position - from;
        let length = chord.norm();
        let up = self.up.into_inner();
        let across = if length > 0.0 { up - chord * (up.dot(&chord) / (length * length)) } else { up };
        // A chord along `up` has no side to which the arc could rise.
        let crest = across.try_normalize(1e-9).unwrap_or_else(Vector3::zeros) * (0.5 * self.rise * length);
        let at = |k: u32| {
            let part = f64::from(k) / f64::from(PARTS);
            let share = 0.5 * (1.0 - (PI * part).cos());
            let position = from + chord * share + crest * (PI * part).sin();
            let orientation = match end.orientation {
                Orientation::Full(turned) => {
                    let turn = (turned * start.rotation.inverse()).scaled_axis();
                    Orientation::Full(
                        nalgebra::UnitQuaternion::from_scaled_axis(turn * share) * start.rotation,
                    )
                }
                // The end alone has to have the axis.
                _ if k < PARTS => Orientation::Free,
                other => other,
            };
            Waypoint {
                time: begin + (time - begin) * part,
                place: WaypointTarget::Tool(ToolGoal { position, orientation }),
                path_kind: PathKind::Straight,
                pass: k < PARTS,
            }
        };
        let mut waypoints: Vec<_> = (1..PARTS).map(at).collect();
        let place = WaypointTarget::Tool(*end);
        waypoints.push(Waypoint { time, place, path_kind: PathKind::Straight, pass: false });
        waypoints
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use nalgebra::{Translation3, UnitQuaternion};

    // Checks: the points are on the ellipse with half the chord and the rise as half axes, in the
    // plane of chord and `up`; the end is the goal.
    #[test]
    fn the_points_are_on_an_ellipse() {
        let start = Isometry3::from_parts(
            Translation3::new(0.1, -0.2, 0.3),
            UnitQuaternion::from_scaled_axis(Vector3::new(0.2, 0.4, -0.1)),
        );
        let turned = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.0, 1.2)) * start.rotation;
        let end = ToolGoal { position: Point3::new(0.7, 0.1, 0.4), orientation: Orientation::Full(turned) };
        let (rise, up) = (0.6, Vector3::z_axis());
        let waypoints = Arc { rise, up }.waypoints(&start, 1.0, &end, 3.0);
        let chord = end.position - Point3::from(start.translation.vector);
        let half = 0.5 * chord.norm();
        let along = chord.normalize();
        let across = (up.into_inner() - along * up.dot(&along)).normalize();
        for (k, waypoint) in waypoints.iter().enumerate() {
            let WaypointTarget::Tool(goal) = &waypoint.place else { panic!("{waypoint:?}") };
            let x = goal.position.coords - start.translation.vector - 0.5 * chord;
            let (a, b) = (x.dot(&along) / half, x.dot(&across) / (rise * half));
            assert_relative_eq!(a * a + b * b, 1.0, epsilon = 1e-12);
            assert_relative_eq!(x.dot(&along.cross(&across)), 0.0, epsilon = 1e-12);
            assert_relative_eq!(waypoint.time, 1.0 + 2.0 * (k + 1) as f64 / 8.0, epsilon = 1e-12);
            assert_eq!(waypoint.pass, k + 1 < waypoints.len());
        }
        assert_eq!(waypoints[7].place, WaypointTarget::Tool(end));
        let WaypointTarget::Tool(crest) = &waypoints[3].place else { panic!() };
        let Orientation::Full(half_turned) = crest.orientation else { panic!() };
        assert_relative_eq!(half_turned.angle_to(&turned), 0.6, epsilon = 1e-12);
    }
}
