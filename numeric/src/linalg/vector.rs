//! Vectors of three.

use core::ops::{Add, AddAssign, Mul, Neg, Sub};

use nalgebra::Vector3;

use crate::scalar::Real;

/// Column vector of three entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec3<T>(pub [T; 3]);

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
    /// Scalar product, last product first, with [`Real::mul_add`].
    #[inline(always)]
    pub fn fused_dot(self, o: Self) -> T {
        let (a, b) = (self.0, o.0);
        a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
    }
    /// Squared Euclidean length, as [`fused_dot`](Self::fused_dot).
    #[inline(always)]
    pub fn fused_norm_squared(self) -> T {
        self.fused_dot(self)
    }
    /// Scalar product, in the order of the entries, not fused.
    #[inline(always)]
    pub fn dot(self, o: Self) -> T {
        let (a, b) = (self.0, o.0);
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }
    /// Squared Euclidean length, as [`dot`](Self::dot).
    #[inline(always)]
    pub fn norm_squared(self) -> T {
        self.dot(self)
    }
    /// Euclidean length.
    #[inline(always)]
    pub fn norm(self) -> T {
        self.norm_squared().sqrt()
    }
    /// Vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
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
    /// The function applied to each pair of entries.
    #[inline(always)]
    pub fn zip(self, o: Self, f: impl Fn(T, T) -> T) -> Self {
        let (a, b) = (self.0, o.0);
        Self([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])])
    }
    /// Two unit vectors that make a right-handed frame with this one, a unit vector: the first as
    /// much along x as it can be, along y where this is nearly x.
    #[inline(always)]
    pub fn tangents(self) -> [Self; 2] {
        let [x, y, _] = self.0;
        let (zero, one) = (T::zero(), T::one());
        let steep = x.abs().lt(T::splat(0.9));
        let along = T::select(steep, x, y);
        let aside = Self([T::select(steep, one, zero), T::select(steep, zero, one), zero]);
        let first = aside - self * along;
        let first = first * (one / first.norm());
        [first, self.cross(first)]
    }
    /// `if_true` where the mask holds, else `if_false`.
    #[inline(always)]
    pub fn select(mask: T::Mask, if_true: Self, if_false: Self) -> Self {
        let (a, b) = (if_true.0, if_false.0);
        Self(each!(k in [0, 1, 2] T::select(mask, a[k], b[k])))
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

impl<T: Real> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self.0[0], -self.0[1], -self.0[2]])
    }
}

impl<T: Real> Mul<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        Self([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }
}

impl<T: Real> AddAssign for Vec3<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

/// The same constant vector in all lanes.
impl<T: Real> From<Vector3<f64>> for Vec3<T> {
    #[inline(always)]
    fn from(v: Vector3<f64>) -> Self {
        Self([T::splat(v.x), T::splat(v.y), T::splat(v.z)])
    }
}

impl From<Vec3<f64>> for Vector3<f64> {
    fn from(v: Vec3<f64>) -> Self {
        Self::from(v.0)
    }
}
