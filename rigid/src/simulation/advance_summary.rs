//! What an advance did, in numbers.

use serde::Serialize;

use super::energy::EnergyFlows;
use super::summary::StepSummary;

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
