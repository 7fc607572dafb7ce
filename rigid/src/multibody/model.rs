//! What does not change: links, joints, inertias.

use std::collections::BTreeSet;

use nalgebra::{Isometry3, Matrix3, Vector3};

use super::algebra::{MotionVector, RigidInertia};
use super::error::ModelError;
use super::floating::Floating;
use super::joint::{JointKind, MAX_DOFS};
use super::kinematics::Kinematics;
use super::state::State;
use crate::body::MassProperties;

/// The number of a link in its model, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);

/// A rigid body and the joint that holds it to its parent. The origin and axes of the link are those of the joint's frame M.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Name, unique in the model.
    pub name: String,
    /// The link that the joint is on; `None` is the world. Parents come before their children.
    pub parent: Option<LinkId>,
    /// The joint.
    pub joint: JointKind,
    /// The joint's frame F in the parent's frame.
    pub frame: Isometry3<f64>,
    /// Mass and its moments about the link's origin, in the link's axes. Zero for a link that only connects.
    pub inertia: RigidInertia,
    /// Whether gravity acts on it.
    pub gravity: bool,
    /// What each degree of freedom of the joint has besides.
    pub dofs: Vec<Dof>,
}

/// Passive properties of a degree of freedom. Units of a turning one; of a sliding one N and m take the place of N m and rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dof {
    /// Viscous damping (N m s/rad).
    pub damping: f64,
    /// Inertia of the motor and gears, as felt at the joint (kg m^2).
    pub armature: f64,
    /// Dry friction: the largest torque it resists with (N m).
    pub friction_loss: f64,
    /// Stiffness of a spring (N m/rad).
    pub stiffness: f64,
    /// Position at which the spring is at rest (rad).
    pub reference: f64,
    /// Least and greatest position (rad); infinite where there is no limit.
    pub limits: [f64; 2],
}

impl Default for Dof {
    fn default() -> Self {
        Self {
            damping: 0.0,
            armature: 0.0,
            friction_loss: 0.0,
            stiffness: 0.0,
            reference: 0.0,
            limits: [f64::NEG_INFINITY, f64::INFINITY],
        }
    }
}

/// Links that move together: everything that hangs on one moving child of the world (or of what is welded to it). Trees do not share
/// degrees of freedom, so the mass matrix has a block for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// First degree of freedom.
    pub first_velocity: usize,
    /// Number of degrees of freedom.
    pub velocities: usize,
    /// Its links, parents first.
    pub links: Vec<LinkId>,
}

/// Where a link's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub first_position: usize,
    pub first_velocity: usize,
    /// `None` for a link welded to the world.
    pub tree: Option<usize>,
}

/// A mechanism: links in trees. Made by [`ModelBuilder`].
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) links: Vec<Link>,
    pub(crate) places: Vec<Place>,
    pub(crate) trees: Vec<Tree>,
    pub(crate) dofs: Vec<Dof>,
    /// Links whose joints have passive properties, and links on prescribed joints: of many free bodies none.
    pub(crate) passive: Vec<LinkId>,
    pub(crate) prescribed: Vec<LinkId>,
    pub(crate) positions: usize,
    pub(crate) floating: Vec<Floating>,
    /// Gravity (m/s^2), world frame.
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

    /// Where a link's positions are in `q`.
    pub fn positions_of(&self, link: LinkId) -> core::ops::Range<usize> {
        let first = self.places[link.0].first_position;
        first..first + self.links[link.0].joint.positions()
    }

    /// Where a link's velocities are in `v`.
    pub fn velocities_of(&self, link: LinkId) -> core::ops::Range<usize> {
        let first = self.places[link.0].first_velocity;
        first..first + self.links[link.0].joint.velocities()
    }

    /// Advances `q` by `dt` (s) at the constant velocities `v`.
    pub fn advance(&self, q: &mut [f64], v: &[f64], dt: f64) {
        for (link, place) in self.links.iter().zip(&self.places) {
            let (p, n) = (place.first_position, place.first_velocity);
            let joint = &link.joint;
            joint.advance(&mut q[p..p + joint.positions()], &v[n..n + joint.velocities()], dt);
        }
    }

    /// Advances `q` by `dt` (s) with the velocities `v` of the end of a step. A body that nothing holds turns by its torque-free
    /// flow, and `v` with it; everything else as by [`advance`](Self::advance).
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

    /// Time (s) of the next corner of a prescribed path after `time`.
    pub fn next_corner(&self, time: f64) -> Option<f64> {
        let corners = self.prescribed.iter().filter_map(|link| match &self.links[link.0].joint {
            JointKind::Prescribed(path) => path.next_key(time),
            _ => None,
        });
        corners.min_by(f64::total_cmp)
    }

    /// The constant velocities that lead from the positions `from` to the positions `to` in one second.
    pub fn difference(&self, from: &[f64], to: &[f64], v: &mut [f64]) {
        for (link, place) in self.links.iter().zip(&self.places) {
            let (joint, p, n) = (&link.joint, place.first_position, place.first_velocity);
            let (q, d) = (p..p + joint.positions(), n..n + joint.velocities());
            joint.difference(&from[q.clone()], &to[q], &mut v[d]);
        }
    }

    /// Every joint at rest: M at F, no velocity.
    pub fn rest(&self) -> State {
        let mut q = vec![0.0; self.positions];
        for (link, place) in self.links.iter().zip(&self.places) {
            let p = place.first_position;
            link.joint.rest(&mut q[p..p + link.joint.positions()]);
        }
        State { time: 0.0, q, v: vec![0.0; self.dofs.len()] }
    }
}

/// Builds a [`Model`].
#[derive(Clone, Debug, Default)]
pub struct ModelBuilder {
    links: Vec<Link>,
    /// Names that are taken.
    names: BTreeSet<String>,
    gravity: Vector3<f64>,
}

impl ModelBuilder {
    /// A world with gravity (m/s^2).
    pub fn new(gravity: Vector3<f64>) -> Self {
        Self { gravity, ..Self::default() }
    }

    /// Adds a link; its parent must be there already.
    ///
    /// # Errors
    /// A name that is taken, a figure or an inertia out of range.
    pub fn add(&mut self, mut link: Link) -> Result<LinkId, ModelError> {
        if self.names.contains(&link.name) {
            return Err(ModelError::DuplicateName { name: link.name });
        }
        link.dofs.resize(link.joint.velocities(), Dof::default());
        self.validate(&link)?;
        self.names.insert(link.name.clone());
        self.links.push(link);
        Ok(LinkId(self.links.len() - 1))
    }

    fn validate(&self, link: &Link) -> Result<(), ModelError> {
        let value = |field, value: f64, unit, requirement| {
            Err(ModelError::Value { link: link.name.clone(), field, value, unit, requirement })
        };
        if let Some(LinkId(parent)) = link.parent
            && parent >= self.links.len()
        {
            return value("parent", parent as f64, "", "a link that was added before");
        }
        if !crate::spatial::is_pose(&link.frame) {
            return value("frame", f64::NAN, "m", "a finite position and a unit quaternion");
        }
        for dof in &link.dofs {
            for (field, x) in [
                ("damping", dof.damping),
                ("armature", dof.armature),
                ("friction loss", dof.friction_loss),
                ("stiffness", dof.stiffness),
            ] {
                if !(x.is_finite() && x >= 0.0) {
                    return value(field, x, "SI", "finite and not negative");
                }
            }
            if dof.stiffness > 0.0 && (!dof.reference.is_finite() || link.joint.has_quaternion()) {
                return value(
                    "spring reference",
                    dof.reference,
                    "rad or m",
                    "finite, on a joint with a coordinate",
                );
            }
            if dof.limits[0].is_nan() || dof.limits[1].is_nan() || dof.limits[0] > dof.limits[1] {
                return value("lower limit", dof.limits[0], "rad or m", "at most the upper limit");
            }
        }
        let i = &link.inertia;
        if i.mass == 0.0 && i.moment == Vector3::zeros() && i.inertia == Matrix3::zeros() {
            return Ok(());
        }
        let center = i.center();
        let about_center = i.shifted(&center).inertia;
        let figures =
            MassProperties { mass: i.mass, inertia: (about_center + about_center.transpose()) * 0.5 };
        figures
            .validate(&link.name)
            .map_err(|e| ModelError::Inertia { link: link.name.clone(), reason: e.to_string() })
    }

    /// The model.
    ///
    /// # Errors
    /// A link that can move but has nothing to move.
    pub fn build(self) -> Result<Model, ModelError> {
        let mut trees: Vec<Tree> = Vec::new();
        let mut tree_of: Vec<Option<usize>> = Vec::with_capacity(self.links.len());
        let mut positions = 0;
        for (i, link) in self.links.iter().enumerate() {
            let inherited = link.parent.and_then(|parent| tree_of[parent.0]);
            let moves = link.joint.velocities() > 0;
            let tree = inherited.or_else(|| {
                moves.then(|| {
                    trees.push(Tree { first_velocity: 0, velocities: 0, links: Vec::new() });
                    trees.len() - 1
                })
            });
            if let Some(tree) = tree {
                trees[tree].links.push(LinkId(i));
                trees[tree].velocities += link.joint.velocities();
            }
            tree_of.push(tree);
        }
        let mut places: Vec<Place> = tree_of
            .iter()
            .zip(&self.links)
            .map(|(&tree, link)| {
                let place = Place { first_position: positions, first_velocity: 0, tree };
                positions += link.joint.positions();
                place
            })
            .collect();
        let mut velocity = 0;
        for tree in &mut trees {
            tree.first_velocity = velocity;
            for link in &tree.links {
                places[link.0].first_velocity = velocity;
                velocity += self.links[link.0].joint.velocities();
            }
        }
        let mut dofs = vec![Dof::default(); velocity];
        for (link, place) in self.links.iter().zip(&places) {
            let first = place.first_velocity;
            dofs[first..first + link.dofs.len()].copy_from_slice(&link.dofs);
        }
        let numbered = |wanted: fn(&Link) -> bool| {
            let links = self.links.iter().enumerate().filter(|(_, link)| wanted(link));
            links.map(|(i, _)| LinkId(i)).collect()
        };
        let passive = numbered(|link| link.dofs.iter().any(|dof| *dof != Dof::default()));
        let prescribed = numbered(|link| matches!(link.joint, JointKind::Prescribed(_)));
        let mut model = Model {
            links: self.links,
            places,
            trees,
            dofs,
            passive,
            prescribed,
            positions,
            floating: Vec::new(),
            gravity: self.gravity,
        };
        model.check_inertia()?;
        Ok(model)
    }
}

impl Model {
    /// Every joint must feel an inertia, of the links it carries or of its motor. Finds the floating trees, too.
    fn check_inertia(&mut self) -> Result<(), ModelError> {
        let mut kinematics = Kinematics::new(self);
        kinematics.update(self, &self.rest());
        let composite = super::mass_matrix::composite_inertias(self, &kinematics);
        for (i, link) in self.links.iter().enumerate() {
            let mut axes = [MotionVector::zero(); MAX_DOFS];
            for (d, n) in self.velocities_of(LinkId(i)).enumerate() {
                axes[d] = kinematics.axes()[n];
                let felt = axes[d].dot(&composite[i].momentum(&axes[d])) + self.dofs[n].armature;
                if felt <= 0.0 {
                    let joint = link.joint.name();
                    return Err(ModelError::NoInertia { link: link.name.clone(), joint });
                }
            }
        }
        self.floating =
            Floating::find(self, |link| composite[link.0].rotated(&kinematics.pose(link).inverse()));
        Ok(())
    }
}
