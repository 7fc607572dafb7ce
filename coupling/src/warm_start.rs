//! Warm start of the contact solve: the velocities at the same nodes after the last substep's
//! solve.
//!
//! Contact and elasticity nearly cancel at a node in every substep, so its velocity hardly changes
//! although both impulses are large. Impulses would be a worse start: a relative error `e` of them
//! gives an error `e substep f/m` of velocities, and stiff contacts and friction respond to far
//! less (in `shake` a thousandth of an impulse is five stiction tolerances).

use crate::backend::NodeVelocity;
use crate::nodes::Numbering;

/// Velocities of the nodes of the last solve, in ascending order of their coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmStart {
    left: Vec<NodeVelocity>,
    guess: Vec<[f64; 4]>,
}

impl WarmStart {
    /// The guess for the numbered nodes: their stored velocities, else their `free` velocities.
    pub(crate) fn guess(&mut self, numbering: &Numbering, free: &[[f64; 4]]) -> &[[f64; 4]] {
        self.guess.clear();
        self.guess.extend_from_slice(free);
        let mut left = self.left.iter().peekable();
        for n in numbering.ascending() {
            let node = numbering.places[n].node;
            while left.next_if(|l| l.node < node).is_some() {}
            if let Some(l) = left.next_if(|l| l.node == node) {
                self.guess[n] = [l.velocity[0], l.velocity[1], l.velocity[2], 0.0];
            }
        }
        &self.guess
    }

    /// Stores the velocities of the numbered nodes; drops all others.
    pub(crate) fn store(&mut self, numbering: &Numbering, velocities: &[[f64; 4]]) {
        self.forget();
        self.left.extend(numbering.ascending().map(|n| {
            let [x, y, z, _] = velocities[n];
            NodeVelocity { node: numbering.places[n].node, velocity: [x, y, z] }
        }));
    }

    /// Drops all.
    pub(crate) fn forget(&mut self) {
        self.left.clear();
    }

    /// All of them, to save.
    pub(crate) fn left(&self) -> &[NodeVelocity] {
        &self.left
    }

    /// Takes a saved list; false if it is not in order.
    pub(crate) fn restore(&mut self, left: Vec<NodeVelocity>) -> bool {
        self.left = left;
        self.left.is_sorted_by(|a, b| a.node < b.node)
    }
}
