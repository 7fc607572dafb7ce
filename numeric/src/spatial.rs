//! Spatial vectors and inertias (Featherstone 2008, *Rigid Body Dynamics Algorithms*, chapter 2):
//! world axes, about the origin of a link or, in a batch, of a tree.
//!
//! Written once over [`Triple`]: single bodies have vectors of `nalgebra`, a batch has lanes.

use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use nalgebra::{Isometry3, Matrix3, Matrix6, Vector3, Vector6};

use crate::linalg::Vec3;
use crate::scalar::Real;

/// A vector of three numbers. Sums are in the order of the entries and not fused.
pub trait Triple:
    Copy + Add<Output = Self> + Sub<Output = Self> + Neg<Output = Self> + Mul<Self::Scalar, Output = Self>
{
    /// Its numbers.
    type Scalar: Copy + Add<Output = Self::Scalar>;
    /// No length.
    fn zero() -> Self;
    /// Vector product.
    fn cross(self, o: Self) -> Self;
    /// Scalar product.
    fn dot(self, o: Self) -> Self::Scalar;
}

impl Triple for Vector3<f64> {
    type Scalar = f64;
    #[inline(always)]
    fn zero() -> Self {
        Self::zeros()
    }
    #[inline(always)]
    fn cross(self, o: Self) -> Self {
        Self::cross(&self, &o)
    }
    #[inline(always)]
    fn dot(self, o: Self) -> f64 {
        Self::dot(&self, &o)
    }
}

impl<T: Real> Triple for Vec3<T> {
    type Scalar = T;
    #[inline(always)]
    fn zero() -> Self {
        Self::zero()
    }
    #[inline(always)]
    fn cross(self, o: Self) -> Self {
        Self::cross(self, o)
    }
    #[inline(always)]
    fn dot(self, o: Self) -> T {
        Self::dot(self, o)
    }
}

/// A velocity, an acceleration or the axis of a joint: angular part, and linear part of the body's
/// point at the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionVector<V> {
    /// Angular part (rad/s, rad/s^2; 1 of a rotation axis).
    pub angular: V,
    /// Linear part (m/s, m/s^2; 1 of a sliding axis).
    pub linear: V,
}

/// A force, an impulse or a momentum: moment about the reference, and linear part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceVector<V> {
    /// Moment about the reference (N m, or N m s).
    pub angular: V,
    /// Linear part (N, or N s).
    pub linear: V,
}

macro_rules! vector_space {
    ($t:ident) => {
        impl<V: Triple> $t<V> {
            /// A vector of its parts.
            #[inline(always)]
            pub fn new(angular: V, linear: V) -> Self {
                Self { angular, linear }
            }

            /// Zero.
            #[inline(always)]
            pub fn zero() -> Self {
                Self::new(V::zero(), V::zero())
            }
        }

        impl $t<Vector3<f64>> {
            /// The six components, angular first.
            pub fn to_vector(self) -> Vector6<f64> {
                let (a, l) = (self.angular, self.linear);
                Vector6::new(a.x, a.y, a.z, l.x, l.y, l.z)
            }

            /// From six components, angular first.
            pub fn from_vector(v: &Vector6<f64>) -> Self {
                Self::new(v.fixed_rows::<3>(0).into_owned(), v.fixed_rows::<3>(3).into_owned())
            }

            /// Whether all components are finite.
            pub fn is_finite(&self) -> bool {
                self.angular.iter().chain(self.linear.iter()).all(|x| x.is_finite())
            }
        }

        impl<V: Triple> Add for $t<V> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self::new(self.angular + o.angular, self.linear + o.linear)
            }
        }

        impl<V: Triple> Sub for $t<V> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self::new(self.angular - o.angular, self.linear - o.linear)
            }
        }

        impl<V: Triple> Neg for $t<V> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::new(-self.angular, -self.linear)
            }
        }

        impl<V: Triple<Scalar = T>, T: Copy> Mul<T> for $t<V> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: T) -> Self {
                Self::new(self.angular * s, self.linear * s)
            }
        }

        impl<V: Triple> AddAssign for $t<V> {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }

        impl<V: Triple> SubAssign for $t<V> {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
    };
}

vector_space!(MotionVector);
vector_space!(ForceVector);

impl<V: Triple> MotionVector<V> {
    /// Linear part of the body's point at `lever` \[m\] from the reference.
    #[inline(always)]
    pub fn at(&self, lever: V) -> V {
        self.linear + self.angular.cross(lever)
    }

    /// The same motion seen at a point `offset` \[m\] from the present one.
    #[inline(always)]
    pub fn shifted(&self, offset: &V) -> Self {
        Self::new(self.angular, self.at(*offset))
    }

    /// Power \[W\] of a force in this motion, both about the same point.
    #[inline(always)]
    pub fn dot(&self, force: &ForceVector<V>) -> V::Scalar {
        self.angular.dot(force.angular) + self.linear.dot(force.linear)
    }

    /// `self x other` of two motions.
    #[inline(always)]
    pub fn cross(&self, other: &Self) -> Self {
        let linear = self.angular.cross(other.linear) + self.linear.cross(other.angular);
        Self::new(self.angular.cross(other.angular), linear)
    }

    /// `self x* force`.
    #[inline(always)]
    pub fn cross_force(&self, force: &ForceVector<V>) -> ForceVector<V> {
        let angular = self.angular.cross(force.angular) + self.linear.cross(force.linear);
        ForceVector::new(angular, self.angular.cross(force.linear))
    }
}

impl MotionVector<Vector3<f64>> {
    /// In other axes.
    pub fn rotated(&self, pose: &Isometry3<f64>) -> Self {
        Self::new(pose.rotation * self.angular, pose.rotation * self.linear)
    }
}

impl<V: Triple> ForceVector<V> {
    /// The same force with its moment taken about a point `offset` \[m\] from the present one.
    #[inline(always)]
    pub fn shifted(&self, offset: &V) -> Self {
        Self::new(self.angular - offset.cross(self.linear), self.linear)
    }

    /// A linear force that acts at `lever` \[m\] from the reference point.
    #[inline(always)]
    pub fn at(lever: &V, linear: V) -> Self {
        Self::new(lever.cross(linear), linear)
    }
}

/// Mass, its first moment and its second moment about a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia<V: Triple, M> {
    /// Mass \[kg\].
    pub mass: V::Scalar,
    /// Mass times the centre of mass \[kg m\].
    pub moment: V,
    /// Inertia about the reference point, not the centre of mass \[kg m^2\].
    pub inertia: M,
}

impl<V: Triple, M: Copy + Add<Output = M> + Mul<V, Output = V>> RigidInertia<V, M> {
    /// Momentum of a velocity.
    #[inline(always)]
    pub fn momentum(&self, v: &MotionVector<V>) -> ForceVector<V> {
        ForceVector::new(
            self.inertia * v.angular + self.moment.cross(v.linear),
            v.linear * self.mass - self.moment.cross(v.angular),
        )
    }
}

impl<V: Triple, M: Copy + Add<Output = M>> AddAssign for RigidInertia<V, M> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        self.mass = self.mass + o.mass;
        self.moment = self.moment + o.moment;
        self.inertia = self.inertia + o.inertia;
    }
}

/// The matrix of `x -> a x x`.
pub fn cross_matrix(a: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

impl RigidInertia<Vector3<f64>, Matrix3<f64>> {
    /// Nothing.
    pub fn zero() -> Self {
        Self::default()
    }

    /// From the mass properties: `mass` \[kg\], `center` of mass \[m\] and `inertia` about the
    /// centre of mass \[kg m^2\].
    pub fn at_center(mass: f64, center: Vector3<f64>, inertia: Matrix3<f64>) -> Self {
        Self { mass, moment: Vector3::zeros(), inertia }.shifted(&-center)
    }

    /// Centre of mass \[m\]; the reference point where there is no mass.
    pub fn center(&self) -> Vector3<f64> {
        if self.mass > 0.0 { self.moment / self.mass } else { Vector3::zeros() }
    }

    /// About a point `offset` \[m\] from the present one.
    pub fn shifted(&self, offset: &Vector3<f64>) -> Self {
        // A mass element at x is at x - offset from there: I' = -sum m [x - r]^2.
        let r = cross_matrix(offset);
        let h = cross_matrix(&self.moment);
        Self {
            mass: self.mass,
            moment: self.moment - offset * self.mass,
            inertia: self.inertia + h * r + r * h - r * r * self.mass,
        }
    }

    /// Of the body turned and moved by `pose`, about the point that was the origin before, in the
    /// new axes.
    pub fn moved(&self, pose: &Isometry3<f64>) -> Self {
        self.rotated(pose).shifted(&-pose.translation.vector)
    }

    /// In other axes, about the same point.
    pub fn rotated(&self, pose: &Isometry3<f64>) -> Self {
        let r = pose.rotation.to_rotation_matrix();
        Self {
            mass: self.mass,
            moment: r * self.moment,
            inertia: r.matrix() * self.inertia * r.matrix().transpose(),
        }
    }

    /// The force that gives the acceleration `a` at the angular velocity `w` (Newton and Euler
    /// about a point of the body that accelerates).
    pub fn force(&self, a: &MotionVector<Vector3<f64>>, w: &Vector3<f64>) -> ForceVector<Vector3<f64>> {
        self.momentum(a) + self.gyroscopic(w)
    }

    /// The part of [`force`](Self::force) that the angular velocity alone asks for.
    pub fn gyroscopic(&self, w: &Vector3<f64>) -> ForceVector<Vector3<f64>> {
        ForceVector::new(w.cross(&(self.inertia * w)), w.cross(&w.cross(&self.moment)))
    }

    /// As a 6x6 matrix, angular part first.
    pub fn to_matrix(&self) -> Matrix6<f64> {
        let mut m = Matrix6::zeros();
        let h = cross_matrix(&self.moment);
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.inertia);
        m.fixed_view_mut::<3, 3>(0, 3).copy_from(&h);
        m.fixed_view_mut::<3, 3>(3, 0).copy_from(&h.transpose());
        m.fixed_view_mut::<3, 3>(3, 3).copy_from(&(Matrix3::identity() * self.mass));
        m
    }
}
