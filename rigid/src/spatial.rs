//! Velocities and impulses of rigid bodies. Angular part first.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

/// Velocity of a rigid body, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpatialVelocity {
    /// Angular velocity \[rad/s\].
    pub angular: Vector3<f64>,
    /// Velocity of the body's origin \[m/s\].
    pub linear: Vector3<f64>,
}

impl SpatialVelocity {
    /// At rest.
    pub fn zero() -> Self {
        Self::default()
    }

    /// Velocity \[m/s\] of the material point of the body at `point`, where `origin` is the body's
    /// origin (both world frame, m).
    #[inline]
    pub fn at(&self, origin: &Point3<f64>, point: &Point3<f64>) -> Vector3<f64> {
        self.linear + self.angular.cross(&(point - origin))
    }

    /// `pose` after `s` seconds at this velocity: the origin moves on a line, the body rotates
    /// about it by the exponential map.
    pub fn advance(&self, pose: &Isometry3<f64>, s: f64) -> Isometry3<f64> {
        advance(pose, self, s)
    }

    /// The velocity that leads from one pose to another in `s` seconds: see
    /// [`advance`](Self::advance).
    pub fn between(from: &Isometry3<f64>, to: &Isometry3<f64>, s: f64) -> Self {
        Self {
            angular: (to.rotation * from.rotation.inverse()).scaled_axis() / s,
            linear: (to.translation.vector - from.translation.vector) / s,
        }
    }

    /// Whether all components are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.angular.iter().chain(self.linear.iter()).all(|x| x.is_finite())
    }
}

/// An impulse on a rigid body, in the world frame. Momenta have the same form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpatialImpulse {
    /// Angular impulse about the body's origin \[N m s\].
    pub angular: Vector3<f64>,
    /// Linear impulse \[N s\].
    pub linear: Vector3<f64>,
}

impl SpatialImpulse {
    /// A zero impulse.
    pub fn zero() -> Self {
        Self::default()
    }

    /// Adds an impulse `linear` \[N s\] that acts at `point` on the body whose origin is `origin`
    /// (world frame, m).
    pub fn add_at(&mut self, origin: &Point3<f64>, point: &Point3<f64>, linear: &Vector3<f64>) {
        self.linear += linear;
        self.angular += (point - origin).cross(linear);
    }
}

/// `pose` after `s` seconds at a constant velocity: the origin moves on a line, the body turns
/// about it by the exponential of the angular velocity.
pub(crate) fn advance(pose: &Isometry3<f64>, velocity: &SpatialVelocity, s: f64) -> Isometry3<f64> {
    let translation = pose.translation.vector + velocity.linear * s;
    let rotation = UnitQuaternion::from_scaled_axis(velocity.angular * s) * pose.rotation;
    Isometry3::from_parts(Translation3::from(translation), rotation)
}

/// Whether a pose is finite and its rotation a unit quaternion.
pub(crate) fn is_pose(pose: &Isometry3<f64>) -> bool {
    pose.translation.vector.iter().all(|x| x.is_finite()) && is_unit(pose.rotation.norm())
}

/// Whether the length of a vector or quaternion is 1 up to rounding in a file; false for NaN.
pub(crate) fn is_unit(norm: f64) -> bool {
    (norm - 1.0).abs() < 1e-6
}
