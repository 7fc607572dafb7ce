//! Reports of steps.

use serde::Serialize;

use crate::icf::SolveSummary;

/// Report of a step.
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
    /// Unreliable closed-form solves; see [`comfree`](crate::comfree).
    pub unreliable: usize,
    /// Impacts with restitution whose impulses are not accurate to 1e-6 of the speed, or that were left
    /// to the convex problem, which has no restitution.
    pub inaccurate_impacts: usize,
    /// Largest overlap of surfaces at the start of a step, in half thicknesses of the thinner one:
    /// beyond 1 they have passed each other's middles, and contact may push them out on the wrong
    /// side.
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
        self.inaccurate_impacts += other.inaccurate_impacts;
        self.max_overlap_ratio = self.max_overlap_ratio.max(other.max_overlap_ratio);
    }

    pub(super) fn count(&mut self, solve: &SolveSummary) {
        self.solves += 1;
        self.iterations += solve.iterations;
        self.factorisations += solve.factorisations;
    }
}
