//! The linear system of a Newton step, by preconditioned conjugate gradients with matrix-free products, in single
//! precision and velocities scaled by the roots of the masses (see `kernels/linear.rs`).

use super::active::Active;
use super::kernels::{
    Columns, Linearised, Packed, Quad, QuadColumns, conjugate, descend, invert_scaled, linearise,
    product_add, scale_gradient, scale_solution,
};
use super::prepared::{Prepared, Vector};

/// The system and the vectors of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct ConjugateGradients {
    contacts: Vec<Linearised>,
    inverse_blocks: Vec<QuadColumns>,
    solution: Vec<Quad>,
    residual: Vec<Quad>,
    preconditioned: Vec<Quad>,
    direction: Vec<Quad>,
    scaled_direction: Vec<Quad>,
    image: Vec<Quad>,
}

/// How far the inner iteration goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerTarget {
    /// Norm of the linear residual in M^-1 to reach, as a part of the gradient's.
    pub reduction: f64,
    /// Most products.
    pub iterations: usize,
}

impl ConjugateGradients {
    /// Solves `(M + J^T G J) out = -gradient` from zero, where `norm` is the gradient's in M^-1 and `blocks` the diagonal
    /// blocks of `J^T G J`; every iterate is a direction of descent. Returns the number of products.
    pub fn solve(
        &mut self,
        prepared: &Prepared,
        active: &Active,
        hessians: &[Columns],
        blocks: &[Packed],
        gradient: &[Vector],
        norm: f64,
        target: InnerTarget,
        out: &mut [Vector],
    ) -> usize {
        linearise(active, &prepared.weights, hessians, &mut self.contacts);
        self.size_buffers(gradient.len());
        let scale = &prepared.inverse_root_mass;
        invert_scaled(blocks, scale, &mut self.inverse_blocks);
        // A right-hand side of norm one keeps single precision in its range.
        scale_gradient(norm, scale, gradient, &mut self.residual);
        let products = self.iterate(prepared, active, target);
        scale_solution(norm, scale, &self.solution, out);
        products
    }

    fn size_buffers(&mut self, nodes: usize) {
        self.inverse_blocks.resize(nodes, [[0.0; 4]; 3]);
        for buffer in [
            &mut self.solution,
            &mut self.residual,
            &mut self.preconditioned,
            &mut self.direction,
            &mut self.scaled_direction,
            &mut self.image,
        ] {
            buffer.clear();
            buffer.resize(nodes, [0.0; 4]);
        }
    }

    fn iterate(&mut self, prepared: &Prepared, active: &Active, target: InnerTarget) -> usize {
        let scale = &prepared.inverse_root_mass;
        let mut step = |a: f64, p: &[Quad], q: &[Quad], z: &mut [Quad]| {
            descend(a as f32, p, q, scale, &self.inverse_blocks, &mut self.solution, &mut self.residual, z)
        };
        // A step of length zero preconditions the first residual.
        let [mut reduction, _] = step(0.0, &self.direction, &self.image, &mut self.preconditioned);
        let mut beta = 0.0;
        for product in 1..=target.iterations {
            let inertia = conjugate(
                scale,
                &self.preconditioned,
                beta as f32,
                &mut self.direction,
                &mut self.scaled_direction,
                &mut self.image,
            );
            let curvature = inertia
                + product_add(&active.groups, &self.contacts, &self.scaled_direction, &mut self.image);
            // Not positive only where everything has underflowed, not finite where it has overflowed.
            if !(curvature > 0.0 && curvature.is_finite() && reduction > 0.0) {
                return product;
            }
            let [next, residual_squared] =
                step(reduction / curvature, &self.direction, &self.image, &mut self.preconditioned);
            if residual_squared <= target.reduction * target.reduction {
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

    /// Target for the linear residual as a part of the nonlinear residual (Eisenstat and Walker 1996, choice 2, gamma 0.9, with
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
        factor.max(0.8 * tolerance / residual)
    }
}
