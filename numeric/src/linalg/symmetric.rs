//! Symmetric matrices.

use core::ops::{Add, Mul};

use super::matrix::Mat3;
use super::vector::Vec3;
use crate::scalar::Real;

/// Symmetric 3x3 matrix by its six independent entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sym3<T> {
    /// Entry (0, 0).
    pub xx: T,
    /// Entry \[1, 1\].
    pub yy: T,
    /// Entry (2, 2).
    pub zz: T,
    /// Entries (0, 1) and (1, 0).
    pub xy: T,
    /// Entries (0, 2) and (2, 0).
    pub xz: T,
    /// Entries (1, 2) and (2, 1).
    pub yz: T,
}

impl<T: Real> Sym3<T> {
    /// From the entries of the upper triangle, row by row.
    #[inline(always)]
    pub fn from_rows([xx, xy, xz, yy, yz, zz]: [T; 6]) -> Self {
        Self { xx, yy, zz, xy, xz, yz }
    }
    /// The entries of the upper triangle, row by row.
    #[inline(always)]
    pub fn to_rows(self) -> [T; 6] {
        [self.xx, self.xy, self.xz, self.yy, self.yz, self.zz]
    }
    /// A multiple of the identity.
    #[inline(always)]
    pub fn isotropic(s: T) -> Self {
        let o = T::splat(0.0);
        Self { xx: s, yy: s, zz: s, xy: o, xz: o, yz: o }
    }
    /// `m m^T` (for a deformation gradient: the left Cauchy-Green tensor).
    #[inline(always)]
    pub fn left_gram(m: &Mat3<T>) -> Self {
        let (a, b, c) = (m.row(0), m.row(1), m.row(2));
        Self {
            xx: a.fused_dot(a),
            yy: b.fused_dot(b),
            zz: c.fused_dot(c),
            xy: a.fused_dot(b),
            xz: a.fused_dot(c),
            yz: b.fused_dot(c),
        }
    }
    /// `m^T m` (for a deformation gradient: the right Cauchy-Green tensor).
    #[inline(always)]
    pub fn right_gram(m: &Mat3<T>) -> Self {
        Self::left_gram(&m.transpose())
    }
    /// `a b^T` where that product is known to be symmetric; its upper triangle is computed.
    #[inline(always)]
    pub fn from_symmetric_product(a: &Mat3<T>, b: &Mat3<T>) -> Self {
        Self {
            xx: a.row(0).fused_dot(b.row(0)),
            yy: a.row(1).fused_dot(b.row(1)),
            zz: a.row(2).fused_dot(b.row(2)),
            xy: a.row(0).fused_dot(b.row(1)),
            xz: a.row(0).fused_dot(b.row(2)),
            yz: a.row(1).fused_dot(b.row(2)),
        }
    }
    /// `q diag(d) q^T`.
    #[inline(always)]
    pub fn from_eigen(q: &Mat3<T>, d: Vec3<T>) -> Self {
        Self::from_symmetric_product(&q.scale_columns(d), q)
    }
    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(&self) -> T {
        self.xx + self.yy + self.zz
    }
    /// Squared Frobenius norm.
    #[inline(always)]
    pub fn norm_squared(&self) -> T {
        let diagonal = Vec3([self.xx, self.yy, self.zz]).fused_norm_squared();
        Vec3([self.xy, self.xz, self.yz]).fused_norm_squared().mul_add(T::splat(2.0), diagonal)
    }
    /// `self` times a scalar.
    #[inline(always)]
    pub fn scale(&self, s: T) -> Self {
        Self {
            xx: self.xx * s,
            yy: self.yy * s,
            zz: self.zz * s,
            xy: self.xy * s,
            xz: self.xz * s,
            yz: self.yz * s,
        }
    }
    /// `self + s I`.
    #[inline(always)]
    pub fn add_isotropic(&self, s: T) -> Self {
        Self { xx: self.xx + s, yy: self.yy + s, zz: self.zz + s, ..*self }
    }
    /// All nine entries.
    #[inline(always)]
    pub fn to_mat3(&self) -> Mat3<T> {
        Mat3([[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]])
    }
    /// Largest absolute entry.
    #[inline(always)]
    pub fn max_abs(&self) -> T {
        let diagonal = self.xx.abs().max(self.yy.abs()).max(self.zz.abs());
        diagonal.max(self.xy.abs()).max(self.xz.abs()).max(self.yz.abs())
    }
}

/// `self * v`, not fused (see [`Vec3::dot`]).
impl<T: Real> Mul<Vec3<T>> for Sym3<T> {
    type Output = Vec3<T>;
    #[inline(always)]
    fn mul(self, v: Vec3<T>) -> Vec3<T> {
        self.to_mat3().apply(v)
    }
}

impl<T: Real> Add for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            xx: self.xx + o.xx,
            yy: self.yy + o.yy,
            zz: self.zz + o.zz,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yz: self.yz + o.yz,
        }
    }
}

impl From<Sym3<f64>> for nalgebra::Matrix3<f64> {
    fn from(s: Sym3<f64>) -> Self {
        s.to_mat3().into()
    }
}
