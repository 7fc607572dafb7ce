//! Symmetric matrices with a dense block for every pair of coupled trees.

use nalgebra::DMatrix;

use super::ordering::{Ordering, Pattern};

/// A symmetric block matrix, its lower triangle in elimination order, with storage for the fill-in
/// of its factor.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix {
    pub(super) pattern: Pattern,
    /// Degrees of freedom of each tree.
    pub(super) sizes: Vec<usize>,
    /// First degree of freedom of each tree.
    pub(super) firsts: Vec<usize>,
    /// Where each stored block begins in `values`; a block is row-major.
    pub(super) offsets: Vec<usize>,
    pub(super) values: Vec<f64>,
    coupled_trees: Vec<(u32, u32)>,
    ordering: Ordering,
}

impl BlockMatrix {
    /// Zeroes a matrix for trees of these sizes, with the pairs in `coupled_trees` coupled. The
    /// pattern is worked out again only when it has changed.
    pub fn shape(&mut self, sizes: &[usize], coupled_trees: &mut Vec<(u32, u32)>) {
        coupled_trees.iter_mut().for_each(|pair| *pair = (pair.0.min(pair.1), pair.0.max(pair.1)));
        coupled_trees.sort_unstable();
        coupled_trees.dedup();
        coupled_trees.retain(|pair| pair.0 != pair.1);
        if self.sizes != sizes || self.coupled_trees != *coupled_trees {
            self.sizes.clear();
            self.sizes.extend_from_slice(sizes);
            self.coupled_trees.clear();
            self.coupled_trees.extend_from_slice(coupled_trees);
            self.ordering.order(sizes.len(), coupled_trees, &mut self.pattern);
            self.lay_out();
        }
        self.values.fill(0.0);
    }

    /// Says where each tree's degrees of freedom begin in the vectors that it is solved for, until
    /// the pattern changes.
    pub(crate) fn place(&mut self, firsts: impl Iterator<Item = usize>) {
        self.firsts.clear();
        self.firsts.extend(firsts);
    }

    /// Becomes equal to `other`, in its own buffers.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.pattern.copy_from(&other.pattern);
        self.sizes.clone_from(&other.sizes);
        self.firsts.clone_from(&other.firsts);
        self.offsets.clone_from(&other.offsets);
        self.values.clone_from(&other.values);
        self.coupled_trees.clone_from(&other.coupled_trees);
    }

    fn lay_out(&mut self) {
        self.firsts.clear();
        let mut first = 0;
        for &size in &self.sizes {
            self.firsts.push(first);
            first += size;
        }
        self.offsets.clear();
        let mut offset = 0;
        for column in 0..self.sizes.len() {
            let width = self.sizes[self.pattern.tree_at[column] as usize];
            for &row in self.pattern.rows(column) {
                self.offsets.push(offset);
                offset += width * self.sizes[self.pattern.tree_at[row as usize] as usize];
            }
        }
        self.values.resize(offset, 0.0);
    }

    /// Degrees of freedom.
    pub fn dimension(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// The block of trees (a, b), whose transpose is that of (b, a). Returns the values, row-major,
    /// whether they are those of (b, a), and the width of a row.
    pub(crate) fn block_mut(&mut self, a: usize, b: usize) -> (&mut [f64], bool, usize) {
        let (pa, pb) = (self.pattern.place_of[a] as usize, self.pattern.place_of[b] as usize);
        let (row, column, swapped) = if pa >= pb { (pa, pb, false) } else { (pb, pa, true) };
        let index = self.pattern.find(row, column);
        let (rows, width) =
            if swapped { (self.sizes[b], self.sizes[a]) } else { (self.sizes[a], self.sizes[b]) };
        let first = self.offsets[index];
        (&mut self.values[first..first + rows * width], swapped, width)
    }

    /// Adds to a diagonal block, row-major or column-major alike: it is symmetric.
    pub(super) fn add_diagonal_block(&mut self, tree: usize, block: nalgebra::DMatrixView<'_, f64>) {
        let (values, ..) = self.block_mut(tree, tree);
        values.iter_mut().zip(block.iter()).for_each(|(v, b)| *v += b);
    }

    /// Adds to a diagonal entry of a tree.
    pub(super) fn add_diagonal(&mut self, tree: usize, at: usize, value: f64) {
        let (values, _, width) = self.block_mut(tree, tree);
        values[at * width + at] += value;
    }

    /// As a dense matrix.
    pub fn to_dense(&self) -> DMatrix<f64> {
        let n = self.dimension();
        let mut dense = DMatrix::zeros(n, n);
        for column in 0..self.sizes.len() {
            let b = self.pattern.tree_at[column] as usize;
            for (k, &row) in self.pattern.rows(column).iter().enumerate() {
                let a = self.pattern.tree_at[row as usize] as usize;
                let first = self.offsets[self.pattern.starts[column] as usize + k];
                for i in 0..self.sizes[a] {
                    for j in 0..self.sizes[b] {
                        let value = self.values[first + i * self.sizes[b] + j];
                        dense[(self.firsts[a] + i, self.firsts[b] + j)] = value;
                        dense[(self.firsts[b] + j, self.firsts[a] + i)] = value;
                    }
                }
            }
        }
        dense
    }
}
