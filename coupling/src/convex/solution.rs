//! Results of the solver.

use super::layout::Vector;
use super::mobility::Spatial;
use super::problem::ContactProblem;

/// The solution of a problem. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solution {
    /// Velocity of every node \[m/s\].
    pub velocities: Vec<Vector>,
    /// Impulse of every contact on the particles \[N s\].
    pub impulses: Vec<[f64; 3]>,
    /// Sum of the contacts' impulses on every node \[N s\].
    pub node_impulses: Vec<Vector>,
    /// Velocity changes of the strongly coupled bodies \[rad/s, m/s\].
    pub body_velocity_changes: Vec<Spatial>,
}

/// The solution of a part of a problem.
#[derive(Debug)]
pub(crate) struct SolutionPart<'a> {
    pub velocities: &'a mut [Vector],
    pub impulses: &'a mut [[f64; 3]],
    pub node_impulses: &'a mut [Vector],
    pub body_velocity_changes: &'a mut [Spatial],
}

impl Solution {
    /// Sizes everything for a problem: free velocities, no impulses.
    pub fn reset(&mut self, problem: &ContactProblem) {
        self.velocities.clear();
        self.velocities.extend_from_slice(&problem.node_free_velocity);
        self.node_impulses.clear();
        self.node_impulses.resize(problem.node_free_velocity.len(), [0.0; 4]);
        self.impulses.clear();
        self.impulses.resize(problem.contacts.len(), [0.0; 3]);
        self.body_velocity_changes.clear();
        self.body_velocity_changes.resize(problem.mobility.bodies(), [0.0; 6]);
    }

    /// All of it as one part.
    pub fn whole(&mut self) -> SolutionPart<'_> {
        SolutionPart {
            velocities: &mut self.velocities,
            impulses: &mut self.impulses,
            node_impulses: &mut self.node_impulses,
            body_velocity_changes: &mut self.body_velocity_changes,
        }
    }
}

impl<'a> SolutionPart<'a> {
    /// Its first `nodes` and `contacts`, with the bodies, and the rest.
    pub fn split(self, nodes: usize, contacts: usize) -> (SolutionPart<'a>, SolutionPart<'a>) {
        let (velocities, other_velocities) = self.velocities.split_at_mut(nodes);
        let (impulses, other_impulses) = self.impulses.split_at_mut(contacts);
        let (node_impulses, other_node_impulses) = self.node_impulses.split_at_mut(nodes);
        let rest = SolutionPart {
            velocities: other_velocities,
            impulses: other_impulses,
            node_impulses: other_node_impulses,
            body_velocity_changes: &mut [],
        };
        (
            SolutionPart {
                velocities,
                impulses,
                node_impulses,
                body_velocity_changes: self.body_velocity_changes,
            },
            rest,
        )
    }
}
