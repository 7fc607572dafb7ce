//! Matrices of three rows.

use core::ops::{Add, Mul, Sub};

use nalgebra::Matrix3;

use super::vector::Vec3;
use crate::scalar::Real;

/// 3x3 matrix stored by rows: `m.0[row][column]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<T>(pub [[T; 3]; 3]);

impl<T: Real> Mat3<T> {
    /// All entries zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[T::splat(0.0); 3]; 3])
    }
    /// Ones on the diagonal, zeros elsewhere.
    #[inline(always)]
    pub fn identity() -> Self {
        Self::diagonal(Vec3::splat(1.0))
    }
    /// Matrix with the given diagonal.
    #[inline(always)]
    pub fn diagonal(d: Vec3<T>) -> Self {
        let o = T::splat(0.0);
        Self([[d.0[0], o, o], [o, d.0[1], o], [o, o, d.0[2]]])
    }
    /// Matrix with the given columns.
    #[inline(always)]
    pub fn from_columns(c: [Vec3<T>; 3]) -> Self {
        Self([c[0].0, c[1].0, c[2].0]).transpose()
    }
    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Vec3<T> {
        Vec3(self.0[i])
    }
    /// Column `j`.
    #[inline(always)]
    pub fn column(&self, j: usize) -> Vec3<T> {
        Vec3([self.0[0][j], self.0[1][j], self.0[2][j]])
    }
    /// Transpose.
    #[inline(always)]
    pub fn transpose(&self) -> Self {
        Self([self.column(0).0, self.column(1).0, self.column(2).0])
    }
    /// `a b^T`.
    #[inline(always)]
    pub fn outer(a: Vec3<T>, b: Vec3<T>) -> Self {
        Self([(b * a.0[0]).0, (b * a.0[1]).0, (b * a.0[2]).0])
    }
    /// `self * v`.
    #[inline(always)]
    pub fn mul_vec(&self, v: Vec3<T>) -> Vec3<T> {
        Vec3([self.row(0).fused_dot(v), self.row(1).fused_dot(v), self.row(2).fused_dot(v)])
    }
    /// `self * v`, not fused (see [`Vec3::dot`]).
    #[inline(always)]
    pub fn apply(&self, v: Vec3<T>) -> Vec3<T> {
        Vec3([self.row(0).dot(v), self.row(1).dot(v), self.row(2).dot(v)])
    }
    /// `self^T * v`, not fused.
    #[inline(always)]
    pub fn apply_inverse(&self, v: Vec3<T>) -> Vec3<T> {
        Vec3([self.column(0).dot(v), self.column(1).dot(v), self.column(2).dot(v)])
    }
    /// `self * o`, not fused.
    #[inline(always)]
    pub fn times(&self, o: &Self) -> Self {
        Self::from_columns(each!(c in [0, 1, 2] self.apply(o.column(c))))
    }
    /// `self * o^T`.
    #[inline(always)]
    pub fn mul_transpose(&self, o: &Self) -> Self {
        Self([
            [
                self.row(0).fused_dot(o.row(0)),
                self.row(0).fused_dot(o.row(1)),
                self.row(0).fused_dot(o.row(2)),
            ],
            [
                self.row(1).fused_dot(o.row(0)),
                self.row(1).fused_dot(o.row(1)),
                self.row(1).fused_dot(o.row(2)),
            ],
            [
                self.row(2).fused_dot(o.row(0)),
                self.row(2).fused_dot(o.row(1)),
                self.row(2).fused_dot(o.row(2)),
            ],
        ])
    }
    /// `self` times a scalar.
    #[inline(always)]
    pub fn scale(&self, s: T) -> Self {
        Self([(self.row(0) * s).0, (self.row(1) * s).0, (self.row(2) * s).0])
    }
    /// Each column `j` times `s[j]`: `self * diag(s)`.
    #[inline(always)]
    pub fn scale_columns(&self, s: Vec3<T>) -> Self {
        let mut scaled = *self;
        for row in &mut scaled.0 {
            *row = [row[0] * s.0[0], row[1] * s.0[1], row[2] * s.0[2]];
        }
        scaled
    }
    /// Matrix of cofactors, `det(self) * self^-T`, also where the matrix is singular.
    #[inline(always)]
    pub fn cofactors(&self) -> Self {
        let (a, b, c) = (self.row(0), self.row(1), self.row(2));
        Self([b.cross(c).0, c.cross(a).0, a.cross(b).0])
    }
    /// Determinant.
    #[inline(always)]
    pub fn determinant(&self) -> T {
        self.row(0).fused_dot(self.row(1).cross(self.row(2)))
    }
    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(&self) -> T {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }
    /// Squared Frobenius norm.
    #[inline(always)]
    pub fn norm_squared(&self) -> T {
        self.row(0).fused_norm_squared() + self.row(1).fused_norm_squared() + self.row(2).fused_norm_squared()
    }
    /// Largest absolute entry.
    #[inline(always)]
    pub fn max_abs(&self) -> T {
        let mut largest = T::splat(0.0);
        for r in self.0 {
            largest = largest.max(r[0].abs()).max(r[1].abs()).max(r[2].abs());
        }
        largest
    }
    /// `if_true` where the mask holds, else `if_false`.
    #[inline(always)]
    pub fn select(mask: T::Mask, if_true: Self, if_false: Self) -> Self {
        let mut chosen = if_false;
        for i in 0..3 {
            chosen.0[i] = Vec3::<T>::select(mask, Vec3(if_true.0[i]), Vec3(if_false.0[i])).0;
        }
        chosen
    }
}

impl<T: Real> Mul for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.mul_transpose(&o.transpose())
    }
}

impl<T: Real> Add for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self([(self.row(0) + o.row(0)).0, (self.row(1) + o.row(1)).0, (self.row(2) + o.row(2)).0])
    }
}

impl<T: Real> Sub for Mat3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self([(self.row(0) - o.row(0)).0, (self.row(1) - o.row(1)).0, (self.row(2) - o.row(2)).0])
    }
}

/// The same constant matrix in all lanes.
impl<T: Real> From<Matrix3<f64>> for Mat3<T> {
    #[inline(always)]
    fn from(m: Matrix3<f64>) -> Self {
        Self(each!(r in [0, 1, 2] each!(c in [0, 1, 2] T::splat(m[(r, c)]))))
    }
}

impl From<Mat3<f64>> for Matrix3<f64> {
    fn from(m: Mat3<f64>) -> Self {
        Self::from(m.transpose().0)
    }
}
