//! The simulation, and the choice of its steps: fixed, or chosen to keep the error within an
//! accuracy.

use serde::{Deserialize, Serialize};

use super::advance_summary::AdvanceSummary;
use super::contact::ContactSource;
use super::contact_sums::{BodyOrigin, ContactSums};
use super::divergence;
use super::energy::{EnergyMeter, PotentialOffset};
use super::error::SimulationError;
use super::integrator::Integrator;
use super::paths::{MovedLinks, PathChanges};
use super::stepper::Stepper;
use super::system::System;
use super::trial_step::TrialStep;
use crate::icf::Stop;
use crate::multibody::{LinkId, State};
use crate::watch::StepWatch;

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
    /// Links whose prescribed paths were changed, and the work of the last changes \[J\].
    pub moved: MovedLinks,
}

/// A system with its state, stepped in time.
#[derive(Clone, Debug)]
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
    /// Velocities at the end of the last step, before they jumped; empty if they did not.
    pub(super) before_jump: Vec<f64>,
    pub(super) meter: EnergyMeter,
    watch: StepWatch,
    pub(super) contact_sums: ContactSums,
    pub(super) paths: PathChanges,
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
        let activations = system.drives.iter().filter(|drive| drive.has_activation());
        rest.iter_mut().zip(activations).for_each(|(activation, drive)| *activation = drive.start);
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
        let meter = EnergyMeter::new(system.model.trees().len());
        let trial = TrialStep::new(&state, &external);
        let (stepped, before_jump) = (false, Vec::with_capacity(state.v.len()));
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
            before_jump,
            meter,
            watch: StepWatch::default(),
            contact_sums: ContactSums::default(),
            paths: PathChanges::default(),
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

    /// The external systems' states now, then the activations of the drives that have one.
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
            moved: self.paths.save(),
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
        self.paths.restore(&mut self.system.model, &snapshot.moved)?;
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

    /// Where contacts come from.
    pub(crate) fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Multiplies the mass and inertia of a link.
    ///
    /// # Errors
    /// The mass matrix would be singular; the link is as before then.
    pub(crate) fn scale_inertia(&mut self, link: LinkId, factor: f64) -> Result<(), SimulationError> {
        self.system.model.scale_inertia(link, factor)?;
        // Reactions are those of the last step's masses.
        self.stepped = false;
        Ok(())
    }

    /// Has the next advance count this work on the bodies, with that of the prescribed links \[J\].
    pub(crate) fn count_work(&mut self, work: f64) {
        self.paths.add_work(work);
    }

    /// The watch of its steps: it counts them, and stops an advance between them.
    pub fn watch(&self) -> &StepWatch {
        &self.watch
    }

    /// Has another watch count the steps.
    pub fn set_watch(&mut self, watch: StepWatch) {
        self.watch = watch;
    }

    /// Measures the impulses of contact on bodies with these `origins` from now on;
    /// `body_of_geometry` is the number of the body of each geometry of the source.
    pub fn measure_contacts(&mut self, origins: Vec<BodyOrigin>, body_of_geometry: Vec<u32>) {
        self.contact_sums = ContactSums::new(origins, body_of_geometry);
    }

    /// Advances to `time` \[s\] with the chosen integrator.
    ///
    /// # Errors
    /// [`SimulationError`]; the state is then the last valid one. [`SimulationError::Stopped`] if
    /// the [`watch`](Self::watch) asked for it; the state is then between start and `time`.
    pub fn advance_to(&mut self, time: f64) -> Result<AdvanceSummary, SimulationError> {
        let mut summary = AdvanceSummary { shortest: f64::INFINITY, ..AdvanceSummary::default() };
        summary.energy.prescribed += self.paths.take_work();
        // A step that would leave a remainder of rounding size covers it.
        let slack = 1e-12 * time.abs().max(1.0);
        let start = self.state.time;
        self.contact_sums.begin_advance();
        while time - self.state.time > slack {
            self.check_watch()?;
            // Steps end at the corners of prescribed paths, where velocities jump, and where
            // external systems do.
            let corner = self.next_event().filter(|corner| *corner <= time + slack);
            let target = corner.unwrap_or(time);
            let left = target - self.state.time;
            self.stepped = false;
            self.before_jump.clear();
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
                    self.before_jump.extend_from_slice(&self.state.v);
                    summary.energy.prescribed +=
                        self.stepper.apply_velocity_jumps(&self.system, &mut self.state);
                }
            }
            self.watch.count_rigid_step((self.state.time - start) / (time - start));
        }
        Ok(summary)
    }

    /// Ends the advance if its watch asks for it.
    fn check_watch(&self) -> Result<(), SimulationError> {
        if self.watch.is_stopped() { Err(SimulationError::Stopped { time: self.state.time }) } else { Ok(()) }
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
        self.contact_sums.begin();
        self.contact_sums.measure(None, &self.stepper);
        self.stepper.place(&self.system, begin, dt, end);
        divergence::check(&self.system.model, end, dt)?;
        self.meter.keep(&mut energy);
        self.contact_sums.keep();
        summary.energy.add(&energy);
        summary.add_environment_impulse(&self.stepper.environment_impulse(&self.system, None));
        core::mem::swap(&mut self.state, end);
        core::mem::swap(&mut self.external, external);
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
            self.check_watch()?;
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
}
