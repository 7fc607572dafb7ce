//! Tendons and drives in a step: rows of the problem along their lengths.
//!
//! A row has the rate of a length, `J v + b`, with b from prescribed links. Springs and dampers of
//! tendons, and what resists motion in the force of a drive, act at the end of the step; limits and
//! dry friction are those of joints.

mod drive;
mod muscle;
mod tendon;
mod wrap;

use nalgebra::Vector3;

pub use drive::{Activation, Drive, ForceLaw, Transmission};
pub use muscle::{ActivationTimes, Muscle};
pub use tendon::{PathElement, Tendon, TendonHold, TendonPath};
pub use wrap::WrapSurface;

use super::equality::value_and_slope;
use super::system::System;
use super::trapezoid_data::end_weight;
use crate::icf::potential::{
    DrivePotential, HolonomicPotential, JointFrictionPotential, LimitPotential, TendonSpring,
    TransmissionPotential,
};
use crate::icf::{ConvexProblem, Side};
use crate::multibody::{ForceVector, Kinematics, LinkId, MassMatrix, Model, State, for_each_axis};
use core::ops::Range;
use tendon::add_tree;

/// Smallest mobility of a row [1/kg]: it avoids a division by zero.
const LEAST_MOBILITY: f64 = 1e-12;

/// The rate of a length by the motion of a link: the product with the link's velocity about its
/// origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    pub link: LinkId,
    pub force: ForceVector,
}

/// A length and its parts.
#[derive(Clone, Debug)]
struct Row {
    length: f64,
    /// Rate of the length at the prepared state.
    rate: f64,
    /// The part of the rate from prescribed motion.
    drift: f64,
    trees: [Option<usize>; 2],
    pulls: Range<usize>,
    /// First of its columns: one for each degree of freedom of its trees.
    first_column: usize,
    /// Inverse of its inertia, of each degree of freedom alone.
    mobility: f64,
}

/// What an entry of the pool belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Tendon(usize),
    Drive(usize),
}

/// The rows of a system at a state. Buffers are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Transmissions {
    /// Those of the tendons, then those of the drives: a drive on a tendon has that tendon's, times
    /// its gear. Then those of lengths that tendons are held at, whose length is the residual.
    rows: Vec<Row>,
    pulls: Vec<Pull>,
    columns: Vec<f64>,
    /// Terms of the present row that are not of pulls, by degree of freedom.
    turns: Vec<(usize, f64)>,
    /// What each entry of the pool belongs to, and the row it acts along with its gear.
    entries: Vec<(Part, usize, f64)>,
    /// Impulse of each entry outside the solve, of the beginning of the step \[N s, N m s\].
    early: Vec<f64>,
}

/// A pool's entries that are made in a step.
struct Filling<'a> {
    model: &'a Model,
    problem: &'a mut ConvexProblem,
}

impl Transmissions {
    /// Finds lengths and Jacobians at a state.
    pub fn prepare(&mut self, system: &System, kinematics: &Kinematics, state: &State, mass: &MassMatrix) {
        self.rows.clear();
        self.pulls.clear();
        self.columns.clear();
        let model = &system.model;
        for tendon in &system.tendons {
            let first_pull = self.pulls.len();
            self.turns.clear();
            let length = self.measure(tendon, model, (kinematics, state), 1.0);
            let trees = tendon.trees(model);
            self.finish_row(model, (kinematics, state, mass), length, trees, first_pull);
        }
        for drive in &system.drives {
            let first_pull = self.pulls.len();
            self.turns.clear();
            let mut trees = [None; 2];
            let length = match &drive.transmission {
                Transmission::Joint { link, dof, gear } => {
                    self.turns.push((model.velocities_of(*link).start + dof, *gear));
                    trees[0] = model.tree_of(*link);
                    gear * state.q[model.positions_of(*link).start + dof]
                }
                Transmission::Site { link: Some(link), frame, gear } => {
                    trees[0] = model.tree_of(*link);
                    let (pose, origin) = (kinematics.pose(*link) * frame, kinematics.pose(*link).translation);
                    let [angular, linear] = [gear.angular, gear.linear].map(|v| pose.rotation * v);
                    let lever = pose.translation.vector - origin.vector;
                    let force = ForceVector::at(&lever, linear) + ForceVector::new(angular, Vector3::zeros());
                    self.pulls.push(Pull { link: *link, force });
                    0.0
                }
                Transmission::Site { link: None, .. } | Transmission::Tendon { .. } => 0.0,
            };
            self.finish_row(model, (kinematics, state, mass), length, trees, first_pull);
        }
        self.prepare_holds(system, kinematics, state, mass);
    }

    /// Adds the pulls and turns of a tendon, `factor` times, to those of the present row, and returns
    /// its length \[m, rad\].
    fn measure(
        &mut self,
        tendon: &Tendon,
        model: &Model,
        (kinematics, state): (&Kinematics, &State),
        factor: f64,
    ) -> f64 {
        let Self { pulls, turns, .. } = self;
        tendon.measure(
            model,
            kinematics,
            state,
            |link, point, direction| {
                let lever = point - kinematics.pose(link).translation.vector;
                pulls.push(Pull { link, force: ForceVector::at(&lever, direction * factor) });
            },
            |n, coefficient| turns.push((n, factor * coefficient)),
        )
    }

    /// The rows of the lengths that tendons are held at, after those of the tendons themselves.
    fn prepare_holds(&mut self, system: &System, kinematics: &Kinematics, state: &State, mass: &MassMatrix) {
        let model = &system.model;
        for (tendon, hold) in system.tendons.iter().flat_map(|t| t.holds.iter().map(move |hold| (t, hold))) {
            let first_pull = self.pulls.len();
            self.turns.clear();
            let mut trees = tendon.trees(model);
            let mut error = self.measure(tendon, model, (kinematics, state), 1.0) - hold.coefficients[0];
            if let Some(number) = hold.driver {
                let x = self.rows[number].length - hold.origin;
                let [value, slope] = value_and_slope(&hold.coefficients, x);
                error += hold.coefficients[0] - value;
                let driver = &system.tendons[number];
                self.measure(driver, model, (kinematics, state), -slope);
                driver.trees(model).into_iter().flatten().for_each(|tree| add_tree(&mut trees, tree));
            }
            self.finish_row(model, (kinematics, state, mass), error, trees, first_pull);
        }
    }

    fn finish_row(
        &mut self,
        model: &Model,
        (kinematics, state, mass): (&Kinematics, &State, &MassMatrix),
        length: f64,
        trees: [Option<usize>; 2],
        first_pull: usize,
    ) {
        let Self { rows, pulls, columns, turns, .. } = self;
        let own = &pulls[first_pull..];
        let drift = own.iter().map(|p| kinematics.prescribed_velocity(p.link).dot(&p.force)).sum();
        let turning = turns.iter().map(|(n, coefficient)| coefficient * state.v[*n]);
        let moving = own.iter().map(|p| kinematics.velocity(p.link).dot(&p.force));
        let rate = turning.sum::<f64>() + moving.sum::<f64>();
        let first_column = columns.len();
        let mut mobility = 0.0;
        for index in trees.into_iter().flatten() {
            let (block, tree) = (mass.block(index), &model.trees()[index]);
            let at = columns.len();
            columns.resize(at + tree.velocities, 0.0);
            let inside = |n: &usize| (tree.first_velocity..tree.first_velocity + tree.velocities).contains(n);
            let mut add = |n: usize, value: f64| {
                if inside(&n) {
                    columns[at + n - tree.first_velocity] += value;
                }
            };
            turns.iter().for_each(|(n, coefficient)| add(*n, *coefficient));
            for pull in own {
                let origin = kinematics.pose(pull.link).translation.vector;
                for_each_axis(model, kinematics, pull.link, &origin, |n, axis| add(n, axis.dot(&pull.force)));
            }
            let own = columns[at..].iter().enumerate();
            mobility += own.map(|(n, column)| column * column / block[(n, n)]).sum::<f64>();
        }
        rows.push(Row { length, rate, drift, trees, pulls: first_pull..pulls.len(), first_column, mobility });
    }

    /// The row of a drive, and what its length is multiplied by.
    fn of_drive(&self, system: &System, drive: usize) -> (usize, f64) {
        match system.drives[drive].transmission {
            Transmission::Tendon { tendon, gear } => (tendon, gear),
            _ => (system.tendons.len() + drive, 1.0),
        }
    }

    /// Length and rate of the transmission of a drive at the prepared state.
    fn motion_of_drive(&self, system: &System, drive: usize) -> (f64, f64) {
        let (row, gear) = self.of_drive(system, drive);
        (gear * self.rows[row].length, gear * self.rows[row].rate)
    }

    /// The rate of a row at velocities `v` that need not be those of its state.
    fn rate_at(&self, model: &Model, row: &Row, v: &[f64]) -> f64 {
        let trees = row.trees.into_iter().flatten().map(|tree| &model.trees()[tree]);
        let own = trees.flat_map(|tree| &v[tree.first_velocity..tree.first_velocity + tree.velocities]);
        let turning = own.zip(&self.columns[row.first_column..]).map(|(v, column)| v * column);
        row.drift + turning.sum::<f64>()
    }

    /// The residual's or length's rate at the beginning of a step, and what the step's row makes of
    /// the velocities there, as [`Compliance::line`](crate::Compliance::line) takes them.
    fn rates(&self, first: Option<(&Self, &[f64])>, model: &Model, row: usize) -> [f64; 2] {
        let own = &self.rows[row];
        first.map_or([own.rate; 2], |(first, v)| {
            let rate = first.rows[row].rate;
            // The step's row is the mean of both ends.
            [rate, 0.5 * (rate + self.rate_at(model, own, v))]
        })
    }

    /// Fills the pool for a step of `dt` \[s\] from the state at which `first` is prepared: these
    /// rows, or in a trapezoid step those of its beginning, with its velocities. `activations` are
    /// those at the start.
    pub fn assemble(
        &mut self,
        first: Option<(&Self, &[f64])>,
        system: &System,
        activations: &[f64],
        dt: f64,
        problem: &mut ConvexProblem,
    ) {
        problem.transmissions.clear();
        self.entries.clear();
        self.early.clear();
        let mut filling = Filling { model: &system.model, problem };
        let began = first;
        let first = began.map(|(first, _)| first);
        for (t, tendon) in system.tendons.iter().enumerate() {
            let (start, mobility) = {
                let start = &first.unwrap_or(self).rows[t];
                ((start.length, start.rate), self.rows[t].mobility.max(LEAST_MOBILITY))
            };
            let (part, step) = (Part::Tendon(t), dt);
            if tendon.stiffness > 0.0 || tendon.damping > 0.0 {
                let gain = tendon.damping + dt * tendon.stiffness;
                let weight = if first.is_some() { end_weight(dt * gain * mobility) } else { 1.0 };
                let at_start = -(tendon.stiffness * tendon.stretch(start.0) + tendon.damping * start.1);
                let spring = TendonSpring {
                    length: start.0,
                    rest: tendon.rest,
                    stiffness: tendon.stiffness,
                    damping: tendon.damping,
                    dt,
                    weight,
                };
                let early = step * (1.0 - weight) * at_start;
                self.push(&mut filling, part, (t, 1.0), TransmissionPotential::Spring(spring), early);
            }
            for (upper, limit) in tendon.range.into_iter().enumerate().filter(|(_, limit)| limit.is_finite())
            {
                let gap = if upper == 1 { limit - start.0 } else { start.0 - limit };
                let potential = match &tendon.limit_compliance {
                    None => LimitPotential::new(gap, upper == 1, mobility, dt),
                    Some(compliance) => {
                        let at = (gap, self.rates(began, &system.model, t));
                        LimitPotential::compliant(at, upper == 1, mobility, compliance, dt, first.is_some())
                    }
                };
                self.push(&mut filling, part, (t, 1.0), TransmissionPotential::Limit(potential), 0.0);
            }
            if tendon.friction_loss > 0.0 {
                let potential = JointFrictionPotential::new(
                    tendon.friction_loss,
                    system.dry_joint_tolerance,
                    mobility,
                    dt,
                );
                self.push(&mut filling, part, (t, 1.0), TransmissionPotential::Friction(potential), 0.0);
            }
        }
        let holds = system.tendons.iter().enumerate();
        let holds = holds.flat_map(|(t, tendon)| tendon.holds.iter().map(move |hold| (t, hold)));
        for (h, (t, hold)) in holds.enumerate() {
            let row = system.tendons.len() + system.drives.len() + h;
            let error = first.unwrap_or(self).rows[row].length;
            let rates = self.rates(began, &system.model, row);
            let line = hold.compliance.line(error, error, rates, dt, first.is_some());
            let potential = TransmissionPotential::Hold(HolonomicPotential::compliant(error, line));
            self.push(&mut filling, Part::Tendon(t), (row, 1.0), potential, 0.0);
        }
        let mut own = activations.iter();
        for (d, drive) in system.drives.iter().enumerate() {
            let input = if drive.has_activation() {
                let now = own.next().copied().unwrap_or_default();
                if drive.early { drive.next_activation(now, dt) } else { now }
            } else {
                drive.clamped_control()
            };
            let (length, rate) = first.unwrap_or(self).motion_of_drive(system, d);
            let force = drive.linear(input, length, rate, dt);
            let (row, gear) = self.of_drive(system, d);
            let mobility = gear * gear * self.rows[row].mobility;
            let weight = if first.is_some() { end_weight(dt * force.gain * mobility) } else { 1.0 };
            let [low, high] = drive.force_range;
            let early = dt * (1.0 - weight) * force.wanted.clamp(low, high);
            let potential = DrivePotential {
                effort: force.effort,
                gain: force.gain,
                range: drive.force_range,
                dt: weight * dt,
            };
            let potential = TransmissionPotential::Drive(potential);
            self.push(&mut filling, Part::Drive(d), (row, gear), potential, early);
        }
    }

    /// Adds an entry along a row times a gear, its impulse of the beginning apart.
    fn push(
        &mut self,
        filling: &mut Filling<'_>,
        part: Part,
        (row, gear): (usize, f64),
        potential: TransmissionPotential,
        early: f64,
    ) {
        let Filling { model, problem } = filling;
        let pool = &mut problem.transmissions;
        let mut sides: [Option<Side>; 2] = [None; 2];
        let shape = &self.rows[row];
        let mut from = shape.first_column;
        for (side, tree) in sides.iter_mut().zip(shape.trees) {
            let Some(index) = tree else { continue };
            let tree = &model.trees()[index];
            let (added, columns) = pool.add_columns(index, tree.first_velocity, tree.velocities);
            for ([column], value) in columns.iter_mut().zip(&self.columns[from..]) {
                *column = gear * value;
            }
            from += tree.velocities;
            *side = Some(added);
        }
        pool.push(potential, sides, [gear * shape.drift]);
        self.entries.push((part, row, gear));
        self.early.push(early);
    }

    /// The entries with their tendons or drives, and their impulses outside the solve.
    pub fn parts(&self) -> impl Iterator<Item = (Part, f64)> + '_ {
        self.entries.iter().zip(&self.early).map(|((part, ..), early)| (*part, *early))
    }

    /// The part of an entry's rate that comes from prescribed links themselves.
    pub fn led(&self, model: &Model, kinematics: &Kinematics, entry: usize) -> f64 {
        let (_, row, gear) = self.entries[entry];
        let outside = self.pulls[self.rows[row].pulls.clone()].iter();
        let outside = outside.filter(|pull| model.tree_of(pull.link).is_none());
        gear * outside.map(|pull| kinematics.prescribed_velocity(pull.link).dot(&pull.force)).sum::<f64>()
    }

    /// Calls `visit(link, force)` for what an entry does to links besides their joints, about their
    /// origins, for an impulse or force of 1 along it.
    pub fn for_each_pull(&self, entry: usize, mut visit: impl FnMut(LinkId, ForceVector)) {
        let (_, row, gear) = self.entries[entry];
        self.pulls[self.rows[row].pulls.clone()].iter().for_each(|pull| visit(pull.link, pull.force * gear));
    }

    /// Effort along a degree of freedom for a force of 1 along an entry \[m, -\].
    pub fn arm(&self, model: &Model, entry: usize, velocity: usize) -> f64 {
        let (_, row, gear) = self.entries[entry];
        let row = &self.rows[row];
        let (mut first, mut arm) = (row.first_column, 0.0);
        for tree in row.trees.into_iter().flatten().map(|tree| &model.trees()[tree]) {
            if let Some(at) = velocity.checked_sub(tree.first_velocity).filter(|at| *at < tree.velocities) {
                arm += gear * self.columns[first + at];
            }
            first += tree.velocities;
        }
        arm
    }

    /// Adds what acts at the beginning of a trapezoid step to the momentum.
    pub fn add_early(&self, problem: &mut ConvexProblem) {
        for (c, early) in self.early.iter().enumerate().filter(|(_, early)| **early != 0.0) {
            problem.transmissions.add_impulse(c, &[*early], &mut problem.momentum);
        }
    }
}

/// The activations after a step of `dt` \[s\] in place of those at its start.
pub(super) fn advance_activations(system: &System, dt: f64, activations: &mut [f64]) {
    let with = system.drives.iter().filter(|drive| drive.has_activation());
    for (drive, activation) in with.zip(activations) {
        *activation = drive.next_activation(*activation, dt);
    }
}
