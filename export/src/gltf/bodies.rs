//! Bodies: a node each, below it a node a shape, and their motion.

use nalgebra::Isometry3;
use serde_json::{Value, json};

use super::document::{Document, VERTICES};
use crate::solid::{Triangles, tessellate};
use crate::take::{Moment, Take};

/// Translation \[m\] and quaternion x, y, z, w, normalised as 32-bit numbers.
fn parts(pose: &Isometry3<f64>) -> ([f32; 3], [f32; 4]) {
    let (p, q) = (pose.translation.vector, pose.rotation.into_inner().normalize());
    ([p.x as f32, p.y as f32, p.z as f32], [q.i as f32, q.j as f32, q.k as f32, q.w as f32])
}

/// The mesh of a shape.
fn mesh(document: &mut Document, solid: &Triangles, color: [u8; 3]) -> usize {
    let values: Vec<f32> = solid.vertices.iter().flat_map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
    let positions = document.floats(&values, "VEC3", 3, Some(VERTICES));
    let corners: Vec<u32> = solid.corners.iter().flatten().copied().collect();
    let indices = document.indices(&corners);
    let material = document.material(color);
    document.meshes.push(json!({"primitives": [{"attributes": {"POSITION": positions},
        "indices": indices, "material": material}]}));
    document.meshes.len() - 1
}

/// A node of each body with one of each of its shapes.
fn nodes(document: &mut Document, take: &Take) -> Vec<usize> {
    let mut made = Vec::new();
    for body in take.bodies() {
        let mut children = Vec::new();
        for shape in &body.shapes {
            let solid = tessellate(&shape.shape);
            if solid.corners.is_empty() {
                continue;
            }
            let mesh = mesh(document, &solid, shape.color);
            let (translation, rotation) = parts(&shape.pose);
            let node = json!({"mesh": mesh, "translation": translation, "rotation": rotation});
            children.push(document.node(node));
        }
        let mut node = json!({"name": body.name});
        // An empty list of children is not allowed.
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        made.push(document.node(node));
    }
    made
}

/// The bodies' nodes and where they were.
pub struct Bodies {
    /// Number of each node.
    pub nodes: Vec<usize>,
    /// Translations and rotations of each, a frame after the other.
    motion: Vec<(Vec<f32>, Vec<f32>)>,
}

impl Bodies {
    /// Adds the nodes.
    pub fn new(document: &mut Document, take: &Take) -> Self {
        let nodes = nodes(document, take);
        Self { motion: vec![(Vec::new(), Vec::new()); nodes.len()], nodes }
    }

    /// Adds the poses of a frame.
    pub fn add(&mut self, document: &mut Document, moment: &Moment) {
        let all = self.motion.iter_mut().zip(&self.nodes).zip(moment.poses);
        for (((translations, rotations), &node), pose) in all {
            let (translation, rotation) = parts(pose);
            translations.extend(translation);
            rotations.extend(rotation);
            if moment.step == 0 {
                document.nodes[node]["translation"] = json!(translation);
                document.nodes[node]["rotation"] = json!(rotation);
            }
        }
    }

    /// Adds the motion at `times` \[s\] to the lists of an animation.
    pub fn animate(
        &self,
        document: &mut Document,
        times: &[f32],
        samplers: &mut Vec<Value>,
        channels: &mut Vec<Value>,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let input = document.floats(times, "SCALAR", 1, None);
        for (&node, (translations, rotations)) in self.nodes.iter().zip(&self.motion) {
            let outputs = [
                ("translation", document.floats(translations, "VEC3", 3, None)),
                ("rotation", document.floats(rotations, "VEC4", 4, None)),
            ];
            for (path, output) in outputs {
                channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
                samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
            }
        }
    }
}
