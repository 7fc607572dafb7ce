//! Results of the last step of a simulation.

use super::contact::{ContactForce, ContactSource};
use super::integrate::Simulation;
use super::reactions::Reactions;
use super::stepper::Stepper;
use crate::multibody::{ForceVector, Kinematics};

impl<S: ContactSource> Simulation<S> {
    /// The contacts of the last step and their forces.
    pub fn contact_forces(&self) -> impl Iterator<Item = ContactForce> + '_ {
        let before = self.corrector.is_some().then(|| self.stepper.rebounds());
        self.last().contact_forces().chain(before.into_iter().flatten())
    }

    /// Kinetic energy lost in impacts with restitution at the beginning of the last step \[J\].
    pub fn lost_in_impacts(&self) -> f64 {
        self.stepper.lost_in_impacts()
    }

    /// Mean effort of each actuator over the last step \[N m, N\].
    pub fn actuator_efforts(&self) -> impl Iterator<Item = f64> + '_ {
        self.last().actuator_efforts(&self.system)
    }

    /// Writes the mean effort of motors and controllers along every degree of freedom over the last
    /// step \[N m, N\]; none where none acts, and before the first step.
    pub fn drive_efforts(&self, out: &mut Vec<Option<f64>>) {
        out.clear();
        out.resize(self.system.model.velocities(), None);
        if self.stepped {
            self.last().add_drive_efforts(&self.system, out);
        }
    }

    /// Whether the last step is known: it is not before the first one and after
    /// [`restore`](Self::restore).
    pub fn has_step(&self) -> bool {
        self.stepped
    }

    /// The kinematics at which the contacts of the last step were found.
    pub fn contact_kinematics(&self) -> &Kinematics {
        self.last().kinematics()
    }

    /// Mean force of a drive along its transmission over the last step \[N, N m\]; none before the
    /// first step and after [`restore`](Self::restore).
    pub fn drive_force(&self, drive: usize) -> Option<f64> {
        let mut drives = self.last().drive_forces();
        let (_, _, force) = drives.find(|(_, number, _)| *number == drive && self.stepped)?;
        Some(force)
    }

    /// Mean effort of all motors and drives along a degree of freedom over the last step
    /// \[N m, N\]; none when [`drive_force`](Self::drive_force) is.
    pub fn motor_effort(&self, velocity: usize) -> Option<f64> {
        let (model, last) = (&self.system.model, self.last());
        let motors = self.system.actuators.iter().zip(last.actuator_efforts(&self.system));
        let motors = motors.filter(|(motor, _)| motor.velocity(model) == velocity).map(|(_, effort)| effort);
        let arm = |entry: usize| last.transmissions.arm(model, entry, velocity);
        let drives = last.drive_forces().map(|(entry, _, force)| arm(entry) * force);
        self.stepped.then(|| motors.sum::<f64>() + drives.sum::<f64>())
    }

    /// The stepper of the last step.
    fn last(&self) -> &Stepper {
        self.corrector.as_ref().unwrap_or(&self.stepper)
    }
}

impl<S> Simulation<S> {
    /// The force of each joint on its link in the last step (by step doubling: its second half),
    /// mean over the step: reaction and drive together, world axes, about the link's origin
    /// \[N m, N\]. A link's inertia, weight, contacts, constraints and applied force are included,
    /// and so are its descendants; the inertia of the joint's armature is not. A free joint has
    /// only the residual of the solver. Empty before the first step, after
    /// [`restore`](Self::restore), and after a change of a path or a mass. To be read before
    /// `System::applied` is changed for the next step.
    pub fn joint_reactions(&self) -> Vec<ForceVector> {
        let mut reactions = Reactions::default();
        self.find_reactions(&mut reactions);
        reactions.joints
    }

    /// The force of all contacts of each link in the last step, mean over it, world axes, about the
    /// link's origin \[N m, N\]; empty when [`joint_reactions`](Self::joint_reactions) are.
    pub fn contact_wrenches(&self) -> Vec<ForceVector> {
        let mut reactions = Reactions::default();
        self.find_reactions(&mut reactions);
        reactions.contacts
    }

    /// Impulses of contact on the bodies of [`measure_contacts`](Self::measure_contacts) over all
    /// steps of the last [`advance_to`](Self::advance_to), rebounds included: world axes, each about
    /// its body's origin at the beginning of each step (of a trapezoid rule at both ends)
    /// \[N m s, N s\]. Empty if they are not measured.
    pub fn contact_impulses(&self) -> &[ForceVector] {
        self.contact_sums.kept()
    }

    /// Finds [`joint_reactions`](Self::joint_reactions) and
    /// [`contact_wrenches`](Self::contact_wrenches) in a caller's buffers, which are not allocated
    /// again.
    pub fn find_reactions(&self, out: &mut Reactions) {
        if !self.stepped {
            out.joints.clear();
            out.contacts.clear();
            return;
        }
        let (first, last) = match &self.corrector {
            Some(corrector) => (Some(&self.stepper), corrector),
            None => (None, &self.stepper),
        };
        out.update(&self.system, first, last, (self.step_begin(), Some(&self.state)));
    }
}
