//! Geometries at the poses of a substep.

use nalgebra::{Isometry3, Matrix3, Point3};
use pliant_rigid::{Bodies, BodyId, SpatialVelocity};

use crate::backend::SeenBody;

/// A geometry at the pose of this substep.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub body: BodyId,
    /// Index among the body's geometries.
    pub index: usize,
    /// Gap at which bonds to it break [m]; 0 where nothing adheres.
    pub range: f64,
    pub pose: Isometry3<f64>,
    /// A ball around it, if there is one.
    pub ball: Option<Ball>,
    /// World to geometry frame.
    pub inverse_rotation: Matrix3<f64>,
    /// The body's origin at this substep.
    pub origin: Point3<f64>,
    pub velocity: SpatialVelocity,
}

/// A ball around a geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    /// World frame.
    center: Point3<f64>,
    /// [m]
    radius: f64,
    /// Speed of the body at its centre [m/s].
    speed: f64,
    /// [rad/s]
    spin: f64,
}

impl Ball {
    /// Whether it stays more than `reach` [m] away from all points within `radius` [m] of `center` (world) for `delta` [s].
    pub fn is_beyond(&self, (center, radius): (&Point3<f64>, f64), reach: f64, delta: f64) -> bool {
        let away = (center - self.center).norm();
        let speed = self.speed + self.spin * (away + radius);
        away - radius - self.radius > reach + speed * delta
    }
}

impl Placed {
    /// A geometry of a body, at the world's origin until it is [placed](Self::place).
    pub fn new(bodies: &Bodies, body: BodyId, index: usize) -> Self {
        Self {
            body,
            index,
            range: bodies.body(body).geometries[index].adhesion.map_or(0.0, |a| a.range),
            pose: Isometry3::identity(),
            ball: None,
            inverse_rotation: Matrix3::identity(),
            origin: Point3::origin(),
            velocity: SpatialVelocity::zero(),
        }
    }

    /// A position (world) in the geometry's frame.
    pub fn local(&self, position: &Point3<f64>) -> Point3<f64> {
        Point3::from(self.inverse_rotation * (position.coords - self.pose.translation.vector))
    }

    /// Brings it to where its body is seen.
    pub fn place(&mut self, bodies: &Bodies, seen: &[SeenBody]) {
        let SeenBody { pose, velocity } = seen[self.body.0];
        let geometry = &bodies.body(self.body).geometries[self.index];
        self.pose = pose * geometry.pose;
        self.inverse_rotation = self.pose.rotation.inverse().to_rotation_matrix().into_inner();
        self.origin = pose.translation.vector.into();
        self.velocity = velocity;
        self.ball = geometry.shape.bounding_sphere().map(|(center, radius)| {
            let center = self.pose * center;
            let speed = velocity.at(&self.origin, &center).norm();
            Ball { center, radius, speed, spin: velocity.angular.norm() }
        });
    }
}
