//! Particles and cloth: meshes of the first frame, which morph into those of the frames after it.
//!
//! glTF has no positions that change over time. A mesh has targets instead, displacements with a
//! weight each: a target a frame, whose weight rises from 0 to 1 while that of the one before falls.
//! Viewers and this export hold all of them in memory, so their number is limited.

use serde_json::{Value, json};

use super::document::{Document, POINTS, VERTICES};
use crate::error::ExportError;
use crate::solid::linear;
use crate::take::{Moment, Take};

/// Most targets: viewers put each in a layer of a texture, of which WebGL 2 promises 256.
const MOST_TARGETS: usize = 256;

/// Most bytes of all targets.
const MOST_BYTES: usize = 128 << 20;

/// Bytes of the displacement of a particle.
const DISPLACEMENT: usize = 12;

/// The frames that a mesh moves through, of `frames`: all, or as many as the limits let, evenly
/// spread, the first and the last among them.
fn kept(frames: usize, particles: usize) -> Result<Vec<usize>, ExportError> {
    let bytes = DISPLACEMENT * particles;
    let targets = MOST_BYTES.checked_div(bytes).unwrap_or(MOST_TARGETS).min(MOST_TARGETS);
    if frames <= 1 + targets {
        return Ok((0..frames).collect());
    }
    if targets == 0 {
        return Err(ExportError::Motion { format: "glTF", particles, bytes, most: MOST_BYTES });
    }
    Ok((0..=targets).map(|target| target * (frames - 1) / targets).collect())
}

/// A node with some of the particles.
struct Part<'a> {
    node: usize,
    mesh: usize,
    particles: Vec<&'a usize>,
    targets: Vec<Value>,
}

/// The nodes of particles and cloth, and the frames that they move through.
pub struct Soft<'a> {
    take: &'a Take<'a>,
    kept: Vec<usize>,
    parts: Vec<Part<'a>>,
}

impl<'a> Soft<'a> {
    /// Adds the nodes. Colours are those of the first frame.
    pub fn new(document: &mut Document, take: &'a Take<'a>) -> Result<Self, ExportError> {
        let kept = kept(take.times.len(), take.first.particles.len())?;
        let balls: Vec<&usize> = take.balls.values().flatten().collect();
        let mut soft = Self { take, kept, parts: Vec::new() };
        if !balls.is_empty() {
            soft.part(document, "particles", balls, &[]);
        }
        if !take.cloth.is_empty() {
            soft.part(document, "cloth", take.cloth.iter().collect(), &take.triangles);
        }
        Ok(soft)
    }

    /// Numbers of the nodes.
    pub fn nodes(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| part.node)
    }

    /// Particles as triangles with these `corners`; without them as dots.
    fn part(
        &mut self,
        document: &mut Document,
        name: &str,
        particles: Vec<&'a usize>,
        corners: &[[usize; 3]],
    ) {
        let list = || particles.iter().map(|&&index| &self.take.first.particles[index]);
        let values: Vec<f32> = list().flat_map(|p| p.position).collect();
        let positions = document.floats(&values, "VEC3", 3, Some(VERTICES));
        let values: Vec<f32> = list().flat_map(|p| p.color.map(linear)).collect();
        let colors = document.floats(&values, "VEC3", 3, Some(VERTICES));
        let material = document.material([255; 3]);
        let mut primitive =
            json!({"attributes": {"POSITION": positions, "COLOR_0": colors}, "material": material});
        if corners.is_empty() {
            primitive["mode"] = json!(POINTS);
        } else {
            let corners: Vec<u32> = corners.iter().flatten().map(|&corner| corner as u32).collect();
            primitive["indices"] = json!(document.indices(&corners));
        }
        document.meshes.push(json!({"primitives": [primitive]}));
        let mesh = document.meshes.len() - 1;
        let extras = json!({"frames": self.take.times.len(), "frames_kept": self.kept.len()});
        let node = document.node(json!({"name": name, "mesh": mesh, "extras": extras}));
        self.parts.push(Part { node, mesh, particles, targets: Vec::new() });
    }

    /// Adds the target of a frame, if it is kept.
    pub fn add(&mut self, document: &mut Document, moment: &Moment) {
        if moment.step == 0 || self.kept.binary_search(&moment.step).is_err() {
            return;
        }
        for part in &mut self.parts {
            let moved = |&&index: &&usize| {
                let (now, first) = (&moment.frame.particles[index], &self.take.first.particles[index]);
                [0, 1, 2].map(|i| (f64::from(now.position[i]) - f64::from(first.position[i])) as f32)
            };
            let values: Vec<f32> = part.particles.iter().flat_map(moved).collect();
            let accessor = document.floats(&values, "VEC3", 3, Some(VERTICES));
            part.targets.push(json!({"POSITION": accessor}));
        }
    }

    /// Adds the weights at `times` \[s\], of all frames, to the lists of an animation.
    pub fn animate(
        self,
        document: &mut Document,
        times: &[f32],
        samplers: &mut Vec<Value>,
        channels: &mut Vec<Value>,
    ) {
        let targets = self.kept.len() - 1;
        if targets == 0 || self.parts.is_empty() {
            return;
        }
        let times: Vec<f32> = self.kept.iter().map(|&step| times[step]).collect();
        let input = document.floats(&times, "SCALAR", 1, None);
        // A row a frame: no target at the first, then one after the other.
        let row = |step: usize| (1..=targets).map(move |target| f32::from(target == step));
        let weights: Vec<f32> = (0..=targets).flat_map(row).collect();
        let output = document.floats(&weights, "SCALAR", 1, None);
        for part in self.parts {
            let mesh = &mut document.meshes[part.mesh];
            mesh["primitives"][0]["targets"] = Value::Array(part.targets);
            mesh["weights"] = json!(vec![0.0; targets]);
            channels.push(json!({"sampler": samplers.len(),
                "target": {"node": part.node, "path": "weights"}}));
        }
        samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
    }
}

#[cfg(test)]
mod tests {
    use super::{DISPLACEMENT, MOST_BYTES, MOST_TARGETS, kept};

    // Law: all frames, or as many as both limits let, evenly spread with both ends.
    #[test]
    fn as_many_frames_move_as_the_limits_let() {
        assert_eq!(kept(1, usize::MAX / DISPLACEMENT).unwrap(), [0]);
        assert_eq!(kept(4, 0).unwrap(), [0, 1, 2, 3]);
        let third = MOST_BYTES / DISPLACEMENT / 3;
        for (frames, particles) in [(257, 5), (258, 5), (9999, 0), (9999, third), (5, third), (4, third)] {
            let kept = kept(frames, particles).unwrap();
            let targets = kept.len() - 1;
            assert!(targets <= MOST_TARGETS && targets * DISPLACEMENT * particles <= MOST_BYTES);
            let more = targets + 1;
            let full = more > MOST_TARGETS || more * DISPLACEMENT * particles > MOST_BYTES;
            assert!(targets == frames - 1 || full, "{frames} {particles}: {targets}");
            assert_eq!((kept[0], kept[targets]), (0, frames - 1));
            let gaps: Vec<usize> = kept.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(gaps.iter().max().unwrap() - gaps.iter().min().unwrap() <= 1, "{gaps:?}");
        }
        let said = kept(2, 3 * third + 1).unwrap_err().to_string();
        assert!(said.contains(&(3 * third + 1).to_string()), "{said}");
    }
}
