//! What steps did, in numbers.

use serde::Serialize;

use super::energy::EnergyFlows;
use crate::icf::SolveSummary;

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepSummary {
    /// Convex problems solved.
    pub solves: usize,
    /// Newton iterations in all of them.
    pub iterations: usize,
    /// Factorisations of Hessians.
    pub factorisations: usize,
    /// Contacts.
    pub contacts: usize,
    /// Problems solved a second time for friction.
    pub refreshed: usize,
    /// Solves of the closed form that it cannot answer for; see [`comfree`](crate::comfree).
    pub unreliable: usize,
    /// How deep surfaces overlap at the start of a step, in half thicknesses of the thinner of
    /// both, at most: beyond 1 they have passed each other's middles, and contact may push them on
    /// the wrong way.
    pub max_overlap_ratio: f64,
}

impl StepSummary {
    pub(super) fn add(&mut self, other: &Self) {
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.factorisations += other.factorisations;
        self.contacts = self.contacts.max(other.contacts);
        self.refreshed += other.refreshed;
        self.unreliable += other.unreliable;
        self.max_overlap_ratio = self.max_overlap_ratio.max(other.max_overlap_ratio);
    }

    pub(super) fn count(&mut self, solve: &SolveSummary) {
        self.solves += 1;
        self.iterations += solve.iterations;
        self.factorisations += solve.factorisations;
    }
}

/// What [`Simulation::advance_to`](super::Simulation::advance_to) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AdvanceSummary {
    /// Steps taken.
    pub steps: usize,
    /// Steps tried and found too long.
    pub rejected: usize,
    /// Shortest and longest step taken \[s\].
    pub shortest: f64,
    /// Longest step taken \[s\].
    pub longest: f64,
    /// What the solver did.
    pub solver: StepSummary,
    /// Work and losses.
    pub energy: EnergyFlows,
    /// Impulse of contact on what belongs to no tree: floors, and what follows a path \[N s\].
    pub environment_impulse: [f64; 3],
}

impl AdvanceSummary {
    /// Adds an advance that followed.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.rejected += other.rejected;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.solver.add(&other.solver);
        self.energy.add(&other.energy);
        self.add_environment_impulse(&other.environment_impulse);
    }

    pub(super) fn add_environment_impulse(&mut self, impulse: &[f64; 3]) {
        self.environment_impulse.iter_mut().zip(impulse).for_each(|(sum, impulse)| *sum += impulse);
    }
}
