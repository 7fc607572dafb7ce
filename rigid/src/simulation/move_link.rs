//! Motion of prescribed links by a program, between advances.

use nalgebra::Isometry3;

use super::error::SimulationError;
use super::integrate::Simulation;
use crate::multibody::{JointKind, LinkId};
use crate::spatial::is_pose;
use crate::trajectory::PoseKey;

impl<S> Simulation<S> {
    /// Moves a link on a prescribed joint to a pose in the frame of its joint on the parent, within
    /// a time \[s\]: from now on it moves at the constant linear and angular velocity that takes it
    /// there, the shorter way round, and rests afterwards. Contacts and constraints therefore feel
    /// its real velocity, also where it is moved far in one step. The jump of its velocity now is
    /// one at a corner of its path: what is attached to it by joints keeps its momentum along them,
    /// and the next advance counts the work with that of the prescribed links.
    ///
    /// # Errors
    /// Another joint, a pose that is not finite, a time that is not finite and positive. Nothing is
    /// changed then.
    pub fn move_link(
        &mut self,
        link: LinkId,
        to: &Isometry3<f64>,
        within: f64,
    ) -> Result<(), SimulationError> {
        let Self { system, state, paths, .. } = self;
        let model = &mut system.model;
        let refuse =
            |field, value, unit, must| Err(SimulationError::value("moved link", field, value, unit, must));
        let Some(JointKind::Prescribed(path)) = model.links().get(link.0).map(|l| &l.joint) else {
            return refuse("number", link.0 as f64, "", "that of a link on a prescribed joint");
        };
        if !is_pose(to) {
            let sum = to.translation.vector.sum() + to.rotation.norm();
            return refuse("pose", sum, "", "finite, with a unit quaternion");
        }
        let end = state.time + within;
        if !(within > 0.0 && end.is_finite() && end > state.time) {
            return refuse("time", within, "s", "finite and positive");
        }
        let keys =
            [PoseKey { time: state.time, pose: path.pose(state.time) }, PoseKey { time: end, pose: *to }];
        paths.change(model, state, link, &keys);
        // Reactions would be found with the new path.
        self.stepped = false;
        Ok(())
    }
}
