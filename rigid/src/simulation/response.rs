//! How links would answer impulses within a step: what strong coupling with anything else needs to know.

use nalgebra::Vector3;

use super::contact::ContactSource;
use super::error::SimulationError;
use super::integrate::Simulation;
use crate::icf::Stop;
use crate::multibody::{LinkId, Model, MotionVector, for_each_axis};

/// Tolerance of the step that is linearised.
const TOLERANCE: f64 = 1e-8;

/// The linear answer of points on links to a step's impulses, with everything that acts on the links in it: joints, motors, contacts,
/// constraints, implicit as in a step.
///
/// At the end of the step the spatial velocities of the points have changed by `change + W (p - p_0)`, where p are the spatial impulses at
/// the points and `p_0` those of the [`System::applied`](super::System::applied) forces, about which the step is linearised. Vectors
/// have six components a point, angular first, world axes, at the pose of the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// Change of the velocities over the step with the applied forces (rad/s, m/s).
    pub change: Vec<f64>,
    /// W, row by row, symmetric and positive semidefinite (1/(kg m^2), 1/(kg m), 1/kg).
    pub mobility: Vec<f64>,
    rates: Vec<f64>,
    external: Vec<f64>,
    column: Vec<f64>,
}

impl<S: ContactSource> Simulation<S> {
    /// Finds the answer of `points` (links, and points of theirs in the world frame, m) to impulses within a step of `dt` (s) from the present
    /// state, linearised at the end of a step with the applied forces. The state does not change.
    ///
    /// # Errors
    /// As [`advance_to`](Self::advance_to).
    pub fn respond(
        &mut self,
        dt: f64,
        points: &[(LinkId, Vector3<f64>)],
        out: &mut Response,
    ) -> Result<(), SimulationError> {
        self.stepped = false;
        let Self { system, source, state, external, stepper, .. } = self;
        stepper.prepare(system, source, state, dt);
        out.rates.clone_from(&state.v);
        out.external.clone_from(external);
        stepper.solve(system, state, dt, TOLERANCE, &mut out.rates, &mut out.external)?;
        if !stepper.linearise_at(system, &out.rates) {
            let (time, stop) = (state.time, Stop::NotFinite);
            return Err(SimulationError::NotConverged { time, stop, residual: f64::NAN });
        }
        out.rates.iter_mut().zip(&state.v).for_each(|(v, v0)| *v -= v0);
        let rates = core::mem::take(&mut out.rates);
        out.change.clear();
        for (link, point) in points {
            out.change.extend(self.velocity_of(*link, point, &rates));
        }
        out.rates = rates;
        self.find_mobility(points, out);
        Ok(())
    }

    /// What rates of the joints add to the spatial velocity of a point.
    fn velocity_of(&self, link: LinkId, point: &Vector3<f64>, rates: &[f64]) -> [f64; 6] {
        let mut sum = MotionVector::zero();
        self.for_axes(link, point, |n, axis| sum += axis * rates[n]);
        sum.to_vector().into()
    }

    fn for_axes(&self, link: LinkId, point: &Vector3<f64>, visit: impl FnMut(usize, MotionVector)) {
        let model: &Model = &self.system.model;
        for_each_axis(model, self.stepper.kinematics(), link, point, visit);
    }

    /// `J H^-1 J^T`, a unit impulse at a time.
    fn find_mobility(&self, points: &[(LinkId, Vector3<f64>)], out: &mut Response) {
        let size = 6 * points.len();
        out.mobility.clear();
        out.mobility.resize(size * size, 0.0);
        for (p, (link, point)) in points.iter().enumerate() {
            for d in 0..6 {
                out.column.clear();
                out.column.resize(out.rates.len(), 0.0);
                self.for_axes(*link, point, |n, axis| out.column[n] = axis.to_vector()[d]);
                self.stepper.answer(&self.system, &mut out.column);
                for (other, (link, point)) in points.iter().enumerate() {
                    let velocity = self.velocity_of(*link, point, &out.column);
                    for (e, v) in velocity.into_iter().enumerate() {
                        out.mobility[(6 * other + e) * size + 6 * p + d] = v;
                    }
                }
            }
        }
    }
}
