//! The mean velocities of free bodies over a step.
//!
//! The centre of mass of a free body that contact alone holds moves by the same rule, along the
//! surfaces that it touches: of D what friction resists there, by its secant (in closed form that
//! of the impulses found), and across them as much as never gives. What slides so has the mean
//! velocity of the step, and stops after v^2/(2 mu g) instead of v h/2 before that; what sticks or
//! presses has the velocity of the end. Bodies turn with the velocities of the end.

use nalgebra::{Matrix3, Vector3};

use crate::icf::ConvexProblem;
use crate::multibody::{ForceVector, FreeFloatingTree, LinkId, Model, State, quaternion};

/// An impulse below this part of a body's momentum is the solver's rounding.
const ROUNDING: f64 = 1e-12;
/// What a free body's way across the surfaces that it touches is held by, in its masses: an impact
/// of 1 m/s at 10 ms shifts it by 5 micrometres at most. Normals that differ by more than the
/// root's inverse, two degrees, hold each other's planes.
const TANGENTIAL_WEIGHT: f64 = 1e3;

/// The bodies of a model that nothing holds, and buffers. Vectors have all trees.
#[derive(Clone, Debug)]
pub(super) struct FreeBodies {
    bodies: Vec<FreeFloatingTree>,
    /// Whether contacts have potentials.
    is_convex: bool,
    /// Whether a constraint pushed a tree in the last step, and whether forces from outside act on
    /// it.
    pub has_constraint_impulse: Vec<bool>,
    pub has_external_force: Vec<bool>,
    /// Sums of the sizes of contact's impulses on each tree \[N s\].
    impulses: Vec<f64>,
    /// Whether something other than contact pushed a tree, and what contact resists of the motion
    /// of its centre of mass \[kg\].
    has_noncontact_impulse: Vec<bool>,
    contact_resistance: Vec<Matrix3<f64>>,
    masses: Vec<f64>,
}

impl FreeBodies {
    /// Those of a model; `is_convex` if contacts have potentials.
    pub fn new(model: &Model, is_convex: bool) -> Self {
        Self {
            bodies: model.floating.clone(),
            is_convex,
            has_constraint_impulse: Vec::new(),
            has_external_force: vec![false; model.trees().len()],
            impulses: Vec::new(),
            has_noncontact_impulse: Vec::new(),
            contact_resistance: Vec::new(),
            masses: Vec::new(),
        }
    }

    /// Notes which trees the forces from outside act on, `loads` by links.
    pub fn note_loads(&mut self, model: &Model, loads: &[ForceVector]) {
        self.has_external_force.fill(false);
        let acting = (0..).zip(loads).filter(|(_, load)| **load != ForceVector::zero());
        for tree in acting.filter_map(|(link, _)| model.tree_of(LinkId(link))) {
            self.has_external_force[tree] = true;
        }
    }

    /// Finds the mean velocities of a step of `dt` \[s\] that ended with the velocities `v`: bodies
    /// that nothing but gravity acts on in the step fall by parabolas. `bias` is what gravity asks
    /// for \[N m, N\]. Writes what the mean velocity is above that of the end to `change`, and
    /// above that of both ends to `offset`. Without `by_mean_velocity` positions move with the
    /// velocity of the end.
    pub fn find_mean_velocities(
        &mut self,
        model: &Model,
        state: &State,
        dt: f64,
        (v, bias): (&[f64], &[f64]),
        problem: &ConvexProblem,
        by_mean_velocity: bool,
        (change, offset): (&mut [f64], &mut [f64]),
    ) {
        let trees = self.has_external_force.len();
        self.has_constraint_impulse.clear();
        self.has_constraint_impulse.resize(trees, false);
        problem.mark_trees_with_impulses(&mut self.has_constraint_impulse);
        self.has_noncontact_impulse.clear();
        self.has_noncontact_impulse.resize(trees, false);
        problem.mark_trees_with_noncontact_impulses(&mut self.has_noncontact_impulse);
        self.impulses.clear();
        self.impulses.resize(trees, 0.0);
        problem.contacts.add_impulses(&mut self.impulses);
        for body in &self.bodies {
            // Contacts that open leave impulses of rounding.
            let fastest = model.velocities_of(body.link).skip(3).map(|n| v[n].abs().max(state.v[n].abs()));
            let rounding = ROUNDING * body.mass * fastest.fold(0.0, f64::max);
            self.has_constraint_impulse[body.tree] =
                self.has_noncontact_impulse[body.tree] || self.impulses[body.tree] > rounding;
        }
        if by_mean_velocity && !self.bodies.is_empty() {
            self.sum_contact_resistance(problem);
        }
        for body in &self.bodies {
            let n = model.velocities_of(body.link);
            let linear = n.start + 3..n.end;
            let means = by_mean_velocity && !self.has_external_force[body.tree];
            let shifts =
                if means && !self.has_constraint_impulse[body.tree] && falls_without_rotation(body, model) {
                    // By gravity alone, whatever the solver rounded.
                    let fall = |n: usize| 0.5 * dt * bias[linear.start + n] / body.mass;
                    Vector3::new(fall(0), fall(1), fall(2))
                } else if means
                    && self.has_constraint_impulse[body.tree]
                    && !self.has_noncontact_impulse[body.tree]
                {
                    mean_velocity_correction(body, model, state, v, &self.contact_resistance[body.tree])
                } else {
                    Vector3::zeros()
                };
            change[linear].copy_from_slice(shifts.as_slice());
            for n in n {
                offset[n] = change[n] + 0.5 * (v[n] - state.v[n]);
            }
        }
    }

    /// Sums what contact resists of every free body's motion. In closed form no law has a secant:
    /// it is that of the impulses found.
    fn sum_contact_resistance(&mut self, problem: &ConvexProblem) {
        self.contact_resistance.clear();
        self.contact_resistance.resize(self.has_external_force.len(), Matrix3::zeros());
        self.masses.clear();
        self.masses.resize(self.has_external_force.len(), 0.0);
        for body in &self.bodies {
            self.contact_resistance[body.tree] = Matrix3::from_diagonal_element(body.mass);
            self.masses[body.tree] = body.mass;
        }
        let pool = &problem.contacts;
        for (c, (potential, velocity)) in pool.potentials().iter().zip(pool.velocities()).enumerate() {
            let impulse = Vector3::from(pool.impulses()[c]);
            if impulse == Vector3::zeros() {
                continue;
            }
            let normal = potential.normal();
            let along = |x: &Vector3<f64>| (x - normal * normal.dot(x)).norm();
            let slip = along(&Vector3::from(*velocity));
            let across = normal * normal.transpose();
            // Two bodies that push each other keep their angular momentum with positions that move
            // by the velocities of the end alone.
            let both = pool.sides_of(c).iter().all(Option::is_some);
            for side in pool.sides_of(c).iter().flatten() {
                let tree = side.tree as usize;
                self.has_noncontact_impulse[tree] |= both;
                // What sticks in closed form is held as surfaces hold.
                let secant = if self.is_convex {
                    potential.friction_secant(velocity)
                } else {
                    along(&impulse)
                        / slip
                            .max(along(&impulse) / (TANGENTIAL_WEIGHT * self.masses[tree]))
                            .max(f64::MIN_POSITIVE)
                };
                self.contact_resistance[tree] += Matrix3::from_diagonal_element(secant)
                    + across * (TANGENTIAL_WEIGHT * self.masses[tree] - secant);
            }
        }
    }
}

/// Whether gravity pulls at all parts of a body or at none, so that it falls without turning.
pub(super) fn falls_without_rotation(body: &FreeFloatingTree, model: &Model) -> bool {
    let has_gravity = |link: LinkId| model.links()[link.0].gravity;
    model.trees()[body.tree].links.iter().all(|link| has_gravity(*link) == has_gravity(body.link))
}

/// What the mean velocity \[m/s\] of a body's centre of mass differs by from that of the end of the
/// step, `-D^-1 m (v - v_0)/2`.
fn mean_velocity_correction(
    body: &FreeFloatingTree,
    model: &Model,
    state: &State,
    v: &[f64],
    contact_resistance: &Matrix3<f64>,
) -> Vector3<f64> {
    let (q, n) = (model.positions_of(body.link), model.velocities_of(body.link));
    let lever = quaternion(&state.q[q]) * body.center;
    let velocity_change = |d: usize| v[n.start + d] - state.v[n.start + d];
    let turn = Vector3::new(velocity_change(0), velocity_change(1), velocity_change(2));
    let velocity_change =
        Vector3::new(velocity_change(3), velocity_change(4), velocity_change(5)) + turn.cross(&lever);
    // No inverse: numbers that are not finite, which the step refuses elsewhere.
    contact_resistance
        .try_inverse()
        .map_or_else(Vector3::zeros, |inverse| inverse * velocity_change * (-0.5 * body.mass))
}
