//! Gains between moving trees, kept so low that one pass is stable.

use super::contact::Contact;
use super::islands::Island;
use super::solver::{ComFreeSolver, Step, sides_of_row};
use super::trees::{AxialGain, Trees};
use crate::icf::law::Law;
use crate::icf::{Pool, Problem};

/// Largest norm of the gains between moving trees, against the inertia of the tree that gets it.
pub(super) const GAIN_LIMIT: f64 = 1.5;

impl ComFreeSolver {
    /// Keeps the gains of equalities between moving trees low.
    pub(super) fn scale_rows(&mut self, problem: &Problem, island: &Island<'_>) {
        let pool = &problem.equalities;
        let mut between = false;
        for &row in island.rows {
            let row = row as usize;
            let law = &pool.laws()[row];
            let sides = sides_of_row(pool, row, &mut self.smooth);
            let sum = sides[0] + sides[1];
            let shares = if sum > 0.0 { sides.map(|s| s / sum) } else { [0.5; 2] };
            let lesser = sides[0].min(sides[1]);
            let gain = law.response(&[0.0]).hessian[0][0];
            let scale = if lesser > 0.0 { (GAIN_LIMIT / (lesser * gain)).min(1.0) } else { 1.0 };
            between |= lesser > 0.0;
            self.row_scales[3 * row..3 * row + 3].copy_from_slice(&[scale, shares[0], shares[1]]);
        }
        if !between {
            return;
        }
        self.clear_gains(island);
        for &row in island.rows {
            let row = row as usize;
            let [scale, ..] = self.row_figures(row);
            let gain = scale * pool.laws()[row].response(&[0.0]).hessian[0][0];
            if let [Some(a), Some(b)] = pool.sides_of(row) {
                self.gains.add_row(&a, pool.columns_of(&a), gain);
                self.gains.add_row(&b, pool.columns_of(&b), gain);
            }
        }
        self.find_tree_scales(island);
        for &row in island.rows {
            let row = row as usize;
            if let [Some(a), Some(b)] = pool.sides_of(row) {
                let most = self.tree_scales[a.tree as usize].max(self.tree_scales[b.tree as usize]);
                self.row_scales[3 * row] *= most.min(1.0);
            }
        }
    }

    /// What each tree allows of the gains that were gathered.
    fn find_tree_scales(&mut self, island: &Island<'_>) {
        for &tree in island.trees {
            let norm = self.smooth.norm_of(tree as usize, &self.gains);
            self.tree_scales[tree as usize] = if norm > 0.0 { GAIN_LIMIT / norm } else { 1.0 };
        }
    }

    fn clear_gains(&mut self, island: &Island<'_>) {
        island.trees.iter().for_each(|&tree| self.gains.clear(tree as usize));
    }

    /// Keeps the normal gains between moving trees low.
    pub(super) fn scale_normals(&mut self, step: &Step<'_>, problem: &Problem, island: &Island<'_>) {
        let between = |contact: &Contact| contact.lesser[0] > 0.0;
        if !self.contacts.iter().any(between) {
            return;
        }
        self.clear_gains(island);
        for contact in &self.contacts {
            if between(contact) && contact.distance <= 0.0 {
                let mut only = *contact;
                (only.active, only.cones[0].gain) = (true, 0.0);
                add_both(&mut self.gains, &problem.contacts, contact.index as usize, &only.linear_gain());
            }
        }
        self.find_tree_scales(island);
        for contact in &mut self.contacts {
            if let [Some(a), Some(b)] = problem.contacts.sides_of(contact.index as usize) {
                let scales = [a, b].map(|side| self.tree_scales[side.tree as usize]);
                contact.soften(scales[0].max(scales[1]), step.dt);
            }
        }
    }

    /// Keeps the gains of friction between moving trees low.
    pub(super) fn scale_friction(&mut self, problem: &Problem, island: &Island<'_>, turning: bool) {
        if !self.contacts.iter().any(|contact| contact.lesser[0] > 0.0) {
            return;
        }
        self.clear_gains(island);
        for contact in &self.contacts {
            if contact.lesser[0] > 0.0 && contact.cones[0].gain > 0.0 {
                let mut only = *contact;
                only.active = false;
                add_both(&mut self.gains, &problem.contacts, contact.index as usize, &only.linear_gain());
            }
            if let Some(spin) = contact.spin.filter(|_| turning && contact.lesser[1] > 0.0) {
                add_both(&mut self.gains, &self.spins, spin as usize, &contact.angular_gain());
            }
        }
        self.find_tree_scales(island);
        for contact in &mut self.contacts {
            if let [Some(a), Some(b)] = problem.contacts.sides_of(contact.index as usize) {
                let scales = [a, b].map(|side| self.tree_scales[side.tree as usize]);
                let most = scales[0].max(scales[1]).min(1.0);
                for cone in &mut contact.cones {
                    cone.gain *= most;
                    cone.most *= most;
                }
            }
        }
    }
}

/// Adds `J^T G J` of a contact between two trees to both.
fn add_both<L>(gains: &mut Trees, pool: &Pool<L, 3>, c: usize, gain: &AxialGain) {
    if let [Some(a), Some(b)] = pool.sides_of(c) {
        gains.add(&a, pool.columns_of(&a), gain, 1.0);
        gains.add(&b, pool.columns_of(&b), gain, 1.0);
    }
}
