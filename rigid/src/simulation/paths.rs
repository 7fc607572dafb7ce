//! Paths of prescribed links that were changed between advances, and their place in saved states.

use std::sync::Arc;

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use serde::{Deserialize, Serialize};

use super::corner::VelocityJumpBuffers;
use super::error::SimulationError;
use crate::multibody::{JointKind, Kinematics, LinkId, MassMatrix, Model, PathSide, State};
use crate::spatial::is_pose;
use crate::trajectory::{PoseKey, PoseTrajectory};

/// A link that was moved, for a [`Snapshot`](super::Snapshot).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedLink {
    /// Number of the link.
    pub link: usize,
    /// When it begins and ends \[s\].
    pub times: [f64; 2],
    /// Its poses there in the frame of its joint: unit quaternion (w, x, y, z), origin \[m\].
    pub poses: [[f64; 7]; 2],
}

/// All links that were moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MovedLinks {
    /// In the order in which they were first moved.
    pub links: Vec<MovedLink>,
    /// Work of the changes that no advance has counted yet \[J\].
    pub work: f64,
}

impl MovedLink {
    fn new(link: LinkId, keys: &[PoseKey; 2]) -> Self {
        let numbers = |key: &PoseKey| {
            let (r, x) = (key.pose.rotation, key.pose.translation.vector);
            [r.w, r.i, r.j, r.k, x.x, x.y, x.z]
        };
        Self {
            link: link.0,
            times: [keys[0].time, keys[1].time],
            poses: [numbers(&keys[0]), numbers(&keys[1])],
        }
    }

    /// The same bits as before.
    fn keys(&self) -> [PoseKey; 2] {
        [0, 1].map(|k| {
            let [w, i, j, l, x, y, z] = self.poses[k];
            let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, l));
            PoseKey { time: self.times[k], pose: Isometry3::from_parts(Translation3::new(x, y, z), rotation) }
        })
    }

    fn validate(&self, model: &Model) -> Result<(), SimulationError> {
        let prescribed =
            model.links().get(self.link).is_some_and(|l| matches!(l.joint, JointKind::Prescribed(_)));
        let [from, to] = self.times;
        let times = from.is_finite() && to.is_finite() && from < to;
        if prescribed && times && self.keys().iter().all(|key| is_pose(&key.pose)) {
            return Ok(());
        }
        let must = "that of a prescribed link, with poses at increasing times";
        Err(SimulationError::value("snapshot", "moved link", self.link as f64, "", must))
    }
}

/// The changes of paths since the simulation was made.
#[derive(Clone, Debug, Default)]
pub(super) struct PathChanges {
    /// Each with the path that it had at first.
    moved: Vec<(MovedLink, Arc<PoseTrajectory>)>,
    work: f64,
    buffers: Option<Box<(Kinematics, MassMatrix, VelocityJumpBuffers)>>,
}

impl PathChanges {
    /// The work of the changes since the last call \[J\].
    pub fn take_work(&mut self) -> f64 {
        core::mem::take(&mut self.work)
    }

    /// Adds work for the next [`take_work`](Self::take_work) \[J\].
    pub fn add_work(&mut self, work: f64) {
        self.work += work;
    }

    pub fn save(&self) -> MovedLinks {
        MovedLinks { links: self.moved.iter().map(|(moved, _)| moved.clone()).collect(), work: self.work }
    }

    /// Gives the links the paths of a snapshot, and all others those that they had at first.
    pub fn restore(&mut self, model: &mut Model, saved: &MovedLinks) -> Result<(), SimulationError> {
        saved.links.iter().try_for_each(|moved| moved.validate(model))?;
        for (moved, first) in self.moved.drain(..) {
            model.set_path(LinkId(moved.link), first);
        }
        for moved in &saved.links {
            self.set(model, moved.clone());
        }
        self.work = saved.work;
        Ok(())
    }

    /// Moves a prescribed link from now on along two keys, and applies the jump of its velocity.
    pub fn change(&mut self, model: &mut Model, state: &mut State, link: LinkId, keys: &[PoseKey; 2]) {
        let mut buffers = self.buffers.take().unwrap_or_else(|| {
            Box::new((Kinematics::new(model), MassMatrix::default(), VelocityJumpBuffers::default()))
        });
        let (kinematics, mass, jumps) = &mut *buffers;
        let before = jumps.note(model, kinematics, state, PathSide::After);
        self.set(model, MovedLink::new(link, keys));
        self.work += jumps.jump(model, kinematics, mass, state) - before;
        self.buffers = Some(buffers);
    }

    fn set(&mut self, model: &mut Model, to: MovedLink) {
        let path = Arc::new(PoseTrajectory::between(to.keys()));
        let Some(old) = model.set_path(LinkId(to.link), path) else { return };
        match self.moved.iter_mut().find(|(moved, _)| moved.link == to.link) {
            Some((moved, _)) => *moved = to,
            None => self.moved.push((to, old)),
        }
    }
}
