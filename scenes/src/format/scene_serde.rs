//! A scene in the formats of serde. What is derived to read a [`Scene`] is compiled once for each format and
//! each crate that reads one: that was a third of the code of `pliant-runner`. So the derived function
//! is the scene's own (`remote = "Self"`), and the trait reads a JSON value first, which has one type.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Scene;

impl<'de> Deserialize<'de> for Scene {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        of_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for Scene {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

fn of_value(value: Value) -> Result<Scene, serde_json::Error> {
    Scene::deserialize(value)
}

/// A scene from JSON text, whose errors have lines and columns of the text.
pub(super) fn of_text(text: &str) -> Result<Scene, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let scene = Scene::deserialize(&mut json)?;
    json.end()?;
    Ok(scene)
}
