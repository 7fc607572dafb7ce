//! What a step did.

use pyo3::prelude::*;

/// What a step did; of several, the last.
#[pyclass(frozen, get_all, module = "pliant")]
#[derive(Clone, Debug)]
pub struct StepReport {
    /// Time after the step \[s\].
    time: f64,
    /// MPM substeps \[-\].
    substeps: u32,
    /// Coupling steps \[-\].
    coupling_steps: u32,
    /// Contacts of particles, mean over the substeps \[-\].
    contacts_mean: f64,
    /// Most contacts of particles in a substep \[-\].
    contacts_max: usize,
    /// Iterations of the contact solver, all substeps \[-\].
    iterations: u32,
    /// Largest residual that the contact solver ended with, relative to its tolerance's scale.
    residual: f64,
    /// Substeps whose contact solver ended before its tolerance \[-\].
    not_converged: u32,
    /// Deepest penetration of a particle's contact sphere \[m\]; none without contact.
    deepest: Option<f64>,
    /// Nodes of the grid with mass \[-\].
    grid_nodes: usize,
    /// Steps of the rigid bodies \[-\].
    rigid_steps: usize,
}

impl StepReport {
    pub fn new(time: f64, report: &pliant_coupling::StepReport) -> Self {
        Self {
            time,
            substeps: report.substeps,
            coupling_steps: report.coupling_steps,
            contacts_mean: report.contacts_mean,
            contacts_max: report.contacts_max,
            iterations: report.iterations,
            residual: report.residual,
            not_converged: report.not_converged,
            deepest: report.deepest,
            grid_nodes: report.grid_nodes,
            rigid_steps: report.rigid.steps,
        }
    }
}

#[pymethods]
impl StepReport {
    fn __repr__(&self) -> String {
        format!(
            "StepReport(time={}, substeps={}, contacts_max={}, not_converged={})",
            self.time, self.substeps, self.contacts_max, self.not_converged
        )
    }
}
