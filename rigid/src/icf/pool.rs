//! Many constraints of one kind, with their Jacobians.

use super::block_matrix::BlockMatrix;
use super::potential::ConstraintPotential;

/// What the solver asks of constraints, a pool at a time: cost, gradient and Hessian at a velocity,
/// and the cost along a line.
pub trait ConstraintPool {
    /// Evaluates the potentials at the velocities `v`; adds `-J^T gamma` to `gradient`. Returns the
    /// sum of the potentials \[J\].
    fn evaluate(&mut self, v: &[f64], gradient: &mut [f64]) -> f64;

    /// Chooses the potentials' Hessians G at the velocities of the last
    /// [`evaluate`](Self::evaluate), or their secants, and adds the pairs of trees that they
    /// couple: a constraint that does not bend the cost, a separated contact, couples nothing.
    fn choose_hessian(&mut self, secant: bool, pairs: &mut Vec<(u32, u32)>);

    /// Adds `J^T G J` with the G that was chosen.
    fn add_hessian(&self, matrix: &mut BlockMatrix);

    /// Prepares [`along`](Self::along) for the direction `d` from the velocities of the last
    /// [`evaluate`](Self::evaluate).
    fn start_line(&mut self, d: &[f64]);

    /// Sum of the potentials and its first two derivatives by `alpha` at `v + alpha d`.
    fn along(&self, alpha: f64) -> [f64; 3];
}

/// One side of a constraint: a tree and the columns of the Jacobian that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The tree.
    pub tree: u32,
    /// Its first degree of freedom.
    pub first_velocity: u32,
    /// First of its columns in the pool.
    pub first_column: u32,
    /// Number of columns: degrees of freedom of the tree.
    pub columns: u32,
}

/// Constraints of `N` rows between at most two trees.
#[derive(Clone, Debug)]
pub struct Pool<L, const N: usize> {
    potentials: Vec<L>,
    sides: Vec<[Option<Side>; 2]>,
    /// Columns of the Jacobians.
    columns: Vec<[f64; N]>,
    /// Velocity that does not depend on the degrees of freedom, of prescribed surfaces for
    /// instance.
    biases: Vec<[f64; N]>,
    velocities: Vec<[f64; N]>,
    rates: Vec<[f64; N]>,
    impulses: Vec<[f64; N]>,
    hessians: Vec<[[f64; N]; N]>,
    /// The Hessians or secants that were chosen, of the constraints that bend the cost.
    chosen: Vec<(u32, [[f64; N]; N])>,
}

impl<L, const N: usize> Default for Pool<L, N> {
    fn default() -> Self {
        Self {
            potentials: Vec::new(),
            sides: Vec::new(),
            columns: Vec::new(),
            biases: Vec::new(),
            velocities: Vec::new(),
            rates: Vec::new(),
            impulses: Vec::new(),
            hessians: Vec::new(),
            chosen: Vec::new(),
        }
    }
}

impl<L, const N: usize> Pool<L, N> {
    /// Forgets the constraints, keeps the buffers.
    pub fn clear(&mut self) {
        self.potentials.clear();
        self.sides.clear();
        self.columns.clear();
        self.biases.clear();
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.potentials.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.potentials.is_empty()
    }

    /// The potentials.
    pub fn potentials(&self) -> &[L] {
        &self.potentials
    }

    /// Replaces the potential of a constraint, for another step length, and keeps its Jacobian.
    pub fn set_potential(&mut self, constraint: usize, potential: L) {
        self.potentials[constraint] = potential;
    }

    /// Room for the columns of one side of the next constraint: fill it, then [`push`](Self::push)
    /// the side.
    pub fn add_columns(
        &mut self,
        tree: usize,
        first_velocity: usize,
        count: usize,
    ) -> (Side, &mut [[f64; N]]) {
        let first = self.columns.len();
        self.columns.resize(first + count, [0.0; N]);
        let side = Side {
            tree: tree as u32,
            first_velocity: first_velocity as u32,
            first_column: first as u32,
            columns: count as u32,
        };
        (side, &mut self.columns[first..])
    }

    /// The columns of a side, to add to.
    pub fn columns_mut(&mut self, side: &Side) -> &mut [[f64; N]] {
        &mut self.columns[side.first_column as usize..][..side.columns as usize]
    }

    /// Adds a constraint with the velocity `J v + bias`. Two sides are of different trees.
    pub fn push(&mut self, potential: L, sides: [Option<Side>; 2], bias: [f64; N]) {
        self.potentials.push(potential);
        self.sides.push(sides);
        self.biases.push(bias);
    }

    /// Impulses on the constraints' coordinates after the last evaluation \[N s, N m s\].
    pub fn impulses(&self) -> &[[f64; N]] {
        &self.impulses
    }

    /// Constraint velocities `J v + bias` at the last evaluation \[m/s, rad/s\].
    pub fn velocities(&self) -> &[[f64; N]] {
        &self.velocities
    }

    /// `J v + bias` of one constraint \[m/s, rad/s\].
    pub fn velocity_of(&self, constraint: usize, v: &[f64]) -> [f64; N] {
        let mut velocity = self.project(constraint, v);
        for a in 0..N {
            velocity[a] += self.biases[constraint][a];
        }
        velocity
    }

    /// Room for the impulses and velocities of all constraints, for
    /// [`set_impulse`](Self::set_impulse) and [`update_velocity`](Self::update_velocity).
    pub(crate) fn allocate_impulses(&mut self) {
        self.impulses.clear();
        self.impulses.resize(self.potentials.len(), [0.0; N]);
        self.velocities.resize(self.potentials.len(), [0.0; N]);
    }

    /// Keeps an impulse that was found otherwise than by an evaluation.
    pub(crate) fn set_impulse(&mut self, constraint: usize, impulse: [f64; N]) {
        self.impulses[constraint] = impulse;
    }

    /// Keeps the velocity of a constraint at `v`.
    pub(crate) fn update_velocity(&mut self, constraint: usize, v: &[f64]) {
        self.velocities[constraint] = self.velocity_of(constraint, v);
    }

    /// The sides of a constraint.
    pub(crate) fn sides_of(&self, constraint: usize) -> [Option<Side>; 2] {
        self.sides[constraint]
    }

    /// Adds `J^T impulse` of one constraint to `out`.
    pub fn add_impulse(&self, constraint: usize, impulse: &[f64; N], out: &mut [f64]) {
        self.for_each_column(constraint, |n, column| out[n] += dot(column, impulse));
    }

    /// Calls `visit(n, column)` for every degree of freedom n of the trees of a constraint.
    pub fn for_each_column(&self, constraint: usize, mut visit: impl FnMut(usize, &[f64; N])) {
        for side in self.sides[constraint].iter().flatten() {
            for (d, column) in self.columns_of(side).iter().enumerate() {
                visit(side.first_velocity as usize + d, column);
            }
        }
    }

    /// Makes every Jacobian the mean of it and that of `other`, which has the same constraints at
    /// another state; the biases so that the velocities at `v` stay what they were.
    pub fn average(&mut self, other: &Self, v: &[f64]) {
        self.velocities.clear();
        for c in 0..self.potentials.len() {
            let velocity = self.velocity_of(c, v);
            self.velocities.push(velocity);
        }
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            for a in 0..N {
                column[a] = 0.5 * (column[a] + other[a]);
            }
        }
        for c in 0..self.potentials.len() {
            let mean = self.velocity_of(c, v);
            for a in 0..N {
                self.biases[c][a] += self.velocities[c][a] - mean[a];
            }
        }
    }

    /// Makes every Jacobian and bias the mean of it and that of `other`, which has the same
    /// constraints at another state.
    pub fn mean(&mut self, other: &Self) {
        let columns = self.columns.iter_mut().zip(&other.columns);
        let biases = self.biases.iter_mut().zip(&other.biases);
        for (own, other) in columns.chain(biases) {
            for a in 0..N {
                own[a] = 0.5 * (own[a] + other[a]);
            }
        }
    }

    /// Marks the trees that a constraint pushed.
    pub(crate) fn mark_trees_with_impulses(&self, trees: &mut [bool]) {
        let pushed = self.sides.iter().zip(&self.impulses).filter(|(_, p)| p.iter().any(|&p| p != 0.0));
        pushed.flat_map(|(sides, _)| sides).flatten().for_each(|side| trees[side.tree as usize] = true);
    }

    /// Adds the sizes of the impulses to the sums of the trees that they push.
    pub(crate) fn add_impulses(&self, trees: &mut [f64]) {
        for (sides, p) in self.sides.iter().zip(&self.impulses) {
            let size = p.iter().map(|p| p * p).sum::<f64>().sqrt();
            sides.iter().flatten().for_each(|side| trees[side.tree as usize] += size);
        }
    }

    /// Marks the trees of all constraints.
    pub(crate) fn mark_trees(&self, trees: &mut [bool]) {
        self.sides.iter().flatten().flatten().for_each(|side| trees[side.tree as usize] = true);
    }

    /// The columns of a side.
    pub(crate) fn columns_of(&self, side: &Side) -> &[[f64; N]] {
        &self.columns[side.first_column as usize..][..side.columns as usize]
    }

    /// `J x` of one constraint.
    pub(crate) fn project(&self, constraint: usize, x: &[f64]) -> [f64; N] {
        let mut sum = [0.0; N];
        for side in self.sides[constraint].iter().flatten() {
            let x = &x[side.first_velocity as usize..][..side.columns as usize];
            for (column, x) in self.columns_of(side).iter().zip(x) {
                for a in 0..N {
                    sum[a] += column[a] * x;
                }
            }
        }
        sum
    }
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for d in 0..N {
        sum += a[d] * b[d];
    }
    sum
}

impl<L: ConstraintPotential<N>, const N: usize> Pool<L, N> {
    /// Adds `J^T G J` of one tree, G the secants at the velocities last seen, to its block. Whether
    /// any constraint of it pushed.
    pub(crate) fn add_own_hessian(&self, tree: usize, values: &mut [f64]) -> bool {
        let mut pushed = false;
        for (c, sides) in self.sides.iter().enumerate() {
            for side in sides.iter().flatten().filter(|side| side.tree as usize == tree) {
                if self.impulses[c].iter().all(|&p| p == 0.0) {
                    continue;
                }
                pushed = true;
                let gain = self.potentials[c].secant(&self.velocities[c]);
                let columns = self.columns_of(side);
                for (left, row) in columns.iter().zip(values.chunks_exact_mut(columns.len())) {
                    let carried: [f64; N] = core::array::from_fn(|d| dot(&gain[d], left));
                    row.iter_mut().zip(columns).for_each(|(value, right)| *value += dot(&carried, right));
                }
            }
        }
        pushed
    }

    /// `J_a^T G J_b` of two sides of one constraint, added to the block of their trees.
    fn add_block(&self, hessian: &[[f64; N]; N], a: &Side, b: &Side, matrix: &mut BlockMatrix) {
        let (values, swapped, width) = matrix.block_mut(a.tree as usize, b.tree as usize);
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        for (left, row) in self.columns_of(a).iter().zip(values.chunks_exact_mut(width)) {
            let mut carried = [0.0; N];
            for d in 0..N {
                carried[d] = dot(&hessian[d], left);
            }
            for (right, value) in self.columns_of(b).iter().zip(row) {
                *value += dot(&carried, right);
            }
        }
    }
}

impl<L: ConstraintPotential<N>, const N: usize> ConstraintPool for Pool<L, N> {
    fn evaluate(&mut self, v: &[f64], gradient: &mut [f64]) -> f64 {
        let count = self.potentials.len();
        self.velocities.resize(count, [0.0; N]);
        self.impulses.resize(count, [0.0; N]);
        self.hessians.resize(count, [[0.0; N]; N]);
        let mut potential = 0.0;
        for c in 0..count {
            let mut velocity = self.project(c, v);
            for a in 0..N {
                velocity[a] += self.biases[c][a];
            }
            let response = self.potentials[c].response(&velocity);
            potential += response.potential;
            for side in self.sides[c].iter().flatten() {
                let columns = &self.columns[side.first_column as usize..][..side.columns as usize];
                let gradient = &mut gradient[side.first_velocity as usize..][..side.columns as usize];
                for (column, g) in columns.iter().zip(gradient) {
                    *g -= dot(column, &response.impulse);
                }
            }
            self.velocities[c] = velocity;
            self.impulses[c] = response.impulse;
            self.hessians[c] = response.hessian;
        }
        potential
    }

    fn choose_hessian(&mut self, secant: bool, pairs: &mut Vec<(u32, u32)>) {
        self.chosen.clear();
        for (c, sides) in self.sides.iter().enumerate() {
            let hessian =
                if secant { self.potentials[c].secant(&self.velocities[c]) } else { self.hessians[c] };
            if hessian.iter().flatten().all(|&g| g == 0.0) {
                continue;
            }
            self.chosen.push((c as u32, hessian));
            if let [Some(a), Some(b)] = sides {
                pairs.push((a.tree, b.tree));
            }
        }
    }

    fn add_hessian(&self, matrix: &mut BlockMatrix) {
        for (c, hessian) in &self.chosen {
            match &self.sides[*c as usize] {
                [Some(a), Some(b)] => {
                    self.add_block(hessian, a, a, matrix);
                    self.add_block(hessian, b, b, matrix);
                    self.add_block(hessian, a, b, matrix);
                }
                [Some(a), None] | [None, Some(a)] => self.add_block(hessian, a, a, matrix),
                [None, None] => {}
            }
        }
    }

    fn start_line(&mut self, d: &[f64]) {
        let mut rates = core::mem::take(&mut self.rates);
        rates.clear();
        rates.extend((0..self.potentials.len()).map(|c| self.project(c, d)));
        self.rates = rates;
    }

    fn along(&self, alpha: f64) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for ((potential, v), d) in self.potentials.iter().zip(&self.velocities).zip(&self.rates) {
            let mut at = *v;
            for a in 0..N {
                at[a] += alpha * d[a];
            }
            let terms = potential.along(&at, d);
            for k in 0..3 {
                sums[k] += terms[k];
            }
        }
        sums
    }
}
