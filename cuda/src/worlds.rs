//! Isolated worlds side by side on a device: [`WorldBatch`], stepped there.
//!
//! [`DeviceWorlds`] is made from a batch as it is. A step is five launches: smooth velocities (a
//! thread a tree and world), contacts in closed form (a thread a pair and world, its points in
//! places of their own), what they add to each degree of freedom (a thread for it and a world, in
//! the order of the points), the correction, and the motion. In `f64` nothing is fused and every
//! operation is that of the processor, so that the results have its bits, as far as powers of
//! impedances are 1 or 2. In `f32` velocities are about each tree's first body, and contacts are in
//! world coordinates: overlaps are as good as the last bit of positions, 1e-8 m at 0.1 m from the
//! origin and 8e-6 m at 100 m.

mod error;
mod memory;
mod number;
mod upload;

pub use error::WorldsError;
pub use number::WorldsNumber;

use pliant_batch::{FlatBatch, Parameter, Status, WorldBatch};
use pliant_rigid::StepWatch;
use pliant_rigid::multibody::State;

use crate::{Device, Recording};
use memory::WorldsMemory;

/// Worlds on a device, in precision `T`: [`f32`] or [`f64`].
#[derive(Debug)]
pub struct DeviceWorlds<T: WorldsNumber> {
    device: Device,
    flat: FlatBatch,
    memory: WorldsMemory<T>,
    step: Recording,
    watch: StepWatch,
}

impl<T: WorldsNumber> DeviceWorlds<T> {
    /// The worlds of `batch` with their states, targets and parameters, with room for the targets
    /// of one step.
    ///
    /// # Errors
    /// [`WorldsError::TooLarge`], before anything is allocated, and those of the device.
    pub fn new(device: &Device, batch: &WorldBatch) -> Result<Self, WorldsError> {
        Self::with_room(device, batch, 1)
    }

    /// The same, with room for the targets of rollouts of `steps` steps.
    ///
    /// # Errors
    /// As of [`DeviceWorlds::new`].
    pub fn with_room(device: &Device, batch: &WorldBatch, steps: usize) -> Result<Self, WorldsError> {
        let flat = batch.flatten();
        let (needed, memory) = (WorldsMemory::<T>::bytes_needed(&flat, steps), device.memory()?);
        if needed > memory.free {
            let (free, total, worlds) = (memory.free, memory.total, flat.worlds);
            return Err(WorldsError::TooLarge { needed, free, total, worlds, steps });
        }
        let memory = WorldsMemory::new(device, &flat, steps)?;
        let step = memory.record(device, &flat)?;
        Ok(Self { device: device.clone(), flat, memory, step, watch: StepWatch::default() })
    }

    /// What [`DeviceWorlds::with_room`] allocates, in bytes.
    pub fn bytes_needed(batch: &WorldBatch, steps: usize) -> u64 {
        WorldsMemory::<T>::bytes_needed(&batch.flatten(), steps)
    }

    /// The watch of its steps: it counts those that were launched, and can stop the launches.
    pub fn watch(&self) -> &StepWatch {
        &self.watch
    }

    /// How many worlds there are.
    pub fn worlds(&self) -> usize {
        self.flat.worlds
    }

    /// The step \[s\].
    pub fn dt(&self) -> f64 {
        self.flat.dt
    }

    /// Number of motors, which is that of targets.
    pub fn motors(&self) -> usize {
        self.flat.motors.len()
    }

    /// Length of `q`, the first rows of [`DeviceWorlds::states`].
    pub fn positions(&self) -> usize {
        self.flat.positions
    }

    /// Length of `v`, the other rows.
    pub fn velocities(&self) -> usize {
        self.flat.velocities
    }

    /// Advances all worlds by a number of steps with their targets as they are. Worlds that diverge
    /// stop, the others go on. On a GPU the host goes on as well.
    ///
    /// # Errors
    /// Those of the device, and [`WorldsError::Stopped`] if the [`watch`](Self::watch) asked for it.
    pub fn step(&mut self, steps: usize) -> Result<(), WorldsError> {
        self.watch.begin_step(0);
        self.watch.expect_substeps(steps as u64);
        for done in 0..steps {
            if self.watch.is_stopped() {
                return Err(WorldsError::Stopped { done, steps });
            }
            self.step.run()?;
            self.watch.count_substeps(1);
        }
        Ok(())
    }

    /// The same with targets of their own for each step, uploaded in one piece:
    /// `[step][motor][world]`. The last ones stay.
    ///
    /// # Errors
    /// [`WorldsError::Targets`] where there are others than for all steps, motors and worlds, or
    /// one is not finite, and those of the device, which may have too little memory for so many.
    pub fn rollout(&mut self, targets: &[f64], steps: usize) -> Result<(), WorldsError> {
        let needed = steps * self.motors() * self.worlds();
        let wrong = targets.iter().position(|target| !target.is_finite());
        if targets.len() != needed || wrong.is_some() {
            let (motors, worlds, given) = (self.motors(), self.worlds(), targets.len());
            return Err(WorldsError::Targets { given, steps, motors, worlds, wrong });
        }
        if self.memory.grow_blocks(steps.max(1) * self.motors() * self.worlds())? {
            self.step = self.memory.record(&self.device, &self.flat)?;
        }
        if steps > 0 {
            self.memory.set_targets(targets, steps)?;
        }
        self.step(steps)?;
        self.memory.hold_targets(&targets[needed - needed.min(self.motors() * self.worlds())..])
    }

    /// State of a world: of one that stopped, the last that was finite.
    ///
    /// # Errors
    /// No such world, and those of the device.
    pub fn state(&self, world: usize) -> Result<State, WorldsError> {
        self.flat.check_world(world)?;
        let read = |first: usize, count: usize| {
            let rows = first..first + count;
            rows.map(|row| self.memory.state(row * self.worlds() + world)).collect::<Result<_, _>>()
        };
        Ok(State {
            time: self.time(world)?,
            q: read(0, self.positions())?,
            v: read(self.positions(), self.velocities())?,
        })
    }

    /// Positions and velocities of all worlds, in one piece: a row for each number of `q`, then for
    /// each of `v`, with the worlds side by side.
    ///
    /// # Errors
    /// Those of the device.
    pub fn states(&self) -> Result<Vec<f64>, WorldsError> {
        Ok(self.memory.states.download()?.into_iter().map(T::wide).collect())
    }

    /// Puts a world into a state and has it run.
    ///
    /// # Errors
    /// As of [`WorldBatch::set_state`], and those of the device.
    pub fn set_state(&mut self, world: usize, state: &State) -> Result<(), WorldsError> {
        self.flat.check_state(world, state)?;
        let worlds = self.worlds();
        for (row, x) in state.q.iter().chain(&state.v).enumerate() {
            self.memory.states.upload_at(row * worlds + world, &[T::narrow(*x)])?;
        }
        self.memory.stopped.upload_at(world, &[0])?;
        self.memory.steps.upload_at(world, &[0])?;
        self.flat.times[world] = state.time;
        Ok(())
    }

    /// Puts all worlds into a state each, in one piece, and has them run.
    ///
    /// # Errors
    /// As of [`DeviceWorlds::set_state`], and [`WorldsError::States`] where there are not as many
    /// as worlds.
    pub fn set_states(&mut self, states: &[State]) -> Result<(), WorldsError> {
        let worlds = self.worlds();
        if states.len() != worlds {
            return Err(WorldsError::States { given: states.len(), worlds });
        }
        for (world, state) in states.iter().enumerate() {
            self.flat.check_state(world, state)?;
        }
        let mut rows = vec![T::narrow(0.0); worlds * (self.positions() + self.velocities())];
        for (world, state) in states.iter().enumerate() {
            for (row, x) in state.q.iter().chain(&state.v).enumerate() {
                rows[row * worlds + world] = T::narrow(*x);
            }
        }
        self.memory.states.upload(&rows)?;
        self.memory.stopped.fill(0)?;
        self.memory.steps.fill(0)?;
        self.flat.times = states.iter().map(|state| state.time).collect();
        Ok(())
    }

    /// Sets the target of a motor in a world, as [`WorldBatch::set_target`].
    ///
    /// # Errors
    /// No such world or motor, or not finite, and those of the device.
    pub fn set_target(&mut self, world: usize, motor: usize, target: f64) -> Result<(), WorldsError> {
        self.flat.check_target(world, motor, target)?;
        self.memory.targets.upload_at(motor * self.flat.worlds + world, &[T::narrow(target)])?;
        Ok(())
    }

    /// Sets a parameter of a world.
    ///
    /// # Errors
    /// No such world or parameter, or a value out of range, and those of the device.
    pub fn set_parameter(
        &mut self,
        world: usize,
        parameter: Parameter,
        value: f64,
    ) -> Result<(), WorldsError> {
        self.flat.check_world(world)?;
        let row = self.flat.parameter_row(parameter, value)?;
        self.memory.parameters.upload_at(row * self.flat.worlds + world, &[T::narrow(value)])?;
        Ok(())
    }

    /// Whether a world runs, or since when it does not.
    ///
    /// # Errors
    /// No such world, and those of the device.
    pub fn status(&self, world: usize) -> Result<Status, WorldsError> {
        self.flat.check_world(world)?;
        if WorldsMemory::<T>::word(&self.memory.stopped, world)? == 0 {
            Ok(Status::Running)
        } else {
            Ok(Status::Stopped { time: self.time(world)? })
        }
    }

    /// Time of a world's state \[s\].
    fn time(&self, world: usize) -> Result<f64, WorldsError> {
        let steps = WorldsMemory::<T>::word(&self.memory.steps, world)?;
        Ok(self.flat.times[world] + f64::from(steps) * self.flat.dt)
    }
}
