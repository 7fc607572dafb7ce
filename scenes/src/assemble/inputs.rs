//! What motors are told in time.

use std::ops::Range;

use pliant_rigid::RobotHandle;
use pliant_rigid::multibody::LinkId;
use pliant_rigid::simulation::{Control, System};

use crate::format::{Keyframe, Signal, Varying};

/// A motor of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motor {
    /// Index of an actuator.
    Actuator(usize),
    /// Index of a drive.
    Drive(usize),
}

/// A motor whose input changes with time.
#[derive(Clone, Debug)]
pub(super) struct TimedInput {
    /// The motor.
    pub motor: Motor,
    pub signal: Signal,
    /// The input of the motor is `scale * clamp(signal) + offset`.
    pub scale: f64,
    pub offset: f64,
    pub range: [f64; 2],
    /// Effort limit over time \[N m, N\]; none for the motor's own.
    pub effort_limit: Option<Signal>,
}

impl TimedInput {
    /// What the signal says, without a scale or a range.
    pub fn new(motor: Motor, signal: Signal) -> Self {
        let range = [f64::NEG_INFINITY, f64::INFINITY];
        Self { motor, signal, scale: 1.0, offset: 0.0, range, effort_limit: None }
    }
}

/// What motors are told in time.
#[derive(Clone, Debug, Default)]
pub struct TimedInputs(pub(super) Vec<TimedInput>);

/// Numbers of a robot's own motors among the actuators.
fn motors_of(robot: &RobotHandle) -> Range<usize> {
    let place = robot.mechanism();
    place.first_actuator..place.first_actuator + place.actuators
}

impl TimedInputs {
    /// Whether a motor that is not the robot's own has inputs here on the joint of a link.
    pub fn drive_beside(&self, robot: &RobotHandle, link: LinkId, system: &System) -> bool {
        let own = motors_of(robot);
        self.0.iter().any(|input| {
            matches!(input.motor, Motor::Actuator(index)
                if !own.contains(&index) && system.actuators[index].link == link)
        })
    }

    /// The keyframes of an actuator's input; none if it has been released.
    pub(super) fn samples_of(&mut self, actuator: usize) -> Option<&mut Vec<Keyframe>> {
        let input = self.0.iter_mut().find(|input| input.motor == Motor::Actuator(actuator))?;
        match &mut input.signal {
            Signal::Varying(Varying::Keyframes { keyframes, .. }) => Some(keyframes),
            _ => None,
        }
    }

    /// Forgets the inputs of a robot's motors and drives.
    pub fn release(&mut self, robot: &RobotHandle) {
        let place = robot.mechanism();
        let motors = motors_of(robot);
        let drives = place.first_drive..place.first_drive + place.drives;
        self.0.retain(|input| match input.motor {
            Motor::Actuator(index) => !motors.contains(&index),
            Motor::Drive(index) => !drives.contains(&index),
        });
    }

    /// Sets the inputs of the motors for the step from `time` to `time + dt` \[s\]: efforts and the
    /// controls of drives are those of its middle; positions and rates those of its end, which the
    /// implicit step uses.
    pub fn apply(&self, system: &mut System, time: f64, dt: f64) {
        for input in &self.0 {
            let at = |t: f64| {
                let clamped = input.signal.at(t).max(input.range[0]).min(input.range[1]);
                input.scale * clamped + input.offset
            };
            let actuator = match input.motor {
                Motor::Actuator(index) => &mut system.actuators[index],
                Motor::Drive(index) => {
                    system.drives[index].control = at(time + 0.5 * dt);
                    continue;
                }
            };
            if let Some(limit) = &input.effort_limit {
                actuator.effort_limit = limit.at(time + 0.5 * dt);
            }
            match &mut actuator.control {
                Control::Effort { effort } => *effort = at(time + 0.5 * dt),
                Control::Velocity { target, .. } => *target = at(time + dt),
                Control::Position { target, target_rate, .. } => {
                    *target = at(time + dt);
                    *target_rate = (at(time + dt) - at(time)) / dt;
                }
            }
        }
    }
}
