//! Small matrices over [`Real`]: vectors, general and symmetric 3x3 matrices.
//!
//! `nalgebra` is used in public types; inside kernels these types are used instead, because
//! everything here is certain to be inlined into a caller that is compiled for a wider instruction
//! set (see [`crate::scalar`]). Decompositions are in [`crate::svd`].

use crate::scalar::Real;
use core::ops::{Add, AddAssign, Mul, Sub};

/// Column vector of three entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec3<T>(pub [T; 3]);

/// 3x3 matrix stored by rows: `m.0[row][column]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<T>(pub [[T; 3]; 3]);

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

impl<T: Real> Vec3<T> {
    /// All entries zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::splat(0.0)
    }
    /// The same constant in every entry.
    #[inline(always)]
    pub fn splat(x: f64) -> Self {
        Self([T::splat(x); 3])
    }
    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> T {
        let (a, b) = (self.0, o.0);
        a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
    }
    /// Squared Euclidean length.
    #[inline(always)]
    pub fn norm_squared(self) -> T {
        self.dot(self)
    }
    /// Vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    }
    /// `self` times a scalar.
    #[inline(always)]
    pub fn scale(self, s: T) -> Self {
        Self([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }
    /// `self * s + o`.
    #[inline(always)]
    pub fn scale_add(self, s: T, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[0].mul_add(s, b[0]), a[1].mul_add(s, b[1]), a[2].mul_add(s, b[2])])
    }
    /// Sum of the entries.
    #[inline(always)]
    pub fn sum(self) -> T {
        self.0[0] + self.0[1] + self.0[2]
    }
    /// The function applied to each entry.
    #[inline(always)]
    pub fn map(self, f: impl Fn(T) -> T) -> Self {
        Self([f(self.0[0]), f(self.0[1]), f(self.0[2])])
    }
    /// `if_true` where the mask holds, else `if_false`.
    #[inline(always)]
    pub fn select(mask: T::Mask, if_true: Self, if_false: Self) -> Self {
        let (a, b) = (if_true.0, if_false.0);
        Self([T::select(mask, a[0], b[0]), T::select(mask, a[1], b[1]), T::select(mask, a[2], b[2])])
    }
}

impl<T: Real> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self([self.0[0] + o.0[0], self.0[1] + o.0[1], self.0[2] + o.0[2]])
    }
}

impl<T: Real> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self([self.0[0] - o.0[0], self.0[1] - o.0[1], self.0[2] - o.0[2]])
    }
}

impl<T: Real> AddAssign for Vec3<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

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
        Self([b.scale(a.0[0]).0, b.scale(a.0[1]).0, b.scale(a.0[2]).0])
    }
    /// `self * v`.
    #[inline(always)]
    pub fn mul_vec(&self, v: Vec3<T>) -> Vec3<T> {
        Vec3([self.row(0).dot(v), self.row(1).dot(v), self.row(2).dot(v)])
    }
    /// `self * o^T`.
    #[inline(always)]
    pub fn mul_transpose(&self, o: &Self) -> Self {
        Self([
            [self.row(0).dot(o.row(0)), self.row(0).dot(o.row(1)), self.row(0).dot(o.row(2))],
            [self.row(1).dot(o.row(0)), self.row(1).dot(o.row(1)), self.row(1).dot(o.row(2))],
            [self.row(2).dot(o.row(0)), self.row(2).dot(o.row(1)), self.row(2).dot(o.row(2))],
        ])
    }
    /// `self` times a scalar.
    #[inline(always)]
    pub fn scale(&self, s: T) -> Self {
        Self([self.row(0).scale(s).0, self.row(1).scale(s).0, self.row(2).scale(s).0])
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
        self.row(0).dot(self.row(1).cross(self.row(2)))
    }
    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(&self) -> T {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }
    /// Squared Frobenius norm.
    #[inline(always)]
    pub fn norm_squared(&self) -> T {
        self.row(0).norm_squared() + self.row(1).norm_squared() + self.row(2).norm_squared()
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

impl<T: Real> Sym3<T> {
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
        Self { xx: a.dot(a), yy: b.dot(b), zz: c.dot(c), xy: a.dot(b), xz: a.dot(c), yz: b.dot(c) }
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
            xx: a.row(0).dot(b.row(0)),
            yy: a.row(1).dot(b.row(1)),
            zz: a.row(2).dot(b.row(2)),
            xy: a.row(0).dot(b.row(1)),
            xz: a.row(0).dot(b.row(2)),
            yz: a.row(1).dot(b.row(2)),
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
        let diagonal = Vec3([self.xx, self.yy, self.zz]).norm_squared();
        Vec3([self.xy, self.xz, self.yz]).norm_squared().mul_add(T::splat(2.0), diagonal)
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
    /// `self * v`.
    #[inline(always)]
    pub fn mul_vec(&self, v: Vec3<T>) -> Vec3<T> {
        self.to_mat3().mul_vec(v)
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

impl From<nalgebra::Vector3<f64>> for Vec3<f64> {
    fn from(v: nalgebra::Vector3<f64>) -> Self {
        Self([v.x, v.y, v.z])
    }
}

impl From<Vec3<f64>> for nalgebra::Vector3<f64> {
    fn from(v: Vec3<f64>) -> Self {
        Self::from(v.0)
    }
}

impl From<nalgebra::Matrix3<f64>> for Mat3<f64> {
    fn from(m: nalgebra::Matrix3<f64>) -> Self {
        // nalgebra's nested array is by columns.
        let columns: [[f64; 3]; 3] = m.into();
        Self(columns).transpose()
    }
}

impl From<Mat3<f64>> for nalgebra::Matrix3<f64> {
    fn from(m: Mat3<f64>) -> Self {
        Self::from(m.transpose().0)
    }
}

impl From<Sym3<f64>> for nalgebra::Matrix3<f64> {
    fn from(s: Sym3<f64>) -> Self {
        s.to_mat3().into()
    }
}
