//! The linear system of a Newton step, by preconditioned conjugate gradients with matrix-free products, in single
//! precision and velocities scaled by the roots of the masses (see `kernels/linear.rs`).

use super::active::Active;
use super::kernels::{
    Columns, NodeBlocks, Nodes, Packed, Rows, Stencil, WIDTH, conjugate, descend, expand_weights,
    invert_scaled, pack_hessians, product_add, scale_gradient, scale_solution,
};
use super::prepared::{Prepared, Vector};

/// The system and the vectors of the iteration. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct ConjugateGradients {
    /// Roots of the inverse masses, zero where there is no mass or no node. At most 1e18, so that single precision can
    /// square it: a lighter node counts as heavier here, and only here.
    scale: Vec<[f32; WIDTH]>,
    weights: Vec<Stencil>,
    hessians: Vec<Packed>,
    inverse_blocks: Vec<NodeBlocks>,
    solution: Vec<Nodes>,
    residual: Vec<Nodes>,
    preconditioned: Vec<Nodes>,
    direction: Vec<Nodes>,
    scaled_direction: Rows,
    image: Rows,
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
    /// Reads what stays the same through a solve.
    pub fn load(&mut self, prepared: &Prepared) {
        // A row is read as four nodes.
        let chunks = (prepared.nodes.len() + 1).div_ceil(WIDTH);
        self.scale.clear();
        self.scale.resize(chunks, [0.0; WIDTH]);
        for (scale, inverse) in self.scale.as_flattened_mut().iter_mut().zip(&prepared.inverse_mass) {
            *scale = inverse.sqrt().min(1e18) as f32;
        }
        self.weights.resize(prepared.weights.len(), Stencil::default());
        expand_weights(&prepared.weights, &mut self.weights);
        for buffer in [&mut self.solution, &mut self.residual, &mut self.preconditioned, &mut self.direction]
        {
            buffer.clear();
            buffer.resize(chunks, [[0.0; WIDTH]; 3]);
        }
        self.inverse_blocks.resize(chunks, [[0.0; WIDTH]; 6]);
        for component in self.scaled_direction.iter_mut().chain(&mut self.image) {
            component.clear();
            component.resize(chunks * WIDTH, 0.0);
        }
    }

    /// Solves `(M + J^T G J) out = -gradient` from zero, where `norm` is the gradient's in M^-1 and `blocks` the diagonal
    /// blocks of `J^T G J`; every iterate is a direction of descent. Returns the number of products.
    pub fn solve(
        &mut self,
        active: &Active,
        hessians: &[Columns],
        blocks: &[Packed],
        gradient: &[Vector],
        norm: f64,
        target: InnerTarget,
        out: &mut [Vector],
    ) -> usize {
        self.hessians.resize(active.contacts.len(), [0.0; 8]);
        pack_hessians(active, hessians, &mut self.hessians);
        invert_scaled(blocks, &self.scale, &mut self.inverse_blocks);
        // A right-hand side of norm one keeps single precision in its range.
        scale_gradient(norm, &self.scale, gradient, &mut self.residual);
        let products = self.iterate(active, target);
        scale_solution(norm, &self.scale, &self.solution, out);
        products
    }

    /// `solution` for the right-hand side in `residual`.
    fn iterate(&mut self, active: &Active, target: InnerTarget) -> usize {
        self.solution.fill([[0.0; WIDTH]; 3]);
        self.direction.fill([[0.0; WIDTH]; 3]);
        for component in &mut self.image {
            component.fill(0.0);
        }
        // A step of length zero preconditions the first residual.
        let [mut reduction, _] = self.descend(0.0);
        let mut beta = 0.0;
        for product in 1..=target.iterations {
            let inertia = conjugate(
                &self.scale,
                &self.preconditioned,
                beta as f32,
                &mut self.direction,
                &mut self.scaled_direction,
                &mut self.image,
            );
            let curvature = inertia
                + product_add(active, &self.weights, &self.hessians, &self.scaled_direction, &mut self.image);
            // Not positive only where everything has underflowed, not finite where it has overflowed.
            if !(curvature > 0.0 && curvature.is_finite() && reduction > 0.0) {
                return product;
            }
            let [next, residual_squared] = self.descend(reduction / curvature);
            if residual_squared <= target.reduction * target.reduction {
                return product;
            }
            beta = next / reduction;
            reduction = next;
        }
        target.iterations
    }

    fn descend(&mut self, step: f64) -> [f64; 2] {
        descend(
            step as f32,
            &self.direction,
            &self.image,
            &self.scale,
            &self.inverse_blocks,
            &mut self.solution,
            &mut self.residual,
            &mut self.preconditioned,
        )
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
    /// While friction's Hessian is replaced by the quadratic above it: the outer iteration is then linear, and gains
    /// nothing from a solution that is more exact than it.
    const FAR: f64 = 0.2;

    pub fn new() -> Self {
        Self { previous: None }
    }

    /// Target for the linear residual as a part of the nonlinear residual (Eisenstat and Walker 1996, choice 2, gamma 0.9, with
    /// their safeguard). No system is solved much beyond the tolerance of the outer iteration, nor, where the outer iteration is
    /// linear (`far`), beyond what that can use.
    pub fn target(&mut self, residual: f64, tolerance: f64, far: bool) -> f64 {
        let factor = match self.previous {
            None => Self::FIRST,
            Some((before, eta)) => {
                let ratio = residual / before;
                let wanted = 0.9 * ratio * ratio;
                let kept = 0.9 * eta * eta;
                let safeguarded = if kept > 0.1 { wanted.max(kept) } else { wanted };
                safeguarded.clamp(if far { Self::FAR } else { Self::SMALLEST }, Self::LARGEST)
            }
        };
        self.previous = Some((residual, factor));
        factor.max(0.8 * tolerance / residual)
    }
}
