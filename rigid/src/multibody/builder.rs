//! Builds models.

use std::collections::BTreeSet;

use nalgebra::Vector3;

use super::algebra::RigidInertia;
use super::error::ModelError;
use super::floating::FreeFloatingTree;
use super::joint::JointKind;
use super::link::{Dof, Link, LinkId, LinkIndices, Tree};
use super::model::Model;

/// Builds a [`Model`].
#[derive(Clone, Debug, Default)]
pub struct ModelBuilder {
    links: Vec<Link>,
    /// Names in use.
    names: BTreeSet<String>,
    gravity: Vector3<f64>,
    any_moments: bool,
}

impl ModelBuilder {
    /// A world with gravity \[m/s^2\].
    pub fn new(gravity: Vector3<f64>) -> Self {
        Self { gravity, ..Self::default() }
    }

    /// Adds a link; its parent must have been added before.
    ///
    /// # Errors
    /// A name in use, a value out of range.
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
            if let Some((field, x, unit, requirement)) = dof.limit_compliance.and_then(|c| c.fault()) {
                return value(field, x, unit, requirement);
            }
        }
        let RigidInertia { mass, moment, inertia } = link.inertia;
        if !(mass.is_finite() && mass >= 0.0) {
            return value("mass", mass, "kg", "finite and not negative");
        }
        if let Some(x) = moment.iter().chain(inertia.iter()).find(|x| !x.is_finite()) {
            return value("inertia", *x, "kg m or kg m^2", "finite");
        }
        Ok(())
    }

    /// Accepts principal moments of which one is larger than the sum of the two others, which no
    /// distribution of mass has. The equations of motion are sound with them: the kinetic energy is
    /// not negative.
    pub fn accept_any_moments(&mut self) {
        self.any_moments = true;
    }

    /// The links that were added.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Gives a link another inertia, about its origin, in its axes.
    pub fn set_inertia(&mut self, link: LinkId, inertia: RigidInertia) {
        self.links[link.0].inertia = inertia;
    }

    /// The model.
    ///
    /// # Errors
    /// A link that can move but has no inertia, or one that no body has.
    pub fn build(self) -> Result<Model, ModelError> {
        self.check_groups(self.any_moments)?;
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
        let mut places: Vec<LinkIndices> = tree_of
            .iter()
            .zip(&self.links)
            .map(|(&tree, link)| {
                let place = LinkIndices { first_position: positions, first_velocity: 0, tree };
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

impl FreeFloatingTree {
    /// The free-floating trees of a model, in the order of its trees. `composite` is every link's
    /// composite inertia, link's axes.
    pub fn find(model: &Model, composite: impl Fn(LinkId) -> RigidInertia) -> Vec<Self> {
        let still = |mut at: Option<LinkId>| {
            while let Some(l) = at {
                if model.tree_of(l).is_some() || matches!(model.links()[l.0].joint, JointKind::Prescribed(_))
                {
                    return false;
                }
                at = model.links()[l.0].parent;
            }
            true
        };
        let floats = |(t, tree): (usize, &Tree)| {
            let link = *tree.links.first()?;
            let root = &model.links()[link.0];
            let welded = tree.links[1..].iter().all(|l| model.links()[l.0].joint == JointKind::Fixed);
            let plain = root.dofs.iter().all(|dof| dof.armature == 0.0);
            if !(root.joint == JointKind::Free && welded && plain && still(root.parent)) {
                return None;
            }
            let whole = composite(link);
            let center = whole.center();
            let inertia = whole.shifted(&center).inertia;
            let inverse = inertia.try_inverse()?;
            Some(Self { link, tree: t, mass: whole.mass, center, inertia, inverse })
        };
        model.trees().iter().enumerate().filter_map(floats).collect()
    }
}
