//! Places and orientations.

use super::{Mat3, Real, Vec3};

/// A frame in another one: its axes are the columns of the rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<T> {
    /// Rotation of the world from the frame.
    pub rotation: Mat3<T>,
    /// The frame's origin in the world \[m\].
    pub position: Vec3<T>,
}

impl<T: Real> Pose<T> {
    /// The same constant pose in all lanes, of the kind of `like`.
    #[inline(always)]
    pub fn splat(like: T, pose: &nalgebra::Isometry3<f64>) -> Self {
        Self {
            rotation: Mat3::splat(like, pose.rotation.to_rotation_matrix().matrix()),
            position: Vec3::splat(like, &pose.translation.vector),
        }
    }

    /// Where a point of the frame is in the other one.
    #[inline(always)]
    pub fn apply(&self, p: Vec3<T>) -> Vec3<T> {
        self.rotation.apply(p) + self.position
    }

    /// Where a point of the other one is in the frame.
    #[inline(always)]
    pub fn apply_inverse(&self, p: Vec3<T>) -> Vec3<T> {
        self.rotation.apply_inverse(p - self.position)
    }

    /// A frame in this one, seen from the other one.
    #[inline(always)]
    pub fn times(&self, inner: &Self) -> Self {
        Self { rotation: self.rotation.times(&inner.rotation), position: self.apply(inner.position) }
    }
}
