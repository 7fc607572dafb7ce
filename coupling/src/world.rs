//! The world and its one stepping loop.

use core::fmt;

use nalgebra::Vector3;
use pliant_mpm::cloth::SheetParticles;
use pliant_mpm::{Mpm, Totals};
use pliant_rigid::{Bodies, BodyId, RigidError, SpatialImpulse, StepWatch};

use crate::auto_or::AutoOr;
use crate::body_impulses::BodyImpulses;
use crate::contact_stage::ContactStage;
use crate::error::{BranchError, StepError, TooManySubsteps, of_bodies};
use crate::grid_frame::{frame_velocity, largest_given};
use crate::host::HostBackend;
use crate::momentum_balance::{BalanceTracker, dynamic_body_energy};
use crate::motion::BodyMotion;
use crate::particles::{ParticleBackend, SubstepRun, Sums};
use crate::report::{ContactStatistics, StepReport};
use crate::sensor::{TactilePad, TactileReading};
use crate::settings::{Coupling, CouplingStep, MOST_SUBSTEPS, Settings};
use crate::steady_substep::SteadySubstep;
use crate::travel::NearbyParticles;

/// The shortest coupling step is a step divided by this.
const MIN_COUPLING_STEP_DIVISOR: u32 = 256;

/// Largest displacement of a particle in a substep \[cells\]: beyond one cell the transfers lose
/// it.
const MAX_FLIGHT: f64 = 0.6;

/// Particles, bodies and solver settings, stepped together.
///
/// [`World::step`] advances everything by `dt`; nothing else moves. Runs are repeatable to the bit,
/// for any number of threads (of the current `rayon` pool).
pub struct World {
    pub(crate) settings: Settings,
    /// The particles on the host; with a backend those of the last refresh.
    pub(crate) mpm: Mpm,
    pub(crate) bodies: Bodies,
    pub(crate) motion: BodyMotion,
    pub(crate) contact: ContactStage,
    pub(crate) backend: Box<dyn ParticleBackend>,
    pub(crate) impulses: BodyImpulses,
    pub(crate) balance_tracker: BalanceTracker,
    pub(crate) step: u64,
    pub(crate) time: f64,
    boundary_impulse: SpatialImpulse,
    /// Of automatic substeps.
    pub(crate) steady_substep: SteadySubstep,
    /// The body with which the grid moves.
    frame_body: Option<BodyId>,
    pub(crate) scratch: Vec<Totals>,
    watch: StepWatch,
    /// What broke the world, in words: it must not go on from there.
    pub(crate) failure: Option<String>,
}

/// Sizes and times, not every particle.
impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("time", &self.time)
            .field("step", &self.step)
            .field("particles", &self.mpm.len())
            .field("materials", &self.mpm.materials().len())
            .field("bodies", &self.bodies.iter().map(|(_, body)| &body.name).collect::<Vec<_>>())
            .field("contacts", &self.contact.contact_detector.pairs.len())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl World {
    pub(crate) fn assemble(
        settings: Settings,
        mpm: Mpm,
        mut bodies: Bodies,
        strong: Vec<bool>,
        pads: Vec<TactilePad>,
    ) -> Self {
        let mut scratch = Vec::new();
        let totals = mpm.totals(&mut scratch);
        let watch = StepWatch::default();
        bodies.simulation_mut().set_watch(watch.clone());
        Self {
            contact: ContactStage::new(&bodies, &mpm, &settings, pads),
            motion: BodyMotion::new(strong, settings.coupling == Coupling::Auto),
            balance_tracker: BalanceTracker::begin(&totals, settings.gravity, dynamic_body_energy(&bodies)),
            impulses: BodyImpulses::new(&bodies),
            boundary_impulse: SpatialImpulse::zero(),
            steady_substep: SteadySubstep::default(),
            frame_body: largest_given(&bodies),
            backend: Box::new(HostBackend),
            settings,
            mpm,
            bodies,
            step: 0,
            time: 0.0,
            scratch,
            watch,
            failure: None,
        }
    }

    /// A world that continues from the same state with the same bits, and shares nothing with this
    /// one that changes. It has a [`watch`](Self::watch) of its own. All memory is copied, buffers
    /// included; nothing is computed.
    ///
    /// # Errors
    /// [`BranchError`] of a world that failed, and of one whose particles are on a device.
    pub fn branch(&self) -> Result<Self, BranchError> {
        if let Some(cause) = &self.failure {
            return Err(BranchError::Failed { cause: cause.clone() });
        }
        let backend = self.backend.branch().map_err(|backend| BranchError::Backend { backend })?;
        let mut branch = Self {
            settings: self.settings.clone(),
            mpm: self.mpm.clone(),
            bodies: self.bodies.clone(),
            motion: self.motion.clone(),
            contact: self.contact.clone(),
            backend,
            impulses: self.impulses.clone(),
            balance_tracker: self.balance_tracker,
            step: self.step,
            time: self.time,
            boundary_impulse: self.boundary_impulse,
            steady_substep: self.steady_substep,
            frame_body: self.frame_body,
            scratch: Vec::new(),
            watch: StepWatch::default(),
            failure: None,
        };
        // The bodies' copy still counts for this world's watch.
        branch.set_watch(StepWatch::default());
        Ok(branch)
    }

    /// What broke this world, in words; none while it can be stepped.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The watch of its steps. A clone of it, in another thread, tells how far a step is and can
    /// stop it between substeps and between the steps of the bodies within it.
    pub fn watch(&self) -> &StepWatch {
        &self.watch
    }

    /// Has another watch count the steps.
    pub fn set_watch(&mut self, watch: StepWatch) {
        self.bodies.simulation_mut().set_watch(watch.clone());
        self.watch = watch;
    }

    /// Advances the world by one step.
    ///
    /// # Errors
    /// [`StepError`]; the world can still be read then, but every later step is refused with
    /// [`StepError::Failed`]. The same holds after [`StepError::Stopped`], which the
    /// [`watch`](Self::watch) asks for, unless it asked before the step: then nothing has changed.
    /// To continue, restore a state that was saved between steps.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        if let Some(cause) = &self.failure {
            return Err(StepError::Failed { step: self.step, cause: cause.clone() });
        }
        // Inside the pool, so that parallel loops start without a transfer to it.
        let taken = rayon::scope(|_| self.step_in_pool());
        if let Err(error) = &taken
            && !self.is_untouched_by(error)
        {
            self.failure = Some(error.to_string());
        }
        taken
    }

    /// Whether a step ended with an error before it changed anything: a stop at its beginning.
    fn is_untouched_by(&self, error: &StepError) -> bool {
        let progress = self.watch().progress();
        let nothing_done = progress.substeps == 0 && progress.rigid_share == 0.0;
        nothing_done && matches!(error, StepError::Stopped { time, .. } if *time == self.time)
    }

    fn step_in_pool(&mut self) -> Result<StepReport, StepError> {
        self.begin_step();
        self.watch.begin_step(self.step);
        let start = self.time;
        let mut report = StepReport::default();
        let mut done = 0;
        while done < MIN_COUPLING_STEP_DIVISOR {
            let part = self.begin_coupling_step(done, &mut report).map_err(|e| self.rigid_error(e))?;
            self.advance_coupling_step(done, part, &mut report)?;
            done += part;
            self.time = start + self.coupling_step_length(done);
        }
        self.step += 1;
        self.time = self.step as f64 * self.settings.dt;
        report.grid_nodes = self.backend.grid_nodes(&self.mpm);
        report.finish();
        Ok(report)
    }

    /// Length of this number of units, [`MIN_COUPLING_STEP_DIVISOR`] to a step \[s\].
    fn coupling_step_length(&self, units: u32) -> f64 {
        self.settings.dt * (f64::from(units) / f64::from(MIN_COUPLING_STEP_DIVISOR))
    }

    fn begin_step(&mut self) {
        self.impulses.begin_step();
        self.boundary_impulse = SpatialImpulse::zero();
        self.contact.sensors.begin();
    }

    /// Begins the longest coupling step that the scheme resolves after `done` units of the step,
    /// found by halving; returns its units.
    fn begin_coupling_step(&mut self, done: u32, report: &mut StepReport) -> Result<u32, RigidError> {
        let mut units = if done == 0 { MIN_COUPLING_STEP_DIVISOR } else { 1 << done.trailing_zeros() };
        loop {
            let coupling_step = self.coupling_step_length(units);
            self.prepare(coupling_step)?;
            let excess =
                self.motion.coupling_step_ratio(&self.bodies, coupling_step, self.mpm.grid_spacing());
            let is_fixed = self.settings.coupling_step == CouplingStep::Fixed;
            if excess <= 1.0 || units == 1 || is_fixed {
                report.coupling_excess = report.coupling_excess.max(excess);
                return Ok(units);
            }
            units /= 2;
        }
    }

    /// Takes a coupling step that has begun after `done` units of the step: the substeps of the
    /// particles, then the bodies' step with their impulses.
    fn advance_coupling_step(
        &mut self,
        done: u32,
        units: u32,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let coupling_step = self.coupling_step_length(units);
        self.mpm.set_grid_velocity(self.frame_velocity());
        let (step, time) = (self.step, self.time);
        let substeps = self.begin_substeps(coupling_step).map_err(|source| StepError::TooManySubsteps {
            step,
            time,
            source,
        })?;
        if !self.mpm.is_empty() {
            let left = u64::from(MIN_COUPLING_STEP_DIVISOR - done) * u64::from(substeps) / u64::from(units);
            self.watch.expect_substeps(u64::from(report.substeps) + left);
        }
        let too_long = self.substep_excess(substeps, coupling_step);
        report.substep_excess = report.substep_excess.into_iter().chain(too_long).reduce(f64::max);
        let mut contacts = ContactStatistics::default();
        let excess = self.move_particles(substeps, coupling_step, &mut contacts)?;
        report.coupling_excess = report.coupling_excess.max(excess);
        let rigid =
            self.bodies.integrate(coupling_step, &self.impulses.current).map_err(|e| self.rigid_error(e))?;
        self.balance_tracker.bodies(&rigid.energy);
        self.impulses.add_contacts(&self.bodies);
        if !self.mpm.is_empty() {
            let lengths = [coupling_step, coupling_step / f64::from(substeps)];
            let between = self.motion.finish(&self.bodies, lengths, &self.impulses.current);
            self.balance_tracker.set_between(between);
        }
        let missed = self.motion.correct_free_positions(&mut self.bodies, coupling_step, &self.impulses);
        // A device does not tell along which ways it moved the reference points.
        if self.backend.is_host() {
            self.balance_tracker.missed_by_bodies(&missed);
        }
        report.add(substeps, &contacts, &rigid);
        self.impulses.finish_coupling_step(f64::from(MIN_COUPLING_STEP_DIVISOR) / f64::from(units));
        Ok(())
    }

    /// The substeps of a coupling step of `coupling_step` \[s\]. Returns the deviation of the bodies'
    /// motion from the one that they assumed.
    fn move_particles(
        &mut self,
        count: u32,
        coupling_step: f64,
        contacts: &mut ContactStatistics,
    ) -> Result<f64, StepError> {
        let sums = Sums {
            balance_tracker: &mut self.balance_tracker,
            boundary_impulse: &mut self.boundary_impulse,
            contacts,
        };
        self.backend.advance(&mut SubstepRun {
            settings: &self.settings,
            mpm: &mut self.mpm,
            bodies: &mut self.bodies,
            motion: &mut self.motion,
            contact: &mut self.contact,
            impulses: &mut self.impulses,
            sums,
            watch: &self.watch,
            step: self.step,
            time: self.time,
            coupling_step,
            count,
            substep: coupling_step / f64::from(count),
        })
    }

    /// Poses, velocities and responses of the bodies for a coupling step of `coupling_step` \[s\];
    /// sorts the particles.
    fn prepare(&mut self, coupling_step: f64) -> Result<(), RigidError> {
        self.bodies.prepare(coupling_step);
        self.impulses.begin_coupling_step(&self.bodies);
        if self.mpm.is_empty() {
            return Ok(());
        }
        self.backend.begin(&mut self.mpm);
        let (reach, common) =
            (self.contact.contact_detector.reach(&self.mpm), self.balance_tracker.mean_velocity());
        // The host does not know where a device's particles are.
        let near = self.backend.is_host().then(|| NearbyParticles::new(&self.mpm, reach, common));
        let expected = self.impulses.expected_of(coupling_step / self.settings.dt);
        self.motion.begin(&mut self.bodies, near, coupling_step, expected, &mut self.contact.problem.mobility)
    }

    fn rigid_error(&self, error: RigidError) -> StepError {
        of_bodies(self.step, self.time, error)
    }

    /// Number of MPM substeps that the next step takes where it is not split; at most
    /// [`MOST_SUBSTEPS`], beyond which a step is refused.
    pub fn substeps(&self) -> u32 {
        self.substeps_within(self.settings.dt).unwrap_or(MOST_SUBSTEPS)
    }

    /// Number of MPM substeps of a coupling step of `coupling_step` \[s\].
    pub(crate) fn substeps_within(&self, coupling_step: f64) -> Result<u32, TooManySubsteps> {
        match self.settings.substeps {
            AutoOr::Value(n) => Ok((f64::from(n) * (coupling_step / self.settings.dt)).ceil() as u32),
            AutoOr::Auto => {
                self.automatic_substeps(coupling_step, self.largest_stable_substep(coupling_step))
            }
        }
    }

    /// The same of a coupling step that begins; automatic ones become fewer late.
    fn begin_substeps(&mut self, coupling_step: f64) -> Result<u32, TooManySubsteps> {
        if self.settings.substeps != AutoOr::Auto || self.mpm.is_empty() {
            return self.substeps_within(coupling_step);
        }
        let stable = self.largest_stable_substep(coupling_step);
        self.steady_substep.begin(stable, coupling_step);
        self.automatic_substeps(coupling_step, stable)
    }

    /// Automatic substeps of a coupling step whose largest stable substep is `stable` \[s\].
    fn automatic_substeps(&self, coupling_step: f64, stable: f64) -> Result<u32, TooManySubsteps> {
        let largest = self.steady_substep.limit(stable);
        let needed = (coupling_step / largest).ceil().max(1.0);
        // Without particles none is taken.
        if needed <= f64::from(MOST_SUBSTEPS) || self.mpm.is_empty() {
            return Ok(needed.min(f64::from(MOST_SUBSTEPS)) as u32);
        }
        let at_rest = self.mpm.stable_substep_at_rest();
        Err(TooManySubsteps { coupling_step, largest, at_rest })
    }

    /// Ratio of a given substep to the largest that is stable.
    fn substep_excess(&self, substeps: u32, coupling_step: f64) -> Option<f64> {
        let is_given = self.settings.substeps != AutoOr::Auto && !self.mpm.is_empty();
        let stable = || self.largest_stable_substep(coupling_step);
        is_given.then(|| coupling_step / f64::from(substeps) / stable())
    }

    /// Largest stable substep at the present speeds of particles and those of the bodies' surfaces
    /// within `coupling_step` \[s\]: a tool accelerates the particles that it touches to its speed. (On a
    /// device, where it is not known where they are, every body may touch them.)
    /// Speeds are relative to the particles' common motion, which does not affect stability; it
    /// only must not carry them too far across the grid.
    fn largest_stable_substep(&self, coupling_step: f64) -> f64 {
        let common = self.balance_tracker.mean_velocity();
        let [particles, fastest] = self.backend.max_speeds(&self.mpm, [&common, &self.frame_velocity()]);
        let within = [self.time, self.time + coupling_step];
        let reach = self.contact.contact_detector.reach(&self.mpm);
        let nearby = NearbyParticles { mpm: &self.mpm, reach, common, spread: particles };
        let near = self.backend.is_host().then_some(nearby);
        let ids = self.bodies.iter().map(|(id, _)| id);
        let speed = ids.fold(particles.max(0.0), |most, id| {
            let speed = self.bodies.surface_speed(id, within, &common);
            let touches = |near: &NearbyParticles<'_>| near.may_touch(&self.bodies, id, speed, coupling_step);
            if speed > most && near.as_ref().is_none_or(touches) { speed } else { most }
        });
        self.mpm.largest_stable_substep(speed).min(MAX_FLIGHT * self.settings.grid_spacing / fastest)
    }

    /// Velocity of the grid in a coupling step that begins, world frame \[m/s\]; a device's grid is
    /// at rest.
    fn frame_velocity(&self) -> Vector3<f64> {
        if !self.backend.is_host() {
            return Vector3::zeros();
        }
        frame_velocity(&self.settings, &self.bodies, self.frame_body, self.balance_tracker.mean_velocity())
    }

    /// Time \[s\].
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps taken.
    pub fn step_count(&self) -> u64 {
        self.step
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Number of particles.
    pub fn particle_count(&self) -> usize {
        self.mpm.len()
    }

    /// The particles and their grid, on the host: with a backend those of the last
    /// [`World::refresh`].
    pub fn mpm(&self) -> &Mpm {
        &self.mpm
    }

    /// The particles of each rope, in the order of its vertices.
    pub fn ropes(&self) -> &[core::ops::Range<usize>] {
        self.mpm.rope_particles()
    }

    /// Number of faces of all cloth that have torn.
    pub fn torn_faces(&self) -> usize {
        (0..self.cloths().len()).map(|cloth| self.mpm.torn_faces(cloth)).sum()
    }

    /// The sheets of cloth: which particles are theirs, and their faces; one that has torn has one vertex
    /// three times.
    pub fn cloths(&self) -> &[SheetParticles] {
        self.mpm.sheet_particles()
    }

    /// The bodies.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// The bodies, to change the inputs of motors between steps.
    pub fn bodies_mut(&mut self) -> &mut Bodies {
        &mut self.bodies
    }

    /// The bodies that are coupled strongly.
    pub fn strongly_coupled(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.motion.strong().iter().enumerate().filter(|(_, strong)| **strong).map(|(b, _)| BodyId(b))
    }

    /// Impulses of the particles on the bodies over the last step, world frame, each about a
    /// reference point that is at the body's origin at the start of a coupling step and moves with
    /// the velocity of that time. So torques are about the moving body, and the same in every
    /// inertial frame.
    pub fn body_impulses(&self) -> &[SpatialImpulse] {
        &self.impulses.step
    }

    /// Impulses of contact between bodies on each body over the last step, static ones included,
    /// world frame, each about its body's moving origin. They are those of all steps of the rigid
    /// bodies that were kept; forces of joints and constraints are not among them.
    pub fn contact_impulses(&self) -> &[SpatialImpulse] {
        &self.impulses.contacts
    }

    /// The tactile pads, in the order in which they were added.
    pub fn tactile_pads(&self) -> &[TactilePad] {
        &self.contact.sensors.pads
    }

    /// Reading of tactile pad number `pad` in the last step; empty before the first.
    ///
    /// # Panics
    /// There is no such pad.
    pub fn tactile(&self, pad: usize) -> &TactileReading {
        &self.contact.sensors.readings[pad]
    }

    /// Impulse of the grid's boundary conditions and of the pins of cloth on the particles over the
    /// last step, about the world's origin, world frame.
    pub fn boundary_impulse(&self) -> SpatialImpulse {
        self.boundary_impulse
    }

    /// Gravity \[m/s^2\].
    pub fn gravity(&self) -> Vector3<f64> {
        self.settings.gravity
    }
}
