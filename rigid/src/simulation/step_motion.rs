//! Velocities at both ends of the last step, for accelerations.

use nalgebra::{UnitQuaternion, Vector3};

use super::integrate::Simulation;
use super::integrator::Integrator;
use crate::multibody::{Kinematics, LinkId, Model, MotionVector, PathSide, State};

/// The ends of a step. Buffers are kept.
#[derive(Clone, Debug, Default)]
pub struct StepMotion {
    ends: Option<Box<[Kinematics; 2]>>,
    /// Length of the step \[s\]; none without one.
    dt: Option<f64>,
    state: Option<State>,
}

impl StepMotion {
    /// Mean acceleration over the step of the point of a link at `point` (m, link frame), and of its
    /// angular velocity: the change of the velocities by the length of the step; world axes. The
    /// jumps of a rebound before the step and of prescribed paths are not in it. None without a
    /// step.
    pub fn acceleration(&self, link: Option<LinkId>, point: &Vector3<f64>) -> Option<MotionVector> {
        let (Some(ends), Some(dt)) = (&self.ends, self.dt) else { return None };
        let Some(link) = link else { return Some(MotionVector::zero()) };
        let [before, after] = [0, 1].map(|end: usize| {
            let lever = ends[end].pose(link).rotation * point;
            ends[end].velocity(link).shifted(&lever)
        });
        Some((after - before) * (1.0 / dt))
    }

    /// Orientation of a link in the middle of the step. None without a step.
    pub fn orientation(&self, link: Option<LinkId>) -> Option<UnitQuaternion<f64>> {
        let (Some(ends), Some(_)) = (&self.ends, self.dt) else { return None };
        let Some(link) = link else { return Some(UnitQuaternion::identity()) };
        let [before, after] = [0, 1].map(|end: usize| ends[end].pose(link).rotation);
        // Half a turn within a step has no middle.
        Some(before.try_slerp(&after, 0.5, 1e-12).unwrap_or(after))
    }

    fn update(&mut self, model: &Model, begin: &State, end: &State, velocities: Option<&[f64]>, dt: f64) {
        let ends = self.ends.get_or_insert_with(|| Box::new([0; 2].map(|_| Kinematics::new(model))));
        ends[0].update_at(model, begin, PathSide::Over(dt));
        let state = self.state.get_or_insert_with(|| end.clone());
        match velocities {
            None => ends[1].update_at(model, end, PathSide::Before),
            Some(velocities) => {
                state.copy_from(end);
                state.v.copy_from_slice(velocities);
                ends[1].update_at(model, state, PathSide::Before);
            }
        }
        self.dt = Some(dt);
    }
}

impl<S> Simulation<S> {
    /// Finds the ends of the last step (by step doubling: of its second half) in a caller's buffers.
    /// There is none before the first step and after [`restore`](Self::restore). To be read before
    /// prescribed paths are changed for the next step.
    pub fn find_step_motion(&self, out: &mut StepMotion) {
        out.dt = None;
        if !self.stepped {
            return;
        }
        let begin = self.step_begin();
        let dt = self.corrector.as_ref().unwrap_or(&self.stepper).dt;
        let before_jump = (!self.before_jump.is_empty()).then_some(&self.before_jump[..]);
        out.update(&self.system.model, begin, &self.state, before_jump, dt);
    }

    /// Beginning of the step that was taken last. Step doubling keeps its second half.
    pub(super) fn step_begin(&self) -> &State {
        match self.integrator {
            Integrator::ErrorControlled { .. } => &self.trial.middle,
            _ => &self.trial.begin,
        }
    }
}
