//! The simulation, and the choice of its steps: fixed, or chosen to keep the error within an
//! accuracy.

use serde::{Deserialize, Serialize};

use super::contact::ContactSource;
use super::divergence;
use super::energy::{EnergyFlows, EnergyMeter, PotentialOffset};
use super::error::SimulationError;
use super::integrator::Integrator;
use super::reactions::Reactions;
use super::stepper::Stepper;
use super::summary::StepSummary;
use super::system::System;
use crate::icf::Stop;
use crate::multibody::{LinkId, Model, State};

/// Report of [`Simulation::advance_to`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AdvanceSummary {
    /// Steps taken.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Shortest and longest step taken \[s\].
    pub shortest: f64,
    /// Longest step taken \[s\].
    pub longest: f64,
    /// Report of the solver.
    pub solver: StepSummary,
    /// Work and losses.
    pub energy: EnergyFlows,
    /// Impulse of contact on links outside trees: static and prescribed ones \[N s\].
    pub environment_impulse: [f64; 3],
}

impl AdvanceSummary {
    /// Adds a later one.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.rejected += other.rejected;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.solver.add(&other.solver);
        self.energy.add(&other.energy);
        self.add_environment_impulse(&other.environment_impulse);
    }

    fn add_environment_impulse(&mut self, impulse: &[f64; 3]) {
        self.environment_impulse.iter_mut().zip(impulse).for_each(|(sum, impulse)| *sum += impulse);
    }
}

/// Smallest step \[s\].
const SMALLEST: f64 = 1e-10;
/// First step, as a fraction of the longest allowed.
const FIRST: f64 = 0.1;
/// Safety factor of the step against the accuracy; bounds of its change; smallest growth that is
/// applied.
const SAFETY: f64 = 0.9;
const SHRINK: f64 = 0.1;
const GROW: f64 = 5.0;
const DEAD_BAND: f64 = 1.2;
/// Tolerance of the convex solver against the accuracy, and its least.
const SOLVER: f64 = 1e-3;
const TIGHTEST: f64 = 1e-8;
/// The least of the trapezoid rule at fixed steps, whose corrections are smaller.
const TIGHTEST_CORRECTION: f64 = 1e-11;

/// The complete state of a simulation: restored from it, it continues with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The mechanism's state.
    pub state: State,
    /// The external systems' states.
    pub external: Vec<f64>,
    /// Next step of error control \[s\].
    pub next_step: f64,
    /// Lead of the potentials of each tree over its velocities, for the energy balance.
    pub potential_offsets: Vec<PotentialOffset>,
}

/// A system with its state, stepped in time.
#[derive(Debug)]
pub struct Simulation<S> {
    pub(super) system: System,
    pub(super) source: S,
    pub(super) integrator: Integrator,
    pub(super) state: State,
    pub(super) external: Vec<f64>,
    pub(super) stepper: Stepper,
    /// Prepared at the end of the first-order step: the trapezoid rule's.
    pub(super) corrector: Option<Stepper>,
    /// Next step of error control \[s\].
    next_step: f64,
    pub(super) trial: TrialStep,
    /// Whether the steppers hold the step that led to the state.
    pub(super) stepped: bool,
    pub(super) reactions: Reactions,
    meter: EnergyMeter,
}

/// States at the end of the whole step, of its first half, and of its second half, which is kept;
/// external states of the halves advance together. The trapezoid rule stores the corrected end in
/// the last, and the predicted end in the middle.
#[derive(Debug)]
pub(super) struct TrialStep {
    /// The beginning, after impacts with restitution.
    pub(super) begin: State,
    full: (State, Vec<f64>),
    pub(super) middle: State,
    halves: (State, Vec<f64>),
    /// Work and losses of the kept solution, and its impulse on links outside trees \[N s\].
    energy: EnergyFlows,
    environment_impulse: [f64; 3],
}

impl<S: ContactSource> Simulation<S> {
    /// Begins at a state.
    ///
    /// # Errors
    /// A value of the system or the integrator is out of range, or the state does not fit the
    /// model.
    pub fn new(
        system: System,
        source: S,
        integrator: Integrator,
        state: State,
    ) -> Result<Self, SimulationError> {
        system.validate()?;
        integrator.validate()?;
        integrator.check_solver(&system.solver)?;
        state.validate(&system.model)?;
        let mut external = vec![0.0; system.external_states()];
        let mut rest = &mut external[..];
        for e in &system.externals {
            let (own, after) = rest.split_at_mut(e.states());
            e.start(own);
            rest = after;
        }
        let mut stepper = Stepper::new(&system);
        if let Some(free) = &mut stepper.free {
            free.moves_by_mean_velocity = matches!(integrator, Integrator::Fixed { .. });
        }
        let next_step = match integrator {
            Integrator::Fixed { step } | Integrator::Trapezoid { step, accuracy: None } => step,
            Integrator::ErrorControlled { max_step: longest, .. }
            | Integrator::Trapezoid { step: longest, .. } => FIRST * longest,
        };
        let corrector = matches!(integrator, Integrator::Trapezoid { .. }).then(|| {
            let mut corrector = Stepper::new(&system);
            corrector.at_end = true;
            corrector
        });
        let end = (state.clone(), external.clone());
        let (begin, middle) = (end.0.clone(), end.0.clone());
        let (energy, meter) = (EnergyFlows::default(), EnergyMeter::new(system.model.trees().len()));
        let trial = TrialStep {
            begin,
            full: end.clone(),
            middle,
            halves: end,
            energy,
            environment_impulse: [0.0; 3],
        };
        let (stepped, reactions) = (false, Reactions::default());
        Ok(Self {
            system,
            source,
            integrator,
            state,
            external,
            stepper,
            corrector,
            next_step,
            trial,
            stepped,
            reactions,
            meter,
        })
    }

    /// The state now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The present positions, to move free bodies.
    pub(crate) fn positions_mut(&mut self) -> &mut [f64] {
        &mut self.state.q
    }

    /// The source of its contacts.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The external systems' states now.
    pub fn external_state(&self) -> &[f64] {
        &self.external
    }

    /// The complete state, to continue from.
    pub fn save(&self) -> Snapshot {
        let (state, external) = (self.state.clone(), self.external.clone());
        Snapshot {
            state,
            external,
            next_step: self.next_step,
            potential_offsets: self.meter.potential_offsets.clone(),
        }
    }

    /// Continues from a snapshot of a simulation of the same system.
    ///
    /// # Errors
    /// The snapshot does not fit the system. The simulation is then unchanged.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SimulationError> {
        snapshot.state.validate(&self.system.model)?;
        let (found, expected) = (snapshot.external.len(), self.external.len());
        if found != expected || snapshot.external.iter().any(|x| !x.is_finite()) {
            let count = found as f64;
            return Err(SimulationError::value(
                "snapshot",
                "external states",
                count,
                "",
                "finite and those of the system",
            ));
        }
        if !(snapshot.next_step.is_finite() && snapshot.next_step > 0.0) {
            let step = snapshot.next_step;
            return Err(SimulationError::value("snapshot", "next step", step, "s", "finite and positive"));
        }
        let (found, trees) = (snapshot.potential_offsets.len(), self.meter.potential_offsets.len());
        if found != trees {
            let count = found as f64;
            return Err(SimulationError::value("snapshot", "leads", count, "", "one of each tree"));
        }
        self.meter.potential_offsets.clone_from(&snapshot.potential_offsets);
        self.state.clone_from(&snapshot.state);
        self.external.clone_from(&snapshot.external);
        self.next_step = snapshot.next_step;
        self.stepped = false;
        Ok(())
    }

    /// The system.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The system, to change targets and applied forces between advances; it must stay valid and of
    /// the same model.
    pub fn system_mut(&mut self) -> &mut System {
        &mut self.system
    }

    /// Advances to `time` \[s\] with the chosen integrator.
    ///
    /// # Errors
    /// [`SimulationError`]; the state is then the last valid one.
    pub fn advance_to(&mut self, time: f64) -> Result<AdvanceSummary, SimulationError> {
        let mut summary = AdvanceSummary { shortest: f64::INFINITY, ..AdvanceSummary::default() };
        // A step that would leave a remainder of rounding size covers it.
        let slack = 1e-12 * time.abs().max(1.0);
        while time - self.state.time > slack {
            // Steps end at the corners of prescribed paths, where velocities jump, and where
            // external systems do.
            let corner = self.next_event().filter(|corner| *corner <= time + slack);
            let target = corner.unwrap_or(time);
            let left = target - self.state.time;
            self.stepped = false;
            let taken = match self.integrator {
                Integrator::Fixed { step } | Integrator::Trapezoid { step, accuracy: None } => {
                    let dt = if step >= left * (1.0 - 1e-9) { left } else { step };
                    self.fixed_step(dt, &mut summary)?;
                    dt
                }
                Integrator::ErrorControlled { accuracy, max_step }
                | Integrator::Trapezoid { step: max_step, accuracy: Some(accuracy) } => {
                    self.controlled_step(accuracy, max_step, left, &mut summary)?
                }
            };
            self.stepped = true;
            summary.steps += 1;
            summary.shortest = summary.shortest.min(taken);
            summary.longest = summary.longest.max(taken);
            if taken == left {
                self.state.time = target;
                if corner.is_some() {
                    summary.energy.prescribed +=
                        self.stepper.apply_velocity_jumps(&self.system, &mut self.state);
                }
            }
        }
        Ok(summary)
    }

    /// Time \[s\] of the next corner of a path, jump of an external system or release of a
    /// constraint.
    fn next_event(&self) -> Option<f64> {
        let now = self.state.time;
        let externals = self.system.externals.iter().filter_map(|external| external.next_event(now));
        let releases = self.system.equalities.iter().filter_map(|equality| equality.release_after(now));
        externals.chain(releases).chain(self.system.model.next_corner(now)).min_by(f64::total_cmp)
    }

    fn fixed_step(&mut self, dt: f64, summary: &mut AdvanceSummary) -> Result<(), SimulationError> {
        if self.corrector.is_some() {
            let difference = self.try_trapezoid(dt, TIGHTEST_CORRECTION, summary)?;
            if !difference.is_finite() {
                let (time, stop) = (self.state.time, Stop::NotFinite);
                return Err(SimulationError::NotConverged { time, stop, residual: difference });
            }
            return self.keep_trial(dt, summary);
        }
        self.stepper.prepare(&self.system, &mut self.source, &self.state, dt);
        let TrialStep { begin, full: (end, external), .. } = &mut self.trial;
        begin.copy_from(&self.state);
        let _ = self.stepper.apply_impacts(&self.system, begin, dt);
        end.v.copy_from_slice(&begin.v);
        external.copy_from_slice(&self.external);
        let step = self.stepper.solve(&self.system, begin, dt, TIGHTEST, &mut end.v, external)?;
        summary.solver.add(&step);
        self.meter.begin();
        let mut energy = self.meter.measure(&self.system, None, &self.stepper, begin, &end.v);
        self.stepper.place(&self.system, begin, dt, end);
        divergence::check(&self.system.model, end, dt)?;
        self.meter.keep(&mut energy);
        summary.energy.add(&energy);
        summary.add_environment_impulse(&self.stepper.environment_impulse(&self.system, None));
        core::mem::swap(&mut self.state, end);
        core::mem::swap(&mut self.external, external);
        Ok(())
    }

    /// Continues from the end of the trial step of `dt` \[s\].
    fn keep_trial(&mut self, dt: f64, summary: &mut AdvanceSummary) -> Result<(), SimulationError> {
        divergence::check(&self.system.model, &self.trial.halves.0, dt)?;
        core::mem::swap(&mut self.state, &mut self.trial.halves.0);
        core::mem::swap(&mut self.external, &mut self.trial.halves.1);
        self.meter.keep(&mut self.trial.energy);
        summary.energy.add(&self.trial.energy);
        summary.add_environment_impulse(&self.trial.environment_impulse);
        Ok(())
    }

    /// One accepted step; returns its length \[s\].
    fn controlled_step(
        &mut self,
        accuracy: f64,
        max_step: f64,
        left: f64,
        summary: &mut AdvanceSummary,
    ) -> Result<f64, SimulationError> {
        let tolerance = (SOLVER * accuracy).max(TIGHTEST);
        loop {
            let wanted = self.next_step.min(max_step);
            let dt = if wanted >= left { left } else { wanted };
            let error = if self.corrector.is_some() {
                self.try_trapezoid(dt, tolerance, summary)?
            } else {
                self.try_step(dt, tolerance, summary)?
            };
            let ideal = if error > 0.0 { SAFETY * dt * (accuracy / error).sqrt() } else { f64::INFINITY };
            if error <= accuracy {
                // A step cut short by the end of the advance does not shorten the planned step.
                let next = ideal.clamp(SHRINK * dt, GROW * dt).min(max_step);
                let planned = if dt < wanted { wanted } else { dt };
                self.next_step = if next > planned && next < DEAD_BAND * planned { planned } else { next };
                if dt < wanted {
                    self.next_step = self.next_step.max(planned.min(max_step));
                }
                self.keep_trial(dt, summary)?;
                return Ok(dt);
            }
            summary.rejected += 1;
            self.next_step =
                if error.is_finite() { ideal.clamp(SHRINK * dt, SAFETY * dt) } else { SHRINK * dt };
            if self.next_step < SMALLEST {
                let time = self.state.time;
                return Err(SimulationError::StepTooSmall { time, accuracy, smallest: SMALLEST });
            }
        }
    }

    /// Takes a step whole and in halves; returns the largest difference of a position or external
    /// state. A value that is not finite counts as an infinite error.
    fn try_step(
        &mut self,
        dt: f64,
        tolerance: f64,
        summary: &mut AdvanceSummary,
    ) -> Result<f64, SimulationError> {
        let Self { system, source, state, external, stepper, trial, meter, .. } = self;
        let TrialStep {
            begin,
            full: (full, full_x),
            middle,
            halves: (halves, halves_x),
            energy,
            environment_impulse,
        } = trial;
        stepper.prepare(system, source, state, dt);
        begin.copy_from(state);
        let mut gap = stepper.apply_impacts(system, begin, dt);
        full.v.copy_from_slice(&begin.v);
        full_x.copy_from_slice(external);
        summary.solver.add(&stepper.solve(system, begin, dt, tolerance, &mut full.v, full_x)?);
        stepper.place(system, begin, dt, full);

        let half = 0.5 * dt;
        if gap.is_some() {
            begin.copy_from(state);
            stepper.prepare(system, source, state, half);
            gap = farther(gap, stepper.apply_impacts(system, begin, half));
        }
        let start = begin.v.iter().zip(&full.v);
        middle.v.iter_mut().zip(start).for_each(|(m, (a, b))| *m = 0.5 * (a + b));
        halves_x.copy_from_slice(external);
        summary.solver.add(&stepper.solve(system, begin, half, tolerance, &mut middle.v, halves_x)?);
        meter.begin();
        *energy = meter.measure(system, None, stepper, begin, &middle.v);
        *environment_impulse = stepper.environment_impulse(system, None);
        stepper.place(system, begin, half, middle);

        if !middle.q.iter().chain(&middle.v).all(|x| x.is_finite()) {
            return Ok(f64::INFINITY);
        }
        stepper.prepare(system, source, middle, half);
        let again = stepper.apply_impacts(system, middle, half);
        halves.v.copy_from_slice(if again.is_some() { &middle.v } else { &full.v });
        summary.solver.add(&stepper.solve(system, middle, half, tolerance, &mut halves.v, halves_x)?);
        energy.add(&meter.measure(system, None, stepper, middle, &halves.v));
        environment_impulse
            .iter_mut()
            .zip(stepper.environment_impulse(system, None))
            .for_each(|(sum, impulse)| *sum += impulse);
        stepper.place(system, middle, half, halves);

        // Surfaces that rebound across a gap have this error.
        Ok(farther(gap, again).unwrap_or(0.0).max(trial.difference(&system.model)))
    }

    /// Takes a first-order step and corrects it; returns the largest difference of a position,
    /// infinite where something is not finite.
    fn try_trapezoid(
        &mut self,
        dt: f64,
        tolerance: f64,
        summary: &mut AdvanceSummary,
    ) -> Result<f64, SimulationError> {
        let Self {
            system, source, state, external, stepper, corrector: Some(corrector), trial, meter, ..
        } = self
        else {
            return Ok(f64::INFINITY);
        };
        let TrialStep {
            begin,
            full: (full, full_x),
            middle: predicted,
            halves: (end, end_x),
            energy,
            environment_impulse,
        } = trial;
        stepper.prepare(system, source, state, dt);
        begin.copy_from(state);
        let gap = stepper.apply_impacts(system, begin, dt);
        let state = &*begin;
        full.v.copy_from_slice(&state.v);
        full_x.copy_from_slice(external);
        summary.solver.add(&stepper.solve(system, state, dt, tolerance, &mut full.v, full_x)?);
        stepper.place(system, state, dt, full);
        end.v.copy_from_slice(&full.v);
        end.q.copy_from_slice(&full.q);
        end.time = state.time + dt;
        // The first-order step's velocity is tangent to the holonomic constraints where the step
        // begins, not where it ends: with a first-order error. The first correction removes that
        // error, a second one uses the corrected velocity.
        let corrections = if system.equalities.is_empty() { 1 } else { 2 };
        for _ in 0..corrections {
            if !end.q.iter().chain(&end.v).all(|x| x.is_finite()) {
                return Ok(f64::INFINITY);
            }
            predicted.q.copy_from_slice(&end.q);
            predicted.v.copy_from_slice(&end.v);
            predicted.time = end.time;
            corrector.prepare(system, source, predicted, dt);
            end_x.copy_from_slice(external);
            let ends = (state, &*predicted);
            let step = corrector.correct(stepper, system, ends, dt, tolerance, &mut end.v, end_x)?;
            summary.solver.add(&step);
            corrector.place_corrected(system, state, dt, end);
        }
        *energy = meter.measure(system, Some(stepper), corrector, state, &end.v);
        *environment_impulse = corrector.environment_impulse(system, Some(stepper));
        Ok(gap.unwrap_or(0.0).max(trial.difference(&system.model)))
    }
}

fn farther(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

/// The larger of an error and another, which counts as infinite where it is not finite.
fn max_or_infinite(error: f64, other: f64) -> f64 {
    if other.is_finite() { error.max(other) } else { f64::INFINITY }
}

impl TrialStep {
    /// Largest difference of a position or external state between the whole step and what is kept,
    /// infinite where it is not finite: the published norm (CENIC, section V-E), except that a
    /// point and an orientation are compared by the Euclidean norm of their difference. With the
    /// norm of components the steps would depend on the directions of the world's axes.
    fn difference(&self, model: &Model) -> f64 {
        let (full, kept) = (&self.full, &self.halves);
        let mut error = 0.0_f64;
        for (k, link) in model.links().iter().enumerate() {
            let mut at = model.positions_of(LinkId(k)).start;
            for &size in link.joint.places() {
                let part = at..at + size;
                at = part.end;
                let squares =
                    full.0.q[part.clone()].iter().zip(&kept.0.q[part]).map(|(a, b)| (a - b) * (a - b));
                error = max_or_infinite(error, squares.sum::<f64>().sqrt());
            }
        }
        full.1.iter().zip(&kept.1).map(|(a, b)| (a - b).abs()).fold(error, max_or_infinite)
    }
}
