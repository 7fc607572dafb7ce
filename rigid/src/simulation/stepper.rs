//! One implicit step.

use nalgebra::Vector3;

use super::assemble::{self, PreparedContact};
use super::contact::{ContactForce, ContactSource, Touch};
use super::energy::mechanical_energy;
use super::equality::Row;
use super::error::SimulationError;
use super::external::Implicit;
use super::free::Free;
use super::impact::{Impacts, Scene};
use super::system::System;
use super::trapezoid::Trapezoid;
use crate::comfree::{ComFreeSettings, ComFreeSolver, RigidSolver, Step};
use crate::icf::law::ActuatorLaw;
use crate::icf::{Problem, SolveSettings, SolveSummary, Solver, Stop};
use crate::multibody::{
    Corner, ForceVector, InverseDynamics, Kinematics, Link, LinkId, MassMatrix, Model, MotionVector, State,
    bias_forces, mass_matrix,
};

/// Contacts farther than this part of the fastest link's way in a step are left out; the rest engage by themselves when they close.
const REACH: f64 = 2.0;

/// Second passes solve contact again with fresh normal impulses where friction's bound was off by more than this part of all
/// normal impulses together.
const STALE: f64 = 0.02;

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct StepSummary {
    /// Convex problems solved.
    pub solves: usize,
    /// Newton iterations in all of them.
    pub iterations: usize,
    /// Factorisations of Hessians.
    pub factorisations: usize,
    /// Contacts.
    pub contacts: usize,
    /// Problems solved a second time for friction.
    pub refreshed: usize,
    /// Solves of the closed form that it cannot answer for; see [`comfree`](crate::comfree).
    pub doubtful: usize,
    /// How deep surfaces overlap at the start of a step, in half thicknesses of the thinner of both, at most: beyond 1 they have passed each other's
    /// middles, and contact may push them on the wrong way.
    pub pressed: f64,
}

impl StepSummary {
    pub(super) fn add(&mut self, other: &Self) {
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.factorisations += other.factorisations;
        self.contacts = self.contacts.max(other.contacts);
        self.refreshed += other.refreshed;
        self.doubtful += other.doubtful;
        self.pressed = self.pressed.max(other.pressed);
    }

    fn count(&mut self, solve: &SolveSummary) {
        self.solves += 1;
        self.iterations += solve.iterations;
        self.factorisations += solve.factorisations;
    }
}

/// Buffers of a turn round a corner.
#[derive(Clone, Debug, Default)]
struct Corners {
    /// Of every link, before the corner.
    drifts: Vec<MotionVector>,
    /// That every link and what it carries gains from the jump of the drifts.
    momenta: Vec<ForceVector>,
    matrix: Vec<f64>,
    change: Vec<f64>,
}

/// Solves `A x = b` in place for a symmetric, positive definite matrix; `b` becomes x. Gaussian elimination needs no pivots there.
fn solve_symmetric(a: &mut [f64], b: &mut [f64]) {
    let n = b.len();
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k * n + j] * b[j];
        }
        b[k] /= a[k * n + k];
    }
}

/// Centre of mass and reach of every link, from its mass: a rod reaches as far as 0.9 of this, a ball two thirds. Of free bodies, whose origin
/// is about their centre, nothing.
fn extents(model: &Model) -> Vec<(Vector3<f64>, f64)> {
    let extent = |(l, link): (usize, &Link)| {
        let floats = model.tree_of(LinkId(l)).is_none_or(|t| model.floating.iter().any(|b| b.tree == t));
        let (center, mass) = (link.inertia.center(), link.inertia.mass);
        if floats || mass <= 0.0 {
            return (Vector3::zeros(), 0.0);
        }
        (center, (2.0 * link.inertia.shifted(&center).inertia.trace() / mass).sqrt())
    };
    // Many free bodies are not looked for one by one.
    if model.floating.len() == model.trees().len() {
        return vec![(Vector3::zeros(), 0.0); model.links().len()];
    }
    model.links().iter().enumerate().map(extent).collect()
}

/// Makes one step after another. Buffers are kept.
#[derive(Debug)]
pub struct Stepper {
    pub(super) kinematics: Kinematics,
    pub(super) mass: MassMatrix,
    pub(super) inverse: InverseDynamics,
    /// What forces ask for that are not in the contact-free motion.
    pub(super) bias: Vec<f64>,
    /// The contact-free motion of jointed trees, where steps take it.
    pub(super) free: Option<Box<Free>>,
    /// Forces from outside on every link at the prepared state, about its origin.
    pub(super) loads: Vec<ForceVector>,
    pub(super) weight: Vec<f64>,
    pub(super) touches: Vec<Touch>,
    pub(super) prepared: Vec<PreparedContact>,
    pub(super) rows: Vec<Row>,
    normal_forces: Vec<f64>,
    /// Of every link on a joint its centre of mass (m) and what it reaches from there (m): its origin may be where it does not move.
    extents: Vec<(Vector3<f64>, f64)>,
    /// The rebounds at the beginning of the last step.
    impacts: Impacts,
    pub(super) problem: Problem,
    solver: Solver,
    /// The closed-form solver, where that makes the steps.
    pub(super) comfree: Option<Box<ComFreeSolver>>,
    externals: Vec<Implicit>,
    pub(super) trapezoid: Trapezoid,
    /// Mean accelerations of the last step, and its length (s).
    pub(super) acceleration: Vec<f64>,
    pub(super) dt: f64,
    corners: Corners,
    /// Whether it is prepared at the end of steps, to correct them.
    pub(super) at_end: bool,
}

impl Stepper {
    /// Room for a system.
    pub fn new(system: &System) -> Self {
        let n = system.model.velocities();
        Self {
            kinematics: Kinematics::new(&system.model),
            mass: MassMatrix::default(),
            inverse: InverseDynamics::default(),
            bias: vec![0.0; n],
            free: Free::new(system),
            loads: Vec::new(),
            weight: vec![0.0; n],
            touches: Vec::new(),
            prepared: Vec::new(),
            rows: Vec::new(),
            normal_forces: Vec::new(),
            extents: extents(&system.model),
            impacts: Impacts::default(),
            problem: Problem::default(),
            solver: Solver::new(),
            comfree: matches!(system.solver, RigidSolver::ComFree(_)).then(Box::default),
            externals: Implicit::all(&system.externals, &system.model),
            trapezoid: Trapezoid::default(),
            acceleration: vec![0.0; n],
            dt: 0.0,
            corners: Corners::default(),
            at_end: false,
        }
    }

    /// Finds what depends on the state alone: kinematics, mass matrix, bias forces, contacts that a step of at most `reach` (s) can
    /// meet. Steps of any shorter length may follow from here.
    pub fn prepare(&mut self, system: &System, source: &mut dyn ContactSource, state: &State, reach: f64) {
        let model = &system.model;
        self.kinematics.update_at(model, state, Corner::Over(reach));
        let fastest = (0..model.links().len())
            .map(|l| {
                let (v, (center, radius)) = (self.kinematics.velocity(LinkId(l)), &self.extents[l]);
                let lever = self.kinematics.pose(LinkId(l)).rotation * center;
                v.shifted(&lever).linear.norm() + radius * v.angular.norm()
            })
            .fold(0.0, f64::max);
        let fall = model.gravity.norm() * reach;
        self.touches.clear();
        self.impacts.clear();
        source.contacts(model, &self.kinematics, REACH * (fastest + fall) * reach, &mut self.touches);
        self.prepare_forces(system, state);
    }

    /// Finds whether surfaces rebound at the beginning of a step of `dt` (s) from the prepared state, and takes its velocities to those after.
    /// Returns how far apart surfaces were that rebounded (m).
    pub(super) fn strike(&mut self, system: &System, state: &mut State, dt: f64) -> Option<f64> {
        let Self { impacts, mass, touches, prepared, problem, .. } = self;
        let (model, pool) = (&system.model, &problem.contacts);
        let scene = Scene { model, mass, touches, prepared, pool, dt };
        if !impacts.strike(&scene, &mut state.v) {
            return None;
        }
        self.kinematics.update_at(model, state, Corner::Over(dt));
        self.prepare_forces(system, state);
        Some(self.impacts.gap)
    }

    /// What [`prepare`](Self::prepare) finds from the kinematics and the contacts.
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
        self.weigh(system);
        assemble::contacts(system, &self.kinematics, &self.touches, &mut self.problem, &mut self.prepared);
        if let Some(comfree) = &mut self.comfree {
            assemble::spins(system, &self.kinematics, &self.touches, &mut comfree.spins);
        }
        self.rows.clear();
        for equality in &system.equalities {
            equality.rows(model, &self.kinematics, state, self.at_end, &mut self.rows);
        }
        let scale = &mut self.problem.scale;
        scale.clear();
        for tree in 0..model.trees().len() {
            let block = self.mass.block(tree);
            scale.extend((0..block.nrows()).map(|i| 1.0 / block[(i, i)].sqrt()));
        }
    }

    /// Takes the state round a corner of prescribed paths: their velocity jumps, and what hangs on them by joints keeps the momentum along
    /// the joints. Returns the work (J) of the paths: nothing else acts, so it is what the kinetic energy changes by.
    pub(super) fn turn_corner(&mut self, system: &System, state: &mut State) -> f64 {
        let model = &system.model;
        let Corners { drifts, momenta, matrix, change } = &mut self.corners;
        self.kinematics.update_at(model, state, Corner::Before);
        let before = mechanical_energy(model, &self.kinematics, state).kinetic;
        drifts.clear();
        drifts.extend((0..model.links().len()).map(|l| *self.kinematics.drift(LinkId(l))));
        self.kinematics.update_at(model, state, Corner::After);
        momenta.clear();
        momenta.extend(model.links().iter().zip(&*drifts).enumerate().map(|(l, (link, before))| {
            let jump = *self.kinematics.drift(LinkId(l)) - *before;
            link.inertia.rotated(self.kinematics.pose(LinkId(l))).momentum(&jump)
        }));
        for l in (0..momenta.len()).rev() {
            if let Some(LinkId(parent)) = model.links()[l].parent {
                let carried = momenta[l].shifted(&-self.kinematics.offset(l));
                momenta[parent] += carried;
            }
        }
        mass_matrix(model, &self.kinematics, &mut self.mass);
        for (t, tree) in model.trees().iter().enumerate() {
            change.clear();
            change.resize(tree.velocities, 0.0);
            for &link in &tree.links {
                for n in model.velocities_of(link) {
                    change[n - tree.first_velocity] = self.kinematics.axes()[n].dot(&momenta[link.0]);
                }
            }
            if change.iter().all(|x| *x == 0.0) {
                continue;
            }
            matrix.clear();
            matrix.extend(self.mass.block(t).iter());
            solve_symmetric(matrix, change);
            let rates = &mut state.v[tree.first_velocity..][..tree.velocities];
            rates.iter_mut().zip(&*change).for_each(|(v, change)| *v -= change);
        }
        self.kinematics.update_at(model, state, Corner::After);
        mechanical_energy(model, &self.kinematics, state).kinetic - before
    }

    /// What gravity asks of every degree of freedom, for compensation: inverse dynamics at rest.
    fn weigh(&mut self, system: &System) {
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
            crate::multibody::for_each_axis(model, &self.kinematics, LinkId(l), &origin, |n, axis| {
                self.weight[n] -= axis.dot(&force);
            });
        }
    }

    /// Solves for the velocities at the end of a step of `dt` (s) from the prepared `state`, starting at those in `v`. The external
    /// states `x` become those at the end.
    ///
    /// # Errors
    /// The solver does not converge, or an external system gives what is not a number.
    pub fn solve(
        &mut self,
        system: &System,
        state: &State,
        dt: f64,
        tolerance: f64,
        v: &mut [f64],
        x: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        assemble::equalities(system, &self.kinematics, &self.rows, &self.mass, dt, &mut self.problem);
        assemble::joints(system, state, &self.mass, dt, &mut self.problem);
        assemble::actuators(system, state, &self.weight, dt, &mut self.problem);
        self.linearise(system, state, dt, x)?;
        self.assemble(system, state, dt)?;
        if let Some(free) = &self.free {
            free.guess(&system.model, state, dt, &self.bias, v);
        }
        let summary = match &system.solver {
            RigidSolver::Icf => self.minimise(system, state.time, dt, tolerance, v)?,
            RigidSolver::ComFree(settings) => self.correct_contacts(system, settings, state.time, dt, v)?,
        };
        if let Some(free) = &mut self.free {
            let convex = matches!(system.solver, RigidSolver::Icf);
            free.finish(&system.model, state, dt, v, (&self.problem, &self.bias), convex);
        }
        self.finish(state, dt, v, x);
        Ok(summary)
    }

    /// Minimises the assembled problem, its contacts as prepared, from the velocities in `v` at the `time` (s).
    pub(super) fn minimise(
        &mut self,
        system: &System,
        time: f64,
        dt: f64,
        tolerance: f64,
        v: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        self.dt = dt;
        let settings = SolveSettings { tolerance, ..SolveSettings::default() };
        let pressed = self.pressed();
        let mut summary = StepSummary { contacts: self.touches.len(), pressed, ..StepSummary::default() };
        self.normal_forces.clear();
        self.normal_forces.extend(self.prepared.iter().map(|c| c.lagged_force));
        loop {
            assemble::contact_laws(&mut self.problem, &self.prepared, &self.normal_forces, dt);
            let solve = self.solver.solve(&system.model, &mut self.problem, &settings, v);
            summary.count(&solve);
            if !solve.stop.is_converged() {
                let (stop, residual) = (solve.stop, solve.residual);
                return Err(SimulationError::NotConverged { time, stop, residual });
            }
            if !system.refresh_friction || summary.refreshed == 1 || !self.refresh(dt) {
                return Ok(summary);
            }
            summary.refreshed += 1;
        }
    }

    /// The same in closed form.
    fn correct_contacts(
        &mut self,
        system: &System,
        settings: &ComFreeSettings,
        time: f64,
        dt: f64,
        v: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        self.dt = dt;
        let prepared = &self.prepared;
        let step = Step {
            model: &system.model,
            settings,
            touches: &self.touches,
            friction: &|c| prepared[c].friction,
            dt,
            dry_joint_tolerance: system.dry_joint_tolerance,
        };
        let doubts = match &mut self.comfree {
            Some(comfree) => comfree.solve(&step, &mut self.problem, v).then_some(comfree.doubts),
            None => None,
        };
        let Some(doubts) = doubts else {
            return Err(SimulationError::NotConverged { time, stop: Stop::NotFinite, residual: f64::NAN });
        };
        let doubtful = usize::from(doubts > 0);
        let (contacts, pressed) = (self.touches.len(), self.pressed());
        Ok(StepSummary { solves: 1, contacts, doubtful, pressed, ..StepSummary::default() })
    }

    /// See [`StepSummary::pressed`].
    fn pressed(&self) -> f64 {
        let depths = self.touches.iter().map(|touch| -touch.distance / touch.half_thickness);
        depths.fold(0.0, f64::max)
    }

    /// Factorises the Hessian of the problem that was solved last at the velocities `v`, for [`answer`](Self::answer). False where it is
    /// not finite.
    #[must_use]
    pub(super) fn linearise_at(&mut self, system: &System, v: &[f64]) -> bool {
        match &system.solver {
            RigidSolver::Icf => self.solver.linearise(&system.model, &mut self.problem, v),
            // Its factors are those of the step.
            RigidSolver::ComFree(_) => true,
        }
    }

    /// Impulses along the joints in `x` (N s, N m s) become what they add to the rates.
    pub(super) fn answer(&self, system: &System, x: &mut [f64]) {
        match (&system.solver, &self.comfree) {
            (RigidSolver::ComFree(settings), Some(comfree)) => comfree.answer(settings.form, x),
            _ => self.solver.answer(x),
        }
    }

    /// Keeps the accelerations of the step that ended with the velocities `v`, and writes the external systems' states at its end.
    pub(super) fn finish(&mut self, state: &State, dt: f64, v: &[f64], x: &mut [f64]) {
        let velocities = v.iter().zip(&state.v);
        self.acceleration.iter_mut().zip(velocities).for_each(|(a, (v, v0))| *a = (v - v0) / dt);
        for implicit in &self.externals {
            implicit.advance(state, v, x);
        }
    }

    /// Inertia and momentum of the problem, with what damps and springs the joints.
    fn assemble(&mut self, system: &System, state: &State, dt: f64) -> Result<(), SimulationError> {
        let model = &system.model;
        let problem = &mut self.problem;
        problem.inertia.copy_from(&self.mass);
        problem.momentum.resize(model.velocities(), 0.0);
        self.mass.multiply(model, &state.v, &mut problem.momentum);
        problem.momentum.iter_mut().zip(&self.bias).for_each(|(r, bias)| *r -= dt * bias);
        if let Some(free) = &mut self.free {
            free.note_loads(model, &self.loads);
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
                let law = ActuatorLaw { effort, gain, limit: external.effort_limit(n), dt };
                self.problem.actuators.push(law, n, tree, within);
            }
        }
        Ok(())
    }

    /// Takes the normal forces of the last solve as friction's bounds. False where they were right already.
    fn refresh(&mut self, dt: f64) -> bool {
        let (mut change, mut total) = (0.0, 0.0);
        let contacts = self.problem.contacts.impulses().iter().zip(&self.prepared);
        for ((impulse, contact), force) in contacts.zip(&mut self.normal_forces) {
            let fresh =
                contact.point.normal.dot(&nalgebra::Vector3::from(*impulse)) / dt / contact.weights[0];
            if contact.friction > 0.0 {
                change += (fresh - *force).abs();
                total += fresh;
            }
            *force = fresh;
        }
        change > STALE * total
    }

    /// The contacts of the last step and what they passed on.
    pub fn contact_forces(&self) -> impl Iterator<Item = ContactForce> + '_ {
        let pool = &self.problem.contacts;
        let solved = pool.impulses().iter().zip(pool.velocities());
        let contacts = self.touches.iter().zip(&self.prepared).zip(solved);
        let moment = |c: usize| match &self.comfree {
            Some(comfree) => comfree.moment(c) / self.dt,
            None => nalgebra::Vector3::zeros(),
        };
        let rebound = |c: usize| self.rebound(c) / self.dt;
        contacts.enumerate().map(move |(c, ((touch, contact), (impulse, velocity)))| ContactForce {
            touch: *touch,
            force: contact.unweighted(&(nalgebra::Vector3::from(*impulse) / self.dt)) + rebound(c),
            moment: moment(c),
            velocity: (*velocity).into(),
        })
    }

    /// The contacts that rebounded at the beginning of the last step, with that alone.
    pub(super) fn rebounds(&self) -> impl Iterator<Item = ContactForce> + '_ {
        let struck = self.touches.iter().zip(&self.impacts.impulses).zip(self.problem.contacts.velocities());
        struck.filter(|((_, impulse), _)| **impulse != nalgebra::Vector3::zeros()).map(
            |((touch, impulse), velocity)| ContactForce {
                touch: *touch,
                force: impulse / self.dt,
                moment: nalgebra::Vector3::zeros(),
                velocity: (*velocity).into(),
            },
        )
    }

    /// Impulse of the last step's contacts on what belongs to no tree (N s); `first` began it where this ended a trapezoid rule's.
    pub(super) fn on_ground(&self, system: &System, first: Option<&Stepper>) -> [f64; 3] {
        let solved = |c: usize| Vector3::from(self.problem.contacts.impulses()[c]);
        let mut sum = self.sum_on_ground(system, |c| solved(c) + self.rebound(c));
        if let Some(first) = first {
            let given = |c: usize| self.trapezoid.contact_forces[c] * self.dt;
            sum += first.sum_on_ground(system, |c| given(c) + first.rebound(c));
        }
        sum.into()
    }

    fn rebound(&self, contact: usize) -> Vector3<f64> {
        self.impacts.impulses.get(contact).copied().unwrap_or_else(Vector3::zeros)
    }

    /// Of impulses on the second bodies of the contacts.
    fn sum_on_ground(&self, system: &System, impulse: impl Fn(usize) -> Vector3<f64>) -> Vector3<f64> {
        let stands = |link: Option<LinkId>| link.is_none_or(|link| system.model.tree_of(link).is_none());
        let mut sum = Vector3::zeros();
        for (c, touch) in self.touches.iter().enumerate() {
            match (stands(touch.first), stands(touch.second)) {
                (true, false) => sum -= impulse(c),
                (false, true) => sum += impulse(c),
                _ => {}
            }
        }
        sum
    }

    /// Kinetic energy that rebounds took at the beginning of the last step (J), in the trees' own velocities.
    pub fn lost_in_impacts(&self) -> f64 {
        self.impacts.lost
    }

    /// Mean effort of each of the system's actuators over the last step (N m, N), in their order.
    pub fn actuator_efforts(&self, system: &System) -> impl Iterator<Item = f64> + '_ {
        let at_end = self.problem.actuators.impulses().iter().take(system.actuators.len());
        let at_start = &self.trapezoid.efforts;
        at_end.enumerate().map(|(i, impulse)| match at_start.get(i) {
            Some(start) => start + impulse / self.dt,
            None => impulse / self.dt,
        })
    }

    /// The kinematics at the last prepared state.
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }
}
