//! The particles' substeps on the processor.

use nalgebra::Vector3;
use pliant_mpm::{Mpm, Totals};

use crate::backend::{BackendError, ContactCacheState};
use crate::contact_stage::ContactStage;
use crate::error::StepError;
use crate::particles::{ParticleBackend, SubstepFlows, SubstepRun};
use crate::settings::Transfer;

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
        check_transfer(world.mpm, world.settings.transfer)
            .map_err(|error| StepError::Backend { step: world.step, reason: error.to_string() })?;
        let every = substeps_a_layer_contact(world);
        world.mpm.keep_strands_apart(world.settings.layer_contact);
        // Without particles there is nothing to substep.
        for k in 0..if world.mpm.is_empty() { 0 } else { world.count } {
            world.check_watch(k)?;
            substep(world, k, every)?;
            world.watch.count_substeps(1);
        }
        // The host linearises the bodies' motion anew within the step.
        Ok(0.0)
    }

    fn max_speeds(&self, mpm: &Mpm, relative_to: [&Vector3<f64>; 2]) -> [f64; 2] {
        relative_to.map(|velocity| mpm.max_speed_relative_to(velocity))
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

    fn contact_cache_state(&mut self, host: &ContactStage) -> Result<ContactCacheState, BackendError> {
        Ok(host.memory())
    }

    fn branch(&self) -> Result<Box<dyn ParticleBackend>, &'static str> {
        Ok(Box::new(Self))
    }

    fn load(&mut self, _: &Mpm, _: &ContactStage) -> Result<(), BackendError> {
        Ok(())
    }
}

/// The processor adds in a fixed order; another one that was asked for would be ignored.
pub(crate) fn check_transfer(mpm: &Mpm, transfer: Transfer) -> Result<(), BackendError> {
    if transfer == Transfer::Ordered || mpm.is_empty() {
        return Ok(());
    }
    Err(BackendError::Unsupported {
        what: "transfer: atomic".to_owned(),
        backend: "cpu",
        instead: "leave it out (ordered), or use the cuda backend",
    })
}

/// Distance that layers of cloth may pass of each other from one contact between them to the next, over
/// the grid spacing \[-\].
const PASSED: f64 = 0.5;

/// Substeps from one contact between layers of cloth to the next: the whole coupling step, or so many
/// that layers do not pass more than a part of the grid spacing of each other. It brings vertices that
/// went past each other back at once, which stretches the edges between them: the energy that this
/// takes grows with the square of the distance.
fn substeps_a_layer_contact(world: &SubstepRun<'_>) -> u32 {
    if !world.settings.layer_contact || world.mpm.sheets().is_empty() {
        return world.count;
    }
    // Two layers may meet at this speed each.
    let speed = world.mpm.max_speed_relative_to(&world.mpm.grid_velocity());
    let most = PASSED * world.mpm.grid_spacing() / (2.0 * speed * world.substep);
    if most < f64::from(world.count) { (most as u32).max(1) } else { world.count }
}

/// One explicit MPM substep with implicit contact. Contact between layers of cloth is at the end of
/// `every` so many.
fn substep(world: &mut SubstepRun<'_>, k: u32, every: u32) -> Result<(), StepError> {
    let (count, substep, time) = (world.count, world.substep, world.time_of(k));
    let keeps_layers_apart = world.settings.layer_contact;
    let ends_layer_contact = keeps_layers_apart && ((k + 1).is_multiple_of(every) || k + 1 == count);
    if keeps_layers_apart && k.is_multiple_of(every) {
        world.mpm.begin_layer_contact();
    }
    if ends_layer_contact {
        world.mpm.end_layer_contact();
    }
    let free = world.mpm.particles_to_grid(substep, world.settings.gravity);
    world.mpm.apply_pins(time, substep);
    world.motion.update_substep_states(world.bodies, k, count, substep, &world.impulses.current);
    let (contact, settings) = (&mut *world.contact, world.settings);
    contact.contact_detector.detect(
        world.mpm,
        world.bodies,
        &world.motion.substep_states,
        &settings.contact,
        substep,
    );
    let (moved, exchanged) = if contact.contact_detector.pairs.is_empty() {
        contact.skip();
        (world.mpm.grid_to_particles(substep), None)
    } else {
        let (motion, impulses) = (&*world.motion, &mut *world.impulses);
        let figures = &mut *world.sums.contacts;
        let exchanged =
            contact.solve(world.mpm, motion, impulses, (settings, substep), figures).map_err(|error| {
                StepError::ContactNotFinite { step: world.step, substep_index: k, time, reason: error.reason }
            })?;
        let (moved, exchanged) =
            contact.finish(world.mpm, motion, impulses, (settings.dt, substep), exchanged);
        (moved, Some(exchanged))
    };
    world.sums.add(&SubstepFlows {
        free: &free,
        exchanged: exchanged.as_ref(),
        dissipated: Some(&world.mpm.dissipated()),
        pins: &world.mpm.pin_impulse(),
    });
    let impulses = &mut *world.impulses;
    world.motion.advance(k, count, substep, &impulses.current);
    world.motion.move_references(world.bodies, k, substep, impulses);
    moved.map_err(|error| world.particle_error(k, error))?;
    if ends_layer_contact {
        let (before, now) = (world.sums.contacts.layers, world.mpm.layer_report());
        world.sums.contacts.layers = before.into_iter().chain(now).reduce(|a, b| a.with(&b));
    }
    let figures = &mut world.sums.contacts;
    figures.strands = figures.strands.into_iter().chain(world.mpm.strand_report()).reduce(|a, b| a.with(&b));
    let (coupling_step, mobility) = (world.coupling_step, &mut world.contact.problem.mobility);
    let followed =
        world.motion.relinearise(world.bodies, k, count, coupling_step, &world.impulses.current, mobility);
    followed.map_err(|e| world.rigid_error(e))
}
