//! Spatial vectors about the reference point of a tree, world axes (Featherstone 2008, "Rigid Body
//! Dynamics Algorithms", chapter 2).

use pliant_numeric::each;
use pliant_numeric::linalg::{Mat3, Vec3};
use pliant_numeric::scalar::Real;

/// A velocity, acceleration or joint axis: angular part, and that of the body's point at the
/// reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpatialMotion<T> {
    pub angular: Vec3<T>,
    pub linear: Vec3<T>,
}

/// A force or momentum: moment about the reference, and linear part.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpatialForce<T> {
    pub angular: Vec3<T>,
    pub linear: Vec3<T>,
}

impl<T: Real> SpatialMotion<T> {
    #[inline(always)]
    pub fn zero() -> Self {
        Self { angular: Vec3::zero(), linear: Vec3::zero() }
    }

    /// Of the body's point at `lever` from the reference.
    #[inline(always)]
    pub fn at(&self, lever: Vec3<T>) -> Vec3<T> {
        self.linear + self.angular.cross(lever)
    }

    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self { angular: self.angular + other.angular, linear: self.linear + other.linear }
    }

    #[inline(always)]
    pub fn times(&self, s: T) -> Self {
        Self { angular: self.angular * s, linear: self.linear * s }
    }

    #[inline(always)]
    pub fn dot(&self, force: &SpatialForce<T>) -> T {
        self.angular.dot(force.angular) + self.linear.dot(force.linear)
    }

    /// `self x other` of two motions.
    #[inline(always)]
    pub fn cross(&self, other: &Self) -> Self {
        Self {
            angular: self.angular.cross(other.angular),
            linear: self.angular.cross(other.linear) + self.linear.cross(other.angular),
        }
    }

    /// `self x* force`.
    #[inline(always)]
    pub fn cross_force(&self, force: &SpatialForce<T>) -> SpatialForce<T> {
        SpatialForce {
            angular: self.angular.cross(force.angular) + self.linear.cross(force.linear),
            linear: self.angular.cross(force.linear),
        }
    }
}

impl<T: Real> SpatialForce<T> {
    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self { angular: self.angular + other.angular, linear: self.linear + other.linear }
    }

    #[inline(always)]
    pub fn minus(&self, other: &Self) -> Self {
        Self { angular: self.angular - other.angular, linear: self.linear - other.linear }
    }
}

/// Mass, its first moment and its inertia about the reference: xx, xy, xz, yy, yz, zz.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpatialInertia<T> {
    pub mass: T,
    pub moment: Vec3<T>,
    pub inertia: [T; 6],
}

impl<T: Real> SpatialInertia<T> {
    /// Of a body of `mass`, its centre at `center` from the reference, its inertia about the centre
    /// `inertia` in the axes of `rotation`.
    #[inline(always)]
    pub fn placed(mass: T, center: Vec3<T>, rotation: &Mat3<T>, inertia: &[T; 6]) -> Self {
        let [xx, xy, xz, yy, yz, zz] = *inertia;
        let local = Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
        let half = rotation.times(&local);
        let turned = |a: usize, b: usize| half.row(a).dot(rotation.row(b));
        let [x, y, z] = center.0;
        let shift = [y * y + z * z, -(x * y), -(x * z), x * x + z * z, -(y * z), x * x + y * y];
        let about = [turned(0, 0), turned(0, 1), turned(0, 2), turned(1, 1), turned(1, 2), turned(2, 2)];
        let inertia = each!(k in [0, 1, 2, 3, 4, 5] about[k] + shift[k] * mass);
        Self { mass, moment: center * mass, inertia }
    }

    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            moment: self.moment + other.moment,
            inertia: each!(k in [0, 1, 2, 3, 4, 5] self.inertia[k] + other.inertia[k]),
        }
    }

    /// Momentum of a velocity.
    #[inline(always)]
    pub fn momentum(&self, v: &SpatialMotion<T>) -> SpatialForce<T> {
        let [xx, xy, xz, yy, yz, zz] = self.inertia;
        let w = v.angular;
        let turning = Vec3([Vec3([xx, xy, xz]).dot(w), Vec3([xy, yy, yz]).dot(w), Vec3([xz, yz, zz]).dot(w)]);
        SpatialForce {
            angular: turning + self.moment.cross(v.linear),
            linear: v.linear * self.mass - self.moment.cross(w),
        }
    }
}
