//! One linear system for the trees of an island, which couples them within a pass.

use super::islands::Island;
use super::trees::{AxialGain, Trees};
use crate::icf::{BlockMatrix, Pool, Side};

/// The systems of the islands of two trees and more, factors in place, with a block for every pair
/// of coupled trees. Vectors have all degrees of freedom.
#[derive(Clone, Debug, Default)]
pub(super) struct Coupled {
    matrices: Vec<BlockMatrix>,
    /// The matrix of every island.
    of_island: Vec<Option<u32>>,
    /// The number of every tree within its island.
    local: Vec<u32>,
    /// Coupled pairs of the present island, by numbers within it.
    couples: Vec<(u32, u32)>,
    sizes: Vec<usize>,
    used: usize,
}

impl Coupled {
    /// Forgets the islands of the last step.
    pub fn reset(&mut self, trees: usize) {
        self.of_island.clear();
        self.local.resize(trees, 0);
        self.used = 0;
    }

    /// Begins with the next island.
    pub fn begin(&mut self, island: &Island<'_>) {
        let matrix = (island.trees.len() > 1).then_some(self.used);
        self.of_island.push(matrix.map(|m| m as u32));
        self.couples.clear();
        if let Some(m) = matrix {
            self.used = m + 1;
            if self.matrices.len() <= m {
                self.matrices.push(BlockMatrix::default());
            }
            for (k, &tree) in island.trees.iter().enumerate() {
                self.local[tree as usize] = k as u32;
            }
        }
    }

    /// Records the trees that a constraint couples, before [`shape`](Self::shape).
    pub fn couple<L, const N: usize>(&mut self, pool: &Pool<L, N>, constraint: usize) {
        if let [Some(a), Some(b)] = pool.sides_of(constraint) {
            self.couples.push((self.local[a.tree as usize], self.local[b.tree as usize]));
        }
    }

    /// The matrix of the present island.
    fn current_matrix(&mut self) -> Option<&mut BlockMatrix> {
        let m = (*self.of_island.last()?)?;
        self.matrices.get_mut(m as usize)
    }

    /// Zeroes the matrix. Pairs that were coupled in an earlier pass stay coupled.
    pub fn shape(&mut self, island: &Island<'_>, trees: &Trees) {
        let (mut couples, mut sizes) = (core::mem::take(&mut self.couples), core::mem::take(&mut self.sizes));
        if let Some(matrix) = self.current_matrix() {
            sizes.clear();
            sizes.extend(island.trees.iter().map(|&tree| trees.dofs(tree as usize).len()));
            matrix.shape(&sizes, &mut couples);
            matrix.place(island.trees.iter().map(|&tree| trees.dofs(tree as usize).start));
        }
        (self.couples, self.sizes) = (couples, sizes);
    }

    /// Adds `J_a^T G J_b` of a constraint of three rows.
    pub fn add<L>(&mut self, pool: &Pool<L, 3>, constraint: usize, gain: &AxialGain) {
        let AxialGain { axis: n, along, across } = *gain;
        self.add_product(pool, constraint, |x| {
            let more = (along - across) * (n[0] * x[0] + n[1] * x[1] + n[2] * x[2]);
            [0, 1, 2].map(|d| more * n[d] + across * x[d])
        });
    }

    /// The same of a row.
    pub fn add_row<L>(&mut self, pool: &Pool<L, 1>, constraint: usize, gain: f64) {
        self.add_product(pool, constraint, |x| [gain * x[0]]);
    }

    fn add_product<L, const N: usize>(
        &mut self,
        pool: &Pool<L, N>,
        constraint: usize,
        times: impl Fn(&[f64; N]) -> [f64; N],
    ) {
        let [Some(a), Some(b)] = pool.sides_of(constraint) else { return };
        let [p, q] = [a, b].map(|side: Side| self.local[side.tree as usize] as usize);
        let Some(matrix) = self.current_matrix() else { return };
        let (values, swapped, width) = matrix.block_mut(p, q);
        let (left, right) = if swapped { (b, a) } else { (a, b) };
        let (left, right) = (pool.columns_of(&left), pool.columns_of(&right));
        for (x, row) in left.iter().zip(values.chunks_exact_mut(width)) {
            let gain = times(x);
            for (y, value) in right.iter().zip(row) {
                for d in 0..N {
                    *value += gain[d] * y[d];
                }
            }
        }
    }

    /// Factorises the island's system; its diagonal blocks are those of `trees`, which become
    /// factors if the island is one tree. False where it is not positive definite or not finite.
    #[must_use]
    pub fn factorise(&mut self, island: &Island<'_>, trees: &mut Trees) -> bool {
        let Some(matrix) = self.current_matrix() else {
            return island.trees.iter().all(|&tree| trees.factorise(tree as usize));
        };
        for (k, &tree) in island.trees.iter().enumerate() {
            matrix.block_mut(k, k).0.copy_from_slice(trees.matrix(tree as usize));
        }
        matrix.factorise()
    }

    /// Solves for the trees of an island in place.
    pub fn solve(&self, number: usize, island: &Island<'_>, trees: &Trees, x: &mut [f64]) {
        match self.of_island.get(number) {
            Some(Some(m)) => self.matrices[*m as usize].solve(x),
            _ => island.trees.iter().for_each(|&tree| trees.solve(tree as usize, x)),
        }
    }

    /// Number of the present island.
    pub fn number(&self) -> usize {
        self.of_island.len().saturating_sub(1)
    }
}
