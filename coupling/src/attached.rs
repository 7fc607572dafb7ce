//! A world whose particles are stepped by a [`Backend`].

use nalgebra::{Isometry3, Vector3};
use pliant_mpm::MpmError;
use pliant_rigid::SpatialImpulse;

use crate::backend::{
    Backend, BackendError, ContactMemory, ReferencePath, SeenBody, SubstepPlan, SubstepsDone,
};
use crate::error::StepError;
use crate::exchange::Exchanged;
use crate::report::{ContactFigures, ParticleFlows};
use crate::world::World;

/// A backend, and what is known on the host of its particles.
pub(crate) struct Attached {
    backend: Box<dyn Backend>,
    /// All bodies in each substep of a step.
    bodies: Vec<SeenBody>,
    /// How the points of their impulses go on.
    references: Vec<ReferencePath>,
    /// Where contact leaves those that answer.
    left: Vec<Isometry3<f64>>,
    /// The last step since the particles were handed over; none before the first.
    pub done: Option<SubstepsDone>,
    /// Whether the particles on the host are those of an earlier time.
    is_ahead: bool,
}

impl Attached {
    /// Hands over the particles and contacts that the host has now.
    pub(crate) fn load(&mut self, mpm: &pliant_mpm::Mpm, memory: &ContactMemory) -> Result<(), BackendError> {
        self.backend.load(mpm, memory)?;
        (self.done, self.is_ahead) = (None, false);
        Ok(())
    }
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
        self.attached = Some(Attached { backend, bodies, references, left, done: None, is_ahead: false });
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
            self.warm_start.forget();
        }
        self.mpm.return_grid()
    }

    /// Brings the particles on the host, as [`World::mpm`] shows them, up to date with those of the backend. Without one they are.
    ///
    /// # Errors
    /// [`BackendError`].
    pub fn refresh(&mut self) -> Result<(), BackendError> {
        if let Some(attached) = self.attached.as_mut().filter(|attached| attached.is_ahead) {
            attached.backend.read_particles(&mut self.mpm)?;
            attached.is_ahead = false;
        }
        Ok(())
    }

    /// What contact remembers now, to save or for a backend that is to go on from it.
    ///
    /// # Errors
    /// [`BackendError`].
    pub fn contact_memory(&mut self) -> Result<ContactMemory, BackendError> {
        match &mut self.attached {
            Some(attached) if attached.done.is_some() => attached.backend.read_memory(),
            _ => Ok(self.contact_memory_of_host()),
        }
    }

    pub(crate) fn contact_memory_of_host(&self) -> ContactMemory {
        ContactMemory {
            contacts: self.registry.memories.list().to_vec(),
            velocities: self.warm_start.left().to_vec(),
        }
    }

    /// The substeps of a step of bodies that are prepared, on the backend; none without one.
    pub(crate) fn attached_substeps(
        &mut self,
        substeps: u32,
        delta: f64,
    ) -> Result<Option<ContactFigures>, StepError> {
        let Some(mut attached) = self.attached.take() else { return Ok(None) };
        let done = self.run_attached(&mut attached, substeps, delta);
        self.attached = Some(attached);
        let done = done.map_err(|error| self.backend_error(delta, error))?;
        self.account.free_motion(&done.free);
        self.account.contact(&self.exchanged(&done));
        self.add_pins(&done.pins);
        for boundary in [
            SpatialImpulse { linear: done.free.boundary.linear, angular: done.free.boundary.angular },
            done.walls,
        ] {
            self.boundary_impulse.linear += boundary.linear;
            self.boundary_impulse.angular += boundary.angular;
        }
        Ok(Some(done.contacts))
    }

    fn run_attached(
        &mut self,
        attached: &mut Attached,
        substeps: u32,
        delta: f64,
    ) -> Result<SubstepsDone, BackendError> {
        attached.bodies.clear();
        for k in 0..substeps {
            self.motion.see(&self.bodies, k, substeps, delta, &self.impulses);
            attached.bodies.extend_from_slice(&self.motion.seen);
        }
        attached.references.clear();
        // Without particles the motion was not begun, and nothing is touched.
        let bodies = if self.mpm.is_empty() { 0 } else { self.origins.len() };
        attached.references.extend((0..bodies).map(|b| self.motion.reference(&self.bodies, b)));
        let plan = SubstepPlan {
            time: self.time,
            substeps,
            delta,
            gravity: self.settings.gravity,
            origins: &self.starts,
            references: &attached.references,
            bodies: &attached.bodies,
            answering: self.motion.answering(),
        };
        attached.left.resize(plan.answering.bodies.len(), Isometry3::identity());
        attached.is_ahead = true;
        let (impulses, points) = (&mut self.impulses, &mut self.origins);
        let done = attached.backend.advance(&plan, impulses, points, &mut attached.left)?;
        self.motion.leave(&attached.left);
        attached.done = Some(done);
        Ok(done)
    }

    /// What the particles got in the contact solves of a step: the opposite of what bodies and walls did.
    fn exchanged(&self, done: &SubstepsDone) -> Exchanged {
        let (mut linear, mut angular) = (done.walls.linear, done.walls.angular - done.carried);
        for (impulse, start) in self.impulses.iter().zip(&self.starts) {
            linear -= impulse.linear;
            angular -= impulse.angular + start.coords.cross(&impulse.linear);
        }
        Exchanged {
            linear,
            angular,
            work: done.work,
            boundary: done.walls,
            flows: ParticleFlows::unmeasured(done.work),
        }
    }

    fn backend_error(&self, delta: f64, error: BackendError) -> StepError {
        match error {
            BackendError::Particle { substep, source } => self.step_error(substep, delta, source),
            BackendError::NotFinite { substep } => StepError::ContactNotFinite {
                step: self.step,
                substep,
                time: self.time() + f64::from(substep) * delta,
                reason: "found by the backend".to_owned(),
            },
            other => StepError::Backend { step: self.step, reason: other.to_string() },
        }
    }
}
