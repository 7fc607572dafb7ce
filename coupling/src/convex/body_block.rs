//! The bodies' block of the Newton system, `C = I + L^T (sum_c B_c^T G_c B_c) L`: dense and small.

use super::active::Active;
use super::kernels::SymmetricColumns;
use super::layout::Vector;
use super::mobility::{Spatial, add_impulse, point_velocity};
use super::prepared::Prepared;

/// The block and its Cholesky factor. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyBlock {
    size: usize,
    /// C, then its factor below the diagonal.
    matrix: Vec<f64>,
    factor: Vec<f64>,
    contacts: Vec<[Spatial; 6]>,
    /// The contacts' part times L.
    contact_columns: Vec<f64>,
    solution: Vec<f64>,
}

impl BodyBlock {
    /// Finds the block of these Hessians and factorises it.
    pub fn update(&mut self, prepared: &Prepared, active: &Active, hessians: &[SymmetricColumns]) {
        let mobility = &prepared.mobility;
        self.size = mobility.rank();
        if self.size == 0 {
            return;
        }
        self.sum_contacts(prepared, active, hessians);
        let n = self.size;
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.contact_columns.resize(6 * n, 0.0);
        for (b, block) in self.contacts.iter().enumerate() {
            for d in 0..6 {
                for j in 0..n {
                    self.contact_columns[d * n + j] =
                        (0..6).map(|e| block[d][e] * mobility.row(6 * b + e)[j]).sum();
                }
            }
            for d in 0..6 {
                let row = mobility.row(6 * b + d);
                for i in 0..n {
                    for j in 0..=i {
                        self.matrix[i * n + j] += row[i] * self.contact_columns[d * n + j];
                    }
                }
            }
        }
        for i in 0..n {
            self.matrix[i * n + i] += 1.0;
        }
        self.factorise(|_, _| 0.0);
    }

    /// `sum_c B_c^T G_c B_c` of each body.
    fn sum_contacts(&mut self, prepared: &Prepared, active: &Active, hessians: &[SymmetricColumns]) {
        let mobility = &prepared.mobility;
        self.contacts.clear();
        self.contacts.resize(mobility.bodies(), [[0.0; 6]; 6]);
        for &c in &active.contacts {
            let Some((body, lever)) = mobility.on(c as usize) else { continue };
            let g = &hessians[c as usize];
            for e in 0..6 {
                let mut unit = [0.0; 6];
                unit[e] = 1.0;
                let v = point_velocity(&unit, &lever);
                let image = std::array::from_fn(|a| (0..3).map(|b| g[b][a] * v[b]).sum());
                let mut column = [0.0; 6];
                add_impulse(&mut column, &lever, &image);
                for d in 0..6 {
                    self.contacts[body][d][e] += column[d];
                }
            }
        }
    }

    /// The largest diagonal entry that contacts give.
    pub fn largest(&self) -> f64 {
        (0..self.size).map(|i| self.matrix[i * self.size + i] - 1.0).fold(0.0, f64::max)
    }

    /// Factorises C less a symmetric positive semidefinite matrix that leaves at least the
    /// identity.
    pub fn factorise(&mut self, less: impl Fn(usize, usize) -> f64) {
        let n = self.size;
        self.factor.clone_from(&self.matrix);
        for i in 0..n {
            for j in 0..=i {
                let mut sum = self.factor[i * n + j] - less(i, j);
                for k in 0..j {
                    sum -= self.factor[i * n + k] * self.factor[j * n + k];
                }
                // The pivots' bound in exact arithmetic.
                self.factor[i * n + j] =
                    if i == j { sum.max(1.0).sqrt() } else { sum / self.factor[j * n + j] };
            }
        }
    }

    /// Solves for one right-hand side, `b(j)`; the solution is handed to `write(j, value)`.
    pub fn solve(&mut self, b: impl Fn(usize) -> f64, mut write: impl FnMut(usize, f64)) {
        let n = self.size;
        self.solution.clear();
        for i in 0..n {
            let known: f64 = (0..i).map(|k| self.factor[i * n + k] * self.solution[k]).sum();
            self.solution.push((b(i) - known) / self.factor[i * n + i]);
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|k| self.factor[k * n + i] * self.solution[k]).sum();
            self.solution[i] = (self.solution[i] - known) / self.factor[i * n + i];
        }
        for (j, value) in self.solution.iter().enumerate() {
            write(j, *value);
        }
    }

    /// The bodies' part of a direction, `-C^-1 g`; both are the parts of vectors that follow the
    /// nodes.
    pub fn apply_negated(&mut self, gradient: &[Vector], out: &mut [Vector]) {
        self.solve(|j| -gradient[j / 3][j % 3], |j, value| out[j / 3][j % 3] = value);
    }
}
