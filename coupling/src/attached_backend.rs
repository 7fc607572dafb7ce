//! A world whose particles are stepped by a [`Backend`].

use nalgebra::{Isometry3, Vector3};
use pliant_mpm::{Mpm, MpmError, PinImpulse, Totals};

use crate::backend::{Backend, BackendError, ContactCacheState, SubstepPlan, SubstepsResult};
use crate::body_state::{ReferencePointPath, SubstepBodyState};
use crate::contact_stage::ContactStage;
use crate::error::StepError;
use crate::exchange::ExchangeTotals;
use crate::host::check_transfer;
use crate::particles::{ParticleBackend, SubstepFlows, SubstepRun};
use crate::report::ParticleFlows;
use crate::world::World;

/// Most states of bodies in the substeps of a step, which a backend gets at once: 1.6 GB of them.
const MOST_BODY_STATES: usize = 16_000_000;

/// A backend, and what is known on the host of its particles.
struct AttachedBackend {
    name: &'static str,
    backend: Box<dyn Backend>,
    /// All bodies in each substep of a step.
    bodies: Vec<SubstepBodyState>,
    /// How the reference points of their impulses move.
    references: Vec<ReferencePointPath>,
    /// Poses of the strongly coupled bodies at the end of the substeps.
    left: Vec<Isometry3<f64>>,
    /// The last step since the particles were handed over; none before the first.
    done: Option<SubstepsResult>,
    /// Whether the particles on the host are out of date.
    host_is_stale: bool,
    /// How often the bodies' surfaces had been changed when the backend took them.
    surface_changes: u64,
}

impl World {
    /// Hands the particles over to a backend of this `name`, made for this world as it is now; from
    /// now on [`World::step`] leaves them there.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] where the world has tactile pads, which need the host in every
    /// substep, mass-proportional damping, gas in a cloth or a woven one, ropes, or where the grid's
    /// origin is not the world's ([`World::reset_grid_frame`]).
    pub fn attach(&mut self, name: &'static str, backend: Box<dyn Backend>) -> Result<(), BackendError> {
        if let Some(pad) = self.tactile_pads().first() {
            return Err(BackendError::Unsupported {
                what: format!("the tactile pad '{}'", pad.name),
                backend: name,
                instead: "remove it, or use the cpu backend",
            });
        }
        if let Some(rate) = self.mpm.mass_damping().iter().find(|rate| **rate > 0.0) {
            return Err(BackendError::Unsupported {
                what: format!("mass_damping of {rate} 1/s"),
                backend: name,
                instead: "leave it out, or use the cpu backend",
            });
        }
        if self.mpm.sheets().iter().any(|sheet| sheet.gas.is_some()) {
            return Err(BackendError::Unsupported {
                what: "gas in a cloth".to_owned(),
                backend: name,
                instead: "leave it out, or use the cpu backend",
            });
        }
        if self.mpm.sheets().iter().any(|sheet| sheet.material.weave.is_some()) {
            return Err(BackendError::Unsupported {
                what: "the weave of a cloth".to_owned(),
                backend: name,
                instead: "leave it out, or use the cpu backend",
            });
        }
        if self.mpm.sheets().iter().any(|sheet| sheet.material.bending_friction.is_some()) {
            return Err(BackendError::Unsupported {
                what: "the bending friction of a cloth".to_owned(),
                backend: name,
                instead: "leave it out, or use the cpu backend",
            });
        }
        if self.mpm.sheets().iter().any(|sheet| sheet.material.tearing.is_some()) {
            return Err(BackendError::Unsupported {
                what: "the tearing of a cloth".to_owned(),
                backend: name,
                instead: "leave it out, or use the cpu backend",
            });
        }
        if !self.mpm.ropes().is_empty() {
            return Err(BackendError::Unsupported {
                what: "a rope".to_owned(),
                backend: name,
                instead: "leave it out, or use the cpu backend",
            });
        }
        if self.mpm.grid_origin() != Vector3::zeros() {
            return Err(BackendError::Unsupported {
                what: "a grid that moved".to_owned(),
                backend: name,
                instead: "call World::reset_grid_frame first",
            });
        }
        let (bodies, references, left) = (Vec::new(), Vec::new(), Vec::new());
        let surface_changes = self.bodies.surface_changes();
        self.backend = Box::new(AttachedBackend {
            name,
            backend,
            bodies,
            references,
            left,
            done: None,
            host_is_stale: false,
            surface_changes,
        });
        Ok(())
    }

    /// Whether the processor can step the particles, if there are any, as the settings ask.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] with [`Transfer::Atomic`](crate::Transfer::Atomic).
    pub fn check_processor(&self) -> Result<(), BackendError> {
        check_transfer(&self.mpm, self.settings.transfer)
    }

    /// Moves the grid's origin to the world's, which a backend requires. Positions are rounded once
    /// more if the grid was elsewhere.
    ///
    /// # Errors
    /// [`MpmError`] where a particle is too far from the world's origin.
    pub fn reset_grid_frame(&mut self) -> Result<(), MpmError> {
        if self.mpm.grid_origin() != Vector3::zeros() {
            // The stored velocities belong to nodes of the old grid.
            self.contact.warm_start.forget();
        }
        self.mpm.reset_grid_frame()
    }

    /// Brings the particles on the host, as [`World::mpm`] shows them, up to date with those of the
    /// backend. Without a backend it does nothing.
    ///
    /// # Errors
    /// [`BackendError`].
    pub fn refresh(&mut self) -> Result<(), BackendError> {
        self.backend.refresh(&mut self.mpm)
    }

    /// The contact cache, to save it or to hand it to a backend.
    ///
    /// # Errors
    /// [`BackendError`].
    pub fn contact_cache_state(&mut self) -> Result<ContactCacheState, BackendError> {
        self.backend.contact_cache_state(&self.contact)
    }
}

impl AttachedBackend {
    /// The substeps of bodies whose motion has begun.
    fn run(&mut self, world: &mut SubstepRun<'_>) -> Result<SubstepsResult, BackendError> {
        let (count, substep) = (world.count, world.substep);
        let states = count as usize * world.motion.substep_states.len();
        if states > MOST_BODY_STATES {
            return Err(BackendError::Unsupported {
                what: format!("{count} substeps of a step with {} bodies", world.motion.substep_states.len()),
                backend: self.name,
                instead: "use a smaller dt, or the cpu backend",
            });
        }
        if self.surface_changes != world.bodies.surface_changes() {
            self.backend.take_friction(world.bodies)?;
            self.surface_changes = world.bodies.surface_changes();
        }
        self.bodies.clear();
        for k in 0..count {
            world.motion.update_substep_states(world.bodies, k, count, substep, &world.impulses.current);
            self.bodies.extend_from_slice(&world.motion.substep_states);
        }
        self.references.clear();
        // Without particles the motion was not begun, and there is no contact.
        let bodies = if world.mpm.is_empty() { 0 } else { world.impulses.points.len() };
        self.references.extend((0..bodies).map(|b| world.motion.reference(world.bodies, b)));
        let plan = SubstepPlan {
            time: world.time,
            substeps: count,
            substep,
            gravity: world.settings.gravity,
            reference_points: &world.impulses.starts,
            references: &self.references,
            bodies: &self.bodies,
            strongly_coupled: world.motion.answering(),
            watch: world.watch,
        };
        self.left.resize(plan.strongly_coupled.bodies.len(), Isometry3::identity());
        self.host_is_stale = true;
        let (impulses, points) = (&mut world.impulses.current, &mut world.impulses.points);
        let done = self.backend.advance(&plan, impulses, points, &mut self.left)?;
        world.motion.set_end_poses(&self.left);
        self.done = Some(done);
        Ok(done)
    }
}

impl ParticleBackend for AttachedBackend {
    fn is_host(&self) -> bool {
        false
    }

    fn begin(&mut self, _: &mut Mpm) {}

    fn advance(&mut self, world: &mut SubstepRun<'_>) -> Result<f64, StepError> {
        let done = self.run(world).map_err(|error| step_error(world, error))?;
        let exchanged = exchanged(world, &done);
        world.sums.contacts.clone_from(&done.contacts);
        world.sums.add(&SubstepFlows {
            free: &done.free,
            exchanged: Some(&exchanged),
            dissipated: None,
            pins: &done.pins,
        });
        let is_empty = world.mpm.is_empty();
        Ok(if is_empty {
            0.0
        } else {
            world.motion.linearisation_error(world.bodies, &world.impulses.current)
        })
    }

    fn max_speeds(&self, mpm: &Mpm, relative_to: [&Vector3<f64>; 2]) -> [f64; 2] {
        // Of particles on the device only the largest speed is known.
        match &self.done {
            Some(done) => [done.max_speed; 2],
            None => relative_to.map(|velocity| mpm.max_speed_relative_to(velocity)),
        }
    }

    fn grid_nodes(&self, mpm: &Mpm) -> usize {
        self.done.as_ref().map_or_else(|| mpm.active_nodes(), |done| done.grid_nodes)
    }

    fn totals(&self, mpm: &Mpm, scratch: &mut Vec<Totals>) -> Totals {
        self.done.as_ref().map_or_else(|| mpm.totals(scratch), |done| done.totals)
    }

    fn refresh(&mut self, mpm: &mut Mpm) -> Result<(), BackendError> {
        if self.host_is_stale {
            self.backend.read_particles(mpm)?;
            self.host_is_stale = false;
        }
        Ok(())
    }

    fn contact_cache_state(&mut self, host: &ContactStage) -> Result<ContactCacheState, BackendError> {
        if self.done.is_some() { self.backend.read_contact_cache() } else { Ok(host.memory()) }
    }

    fn branch(&self) -> Result<Box<dyn ParticleBackend>, &'static str> {
        Err(self.name)
    }

    fn load(&mut self, mpm: &Mpm, host: &ContactStage) -> Result<(), BackendError> {
        self.backend.load(mpm, &host.memory())?;
        (self.done, self.host_is_stale) = (None, false);
        Ok(())
    }
}

/// Impulses on the particles in the contact solves of a step: opposite to those on bodies and
/// boundaries.
fn exchanged(world: &SubstepRun<'_>, done: &SubstepsResult) -> ExchangeTotals {
    let (mut linear, mut angular) =
        (done.boundary_constraints.linear, done.boundary_constraints.angular - done.moment_of_travel);
    for (impulse, start) in world.impulses.current.iter().zip(&world.impulses.starts) {
        linear -= impulse.linear;
        angular -= impulse.angular + start.coords.cross(&impulse.linear);
    }
    let flows = ParticleFlows::unmeasured(done.work);
    let (boundary, pins) = (done.boundary_constraints, PinImpulse::default());
    ExchangeTotals { linear, angular, work: done.work, boundary, pins, flows }
}

fn step_error(world: &SubstepRun<'_>, error: BackendError) -> StepError {
    match error {
        BackendError::Particle { substep_index, source } => world.particle_error(substep_index, source),
        BackendError::NotFinite { substep_index } => StepError::ContactNotFinite {
            step: world.step,
            substep_index,
            time: world.time_of(substep_index),
            reason: "found by the backend".to_owned(),
        },
        BackendError::Stopped { substep_index } => {
            StepError::Stopped { step: world.step, time: world.time_of(substep_index) }
        }
        other => StepError::Backend { step: world.step, reason: other.to_string() },
    }
}
