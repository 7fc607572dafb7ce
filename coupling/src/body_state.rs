//! Bodies as the substeps of the particles see them: states, responses, and the reference points of
//! impulses.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_rigid::{BodyId, SpatialVelocity};

/// State of a body at a substep.
#[derive(Clone, Copy, Debug)]
pub struct SubstepBodyState {
    /// Pose at the start of the substep, world frame.
    pub pose: Isometry3<f64>,
    /// Velocity over the substep, world frame; of a strongly coupled body that before its response.
    pub velocity: SpatialVelocity,
    /// The part of it that a strongly coupled body gained in this substep from all but the particles.
    pub gain: SpatialVelocity,
}

impl SubstepBodyState {
    /// A body whose velocity does not change in the substep.
    pub fn steady(pose: Isometry3<f64>, velocity: SpatialVelocity) -> Self {
        Self { pose, velocity, gain: SpatialVelocity::zero() }
    }

    /// How much faster the body is before its response than halfway from the start of the substep to
    /// there, at a point of the world \[m\] \[m/s\].
    pub fn ahead(&self, point: &Point3<f64>) -> Vector3<f64> {
        self.gain.at(&self.pose.translation.vector.into(), point) * 0.5
    }
}

/// The strongly coupled bodies, and their response.
///
/// With the impulses `p_k` of the particles on them after k of the N substeps, each about the
/// body's reference point at that time
/// ([`SubstepPlan::references`](crate::SubstepPlan::references)), their velocities are `V_k = start
/// + k/N gain + W p_k + lag`: angular then linear, world frame. In substep k, from 0, contact
/// begins with the velocity for `(k+1)/N` and `p_k` and changes it by `W (p_(k+1) - p_k)`; at its
/// end the pose moves on by [`SpatialVelocity::advance`] with `V_(k+1)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct StronglyCoupledBodies<'a> {
    /// Their indices.
    pub bodies: &'a [BodyId],
    /// Their mobility W, `6 n` rows of as many numbers \[1/kg, 1/(kg m), 1/(kg m^2)\]; symmetric
    /// and positive semidefinite.
    pub mobility: &'a [f64],
    /// Velocities at the start of the step, six numbers each \[rad/s, m/s\].
    pub start: &'a [f64],
    /// Their velocity change over the step without impulses of particles.
    pub gain: &'a [f64],
    /// Velocities that correct the lag of the poses that contact uses.
    pub lag: &'a [SpatialVelocity],
}

/// Motion of the reference point of the impulses on a body.
///
/// After substep k, from 0, in which the linear impulses on the body so far have become `P`, it
/// moves by `substep (velocity + (k + 1) substep acceleration + P / mass)`: with the centre of mass
/// of a free body, at a constant velocity for others.
#[derive(Clone, Copy, Debug)]
pub struct ReferencePointPath {
    /// At the start of the step, world frame \[m/s\].
    pub velocity: Vector3<f64>,
    /// Without particles and contact, world frame \[m/s^2\].
    pub acceleration: Vector3<f64>,
    /// Mass of the body \[kg\]; infinite where its impulses do not move the point.
    pub mass: f64,
}

impl ReferencePointPath {
    /// Displacement over substep `k` of `substep` \[s\]; `impulse` is that on the body in the step
    /// up to the end of this substep \[N s\] \[m\].
    pub fn way(&self, k: u32, substep: f64, impulse: &Vector3<f64>) -> Vector3<f64> {
        let fallen = f64::from(k + 1) * substep;
        substep * (self.velocity + fallen * self.acceleration + impulse / self.mass)
    }
}
