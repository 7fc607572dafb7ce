//! Poses, velocities and joint axes in the world.

use nalgebra::{Isometry3, Vector3};

use super::algebra::MotionVector;
use super::joint::MAX_DOFS;
use super::model::{LinkId, Model};
use super::state::State;

/// What follows from a state and everything else needs. Buffers are made once and reused.
#[derive(Clone, Debug)]
pub struct Kinematics {
    poses: Vec<Isometry3<f64>>,
    velocities: Vec<MotionVector>,
    /// Of each degree of freedom, about the origin of its link.
    axes: Vec<MotionVector>,
    /// From the parent's origin to the link's, world axes (m).
    offsets: Vec<Vector3<f64>>,
    /// Acceleration of each link at zero joint accelerations and an unaccelerated parent.
    biases: Vec<MotionVector>,
}

impl Kinematics {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let links = model.links().len();
        Self {
            poses: vec![Isometry3::identity(); links],
            velocities: vec![MotionVector::zero(); links],
            axes: vec![MotionVector::zero(); model.velocities()],
            offsets: vec![Vector3::zeros(); links],
            biases: vec![MotionVector::zero(); links],
        }
    }

    /// Brings everything up to the state, from the roots outwards.
    pub fn update(&mut self, model: &Model, state: &State) {
        for (i, link) in model.links().iter().enumerate() {
            let (parent, parent_velocity) = match link.parent {
                Some(LinkId(p)) => (self.poses[p], self.velocities[p]),
                None => (Isometry3::identity(), MotionVector::zero()),
            };
            let frame = parent * link.frame;
            let (places, dofs) = (model.positions_of(LinkId(i)), model.velocities_of(LinkId(i)));
            let (q, v) = (&state.q[places], &state.v[dofs.clone()]);
            let pose = frame * link.joint.pose(q);
            let offset = pose.translation.vector - parent.translation.vector;

            let mut local = [MotionVector::zero(); MAX_DOFS];
            link.joint.axes(q, &mut local[..v.len()]);
            let mut relative = MotionVector::zero();
            for ((axis, local), rate) in self.axes[dofs].iter_mut().zip(&local).zip(v) {
                *axis = local.rotated(&frame);
                relative += *axis * *rate;
            }
            let carried = parent_velocity.shifted(&offset);
            // The axes are fixed in the parent, which turns; the link's origin moves along them while the parent turns: Coriolis.
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
    }

    /// Pose of a link in the world.
    pub fn pose(&self, link: LinkId) -> &Isometry3<f64> {
        &self.poses[link.0]
    }

    /// Velocity of a link, world axes, about its origin.
    pub fn velocity(&self, link: LinkId) -> &MotionVector {
        &self.velocities[link.0]
    }

    /// The axis of every degree of freedom: what a unit velocity adds to the velocity of its link. World axes, about the link's
    /// origin.
    pub fn axes(&self) -> &[MotionVector] {
        &self.axes
    }

    /// From the parent's origin (the world's for a root) to the link's, world axes (m).
    pub(crate) fn offset(&self, link: usize) -> &Vector3<f64> {
        &self.offsets[link]
    }

    pub(crate) fn bias(&self, link: usize) -> &MotionVector {
        &self.biases[link]
    }

    /// Velocity (m/s) of the material point of a link at `point` (m), world frame.
    pub fn point_velocity(&self, link: LinkId, point: &Vector3<f64>) -> Vector3<f64> {
        self.velocities[link.0].shifted(&(point - self.poses[link.0].translation.vector)).linear
    }
}
