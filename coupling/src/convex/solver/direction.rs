//! The direction of an outer iteration.

use super::{ConvexSolver, Direction, IterationRecord, SolverSettings, kernels};
use crate::convex::inner::{Forcing, InnerTarget, NewtonSystem};

/// Residual, as a part of its scale, below which the Newton directions use friction's Hessian.
/// Further away they use the quadratic that majorises friction (its secant, as in iteratively
/// reweighted least squares): a step with the Hessian overshoots the kink between sliding and
/// sticking.
const NEWTON_REGION: f64 = 0.03;

impl ConvexSolver {
    /// Fills `direction`, for a residual to bring down to `goal`; returns the number of products or
    /// factorisations.
    pub(super) fn find_direction(
        &mut self,
        settings: &SolverSettings,
        record: &IterationRecord,
        goal: f64,
        forcing: &mut Forcing,
    ) -> usize {
        let newton = matches!(settings.direction, Direction::NewtonCg | Direction::NewtonFactorised);
        let far = newton && record.residual > NEWTON_REGION * record.scale;
        self.find_curvature(if far { 0.0 } else { 1.0 });
        match settings.direction {
            Direction::Block | Direction::LumpedBlock => {
                self.block_direction(settings.direction == Direction::LumpedBlock);
                0
            }
            Direction::Lbfgs { .. } => {
                self.update_blocks(false);
                self.history.direction(
                    &self.gradient,
                    &self.blocks,
                    &self.prepared.mass,
                    &mut self.bodies,
                    &mut self.scratch,
                    &mut self.direction,
                );
                0
            }
            Direction::NewtonCg => self.solve_newton(settings, record, goal, forcing, far),
            Direction::NewtonFactorised => self.factorise(),
        }
    }

    /// The direction of a first step that only needs to include every contact: the lumped blocks
    /// majorise the Hessian, so it is a safe one for all of them at once.
    pub(super) fn relaxation_direction(&mut self) {
        self.find_curvature(1.0);
        self.block_direction(true);
    }

    /// Hessians of the contacts at the iterate: friction's own (`hessian_blend` 1) or its secant
    /// (0).
    fn find_curvature(&mut self, hessian_blend: f64) {
        kernels::hessians(
            &self.prepared.contact_models,
            &self.contact_velocity,
            hessian_blend,
            &mut self.hessians,
        );
        self.active.find(self.prepared.contacts, &self.prepared.groups, &self.hessians);
        self.bodies.update(&self.prepared, &self.active, &self.hessians);
    }

    /// The Newton direction by conjugate gradients, or by factorisation once conjugate gradients
    /// have failed in this solve.
    fn solve_newton(
        &mut self,
        settings: &SolverSettings,
        record: &IterationRecord,
        goal: f64,
        forcing: &mut Forcing,
        far: bool,
    ) -> usize {
        let mut products = 0;
        if !self.conjugate_gradients.failed() {
            let target = InnerTarget {
                reduction: forcing.target(record.residual, goal, far),
                iterations: settings.max_inner_iterations,
            };
            let newton = NewtonSystem {
                prepared: &self.prepared,
                active: &self.active,
                hessians: &self.hessians,
                gradient: &self.gradient,
                norm: record.residual,
            };
            products = self.conjugate_gradients.solve(&newton, &mut self.bodies, target, &mut self.direction);
        }
        if self.conjugate_gradients.failed() {
            products += self.factorise();
        }
        products
    }

    fn factorise(&mut self) -> usize {
        self.factorisation.factorise(&self.prepared, &self.active, &self.hessians, &mut self.bodies);
        self.factorisation.solve_negated(&self.gradient, &mut self.bodies, &mut self.direction);
        // With an extremely small stiction tolerance the entries of the factor overflow.
        if !self.direction.iter().flatten().all(|x| x.is_finite()) {
            self.bodies.factorise(|_, _| 0.0);
            self.block_direction(false);
        }
        1
    }

    /// The direction of the inverse diagonal blocks, true or lumped.
    fn block_direction(&mut self, lumped: bool) {
        self.update_blocks(lumped);
        let nodes = self.prepared.nodes.len();
        let (mass, gradient) = (&self.prepared.mass[..nodes], &self.gradient);
        kernels::solve_blocks_negated(&self.blocks, mass, &gradient[..nodes], &mut self.direction[..nodes]);
        self.bodies.apply_negated(&self.gradient[nodes..], &mut self.direction[nodes..]);
    }

    /// The contacts' part of the diagonal blocks.
    fn update_blocks(&mut self, lumped: bool) {
        let prepared = &self.prepared;
        self.blocks.fill([0.0; 8]);
        kernels::diagonal_blocks_add(
            &self.active,
            &prepared.weights,
            &self.hessians,
            lumped,
            &mut self.blocks,
        );
    }
}
