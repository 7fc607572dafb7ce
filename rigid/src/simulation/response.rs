//! Response of links to impulses within a step, for strong coupling.

use nalgebra::Vector3;

use super::contact::ContactSource;
use super::error::SimulationError;
use super::integrate::Simulation;
use crate::icf::Stop;
use crate::multibody::{LinkId, Model, MotionVector, for_each_axis};

/// Tolerance of the step that is linearised.
const TOLERANCE: f64 = 1e-8;

/// Impulses below this fraction of the step's momentum do not affect the linearisation.
const NEGLIGIBLE: f64 = 1e-4;

/// The linear response of points on links to a step's impulses, with all forces on the links:
/// joints, motors, contacts, constraints, implicit as in a step.
///
/// At the end of the step the spatial velocities of the points have changed by `change + W
/// (p - p_0)`, where p are the spatial impulses at the points and `p_0` those of the
/// [`System::applied`](super::System::applied) forces, about which the step is linearised. Vectors
/// have six components per point, angular first, world axes, at the pose of the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearResponse {
    /// Change of the velocities over the step with the applied forces \[rad/s, m/s\].
    pub change: Vec<f64>,
    /// W, row by row, symmetric and positive semidefinite \[1/(kg m^2), 1/(kg m), 1/kg\].
    pub mobility: Vec<f64>,
    /// Joint rates at the end of the step that was linearised \[rad/s, m/s\].
    rates: Vec<f64>,
    external: Vec<f64>,
    /// `H^-1 J^T`: response of the rates to each component of the impulses, one after the other.
    inverse_hessian_columns: Vec<f64>,
    scratch: Vec<f64>,
    moved: Vec<f64>,
    gradient: Vec<f64>,
}

impl<S: ContactSource> Simulation<S> {
    /// Finds the response of `points` (links, and points of theirs in the world frame, m) to
    /// impulses within a step of `dt` \[s\] from the present state, linearised at the end of a step
    /// with the applied forces. The state does not change.
    ///
    /// # Errors
    /// As [`advance_to`](Self::advance_to).
    pub fn linearise_response(
        &mut self,
        dt: f64,
        points: &[(LinkId, Vector3<f64>)],
        out: &mut LinearResponse,
    ) -> Result<(), SimulationError> {
        self.stepped = false;
        let Self { system, source, state, external, stepper, .. } = self;
        stepper.prepare(system, source, state, dt);
        out.rates.clone_from(&state.v);
        out.external.clone_from(external);
        stepper.solve(system, state, dt, TOLERANCE, &mut out.rates, &mut out.external)?;
        if !stepper.solver.linearise(&system.model, &mut stepper.problem, &out.rates) {
            let (time, stop) = (state.time, Stop::NotFinite);
            return Err(SimulationError::NotConverged { time, stop, residual: f64::NAN });
        }
        out.scratch.clear();
        out.scratch.extend(out.rates.iter().zip(&state.v).map(|(v, v0)| v - v0));
        out.change.clear();
        for (link, point) in points {
            out.change.extend(self.velocity_of(*link, point, &out.scratch));
        }
        self.find_mobility(points, out);
        let n = out.rates.len();
        out.moved.resize(n, 0.0);
        out.gradient.resize(n, 0.0);
        Ok(())
    }

    /// Error of the linear response if the impulses at the points differ by `more` (six components
    /// per point) from those about which it was linearised: the fraction of `more` that the linear
    /// response leaves unbalanced, 0 if the step is linear. A contact that opens or closes, and a
    /// joint that reaches its limit, make it large.
    ///
    /// `response` and `points` are those of the last
    /// [`linearise_response`](Self::linearise_response), and the simulation was not used since. In
    /// closed form, which has no potential, it is the size of `more` relative to the momentum of
    /// the step if there is contact.
    pub fn linearisation_error(
        &mut self,
        points: &[(LinkId, Vector3<f64>)],
        more: &[f64],
        response: &mut LinearResponse,
    ) -> f64 {
        let n = response.rates.len();
        if n == 0 {
            return 0.0;
        }
        response.scratch.clear();
        response.scratch.resize(n, 0.0);
        for ((link, point), p) in points.iter().zip(more.chunks_exact(6)) {
            let scratch = &mut response.scratch;
            self.for_axes(*link, point, |n, axis| {
                scratch[n] += axis.to_vector().iter().zip(p).map(|(a, p)| a * p).sum::<f64>();
            });
        }
        let pushed = self.scaled_norm(&response.scratch);
        let momentum = self.scaled_norm(&self.stepper.problem.momentum);
        let Self { system, stepper, .. } = self;
        if pushed <= NEGLIGIBLE * momentum {
            return 0.0;
        }
        if !stepper.solver.is_convex() {
            return if stepper.candidates.is_empty() { 0.0 } else { pushed / (pushed + momentum) };
        }
        let LinearResponse { rates, inverse_hessian_columns, scratch, gradient, moved, .. } = response;
        moved.clone_from(rates);
        for (answer, p) in inverse_hessian_columns.chunks_exact(n).zip(more) {
            moved.iter_mut().zip(answer).for_each(|(v, a)| *v += a * p);
        }
        stepper.problem.evaluate(&system.model, moved, gradient);
        gradient.iter_mut().zip(scratch).for_each(|(g, j)| *g -= *j);
        self.scaled_norm(&response.gradient) / pushed
    }

    /// Norm of impulses along the joints, each divided by the root of its inertia.
    fn scaled_norm(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.stepper.problem.scale).map(|(x, d)| (x * d).powi(2)).sum::<f64>().sqrt()
    }

    /// Spatial velocity of a point from the rates of the joints.
    fn velocity_of(&self, link: LinkId, point: &Vector3<f64>, rates: &[f64]) -> [f64; 6] {
        let mut sum = MotionVector::zero();
        self.for_axes(link, point, |n, axis| sum += axis * rates[n]);
        sum.to_vector().into()
    }

    fn for_axes(&self, link: LinkId, point: &Vector3<f64>, visit: impl FnMut(usize, MotionVector)) {
        let model: &Model = &self.system.model;
        for_each_axis(model, self.stepper.kinematics(), link, point, visit);
    }

    /// `J H^-1 J^T`, one unit impulse at a time.
    fn find_mobility(&self, points: &[(LinkId, Vector3<f64>)], out: &mut LinearResponse) {
        let (size, n) = (6 * points.len(), out.rates.len());
        out.mobility.clear();
        out.mobility.resize(size * size, 0.0);
        out.inverse_hessian_columns.clear();
        out.inverse_hessian_columns.resize(size * n, 0.0);
        for (p, (link, point)) in points.iter().enumerate() {
            for d in 0..6 {
                let column = &mut out.inverse_hessian_columns[(6 * p + d) * n..][..n];
                self.for_axes(*link, point, |n, axis| column[n] = axis.to_vector()[d]);
                self.stepper.solver.apply_inverse_hessian(column);
                for (other, (link, point)) in points.iter().enumerate() {
                    let velocity = self.velocity_of(*link, point, column);
                    for (e, v) in velocity.into_iter().enumerate() {
                        out.mobility[(6 * other + e) * size + 6 * p + d] = v;
                    }
                }
            }
        }
    }
}
