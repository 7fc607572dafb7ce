//! A world whose particles are stepped by a [`Backend`].

use nalgebra::{Isometry3, Vector3};
use pliant_mpm::{Mpm, MpmError, Totals};

use crate::backend::{Backend, BackendError, ContactMemory, SubstepPlan, SubstepsDone};
use crate::body_state::{ReferencePath, SeenBody};
use crate::contact_stage::ContactStage;
use crate::error::StepError;
use crate::exchange::Exchanged;
use crate::particles::{ParticleBackend, SubstepFlows, SubstepRun};
use crate::report::ParticleFlows;
use crate::world::World;

/// A backend, and what is known on the host of its particles.
struct Attached {
    backend: Box<dyn Backend>,
    /// All bodies in each substep of a step.
    bodies: Vec<SeenBody>,
    /// How the points of their impulses go on.
    references: Vec<ReferencePath>,
    /// Where contact leaves those that answer.
    left: Vec<Isometry3<f64>>,
    /// The last step since the particles were handed over; none before the first.
    done: Option<SubstepsDone>,
    /// Whether the particles on the host are those of an earlier time.
    is_ahead: bool,
}

impl World {
    /// Hands the particles over to a backend of this `name`, made for this world as it is now; from now on [`World::step`] leaves
    /// them there.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] where the world has tactile pads, which need the host in every substep, or where the grid is elsewhere
    /// ([`World::return_grid`]).
    pub fn attach(&mut self, name: &'static str, backend: Box<dyn Backend>) -> Result<(), BackendError> {
        if let Some(pad) = self.tactile_pads().first() {
            return Err(BackendError::Unsupported {
                what: format!("the tactile pad '{}'", pad.name),
                backend: name,
                instead: "leave it out, or choose the cpu backend",
            });
        }
        if self.mpm.grid_origin() != Vector3::zeros() {
            return Err(BackendError::Unsupported {
                what: "a grid that moved".to_owned(),
                backend: name,
                instead: "call World::return_grid first",
            });
        }
        let (bodies, references, left) = (Vec::new(), Vec::new(), Vec::new());
        self.backend = Box::new(Attached { backend, bodies, references, left, done: None, is_ahead: false });
        Ok(())
    }

    /// Puts the grid's origin at the world's, for a backend that is to be made of this world: backends know no other grid. Positions are rounded
    /// once more where the grid was elsewhere.
    ///
    /// # Errors
    /// [`MpmError`] where a particle is too far from the world's origin.
    pub fn return_grid(&mut self) -> Result<(), MpmError> {
        if self.mpm.grid_origin() != Vector3::zeros() {
            // What it remembers is by the nodes of the grid as it was.
            self.contact.warm_start.forget();
        }
        self.mpm.return_grid()
    }

    /// Brings the particles on the host, as [`World::mpm`] shows them, up to date with those of the backend. Without one they are.
    ///
    /// # Errors
    /// [`BackendError`].
    pub fn refresh(&mut self) -> Result<(), BackendError> {
        self.backend.refresh(&mut self.mpm)
    }

    /// What contact remembers now, to save or for a backend that is to go on from it.
    ///
    /// # Errors
    /// [`BackendError`].
    pub fn contact_memory(&mut self) -> Result<ContactMemory, BackendError> {
        self.backend.contact_memory(&self.contact)
    }
}

impl Attached {
    /// The substeps of bodies whose motion has begun.
    fn run(&mut self, world: &mut SubstepRun<'_>) -> Result<SubstepsDone, BackendError> {
        let (count, delta) = (world.count, world.delta);
        self.bodies.clear();
        for k in 0..count {
            world.motion.see(world.bodies, k, count, delta, &world.impulses.current);
            self.bodies.extend_from_slice(&world.motion.seen);
        }
        self.references.clear();
        // Without particles the motion was not begun, and nothing is touched.
        let bodies = if world.mpm.is_empty() { 0 } else { world.impulses.points.len() };
        self.references.extend((0..bodies).map(|b| world.motion.reference(world.bodies, b)));
        let plan = SubstepPlan {
            time: world.time,
            substeps: count,
            delta,
            gravity: world.settings.gravity,
            origins: &world.impulses.starts,
            references: &self.references,
            bodies: &self.bodies,
            answering: world.motion.answering(),
        };
        self.left.resize(plan.answering.bodies.len(), Isometry3::identity());
        self.is_ahead = true;
        let (impulses, points) = (&mut world.impulses.current, &mut world.impulses.points);
        let done = self.backend.advance(&plan, impulses, points, &mut self.left)?;
        world.motion.leave(&self.left);
        self.done = Some(done);
        Ok(done)
    }
}

impl ParticleBackend for Attached {
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
        Ok(if is_empty { 0.0 } else { world.motion.parted(world.bodies, &world.impulses.current) })
    }

    fn max_speeds(&self, mpm: &Mpm, relative_to: [&Vector3<f64>; 2]) -> [f64; 2] {
        // Of particles that have moved on there only the largest speed is known.
        match &self.done {
            Some(done) => [done.max_speed; 2],
            None => relative_to.map(|velocity| mpm.fastest_relative_to(velocity)),
        }
    }

    fn grid_nodes(&self, mpm: &Mpm) -> usize {
        self.done.as_ref().map_or_else(|| mpm.active_nodes(), |done| done.grid_nodes)
    }

    fn totals(&self, mpm: &Mpm, scratch: &mut Vec<Totals>) -> Totals {
        self.done.as_ref().map_or_else(|| mpm.totals(scratch), |done| done.totals)
    }

    fn refresh(&mut self, mpm: &mut Mpm) -> Result<(), BackendError> {
        if self.is_ahead {
            self.backend.read_particles(mpm)?;
            self.is_ahead = false;
        }
        Ok(())
    }

    fn contact_memory(&mut self, host: &ContactStage) -> Result<ContactMemory, BackendError> {
        if self.done.is_some() { self.backend.read_memory() } else { Ok(host.memory()) }
    }

    fn load(&mut self, mpm: &Mpm, host: &ContactStage) -> Result<(), BackendError> {
        self.backend.load(mpm, &host.memory())?;
        (self.done, self.is_ahead) = (None, false);
        Ok(())
    }
}

/// What the particles got in the contact solves of a step: the opposite of what bodies and boundaries did.
fn exchanged(world: &SubstepRun<'_>, done: &SubstepsDone) -> Exchanged {
    let (mut linear, mut angular) = (done.walls.linear, done.walls.angular - done.carried);
    for (impulse, start) in world.impulses.current.iter().zip(&world.impulses.starts) {
        linear -= impulse.linear;
        angular -= impulse.angular + start.coords.cross(&impulse.linear);
    }
    let flows = ParticleFlows::unmeasured(done.work);
    Exchanged { linear, angular, work: done.work, boundary: done.walls, flows }
}

fn step_error(world: &SubstepRun<'_>, error: BackendError) -> StepError {
    match error {
        BackendError::Particle { substep, source } => world.particle_error(substep, source),
        BackendError::NotFinite { substep } => StepError::ContactNotFinite {
            step: world.step,
            substep,
            time: world.time_of(substep),
            reason: "found by the backend".to_owned(),
        },
        other => StepError::Backend { step: world.step, reason: other.to_string() },
    }
}
