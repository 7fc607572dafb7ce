//! The particles' substeps on the processor.

use nalgebra::Vector3;
use pliant_mpm::{Mpm, Totals};

use crate::backend::{BackendError, ContactMemory};
use crate::contact_stage::ContactStage;
use crate::error::StepError;
use crate::particles::{ParticleBackend, SubstepFlows, SubstepRun};

/// Steps the particles on the processor, where the world keeps them.
pub(crate) struct HostBackend;

impl ParticleBackend for HostBackend {
    fn is_host(&self) -> bool {
        true
    }

    fn begin(&mut self, mpm: &mut Mpm) {
        mpm.begin_step();
    }

    fn advance(&mut self, world: &mut SubstepRun<'_>) -> Result<f64, StepError> {
        // Without particles there is nothing to substep.
        for k in 0..if world.mpm.is_empty() { 0 } else { world.count } {
            substep(world, k)?;
        }
        // The bodies' motion is linearised anew within the step.
        Ok(0.0)
    }

    fn max_speeds(&self, mpm: &Mpm, relative_to: [&Vector3<f64>; 2]) -> [f64; 2] {
        relative_to.map(|velocity| mpm.fastest_relative_to(velocity))
    }

    fn grid_nodes(&self, mpm: &Mpm) -> usize {
        mpm.active_nodes()
    }

    fn totals(&self, mpm: &Mpm, scratch: &mut Vec<Totals>) -> Totals {
        mpm.totals(scratch)
    }

    fn refresh(&mut self, _: &mut Mpm) -> Result<(), BackendError> {
        Ok(())
    }

    fn contact_memory(&mut self, host: &ContactStage) -> Result<ContactMemory, BackendError> {
        Ok(host.memory())
    }

    fn load(&mut self, _: &Mpm, _: &ContactStage) -> Result<(), BackendError> {
        Ok(())
    }
}

/// One explicit MPM substep with implicit contact.
fn substep(world: &mut SubstepRun<'_>, k: u32) -> Result<(), StepError> {
    let (count, delta, time) = (world.count, world.delta, world.time_of(k));
    let free = world.mpm.particles_to_grid(delta, world.settings.gravity);
    world.mpm.hold_pins(time, delta);
    world.motion.see(world.bodies, k, count, delta, &world.impulses.current);
    let (contact, settings) = (&mut *world.contact, world.settings);
    contact.registry.register(world.mpm, world.bodies, &world.motion.seen, &settings.contact, delta);
    let (moved, exchanged) = if contact.registry.pairs.is_empty() {
        contact.skip();
        (world.mpm.grid_to_particles(delta), None)
    } else {
        let (motion, impulses) = (&*world.motion, &mut *world.impulses);
        let figures = &mut *world.sums.contacts;
        let exchanged =
            contact.solve(world.mpm, motion, impulses, (settings, delta), figures).map_err(|error| {
                StepError::ContactNotFinite { step: world.step, substep: k, time, reason: error.reason }
            })?;
        let (moved, exchanged) = contact.finish(world.mpm, motion, impulses, (settings.dt, delta), exchanged);
        (moved, Some(exchanged))
    };
    world.sums.add(&SubstepFlows {
        free: &free,
        exchanged: exchanged.as_ref(),
        dissipated: Some(&world.mpm.dissipated()),
        pins: &world.mpm.pin_impulse(),
    });
    let impulses = &mut *world.impulses;
    world.motion.advance(k, count, delta, &impulses.current);
    world.motion.move_references(world.bodies, k, delta, &impulses.current, &mut impulses.points);
    moved.map_err(|error| world.particle_error(k, error))?;
    let (dt, mobility) = (f64::from(count) * delta, &mut world.contact.problem.mobility);
    let followed = world.motion.follow(world.bodies, k, count, dt, &world.impulses.current, mobility);
    followed.map_err(|e| world.rigid_error(e))
}
