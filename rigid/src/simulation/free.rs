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
//!
//! The centre of mass of a free body that contact alone holds moves by the same rule, along the
//! surfaces that it touches: D has the secant of friction along them (in closed form that of the
//! impulses found), and a very large stiffness across them. A sliding body thus moves with the mean
//! velocity of the step and stops after v^2/(2 mu g) instead of v h/2 before that; in sticking and
//! normal directions it moves with the final velocity. Bodies rotate with the final velocities.

use nalgebra::{Matrix3, Vector3};

use super::error::SimulationError;
use super::system::System;
use crate::comfree::{Form, RigidSolver, factorise, solve};
use crate::icf::ConvexProblem;
use crate::multibody::{
    ContactFreeMotion, ForceVector, FreeFloatingTree, JointKind, LinkId, Model, State, Tree, copy_tree,
    quaternion,
};

/// A limit is left out of a step if it is farther away than this many times the joint's motion in
/// the step, with this acceleration \[rad/s^2, m/s^2\].
const LIMIT_REACH: f64 = 2.0;
const LIMIT_RATE: f64 = 100.0;
/// An impulse below this fraction of a body's momentum is rounding of the solver.
const ROUNDING: f64 = 1e-12;
/// About the root of the sum of both ends' squares, at an equal rate at both \[rad\].
const HALF_A_TURN: f64 = 4.0;

/// Resistance to a free body's displacement across the surfaces that it touches, in multiples of
/// its mass: an impact of 1 m/s at 10 ms shifts it by 5 micrometres at most. Normals that differ by
/// more than the inverse of the root, two degrees, resist motion in each other's planes.
const TANGENTIAL_WEIGHT: f64 = 1e3;

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
    /// Whether forces other than gravity act on a tree.
    is_acted_on: Vec<bool>,
    /// Whether a tree falls as a whole: its first link is free, and gravity acts on all links. Not
    /// in closed form, where a tree pressed into the floor gained energy by it.
    has_gravity: Vec<bool>,
    /// Free-floating bodies.
    floating: Vec<FreeFloatingTree>,
    /// Whether positions move by mean velocities where forces act: free bodies then fall on
    /// parabolas. Not under error control, which compares positions: those of first order reveal an
    /// imminent impact and errors of the velocities.
    pub moves_by_mean_velocity: bool,
    /// Whether a constraint had an impulse on a tree, and whether external forces act on it.
    has_constraint_impulse: Vec<bool>,
    has_external_force: Vec<bool>,
    /// Sums of the magnitudes of the contact impulses on each tree \[N s\].
    impulses: Vec<f64>,
    /// Whether other constraints than contact had an impulse on a tree, and the resistance of
    /// contact to the motion of its centre of mass \[kg\].
    has_noncontact_impulse: Vec<bool>,
    contact_resistance: Vec<Matrix3<f64>>,
    masses: Vec<f64>,
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
        if let RigidSolver::ComFree(settings) = &system.solver
            && settings.form == Form::Published
        {
            return None;
        }
        let (model, convex) = (&system.model, matches!(system.solver, RigidSolver::Icf));
        let n = model.trees().iter().map(|tree| tree.velocities).max().unwrap_or(0);
        Some(Box::new(Self {
            motion: ContactFreeMotion::new(model),
            change: vec![0.0; model.velocities()],
            mean_velocity_offset: vec![0.0; model.velocities()],
            velocity_change: vec![0.0; model.velocities()],
            weight: vec![0.0; model.velocities()],
            is_acted_on: vec![false; model.trees().len()],
            has_gravity: model.trees().iter().map(|tree| convex && falls_as_a_whole(model, tree)).collect(),
            floating: model.floating.clone(),
            moves_by_mean_velocity: false,
            has_constraint_impulse: Vec::new(),
            has_external_force: vec![false; model.trees().len()],
            impulses: Vec::new(),
            has_noncontact_impulse: Vec::new(),
            contact_resistance: Vec::new(),
            masses: Vec::new(),
            has_external_systems: !system.externals.is_empty(),
            hessian: vec![0.0; n * n],
            excess: vec![0.0; n],
            lag: vec![0.0; n],
            carried: Vec::with_capacity(model.trees().len()),
        }))
    }

    /// Records which trees the external forces `loads` (by links) act on.
    pub fn note_loads(&mut self, model: &Model, loads: &[ForceVector]) {
        self.has_external_force.fill(false);
        let acting = (0..).zip(loads).filter(|(_, load)| **load != ForceVector::zero());
        for tree in acting.filter_map(|(link, _)| model.tree_of(LinkId(link))) {
            self.has_external_force[tree] = true;
        }
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
        for body in &self.floating {
            self.is_acted_on[body.tree] |= self.has_external_force[body.tree];
        }
        for (law, n, tree, _) in limits.entries() {
            self.is_acted_on[tree] |= law.gap() <= LIMIT_REACH * dt * (state.v[n].abs() + dt * LIMIT_RATE);
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

    /// Finds the mean velocities of a step of `dt` \[s\] with the final velocities `v`. The Hessian
    /// is that of the convex problem; otherwise constrained trees move with the final velocity.
    pub fn finish(
        &mut self,
        model: &Model,
        state: &State,
        dt: f64,
        v: &mut [f64],
        (problem, bias): (&ConvexProblem, &[f64]),
        convex: bool,
    ) {
        self.find_free_body_mean_velocities(model, state, dt, (v, bias), problem, convex);
        let Self {
            motion,
            change,
            mean_velocity_offset,
            velocity_change,
            is_acted_on,
            has_constraint_impulse,
            has_external_systems,
            hessian,
            excess,
            lag,
            carried,
            moves_by_mean_velocity,
            ..
        } = self;
        carried.clear();
        for (number, (t, mass)) in motion.trees().enumerate() {
            let tree = &model.trees()[t];
            let (n, first) = (tree.velocities, tree.first_velocity);
            let end = &motion.end.v[first..first + n];
            let change = &mut change[first..first + n];
            let v = &mut v[first..first + n];
            if !(is_acted_on[t] || has_constraint_impulse[t]) {
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
            let max_overlap_ratio =
                *has_external_systems || bias[first..first + n].iter().any(|&force| force != 0.0);
            for (change, row) in change.iter_mut().zip(mass.chunks_exact(n)) {
                *change = row.iter().zip(&*lag).map(|(m, lag)| m * lag).sum();
            }
            if !*moves_by_mean_velocity
                || max_overlap_ratio
                || (has_noncontact_impulse && !convex)
                || !factorise(hessian, n)
            {
                change.fill(0.0);
            } else {
                solve(hessian, n, change);
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

    /// The mean velocity of free bodies over a step of `dt` [s]: those on which only gravity acts
    /// in the step fall on parabolas. `bias` is the bias force of gravity \[N m, N\].
    fn find_free_body_mean_velocities(
        &mut self,
        model: &Model,
        state: &State,
        dt: f64,
        (v, bias): (&[f64], &[f64]),
        problem: &ConvexProblem,
        convex: bool,
    ) {
        let trees = self.is_acted_on.len();
        self.has_constraint_impulse.clear();
        self.has_constraint_impulse.resize(trees, false);
        problem.mark_trees_with_impulses(&mut self.has_constraint_impulse);
        self.has_noncontact_impulse.clear();
        self.has_noncontact_impulse.resize(trees, false);
        problem.mark_trees_with_noncontact_impulses(&mut self.has_noncontact_impulse);
        self.impulses.clear();
        self.impulses.resize(trees, 0.0);
        problem.contacts.add_impulses(&mut self.impulses);
        for body in &self.floating {
            // Contacts that open leave impulses of rounding size.
            let fastest = model.velocities_of(body.link).skip(3).map(|n| v[n].abs().max(state.v[n].abs()));
            let rounding = ROUNDING * body.mass * fastest.fold(0.0, f64::max);
            self.has_constraint_impulse[body.tree] =
                self.has_noncontact_impulse[body.tree] || self.impulses[body.tree] > rounding;
        }
        if self.moves_by_mean_velocity && !self.floating.is_empty() {
            self.sum_contact_resistance(problem, convex);
        }
        for body in &self.floating {
            let n = model.velocities_of(body.link);
            let linear = n.start + 3..n.end;
            let means = self.moves_by_mean_velocity && !self.has_external_force[body.tree];
            let shifts =
                if means && !self.has_constraint_impulse[body.tree] && falls_without_rotation(body, model) {
                    // By gravity alone, without rounding of the solver.
                    let fall = |n: usize| 0.5 * dt * bias[linear.start + n] / body.mass;
                    Vector3::new(fall(0), fall(1), fall(2))
                } else if means
                    && self.has_constraint_impulse[body.tree]
                    && !self.has_noncontact_impulse[body.tree]
                {
                    mean_velocity_correction(body, model, state, v, &self.contact_resistance[body.tree])
                } else {
                    Vector3::zeros()
                };
            self.change[linear].copy_from_slice(shifts.as_slice());
            for n in n {
                self.mean_velocity_offset[n] = self.change[n] + 0.5 * (v[n] - state.v[n]);
            }
        }
    }

    /// Sums the resistance of contact to every free body's motion. In closed form contacts have no
    /// secant: that of the impulses found is used.
    fn sum_contact_resistance(&mut self, problem: &ConvexProblem, convex: bool) {
        self.contact_resistance.clear();
        self.contact_resistance.resize(self.is_acted_on.len(), Matrix3::zeros());
        self.masses.clear();
        self.masses.resize(self.is_acted_on.len(), 0.0);
        for body in &self.floating {
            self.contact_resistance[body.tree] = Matrix3::from_diagonal_element(body.mass);
            self.masses[body.tree] = body.mass;
        }
        let pool = &problem.contacts;
        for (c, (law, velocity)) in pool.laws().iter().zip(pool.velocities()).enumerate() {
            let impulse = Vector3::from(pool.impulses()[c]);
            if impulse == Vector3::zeros() {
                continue;
            }
            let normal = law.normal();
            let along = |x: &Vector3<f64>| (x - normal * normal.dot(x)).norm();
            let slip = along(&Vector3::from(*velocity));
            let across = normal * normal.transpose();
            // Two bodies in contact conserve their angular momentum only if their positions move by
            // the final velocities.
            let both = pool.sides_of(c).iter().all(Option::is_some);
            for side in pool.sides_of(c).iter().flatten() {
                let tree = side.tree as usize;
                self.has_noncontact_impulse[tree] |= both;
                // In closed form, sticking contacts resist as surfaces do in the normal direction.
                let secant = if convex {
                    law.friction_secant(velocity)
                } else {
                    along(&impulse)
                        / slip
                            .max(along(&impulse) / (TANGENTIAL_WEIGHT * self.masses[tree]))
                            .max(f64::MIN_POSITIVE)
                };
                self.contact_resistance[tree] += Matrix3::from_diagonal_element(secant)
                    + across * (TANGENTIAL_WEIGHT * self.masses[tree] - secant);
            }
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
        for body in &self.floating {
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

/// Whether gravity acts on all parts of a body or on none, so that it falls without rotation.
fn falls_without_rotation(body: &FreeFloatingTree, model: &Model) -> bool {
    let has_gravity = |link: LinkId| model.links()[link.0].gravity;
    model.trees()[body.tree].links.iter().all(|link| has_gravity(*link) == has_gravity(body.link))
}

/// Difference of the mean velocity \[m/s\] of a body's centre of mass and the final one, `-D^-1 m
/// (v - v_0)/2`.
fn mean_velocity_correction(
    body: &FreeFloatingTree,
    model: &Model,
    state: &State,
    v: &[f64],
    contact_resistance: &Matrix3<f64>,
) -> Vector3<f64> {
    let (q, n) = (model.positions_of(body.link), model.velocities_of(body.link));
    let lever = quaternion(&state.q[q]) * body.center;
    let velocity_change = |d: usize| v[n.start + d] - state.v[n.start + d];
    let turn = Vector3::new(velocity_change(0), velocity_change(1), velocity_change(2));
    let velocity_change =
        Vector3::new(velocity_change(3), velocity_change(4), velocity_change(5)) + turn.cross(&lever);
    // Without an inverse the result is not finite, which the check of the step refuses.
    contact_resistance
        .try_inverse()
        .map_or_else(Vector3::zeros, |inverse| inverse * velocity_change * (-0.5 * body.mass))
}
