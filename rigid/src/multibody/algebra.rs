//! Spatial vectors and inertias: world axes, about the origin of a link.

use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use nalgebra::{Isometry3, Matrix3, Matrix6, Vector3, Vector6};

/// A velocity, an acceleration or the axis of a joint: angular part, and linear part of the link's
/// origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionVector {
    /// Angular part (rad/s, rad/s^2; 1 of a rotation axis).
    pub angular: Vector3<f64>,
    /// Linear part (m/s, m/s^2; 1 of a sliding axis).
    pub linear: Vector3<f64>,
}

/// A force, an impulse or a momentum: moment about the link's origin, and linear part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceVector {
    /// Moment about the link's origin (N m, or N m s).
    pub angular: Vector3<f64>,
    /// Linear part (N, or N s).
    pub linear: Vector3<f64>,
}

macro_rules! vector_space {
    ($t:ident) => {
        impl $t {
            /// A vector of its parts.
            pub fn new(angular: Vector3<f64>, linear: Vector3<f64>) -> Self {
                Self { angular, linear }
            }

            /// Zero.
            pub fn zero() -> Self {
                Self::default()
            }

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

        impl Add for $t {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Self::new(self.angular + o.angular, self.linear + o.linear)
            }
        }

        impl Sub for $t {
            type Output = Self;
            fn sub(self, o: Self) -> Self {
                Self::new(self.angular - o.angular, self.linear - o.linear)
            }
        }

        impl Neg for $t {
            type Output = Self;
            fn neg(self) -> Self {
                Self::new(-self.angular, -self.linear)
            }
        }

        impl Mul<f64> for $t {
            type Output = Self;
            fn mul(self, s: f64) -> Self {
                Self::new(self.angular * s, self.linear * s)
            }
        }

        impl AddAssign for $t {
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }

        impl SubAssign for $t {
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
    };
}

vector_space!(MotionVector);
vector_space!(ForceVector);

impl MotionVector {
    /// The same motion seen at a point `offset` \[m\] from the present one.
    pub fn shifted(&self, offset: &Vector3<f64>) -> Self {
        Self::new(self.angular, self.linear + self.angular.cross(offset))
    }

    /// Power \[W\] of a force in this motion, both about the same point.
    pub fn dot(&self, force: &ForceVector) -> f64 {
        self.angular.dot(&force.angular) + self.linear.dot(&force.linear)
    }

    /// In other axes.
    pub fn rotated(&self, pose: &Isometry3<f64>) -> Self {
        Self::new(pose.rotation * self.angular, pose.rotation * self.linear)
    }
}

impl ForceVector {
    /// The same force with its moment taken about a point `offset` \[m\] from the present one.
    pub fn shifted(&self, offset: &Vector3<f64>) -> Self {
        Self::new(self.angular - offset.cross(&self.linear), self.linear)
    }

    /// A linear force that acts at `lever` \[m\] from the reference point.
    pub fn at(lever: &Vector3<f64>, linear: Vector3<f64>) -> Self {
        Self::new(lever.cross(&linear), linear)
    }
}

/// Mass, its first moment and its second moment about a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia {
    /// Mass \[kg\].
    pub mass: f64,
    /// Mass times the centre of mass \[kg m\].
    pub moment: Vector3<f64>,
    /// Inertia about the reference point, not the centre of mass \[kg m^2\].
    pub inertia: Matrix3<f64>,
}

/// The matrix of `x -> a x x`.
pub fn cross_matrix(a: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

impl RigidInertia {
    /// Nothing.
    pub fn zero() -> Self {
        Self::default()
    }

    /// From `mass` \[kg\], `center` of mass \[m\] and `inertia` about the centre of mass
    /// \[kg m^2\].
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

    /// Of the body rotated and moved by `pose`, about the point that was the origin before, in the
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

    /// Momentum of a velocity.
    pub fn momentum(&self, v: &MotionVector) -> ForceVector {
        ForceVector::new(
            self.inertia * v.angular + self.moment.cross(&v.linear),
            v.linear * self.mass - self.moment.cross(&v.angular),
        )
    }

    /// The force that gives the acceleration `a` at the angular velocity `w` (Newton and Euler
    /// about a point of the body that accelerates).
    pub fn force(&self, a: &MotionVector, w: &Vector3<f64>) -> ForceVector {
        self.momentum(a) + self.gyroscopic(w)
    }

    /// The part of [`force`](Self::force) that is due to the angular velocity alone.
    pub fn gyroscopic(&self, w: &Vector3<f64>) -> ForceVector {
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

impl AddAssign for RigidInertia {
    fn add_assign(&mut self, o: Self) {
        self.mass += o.mass;
        self.moment += o.moment;
        self.inertia += o.inertia;
    }
}
