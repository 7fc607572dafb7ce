//! A block of worlds and its steps.

use pulp::{Simd, WithSimd};

use super::block::WorldBlock;
use super::contact::Contacts;
use super::error::BatchError;
use super::finish::{Finish, IntegratePositions};
use super::kinematics::{Kinematics, WorldLanes};
use super::plan::{BatchJoint, Plan};
use super::slab::LaneWorkspace;
use super::smooth::Smooth;
use super::world::BatchWorld;
use pliant_numeric::lanes::{F64x8, LANES};
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
    pub block: &'a mut WorldBlock,
    pub scratch: &'a mut Vec<F64x8>,
    pub steps: usize,
    pub own: &'a mut [W],
    pub observed: bool,
    pub act: &'a F,
}

impl<W, F: Fn(&mut W, &mut BatchWorld<'_>, usize)> WithSimd for StepBlock<'_, W, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { plan, block, scratch, steps, own, observed, act } = self;
        let parts = LANES / S::F64_LANES;
        let part_rows = plan.layout.scratch / parts;
        for step in 0..steps + usize::from(observed) {
            for (part, rows) in scratch.chunks_exact_mut(part_rows).enumerate() {
                let mut workspace = LaneWorkspace::new(simd, rows);
                let mut worlds = worlds(plan, block, part, &mut workspace);
                simd.vectorize(Kinematics(&mut worlds));
            }
            for (lane, own) in own.iter_mut().enumerate() {
                let width = S::F64_LANES;
                let mut world = BatchWorld { plan, block, scratch, lane, width };
                act(own, &mut world, step);
            }
            if step == steps {
                break;
            }
            for (part, rows) in scratch.chunks_exact_mut(part_rows).enumerate() {
                let mut workspace = LaneWorkspace::new(simd, rows);
                workspace.clear(plan.layout.loads, plan.velocities());
                let mut worlds = worlds(plan, block, part, &mut workspace);
                simd.vectorize(Smooth(&mut worlds));
                simd.vectorize(Contacts(&mut worlds));
                simd.vectorize(Finish(&mut worlds));
                simd.vectorize(IntegratePositions(&mut worlds));
            }
            let running = &block.state[plan.layout.running];
            for (steps, running) in block.steps.iter_mut().zip(running.0) {
                *steps += u64::from(running > 0.5);
            }
        }
    }
}

fn worlds<'a, 'b, S: Simd>(
    plan: &'a Plan,
    block: &'a mut WorldBlock,
    part: usize,
    workspace: &'a mut LaneWorkspace<'b, S>,
) -> WorldLanes<'a, 'b, S> {
    WorldLanes { plan, state: &mut block.state, parameters: &block.parameters, part, workspace }
}
