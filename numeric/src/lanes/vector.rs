//! Vectors of three.

use core::ops::{Add, Mul, Neg, Sub};

use nalgebra::Vector3;

use super::Real;

/// Three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec3<T>(pub [T; 3]);

impl<T: Real> Vec3<T> {
    /// The same constant vector in all lanes, of the kind of `like`.
    #[inline(always)]
    pub fn splat(like: T, v: &Vector3<f64>) -> Self {
        Self([like.splat(v.x), like.splat(v.y), like.splat(v.z)])
    }

    /// Zeros in all lanes of a number like `like`.
    #[inline(always)]
    pub fn zero(like: T) -> Self {
        Self([like.zero(); 3])
    }

    /// `f` of each component.
    #[inline(always)]
    pub fn map(self, f: impl Fn(T) -> T) -> Self {
        let [x, y, z] = self.0;
        Self([f(x), f(y), f(z)])
    }

    /// `f` of each pair of components.
    #[inline(always)]
    pub fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([f(a, x), f(b, y), f(c, z)])
    }

    /// Dot product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        a * x + b * y + c * z
    }

    /// Cross product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    /// Square of the norm.
    #[inline(always)]
    pub fn squared(self) -> T {
        self.dot(self)
    }

    /// Euclidean norm.
    #[inline(always)]
    pub fn norm(self) -> T {
        self.squared().sqrt()
    }

    /// `then` where the mask is true.
    #[inline(always)]
    pub fn select(mask: T::Mask, then: Self, otherwise: Self) -> Self {
        then.zip(otherwise, |a, b| T::select(mask, a, b))
    }

    /// Two unit vectors that make a right-handed frame with this one, a unit vector: the first as
    /// much along x as it can be, along y where this is nearly x.
    #[inline(always)]
    pub fn tangents(self) -> [Self; 2] {
        let [x, y, z] = self.0;
        let (zero, one) = (x.zero(), x.one());
        let steep = x.abs().lt(x.splat(0.9));
        let along = T::select(steep, x, y);
        let aside = Self([T::select(steep, one, zero), T::select(steep, zero, one), z.zero()]);
        let first = aside - self * along;
        let first = first * (one / first.norm());
        [first, self.cross(first)]
    }
}

impl<T: Real> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl<T: Real> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl<T: Real> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

impl<T: Real> Mul<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        self.map(|a| a * s)
    }
}
