//! A block of worlds and its steps.

use pulp::{Simd, WithSimd};

use super::block::Block;
use super::contact::Contacts;
use super::error::BatchError;
use super::finish::{Advance, Finish};
use super::kinematics::{Kinematics, Worlds};
use super::plan::{Joint, Plan};
use super::slab::Slab;
use super::smooth::Smooth;
use super::world::World;
use pliant_numeric::lanes::{LANES, Row};
use pliant_rigid::multibody::State;

impl Plan {
    /// Whether a state can be that of a world.
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
        for body in self.bodies.iter().filter(|b| matches!(b.joint, Joint::Ball | Joint::Free)) {
            let length = state.q[body.first_position..][..4].iter().map(|x| x * x).sum::<f64>().sqrt();
            if (length - 1.0).abs() > 1e-6 {
                return fail("length of a quaternion", length, "", "1");
            }
        }
        Ok(())
    }
}

/// Steps of a block, with `act` before each and, where they are `observed`, after the last.
pub(super) struct StepBlock<'a, W, F> {
    pub plan: &'a Plan,
    pub block: &'a mut Block,
    pub scratch: &'a mut Vec<Row>,
    pub steps: usize,
    pub own: &'a mut [W],
    pub observed: bool,
    pub act: &'a F,
}

impl<W, F: Fn(&mut W, &mut World<'_>, usize)> WithSimd for StepBlock<'_, W, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { plan, block, scratch, steps, own, observed, act } = self;
        let parts = LANES / S::F64_LANES;
        let part_rows = plan.layout.scratch / parts;
        for step in 0..steps + usize::from(observed) {
            for (part, rows) in scratch.chunks_exact_mut(part_rows).enumerate() {
                let mut slab = Slab::new(simd, rows);
                let mut worlds = worlds(plan, block, part, &mut slab);
                simd.vectorize(Kinematics(&mut worlds));
            }
            for (lane, own) in own.iter_mut().enumerate() {
                let width = S::F64_LANES;
                let mut world = World { plan, block, scratch, lane, width };
                act(own, &mut world, step);
            }
            if step == steps {
                break;
            }
            for (part, rows) in scratch.chunks_exact_mut(part_rows).enumerate() {
                let mut slab = Slab::new(simd, rows);
                slab.clear(plan.layout.loads, plan.velocities());
                let mut worlds = worlds(plan, block, part, &mut slab);
                simd.vectorize(Smooth(&mut worlds));
                simd.vectorize(Contacts(&mut worlds));
                simd.vectorize(Finish(&mut worlds));
                simd.vectorize(Advance(&mut worlds));
            }
            let runs = &block.state[plan.layout.runs];
            for (steps, runs) in block.steps.iter_mut().zip(runs.0) {
                *steps += u64::from(runs > 0.5);
            }
        }
    }
}

fn worlds<'a, 'b, S: Simd>(
    plan: &'a Plan,
    block: &'a mut Block,
    part: usize,
    slab: &'a mut Slab<'b, S>,
) -> Worlds<'a, 'b, S> {
    Worlds { plan, state: &mut block.state, parameters: &block.parameters, part, slab }
}
