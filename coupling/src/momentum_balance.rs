//! Energy and momentum balance of the particles: impulses and work on them, and the totals that
//! follow.

use nalgebra::Vector3;
use pliant_mpm::{Dissipated, GridMotionSums, Impulse, PinImpulse, Totals};
use pliant_rigid::Bodies;
use pliant_rigid::simulation::{EnergyFlows, MechanicalEnergy};
use serde::{Deserialize, Serialize};

use crate::energy::{EnergyBalanceTracker, EnergyNow, of_motion_and_strain};
use crate::exchange::ExchangeTotals;
use crate::motion::BetweenWays;
use crate::report::{Balance, Diagnostics, EnergyBalance, ParticleFlows};

/// Impulses and work on the particles since the start, world frame, about the world's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BalanceTracker {
    gravity: Vector3<f64>,
    mass: f64,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    energy: f64,
    linear_magnitude: f64,
    angular_magnitude: f64,
    /// What bodies did not get of the angular momentum that particles gave them.
    missed: Vector3<f64>,
    /// Work of bodies and boundaries; gravity has a potential.
    work: f64,
    mass_error: f64,
    flows: EnergyBalanceTracker,
}

/// Energies and mass \[kg\] of the dynamic bodies; none without them.
pub(crate) type MovingBodies = Option<(MechanicalEnergy, f64)>;

/// Those of a world after its last step.
pub(crate) fn dynamic_body_energy(bodies: &Bodies) -> MovingBodies {
    let model = &bodies.simulation().system().model;
    let links = model.trees().iter().flat_map(|tree| &tree.links);
    let mass = links.map(|link| model.links()[link.0].inertia.mass).sum::<f64>();
    (model.velocities() > 0).then(|| (bodies.energy(), mass))
}

fn energies(totals: &Totals, gravity: &Vector3<f64>, bodies: MovingBodies) -> EnergyNow {
    let potential = totals.gas_energy - gravity.dot(&totals.first_moment);
    EnergyNow { particles: (totals.mass > 0.0).then_some(*totals), potential, bodies }
}

impl BalanceTracker {
    pub(crate) fn begin(totals: &Totals, gravity: Vector3<f64>, bodies: MovingBodies) -> Self {
        let now = energies(totals, &gravity, bodies);
        let energy = of_motion_and_strain(totals) + now.potential;
        Self {
            gravity,
            mass: totals.mass,
            linear: totals.linear_momentum,
            angular: totals.angular_momentum,
            energy,
            linear_magnitude: totals.linear_momentum.norm(),
            angular_magnitude: totals.angular_momentum.norm(),
            missed: Vector3::zeros(),
            work: 0.0,
            mass_error: 0.0,
            flows: EnergyBalanceTracker::begin(&now),
        }
    }

    pub(crate) fn free_motion(&mut self, free: &GridMotionSums) {
        // The planes are static: their work is a loss.
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

    pub(crate) fn contact(&mut self, exchanged: &ExchangeTotals) {
        self.linear += exchanged.linear;
        self.angular += exchanged.angular;
        self.linear_magnitude += exchanged.linear.norm();
        self.angular_magnitude += exchanged.angular.norm();
        self.work += exchanged.work;
        self.flows.particles(&exchanged.flows);
    }

    /// Adds angular momentum that bodies did not get though particles gave it.
    pub(crate) fn missed_by_bodies(&mut self, angular: &Vector3<f64>) {
        self.missed += angular;
    }

    /// What bodies did not get of the angular momentum that particles gave them.
    pub(crate) fn missed(&self) -> Vector3<f64> {
        self.missed
    }

    /// Counts a change of the particles from outside as impulse and work.
    pub(crate) fn set_particles(&mut self, before: &Totals, after: &Totals) {
        let linear = after.linear_momentum - before.linear_momentum;
        let angular = after.angular_momentum - before.angular_momentum;
        let moving = of_motion_and_strain(after) - of_motion_and_strain(before);
        let potential = after.gas_energy
            - before.gas_energy
            - self.gravity.dot(&(after.first_moment - before.first_moment));
        self.linear += linear;
        self.angular += angular;
        self.linear_magnitude += linear.norm();
        self.angular_magnitude += angular.norm();
        self.work += moving + potential;
        self.flows.set_particles(moving, potential);
    }

    /// Velocity of the particles' centre of mass that follows from the impulses, world frame
    /// \[m/s\].
    pub(crate) fn mean_velocity(&self) -> Vector3<f64> {
        if self.mass > 0.0 { self.linear / self.mass } else { Vector3::zeros() }
    }

    /// Adds the impulse of mass-proportional damping; its work is a loss of energy.
    pub(crate) fn drag(&mut self, impulse: &Impulse) {
        self.linear += impulse.linear;
        self.angular += impulse.angular;
        self.linear_magnitude += impulse.linear.norm();
        self.angular_magnitude += impulse.angular.norm();
    }

    /// Adds the energy that the particles' materials dissipated in a substep.
    pub(crate) fn dissipated(&mut self, dissipated: &Dissipated) {
        let (plastic, damping) = (dissipated.plastic, Some(dissipated.damping));
        self.flows.particles(&ParticleFlows { plastic, damping, ..ParticleFlows::default() });
    }

    /// Adds work and losses of the bodies' own step.
    pub(crate) fn bodies(&mut self, flows: &EnergyFlows) {
        self.flows.bodies(flows);
    }

    /// Takes the energies between the ways of bodies.
    pub(crate) fn set_between(&mut self, between: BetweenWays) {
        self.flows.set_between(between);
    }

    /// Totals as diagnostics; updates the record of energy gains.
    pub(crate) fn diagnostics(&mut self, totals: &Totals, bodies: MovingBodies, time: f64) -> Diagnostics {
        let now = energies(totals, &self.gravity, bodies);
        let energy = of_motion_and_strain(totals) + now.potential;
        Diagnostics {
            time,
            mass: totals.mass,
            center_of_mass: totals.first_moment / totals.mass,
            linear_momentum: totals.linear_momentum,
            angular_momentum: totals.angular_momentum,
            kinetic_energy: totals.kinetic_energy,
            kinetic_lag: totals.kinetic_lag,
            elastic_energy: totals.elastic_energy,
            gravitational_energy: now.potential - totals.gas_energy,
            dissipation: self.energy + self.work - energy,
            energy: self.flows.update(&now),
        }
    }

    /// The balance of energy.
    pub(crate) fn energy(&self, totals: &Totals, bodies: MovingBodies) -> EnergyBalance {
        self.flows.present(&energies(totals, &self.gravity, bodies))
    }

    pub(crate) fn balance(&self, totals: &Totals, bodies: MovingBodies) -> Balance {
        let relative = |error: f64, scale: f64| if error > 0.0 { error / scale } else { 0.0 };
        // About a world origin in the middle of a symmetric scene, angular impulses are sums that
        // cancel: their scale is then that of the linear ones times their levers.
        let lever = totals.first_moment.norm() / totals.mass;
        let angular_scale = self.angular_magnitude.max(self.linear_magnitude * lever);
        let measured = |error: f64| if totals.mass > 0.0 { error } else { f64::NAN };
        let linear = totals.linear_momentum - self.linear;
        // Both errors are of the momentum of particles and bodies together.
        let angular = totals.angular_momentum - self.angular - self.missed;
        let energy = self.energy(totals, bodies);
        Balance {
            mass: measured(relative(self.mass_error, self.mass)),
            linear_momentum: measured(relative(linear.norm(), self.linear_magnitude)),
            angular_momentum: measured(relative(angular.norm(), angular_scale)),
            energy: energy.gain.map(|gain| gain.relative()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::EnergyDomain;
    use pliant_mpm::Impulse;

    fn totals(linear: Vector3<f64>, angular: Vector3<f64>, kinetic_energy: f64) -> Totals {
        Totals {
            mass: 2.0,
            first_moment: Vector3::new(2.0, 0.0, 0.0),
            linear_momentum: linear,
            angular_momentum: angular,
            kinetic_energy,
            ..Totals::default()
        }
    }

    // Checks: a balance is what the totals and the sum of start and impulses differ by, over the
    // sum of the magnitudes. Here the mass on the grid, the momenta and the energy are wrong by
    // known amounts.
    #[test]
    fn an_error_of_the_totals_is_reported() {
        let start = totals(Vector3::x() * 3.0, Vector3::z() * 5.0, 4.0);
        let mut balance_tracker = BalanceTracker::begin(&start, Vector3::zeros(), None);
        let impulse = Impulse { linear: Vector3::x(), angular: Vector3::z() * 3.0 };
        let free = GridMotionSums {
            mass: 2.2,
            gravity: impulse,
            boundary_work: Some(0.0),
            ..GridMotionSums::default()
        };
        balance_tracker.free_motion(&free);
        let exchanged = ExchangeTotals {
            linear: Vector3::y() * 4.0,
            angular: Vector3::x() * 2.0,
            work: 6.0,
            flows: ParticleFlows { bodies: 6.0, ..ParticleFlows::default() },
            ..ExchangeTotals::default()
        };
        balance_tracker.contact(&exchanged);
        // Expected are (4, 4, 0) N s, (2, 0, 8) N m s and 10 J.
        let linear = Vector3::new(4.0, 4.0, 0.0) + Vector3::new(0.0, 0.0, 0.8);
        let end = totals(linear, Vector3::new(2.0, 0.0, 8.0) + Vector3::y() * 0.5, 11.0);
        let told = balance_tracker.diagnostics(&end, None, 0.0);
        let balance = balance_tracker.balance(&end, None);
        assert!((balance.mass - 0.1).abs() < 1e-12, "{balance:?}");
        assert!((balance.linear_momentum - 0.8 / 8.0).abs() < 1e-12, "{balance:?}");
        assert!((balance.angular_momentum - 0.5 / 10.0).abs() < 1e-12, "{balance:?}");
        // 1 J created by the scheme; the energy input is 4 J and the work of 6 J.
        assert!((told.energy.imbalance.unwrap() - 1.0).abs() < 1e-12, "{told:?}");
        assert!((balance.energy.unwrap() - 0.1).abs() < 1e-12, "{balance:?}");
    }

    // Checks: without particles their balances are absent, and without anything that moves the
    // energy balance is.
    #[test]
    fn what_is_not_there_has_no_figures() {
        let mut balance_tracker = BalanceTracker::begin(&Totals::default(), Vector3::zeros(), None);
        let told = balance_tracker.diagnostics(&Totals::default(), None, 0.0);
        let balance = balance_tracker.balance(&Totals::default(), None);
        assert!(
            balance.mass.is_nan() && balance.linear_momentum.is_nan() && balance.angular_momentum.is_nan()
        );
        assert!(balance.energy.is_none() && told.energy.particles.is_none() && told.energy.bodies.is_none());
    }

    // Checks: 1 J that bodies and particles create between them is a half of the 2 J that reached
    // the particles, though motors did 100 J of work on the bodies.
    #[test]
    fn what_the_exchange_creates_is_compared_with_what_reached_the_particles() {
        let start = totals(Vector3::zeros(), Vector3::zeros(), 0.0);
        let at_rest = MechanicalEnergy::default();
        let moving = |kinetic| Some((MechanicalEnergy { kinetic, ..at_rest }, 1.0));
        let mut balance_tracker = BalanceTracker::begin(&start, Vector3::zeros(), moving(0.0));
        let flows = ParticleFlows { bodies: 2.0, dynamic: Some(2.0), ..ParticleFlows::default() };
        balance_tracker.contact(&ExchangeTotals { flows, ..ExchangeTotals::default() });
        balance_tracker.bodies(&EnergyFlows { motors: 100.0, exchanged: -1.0, ..EnergyFlows::default() });
        let end = totals(Vector3::zeros(), Vector3::zeros(), 2.0);
        let gain = balance_tracker.diagnostics(&end, moving(99.0), 0.0).energy.gain.unwrap();
        assert_eq!((gain.domain, gain.gained, gain.energy_input), (EnergyDomain::Exchange, 1.0, 2.0));
    }

    // Checks: the same 1 J is told as the particles' own where they made it. They have 1 J more than bodies
    // gave them; with 0.4 J of the exchange 1.4 J is the worst, most of it theirs.
    #[test]
    fn what_particles_create_is_not_told_as_the_exchange() {
        let start = totals(Vector3::zeros(), Vector3::zeros(), 0.0);
        let at_rest = MechanicalEnergy::default();
        let moving = |kinetic| Some((MechanicalEnergy { kinetic, ..at_rest }, 1.0));
        for (exchanged, gained) in [(-2.0, 1.0), (-1.6, 1.4)] {
            let mut balance_tracker = BalanceTracker::begin(&start, Vector3::zeros(), moving(0.0));
            let flows = ParticleFlows { bodies: 2.0, dynamic: Some(2.0), ..ParticleFlows::default() };
            balance_tracker.contact(&ExchangeTotals { flows, ..ExchangeTotals::default() });
            balance_tracker.bodies(&EnergyFlows { motors: 100.0, exchanged, ..EnergyFlows::default() });
            let end = totals(Vector3::zeros(), Vector3::zeros(), 3.0);
            let gain = balance_tracker.diagnostics(&end, moving(100.0 + exchanged), 0.0).energy.gain.unwrap();
            assert_eq!((gain.domain, gain.energy_input), (EnergyDomain::Particles, 2.0));
            assert!((gain.gained - gained).abs() < 1e-12, "{gain:?}");
        }
    }

    // Checks: a gain is told by whoever asks for the energy alone, without diagnostics before, and asking
    // changes nothing.
    #[test]
    fn a_gain_needs_no_diagnostics() {
        let start = totals(Vector3::zeros(), Vector3::zeros(), 10.0);
        let balance_tracker = BalanceTracker::begin(&start, Vector3::zeros(), None);
        let end = totals(Vector3::zeros(), Vector3::zeros(), 13.0);
        for _ in 0..2 {
            let gain = balance_tracker.energy(&end, None).gain.unwrap();
            assert_eq!((gain.gained, gain.energy_input), (3.0, 10.0));
        }
        assert!((balance_tracker.balance(&end, None).energy.unwrap() - 0.3).abs() < 1e-12);
    }

    // Checks: energy that is created after some was lost is reported as the rise of the imbalance,
    // not as the net sum; and a contact model that only dissipates cannot add energy.
    #[test]
    fn a_gain_is_told_from_the_lowest_to_the_highest() {
        let start = totals(Vector3::zeros(), Vector3::zeros(), 10.0);
        let mut balance_tracker = BalanceTracker::begin(&start, Vector3::zeros(), None);
        let mut at = |kinetic: f64, lost: f64| {
            let flows = ParticleFlows { contact_normal: Some(lost), ..ParticleFlows::default() };
            balance_tracker.contact(&ExchangeTotals { flows, ..ExchangeTotals::default() });
            balance_tracker
                .diagnostics(&totals(Vector3::zeros(), Vector3::zeros(), kinetic), None, 0.0)
                .energy
        };
        at(4.0, 0.0);
        let risen = at(7.0, 0.0);
        assert_eq!((risen.imbalance, risen.gain.unwrap().gained), (Some(-3.0), 3.0));
        // Contact takes 1 J, which explains 1 J of the loss; later it adds 5 J, four of them
        // created by the scheme.
        assert_eq!(at(6.0, 1.0).imbalance, Some(-3.0));
        assert_eq!(at(11.0, -5.0).imbalance, Some(1.0));
    }
}
