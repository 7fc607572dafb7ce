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

/// A motion by a body's dynamics that begins with what is usual; it becomes a [`Motion`].
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicMotion {
    parent: Option<BodyId>,
    joint: Joint,
    mass: MassProperties,
    force: Vector3<f64>,
    torque: Vector3<f64>,
    velocity: SpatialVelocity,
    gravity: bool,
}

impl DynamicMotion {
    /// A free body at rest under gravity, without a load.
    pub fn free(mass: MassProperties) -> Self {
        Self::jointed(None, Joint::free(), mass)
    }

    /// The same on a joint to `parent`; `None` is the world.
    pub fn jointed(parent: Option<BodyId>, joint: Joint, mass: MassProperties) -> Self {
        let (force, torque) = (Vector3::zeros(), Vector3::zeros());
        Self { parent, joint, mass, force, torque, velocity: SpatialVelocity::zero(), gravity: true }
    }

    /// The same with this absolute velocity at time 0.
    pub fn velocity(self, velocity: SpatialVelocity) -> Self {
        Self { velocity, ..self }
    }

    /// The same under a constant force \[N\] at the body's origin and a torque \[N m\], world
    /// frame.
    pub fn load(self, force: Vector3<f64>, torque: Vector3<f64>) -> Self {
        Self { force, torque, ..self }
    }

    /// The same without gravity.
    pub fn weightless(self) -> Self {
        Self { gravity: false, ..self }
    }
}

impl From<DynamicMotion> for Motion {
    fn from(motion: DynamicMotion) -> Self {
        let DynamicMotion { parent, joint, mass, force, torque, velocity, gravity } = motion;
        Self::Dynamic { parent, joint, mass, force, torque, velocity, gravity }
    }
}
