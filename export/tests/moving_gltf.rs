//! glTF: particles and cloth move.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod random;

use std::fs;
use std::ops::ControlFlow;

use pliant_export::{ExportOptions, Format, export_source};
use random::{Random, RandomRun};
use serde_json::Value;

/// A binary glTF file: its JSON and its buffer.
struct Binary {
    json: Value,
    buffer: Vec<u8>,
}

impl Binary {
    fn of(source: &RandomRun) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run.glb");
        let mut go_on = |_, _| ControlFlow::Continue(());
        export_source(source, Format::Gltf, &out, &ExportOptions::default(), &mut go_on).unwrap();
        let bytes = fs::read(out).unwrap();
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let (json, buffer) = bytes[20..].split_at(length);
        Self { json: serde_json::from_slice(json).unwrap(), buffer: buffer[8..].to_vec() }
    }

    fn floats(&self, accessor: &Value) -> Vec<f32> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let [start, length] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
        let numbers = self.buffer[start..start + length].chunks_exact(4);
        numbers.map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
    }

    /// The node of a name with its number.
    fn node(&self, name: &str) -> (usize, &Value) {
        let nodes = self.json["nodes"].as_array().unwrap().iter().enumerate();
        nodes.into_iter().find(|(_, node)| node["name"] == name).unwrap()
    }
}

// Law: at the time of a frame that is kept, the mesh as viewers add it up is that frame. All frames are
// kept up to 257, of more as many, evenly; the file says how many.
#[test]
fn meshes_pass_through_the_frames() {
    for (frames, kept) in [(1, 1), (2, 2), (257, 257), (300, 257)] {
        let mut source = RandomRun::new(8);
        let mut random = Random(frames as u64);
        source.times = (0..frames).map(|at| 3.0 + 0.05 * at as f64).collect();
        let first = source.frames[0].clone();
        source.frames = vec![first; frames];
        source.poses = vec![source.poses[0].clone(); frames];
        for particle in source.frames.iter_mut().flat_map(|frame| &mut frame.particles) {
            particle.position = std::array::from_fn(|_| random.real() as f32);
        }
        let file = Binary::of(&source);
        let all = &source.frames[0].particles;
        let balls = all.iter().filter(|particle| particle.radius > 0.0).count();
        for (name, range) in [("particles", 0..balls), ("cloth", balls..all.len())] {
            let (number, node) = file.node(name);
            assert_eq!(node["extras"]["frames"], frames);
            assert_eq!(node["extras"]["frames_kept"], kept);
            let primitive = &file.json["meshes"][node["mesh"].as_u64().unwrap() as usize]["primitives"][0];
            let base = file.floats(&primitive["attributes"]["POSITION"]);
            let targets: Vec<Vec<f32>> = primitive["targets"]
                .as_array()
                .map_or(Vec::new(), |list| list.iter().map(|t| file.floats(&t["POSITION"])).collect());
            assert_eq!(targets.len(), kept - 1);
            // Balls are ordered by material.
            let mut order: Vec<usize> = range.collect();
            order.sort_by_key(|&at| all[at].material);
            let (times, weights) = file.weights(number, kept);
            for (row, &time) in weights.iter().zip(&times) {
                let step = (f64::from(time) / 0.05).round() as usize;
                let expected = order.iter().flat_map(|&at| source.frames[step].particles[at].position);
                for (at, expected) in expected.enumerate() {
                    let moved: f32 = row.iter().zip(&targets).map(|(w, target)| w * target[at]).sum();
                    assert!((base[at] + moved - expected).abs() <= 4.0 * f32::EPSILON, "{frames} {step}");
                }
            }
            assert_eq!(times[0], 0.0);
            let length = 0.05 * (frames - 1) as f32;
            assert!((times[kept - 1] - length).abs() < 1e-5 * (1.0 + length));
        }
    }
}

impl Binary {
    /// Times of the kept frames and the weights at each; those of the first without an animation.
    fn weights(&self, node: usize, kept: usize) -> (Vec<f32>, Vec<Vec<f32>>) {
        let animation = &self.json["animations"][0];
        let channels = animation["channels"].as_array();
        let mine = |c: &&Value| c["target"]["node"] == node && c["target"]["path"] == "weights";
        let Some(channel) = channels.and_then(|list| list.iter().find(mine)) else {
            return (vec![0.0], vec![Vec::new()]);
        };
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        assert_eq!(sampler["interpolation"], "LINEAR");
        let rows = self.floats(&sampler["output"]);
        let rows: Vec<Vec<f32>> = rows.chunks(kept - 1).map(<[f32]>::to_vec).collect();
        assert_eq!(rows.len(), kept);
        (self.floats(&sampler["input"]), rows)
    }
}
