//! Poses of a scene as isometries.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};

use crate::format::Pose;

/// The isometry of a pose whose quaternion is near unit length.
pub fn isometry(pose: &Pose) -> Isometry3<f64> {
    frame(&pose.position, &pose.orientation)
}

/// The isometry of a position \[m\] and a quaternion (w, x, y, z) near unit length.
pub(crate) fn frame(position: &[f64; 3], &[w, x, y, z]: &[f64; 4]) -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::from(*position),
        UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
    )
}
