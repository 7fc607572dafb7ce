//! The books of a world: what impulses and work the particles got, and what they should have by now.

use nalgebra::Vector3;
use pliant_mpm::{Dissipated, FreeMotion, PinImpulse, Totals};
use pliant_rigid::Bodies;
use pliant_rigid::simulation::{EnergyFlows, MechanicalEnergy};
use serde::{Deserialize, Serialize};

use crate::energy::{EnergyAccount, EnergyNow};
use crate::exchange::Exchanged;
use crate::report::{Balance, Diagnostics, EnergyBalance, ParticleFlows};

/// Impulses and work on the particles since the start, world frame, about the world's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Account {
    gravity: Vector3<f64>,
    mass: f64,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    energy: f64,
    linear_magnitude: f64,
    angular_magnitude: f64,
    /// Work of bodies and boundaries; gravity has a potential.
    work: f64,
    mass_error: f64,
    flows: EnergyAccount,
}

/// Mass \[kg\] and energies of the bodies that move by their dynamics; none where there are none.
pub(crate) type MovingBodies = Option<(MechanicalEnergy, f64)>;

/// Those of a world, as their last step left them.
pub(crate) fn moving_bodies(bodies: &Bodies) -> MovingBodies {
    let model = &bodies.simulation().system().model;
    let links = model.trees().iter().flat_map(|tree| &tree.links);
    let mass = links.map(|link| model.links()[link.0].inertia.mass).sum::<f64>();
    (model.velocities() > 0).then(|| (bodies.energy(), mass))
}

fn energies(totals: &Totals, gravity: &Vector3<f64>, bodies: MovingBodies) -> EnergyNow {
    let weight = -gravity.dot(&totals.first_moment);
    EnergyNow { particles: (totals.mass > 0.0).then_some(*totals), weight, bodies }
}

impl Account {
    pub(crate) fn open(totals: &Totals, gravity: Vector3<f64>, bodies: MovingBodies) -> Self {
        let now = energies(totals, &gravity, bodies);
        let energy = totals.kinetic_energy + totals.elastic_energy + now.weight;
        Self {
            gravity,
            mass: totals.mass,
            linear: totals.linear_momentum,
            angular: totals.angular_momentum,
            energy,
            linear_magnitude: totals.linear_momentum.norm(),
            angular_magnitude: totals.angular_momentum.norm(),
            work: 0.0,
            mass_error: 0.0,
            flows: EnergyAccount::open(&now),
        }
    }

    pub(crate) fn free_motion(&mut self, free: &FreeMotion) {
        // The planes stand still: their work is a loss.
        let boundaries = free.boundary_work.map(|work| -work);
        self.flows.particles(&ParticleFlows { boundaries, ..ParticleFlows::default() });
        self.mass_error = self.mass_error.max((free.mass - self.mass).abs());
        for impulse in [&free.gravity, &free.boundary] {
            self.linear += impulse.linear;
            self.angular += impulse.angular;
            self.linear_magnitude += impulse.linear.norm();
            self.angular_magnitude += impulse.angular.norm();
        }
    }

    pub(crate) fn pins(&mut self, pins: &PinImpulse) {
        self.linear += pins.impulse.linear;
        self.angular += pins.impulse.angular;
        self.linear_magnitude += pins.impulse.linear.norm();
        self.angular_magnitude += pins.impulse.angular.norm();
        self.work += pins.work;
        self.flows.particles(&ParticleFlows { pins: pins.work, ..ParticleFlows::default() });
    }

    pub(crate) fn contact(&mut self, exchanged: &Exchanged) {
        self.linear += exchanged.linear;
        self.angular += exchanged.angular;
        self.linear_magnitude += exchanged.linear.norm();
        self.angular_magnitude += exchanged.angular.norm();
        self.work += exchanged.work;
        self.flows.particles(&exchanged.flows);
    }

    /// What the particles' materials took in a substep.
    pub(crate) fn dissipated(&mut self, dissipated: &Dissipated) {
        let (plastic, damping) = (Some(dissipated.plastic), Some(dissipated.damping));
        self.flows.particles(&ParticleFlows { plastic, damping, ..ParticleFlows::default() });
    }

    /// What the bodies' own step did.
    pub(crate) fn bodies(&mut self, flows: &EnergyFlows) {
        self.flows.bodies(flows);
    }

    /// Totals as diagnostics; keeps what later gains of energy are told from.
    pub(crate) fn diagnose(&mut self, totals: &Totals, bodies: MovingBodies, time: f64) -> Diagnostics {
        let now = energies(totals, &self.gravity, bodies);
        let energy = totals.kinetic_energy + totals.elastic_energy + now.weight;
        Diagnostics {
            time,
            mass: totals.mass,
            center_of_mass: totals.first_moment / totals.mass,
            linear_momentum: totals.linear_momentum,
            angular_momentum: totals.angular_momentum,
            kinetic_energy: totals.kinetic_energy,
            elastic_energy: totals.elastic_energy,
            gravitational_energy: now.weight,
            dissipation: self.energy + self.work - energy,
            energy: self.flows.look(&now),
        }
    }

    /// The balance of energy.
    pub(crate) fn energy(&self, totals: &Totals, bodies: MovingBodies) -> EnergyBalance {
        self.flows.balance(&energies(totals, &self.gravity, bodies))
    }

    pub(crate) fn balance(&self, totals: &Totals, bodies: MovingBodies) -> Balance {
        let relative = |error: f64, scale: f64| if error > 0.0 { error / scale } else { 0.0 };
        // About a world origin in the middle of a symmetric scene, angular impulses are sums that cancel: what has been summed is
        // then told by the linear ones and their levers.
        let lever = totals.first_moment.norm() / totals.mass;
        let angular_scale = self.angular_magnitude.max(self.linear_magnitude * lever);
        let measured = |error: f64| if totals.mass > 0.0 { error } else { f64::NAN };
        let (linear, angular) =
            (totals.linear_momentum - self.linear, totals.angular_momentum - self.angular);
        let energy = self.energy(totals, bodies);
        Balance {
            mass: measured(relative(self.mass_error, self.mass)),
            linear_momentum: measured(relative(linear.norm(), self.linear_magnitude)),
            angular_momentum: measured(relative(angular.norm(), angular_scale)),
            energy: energy.gain.map(|gain| gain.relative()),
        }
    }
}
