//! The results of the contact solve: velocities of the grid, impulses on the bodies.
//!
//! The impulses on bodies are exactly opposite to those on the grid at any tolerance of the solver:
//! the contact impulses act at the particles, and the residual momentum of a node (its momentum
//! change less the contact impulses there) acts at that node, on the body whose contact touches it.
//! The impulses of the grid boundaries in the solve are added to those of the boundary. A contact impulse on
//! a held vertex moves no node: its pin gives it back.

use nalgebra::{Point3, Vector3};
use pliant_mpm::{Mpm, PinImpulse};
use pliant_rigid::SpatialImpulse;

use crate::body_state::SubstepBodyState;
use crate::boundary_constraints::BoundaryConstraints;
use crate::convex::{ContactConstraint, ContactProblem, Solution};
use crate::nodes::Numbering;
use crate::pair::ContactPair;
use crate::report::ParticleFlows;

/// No body touches the node.
const NO_BODY: u32 = u32::MAX;

/// Impulses on the particles in one substep, world frame, about the world's origin, and the work of
/// the bodies on them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExchangeTotals {
    pub linear: Vector3<f64>,
    pub angular: Vector3<f64>,
    pub work: f64,
    /// The part of the boundary conditions.
    pub boundary: SpatialImpulse,
    /// What pins give back where bodies touch held vertices.
    pub pins: PinImpulse,
    /// Work and losses.
    pub flows: ParticleFlows,
}

/// Buffers of the exchange.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    /// Momentum change of each numbered node, then the residual after the contact impulses \[N s\].
    residual_momentum: Vec<Vector3<f64>>,
    owner: Vec<u32>,
    /// Impulse on the particle of each pair \[N s\].
    pub impulses: Vec<[f64; 3]>,
}

impl Exchange {
    /// Writes the solution's velocities to the grid, and applies the boundary conditions.
    pub(crate) fn write_velocities_to_grid(
        &mut self,
        solution: &Solution,
        problem: &ContactProblem,
        numbering: &Numbering,
        boundary_constraints: &BoundaryConstraints,
        mpm: &mut Mpm,
    ) -> ExchangeTotals {
        let mut sums = ExchangeTotals::default();
        self.update_grid(&solution.velocities, problem, numbering, mpm, &mut sums);
        impose_boundaries(solution, problem, numbering, boundary_constraints, mpm, &mut sums);
        sums
    }

    /// Adds the impulses on the bodies (about their `reference_points`) to `bodies`, and the work
    /// and losses of contact to `sums`.
    pub(crate) fn add_impulses_to_bodies(
        &mut self,
        solution: &Solution,
        problem: &ContactProblem,
        pairs: &[ContactPair],
        numbering: &Numbering,
        boundary_constraints: &BoundaryConstraints,
        reference_points: &[Point3<f64>],
        dynamic_bodies: &[bool],
        states: &[SubstepBodyState],
        bodies: &mut [SpatialImpulse],
        sums: &mut ExchangeTotals,
    ) {
        let mut work = ContactWork::default();
        for (residual_momentum, impulse) in self.residual_momentum.iter_mut().zip(&solution.node_impulses) {
            *residual_momentum -= Vector3::new(impulse[0], impulse[1], impulse[2]);
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
                bodies[body].add_at(&reference_points[body], &pair.position, &-impulse);
                if let Some(velocity) = &pair.held {
                    sums.linear += impulse;
                    sums.angular += pair.position.coords.cross(&impulse);
                    sums.pins.add(&pair.position.coords, &-impulse, velocity);
                }
                let answer =
                    Vector3::from(problem.mobility.velocity_change_at(c, &solution.body_velocity_changes));
                sums.work += impulse.dot(&(pair.body_velocity + answer));
                if impulse != Vector3::zeros() {
                    let of_nodes = || velocity_of(&problem.contacts[c], solution);
                    let particle = pair.held.unwrap_or_else(of_nodes);
                    let ahead = states[body].ahead(&pair.position);
                    work.add(pair, dynamic_bodies[body], &impulse, &(answer, ahead), &particle);
                }
            }
        }
        work.add_to(&mut sums.flows);
        self.find_owners(numbering, pairs);
        for node in boundary_constraints.sticky() {
            // The node did not move: the boundary held it against the contacts.
            let held = core::mem::take(&mut self.residual_momentum[node]);
            sums.boundary.add_at(&Point3::origin(), &numbering.position(&numbering.places[node]), &held);
        }
        for ((residual_momentum, &owner), place) in
            self.residual_momentum.iter().zip(&self.owner).zip(&numbering.places)
        {
            if owner != NO_BODY {
                let body = owner as usize;
                bodies[body].add_at(&reference_points[body], &numbering.position(place), &-residual_momentum);
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
        sums: &mut ExchangeTotals,
    ) {
        self.residual_momentum.clear();
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
            self.residual_momentum.push(change);
        }
    }

    /// A node belongs to the body of the last pair with an impulse that touches it, else of the
    /// last pair at all.
    fn find_owners(&mut self, numbering: &Numbering, pairs: &[ContactPair]) {
        self.owner.clear();
        self.owner.resize(self.residual_momentum.len(), NO_BODY);
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

/// Work and losses of contacts. The work of bodies is that at the mean of their velocities at the start
/// of the substep and after the solve (see `rigid/src/simulation/energy.rs`): before the solve a
/// finger already has the impulse of its motor, which contact opposes. Losses are those at the final
/// velocities, at which the contact model is evaluated: before the solve the grid already has the
/// impulse of elasticity, which contact opposes, and energy that one adds and the other removes
/// within a substep is no loss. (Further losses in impacts are due to the time step and count in
/// the imbalance.)
#[derive(Clone, Copy, Debug, Default)]
struct ContactWork {
    /// Work of dynamic bodies, and of prescribed ones \[J\].
    of: [f64; 2],
    /// Lost in the normal direction, and to friction \[J\].
    lost: [f64; 2],
}

impl ContactWork {
    /// Adds a contact, with the velocity change of its body, how far ahead of the mean it was before
    /// ([`SubstepBodyState::ahead`]), and the final velocity of its particle.
    fn add(
        &mut self,
        pair: &ContactPair,
        dynamic_bodies: bool,
        impulse: &Vector3<f64>,
        (answer, ahead): &(Vector3<f64>, Vector3<f64>),
        particle: &Vector3<f64>,
    ) {
        self.of[usize::from(!dynamic_bodies)] += impulse.dot(&(pair.body_velocity + answer * 0.5 - ahead));
        let slip = particle - pair.body_velocity - answer;
        let normal = pair.normal.dot(impulse) * pair.normal.dot(&slip);
        self.lost[0] -= normal;
        self.lost[1] -= impulse.dot(&slip) - normal;
    }

    fn add_to(&self, flows: &mut ParticleFlows) {
        flows.bodies = self.of[0] + self.of[1];
        (flows.dynamic, flows.prescribed) = (Some(self.of[0]), Some(self.of[1]));
        (flows.contact_normal, flows.contact_friction) = (Some(self.lost[0]), Some(self.lost[1]));
    }
}

/// Velocity \[m/s\] of a contact's particle after the solve.
fn velocity_of(contact: &ContactConstraint, solution: &Solution) -> Vector3<f64> {
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

/// Boundary conditions on the new velocities; their part of the momentum change is added to the
/// boundary's impulse.
fn impose_boundaries(
    solution: &Solution,
    problem: &ContactProblem,
    numbering: &Numbering,
    boundary_constraints: &BoundaryConstraints,
    mpm: &mut Mpm,
    sums: &mut ExchangeTotals,
) {
    let mut lost = 0.0;
    boundary_constraints.impose(&solution.impulses, numbering, mpm, |node, solved, imposed| {
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
