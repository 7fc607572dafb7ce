//! How bodies move: not at all, along a trajectory, or by their dynamics.

use crate::body::{BodyId, MassProperties};
use crate::joint::Joint;
use crate::spatial::SpatialVelocity;
use nalgebra::{Isometry3, Vector3};

/// How a body moves.
#[expect(clippy::large_enum_variant, reason = "one description a body, read once: its size does not matter")]
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Stays where it is.
    Fixed,
    /// Follows a trajectory, whatever acts on it.
    Prescribed(Trajectory),
    /// Obeys Newton and Euler, within its joint.
    Dynamic {
        /// The body that the joint is attached to, added before; `None` is the world.
        parent: Option<BodyId>,
        /// The joint to the parent. The body starts at its pose, where the coordinates of the joint are 0.
        joint: Joint,
        /// Mass and inertia. A [`Joint::Fixed`] body moves with its parent and uses nothing of what follows.
        mass: MassProperties,
        /// Constant force at the body's origin, world frame (N).
        force: Vector3<f64>,
        /// Constant torque, world frame (N m).
        torque: Vector3<f64>,
        /// Velocity at time 0, absolute. A jointed body takes the momentum of this velocity along its joint.
        velocity: SpatialVelocity,
        /// Whether gravity acts on it.
        gravity: bool,
    },
}

/// A pose to be at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseKey {
    /// Time (s).
    pub time: f64,
    /// Pose in the world.
    pub pose: Isometry3<f64>,
}

/// A velocity to have from a time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityKey {
    /// Time (s).
    pub time: f64,
    /// Velocity in the world frame, linear at the body's origin.
    pub velocity: SpatialVelocity,
}

/// A prescribed motion. The times of the keys strictly increase. In one step a body must turn less than half
/// a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Trajectory {
    /// World poses, linear in position and at constant angular velocity (slerp) in rotation between keys,
    /// held before the first and after the last. The rotation between two keys goes the shorter way round;
    /// half a turn is refused.
    Poses(Vec<PoseKey>),
    /// Velocities, constant from each key's time to the next, zero before the first, integrated from the
    /// body's initial pose at time 0. Keys before time 0 are refused.
    Velocities(Vec<VelocityKey>),
}
