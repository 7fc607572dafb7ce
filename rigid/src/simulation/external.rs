//! Controllers and force elements with a state of their own.

use core::fmt::Debug;

use super::error::SimulationError;
use crate::multibody::{Kinematics, Model, State};

/// A controller or force element that reads the state of the mechanism and applies forces to its
/// joints. It may have a state x, `dx/dt = f(t, q, v, x)`.
///
/// The forces are treated implicitly where they resist motion (Kurtz and Castro 2025, section V-C),
/// so stiff ones do not limit the step. Both functions are called several times per step and must
/// depend only on their arguments. What changes in time is in x: a clone of the system, which a
/// branch of a world gets, must apply the same forces.
pub trait ExternalSystem: CloneExternal + Debug + Send + Sync {
    /// Number of states.
    fn states(&self) -> usize {
        0
    }

    /// Writes the state at time 0.
    fn start(&self, _x: &mut [f64]) {}

    /// Writes `dx/dt`.
    fn derivative(
        &self,
        _model: &Model,
        _kinematics: &Kinematics,
        _state: &State,
        _x: &[f64],
        _rate: &mut [f64],
    ) {
    }

    /// Adds its forces on the degrees of freedom \[N m, N\] to `forces`.
    fn add_forces(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        x: &[f64],
        forces: &mut [f64],
    );

    /// Largest force on a degree of freedom \[N m, N\].
    fn effort_limit(&self, _dof: usize) -> f64 {
        f64::INFINITY
    }

    /// The first time \[s\] after `t` at which its forces jump, independently of the state; `None`
    /// if there is none. An integrator may end a step there.
    fn next_event(&self, _t: f64) -> Option<f64> {
        None
    }
}

/// Clones behind the trait object; every [`ExternalSystem`] that is [`Clone`] has it.
pub trait CloneExternal {
    /// The same system.
    fn clone_box(&self) -> Box<dyn ExternalSystem>;
}

impl<T: ExternalSystem + Clone + 'static> CloneExternal for T {
    fn clone_box(&self) -> Box<dyn ExternalSystem> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn ExternalSystem> {
    fn clone(&self) -> Self {
        // Of what is in the box: the box itself has the same function.
        self.as_ref().clone_box()
    }
}

/// Linearisation of an external system: forces and final state, linear in the velocities at the end
/// of a step.
#[derive(Clone, Debug)]
pub(super) struct Implicit {
    /// Its states among those of all external systems.
    states: core::ops::Range<usize>,
    /// Forces at zero velocity, b of `b - K v`.
    efforts: Vec<f64>,
    /// K of each degree of freedom, at least 0.
    gains: Vec<f64>,
    /// State at the end, at the velocities of the start.
    end: Vec<f64>,
    /// Its change with each velocity, one after the other.
    slopes: Vec<f64>,
    probe: Probe,
    /// Forces at the velocities of the start.
    forces: Vec<f64>,
    /// Forces and end state at other velocities.
    other_forces: Vec<f64>,
    other_end: Vec<f64>,
}

/// Evaluates an external system at the end of a step, with its state advanced by a Rosenbrock step.
#[derive(Clone, Debug)]
struct Probe {
    kinematics: Kinematics,
    moved: State,
    rosenbrock: Factor,
    /// Rates at the start, and with one state perturbed.
    rates: [Vec<f64>; 2],
    moved_states: Vec<f64>,
}

/// Relative size of forward differences: the square root of the rounding error.
const DIFFERENCE: f64 = 1.5e-8;

impl Implicit {
    /// One for each external system, in order.
    pub fn all(externals: &[Box<dyn ExternalSystem>], model: &Model) -> Vec<Self> {
        let mut first = 0;
        let each = externals.iter().map(|external| {
            let states = first..first + external.states();
            first = states.end;
            let probe = Probe {
                kinematics: Kinematics::new(model),
                moved: model.zero_configuration(),
                rosenbrock: Factor::default(),
                rates: [Vec::new(), Vec::new()],
                moved_states: Vec::new(),
            };
            Self {
                states,
                efforts: Vec::new(),
                gains: Vec::new(),
                end: Vec::new(),
                slopes: Vec::new(),
                probe,
                forces: Vec::new(),
                other_forces: Vec::new(),
                other_end: Vec::new(),
            }
        });
        each.collect()
    }

    /// b and K of each degree of freedom, after [`linearise`](Self::linearise).
    pub fn terms(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.efforts.iter().copied().zip(self.gains.iter().copied())
    }

    /// Finds forces and end state as functions of the velocity at the end of the step, to first
    /// order about that at its start.
    pub fn linearise(
        &mut self,
        external: &dyn ExternalSystem,
        index: usize,
        model: &Model,
        state: &State,
        dt: f64,
        x: &[f64],
    ) -> Result<(), SimulationError> {
        let n = model.velocities();
        let x = &x[self.states.clone()];
        let probe = &mut self.probe;
        probe.start(external, model, state, dt, x);
        probe.moved.v.copy_from_slice(&state.v);
        probe.end(external, model, state, dt, x, &mut self.end, &mut self.forces);
        let bad = |values: &[f64]| values.iter().position(|y| !y.is_finite()).map(|at| (at, values[at]));
        if let Some((at, value)) = bad(&self.forces).or_else(|| bad(&self.end)) {
            return Err(SimulationError::External { time: state.time, system: index, index: at, value });
        }
        self.efforts.clone_from(&self.forces);
        self.gains.clear();
        self.gains.resize(n, 0.0);
        self.slopes.clear();
        for i in 0..n {
            let step = DIFFERENCE * state.v[i].abs().max(1.0);
            probe.moved.v[i] += step;
            probe.end(external, model, state, dt, x, &mut self.other_end, &mut self.other_forces);
            probe.moved.v[i] = state.v[i];
            let gain = (self.forces[i] - self.other_forces[i]) / step;
            // Only forces that resist are implicit: this keeps the problem convex.
            if gain > 0.0 {
                self.gains[i] = gain;
                self.efforts[i] += gain * state.v[i];
            }
            self.slopes.extend(self.other_end.iter().zip(&self.end).map(|(a, b)| (a - b) / step));
        }
        Ok(())
    }

    /// Writes the external state at the end of a step with the final velocities `v`.
    pub fn advance(&self, state: &State, v: &[f64], x: &mut [f64]) {
        let x = &mut x[self.states.clone()];
        x.copy_from_slice(&self.end);
        if x.is_empty() {
            return;
        }
        for ((slopes, v), v0) in self.slopes.chunks_exact(x.len()).zip(v).zip(&state.v) {
            x.iter_mut().zip(slopes).for_each(|(x, slope)| *x += slope * (v - v0));
        }
    }
}

impl Probe {
    /// Factorises `I - dt df/dx` at the start.
    fn start(&mut self, external: &dyn ExternalSystem, model: &Model, state: &State, dt: f64, x: &[f64]) {
        if x.is_empty() {
            return;
        }
        self.kinematics.update(model, state);
        let [start, other] = &mut self.rates;
        let rate = |x: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.resize(x.len(), 0.0);
            external.derivative(model, &self.kinematics, state, x, out);
        };
        rate(x, start);
        let matrix = self.rosenbrock.identity(x.len());
        self.moved_states.clear();
        self.moved_states.extend_from_slice(x);
        for j in 0..x.len() {
            let step = DIFFERENCE * x[j].abs().max(1.0);
            self.moved_states[j] += step;
            rate(&self.moved_states, other);
            self.moved_states[j] = x[j];
            for i in 0..x.len() {
                matrix[i * x.len() + j] -= dt * (other[i] - start[i]) / step;
            }
        }
        self.rosenbrock.factorise();
    }

    /// Writes the external state `end` and the forces at the end of a step with the velocities in
    /// `moved`.
    fn end(
        &mut self,
        external: &dyn ExternalSystem,
        model: &Model,
        state: &State,
        dt: f64,
        x: &[f64],
        end: &mut Vec<f64>,
        forces: &mut Vec<f64>,
    ) {
        let moved = &mut self.moved;
        moved.q.copy_from_slice(&state.q);
        model.advance(&mut moved.q, &moved.v, dt);
        moved.time = state.time + dt;
        self.kinematics.update(model, moved);
        end.clear();
        end.resize(x.len(), 0.0);
        external.derivative(model, &self.kinematics, moved, x, end);
        end.iter_mut().for_each(|rate| *rate *= dt);
        self.rosenbrock.solve(end);
        end.iter_mut().zip(x).for_each(|(e, x)| *e += x);
        forces.clear();
        forces.resize(model.velocities(), 0.0);
        external.add_forces(model, &self.kinematics, moved, end, forces);
    }
}

/// A small dense matrix, factorised with partial pivoting. Where it is singular, solutions are not
/// finite.
#[derive(Clone, Debug, Default)]
struct Factor {
    size: usize,
    /// Row by row.
    values: Vec<f64>,
    /// The row with which each was exchanged.
    pivots: Vec<usize>,
}

impl Factor {
    /// Becomes the identity, to be changed.
    fn identity(&mut self, size: usize) -> &mut [f64] {
        self.size = size;
        self.values.clear();
        self.values.resize(size * size, 0.0);
        for i in 0..size {
            self.values[i * size + i] = 1.0;
        }
        &mut self.values
    }

    fn factorise(&mut self) {
        let (n, a) = (self.size, &mut self.values);
        self.pivots.clear();
        for c in 0..n {
            let mut pivot = c;
            for r in c + 1..n {
                if a[r * n + c].abs() > a[pivot * n + c].abs() {
                    pivot = r;
                }
            }
            self.pivots.push(pivot);
            for k in 0..n {
                a.swap(c * n + k, pivot * n + k);
            }
            let inverse = 1.0 / a[c * n + c];
            for r in c + 1..n {
                a[r * n + c] *= inverse;
                for k in c + 1..n {
                    a[r * n + k] -= a[r * n + c] * a[c * n + k];
                }
            }
        }
    }

    /// Solves in place; does nothing without unknowns.
    fn solve(&self, x: &mut [f64]) {
        let (n, a) = (x.len(), &self.values);
        for (c, &pivot) in self.pivots.iter().enumerate() {
            x.swap(c, pivot);
        }
        for r in 0..n {
            for c in 0..r {
                x[r] -= a[r * n + c] * x[c];
            }
        }
        for r in (0..n).rev() {
            for c in (r + 1..n).rev() {
                x[r] -= a[r * n + c] * x[c];
            }
            x[r] /= a[r * n + r];
        }
    }
}
