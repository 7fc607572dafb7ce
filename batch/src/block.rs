//! Eight worlds side by side.

use super::plan::Plan;
use pliant_numeric::simd::F64x8;
use pliant_rigid::multibody::State;

/// Status of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// The world is stepped.
    Running,
    /// The world diverged: the step after this time gave values that are not finite, or velocities
    /// above 10^6 m/s or rad/s. Its state is that of this time.
    Stopped {
        /// Time \[s\].
        time: f64,
    },
}

/// Eight worlds.
#[derive(Clone, Debug)]
pub(super) struct WorldBlock {
    pub state: Vec<F64x8>,
    pub parameters: Vec<F64x8>,
    /// Steps of each world since its state was set, and the time of that state \[s\].
    pub steps: [u64; F64x8::LANES],
    began: [f64; F64x8::LANES],
}

impl WorldBlock {
    pub fn new(plan: &Plan, initial: &State) -> Self {
        let l = &plan.layout;
        let mut parameters = vec![F64x8::ZERO; l.parameters];
        let mut set = |at: usize, x: f64| parameters[at] = F64x8([x; F64x8::LANES]);
        (0..3).for_each(|d| set(l.gravity + d, plan.gravity[d]));
        (0..plan.bodies.len()).for_each(|b| set(l.mass + b, 1.0));
        for (g, geometry) in plan.geometries.iter().enumerate() {
            for d in 0..3 {
                set(l.sizes + 3 * g + d, geometry.size[d]);
                set(l.friction + 3 * g + d, geometry.friction[d]);
            }
        }
        for (m, motor) in plan.motors.iter().enumerate() {
            for (k, x) in [motor.stiffness, motor.damping, motor.limit].into_iter().enumerate() {
                set(l.motors + 3 * m + k, x);
            }
        }
        let mut block = Self {
            state: vec![F64x8::ZERO; l.state],
            parameters,
            steps: [0; F64x8::LANES],
            began: [0.0; F64x8::LANES],
        };
        for (m, motor) in plan.motors.iter().enumerate() {
            block.state[l.targets + m] = F64x8([motor.target; F64x8::LANES]);
        }
        (0..F64x8::LANES).for_each(|lane| block.set_state(plan, lane, initial));
        block
    }

    pub fn set_state(&mut self, plan: &Plan, lane: usize, state: &State) {
        let l = &plan.layout;
        for (row, x) in self.state[l.positions..].iter_mut().zip(&state.q) {
            row.0[lane] = *x;
        }
        for (row, x) in self.state[l.velocities..].iter_mut().zip(&state.v) {
            row.0[lane] = *x;
        }
        self.state[l.running].0[lane] = 1.0;
        self.steps[lane] = 0;
        self.began[lane] = state.time;
    }

    pub fn status(&self, plan: &Plan, lane: usize) -> Status {
        if self.state[plan.layout.running].0[lane] > 0.5 {
            Status::Running
        } else {
            Status::Stopped { time: self.time(plan, lane) }
        }
    }

    /// Time \[s\] of the last state.
    pub fn time(&self, plan: &Plan, lane: usize) -> f64 {
        self.began[lane] + self.steps[lane] as f64 * plan.dt
    }
}
