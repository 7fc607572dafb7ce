//! Motion of bodies: static, along a trajectory, or by their dynamics.

use crate::id::BodyId;
use crate::joint::Joint;
use crate::mass::MassProperties;
use crate::spatial::SpatialVelocity;
use crate::trajectory::Trajectory;
use nalgebra::Vector3;

/// How a body moves.
#[expect(clippy::large_enum_variant, reason = "one description a body, read once: its size does not matter")]
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Static.
    Fixed,
    /// Follows a trajectory, whatever acts on it.
    Prescribed(Trajectory),
    /// Moves by its dynamics, within its joint.
    Dynamic {
        /// The body that the joint is attached to, added before; `None` is the world.
        parent: Option<BodyId>,
        /// The joint to the parent. The body starts at its pose, where the coordinates of the joint
        /// are 0.
        joint: Joint,
        /// Mass and inertia. A body on a fixed joint moves with its parent and ignores the
        /// following fields.
        mass: MassProperties,
        /// Constant force at the body's origin, world frame \[N\].
        force: Vector3<f64>,
        /// Constant torque, world frame \[N m\].
        torque: Vector3<f64>,
        /// Velocity at time 0, absolute. A jointed body takes the momentum of this velocity along
        /// its joint.
        velocity: SpatialVelocity,
        /// Whether gravity acts on it.
        gravity: bool,
    },
}
