//! Statistics of a run for its manifest.

use serde::{Deserialize, Serialize};

use pliant_coupling::StepReport;
use pliant_mpm::cloth::LayerReport;
use pliant_mpm::rope::StrandReport;
use pliant_rigid::simulation::AdvanceSummary;

use super::histogram::Histogram;
use crate::record::manifest::{
    CouplingSummary, LayerSummary, MeanMax, MsPerStep, Number, RigidSummary, SolverSummary, StrandSummary,
};

/// Depth of particles inside bodies above which a run warns [grid cells].
pub const DEEP_PENETRATION: f64 = 0.5;

/// Numbers of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepFigures {
    /// Wall time \[ms\].
    pub wall_ms: f64,
    /// Substeps \[-\].
    pub substeps: u32,
    /// Grid nodes with mass \[-\].
    pub grid_nodes: usize,
    /// Contacts, mean over the substeps \[-\].
    pub contacts_mean: f64,
    /// Contacts, most in a substep \[-\].
    pub contacts_max: usize,
    /// Solver iterations, total over the substeps \[-\].
    pub iterations: u32,
    /// Solver iterations, most in a substep \[-\].
    pub iterations_max: u32,
    /// Substeps that did not converge \[-\].
    pub not_converged: u32,
    /// Coupling steps \[-\].
    pub coupling_steps: u32,
    /// Their largest ratio to the longest that the scheme resolves \[-\].
    pub coupling_excess: f64,
    /// Largest ratio of a given substep to the largest that is stable \[-\].
    pub substep_excess: Option<f64>,
    /// Largest depth of a particle inside a body \[m\]; absent if not measured.
    pub deepest: Option<f64>,
    /// Contact between layers of cloth; absent where they are not kept apart.
    pub layers: Option<LayerReport>,
    /// Contact between strands of ropes; absent where they are not kept apart.
    pub strands: Option<StrandReport>,
    /// Report of the bodies' step.
    pub rigid: AdvanceSummary,
}

impl StepFigures {
    /// Numbers of a step that took `wall_ms` \[ms\].
    pub fn of(report: &StepReport, wall_ms: f64) -> Self {
        Self {
            wall_ms,
            substeps: report.substeps,
            grid_nodes: report.grid_nodes,
            contacts_mean: report.contacts_mean,
            contacts_max: report.contacts_max,
            iterations: report.iterations,
            iterations_max: report.iterations_max,
            not_converged: report.not_converged,
            coupling_steps: report.coupling_steps,
            coupling_excess: report.coupling_excess,
            substep_excess: report.substep_excess,
            deepest: report.deepest,
            layers: report.layers,
            strands: report.strands,
            rigid: report.rigid,
        }
    }
}

/// Sums, maxima and wall times over a run's steps. It is part of a checkpoint, and does not grow
/// with the steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    wall_ms: Histogram,
    substeps: u64,
    grid_nodes: (f64, u64),
    contacts: (f64, u64),
    iterations: (u64, u64),
    not_converged: u64,
    #[serde(default)]
    coupling: CouplingSummary,
    #[serde(default)]
    long_substeps: LongSubsteps,
    #[serde(default)]
    deepest: Option<f64>,
    #[serde(default)]
    layers: Option<LayerSummary>,
    #[serde(default)]
    strands: Option<StrandSummary>,
    #[serde(default)]
    rigid: RigidSums,
}

/// Ratio of a given substep to the largest that is stable from which on a run warns. Energy grows from
/// about twice the largest on.
const UNSTABLE: f64 = 1.5;

/// Steps with substeps that are too long to be stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LongSubsteps {
    steps: u64,
    worst: f64,
}

/// Sums over the bodies' own steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct RigidSums {
    steps: u64,
    rejected: u64,
    contacts: (f64, u64),
    solves: u64,
    iterations: u64,
    factorisations: u64,
    refreshed: u64,
    #[serde(default)]
    unreliable: u64,
    #[serde(default)]
    inaccurate_impacts: u64,
    #[serde(default)]
    max_overlap_ratio: f64,
}

impl Statistics {
    /// Counts one step.
    pub fn add(&mut self, step: &StepFigures) {
        self.wall_ms.add(step.wall_ms);
        self.substeps += u64::from(step.substeps);
        self.grid_nodes.0 += step.grid_nodes as f64;
        self.grid_nodes.1 = self.grid_nodes.1.max(step.grid_nodes as u64);
        self.contacts.0 += step.contacts_mean;
        self.contacts.1 = self.contacts.1.max(step.contacts_max as u64);
        self.iterations.0 += u64::from(step.iterations);
        self.iterations.1 = self.iterations.1.max(u64::from(step.iterations_max));
        self.not_converged += u64::from(step.not_converged);
        self.coupling.add(step.coupling_steps, step.coupling_excess);
        if let Some(excess) = step.substep_excess.filter(|excess| *excess > UNSTABLE) {
            self.long_substeps.steps += 1;
            self.long_substeps.worst = self.long_substeps.worst.max(excess);
        }
        self.deepest = self.deepest.into_iter().chain(step.deepest).reduce(f64::max);
        if let Some(step) = &step.layers {
            self.layers.get_or_insert_default().add(step);
        }
        if let Some(step) = &step.strands {
            self.strands.get_or_insert_default().add(step);
        }
        let (sums, rigid) = (&mut self.rigid, &step.rigid);
        sums.steps += rigid.steps as u64;
        sums.rejected += rigid.rejected as u64;
        sums.contacts.0 += rigid.solver.contacts as f64;
        sums.contacts.1 = sums.contacts.1.max(rigid.solver.contacts as u64);
        sums.solves += rigid.solver.solves as u64;
        sums.iterations += rigid.solver.iterations as u64;
        sums.factorisations += rigid.solver.factorisations as u64;
        sums.refreshed += rigid.solver.refreshed as u64;
        sums.unreliable += rigid.solver.unreliable as u64;
        sums.inaccurate_impacts += rigid.solver.inaccurate_impacts as u64;
        sums.max_overlap_ratio = sums.max_overlap_ratio.max(rigid.solver.max_overlap_ratio);
    }

    /// Steps counted.
    pub fn steps(&self) -> u64 {
        self.wall_ms.count()
    }

    fn per_step(&self, (sum, max): (f64, u64)) -> MeanMax {
        MeanMax { mean: Number(sum / self.steps().max(1) as f64), max }
    }

    /// Wall time of a step \[ms\]: the mean is exact, percentiles by the nearest rank are within
    /// 1 %. Zero without steps.
    pub fn ms_per_step(&self) -> MsPerStep {
        let rank = |part: f64| Number(self.wall_ms.quantile(part).unwrap_or(0.0));
        MsPerStep {
            median: rank(0.5),
            p95: rank(0.95),
            mean: Number(self.wall_ms.sum() / self.steps().max(1) as f64),
        }
    }

    /// Grid nodes with mass.
    pub fn grid_nodes(&self) -> MeanMax {
        self.per_step(self.grid_nodes)
    }

    /// Contacts in a substep.
    pub fn contacts(&self) -> MeanMax {
        self.per_step(self.contacts)
    }

    /// Statistics of the bodies' steps.
    pub fn rigid(&self) -> RigidSummary {
        let sums = &self.rigid;
        RigidSummary {
            steps: sums.steps,
            rejected: sums.rejected,
            contacts: self.per_step(sums.contacts),
            solves: sums.solves,
            iterations_mean: Number(sums.iterations as f64 / sums.solves.max(1) as f64),
            factorisations: sums.factorisations,
            refreshed: sums.refreshed,
            unreliable: sums.unreliable,
        }
    }

    /// Number of coupling steps.
    pub fn coupling(&self) -> CouplingSummary {
        self.coupling
    }

    /// Contact between strands of ropes; none where they are not kept apart.
    pub fn strands(&self) -> Option<StrandSummary> {
        self.strands
    }

    /// Contact between layers of cloth; none where they are not kept apart.
    pub fn layers(&self) -> Option<LayerSummary> {
        self.layers
    }

    /// The warning of substeps that were too long.
    pub fn long_substeps_warning(&self) -> Option<String> {
        let LongSubsteps { steps, worst } = self.long_substeps;
        (steps > 0).then(|| {
            format!(
                "substeps: in {steps} steps a substep was up to {worst:.1} times the largest that is \
                 stable for the speeds and the stretch of the material then; use substeps \"auto\", or \
                 more of them"
            )
        })
    }

    /// Warnings about steps of the bodies that are not reliable.
    pub fn unreliable_solves_warning(&self) -> Option<String> {
        let RigidSums { steps, solves, unreliable, .. } = self.rigid;
        (unreliable > 0).then(|| {
            format!(
                "bodies: {unreliable} of {solves} closed-form solves in {steps} steps are not reliable: \
                 contacts yielded, or bodies turned by a large angle within the step; use a smaller \
                 dt, or rigid_solver \"icf\""
            )
        })
    }

    /// The warning of impacts with restitution that are not accurate.
    pub fn inaccurate_impacts_warning(&self) -> Option<String> {
        let RigidSums { steps, inaccurate_impacts, .. } = self.rigid;
        (inaccurate_impacts > 0).then(|| {
            format!(
                "bodies: {inaccurate_impacts} impacts with restitution in {steps} steps are not accurate to \
                 1e-6 of the speed, or are without restitution; use fewer points of contact (simpler \
                 shapes), or a smaller dt"
            )
        })
    }

    /// The warning of bodies that penetrated each other beyond the middle of one.
    pub fn pressed(&self) -> Option<String> {
        let max_overlap_ratio = self.rigid.max_overlap_ratio;
        (max_overlap_ratio > 1.0).then(|| {
            format!(
                "contact: the largest penetration of two bodies was {max_overlap_ratio:.2} times half the \
                 thickness of the thinner one: contact may have pushed them out on the wrong side; \
                 use a larger rigid.stiffness or a smaller dt"
            )
        })
    }

    /// The warning of particles that were inside bodies by more than half a cell of a grid of this
    /// spacing \[m\].
    pub fn depths(&self, grid_spacing: f64) -> Option<String> {
        let deepest = self.deepest.filter(|deepest| *deepest > DEEP_PENETRATION * grid_spacing)?;
        Some(format!(
            "contact: the largest penetration of a particle was {deepest:.3e} m, more than half \
             the grid spacing ({:.3e} m): the contact forces are not reliable; use a larger \
             contact.stiffness, or \"auto\", or a smaller dt",
            DEEP_PENETRATION * grid_spacing
        ))
    }

    /// Statistics of the contact solver.
    pub fn solver(&self) -> SolverSummary {
        SolverSummary {
            iterations_mean: Number(self.iterations.0 as f64 / self.substeps.max(1) as f64),
            iterations_max: self.iterations.1,
            not_converged: self.not_converged,
        }
    }
}

#[cfg(test)]
mod tests {
    use pliant_rigid::simulation::StepSummary;

    use super::super::histogram::RESOLUTION;
    use super::*;

    // Checks: nearest-rank percentiles of 1..=100 ms are 50 and 95, the mean 50.5; contacts average
    // over steps and iterations over substeps. Ten steps were split into four, and those beyond the
    // fiftieth were too long.
    #[test]
    fn figures_are_those_of_the_steps() {
        let mut statistics = Statistics::default();
        for ms in 1..=100_u32 {
            statistics.add(&StepFigures {
                wall_ms: f64::from(ms),
                substeps: 2,
                grid_nodes: 10,
                contacts_mean: 3.0,
                contacts_max: ms as usize,
                iterations: 8,
                iterations_max: 5,
                not_converged: 0,
                coupling_steps: if ms > 90 { 4 } else { 1 },
                coupling_excess: 0.02 * f64::from(ms),
                substep_excess: (ms > 95).then_some(0.02 * f64::from(ms)),
                // Not measured in half of them.
                deepest: (ms % 2 == 0).then_some(1e-4 * f64::from(ms)),
                layers: (ms > 98).then_some(LayerReport { contacts: 3, rigid: 2, unresolved: 1, crossed: 4 }),
                strands: (ms > 98).then_some(StrandReport {
                    contacts: 3,
                    rigid: 2,
                    unresolved: 0,
                    overlapping: ms as usize,
                    overlap: 0.002 * f64::from(ms),
                }),
                rigid: AdvanceSummary {
                    solver: StepSummary { max_overlap_ratio: 0.01 * f64::from(ms), ..StepSummary::default() },
                    ..AdvanceSummary::default()
                },
            });
            // Surfaces that have passed each other's middles give a warning.
            assert_eq!(statistics.pressed(), None, "{ms}");
        }
        let ms = statistics.ms_per_step();
        for (found, exact) in [(ms.median, 50.0), (ms.p95, 95.0)] {
            assert!((found.0 / exact - 1.0).abs() <= RESOLUTION, "{found:?}, not {exact}");
        }
        assert_eq!(ms.mean, Number(50.5));
        assert_eq!(statistics.contacts(), MeanMax { mean: Number(3.0), max: 100 });
        assert_eq!(statistics.solver().iterations_mean, Number(4.0));
        let layers = LayerSummary { contacts: 6, rigid_vertices: 4, unresolved: 2, crossed_vertices: 4 };
        assert_eq!(statistics.layers(), Some(layers));
        let strands = StrandSummary {
            contacts: 6,
            rigid_vertices: 4,
            unresolved: 0,
            overlapping: 100,
            overlap: Number(0.2),
        };
        assert_eq!(statistics.strands(), Some(strands));
        let told = strands.warning().unwrap();
        assert!(told.contains("100 pairs of segments") && told.contains("20 %"), "{told}");
        let forced = StrandSummary { unresolved: 3, ..strands }.warning().unwrap();
        assert!(forced.contains("3 pairs of segments") && forced.contains("pins"), "{forced}");
        assert_eq!(StrandSummary { overlapping: 0, ..strands }.warning(), None);
        let coupling = CouplingSummary { steps: 130, split: 10, too_long: 50, worst: Number(2.0) };
        assert_eq!(statistics.coupling(), coupling);
        assert_eq!(Statistics::default().ms_per_step(), MsPerStep::default());
        // The deepest was 0.01 m inside: half of a cell of 0.02 m, more than that of one of 0.019
        // m.
        let rigid = AdvanceSummary {
            solver: StepSummary { max_overlap_ratio: 1.5, inaccurate_impacts: 2, ..StepSummary::default() },
            ..AdvanceSummary::default()
        };
        statistics.add(&StepFigures { rigid, ..StepFigures::default() });
        assert!(statistics.inaccurate_impacts_warning().is_some_and(|said| said.contains("2 impacts")));
        assert_eq!(Statistics::default().inaccurate_impacts_warning(), None);
        assert!(statistics.pressed().is_some_and(|said| said.contains("1.50 times")));
        assert_eq!((statistics.depths(0.02), Statistics::default().depths(0.0)), (None, None));
        assert!(statistics.depths(0.019).is_some_and(|said| said.contains("1.000e-2 m")));
    }
}
