//! Contact-free motion of jointed bodies: under gravity, Coriolis and gyroscopic forces alone.
//!
//! Coriolis and gyroscopic forces that are explicit in a step add energy to spinning bodies: a top
//! of 40 rad/s gains half of its energy in 1.5 s at steps of 1 ms. A step therefore takes them from
//! this motion, which embedded Runge-Kutta pairs integrate to a given accuracy in as many
//! Runge-Kutta steps as needed: the third-order pair of Bogacki and Shampine (1989) where that
//! suffices, else the fifth-order pair of Dormand and Prince (1980). Each tree has its own
//! Runge-Kutta steps, so that its motion does not depend on other trees.

use nalgebra::Vector3;

use super::inverse_dynamics::bias_forces_of;
use super::joint::MAX_POSITIONS;
use super::mass_matrix::tree_mass_matrix;
use super::runge_kutta::{BOGACKI_SHAMPINE, DORMAND_PRINCE, RungeKuttaPair, STAGES};
use super::state::{copy_positions, copy_tree};
use super::{
    InverseDynamicsBuffers, Kinematics, LinkId, Model, MotionVector, PathSide, RigidInertia, State, Tree,
    for_each_axis,
};
use pliant_numeric::cholesky::{factorise, rows, solve};

/// Error of the velocities and positions in a step, relative to the velocity, in the norm of the
/// kinetic energy: over 10^4 steps the energy changes by some 1e-5.
const ACCURACY: f64 = 1e-9;
/// Most Runge-Kutta steps of one step and tree: enough for a spin of 10^4 rad in a step.
const MOST: usize = 100_000;
/// A Runge-Kutta step is shorter than the longest acceptable one by this factor, and changes at
/// most by these.
const SAFETY: f64 = 0.9;
const SHRINK: f64 = 0.2;
const GROW: f64 = 5.0;
/// A tree that is not a single free body.
#[derive(Clone, Debug)]
struct JointedTree {
    tree: usize,
    /// The fixed and prescribed links that it is attached to, and its own, parents first.
    links: Vec<LinkId>,
    /// Whether its motion includes gravity.
    has_gravity: bool,
    /// Its mass matrix at the end of the motion.
    mass: Vec<f64>,
}

/// State of the jointed trees of a model at the end of a step if only gravity, or nothing, acts on
/// them. Buffers are kept.
#[derive(Clone, Debug)]
pub(crate) struct ContactFreeMotion {
    trees: Vec<JointedTree>,
    /// State of the jointed trees at the end; the entries of others are undefined.
    pub end: State,
    /// Rates of the positions, and accelerations, of each stage.
    rates: [State; STAGES],
    stage: State,
    start: State,
    kinematics: Kinematics,
    inverse: InverseDynamicsBuffers,
    composite: Vec<RigidInertia>,
    bias: Vec<f64>,
    factor: Vec<f64>,
    /// Vectors of a tree's size.
    error: Vec<f64>,
    /// Velocities of prescribed links over the motion.
    corner: PathSide,
}

/// A tree that moves too fast for the integration, or whose state is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TooFast {
    /// The first link of the tree.
    pub link: LinkId,
    /// A step that is short enough at this speed \[s\].
    pub feasible_step: f64,
}

impl ContactFreeMotion {
    /// Buffers for the jointed trees of a model.
    pub fn new(model: &Model) -> Self {
        let floats = |t: usize| model.floating.iter().any(|body| body.tree == t);
        let jointed = |(tree, whole): (usize, &Tree)| {
            let parent = |link: &LinkId| model.links()[link.0].parent;
            let mut links: Vec<LinkId> =
                core::iter::successors(whole.links.first().and_then(parent), parent).collect();
            links.reverse();
            links.extend_from_slice(&whole.links);
            let mass = vec![0.0; whole.velocities * whole.velocities];
            (!floats(tree)).then_some(JointedTree { tree, links, has_gravity: true, mass })
        };
        let trees: Vec<JointedTree> = model.trees().iter().enumerate().filter_map(jointed).collect();
        // No buffers without jointed trees.
        let room = |size: usize| if trees.is_empty() { 0 } else { size };
        let velocities = room(model.velocities());
        let state = State { time: 0.0, q: vec![0.0; room(model.positions())], v: vec![0.0; velocities] };
        let largest = trees.iter().map(|jointed| model.trees()[jointed.tree].velocities).max().unwrap_or(0);
        Self {
            end: state.clone(),
            rates: core::array::from_fn(|_| state.clone()),
            stage: state.clone(),
            start: state,
            kinematics: Kinematics::new(model),
            inverse: InverseDynamicsBuffers::default(),
            composite: vec![RigidInertia::zero(); room(model.links().len())],
            bias: vec![0.0; velocities],
            factor: vec![0.0; largest * largest],
            error: vec![0.0; largest],
            corner: PathSide::After,
            trees,
        }
    }

    /// The jointed trees, and the mass matrix of each at the end of the motion.
    pub fn trees(&self) -> impl Iterator<Item = (usize, &[f64])> + '_ {
        self.trees.iter().map(|jointed| (jointed.tree, &jointed.mass[..]))
    }

    /// Number among the model's trees of jointed tree number `n`.
    pub fn tree(&self, n: usize) -> Option<usize> {
        self.trees.get(n).map(|jointed| jointed.tree)
    }

    /// Moves the jointed trees by `dt` \[s\] from a state, those with `has_gravity` under gravity,
    /// the others without.
    ///
    /// # Errors
    /// The first tree that moves too fast.
    pub fn run(
        &mut self,
        model: &Model,
        state: &State,
        dt: f64,
        has_gravity: impl Fn(usize) -> bool,
    ) -> Result<(), TooFast> {
        self.corner = PathSide::Mean(state.time, dt);
        let mut trees = core::mem::take(&mut self.trees);
        let done = trees.iter_mut().try_for_each(|jointed| {
            jointed.has_gravity = has_gravity(jointed.tree);
            self.follow(model, jointed, state, dt)
        });
        self.trees = trees;
        self.end.time = state.time + dt;
        done
    }

    /// Adds the impulse of gravity over a step of `dt` \[s\] to the trees whose motion has none, at
    /// their positions after half a step with the initial velocities: with positions that move by
    /// the mean velocity this is the leapfrog scheme, and bodies at rest stay at rest.
    pub fn add_weight(&mut self, model: &Model, state: &State, dt: f64, momentum: &mut [f64]) {
        for jointed in self.trees.iter().filter(|jointed| !jointed.has_gravity) {
            let tree = &model.trees()[jointed.tree];
            copy_tree(model, tree, state, &mut self.stage);
            for &link in &tree.links {
                let (q, v) = (model.positions_of(link), model.velocities_of(link));
                model.links()[link.0].joint.advance(&mut self.stage.q[q], &state.v[v], 0.5 * dt);
            }
            self.stage.time = state.time + 0.5 * dt;
            let corner = PathSide::Mean(state.time, dt);
            self.kinematics.update_links(model, &jointed.links, &self.stage, corner);
            for &link in tree.links.iter().filter(|link| model.links()[link.0].gravity) {
                let pose = self.kinematics.pose(link);
                let inertia = model.links()[link.0].inertia.rotated(pose);
                let weight = inertia.momentum(&MotionVector::new(Vector3::zeros(), model.gravity * dt));
                for_each_axis(model, &self.kinematics, link, &pose.translation.vector, |n, axis| {
                    momentum[n] += axis.dot(&weight);
                });
            }
        }
    }

    /// Transports the velocities `v` of jointed tree number `n` (of [`trees`](Self::trees)) along a
    /// small `displacement` from the end of its motion, both in the tree's own degrees of freedom:
    /// parallel to themselves in the metric of the kinetic energy, `v -= Gamma(displacement, v)`
    /// (Bullo and Lewis 2004, section 3.8). A tree that is only displaced then keeps its energy;
    /// with unchanged velocities it would gain or lose some because its inertia changes.
    pub fn parallel_transport(&mut self, model: &Model, n: usize, displacement: &[f64], v: &mut [f64]) {
        let Some(jointed) = self.trees.get(n) else { return };
        let tree = &model.trees()[jointed.tree];
        let (size, first) = (tree.velocities, tree.first_velocity);
        self.stage.time = self.end.time;
        copy_positions(model, tree, &self.end, &mut self.stage);
        // Gamma is a quarter of the difference of the quadratic Coriolis and gyroscopic forces at v
        // + displacement and v - displacement.
        self.error[..size].fill(0.0);
        for sign in [1.0, -1.0] {
            let moved = v.iter().zip(displacement).map(|(v, displacement)| v + sign * displacement);
            self.stage.v[first..first + size].iter_mut().zip(moved).for_each(|(stage, v)| *stage = v);
            let Self { kinematics, stage, inverse, bias, error, corner, .. } = self;
            kinematics.update_links(model, &jointed.links, stage, *corner);
            bias_forces_of(model, kinematics, &jointed.links, &Vector3::zeros(), inverse, bias);
            error
                .iter_mut()
                .zip(&bias[first..first + size])
                .for_each(|(sum, bias)| *sum += 0.25 * sign * bias);
        }
        let Self { factor, error, .. } = self;
        factor[..size * size].copy_from_slice(&jointed.mass);
        if factorise(factor, size, rows(size)) {
            solve(factor, rows(size), &mut error[..size]);
            if error[..size].iter().all(|x| x.is_finite()) {
                for &link in tree.links.iter().filter(|l| model.links()[l.0].joint.has_quaternion()) {
                    // Angular velocities are not rates of coordinates, because rotations do not
                    // commute.
                    let at = model.velocities_of(link).start - first;
                    let angular = |x: &[f64]| Vector3::new(x[at], x[at + 1], x[at + 2]);
                    let turned = 0.5 * angular(displacement).cross(&angular(v));
                    v[at..at + 3].iter_mut().zip(&turned).for_each(|(v, turned)| *v += turned);
                }
                v.iter_mut().zip(&error[..size]).for_each(|(v, change)| *v -= change);
            }
        }
    }

    fn follow(
        &mut self,
        model: &Model,
        jointed: &mut JointedTree,
        state: &State,
        dt: f64,
    ) -> Result<(), TooFast> {
        let tree = &model.trees()[jointed.tree];
        copy_tree(model, tree, state, &mut self.start);
        copy_tree(model, tree, state, &mut self.stage);
        let corner = self.corner;
        self.stage.time = state.time;
        let mut sound = self.evaluate(model, jointed, 0, corner);
        if !sound {
            return Err(TooFast { link: tree.links[0], feasible_step: 0.0 });
        }
        let dofs = tree.first_velocity..tree.first_velocity + tree.velocities;
        let still = |x: &State| x.v[dofs.clone()].iter().all(|&x| x == 0.0);
        if still(state) && still(&self.rates[0]) && model.prescribed.is_empty() {
            copy_tree(model, tree, state, &mut self.end);
            return Ok(());
        }
        let (mut pair, mut gone, mut step) = (&BOGACKI_SHAMPINE, 0.0, dt);
        for _ in 0..MOST {
            let last = step >= (dt - gone) * (1.0 - 1e-9);
            let substep = if last { dt - gone } else { step };
            for (s, (row, time)) in pair.rows.iter().zip(pair.times).enumerate() {
                self.stage.time = state.time + gone + time * substep;
                self.combine(model, tree, substep, row);
                sound &= self.evaluate(model, jointed, s + 1, corner);
            }
            let relative = self.relative_error(model, jointed, substep, pair);
            // The estimate is the error of the lower-order solution, which bounds that of the kept
            // one.
            let error = relative.powf((pair.order + 1.0) / pair.order);
            if sound && error <= ACCURACY {
                copy_tree(model, tree, &self.stage, &mut self.start);
                let [first, .., end] = &mut self.rates[..=pair.rows.len()] else { break };
                copy_tree(model, tree, end, first);
                gone += substep;
                if last {
                    copy_tree(model, tree, &self.stage, &mut self.end);
                    return Ok(());
                }
            }
            let change = if sound && error.is_finite() {
                SAFETY * (ACCURACY / error.max(f64::MIN_POSITIVE)).powf(1.0 / (pair.order + 1.0))
            } else {
                SHRINK
            };
            if pair.order < DORMAND_PRINCE.order {
                // The two pairs switch at a relative error of one in a thousand.
                step = substep * (0.1 / relative.cbrt()).clamp(SHRINK, 1.0);
                pair = &DORMAND_PRINCE;
            } else {
                step = substep * change.clamp(SHRINK, GROW);
            }
            if !step.is_finite() {
                step = substep * SHRINK;
            }
            sound = true;
        }
        Err(TooFast { link: tree.links[0], feasible_step: 0.5 * gone.max(step) })
    }

    /// The stage's state: from the start along the rates of the stages before.
    fn combine(&mut self, model: &Model, tree: &Tree, substep: f64, row: &[f64]) {
        copy_tree(model, tree, &self.start, &mut self.stage);
        let Self { stage, rates, .. } = self;
        for (rate, weight) in rates.iter().zip(row).filter(|(_, weight)| **weight != 0.0) {
            for &link in &tree.links {
                let (q, v) = (model.positions_of(link), model.velocities_of(link));
                let add = |x: &mut [f64], rate: &[f64]| {
                    x.iter_mut().zip(rate).for_each(|(x, rate)| *x += substep * weight * rate);
                };
                add(&mut stage.q[q.clone()], &rate.q[q]);
                add(&mut stage.v[v.clone()], &rate.v[v]);
            }
        }
        for &link in &tree.links {
            model.links()[link.0].joint.normalise(&mut stage.q[model.positions_of(link)]);
        }
    }

    /// Rates of the stage `s`, and the mass matrix there. False where they are not finite.
    fn evaluate(&mut self, model: &Model, jointed: &mut JointedTree, s: usize, corner: PathSide) -> bool {
        let tree = &model.trees()[jointed.tree];
        let (n, first) = (tree.velocities, tree.first_velocity);
        let Self { kinematics, stage, inverse, composite, bias, factor, rates, .. } = self;
        kinematics.update_links(model, &jointed.links, stage, corner);
        let gravity = if jointed.has_gravity { model.gravity } else { Vector3::zeros() };
        bias_forces_of(model, kinematics, &jointed.links, &gravity, inverse, bias);
        tree_mass_matrix(model, kinematics, tree, composite, &mut jointed.mass);
        factor[..n * n].copy_from_slice(&jointed.mass);
        let sound = factorise(factor, n, rows(n));
        let rates = &mut rates[s];
        let accelerations = &mut rates.v[first..first + n];
        accelerations.iter_mut().zip(&bias[first..]).for_each(|(a, bias)| *a = -bias);
        solve(factor, rows(n), accelerations);
        for &link in &tree.links {
            let (q, v) = (model.positions_of(link), model.velocities_of(link));
            model.links()[link.0].joint.rates(&stage.q[q.clone()], &stage.v[v], &mut rates.q[q]);
        }
        sound && rates.v[first..first + n].iter().all(|a| a.is_finite())
    }

    /// Error of a Runge-Kutta step of `substep` \[s\] that ended in the stage, relative to the
    /// speed, in the norm of the kinetic energy.
    fn relative_error(
        &mut self,
        model: &Model,
        jointed: &JointedTree,
        substep: f64,
        pair: &RungeKuttaPair,
    ) -> f64 {
        let tree = &model.trees()[jointed.tree];
        let (n, first) = (tree.velocities, tree.first_velocity);
        let Self { rates, stage, error, .. } = self;
        let square = |x: &[f64]| {
            let rows = jointed.mass.chunks_exact(n).zip(x);
            rows.map(|(row, xi)| xi * row.iter().zip(x).map(|(m, xj)| m * xj).sum::<f64>()).sum::<f64>()
        };
        let speed =
            square(&stage.v[first..first + n]) + substep * substep * square(&rates[0].v[first..first + n]);
        let sum = |get: &dyn Fn(&State) -> f64| -> f64 {
            pair.error.iter().zip(rates.iter()).map(|(e, rate)| e * get(rate)).sum()
        };
        for (d, error) in error[..n].iter_mut().enumerate() {
            *error = substep * sum(&|rate| rate.v[first + d]);
        }
        let mut off = square(&error[..n]);
        for &link in &tree.links {
            // The velocity that would cause the error of the positions in this step.
            let (q, v) = (model.positions_of(link), model.velocities_of(link));
            let mut drift = [0.0; MAX_POSITIONS];
            for (drift, q) in drift.iter_mut().zip(q.clone()) {
                *drift = sum(&|rate| rate.q[q]);
            }
            let (drift, error) = (&drift[..q.len()], &mut error[v.start - first..v.end - first]);
            model.links()[link.0].joint.velocities_at(&stage.q[q], drift, error);
        }
        off += square(&error[..n]);
        if speed > 0.0 { (off / speed).sqrt() } else { off.sqrt() }
    }
}

#[cfg(test)]
mod tests;
