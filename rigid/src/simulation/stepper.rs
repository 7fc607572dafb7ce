//! One implicit step.

use nalgebra::Vector3;

use super::assemble::{self, PreparedContact};
use super::contact::{ContactCandidate, ContactSource};
use super::contact_solver::{ContactInputs, ContactSolver};
use super::corner::VelocityJumpBuffers;
use super::equality::ConstraintRow;
use super::error::SimulationError;
use super::external::Implicit;
use super::free::ContactFreeStep;
use super::impact::{ImpactInputs, Impacts};
use super::summary::StepSummary;
use super::system::System;
use super::transmission::{Transmissions, advance_activations};
use super::trapezoid_data::Trapezoid;
use crate::icf::ConvexProblem;
use crate::icf::potential::ActuatorPotential;
use crate::multibody::{
    ForceVector, InverseDynamicsBuffers, Kinematics, Link, LinkId, MassMatrix, Model, MotionVector, PathSide,
    State, bias_forces, for_each_axis, mass_matrix,
};

/// Contacts farther away than this many times the fastest link's displacement in a step are left
/// out; the others act when their gap closes.
const CONTACT_REACH: f64 = 2.0;

/// Centre of mass and reach of every link, from its mass: a rod extends to 0.9 of this, a sphere to
/// two thirds. Zero for free bodies, whose origin is near their centre.
fn extents(model: &Model) -> Vec<(Vector3<f64>, f64)> {
    let extent = |(l, link): (usize, &Link)| {
        let floats = model.tree_of(LinkId(l)).is_none_or(|t| model.floating.iter().any(|b| b.tree == t));
        let (center, mass) = (link.inertia.center(), link.inertia.mass);
        if floats || mass <= 0.0 {
            return (Vector3::zeros(), 0.0);
        }
        (center, (2.0 * link.inertia.shifted(&center).inertia.trace() / mass).sqrt())
    };
    // A shortcut if all bodies are free.
    if model.floating.len() == model.trees().len() {
        return vec![(Vector3::zeros(), 0.0); model.links().len()];
    }
    model.links().iter().enumerate().map(extent).collect()
}

/// Takes one step after another. Buffers are kept.
#[derive(Clone, Debug)]
pub struct Stepper {
    pub(super) kinematics: Kinematics,
    pub(super) mass: MassMatrix,
    pub(super) inverse: InverseDynamicsBuffers,
    /// Bias forces that are not in the contact-free motion.
    pub(super) bias: Vec<f64>,
    /// The contact-free motion of jointed trees, if steps use it.
    pub(super) free: Option<Box<ContactFreeStep>>,
    /// External forces on every link at the prepared state, about its origin.
    pub(super) loads: Vec<ForceVector>,
    pub(super) weight: Vec<f64>,
    pub(super) candidates: Vec<ContactCandidate>,
    pub(super) prepared: Vec<PreparedContact>,
    pub(super) rows: Vec<ConstraintRow>,
    /// Lengths of tendons and drives at the prepared state.
    pub(super) transmissions: Transmissions,
    /// Of every link on a joint its centre of mass \[m\] and its reach from there \[m\]: its origin
    /// may be a point that does not move.
    extents: Vec<(Vector3<f64>, f64)>,
    /// The rebounds at the beginning of the last step.
    pub(super) impacts: Impacts,
    pub(super) problem: ConvexProblem,
    pub(super) solver: ContactSolver,
    externals: Vec<Implicit>,
    pub(super) trapezoid: Trapezoid,
    /// Mean accelerations of the last step, and its length \[s\].
    pub(super) acceleration: Vec<f64>,
    pub(super) dt: f64,
    corners: VelocityJumpBuffers,
    /// Whether it is prepared at the end of steps, as a corrector.
    pub(super) at_end: bool,
}

impl Stepper {
    /// Buffers for a system.
    pub fn new(system: &System) -> Self {
        let n = system.model.velocities();
        Self {
            kinematics: Kinematics::new(&system.model),
            mass: MassMatrix::default(),
            inverse: InverseDynamicsBuffers::default(),
            bias: vec![0.0; n],
            free: ContactFreeStep::new(system),
            loads: Vec::new(),
            weight: vec![0.0; n],
            candidates: Vec::new(),
            prepared: Vec::new(),
            rows: Vec::new(),
            transmissions: Transmissions::default(),
            extents: extents(&system.model),
            impacts: Impacts::default(),
            problem: ConvexProblem::default(),
            solver: ContactSolver::new(system.solver),
            externals: Implicit::all(&system.externals, &system.model),
            trapezoid: Trapezoid::default(),
            acceleration: vec![0.0; n],
            dt: 0.0,
            corners: VelocityJumpBuffers::default(),
            at_end: false,
        }
    }

    /// Finds what depends on the state alone: kinematics, mass matrix, bias forces, contacts that
    /// can close within a step of at most `reach` \[s\]. Any shorter step may be taken from here.
    pub fn prepare(&mut self, system: &System, source: &mut dyn ContactSource, state: &State, reach: f64) {
        let model = &system.model;
        self.kinematics.update_at(model, state, PathSide::Over(reach));
        let fastest = (0..model.links().len())
            .map(|l| {
                let (v, (center, radius)) = (self.kinematics.velocity(LinkId(l)), &self.extents[l]);
                let lever = self.kinematics.pose(LinkId(l)).rotation * center;
                v.shifted(&lever).linear.norm() + radius * v.angular.norm()
            })
            .fold(0.0, f64::max);
        let fall = model.gravity.norm() * reach;
        self.candidates.clear();
        self.impacts.clear();
        source.contacts(
            model,
            &self.kinematics,
            CONTACT_REACH * (fastest + fall) * reach,
            &mut self.candidates,
        );
        self.prepare_forces(system, state);
    }

    /// Applies impacts with restitution at the beginning of a step of `dt` \[s\] from the prepared
    /// state. Returns the largest gap of surfaces that rebounded \[m\].
    pub(super) fn apply_impacts(&mut self, system: &System, state: &mut State, dt: f64) -> Option<f64> {
        let Self { impacts, mass, candidates, prepared, problem, .. } = self;
        let (model, pool) = (&system.model, &problem.contacts);
        let scene = ImpactInputs { model, mass, candidates, prepared, pool, dt };
        if !impacts.apply_impacts(&scene, &mut state.v) {
            return None;
        }
        self.kinematics.update_at(model, state, PathSide::Over(dt));
        self.prepare_forces(system, state);
        Some(self.impacts.gap)
    }

    /// The part of [`prepare`](Self::prepare) after kinematics and contacts.
    fn prepare_forces(&mut self, system: &System, state: &State) {
        let model = &system.model;
        mass_matrix(model, &self.kinematics, &mut self.mass);
        system.loads(&self.kinematics, state.time, &mut self.loads);
        if self.free.is_some() {
            self.bias_of_loads(system);
        } else {
            bias_forces(model, &self.kinematics, &self.loads, &mut self.inverse, &mut self.bias);
        }
        for body in &model.floating {
            body.bias(model, &self.kinematics, &self.loads, &mut self.bias);
        }
        self.find_gravity_forces(system);
        assemble::contacts(system, &self.kinematics, &self.candidates, &mut self.problem, &mut self.prepared);
        self.solver.choose(system.solver);
        self.solver.prepare(system, &self.kinematics, &self.candidates);
        self.rows.clear();
        for equality in &system.equalities {
            equality.rows(model, &self.kinematics, state, self.at_end, &mut self.rows);
        }
        self.transmissions.prepare(system, &self.kinematics, state, &self.mass);
        let scale = &mut self.problem.scale;
        scale.clear();
        for tree in 0..model.trees().len() {
            let block = self.mass.block(tree);
            scale.extend((0..block.nrows()).map(|i| 1.0 / block[(i, i)].sqrt()));
        }
    }

    /// Applies the velocity jumps at a corner of prescribed paths. Returns the work \[J\] of the
    /// paths.
    pub(super) fn apply_velocity_jumps(&mut self, system: &System, state: &mut State) -> f64 {
        self.corners.turn(&system.model, &mut self.kinematics, &mut self.mass, state)
    }

    /// Bias of the external forces on the jointed trees; gravity and velocity terms are in the
    /// contact-free motion.
    fn bias_of_loads(&mut self, system: &System) {
        let Self { free: Some(free), bias, loads, kinematics, .. } = self else { return };
        let model = &system.model;
        for (t, _) in free.motion.trees() {
            let tree = &model.trees()[t];
            bias[tree.first_velocity..tree.first_velocity + tree.velocities].fill(0.0);
            for link in &tree.links {
                let Some(load) = loads.get(link.0) else { continue };
                let origin = kinematics.pose(*link).translation.vector;
                for_each_axis(model, kinematics, *link, &origin, |n, axis| bias[n] -= axis.dot(load));
            }
        }
    }

    /// Positions and time at the end of a step of `dt` \[s\] from `start`, with the velocities in
    /// `end`.
    pub(super) fn place(&self, system: &System, start: &State, dt: f64, end: &mut State) {
        end.time = start.time + dt;
        end.q.copy_from_slice(&start.q);
        system.model.flow(&mut end.q, &mut end.v, dt);
        if let Some(free) = &self.free {
            free.place(&system.model, dt, &mut end.q);
        }
    }

    /// Force of gravity along every degree of freedom, for compensation: inverse dynamics at rest.
    fn find_gravity_forces(&mut self, system: &System) {
        if !system.actuators.iter().any(|a| a.gravity_compensation) {
            return;
        }
        let model = &system.model;
        self.weight.fill(0.0);
        for (l, link) in model.links().iter().enumerate() {
            if !link.gravity {
                continue;
            }
            let inertia = link.inertia.rotated(self.kinematics.pose(LinkId(l)));
            let force: ForceVector = inertia.momentum(&MotionVector::new(Default::default(), model.gravity));
            let origin = self.kinematics.pose(LinkId(l)).translation.vector;
            for_each_axis(model, &self.kinematics, LinkId(l), &origin, |n, axis| {
                self.weight[n] -= axis.dot(&force);
            });
        }
    }

    /// Solves for the velocities at the end of a step of `dt` \[s\] from the prepared `state`,
    /// starting at those in `v`. The external states `x` become those at the end.
    ///
    /// # Errors
    /// The solver does not converge, or an external system returns a value that is not finite.
    pub fn solve(
        &mut self,
        system: &System,
        state: &State,
        dt: f64,
        tolerance: f64,
        v: &mut [f64],
        x: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        assemble::equalities(
            system,
            &self.kinematics,
            &self.rows,
            &self.mass,
            &state.v,
            dt,
            &mut self.problem,
        );
        assemble::joints(system, state, &self.mass, (dt, false), &mut self.problem);
        assemble::actuators(system, state, &self.weight, dt, &mut self.problem);
        let activations = &x[system.first_activation()..];
        self.transmissions.assemble(None, system, activations, dt, &mut self.problem);
        self.linearise(system, state, dt, x)?;
        self.assemble(system, state, dt)?;
        if let Some(free) = &self.free {
            free.guess(&system.model, state, dt, &self.bias, v);
        }
        let summary = self.solve_contacts(system, state.time, dt, tolerance, v)?;
        if let Some(free) = &mut self.free {
            free.finish(&system.model, state, dt, v, (&self.problem, &self.bias));
        }
        self.finish(system, state, dt, v, x);
        Ok(summary)
    }

    /// Solves the assembled problem of a step of `dt` \[s\], its contacts as prepared, from the
    /// velocities in `v` at the `time` \[s\].
    pub(super) fn solve_contacts(
        &mut self,
        system: &System,
        time: f64,
        dt: f64,
        tolerance: f64,
        v: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        self.dt = dt;
        let (candidates, prepared) = (&self.candidates[..], &self.prepared[..]);
        let inputs = ContactInputs { system, candidates, prepared, time, dt, tolerance };
        let summary = self.solver.solve(&inputs, &mut self.problem, v)?;
        let depths = candidates.iter().map(|candidate| -candidate.distance / candidate.half_thickness);
        let max_overlap_ratio = depths.fold(0.0, f64::max);
        // Several problems may be solved after the same impacts.
        let inaccurate_impacts = core::mem::take(&mut self.impacts.inaccurate);
        Ok(StepSummary { contacts: candidates.len(), max_overlap_ratio, inaccurate_impacts, ..summary })
    }

    /// Stores the accelerations of a step with the final velocities `v`, and writes the external
    /// systems' states and the activations at its end.
    pub(super) fn finish(&mut self, system: &System, state: &State, dt: f64, v: &[f64], x: &mut [f64]) {
        let velocities = v.iter().zip(&state.v);
        self.acceleration.iter_mut().zip(velocities).for_each(|(a, (v, v0))| *a = (v - v0) / dt);
        for implicit in &self.externals {
            implicit.advance(state, v, x);
        }
        advance_activations(system, dt, &mut x[system.first_activation()..]);
    }

    /// Inertia and momentum of the problem, with damping and springs of the joints.
    fn assemble(&mut self, system: &System, state: &State, dt: f64) -> Result<(), SimulationError> {
        let model = &system.model;
        let problem = &mut self.problem;
        problem.inertia.copy_from(&self.mass);
        problem.momentum.resize(model.velocities(), 0.0);
        self.mass.multiply(model, &state.v, &mut problem.momentum);
        problem.momentum.iter_mut().zip(&self.bias).for_each(|(r, bias)| *r -= dt * bias);
        if let Some(free) = &mut self.free {
            free.free_bodies.note_loads(model, &self.loads);
            free.begin(model, state, dt, &self.bias, problem)?;
        }
        // Damping and springs at the end of the step.
        for &link in &model.passive {
            let (q, n) = (model.positions_of(link), model.velocities_of(link));
            for (d, dof) in model.links()[link.0].dofs.iter().enumerate() {
                let mut resist = dt * dof.damping;
                if dof.stiffness > 0.0 {
                    resist += dt * dt * dof.stiffness;
                    problem.momentum[n.start + d] -=
                        dt * dof.stiffness * (state.q[q.start + d] - dof.reference);
                }
                if resist > 0.0 {
                    problem.inertia.add_diagonal(model, n.start + d, resist);
                }
            }
        }
        Ok(())
    }

    /// Linearises the external systems and adds their forces as actuators.
    pub(super) fn linearise(
        &mut self,
        system: &System,
        state: &State,
        dt: f64,
        x: &[f64],
    ) -> Result<(), SimulationError> {
        for (index, implicit) in self.externals.iter_mut().enumerate() {
            let external = system.externals[index].as_ref();
            implicit.linearise(external, index, &system.model, state, dt, x)?;
            for (n, (effort, gain)) in implicit.terms().enumerate() {
                if effort == 0.0 && gain == 0.0 {
                    continue;
                }
                let tree = system.model.tree_of_velocity(n);
                let within = n - system.model.trees()[tree].first_velocity;
                let potential = ActuatorPotential { effort, gain, limit: external.effort_limit(n), dt };
                self.problem.actuators.push(potential, n, tree, within);
            }
        }
        Ok(())
    }

    /// The kinematics at the last prepared state.
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }
}
