//! The energy balance of a world: energy stored, energy input, dissipation by constitutive and
//! contact models, and the imbalance that none of them explains.
//!
//! Every term is measured directly; none is computed as a remainder. What remains is the imbalance,
//! with its sign:
//!
//! ```text
//! I = E(t) - E(0) - work + dissipated
//! ```
//!
//! A positive imbalance is energy that the scheme created, a negative one energy that it lost.
//! Particles, bodies and their exchange have an imbalance each: the work of bodies on particles is
//! measured at the velocities that contact uses, the work of particles on bodies at the velocities
//! of the bodies' own steps. The world's is the sum of the three, so that work between the two
//! cancels.
//!
//! A gain is compared with the energy input of its own domain: particles, bodies, both with their
//! exchange, and particles with the exchange. The worst is reported. That of particles with the
//! exchange is said to be the particles' own where they made most of it.
//!
//! A contact model that only dissipates cannot add energy: if its losses over the run are negative,
//! that energy was created by the scheme, and counts as imbalance.

use pliant_mpm::Totals;
use pliant_rigid::simulation::{EnergyFlows, MechanicalEnergy};
use serde::{Deserialize, Serialize};

use crate::motion::BetweenWays;
use crate::report::{BodyEnergy, EnergyBalance, EnergyDomain, EnergyGain, ParticleEnergy, ParticleFlows};

/// Speed \[m/s\] that gives the reference energy of all masses: smaller gains are not reported,
/// because a scene at rest has no energy input.
const SLOW: f64 = 0.1;

/// The energies at one time from which a balance is computed \[J\].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EnergyNow {
    /// Of the particles.
    pub particles: Option<Totals>,
    /// Their potential energy: that of gravity, and of gas in closed cloths.
    pub potential: f64,
    /// Of the dynamic bodies, and their mass \[kg\]; none without them.
    pub bodies: Option<(MechanicalEnergy, f64)>,
}

/// Energy input of a domain, and the history of its imbalance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct DomainTracker {
    /// Work over the intervals in which it was positive.
    worked: f64,
    /// All work at the last update.
    work: f64,
    /// Largest potential energy, of gravity and of gas in cloths, released since the start.
    released: f64,
    lowest: f64,
    gain: f64,
}

impl DomainTracker {
    /// Takes all work and `released` potential energy so far, and the imbalance or, where losses
    /// are unknown, its lower bound.
    fn update(&mut self, work: f64, released: f64, imbalance: f64) {
        self.worked += (work - self.work).max(0.0);
        self.work = work;
        self.released = self.released.max(released);
        self.lowest = self.lowest.min(imbalance);
        self.gain = self.gain.max(imbalance - self.lowest);
    }

    fn gain(&self, domain: EnergyDomain, at_start: f64, mass: f64) -> EnergyGain {
        let energy_input = at_start + self.worked + self.released;
        EnergyGain { domain, gained: self.gain, energy_input, reference_energy: 0.5 * mass * SLOW * SLOW }
    }
}

/// The balance since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EnergyBalanceTracker {
    /// Energies of the particles at the start: of motion and strain, and potential energy.
    particles: [f64; 2],
    bodies: MechanicalEnergy,
    of_particles: ParticleFlows,
    of_bodies: EnergyFlows,
    /// Energies between the ways of bodies now.
    between: BetweenWays,
    /// In the order of [`gain`](Self::gain).
    domains: [DomainTracker; 4],
}

/// Kinetic energy of particles at the time of their positions.
fn kinetic(totals: &Totals) -> f64 {
    totals.kinetic_energy + totals.kinetic_lag
}

/// Energy of motion and strain at the time of the positions. That of gas is a potential like that
/// of gravity: what it releases is an input, and its zero has no meaning.
pub(crate) fn of_motion_and_strain(totals: &Totals) -> f64 {
    kinetic(totals) + totals.elastic_energy - totals.gas_energy
}

/// The negative part of losses that cannot be negative: energy that the scheme created.
fn created_energy(losses: &[f64]) -> f64 {
    losses.iter().map(|loss| (-loss).max(0.0)).sum()
}

fn body_losses(flows: &EnergyFlows) -> [f64; 6] {
    [
        flows.lost_in_contact(),
        flows.contact_friction,
        flows.joint_damping,
        flows.joint_friction,
        flows.joint_limits,
        flows.constraints,
    ]
}

/// Work on the bodies from outside the world, without that of particles.
fn outer_work(flows: &EnergyFlows) -> f64 {
    flows.motors + flows.controllers + flows.prescribed + flows.loads
}

impl EnergyBalanceTracker {
    pub(crate) fn begin(now: &EnergyNow) -> Self {
        let particles = now.particles.map_or([0.0; 2], |t| [of_motion_and_strain(&t), now.potential]);
        let bodies = now.bodies.map_or_else(MechanicalEnergy::default, |(energy, _)| energy);
        Self { particles, bodies, ..Self::default() }
    }

    /// Counts that the energy of motion and strain of particles, and their potential energy, were
    /// changed from outside: what is stored is then that of a start with the difference, and energy
    /// that is taken away was an input nevertheless.
    pub(crate) fn set_particles(&mut self, moving: f64, potential: f64) {
        self.particles[0] += moving;
        self.particles[1] += potential;
        for domain in [0, 2, 3] {
            self.domains[domain].worked += (-moving).max(0.0);
        }
    }

    pub(crate) fn particles(&mut self, flows: &ParticleFlows) {
        self.of_particles.add(flows);
    }

    pub(crate) fn bodies(&mut self, flows: &EnergyFlows) {
        self.of_bodies.add(flows);
    }

    pub(crate) fn set_between(&mut self, between: BetweenWays) {
        self.between = between;
    }

    /// The balance at the present energies; updates the record of gains. To be called once per
    /// step.
    pub(crate) fn update(&mut self, now: &EnergyNow) -> EnergyBalance {
        let balance = self.balance(now);
        let (p, b) = (&self.of_particles, &self.of_bodies);
        let mut all = [0.0; 3];
        if let Some(particles) = &balance.particles {
            let work = p.bodies + p.pins;
            let released = self.particles[1] - now.potential;
            self.domains[0].update(work, released, particles.least_imbalance);
            all = [p.prescribed.unwrap_or(0.0) + p.pins, released, particles.least_imbalance];
        }
        if let Some(bodies) = &balance.bodies {
            let released = self.bodies.gravitational - bodies.stored.gravitational;
            self.domains[1].update(outer_work(b) + b.exchanged, released, bodies.imbalance);
            all = [all[0] + outer_work(b), all[1] + released, all[2] + bodies.imbalance];
        }
        // The exchange is not measured on a device; the gain is then that of each domain.
        if let Some(exchange) = balance.exchange {
            self.domains[3].update(all[0], all[1], all[2] + exchange);
            // Energy that bodies and particles create between them is compared with what reached
            // the particles: beside the work of motors that lift heavy robots it would not be seen.
            if let (Some(particles), Some(_)) = (&balance.particles, &balance.bodies) {
                let (work, released) = (p.bodies + p.pins, self.particles[1] - now.potential);
                self.domains[2].update(work, released, particles.least_imbalance + exchange);
            }
        }
        EnergyBalance { gain: self.gain(now), ..balance }
    }

    fn gain(&self, now: &EnergyNow) -> Option<EnergyGain> {
        let contact = self.of_bodies.contact_before.unwrap_or(0.0);
        let masses = [now.particles.map_or(0.0, |t| t.mass), now.bodies.map_or(0.0, |(_, mass)| mass)];
        let starts = [self.particles[0], self.bodies.kinetic + self.bodies.springs + contact];
        let (soft, rigid) = (now.particles.is_some(), now.bodies.is_some());
        let gains = [
            (EnergyDomain::Particles, soft, starts[0], masses[0]),
            (EnergyDomain::Bodies, rigid, starts[1], masses[1]),
            (EnergyDomain::Exchange, soft && rigid, starts[0], masses[0]),
            (EnergyDomain::World, soft && rigid, starts[0] + starts[1], masses[0] + masses[1]),
        ];
        let gains = self.domains.iter().zip(gains).filter(|(_, (_, is_there, ..))| *is_there);
        let gains = gains.map(|(tracker, (domain, _, start, mass))| tracker.gain(domain, start, mass));
        let worst = gains.max_by(|a, b| a.relative().total_cmp(&b.relative()))?;
        let is_of_particles = 2.0 * self.domains[0].gain > worst.gained;
        Some(match worst.domain {
            EnergyDomain::Exchange if is_of_particles => {
                EnergyGain { domain: EnergyDomain::Particles, ..worst }
            }
            _ => worst,
        })
    }

    /// The balance at the present energies, with the gains as [`update`](Self::update) would find them.
    pub(crate) fn present(&self, now: &EnergyNow) -> EnergyBalance {
        Self::update(&mut self.clone(), now)
    }

    /// The balance at the present energies, with the gains of the last update.
    fn balance(&self, now: &EnergyNow) -> EnergyBalance {
        let particles = now.particles.map(|totals| self.balance_of_particles(&totals, now.potential));
        let bodies = now.bodies.map(|(energy, _)| self.balance_of_bodies(&energy));
        let exchange = match (&particles, &bodies) {
            (Some(particles), Some(bodies)) => {
                particles.flows.dynamic.map(|work| work + bodies.flows.exchanged - self.between.own)
            }
            _ => Some(0.0),
        };
        let of_particles = particles.as_ref().map_or(Some(0.0), |p| p.imbalance);
        let of_bodies = bodies.as_ref().map_or(0.0, |b| b.imbalance);
        let imbalance = of_particles.zip(exchange).map(|(p, x)| p + of_bodies + x);
        EnergyBalance { particles, bodies, exchange, imbalance, gain: self.gain(now) }
    }

    fn balance_of_particles(&self, totals: &Totals, potential: f64) -> ParticleEnergy {
        let flows = self.of_particles;
        let [start, start_potential] = self.particles;
        let change = of_motion_and_strain(totals) - start + (potential - start_potential);
        let made = change - flows.bodies - flows.pins + self.between.pose;
        let losses =
            [flows.boundaries, flows.contact_normal, flows.contact_friction, flows.plastic, flows.damping];
        // Unknown losses are at least zero.
        let least_imbalance = made + losses.iter().flatten().map(|loss| loss.max(0.0)).sum::<f64>();
        let imbalance = losses.iter().all(Option::is_some).then_some(least_imbalance);
        ParticleEnergy {
            kinetic: kinetic(totals),
            elastic: totals.elastic_energy,
            gravitational: potential - totals.gas_energy,
            flows,
            imbalance,
            least_imbalance,
        }
    }

    fn balance_of_bodies(&self, energy: &MechanicalEnergy) -> BodyEnergy {
        let (flows, start) = (self.of_bodies, &self.bodies);
        let mechanical = |e: &MechanicalEnergy| e.kinetic + e.gravitational + e.springs;
        let contact = flows.contact_after.zip(flows.contact_before).map_or(0.0, |(now, start)| now - start);
        let losses = body_losses(&flows);
        let change = mechanical(energy) - mechanical(start) + contact - flows.potential_offset;
        let imbalance = change - outer_work(&flows) - flows.exchanged
            + losses.iter().sum::<f64>()
            + created_energy(&losses);
        BodyEnergy { stored: *energy, flows, imbalance }
    }
}
