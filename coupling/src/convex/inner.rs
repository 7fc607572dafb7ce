//! The linear system of a Newton step, by preconditioned conjugate gradients with matrix-free products.

use super::active::Active;
use super::kernels::{Columns, apply_blocks_negated, conjugate, descend, dot, product_add};
use super::prepared::{Prepared, Vector};

/// Vectors of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct ConjugateGradients {
    residual: Vec<Vector>,
    preconditioned: Vec<Vector>,
    direction: Vec<Vector>,
    image: Vec<Vector>,
}

/// How far the inner iteration goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerTarget {
    /// Norm of the linear residual in M^-1 to reach \[sqrt(J)\].
    pub residual: f64,
    /// Most products.
    pub iterations: usize,
}

impl ConjugateGradients {
    /// Solves `(M + J^T G J) x = -gradient` from zero; every iterate is a direction of descent. Returns the number of
    /// products.
    pub fn solve(
        &mut self,
        prepared: &Prepared,
        active: &Active,
        hessians: &[Columns],
        inverse_blocks: &[Columns],
        gradient: &[Vector],
        target: InnerTarget,
        x: &mut [Vector],
    ) -> usize {
        let nodes = gradient.len();
        x.fill([0.0; 4]);
        for buffer in [&mut self.preconditioned, &mut self.direction, &mut self.image] {
            buffer.clear();
            buffer.resize(nodes, [0.0; 4]);
        }
        self.residual.clear();
        self.residual.extend(gradient.iter().map(|g| g.map(|value| -value)));
        apply_blocks_negated(inverse_blocks, gradient, &mut self.preconditioned);
        let mut reduction = dot(&self.residual, &self.preconditioned);
        let mut beta = 0.0;
        for product in 1..=target.iterations {
            let inertia =
                conjugate(&prepared.mass, &self.preconditioned, beta, &mut self.direction, &mut self.image);
            let curvature =
                inertia + product_add(active, &prepared.weights, hessians, &self.direction, &mut self.image);
            // Not positive only where everything has underflowed.
            if !(curvature > 0.0 && reduction > 0.0) {
                return product;
            }
            let [next, residual_squared] = descend(
                reduction / curvature,
                &self.direction,
                &self.image,
                inverse_blocks,
                &prepared.inverse_mass,
                x,
                &mut self.residual,
                &mut self.preconditioned,
            );
            if residual_squared <= target.residual * target.residual {
                return product;
            }
            beta = next / reduction;
            reduction = next;
        }
        target.iterations
    }
}

/// The forcing sequence of an inexact Newton method: how far each linear system is solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forcing {
    previous: Option<(f64, f64)>,
}

impl Forcing {
    const FIRST: f64 = 0.1;
    const LARGEST: f64 = 0.5;
    const SMALLEST: f64 = 1e-8;

    pub fn new() -> Self {
        Self { previous: None }
    }

    /// Target for the linear residual at the nonlinear residual (Eisenstat and Walker 1996, choice 2, gamma 0.9, with
    /// their safeguard). No system is solved much beyond the tolerance of the outer iteration.
    pub fn target(&mut self, residual: f64, tolerance: f64) -> f64 {
        let factor = match self.previous {
            None => Self::FIRST,
            Some((before, eta)) => {
                let ratio = residual / before;
                let wanted = 0.9 * ratio * ratio;
                let kept = 0.9 * eta * eta;
                let safeguarded = if kept > 0.1 { wanted.max(kept) } else { wanted };
                safeguarded.clamp(Self::SMALLEST, Self::LARGEST)
            }
        };
        self.previous = Some((residual, factor));
        (factor * residual).max(0.8 * tolerance)
    }
}
