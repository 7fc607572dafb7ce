//! A problem made ready for the solver: only the touched nodes, contacts in groups that share a
//! stencil, and the constants of the contact models in lanes.

use super::kernels;
use super::layout::{ContactModelLanes, Group, LANES, Vector, Weights};
use super::mobility::{Mobility, Spatial};
use super::problem::{ContactConstraint, ProblemPart};

impl ContactModelLanes {
    fn set(&mut self, lane: usize, contact: &ContactConstraint, substep: f64) {
        let (model, friction) = (contact.normal_model(substep), contact.regularised_friction());
        for a in 0..3 {
            self.normal[a][lane] = contact.normal[a];
        }
        self.release[lane] = model.release_velocity;
        self.linear[lane] = model.linear;
        self.quadratic[lane] = model.quadratic;
        self.friction_bound[lane] = friction.bound;
        self.stiction[lane] = friction.regularisation;
        self.tension_slope[lane] = model.tension_slope;
        self.tension_range[lane] = model.tension_range;
    }
}

/// The problem in the solver's layout. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    /// Touched nodes, ascending, so that three z-consecutive nodes stay consecutive.
    pub nodes: Vec<u32>,
    /// Mass of the touched nodes \[kg\], then ones for the vectors that hold the bodies' unknowns.
    pub mass: Vec<f64>,
    /// Its inverse, zero where the mass is zero: such a node never moves.
    pub inverse_mass: Vec<f64>,
    /// Free velocity of the touched nodes \[m/s\].
    pub free: Vec<Vector>,
    /// Groups of contacts with one stencil.
    pub groups: Vec<Group>,
    /// Weights of each contact.
    pub weights: Vec<Weights>,
    /// The constants of the contact models.
    pub contact_models: Vec<ContactModelLanes>,
    /// Minus the body's velocity, each contact, padded to full lanes.
    pub bias: Vec<Vector>,
    /// Number of contacts.
    pub contacts: usize,
    /// The strongly coupled bodies.
    pub mobility: Mobility,
    local: Vec<u32>,
}

impl Prepared {
    /// Contacts rounded up to full lanes: the length of every array of contact vectors.
    pub fn padded_contacts(&self) -> usize {
        self.contact_models.len() * LANES
    }

    /// Number of vectors of unknowns: the touched nodes, then those of the bodies.
    pub fn vectors(&self) -> usize {
        self.mass.len()
    }

    /// `out += J x`: from unknowns to the contacts. `velocities` is scratch.
    pub fn gather_add(&self, x: &[Vector], velocities: &mut Vec<Spatial>, out: &mut [Vector]) {
        kernels::gather_add(&self.groups, &self.weights, x, out);
        if self.mobility.rank() > 0 {
            let y = &x[self.nodes.len()..];
            self.mobility.velocities(|j| y[j / 3][j % 3], velocities);
            self.mobility.subtract_motion(velocities, out);
        }
    }

    /// `out += J^T x`: from contacts to the unknowns. `impulses` is scratch.
    pub fn scatter_add(&self, x: &[Vector], impulses: &mut Vec<Spatial>, out: &mut [Vector]) {
        kernels::scatter_add(&self.groups, &self.weights, x, out);
        if self.mobility.rank() > 0 {
            let y = &mut out[self.nodes.len()..];
            self.mobility.collect(x, impulses);
            self.mobility.reduce(impulses, |j, value| y[j / 3][j % 3] += value);
        }
    }

    /// Reads a problem whose shape is valid.
    pub fn load(&mut self, problem: &ProblemPart) {
        self.contacts = problem.contacts.len();
        self.group(problem);
        self.compact(problem);
        match problem.mobility {
            Some(mobility) => self.mobility.copy_from(mobility),
            None => self.mobility.clear(),
        }
        let vectors = self.nodes.len() + self.mobility.vectors();
        self.mass.resize(vectors, 1.0);
        self.inverse_mass.resize(vectors, 1.0);
        self.free.resize(vectors, [0.0; 4]);
        self.weights.clear();
        self.weights.extend(problem.contacts.iter().map(|c| Weights { xy: c.weights_xy, z: c.weights_z }));
        self.contact_models.clear();
        self.contact_models.resize(self.contacts.div_ceil(LANES), ContactModelLanes::INACTIVE);
        self.bias.clear();
        for (lanes, contacts) in self.contact_models.iter_mut().zip(problem.contacts.chunks(LANES)) {
            for (lane, contact) in contacts.iter().enumerate() {
                lanes.set(lane, contact, problem.substep);
                let v = contact.body_velocity;
                self.bias.push([-v[0], -v[1], -v[2], 0.0]);
            }
        }
        self.bias.resize(self.padded_contacts(), [0.0; 4]);
    }

    /// Groups consecutive contacts with equal rows (still in the part's nodes).
    fn group(&mut self, problem: &ProblemPart) {
        self.groups.clear();
        for (index, contact) in (0u32..).zip(problem.contacts) {
            let rows = contact.rows.map(|row| row - problem.first_node);
            match self.groups.last_mut() {
                Some(group) if group.rows == rows => group.end = index + 1,
                _ => self.groups.push(Group { rows, begin: index, end: index + 1 }),
            }
        }
    }

    /// Numbers the touched nodes and turns the groups' rows into those numbers.
    fn compact(&mut self, problem: &ProblemPart) {
        const TOUCHED: u32 = 1;
        self.local.clear();
        self.local.resize(problem.node_mass.len(), 0);
        for group in &self.groups {
            for row in group.rows {
                self.local[row as usize..row as usize + 3].fill(TOUCHED);
            }
        }
        self.nodes.clear();
        self.mass.clear();
        self.inverse_mass.clear();
        self.free.clear();
        for (node, local) in (0u32..).zip(&mut self.local) {
            if *local == TOUCHED {
                *local = self.nodes.len() as u32;
                self.nodes.push(node);
                let mass = problem.node_mass[node as usize];
                self.mass.push(mass);
                self.inverse_mass.push(if mass > 0.0 { 1.0 / mass } else { 0.0 });
                let v = problem.node_free_velocity[node as usize];
                self.free.push([v[0], v[1], v[2], 0.0]);
            }
        }
        for group in &mut self.groups {
            for row in &mut group.rows {
                *row = self.local[*row as usize];
            }
        }
    }
}
