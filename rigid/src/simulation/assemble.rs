//! From a system and a state to the convex problem of a step.

use nalgebra::Vector3;

use super::contact::ContactCandidate;
use super::equality::{ConstraintRow, RowKind};
use super::system::System;
use crate::icf::potential::{
    ActuatorPotential, ContactParameters, ContactPotential, HolonomicPotential, JointFrictionPotential,
    LimitPotential,
};
use crate::icf::{ConvexProblem, Pool, Side};
use crate::multibody::{Kinematics, LinkId, MassMatrix, Model, MotionVector, State, for_each_axis};

/// The part of a contact that does not depend on the length of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedContact {
    pub point: ContactParameters,
    /// Normal force \[N\] and coefficient of friction at the state.
    pub lagged_force: f64,
    pub friction: f64,
    /// Weights of the normal impulse and of friction: less than 1 if the beginning of the step
    /// contributes.
    pub weights: [f64; 2],
}

impl PreparedContact {
    /// The force \[N\] without weights.
    pub fn unweighted(&self, force: &Vector3<f64>) -> Vector3<f64> {
        let [normal, friction] = self.weights;
        // Not split where that would only add rounding.
        if normal == 1.0 && friction == 1.0 {
            return *force;
        }
        let along = self.point.normal * self.point.normal.dot(force);
        along / normal + (force - along) / friction
    }
}

/// `w` of a contact against the sum of the inverse masses (Castro et al. 2023: the factor is that
/// of a sphere that rolls).
const MOBILITY: f64 = 2.65;

/// Smallest mobility of a constraint between immovable bodies [1/kg]: it avoids a division by zero.
const LEAST_MOBILITY: f64 = 1e-12;

fn inverse_mass(model: &Model, link: Option<LinkId>) -> f64 {
    let Some(link) = link else { return 0.0 };
    if model.tree_of(link).is_none() {
        return 0.0;
    }
    // For a massless link the mass of its nearest ancestor is used.
    let mut at = Some(link);
    while let Some(l) = at {
        let mass = model.links()[l.0].inertia.mass;
        if mass > 0.0 {
            return 1.0 / mass;
        }
        at = model.links()[l.0].parent;
    }
    0.0
}

/// Fills the Jacobians of the contacts, and the constants of their potentials.
pub(super) fn contacts(
    system: &System,
    kinematics: &Kinematics,
    candidates: &[ContactCandidate],
    problem: &mut ConvexProblem,
    prepared: &mut Vec<PreparedContact>,
) {
    problem.contacts.clear();
    prepared.clear();
    for candidate in candidates {
        let velocity = |link: Option<LinkId>| {
            link.map_or(Vector3::zeros(), |l| kinematics.point_velocity(l, &candidate.point))
        };
        let v = velocity(candidate.second) - velocity(candidate.first);
        let v_n = candidate.normal.dot(&v);
        let mobility = MOBILITY
            * (inverse_mass(&system.model, candidate.first) + inverse_mass(&system.model, candidate.second));
        let point = ContactParameters {
            normal: candidate.normal,
            distance: candidate.distance,
            stiffness: candidate.stiffness,
            dissipation: candidate.dissipation,
            static_friction: candidate.static_friction,
            dynamic_friction: candidate.dynamic_friction,
            stiction_tolerance: candidate.stiction_tolerance,
            mobility,
        };
        let slip = (v - candidate.normal * v_n).norm();
        let contact = PreparedContact {
            point,
            lagged_force: point.normal_force(v_n),
            friction: point.friction_at(slip),
            weights: [1.0; 2],
        };
        let links = [candidate.first, candidate.second];
        let points = [candidate.point, candidate.point];
        let sides =
            columns(&system.model, kinematics, links, points, &mut problem.contacts, |axis| axis.linear);
        let drift = |link: Option<LinkId>| {
            link.map_or(Vector3::zeros(), |l| kinematics.point_drift(l, &candidate.point))
        };
        let bias = drift(candidate.second) - drift(candidate.first);
        problem.contacts.push(ContactPotential::new(&point, 1.0, 0.0, 0.0), sides, bias.into());
        prepared.push(contact);
    }
}

/// Fills the angular Jacobians of the contacts with torsional or rolling friction: the second
/// body's angular velocity against the first's.
pub(super) fn spins(
    system: &System,
    kinematics: &Kinematics,
    candidates: &[ContactCandidate],
    pool: &mut Pool<u32, 3>,
) {
    pool.clear();
    for (c, candidate) in candidates.iter().enumerate().filter(|(_, candidate)| candidate.resists_turning()) {
        let links = [candidate.first, candidate.second];
        let points = [candidate.point, candidate.point];
        let sides = columns(&system.model, kinematics, links, points, pool, |axis| axis.angular);
        let drift = |link: Option<LinkId>| {
            link.map_or(Vector3::zeros(), |l| kinematics.prescribed_velocity(l).angular)
        };
        let bias = drift(candidate.second) - drift(candidate.first);
        pool.push(c as u32, sides, bias.into());
    }
}

/// Adds the columns of the `part` of the second point's velocity against the first's; one side per
/// tree.
fn columns<L>(
    model: &Model,
    kinematics: &Kinematics,
    links: [Option<LinkId>; 2],
    points: [Vector3<f64>; 2],
    pool: &mut Pool<L, 3>,
    part: impl Fn(&MotionVector) -> Vector3<f64>,
) -> [Option<Side>; 2] {
    let mut sides: [Option<Side>; 2] = [None, None];
    let trees = links.map(|link| link.and_then(|l| model.tree_of(l)));
    for k in 0..2 {
        let (Some(link), Some(t)) = (links[k], trees[k]) else { continue };
        let tree = &model.trees()[t];
        let sign = if k == 0 { -1.0 } else { 1.0 };
        let add = |columns: &mut [[f64; 3]]| {
            for_each_axis(model, kinematics, link, &points[k], |n, axis| {
                let column = &mut columns[n - tree.first_velocity];
                let part = part(&axis);
                for d in 0..3 {
                    column[d] += sign * part[d];
                }
            });
        };
        if k == 1 && trees[0] == trees[1] {
            if let Some(side) = &sides[0] {
                add(pool.columns_mut(side));
            }
        } else {
            let (side, columns) = pool.add_columns(t, tree.first_velocity, tree.velocities);
            add(columns);
            sides[k] = Some(side);
        }
    }
    sides
}

/// Sets the contacts' potentials for a step of `dt` \[s\], friction bounded by `forces` \[N\] and
/// coefficients as prepared.
pub(super) fn contact_potentials(
    problem: &mut ConvexProblem,
    prepared: &[PreparedContact],
    forces: &[f64],
    dt: f64,
) {
    for (c, (contact, &force)) in prepared.iter().zip(forces).enumerate() {
        let potential = ContactPotential::new(&contact.point, dt, force, contact.friction);
        problem.contacts.set_potential(c, potential.weighted(contact.weights));
    }
}

/// Fills the rows of the holonomic constraints for a step of `dt` \[s\] from the velocities `v`.
pub(super) fn equalities(
    system: &System,
    kinematics: &Kinematics,
    rows: &[ConstraintRow],
    mass: &MassMatrix,
    v: &[f64],
    dt: f64,
    problem: &mut ConvexProblem,
) {
    let model = &system.model;
    let pool = &mut problem.equalities;
    pool.clear();
    for row in rows {
        // At most two trees, each a side at its first occurrence.
        let mut sides: [Option<Side>; 2] = [None, None];
        let mut add = |index: usize, n: usize, value: f64| {
            let tree = &model.trees()[index];
            let slot = usize::from(sides[0].is_some_and(|side| side.tree as usize != index));
            let side = *sides[slot]
                .get_or_insert_with(|| pool.add_columns(index, tree.first_velocity, tree.velocities).0);
            pool.columns_mut(&side)[n - tree.first_velocity][0] += value;
        };
        match row.kind {
            RowKind::Linear { links, points, direction } => {
                for (k, sign) in [(0, -1.0), (1, 1.0)] {
                    if let Some(link) = links[k]
                        && let Some(tree) = model.tree_of(link)
                    {
                        for_each_axis(model, kinematics, link, &points[k], |n, axis| {
                            add(tree, n, sign * axis.linear.dot(&direction));
                        });
                    }
                }
            }
            RowKind::Angular { links, direction } => {
                for (k, sign) in [(0, -1.0), (1, 1.0)] {
                    if let Some(link) = links[k]
                        && let Some(tree) = model.tree_of(link)
                    {
                        for_each_axis(model, kinematics, link, &Vector3::zeros(), |n, axis| {
                            add(tree, n, sign * axis.angular.dot(&direction));
                        });
                    }
                }
            }
            RowKind::Rates { driver, driven, ratio } => {
                for (n, value) in [(driven, 1.0), (driver, -ratio)] {
                    add(model.tree_of_velocity(n), n, value);
                }
            }
        }
        let mut mobility = 0.0;
        for side in sides.iter().flatten() {
            let block = mass.block(side.tree as usize);
            let columns = pool.columns_mut(side).iter().enumerate();
            mobility += columns.map(|(i, [j])| j * j / block[(i, i)]).sum::<f64>();
        }
        pool.push(
            HolonomicPotential::new(row.error, mobility.max(LEAST_MOBILITY), dt),
            sides,
            [prescribed_velocity(kinematics, row)],
        );
        if let Some((compliance, distance)) = &row.compliance {
            let c = pool.len() - 1;
            let [rate] = pool.velocity_of(c, v);
            let line = compliance.line(row.error, *distance, [rate; 2], dt, false);
            pool.set_potential(c, HolonomicPotential::compliant(row.error, line));
        }
    }
}

/// The rate of a row's error that comes from prescribed motion alone.
fn prescribed_velocity(kinematics: &Kinematics, row: &ConstraintRow) -> f64 {
    match row.kind {
        RowKind::Linear { links, points, direction } => {
            let at = |k: usize| links[k].map_or(Vector3::zeros(), |l| kinematics.point_drift(l, &points[k]));
            direction.dot(&(at(1) - at(0)))
        }
        RowKind::Angular { links, direction } => {
            let at =
                |k: usize| links[k].map_or(Vector3::zeros(), |l| kinematics.prescribed_velocity(l).angular);
            direction.dot(&(at(1) - at(0)))
        }
        RowKind::Rates { .. } => 0.0,
    }
}

/// Fills limits and dry joints for a step of `dt` \[s\].
pub(super) fn joints(
    system: &System,
    state: &State,
    mass: &MassMatrix,
    (dt, is_trapezoid): (f64, bool),
    problem: &mut ConvexProblem,
) {
    problem.limits.clear();
    problem.dry_joints.clear();
    let model = &system.model;
    for &number in &model.passive {
        let Some(tree) = model.tree_of(number) else { continue };
        let link = &model.links()[number.0];
        let (positions, velocities) = (model.positions_of(number), model.velocities_of(number));
        for (d, dof) in link.dofs.iter().enumerate() {
            let n = velocities.start + d;
            let within = n - model.trees()[tree].first_velocity;
            let mobility = 1.0 / mass.block(tree)[(within, within)];
            if dof.friction_loss > 0.0 {
                let potential =
                    JointFrictionPotential::new(dof.friction_loss, system.dry_joint_tolerance, mobility, dt);
                problem.dry_joints.push(potential, n, tree, within);
            }
            if link.joint.has_quaternion() {
                continue;
            }
            let q = state.q[positions.start + d];
            for (upper, limit) in dof.limits.into_iter().enumerate() {
                if limit.is_finite() {
                    let gap = if upper == 1 { limit - q } else { q - limit };
                    let potential = match &dof.limit_compliance {
                        None => LimitPotential::new(gap, upper == 1, mobility, dt),
                        Some(c) => {
                            let at = (gap, [state.v[n]; 2]);
                            LimitPotential::compliant(at, upper == 1, mobility, c, dt, is_trapezoid)
                        }
                    };
                    problem.limits.push(potential, n, tree, within);
                }
            }
        }
    }
}

/// Fills the actuators for a step of `dt` \[s\]; `weight` is the force of gravity along every
/// degree of freedom \[N m, N\].
pub(super) fn actuators(
    system: &System,
    state: &State,
    weight: &[f64],
    dt: f64,
    problem: &mut ConvexProblem,
) {
    problem.actuators.clear();
    for actuator in &system.actuators {
        let n = actuator.velocity(&system.model);
        let (effort, gain) = actuator.linear(&system.model, state, dt);
        let carried = if actuator.gravity_compensation { weight[n] } else { 0.0 };
        let potential =
            ActuatorPotential { effort: effort + carried, gain, limit: actuator.effort_limit, dt };
        let tree = system.model.tree_of_velocity(n);
        problem.actuators.push(potential, n, tree, n - system.model.trees()[tree].first_velocity);
    }
}
