//! Bodies as the particles' substeps know them: states, responses, and the points that impulses are
//! about.

use nalgebra::{Isometry3, Vector3};
use pliant_rigid::{BodyId, SpatialVelocity};

/// A body as contact sees it.
#[derive(Clone, Copy, Debug)]
pub struct SubstepBodyState {
    /// Pose at the start of the substep, world frame.
    pub pose: Isometry3<f64>,
    /// Velocity over the substep, world frame: before it answers, where it does.
    pub velocity: SpatialVelocity,
}

/// The bodies that answer within a step (strong coupling), and how.
///
/// With the impulses `p_k` of the particles on them after k of the N substeps, each about the
/// body's point at that time ([`SubstepPlan::references`](crate::SubstepPlan::references)), their
/// velocities are `V_k = start + k/N gain + W p_k + lag`: angular then linear, world frame. In
/// substep k, from 0, contact sees the velocity with `(k+1)/N` and `p_k`, which it changes by `W
/// (p_(k+1) - p_k)`; at its end the pose moves on by [`SpatialVelocity::advance`] with `V_(k+1)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct StronglyCoupledBodies<'a> {
    /// Which.
    pub bodies: &'a [BodyId],
    /// Their mobility W, `6 n` rows of as many numbers \[1/kg, 1/(kg m), 1/(kg m^2)\]; symmetric
    /// and positive semidefinite.
    pub mobility: &'a [f64],
    /// Velocities at the start of the step, six numbers each \[rad/s, m/s\].
    pub start: &'a [f64],
    /// What they gain over the step without impulses of particles.
    pub gain: &'a [f64],
    /// What makes good by how much the poses that contact sees lag behind.
    pub lag: &'a [SpatialVelocity],
}

/// How the point goes on that the impulses on a body are about.
///
/// After substep k, from 0, in which the linear impulses on the body so far have become `P`, it
/// moves by `substep (velocity + (k + 1) substep acceleration + P / mass)`: of a body that nothing
/// holds with its centre of mass, of others at a constant velocity.
#[derive(Clone, Copy, Debug)]
pub struct ReferencePointPath {
    /// At the start of the step, world frame \[m/s\].
    pub velocity: Vector3<f64>,
    /// Without particles and contact, world frame \[m/s^2\].
    pub acceleration: Vector3<f64>,
    /// Of the body \[kg\]; infinite where its impulses do not move the point.
    pub mass: f64,
}

impl ReferencePointPath {
    /// The way over substep `k` of `substep` \[s\] at whose end the body has got `impulse` in the
    /// step \[N s\] \[m\].
    pub fn way(&self, k: u32, substep: f64, impulse: &Vector3<f64>) -> Vector3<f64> {
        let fallen = f64::from(k + 1) * substep;
        substep * (self.velocity + fallen * self.acceleration + impulse / self.mass)
    }
}
