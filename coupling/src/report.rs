//! Reports of steps, and the totals of a world.

use nalgebra::Vector3;
use pliant_mpm::cloth::LayerReport;
use pliant_mpm::rope::StrandReport;
use pliant_rigid::simulation::{AdvanceSummary, EnergyFlows, MechanicalEnergy};
use serde::{Deserialize, Serialize};

use crate::convex::SolverInfo;
use crate::pair::ContactPair;

/// The contact solves of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactStatistics {
    /// Contact candidates (speculative ones included), all substeps together.
    pub contacts: u64,
    /// Largest number of contact candidates in a substep.
    pub contacts_max: usize,
    /// Solver iterations, all substeps together. Contact islands are solved independently
    /// (on the CPU); a substep's iterations are those of the island that needed most.
    pub iterations: u32,
    /// Largest number of solver iterations in a substep.
    pub iterations_max: u32,
    /// Worst ratio of a residual to its tolerance, of any contact island; at most 1 if all
    /// converged.
    pub residual: f64,
    /// Substeps with a solve that did not converge.
    pub not_converged: u32,
    /// Largest depth of a particle's centre inside a body at the start of a substep \[m\]; 0 if
    /// none was inside, absent if not measured.
    pub deepest: Option<f64>,
    /// Contact between layers of cloth; absent without cloth, and if they are not kept apart.
    pub layers: Option<LayerReport>,
    /// Contact between strands of ropes, all substeps together; absent without ropes, and if they are not kept
    /// apart.
    pub strands: Option<StrandReport>,
}

impl ContactStatistics {
    /// Adds a substep with these contacts and the solver's reports of its islands.
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

/// Report of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepReport {
    /// Coupling steps: 1, or more where the step was split ([`crate::CouplingStep`]).
    pub coupling_steps: u32,
    /// Largest ratio of a coupling step to the longest that the scheme resolves; above 1 one was
    /// too long, and the exchange between bodies and particles in it is not reliable. With a
    /// backend, which uses the linear response for the whole step, it also covers the error of that
    /// linearisation relative to the host's limit; the travel of bodies past particles is not known
    /// there.
    pub coupling_excess: f64,
    /// MPM substeps.
    pub substeps: u32,
    /// Largest ratio of a substep to the largest that is stable, for the speeds and, on the host, the
    /// deformation at the start of its coupling step; absent where the number of substeps is
    /// automatic, and without particles.
    pub substep_excess: Option<f64>,
    /// Contact candidates (speculative ones included), mean over the substeps.
    pub contacts_mean: f64,
    /// Largest number of contact candidates in a substep.
    pub contacts_max: usize,
    /// Solver iterations, all substeps together. Contact islands are solved independently
    /// (on the CPU); a substep's iterations are those of the island that needed most.
    pub iterations: u32,
    /// Largest number of solver iterations in a substep.
    pub iterations_max: u32,
    /// Worst ratio of a residual to its tolerance, of any contact island; at most 1 if all
    /// converged.
    pub residual: f64,
    /// Substeps with a solve that did not converge.
    pub not_converged: u32,
    /// Largest depth of a particle's centre inside a body at the start of a substep \[m\]; absent
    /// if not measured (on a backend).
    pub deepest: Option<f64>,
    /// Contact between layers of cloth, all coupling steps together; absent without cloth, and where
    /// they are not kept apart (on a backend).
    pub layers: Option<LayerReport>,
    /// Contact between strands of ropes, all substeps together; absent without ropes, and where they are not
    /// kept apart.
    pub strands: Option<StrandReport>,
    /// Grid nodes that carry mass, at the end.
    pub grid_nodes: usize,
    /// Report of the bodies' step: its own steps, contacts among bodies, iterations.
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
        self.layers = self.layers.into_iter().chain(contacts.layers).reduce(|a, b| a.with(&b));
        self.strands = self.strands.into_iter().chain(contacts.strands).reduce(|a, b| a.with(&b));
        if self.coupling_steps == 1 {
            self.rigid = *rigid;
        } else {
            self.rigid.add(rigid);
        }
    }

    /// Turns sums into means.
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
    /// Work of internal forces and gravity in the half substep by which velocities are behind the positions:
    /// with it `kinetic_energy` is that at the time of the positions ([`pliant_mpm::Totals::kinetic_lag`]) \[J\].
    pub kinetic_lag: f64,
    /// Elastic energy, with that of gas in closed cloths, whose zero is arbitrary \[J\].
    pub elastic_energy: f64,
    /// Potential energy of gravity, zero at the origin \[J\].
    pub gravitational_energy: f64,
    /// Energy lost so far to friction, contact damping, plastic flow and the transfers \[J\]: the
    /// energy at the start, plus the work of bodies and boundaries, less the energy now.
    pub dissipation: f64,
    /// Energy balance of particles and bodies.
    pub energy: EnergyBalance,
}

/// Work on the particles and their dissipation since the start \[J\]. What the backend does not
/// measure is absent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleFlows {
    /// Work of all bodies, at their velocities in the contact problem.
    pub bodies: f64,
    /// The part of dynamic bodies.
    pub dynamic: Option<f64>,
    /// The part of prescribed bodies.
    pub prescribed: Option<f64>,
    /// Work of the pins of cloth.
    pub pins: f64,
    /// Lost at the grid's boundary planes, which do not move.
    pub boundaries: Option<f64>,
    /// Lost in the normal direction of contacts with bodies, including impacts and the energy
    /// stored in their compliance.
    pub contact_normal: Option<f64>,
    /// Lost to friction on bodies.
    pub contact_friction: Option<f64>,
    /// Lost to plastic flow, and to friction within cloth: the elastic energy that return mappings
    /// take.
    pub plastic: Option<f64>,
    /// Lost to the damping of cloth.
    pub damping: Option<f64>,
}

/// Zero, and all of it measured.
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
    /// Flows of substeps of which only the work of the bodies is measured.
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

    /// Adds later ones; a term that was not measured once stays absent.
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

/// The energy balance of the particles \[J\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParticleEnergy {
    /// Kinetic energy at the time of the positions ([`pliant_mpm::Totals::kinetic_lag`]), with the affine field's share.
    pub kinetic: f64,
    /// Elastic energy, with that of gas in closed cloths, whose zero is arbitrary.
    pub elastic: f64,
    /// Potential energy of gravity, zero at the origin.
    pub gravitational: f64,
    /// Work and losses since the start.
    pub flows: ParticleFlows,
    /// Energy that no listed term explains, since the start: created by transfers and steps, or,
    /// below zero, lost to them. Absent if a loss is not measured.
    pub imbalance: Option<f64>,
    /// Lower bound of the imbalance: losses that are not measured count as zero.
    pub least_imbalance: f64,
}

/// The energy balance of the dynamic bodies \[J\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BodyEnergy {
    /// Present energies; the energy stored in compliant contact is in the flows.
    pub stored: MechanicalEnergy,
    /// Work and losses since the start.
    pub flows: EnergyFlows,
    /// Energy that no listed term explains, since the start: created by the steps, or, below zero,
    /// lost to them.
    pub imbalance: f64,
}

/// What an energy balance is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum EnergyDomain {
    /// The particles, alone or where they made most of what they and the exchange made.
    Particles,
    /// The dynamic bodies.
    Bodies,
    /// Particles, bodies and their exchange.
    World,
    /// The particles and what bodies and they exchange: energy that weak coupling creates is
    /// compared with what reached the particles.
    Exchange,
}

/// The largest rise of an imbalance, and the energies to compare it with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EnergyGain {
    /// Whose imbalance rose.
    pub domain: EnergyDomain,
    /// The largest rise of the imbalance over the run so far \[J\].
    pub gained: f64,
    /// Energy input: kinetic and elastic energy at the start, released potential energy, and
    /// positive work \[J\].
    pub energy_input: f64,
    /// Kinetic energy of all masses at 0.1 m/s \[J\].
    pub reference_energy: f64,
}

impl EnergyGain {
    /// The gain relative to the energy input, or to the reference energy if that is larger, because
    /// a scene at rest has no energy input \[-\].
    pub fn relative(&self) -> f64 {
        self.gained / self.energy_input.max(self.reference_energy)
    }
}

/// The energy balance of a world \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EnergyBalance {
    /// Of the particles; absent without them.
    pub particles: Option<ParticleEnergy>,
    /// Of the dynamic bodies; absent without them.
    pub bodies: Option<BodyEnergy>,
    /// Difference of the work that bodies and particles measure on each other, since the start:
    /// zero if they agree.
    pub exchange: Option<f64>,
    /// The imbalance of both and of their exchange.
    pub imbalance: Option<f64>,
    /// The worst gain of the four domains.
    pub gain: Option<EnergyGain>,
}

/// Relative errors of the balances since the start; external impulses and work are counted. Those
/// of mass and momentum are the particles', and not numbers without particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Balance {
    /// Largest relative difference between the mass on the grid and the mass of the particles.
    pub mass: f64,
    /// Linear momentum less the initial one and all impulses (gravity, bodies, boundaries),
    /// relative to the sum of their magnitudes.
    pub linear_momentum: f64,
    /// The same for angular momentum about the world's origin; relative to the linear impulses
    /// times the lever of the centre of mass if that is larger. It has too what free bodies that other
    /// bodies touch do not get of the particles' angular momentum, where that is counted
    /// ([`World::missed_angular_momentum`](crate::World::missed_angular_momentum)).
    pub angular_momentum: f64,
    /// The largest rise of an imbalance of energy, of particles, bodies or both, relative to the
    /// energy input; absent if nothing can have energy.
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
    /// Mass \[kg\].
    pub mass: Vec<f64>,
    /// Affine velocity field, rows of dv_i/dx_j \[1/s\].
    pub affine: Vec<[f32; 9]>,
    /// Index of the material; those of cloth follow the others, one per sheet.
    pub material: Vec<u32>,
}
