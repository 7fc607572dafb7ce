//! Small values that several parts of a scene share.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number, or the word `"auto"`: Pliant chooses.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum AutoOr<T> {
    /// Written `"auto"`.
    #[default]
    Auto,
    /// Written as a plain number, in the unit the field states.
    Value(T),
}

impl<T: Serialize> Serialize for AutoOr<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AutoOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AutoOrVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for AutoOrVisitor<T> {
            type Value = AutoOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or \"auto\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                if text == "auto" {
                    Ok(AutoOr::Auto)
                } else {
                    Err(E::invalid_value(de::Unexpected::Str(text), &self))
                }
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(AutoOr::Value)
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(AutoOr::Value)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(AutoOr::Value)
            }
        }

        deserializer.deserialize_any(AutoOrVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for AutoOr<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("AutoOr_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "const": "auto" }, number] })
    }
}

/// Pose of a frame: position and orientation, relative to the frame that the field names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pose {
    /// Origin of the frame [m].
    pub position: [f64; 3],
    /// Turn of the frame as a unit quaternion (w, x, y, z) [-].
    pub orientation: [f64; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self { position: [0.0; 3], orientation: [1.0, 0.0, 0.0, 0.0] }
    }
}
