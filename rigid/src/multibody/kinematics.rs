//! Poses, velocities and joint axes in the world.

use nalgebra::{Isometry3, Vector3};

use super::algebra::MotionVector;
use super::joint::{JointKind, MAX_DOFS};
use super::link::LinkId;
use super::model::Model;
use super::state::State;

/// Poses, velocities and axes of all links at a state. Buffers are reused.
#[derive(Clone, Debug)]
pub struct Kinematics {
    poses: Vec<Isometry3<f64>>,
    velocities: Vec<MotionVector>,
    /// Axis of each degree of freedom, about the origin of its link.
    axes: Vec<MotionVector>,
    /// From the parent's origin to the link's, world axes \[m\].
    offsets: Vec<Vector3<f64>>,
    /// Acceleration of each link at zero joint accelerations and an unaccelerated parent.
    biases: Vec<MotionVector>,
    /// Velocity that each link has from prescribed motion alone, with all degrees of freedom at
    /// rest.
    prescribed_velocities: Vec<MotionVector>,
}

/// Choice of the velocity of a prescribed link at the corner of its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathSide {
    /// That of the segment that ends there.
    Before,
    /// That of the segment that begins there.
    After,
    /// The mean over the next seconds.
    Over(f64),
    /// The mean from a given time \[s\] on over some seconds.
    Mean(f64, f64),
}

impl Kinematics {
    /// Buffers for a model.
    pub fn new(model: &Model) -> Self {
        let links = model.links().len();
        Self {
            poses: vec![Isometry3::identity(); links],
            velocities: vec![MotionVector::zero(); links],
            axes: vec![MotionVector::zero(); model.velocities()],
            offsets: vec![Vector3::zeros(); links],
            biases: vec![MotionVector::zero(); links],
            prescribed_velocities: vec![MotionVector::zero(); links],
        }
    }

    /// Updates all links to the state, from the roots outwards. At a corner of its path a
    /// prescribed link has the velocity that follows.
    pub fn update(&mut self, model: &Model, state: &State) {
        self.update_at(model, state, PathSide::After);
    }

    pub(crate) fn update_at(&mut self, model: &Model, state: &State, corner: PathSide) {
        (0..model.links().len()).for_each(|i| self.update_link(model, i, state, corner));
    }

    /// Updates some links to the state; their parents come before them or are up to date.
    pub(super) fn update_links(&mut self, model: &Model, links: &[LinkId], state: &State, corner: PathSide) {
        links.iter().for_each(|link| self.update_link(model, link.0, state, corner));
    }

    fn update_link(&mut self, model: &Model, i: usize, state: &State, corner: PathSide) {
        let link = &model.links()[i];
        let (parent, parent_velocity) = match link.parent {
            Some(LinkId(p)) => (self.poses[p], self.velocities[p]),
            None => (Isometry3::identity(), MotionVector::zero()),
        };
        let frame = parent * link.frame;
        let (places, dofs) = (model.positions_of(LinkId(i)), model.velocities_of(LinkId(i)));
        let (q, v) = (&state.q[places], &state.v[dofs.clone()]);
        let pose = frame * link.joint.pose(q, state.time);
        let offset = pose.translation.vector - parent.translation.vector;

        let mut local = [MotionVector::zero(); MAX_DOFS];
        link.joint.axes(q, &mut local[..v.len()]);
        let mut relative = prescribed(&link.joint, state.time, corner).rotated(&frame);
        let drift = link.parent.map_or(MotionVector::zero(), |LinkId(p)| self.prescribed_velocities[p]);
        self.prescribed_velocities[i] = drift.shifted(&offset) + relative;
        for ((axis, local), rate) in self.axes[dofs].iter_mut().zip(&local).zip(v) {
            *axis = local.rotated(&frame);
            relative += *axis * *rate;
        }
        let carried = parent_velocity.shifted(&offset);
        // The axes are fixed in the parent, which turns; the link's origin moves along them while
        // the parent turns: Coriolis.
        let w = &parent_velocity.angular;
        let own = link.joint.axes_rate(&local[..v.len()], v).rotated(&frame);
        self.biases[i] = own
            + MotionVector::new(
                w.cross(&relative.angular),
                w.cross(&w.cross(&offset)) + w.cross(&relative.linear) * 2.0,
            );
        self.velocities[i] = carried + relative;
        self.poses[i] = pose;
        self.offsets[i] = offset;
    }

    /// Pose of a link in the world.
    pub fn pose(&self, link: LinkId) -> &Isometry3<f64> {
        &self.poses[link.0]
    }

    /// Velocity of a link, world axes, about its origin.
    pub fn velocity(&self, link: LinkId) -> &MotionVector {
        &self.velocities[link.0]
    }

    /// The axis of every degree of freedom: the velocity of its link for a unit velocity. World
    /// axes, about the link's origin.
    pub fn axes(&self) -> &[MotionVector] {
        &self.axes
    }

    /// From the parent's origin (the world's for a root) to the link's, world axes \[m\].
    pub(crate) fn offset(&self, link: usize) -> &Vector3<f64> {
        &self.offsets[link]
    }

    /// Velocity that a link has from prescribed motion alone, with all degrees of freedom at rest;
    /// world axes, about its origin.
    pub fn prescribed_velocity(&self, link: LinkId) -> &MotionVector {
        &self.prescribed_velocities[link.0]
    }

    pub(crate) fn bias(&self, link: usize) -> &MotionVector {
        &self.biases[link]
    }

    /// The part of [`point_velocity`](Self::point_velocity) that comes from prescribed motion
    /// alone.
    pub(crate) fn point_drift(&self, link: LinkId, point: &Vector3<f64>) -> Vector3<f64> {
        self.prescribed_velocities[link.0].shifted(&(point - self.poses[link.0].translation.vector)).linear
    }

    /// Velocity \[m/s\] of the material point of a link at `point` \[m\], world frame.
    pub fn point_velocity(&self, link: LinkId, point: &Vector3<f64>) -> Vector3<f64> {
        self.velocities[link.0].shifted(&(point - self.poses[link.0].translation.vector)).linear
    }
}

/// Velocity of M in F, in the axes of F, of a prescribed joint; none of others.
fn prescribed(joint: &JointKind, time: f64, corner: PathSide) -> MotionVector {
    let JointKind::Prescribed(path) = joint else { return MotionVector::zero() };
    let velocity = match corner {
        PathSide::Before => path.velocity_before(time),
        PathSide::After => path.velocity_after(time),
        PathSide::Over(dt) => path.velocity_over(time, dt),
        PathSide::Mean(from, dt) => path.velocity_over(from, dt),
    };
    MotionVector::new(velocity.angular, velocity.linear)
}
