//! The mass matrix, by composite rigid bodies (Featherstone 2008, section 6.2).

use nalgebra::{DMatrixView, DMatrixViewMut};

use super::algebra::RigidInertia;
use super::kinematics::Kinematics;
use super::link::{LinkId, Tree};
use super::model::Model;

/// The mass matrix M(q) of a model, armature included: one dense symmetric block per tree.
#[derive(Clone, Debug, Default)]
pub struct MassMatrix {
    values: Vec<f64>,
    /// First value and size of each block.
    blocks: Vec<(usize, usize)>,
    /// Buffer of the composite inertias.
    composite: Vec<RigidInertia>,
}

impl PartialEq for MassMatrix {
    fn eq(&self, other: &Self) -> bool {
        (&self.values, &self.blocks) == (&other.values, &other.blocks)
    }
}

impl MassMatrix {
    /// The block of a tree.
    pub fn block(&self, tree: usize) -> DMatrixView<'_, f64> {
        let (first, n) = self.blocks[tree];
        DMatrixView::from_slice(&self.values[first..first + n * n], n, n)
    }

    /// The values of the block of a tree; it is symmetric.
    pub(crate) fn values(&self, tree: usize) -> &[f64] {
        let (first, n) = self.blocks[tree];
        &self.values[first..first + n * n]
    }

    /// Sets all values of the block of a tree.
    pub(crate) fn set_values(&mut self, tree: usize, values: &[f64]) {
        let (first, n) = self.blocks[tree];
        self.values[first..first + n * n].copy_from_slice(values);
    }

    fn block_mut(&mut self, tree: usize) -> DMatrixViewMut<'_, f64> {
        let (first, n) = self.blocks[tree];
        DMatrixViewMut::from_slice(&mut self.values[first..first + n * n], n, n)
    }

    fn shape(&mut self, model: &Model) {
        self.blocks.clear();
        let mut first = 0;
        for tree in model.trees() {
            self.blocks.push((first, tree.velocities));
            first += tree.velocities * tree.velocities;
        }
        self.values.clear();
        self.values.resize(first, 0.0);
    }

    /// Becomes equal to `other`, in its own buffers.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
        self.blocks.clone_from(&other.blocks);
    }

    /// Becomes the mean of two of one model.
    pub(crate) fn mean(&mut self, a: &Self, b: &Self) {
        self.copy_from(a);
        self.values.iter_mut().zip(&b.values).for_each(|(v, b)| *v = 0.5 * (*v + b));
    }

    /// Adds to the diagonal entry of a degree of freedom.
    pub(crate) fn add_diagonal(&mut self, model: &Model, n: usize, value: f64) {
        let tree = model.tree_of_velocity(n);
        let within = n - model.trees()[tree].first_velocity;
        self.block_mut(tree)[(within, within)] += value;
    }

    /// `out = M x`.
    pub fn multiply(&self, model: &Model, x: &[f64], out: &mut [f64]) {
        for (t, tree) in model.trees().iter().enumerate() {
            let (block, first) = (self.block(t), tree.first_velocity);
            for i in 0..tree.velocities {
                out[first + i] = (0..tree.velocities).map(|j| block[(i, j)] * x[first + j]).sum();
            }
        }
    }
}

/// Composite inertia of every link: with all its descendants as one rigid body, world axes, about
/// the link's origin.
pub(crate) fn composite_inertias(model: &Model, kinematics: &Kinematics) -> Vec<RigidInertia> {
    let mut composite = Vec::new();
    compose(model, kinematics, &mut composite);
    composite
}

fn compose(model: &Model, kinematics: &Kinematics, composite: &mut Vec<RigidInertia>) {
    composite.clear();
    let links = model.links().iter().enumerate();
    composite.extend(links.map(|(i, link)| link.inertia.rotated(kinematics.pose(LinkId(i)))));
    accumulate(model, kinematics, composite);
}

fn accumulate(model: &Model, kinematics: &Kinematics, composite: &mut [RigidInertia]) {
    for i in (0..composite.len()).rev() {
        if let Some(LinkId(p)) = model.links()[i].parent {
            let carried = composite[i].shifted(&-kinematics.offset(i));
            composite[p] += carried;
        }
    }
}

/// Writes the mass matrix at the kinematics' positions.
pub fn mass_matrix(model: &Model, kinematics: &Kinematics, out: &mut MassMatrix) {
    out.shape(model);
    let mut composite = core::mem::take(&mut out.composite);
    compose(model, kinematics, &mut composite);
    for (t, tree) in model.trees().iter().enumerate() {
        fill(model, kinematics, tree, &composite, &mut out.block_mut(t));
    }
    out.composite = composite;
    for &link in &model.passive {
        for n in model.velocities_of(link) {
            out.add_diagonal(model, n, model.dofs()[n].armature);
        }
    }
}

/// Writes the block of one tree, armature included; the kinematics of the tree and its parents must
/// be up to date. `composite` has one entry per link.
pub(super) fn tree_mass_matrix(
    model: &Model,
    kinematics: &Kinematics,
    tree: &Tree,
    composite: &mut [RigidInertia],
    out: &mut [f64],
) {
    for &LinkId(l) in &tree.links {
        composite[l] = model.links()[l].inertia.rotated(kinematics.pose(LinkId(l)));
    }
    for &LinkId(l) in tree.links.iter().rev() {
        if let Some(LinkId(p)) = model.links()[l].parent
            && model.tree_of(LinkId(p)).is_some()
        {
            let carried = composite[l].shifted(&-kinematics.offset(l));
            composite[p] += carried;
        }
    }
    let n = tree.velocities;
    let mut block = DMatrixViewMut::from_slice(out, n, n);
    block.fill(0.0);
    fill(model, kinematics, tree, composite, &mut block);
    for i in 0..n {
        block[(i, i)] += model.dofs()[tree.first_velocity + i].armature;
    }
}

/// Writes the block of a tree, armature left out, from the composite inertias.
fn fill(
    model: &Model,
    kinematics: &Kinematics,
    tree: &Tree,
    composite: &[RigidInertia],
    block: &mut DMatrixViewMut<'_, f64>,
) {
    for &link in &tree.links {
        for i in model.velocities_of(link) {
            // The momentum of all links beyond the joint at a unit velocity, about each ancestor's
            // joint.
            let mut momentum = composite[link.0].momentum(&kinematics.axes()[i]);
            let mut at = Some(link);
            while let Some(LinkId(l)) = at {
                for j in model.velocities_of(LinkId(l)) {
                    let value = kinematics.axes()[j].dot(&momentum);
                    block[(i - tree.first_velocity, j - tree.first_velocity)] = value;
                    block[(j - tree.first_velocity, i - tree.first_velocity)] = value;
                }
                momentum = momentum.shifted(&-kinematics.offset(l));
                at = model.links()[l].parent;
            }
        }
    }
}
