//! Geometries at the poses of a substep.

use nalgebra::{Isometry3, Matrix3, Point3};
use pliant_rigid::{Bodies, BodyId, SpatialVelocity};

use crate::body_state::SubstepBodyState;

/// A geometry at the pose of this substep.
#[derive(Clone, Debug)]
pub(crate) struct PlacedGeometry {
    pub body: BodyId,
    /// Index among the body's geometries.
    pub index: usize,
    /// Gap at which bonds to it break \[m\]; 0 without adhesion.
    pub range: f64,
    pub pose: Isometry3<f64>,
    /// A sphere around it, if it is bounded.
    pub bounding_sphere: Option<BoundingSphere>,
    /// World to geometry frame.
    pub inverse_rotation: Matrix3<f64>,
    /// The body's origin at this substep.
    pub origin: Point3<f64>,
    pub velocity: SpatialVelocity,
}

/// A sphere around a geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundingSphere {
    /// World frame.
    center: Point3<f64>,
    /// \[m\]
    radius: f64,
    /// Speed of the body at its centre \[m/s\].
    speed: f64,
    /// \[rad/s\]
    spin: f64,
}

impl BoundingSphere {
    /// Whether it stays more than `reach` \[m\] away from all points within `radius` \[m\] of
    /// `center` (world) for `substep` \[s\].
    pub fn is_beyond(&self, (center, radius): (&Point3<f64>, f64), reach: f64, substep: f64) -> bool {
        let away = (center - self.center).norm();
        let speed = self.speed + self.spin * (away + radius);
        away - radius - self.radius > reach + speed * substep
    }
}

impl PlacedGeometry {
    /// A geometry of a body, at the world's origin until it is [placed](Self::place).
    pub fn new(bodies: &Bodies, body: BodyId, index: usize) -> Self {
        Self {
            body,
            index,
            range: bodies.body(body).geometries[index].adhesion.map_or(0.0, |a| a.range),
            pose: Isometry3::identity(),
            bounding_sphere: None,
            inverse_rotation: Matrix3::identity(),
            origin: Point3::origin(),
            velocity: SpatialVelocity::zero(),
        }
    }

    /// A position (world) in the geometry's frame.
    pub fn local(&self, position: &Point3<f64>) -> Point3<f64> {
        Point3::from(self.inverse_rotation * (position.coords - self.pose.translation.vector))
    }

    /// Bound on the speed of its body at points within `radius` \[m\] of `center` (world) \[m/s\].
    pub fn fastest_within(&self, (center, radius): (&Point3<f64>, f64)) -> f64 {
        self.velocity.at(&self.origin, center).norm() + self.velocity.angular.norm() * radius
    }

    /// Moves it to the pose of its body at the substep.
    pub fn place(&mut self, bodies: &Bodies, substep_states: &[SubstepBodyState]) {
        let SubstepBodyState { pose, velocity, .. } = substep_states[self.body.0];
        let geometry = &bodies.body(self.body).geometries[self.index];
        self.pose = pose * geometry.pose;
        self.inverse_rotation = self.pose.rotation.inverse().to_rotation_matrix().into_inner();
        self.origin = pose.translation.vector.into();
        self.velocity = velocity;
        self.bounding_sphere = geometry.shape.bounding_sphere().map(|(center, radius)| {
            let center = self.pose * center;
            let speed = velocity.at(&self.origin, &center).norm();
            BoundingSphere { center, radius, speed, spin: velocity.angular.norm() }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    /// A blade of 0.4 m that turns about its middle, at the origin, at `spin` \[rad/s\] about z.
    fn blade(spin: f64) -> (PlacedGeometry, BoundingSphere) {
        let placed = PlacedGeometry {
            body: BodyId(0),
            index: 0,
            range: 0.0,
            pose: Isometry3::identity(),
            bounding_sphere: None,
            inverse_rotation: Matrix3::identity(),
            origin: Point3::origin(),
            velocity: SpatialVelocity { angular: Vector3::z() * spin, linear: Vector3::zeros() },
        };
        (placed, BoundingSphere { center: Point3::origin(), radius: 0.2, speed: 0.0, spin })
    }

    // Checks: a rigid body's velocity at x is v + w x (x - o), so within a sphere it is at most the
    // speed at the centre plus w r, and equal to that on the rim in the plane of rotation.
    #[test]
    fn the_bound_on_the_speed_has_the_spin_in_it() {
        for spin in [1.0, 100.0, 200.0] {
            let (placed, _) = blade(spin);
            let (center, radius) = (Point3::new(0.2, 0.0, 0.0), 0.05);
            let bound = placed.fastest_within((&center, radius));
            let rim = placed.velocity.at(&placed.origin, &Point3::new(0.25, 0.0, 0.0)).norm();
            assert!((bound - rim).abs() < 1e-12 * rim, "{bound} m/s, at the rim {rim}");
        }
    }

    // Checks: what is culled cannot be touched. A point touches where the gap is at most what
    // reaches it and what the body covers in the substep at its velocity there. The middle of the
    // blade is at rest; all of its speed is spin.
    #[test]
    fn what_a_turning_blade_can_reach_is_not_culled() {
        let mut by_spin = 0;
        for spin in [0.0, 50.0, 100.0, 200.0] {
            let (placed, bounding_sphere) = blade(spin);
            for substep in [1e-4, 5e-4, 1e-3] {
                for step in 0..100 {
                    let (x, reach) = (0.2 + 1e-3 * f64::from(step), 0.005);
                    let point = Point3::new(x, 0.0, 0.0);
                    let covered = placed.velocity.at(&placed.origin, &point).norm() * substep;
                    let touches = x - bounding_sphere.radius <= reach + covered;
                    by_spin += usize::from(touches && x - bounding_sphere.radius > reach);
                    let culled = bounding_sphere.is_beyond((&point, 0.0), reach, substep);
                    assert!(!(touches && culled), "{spin} rad/s, {substep} s, {x} m");
                    // A blade at rest culls all that is out of reach.
                    assert!(spin > 0.0 || culled == (x - bounding_sphere.radius > reach), "{x} m");
                }
            }
        }
        assert!(by_spin > 50, "spin decides in {by_spin} cases only");
    }
}
