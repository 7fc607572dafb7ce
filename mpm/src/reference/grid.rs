//! The reference's grid: all nodes of the particles' bounding box.

use super::error::ReferenceError;
use super::totals::{ReferenceTotals, TotalsSum};
use crate::bspline::{base_node, quadratic_weights};
use nalgebra::Vector3;

/// Nodes of the largest grid that the reference allocates.
const MOST_NODES: i64 = 1 << 26;

/// One grid node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Node {
    /// Lumped mass \[kg\]; zero where no particle reaches.
    pub mass: f64,
    /// Momentum gathered from particles, with the impulse of internal and body forces \[kg m/s\].
    pub momentum: Vector3<f64>,
    /// Mass gathered from granular particles \[kg\].
    pub granular_mass: f64,
    /// Momentum gathered from granular particles, without forces \[kg m/s\].
    pub granular_momentum: Vector3<f64>,
    /// Velocity after [`Grid::free_motion`] and boundary conditions \[m/s\].
    pub velocity: Vector3<f64>,
}

impl Node {
    /// Velocity of the node from granular particles alone, without forces; zero without them
    /// \[m/s\].
    pub(super) fn granular_velocity(&self) -> Vector3<f64> {
        if self.granular_mass > 0.0 { self.granular_momentum / self.granular_mass } else { Vector3::zeros() }
    }
}

/// A dense block of nodes; node (i, j, k) is at spacing (i, j, k).
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    spacing: f64,
    first: [i32; 3],
    size: [usize; 3],
    nodes: Vec<Node>,
}

impl Grid {
    /// An empty grid with every node that particles at these positions \[m\] reach.
    ///
    /// # Errors
    /// [`ReferenceError::OutsideGrid`] for a position that is not finite, or that would make the
    /// grid too large.
    pub(super) fn around<'a>(
        spacing: f64,
        positions: impl Iterator<Item = &'a Vector3<f64>>,
    ) -> Result<Self, ReferenceError> {
        let mut low = [i32::MAX; 3];
        let mut high = [i32::MIN; 3];
        for (particle, &position) in positions.enumerate() {
            for axis in 0..3 {
                let scaled = position[axis] / spacing;
                if scaled.is_nan() || scaled.abs() > 1e9 {
                    return Err(ReferenceError::OutsideGrid { particle, position });
                }
                let (base, _) = base_node(scaled);
                low[axis] = low[axis].min(base);
                high[axis] = high[axis].max(base + 2);
            }
            let extent = |axis: usize| i64::from(high[axis]) - i64::from(low[axis]) + 1;
            if extent(0).saturating_mul(extent(1)).saturating_mul(extent(2)) > MOST_NODES {
                return Err(ReferenceError::OutsideGrid { particle, position });
            }
        }
        let size = if low[0] > high[0] {
            low = [0; 3];
            [0; 3]
        } else {
            [0, 1, 2].map(|axis| (high[axis] - low[axis] + 1) as usize)
        };
        let nodes = vec![Node::default(); size[0] * size[1] * size[2]];
        Ok(Self { spacing, first: low, size, nodes })
    }

    /// Grid spacing h \[m\].
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The 27 nodes around a position \[m\] inside the grid: (slot in [`Self::nodes`], weight w_ip,
    /// x_i - x_p \[m\]).
    pub fn stencil(
        &self,
        position: &Vector3<f64>,
    ) -> impl Iterator<Item = (usize, f64, Vector3<f64>)> + use<> {
        let h = self.spacing;
        let axes = [0, 1, 2].map(|axis| base_node(position[axis] / h));
        let weights = axes.map(|(_, fx)| quadratic_weights(fx));
        let slot = [0, 1, 2].map(|axis| (axes[axis].0 - self.first[axis]) as usize);
        let size = self.size;
        (0..27).map(move |n| {
            let local = [n / 9, n / 3 % 3, n % 3];
            let index = (slot[0] + local[0]) * size[1] + slot[1] + local[1];
            let weight = weights[0][local[0]] * weights[1][local[1]] * weights[2][local[2]];
            let offset = [0, 1, 2].map(|axis| (local[axis] as f64 - axes[axis].1) * h);
            (index * size[2] + slot[2] + local[2], weight, Vector3::from(offset))
        })
    }

    /// All nodes of the block, the last index fastest; those without mass included.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// As [`Self::nodes`], to change them.
    pub fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.nodes
    }

    /// Integer coordinates of a slot of [`Self::nodes`].
    pub fn index(&self, slot: usize) -> (i32, i32, i32) {
        let [_, sy, sz] = self.size;
        let [x, y, z] = self.first;
        (x + (slot / (sy * sz)) as i32, y + (slot / sz % sy) as i32, z + (slot % sz) as i32)
    }

    /// The node at integer coordinates, if the block has it.
    pub fn node(&self, index: (i32, i32, i32)) -> Option<&Node> {
        let local = [index.0, index.1, index.2];
        let mut slot = 0;
        for axis in 0..3 {
            let offset = usize::try_from(local[axis].checked_sub(self.first[axis])?).ok()?;
            if offset >= self.size[axis] {
                return None;
            }
            slot = slot * self.size[axis] + offset;
        }
        self.nodes.get(slot)
    }

    /// World position of a slot of [`Self::nodes`] \[m\].
    pub fn position(&self, slot: usize) -> Vector3<f64> {
        let (i, j, k) = self.index(slot);
        Vector3::new(f64::from(i), f64::from(j), f64::from(k)) * self.spacing
    }

    /// v* = (m v)_i / m_i + substep g at every node with mass; `substep` in s, `gravity` in m/s^2.
    pub fn free_motion(&mut self, substep: f64, gravity: &Vector3<f64>) {
        for node in self.nodes.iter_mut().filter(|n| n.mass > 0.0) {
            node.velocity = node.momentum / node.mass + substep * gravity;
        }
    }

    /// Calls `condition(position [m], mass [kg], velocity [m/s])` for every node with mass, in the
    /// order of [`Self::nodes`].
    pub fn apply(&mut self, mut condition: impl FnMut(&Vector3<f64>, f64, &mut Vector3<f64>)) {
        for slot in 0..self.nodes.len() {
            if self.nodes[slot].mass > 0.0 {
                let position = self.position(slot);
                let node = &mut self.nodes[slot];
                condition(&position, node.mass, &mut node.velocity);
            }
        }
    }

    /// Mass and momenta of the nodes' momentum (before [`Self::free_motion`]); energies are those
    /// of the grid alone.
    pub fn totals_of_momentum(&self) -> ReferenceTotals {
        self.totals(|node| node.momentum)
    }

    /// Mass and momenta of the nodes' velocity (after [`Self::free_motion`]).
    pub fn totals_of_velocity(&self) -> ReferenceTotals {
        self.totals(|node| node.mass * node.velocity)
    }

    fn totals(&self, momentum: impl Fn(&Node) -> Vector3<f64>) -> ReferenceTotals {
        let mut totals = TotalsSum::default();
        for (slot, node) in self.nodes.iter().enumerate().filter(|(_, n)| n.mass > 0.0) {
            let momentum = momentum(node);
            totals.add(&ReferenceTotals {
                mass: node.mass,
                linear_momentum: momentum,
                angular_momentum: self.position(slot).cross(&momentum),
                kinetic_energy: 0.5 * momentum.norm_squared() / node.mass,
                elastic_energy: 0.0,
            });
        }
        totals.value()
    }
}
