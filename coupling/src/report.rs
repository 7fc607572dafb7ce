//! What a step did, and the totals of a world.

use nalgebra::Vector3;
use pliant_rigid::simulation::{AdvanceSummary, EnergyFlows, MechanicalEnergy};
use serde::{Deserialize, Serialize};

use crate::convex::SolverInfo;
use crate::pair::ContactPair;

/// The contact solves of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactStatistics {
    /// Contacts registered (speculative ones too), all substeps together.
    pub contacts: u64,
    /// Contacts registered in a substep, at most.
    pub contacts_max: usize,
    /// Solver iterations, all substeps together. Contacts that share no unknown with others are
    /// solved apart (on the CPU); a substep's iterations are those of the part that took most.
    pub iterations: u32,
    /// Solver iterations in a substep, at most.
    pub iterations_max: u32,
    /// Worst ratio of a residual to its tolerance, in a part of a substep's contacts that is solved
    /// by itself; at most 1 if all converged.
    pub residual: f64,
    /// Substeps with a solve that did not converge.
    pub not_converged: u32,
    /// How far the centre of a particle was inside a body at the start of a substep, at most; 0
    /// where none was, absent where it is not measured \[m\].
    pub deepest: Option<f64>,
}

impl ContactStatistics {
    /// Adds a substep with these contacts, whose regions were solved so.
    pub(crate) fn add(&mut self, pairs: &[ContactPair], islands: &[SolverInfo]) {
        let contacts = pairs.len();
        self.contacts += contacts as u64;
        self.contacts_max = self.contacts_max.max(contacts);
        let inside = pairs.iter().filter(|pair| pair.pressed_out == 0.0).map(|pair| -pair.distance);
        self.deepest = Some(inside.fold(self.deepest.unwrap_or(0.0), f64::max));
        let most = islands.iter().map(|info| info.iterations as u32).max().unwrap_or(0);
        self.iterations += most;
        self.iterations_max = self.iterations_max.max(most);
        self.not_converged += u32::from(islands.iter().any(|info| !info.stop.is_converged()));
        for info in islands.iter().filter(|info| info.tolerance > 0.0) {
            self.residual = self.residual.max(info.residual / info.tolerance);
        }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepReport {
    /// Coupling steps: 1, or more where the step was split ([`crate::CouplingStep`]).
    pub coupling_steps: u32,
    /// Length of the coupling steps as a part of what the scheme answers for, at most; above 1 one
    /// was too long, and the exchange between bodies and particles in it is not reliable. On a
    /// backend, which takes a step as linear from its start, also how far the bodies' step went
    /// from that, as a part of what the host would let pass; how far bodies go past particles is
    /// not known there.
    pub coupling_excess: f64,
    /// MPM substeps.
    pub substeps: u32,
    /// Contacts registered (speculative ones too), mean over the substeps.
    pub contacts_mean: f64,
    /// Contacts registered in a substep, at most.
    pub contacts_max: usize,
    /// Solver iterations, all substeps together. Contacts that share no unknown with others are
    /// solved apart (on the CPU); a substep's iterations are those of the part that took most.
    pub iterations: u32,
    /// Solver iterations in a substep, at most.
    pub iterations_max: u32,
    /// Worst ratio of a residual to its tolerance, in a part of a substep's contacts that is solved
    /// by itself; at most 1 if all converged.
    pub residual: f64,
    /// Substeps with a solve that did not converge.
    pub not_converged: u32,
    /// How far the centre of a particle was inside a body at the start of a substep, at most;
    /// absent where it is not measured (on a backend) \[m\].
    pub deepest: Option<f64>,
    /// Grid nodes that carry mass, at the end.
    pub grid_nodes: usize,
    /// What the bodies' step did: its own steps, contacts among bodies, iterations.
    pub rigid: AdvanceSummary,
}

impl StepReport {
    /// Adds a coupling step. Contacts are summed until [`finish`](Self::finish).
    pub(crate) fn add(&mut self, substeps: u32, contacts: &ContactStatistics, rigid: &AdvanceSummary) {
        self.coupling_steps += 1;
        self.substeps += substeps;
        self.contacts_mean += contacts.contacts as f64;
        self.contacts_max = self.contacts_max.max(contacts.contacts_max);
        self.iterations += contacts.iterations;
        self.iterations_max = self.iterations_max.max(contacts.iterations_max);
        self.residual = self.residual.max(contacts.residual);
        self.not_converged += contacts.not_converged;
        self.deepest = self.deepest.into_iter().chain(contacts.deepest).reduce(f64::max);
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
    /// Time \[s\].
    pub time: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass \[m\].
    pub center_of_mass: Vector3<f64>,
    /// Linear momentum \[N s\].
    pub linear_momentum: Vector3<f64>,
    /// Angular momentum about the origin, with the affine field's share \[N m s\].
    pub angular_momentum: Vector3<f64>,
    /// Kinetic energy, with the affine field's share \[J\].
    pub kinetic_energy: f64,
    /// Elastic energy \[J\].
    pub elastic_energy: f64,
    /// Potential energy of gravity, zero at the origin \[J\].
    pub gravitational_energy: f64,
    /// Energy lost so far to friction, contact damping, plastic flow and the transfers \[J\]: the
    /// energy at the start, plus the work of bodies and boundaries, less the energy now.
    pub dissipation: f64,
    /// Where the energy of all went.
    pub energy: EnergyBalance,
}

/// Work on the particles and what their laws dissipate, since the start \[J\]. What the backend
/// does not measure is absent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleFlows {
    /// Work of all bodies, at the velocities with which contact sees them.
    pub bodies: f64,
    /// The part of bodies that move by their dynamics.
    pub dynamic: Option<f64>,
    /// The part of bodies that follow a path.
    pub prescribed: Option<f64>,
    /// Work of the pins of cloth.
    pub pins: f64,
    /// Lost at the grid's boundary planes, which do not move.
    pub boundaries: Option<f64>,
    /// Lost in the normal direction of contacts with bodies, impacts and what their compliance
    /// holds included.
    pub contact_normal: Option<f64>,
    /// Lost to friction on bodies.
    pub contact_friction: Option<f64>,
    /// Lost to plastic flow: the elastic energy that return mappings take.
    pub plastic: Option<f64>,
    /// Lost to the damping of cloth.
    pub damping: Option<f64>,
}

/// Nothing yet, and all of it known.
impl Default for ParticleFlows {
    fn default() -> Self {
        let none = Some(0.0);
        Self {
            bodies: 0.0,
            dynamic: none,
            prescribed: none,
            pins: 0.0,
            boundaries: none,
            contact_normal: none,
            contact_friction: none,
            plastic: none,
            damping: none,
        }
    }
}

impl ParticleFlows {
    /// Of substeps of which only the work of the bodies is known.
    pub(crate) fn unmeasured(bodies: f64) -> Self {
        Self {
            bodies,
            dynamic: None,
            prescribed: None,
            pins: 0.0,
            boundaries: None,
            contact_normal: None,
            contact_friction: None,
            plastic: None,
            damping: None,
        }
    }

    /// Adds later ones; what was not measured once is not known any more.
    pub(crate) fn add(&mut self, later: &Self) {
        self.bodies += later.bodies;
        self.pins += later.pins;
        for (sum, later) in [
            (&mut self.dynamic, later.dynamic),
            (&mut self.prescribed, later.prescribed),
            (&mut self.boundaries, later.boundaries),
            (&mut self.contact_normal, later.contact_normal),
            (&mut self.contact_friction, later.contact_friction),
            (&mut self.plastic, later.plastic),
            (&mut self.damping, later.damping),
        ] {
            *sum = sum.zip(later).map(|(sum, later)| sum + later);
        }
    }
}

/// The particles' balance of energy \[J\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParticleEnergy {
    /// Kinetic energy, with the affine field's share.
    pub kinetic: f64,
    /// Elastic energy.
    pub elastic: f64,
    /// Potential energy of gravity, zero at the origin.
    pub gravitational: f64,
    /// Work and losses since the start.
    pub flows: ParticleFlows,
    /// What no law explains, since the start: energy made by transfers and steps, or, below zero,
    /// lost to them. Absent where a loss is not known.
    pub imbalance: Option<f64>,
    /// The least that the imbalance can be: losses that are not known count as none.
    pub least_imbalance: f64,
}

/// The balance of energy of the bodies that move by their dynamics \[J\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BodyEnergy {
    /// Energies now; what compliant contact holds is in the flows.
    pub stored: MechanicalEnergy,
    /// Work and losses since the start.
    pub flows: EnergyFlows,
    /// What no law explains, since the start: energy made by the steps, or, below zero, lost to
    /// them.
    pub imbalance: f64,
}

/// The largest rise of an imbalance, and what it is to be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EnergyGain {
    /// The largest rise of the imbalance over the run so far \[J\].
    pub gained: f64,
    /// Kinetic and elastic energy at the start, what weight released, and work that came in \[J\].
    pub energy_input: f64,
    /// What all masses have at 0.1 m/s \[J\].
    pub reference_energy: f64,
}

impl EnergyGain {
    /// What was gained in terms of what was put in, or of that little where it is more: a scene at
    /// rest has put in nothing \[-\].
    pub fn relative(&self) -> f64 {
        self.gained / self.energy_input.max(self.reference_energy)
    }
}

/// The balance of energy of a world \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EnergyBalance {
    /// Of the particles; absent where there are none.
    pub particles: Option<ParticleEnergy>,
    /// Of the bodies that move by their dynamics; absent where there are none.
    pub bodies: Option<BodyEnergy>,
    /// What the work that both say that they gave each other differs by, since the start: zero
    /// where they agree.
    pub exchange: Option<f64>,
    /// The imbalance of both and of what they exchanged.
    pub imbalance: Option<f64>,
    /// The worst gain of the three: of particles, of bodies, of both.
    pub gain: Option<EnergyGain>,
}

/// Relative errors of the balances since the start; external impulses and work are counted. Those
/// of mass and momentum are the particles', and not numbers without particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Balance {
    /// Largest relative difference between the mass on the grid and the mass of the particles.
    pub mass: f64,
    /// Linear momentum less the start's and all impulses (gravity, bodies, boundaries), relative to
    /// the sum of their magnitudes.
    pub linear_momentum: f64,
    /// The same for angular momentum about the world's origin; relative to the linear impulses
    /// times the lever of the centre of mass where that is more.
    pub angular_momentum: f64,
    /// The largest rise of an imbalance of energy, of particles, bodies or both, relative to what
    /// was put in; absent where nothing can have energy.
    pub energy: Option<f64>,
}

/// The particles at one time, in the order in which they were added. Buffers are reused from one
/// call to the next.
#[derive(Clone, Debug, Default)]
pub struct ParticleSnapshot {
    /// Positions, world frame \[m\].
    pub positions: Vec<[f64; 3]>,
    /// Velocities, world frame \[m/s\].
    pub velocities: Vec<[f64; 3]>,
    /// Determinant of the elastic deformation gradient; of a face of cloth its area over that at
    /// rest.
    pub j: Vec<f32>,
    /// History variable of the model (von Mises: equivalent plastic strain); 0 for cloth.
    pub state: Vec<f32>,
    /// Frobenius norm of the Kirchhoff stress \[Pa\].
    pub stress_norm: Vec<f32>,
    /// Volume at rest \[m^3\].
    pub volume: Vec<f64>,
    /// Index of the material; those of cloth count on from the others, one a sheet.
    pub material: Vec<u32>,
}
