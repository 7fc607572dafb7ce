//! The books of a world: what impulses and work the particles got, and what they should have by now.

use nalgebra::Vector3;
use pliant_mpm::{FreeMotion, PinImpulse, Totals};
use serde::{Deserialize, Serialize};

use crate::exchange::Exchanged;
use crate::report::{Balance, Diagnostics};

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
    work_magnitude: f64,
    mass_error: f64,
    created_energy: f64,
    largest_energy: f64,
}

fn potential(totals: &Totals, gravity: &Vector3<f64>) -> f64 {
    -gravity.dot(&totals.first_moment)
}

impl Account {
    pub(crate) fn open(totals: &Totals, gravity: Vector3<f64>) -> Self {
        let energy = totals.kinetic_energy + totals.elastic_energy + potential(totals, &gravity);
        Self {
            gravity,
            mass: totals.mass,
            linear: totals.linear_momentum,
            angular: totals.angular_momentum,
            energy,
            linear_magnitude: totals.linear_momentum.norm(),
            angular_magnitude: totals.angular_momentum.norm(),
            work: 0.0,
            work_magnitude: 0.0,
            mass_error: 0.0,
            created_energy: 0.0,
            largest_energy: totals.kinetic_energy + totals.elastic_energy,
        }
    }

    pub(crate) fn free_motion(&mut self, free: &FreeMotion) {
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
        self.work_magnitude += pins.work.abs();
    }

    pub(crate) fn contact(&mut self, exchanged: &Exchanged) {
        self.linear += exchanged.linear;
        self.angular += exchanged.angular;
        self.linear_magnitude += exchanged.linear.norm();
        self.angular_magnitude += exchanged.angular.norm();
        self.work += exchanged.work;
        self.work_magnitude += exchanged.work.abs();
    }

    /// Velocity of the particles' centre of mass by now, as the impulses have it, world frame [m/s].
    pub(crate) fn mean_velocity(&self) -> Vector3<f64> {
        if self.mass > 0.0 { self.linear / self.mass } else { Vector3::zeros() }
    }

    /// Totals as diagnostics; notes energy that appeared from nowhere.
    pub(crate) fn diagnose(&mut self, totals: &Totals, time: f64) -> Diagnostics {
        let gravitational_energy = potential(totals, &self.gravity);
        let energy = totals.kinetic_energy + totals.elastic_energy + gravitational_energy;
        let dissipation = self.energy + self.work - energy;
        self.created_energy = self.created_energy.max(-dissipation);
        self.largest_energy = self
            .largest_energy
            .max(totals.kinetic_energy + totals.elastic_energy)
            .max((gravitational_energy + totals.kinetic_energy + totals.elastic_energy - self.energy).abs());
        Diagnostics {
            time,
            mass: totals.mass,
            center_of_mass: totals.first_moment / totals.mass,
            linear_momentum: totals.linear_momentum,
            angular_momentum: totals.angular_momentum,
            kinetic_energy: totals.kinetic_energy,
            elastic_energy: totals.elastic_energy,
            gravitational_energy,
            dissipation,
        }
    }

    pub(crate) fn balance(&self, totals: &Totals) -> Balance {
        let relative = |error: f64, scale: f64| if error > 0.0 { error / scale } else { 0.0 };
        let energy_scale = self.largest_energy.max(self.work_magnitude);
        // About a world origin in the middle of a symmetric scene, angular impulses are sums that cancel: what has been summed is
        // then told by the linear ones and their levers.
        let lever = totals.first_moment.norm() / totals.mass;
        let angular_scale = self.angular_magnitude.max(self.linear_magnitude * lever);
        Balance {
            mass: relative(self.mass_error, self.mass),
            linear_momentum: relative((totals.linear_momentum - self.linear).norm(), self.linear_magnitude),
            angular_momentum: relative((totals.angular_momentum - self.angular).norm(), angular_scale),
            energy: relative(self.created_energy, energy_scale),
        }
    }
}
