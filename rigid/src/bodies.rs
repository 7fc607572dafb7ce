//! The bodies of a world: what they are, where they are, and how they move.

use crate::body::{BodyDesc, BodyId};
use crate::error::RigidError;
use crate::joint::Joint;
use crate::motion::Motion;
use crate::spatial::{SpatialImpulse, SpatialVelocity, advance};
use crate::state::{BodiesState, BodyState};
use crate::trajectory::Path;
use nalgebra::{Isometry3, Matrix3, Translation3, Unit, UnitQuaternion, Vector3};

/// Bodies, in the order in which they were added, and their state at one time.
///
/// A step is [`prepare`](Self::prepare), whatever reads poses and velocities and collects impulses, then
/// [`integrate`](Self::integrate). Functions that take a [`BodyId`] panic if it is not of these bodies.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    pub(crate) descs: Vec<BodyDesc>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) states: Vec<BodyState>,
    /// Where a step is worked out, so that one that fails changes nothing.
    pub(crate) next: Vec<BodyState>,
    pub(crate) time: f64,
    /// The step that the velocities were prepared for.
    pub(crate) prepared: Option<f64>,
}

/// What a step does with a body.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Stays.
    Still,
    /// Follows a path.
    Follows(Path),
    /// Is fixed to a body.
    Held { parent: usize, relative: Isometry3<f64> },
    /// Has one degree of freedom.
    Jointed(Jointed),
    /// Moves freely.
    Free(Inertial),
}

/// Mass, inertia (body frame) and the constant forces (world frame) of a dynamic body.
#[derive(Clone, Debug)]
pub(crate) struct Inertial {
    pub(crate) mass: f64,
    pub(crate) inertia: Matrix3<f64>,
    pub(crate) inverse_inertia: Matrix3<f64>,
    pub(crate) force: Vector3<f64>,
    pub(crate) torque: Vector3<f64>,
    pub(crate) gravity: bool,
}

/// A body with a revolute or prismatic joint.
#[derive(Clone, Debug)]
pub(crate) struct Jointed {
    /// `None` is the world.
    pub(crate) parent: Option<usize>,
    /// Pose in the parent frame at coordinate 0.
    pub(crate) relative: Isometry3<f64>,
    pub(crate) revolute: bool,
    /// In the body frame; the motion of the joint does not change it.
    pub(crate) axis: Unit<Vector3<f64>>,
    pub(crate) damping: f64,
    pub(crate) inertial: Inertial,
}

impl Inertial {
    /// Angular momentum (N m s) about the origin, world frame.
    pub(crate) fn angular_momentum(
        &self,
        rotation: &UnitQuaternion<f64>,
        angular: &Vector3<f64>,
    ) -> Vector3<f64> {
        rotation * (self.inertia * rotation.inverse_transform_vector(angular))
    }

    /// Angular velocity (rad/s) of a body with an angular momentum, both in the world frame.
    pub(crate) fn angular_velocity(
        &self,
        rotation: &UnitQuaternion<f64>,
        momentum: &Vector3<f64>,
    ) -> Vector3<f64> {
        rotation * (self.inverse_inertia * rotation.inverse_transform_vector(momentum))
    }

    pub(crate) fn gravity_or_zero(&self, gravity: &Vector3<f64>) -> Vector3<f64> {
        if self.gravity { *gravity } else { Vector3::zeros() }
    }
}

impl Jointed {
    /// Motion of the joint at coordinate `q` (rad or m).
    pub(crate) fn motion(&self, q: f64) -> Isometry3<f64> {
        if self.revolute {
            Isometry3::from_parts(Translation3::identity(), UnitQuaternion::from_axis_angle(&self.axis, q))
        } else {
            Isometry3::from_parts(Translation3::from(self.axis.into_inner() * q), UnitQuaternion::identity())
        }
    }

    /// Inertia along the joint: about the axis (kg m^2), or the mass (kg).
    pub(crate) fn joint_inertia(&self) -> f64 {
        if self.revolute { self.axis.dot(&(self.inertial.inertia * *self.axis)) } else { self.inertial.mass }
    }

    /// Momentum along the world axis `axis` of a body at `rotation` with `velocity`: angular (N m s) or
    /// linear (N s).
    pub(crate) fn momentum(
        &self,
        rotation: &UnitQuaternion<f64>,
        axis: &Vector3<f64>,
        velocity: &SpatialVelocity,
    ) -> f64 {
        if self.revolute {
            axis.dot(&self.inertial.angular_momentum(rotation, &velocity.angular))
        } else {
            self.inertial.mass * axis.dot(&velocity.linear)
        }
    }
}

impl Bodies {
    /// No bodies, at time 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a body. Parents come before their children.
    ///
    /// # Errors
    /// A description that is not valid (see [`RigidError`]; it names the body and the field), or a time after
    /// 0. The bodies are as before then.
    pub fn add(&mut self, desc: BodyDesc) -> Result<BodyId, RigidError> {
        self.validate(&desc)?;
        let mut state = BodyState::at_rest(desc.pose);
        let kind = match &desc.motion {
            Motion::Fixed => Kind::Still,
            Motion::Prescribed(trajectory) => {
                state.pose = trajectory.start(&desc.pose);
                Kind::Follows(Path::new(trajectory, &state.pose))
            }
            Motion::Dynamic { parent, joint, mass, force, torque, gravity, .. } => {
                let parent = parent.map(|p| p.0);
                let parent_pose = parent.map_or_else(Isometry3::identity, |p| self.states[p].pose);
                let relative = parent_pose.inverse() * desc.pose;
                let inverse_inertia = mass.inertia.try_inverse().unwrap_or_else(Matrix3::zeros);
                let inertial = Inertial {
                    mass: mass.mass,
                    inertia: mass.inertia,
                    inverse_inertia,
                    force: *force,
                    torque: *torque,
                    gravity: *gravity,
                };
                match (*joint, parent) {
                    (Joint::Fixed, None) => Kind::Still,
                    (Joint::Fixed, Some(parent)) => Kind::Held { parent, relative },
                    (Joint::Free, _) => Kind::Free(inertial),
                    (Joint::Revolute { axis, damping }, _) => {
                        Kind::Jointed(Jointed { parent, relative, revolute: true, axis, damping, inertial })
                    }
                    (Joint::Prismatic { axis, damping }, _) => {
                        Kind::Jointed(Jointed { parent, relative, revolute: false, axis, damping, inertial })
                    }
                }
            }
        };
        if let Motion::Dynamic { velocity, .. } = &desc.motion {
            self.set_initial_velocity(&kind, &mut state, velocity);
        }
        let id = BodyId(self.descs.len());
        self.descs.push(desc);
        self.kinds.push(kind);
        self.states.push(state);
        self.next.push(state);
        self.prepared = None;
        Ok(id)
    }

    fn set_initial_velocity(&self, kind: &Kind, state: &mut BodyState, velocity: &SpatialVelocity) {
        match kind {
            Kind::Free(inertial) => {
                state.angular_momentum = inertial.angular_momentum(&state.pose.rotation, &velocity.angular);
                state.velocity = *velocity;
            }
            Kind::Jointed(jointed) => {
                let axis = state.pose.rotation * jointed.axis;
                state.joint_momentum = jointed.momentum(&state.pose.rotation, &axis, velocity);
                self.move_with_joint(jointed, &self.states, state);
            }
            Kind::Still | Kind::Follows(_) | Kind::Held { .. } => {}
        }
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.descs.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.descs.is_empty()
    }

    /// Descriptions of the bodies, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (BodyId, &BodyDesc)> {
        self.descs.iter().enumerate().map(|(k, desc)| (BodyId(k), desc))
    }

    /// Description of a body.
    pub fn desc(&self, id: BodyId) -> &BodyDesc {
        &self.descs[id.0]
    }

    /// The body with a name.
    pub fn find(&self, name: &str) -> Option<BodyId> {
        self.descs.iter().position(|desc| desc.name == name).map(BodyId)
    }

    /// Time (s) of the poses.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Pose of a body in the world at [`time`](Self::time).
    pub fn pose(&self, id: BodyId) -> &Isometry3<f64> {
        &self.states[id.0].pose
    }

    /// Velocity of a body, world frame: after [`prepare`](Self::prepare) that of the coming step.
    pub fn velocity(&self, id: BodyId) -> SpatialVelocity {
        self.states[id.0].velocity
    }

    /// Joint coordinate (rad or m) and rate (rad/s or m/s) of a revolute or prismatic body; `None` for
    /// others.
    pub fn joint(&self, id: BodyId) -> Option<(f64, f64)> {
        let state = &self.states[id.0];
        matches!(self.kinds[id.0], Kind::Jointed(_)).then_some((state.coordinate, state.rate))
    }

    /// Pose of a body `s` seconds after [`time`](Self::time), `s` in [0, dt], with the velocities of this
    /// step: the origin on a line, the rotation by the exponential map. A jointed body stays on its parent,
    /// with its joint rate.
    pub fn pose_after(&self, id: BodyId, s: f64) -> Isometry3<f64> {
        let state = &self.states[id.0];
        match &self.kinds[id.0] {
            Kind::Still => state.pose,
            Kind::Follows(_) | Kind::Free(_) => advance(&state.pose, &state.velocity, s),
            Kind::Held { parent, relative } => self.pose_after(BodyId(*parent), s) * relative,
            Kind::Jointed(jointed) => {
                let inside = jointed.relative * jointed.motion(state.coordinate + s * state.rate);
                jointed.parent.map_or(inside, |parent| self.pose_after(BodyId(parent), s) * inside)
            }
        }
    }

    /// Kinetic energy (J) of the bodies that move by their dynamics (free, revolute, prismatic).
    pub fn kinetic_energy(&self) -> f64 {
        let energy = |(kind, state): (&Kind, &BodyState)| match kind {
            Kind::Free(inertial) | Kind::Jointed(Jointed { inertial, .. }) => {
                let angular = inertial.angular_momentum(&state.pose.rotation, &state.velocity.angular);
                0.5 * (inertial.mass * state.velocity.linear.norm_squared()
                    + angular.dot(&state.velocity.angular))
            }
            Kind::Still | Kind::Follows(_) | Kind::Held { .. } => 0.0,
        };
        self.kinds.iter().zip(&self.states).map(energy).sum()
    }

    /// Momentum of the bodies that move by their dynamics: linear (N s), and angular about the origin of the
    /// world (N m s).
    pub fn momentum(&self) -> SpatialImpulse {
        let mut sum = SpatialImpulse::zero();
        for (kind, state) in self.kinds.iter().zip(&self.states) {
            if let Kind::Free(inertial) | Kind::Jointed(Jointed { inertial, .. }) = kind {
                let linear = state.velocity.linear * inertial.mass;
                sum.linear += linear;
                sum.angular += state.pose.translation.vector.cross(&linear)
                    + inertial.angular_momentum(&state.pose.rotation, &state.velocity.angular);
            }
        }
        sum
    }

    /// The state, to continue from later.
    pub fn save(&self) -> BodiesState {
        BodiesState { time: self.time, bodies: self.states.clone() }
    }

    /// Continues from a saved state of the same bodies.
    ///
    /// # Errors
    /// Another number of bodies, or a state that is not finite. The bodies are as before then.
    pub fn restore(&mut self, state: &BodiesState) -> Result<(), RigidError> {
        let (found, expected) = (state.bodies.len(), self.len());
        if found != expected {
            return Err(RigidError::Count { what: "saved states", found, expected });
        }
        let finite = |s: &BodyState| s.is_finite() && state.time.is_finite();
        if let Some(bad) = state.bodies.iter().position(|s| !finite(s)) {
            return Err(RigidError::NotFinite { body: self.descs[bad].name.clone(), time: state.time });
        }
        self.states.copy_from_slice(&state.bodies);
        self.time = state.time;
        self.prepared = None;
        Ok(())
    }
}
