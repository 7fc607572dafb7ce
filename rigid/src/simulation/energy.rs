//! Energy balance of a step: the work of all forces on the dynamic links.
//!
//! A step changes the momenta along the joints by the impulses that it finds, `M (v1 - v0) = sum
//! J^T gamma`. With M as it is in the step, the kinetic energy changes by exactly the sum of the
//! work of these impulses at the mean of the velocities before and after, `gamma . J (v0 + v1)/2`
//! (Thomson and Tait 1867, section 308: the work of an impulse). So each term is measured directly,
//! and none as a remainder. Jointed trees move without impulses first, and v0 is the velocity at
//! the end of that motion, without its fall: the impulses also lift the tree by what it fell. The difference of the sum of these terms and the change of the stored
//! energies is energy that the step itself created or lost: positions move at the final velocities,
//! M and the directions of the joints change meanwhile, potentials are not linear. That difference
//! is the imbalance; the caller computes it.
//!
//! Energies are those in the world frame of the links that belong to trees. Prescribed links do
//! work on them in contacts, in constraints, and through the root joints of attached trees.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::equality::{ConstraintRow, RowKind};
use super::reactions::Reactions;
use super::stepper::Stepper;
use super::system::System;
use super::trapezoid_data::end_weight;
use crate::icf::potential::TransmissionPotential;
use crate::multibody::{ForceVector, Kinematics, LinkId, Model, State, Tree, for_each_axis};

/// Work and losses over some steps \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyFlows {
    /// Work of motors and drives.
    pub motors: f64,
    /// Work of controllers and force elements with a state of their own.
    pub controllers: f64,
    /// Work of prescribed links, by contacts, constraints and joints.
    pub prescribed: f64,
    /// Work of constant forces from outside ([`System::applied`]).
    pub loads: f64,
    /// Work of the forces exchanged with other objects ([`System::line_forces`]).
    pub exchanged: f64,
    /// Energy taken by contacts in the normal direction: stored and lost, impacts included. See
    /// [`lost_in_contact`](Self::lost_in_contact).
    pub contact_normal: f64,
    /// Lost to friction of contacts: sliding, torsional, rolling.
    pub contact_friction: f64,
    /// Lost to damping of joints and tendons.
    pub joint_damping: f64,
    /// Lost to dry friction of joints and tendons.
    pub joint_friction: f64,
    /// Lost at limits of joints and tendons; negative if a limit added energy.
    pub joint_limits: f64,
    /// Lost in holonomic constraints; negative if they added energy.
    pub constraints: f64,
    /// Energy stored in compliant contact at the start of the first of these steps; none if the
    /// solver's contact has no potential (closed form), or no step was made.
    pub contact_before: Option<f64>,
    /// The same at the end of the last step, at the overlap of its contacts.
    pub contact_after: Option<f64>,
    /// Change since the start of the lead of the potentials of gravity and springs over the
    /// velocities. A first-order step moves positions by its final velocity, so that they are those
    /// of half a step later (the scheme is leapfrog; this offset of the potentials is not created
    /// energy). For each tree it is limited to the work of these forces in half a step at their
    /// largest power so far: the rest counts as imbalance.
    pub potential_offset: f64,
}

impl EnergyFlows {
    /// Adds those of the steps that follow.
    pub fn add(&mut self, later: &Self) {
        self.motors += later.motors;
        self.controllers += later.controllers;
        self.prescribed += later.prescribed;
        self.loads += later.loads;
        self.exchanged += later.exchanged;
        self.contact_normal += later.contact_normal;
        self.contact_friction += later.contact_friction;
        self.joint_damping += later.joint_damping;
        self.joint_friction += later.joint_friction;
        self.joint_limits += later.joint_limits;
        self.constraints += later.constraints;
        self.potential_offset += later.potential_offset;
        self.contact_before = self.contact_before.or(later.contact_before);
        self.contact_after = later.contact_after.or(self.contact_after);
    }

    /// Energy that contacts took in the normal direction and do not store: negative if they
    /// returned more than they had.
    pub fn lost_in_contact(&self) -> f64 {
        let stored =
            self.contact_after.zip(self.contact_before).map_or(0.0, |(after, before)| after - before);
        self.contact_normal - stored
    }
}

/// Lead of the potentials of one tree over its velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PotentialOffset {
    /// Energy relative to the start \[J\].
    pub energy: f64,
    /// Largest power of gravity and springs so far \[W\].
    pub power: f64,
    /// Longest step so far \[s\].
    pub step: f64,
}

impl PotentialOffset {
    /// Adds that of the following steps.
    fn add(&mut self, steps: &Self) {
        (self.power, self.step) = (self.power.max(steps.power), self.step.max(steps.step));
        let half_step = 0.5 * self.step * self.power;
        self.energy = (self.energy + steps.energy).clamp(-half_step, half_step);
    }
}

/// Measures steps. Buffers are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct EnergyMeter {
    /// Of each tree, up to the last accepted step.
    pub potential_offsets: Vec<PotentialOffset>,
    /// Of the steps measured since.
    new_leads: Vec<PotentialOffset>,
    /// Velocities before the impulses of a step: of jointed trees those at the end of their
    /// contact-free motion.
    before: Vec<f64>,
    /// Mean of the velocities before and after the impulses.
    mean: Vec<f64>,
    reactions: Reactions,
}

impl EnergyMeter {
    /// A meter for `trees` trees.
    pub fn new(trees: usize) -> Self {
        Self {
            potential_offsets: vec![PotentialOffset::default(); trees],
            new_leads: vec![PotentialOffset::default(); trees],
            ..Self::default()
        }
    }

    /// Drops the steps measured since the last accepted one.
    pub fn begin(&mut self) {
        self.new_leads.fill(PotentialOffset::default());
    }

    /// Accepts the steps measured since [`begin`](Self::begin), and writes the change of the
    /// potentials' lead to their `flows`.
    pub fn keep(&mut self, flows: &mut EnergyFlows) {
        flows.potential_offset = 0.0;
        for (lead, steps) in self.potential_offsets.iter_mut().zip(&self.new_leads) {
            let before = lead.energy;
            lead.add(steps);
            flows.potential_offset += lead.energy - before;
        }
    }

    /// Measures the step that `last` has just made from `start`, to the velocities in `after`:
    /// those of the solve, before the rotation of free bodies. With `first`, the stepper of the
    /// beginning in a trapezoid rule, forces of both ends contribute.
    pub fn measure(
        &mut self,
        system: &System,
        first: Option<&Stepper>,
        last: &Stepper,
        start: &State,
        after: &[f64],
    ) -> EnergyFlows {
        self.before.clone_from(&start.v);
        if let (None, Some(free)) = (first, &last.free) {
            free.start_of_impulses(&system.model, &mut self.before);
        }
        let before = &self.before[..];
        self.mean.clear();
        self.mean.extend(before.iter().zip(after).map(|(a, b)| 0.5 * (a + b)));
        if let (None, Some(free)) = (first, &last.free) {
            free.without_fall(&system.model, last.dt, &mut self.mean);
        }
        let struck = first.unwrap_or(last);
        let mut flows = EnergyFlows { contact_normal: struck.lost_in_impacts(), ..EnergyFlows::default() };
        contacts(system, first, last, &self.mean, &mut flows);
        passive_joints(system, last, before, after, &self.mean, &mut flows);
        motors(system, last, &self.mean, &mut flows);
        transmissions(system, last, before, &self.mean, &mut flows);
        for (row, ([impulse], c)) in last.rows.iter().zip(last.problem.equalities.impulses().iter().zip(0..))
        {
            // The rate of the path itself: in a trapezoid step the pool's bias also contains the
            // rotation of the directions.
            let led = prescribed_row_rate(&system.model, &last.kinematics, row);
            let [rate] = last.problem.equalities.project(c, &self.mean);
            flows.constraints -= impulse * (rate - led);
            flows.prescribed += impulse * led;
        }
        let ends = first.map_or([Some((last, 1.0)), None], |first| [Some((first, 0.5)), Some((last, 0.5))]);
        for (end, share) in ends.into_iter().flatten() {
            loads(system, end, share * last.dt, &self.mean, &mut flows);
        }
        flows.prescribed += self.carried(system, first, last, start);
        if first.is_none() {
            ahead(system, last, start, after, &mut self.new_leads);
        }
        flows
    }

    /// Work of moving parents on the roots of their trees.
    fn carried(&mut self, system: &System, first: Option<&Stepper>, last: &Stepper, start: &State) -> f64 {
        let model = &system.model;
        let drift = |link: LinkId| *last.kinematics.prescribed_velocity(link);
        let mut roots = model.trees().iter().filter_map(|tree| tree.links.first().copied());
        let moves = |root: &LinkId| {
            let drift = drift(*root);
            drift.linear != Vector3::zeros() || drift.angular != Vector3::zeros()
        };
        if !roots.clone().any(|root| moves(&root)) {
            return 0.0;
        }
        // Free bodies have no parents that could move them.
        self.reactions.update(system, first, last, (start, None));
        let work = |root: LinkId| last.dt * drift(root).dot(&self.reactions.joints[root.0]);
        roots.by_ref().filter(moves).map(work).sum()
    }
}

/// Velocity of a point of a prescribed link; zero for static and dynamic links.
fn prescribed_point_velocity(
    model: &Model,
    kinematics: &Kinematics,
    link: Option<LinkId>,
    point: &Vector3<f64>,
) -> Vector3<f64> {
    match link {
        Some(link) if model.tree_of(link).is_none() => kinematics.point_drift(link, point),
        _ => Vector3::zeros(),
    }
}

/// Velocity of a row due to prescribed links, which gives their work.
fn prescribed_row_rate(model: &Model, kinematics: &Kinematics, row: &ConstraintRow) -> f64 {
    match row.kind {
        RowKind::Linear { links, points, direction } => {
            let at = |k: usize| prescribed_point_velocity(model, kinematics, links[k], &points[k]);
            direction.dot(&(at(0) - at(1)))
        }
        RowKind::Angular { links, direction } => {
            let at = |k: usize| match links[k] {
                Some(link) if model.tree_of(link).is_none() => kinematics.prescribed_velocity(link).angular,
                _ => Vector3::zeros(),
            };
            direction.dot(&(at(0) - at(1)))
        }
        RowKind::Rates { .. } => 0.0,
    }
}

/// Adds the growth of the potentials' lead over the velocities in a first-order step, tree by tree:
/// half a step at the change of the velocities if positions move at the final velocity, less if
/// they move at a mean.
fn ahead(
    system: &System,
    last: &Stepper,
    start: &State,
    after: &[f64],
    potential_offsets: &mut [PotentialOffset],
) {
    let (model, kinematics) = (&system.model, &last.kinematics);
    // Twice the difference of the velocity of the positions and the mean of the step's velocities.
    let change = |n: usize| match &last.free {
        Some(free) => 2.0 * free.lead(n),
        None => after[n] - start.v[n],
    };
    for (tree, lead) in model.trees().iter().zip(potential_offsets) {
        // Powers of the potentials: at the change of the velocities, and the magnitudes at the
        // beginning and the end.
        let (mut of_change, mut of_ends) = (0.0, 0.0);
        for &link in &tree.links {
            let described = &model.links()[link.0];
            if described.gravity {
                let pose = kinematics.pose(link);
                let weight = model.gravity * described.inertia.mass;
                let force = ForceVector::at(&(pose.rotation * described.inertia.center()), weight);
                let mut ends = [0.0; 2];
                for_each_axis(model, kinematics, link, &pose.translation.vector, |n, axis| {
                    let effort = axis.dot(&force);
                    of_change -= effort * change(n);
                    ends[0] += effort * start.v[n];
                    ends[1] += effort * after[n];
                });
                of_ends += ends[0].abs().max(ends[1].abs());
            }
            let places = model.positions_of(link).zip(model.velocities_of(link));
            for (dof, (place, n)) in described.dofs.iter().zip(places) {
                if dof.stiffness > 0.0 {
                    let end = start.q[place] + 0.5 * last.dt * (start.v[n] + after[n] + change(n));
                    let effort = dof.stiffness * (end - dof.reference);
                    of_change += effort * change(n);
                    of_ends += (effort * start.v[n]).abs().max((effort * after[n]).abs());
                }
            }
        }
        tendons_ahead(last, tree, start, after, change, [&mut of_change, &mut of_ends]);
        lead.energy += 0.5 * last.dt * of_change;
        (lead.power, lead.step) = (lead.power.max(of_ends), lead.step.max(last.dt));
    }
}

/// The part of [`ahead`] of the springs of tendons on a tree.
fn tendons_ahead(
    last: &Stepper,
    tree: &Tree,
    start: &State,
    after: &[f64],
    change: impl Fn(usize) -> f64,
    [of_change, of_ends]: [&mut f64; 2],
) {
    let pool = &last.problem.transmissions;
    for (c, potential) in pool.potentials().iter().enumerate() {
        let TransmissionPotential::Spring(spring) = potential else { continue };
        // Rates of the whole length, and of the tree's part of it.
        let (mut whole, mut own) = ([0.0; 3], [0.0; 3]);
        pool.for_each_column(c, |n, [column]| {
            let rates = [start.v[n], after[n], change(n)].map(|rate| column * rate);
            let inside = (tree.first_velocity..tree.first_velocity + tree.velocities).contains(&n);
            for (k, rate) in rates.into_iter().enumerate() {
                whole[k] += rate;
                own[k] += if inside { rate } else { 0.0 };
            }
        });
        let end = spring.length + 0.5 * last.dt * whole.iter().sum::<f64>();
        let effort = spring.stiffness * (end - end.clamp(spring.rest[0], spring.rest[1]));
        *of_change += effort * own[2];
        *of_ends += (effort * own[0]).abs().max((effort * own[1]).abs());
    }
}

fn contacts(system: &System, first: Option<&Stepper>, last: &Stepper, mean: &[f64], flows: &mut EnergyFlows) {
    let solved = |c: usize| Vector3::from(last.problem.contacts.impulses()[c]);
    pushes(system, last, solved, mean, flows);
    if let Some(first) = first {
        let given = |c: usize| last.trapezoid.contact_forces[c] * last.dt;
        pushes(system, first, given, mean, flows);
    }
    if last.solver.is_convex() {
        let stored = |overlap: f64, stiffness: f64| 0.5 * stiffness * overlap.max(0.0).powi(2);
        let begun = first.unwrap_or(last);
        let before = begun.prepared.iter().map(|c| stored(-c.point.distance, c.point.stiffness)).sum::<f64>();
        let pool = &last.problem.contacts;
        // In a second-order step positions move at the mean velocity.
        let velocity = |c: usize| match first {
            Some(_) => pool.velocity_of(c, mean),
            None => pool.velocities()[c],
        };
        let after = last.prepared.iter().enumerate().map(|(c, contact)| {
            let point = &contact.point;
            let moved = last.dt * point.normal.dot(&Vector3::from(velocity(c)));
            stored(-point.distance - moved, point.stiffness)
        });
        (flows.contact_before, flows.contact_after) = (Some(before), Some(after.sum::<f64>()));
    }
}

/// Work of the impulses on the second bodies of the contacts of one end of the step.
fn pushes(
    system: &System,
    end: &Stepper,
    impulse: impl Fn(usize) -> Vector3<f64>,
    mean: &[f64],
    flows: &mut EnergyFlows,
) {
    let (model, pool) = (&system.model, &end.problem.contacts);
    for (c, candidate) in end.candidates.iter().enumerate() {
        let impulse = impulse(c);
        // Contact of two immovable bodies does no work.
        if impulse == Vector3::zeros() || pool.sides_of(c) == [None, None] {
            continue;
        }
        let velocity = Vector3::from(pool.velocity_of(c, mean));
        let normal = candidate.normal.dot(&impulse) * candidate.normal.dot(&velocity);
        flows.contact_normal -= normal;
        flows.contact_friction -= impulse.dot(&velocity) - normal;
        let at =
            |link: Option<LinkId>| prescribed_point_velocity(model, &end.kinematics, link, &candidate.point);
        flows.prescribed += impulse.dot(&(at(candidate.first) - at(candidate.second)));
    }
    let Some(spins) = end.solver.spins() else { return };
    for (s, (&c, moment)) in spins.potentials().iter().zip(spins.impulses()).enumerate() {
        let (candidate, moment) = (&end.candidates[c as usize], Vector3::from(*moment));
        if pool.sides_of(c as usize) == [None, None] {
            continue;
        }
        flows.contact_friction -= moment.dot(&Vector3::from(spins.velocity_of(s, mean)));
        for (link, sign) in [(candidate.first, 1.0), (candidate.second, -1.0)] {
            if let Some(link) = link.filter(|link| model.tree_of(*link).is_none()) {
                flows.prescribed += sign * moment.dot(&end.kinematics.prescribed_velocity(link).angular);
            }
        }
    }
}

/// Damping, dry friction and limits of the joints.
fn passive_joints(
    system: &System,
    last: &Stepper,
    before: &[f64],
    after: &[f64],
    mean: &[f64],
    flows: &mut EnergyFlows,
) {
    let (model, dt) = (&system.model, last.dt);
    for &link in &model.passive {
        for (dof, n) in model.links()[link.0].dofs.iter().zip(model.velocities_of(link)) {
            if dof.damping > 0.0 {
                let theta = if last.at_end {
                    end_weight(dt * (dof.damping + dt * dof.stiffness) * last.trapezoid.inverse_inertia[n])
                } else {
                    1.0
                };
                let rate = theta * after[n] + (1.0 - theta) * before[n];
                flows.joint_damping += dt * dof.damping * rate * mean[n];
            }
        }
    }
    let dry = &last.problem.dry_joints;
    for ((potential, n, ..), impulse) in dry.entries().zip(dry.impulses()) {
        // The part of friction outside the solve acted at the initial velocity.
        let early = dt * model.dofs()[n].friction_loss - potential.bound();
        let at_start = early * before[n] / before[n].hypot(system.dry_joint_tolerance);
        flows.joint_friction -= (impulse - at_start) * mean[n];
    }
    let limits = &last.problem.limits;
    for (n, impulse) in limits.degrees_of_freedom().zip(limits.impulses()) {
        flows.joint_limits -= impulse * mean[n];
    }
}

fn motors(system: &System, last: &Stepper, mean: &[f64], flows: &mut EnergyFlows) {
    let pool = &last.problem.actuators;
    let efforts = last.actuator_efforts(system);
    for (actuator, effort) in system.actuators.iter().zip(efforts) {
        flows.motors += last.dt * effort * mean[actuator.velocity(&system.model)];
    }
    let others = pool.degrees_of_freedom().zip(pool.impulses()).skip(system.actuators.len());
    flows.controllers += others.map(|(n, impulse)| impulse * mean[n]).sum::<f64>();
}

/// Springs, dampers, limits and dry friction of tendons, and drives. Energy of springs is stored.
fn transmissions(system: &System, last: &Stepper, before: &[f64], mean: &[f64], flows: &mut EnergyFlows) {
    let (pool, rows) = (&last.problem.transmissions, &last.transmissions);
    for (c, ((_, early), [solved])) in rows.parts().zip(pool.impulses()).enumerate() {
        let impulse = solved + early;
        let led = rows.led(&system.model, &last.kinematics, c);
        let [rate] = pool.project(c, mean);
        let work = impulse * (rate - led);
        flows.prescribed += impulse * led;
        match &pool.potentials()[c] {
            TransmissionPotential::Spring(spring) => {
                let ([end], [start]) = (pool.velocities()[c], pool.velocity_of(c, before));
                let damped = spring.weight * end + (1.0 - spring.weight) * start;
                flows.joint_damping += spring.dt * spring.damping * damped * (rate - led);
            }
            TransmissionPotential::Limit(_) => flows.joint_limits -= work,
            TransmissionPotential::Hold(_) => flows.constraints -= work,
            TransmissionPotential::Friction(_) => flows.joint_friction -= work,
            TransmissionPotential::Drive(_) => flows.motors += work,
        }
    }
}

/// External forces at one `end` of the step, over `dt` \[s\].
fn loads(system: &System, end: &Stepper, dt: f64, mean: &[f64], flows: &mut EnergyFlows) {
    let (model, kinematics) = (&system.model, &end.kinematics);
    let work = |link: LinkId, force: &ForceVector| {
        let origin = kinematics.pose(link).translation.vector;
        let mut power = kinematics.prescribed_velocity(link).dot(force);
        for_each_axis(model, kinematics, link, &origin, |n, axis| power += axis.dot(force) * mean[n]);
        dt * power
    };
    let moves = |l: usize| model.tree_of(LinkId(l)).is_some();
    for (l, load) in end.loads.iter().enumerate().filter(|(l, _)| moves(*l)) {
        let constant = system.applied.get(l).copied().unwrap_or_default();
        if constant != ForceVector::zero() {
            flows.loads += work(LinkId(l), &constant);
        }
        let exchanged = *load - constant;
        if exchanged != ForceVector::zero() {
            flows.exchanged += work(LinkId(l), &exchanged);
        }
    }
}
