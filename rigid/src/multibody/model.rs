//! The constant data of a mechanism: links, joints, inertias.

use std::sync::Arc;

use nalgebra::Vector3;

use super::algebra::RigidInertia;
use super::error::ModelError;
use super::floating::FreeFloatingTree;
use super::joint::JointKind;
use super::link::{Dof, Link, LinkId, LinkIndices, Tree};
use crate::trajectory::PoseTrajectory;

/// A mechanism: links in trees. Made by [`ModelBuilder`](super::ModelBuilder).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) links: Vec<Link>,
    pub(crate) places: Vec<LinkIndices>,
    pub(crate) trees: Vec<Tree>,
    pub(crate) dofs: Vec<Dof>,
    /// Links whose joints have passive properties, and links on prescribed joints; free bodies have
    /// neither.
    pub(crate) passive: Vec<LinkId>,
    pub(crate) prescribed: Vec<LinkId>,
    pub(crate) positions: usize,
    pub(crate) floating: Vec<FreeFloatingTree>,
    /// Gravity \[m/s^2\], world frame.
    pub gravity: Vector3<f64>,
}

impl Model {
    /// The links, by number.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.links.iter().position(|link| link.name == name).map(LinkId)
    }

    /// The trees.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The tree of a link; `None` for one welded to the world.
    pub fn tree_of(&self, link: LinkId) -> Option<usize> {
        self.places[link.0].tree
    }

    /// The tree of a degree of freedom.
    pub fn tree_of_velocity(&self, n: usize) -> usize {
        self.trees.partition_point(|tree| tree.first_velocity <= n) - 1
    }

    /// Length of `q`.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Length of `v`: degrees of freedom.
    pub fn velocities(&self) -> usize {
        self.dofs.len()
    }

    /// The passive properties of every degree of freedom.
    pub fn dofs(&self) -> &[Dof] {
        &self.dofs
    }

    /// Range of a link's positions in `q`.
    pub fn positions_of(&self, link: LinkId) -> core::ops::Range<usize> {
        let first = self.places[link.0].first_position;
        first..first + self.links[link.0].joint.positions()
    }

    /// Range of a link's velocities in `v`.
    pub fn velocities_of(&self, link: LinkId) -> core::ops::Range<usize> {
        let first = self.places[link.0].first_velocity;
        first..first + self.links[link.0].joint.velocities()
    }

    /// Advances `q` by `dt` \[s\] at the constant velocities `v`.
    pub fn advance(&self, q: &mut [f64], v: &[f64], dt: f64) {
        for (link, place) in self.links.iter().zip(&self.places) {
            let (p, n) = (place.first_position, place.first_velocity);
            let joint = &link.joint;
            joint.advance(&mut q[p..p + joint.positions()], &v[n..n + joint.velocities()], dt);
        }
    }

    /// Advances `q` by `dt` \[s\] with the velocities `v` of the end of a step. A free-floating
    /// body rotates by its torque-free flow, and `v` with it; all else as in
    /// [`advance`](Self::advance).
    pub fn flow(&self, q: &mut [f64], v: &mut [f64], dt: f64) {
        let mut floating = self.floating.iter().peekable();
        for (i, (link, place)) in self.links.iter().zip(&self.places).enumerate() {
            let (p, n) = (place.first_position, place.first_velocity);
            let joint = &link.joint;
            let (q, v) = (&mut q[p..p + joint.positions()], &mut v[n..n + joint.velocities()]);
            match floating.next_if(|f| f.link.0 == i) {
                Some(body) => body.flow(q, v, dt),
                None => joint.advance(q, v, dt),
            }
        }
    }

    /// Time \[s\] of the next corner of a prescribed path after `time`.
    pub fn next_corner(&self, time: f64) -> Option<f64> {
        let corners = self.prescribed.iter().filter_map(|link| match &self.links[link.0].joint {
            JointKind::Prescribed(path) => path.next_key(time),
            _ => None,
        });
        corners.min_by(f64::total_cmp)
    }

    /// Multiplies the mass and inertia of a link by a factor that is finite and positive.
    ///
    /// # Errors
    /// The mass matrix would be singular; the model is as before then.
    pub(crate) fn scale_inertia(&mut self, link: LinkId, factor: f64) -> Result<(), ModelError> {
        let old = self.links[link.0].inertia;
        let scaled = RigidInertia {
            mass: old.mass * factor,
            moment: old.moment * factor,
            inertia: old.inertia * factor,
        };
        self.links[link.0].inertia = scaled;
        let checked = self.check_inertia();
        if checked.is_err() {
            self.links[link.0].inertia = old;
        }
        checked
    }

    /// Gives a link on a prescribed joint another path, in the frame of its joint on the parent;
    /// returns the old one. Other links have none, and keep their joints.
    pub fn set_path(&mut self, link: LinkId, path: Arc<PoseTrajectory>) -> Option<Arc<PoseTrajectory>> {
        match &mut self.links.get_mut(link.0)?.joint {
            JointKind::Prescribed(old) => Some(core::mem::replace(old, path)),
            _ => None,
        }
    }

    /// The constant velocities that lead from the positions `from` to the positions `to` in one
    /// second.
    pub fn difference(&self, from: &[f64], to: &[f64], v: &mut [f64]) {
        for (link, place) in self.links.iter().zip(&self.places) {
            let (joint, p, n) = (&link.joint, place.first_position, place.first_velocity);
            let (q, d) = (p..p + joint.positions(), n..n + joint.velocities());
            joint.difference(&from[q.clone()], &to[q], &mut v[d]);
        }
    }
}
