//! The data of one step's problem.

use super::block_matrix::BlockMatrix;
use super::dof_pool::DofPool;
use super::pool::{ConstraintPool, Pool};
use super::potential::{
    ActuatorPotential, ContactPotential, HolonomicPotential, JointFrictionPotential, LimitPotential,
    TransmissionPotential,
};
use crate::multibody::{MassMatrix, Model};

/// `1/2 v^T A v - r^T v + sum l_c`. Buffers are kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct ConvexProblem {
    /// A: one block a tree (kg, kg m^2, ...).
    pub inertia: MassMatrix,
    /// r \[N s, N m s\].
    pub momentum: Vec<f64>,
    /// `diag(M)^-1/2`: brings all velocities to one unit.
    pub scale: Vec<f64>,
    /// Contacts.
    pub contacts: Pool<ContactPotential, 3>,
    /// Rows of holonomic constraints.
    pub equalities: Pool<HolonomicPotential, 1>,
    /// Joint limits.
    pub limits: DofPool<LimitPotential>,
    /// Actuators.
    pub actuators: DofPool<ActuatorPotential>,
    /// Dry joints.
    pub dry_joints: DofPool<JointFrictionPotential>,
    /// Tendons and drives.
    pub transmissions: Pool<TransmissionPotential, 1>,
    coupled_trees: Vec<(u32, u32)>,
    sizes: Vec<usize>,
}

impl ConvexProblem {
    pub(super) fn pools(&self) -> [&dyn ConstraintPool; 6] {
        [
            &self.contacts,
            &self.equalities,
            &self.limits,
            &self.actuators,
            &self.dry_joints,
            &self.transmissions,
        ]
    }

    pub(super) fn pools_mut(&mut self) -> [&mut dyn ConstraintPool; 6] {
        [
            &mut self.contacts,
            &mut self.equalities,
            &mut self.limits,
            &mut self.actuators,
            &mut self.dry_joints,
            &mut self.transmissions,
        ]
    }

    /// Marks the trees that a constraint acts on, limits left out: they may be far.
    pub(crate) fn mark_trees(&self, trees: &mut [bool]) {
        self.contacts.mark_trees(trees);
        self.equalities.mark_trees(trees);
        self.actuators.mark_trees(trees);
        self.dry_joints.mark_trees(trees);
        self.transmissions.mark_trees(trees);
    }

    /// Marks the trees that a constraint pushed in the last solve.
    pub(crate) fn mark_trees_with_impulses(&self, trees: &mut [bool]) {
        self.contacts.mark_trees_with_impulses(trees);
        self.mark_trees_with_noncontact_impulses(trees);
    }

    /// Marks the trees that something other than contact pushed in the last solve.
    pub(crate) fn mark_trees_with_noncontact_impulses(&self, trees: &mut [bool]) {
        self.equalities.mark_trees_with_impulses(trees);
        self.limits.mark_trees_with_impulses(trees);
        self.actuators.mark_trees_with_impulses(trees);
        self.dry_joints.mark_trees_with_impulses(trees);
        self.transmissions.mark_trees_with_impulses(trees);
    }

    /// Adds the constraints' part of one tree's own block of the Hessian, of friction the secant,
    /// at the velocities last seen. Whether any pushed.
    pub(crate) fn add_own_hessian(&self, tree: usize, values: &mut [f64]) -> bool {
        let linked =
            self.contacts.add_own_hessian(tree, values) | self.equalities.add_own_hessian(tree, values);
        linked
            | self.limits.add_own_hessian(tree, values)
            | self.actuators.add_own_hessian(tree, values)
            | self.dry_joints.add_own_hessian(tree, values)
            | self.transmissions.add_own_hessian(tree, values)
    }

    /// Cost \[J\] at `v`; writes the gradient.
    pub fn evaluate(&mut self, model: &Model, v: &[f64], gradient: &mut [f64]) -> f64 {
        self.inertia.multiply(model, v, gradient);
        let mut cost = 0.0;
        for ((g, v), r) in gradient.iter_mut().zip(v).zip(&self.momentum) {
            cost += v * (0.5 * *g - r);
            *g -= r;
        }
        for pool in self.pools_mut() {
            cost += pool.evaluate(v, gradient);
        }
        cost
    }

    /// Writes the Hessian at the velocities of the last [`evaluate`](Self::evaluate); with `secant`
    /// that of a quadratic that touches the cost there and lies above friction.
    pub fn hessian(&mut self, model: &Model, matrix: &mut BlockMatrix, secant: bool) {
        self.coupled_trees.clear();
        let mut coupled_trees = core::mem::take(&mut self.coupled_trees);
        for pool in self.pools_mut() {
            pool.choose_hessian(secant, &mut coupled_trees);
        }
        self.sizes.clear();
        self.sizes.extend(model.trees().iter().map(|tree| tree.velocities));
        matrix.shape(&self.sizes, &mut coupled_trees);
        self.coupled_trees = coupled_trees;
        for tree in 0..self.sizes.len() {
            matrix.add_diagonal_block(tree, self.inertia.block(tree));
        }
        for pool in self.pools() {
            pool.add_hessian(matrix);
        }
    }
}
