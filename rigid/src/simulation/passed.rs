//! Forces of the contacts and motors in the last step.

use nalgebra::Vector3;

use super::contact::ContactForce;
use super::stepper::Stepper;
use super::system::System;
use super::transmission::Part;
use crate::multibody::LinkId;

impl Stepper {
    /// The contacts of the last step and their forces.
    pub fn contact_forces(&self) -> impl Iterator<Item = ContactForce> + '_ {
        let pool = &self.problem.contacts;
        let solved = pool.impulses().iter().zip(pool.velocities());
        let contacts = self.candidates.iter().zip(&self.prepared).zip(solved);
        let moment = |c: usize| self.solver.moment(c).map_or_else(Vector3::zeros, |moment| moment / self.dt);
        let rebound = |c: usize| self.rebound(c) / self.dt;
        contacts.enumerate().map(move |(c, ((candidate, contact), (impulse, velocity)))| ContactForce {
            candidate: *candidate,
            force: contact.unweighted(&(Vector3::from(*impulse) / self.dt)) + rebound(c),
            moment: moment(c),
            velocity: (*velocity).into(),
        })
    }

    /// The contacts that rebounded at the beginning of the last step, with the force of the rebound
    /// alone.
    pub(super) fn rebounds(&self) -> impl Iterator<Item = ContactForce> + '_ {
        let struck =
            self.candidates.iter().zip(&self.impacts.impulses).zip(self.problem.contacts.velocities());
        struck.filter(|((_, impulse), _)| **impulse != Vector3::zeros()).map(
            |((candidate, impulse), velocity)| ContactForce {
                candidate: *candidate,
                force: impulse / self.dt,
                moment: Vector3::zeros(),
                velocity: (*velocity).into(),
            },
        )
    }

    /// Impulse of the last step's contacts on links outside trees \[N s\]; `first` is the stepper
    /// of the beginning in a trapezoid rule.
    pub(super) fn environment_impulse(&self, system: &System, first: Option<&Stepper>) -> [f64; 3] {
        let solved = |c: usize| Vector3::from(self.problem.contacts.impulses()[c]);
        let mut sum = self.sum_environment_impulse(system, |c| solved(c) + self.rebound(c));
        if let Some(first) = first {
            let given = |c: usize| self.trapezoid.contact_forces[c] * self.dt;
            sum += first.sum_environment_impulse(system, |c| given(c) + first.rebound(c));
        }
        sum.into()
    }

    /// Impulse of the rebound of a contact at the beginning of the last step \[N s\].
    pub(super) fn rebound(&self, contact: usize) -> Vector3<f64> {
        self.impacts.impulses.get(contact).copied().unwrap_or_else(Vector3::zeros)
    }

    /// Sum over impulses on the second bodies of the contacts.
    fn sum_environment_impulse(
        &self,
        system: &System,
        impulse: impl Fn(usize) -> Vector3<f64>,
    ) -> Vector3<f64> {
        let stands = |link: Option<LinkId>| link.is_none_or(|link| system.model.tree_of(link).is_none());
        let mut sum = Vector3::zeros();
        for (c, candidate) in self.candidates.iter().enumerate() {
            match (stands(candidate.first), stands(candidate.second)) {
                (true, false) => sum -= impulse(c),
                (false, true) => sum += impulse(c),
                _ => {}
            }
        }
        sum
    }

    /// Kinetic energy lost in rebounds at the beginning of the last step \[J\].
    pub fn lost_in_impacts(&self) -> f64 {
        self.impacts.lost
    }

    /// Adds the mean efforts of actuators and external systems over the last step \[N m, N\] to
    /// those along every degree of freedom.
    pub(super) fn add_drive_efforts(&self, system: &System, out: &mut [Option<f64>]) {
        let motors = system.actuators.iter().map(|actuator| actuator.velocity(&system.model));
        let pool = &self.problem.actuators;
        let others = pool.degrees_of_freedom().zip(pool.impulses()).skip(system.actuators.len());
        let others = others.map(|(n, impulse)| (n, impulse / self.dt));
        for (n, effort) in motors.zip(self.actuator_efforts(system)).chain(others) {
            out[n] = Some(out[n].unwrap_or(0.0) + effort);
        }
    }

    /// Of each drive the entry of the pool, its number, and its mean force along its transmission
    /// over the last step \[N, N m\].
    pub(super) fn drive_forces(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let solved = self.problem.transmissions.impulses();
        let entries = self.transmissions.parts().zip(solved).enumerate();
        entries.filter_map(|(entry, ((part, early), [solved]))| match part {
            Part::Drive(drive) => Some((entry, drive, (solved + early) / self.dt)),
            Part::Tendon(_) => None,
        })
    }

    /// Mean effort of each of the system's actuators over the last step \[N m, N\], in their order.
    pub fn actuator_efforts(&self, system: &System) -> impl Iterator<Item = f64> + '_ {
        let at_end = self.problem.actuators.impulses().iter().take(system.actuators.len());
        let at_start = &self.trapezoid.efforts;
        at_end.enumerate().map(|(i, impulse)| match at_start.get(i) {
            Some(start) => start + impulse / self.dt,
            None => impulse / self.dt,
        })
    }
}
