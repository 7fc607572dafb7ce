//! Inputs of a robot's motors: controls, targets, efforts and gains.

use crate::bodies::Bodies;
use crate::robot::{Parts, RobotError, RobotHandle, find};
use crate::simulation::{Control, System};

/// Input of a joint's motor; m and N replace rad and N m for a prismatic joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointTarget {
    /// Effort of a torque motor \[N m\].
    Effort(f64),
    /// Target of a position motor \[rad\] and its rate \[rad/s\].
    Position(f64, f64),
    /// Target of a velocity motor \[rad/s\].
    Velocity(f64),
}

impl RobotHandle {
    /// Sets the control of a motor or drive in the file's units, clamped to its range.
    ///
    /// # Errors
    /// An unknown name, or a control that is not finite.
    pub fn set_control(&self, bodies: &mut Bodies, name: &str, control: f64) -> Result<(), RobotError> {
        let at = find(self.name(), "motor", name, self.actuators())?;
        self.check_finite(name, control)?;
        let Parts { names, place, .. } = &*self.parts;
        let system = bodies.simulation_mut().system_mut();
        match names.inputs.get(at) {
            Some(input) => {
                input.apply(control, &mut system.actuators[place.first_actuator + input.actuator].control);
            }
            None => {
                let drive = &mut system.drives[place.first_drive + at - names.inputs.len()];
                drive.control = control;
                drive.control = drive.clamped_control();
            }
        }
        Ok(())
    }

    /// Sets the input of the motors on a joint of one degree of freedom, past the file's units.
    ///
    /// # Errors
    /// An unknown joint, a value that is not finite, or no motor of this kind there.
    pub fn set_target(&self, bodies: &mut Bodies, joint: &str, to: JointTarget) -> Result<(), RobotError> {
        let link = self.joint(joint)?;
        let (wanted, values) = match to {
            JointTarget::Effort(effort) => ("an effort", [effort, 0.0]),
            JointTarget::Position(target, rate) => ("a position", [target, rate]),
            JointTarget::Velocity(rate) => ("a velocity", [rate, 0.0]),
        };
        values.iter().try_for_each(|value| self.check_finite(joint, *value))?;
        let mut set = false;
        let motors = &mut bodies.simulation_mut().system_mut().actuators;
        for motor in motors.iter_mut().filter(|motor| motor.link == link) {
            set |= set_motor(&mut motor.control, to);
        }
        let (robot, joint) = (self.name().to_owned(), joint.to_owned());
        if set { Ok(()) } else { Err(RobotError::Kind { robot, joint, wanted }) }
    }

    /// Sets the gains of the motors on a joint of one degree of freedom: `stiffness` \[N m/rad\] of
    /// position motors, and `damping` \[N m s/rad\] of position and velocity motors; N/m and N s/m
    /// for a prismatic joint. Velocity motors have no stiffness: for them it must be 0.
    ///
    /// # Errors
    /// An unknown joint, a gain that is not finite or is negative, or no such motor there; nothing
    /// is changed then.
    pub fn set_gains(
        &self,
        bodies: &mut Bodies,
        joint: &str,
        stiffness: f64,
        damping: f64,
    ) -> Result<(), RobotError> {
        let link = self.joint(joint)?;
        for gain in [stiffness, damping] {
            if !(gain.is_finite() && gain >= 0.0) {
                let (robot, joint) = (self.name().to_owned(), joint.to_owned());
                return Err(RobotError::Gain { robot, joint, value: gain });
            }
        }
        let mut set = false;
        let motors = &mut bodies.simulation_mut().system_mut().actuators;
        for motor in motors.iter_mut().filter(|motor| motor.link == link) {
            match &mut motor.control {
                Control::Position { stiffness: k, damping: d, .. } => (*k, *d) = (stiffness, damping),
                Control::Velocity { damping: d, .. } if stiffness == 0.0 => *d = damping,
                _ => continue,
            }
            set = true;
        }
        let (robot, joint) = (self.name().to_owned(), joint.to_owned());
        if set { Ok(()) } else { Err(RobotError::Kind { robot, joint, wanted: "these gains" }) }
    }

    /// Sets the efforts of all torque motors \[N m, N\]: one number for each velocity. Numbers of
    /// velocities without a torque motor must be there, and have no effect.
    ///
    /// # Errors
    /// Another number of efforts, or one that is not finite.
    pub fn set_efforts(&self, bodies: &mut Bodies, efforts: &[f64]) -> Result<(), RobotError> {
        let own: Vec<usize> = self.own_velocities(bodies).collect();
        if own.len() != efforts.len() {
            let robot = self.name().to_owned();
            return Err(RobotError::Count { robot, found: efforts.len(), expected: own.len() });
        }
        efforts.iter().try_for_each(|effort| self.check_finite("efforts", *effort))?;
        let System { model, actuators, .. } = bodies.simulation_mut().system_mut();
        for motor in actuators {
            let n = model.velocities_of(motor.link).start + motor.dof;
            let at = own.iter().position(|own| *own == n);
            if let (Some(at), Control::Effort { effort }) = (at, &mut motor.control) {
                *effort = efforts[at];
            }
        }
        Ok(())
    }
}

/// Sets a motor's input if it is of that kind; says whether it is.
fn set_motor(control: &mut Control, to: JointTarget) -> bool {
    match (control, to) {
        (Control::Effort { effort }, JointTarget::Effort(value)) => *effort = value,
        (Control::Position { target, target_rate, .. }, JointTarget::Position(position, rate)) => {
            (*target, *target_rate) = (position, rate);
        }
        (Control::Velocity { target, .. }, JointTarget::Velocity(rate)) => *target = rate,
        _ => return false,
    }
    true
}
