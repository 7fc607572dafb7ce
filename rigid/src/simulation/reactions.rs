//! Forces of joints and contacts on the links in the last step, by inverse dynamics with the
//! accelerations of the step.

use super::contact::ContactCandidate;
use super::equality::{ConstraintRow, RowKind};
use super::stepper::Stepper;
use super::system::System;
use crate::multibody::{
    ForceVector, InverseDynamicsBuffers, Kinematics, LinkId, MassMatrix, PathSide, State, bias_forces,
    inverse_dynamics, mass_matrix,
};
use nalgebra::Vector3;
use pliant_numeric::cholesky::{factorise, rows, solve};

/// Forces on every link, and buffers for finding them.
#[derive(Clone, Debug, Default)]
pub struct Reactions {
    /// Forces of the joints, by link: world axes, about the link's origin \[N m, N\].
    pub joints: Vec<ForceVector>,
    /// Forces of all contacts of each link, likewise.
    pub contacts: Vec<ForceVector>,
    at_one_end: Vec<ForceVector>,
    external: Vec<ForceVector>,
    inverse: InverseDynamicsBuffers,
    /// Mean accelerations of the step.
    accelerations: Vec<f64>,
    efforts: Vec<f64>,
    middle: Option<Box<MidpointState>>,
}

/// The middle of a first-order step: joint forces there are their mean over the step, to second
/// order.
#[derive(Clone, Debug)]
struct MidpointState {
    state: State,
    kinematics: Kinematics,
    mass: MassMatrix,
    accelerations: Vec<f64>,
    /// A tree's mass matrix.
    factor: Vec<f64>,
}

impl MidpointState {
    fn new(system: &System) -> Self {
        let model = &system.model;
        Self {
            state: model.zero_configuration(),
            kinematics: Kinematics::new(model),
            mass: MassMatrix::default(),
            accelerations: Vec::new(),
            factor: Vec::new(),
        }
    }

    /// Half a step after `begin`: the accelerations of the jointed trees are those of the forces
    /// along their joints, so that the force of a joint along its axes is exactly that of its own
    /// actuators and passive forces.
    fn find(
        &mut self,
        system: &System,
        last: &Stepper,
        begin: &State,
        mean: &[f64],
        inverse: &mut InverseDynamicsBuffers,
    ) {
        let Self { state, kinematics, mass, accelerations, factor } = self;
        let (model, dt) = (&system.model, last.dt);
        accelerations.clear();
        accelerations.extend_from_slice(mean);
        let Some(free) = &last.free else { return };
        state.copy_from(begin);
        state.time += 0.5 * dt;
        // The mean velocity of the first half.
        state.v.iter_mut().zip(&*accelerations).for_each(|(v, a)| *v += 0.25 * dt * a);
        for (t, _) in free.motion.trees() {
            for &link in &model.trees()[t].links {
                let (q, v) = (model.positions_of(link), model.velocities_of(link));
                model.links()[link.0].joint.advance(&mut state.q[q], &state.v[v], 0.5 * dt);
            }
        }
        state.v.iter_mut().zip(&*accelerations).for_each(|(v, a)| *v += 0.25 * dt * a);
        kinematics.update_at(model, state, PathSide::Mean(begin.time, dt));
        mass_matrix(model, kinematics, mass);
        // The velocities are not needed any more.
        bias_forces(model, kinematics, &[], inverse, &mut state.v);
        for (t, end_mass) in free.motion.trees() {
            let tree = &model.trees()[t];
            let (n, first) = (tree.velocities, tree.first_velocity);
            let wanted = &mut accelerations[first..first + n];
            free.other_forces(end_mass, first, dt, wanted);
            wanted.iter_mut().zip(&state.v[first..]).for_each(|(f, bias)| *f -= bias);
            factor.clear();
            factor.extend_from_slice(mass.values(t));
            if factorise(factor, n, rows(n)) {
                solve(factor, rows(n), wanted);
            }
        }
    }
}

impl Reactions {
    /// Finds them for the step from `begin` to `end` that `last` took; without an end
    /// what is welded to free bodies lacks a part. With `first`, the stepper of the
    /// beginning in a trapezoid rule, they are the mean of both ends.
    pub(super) fn update(
        &mut self,
        system: &System,
        first: Option<&Stepper>,
        last: &Stepper,
        (begin, end): (&State, Option<&State>),
    ) {
        let links = system.model.links().len();
        for forces in [&mut self.joints, &mut self.contacts] {
            forces.clear();
            forces.resize(links, ForceVector::zero());
        }
        let mut accelerations = core::mem::take(&mut self.accelerations);
        accelerations.clone_from(&last.acceleration);
        // What is welded to a free body feels how that turns in the torque-free flow, too.
        for body in &system.model.floating {
            let dofs = system.model.velocities_of(body.link);
            for (n, end) in dofs.flat_map(|n| Some((n, end?))) {
                accelerations[n] = (end.v[n] - begin.v[n]) / last.dt;
            }
        }
        let solved = last.problem.contacts.impulses().iter().map(|p| Vector3::from(*p) / last.dt);
        match first {
            Some(first) => {
                let at_first = (&first.kinematics, &accelerations[..]);
                let at_last = (&last.kinematics, &accelerations[..]);
                let forces = last.trapezoid.contact_forces.iter().copied();
                self.add_end(system, first, forces, last, 0.5, at_first);
                self.add_end(system, last, solved, last, 0.5, at_last);
            }
            None => {
                let mut middle = self.middle.take().unwrap_or_else(|| Box::new(MidpointState::new(system)));
                middle.find(system, last, begin, &accelerations, &mut self.inverse);
                let published = last.free.is_none();
                let kinematics = if published { &last.kinematics } else { &middle.kinematics };
                self.add_end(system, last, solved, last, 1.0, (kinematics, &middle.accelerations));
                self.middle = Some(middle);
            }
        }
        self.accelerations = accelerations;
        // A free joint has no force; what is left is of the mean over the step.
        for body in &system.model.floating {
            self.joints[body.link.0] = ForceVector::zero();
        }
    }

    /// Adds the forces at one end of the step, at which `end` is prepared, with the weight `share`.
    /// `forces` are its contacts' parts of the mean over the step. The links move as in `motion`,
    /// with its accelerations.
    fn add_end(
        &mut self,
        system: &System,
        end: &Stepper,
        forces: impl Iterator<Item = Vector3<f64>>,
        last: &Stepper,
        share: f64,
        motion: (&Kinematics, &[f64]),
    ) {
        let (model, kinematics) = (&system.model, &end.kinematics);
        self.at_one_end.clear();
        self.at_one_end.resize(model.links().len(), ForceVector::zero());
        for (ContactCandidate { first, second, point, .. }, force) in end.candidates.iter().zip(forces) {
            add_pair(kinematics, [*first, *second], [*point, *point], &force, &mut self.at_one_end);
        }
        for (c, candidate) in end.candidates.iter().enumerate() {
            let Some(impulse) = end.solver.moment(c) else { continue };
            let moment = impulse * (1.0 / last.dt);
            for (link, sign) in [(candidate.first, -1.0), (candidate.second, 1.0)] {
                if let Some(link) = link {
                    self.at_one_end[link.0] += ForceVector::new(moment * sign, Vector3::zeros());
                }
            }
        }
        self.external.clear();
        self.external.extend(self.at_one_end.iter().map(|f| *f * (1.0 / share)));
        self.external.iter_mut().zip(&end.loads).for_each(|(f, applied)| *f += *applied);
        for (row, [impulse]) in end.rows.iter().zip(last.problem.equalities.impulses()) {
            add_row(kinematics, row, impulse / last.dt, &mut self.external);
        }
        let (rows, impulses) = (&end.transmissions, last.problem.transmissions.impulses());
        for (c, ((_, early), [solved])) in last.transmissions.parts().zip(impulses).enumerate() {
            let force = (solved + early) / last.dt;
            rows.for_each_pull(c, |link, pull| self.external[link.0] += pull * force);
        }
        self.efforts.resize(model.velocities(), 0.0);
        let (moving, accelerations) = motion;
        let Self { external, inverse, efforts, .. } = self;
        inverse_dynamics(model, moving, accelerations, external, inverse, efforts);
        self.joints.iter_mut().zip(self.inverse.joint_forces()).for_each(|(j, f)| *j += *f * share);
        self.contacts.iter_mut().zip(&self.at_one_end).for_each(|(c, f)| *c += *f);
    }
}

/// Adds `force` \[N\] on the second of two links at its point (m, world frame) and the opposite on
/// the first at its own.
fn add_pair(
    kinematics: &Kinematics,
    links: [Option<LinkId>; 2],
    points: [Vector3<f64>; 2],
    force: &Vector3<f64>,
    out: &mut [ForceVector],
) {
    for ((link, point), sign) in links.into_iter().zip(points).zip([-1.0, 1.0]) {
        if let Some(link) = link {
            let lever = point - kinematics.pose(link).translation.vector;
            out[link.0] += ForceVector::at(&lever, force * sign);
        }
    }
}

/// Adds the force `f` \[N, N m\] of a row of a holonomic constraint. Couplings of rates act within
/// the joints.
fn add_row(kinematics: &Kinematics, row: &ConstraintRow, f: f64, out: &mut [ForceVector]) {
    match row.kind {
        RowKind::Linear { links, points, direction } => {
            add_pair(kinematics, links, points, &(direction * f), out);
        }
        RowKind::Angular { links, direction } => {
            for (link, sign) in links.into_iter().zip([-1.0, 1.0]) {
                if let Some(link) = link {
                    out[link.0] += ForceVector::new(direction * (sign * f), Vector3::zeros());
                }
            }
        }
        RowKind::Rates { .. } => {}
    }
}
