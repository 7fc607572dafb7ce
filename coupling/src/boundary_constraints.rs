//! Boundary conditions of the grid within the contact problem.
//!
//! The free velocities obey the conditions, but contact moves the nodes again. So the conditions on
//! touched nodes enter the convex problem, and are solved together with the contacts: a sticky node
//! has infinite mass, and a plane that nodes may slide along or leave is a frictionless, near-rigid
//! contact of the node itself, with zero gap. The velocity into the plane that near-rigid contact
//! and the solver's tolerance leave is removed afterwards. Friction with the plane acts as in the
//! free motion, bounded by the normal impulse of the plane in the solve. All these impulses are
//! added to those of the boundary.
//!
//! The problem starts from free velocities that obey the conditions already: so a contact that
//! lifts a node off a plane does not cancel the force that pressed it there in the same substep.

use nalgebra::{Point3, Vector3};
use pliant_mpm::{Boundary, BoundaryKind, Mpm};

use crate::convex::{ContactConstraint, ContactProblem};
use crate::nodes::{ContactIsland, Numbering};

/// Stiffness number `substep^2 k / m` of a node's contact with a plane: of 1 m/s into the plane 0.1
/// mm/s remain to be removed.
const BOUNDARY_STIFFNESS_NUMBER: f64 = 1e4;

/// A node and a plane that it may leave.
#[derive(Clone, Copy, Debug)]
struct BoundaryConstraint {
    /// Number of the node.
    node: u32,
    /// Its contact in the problem.
    contact: u32,
    normal: Vector3<f64>,
    friction: f64,
    mass: f64,
}

/// The boundary constraints of one contact problem. In each island their contacts follow those of
/// the particles.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundaryConstraints {
    boundaries: Vec<Boundary>,
    boundary_constraints: Vec<BoundaryConstraint>,
    /// Numbers of the sticky nodes.
    sticky: Vec<u32>,
    visited: Vec<bool>,
    /// Momentum that the initial guess gives each node \[N s\].
    guess_impulses: Vec<Vector3<f64>>,
}

impl BoundaryConstraints {
    pub(crate) fn new(boundaries: &[Boundary]) -> Self {
        Self { boundaries: boundaries.to_vec(), ..Self::default() }
    }

    /// Begins a problem with this number of nodes.
    pub(crate) fn begin(&mut self, nodes: usize) {
        self.boundary_constraints.clear();
        self.sticky.clear();
        self.visited.clear();
        if !self.boundaries.is_empty() {
            self.visited.resize(nodes, false);
        }
    }

    /// Adds the conditions on the nodes of an island to the problem, whose last contacts are the
    /// island's.
    pub(crate) fn add(
        &mut self,
        numbering: &Numbering,
        island: &ContactIsland,
        grid_spacing: f64,
        problem: &mut ContactProblem,
    ) {
        if self.boundaries.is_empty() {
            return;
        }
        for group in numbering.groups_of(island) {
            for (r, &row) in group.rows.iter().enumerate() {
                for k in 0..3 {
                    let node = row as usize + k;
                    if !core::mem::replace(&mut self.visited[node], true) && problem.node_mass[node] > 0.0 {
                        let position = &numbering.position(&numbering.places[node]);
                        self.add_node(node, position, grid_spacing, (group.rows, r, k), problem);
                    }
                }
            }
        }
    }

    /// Adds the conditions on one node, which is node `k` of row `r` of a stencil.
    fn add_node(
        &mut self,
        node: usize,
        position: &Point3<f64>,
        grid_spacing: f64,
        (rows, r, k): (&[u32; 9], usize, usize),
        problem: &mut ContactProblem,
    ) {
        let first = self.boundary_constraints.len();
        for boundary in self.boundaries.iter().filter(|b| b.acts_on(position, grid_spacing)) {
            let friction = match boundary.kind {
                BoundaryKind::Slip => 0.0,
                BoundaryKind::Frictional { friction } => friction,
                BoundaryKind::Sticky => {
                    // The solver never moves a node without mass.
                    self.boundary_constraints.truncate(first);
                    self.sticky.push(node as u32);
                    problem.node_mass[node] = 0.0;
                    return;
                }
            };
            let (normal, mass) = (boundary.normal.into_inner(), problem.node_mass[node]);
            self.boundary_constraints.push(BoundaryConstraint {
                node: node as u32,
                contact: 0,
                normal,
                friction,
                mass,
            });
        }
        for wall in &mut self.boundary_constraints[first..] {
            wall.contact = problem.contacts.len() as u32;
            problem.contacts.push(ContactConstraint {
                rows: *rows,
                weights_xy: core::array::from_fn(|row| f64::from(u8::from(row == r))),
                weights_z: core::array::from_fn(|z| f64::from(u8::from(z == k))),
                normal: wall.normal.into(),
                body_velocity: [0.0; 3],
                gap: 0.0,
                stiffness: BOUNDARY_STIFFNESS_NUMBER * wall.mass / (problem.substep * problem.substep),
                dissipation: 0.0,
                friction: 0.0,
                stiction_tolerance: 1.0,
                lagged_normal_impulse: 0.0,
                adhesion: 0.0,
            });
        }
    }

    /// Completes guesses of the contacts' impulses, which are zero for the boundaries: the impulses
    /// that keep the others from moving nodes into the plane.
    pub(crate) fn guess(&mut self, problem: &ContactProblem, guess: &mut [[f64; 3]]) {
        if self.boundary_constraints.is_empty() {
            return;
        }
        self.guess_impulses.clear();
        self.guess_impulses.resize(problem.node_mass.len(), Vector3::zeros());
        for (contact, impulse) in problem.contacts.iter().zip(guess.iter()) {
            for (row, weight) in contact.rows.iter().zip(contact.weights_xy) {
                for k in 0..3 {
                    self.guess_impulses[*row as usize + k] +=
                        Vector3::from(*impulse) * (weight * contact.weights_z[k]);
                }
            }
        }
        for wall in &self.boundary_constraints {
            let [x, y, z, _] = problem.node_free_velocity[wall.node as usize];
            let guess_impulses = &mut self.guess_impulses[wall.node as usize];
            let normal = wall.normal.dot(&(*guess_impulses + Vector3::new(x, y, z) * wall.mass));
            let held = wall.normal * (-normal).max(0.0);
            *guess_impulses += held;
            guess[wall.contact as usize] = held.into();
        }
    }

    /// The sticky nodes, by number.
    pub(crate) fn sticky(&self) -> impl Iterator<Item = usize> {
        self.sticky.iter().map(|&node| node as usize)
    }

    /// Removes the velocities into the planes that the solve left, and adds friction. Calls `got`
    /// with each constrained node, the impulse of the plane on it in the solve (among the contacts'
    /// `impulses`), and the impulse of this correction \[N s\].
    pub(crate) fn impose(
        &self,
        impulses: &[[f64; 3]],
        numbering: &Numbering,
        mpm: &mut Mpm,
        mut got: impl FnMut(usize, Vector3<f64>, Vector3<f64>),
    ) {
        let nodes = mpm.nodes_mut();
        for wall in &self.boundary_constraints {
            let solved = Vector3::from(impulses[wall.contact as usize]);
            let Some((block, at)) = numbering.places[wall.node as usize].at else { continue };
            let value = &mut nodes[block as usize].nodes[at as usize];
            let before = Vector3::new(value[0], value[1], value[2]);
            let after = wall.impose(before, wall.normal.dot(&solved));
            value[..3].copy_from_slice(after.as_slice());
            got(wall.node as usize, solved, (after.cast::<f64>() - before.cast::<f64>()) * wall.mass);
        }
    }
}

impl BoundaryConstraint {
    /// The corrected velocity \[m/s\] of a node on which the plane acted with a normal impulse
    /// \[N s\] in the solve.
    fn impose(&self, velocity: Vector3<f32>, solved: f64) -> Vector3<f32> {
        let normal = self.normal.cast::<f32>();
        let into = normal.dot(&velocity).min(0.0);
        let free = velocity - normal * into;
        let tangential = free - normal * normal.dot(&free);
        let speed = tangential.norm();
        let slowed = (self.friction * (solved / self.mass - f64::from(into))) as f32;
        if speed > 0.0 && slowed > 0.0 { free - tangential * (slowed / speed).min(1.0) } else { free }
    }
}
