//! Frames: the particles of a moment as a PLY file.

use std::path::{Path, PathBuf};

use pliant_coupling::{ParticleSnapshot, World};

use super::{FRAMES, RunError};
use crate::format::{ColorBy, Field, Output};
use crate::ply::{FrameFields, FrameParticle, write_frame};
use crate::render::viridis;

/// A drawn radius of 0.6 of the particles' spacing closes the surface of a filled solid.
const RADIUS_PER_SPACING: f64 = 0.6;

/// Colours reach their brightest at this part of the particles, so that a few extremes do not darken the others.
const BRIGHTEST: f64 = 0.98;

/// Writes frames, with memory that it keeps between them.
pub struct FrameWriter {
    colors: Vec<[u8; 3]>,
    color_by: ColorBy,
    fields: FrameFields,
    snapshot: ParticleSnapshot,
    particles: Vec<FrameParticle>,
    scalars: Vec<f32>,
    sorted: Vec<f32>,
}

/// The file of a frame in a run directory.
pub fn frame_path(directory: &Path, frame: usize) -> PathBuf {
    directory.join(FRAMES).join(format!("{frame:06}.ply"))
}

impl FrameWriter {
    /// A writer for particles that have these colours at rest.
    pub fn new(colors: Vec<[u8; 3]>, output: &Output) -> Self {
        let has = |field| output.fields.contains(&field);
        Self {
            colors,
            color_by: output.color_by,
            fields: FrameFields {
                j: has(Field::J),
                plastic_strain: has(Field::PlasticStrain),
                stress_norm: has(Field::StressNorm),
            },
            snapshot: ParticleSnapshot::default(),
            particles: Vec::new(),
            scalars: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Writes frame `number` of a run directory.
    pub fn write(&mut self, directory: &Path, number: usize, world: &mut World) -> Result<(), RunError> {
        world.snapshot(&mut self.snapshot)?;
        let s = &self.snapshot;
        self.particles.clear();
        self.particles.extend((0..s.positions.len()).map(|p| FrameParticle {
            position: s.positions[p].map(|x| x as f32),
            velocity: s.velocities[p].map(|v| v as f32),
            radius: (RADIUS_PER_SPACING * s.volume[p].cbrt()) as f32,
            color: self.colors[p],
            material: s.material[p] as u16,
            j: s.j[p],
            plastic_strain: s.state[p],
            stress_norm: s.stress_norm[p],
        }));
        self.color();
        Ok(write_frame(frame_path(directory, number), &self.particles, &[], self.fields)?)
    }

    /// Colours the particles by the scalar that the scene asks for.
    fn color(&mut self) {
        let scalar: fn(&FrameParticle) -> f32 = match self.color_by {
            ColorBy::Body => return,
            ColorBy::Speed => |p| p.velocity.iter().map(|v| v * v).sum::<f32>().sqrt(),
            ColorBy::J => |p| p.j,
            ColorBy::PlasticStrain => |p| p.plastic_strain,
            ColorBy::StressNorm => |p| p.stress_norm,
        };
        self.scalars.clear();
        self.scalars.extend(self.particles.iter().map(scalar));
        self.sorted.clone_from(&self.scalars);
        self.sorted.sort_unstable_by(f32::total_cmp);
        let (Some(&least), Some(&most)) =
            (self.sorted.first(), self.sorted.get((BRIGHTEST * (self.sorted.len() - 1) as f64) as usize))
        else {
            return;
        };
        let range = most - least;
        for (particle, value) in self.particles.iter_mut().zip(&self.scalars) {
            particle.color = viridis(if range > 0.0 { (value - least) / range } else { 0.0 });
        }
    }
}
