//! Many isolated copies of one system, stepped together with contact in closed form.
//!
//! [`WorldBatch`] has the published form of [`comfree`](pliant_rigid::comfree) (equations 2 to 13)
//! for thousands of worlds that differ in state, control and [`Parameter`]s. Eight worlds lie side
//! by side in memory and are processed as many at a time as the processor has lanes; blocks of
//! eight are distributed over threads. Worlds do not interact, no sum is over worlds, and no
//! operation is fused, so that results have the same bits for any number of threads, any order of
//! worlds and any width of the processor.
//!
//! A step consists of, in this order: poses, velocities, inertias and bias forces of all bodies;
//! the smooth velocities (equation 2) with damping, springs and motors implicit; every pair of
//! geometries whose bounding spheres overlap, in closed form (see [`WorldBatch::new`]); each
//! contact on its own from the smooth velocities (equations 5 to 8 and 11 to 13); joint limits and
//! dry friction likewise; the correction (equation 9); the motion.
//!
//! Differences from a [`Simulation`](pliant_rigid::simulation::Simulation) of the same system with
//! [`Form::Published`]: friction is the dynamic coefficient at any slip; a motor's limit is checked
//! at the smooth velocities, not again after contact; a body in free flight keeps its angular
//! momentum to rounding and its energy to first order in the step.
//!
//! [`Form::Published`]: pliant_rigid::comfree::Form::Published

mod block;
mod contact;
mod cull;
mod error;
mod finish;
mod flat;
mod kinematics;
mod layout;
mod parameter;
mod plan;
mod side;
mod slab;
mod smooth;
mod source;
mod step;
mod world;

pub use block::Status;
pub use error::BatchError;
pub use flat::{
    FLAT_NONE, FlatBatch, FlatBody, FlatDof, FlatGeometry, FlatMotor, FlatPair, FlatParameters, FlatPose,
    FlatTree,
};
pub use parameter::Parameter;
pub use source::ClosedFormContactSource;
pub use world::BatchWorld;

use rayon::prelude::*;

use block::WorldBlock;
use plan::Plan;
use pliant_numeric::simd::{Detected, F64x8, InstructionSet};
use pliant_rigid::StepWatch;
use pliant_rigid::collision::CollisionModel;
use pliant_rigid::multibody::State;
use pliant_rigid::simulation::System;
use step::StepBlock;

/// Isolated copies of a system.
#[derive(Debug)]
pub struct WorldBatch {
    plan: Plan,
    level: Detected,
    blocks: Vec<WorldBlock>,
    worlds: usize,
    /// Workspace of a step, one for each part of the blocks.
    scratch: Vec<Vec<F64x8>>,
    initial: State,
}

impl WorldBatch {
    /// `worlds` copies of `system`, all in its rest state, with steps of `dt` \[s\]. The blocks are
    /// distributed over the threads of the current thread pool.
    ///
    /// Joints are revolute, prismatic, ball, free (on the world) and fixed. Geometries that may
    /// touch are spheres, capsules, boxes and half-spaces. The system's own solver must be
    /// closed-form; of its settings the published form reads gains, facets and the impedance of
    /// joints.
    ///
    /// # Errors
    /// [`BatchError::Unsupported`] for anything else, and values out of range.
    pub fn new(system: &System, scene: &CollisionModel, worlds: usize, dt: f64) -> Result<Self, BatchError> {
        if worlds == 0 {
            return Err(BatchError::value("batch", "worlds", 0.0, "", "at least 1"));
        }
        let plan = Plan::new(system, scene, dt)?;
        let initial = system.model.zero_configuration();
        let block = WorldBlock::new(&plan, &initial);
        let blocks = vec![block; worlds.div_ceil(F64x8::LANES)];
        let shares = rayon::current_num_threads().clamp(1, blocks.len());
        let scratch = vec![vec![F64x8::ZERO; plan.layout.scratch]; shares];
        Ok(Self { plan, level: Detected::new(InstructionSet::detect()), blocks, worlds, scratch, initial })
    }

    /// Number of worlds.
    pub fn worlds(&self) -> usize {
        self.worlds
    }

    /// The step \[s\].
    pub fn dt(&self) -> f64 {
        self.plan.dt
    }

    /// Number of motors, which is that of targets.
    pub fn motors(&self) -> usize {
        self.plan.motors.len()
    }

    /// Status of a world.
    ///
    /// # Errors
    /// No such world.
    pub fn status(&self, world: usize) -> Result<Status, BatchError> {
        let (block, lane) = self.place(world)?;
        Ok(self.blocks[block].status(&self.plan, lane))
    }

    /// State of a world; of a stopped one the last finite state.
    ///
    /// # Errors
    /// No such world.
    pub fn state(&self, world: usize) -> Result<State, BatchError> {
        let (block, lane) = self.place(world)?;
        let (block, l) = (&self.blocks[block], &self.plan.layout);
        let read = |first: usize, count: usize| {
            block.state[first..first + count].iter().map(|row| row.0[lane]).collect()
        };
        Ok(State {
            time: block.time(&self.plan, lane),
            q: read(l.positions, self.plan.positions),
            v: read(l.velocities, self.plan.velocities()),
        })
    }

    /// Sets the state of a world and starts it.
    ///
    /// # Errors
    /// No such world; a state that is not finite, does not fit, or whose quaternions are not of
    /// unit length.
    pub fn set_state(&mut self, world: usize, state: &State) -> Result<(), BatchError> {
        let (block, lane) = self.place(world)?;
        self.plan.check(world, state)?;
        self.blocks[block].set_state(&self.plan, lane, state);
        Ok(())
    }

    /// Sets the state of all worlds.
    ///
    /// # Errors
    /// As of [`set_state`](Self::set_state).
    pub fn set_states(&mut self, state: &State) -> Result<(), BatchError> {
        self.plan.check(0, state)?;
        for block in &mut self.blocks {
            (0..F64x8::LANES).for_each(|lane| block.set_state(&self.plan, lane, state));
        }
        Ok(())
    }

    /// The initial state of the worlds.
    pub fn initial(&self) -> &State {
        &self.initial
    }

    /// Target of a motor in a world, as [`set_target`](Self::set_target) sets it.
    ///
    /// # Errors
    /// No such world or motor.
    pub fn target(&self, world: usize, motor: usize) -> Result<f64, BatchError> {
        let (block, lane) = self.place(world)?;
        self.check_motor(motor)?;
        Ok(self.blocks[block].state[self.plan.layout.targets + motor].0[lane])
    }

    fn check_motor(&self, motor: usize) -> Result<(), BatchError> {
        if motor < self.motors() {
            Ok(())
        } else {
            Err(BatchError::value("target", "motor", motor as f64, "", "a motor of the system"))
        }
    }

    /// Sets the target of a motor in a world: an effort \[N m, N\], a rate \[rad/s, m/s\] or a
    /// position \[rad, m\], as the motor takes it.
    ///
    /// # Errors
    /// No such world or motor, or not finite.
    pub fn set_target(&mut self, world: usize, motor: usize, target: f64) -> Result<(), BatchError> {
        let (block, lane) = self.place(world)?;
        self.check_motor(motor)?;
        if !target.is_finite() {
            return Err(BatchError::value(format!("motor {motor}"), "target", target, "SI", "finite"));
        }
        self.blocks[block].state[self.plan.layout.targets + motor].0[lane] = target;
        Ok(())
    }

    /// A parameter of a world.
    ///
    /// # Errors
    /// No such world or parameter.
    pub fn parameter(&self, world: usize, parameter: Parameter) -> Result<f64, BatchError> {
        let (block, lane) = self.place(world)?;
        let row = parameter.row(&self.plan)?;
        Ok(self.blocks[block].parameters[row].0[lane])
    }

    /// Sets a parameter of a world.
    ///
    /// # Errors
    /// No such world or parameter, or a value out of range.
    pub fn set_parameter(
        &mut self,
        world: usize,
        parameter: Parameter,
        value: f64,
    ) -> Result<(), BatchError> {
        let (block, lane) = self.place(world)?;
        let row = parameter.row(&self.plan)?;
        parameter.check(value)?;
        if let Parameter::TorsionalFriction(g) | Parameter::RollingFriction(g) = parameter
            && value > 0.0
        {
            let pairs = self.plan.pairs.iter_mut();
            pairs.filter(|pair| pair.geometries.contains(&g)).for_each(|pair| pair.turns = true);
        }
        self.blocks[block].parameters[row].0[lane] = value;
        Ok(())
    }

    /// Advances all worlds by a number of steps. Worlds that diverge stop, the others continue.
    pub fn step(&mut self, steps: usize) {
        let mut nothing = vec![(); self.worlds];
        self.run(&mut nothing, steps, false, None, &|(), _, _| {});
    }

    /// The same, until `watch` asks to stop: it is asked before each step of a block of worlds, and
    /// counts the blocks' steps as substeps of a step.
    ///
    /// # Errors
    /// [`BatchError::Stopped`]. The worlds have then taken different numbers of steps; each has a
    /// valid state, whose time says how many.
    pub fn step_watched(&mut self, steps: usize, watch: &StepWatch) -> Result<(), BatchError> {
        watch.begin_step(0);
        watch.expect_substeps((steps * self.blocks.len()) as u64);
        let mut nothing = vec![(); self.worlds];
        self.run(&mut nothing, steps, false, Some(watch), &|(), _, _| {});
        let done = watch.progress().substeps;
        let all = (steps * self.blocks.len()) as u64;
        if done < all { Err(BatchError::Stopped { done, all }) } else { Ok(()) }
    }

    /// The same, and before each step calls `act` for every world with its entry of `own`, the
    /// present world, and the number of the step: to observe it and to set targets. After the last
    /// step it is called once more, with `steps`.
    ///
    /// # Errors
    /// [`BatchError::Value`] if `own` does not have one entry for each world.
    pub fn rollout<W: Send>(
        &mut self,
        own: &mut [W],
        steps: usize,
        act: impl Fn(&mut W, &mut BatchWorld<'_>, usize) + Sync,
    ) -> Result<(), BatchError> {
        if own.len() != self.worlds {
            return Err(BatchError::value("rollout", "items", own.len() as f64, "", "one for each world"));
        }
        self.run(own, steps, true, None, &act);
        Ok(())
    }

    fn run<W: Send>(
        &mut self,
        own: &mut [W],
        steps: usize,
        observed: bool,
        watch: Option<&StepWatch>,
        act: &(impl Fn(&mut W, &mut BatchWorld<'_>, usize) + Sync),
    ) {
        let (plan, level, scratch) = (&self.plan, self.level, &mut self.scratch);
        let share = self.blocks.len().div_ceil(scratch.len());
        let blocks = self.blocks.par_chunks_mut(share).zip(own.par_chunks_mut(share * F64x8::LANES));
        blocks.zip(scratch).for_each(|((blocks, own), scratch)| {
            for (block, own) in blocks.iter_mut().zip(own.chunks_mut(F64x8::LANES)) {
                StepBlock { plan, level, block, scratch, steps, own, observed, watch, act }.run();
            }
        });
    }

    fn place(&self, world: usize) -> Result<(usize, usize), BatchError> {
        if world < self.worlds {
            Ok((world / F64x8::LANES, world % F64x8::LANES))
        } else {
            Err(BatchError::value("batch", "world", world as f64, "", "a world of the batch"))
        }
    }
}
