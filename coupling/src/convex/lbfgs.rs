//! Limited-memory BFGS over the touched nodes.

use super::body_block::BodyBlock;
use super::kernels::{Packed, add_scaled, dot, solve_blocks_negated};
use super::layout::Vector;

/// One step and the change of gradient that it made.
#[derive(Clone, Debug, Default)]
struct CurvaturePair {
    step: Vec<Vector>,
    gradient_change: Vec<Vector>,
    inverse_product: f64,
}

/// The last pairs, in a ring.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pairs: Vec<CurvaturePair>,
    coefficients: Vec<f64>,
    /// Pairs in use.
    used: usize,
    /// Where the next pair goes.
    next: usize,
}

impl History {
    /// Removes all pairs and allocates `memory` of them.
    pub fn reset(&mut self, memory: usize) {
        self.pairs.resize_with(memory.max(1), CurvaturePair::default);
        self.coefficients.resize(memory.max(1), 0.0);
        (self.used, self.next) = (0, 0);
    }

    /// Adds the pair of a step `alpha * direction` between two gradients, unless rounding has left
    /// it without curvature.
    pub fn push(&mut self, alpha: f64, direction: &[Vector], before: &[Vector], after: &[Vector]) {
        let pair = &mut self.pairs[self.next];
        pair.step.clear();
        pair.step.extend(direction.iter().map(|d| d.map(|x| alpha * x)));
        pair.gradient_change.clear();
        pair.gradient_change
            .extend(before.iter().zip(after).map(|(b, a)| std::array::from_fn(|l| a[l] - b[l])));
        let product = dot(&pair.step, &pair.gradient_change);
        if product > 0.0 && product.is_normal() {
            pair.inverse_product = 1.0 / product;
            self.next = (self.next + 1) % self.pairs.len();
            self.used = (self.used + 1).min(self.pairs.len());
        }
    }

    /// The direction at a gradient, with the inverse of the blocks of nodes (`blocks` and `mass`)
    /// and bodies as the first matrix (Nocedal and Wright 2006, Algorithm 7.4). `scratch` and `out`
    /// have the gradient's length.
    pub fn direction(
        &mut self,
        gradient: &[Vector],
        blocks: &[Packed],
        mass: &[f64],
        bodies: &mut BodyBlock,
        scratch: &mut [Vector],
        out: &mut [Vector],
    ) {
        let count = self.pairs.len();
        scratch.copy_from_slice(gradient);
        for back in 1..=self.used {
            let index = (self.next + count - back) % count;
            let pair = &self.pairs[index];
            let coefficient = pair.inverse_product * dot(&pair.step, scratch);
            self.coefficients[index] = coefficient;
            add_scaled(-coefficient, &pair.gradient_change, scratch);
        }
        let nodes = blocks.len();
        solve_blocks_negated(blocks, &mass[..nodes], &scratch[..nodes], &mut out[..nodes]);
        bodies.apply_negated(&scratch[nodes..], &mut out[nodes..]);
        for back in (1..=self.used).rev() {
            let index = (self.next + count - back) % count;
            let pair = &self.pairs[index];
            let coefficient =
                -self.coefficients[index] - pair.inverse_product * dot(&pair.gradient_change, out);
            add_scaled(coefficient, &pair.step, out);
        }
    }
}
