//! The world and its one stepping loop.

use core::fmt;

use nalgebra::{Point3, Vector3};
use pliant_mpm::cloth::Patch;
use pliant_mpm::{Mpm, MpmError, PinImpulse, Totals};
use pliant_rigid::{Bodies, BodyId, RigidError, SpatialImpulse};

use crate::account::{Account, moving_bodies};
use crate::attached::Attached;
use crate::backend::SubstepsDone;
use crate::builder::WorldBuilder;
use crate::convex::{ContactProblem, StopReason};
use crate::error::StepError;
use crate::exchange::{Exchange, Exchanged};
use crate::frame::largest_given;
use crate::motion::BodyMotion;
use crate::near::Near;
use crate::nodes::Numbering;
use crate::regions::RegionSolver;
use crate::register::Registry;
use crate::report::{ContactFigures, StepReport};
use crate::sensor::{Sensors, TactilePad, TactileReading};
use crate::settings::{Coupling, CouplingStep, Settings, Substeps};
use crate::walls::Walls;
use crate::warm_start::WarmStart;

/// The shortest coupling step is this part of a step.
const UNITS: u32 = 256;

/// How far the fastest particle may fly in a substep [cells]: one cell is where the transfers lose it.
const LONGEST_FLIGHT: f64 = 0.6;

/// Particles, bodies and solver settings, stepped together.
///
/// [`World::step`] advances everything by `dt`; nothing else moves. Runs are repeatable to the bit, for any number of
/// threads (of the current `rayon` pool).
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) mpm: Mpm,
    pub(crate) bodies: Bodies,
    pub(crate) registry: Registry,
    pub(crate) motion: BodyMotion,
    pub(crate) account: Account,
    pub(crate) step: u64,
    pub(crate) time: f64,
    numbering: Numbering,
    walls: Walls,
    problem: ContactProblem,
    solver: RegionSolver,
    pub(crate) warm_start: WarmStart,
    guess: Vec<[f64; 3]>,
    exchange: Exchange,
    sensors: Sensors,
    /// Of the particles on the bodies: in the coupling step at hand, in all of the step, and over a whole step at
    /// the rate of the last coupling step.
    pub(crate) impulses: Vec<SpatialImpulse>,
    pub(crate) step_impulses: Vec<SpatialImpulse>,
    pub(crate) expected: Vec<SpatialImpulse>,
    share: Vec<SpatialImpulse>,
    pub(crate) boundary_impulse: SpatialImpulse,
    /// The points that the bodies' impulses are about: their origins at the beginning of the coupling step, which are kept, and
    /// from there on as [`BodyMotion::move_references`] has it.
    pub(crate) origins: Vec<Point3<f64>>,
    /// Whether each body moves by its dynamics.
    pub(crate) moves: Vec<bool>,
    pub(crate) starts: Vec<Point3<f64>>,
    /// The body with which the grid goes.
    pub(crate) largest_given: Option<BodyId>,
    pub(crate) scratch: Vec<Totals>,
    pub(crate) attached: Option<Attached>,
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
            .field("contacts", &self.registry.pairs.len())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl World {
    /// Starts building a world.
    pub fn builder(settings: Settings) -> WorldBuilder {
        WorldBuilder::new(settings)
    }

    pub(crate) fn assemble(
        settings: Settings,
        mpm: Mpm,
        bodies: Bodies,
        strong: Vec<bool>,
        pads: Vec<TactilePad>,
    ) -> Self {
        let mut scratch = Vec::new();
        let totals = mpm.totals(&mut scratch);
        Self {
            registry: Registry::new(&bodies, &mpm, &settings.contact),
            motion: BodyMotion::new(strong, settings.coupling == Coupling::Auto),
            account: Account::open(&totals, settings.gravity, moving_bodies(&bodies)),
            moves: bodies.iter().map(|(id, _)| bodies.is_dynamic(id)).collect(),
            impulses: vec![SpatialImpulse::zero(); bodies.len()],
            step_impulses: vec![SpatialImpulse::zero(); bodies.len()],
            expected: vec![SpatialImpulse::zero(); bodies.len()],
            share: vec![SpatialImpulse::zero(); bodies.len()],
            boundary_impulse: SpatialImpulse::zero(),
            origins: vec![Point3::origin(); bodies.len()],
            starts: vec![Point3::origin(); bodies.len()],
            largest_given: largest_given(&bodies),
            walls: Walls::new(&settings.boundaries),
            settings,
            mpm,
            bodies,
            step: 0,
            time: 0.0,
            numbering: Numbering::default(),
            problem: ContactProblem::default(),
            solver: RegionSolver::default(),
            warm_start: WarmStart::default(),
            guess: Vec::new(),
            exchange: Exchange::default(),
            sensors: Sensors::new(pads),
            scratch,
            attached: None,
        }
    }

    /// Advances the world by one step.
    ///
    /// # Errors
    /// [`StepError`]; the world is not to be stepped further then, but can still be read.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        // Inside the pool, so that each parallel loop starts without a detour.
        rayon::scope(|_| self.step_in_pool())
    }

    fn step_in_pool(&mut self) -> Result<StepReport, StepError> {
        self.begin_step();
        let start = self.time;
        let mut report = StepReport::default();
        let mut done = 0;
        while done < UNITS {
            let part = self.begin_part(done, &mut report).map_err(|e| self.rigid_error(e))?;
            self.take_part(part, &mut report)?;
            done += part;
            self.time = start + self.part(done);
        }
        self.step += 1;
        self.time = self.step as f64 * self.settings.dt;
        report.grid_nodes = self.grid_nodes();
        report.finish();
        Ok(report)
    }

    /// Length of so many of the [`UNITS`] of a step [s].
    fn part(&self, units: u32) -> f64 {
        self.settings.dt * (f64::from(units) / f64::from(UNITS))
    }

    fn begin_step(&mut self) {
        self.step_impulses.fill(SpatialImpulse::zero());
        self.boundary_impulse = SpatialImpulse::zero();
        self.sensors.begin();
    }

    /// Begins the longest coupling step after `done` units of the step that the scheme answers for, by halves; returns its units.
    fn begin_part(&mut self, done: u32, report: &mut StepReport) -> Result<u32, RigidError> {
        let mut units = if done == 0 { UNITS } else { 1 << done.trailing_zeros() };
        loop {
            let dt = self.part(units);
            self.prepare(dt)?;
            let excess = self.motion.excess(&self.bodies, dt, self.mpm.grid_spacing());
            let is_fixed = self.settings.coupling_step == CouplingStep::Fixed;
            if excess <= 1.0 || units == 1 || is_fixed {
                report.coupling_excess = report.coupling_excess.max(excess);
                return Ok(units);
            }
            units /= 2;
        }
    }

    /// A coupling step that has begun: the particles' substeps, and the bodies' step with the impulses of these.
    fn take_part(&mut self, units: u32, report: &mut StepReport) -> Result<(), StepError> {
        let dt = self.part(units);
        self.mpm.set_grid_velocity(self.frame_velocity());
        let substeps = self.substeps_within(dt);
        let contacts = self.move_particles(substeps, dt / f64::from(substeps))?;
        if self.attached.is_some() && !self.mpm.is_empty() {
            let parted = self.motion.parted(&mut self.bodies, &self.impulses);
            report.coupling_excess = report.coupling_excess.max(parted);
        }
        let rigid = self.bodies.integrate(dt, &self.impulses).map_err(|e| self.rigid_error(e))?;
        self.account.bodies(&rigid.energy);
        self.motion.settle(&mut self.bodies, dt, &self.impulses, &self.origins, &self.starts);
        report.add(substeps, &contacts, &rigid);
        let rate = f64::from(UNITS) / f64::from(units);
        for b in 0..self.impulses.len() {
            let impulse = self.impulses[b];
            self.expected[b] =
                SpatialImpulse { angular: rate * impulse.angular, linear: rate * impulse.linear };
            self.step_impulses[b].linear += impulse.linear;
            self.step_impulses[b].angular += impulse.angular;
        }
        Ok(())
    }

    /// The substeps of a step, `delta` [s] each, here or on a backend.
    fn move_particles(&mut self, substeps: u32, delta: f64) -> Result<ContactFigures, StepError> {
        if let Some(contacts) = self.attached_substeps(substeps, delta)? {
            return Ok(contacts);
        }
        let mut contacts = ContactFigures::default();
        // Without particles there is nothing to substep.
        for k in 0..if self.mpm.is_empty() { 0 } else { substeps } {
            self.substep(k, substeps, delta, &mut contacts)?;
        }
        Ok(contacts)
    }

    /// Poses, velocities and answers of the bodies for a coupling step of `dt` [s]; particles in order.
    fn prepare(&mut self, dt: f64) -> Result<(), RigidError> {
        self.bodies.prepare(dt);
        for (origin, (id, _)) in self.origins.iter_mut().zip(self.bodies.iter()) {
            *origin = self.bodies.pose(id).translation.vector.into();
        }
        self.starts.clone_from(&self.origins);
        if !self.mpm.is_empty() {
            if self.attached.is_none() {
                self.mpm.begin_step();
            }
            // A backend's particles are not where the host's were.
            let (reach, common) = (self.registry.reach(&self.mpm), self.account.mean_velocity());
            let near = self.attached.is_none().then(|| Near::new(&self.mpm, reach, common));
            let mobility = &mut self.problem.mobility;
            let part = dt / self.settings.dt;
            for (share, expected) in self.share.iter_mut().zip(&self.expected) {
                *share = SpatialImpulse { angular: part * expected.angular, linear: part * expected.linear };
            }
            self.motion.begin(&mut self.bodies, near, dt, &self.share, mobility)?;
        }
        self.impulses.fill(SpatialImpulse::zero());
        Ok(())
    }

    fn rigid_error(&self, error: RigidError) -> StepError {
        StepError::Rigid { step: self.step, time: self.time, source: Box::new(error) }
    }

    /// One explicit MPM substep with implicit contact.
    fn substep(
        &mut self,
        k: u32,
        substeps: u32,
        delta: f64,
        contacts: &mut ContactFigures,
    ) -> Result<(), StepError> {
        let free = self.mpm.particles_to_grid(delta, self.settings.gravity);
        self.account.free_motion(&free);
        self.boundary_impulse.linear += free.boundary.linear;
        self.boundary_impulse.angular += free.boundary.angular;
        self.mpm.hold_pins(self.time + f64::from(k) * delta, delta);
        self.motion.see(&self.bodies, k, substeps, delta, &self.impulses);
        self.registry.register(&self.mpm, &self.bodies, &self.motion.seen, &self.settings.contact, delta);
        let moved = if self.registry.pairs.is_empty() {
            self.registry.memories.remember(&[], &[]);
            self.warm_start.forget();
            self.mpm.grid_to_particles(delta)
        } else {
            let exchanged = self.solve_contact(k, delta, contacts)?;
            self.finish_contact(delta, exchanged)
        };
        self.account.dissipated(&self.mpm.dissipated());
        self.motion.advance(k, substeps, delta, &self.impulses);
        let origins = &mut self.origins;
        self.motion.move_references(&self.bodies, k, delta, &self.impulses, origins);
        self.add_pins(&self.mpm.pin_impulse());
        moved.map_err(|error| self.step_error(k, delta, error))?;
        let (dt, mobility) = (f64::from(substeps) * delta, &mut self.problem.mobility);
        let followed = self.motion.follow(&mut self.bodies, k, substeps, dt, &self.impulses, mobility);
        followed.map_err(|e| self.rigid_error(e))
    }

    /// What the pins of cloth did.
    pub(crate) fn add_pins(&mut self, pins: &PinImpulse) {
        self.account.pins(pins);
        self.boundary_impulse.linear += pins.impulse.linear;
        self.boundary_impulse.angular += pins.impulse.angular;
    }

    /// The convex solve, and its velocities on the grid.
    fn solve_contact(
        &mut self,
        k: u32,
        delta: f64,
        contacts: &mut ContactFigures,
    ) -> Result<Exchanged, StepError> {
        let pairs = &self.registry.pairs;
        let (numbering, problem) = (&mut self.numbering, &mut self.problem);
        numbering.update(pairs, &self.mpm, |pair| self.motion.answers(pair));
        numbering.fill(pairs, &self.mpm, &self.settings.contact, delta, &mut self.walls, problem);
        self.motion.attach(pairs, numbering, &self.origins, &mut problem.mobility);
        self.guess.clear();
        self.guess.resize(problem.contacts.len(), [0.0; 3]);
        for group in numbering.groups() {
            for (guess, pair) in self.guess[group.contact..].iter_mut().zip(&pairs[group.pairs]) {
                *guess = pair.last_impulse;
            }
        }
        self.walls.guess(problem, &mut self.guess);
        let velocities = self.warm_start.guess(numbering, &problem.node_free_velocity);
        let settings = &self.settings.solver;
        let regions = self.solver.solve(problem, &numbering.regions, settings, velocities, &self.guess);
        contacts.add(pairs, regions);
        if regions.iter().any(|info| info.stop == StopReason::NotFinite) {
            let reason = self.problem.validate().err().map_or_else(String::new, |e| e.to_string());
            let time = self.time + f64::from(k) * delta;
            return Err(StepError::ContactNotFinite { step: self.step, substep: k, time, reason });
        }
        let (solution, mpm) = (&self.solver.solution, &mut self.mpm);
        Ok(self.exchange.hand_to_grid(solution, &self.problem, &self.numbering, &self.walls, mpm))
    }

    /// The particles' motion, and beside it what else the solve brought: its impulses on the bodies, the books, the memories.
    fn finish_contact(&mut self, delta: f64, mut exchanged: Exchanged) -> Result<(), MpmError> {
        let (solution, problem, numbering) = (&self.solver.solution, &self.problem, &self.numbering);
        let (registry, mpm) = (&mut self.registry, &mut self.mpm);
        let (exchange, walls, origins) = (&mut self.exchange, &self.walls, &self.origins);
        let moves = &self.moves[..];
        let (impulses, warm_start, seen) = (&mut self.impulses, &mut self.warm_start, &self.motion.seen);
        let (sensors, dt) = (&mut self.sensors, self.settings.dt);
        let (moved, exchanged) = rayon::join(
            || mpm.grid_to_particles(delta),
            || {
                let pairs = &registry.pairs;
                exchange.hand_to_bodies(
                    solution,
                    problem,
                    pairs,
                    numbering,
                    walls,
                    origins,
                    moves,
                    impulses,
                    &mut exchanged,
                );
                sensors.add(pairs, &exchange.impulses, seen, dt);
                registry.memories.remember(pairs, &exchange.impulses);
                warm_start.remember(numbering, &solution.velocities);
                exchanged
            },
        );
        self.account.contact(&exchanged);
        self.boundary_impulse.linear += exchanged.boundary.linear;
        self.boundary_impulse.angular += exchanged.boundary.angular;
        moved
    }

    /// Number of MPM substeps that the next step takes where it is not split.
    pub fn substeps(&self) -> u32 {
        self.substeps_within(self.settings.dt)
    }

    /// Number of MPM substeps of a coupling step of `dt` [s].
    fn substeps_within(&self, dt: f64) -> u32 {
        let most = f64::from(u32::MAX);
        match self.settings.substeps {
            Substeps::Fixed(n) => (f64::from(n) * (dt / self.settings.dt)).ceil() as u32,
            Substeps::Auto => (dt / self.largest_stable_substep(dt)).ceil().clamp(1.0, most) as u32,
        }
    }

    /// Largest stable substep at the present speeds of particles and those of the bodies' surfaces within `dt` [s]: a
    /// tool brings the particles that it touches to its speed. Speeds are relative to the particles' common motion, which
    /// makes nothing unstable; it only must not carry them too far across the grid.
    fn largest_stable_substep(&self, dt: f64) -> f64 {
        let common = self.account.mean_velocity();
        let tools = self.bodies.fastest_surface(self.time, self.time + dt, &common);
        let (particles, fastest) = match self.done() {
            // Of particles on a backend only the largest speed is known.
            Some(done) => (done.max_speed, done.max_speed),
            None => {
                let grid = self.frame_velocity();
                (self.mpm.fastest_relative_to(&common), self.mpm.fastest_relative_to(&grid))
            }
        };
        let stable = self.mpm.largest_stable_substep(particles.max(tools));
        stable.min(LONGEST_FLIGHT * self.settings.grid_spacing / fastest)
    }

    /// The last step of the backend, which knows more of the particles than the host.
    pub(crate) fn done(&self) -> Option<&SubstepsDone> {
        self.attached.as_ref()?.done.as_ref()
    }

    /// Grid nodes that carried mass in the last substep.
    fn grid_nodes(&self) -> usize {
        self.done().map_or_else(|| self.mpm.active_nodes(), |done| done.grid_nodes)
    }

    pub(crate) fn step_error(&self, k: u32, delta: f64, error: MpmError) -> StepError {
        let MpmError::LostParticle { id, position, velocity } = error else {
            return StepError::Mpm { step: self.step, source: error };
        };
        let limit = self.mpm.largest_stable_substep(0.0);
        let cells = (velocity - self.mpm.grid_velocity()).norm() * delta / self.settings.grid_spacing;
        let cause = if delta > limit {
            format!(
                "the substep of {delta:.3e} s is longer than {limit:.3e} s, the limit for these stiffnesses"
            )
        } else if self.settings.gravity.norm() * delta > self.settings.grid_spacing / delta {
            format!("gravity of {:.3e} m/s^2 crosses a cell within a substep", self.settings.gravity.norm())
        } else if velocity.iter().all(|v| v.is_finite()) {
            format!("it crosses {cells:.1} cells a substep; take a smaller dt or more substeps")
        } else {
            "its deformation grew without bound; take a smaller dt or more substeps".to_owned()
        };
        StepError::BlewUp {
            step: self.step,
            substep: k,
            time: self.time + f64::from(k) * delta,
            particle: id,
            position,
            velocity,
            cause,
        }
    }

    /// Time [s].
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

    /// The particles and their grid, on the host: where a backend steps them, as of the last [`World::refresh`].
    pub fn mpm(&self) -> &Mpm {
        &self.mpm
    }

    /// The sheets of cloth: which particles are theirs, and their faces.
    pub fn cloths(&self) -> &[Patch] {
        self.mpm.patches()
    }

    /// The bodies.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// The bodies, to change what motors are told between steps.
    pub fn bodies_mut(&mut self) -> &mut Bodies {
        &mut self.bodies
    }

    /// The bodies that are coupled strongly.
    pub fn strongly_coupled(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.motion.strong().iter().enumerate().filter(|(_, strong)| **strong).map(|(b, _)| BodyId(b))
    }

    /// Impulses of the particles on the bodies over the last step, world frame, each about a point that is at the body's
    /// origin at the start of a coupling step and goes on with the velocity of that time: torques are about the
    /// body as it moves, and the same in every inertial frame.
    pub fn body_impulses(&self) -> &[SpatialImpulse] {
        &self.step_impulses
    }

    /// The tactile pads, in the order in which they were added.
    pub fn tactile_pads(&self) -> &[TactilePad] {
        &self.sensors.pads
    }

    /// What tactile pad number `pad` felt in the last step; nothing before the first.
    ///
    /// # Panics
    /// There is no such pad.
    pub fn tactile(&self, pad: usize) -> &TactileReading {
        &self.sensors.readings[pad]
    }

    /// Impulse of the grid's boundary conditions and of the pins of cloth on the particles over the last step, about the world's origin, world frame.
    pub fn boundary_impulse(&self) -> SpatialImpulse {
        self.boundary_impulse
    }

    /// Gravity [m/s^2].
    pub fn gravity(&self) -> Vector3<f64> {
        self.settings.gravity
    }
}
