//! The spatial algebra of single bodies.

use nalgebra::{Matrix3, Vector3};
use pliant_numeric::spatial;
pub use spatial::cross_matrix;

/// A velocity, an acceleration or the axis of a joint: world axes, about the origin of a link.
pub type MotionVector = spatial::MotionVector<Vector3<f64>>;
/// A force, an impulse or a momentum: world axes, about the origin of a link.
pub type ForceVector = spatial::ForceVector<Vector3<f64>>;
/// Mass, its first moment and its second moment: world axes, about the origin of a link.
pub type RigidInertia = spatial::RigidInertia<Vector3<f64>, Matrix3<f64>>;
