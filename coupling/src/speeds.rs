//! How fast bodies may make particles: contact brings a particle to the speed of the surface that touches it.

use nalgebra::Point3;
use pliant_rigid::{Bodies, BodyDesc, Motion, PoseKey, SpatialVelocity, Trajectory, VelocityKey};

/// Largest speed of a surface of any body over the times `from` to `to` [s], in m/s: that of prescribed bodies from their
/// trajectories, that of the others as it is now.
pub(crate) fn fastest_surface(bodies: &Bodies, from: f64, to: f64) -> f64 {
    let speed = |(id, desc): (_, &BodyDesc)| {
        let of = |v: &SpatialVelocity| v.linear.norm() + v.angular.norm() * reach(desc);
        match &desc.motion {
            Motion::Fixed => 0.0,
            Motion::Prescribed(Trajectory::Velocities(keys)) => fastest_key(keys, from, to, of),
            Motion::Prescribed(Trajectory::Poses(keys)) => fastest_move(keys, from, to, of),
            Motion::Dynamic { .. } => of(&bodies.velocity(id)),
        }
    };
    bodies.iter().map(speed).fold(0.0, f64::max)
}

/// Distance from the body's origin within which all its surfaces are [m]; half-spaces, which have no bound, are left out.
fn reach(desc: &BodyDesc) -> f64 {
    let ball = |g: &pliant_rigid::Geometry| {
        let (center, radius) = g.shape.bounding_sphere()?;
        Some((g.pose * center - Point3::origin()).norm() + radius)
    };
    desc.geometries.iter().filter_map(ball).fold(0.0, f64::max)
}

/// Fastest of the velocities that rule between two times.
fn fastest_key(keys: &[VelocityKey], from: f64, to: f64, of: impl Fn(&SpatialVelocity) -> f64) -> f64 {
    let first = keys.partition_point(|k| k.time <= from).saturating_sub(1);
    let ruling = keys[first..].iter().take_while(|k| k.time < to);
    ruling.map(|k| of(&k.velocity)).fold(0.0, f64::max)
}

/// Fastest of the moves between poses that overlap two times.
fn fastest_move(keys: &[PoseKey], from: f64, to: f64, of: impl Fn(&SpatialVelocity) -> f64) -> f64 {
    let moves = keys.windows(2).filter(|k| k[0].time < to && k[1].time > from);
    let speed = |k: &[PoseKey]| {
        let duration = k[1].time - k[0].time;
        let turn = k[1].pose.rotation * k[0].pose.rotation.inverse();
        of(&SpatialVelocity {
            angular: turn.scaled_axis() / duration,
            linear: (k[1].pose.translation.vector - k[0].pose.translation.vector) / duration,
        })
    };
    moves.map(speed).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, UnitQuaternion, Vector3};
    use pliant_rigid::{Geometry, Shape};

    fn with(trajectory: Trajectory) -> Bodies {
        let shape = Shape::Sphere { radius: 0.5 };
        let pose = Isometry3::translation(0.0, 1.5, 0.0);
        let geometries = vec![Geometry { shape, pose, friction: 0.0, color: [0; 3] }];
        let motion = Motion::Prescribed(trajectory);
        let mut bodies = Bodies::new();
        bodies
            .add(BodyDesc { name: "tool".into(), pose: Isometry3::identity(), motion, geometries })
            .unwrap();
        bodies
    }

    /// A ball of 0.5 m at 1.5 m from the origin of its body reaches 2 m: turning at 3 rad/s its surface moves at 6 m/s at most. Only the
    /// keys that rule within the times asked for count.
    #[test]
    fn prescribed_speeds_are_known_ahead() {
        let key = |time, linear: f64, angular: f64| VelocityKey {
            time,
            velocity: SpatialVelocity { linear: Vector3::x() * linear, angular: Vector3::z() * angular },
        };
        let bodies =
            with(Trajectory::Velocities(vec![key(1.0, 2.0, 0.0), key(2.0, 1.0, 3.0), key(3.0, 0.0, 0.0)]));
        for (from, to, speed) in [
            (0.0, 1.0, 0.0),
            (0.5, 1.5, 2.0),
            (1.2, 1.3, 2.0),
            (1.5, 2.5, 7.0),
            (3.0, 4.0, 0.0),
            (0.0, f64::INFINITY, 7.0),
        ] {
            assert_eq!(fastest_surface(&bodies, from, to), speed, "from {from} to {to}");
        }
        let pose = |time, x: f64, angle: f64| PoseKey {
            time,
            pose: Isometry3::from_parts(
                nalgebra::Translation3::new(x, 0.0, 0.0),
                UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle),
            ),
        };
        let bodies =
            with(Trajectory::Poses(vec![pose(0.0, 0.0, 0.0), pose(2.0, 4.0, 0.0), pose(4.0, 4.0, 2.0)]));
        for (from, to, speed) in [(0.0, 1.0, 2.0), (2.0, 3.0, 2.0), (1.0, 3.0, 2.0), (4.0, 9.0, 0.0)] {
            approx::assert_relative_eq!(fastest_surface(&bodies, from, to), speed, epsilon = 1e-12);
        }
    }
}
