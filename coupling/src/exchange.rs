//! What the contact solve gives back: velocities to the grid, impulses to the bodies.
//!
//! The bodies get exactly the opposite of what the grid got, however loose the solver's tolerance: the contact impulses act at
//! the particles, and what the solver left over at a node (its momentum change less the contact impulses there) acts at
//! that node, on the body whose contact touches it. What the walls of the grid did in the solve goes to the boundary.

use nalgebra::{Point3, Vector3};
use pliant_mpm::Mpm;
use pliant_rigid::SpatialImpulse;

use crate::convex::{Contact, ContactProblem, Solution};
use crate::nodes::Numbering;
use crate::pair::Pair;
use crate::report::ParticleFlows;
use crate::walls::Walls;

/// No body touches the node.
const NOBODY: u32 = u32::MAX;

/// Impulses on the particles in one substep, world frame, about the world's origin, and the work of the bodies on them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchanged {
    pub linear: Vector3<f64>,
    pub angular: Vector3<f64>,
    pub work: f64,
    /// What of the impulses came from the boundary conditions.
    pub boundary: SpatialImpulse,
    /// Where the energy went.
    pub flows: ParticleFlows,
}

/// Buffers of the exchange.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    /// Momentum change of each numbered node, then what is left after the contact impulses [N s].
    left: Vec<Vector3<f64>>,
    owner: Vec<u32>,
    /// Impulse on the particle of each pair [N s].
    pub impulses: Vec<[f64; 3]>,
}

impl Exchange {
    /// Writes the solution's velocities to the grid, and obeys the walls there.
    pub(crate) fn hand_to_grid(
        &mut self,
        solution: &Solution,
        problem: &ContactProblem,
        numbering: &Numbering,
        walls: &Walls,
        mpm: &mut Mpm,
    ) -> Exchanged {
        let mut sums = Exchanged::default();
        self.update_grid(&solution.velocities, problem, numbering, mpm, &mut sums);
        impose_walls(solution, problem, numbering, walls, mpm, &mut sums);
        sums
    }

    /// Adds the impulses on the bodies (about their `origins`) to `bodies`, and what belongs to `sums` besides the grid's part.
    pub(crate) fn hand_to_bodies(
        &mut self,
        solution: &Solution,
        problem: &ContactProblem,
        pairs: &[Pair],
        numbering: &Numbering,
        walls: &Walls,
        origins: &[Point3<f64>],
        moves: &[bool],
        bodies: &mut [SpatialImpulse],
        sums: &mut Exchanged,
    ) {
        let mut work = Work::default();
        for (left, impulse) in self.left.iter_mut().zip(&solution.node_impulses) {
            *left -= Vector3::new(impulse[0], impulse[1], impulse[2]);
        }
        self.impulses.clear();
        for group in numbering.groups() {
            let contacts = group.contact..group.contact + group.pairs.len();
            self.impulses.extend_from_slice(&solution.impulses[contacts.clone()]);
            for ((c, pair), impulse) in
                contacts.zip(&pairs[group.pairs.clone()]).zip(&self.impulses[group.pairs])
            {
                let impulse = Vector3::from(*impulse);
                let body = pair.body.0;
                bodies[body].add_at(&origins[body], &pair.position, &-impulse);
                let answer = Vector3::from(problem.mobility.answer(c, &solution.answers));
                sums.work += impulse.dot(&(pair.body_velocity + answer));
                if impulse != Vector3::zeros() {
                    let particle = velocity_of(&problem.contacts[c], solution);
                    work.add(pair, moves[body], &impulse, &answer, &particle);
                }
            }
        }
        work.tell(&mut sums.flows);
        self.find_owners(numbering, pairs);
        for node in walls.sticky() {
            // The node did not move: the wall held it against the contacts.
            let held = core::mem::take(&mut self.left[node]);
            sums.boundary.add_at(&Point3::origin(), &numbering.position(&numbering.places[node]), &held);
        }
        for ((left, &owner), place) in self.left.iter().zip(&self.owner).zip(&numbering.places) {
            if owner != NOBODY {
                let body = owner as usize;
                bodies[body].add_at(&origins[body], &numbering.position(place), &-left);
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
            sums.angular += numbering.position(place).coords.cross(&change);
            self.left.push(change);
        }
    }

    /// A node belongs to the body of the last pair with an impulse that touches it, else of the last pair at all.
    fn find_owners(&mut self, numbering: &Numbering, pairs: &[Pair]) {
        self.owner.clear();
        self.owner.resize(self.left.len(), NOBODY);
        for active in [false, true] {
            for group in numbering.groups() {
                let given = &self.impulses[group.pairs.clone()];
                let pressed = given.iter().rposition(|impulse| *impulse != [0.0; 3]);
                if pressed.is_some() == active {
                    let last = group.pairs.start + pressed.unwrap_or(given.len() - 1);
                    let owner = pairs[last].body.0 as u32;
                    for &row in group.rows {
                        self.owner[row as usize..row as usize + 3].fill(owner);
                    }
                }
            }
        }
    }
}

/// What contacts do. Bodies work at the mean of their velocities before and after the solve (see `rigid/src/simulation/energy.rs`). Losses are at
/// the velocities at the end, with which the law is evaluated: before the solve the grid has the impulse of elasticity already, against which
/// contact holds, and what one gives the grid and the other takes from it within a substep is no loss. (What impacts take beyond the law is
/// the step's, in the imbalance.)
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Of bodies that move by their dynamics, and of those that follow a path [J].
    of: [f64; 2],
    /// Lost in the normal direction, and to friction [J].
    lost: [f64; 2],
}

impl Work {
    /// Adds that of a contact, whose body answers by so much and whose particle has this velocity at the end.
    fn add(
        &mut self,
        pair: &Pair,
        moves: bool,
        impulse: &Vector3<f64>,
        answer: &Vector3<f64>,
        particle: &Vector3<f64>,
    ) {
        self.of[usize::from(!moves)] += impulse.dot(&(pair.body_velocity + answer * 0.5));
        let slip = particle - pair.body_velocity - answer;
        let normal = pair.normal.dot(impulse) * pair.normal.dot(&slip);
        self.lost[0] -= normal;
        self.lost[1] -= impulse.dot(&slip) - normal;
    }

    fn tell(&self, flows: &mut ParticleFlows) {
        flows.bodies = self.of[0] + self.of[1];
        (flows.moving, flows.led) = (Some(self.of[0]), Some(self.of[1]));
        (flows.contact_normal, flows.contact_friction) = (Some(self.lost[0]), Some(self.lost[1]));
    }
}

/// Velocity \[m/s\] of a contact's particle after the solve.
fn velocity_of(contact: &Contact, solution: &Solution) -> Vector3<f64> {
    let mut sum = [0.0; 3];
    for (&row, weight) in contact.rows.iter().zip(contact.weights_xy) {
        for k in 0..3 {
            let weight = weight * contact.weights_z[k];
            let velocity = &solution.velocities[row as usize + k];
            for d in 0..3 {
                sum[d] += weight * velocity[d];
            }
        }
    }
    sum.into()
}

/// Boundary conditions on the new velocities; the walls' part of the momentum change goes to the boundary.
fn impose_walls(
    solution: &Solution,
    problem: &ContactProblem,
    numbering: &Numbering,
    walls: &Walls,
    mpm: &mut Mpm,
    sums: &mut Exchanged,
) {
    let mut lost = 0.0;
    walls.impose(&solution.impulses, numbering, mpm, |node, solved, imposed| {
        let position = &numbering.position(&numbering.places[node]);
        let after = &solution.velocities[node];
        let after = Vector3::new(after[0], after[1], after[2]) + imposed / problem.node_mass[node];
        lost -= (solved + imposed).dot(&after);
        sums.linear += imposed;
        sums.angular += position.coords.cross(&imposed);
        sums.boundary.add_at(&Point3::origin(), position, &(solved + imposed));
    });
    sums.flows.boundaries = Some(lost);
}
