//! The velocities from which the contact solve starts: those that the last substep's left at the
//! same nodes.
//!
//! Contact and elasticity all but cancel each other at a node, substep by substep, so its velocity
//! hardly changes while what makes it up is large. Impulses would not do in its place: those that
//! are off by a part `e` leave velocities that are off by `e substep f/m`, and stiff contacts and
//! friction answer to far less (in `shake` a thousandth of an impulse is five stiction tolerances).

use crate::backend::NodeVelocity;
use crate::nodes::Numbering;

/// What the last solve left at the nodes that it had, in ascending order of their coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmStart {
    left: Vec<NodeVelocity>,
    guess: Vec<[f64; 4]>,
}

impl WarmStart {
    /// The guess for the numbered nodes: what is remembered of them, else their `free` velocities.
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

    /// Keeps the velocities of the numbered nodes; forgets all others.
    pub(crate) fn store(&mut self, numbering: &Numbering, velocities: &[[f64; 4]]) {
        self.forget();
        self.left.extend(numbering.ascending().map(|n| {
            let [x, y, z, _] = velocities[n];
            NodeVelocity { node: numbering.places[n].node, velocity: [x, y, z] }
        }));
    }

    /// Forgets all.
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
