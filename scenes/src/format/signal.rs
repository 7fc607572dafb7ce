//! Values that change with time: inputs of motors, external forces.

use std::f64::consts::TAU;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

/// A value over time: written as a number, it is constant; written as an object, it
/// varies. Its unit is that of its field.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Signal {
    /// Constant.
    Constant(f64),
    /// Varies with time.
    Varying(Varying),
}

/// A value that changes with time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Varying {
    /// Interpolation of given values; constant before the first and after the last keyframe.
    Keyframes {
        /// The keyframes, in order of time; at least one.
        keyframes: Vec<Keyframe>,
        /// Interpolation between keyframes.
        #[serde(default)]
        interpolation: Interpolation,
    },
    /// `offset + amplitude sin(2 pi frequency t + phase)`.
    Sine {
        /// Amplitude [the field's unit].
        amplitude: f64,
        /// Frequency; positive, and below half of the steps' rate [Hz].
        frequency: f64,
        /// Phase at the start [rad].
        #[serde(default)]
        phase: f64,
        /// Mean [the field's unit].
        #[serde(default)]
        offset: f64,
    },
}

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Time since the start [s].
    pub time: f64,
    /// The value [the field's unit].
    pub value: f64,
}

/// Interpolation between keyframes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Linear.
    #[default]
    Linear,
    /// Constant until the next keyframe, with a jump there.
    Hold,
    /// Cubic, with rate zero at each keyframe.
    Smooth,
}

impl Signal {
    /// The value at time `t` [s]. Where it jumps, the value after the jump.
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Varying(Varying::Sine { amplitude, frequency, phase, offset }) => {
                offset + amplitude * (TAU * frequency * t + phase).sin()
            }
            Self::Varying(Varying::Keyframes { keyframes, interpolation }) => {
                let [Some(a), Some(b)] = around(keyframes, t) else {
                    // Before the first, after the last.
                    return around(keyframes, t).into_iter().flatten().next().map_or(0.0, |key| key.value);
                };
                let s = (t - a.time) / (b.time - a.time);
                let share = match interpolation {
                    Interpolation::Hold => 0.0,
                    Interpolation::Linear => s,
                    Interpolation::Smooth => s * s * (3.0 - 2.0 * s),
                };
                a.value + (b.value - a.value) * share
            }
        }
    }

    /// The value's rate of change at time `t` [the field's unit per s]. At a corner, the rate after
    /// it; a jump has none.
    pub fn rate(&self, t: f64) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Varying(Varying::Sine { amplitude, frequency, phase, .. }) => {
                amplitude * TAU * frequency * (TAU * frequency * t + phase).cos()
            }
            Self::Varying(Varying::Keyframes { keyframes, interpolation }) => {
                match (around(keyframes, t), interpolation) {
                    ([Some(a), Some(b)], Interpolation::Linear) => (b.value - a.value) / (b.time - a.time),
                    ([Some(a), Some(b)], Interpolation::Smooth) => {
                        let (rise, length) = (b.value - a.value, b.time - a.time);
                        let s = (t - a.time) / length;
                        rise / length * 6.0 * s * (1.0 - s)
                    }
                    _ => 0.0,
                }
            }
        }
    }

    /// The first time after `t` [s] at which the value or its rate jumps, so that a step can end
    /// there; none if it is smooth from `t` on.
    pub fn next_key(&self, t: f64) -> Option<f64> {
        match self {
            Self::Varying(Varying::Keyframes { keyframes, .. }) => {
                keyframes.get(keyframes.partition_point(|key| key.time <= t)).map(|key| key.time)
            }
            _ => None,
        }
    }
}

/// The last keyframe at or before `t` [s] and the first one after.
fn around(keyframes: &[Keyframe], t: f64) -> [Option<&Keyframe>; 2] {
    let after = keyframes.partition_point(|key| key.time <= t);
    [after.checked_sub(1).and_then(|before| keyframes.get(before)), keyframes.get(after)]
}

impl From<f64> for Signal {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

// Written by hand: serde's untagged enums discard the message that names the unknown field.
impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SignalVisitor;

        impl<'de> Visitor<'de> for SignalVisitor {
            type Value = Signal;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number, keyframes or a sine")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Signal, E> {
                Ok(Signal::Constant(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Signal, E> {
                Ok(Signal::Constant(value as f64))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Signal, E> {
                Ok(Signal::Constant(value as f64))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Signal, A::Error> {
                Varying::deserialize(MapAccessDeserializer::new(map)).map(Signal::Varying)
            }
        }

        deserializer.deserialize_any(SignalVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn signal(json: &str) -> Signal {
        serde_json::from_str(json).unwrap()
    }

    const RAMP: &str = r#"{ "type": "keyframes", "keyframes": [
        { "time": 1, "value": 2 }, { "time": 3, "value": 6 }, { "time": 4, "value": 0 }] }"#;

    // Checks: straight lines through the keyframes, the ends held; corners are the keyframes and
    // nothing else.
    #[test]
    fn keyframes_are_joined_by_straight_lines() {
        let ramp = signal(RAMP);
        for (t, value, rate) in [
            (0.0, 2.0, 0.0),
            (1.0, 2.0, 2.0),
            (2.0, 4.0, 2.0),
            (3.0, 6.0, -6.0),
            (3.5, 3.0, -6.0),
            (9.0, 0.0, 0.0),
        ] {
            assert_relative_eq!(ramp.at(t), value, epsilon = 1e-14);
            assert_relative_eq!(ramp.rate(t), rate, epsilon = 1e-14);
        }
        let mut corners = Vec::new();
        let mut t = -1.0;
        while let Some(next) = ramp.next_key(t) {
            corners.push(next);
            t = next;
        }
        assert_eq!(corners, [1.0, 3.0, 4.0]);
    }

    // Checks: a held value jumps at the keyframe and has no rate.
    #[test]
    fn held_keyframes_jump() {
        let steps = signal(&RAMP.replace("] }", "], \"interpolation\": \"hold\" }"));
        for (t, value) in [(0.0, 2.0), (2.999, 2.0), (3.0, 6.0), (3.999, 6.0), (4.0, 0.0), (10.0, 0.0)] {
            assert_eq!((steps.at(t), steps.rate(t)), (value, 0.0), "{t}");
        }
        assert_eq!(steps.next_key(3.0), Some(4.0));
    }

    // Checks: o + a sin(2 pi f t + p); its rate is the derivative, here against a central
    // difference.
    #[test]
    fn a_sine_has_its_amplitude_frequency_and_derivative() {
        let sine =
            signal(r#"{ "type": "sine", "amplitude": 10, "frequency": 0.5, "phase": 0.3, "offset": -1 }"#);
        assert_relative_eq!(sine.at(0.0), -1.0 + 10.0 * 0.3_f64.sin(), epsilon = 1e-14);
        assert_relative_eq!(sine.at(2.0), sine.at(0.0), epsilon = 1e-13);
        let h = 1e-5;
        // Error of the difference: h^2/6 of the third derivative, 10 pi^3.
        assert_relative_eq!(
            sine.rate(0.7),
            (sine.at(0.7 + h) - sine.at(0.7 - h)) / (2.0 * h),
            epsilon = 1e-7
        );
        assert_eq!(sine.next_key(0.0), None);
    }

    // Checks: a number is a constant; what is neither is refused by the field's name.
    #[test]
    fn a_number_is_constant_and_nonsense_is_named() {
        for json in ["3", "-3", "3.5", RAMP] {
            let read = signal(json);
            assert_eq!(signal(&serde_json::to_string(&read).unwrap()), read);
        }
        assert_eq!((signal("3").at(7.0), signal("3").rate(7.0), signal("3").next_key(0.0)), (3.0, 0.0, None));
        let error = serde_json::from_str::<Signal>(r#"{ "type": "sine", "amplitude": 1, "frequenzy": 2 }"#);
        assert!(error.unwrap_err().to_string().contains("unknown field `frequenzy`"));
        let error = serde_json::from_str::<Signal>("\"fast\"").unwrap_err().to_string();
        assert!(error.contains("a number, keyframes or a sine"), "{error}");
    }
}
