//! glTF 2.0 as one binary file (`.glb`): the bodies with their motion, and the first frame's
//! particles and cloth, which do not move.
//!
//! The JSON part is built with serde_json; the typed builder of gltf-json 1.4 has no binary buffers,
//! which are most of the work, and the parts of the format used here are few.

use std::fs;
use std::path::Path;

use nalgebra::Isometry3;
use serde_json::{Value, json};

use crate::arrays::f32_bytes;
use crate::error::{ExportError, failed};
use crate::solid::{Triangles, linear, tessellate};
use crate::take::{Progress, Take};

/// Types of numbers, targets of buffers and ways of drawing, as glTF counts them.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;
const POINTS: u32 = 0;

/// The document as it grows.
#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    nodes: Vec<Value>,
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

    fn floats(&mut self, values: &[f32], kind: &str, width: usize, target: Option<u32>) -> usize {
        let view = self.view(&f32_bytes(values.iter().copied()), target);
        let (low, high) = bounds(values, width);
        let count = values.len() / width;
        let accessor = json!({"bufferView": view, "componentType": FLOAT, "count": count, "type": kind,
            "min": low, "max": high});
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn indices(&mut self, values: &[u32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|n| n.to_le_bytes()).collect();
        let view = self.view(&bytes, Some(INDICES));
        let accessor = json!({"bufferView": view, "componentType": UNSIGNED_INT, "count": values.len(),
            "type": "SCALAR"});
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn material(&mut self, color: [u8; 3]) -> usize {
        let [r, g, b] = color.map(linear);
        let material = json!({"doubleSided": true, "pbrMetallicRoughness":
            {"baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8}});
        if let Some(known) = self.materials.iter().position(|other| *other == material) {
            return known;
        }
        self.materials.push(material);
        self.materials.len() - 1
    }

    fn solid(&mut self, solid: &Triangles, color: [u8; 3]) -> usize {
        let values: Vec<f32> =
            solid.vertices.iter().flat_map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        let positions = self.floats(&values, "VEC3", 3, Some(VERTICES));
        let corners: Vec<u32> = solid.corners.iter().flatten().copied().collect();
        let indices = self.indices(&corners);
        let material = self.material(color);
        self.meshes.push(json!({"primitives": [{"attributes": {"POSITION": positions},
            "indices": indices, "material": material}]}));
        self.meshes.len() - 1
    }

    fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The particles `chosen` of the first frame: as dots, or with `corners` as triangles.
    fn soft(&mut self, take: &Take, name: &str, chosen: &[usize], corners: &[[usize; 3]]) -> usize {
        let list = || chosen.iter().map(|&index| &take.first.particles[index]);
        let values: Vec<f32> = list().flat_map(|p| p.position).collect();
        let positions = self.floats(&values, "VEC3", 3, Some(VERTICES));
        let values: Vec<f32> = list().flat_map(|p| p.color.map(linear)).collect();
        let colors = self.floats(&values, "VEC3", 3, Some(VERTICES));
        let material = self.material([255; 3]);
        let mut primitive =
            json!({"attributes": {"POSITION": positions, "COLOR_0": colors}, "material": material});
        if corners.is_empty() {
            primitive["mode"] = json!(POINTS);
        } else {
            let corners: Vec<u32> = corners.iter().flatten().map(|&corner| corner as u32).collect();
            primitive["indices"] = json!(self.indices(&corners));
        }
        self.meshes.push(json!({"primitives": [primitive]}));
        let mesh = self.meshes.len() - 1;
        self.node(json!({"name": name, "mesh": mesh}))
    }

    /// A node of each body with one of each of its shapes.
    fn bodies(&mut self, take: &Take) -> Vec<usize> {
        let mut made = Vec::new();
        for body in take.bodies() {
            let mut children = Vec::new();
            for shape in &body.shapes {
                let solid = tessellate(&shape.shape);
                if solid.corners.is_empty() {
                    continue;
                }
                let mesh = self.solid(&solid, shape.color);
                let (translation, rotation) = parts(&shape.pose);
                let node = json!({"mesh": mesh, "translation": translation, "rotation": rotation});
                children.push(self.node(node));
            }
            let mut node = json!({"name": body.name});
            // An empty list of children is not allowed.
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            made.push(self.node(node));
        }
        made
    }
}

/// Translation \[m\] and quaternion x, y, z, w, normalised as 32-bit numbers.
fn parts(pose: &Isometry3<f64>) -> ([f32; 3], [f32; 4]) {
    let (p, q) = (pose.translation.vector, pose.rotation.into_inner().normalize());
    ([p.x as f32, p.y as f32, p.z as f32], [q.i as f32, q.j as f32, q.k as f32, q.w as f32])
}

/// Writes the run to the file `path`.
pub fn write(take: &Take, path: &Path, progress: &mut Progress) -> Result<(), ExportError> {
    let mut document = Document::default();
    let bodies = document.bodies(take);
    let mut motion = vec![(Vec::new(), Vec::new()); bodies.len()];
    let mut start = Vec::new();
    take.each(progress, |moment| {
        if moment.step == 0 {
            start = moment.poses.iter().map(parts).collect();
        }
        for ((translations, rotations), pose) in motion.iter_mut().zip(moment.poses) {
            let (translation, rotation) = parts(pose);
            translations.extend(translation);
            rotations.extend(rotation);
        }
        Ok(())
    })?;
    for (&node, (translation, rotation)) in bodies.iter().zip(&start) {
        document.nodes[node]["translation"] = json!(translation);
        document.nodes[node]["rotation"] = json!(rotation);
    }
    let animation = animation(&mut document, take, &bodies, &motion);
    let mut children = bodies;
    let balls: Vec<usize> = take.balls.values().flatten().copied().collect();
    if !balls.is_empty() {
        children.push(document.soft(take, "particles at the first frame", &balls, &[]));
    }
    if !take.triangles.is_empty() {
        children.push(document.soft(take, "cloth at the first frame", &take.cloth, &take.triangles));
    }
    // A quarter turn about -x takes z up to y up.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let mut root = json!({"name": "z up", "rotation": [-half, 0.0, 0.0, half]});
    if !children.is_empty() {
        root["children"] = json!(children);
    }
    let root = document.node(root);
    let bytes = document.finish(root, animation)?;
    fs::write(path, bytes).map_err(failed("write", path))
}

/// The motion of the bodies; none without bodies.
fn animation(
    document: &mut Document,
    take: &Take,
    bodies: &[usize],
    motion: &[(Vec<f32>, Vec<f32>)],
) -> Option<Value> {
    if bodies.is_empty() {
        return None;
    }
    // Time begins at zero: negative ones are not allowed, and a late start would be a pause.
    let times: Vec<f32> = take.times.iter().map(|time| (time - take.times[0]) as f32).collect();
    let input = document.floats(&times, "SCALAR", 1, None);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (&node, (translations, rotations)) in bodies.iter().zip(motion) {
        let outputs = [
            ("translation", document.floats(translations, "VEC3", 3, None)),
            ("rotation", document.floats(rotations, "VEC4", 4, None)),
        ];
        for (path, output) in outputs {
            channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
        }
    }
    Some(json!({"name": "run", "samplers": samplers, "channels": channels}))
}

impl Document {
    /// The file: a header of 12 bytes, the JSON, the buffer; each padded to four bytes.
    fn finish(self, root: usize, animation: Option<Value>) -> Result<Vec<u8>, ExportError> {
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
