//! The velocities from which the contact solve starts: those that the last substep's left at the same nodes.
//!
//! Contact and elasticity all but cancel each other at a node, substep by substep, so its velocity hardly changes while what
//! makes it up is large. Impulses would not do in its place: those that are off by a part `e` leave velocities that are
//! off by `e delta f/m`, and stiff contacts and friction answer to far less (in `shake` a thousandth of an impulse is five
//! stiction tolerances).

use crate::backend::NodeVelocity;
use crate::nodes::NodePlace;

/// What the last solve left at the nodes that it had, in ascending order of their coordinates.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmStart {
    left: Vec<NodeVelocity>,
    guess: Vec<[f64; 4]>,
}

impl WarmStart {
    /// The guess for the nodes at `places`: what is remembered of them, else their `free` velocities.
    pub(crate) fn guess(&mut self, places: &[NodePlace], free: &[[f64; 4]]) -> &[[f64; 4]] {
        self.guess.clear();
        let mut left = self.left.iter().peekable();
        for (place, free) in places.iter().zip(free) {
            while left.next_if(|l| l.node < place.node).is_some() {}
            let known = left.next_if(|l| l.node == place.node);
            self.guess.push(known.map_or(*free, |l| [l.velocity[0], l.velocity[1], l.velocity[2], 0.0]));
        }
        &self.guess
    }

    /// Keeps the velocities of the nodes at `places`; forgets all others.
    pub(crate) fn remember(&mut self, places: &[NodePlace], velocities: &[[f64; 4]]) {
        self.left.clear();
        let kept = places.iter().zip(velocities);
        self.left
            .extend(kept.map(|(place, v)| NodeVelocity { node: place.node, velocity: [v[0], v[1], v[2]] }));
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
