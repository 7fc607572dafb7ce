//! A step: smooth prediction, contacts, correction.

use nalgebra::{Matrix3, Vector3};

use super::contact::ImpedanceContact;
use super::coupled::Coupled;
use super::dry_joint::DryJoint;
use super::facets::Facets;
use super::islands::{Island, Islands};
use super::settings::{ComFreeSettings, Form};
use super::trees::Trees;
use crate::icf::potential::ActuatorPotential;
use crate::icf::{ConvexProblem, Pool};
use crate::multibody::Model;
use crate::simulation::ContactCandidate;

/// Input of a step besides the problem, which holds inertia, momentum, Jacobians and the forces on
/// joints.
pub(crate) struct StepInputs<'a> {
    pub model: &'a Model,
    pub settings: &'a ComFreeSettings,
    pub candidates: &'a [ContactCandidate],
    /// Coefficient of sliding of a contact at its present slip.
    pub friction: &'a dyn Fn(usize) -> f64,
    /// The step \[s\].
    pub dt: f64,
    /// Stiction tolerance of dry joints \[rad/s, m/s\].
    pub dry_joint_tolerance: f64,
}

/// Largest rotation \[rad\] of a free body in contact within a step: beyond it the contact points
/// are meaningless.
const MOST_TURN: f64 = 1.0;

/// Most repetitions of a step because motors reached their limits. Such a motor stays at its limit
/// within the step.
const SATURATIONS: usize = 8;

/// Buffers of the solver. Unless stated otherwise they cover all trees, all degrees of freedom or
/// all constraints of a kind; the solution is island by island.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComFreeSolver {
    /// Angular Jacobians of the contacts with torsional or rolling friction.
    pub spin_jacobians: Pool<u32, 3>,
    islands: Islands,
    pub(super) facets: Facets,
    /// Contacts of the island.
    pub(super) contacts: Vec<ImpedanceContact>,
    /// Factors of `M + dt D + dt^2 K`, motors included.
    pub(super) smooth: Trees,
    /// Diagonal blocks of the prediction: with contacts and constraints. They are factors if an
    /// island is one tree.
    pub(super) predicted: Trees,
    /// The prediction of islands of several trees.
    pub(super) coupled: Coupled,
    /// Velocities without contact, and predicted ones.
    pub(super) v_smooth: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) load: Vec<f64>,
    /// Velocities at the end, less those predicted.
    pub(super) end: Vec<f64>,
    /// Number of islands and contacts with unreliable results.
    pub unreliable_solves: usize,
    /// Of every tree one that it touches, directly or through others, and, at that one, the mass of
    /// all of them \[kg\].
    pub(super) groups: Vec<u32>,
    pub(super) supported_mass: Vec<f64>,
    pub(super) dry: Vec<DryJoint>,
    /// Limits that the prediction reaches, and contacts of every tree.
    pub(super) limits: Vec<bool>,
    pub(super) counts: Vec<f64>,
    /// Effort of each motor that is at its limit.
    pub(super) saturated: Vec<Option<f64>>,
}

impl ComFreeSolver {
    /// Writes the velocities at the end of the step to `v`, impulses and velocities of all
    /// constraints to the problem's pools. False if something is not finite.
    #[must_use]
    pub fn solve(&mut self, step: &StepInputs<'_>, problem: &mut ConvexProblem, v: &mut [f64]) -> bool {
        self.allocate(step, problem, v.len());
        let mut islands = core::mem::take(&mut self.islands);
        islands.find(problem, step.model.trees().len());
        let solved = (0..islands.len()).all(|k| {
            self.coupled.begin(&islands.at(k));
            self.solve_island(step, problem, &islands.at(k), v)
        });
        self.islands = islands;
        solved
    }

    /// Allocates all buffers.
    fn allocate(&mut self, step: &StepInputs<'_>, problem: &mut ConvexProblem, velocities: usize) {
        self.facets.reset(step.settings.facets);
        self.saturated.clear();
        self.saturated.resize(problem.actuators.len(), None);
        self.spin_jacobians.allocate_impulses();
        problem.contacts.allocate_impulses();
        problem.equalities.allocate_impulses();
        problem.limits.allocate_impulses();
        problem.dry_joints.allocate_impulses();
        problem.actuators.allocate_impulses();
        for trees in [&mut self.smooth, &mut self.predicted] {
            trees.shape(step.model);
        }
        self.unreliable_solves = 0;
        for values in [&mut self.v_smooth, &mut self.v, &mut self.load, &mut self.end] {
            values.resize(velocities, 0.0);
        }
        let trees = step.model.trees().len();
        for values in [&mut self.supported_mass, &mut self.counts] {
            values.resize(trees, 0.0);
        }
        self.groups.resize(trees, 0);
        self.coupled.reset(trees);
        self.limits.resize(problem.limits.len(), false);
        self.dry.resize(problem.dry_joints.len(), Default::default());
    }

    /// The same for one island.
    fn solve_island(
        &mut self,
        step: &StepInputs<'_>,
        problem: &mut ConvexProblem,
        island: &Island<'_>,
        v: &mut [f64],
    ) -> bool {
        for _ in 0..SATURATIONS {
            if !self.find_smooth(problem, island) {
                return false;
            }
            self.find_contacts(step, problem, island);
            match step.settings.form {
                Form::Published => self.solve_published_form(step, problem, island),
                Form::Predicted => {
                    if !self.solve_predicted_form(step, problem, island) {
                        return false;
                    }
                }
            }
            // Equation 9.
            for &tree in island.trees {
                self.smooth.solve(tree as usize, &mut self.load);
                let dofs = self.smooth.dofs(tree as usize);
                let (smooth, load) = (&self.v_smooth[dofs.clone()], &self.load[dofs.clone()]);
                for ((v, smooth), change) in v[dofs].iter_mut().zip(smooth).zip(load) {
                    *v = smooth + change;
                    if !v.is_finite() {
                        return false;
                    }
                }
            }
            if !self.saturate(problem, island, v) {
                break;
            }
        }
        island.contacts.iter().for_each(|&c| problem.contacts.update_velocity(c as usize, v));
        self.unreliable_solves +=
            (0..self.contacts.len()).filter(|&c| self.doubts(step, problem, c, v)).count();
        island.rows.iter().for_each(|&row| problem.equalities.update_velocity(row as usize, v));
        true
    }

    /// Writes the inertia of the island's trees, motors included, to `matrix`.
    pub(super) fn take_inertia(
        saturated: &[Option<f64>],
        problem: &ConvexProblem,
        island: &Island<'_>,
        matrix: &mut Trees,
    ) {
        for &tree in island.trees {
            matrix.take(tree as usize, &problem.inertia);
        }
        for &i in island.motors {
            let (potential, tree, within) = problem.actuators.place(i as usize);
            if saturated[i as usize].is_none() && potential.gain > 0.0 {
                matrix.add_diagonal(tree, within, potential.dt * potential.gain);
            }
        }
    }

    /// Equation 2, with the implicit terms of the joints.
    fn find_smooth(&mut self, problem: &ConvexProblem, island: &Island<'_>) -> bool {
        Self::take_inertia(&self.saturated, problem, island, &mut self.smooth);
        for &tree in island.trees {
            let dofs = self.smooth.dofs(tree as usize);
            self.load[dofs.clone()].fill(0.0);
            self.v_smooth[dofs.clone()].copy_from_slice(&problem.momentum[dofs]);
        }
        for &i in island.motors {
            let (ActuatorPotential { effort, dt, .. }, n) = problem.actuators.at(i as usize);
            self.v_smooth[n] += dt * self.saturated[i as usize].unwrap_or(effort);
        }
        for &tree in island.trees {
            if !self.smooth.factorise(tree as usize) {
                return false;
            }
            self.smooth.solve(tree as usize, &mut self.v_smooth);
        }
        true
    }

    /// Writes the motors' impulses, and limits those that exceed their effort limits. False if none
    /// does.
    fn saturate(&mut self, problem: &mut ConvexProblem, island: &Island<'_>, v: &[f64]) -> bool {
        let mut again = false;
        for &i in island.motors {
            let i = i as usize;
            let (potential, n) = problem.actuators.at(i);
            let wanted = potential.effort - potential.gain * v[n];
            let given = wanted.clamp(-potential.limit, potential.limit);
            let (dt, limit) = (potential.dt, self.saturated[i]);
            // Rounding errors do not count.
            if limit.is_none() && (wanted - given).abs() > 1e-9 * potential.limit {
                self.saturated[i] = Some(given);
                again = true;
            }
            problem.actuators.set_impulse(i, dt * limit.unwrap_or(given));
        }
        again
    }

    /// The contacts with their effective masses and gains.
    fn find_contacts(&mut self, step: &StepInputs<'_>, problem: &ConvexProblem, island: &Island<'_>) {
        self.contacts.clear();
        for &index in island.contacts {
            let c = index as usize;
            let candidate = &step.candidates[c];
            let mut contact = ImpedanceContact::new(index, candidate, (step.friction)(c));
            let linear = self.smooth.mobilities(&problem.contacts, c).map(Matrix3::from);
            let mut angular = [Matrix3::zeros(); 2];
            contact.smooth[0] = problem.contacts.velocity_of(c, &self.v_smooth).into();
            if let Some(spin) = self.spin_of(c) {
                angular = self.smooth.mobilities(&self.spin_jacobians, spin).map(Matrix3::from);
                contact.smooth[1] = self.spin_jacobians.velocity_of(spin, &self.v_smooth).into();
                contact.spin = Some(spin as u32);
            }
            contact.set_mobility(linear, angular);
            self.contacts.push(contact);
        }
        let predicts = step.settings.form == Form::Predicted;
        if predicts {
            self.find_supported_mass(step, problem, island);
        }
        for c in 0..self.contacts.len() {
            let index = self.contacts[c].index as usize;
            let supported_mass = if predicts { self.supported_mass_of(problem, index) } else { 0.0 };
            self.contacts[c].set_stiffness_and_damping(
                &step.candidates[index],
                step.settings,
                step.dt,
                supported_mass,
            );
        }
    }

    /// Index among the spins of the contact numbered `index` in the problem.
    fn spin_of(&self, index: usize) -> Option<usize> {
        self.spin_jacobians.potentials().binary_search(&(index as u32)).ok()
    }

    /// Linear and angular velocity of one of the island's contacts.
    pub(super) fn velocities(
        &self,
        c: usize,
        problem: &ConvexProblem,
        v: &[f64],
    ) -> (Vector3<f64>, Vector3<f64>) {
        let ImpedanceContact { index, spin, .. } = self.contacts[c];
        let angular = match spin {
            Some(spin) => self.spin_jacobians.velocity_of(spin as usize, v).into(),
            None => Vector3::zeros(),
        };
        (problem.contacts.velocity_of(index as usize, v).into(), angular)
    }

    /// Whether the result for one of the island's contacts is unreliable. The contact model uses
    /// the poses at the start of the step, so that it fails for a body in contact that rotates by a
    /// large angle.
    fn doubts(&self, step: &StepInputs<'_>, problem: &ConvexProblem, c: usize, v: &[f64]) -> bool {
        let contact = &self.contacts[c];
        if contact.normal_impulse <= 0.0 {
            return false;
        }
        let index = contact.index as usize;
        let turns = problem.contacts.sides_of(index).into_iter().flatten().any(|side| {
            // The first three rates of a free body are its angular velocity.
            side.columns == 6
                && Vector3::from_column_slice(&v[side.first_velocity as usize..][..3]).norm() * step.dt
                    > MOST_TURN
        });
        let v_n = contact.normal.dot(&Vector3::from(problem.contacts.velocities()[index]));
        let wrong = match step.settings.form {
            // The depth grows by more than the width of the impedance.
            Form::Predicted => {
                contact.distance + step.dt * v_n
                    < contact.distance.min(0.0) - step.candidates[index].impedance.width
            }
            // Separates faster than it would have approached: the impulse is more than twice the
            // one that stops it.
            Form::Published => {
                let smooth = contact.normal.dot(&contact.smooth[0]);
                v_n > smooth.abs() + step.settings.separation_speed
            }
        };
        turns || wrong
    }

    /// Applies a contact's impulse and moment to the trees and stores it.
    pub(super) fn apply_contact_impulse(
        &mut self,
        c: usize,
        problem: &mut ConvexProblem,
        impulse: Vector3<f64>,
        moment: Vector3<f64>,
    ) {
        let ImpedanceContact { index, spin, .. } = self.contacts[c];
        problem.contacts.set_impulse(index as usize, impulse.into());
        problem.contacts.add_impulse(index as usize, &impulse.into(), &mut self.load);
        if let Some(spin) = spin {
            self.spin_jacobians.set_impulse(spin as usize, moment.into());
            self.spin_jacobians.add_impulse(spin as usize, &moment.into(), &mut self.load);
        }
    }

    /// Replaces impulses along the joints in `x` \[N s, N m s\] by the change of the rates that
    /// they cause within the last step, with all terms of the prediction. In the published form
    /// without contacts.
    pub fn apply_inverse_hessian(&self, form: Form, x: &mut [f64]) {
        match form {
            Form::Predicted => (0..self.islands.len())
                .for_each(|k| self.coupled.solve(k, &self.islands.at(k), &self.predicted, x)),
            Form::Published => (0..self.smooth.len()).for_each(|tree| self.smooth.solve(tree, x)),
        }
    }

    /// Moment of a contact's turning \[N m s\] in the last step, where it resists turning.
    pub fn moment(&self, c: usize) -> Option<Vector3<f64>> {
        self.spin_of(c).map(|spin| self.spin_jacobians.impulses()[spin].into())
    }
}
