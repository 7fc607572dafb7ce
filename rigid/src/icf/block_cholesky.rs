//! Block-sparse Cholesky factorisation, in place of the matrix, right-looking: every column, once
//! done, updates those behind it.

use super::block_matrix::BlockMatrix;
use pliant_numeric::cholesky::{factorise_with_roots, rows};

/// The factor L of H = L L^T, blocks in elimination order. Keeps its buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockCholesky {
    factor: BlockMatrix,
}

impl BlockCholesky {
    /// Factorises. False where the matrix is not positive definite (or not finite); the factor is
    /// then of no use.
    #[must_use]
    pub fn factorise(&mut self, matrix: &BlockMatrix) -> bool {
        self.factor.copy_from(matrix);
        self.factor.factorise()
    }

    /// Solves `H x = b` in place.
    pub fn solve(&self, x: &mut [f64]) {
        self.factor.solve(x);
    }
}

impl BlockMatrix {
    /// Becomes its factor. False where it is not positive definite (or not finite); it is then of
    /// no use.
    #[must_use]
    pub(crate) fn factorise(&mut self) -> bool {
        for column in 0..self.sizes.len() {
            if !self.finish_column(column) {
                return false;
            }
            self.update_behind(column);
        }
        true
    }

    /// Solves in place with the factor that it has become.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        for column in 0..self.sizes.len() {
            self.forward(column, x);
        }
        for column in (0..self.sizes.len()).rev() {
            self.backward(column, x);
        }
    }

    fn size_at(&self, place: usize) -> usize {
        self.sizes[self.pattern.tree_at[place] as usize]
    }

    fn first_at(&self, place: usize) -> usize {
        self.firsts[self.pattern.tree_at[place] as usize]
    }

    /// The numbers of a column's blocks.
    fn blocks(&self, column: usize) -> core::ops::Range<usize> {
        self.pattern.starts[column] as usize..self.pattern.starts[column + 1] as usize
    }

    /// Cholesky of the diagonal block, and what lies below it times its inverse transpose.
    fn finish_column(&mut self, column: usize) -> bool {
        let (n, blocks) = (self.size_at(column), self.blocks(column));
        if n == 0 {
            return true;
        }
        let start = self.offsets[blocks.start];
        // The blocks of a column lie one after the other, rows of equal width: one tall panel.
        let height: usize = self.pattern.rows(column).iter().map(|&r| self.size_at(r as usize)).sum();
        let panel = &mut self.values[start..start + height * n];
        let (diagonal, below) = panel.split_at_mut(n * n);
        if !factorise_with_roots(diagonal, n, rows(n)) {
            return false;
        }
        for row in below.chunks_exact_mut(n) {
            for j in 0..n {
                let mut sum = row[j];
                for k in 0..j {
                    sum -= row[k] * diagonal[j * n + k];
                }
                row[j] = sum / diagonal[j * n + j];
            }
        }
        true
    }

    /// `A_ik -= L_ij L_kj^T` for all rows i >= k below the diagonal of column j.
    fn update_behind(&mut self, column: usize) {
        let (n, blocks) = (self.size_at(column), self.blocks(column));
        for kb in blocks.start + 1..blocks.end {
            let k = self.pattern.rows(column)[kb - blocks.start] as usize;
            let width = self.size_at(k);
            // Everything that column k needs of this one lies behind it.
            let (source, target) = self.values.split_at_mut(self.offsets[self.pattern.starts[k] as usize]);
            let target_start = self.offsets[self.pattern.starts[k] as usize];
            let of_k = &source[self.offsets[kb]..self.offsets[kb] + width * n];
            for ib in kb..blocks.end {
                let i = self.pattern.rows(column)[ib - blocks.start] as usize;
                let height = self.sizes[self.pattern.tree_at[i] as usize];
                let of_i = &source[self.offsets[ib]..self.offsets[ib] + height * n];
                let first = self.offsets[self.pattern.find(i, k)] - target_start;
                let out = &mut target[first..first + height * width];
                match (height, width, n) {
                    (6, 6, 6) => subtract_product_fixed::<6>(of_i, of_k, out),
                    _ => subtract_product(of_i, of_k, out, width, n),
                }
            }
        }
    }

    /// `x_j = L_jj^-1 x_j`, then `x_i -= L_ij x_j` below.
    fn forward(&self, column: usize, x: &mut [f64]) {
        let (n, at) = (self.size_at(column), self.first_at(column));
        let blocks = self.blocks(column);
        let diagonal = &self.values[self.offsets[blocks.start]..][..n * n];
        for j in 0..n {
            let mut sum = x[at + j];
            for k in 0..j {
                sum -= diagonal[j * n + k] * x[at + k];
            }
            x[at + j] = sum / diagonal[j * n + j];
        }
        for (block, &row) in blocks.zip(self.pattern.rows(column)).skip(1) {
            let (height, to) = (self.size_at(row as usize), self.first_at(row as usize));
            let values = &self.values[self.offsets[block]..][..height * n];
            for i in 0..height {
                let mut sum = 0.0;
                for j in 0..n {
                    sum += values[i * n + j] * x[at + j];
                }
                x[to + i] -= sum;
            }
        }
    }

    /// `x_j = L_jj^-T (x_j - sum_i L_ij^T x_i)`.
    fn backward(&self, column: usize, x: &mut [f64]) {
        let (n, at) = (self.size_at(column), self.first_at(column));
        let blocks = self.blocks(column);
        for (block, &row) in blocks.clone().zip(self.pattern.rows(column)).skip(1) {
            let (height, from) = (self.size_at(row as usize), self.first_at(row as usize));
            let values = &self.values[self.offsets[block]..][..height * n];
            for i in 0..height {
                let known = x[from + i];
                for j in 0..n {
                    x[at + j] -= values[i * n + j] * known;
                }
            }
        }
        let diagonal = &self.values[self.offsets[blocks.start]..][..n * n];
        for j in (0..n).rev() {
            let mut sum = x[at + j];
            for k in j + 1..n {
                sum -= diagonal[k * n + j] * x[at + k];
            }
            x[at + j] = sum / diagonal[j * n + j];
        }
    }
}

/// `out -= a b^T`, rows of `a` and `b` of length `n`, rows of `out` of length `width`.
fn subtract_product(a: &[f64], b: &[f64], out: &mut [f64], width: usize, n: usize) {
    if width == 0 || n == 0 {
        return;
    }
    for (a, out) in a.chunks_exact(n).zip(out.chunks_exact_mut(width)) {
        for (b, out) in b.chunks_exact(n).zip(out) {
            *out -= a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        }
    }
}

/// The same for square blocks of a size known here: free bodies.
fn subtract_product_fixed<const N: usize>(a: &[f64], b: &[f64], out: &mut [f64]) {
    // Columns of b^T first, so that the inner loop runs along rows of `out`.
    let mut transposed = [[0.0; N]; N];
    for (j, row) in b.chunks_exact(N).enumerate() {
        for k in 0..N {
            transposed[k][j] = row[k];
        }
    }
    for (a, out) in a.chunks_exact(N).zip(out.chunks_exact_mut(N)) {
        for k in 0..N {
            for j in 0..N {
                out[j] -= a[k] * transposed[k][j];
            }
        }
    }
}
