//! A block of worlds and its steps.

use core::marker::PhantomData;

use super::block::WorldBlock;
use super::contact::Contacts;
use super::error::BatchError;
use super::finish::{Finish, IntegratePositions};
use super::kinematics::{AllLanes, Kinematics, Phase};
use super::plan::{BatchJoint, Plan};
use super::smooth::Smooth;
use super::world::BatchWorld;
use pliant_numeric::simd::{Detected, F64x8};
use pliant_rigid::StepWatch;
use pliant_rigid::multibody::State;

impl Plan {
    /// Checks a state for a world.
    pub fn check(&self, world: usize, state: &State) -> Result<(), BatchError> {
        let fail = |field, value, unit, requirement| {
            Err(BatchError::value(format!("state of world {world}"), field, value, unit, requirement))
        };
        if state.q.len() != self.positions {
            return fail("positions", state.q.len() as f64, "", "as many as the model has");
        }
        if state.v.len() != self.velocities() {
            return fail("velocities", state.v.len() as f64, "", "as many as the model has");
        }
        if let Some(x) = state.q.iter().chain(&state.v).chain([&state.time]).find(|x| !x.is_finite()) {
            return fail("number", *x, "SI", "finite");
        }
        for body in self.bodies.iter().filter(|b| matches!(b.joint, BatchJoint::Ball | BatchJoint::Free)) {
            let length = state.q[body.first_position..][..4].iter().map(|x| x * x).sum::<f64>().sqrt();
            if (length - 1.0).abs() > 1e-6 {
                return fail("norm of a quaternion", length, "", "1");
            }
        }
        Ok(())
    }
}

/// Steps of a block, with `act` before each and, if they are `observed`, after the last.
pub(super) struct StepBlock<'a, W, F> {
    pub plan: &'a Plan,
    pub level: Detected,
    pub block: &'a mut WorldBlock,
    pub scratch: &'a mut Vec<F64x8>,
    pub steps: usize,
    pub own: &'a mut [W],
    pub observed: bool,
    pub watch: Option<&'a StepWatch>,
    pub act: &'a F,
}

impl<W, F: Fn(&mut W, &mut BatchWorld<'_>, usize)> StepBlock<'_, W, F> {
    pub fn run(mut self) {
        let width = self.level.doubles();
        for step in 0..self.steps + usize::from(self.observed) {
            if self.watch.is_some_and(StepWatch::is_stopped) {
                return;
            }
            self.advance::<Kinematics>();
            let Self { plan, block, scratch, own, act, .. } = &mut self;
            for (lane, own) in own.iter_mut().enumerate() {
                act(own, &mut BatchWorld { plan, block, scratch, lane, width }, step);
            }
            if step == self.steps {
                break;
            }
            self.advance::<Smooth>();
            self.advance::<Contacts>();
            self.advance::<Finish>();
            self.advance::<IntegratePositions>();
            let running = &self.block.state[self.plan.layout.running];
            for (steps, running) in self.block.steps.iter_mut().zip(running.0) {
                *steps += u64::from(running > 0.5);
            }
            if let Some(watch) = self.watch {
                watch.count_substeps(1);
            }
        }
    }

    /// One phase, compiled separately for the instruction set.
    fn advance<P: Phase>(&mut self) {
        let Self { plan, block, scratch, .. } = self;
        self.level.run(AllLanes::<P> { plan, block, scratch, phase: PhantomData });
    }
}
