//! One step of the bodies.
//!
//! Impulses and forces change momenta at the start of the step, then the bodies move with the new velocities
//! (semi-implicit Euler), except for what is solved better: joint damping is implicit, and the rotation of a
//! free body is the torque-free flow of [`free_rotation`](crate::free_rotation). The state holds momenta
//! rather than velocities where the two differ: the angular momentum of a free body, which therefore does not
//! change at all without torque, and the absolute momentum along the axis of a joint, through which nothing
//! passes but damping when the parent's velocity jumps between steps.

use crate::bodies::{Bodies, Jointed, Kind};
use crate::error::RigidError;
use crate::free_rotation;
use crate::spatial::{SpatialImpulse, SpatialVelocity};
use crate::state::BodyState;
use nalgebra::{Isometry3, Vector3};

impl Bodies {
    /// Sets each body's velocity over the coming step from [`time`](Self::time) to `time + dt` (s).
    /// Prescribed: the constant velocity that carries the pose at the start to the pose at the end. Dynamic:
    /// the current velocity; a jointed body moves with its parent plus its joint rate.
    ///
    /// Call it again if `dt` changes. A `dt` that is not finite and positive prepares nothing, and
    /// `integrate` will refuse it.
    pub fn prepare(&mut self, dt: f64) {
        self.prepared = None;
        if !(dt.is_finite() && dt > 0.0) {
            return;
        }
        for k in 0..self.len() {
            let mut state = self.states[k];
            match &self.kinds[k] {
                Kind::Still | Kind::Free(_) => {}
                Kind::Follows(path) => state.velocity = path.velocity_over(self.time, dt),
                Kind::Held { parent, .. } => state.velocity = carried(&self.states[*parent], &state.pose),
                Kind::Jointed(jointed) => self.move_with_joint(jointed, &self.states, &mut state),
            }
            self.states[k] = state;
        }
        self.prepared = Some(dt);
    }

    /// One step of `dt` (s), the one that was prepared: applies `gravity` (m/s^2, world frame), the constant
    /// forces and one impulse a body, then moves the bodies to `time + dt`. Impulses on bodies that do not
    /// move by their dynamics have no effect.
    ///
    /// # Errors
    /// A step that was not prepared, another number of impulses than bodies, and a state that is not finite
    /// afterwards. The bodies are as before then.
    pub fn integrate(
        &mut self,
        dt: f64,
        gravity: Vector3<f64>,
        impulses: &[SpatialImpulse],
    ) -> Result<(), RigidError> {
        if self.prepared != Some(dt) {
            return Err(RigidError::StepNotPrepared { step: dt, prepared: self.prepared });
        }
        let (found, expected) = (impulses.len(), self.len());
        if found != expected {
            return Err(RigidError::Count { what: "impulses", found, expected });
        }
        let end = self.time + dt;
        for k in 0..expected {
            let mut state = self.states[k];
            match &self.kinds[k] {
                Kind::Still => {}
                Kind::Follows(path) => state.pose = path.pose(end),
                Kind::Held { parent, relative } => {
                    let parent = &self.next[*parent];
                    state.pose = parent.pose * relative;
                    state.velocity = carried(parent, &state.pose);
                }
                Kind::Jointed(jointed) => {
                    self.drive_joint(jointed, &mut state, dt, &gravity, &impulses[k]);
                    let inside = jointed.relative * jointed.motion(state.coordinate);
                    state.pose = jointed.parent.map_or(inside, |p| self.next[p].pose * inside);
                    self.move_with_joint(jointed, &self.next, &mut state);
                }
                Kind::Free(body) => {
                    let acceleration = body.force / body.mass + body.gravity_or_zero(&gravity);
                    state.velocity.linear += acceleration * dt + impulses[k].linear / body.mass;
                    state.pose.translation.vector += state.velocity.linear * dt;
                    state.angular_momentum += body.torque * dt + impulses[k].angular;
                    let momentum = &state.angular_momentum;
                    let rotation = &mut state.pose.rotation;
                    *rotation = free_rotation::turn(rotation, momentum, &body.inverse_inertia, dt);
                    state.velocity.angular = body.angular_velocity(rotation, momentum);
                }
            }
            if !state.is_finite() {
                return Err(RigidError::NotFinite { body: self.descs[k].name.clone(), time: end });
            }
            self.next[k] = state;
        }
        std::mem::swap(&mut self.states, &mut self.next);
        self.time = end;
        self.prepared = None;
        Ok(())
    }

    /// Momentum, rate and coordinate of a joint after `dt`.
    ///
    /// With a the world axis, w the parent's angular velocity and L the body's angular momentum about its
    /// origin, the momentum along a revolute axis, h = a . L, obeys dh/dt = (w x a) . L + a . torque - d
    /// qdot, since the joint passes no other torque along a. Along a prismatic axis, h = m a . v obeys the
    /// same with m v and the force.
    fn drive_joint(
        &self,
        jointed: &Jointed,
        state: &mut BodyState,
        dt: f64,
        gravity: &Vector3<f64>,
        impulse: &SpatialImpulse,
    ) {
        let body = &jointed.inertial;
        let axis = state.pose.rotation * jointed.axis.into_inner();
        let base = base_velocity(jointed, &self.states, &state.pose);
        let (momentum, gained) = if jointed.revolute {
            let momentum = body.angular_momentum(&state.pose.rotation, &state.velocity.angular);
            (momentum, body.torque * dt + impulse.angular)
        } else {
            let force = body.force + body.gravity_or_zero(gravity) * body.mass;
            (state.velocity.linear * body.mass, force * dt + impulse.linear)
        };
        let turning = base.angular.cross(&axis).dot(&momentum) * dt;
        let undamped = state.joint_momentum + turning + axis.dot(&gained);
        // Implicit damping: inertia qdot + base = undamped - dt d qdot.
        let base_momentum = jointed.momentum(&state.pose.rotation, &axis, &base);
        let inertia = jointed.joint_inertia();
        state.rate = (undamped - base_momentum) / (inertia + dt * jointed.damping);
        state.joint_momentum = inertia * state.rate + base_momentum;
        state.coordinate += dt * state.rate;
    }

    /// Rate and velocity of a jointed body from its pose and the momentum along its joint. `states` holds its
    /// parent.
    pub(crate) fn move_with_joint(&self, jointed: &Jointed, states: &[BodyState], state: &mut BodyState) {
        let axis = state.pose.rotation * jointed.axis.into_inner();
        let mut velocity = base_velocity(jointed, states, &state.pose);
        let base_momentum = jointed.momentum(&state.pose.rotation, &axis, &velocity);
        state.rate = (state.joint_momentum - base_momentum) / jointed.joint_inertia();
        if jointed.revolute {
            velocity.angular += axis * state.rate;
        } else {
            velocity.linear += axis * state.rate;
        }
        state.velocity = velocity;
    }
}

/// Velocity of a jointed body at `pose` if its joint did not move.
fn base_velocity(jointed: &Jointed, states: &[BodyState], pose: &Isometry3<f64>) -> SpatialVelocity {
    jointed.parent.map_or_else(SpatialVelocity::zero, |parent| carried(&states[parent], pose))
}

/// Velocity of a frame at `pose` that moves with a body.
fn carried(body: &BodyState, pose: &Isometry3<f64>) -> SpatialVelocity {
    let origin = body.pose.translation.vector.into();
    let linear = body.velocity.at(&origin, &pose.translation.vector.into());
    SpatialVelocity { angular: body.velocity.angular, linear }
}
