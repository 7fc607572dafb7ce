//! A glTF document as it grows: its lists and its buffer.
//!
//! The JSON part is built with serde_json; the typed builder of gltf-json 1.4 has no binary buffers,
//! which are most of the work, and the parts of the format used here are few.

use serde_json::{Value, json};

use crate::arrays::f32_bytes;
use crate::error::ExportError;
use crate::solid::linear;

/// Types of numbers and targets of buffers, as glTF counts them.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const INDICES: u32 = 34963;

/// The target of a buffer of vertices.
pub const VERTICES: u32 = 34962;

/// Vertices are drawn as dots.
pub const POINTS: u32 = 0;

/// The document as it grows.
#[derive(Default)]
pub struct Document {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    /// Meshes, with primitives.
    pub meshes: Vec<Value>,
    materials: Vec<Value>,
    /// Nodes of the scene.
    pub nodes: Vec<Value>,
}

/// Least and greatest of each component, which positions and times must have.
fn bounds(values: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let (mut low, mut high) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
    for (at, &value) in values.iter().enumerate() {
        low[at % width] = low[at % width].min(value);
        high[at % width] = high[at % width].max(value);
    }
    (low, high)
}

impl Document {
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        // All numbers have four bytes, so that each begins at a multiple of four.
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Adds numbers, `width` an element of type `kind`; returns their accessor.
    pub fn floats(&mut self, values: &[f32], kind: &str, width: usize, target: Option<u32>) -> usize {
        let view = self.view(&f32_bytes(values.iter().copied()), target);
        let (low, high) = bounds(values, width);
        let count = values.len() / width;
        let accessor = json!({"bufferView": view, "componentType": FLOAT, "count": count, "type": kind,
            "min": low, "max": high});
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds indices; returns their accessor.
    pub fn indices(&mut self, values: &[u32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|n| n.to_le_bytes()).collect();
        let view = self.view(&bytes, Some(INDICES));
        let accessor = json!({"bufferView": view, "componentType": UNSIGNED_INT, "count": values.len(),
            "type": "SCALAR"});
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// The material of a colour, which it shares with others.
    pub fn material(&mut self, color: [u8; 3]) -> usize {
        let [r, g, b] = color.map(linear);
        let material = json!({"doubleSided": true, "pbrMetallicRoughness":
            {"baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}});
        if let Some(known) = self.materials.iter().position(|other| *other == material) {
            return known;
        }
        self.materials.push(material);
        self.materials.len() - 1
    }

    /// Adds a node; returns its number.
    pub fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The file: a header of 12 bytes, the JSON, the buffer; each padded to four bytes.
    pub fn finish(self, root: usize, animation: Option<Value>) -> Result<Vec<u8>, ExportError> {
        let mut json = json!({
            "asset": {"version": "2.0", "generator": concat!("Pliant ", env!("CARGO_PKG_VERSION"))},
            "scene": 0,
            "scenes": [{"nodes": [root]}],
            "nodes": self.nodes,
        });
        // Empty lists are not allowed.
        let lists = [
            ("meshes", self.meshes),
            ("materials", self.materials),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
            ("animations", animation.into_iter().collect()),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            json[name] = Value::Array(list);
        }
        if !self.bytes.is_empty() {
            json["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        }
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let buffer = if self.bytes.is_empty() { 0 } else { 8 + self.bytes.len() };
        let total = 12 + 8 + text.len() + buffer;
        let most = u32::MAX as usize;
        if total > most {
            return Err(ExportError::TooLarge { format: "glTF", bytes: total, most });
        }
        let mut file = Vec::with_capacity(total);
        file.extend(b"glTF");
        file.extend([2, total as u32, text.len() as u32].iter().flat_map(|n: &u32| n.to_le_bytes()));
        file.extend(b"JSON");
        file.extend(text);
        if buffer > 0 {
            file.extend((self.bytes.len() as u32).to_le_bytes());
            file.extend(b"BIN\0");
            file.extend(self.bytes);
        }
        Ok(file)
    }
}
