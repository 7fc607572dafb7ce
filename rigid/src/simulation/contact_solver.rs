//! The solver of a step, with its buffers.

use nalgebra::Vector3;

use super::assemble::{self, PreparedContact};
use super::contact::ContactCandidate;
use super::error::SimulationError;
use super::summary::StepSummary;
use super::system::System;
use crate::comfree::{ComFreeSettings, ComFreeSolver, RigidSolver, StepInputs};
use crate::icf::{ConvexProblem, Pool, SolveSettings, Solver, Stop};
use crate::multibody::{Kinematics, Model};

/// Second passes solve contact again with fresh normal impulses where friction's bound was off by
/// more than this part of all normal impulses together.
const STALE: f64 = 0.02;

/// What a solver needs besides the convex problem.
pub(super) struct ContactInputs<'a> {
    pub system: &'a System,
    pub candidates: &'a [ContactCandidate],
    pub prepared: &'a [PreparedContact],
    /// Where the step begins \[s\].
    pub time: f64,
    /// The step \[s\].
    pub dt: f64,
    /// Of the convex problem, relative.
    pub tolerance: f64,
}

/// The solver that makes the steps of a stepper.
#[derive(Clone, Debug)]
pub(super) enum ContactSolver {
    Icf(Box<IcfSolver>),
    ComFree(ComFreeSettings, Box<ComFreeSolver>),
}

impl ContactSolver {
    /// The one that was chosen.
    pub fn new(choice: RigidSolver) -> Self {
        match choice {
            RigidSolver::Icf => Self::Icf(Box::default()),
            RigidSolver::ComFree(settings) => Self::ComFree(settings, Box::default()),
        }
    }

    /// Takes the system's choice of this step; buffers stay unless it is another solver.
    pub fn choose(&mut self, choice: RigidSolver) {
        match (&mut *self, choice) {
            (Self::Icf(_), RigidSolver::Icf) => {}
            (Self::ComFree(settings, _), RigidSolver::ComFree(chosen)) => *settings = chosen,
            (_, choice) => *self = Self::new(choice),
        }
    }

    /// Whether it minimises a convex function, so that contacts have potentials and the problem a
    /// Hessian.
    pub fn is_convex(&self) -> bool {
        matches!(self, Self::Icf(_))
    }

    /// Finds what of the contacts only this solver needs.
    pub fn prepare(&mut self, system: &System, kinematics: &Kinematics, candidates: &[ContactCandidate]) {
        if let Self::ComFree(_, solver) = self {
            assemble::spins(system, kinematics, candidates, &mut solver.spin_jacobians);
        }
    }

    /// Solves the assembled problem, its contacts as prepared, from the velocities in `v`, which
    /// become those at the end of the step.
    ///
    /// # Errors
    /// It does not converge, or finds what is not a number.
    pub fn solve(
        &mut self,
        inputs: &ContactInputs<'_>,
        problem: &mut ConvexProblem,
        v: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        match self {
            Self::Icf(solver) => solver.solve(inputs, problem, v),
            Self::ComFree(settings, solver) => {
                let step = StepInputs {
                    model: &inputs.system.model,
                    settings,
                    candidates: inputs.candidates,
                    friction: &|c| inputs.prepared[c].friction,
                    dt: inputs.dt,
                    dry_joint_tolerance: inputs.system.dry_joint_tolerance,
                };
                if !solver.solve(&step, problem, v) {
                    let (time, stop) = (inputs.time, Stop::NotFinite);
                    return Err(SimulationError::NotConverged { time, stop, residual: f64::NAN });
                }
                let unreliable = usize::from(solver.unreliable_solves > 0);
                Ok(StepSummary { solves: 1, unreliable, ..StepSummary::default() })
            }
        }
    }

    /// Factorises the Hessian of the problem that was solved last at the velocities `v`, for
    /// [`apply_inverse_hessian`](Self::apply_inverse_hessian). False where it is not finite. In
    /// closed form the factors are those of the step.
    #[must_use]
    pub fn linearise(&mut self, model: &Model, problem: &mut ConvexProblem, v: &[f64]) -> bool {
        match self {
            Self::Icf(icf) => icf.solver.linearise(model, problem, v),
            Self::ComFree(..) => true,
        }
    }

    /// Impulses along the joints in `x` \[N s, N m s\] become what they add to the rates.
    pub fn apply_inverse_hessian(&self, x: &mut [f64]) {
        match self {
            Self::Icf(icf) => icf.solver.apply_inverse_hessian(x),
            Self::ComFree(settings, solver) => solver.apply_inverse_hessian(settings.form, x),
        }
    }

    /// The contacts that resist turning, with their moments.
    pub fn spins(&self) -> Option<&Pool<u32, 3>> {
        match self {
            Self::Icf(_) => None,
            Self::ComFree(_, solver) => Some(&solver.spin_jacobians),
        }
    }

    /// Moment of a contact's turning \[N m s\] in the last step, where it resists turning.
    pub fn moment(&self, c: usize) -> Option<Vector3<f64>> {
        match self {
            Self::Icf(_) => None,
            Self::ComFree(_, solver) => solver.moment(c),
        }
    }
}

/// The convex solver, which may solve a step a second time for friction.
#[derive(Clone, Debug, Default)]
pub(super) struct IcfSolver {
    solver: Solver,
    /// Those that bound friction \[N\].
    normal_forces: Vec<f64>,
}

impl IcfSolver {
    fn solve(
        &mut self,
        inputs: &ContactInputs<'_>,
        problem: &mut ConvexProblem,
        v: &mut [f64],
    ) -> Result<StepSummary, SimulationError> {
        let ContactInputs { system, prepared, time, dt, tolerance, .. } = *inputs;
        let settings = SolveSettings { tolerance, ..SolveSettings::default() };
        let mut summary = StepSummary::default();
        self.normal_forces.clear();
        self.normal_forces.extend(prepared.iter().map(|c| c.lagged_force));
        loop {
            assemble::contact_potentials(problem, prepared, &self.normal_forces, dt);
            let solve = self.solver.solve(&system.model, problem, &settings, v);
            summary.count(&solve);
            if !solve.stop.is_converged() {
                let (stop, residual) = (solve.stop, solve.residual);
                return Err(SimulationError::NotConverged { time, stop, residual });
            }
            if !system.refresh_friction || summary.refreshed == 1 || !self.refresh(problem, prepared, dt) {
                return Ok(summary);
            }
            summary.refreshed += 1;
        }
    }

    /// Takes the normal forces of the last solve as friction's bounds. False where they were right
    /// already.
    fn refresh(&mut self, problem: &ConvexProblem, prepared: &[PreparedContact], dt: f64) -> bool {
        let (mut change, mut total) = (0.0, 0.0);
        let contacts = problem.contacts.impulses().iter().zip(prepared);
        for ((impulse, contact), force) in contacts.zip(&mut self.normal_forces) {
            let fresh = contact.point.normal.dot(&Vector3::from(*impulse)) / dt / contact.weights[0];
            if contact.friction > 0.0 {
                change += (fresh - *force).abs();
                total += fresh;
            }
            *force = fresh;
        }
        change > STALE * total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Simulation::system_mut` may change the solver or its settings between steps.
    #[test]
    fn a_solver_chosen_later_is_taken() {
        let mut solver = ContactSolver::new(RigidSolver::Icf);
        let published = ComFreeSettings::published(0.3, 0.005);
        for settings in [ComFreeSettings::default(), published] {
            solver.choose(RigidSolver::ComFree(settings));
            assert!(matches!(&solver, ContactSolver::ComFree(taken, _) if *taken == settings));
        }
        solver.choose(RigidSolver::Icf);
        assert!(solver.is_convex());
    }
}
