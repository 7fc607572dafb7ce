//! Steps: their substeps, and what stops them, so that they can be mended and go on.

use std::ops::Range;

use nalgebra::Vector3;
use pliant_mpm::{LastSubstep, MpmError, detail};

use super::sort_schedule::{Progress, SortSchedule};
use super::step::{RECORDINGS, SubstepHook};
use super::stopped::{StopCause, Stopped};
use super::totals::balance_of;
use super::{BlockCapacities, DeviceMpm, DeviceMpmError, StepMomentumBalance};
use crate::kernels::{
    MPM_KEY_LIMIT, MPM_LOST, MPM_OUT_OF_RANGE, MPM_STATUS_FLAGS, MPM_STATUS_LIMIT, MPM_STATUS_LOST,
    MPM_STATUS_WORDS, MpmSettings,
};
use crate::{Commands, DeviceError};

/// Substeps that are launched together. Between them the host counts them, and can stop the step.
const LAUNCHED: u32 = 1024;

/// Where a step is after it was advanced.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one a step")]
pub enum Advance {
    /// All substeps have run.
    Done(StepMomentumBalance),
    /// Something does not fit: see [`DeviceMpm::resume`].
    Stopped(Stopped),
}

impl DeviceMpm {
    /// Moves the particles by `substeps` substeps of `substep` \[s\] under `gravity` \[m/s^2\],
    /// without a word to the host until they are done or there is no room for the particles'
    /// blocks, which makes more.
    ///
    /// # Errors
    /// [`DeviceMpmError::Lost`] with the particle that was lost, after which the particles are as
    /// after that substep; [`DeviceMpmError::OutOfRange`], and those of the device.
    pub fn advance(
        &mut self,
        substeps: u32,
        substep: f64,
        gravity: Vector3<f64>,
    ) -> Result<StepMomentumBalance, DeviceMpmError> {
        let mut at = self.advance_with(substeps, substep, gravity, &())?;
        loop {
            match at {
                Advance::Done(balance) => return Ok(balance),
                Advance::Stopped(stopped) => self.grow_blocks(&stopped)?,
            }
            at = self.resume(&())?;
        }
    }

    /// As [`DeviceMpm::advance`], with the commands of `hook` run between each substep's free
    /// motion and its transfer back to the particles. It is called when commands are recorded,
    /// which is not in every step: see [`DeviceMpm::forget_recording`]. Its kernels must do nothing
    /// where the substep is stopped ([`DeviceMpm::status`]), and may stop it as long as they have
    /// changed nothing but the grid.
    ///
    /// # Errors
    /// As [`DeviceMpm::advance`].
    pub fn advance_with(
        &mut self,
        substeps: u32,
        substep: f64,
        gravity: Vector3<f64>,
        hook: SubstepHook,
    ) -> Result<Advance, DeviceMpmError> {
        let subgrid_retention = detail::subgrid_retention(gravity.norm(), self.grid_spacing, substep) as f32;
        self.keep_details(subgrid_retention);
        let settings = MpmSettings {
            gravity_step: (gravity * substep).into(),
            grid_spacing_f64: self.grid_spacing,
            substep_f64: substep,
            grid_spacing: self.grid_spacing as f32,
            substep: substep as f32,
            subgrid_retention,
            first_kick: self.last_substep.kick(substep) as f32,
            first_number: self.last_substep.count,
        };
        let count = self.last_substep.count + u64::from(substeps);
        self.last_substep = LastSubstep { length: substep, gravity, count };
        self.staging.upload(self.settings.span(), &[settings])?;
        if let Some(cloth) = &mut self.cloth
            && cloth.begin_step(&mut self.staging, substeps, self.time, substep, gravity)?
        {
            self.recordings.clear();
        }
        self.time += f64::from(substeps) * substep;
        self.staging.clear(self.total.span());
        if self.progress.is_some() {
            // The last step was not brought to its end.
            self.transfers.balances.fill(0.0)?;
        }
        let cells = substep / self.grid_spacing;
        let sorts = self.order.plan(substeps, cells, gravity.norm() * substep);
        self.progress = Some(Progress { substeps, done: 0, sorts, cells_per_speed: cells, extra_sorts: 0 });
        self.continue_step(hook)
    }

    /// Runs what is left of a step that stopped, from the substep that could not run on; commands
    /// are recorded anew. What comes out is the same, to the bit, as if there had been room from
    /// the start. Where nothing was mended it stops again.
    ///
    /// # Errors
    /// [`DeviceMpmError::NothingToResume`] where no step stopped; as [`DeviceMpm::advance`].
    pub fn resume(&mut self, hook: SubstepHook) -> Result<Advance, DeviceMpmError> {
        self.recordings.clear();
        self.continue_step(hook)
    }

    /// Grows the capacity for the blocks that a step stopped for.
    ///
    /// # Errors
    /// [`DeviceMpmError::Stopped`] where it stopped for something else; as [`DeviceMpm::grow`].
    pub fn grow_blocks(&mut self, stopped: &Stopped) -> Result<(), DeviceMpmError> {
        let room = BlockCapacities { particle_blocks: 0, node_blocks: 0 };
        match stopped.cause {
            StopCause::ParticleBlocks { needed, .. } => {
                Ok(self.grow(BlockCapacities { particle_blocks: needed, ..room })?)
            }
            StopCause::NodeBlocks { needed, .. } => {
                Ok(self.grow(BlockCapacities { node_blocks: needed, ..room })?)
            }
            _ => Err(DeviceMpmError::Stopped(*stopped)),
        }
    }

    /// Runs the step that is under way until it is done or stopped.
    fn continue_step(&mut self, hook: SubstepHook) -> Result<Advance, DeviceMpmError> {
        let result = self.run_on(hook);
        self.staging.forget_results();
        result
    }

    fn run_on(&mut self, hook: SubstepHook) -> Result<Advance, DeviceMpmError> {
        let Some(mut progress) = self.progress else {
            return Err(DeviceMpmError::NothingToResume);
        };
        let status_words = self.staging.download(self.status.span());
        let total = self.staging.download(self.total.span());
        loop {
            if self.watch.is_stopped() {
                return Err(DeviceMpmError::StoppedOnRequest { substep_index: progress.done });
            }
            let end = progress.substeps.min(progress.done.saturating_add(LAUNCHED));
            let mut status = [0; MPM_STATUS_WORDS as usize];
            status[MPM_STATUS_LIMIT as usize] = u32::MAX;
            self.staging.upload(self.status.span(), &status)?;
            self.run(progress.done..end, progress.sorts, hook)?;
            self.staging.receive()?;
            status.copy_from_slice(self.staging.result(&status_words));
            let before = progress.done;
            progress.done = status[MPM_STATUS_LIMIT as usize].min(end);
            self.watch.count_substeps(u64::from(progress.done - before));
            self.progress = Some(progress);
            if let Err(error) = self.check(&status, progress.done) {
                // Nothing to go on with.
                self.progress = None;
                self.transfers.balances.fill(0.0)?;
                return Err(error);
            }
            if progress.done == progress.substeps {
                self.progress = None;
                let balance = balance_of(
                    self.staging.result(&total),
                    &status,
                    progress.extra_sorts,
                    &self.last_substep,
                );
                self.order.follow(
                    &progress.sorts,
                    progress.substeps,
                    progress.cells_per_speed,
                    balance.max_speed,
                );
                return Ok(Advance::Done(balance));
            }
            if let Some(cause) = StopCause::of(&status) {
                return Ok(Advance::Stopped(Stopped { substep_index: progress.done, cause }));
            }
            if progress.done == end {
                continue;
            }
            // A particle is about to leave its scratchpad: what is left begins with a sort.
            progress.extra_sorts += 1;
            progress.sorts.first = Some(progress.done);
        }
    }

    /// Runs the commands of these substeps of a step.
    fn run(
        &mut self,
        substeps: Range<u32>,
        sorts: SortSchedule,
        hook: SubstepHook,
    ) -> Result<(), DeviceError> {
        if self.staging.prepare()? {
            self.recordings.clear();
        }
        if substeps.start > 0 {
            // A rest, of which there are many lengths.
            let mut commands = Commands::new();
            self.issue(&mut commands, substeps, sorts, hook);
            return self.device.submit(&commands);
        }
        let kind = (substeps.end, sorts);
        if let Some(place) = self.recordings.iter().position(|(recorded, _)| *recorded == kind) {
            self.recordings[place..].rotate_left(1);
            return self.recordings.last().map_or(Ok(()), |(_, recording)| recording.run());
        }
        let recording = self.device.record(|commands| self.issue(commands, substeps, sorts, hook))?;
        recording.run()?;
        if self.recordings.len() == RECORDINGS {
            self.recordings.remove(0);
        }
        self.recordings.push((kind, recording));
        Ok(())
    }

    /// Whether particles are there to go on with, after so many substeps.
    fn check(&self, status: &[u32], substeps: u32) -> Result<(), DeviceMpmError> {
        let flags = status[MPM_STATUS_FLAGS as usize];
        if flags & MPM_LOST != 0 {
            let source = self.lost_particle(u32::MAX - status[MPM_STATUS_LOST as usize])?;
            return Err(DeviceMpmError::Lost { substep_index: substeps.saturating_sub(1), source });
        }
        if flags & MPM_OUT_OF_RANGE != 0 {
            return Err(DeviceMpmError::OutOfRange { limit: MPM_KEY_LIMIT, substeps });
        }
        Ok(())
    }

    fn lost_particle(&self, id: u32) -> Result<MpmError, DeviceError> {
        let all = self.particles.download()?;
        let found = all.iter().find(|particle| particle.id == id);
        let [position, velocity] = found.map_or([Vector3::repeat(f64::NAN); 2], |p| {
            let cells = |d: usize, _| 4.0 * f64::from(p.block[d]) + f64::from(p.position[d]);
            [Vector3::from_fn(cells) * self.grid_spacing, Vector3::from(p.velocity).map(f64::from)]
        });
        Ok(MpmError::LostParticle { id, position, velocity })
    }
}
