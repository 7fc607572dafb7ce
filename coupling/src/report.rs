//! What a step did, and the totals of a world.

use nalgebra::Vector3;
use pliant_rigid::simulation::AdvanceSummary;
use serde::Serialize;

use crate::convex::SolverInfo;

/// The contact solves of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactFigures {
    /// Contacts registered (speculative ones too), all substeps together.
    pub contacts: u64,
    /// Contacts registered in a substep, at most.
    pub contacts_max: usize,
    /// Solver iterations, all substeps together. Contacts that share no unknown with others are solved apart (on the CPU); a substep's
    /// iterations are those of the part that took most.
    pub iterations: u32,
    /// Solver iterations in a substep, at most.
    pub iterations_max: u32,
    /// Worst ratio of a residual to its tolerance, in a part of a substep's contacts that is solved by itself; at most 1 if all
    /// converged.
    pub residual: f64,
    /// Substeps with a solve that did not converge.
    pub not_converged: u32,
}

impl ContactFigures {
    /// Adds a substep with these contacts, whose regions were solved so.
    pub(crate) fn add(&mut self, contacts: usize, regions: &[SolverInfo]) {
        self.contacts += contacts as u64;
        self.contacts_max = self.contacts_max.max(contacts);
        let most = regions.iter().map(|info| info.iterations as u32).max().unwrap_or(0);
        self.iterations += most;
        self.iterations_max = self.iterations_max.max(most);
        self.not_converged += u32::from(regions.iter().any(|info| !info.stop.is_converged()));
        for info in regions.iter().filter(|info| info.tolerance > 0.0) {
            self.residual = self.residual.max(info.residual / info.tolerance);
        }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepReport {
    /// Coupling steps: 1, or more where the step was split ([`crate::CouplingStep`]).
    pub coupling_steps: u32,
    /// Length of the coupling steps as a part of what the scheme answers for, at most; above 1 one was too long, and the
    /// exchange between bodies and particles in it is not to be trusted.
    pub coupling_excess: f64,
    /// MPM substeps.
    pub substeps: u32,
    /// Contacts registered (speculative ones too), mean over the substeps.
    pub contacts_mean: f64,
    /// Contacts registered in a substep, at most.
    pub contacts_max: usize,
    /// Solver iterations, all substeps together. Contacts that share no unknown with others are solved apart (on the CPU); a substep's
    /// iterations are those of the part that took most.
    pub iterations: u32,
    /// Solver iterations in a substep, at most.
    pub iterations_max: u32,
    /// Worst ratio of a residual to its tolerance, in a part of a substep's contacts that is solved by itself; at most 1 if all
    /// converged.
    pub residual: f64,
    /// Substeps with a solve that did not converge.
    pub not_converged: u32,
    /// Grid nodes that carry mass, at the end.
    pub grid_nodes: usize,
    /// What the bodies' step did: its own steps, contacts among bodies, iterations.
    pub rigid: AdvanceSummary,
}

impl StepReport {
    /// Adds a coupling step. Contacts are summed until [`finish`](Self::finish).
    pub(crate) fn add(&mut self, substeps: u32, contacts: &ContactFigures, rigid: &AdvanceSummary) {
        self.coupling_steps += 1;
        self.substeps += substeps;
        self.contacts_mean += contacts.contacts as f64;
        self.contacts_max = self.contacts_max.max(contacts.contacts_max);
        self.iterations += contacts.iterations;
        self.iterations_max = self.iterations_max.max(contacts.iterations_max);
        self.residual = self.residual.max(contacts.residual);
        self.not_converged += contacts.not_converged;
        if self.coupling_steps == 1 {
            self.rigid = *rigid;
        } else {
            self.rigid.add(rigid);
        }
    }

    /// Makes means of sums.
    pub(crate) fn finish(&mut self) {
        self.contacts_mean /= f64::from(self.substeps.max(1));
    }
}

/// Totals of the particles at one time, world frame, angular parts about the world's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Time [s].
    pub time: f64,
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub center_of_mass: Vector3<f64>,
    /// Linear momentum [N s].
    pub linear_momentum: Vector3<f64>,
    /// Angular momentum about the origin, with the affine field's share [N m s].
    pub angular_momentum: Vector3<f64>,
    /// Kinetic energy, with the affine field's share [J].
    pub kinetic_energy: f64,
    /// Elastic energy [J].
    pub elastic_energy: f64,
    /// Potential energy of gravity, zero at the origin [J].
    pub gravitational_energy: f64,
    /// Energy lost so far to friction, contact damping, plastic flow and the transfers [J]: the energy at the start, plus
    /// the work of bodies and boundaries, less the energy now.
    pub dissipation: f64,
}

/// Relative errors of the particles' balances since the start; external impulses and work are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Balance {
    /// Largest relative difference between the mass on the grid and the mass of the particles.
    pub mass: f64,
    /// Linear momentum less the start's and all impulses (gravity, bodies, boundaries), relative to the sum of their
    /// magnitudes.
    pub linear_momentum: f64,
    /// The same for angular momentum about the world's origin; relative to the linear impulses times the lever of the centre of
    /// mass where that is more.
    pub angular_momentum: f64,
    /// Largest energy that appeared from nowhere (negative dissipation), relative to the energy that took part.
    pub energy: f64,
}

/// The particles at one time, in the order in which they were added. Buffers are reused from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct ParticleSnapshot {
    /// Positions, world frame [m].
    pub positions: Vec<[f64; 3]>,
    /// Velocities, world frame [m/s].
    pub velocities: Vec<[f64; 3]>,
    /// Determinant of the elastic deformation gradient; of a face of cloth its area over that at rest.
    pub j: Vec<f32>,
    /// History variable of the model (von Mises: equivalent plastic strain); 0 for cloth.
    pub state: Vec<f32>,
    /// Frobenius norm of the Kirchhoff stress [Pa].
    pub stress_norm: Vec<f32>,
    /// Volume at rest [m^3].
    pub volume: Vec<f64>,
    /// Index of the material; those of cloth count on from the others, one a sheet.
    pub material: Vec<u32>,
}
