//! Rotations.

use super::{Real, Vec3, turn_terms};

/// A matrix of three rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<T>(pub [[T; 3]; 3]);

impl<T: Real> Mat3<T> {
    /// The constant matrix `m` in all lanes of a number like `like`.
    #[inline(always)]
    pub fn splat(like: T, m: &nalgebra::Matrix3<f64>) -> Self {
        Self(each!(r in [0, 1, 2] each!(c in [0, 1, 2] like.splat(m[(r, c)]))))
    }

    /// Row `r`.
    #[inline(always)]
    pub fn row(&self, r: usize) -> Vec3<T> {
        Vec3(self.0[r])
    }

    /// Column `c`.
    #[inline(always)]
    pub fn column(&self, c: usize) -> Vec3<T> {
        Vec3([self.0[0][c], self.0[1][c], self.0[2][c]])
    }

    /// The product with a vector.
    #[inline(always)]
    pub fn apply(&self, v: Vec3<T>) -> Vec3<T> {
        Vec3([self.row(0).dot(v), self.row(1).dot(v), self.row(2).dot(v)])
    }

    /// With its transpose.
    #[inline(always)]
    pub fn apply_inverse(&self, v: Vec3<T>) -> Vec3<T> {
        Vec3([self.column(0).dot(v), self.column(1).dot(v), self.column(2).dot(v)])
    }

    /// The product with a matrix.
    #[inline(always)]
    pub fn times(&self, other: &Self) -> Self {
        let columns = each!(c in [0, 1, 2] self.apply(other.column(c)));
        Self(each!(r in [0, 1, 2] [columns[0].0[r], columns[1].0[r], columns[2].0[r]]))
    }
}

/// A unit quaternion (w, x, y, z).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quat<T>(pub [T; 4]);

impl<T: Real> Quat<T> {
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
        let (s, c) = turn_terms(by.squared());
        let [x, y, z] = (by * s).0;
        Self([c, x, y, z]).times(self).normalised()
    }

    /// The quaternion over its norm.
    #[inline(always)]
    pub fn normalised(self) -> Self {
        let [w, x, y, z] = self.0;
        let scale = w.one() / (w * w + x * x + y * y + z * z).sqrt();
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
