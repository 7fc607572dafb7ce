//! Small dense systems, one a tree.

use crate::icf::Side;
use crate::multibody::{MassMatrix, Model};

/// Symmetric matrices, one a tree, and their Cholesky factors in place (lower triangles, row by row).
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    values: Vec<f64>,
    /// First value, first degree of freedom and size of each.
    blocks: Vec<(usize, usize, usize)>,
    work: Vec<f64>,
}

impl Trees {
    /// Takes the blocks of a matrix.
    pub fn take(&mut self, model: &Model, matrix: &MassMatrix) {
        self.values.clear();
        self.blocks.clear();
        for (t, tree) in model.trees().iter().enumerate() {
            self.blocks.push((self.values.len(), tree.first_velocity, tree.velocities));
            self.values.extend(matrix.block(t).iter());
        }
    }

    /// Becomes matrices of zeros of the same sizes.
    pub fn zeros(&mut self, other: &Self) {
        self.blocks.clone_from(&other.blocks);
        self.values.clear();
        self.values.resize(other.values.len(), 0.0);
    }

    /// Takes those of others.
    pub fn copy_from(&mut self, other: &Self) {
        self.blocks.clone_from(&other.blocks);
        self.values.clone_from(&other.values);
    }

    /// Number of trees.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Adds `factor J^T G J` of one side of a constraint, lower triangle.
    pub fn add<const N: usize>(
        &mut self,
        side: &Side,
        columns: &[[f64; N]],
        gain: &[[f64; N]; N],
        factor: f64,
    ) {
        let (first, _, size) = self.blocks[side.tree as usize];
        for (i, column) in columns.iter().enumerate() {
            let mut carried = [0.0; N];
            for d in 0..N {
                carried[d] = factor * dot(&gain[d], column);
            }
            let row = &mut self.values[first + i * size..][..=i];
            for (value, other) in row.iter_mut().zip(columns) {
                *value += dot(&carried, other);
            }
        }
    }

    /// Adds to the diagonal entry of the degree of freedom numbered `within` of its tree.
    pub fn add_diagonal(&mut self, tree: usize, within: usize, value: f64) {
        let (first, _, size) = self.blocks[tree];
        self.values[first + within * (size + 1)] += value;
    }

    /// Factorises all. False where one is not positive definite or not finite.
    #[must_use]
    pub fn factorise(&mut self) -> bool {
        for &(first, _, n) in &self.blocks {
            let a = &mut self.values[first..first + n * n];
            for i in 0..n {
                for j in 0..=i {
                    let mut sum = a[i * n + j];
                    for k in 0..j {
                        sum -= a[i * n + k] * a[j * n + k];
                    }
                    if i == j {
                        if !(sum.is_finite() && sum > 0.0) {
                            return false;
                        }
                        a[i * n + i] = sum.sqrt();
                    } else {
                        a[i * n + j] = sum / a[j * n + j];
                    }
                }
            }
        }
        true
    }

    /// Solves for all trees at once, in place.
    pub fn solve(&self, x: &mut [f64]) {
        for (t, &(first, dof, n)) in self.blocks.iter().enumerate() {
            let x = &mut x[dof..dof + n];
            self.solve_lower(t, x);
            let a = &self.values[first..first + n * n];
            for i in (0..n).rev() {
                for k in i + 1..n {
                    x[i] -= a[k * n + i] * x[k];
                }
                x[i] /= a[i * n + i];
            }
        }
    }

    /// `x <- L^-1 x` for the degrees of freedom of one tree.
    pub fn solve_lower(&self, tree: usize, x: &mut [f64]) {
        let (first, _, n) = self.blocks[tree];
        let a = &self.values[first..first + n * n];
        for i in 0..n {
            let row = &a[i * n..i * n + i];
            let sum: f64 = row.iter().zip(&*x).map(|(a, x)| a * x).sum();
            x[i] = (x[i] - sum) / a[i * n + i];
        }
    }

    /// Rows of `J M^-1 J^T` of one side, where these are the factors of M.
    pub fn mobility<const N: usize>(&mut self, side: &Side, columns: &[[f64; N]]) -> [[f64; N]; N] {
        let n = columns.len();
        let mut work = core::mem::take(&mut self.work);
        work.clear();
        for d in 0..N {
            work.extend(columns.iter().map(|column| column[d]));
            self.solve_lower(side.tree as usize, &mut work[d * n..]);
        }
        let mut out = [[0.0; N]; N];
        for a in 0..N {
            for b in 0..=a {
                let sum = work[a * n..][..n].iter().zip(&work[b * n..][..n]).map(|(x, y)| x * y).sum();
                (out[a][b], out[b][a]) = (sum, sum);
            }
        }
        self.work = work;
        out
    }

    /// Frobenius norm of `L^-1 C L^-T` of one tree, where these are the factors L of M and `c` has the lower triangle of C: at least the
    /// largest eigenvalue of `M^-1 C`.
    pub fn norm_of(&mut self, tree: usize, c: &Self) -> f64 {
        let (first, _, n) = self.blocks[tree];
        let c = &c.values[first..first + n * n];
        let mut work = core::mem::take(&mut self.work);
        work.clear();
        work.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..=i {
                (work[i * n + j], work[j * n + i]) = (c[i * n + j], c[i * n + j]);
            }
        }
        let mut sum = 0.0;
        if work.iter().any(|x| *x != 0.0) {
            for _ in 0..2 {
                work.chunks_exact_mut(n).for_each(|row| self.solve_lower(tree, row));
                for i in 0..n {
                    for j in 0..i {
                        work.swap(i * n + j, j * n + i);
                    }
                }
            }
            sum = work.iter().map(|x| x * x).sum::<f64>();
        }
        self.work = work;
        sum.sqrt()
    }
}

pub(super) fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for d in 0..N {
        sum += a[d] * b[d];
    }
    sum
}
