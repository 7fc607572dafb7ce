//! The state of bodies, to save and to restore.

use crate::spatial::{SpatialVelocity, is_pose};
use nalgebra::{Isometry3, Vector3};
use serde::{Deserialize, Serialize};

/// Everything that changes about a body, as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Pose in the world.
    pub pose: Isometry3<f64>,
    /// Velocity in the world frame.
    pub velocity: SpatialVelocity,
    /// Joint coordinate of a revolute (rad) or prismatic (m) body; else 0.
    pub coordinate: f64,
    /// Joint rate of a revolute (rad/s) or prismatic (m/s) body; else 0.
    pub rate: f64,
    /// Absolute momentum along the joint axis of a revolute (angular, N m s) or prismatic (linear, N s) body;
    /// else 0.
    pub joint_momentum: f64,
    /// Angular momentum about the origin of a free body, world frame (N m s); else 0.
    pub angular_momentum: Vector3<f64>,
}

impl BodyState {
    pub(crate) fn at_rest(pose: Isometry3<f64>) -> Self {
        let velocity = SpatialVelocity::zero();
        let angular_momentum = Vector3::zeros();
        Self { pose, velocity, coordinate: 0.0, rate: 0.0, joint_momentum: 0.0, angular_momentum }
    }

    pub(crate) fn is_finite(&self) -> bool {
        is_pose(&self.pose)
            && self.velocity.is_finite()
            && [self.coordinate, self.rate, self.joint_momentum].iter().all(|x| x.is_finite())
            && self.angular_momentum.iter().all(|x| x.is_finite())
    }
}

/// The state of all bodies, in their order. A run that is restored continues bit for bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodiesState {
    /// Time (s).
    pub time: f64,
    /// One state a body.
    pub bodies: Vec<BodyState>,
}
