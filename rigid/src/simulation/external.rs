//! Controllers and force elements with a state of their own.

use core::fmt::Debug;

use super::error::SimulationError;
use crate::multibody::{Kinematics, Model, State};

/// Something outside the mechanism that reads its state and puts forces on its joints: a controller, a suction cup. It may have a
/// state x of its own, `dx/dt = f(t, q, v, x)`.
///
/// The forces are treated implicitly where they resist motion (Kurtz and Castro 2025, section V-C), so stiff ones do not limit the
/// step. Both functions are called several times a step and must depend on nothing but their arguments.
pub trait ExternalSystem: Debug + Send + Sync {
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

    /// Adds its forces on the degrees of freedom (N m, N) to `forces`.
    fn add_forces(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        x: &[f64],
        forces: &mut [f64],
    );

    /// Largest force on a degree of freedom (N m, N).
    fn effort_limit(&self, _dof: usize) -> f64 {
        f64::INFINITY
    }

    /// The first time (s) after `t` at which its forces jump, whatever the state does; `None` where there is none. An integrator may
    /// end a step there.
    fn next_event(&self, _t: f64) -> Option<f64> {
        None
    }
}

/// An external system, linear in the velocities at the end of a step.
#[derive(Clone, Debug)]
pub(super) struct Linearised {
    /// Forces at no velocity, b of `b - K v`.
    pub efforts: Vec<f64>,
    /// K of each degree of freedom, at least 0.
    pub gains: Vec<f64>,
    /// State at the end, at the velocities of the start; and its change with each velocity.
    end: Vec<f64>,
    slopes: Vec<Vec<f64>>,
}

/// Where an external system's states are, and what was found of it.
#[derive(Debug)]
pub(super) struct Implicit {
    /// Its states among those of all external systems.
    states: core::ops::Range<usize>,
    kinematics: Kinematics,
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
            Self { states, kinematics: Kinematics::new(model) }
        });
        each.collect()
    }

    /// Forces and end state as functions of the velocity at the end of the step, to first order about that at its start.
    pub fn linearise(
        &mut self,
        external: &dyn ExternalSystem,
        index: usize,
        model: &Model,
        state: &State,
        dt: f64,
        x: &[f64],
    ) -> Result<Linearised, SimulationError> {
        let n = model.velocities();
        let x = &x[self.states.clone()];
        let factor = self.rosenbrock(external, model, state, dt, x);
        let mut moved = state.clone();
        let mut at = |v: &[f64], end: &mut Vec<f64>, forces: &mut Vec<f64>| {
            moved.q.copy_from_slice(&state.q);
            model.advance(&mut moved.q, v, dt);
            moved.v.copy_from_slice(v);
            moved.time = state.time + dt;
            self.kinematics.update(model, &moved);
            end.clear();
            end.resize(x.len(), 0.0);
            external.derivative(model, &self.kinematics, &moved, x, end);
            let mut change = nalgebra::DVector::from_column_slice(end) * dt;
            if let Some(lu) = &factor {
                lu.solve_mut(&mut change);
            }
            end.iter_mut().zip(x).zip(change.iter()).for_each(|((e, x), c)| *e = x + c);
            forces.clear();
            forces.resize(n, 0.0);
            external.add_forces(model, &self.kinematics, &moved, end, forces);
        };
        let (mut end, mut forces) = (Vec::new(), Vec::new());
        let mut v = state.v.clone();
        at(&v, &mut end, &mut forces);
        let bad = |values: &[f64]| values.iter().position(|y| !y.is_finite()).map(|at| (at, values[at]));
        if let Some((at, value)) = bad(&forces).or_else(|| bad(&end)) {
            return Err(SimulationError::External { time: state.time, system: index, index: at, value });
        }
        let mut linear =
            Linearised { efforts: forces.clone(), gains: vec![0.0; n], end: end.clone(), slopes: Vec::new() };
        let (mut other_end, mut other) = (Vec::new(), Vec::new());
        for i in 0..n {
            let step = DIFFERENCE * state.v[i].abs().max(1.0);
            v[i] += step;
            at(&v, &mut other_end, &mut other);
            v[i] = state.v[i];
            let gain = (forces[i] - other[i]) / step;
            // Only what resists is implicit: it keeps the problem convex.
            if gain > 0.0 {
                linear.gains[i] = gain;
                linear.efforts[i] += gain * state.v[i];
            }
            if !x.is_empty() {
                linear.slopes.push(other_end.iter().zip(&end).map(|(a, b)| (a - b) / step).collect());
            }
        }
        Ok(linear)
    }

    /// `I - dt df/dx`, factorised; none where there is no state.
    fn rosenbrock(
        &mut self,
        external: &dyn ExternalSystem,
        model: &Model,
        state: &State,
        dt: f64,
        x: &[f64],
    ) -> Option<nalgebra::LU<f64, nalgebra::Dyn, nalgebra::Dyn>> {
        if x.is_empty() {
            return None;
        }
        self.kinematics.update(model, state);
        let rate = |x: &[f64]| {
            let mut out = vec![0.0; x.len()];
            external.derivative(model, &self.kinematics, state, x, &mut out);
            out
        };
        let start = rate(x);
        let mut matrix = nalgebra::DMatrix::identity(x.len(), x.len());
        let mut moved = x.to_vec();
        for j in 0..x.len() {
            let step = DIFFERENCE * x[j].abs().max(1.0);
            moved[j] += step;
            let other = rate(&moved);
            moved[j] = x[j];
            for i in 0..x.len() {
                matrix[(i, j)] -= dt * (other[i] - start[i]) / step;
            }
        }
        Some(matrix.lu())
    }

    /// Writes the external state at the end of the step that ended with the velocities `v`.
    pub fn advance(&self, linear: &Linearised, state: &State, v: &[f64], x: &mut [f64]) {
        let x = &mut x[self.states.clone()];
        x.copy_from_slice(&linear.end);
        for ((slopes, v), v0) in linear.slopes.iter().zip(v).zip(&state.v) {
            x.iter_mut().zip(slopes).for_each(|(x, slope)| *x += slope * (v - v0));
        }
    }
}
