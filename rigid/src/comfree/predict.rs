//! The predicted form: contacts at the velocities that bodies would have among neighbours that keep on.
//!
//! Every constraint is linear in its velocity within the prediction, `p = f - G J dv` from the push `f` at the smooth velocities. A constraint
//! between two trees is cut at the velocity that its two sides would agree on if they were alone, with the share `theta` of its deformation on each side, so that
//! each tree by itself has the system
//!
//! ```text
//! (A + sum J^T (G/theta) J) dv = sum J^T f,   v~ = v_s + dv
//! ```
//!
//! and each constraint is then evaluated at `v~` within its bounds. What it passes on is one impulse and its opposite, so momentum stays. For one
//! tree against the world this is the implicit step; between moving trees it is right for an isolated pair, and in chains it over-corrects by
//! `1 + theta G J A^-1 J^T` at most: their gains are kept so low that this is below 2.

use super::islands::Island;
use super::scale::GAIN_LIMIT;
use super::solver::{ComFreeSolver, Step};
use crate::icf::law::{Law, LimitLaw};
use crate::icf::{Problem, Side};

/// Slip that is taken for sliding before it is known: this many times what friction can stop by the mobility of all contacts of a tree.
const CLEARLY: f64 = 2.0;

/// Part of a normal impulse by which it may change before friction is bounded afresh.
const STALE: f64 = 0.02;

/// Dry friction of a joint within a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DryJoint {
    bound: f64,
    gain: f64,
    slides: bool,
}

/// A limit's impulse at the velocity `v`, linear where it is `active`.
fn limit_push(law: &LimitLaw, active: bool, v: f64) -> f64 {
    let impulse = law.sign() * law.stiffness() * (law.target() - law.sign() * v);
    if active { impulse } else { 0.0 }
}

impl ComFreeSolver {
    /// Writes the impulses of the island's constraints, and `load`. False where something is not finite.
    pub(super) fn push_as_predicted(
        &mut self,
        step: &Step<'_>,
        problem: &mut Problem,
        island: &Island<'_>,
    ) -> bool {
        if island.is_free() {
            island.trees.iter().for_each(|&tree| self.predicted.copy(tree as usize, &self.smooth));
            return true;
        }
        let dt = step.dt;
        self.contacts.iter_mut().for_each(|contact| contact.aim(dt));
        self.scale_rows(problem, island);
        self.scale_normals(step, problem, island);
        for &i in island.dry_joints {
            self.dry[i as usize] = DryJoint::default();
        }
        for contact in &mut self.contacts {
            contact.active = contact.gain > 0.0 && contact.normal.dot(&contact.smooth[0]) < contact.target;
        }
        for &i in island.limits {
            let (law, n) = problem.limits.at(i as usize);
            self.limits[i as usize] = law.is_reached(self.v_smooth[n]);
        }
        // Normal impulses, which bound friction.
        if !self.predict(problem, island) {
            return false;
        }
        self.begin_friction(step, problem, island);
        if !self.predict(problem, island) {
            return false;
        }
        // What friction cannot hold slides.
        if self.let_slide(step, problem, island) && !self.predict(problem, island) {
            return false;
        }
        // Friction has its part in the normal impulses, which bound it.
        if self.refresh(problem) && !self.predict(problem, island) {
            return false;
        }
        self.finish_predicted(problem, island);
        true
    }

    /// Bounds friction by the normal impulses of the last prediction, along its slip. False where they were right already.
    fn refresh(&mut self, problem: &Problem) -> bool {
        let (mut change, mut total) = (0.0, 0.0);
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            let n = contact.normal;
            let push = contact.normal_push(n.dot(&v));
            change += (push - contact.push).abs();
            total += push;
            contact.push = push;
            let slips = contact.slips(&v, &w);
            for (cone, slip) in contact.cones.iter_mut().zip(slips) {
                let bound = cone.mu * push;
                cone.slides = slip > cone.rest;
                cone.gain = (bound / slip.max(cone.rest)).min(cone.most);
            }
        }
        change > STALE * total
    }

    /// Solves for the velocities of the island's trees.
    fn predict(&mut self, problem: &Problem, island: &Island<'_>) -> bool {
        Self::take_inertia(&self.saturated, problem, island, &mut self.predicted);
        for &tree in island.trees {
            let dofs = self.predicted.dofs(tree as usize);
            self.v[dofs].fill(0.0);
        }
        for contact in &self.contacts {
            let [v, w] = &contact.smooth;
            if contact.active || contact.cones[0].gain > 0.0 {
                let (pool, c) = (&problem.contacts, contact.index as usize);
                pool.add_impulse(c, &contact.linear_push(v).into(), &mut self.v);
                let gain = contact.linear_gain();
                for (side, share) in pool.sides_of(c).iter().zip(contact.shares[0]) {
                    if let Some(side) = side
                        && share > 0.0
                    {
                        self.predicted.add(side, pool.columns_of(side), &gain, 1.0 / share);
                    }
                }
            }
            if let Some(spin) = contact.spin.filter(|_| contact.cones[1].gain + contact.cones[2].gain > 0.0) {
                let (pool, spin) = (&self.spins, spin as usize);
                pool.add_impulse(spin, &contact.angular_push(w).into(), &mut self.v);
                let gain = contact.angular_gain();
                for (side, share) in pool.sides_of(spin).iter().zip(contact.shares[1]) {
                    if let Some(side) = side
                        && share > 0.0
                    {
                        self.predicted.add(side, pool.columns_of(side), &gain, 1.0 / share);
                    }
                }
            }
        }
        self.add_rows(problem, island);
        for &tree in island.trees {
            let tree = tree as usize;
            if !self.predicted.factorise(tree) {
                return false;
            }
            self.predicted.solve(tree, &mut self.v);
            let dofs = self.predicted.dofs(tree);
            for (v, smooth) in self.v[dofs.clone()].iter_mut().zip(&self.v_smooth[dofs]) {
                *v += smooth;
                if !v.is_finite() {
                    return false;
                }
            }
        }
        true
    }

    /// Equalities, limits that are reached, dry joints.
    fn add_rows(&mut self, problem: &Problem, island: &Island<'_>) {
        let pool = &problem.equalities;
        for &row in island.rows {
            let row = row as usize;
            let [scale, first, second] = self.row_figures(row);
            let response = pool.laws()[row].response(&pool.velocity_of(row, &self.v_smooth));
            pool.add_impulse(row, &[scale * response.impulse[0]], &mut self.v);
            let gain = scale * response.hessian[0][0];
            for (side, share) in pool.sides_of(row).iter().zip([first, second]) {
                if let Some(side) = side
                    && share > 0.0
                {
                    self.predicted.add_row(side, pool.columns_of(side), gain / share);
                }
            }
        }
        for &i in island.limits {
            let ((law, tree, within), n) =
                (problem.limits.place(i as usize), problem.limits.at(i as usize).1);
            let active = self.limits[i as usize];
            self.v[n] += limit_push(&law, active, self.v_smooth[n]);
            self.predicted.add_diagonal(tree, within, if active { law.stiffness() } else { 0.0 });
        }
        for &i in island.dry_joints {
            let ((_, tree, within), n) =
                (problem.dry_joints.place(i as usize), problem.dry_joints.at(i as usize).1);
            let gain = self.dry[i as usize].gain;
            self.v[n] -= gain * self.v_smooth[n];
            self.predicted.add_diagonal(tree, within, gain);
        }
    }

    /// Part of its near-rigid gain that a row of an equality gets, and the shares of its sides.
    pub(super) fn row_figures(&self, row: usize) -> [f64; 3] {
        [self.row_scales[3 * row], self.row_scales[3 * row + 1], self.row_scales[3 * row + 2]]
    }

    /// Bounds friction by the normal impulses of the first prediction and has it hold where it may.
    fn begin_friction(&mut self, step: &Step<'_>, problem: &Problem, island: &Island<'_>) {
        for &i in island.limits {
            let (law, n) = problem.limits.at(i as usize);
            self.limits[i as usize] = law.is_reached(self.v[n]);
        }
        island.trees.iter().for_each(|&tree| self.counts[tree as usize] = 0.0);
        for c in 0..self.contacts.len() {
            let (v, _) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            let v_n = contact.normal.dot(&v);
            contact.restrain(contact.normal.dot(&contact.smooth[0]), v_n, step.settings.separation_speed);
            contact.push = contact.normal_push(v_n);
            contact.active = contact.push > 0.0;
            if contact.active {
                for side in problem.contacts.sides_of(contact.index as usize).into_iter().flatten() {
                    self.counts[side.tree as usize] += 1.0;
                }
            }
        }
        let mut turning = false;
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let sides = problem.contacts.sides_of(self.contacts[c].index as usize);
            let count = |side: &Option<Side>| side.map_or(0.0, |side| self.counts[side.tree as usize]);
            let together = CLEARLY * count(&sides[0]).max(count(&sides[1]));
            let contact = &mut self.contacts[c];
            let slips = contact.slips(&v, &w);
            let mobilities = [contact.mobility[1], contact.mobility[2], contact.mobility[3]];
            turning |= contact.spin.is_some();
            for (k, cone) in contact.cones.iter_mut().enumerate() {
                let bound = cone.mu * contact.push;
                if bound <= 0.0 || mobilities[k] <= 0.0 {
                    cone.gain = 0.0;
                    continue;
                }
                // What it can stop alone is less than what it can stop with the others.
                let lesser = contact.lesser[usize::from(k > 0)];
                cone.most = if lesser > 0.0 { GAIN_LIMIT / lesser } else { f64::INFINITY };
                cone.gain = (bound / cone.rest).min(cone.most);
                cone.slides = slips[k] > together * bound * mobilities[k];
                if cone.slides {
                    cone.gain = bound / slips[k];
                }
            }
        }
        self.scale_friction(problem, island, turning);
        for &i in island.dry_joints {
            let ((law, n), dry) = (problem.dry_joints.at(i as usize), &mut self.dry[i as usize]);
            let rate = self.v[n].abs();
            dry.bound = law.bound();
            dry.gain = dry.bound / step.dry_joint_tolerance;
            dry.slides = rate > CLEARLY * dry.bound * law.mobility();
            if dry.slides {
                dry.gain = dry.bound / rate;
            }
        }
    }

    /// Turns what friction would have to exceed its bound to hold into sliding. False where there is none.
    fn let_slide(&mut self, step: &Step<'_>, problem: &Problem, island: &Island<'_>) -> bool {
        let mut any = false;
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            let [before, turned] = contact.smooth;
            let (slips, starts) = (contact.slips(&v, &w), contact.slips(&before, &turned));
            for (k, cone) in contact.cones.iter_mut().enumerate() {
                let (bound, wanted) = (cone.mu * contact.push, cone.gain * slips[k]);
                if cone.slides || wanted <= bound {
                    continue;
                }
                cone.slides = true;
                any = true;
                // The part of the slip that is left is that of the impulse that was wanting.
                let left = starts[k].max(slips[k]) * (1.0 - bound / wanted);
                cone.gain = cone.gain.min(bound / left.max(cone.rest));
            }
        }
        for &i in island.dry_joints {
            let (n, dry) = (problem.dry_joints.at(i as usize).1, &mut self.dry[i as usize]);
            let wanted = dry.gain * self.v[n].abs();
            if !dry.slides && wanted > dry.bound {
                (dry.slides, any) = (true, true);
                let left = self.v_smooth[n].abs().max(self.v[n].abs()) * (1.0 - dry.bound / wanted);
                dry.gain = dry.gain.min(dry.bound / left.max(step.dry_joint_tolerance));
            }
        }
        any
    }

    /// Impulses at the predicted velocities, within their bounds.
    fn finish_predicted(&mut self, problem: &mut Problem, island: &Island<'_>) {
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            contact.push = contact.normal_push(contact.normal.dot(&v));
            let (impulse, moment) = contact.impulse(&v, &w, &self.facets);
            self.pass_on(c, problem, impulse, moment);
        }
        for &row in island.rows {
            let row = row as usize;
            let [scale, ..] = self.row_figures(row);
            let v = problem.equalities.velocity_of(row, &self.v);
            let impulse = [scale * problem.equalities.laws()[row].response(&v).impulse[0]];
            problem.equalities.set_impulse(row, impulse);
            problem.equalities.add_impulse(row, &impulse, &mut self.load);
        }
        for &i in island.limits {
            let i = i as usize;
            let (law, n) = problem.limits.at(i);
            // What the trees' matrix does not have resists by its own mobility.
            let implicit = if self.limits[i] { 1.0 } else { 1.0 + law.stiffness() * law.mobility() };
            let impulse = law.response(&[self.v[n]]).impulse[0] / implicit;
            problem.limits.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
        for &i in island.dry_joints {
            let i = i as usize;
            let (dry, (_, n)) = (&self.dry[i], problem.dry_joints.at(i));
            let v = self.v[n];
            let impulse = if dry.slides && v != 0.0 {
                -dry.bound.copysign(v)
            } else {
                (-dry.gain * v).clamp(-dry.bound, dry.bound)
            };
            problem.dry_joints.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
    }
}
