//! Steps: their substeps, and what stops them, so that they can be mended and go on.

use std::ops::Range;

use nalgebra::Vector3;
use pliant_mpm::{MpmError, detail};

use super::sorting::Sorts;
use super::step::{Between, RECORDINGS};
use super::{BlockCapacities, DeviceMpm, DeviceMpmError, StepAccount};
use crate::kernels::{
    CONTACT_CROWDED, CONTACT_TOO_MANY, CONVEX_FAILED, CONVEX_MISSING_NODE, CONVEX_TOO_MANY_CONTACTS,
    CONVEX_TOO_MANY_NODES, MPM_KEY_LIMIT, MPM_LOST, MPM_OUT_OF_RANGE, MPM_STATUS_CAPACITY, MPM_STATUS_FLAGS,
    MPM_STATUS_LIMIT, MPM_STATUS_LOST, MPM_STATUS_NEEDED, MPM_STATUS_WORDS, MPM_TOO_MANY_NODE_BLOCKS,
    MPM_TOO_MANY_PARTICLE_BLOCKS, MpmSettings,
};
use crate::{Commands, DeviceError};

/// Where a step is after it was advanced.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one a step")]
pub enum Advance {
    /// All substeps have run.
    Done(StepAccount),
    /// Something does not fit: see [`DeviceMpm::resume`].
    Stopped(Stopped),
}

/// A step that stopped. Particles, velocities and what contact remembers are as before the substep, of which nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("substep {substep} of the step cannot run: {cause}")]
pub struct Stopped {
    /// The substep that could not run; those before it have.
    pub substep: u32,
    /// Why.
    pub cause: StopCause,
}

/// Why a step stopped. `needed` is as far as it was counted: there may be more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopCause {
    /// More blocks with particles than there is room for ([`DeviceMpm::grow`]).
    #[error("particles are in {needed} blocks, there is room for {capacity}")]
    ParticleBlocks {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// More blocks of nodes than there is room for ([`DeviceMpm::grow`]).
    #[error("particles reach {needed} blocks of nodes, there is room for {capacity}")]
    NodeBlocks {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// More contacts than their arrays hold ([`crate::contact::DeviceRegistry::grow`]).
    #[error("{needed} contacts, there is memory for {capacity}")]
    Contacts {
        /// How many there are.
        needed: u32,
        /// How many there is memory for.
        capacity: u32,
    },
    /// More contacts than the solver has room for ([`crate::convex::DeviceConvexSolver::grow`]).
    #[error("{needed} contacts to solve, the solver has room for {capacity}")]
    SolverContacts {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// More touched nodes than the solver has room for ([`crate::convex::DeviceConvexSolver::grow`]).
    #[error("contacts touch {needed} nodes, the solver has room for {capacity}")]
    TouchedNodes {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// A particle touches more geometries than are followed. No memory mends this.
    #[error("a particle touches {geometries} geometries at once; at most {most} are followed")]
    Crowded {
        /// Geometries that it touches.
        geometries: u32,
        /// The most there can be.
        most: u32,
    },
    /// A contact touches a node that the grid does not have. No memory mends this.
    #[error("a contact touches a node that the grid does not have")]
    MissingNode,
    /// The contact solve met numbers that are not finite. No memory mends this; the velocities that the next solve would start from are
    /// lost as well.
    #[error("the contact solve met numbers that are not finite")]
    NotFinite,
}

impl StopCause {
    /// Whether more memory lets the step go on.
    pub fn is_room(&self) -> bool {
        !matches!(self, Self::Crowded { .. } | Self::MissingNode | Self::NotFinite)
    }

    /// Of the status words of a step; none where a particle only drifted.
    fn of(status: &[u32]) -> Option<Self> {
        let (needed, capacity) = (status[MPM_STATUS_NEEDED as usize], status[MPM_STATUS_CAPACITY as usize]);
        let causes = [
            (MPM_TOO_MANY_PARTICLE_BLOCKS, Self::ParticleBlocks { needed, capacity }),
            (MPM_TOO_MANY_NODE_BLOCKS, Self::NodeBlocks { needed, capacity }),
            (CONTACT_CROWDED, Self::Crowded { geometries: needed, most: capacity }),
            (CONTACT_TOO_MANY, Self::Contacts { needed, capacity }),
            (CONVEX_TOO_MANY_CONTACTS, Self::SolverContacts { needed, capacity }),
            (CONVEX_TOO_MANY_NODES, Self::TouchedNodes { needed, capacity }),
            (CONVEX_MISSING_NODE, Self::MissingNode),
            (CONVEX_FAILED, Self::NotFinite),
        ];
        let flags = status[MPM_STATUS_FLAGS as usize];
        causes.into_iter().find(|(flag, _)| flags & flag != 0).map(|(_, cause)| cause)
    }
}

/// How far a step is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) substeps: u32,
    pub(super) done: u32,
    pub(super) sorts: Sorts,
    /// Length of a substep over the grid spacing [s/m].
    delta: f64,
    extra_sorts: u32,
}

impl DeviceMpm {
    /// Moves the particles by `substeps` substeps of `delta` [s] under `gravity` [m/s^2], without a word to the host until they are done
    /// or there is no room for the particles' blocks, which makes more.
    ///
    /// # Errors
    /// [`DeviceMpmError::Lost`] with the particle that was lost, after which the particles are as after that substep;
    /// [`DeviceMpmError::OutOfRange`], and those of the device.
    pub fn advance(
        &mut self,
        substeps: u32,
        delta: f64,
        gravity: Vector3<f64>,
    ) -> Result<StepAccount, DeviceMpmError> {
        let mut at = self.advance_with(substeps, delta, gravity, &|_, _| {})?;
        loop {
            match at {
                Advance::Done(account) => return Ok(account),
                Advance::Stopped(stopped) => self.make_room(&stopped)?,
            }
            at = self.resume(&|_, _| {})?;
        }
    }

    /// As [`DeviceMpm::advance`], with the commands of `between` run between each substep's free motion and its transfer back to the
    /// particles. It is called when commands are recorded, which is not in every step: see [`DeviceMpm::forget_recording`]. Its kernels
    /// must do nothing where the substep is stopped ([`DeviceMpm::status`]), and may stop it as long as they have changed nothing but the
    /// grid.
    ///
    /// # Errors
    /// As [`DeviceMpm::advance`].
    pub fn advance_with(
        &mut self,
        substeps: u32,
        delta: f64,
        gravity: Vector3<f64>,
        between: Between,
    ) -> Result<Advance, DeviceMpmError> {
        let kept_detail = detail::kept(gravity.norm(), self.grid_spacing, delta) as f32;
        self.keep_details(kept_detail);
        self.settings.upload(&[MpmSettings {
            gravity_step: (gravity * delta).into(),
            grid_spacing_f64: self.grid_spacing,
            delta_f64: delta,
            grid_spacing: self.grid_spacing as f32,
            delta: delta as f32,
            kept_detail,
            unused: 0,
        }])?;
        if let Some(cloth) = &mut self.cloth
            && cloth.begin_step(substeps, self.time, delta, gravity)?
        {
            self.recordings.clear();
        }
        self.time += f64::from(substeps) * delta;
        self.total.fill(0.0)?;
        if self.progress.is_some() {
            // The last step was not brought to its end.
            self.transfers.accounts.fill(0.0)?;
        }
        let cells = delta / self.grid_spacing;
        let sorts = self.order.plan(substeps, cells, gravity.norm() * delta);
        self.progress = Some(Progress { substeps, done: 0, sorts, delta: cells, extra_sorts: 0 });
        self.go_on(between)
    }

    /// Runs what is left of a step that stopped, from the substep that could not run on; commands are recorded anew. What comes out is the
    /// same, to the bit, as if there had been room from the start. Where nothing was mended it stops again.
    ///
    /// # Errors
    /// [`DeviceMpmError::NothingToResume`] where no step stopped; as [`DeviceMpm::advance`].
    pub fn resume(&mut self, between: Between) -> Result<Advance, DeviceMpmError> {
        self.recordings.clear();
        self.go_on(between)
    }

    /// Makes room for the blocks that a step stopped for.
    ///
    /// # Errors
    /// [`DeviceMpmError::Stopped`] where it stopped for something else; as [`DeviceMpm::grow`].
    pub fn make_room(&mut self, stopped: &Stopped) -> Result<(), DeviceMpmError> {
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
    fn go_on(&mut self, between: Between) -> Result<Advance, DeviceMpmError> {
        let Some(mut progress) = self.progress else {
            return Err(DeviceMpmError::NothingToResume);
        };
        loop {
            let mut status = [0; MPM_STATUS_WORDS as usize];
            status[MPM_STATUS_LIMIT as usize] = u32::MAX;
            self.status.upload(&status)?;
            self.run(progress.done..progress.substeps, progress.sorts, between)?;
            self.status.download_at(0, &mut status)?;
            progress.done = status[MPM_STATUS_LIMIT as usize].min(progress.substeps);
            self.progress = Some(progress);
            if let Err(error) = self.check(&status, progress.done) {
                // Nothing to go on with.
                self.progress = None;
                self.transfers.accounts.fill(0.0)?;
                return Err(error);
            }
            if progress.done == progress.substeps {
                self.progress = None;
                let account = self.account(&status, progress.extra_sorts)?;
                self.order.follow(&progress.sorts, progress.substeps, progress.delta, account.max_speed);
                return Ok(Advance::Done(account));
            }
            if let Some(cause) = StopCause::of(&status) {
                return Ok(Advance::Stopped(Stopped { substep: progress.done, cause }));
            }
            // A particle is about to leave its window: what is left begins with a sort.
            progress.extra_sorts += 1;
            progress.sorts.first = Some(progress.done);
        }
    }

    /// Runs the commands of these substeps of a step.
    fn run(&mut self, substeps: Range<u32>, sorts: Sorts, between: Between) -> Result<(), DeviceError> {
        if substeps.start > 0 {
            // A rest, of which there are many lengths.
            let mut commands = Commands::new();
            self.issue(&mut commands, substeps, sorts, between);
            return self.device.submit(&commands);
        }
        let kind = (substeps.end, sorts);
        if let Some((_, recording)) = self.recordings.iter().find(|(recorded, _)| *recorded == kind) {
            return recording.run();
        }
        let recording = self.device.record(|commands| self.issue(commands, substeps, sorts, between))?;
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
            return Err(DeviceMpmError::Lost { substep: substeps.saturating_sub(1), source });
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
