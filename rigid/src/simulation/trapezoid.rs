//! The second-order step (Kurtz and Castro 2025, section V-B): the first-order step predicts, an
//! implicit trapezoid rule corrects.
//!
//! With `0` for the beginning of the step and a hat for the end that the first-order step predicts,
//! the velocities at the end solve
//!
//! ```text
//! M (v - v0) + h k = h sum_i [(1 - theta_i) J_i0^T f_i(q0, v0) + theta_i J_i^^T f_i(v)] + h J^T lambda
//! q = q0 + h/2 (v0 + v)   (quaternions turn by the mean angular velocity)
//! M = (M(q0) + M(q^))/2,  k = (k(q0, v0) + k(q^, v^))/2
//! ```
//!
//! which is again the stationarity of a convex cost in `v`: its inertia is the mean M, its momentum
//! holds all terms of the beginning, and the potentials at the end are weighted by `theta`.
//!
//! - Forces of contact at the end are those of the geometry found at `q^`, stepped back along its
//!   velocity and forward again along the unknown one: `phi = phi^ + h (v_n - v^_n)` (the paper's
//!   `f_0 = f_e(q^) + h k v^_n`). Springs and position control act at `q0 + h v`, which is equal to
//!   this order.
//! - The paper takes the impulses of the beginning from the step before. Here they are evaluated at
//!   the state, so that a step depends only on the state and its length. They are explicit,
//!   however, and stiff ones overshoot: a force whose rate `z` (of the velocity, in a step) is
//!   above 2 overshoots with `theta = 1/2`. It gets `theta = 1 - 1/z` instead, with which the
//!   trapezoid rule is monotone: stiff forces are damped as in the first-order step, and every
//!   force is of second order once the step resolves it.
//! - Forces of limits and of holonomic constraints are unknowns rather than functions of the state
//!   (index 3), and a mean of them would oscillate: they are those of the end, `theta = 1`. A
//!   holonomic constraint acts along the mean of its Jacobians and holds for the final velocity.
//!   Its correction is made twice, since the first-order step's velocity is tangent to the
//!   constraint at the start, which is a first-order error at the end; then constraints are of
//!   second order too. A limit has one Jacobian.
//! - External systems are those of the first-order step, as in the paper (its remark 1).

use super::assemble;
use super::equality::RowKind;
use super::error::SimulationError;
use super::stepper::Stepper;
use super::summary::StepSummary;
use super::system::System;
use super::trapezoid_data::{PairRates, Trapezoid, end_weight};
use crate::icf::potential::{ActuatorPotential, HolonomicPotential, JointFrictionPotential};
use crate::multibody::{LinkId, State, bias_forces, copy_positions};
use nalgebra::Vector3;

impl Stepper {
    /// Corrects a first-order step of `dt` \[s\] from `start` to `predicted`, taken by `first`;
    /// this stepper is prepared at its end. `v` (first guess, then solution) and `x` as in
    /// [`solve`](Self::solve).
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub(super) fn correct(
        &mut self,
        first: &Stepper,
        system: &System,
        (start, predicted): (&State, &State),
        dt: f64,
        tolerance: f64,
        v: &mut [f64],
        x: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        self.begin(first, system, start, dt);
        self.passive(system, start, dt);
        self.mean_equalities(first, system, (start, predicted), dt);
        assemble::joints(system, start, &self.mass, (dt, true), &mut self.problem);
        self.dry_joints(system, [start, predicted], dt);
        self.actuators(first, system, start, dt);
        self.mean_transmissions(first, system, start, dt, &x[system.first_activation()..]);
        self.linearise(system, start, dt, x)?;
        self.pair_rates(first, [start, predicted], dt);
        self.contacts_at_start(first, start, dt);
        self.contacts_at_end(predicted, dt);
        let summary = self.solve_contacts(system, start.time, dt, tolerance, v)?;
        self.finish(system, start, dt, v, x);
        Ok(summary)
    }

    /// Mean inertia, and the momentum of the start less the mean bias forces. For trees without
    /// forces it is that of their contact-free motion.
    fn begin(&mut self, first: &Stepper, system: &System, start: &State, dt: f64) {
        let model = &system.model;
        let [at_start, at_end] = &mut self.trapezoid.bias;
        for bias in [&mut *at_start, &mut *at_end] {
            bias.resize(model.velocities(), 0.0);
        }
        bias_forces(model, &first.kinematics, &first.loads, &mut self.inverse, at_start);
        bias_forces(model, &self.kinematics, &self.loads, &mut self.inverse, at_end);
        let problem = &mut self.problem;
        // The scale is that of the mass matrix.
        self.trapezoid.inverse_inertia.clear();
        self.trapezoid.inverse_inertia.extend(problem.scale.iter().map(|s| s * s));
        problem.inertia.mean(&first.mass, &self.mass);
        problem.momentum.resize(model.velocities(), 0.0);
        problem.inertia.multiply(model, &start.v, &mut problem.momentum);
        for ((r, a), b) in problem.momentum.iter_mut().zip(at_start).zip(at_end) {
            *r -= 0.5 * dt * (*a + *b);
        }
        self.begin_free(first, system, start, dt);
    }

    /// Trees without forces at both ends of the step follow their contact-free motion, which is
    /// more accurate: free bodies their rotation, jointed trees all of it.
    fn begin_free(&mut self, first: &Stepper, system: &System, start: &State, dt: f64) {
        let Self { trapezoid, problem, bias, .. } = self;
        let (model, Trapezoid { free, touched, .. }) = (&system.model, trapezoid);
        touched.clear();
        touched.resize(model.trees().len(), true);
        let Some(jointed) = &first.free else { return };
        touched.copy_from_slice(jointed.touched());
        problem.mark_trees(touched);
        free.q.clone_from(&start.q);
        free.v.clone_from(&start.v);
        model.flow(&mut free.q, &mut free.v, dt);
        jointed.copy_end(model, free);
        for (t, tree) in model.trees().iter().enumerate().filter(|(t, _)| !touched[*t]) {
            let dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
            let (block, v) = (problem.inertia.block(t), &free.v[dofs.clone()]);
            for (i, n) in dofs.enumerate() {
                let momentum: f64 = v.iter().enumerate().map(|(j, v)| block[(i, j)] * v).sum();
                // Gravity of free bodies, at both ends.
                problem.momentum[n] = momentum - 0.5 * dt * (first.bias[n] + bias[n]);
            }
        }
    }

    /// Positions at the end of a corrected step of `dt` \[s\], with the velocities in `end`: by the
    /// mean velocity, half of each. Trees without forces have already moved; of gravity's change of
    /// a free body's velocity the mean has half.
    pub(super) fn place_corrected(&mut self, system: &System, start: &State, dt: f64, end: &mut State) {
        let (model, Trapezoid { free, touched, change, .. }) = (&system.model, &mut self.trapezoid);
        end.q.copy_from_slice(&start.q);
        model.advance(&mut end.q, &start.v, 0.5 * dt);
        change.clone_from(&end.v);
        for (_, tree) in model.trees().iter().enumerate().filter(|(t, _)| !touched[*t]) {
            copy_positions(model, tree, free, end);
            let dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
            change[dofs.clone()].iter_mut().zip(&free.v[dofs]).for_each(|(v, free)| *v -= free);
        }
        model.advance(&mut end.q, change, 0.5 * dt);
    }

    /// Damping and springs of the joints.
    fn passive(&mut self, system: &System, start: &State, dt: f64) {
        let (model, problem) = (&system.model, &mut self.problem);
        for (i, link) in model.links().iter().enumerate() {
            let (q, n) = (model.positions_of(LinkId(i)), model.velocities_of(LinkId(i)));
            for (d, dof) in link.dofs.iter().enumerate() {
                let n = n.start + d;
                let gain = dof.damping + dt * dof.stiffness;
                if gain <= 0.0 {
                    continue;
                }
                let pull = if dof.stiffness > 0.0 {
                    -dof.stiffness * (start.q[q.start + d] - dof.reference)
                } else {
                    0.0
                };
                let theta = end_weight(dt * gain * self.trapezoid.inverse_inertia[n]);
                problem.momentum[n] += dt * (pull - (1.0 - theta) * dof.damping * start.v[n]);
                problem.inertia.add_diagonal(model, n, dt * theta * gain);
            }
        }
    }

    /// Rows of the holonomic constraints with the mean of the Jacobians of both ends.
    fn mean_equalities(
        &mut self,
        first: &Stepper,
        system: &System,
        (start, predicted): (&State, &State),
        dt: f64,
    ) {
        let problem = &mut self.problem;
        assemble::equalities(system, &self.kinematics, &self.rows, &self.mass, &predicted.v, dt, problem);
        let pool = &mut problem.equalities;
        for (c, (at_start, at_end)) in first.rows.iter().zip(&self.rows).enumerate() {
            // The final velocity corrects the error of the start; with the error of the predicted
            // end it would also correct the curvature of the first-order step.
            let potential = match &at_start.compliance {
                None => pool.potentials()[c].shifted(at_start.error - at_end.error, dt),
                // As in MuJoCo, the change of the Jacobian counts where bodies are joined, and does not
                // where coordinates are coupled.
                Some((compliance, distance)) => {
                    let [rate] = first.problem.equalities.velocity_of(c, &start.v);
                    let is_coupled = matches!(at_start.kind, RowKind::Rates { .. });
                    let carried = if is_coupled { pool.velocity_of(c, &start.v)[0] } else { rate };
                    let line = compliance.line(at_start.error, *distance, [rate, carried], dt, true);
                    HolonomicPotential::compliant(at_start.error, line)
                }
            };
            pool.set_potential(c, potential);
        }
        // They act along the mean Jacobian but constrain the velocity with the Jacobian of the end:
        // the difference at the predicted velocity is known.
        pool.average(&first.problem.equalities, &predicted.v);
    }

    /// Tendons and drives, along the mean of the Jacobians of both ends. Limits and dry friction of
    /// tendons are those of the end, like the force of muscles.
    fn mean_transmissions(
        &mut self,
        first: &Stepper,
        system: &System,
        start: &State,
        dt: f64,
        activations: &[f64],
    ) {
        let Self { transmissions, problem, .. } = self;
        transmissions.assemble(Some((&first.transmissions, &start.v)), system, activations, dt, problem);
        problem.transmissions.mean(&first.problem.transmissions);
        transmissions.add_early(problem);
    }

    /// Dry friction of the joints.
    fn dry_joints(&mut self, system: &System, ends: [&State; 2], dt: f64) {
        let (model, problem) = (&system.model, &mut self.problem);
        let tolerance = system.dry_joint_tolerance;
        // In the order in which they were added.
        let links = (0..model.links().len()).flat_map(|l| model.velocities_of(LinkId(l)));
        for (c, n) in links.filter(|&n| model.dofs()[n].friction_loss > 0.0).enumerate() {
            let dof = &model.dofs()[n];
            let mobility = self.trapezoid.inverse_inertia[n];
            let slip = |state: &State| state.v[n].hypot(tolerance);
            let slowest = slip(ends[0]).min(slip(ends[1]));
            let theta = end_weight(dt * mobility * dof.friction_loss / slowest);
            let at_start = -dof.friction_loss * ends[0].v[n] / slip(ends[0]);
            problem.momentum[n] += dt * (1.0 - theta) * at_start;
            let potential = JointFrictionPotential::new(dof.friction_loss, tolerance, mobility, theta * dt);
            problem.dry_joints.set_potential(c, potential);
        }
    }

    /// Motors.
    fn actuators(&mut self, first: &Stepper, system: &System, start: &State, dt: f64) {
        let (model, problem) = (&system.model, &mut self.problem);
        problem.actuators.clear();
        self.trapezoid.efforts.clear();
        for actuator in &system.actuators {
            let n = actuator.velocity(model);
            let (effort, gain) = actuator.linear(model, start, dt);
            let (_, damping) = actuator.linear(model, start, 0.0);
            let carried = |weight: &[f64]| if actuator.gravity_compensation { weight[n] } else { 0.0 };
            let limit = actuator.effort_limit;
            let theta = end_weight(dt * gain * self.trapezoid.inverse_inertia[n]);
            let wanted = effort + carried(&first.weight) - damping * start.v[n];
            let at_start = (1.0 - theta) * wanted.clamp(-limit, limit);
            problem.momentum[n] += dt * at_start;
            self.trapezoid.efforts.push(at_start);
            let potential =
                ActuatorPotential { effort: effort + carried(&self.weight), gain, limit, dt: theta * dt };
            let tree = model.tree_of_velocity(n);
            problem.actuators.push(potential, n, tree, n - model.trees()[tree].first_velocity);
        }
    }

    /// Rates of the contacts of each pair of links, so that a force has the same weights at both
    /// ends of the step.
    fn pair_rates(&mut self, first: &Stepper, ends: [&State; 2], dt: f64) {
        let Trapezoid { pairs, inverse_inertia, .. } = &mut self.trapezoid;
        pairs.clear();
        for (candidates, prepared, pool, state) in [
            (&first.candidates, &first.prepared, &first.problem.contacts, ends[0]),
            (&self.candidates, &self.prepared, &self.problem.contacts, ends[1]),
        ] {
            for (c, (candidate, contact)) in candidates.iter().zip(prepared).enumerate() {
                let velocity = Vector3::from(pool.velocity_of(c, &state.v));
                let [normal, friction] =
                    contact.point.gains(&velocity, contact.lagged_force, contact.friction, dt);
                // Rotation counts: a corner is far more mobile than its body.
                let (mut along, mut any) = (0.0, 0.0);
                pool.for_each_column(c, |n, column| {
                    let (column, inverse) = (Vector3::from(*column), inverse_inertia[n]);
                    along += contact.point.normal.dot(&column).powi(2) * inverse;
                    any += column.norm_squared() * inverse;
                });
                let mobility = contact.point.mobility;
                let (normal, friction) =
                    (dt * mobility.max(along) * normal, dt * mobility.max(any) * friction);
                pairs.push(PairRates { links: [candidate.first, candidate.second], normal, friction });
            }
        }
        let key = |pair: &PairRates| pair.links.map(|link| link.map_or(0, |l| l.0 + 1));
        pairs.sort_unstable_by_key(key);
        pairs.dedup_by(|next, kept| {
            let same = next.links == kept.links;
            if same {
                kept.normal = kept.normal.max(next.normal);
                kept.friction = kept.friction.max(next.friction);
            }
            same
        });
    }

    /// Weights of the end of the step for the normal force and the friction of two links.
    fn end_weights(&self, links: [Option<LinkId>; 2]) -> [f64; 2] {
        let key = |links: [Option<LinkId>; 2]| links.map(|link| link.map_or(0, |l| l.0 + 1));
        let pairs = &self.trapezoid.pairs;
        let found = pairs.binary_search_by_key(&key(links), |pair| key(pair.links));
        found.map_or([1.0; 2], |at| [end_weight(pairs[at].normal), end_weight(pairs[at].friction)])
    }

    /// Adds the contact forces of the beginning.
    fn contacts_at_start(&mut self, first: &Stepper, start: &State, dt: f64) {
        self.trapezoid.contact_forces.clear();
        let pool = &first.problem.contacts;
        for (c, (candidate, contact)) in first.candidates.iter().zip(&first.prepared).enumerate() {
            let [normal, friction] = self.end_weights([candidate.first, candidate.second]).map(|w| 1.0 - w);
            let velocity = Vector3::from(pool.velocity_of(c, &start.v));
            let f = contact.lagged_force;
            let force = contact.point.normal * (normal * f)
                + contact.point.friction_force(&velocity, f, contact.friction, dt) * friction;
            pool.add_impulse(c, &(force * dt).into(), &mut self.problem.momentum);
            self.trapezoid.contact_forces.push(force);
        }
    }

    /// Weights the contacts of the end, their distances stepped back along the predicted
    /// velocities.
    fn contacts_at_end(&mut self, predicted: &State, dt: f64) {
        for c in 0..self.prepared.len() {
            let velocity = Vector3::from(self.problem.contacts.velocity_of(c, &predicted.v));
            let weights = self.end_weights([self.candidates[c].first, self.candidates[c].second]);
            let contact = &mut self.prepared[c];
            contact.point.distance -= dt * contact.point.normal.dot(&velocity);
            contact.weights = weights;
        }
    }
}
