//! Joints: degrees of freedom of a link relative to its parent.

use nalgebra::{Isometry3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};

use std::sync::Arc;

use super::algebra::MotionVector;
use crate::trajectory::PoseTrajectory;

/// Most degrees of freedom of one joint.
pub(crate) const MAX_DOFS: usize = 6;
/// Most positions of one joint.
pub(crate) const MAX_POSITIONS: usize = 7;

/// The kinds of joint. F is the joint's frame on the parent, M its frame on the link; the positions
/// give the pose of M in F. Velocities are those of M in F, in the axes of F.
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// M coincides with F. No position, no velocity.
    Fixed,
    /// M turns about an axis of F. Position: angle \[rad\]. Velocity: rate \[rad/s\].
    Revolute {
        /// The axis.
        axis: Unit<Vector3<f64>>,
    },
    /// M slides along an axis of F. Position: distance \[m\]. Velocity: rate \[m/s\].
    Prismatic {
        /// The axis.
        axis: Unit<Vector3<f64>>,
    },
    /// M turns about `first`, fixed in F, then about `second`, fixed in the frame that `first`
    /// rotates. Positions: the two angles \[rad\].
    Universal {
        /// Axis in F.
        first: Unit<Vector3<f64>>,
        /// Axis in F at the first angle 0.
        second: Unit<Vector3<f64>>,
    },
    /// M moves in the xy plane of F and turns about its z axis. Positions: x, y \[m\], angle
    /// \[rad\].
    Planar,
    /// M turns freely about the origin of F. Positions: unit quaternion (w, x, y, z). Velocities:
    /// angular velocity \[rad/s\].
    Ball,
    /// M moves freely. Positions: unit quaternion (w, x, y, z), then the origin of M \[m\].
    /// Velocities: angular \[rad/s\], then linear velocity of the origin of M \[m/s\].
    Free,
    /// M follows a path in F, whatever acts on it. No position, no velocity.
    Prescribed(Arc<PoseTrajectory>),
}

impl JointKind {
    /// Number of positions.
    pub fn positions(&self) -> usize {
        match self {
            Self::Fixed | Self::Prescribed(_) => 0,
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Universal { .. } => 2,
            Self::Planar => 3,
            Self::Ball => 4,
            Self::Free => 7,
        }
    }

    /// Number of velocities: degrees of freedom.
    pub fn velocities(&self) -> usize {
        match self {
            Self::Ball => 3,
            Self::Free => 6,
            _ => self.positions(),
        }
    }

    /// The kind in a word, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::Universal { .. } => "universal",
            Self::Planar => "planar",
            Self::Ball => "ball",
            Self::Free => "free",
            Self::Prescribed(_) => "prescribed",
        }
    }

    /// Numbers of positions that belong together, in their order: those of an orientation, of a
    /// point, or single ones.
    pub(crate) fn places(&self) -> &'static [usize] {
        match self {
            Self::Fixed | Self::Prescribed(_) => &[],
            Self::Revolute { .. } | Self::Prismatic { .. } => &[1],
            Self::Universal { .. } => &[1, 1],
            Self::Planar => &[2, 1],
            Self::Ball => &[4],
            Self::Free => &[4, 3],
        }
    }

    /// Whether the positions begin with a quaternion.
    pub fn has_quaternion(&self) -> bool {
        matches!(self, Self::Ball | Self::Free)
    }

    /// Unit of a position that is not of a quaternion, and of a degree of freedom but those of a free
    /// joint.
    pub fn unit(&self, position: usize) -> &'static str {
        match self {
            Self::Prismatic { .. } => "m",
            Self::Planar if position < 2 => "m",
            _ => "rad",
        }
    }

    /// Writes the positions at which M is at F.
    pub(crate) fn zero_configuration(&self, q: &mut [f64]) {
        q.fill(0.0);
        if self.has_quaternion() {
            q[0] = 1.0;
        }
    }

    /// The pose of M in F at `time` \[s\].
    pub(crate) fn pose(&self, q: &[f64], time: f64) -> Isometry3<f64> {
        let turn = UnitQuaternion::from_axis_angle;
        match *self {
            Self::Fixed => Isometry3::identity(),
            Self::Prescribed(ref path) => path.pose(time),
            Self::Revolute { axis } => Isometry3::from_parts(Translation3::identity(), turn(&axis, q[0])),
            Self::Prismatic { axis } => Translation3::from(axis.into_inner() * q[0]).into(),
            Self::Universal { first, second } => {
                Isometry3::from_parts(Translation3::identity(), turn(&first, q[0]) * turn(&second, q[1]))
            }
            Self::Planar => {
                Isometry3::from_parts(Translation3::new(q[0], q[1], 0.0), turn(&Vector3::z_axis(), q[2]))
            }
            Self::Ball => Isometry3::from_parts(Translation3::identity(), quaternion(q)),
            Self::Free => Isometry3::from_parts(Translation3::new(q[4], q[5], q[6]), quaternion(q)),
        }
    }

    /// Writes the axes: the velocity of M in F, in the axes of F, for each unit velocity.
    pub(crate) fn axes(&self, q: &[f64], axes: &mut [MotionVector]) {
        let zero = Vector3::zeros();
        match *self {
            Self::Fixed | Self::Prescribed(_) => {}
            Self::Revolute { axis } => axes[0] = MotionVector::new(axis.into_inner(), zero),
            Self::Prismatic { axis } => axes[0] = MotionVector::new(zero, axis.into_inner()),
            Self::Universal { first, second } => {
                axes[0] = MotionVector::new(first.into_inner(), zero);
                let turned = UnitQuaternion::from_axis_angle(&first, q[0]) * second.into_inner();
                axes[1] = MotionVector::new(turned, zero);
            }
            Self::Planar => {
                axes[0] = MotionVector::new(zero, Vector3::x());
                axes[1] = MotionVector::new(zero, Vector3::y());
                axes[2] = MotionVector::new(Vector3::z(), zero);
            }
            Self::Ball | Self::Free => {
                for (d, axis) in axes.iter_mut().enumerate() {
                    let unit = Vector3::ith(d % 3, 1.0);
                    *axis = if d < 3 { MotionVector::new(unit, zero) } else { MotionVector::new(zero, unit) };
                }
            }
        }
    }

    /// The acceleration of M in F, in the axes of F, that comes from the axes' own change while the
    /// velocities stay.
    pub(crate) fn axes_rate(&self, axes: &[MotionVector], v: &[f64]) -> MotionVector {
        match self {
            Self::Universal { .. } => {
                MotionVector::new(axes[0].angular.cross(&axes[1].angular) * (v[0] * v[1]), Vector3::zeros())
            }
            _ => MotionVector::zero(),
        }
    }

    /// Advances positions by `dt` \[s\] at constant velocities: exact for rotations too.
    pub(crate) fn advance(&self, q: &mut [f64], v: &[f64], dt: f64) {
        match self {
            Self::Ball | Self::Free => {
                let turn = UnitQuaternion::from_scaled_axis(Vector3::new(v[0], v[1], v[2]) * dt);
                // Normalised: rounding would let the length drift.
                let turned = UnitQuaternion::new_normalize((turn * quaternion(q)).into_inner());
                write_quaternion(&turned, q);
                for d in 3..v.len() {
                    q[d + 1] += dt * v[d];
                }
            }
            _ => q.iter_mut().zip(v).for_each(|(q, v)| *q += dt * v),
        }
    }

    /// Writes the rates of the positions at the velocities `v` \[1/s, m/s, rad/s\].
    pub(crate) fn rates(&self, q: &[f64], v: &[f64], rates: &mut [f64]) {
        if !self.has_quaternion() {
            rates.copy_from_slice(v);
            return;
        }
        let turn = Quaternion::new(0.0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]);
        let rate = turn * Quaternion::new(q[0], q[1], q[2], q[3]);
        rates[..4].copy_from_slice(&[rate.w, rate.i, rate.j, rate.k]);
        rates[4..].copy_from_slice(&v[3..]);
    }

    /// Writes the velocities for given rates of the positions: the inverse of
    /// [`rates`](Self::rates).
    pub(crate) fn velocities_at(&self, q: &[f64], rates: &[f64], v: &mut [f64]) {
        if !self.has_quaternion() {
            v.copy_from_slice(rates);
            return;
        }
        let rate = Quaternion::new(rates[0], rates[1], rates[2], rates[3]);
        let turn = rate * quaternion(q).inverse().into_inner();
        v[..3].copy_from_slice(&[2.0 * turn.i, 2.0 * turn.j, 2.0 * turn.k]);
        v[3..].copy_from_slice(&rates[4..]);
    }

    /// Brings a quaternion back to unit length.
    pub(crate) fn normalise(&self, q: &mut [f64]) {
        if self.has_quaternion() {
            let unit = UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3]));
            write_quaternion(&unit, q);
        }
    }

    /// The constant velocities that lead from `from` to `to` in one second, the shorter way round.
    pub(crate) fn difference(&self, from: &[f64], to: &[f64], v: &mut [f64]) {
        match self {
            Self::Ball | Self::Free => {
                let turn = quaternion(to) * quaternion(from).inverse();
                let angle = turn.scaled_axis();
                v[..3].copy_from_slice(angle.as_slice());
                for d in 3..v.len() {
                    v[d] = to[d + 1] - from[d + 1];
                }
            }
            _ => v.iter_mut().zip(from).zip(to).for_each(|((v, a), b)| *v = b - a),
        }
    }
}

/// The unit quaternion at the head of positions. A small error of its length does not matter.
pub fn quaternion(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_unchecked(Quaternion::new(q[0], q[1], q[2], q[3]))
}

/// Writes a quaternion as (w, x, y, z).
pub(crate) fn write_quaternion(r: &UnitQuaternion<f64>, q: &mut [f64]) {
    q[..4].copy_from_slice(&[r.w, r.i, r.j, r.k]);
}
