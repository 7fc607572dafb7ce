//! Rotations and poses.

use nalgebra::Isometry3;

use crate::angle::turn_terms;
use crate::linalg::{Mat3, Vec3};
use crate::scalar::Double;

/// A unit quaternion (w, x, y, z).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quat<T>(pub [T; 4]);

impl<T: Double> Quat<T> {
    /// The Hamilton product.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        let ([a, b, c, d], [w, x, y, z]) = (self.0, other.0);
        Self([
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ])
    }

    /// Turned by the rotation vector `by` \[rad\], in the axes that the quaternion leads to.
    #[inline(always)]
    pub fn turned(self, by: Vec3<T>) -> Self {
        let (s, c) = turn_terms(by.norm_squared());
        let [x, y, z] = (by * s).0;
        Self([c, x, y, z]).times(self).normalised()
    }

    /// The quaternion over its norm.
    #[inline(always)]
    pub fn normalised(self) -> Self {
        let [w, x, y, z] = self.0;
        let scale = T::one() / (w * w + x * x + y * y + z * z).sqrt();
        Self([w * scale, x * scale, y * scale, z * scale])
    }

    /// The rotation matrix of a unit quaternion.
    #[inline(always)]
    pub fn matrix(self) -> Mat3<T> {
        let [w, x, y, z] = self.0;
        let (xx, yy, zz) = (x * x, y * y, z * z);
        let (xy, xz, yz) = (x * y, x * z, y * z);
        let (wx, wy, wz) = (w * x, w * y, w * z);
        let diagonal = |a: T, b: T| (a + b) * -2.0 + 1.0;
        let twice = |a: T| a * 2.0;
        Mat3([
            [diagonal(yy, zz), twice(xy - wz), twice(xz + wy)],
            [twice(xy + wz), diagonal(xx, zz), twice(yz - wx)],
            [twice(xz - wy), twice(yz + wx), diagonal(xx, yy)],
        ])
    }
}

/// A frame in another one: its axes are the columns of the rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<T> {
    /// Rotation of the world from the frame.
    pub rotation: Mat3<T>,
    /// The frame's origin in the world \[m\].
    pub position: Vec3<T>,
}

impl<T: Double> Pose<T> {
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

/// The same constant pose in all lanes.
impl<T: Double> From<Isometry3<f64>> for Pose<T> {
    #[inline(always)]
    fn from(pose: Isometry3<f64>) -> Self {
        Self {
            rotation: pose.rotation.to_rotation_matrix().into_inner().into(),
            position: pose.translation.vector.into(),
        }
    }
}
