//! Motors, external forces, constraints and controllers of bodies and robots.
//!
//! A body of the scene is named `body`, a link of a robot `robot/link`; a joint is named after the
//! body that it moves, or `robot/joint`.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

use super::common::Pose;
use super::signal::{Interpolation, Keyframe, Signal, Varying};

/// A motor on one degree of freedom of a joint, in addition to those of a robot's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Actuator {
    /// Name, unique among the actuators.
    pub name: String,
    /// The joint: a dynamic body's name, or `robot/joint`.
    pub joint: String,
    /// Which of the joint's degrees of freedom, from 0 [-].
    #[serde(default)]
    pub dof: u32,
    /// Kind of actuator, with its input.
    pub control: Control,
    /// Effort limit in both directions; null for none [N m, N].
    #[serde(default)]
    pub effort_limit: Option<f64>,
    /// Whether the motor compensates gravity of all links beyond the joint, within its effort
    /// limit.
    #[serde(default)]
    pub gravity_compensation: bool,
}

/// Kind of actuator. Units of a revolute joint first, of a prismatic joint second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Control {
    /// Effort control.
    Effort {
        /// The effort over time [N m, N].
        value: Signal,
    },
    /// Position control: proportional and derivative, implicit in time. The target rate is that of
    /// `value`.
    Position {
        /// Target coordinate over time [rad, m].
        value: Signal,
        /// Stiffness K_p [N m/rad, N/m].
        stiffness: f64,
        /// Damping K_d [N m s/rad, N s/m].
        #[serde(default)]
        damping: f64,
    },
    /// Velocity control.
    Velocity {
        /// Target rate over time [rad/s, m/s].
        value: Signal,
        /// Damping K_d [N m s/rad, N s/m].
        damping: f64,
    },
}

impl Control {
    /// Its set point over time.
    pub fn value(&self) -> &Signal {
        match self {
            Self::Effort { value } | Self::Position { value, .. } | Self::Velocity { value, .. } => value,
        }
    }
}

/// An external force and torque on a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Force {
    /// The dynamic body or the link `robot/link`.
    pub body: String,
    /// Force at the centre of mass, world frame [N].
    #[serde(default)]
    pub force: [f64; 3],
    /// Torque, world frame [N m].
    #[serde(default)]
    pub torque: [f64; 3],
    /// Factor of both over time [-].
    #[serde(default = "always")]
    pub wave: Signal,
}

/// A holonomic constraint between two bodies, in addition to joints. Points and frames are in the
/// frames of the bodies; null is the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Constraint {
    /// Two points coincide.
    Ball {
        /// The bodies.
        bodies: [Option<String>; 2],
        /// A point of each [m].
        points: [[f64; 3]; 2],
        /// Release time; null for never [s].
        #[serde(default)]
        release: Option<f64>,
    },
    /// Two points keep a distance.
    Distance {
        /// The bodies.
        bodies: [Option<String>; 2],
        /// A point of each [m].
        points: [[f64; 3]; 2],
        /// The distance [m].
        distance: f64,
        /// Release time; null for never [s].
        #[serde(default)]
        release: Option<f64>,
    },
    /// Two frames coincide.
    Weld {
        /// The bodies.
        bodies: [Option<String>; 2],
        /// A frame of each; by default their relative pose at the start is kept.
        #[serde(default)]
        frames: Option<[Pose; 2]>,
        /// Release time; null for never [s].
        #[serde(default)]
        release: Option<f64>,
    },
    /// The first coordinate of one joint follows that of another: `driven = ratio driver + offset`.
    Coupler {
        /// The driving joint.
        driver: String,
        /// The driven joint.
        driven: String,
        /// The ratio [-].
        ratio: f64,
        /// The offset [rad, m].
        #[serde(default)]
        offset: f64,
        /// Release time; null for never [s].
        #[serde(default)]
        release: Option<f64>,
    },
}

impl Constraint {
    /// Release time [s].
    pub fn release(&self) -> Option<f64> {
        match self {
            Self::Ball { release, .. }
            | Self::Distance { release, .. }
            | Self::Weld { release, .. }
            | Self::Coupler { release, .. } => *release,
        }
    }
}

/// A controller: forces on bodies as functions of their state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Controller {
    /// Computed torque: every joint of a robot has the acceleration `K_p (target - q) + K_d (target
    /// rate - v)`.
    InverseDynamics(InverseDynamics),
    /// Suction cups.
    Suction(Suction),
}

/// Computed torque on all joints of a robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InverseDynamics {
    /// The robot.
    pub robot: String,
    /// K_p [1/s^2].
    pub stiffness: f64,
    /// K_d [1/s].
    pub damping: f64,
    /// Targets in order of time; at least one.
    pub targets: Vec<JointTarget>,
    /// Interpolation between targets.
    #[serde(default)]
    pub interpolation: Interpolation,
}

/// Target of a robot's joints at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointTarget {
    /// Time since the start [s].
    pub time: f64,
    /// Coordinates by the joints' names, or of all joints in the order of the file. A joint that is
    /// not named ignores this target: its set point is interpolated between the targets that name
    /// it [rad, m].
    pub positions: TargetPositions,
}

/// Coordinates of a robot's joints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum TargetPositions {
    /// Of all joints, in the order of the file [rad, m].
    All(Vec<f64>),
    /// Of some, by name [rad, m].
    Named(BTreeMap<String, f64>),
}

impl InverseDynamics {
    /// The target of one joint over time [rad, m]: `index` counts the robot's joints with a
    /// coordinate, `name` is the joint's, `start` its initial coordinate, which it keeps if no
    /// target names it.
    pub fn target(&self, index: usize, name: &str, start: f64) -> Signal {
        let keyframe = |target: &JointTarget| {
            let value = match &target.positions {
                TargetPositions::All(all) => all.get(index),
                TargetPositions::Named(named) => named.get(name),
            };
            value.map(|&value| Keyframe { time: target.time, value })
        };
        let keyframes: Vec<Keyframe> = self.targets.iter().filter_map(keyframe).collect();
        if keyframes.is_empty() {
            return Signal::Constant(start);
        }
        Signal::Varying(Varying::Keyframes { keyframes, interpolation: self.interpolation })
    }
}

/// Suction cups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suction {
    /// The suction cups: bodies or links. A cup pulls along the z axis of its frame, at the frame's
    /// origin.
    pub cups: Vec<String>,
    /// Largest force of one cup, at contact; at a tenth of the range it is half of that [N].
    pub force: f64,
    /// Gap beyond which a cup does not pull [m].
    pub range: f64,
    /// Start and end of the suction [s].
    pub on: [f64; 2],
    /// The bodies or links that they can pull.
    pub targets: Vec<String>,
}

fn always() -> Signal {
    Signal::Constant(1.0)
}

// Written by hand: serde's untagged enums discard the message that names the error.
impl<'de> Deserialize<'de> for TargetPositions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PositionsVisitor;

        impl<'de> Visitor<'de> for PositionsVisitor {
            type Value = TargetPositions;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("coordinates by the joints' names, or a list of all")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<TargetPositions, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(TargetPositions::All)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TargetPositions, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(TargetPositions::Named)
            }
        }

        deserializer.deserialize_any(PositionsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: a joint's targets are those that name it; one that none names does not move.
    #[test]
    fn a_joint_follows_the_targets_that_name_it() {
        let json = r#"{ "type": "inverse-dynamics", "robot": "arm", "stiffness": 100, "damping": 20, "targets": [
            { "time": 0, "positions": [1, 2] }, { "time": 1, "positions": { "b": 4 } }] }"#;
        let Controller::InverseDynamics(arm) = serde_json::from_str(json).unwrap() else { panic!() };
        let (a, b, c) = (arm.target(0, "a", 0.5), arm.target(1, "b", 0.5), arm.target(2, "c", 0.5));
        assert_eq!([a.at(0.5), b.at(0.5), c.at(0.5)], [1.0, 3.0, 0.5]);
        assert_eq!([a.at(2.0), b.at(2.0), c.at(2.0)], [1.0, 4.0, 0.5]);
        let again: Controller =
            serde_json::from_str(&serde_json::to_string(&Controller::InverseDynamics(arm.clone())).unwrap())
                .unwrap();
        assert_eq!(again, Controller::InverseDynamics(arm));
    }

    // Checks: a force without a wave is constant.
    #[test]
    fn a_force_is_constant_unless_it_waves() {
        let force: Force = serde_json::from_str(r#"{ "body": "box", "force": [10, 0, 0] }"#).unwrap();
        assert_eq!((force.wave.at(3.0), force.torque), (1.0, [0.0; 3]));
    }
}
