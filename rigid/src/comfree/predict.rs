//! The predicted form: contacts at the velocities that bodies would have with all of their
//! contacts.
//!
//! Every constraint is linear in its velocity within a prediction, `p = f - G J dv` with the
//! impulse `f` at the smooth velocities, so that the trees of an island together have one system
//!
//! ```text
//! (A + sum J^T G J) dv = sum J^T f,   v~ = v_s + dv
//! ```
//!
//! and each constraint is then evaluated at `v~` within its bounds. A fixed, small number of such
//! predictions determines which contacts push, stick or slide. A constraint acts with opposite
//! impulses on its two sides, so momentum is conserved.

use nalgebra::Vector3;

use super::contact::ImpedanceContact;
use super::dry_joint::DryJoint;
use super::islands::Island;
use super::solver::{ComFreeSolver, StepInputs};
use crate::icf::potential::{ConstraintPotential, LimitPotential};
use crate::icf::{ConvexProblem, Side};

/// Slip that counts as sliding in the first prediction: this many times the slip that friction can
/// stop, by the mobility of all contacts of a tree.
const CLEAR_SLIDING: f64 = 2.0;

/// Relative change of a normal impulse from which on friction gets a new bound.
const STALE: f64 = 0.02;

/// Most predictions for the active set: before friction acts, and after.
const SETTLING: [usize; 2] = [2, 1];

/// Most further updates of the friction bounds while velocities differ from the predicted ones.
const REFRESHES: usize = 12;

/// A limit's impulse at the velocity `v`, linear where it is `active`.
fn limit_impulse(potential: &LimitPotential, active: bool, v: f64) -> f64 {
    let impulse = potential.sign() * potential.stiffness() * (potential.target() - potential.sign() * v);
    if active { impulse } else { 0.0 }
}

impl ComFreeSolver {
    /// Writes the impulses of the island's constraints, and `load`. False where something is not
    /// finite.
    pub(super) fn solve_predicted_form(
        &mut self,
        step: &StepInputs<'_>,
        problem: &mut ConvexProblem,
        island: &Island<'_>,
    ) -> bool {
        if island.is_free() {
            island.trees.iter().for_each(|&tree| self.predicted.copy(tree as usize, &self.smooth));
            return true;
        }
        let dt = step.dt;
        self.contacts.iter_mut().for_each(|contact| contact.set_gain_and_target(dt));
        for &i in island.dry_joints {
            self.dry[i as usize] = DryJoint::default();
        }
        for contact in &mut self.contacts {
            contact.active = contact.gain > 0.0 && contact.normal.dot(&contact.smooth[0]) < contact.target;
        }
        for &i in island.limits {
            let (potential, n) = problem.limits.at(i as usize);
            self.limits[i as usize] = potential.is_reached(self.v_smooth[n]);
        }
        // Normal impulses, which bound friction.
        if !self.predict_until_active_set_settles(problem, island, SETTLING[0]) {
            return false;
        }
        self.begin_friction(step, problem, island);
        if !self.predict_until_active_set_settles(problem, island, SETTLING[1]) {
            return false;
        }
        // Contacts beyond their friction bound slide.
        if self.release_to_sliding(step, problem, island)
            && !self.predict_until_active_set_settles(problem, island, SETTLING[1])
        {
            return false;
        }
        // Friction changes the normal impulses, which bound it.
        if self.refresh(problem) && !self.predict_until_active_set_settles(problem, island, SETTLING[1]) {
            return false;
        }
        for left in (0..=REFRESHES).rev() {
            self.finish_predicted(problem, island);
            let defect = self.prediction_error(problem, island);
            if defect <= 1.0 || left == 0 {
                self.unreliable_solves += usize::from(defect > 1.0);
                break;
            }
            self.refresh(problem);
            self.update_active_set(problem, island);
            if !self.predict_until_active_set_settles(problem, island, SETTLING[1]) {
                return false;
            }
        }
        true
    }

    /// Largest difference between the contact velocities under the final impulses and the predicted
    /// ones, relative to the tolerance: the bounds of contacts and their neighbours cut off part of
    /// the predicted impulses.
    fn prediction_error(&mut self, problem: &ConvexProblem, island: &Island<'_>) -> f64 {
        for &tree in island.trees {
            let dofs = self.smooth.dofs(tree as usize);
            self.end[dofs.clone()].copy_from_slice(&self.load[dofs.clone()]);
            self.smooth.solve(tree as usize, &mut self.end);
            for n in dofs {
                self.end[n] += self.v_smooth[n] - self.v[n];
            }
        }
        let mut worst = 0.0_f64;
        for contact in self.contacts.iter().filter(|contact| contact.normal_impulse > 0.0) {
            let difference = Vector3::from(problem.contacts.project(contact.index as usize, &self.end));
            worst = worst.max(difference.norm() / contact.velocity_tolerance());
        }
        worst
    }

    /// Predicts until the active set is consistent, at most `most` times.
    fn predict_until_active_set_settles(
        &mut self,
        problem: &ConvexProblem,
        island: &Island<'_>,
        most: usize,
    ) -> bool {
        for k in 0..most {
            if !self.predict(problem, island) {
                return false;
            }
            if k + 1 == most || self.active_set_is_consistent(problem, island) {
                break;
            }
            self.update_active_set(problem, island);
        }
        true
    }

    /// Difference of the target velocity of a contact and its predicted velocity \[m/s\].
    fn velocity_deficit(&self, problem: &ConvexProblem, contact: &ImpedanceContact) -> f64 {
        let v = Vector3::from(problem.contacts.velocity_of(contact.index as usize, &self.v));
        contact.target - contact.normal.dot(&v)
    }

    /// Whether the contacts and limits that are reached at the predicted velocities are those that
    /// push, within the tolerance.
    fn active_set_is_consistent(&self, problem: &ConvexProblem, island: &Island<'_>) -> bool {
        let mut contacts = self.contacts.iter().filter(|contact| contact.gain > 0.0);
        let mut limits = island.limits.iter().map(|&i| i as usize);
        contacts.all(|contact| {
            let short = self.velocity_deficit(problem, contact);
            (short > 0.0) == contact.active || short.abs() <= contact.velocity_tolerance()
        }) && limits.all(|i| {
            let (potential, n) = problem.limits.at(i);
            potential.is_reached(self.v[n]) == self.limits[i]
        })
    }

    /// Makes the contacts and limits that are reached at the predicted velocities the active ones
    /// of the next prediction.
    fn update_active_set(&mut self, problem: &ConvexProblem, island: &Island<'_>) {
        for c in 0..self.contacts.len() {
            let contact = &self.contacts[c];
            let reached = contact.gain > 0.0 && self.velocity_deficit(problem, contact) > 0.0;
            self.contacts[c].active = reached;
        }
        for &i in island.limits {
            let (potential, n) = problem.limits.at(i as usize);
            self.limits[i as usize] = potential.is_reached(self.v[n]);
        }
    }

    /// Bounds friction by the normal impulses of the last prediction, along its slip. False if they
    /// were right already.
    fn refresh(&mut self, problem: &ConvexProblem) -> bool {
        let (mut change, mut total) = (0.0, 0.0);
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            let n = contact.normal;
            let normal_impulse = contact.normal_impulse_at(n.dot(&v));
            change += (normal_impulse - contact.normal_impulse).abs();
            total += normal_impulse;
            contact.normal_impulse = normal_impulse;
            let slips = contact.slips(&v, &w);
            for (cone, slip) in contact.cones.iter_mut().zip(slips) {
                let bound = cone.mu * normal_impulse;
                cone.is_sliding = slip > cone.stiction_speed;
                cone.gain = bound / slip.max(cone.stiction_speed);
            }
        }
        change > STALE * total
    }

    /// Solves for the velocities of the island's trees.
    fn predict(&mut self, problem: &ConvexProblem, island: &Island<'_>) -> bool {
        Self::take_inertia(&self.saturated, problem, island, &mut self.predicted);
        for &tree in island.trees {
            let dofs = self.predicted.dofs(tree as usize);
            self.v[dofs].fill(0.0);
        }
        self.shape(problem, island);
        for contact in &self.contacts {
            let [v, w] = &contact.smooth;
            if contact.acts() {
                let (pool, c) = (&problem.contacts, contact.index as usize);
                pool.add_impulse(c, &contact.linear_impulse(v).into(), &mut self.v);
                let gain = contact.linear_gain();
                for side in pool.sides_of(c).iter().flatten() {
                    self.predicted.add(side, pool.columns_of(side), &gain);
                }
                self.coupled.add(pool, c, &gain);
            }
            if let Some(spin) = contact.spin.filter(|_| contact.resists_turning()) {
                let (pool, spin) = (&self.spin_jacobians, spin as usize);
                pool.add_impulse(spin, &contact.angular_impulse(w).into(), &mut self.v);
                let gain = contact.angular_gain();
                for side in pool.sides_of(spin).iter().flatten() {
                    self.predicted.add(side, pool.columns_of(side), &gain);
                }
                self.coupled.add(pool, spin, &gain);
            }
        }
        self.add_rows(problem, island);
        if !self.coupled.factorise(island, &mut self.predicted) {
            return false;
        }
        self.coupled.solve(self.coupled.number(), island, &self.predicted, &mut self.v);
        for &tree in island.trees {
            let dofs = self.predicted.dofs(tree as usize);
            for (v, smooth) in self.v[dofs.clone()].iter_mut().zip(&self.v_smooth[dofs]) {
                *v += smooth;
                if !v.is_finite() {
                    return false;
                }
            }
        }
        true
    }

    /// Shapes the matrix for the couplings of the active constraints.
    fn shape(&mut self, problem: &ConvexProblem, island: &Island<'_>) {
        if island.trees.len() < 2 {
            return;
        }
        for contact in &self.contacts {
            if contact.acts() || contact.spin.is_some() && contact.resists_turning() {
                self.coupled.couple(&problem.contacts, contact.index as usize);
            }
        }
        island.rows.iter().for_each(|&row| self.coupled.couple(&problem.equalities, row as usize));
        self.coupled.shape(island, &self.predicted);
    }

    /// Equalities, limits that are reached, dry joints.
    fn add_rows(&mut self, problem: &ConvexProblem, island: &Island<'_>) {
        let pool = &problem.equalities;
        for &row in island.rows {
            let row = row as usize;
            let response = pool.potentials()[row].response(&pool.velocity_of(row, &self.v_smooth));
            pool.add_impulse(row, &response.impulse, &mut self.v);
            let gain = response.hessian[0][0];
            for side in pool.sides_of(row).iter().flatten() {
                self.predicted.add_row(side, pool.columns_of(side), gain);
            }
            self.coupled.add_row(pool, row, gain);
        }
        for &i in island.limits {
            let ((potential, tree, within), n) =
                (problem.limits.place(i as usize), problem.limits.at(i as usize).1);
            let active = self.limits[i as usize];
            self.v[n] += limit_impulse(&potential, active, self.v_smooth[n]);
            self.predicted.add_diagonal(tree, within, if active { potential.stiffness() } else { 0.0 });
        }
        for &i in island.dry_joints {
            let ((_, tree, within), n) =
                (problem.dry_joints.place(i as usize), problem.dry_joints.at(i as usize).1);
            let gain = self.dry[i as usize].gain;
            self.v[n] -= gain * self.v_smooth[n];
            self.predicted.add_diagonal(tree, within, gain);
        }
    }

    /// Bounds friction by the normal impulses of the first prediction and lets contacts stick where
    /// possible.
    fn begin_friction(&mut self, step: &StepInputs<'_>, problem: &ConvexProblem, island: &Island<'_>) {
        for &i in island.limits {
            let (potential, n) = problem.limits.at(i as usize);
            self.limits[i as usize] = potential.is_reached(self.v[n]);
        }
        island.trees.iter().for_each(|&tree| self.counts[tree as usize] = 0.0);
        for c in 0..self.contacts.len() {
            let (v, _) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            let v_n = contact.normal.dot(&v);
            contact.bound_separation(
                contact.normal.dot(&contact.smooth[0]),
                v_n,
                step.settings.separation_speed,
            );
            contact.normal_impulse = contact.normal_impulse_at(v_n);
            contact.active = contact.normal_impulse > 0.0;
            if contact.active {
                for side in problem.contacts.sides_of(contact.index as usize).into_iter().flatten() {
                    self.counts[side.tree as usize] += 1.0;
                }
            }
        }
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let sides = problem.contacts.sides_of(self.contacts[c].index as usize);
            let count = |side: &Option<Side>| side.map_or(0.0, |side| self.counts[side.tree as usize]);
            let together = CLEAR_SLIDING * count(&sides[0]).max(count(&sides[1]));
            let contact = &mut self.contacts[c];
            let slips = contact.slips(&v, &w);
            let mobilities = [contact.mobility[1], contact.mobility[2], contact.mobility[3]];
            for (k, cone) in contact.cones.iter_mut().enumerate() {
                let bound = cone.mu * contact.normal_impulse;
                if bound <= 0.0 || mobilities[k] <= 0.0 {
                    cone.gain = 0.0;
                    continue;
                }
                // Alone it can stop less than together with the others.
                cone.gain = bound / cone.stiction_speed;
                cone.is_sliding = slips[k] > together * bound * mobilities[k];
                if cone.is_sliding {
                    cone.gain = bound / slips[k];
                }
            }
        }
        for &i in island.dry_joints {
            let ((potential, n), dry) = (problem.dry_joints.at(i as usize), &mut self.dry[i as usize]);
            let rate = self.v[n].abs();
            dry.bound = potential.bound();
            dry.gain = dry.bound / step.dry_joint_tolerance;
            dry.is_sliding = rate > CLEAR_SLIDING * dry.bound * potential.mobility();
            if dry.is_sliding {
                dry.gain = dry.bound / rate;
            }
        }
    }

    /// Makes contacts slide whose friction would exceed its bound. False if there are none.
    fn release_to_sliding(
        &mut self,
        step: &StepInputs<'_>,
        problem: &ConvexProblem,
        island: &Island<'_>,
    ) -> bool {
        let mut any = false;
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            let [before, turned] = contact.smooth;
            let (slips, starts) = (contact.slips(&v, &w), contact.slips(&before, &turned));
            for (k, cone) in contact.cones.iter_mut().enumerate() {
                let (bound, wanted) = (cone.mu * contact.normal_impulse, cone.gain * slips[k]);
                if cone.is_sliding || wanted <= bound {
                    continue;
                }
                cone.is_sliding = true;
                any = true;
                // The remaining fraction of the slip is that of the missing impulse.
                let left = starts[k].max(slips[k]) * (1.0 - bound / wanted);
                cone.gain = cone.gain.min(bound / left.max(cone.stiction_speed));
            }
        }
        for &i in island.dry_joints {
            let (n, dry) = (problem.dry_joints.at(i as usize).1, &mut self.dry[i as usize]);
            let wanted = dry.gain * self.v[n].abs();
            if !dry.is_sliding && wanted > dry.bound {
                (dry.is_sliding, any) = (true, true);
                let left = self.v_smooth[n].abs().max(self.v[n].abs()) * (1.0 - dry.bound / wanted);
                dry.gain = dry.gain.min(dry.bound / left.max(step.dry_joint_tolerance));
            }
        }
        any
    }

    /// Impulses at the predicted velocities, within their bounds.
    fn finish_predicted(&mut self, problem: &mut ConvexProblem, island: &Island<'_>) {
        for &tree in island.trees {
            let dofs = self.smooth.dofs(tree as usize);
            self.load[dofs].fill(0.0);
        }
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v);
            let contact = &mut self.contacts[c];
            contact.normal_impulse = contact.normal_impulse_at(contact.normal.dot(&v));
            let (impulse, moment) = contact.impulse(&v, &w, &self.facets);
            self.apply_contact_impulse(c, problem, impulse, moment);
        }
        for &row in island.rows {
            let row = row as usize;
            let v = problem.equalities.velocity_of(row, &self.v);
            let impulse = problem.equalities.potentials()[row].response(&v).impulse;
            problem.equalities.set_impulse(row, impulse);
            problem.equalities.add_impulse(row, &impulse, &mut self.load);
        }
        for &i in island.limits {
            let i = i as usize;
            let (potential, n) = problem.limits.at(i);
            // What the trees' matrix does not have resists by its own mobility.
            let implicit =
                if self.limits[i] { 1.0 } else { 1.0 + potential.stiffness() * potential.mobility() };
            let impulse = potential.response(&[self.v[n]]).impulse[0] / implicit;
            problem.limits.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
        for &i in island.dry_joints {
            let i = i as usize;
            let (dry, (_, n)) = (&self.dry[i], problem.dry_joints.at(i));
            let v = self.v[n];
            let impulse = if dry.is_sliding && v != 0.0 {
                -dry.bound.copysign(v)
            } else {
                (-dry.gain * v).clamp(-dry.bound, dry.bound)
            };
            problem.dry_joints.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
    }
}
