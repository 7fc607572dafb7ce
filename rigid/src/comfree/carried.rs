//! The largest mass that a contact may support.

use super::islands::{Island, root};
use super::solver::{ComFreeSolver, StepInputs};
use crate::icf::{ConvexProblem, Pool};

impl ComFreeSolver {
    /// Finds for every tree of the island the mass of all trees that it touches in the step,
    /// directly or through others, itself included. A contact never supports more.
    ///
    /// The published mass of a contact is that of its two sides. It carries a load of many times
    /// that mass only at many times the depth, and a tower on contacts that soft buckles under its
    /// own weight.
    pub(super) fn find_supported_mass(
        &mut self,
        step: &StepInputs<'_>,
        problem: &ConvexProblem,
        island: &Island<'_>,
    ) {
        for &tree in island.trees {
            self.groups[tree as usize] = tree;
        }
        for contact in &self.contacts {
            // Touches, or may touch within the step.
            let gap = contact.distance.max(0.0);
            if contact.distance <= 0.0 || contact.normal.dot(&contact.smooth[0]) < -gap / step.dt {
                join(&mut self.groups, &problem.contacts, contact.index as usize);
            }
        }
        for &row in island.rows {
            join(&mut self.groups, &problem.equalities, row as usize);
        }
        for &tree in island.trees {
            self.supported_mass[tree as usize] = 0.0;
        }
        for &tree in island.trees {
            let links = &step.model.trees()[tree as usize].links;
            let mass: f64 = links.iter().map(|link| step.model.links()[link.0].inertia.mass).sum();
            self.supported_mass[root(&mut self.groups, tree) as usize] += mass;
        }
    }

    /// The larger of the masses that the two sides of a contact may support \[kg\].
    pub(super) fn supported_mass_of(&mut self, problem: &ConvexProblem, index: usize) -> f64 {
        let mut most = 0.0_f64;
        for side in problem.contacts.sides_of(index).into_iter().flatten() {
            most = most.max(self.supported_mass[root(&mut self.groups, side.tree) as usize]);
        }
        most
    }
}

/// Joins the trees of a constraint; the first represents both.
fn join<L, const N: usize>(groups: &mut [u32], pool: &Pool<L, N>, constraint: usize) {
    if let [Some(a), Some(b)] = pool.sides_of(constraint) {
        let [a, b] = [a, b].map(|side| root(groups, side.tree));
        groups[a.max(b) as usize] = a.min(b);
    }
}
