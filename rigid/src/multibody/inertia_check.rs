//! What the inertias of a model must be.
//!
//! A link may have any inertia as long as what moves as one, the link and all that is fixed to it,
//! has one that can be. The mass matrix must be positive definite.

use nalgebra::{Matrix3, Vector3};

use super::algebra::{MotionVector, RigidInertia};
use super::builder::ModelBuilder;
use super::error::ModelError;
use super::floating::FreeFloatingTree;
use super::joint::{JointKind, MAX_DOFS};
use super::kinematics::Kinematics;
use super::link::{Link, LinkId};
use super::mass_matrix::{MassMatrix, composite_inertias, mass_matrix};
use super::model::Model;
use crate::mass::is_realisable;

/// Part of the largest entry below which a moment of inertia counts as 0: rounding of the sums.
const ROUNDING: f64 = 1e-12;
/// Part of a joint's composite inertia below which what is left of it, with all joints outwards
/// free, is rounding.
const SINGULAR: f64 = 1e-13;

/// A link that a joint moves, with the links that are fixed to it.
#[derive(Clone, Debug)]
pub struct RigidGroup {
    /// The link that the joint moves.
    pub link: LinkId,
    /// Inertia of all links of the group, about the link's origin, in its axes.
    pub inertia: RigidInertia,
}

impl RigidGroup {
    /// Inertia about the centre of mass \[kg m^2\], in the link's axes; exactly symmetric.
    pub fn central_inertia(&self) -> Matrix3<f64> {
        let central = self.inertia.shifted(&self.inertia.center()).inertia;
        (central + central.transpose()) * 0.5
    }

    /// Whether some distribution of mass has this inertia: no principal moment is larger than the
    /// sum of the two others.
    pub fn is_realisable(&self) -> bool {
        let rounding = ROUNDING * self.inertia.inertia.abs().max();
        is_realisable(&self.central_inertia(), rounding)
    }

    /// What makes the kinetic energy of the group negative for some motion, if anything does.
    fn fault(&self) -> Option<&'static str> {
        let rounding = ROUNDING * self.inertia.inertia.abs().max();
        if self.inertia.mass == 0.0 && self.inertia.moment != Vector3::zeros() {
            return Some("it has a first moment without a mass");
        }
        (self.central_inertia().symmetric_eigenvalues().min() < -rounding)
            .then_some("it is not positive semidefinite")
    }
}

impl ModelBuilder {
    /// The groups of links that move as one, roots in the order of the links.
    pub fn rigid_groups(&self) -> Vec<RigidGroup> {
        let links = self.links();
        let mut sums: Vec<RigidInertia> = links.iter().map(|link| link.inertia).collect();
        for (i, link) in links.iter().enumerate().rev() {
            if let (JointKind::Fixed, Some(LinkId(parent))) = (&link.joint, link.parent) {
                let moved = sums[i].moved(&link.frame);
                sums[parent] += moved;
            }
        }
        let moves = |(_, link): &(usize, &Link)| link.joint.velocities() > 0;
        let group = |(i, _): (usize, &Link)| RigidGroup { link: LinkId(i), inertia: sums[i] };
        links.iter().enumerate().filter(moves).map(group).collect()
    }

    /// Refuses groups that no physical body is like.
    pub(super) fn check_groups(&self, any_moments: bool) -> Result<(), ModelError> {
        for group in self.rigid_groups() {
            let fault = group.fault().or_else(|| {
                (!any_moments && !group.is_realisable())
                    .then_some("one principal moment is larger than the sum of the two others")
            });
            if let Some(reason) = fault {
                let link = self.links()[group.link.0].name.clone();
                let inertia = group.central_inertia().into();
                return Err(ModelError::Inertia { link, reason, inertia });
            }
        }
        Ok(())
    }
}

impl Model {
    /// Every joint must move an inertia, of its links or of its motor, whatever the others do. Also
    /// finds the free-floating trees.
    pub(super) fn check_inertia(&mut self) -> Result<(), ModelError> {
        let mut kinematics = Kinematics::new(self);
        kinematics.update(self, &self.zero_configuration());
        let composite = composite_inertias(self, &kinematics);
        for (i, link) in self.links.iter().enumerate() {
            let mut axes = [MotionVector::zero(); MAX_DOFS];
            for (d, n) in self.velocities_of(LinkId(i)).enumerate() {
                axes[d] = kinematics.axes()[n];
                let felt = axes[d].dot(&composite[i].momentum(&axes[d])) + self.dofs[n].armature;
                if felt <= 0.0 {
                    return Err(no_inertia(link));
                }
            }
        }
        if let Some(dof) = self.singular_dof(&kinematics) {
            let link = (0..self.links.len()).find(|l| self.velocities_of(LinkId(*l)).contains(&dof));
            return Err(link.map_or_else(|| no_inertia(&self.links[0]), |l| no_inertia(&self.links[l])));
        }
        self.floating =
            FreeFloatingTree::find(self, |link| composite[link.0].rotated(&kinematics.pose(link).inverse()));
        Ok(())
    }

    /// The degree of freedom at which the mass matrix of the initial configuration is not positive
    /// definite, if there is one. Eliminates from the tips inwards, so that the pivots are the
    /// articulated inertias (Featherstone 2008, section 7.1).
    fn singular_dof(&self, kinematics: &Kinematics) -> Option<usize> {
        let mut mass = MassMatrix::default();
        mass_matrix(self, kinematics, &mut mass);
        for (t, tree) in self.trees.iter().enumerate() {
            let mut m = mass.block(t).clone_owned();
            let felt: Vec<f64> = m.diagonal().iter().copied().collect();
            for k in (0..m.nrows()).rev() {
                let pivot = m[(k, k)];
                if pivot.is_nan() || pivot <= SINGULAR * felt[k] {
                    return Some(tree.first_velocity + k);
                }
                for i in 0..k {
                    let factor = m[(i, k)] / pivot;
                    if factor != 0.0 {
                        for j in 0..k {
                            m[(i, j)] -= factor * m[(k, j)];
                        }
                    }
                }
            }
        }
        None
    }
}

fn no_inertia(link: &Link) -> ModelError {
    ModelError::NoInertia { link: link.name.clone(), joint: link.joint.name() }
}
