//! Small dense systems, one per tree.

use core::ops::Range;

use crate::icf::{Pool, Side};
use crate::multibody::{MassMatrix, Model};
use pliant_numeric::cholesky::{factorise, rows, solve, solve_lower};

/// Degrees of freedom of a free body. Most trees are one: loops of this length are unrolled.
const FREE: usize = 6;

/// Symmetric matrices, one per tree, and their Cholesky factors in place (lower triangles, row by
/// row; of factors the reciprocals of the diagonal).
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    values: Vec<f64>,
    /// First value, first degree of freedom and size of each.
    blocks: Vec<(usize, usize, usize)>,
    work: Vec<f64>,
}

/// A gain that differs along a direction and across it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxialGain {
    /// Unit vector.
    pub axis: [f64; 3],
    pub along: f64,
    pub across: f64,
}

impl Trees {
    /// Buffers for the trees of a model.
    pub fn shape(&mut self, model: &Model) {
        self.blocks.clear();
        let mut first = 0;
        for tree in model.trees() {
            self.blocks.push((first, tree.first_velocity, tree.velocities));
            first += tree.velocities * tree.velocities;
        }
        self.values.resize(first, 0.0);
    }

    /// Number of trees.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The degrees of freedom of a tree.
    pub fn dofs(&self, tree: usize) -> Range<usize> {
        let (_, dof, n) = self.blocks[tree];
        dof..dof + n
    }

    fn values(&self, tree: usize) -> Range<usize> {
        let (first, _, n) = self.blocks[tree];
        first..first + n * n
    }

    /// Copies the matrix of a tree.
    pub fn take(&mut self, tree: usize, matrix: &MassMatrix) {
        let values = self.values(tree);
        self.values[values].copy_from_slice(matrix.values(tree));
    }

    /// Takes the matrix, or the factors, of a tree from another.
    pub fn copy(&mut self, tree: usize, other: &Self) {
        let values = self.values(tree);
        self.values[values.clone()].copy_from_slice(&other.values[values]);
    }

    /// The matrix of a tree, row by row: its lower triangle.
    pub fn matrix(&self, tree: usize) -> &[f64] {
        &self.values[self.values(tree)]
    }

    /// Adds `J^T G J` of one side of a constraint with one row, lower triangle.
    pub fn add_row(&mut self, side: &Side, columns: &[[f64; 1]], gain: f64) {
        let (first, _, size) = self.blocks[side.tree as usize];
        for (i, [column]) in columns.iter().enumerate() {
            let row = &mut self.values[first + i * size..][..=i];
            row.iter_mut().zip(columns).for_each(|(value, [other])| *value += gain * column * other);
        }
    }

    /// Adds `J^T G J` of one side of a constraint with three rows, lower triangle.
    pub fn add(&mut self, side: &Side, columns: &[[f64; 3]], gain: &AxialGain) {
        let values = self.values(side.tree as usize);
        let values = &mut self.values[values];
        if columns.len() == FREE {
            add(values, FREE, columns, gain);
        } else {
            add(values, columns.len(), columns, gain);
        }
    }

    /// Adds to the diagonal entry of the degree of freedom numbered `within` of its tree.
    pub fn add_diagonal(&mut self, tree: usize, within: usize, value: f64) {
        let (first, _, size) = self.blocks[tree];
        self.values[first + within * (size + 1)] += value;
    }

    /// Factorises the matrix of a tree. False where it is not positive definite or not finite.
    #[must_use]
    pub fn factorise(&mut self, tree: usize) -> bool {
        let (values, n) = (self.values(tree), self.blocks[tree].2);
        let a = &mut self.values[values];
        if n == FREE { factorise(&mut a[..FREE * FREE], FREE, rows(FREE)) } else { factorise(a, n, rows(n)) }
    }

    /// Solves for a tree in place; `x` has all degrees of freedom.
    pub fn solve(&self, tree: usize, x: &mut [f64]) {
        let n = self.blocks[tree].2;
        let (a, x) = (&self.values[self.values(tree)], &mut x[self.dofs(tree)]);
        if n == FREE { solve(&a[..FREE * FREE], rows(FREE), &mut x[..FREE]) } else { solve(a, rows(n), x) }
    }

    /// `J M^-1 J^T` of one side, where these are the factors of M.
    pub fn mobility<const N: usize>(&mut self, side: &Side, columns: &[[f64; N]]) -> [[f64; N]; N] {
        let a = &self.values[self.values(side.tree as usize)];
        if let Ok(columns) = <&[[f64; N]; FREE]>::try_from(columns) {
            let mut x = *columns;
            solve_lower(&a[..FREE * FREE], rows(FREE), &mut x);
            return squared(&x);
        }
        self.work.clear();
        self.work.extend(columns.iter().flatten());
        let (x, _) = self.work.as_chunks_mut::<N>();
        solve_lower(a, rows(columns.len()), x);
        squared(x)
    }

    /// `J M^-1 J^T` of both sides of a constraint.
    pub fn mobilities<L, const N: usize>(
        &mut self,
        pool: &Pool<L, N>,
        constraint: usize,
    ) -> [[[f64; N]; N]; 2] {
        pool.sides_of(constraint).map(|side| match side {
            Some(side) => self.mobility(&side, pool.columns_of(&side)),
            None => [[0.0; N]; N],
        })
    }
}

#[inline(always)]
fn add(values: &mut [f64], n: usize, columns: &[[f64; 3]], gain: &AxialGain) {
    let (values, columns) = (&mut values[..n * n], &columns[..n]);
    let (along, across) = (gain.along - gain.across, gain.across);
    for i in 0..n {
        let column = columns[i];
        let supported_mass = along * dot(&gain.axis, &column);
        let spread = [0, 1, 2].map(|d| supported_mass * gain.axis[d] + across * column[d]);
        for j in 0..=i {
            values[i * n + j] += dot(&spread, &columns[j]);
        }
    }
}

/// `X^T X` of the columns' rows.
#[inline(always)]
fn squared<const N: usize>(x: &[[f64; N]]) -> [[f64; N]; N] {
    let mut out = [[0.0; N]; N];
    for row in x {
        for a in 0..N {
            for b in 0..N {
                out[a][b] += row[a] * row[b];
            }
        }
    }
    out
}

#[inline(always)]
fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
