//! glTF 2.0 as one binary file (`.glb`): bodies, particles and cloth with their motion.

mod bodies;
mod document;
mod soft;

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::error::{ExportError, failed};
use crate::take::{Progress, Take};
use bodies::Bodies;
use document::Document;
use soft::Soft;

/// Writes the run to the file `path`.
pub fn write(take: &Take, path: &Path, progress: &mut Progress) -> Result<(), ExportError> {
    let mut document = Document::default();
    let mut bodies = Bodies::new(&mut document, take);
    let mut soft = Soft::new(&mut document, take)?;
    take.each(progress, |moment| {
        bodies.add(&mut document, moment);
        soft.add(&mut document, moment);
        Ok(())
    })?;
    let children: Vec<usize> = bodies.nodes.iter().copied().chain(soft.nodes()).collect();
    // Time begins at zero: negative ones are not allowed, and a late start would be a pause.
    let times: Vec<f32> = take.times.iter().map(|time| (time - take.times[0]) as f32).collect();
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    bodies.animate(&mut document, &times, &mut samplers, &mut channels);
    soft.animate(&mut document, &times, &mut samplers, &mut channels);
    // An animation without channels is not allowed.
    let animation =
        (!channels.is_empty()).then(|| json!({"name": "run", "samplers": samplers, "channels": channels}));
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
