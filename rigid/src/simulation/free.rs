//! The contact-free motion of jointed trees in the convex problem of a step, and the positions of
//! the trees at its end.
//!
//! The motion under gravity, Coriolis and gyroscopic forces alone ([`ContactFreeMotion`]) leads
//! from `(q0, v0)` to `(q_f, v_f)`. For trees with a base that constraints or other forces act on,
//! gravity is not part of it but a force like the others, so that forces that balance it do so
//! exactly. A tree without a base falls as a whole under any internal forces: with gravity
//! evaluated at one configuration and the mass matrix at another, gravity would move its joints.
//! All else are impulses p relative to this motion, `M (v - v_f) = p` with the mass matrix at its
//! end. So without impulses a step is this motion, and the work of impulses is measured with the
//! final kinetic energy.
//!
//! At fixed steps the positions move by the mean velocity of the step, `u = v + P e`. Here `e` is
//! the difference of the mean velocity and the final one: `e_f = (q_f - q0)/h - v_f` for the
//! contact-free motion, less half of the change by a steady force, `e = e_f - (v - v_f)/2`. `P =
//! D^-1 M`, with D the tree's own Hessian of the problem, removes the part that constraints resist
//! within the step: a smooth or soft force gives the trapezoid rule, a stiff contact, motor or
//! limit moves with the final velocity, for which it was solved.

use super::error::SimulationError;
use super::free_bodies::{FreeBodies, falls_without_rotation};
use super::system::System;
use crate::icf::ConvexProblem;
use crate::multibody::{ContactFreeMotion, JointKind, Model, State, Tree, copy_tree};
use pliant_numeric::cholesky::{factorise, rows, solve};

/// A limit is left out of a step if it is farther away than this many times the joint's motion in
/// the step, with this acceleration \[rad/s^2, m/s^2\].
const LIMIT_REACH: f64 = 2.0;
const LIMIT_RATE: f64 = 100.0;
/// About the root of the sum of both ends' squares, at an equal rate at both \[rad\].
const HALF_A_TURN: f64 = 4.0;

/// The contact-free motion of the jointed trees, and the changes by the step.
#[derive(Clone, Debug)]
pub(super) struct ContactFreeStep {
    pub motion: ContactFreeMotion,
    /// Change of the mean velocity of the step against the contact-free motion \[rad/s, m/s\].
    change: Vec<f64>,
    /// Mean velocity of the positions, less that of both ends of the step \[rad/s, m/s\].
    mean_velocity_offset: Vec<f64>,
    /// Velocities at the end of the step, less those of the contact-free motion \[rad/s, m/s\].
    velocity_change: Vec<f64>,
    /// Impulse of gravity \[N m s, N s\] on the trees whose motion does not include it.
    pub weight: Vec<f64>,
    /// Whether the problem's Hessian is that of the convex problem: else what a constraint has
    /// moves with the end of the step.
    is_convex: bool,
    /// Whether forces other than gravity act on a tree.
    is_acted_on: Vec<bool>,
    /// Whether a tree falls as a whole: its first link is free, and gravity acts on all links. Not
    /// in closed form, where a tree pressed into the floor gained energy by it.
    has_gravity: Vec<bool>,
    /// Free-floating bodies.
    pub free_bodies: FreeBodies,
    /// Whether positions move by mean velocities where forces act: free bodies then fall on
    /// parabolas. Not under error control, which compares positions: those of first order reveal an
    /// imminent impact and errors of the velocities.
    pub moves_by_mean_velocity: bool,
    /// Whether there are external systems, whose states use the final velocities of steps:
    /// positions then use them too.
    has_external_systems: bool,
    /// A tree's Hessian, and vectors of its size.
    hessian: Vec<f64>,
    excess: Vec<f64>,
    lag: Vec<f64>,
    /// Jointed trees whose positions differ from those of the contact-free motion.
    carried: Vec<usize>,
}

impl ContactFreeStep {
    /// Buffers for a system; none if its solver uses the published explicit step.
    pub fn new(system: &System) -> Option<Box<Self>> {
        if system.solver.is_published() {
            return None;
        }
        let (model, is_convex) = (&system.model, system.solver.is_convex());
        let n = model.trees().iter().map(|tree| tree.velocities).max().unwrap_or(0);
        Some(Box::new(Self {
            motion: ContactFreeMotion::new(model),
            change: vec![0.0; model.velocities()],
            mean_velocity_offset: vec![0.0; model.velocities()],
            velocity_change: vec![0.0; model.velocities()],
            weight: vec![0.0; model.velocities()],
            is_acted_on: vec![false; model.trees().len()],
            is_convex,
            has_gravity: model
                .trees()
                .iter()
                .map(|tree| is_convex && falls_as_a_whole(model, tree))
                .collect(),
            free_bodies: FreeBodies::new(model, is_convex),
            moves_by_mean_velocity: false,
            has_external_systems: !system.externals.is_empty(),
            hessian: vec![0.0; n * n],
            excess: vec![0.0; n],
            lag: vec![0.0; n],
            carried: Vec::with_capacity(model.trees().len()),
        }))
    }

    /// Finds the motion of a step of `dt` \[s\], and gives the problem its mass matrices and
    /// momenta. `bias` are all other bias forces \[N m, N\].
    pub fn begin(
        &mut self,
        model: &Model,
        state: &State,
        dt: f64,
        bias: &[f64],
        problem: &mut ConvexProblem,
    ) -> Result<(), SimulationError> {
        self.is_acted_on.fill(false);
        problem.mark_trees(&mut self.is_acted_on);
        let (loads, limits) = (bias, &problem.limits);
        for (t, _) in self.motion.trees() {
            let tree = &model.trees()[t];
            let mut dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
            self.is_acted_on[t] |= dofs.any(|n| {
                let dof = &model.dofs()[n];
                loads[n] != 0.0 || dof.damping + dof.stiffness > 0.0
            });
        }
        for body in &model.floating {
            self.is_acted_on[body.tree] |= self.free_bodies.has_external_force[body.tree];
        }
        for (potential, n, tree, _) in limits.entries() {
            self.is_acted_on[tree] |=
                potential.gap() <= LIMIT_REACH * dt * (state.v[n].abs() + dt * LIMIT_RATE);
        }
        let (is_acted_on, has_gravity) = (&self.is_acted_on, &self.has_gravity);
        self.motion.run(model, state, dt, |t| has_gravity[t] || !is_acted_on[t]).map_err(|too_fast| {
            SimulationError::TooFast {
                time: state.time,
                link: model.links()[too_fast.link.0].name.clone(),
                step: dt,
                fits: too_fast.feasible_step,
            }
        })?;
        for (t, mass) in self.motion.trees() {
            let tree = &model.trees()[t];
            let dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
            problem.inertia.set_values(t, mass);
            let v = &self.motion.end.v[dofs.clone()];
            for (row, n) in mass.chunks_exact(tree.velocities).zip(dofs) {
                let momentum: f64 = row.iter().zip(v).map(|(m, v)| m * v).sum();
                problem.momentum[n] = momentum - dt * bias[n];
            }
        }
        self.weight.fill(0.0);
        self.motion.add_weight(model, state, dt, &mut self.weight);
        problem.momentum.iter_mut().zip(&self.weight).for_each(|(r, weight)| *r += weight);
        Ok(())
    }

    /// Sets the initial guess of trees on which only gravity acts to their solution after `dt`
    /// \[s\] from `state`, before the rotation of free bodies. A solver that stops at a tolerance
    /// may accept any guess that is close enough, and the guess of a body that has already rotated
    /// has another angular momentum. `bias` is the bias force of gravity \[N m, N\].
    pub fn guess(&self, model: &Model, state: &State, dt: f64, bias: &[f64], v: &mut [f64]) {
        for body in model
            .floating
            .iter()
            .filter(|body| !self.is_acted_on[body.tree] && falls_without_rotation(body, model))
        {
            let n = model.velocities_of(body.link);
            v[n.clone()].copy_from_slice(&state.v[n.clone()]);
            for n in n.start + 3..n.end {
                v[n] -= dt * bias[n] / body.mass;
            }
        }
        for (t, _) in self.motion.trees().filter(|(t, _)| !self.is_acted_on[*t]) {
            let tree = &model.trees()[t];
            let dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
            v[dofs.clone()].copy_from_slice(&self.motion.end.v[dofs]);
        }
    }

    /// Finds the mean velocities of a step of `dt` \[s\] that ended with the velocities `v`.
    pub fn finish(
        &mut self,
        model: &Model,
        state: &State,
        dt: f64,
        v: &mut [f64],
        (problem, bias): (&ConvexProblem, &[f64]),
    ) {
        let Self {
            motion,
            is_convex,
            change,
            mean_velocity_offset,
            velocity_change,
            is_acted_on,
            free_bodies,
            has_external_systems,
            hessian,
            excess,
            lag,
            carried,
            moves_by_mean_velocity,
            ..
        } = self;
        free_bodies.find_mean_velocities(
            model,
            state,
            dt,
            (v, bias),
            problem,
            *moves_by_mean_velocity,
            (change, mean_velocity_offset),
        );
        carried.clear();
        for (number, (t, mass)) in motion.trees().enumerate() {
            let tree = &model.trees()[t];
            let (n, first) = (tree.velocities, tree.first_velocity);
            let end = &motion.end.v[first..first + n];
            let change = &mut change[first..first + n];
            let v = &mut v[first..first + n];
            if !(is_acted_on[t] || free_bodies.has_constraint_impulse[t]) {
                // The solution without the solver's rounding.
                v.copy_from_slice(end);
                change.fill(0.0);
                velocity_change[first..first + n].fill(0.0);
                mean_velocity_offset[first..first + n].fill(0.0);
                continue;
            }
            let pairs = v.iter().zip(end);
            velocity_change[first..]
                .iter_mut()
                .zip(pairs)
                .for_each(|(velocity_change, (v, end))| *velocity_change = v - end);
            // `excess` is e_f, `lag` e.
            let begin = &state.v[first..first + n];
            for &link in &tree.links {
                let (q, at) = (model.positions_of(link), model.velocities_of(link));
                let (joint, at) = (&model.links()[link.0].joint, at.start - first..at.end - first);
                let (begin, end) = (&begin[at.clone()], &end[at.clone()]);
                let excess = &mut excess[at];
                joint.difference(&state.q[q.clone()], &motion.end.q[q], excess);
                excess.iter_mut().zip(end).for_each(|(e, end)| *e = *e / dt - end);
                // For rotations near half a turn the difference of two orientations is not a mean
                // velocity.
                let turned = begin.iter().chain(end).map(|v| v * v).sum::<f64>().sqrt() * dt;
                if joint.has_quaternion() && turned > HALF_A_TURN {
                    let ends = begin.iter().zip(end);
                    excess.iter_mut().zip(ends).for_each(|(e, (begin, end))| *e = 0.5 * (begin - end));
                }
            }
            for ((lag, e), (v, end)) in lag.iter_mut().zip(&*excess).zip(v.iter().zip(end)) {
                *lag = e - 0.5 * (v - end);
            }
            hessian[..n * n].copy_from_slice(problem.inertia.values(t));
            // External forces may hold it: the stiffness of forces from other solvers is not known.
            let has_noncontact_impulse = problem.add_own_hessian(t, &mut hessian[..n * n]);
            let is_loaded = *has_external_systems || bias[first..first + n].iter().any(|&force| force != 0.0);
            for (change, row) in change.iter_mut().zip(mass.chunks_exact(n)) {
                *change = row.iter().zip(&*lag).map(|(m, lag)| m * lag).sum();
            }
            if !*moves_by_mean_velocity
                || is_loaded
                || (has_noncontact_impulse && !*is_convex)
                || !factorise(hessian, n, rows(n))
            {
                change.fill(0.0);
            } else {
                solve(hessian, rows(n), change);
            }
            let ends = begin.iter().zip(&*v).zip(&*change);
            mean_velocity_offset[first..].iter_mut().zip(ends).for_each(
                |(mean_velocity_offset, ((begin, v), e))| *mean_velocity_offset = 0.5 * (v - begin) + e,
            );
            for (((change, e), v), end) in change.iter_mut().zip(&*excess).zip(&*v).zip(end) {
                *change += v - end - e;
            }
            carried.push(number);
        }
        // If positions are shifted from those of the contact-free motion, velocities are
        // transported along, or the shift would do work.
        for &number in &*carried {
            let Some(tree) = motion.tree(number).map(|t| &model.trees()[t]) else { continue };
            let dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
            excess
                .iter_mut()
                .zip(&change[dofs.clone()])
                .for_each(|(displacement, change)| *displacement = dt * change);
            motion.parallel_transport(model, number, &excess[..tree.velocities], &mut v[dofs]);
        }
    }

    /// Difference of the mean velocity of a position in the last step and the mean of the
    /// velocities at its ends \[rad/s, m/s\].
    pub fn lead(&self, velocity: usize) -> f64 {
        self.mean_velocity_offset[velocity]
    }

    /// Writes the velocities of the jointed trees to which the impulses of the last step were
    /// added.
    pub fn start_of_impulses(&self, model: &Model, v: &mut [f64]) {
        for (t, _) in self.motion.trees() {
            let tree = &model.trees()[t];
            let dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
            v[dofs.clone()].copy_from_slice(&self.motion.end.v[dofs]);
        }
    }

    /// Subtracts half of the fall's velocity in a step of `dt` \[s\] from the mean velocities of
    /// impulses, for trees whose contact-free motion falls as a whole. Positions that the impulses
    /// shift by `(v - v_f) h/2` against that motion are lifted in the field of gravity, which takes
    /// `p . g h/2`: so their work is that at `(v_0 + v)/2`, and none on a tree at rest.
    pub fn without_fall(&self, model: &Model, dt: f64, mean: &mut [f64]) {
        for (t, _) in self.motion.trees().filter(|(t, _)| self.has_gravity[*t]) {
            let Some(&root) = model.trees()[t].links.first() else { continue };
            let linear = &mut mean[model.velocities_of(root)][3..];
            linear.iter_mut().zip(&model.gravity).for_each(|(v, g)| *v -= 0.5 * dt * g);
        }
    }

    /// Writes the mean forces \[N m, N\] along the joints of a jointed tree in the last step of
    /// `dt` \[s\], without gravity and those of its contact-free motion. `mass` is its mass matrix
    /// at the end of the motion, `first` its first degree of freedom.
    pub fn other_forces(&self, mass: &[f64], first: usize, dt: f64, out: &mut [f64]) {
        let velocity_change = &self.velocity_change[first..];
        let rows = mass.chunks_exact(out.len()).zip(&self.weight[first..]);
        for (out, (row, weight)) in out.iter_mut().zip(rows) {
            let impulse: f64 = row.iter().zip(velocity_change).map(|(m, v)| m * v).sum();
            *out = (impulse - weight) / dt;
        }
    }

    /// Whether forces other than gravity act on each tree, as known at the beginning of a step.
    pub fn touched(&self) -> &[bool] {
        &self.is_acted_on
    }

    /// Copies the jointed trees' end of the contact-free motion.
    pub fn copy_end(&self, model: &Model, to: &mut State) {
        for (t, _) in self.motion.trees() {
            copy_tree(model, &model.trees()[t], &self.motion.end, to);
        }
    }

    /// Writes the final positions of the jointed trees after a step of `dt` \[s\].
    pub fn place(&self, model: &Model, dt: f64, q: &mut [f64]) {
        for body in &model.floating {
            let (places, n) = (model.positions_of(body.link), model.velocities_of(body.link));
            let shifts = &self.change[n.start + 3..n.end];
            q[places.start + 4..places.end].iter_mut().zip(shifts).for_each(|(q, v)| *q += dt * v);
        }
        for (t, _) in self.motion.trees() {
            for &link in &model.trees()[t].links {
                let (places, n) = (model.positions_of(link), model.velocities_of(link));
                let q = &mut q[places.clone()];
                q.copy_from_slice(&self.motion.end.q[places]);
                model.links()[link.0].joint.advance(q, &self.change[n], dt);
            }
        }
    }
}

/// Whether gravity only translates a tree: its first joint is free, and gravity acts on every link.
fn falls_as_a_whole(model: &Model, tree: &Tree) -> bool {
    let first = tree.links.first().is_some_and(|link| model.links()[link.0].joint == JointKind::Free);
    first && tree.links.iter().all(|link| model.links()[link.0].gravity)
}
