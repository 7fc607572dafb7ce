//! A step: smooth prediction, contacts, correction.

use nalgebra::{Matrix3, Vector3};

use super::contact::Contact;
use super::facets::{ConeImpulse, Facets};
use super::settings::{ComFreeSettings, Form};
use super::trees::Trees;
use crate::icf::law::ActuatorLaw;
use crate::icf::{Pool, Problem};
use crate::multibody::{MassMatrix, Model};
use crate::simulation::Touch;

/// What a step is made from besides the problem, which holds inertia, momentum, Jacobians and what acts on the joints.
pub(crate) struct Step<'a> {
    pub model: &'a Model,
    pub settings: &'a ComFreeSettings,
    pub touches: &'a [Touch],
    /// Coefficient of sliding of a contact at its present slip.
    pub friction: &'a dyn Fn(usize) -> f64,
    /// The step (s).
    pub dt: f64,
    /// Rate that counts as rest in dry joints (rad/s, m/s).
    pub dry_joint_tolerance: f64,
}

/// Times that a step is made again because motors reached their limits. One that did stays there within the step.
const SATURATIONS: usize = 8;

/// Buffers of the solver.
#[derive(Debug, Default)]
pub(crate) struct ComFreeSolver {
    /// Jacobians of turning, of the contacts that resist it.
    pub spins: Pool<u32, 3>,
    pub(super) facets: Facets,
    pub(super) contacts: Vec<Contact>,
    /// Factors of `M + dt D + dt^2 K`, motors included.
    pub(super) smooth: Trees,
    /// Those of the prediction: with contacts and constraints.
    pub(super) predicted: Trees,
    pub(super) plain: Trees,
    pub(super) gains: Trees,
    /// Velocities without contact, and as predicted.
    pub(super) v_smooth: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) load: Vec<f64>,
    pub(super) tree_scales: Vec<f64>,
    pub(super) row_scales: Vec<f64>,
    pub(super) dry: Vec<super::predict::DryJoint>,
    /// Limits that the prediction reaches, and contacts of every tree.
    pub(super) limits: Vec<bool>,
    pub(super) counts: Vec<f64>,
    inertia: MassMatrix,
    momentum: Vec<f64>,
    /// Effort of each motor that is at its limit.
    saturated: Vec<Option<f64>>,
}

impl ComFreeSolver {
    /// Writes the velocities at the end of the step to `v`, impulses and velocities of all constraints to the problem's pools. False
    /// where something is not finite.
    #[must_use]
    pub fn solve(&mut self, step: &Step<'_>, problem: &mut Problem, v: &mut [f64]) -> bool {
        self.facets.reset(step.settings.facets);
        self.saturated.clear();
        self.saturated.resize(problem.actuators.len(), None);
        self.spins.allot();
        problem.contacts.allot();
        problem.equalities.allot();
        for _ in 0..SATURATIONS {
            if !self.find_smooth(step.model, problem) {
                return false;
            }
            self.load.clear();
            self.load.resize(v.len(), 0.0);
            self.find_contacts(step, problem);
            match step.settings.form {
                Form::Published => self.push_as_published(step, problem),
                Form::Predicted => {
                    if !self.push_as_predicted(step, problem) {
                        return false;
                    }
                }
            }
            // Equation 9.
            self.smooth.solve(&mut self.load);
            for ((v, smooth), change) in v.iter_mut().zip(&self.v_smooth).zip(&self.load) {
                *v = smooth + change;
            }
            if !v.iter().all(|v| v.is_finite()) {
                return false;
            }
            if !self.saturate(problem, v) {
                break;
            }
        }
        problem.contacts.see(v);
        problem.equalities.see(v);
        true
    }

    /// Equation 2, with what is implicit in the joints.
    fn find_smooth(&mut self, model: &Model, problem: &Problem) -> bool {
        self.inertia.copy_from(&problem.inertia);
        self.momentum.clone_from(&problem.momentum);
        for ((law, n, ..), limit) in problem.actuators.entries().zip(&self.saturated) {
            let ActuatorLaw { effort, gain, dt, .. } = *law;
            self.momentum[n] += dt * limit.unwrap_or(effort);
            if limit.is_none() && gain > 0.0 {
                self.inertia.add_diagonal(model, n, dt * gain);
            }
        }
        self.plain.take(model, &self.inertia);
        self.smooth.copy_from(&self.plain);
        if !self.smooth.factorise() {
            return false;
        }
        self.v_smooth.clone_from(&self.momentum);
        self.smooth.solve(&mut self.v_smooth);
        true
    }

    /// Writes the motors' impulses, and holds those at their limits that are beyond them. False where none is.
    fn saturate(&mut self, problem: &mut Problem, v: &[f64]) -> bool {
        let mut again = false;
        problem.actuators.allot();
        for i in 0..problem.actuators.len() {
            let (law, n) = problem.actuators.at(i);
            let wanted = law.effort - law.gain * v[n];
            let given = wanted.clamp(-law.limit, law.limit);
            let (dt, limit) = (law.dt, self.saturated[i]);
            // Rounding is not beyond a limit.
            if limit.is_none() && (wanted - given).abs() > 1e-9 * law.limit {
                self.saturated[i] = Some(given);
                again = true;
            }
            problem.actuators.set_impulse(i, dt * limit.unwrap_or(given));
        }
        again
    }

    /// The contacts with the masses they feel and their gains.
    fn find_contacts(&mut self, step: &Step<'_>, problem: &Problem) {
        self.contacts.clear();
        let mut next_spin = 0;
        for (c, touch) in step.touches.iter().enumerate() {
            let mut contact = Contact::new(touch, (step.friction)(c));
            let linear = sides_of(&problem.contacts, c, &mut self.smooth);
            let mut angular = [Matrix3::zeros(); 2];
            if touch.resists_turning() {
                angular = sides_of(&self.spins, next_spin as usize, &mut self.smooth);
                contact.spin = Some(next_spin);
                next_spin += 1;
            }
            contact.feel(linear, angular);
            contact.stiffen(touch, step.settings, step.dt);
            self.contacts.push(contact);
        }
    }

    /// Velocities of a contact's point and of its turning.
    pub(super) fn velocities(&self, c: usize, problem: &Problem, v: &[f64]) -> (Vector3<f64>, Vector3<f64>) {
        let angular = match self.contacts[c].spin {
            Some(spin) => self.spins.velocity_of(spin as usize, v).into(),
            None => Vector3::zeros(),
        };
        (problem.contacts.velocity_of(c, v).into(), angular)
    }

    /// Hands a contact's impulse and moment to the trees and keeps it.
    pub(super) fn pass_on(
        &mut self,
        c: usize,
        problem: &mut Problem,
        impulse: Vector3<f64>,
        moment: Vector3<f64>,
    ) {
        problem.contacts.set_impulse(c, impulse.into());
        problem.contacts.add_impulse(c, &impulse.into(), &mut self.load);
        if let Some(spin) = self.contacts[c].spin {
            self.spins.set_impulse(spin as usize, moment.into());
            self.spins.add_impulse(spin as usize, &moment.into(), &mut self.load);
        }
    }

    /// Equations 5 to 9.
    fn push_as_published(&mut self, step: &Step<'_>, problem: &mut Problem) {
        let dt = step.dt;
        for c in 0..self.contacts.len() {
            let (v, w) = self.velocities(c, problem, &self.v_smooth);
            let Contact { normal, stiffness, damping, distance, spin, cones, .. } = self.contacts[c];
            let gain = dt * (stiffness * dt + damping);
            let (mut impulse, mut moment) = (Vector3::zeros(), Vector3::zeros());
            if distance < 0.0 {
                let violation = -dt * stiffness * distance - gain * normal.dot(&v);
                let slope = |slip: [f64; 2], mu: f64| slip.map(|x| gain * mu * x);
                let contact = &self.contacts[c];
                let plane = |x: [f64; 2]| contact.tangents[0] * x[0] + contact.tangents[1] * x[1];
                let mu = cones[0].mu;
                let sliding = self.facets.sum(violation, &slope(contact.in_plane(&v), mu), mu);
                impulse = normal * sliding.normal + plane(sliding.tangential);
                if spin.is_some() {
                    let [_, torsion, rolling] = cones;
                    if torsion.mu > 0.0 {
                        let slope = gain * torsion.mu * normal.dot(&w);
                        let [with, against] = [slope, -slope].map(|s| (violation + s).max(0.0));
                        impulse += normal * (with + against);
                        moment += normal * (torsion.mu * (against - with));
                    }
                    if rolling.mu > 0.0 {
                        let slope = slope(contact.in_plane(&w), rolling.mu);
                        let ConeImpulse { normal: push, tangential } =
                            self.facets.sum(violation, &slope, rolling.mu);
                        impulse += normal * push;
                        moment += plane(tangential);
                    }
                }
            }
            self.contacts[c].push = normal.dot(&impulse);
            self.pass_on(c, problem, impulse, moment);
        }
        self.joints_as_published(step, problem);
    }

    /// Equalities on both sides, limits on one, dry joints up to their bound: the same impedance in one dimension.
    fn joints_as_published(&mut self, step: &Step<'_>, problem: &mut Problem) {
        let (dt, curve) = (step.dt, &step.settings.joints);
        let [kappa, delta] = step.settings.gains.rates(dt);
        let push = |error: f64, v: f64, mobility: f64| {
            let mass = if mobility > 0.0 { curve.ratio(error) / mobility } else { 0.0 };
            -dt * mass * (kappa * error + (kappa * dt + delta) * v)
        };
        for row in 0..problem.equalities.len() {
            let sides = sides_of_row(&problem.equalities, row, &mut self.smooth);
            let [v] = problem.equalities.velocity_of(row, &self.v_smooth);
            let impulse = push(problem.equalities.laws()[row].error(), v, sides[0] + sides[1]);
            problem.equalities.set_impulse(row, [impulse]);
            problem.equalities.add_impulse(row, &[impulse], &mut self.load);
        }
        problem.limits.allot();
        for i in 0..problem.limits.len() {
            let (law, n) = problem.limits.at(i);
            let (sign, gap, mobility) = (law.sign(), law.gap(), law.mobility());
            let impulse =
                if gap < 0.0 { sign * push(gap, sign * self.v_smooth[n], mobility).max(0.0) } else { 0.0 };
            problem.limits.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
        problem.dry_joints.allot();
        for i in 0..problem.dry_joints.len() {
            let (law, n) = problem.dry_joints.at(i);
            let bound = law.bound();
            let impulse = push(0.0, self.v_smooth[n], law.mobility()).clamp(-bound, bound);
            problem.dry_joints.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
    }

    /// Impulses along the joints in `x` (N s, N m s) become what they add to the rates within the last step: with everything that the
    /// prediction has, other trees as they are. The published form has no contacts in it.
    pub fn answer(&self, form: Form, x: &mut [f64]) {
        match form {
            Form::Predicted => self.predicted.solve(x),
            Form::Published => self.smooth.solve(x),
        }
    }

    /// Moment of a contact's turning (N m s) in the last step.
    pub fn moment(&self, c: usize) -> Vector3<f64> {
        match self.contacts.get(c).and_then(|contact| contact.spin) {
            Some(spin) => self.spins.impulses()[spin as usize].into(),
            None => Vector3::zeros(),
        }
    }
}

/// `J M^-1 J^T` of both sides of a contact.
fn sides_of<L>(pool: &Pool<L, 3>, c: usize, factors: &mut Trees) -> [Matrix3<f64>; 2] {
    pool.sides_of(c).map(|side| match side {
        Some(side) => Matrix3::from(factors.mobility(&side, pool.columns_of(&side))),
        None => Matrix3::zeros(),
    })
}

/// The same of a row.
pub(super) fn sides_of_row<L>(pool: &Pool<L, 1>, row: usize, factors: &mut Trees) -> [f64; 2] {
    pool.sides_of(row).map(|side| match side {
        Some(side) => factors.mobility(&side, pool.columns_of(&side))[0][0],
        None => 0.0,
    })
}
