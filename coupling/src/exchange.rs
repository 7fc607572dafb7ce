//! What the contact solve gives back: velocities to the grid, impulses to the bodies.
//!
//! The bodies get exactly the opposite of what the grid got, however loose the solver's tolerance: the contact impulses act at
//! the particles, and what the solver left over at a node (its momentum change less the contact impulses there) acts at
//! that node, on the body whose contact touches it. What the walls of the grid did in the solve goes to the boundary.

use nalgebra::{Point3, Vector3};
use pliant_mpm::Mpm;
use pliant_rigid::SpatialImpulse;

use crate::convex::{ContactProblem, ConvexSolver};
use crate::nodes::Numbering;
use crate::register::Pair;
use crate::walls::Walls;

/// No body touches the node.
const NOBODY: u32 = u32::MAX;

/// Impulses on the particles in one substep, world frame, about the world's origin, and the work of the bodies on them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchanged {
    pub linear: Vector3<f64>,
    pub angular: Vector3<f64>,
    pub work: f64,
    /// What of that came from the boundary conditions.
    pub boundary: SpatialImpulse,
}

/// Buffers of the exchange.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    /// Momentum change of each numbered node, then what is left after the contact impulses [N s].
    left: Vec<Vector3<f64>>,
    owner: Vec<u32>,
}

impl Exchange {
    /// Writes the solver's velocities to the grid, and obeys the walls there.
    pub(crate) fn hand_to_grid(
        &mut self,
        solver: &ConvexSolver,
        problem: &ContactProblem,
        pairs: &[Pair],
        numbering: &Numbering,
        walls: &Walls,
        mpm: &mut Mpm,
    ) -> Exchanged {
        let mut sums = Exchanged::default();
        self.update_grid(solver.velocities(), problem, numbering, mpm, &mut sums);
        impose_walls(&solver.impulses()[pairs.len()..], numbering, walls, mpm, &mut sums);
        sums
    }

    /// Adds the impulses on the bodies (about their `origins`) to `bodies`, and what belongs to `sums` besides the grid's part.
    pub(crate) fn hand_to_bodies(
        &mut self,
        solver: &ConvexSolver,
        problem: &ContactProblem,
        pairs: &[Pair],
        numbering: &Numbering,
        walls: &Walls,
        origins: &[Point3<f64>],
        bodies: &mut [SpatialImpulse],
        sums: &mut Exchanged,
    ) {
        let impulses = solver.impulses();
        for (left, impulse) in self.left.iter_mut().zip(solver.node_impulses()) {
            *left -= Vector3::new(impulse[0], impulse[1], impulse[2]);
        }
        self.find_owners(impulses, problem, pairs);
        for (c, (pair, impulse)) in pairs.iter().zip(impulses).enumerate() {
            let impulse = Vector3::from(*impulse);
            let body = pair.body.0;
            bodies[body].add_at(&origins[body], &pair.position, &-impulse);
            let answer = Vector3::from(problem.mobility.answer(c, solver.answers()));
            sums.work += impulse.dot(&(pair.body_velocity + answer));
        }
        for node in walls.sticky() {
            // The node did not move: the wall held it against the contacts.
            let held = core::mem::take(&mut self.left[node]);
            sums.boundary.add_at(&Point3::origin(), &numbering.places[node].position, &held);
        }
        for ((left, &owner), place) in self.left.iter().zip(&self.owner).zip(&numbering.places) {
            if owner != NOBODY {
                let body = owner as usize;
                bodies[body].add_at(&origins[body], &place.position, &-left);
            }
        }
    }

    /// Velocities in f32, and the momentum that they really change.
    fn update_grid(
        &mut self,
        velocities: &[[f64; 4]],
        problem: &ContactProblem,
        numbering: &Numbering,
        mpm: &mut Mpm,
        sums: &mut Exchanged,
    ) {
        self.left.clear();
        let nodes = mpm.nodes_mut();
        for (n, place) in numbering.places.iter().enumerate() {
            let mut change = Vector3::zeros();
            if let Some((block, node)) = place.at.filter(|_| problem.node_mass[n] > 0.0) {
                let value = &mut nodes[block as usize].nodes[node as usize];
                for d in 0..3 {
                    let rounded = velocities[n][d] as f32;
                    change[d] = problem.node_mass[n] * (f64::from(rounded) - f64::from(value[d]));
                    value[d] = rounded;
                }
            }
            sums.linear += change;
            sums.angular += place.position.coords.cross(&change);
            self.left.push(change);
        }
    }

    /// A node belongs to the body of the last contact with an impulse that touches it, else of the last contact at all.
    fn find_owners(&mut self, impulses: &[[f64; 3]], problem: &ContactProblem, pairs: &[Pair]) {
        self.owner.clear();
        self.owner.resize(self.left.len(), NOBODY);
        for active in [false, true] {
            let mut begin = 0;
            for group in pairs.chunk_by(|a, b| a.base == b.base) {
                let given = &impulses[begin..begin + group.len()];
                let pressed = given.iter().rposition(|impulse| *impulse != [0.0; 3]);
                if pressed.is_some() == active {
                    let owner = group[pressed.unwrap_or(group.len() - 1)].body.0 as u32;
                    for row in problem.contacts[begin].rows {
                        self.owner[row as usize..row as usize + 3].fill(owner);
                    }
                }
                begin += group.len();
            }
        }
    }
}

/// Boundary conditions on the new velocities; the walls' part of the momentum change goes to the boundary.
fn impose_walls(
    impulses: &[[f64; 3]],
    numbering: &Numbering,
    walls: &Walls,
    mpm: &mut Mpm,
    sums: &mut Exchanged,
) {
    walls.impose(impulses, numbering, mpm, |node, solved, imposed| {
        let position = &numbering.places[node].position;
        sums.linear += imposed;
        sums.angular += position.coords.cross(&imposed);
        sums.boundary.add_at(&Point3::origin(), position, &(solved + imposed));
    });
}
