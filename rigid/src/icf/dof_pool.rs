//! Constraints of single degrees of freedom: limits, actuators, dry joints. Their Jacobians are
//! rows of the identity.

use super::block_matrix::BlockMatrix;
use super::pool::ConstraintPool;
use super::potential::ConstraintPotential;

/// Where a degree of freedom is.
#[derive(Clone, Copy, Debug)]
struct DofIndex {
    velocity: u32,
    tree: u32,
    within: u32,
}

/// Constraints that each act on one degree of freedom.
#[derive(Clone, Debug)]
pub struct DofPool<L> {
    potentials: Vec<L>,
    places: Vec<DofIndex>,
    velocities: Vec<f64>,
    rates: Vec<f64>,
    impulses: Vec<f64>,
    hessians: Vec<f64>,
    /// The Hessians or secants that were chosen.
    chosen: Vec<f64>,
}

impl<L> Default for DofPool<L> {
    fn default() -> Self {
        Self {
            potentials: Vec::new(),
            places: Vec::new(),
            velocities: Vec::new(),
            rates: Vec::new(),
            impulses: Vec::new(),
            hessians: Vec::new(),
            chosen: Vec::new(),
        }
    }
}

impl<L> DofPool<L> {
    /// Forgets the constraints, keeps the buffers.
    pub fn clear(&mut self) {
        self.potentials.clear();
        self.places.clear();
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.potentials.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.potentials.is_empty()
    }

    /// Adds a constraint on the degree of freedom `velocity`, the one numbered `within` of its
    /// tree.
    pub fn push(&mut self, potential: L, velocity: usize, tree: usize, within: usize) {
        self.potentials.push(potential);
        self.places.push(DofIndex { velocity: velocity as u32, tree: tree as u32, within: within as u32 });
    }

    /// Replaces the potential of a constraint.
    pub fn set_potential(&mut self, constraint: usize, potential: L) {
        self.potentials[constraint] = potential;
    }

    /// Impulses after the last evaluation \[N m s, N s\], by constraint.
    pub fn impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// Marks the trees that a constraint pushed.
    pub(crate) fn mark_trees_with_impulses(&self, trees: &mut [bool]) {
        let pushed = self.places.iter().zip(&self.impulses).filter(|(_, impulse)| **impulse != 0.0);
        pushed.for_each(|(place, _)| trees[place.tree as usize] = true);
    }

    /// Marks the trees of all constraints.
    pub(crate) fn mark_trees(&self, trees: &mut [bool]) {
        self.places.iter().for_each(|place| trees[place.tree as usize] = true);
    }

    /// The degrees of freedom that the constraints act on.
    pub fn degrees_of_freedom(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().map(|place| place.velocity as usize)
    }
}

impl<L: Copy> DofPool<L> {
    /// A constraint and its degree of freedom.
    pub(crate) fn at(&self, constraint: usize) -> (L, usize) {
        (self.potentials[constraint], self.places[constraint].velocity as usize)
    }

    /// A constraint, the tree of its degree of freedom, and the number of that there.
    pub(crate) fn place(&self, constraint: usize) -> (L, usize, usize) {
        let place = &self.places[constraint];
        (self.potentials[constraint], place.tree as usize, place.within as usize)
    }

    /// Every constraint, its degree of freedom, its tree, and its number there.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&L, usize, usize, usize)> + '_ {
        let place = |p: &DofIndex| (p.velocity as usize, p.tree as usize, p.within as usize);
        self.potentials.iter().zip(&self.places).map(move |(potential, p)| {
            let (n, tree, within) = place(p);
            (potential, n, tree, within)
        })
    }

    /// Room for the impulses of all constraints, for [`set_impulse`](Self::set_impulse).
    pub(crate) fn allocate_impulses(&mut self) {
        self.impulses.clear();
        self.impulses.resize(self.potentials.len(), 0.0);
    }

    /// Keeps an impulse that was found otherwise than by an evaluation.
    pub(crate) fn set_impulse(&mut self, constraint: usize, impulse: f64) {
        self.impulses[constraint] = impulse;
    }
}

impl<L: ConstraintPotential<1>> DofPool<L> {
    /// Adds the secants at the velocities last seen to the diagonal of one tree's block. Whether
    /// any constraint of it pushed.
    pub(crate) fn add_own_hessian(&self, tree: usize, values: &mut [f64]) -> bool {
        let (mut pushed, size) = (false, values.len().isqrt());
        for (c, place) in self.places.iter().enumerate().filter(|(_, place)| place.tree as usize == tree) {
            pushed |= self.impulses.get(c).is_some_and(|&impulse| impulse != 0.0);
            let gain = self.velocities.get(c).map_or(0.0, |&v| self.potentials[c].secant(&[v])[0][0]);
            values[place.within as usize * (size + 1)] += gain;
        }
        pushed
    }
}

impl<L: ConstraintPotential<1>> ConstraintPool for DofPool<L> {
    fn evaluate(&mut self, v: &[f64], gradient: &mut [f64]) -> f64 {
        self.velocities.clear();
        self.impulses.clear();
        self.hessians.clear();
        let mut total = 0.0;
        for (potential, place) in self.potentials.iter().zip(&self.places) {
            let velocity = v[place.velocity as usize];
            let response = potential.response(&[velocity]);
            total += response.potential;
            gradient[place.velocity as usize] -= response.impulse[0];
            self.velocities.push(velocity);
            self.impulses.push(response.impulse[0]);
            self.hessians.push(response.hessian[0][0]);
        }
        total
    }

    fn choose_hessian(&mut self, secant: bool, _: &mut Vec<(u32, u32)>) {
        self.chosen.clear();
        if secant {
            let secants = self
                .potentials
                .iter()
                .zip(&self.velocities)
                .map(|(potential, &v)| potential.secant(&[v])[0][0]);
            self.chosen.extend(secants);
        } else {
            self.chosen.extend_from_slice(&self.hessians);
        }
    }

    fn add_hessian(&self, matrix: &mut BlockMatrix) {
        for (place, &hessian) in self.places.iter().zip(&self.chosen) {
            if hessian != 0.0 {
                matrix.add_diagonal(place.tree as usize, place.within as usize, hessian);
            }
        }
    }

    fn start_line(&mut self, d: &[f64]) {
        self.rates.clear();
        self.rates.extend(self.places.iter().map(|place| d[place.velocity as usize]));
    }

    fn along(&self, alpha: f64) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for ((potential, &v), &d) in self.potentials.iter().zip(&self.velocities).zip(&self.rates) {
            let terms = potential.along(&[v + alpha * d], &[d]);
            for k in 0..3 {
                sums[k] += terms[k];
            }
        }
        sums
    }
}
