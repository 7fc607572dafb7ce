//! Frames: the particles at one time, and the triangles of cloth, as a PLY file.

use std::path::Path;

use pliant_coupling::{BackendError, ParticleSnapshot, World};
use pliant_mpm::cloth::SheetParticles;

use super::error::RunError;
use crate::record::{FrameRow, frame_path};
use pliant_io::digest::FileDigest;
use pliant_io::files::IoError;
use pliant_io::ply::{Frame, FrameFields, FrameParticle, FrameTriangles, write_frame};
use pliant_render::{back_color, viridis};
use pliant_scenes::format::{ColorBy, Field, Output};

/// A drawn radius of 0.6 of the particles' spacing closes the surface of a filled solid.
const RADIUS_PER_SPACING: f64 = 0.6;

/// Colours are brightest from this fraction of the particles on, so that a few extremes do not
/// darken the others.
const BRIGHTEST: f64 = 0.98;

/// Writes frames, with memory that it keeps between them.
pub struct FrameWriter {
    colors: Vec<[u8; 3]>,
    /// Of cloth: the triangles, the colours of their backs, and which particles are not drawn as
    /// spheres.
    triangles: Vec<[u32; 3]>,
    back_colors: Vec<[u8; 3]>,
    sheets: Vec<bool>,
    color_by: ColorBy,
    fields: FrameFields,
    /// Whether the header has the time.
    timed: bool,
    snapshot: ParticleSnapshot,
    particles: Vec<FrameParticle>,
    scalars: Vec<f32>,
    sorted: Vec<f32>,
}

impl FrameWriter {
    /// A writer for particles that have these colours at rest, and the cloth of `sheet_particles`.
    /// The backs of a sheet have its entry in `back_colors`; without one it follows from its first
    /// vertex's colour by [`back_color`]. If particles are coloured by a scalar, so are both sides
    /// of cloth.
    pub fn new(
        colors: Vec<[u8; 3]>,
        patches: &[SheetParticles],
        back_colors: &[Option<[u8; 3]>],
        output: &Output,
    ) -> Self {
        let has = |field| output.fields.contains(&field);
        let mut sheets = vec![false; colors.len()];
        let mut backs = Vec::new();
        for (at, patch) in patches.iter().enumerate() {
            let of_cloth = patch.vertices.clone().chain(patch.centroids.clone());
            of_cloth.for_each(|p| sheets[p] = true);
            let given = back_colors.get(at).copied().flatten();
            let back = given.or_else(|| colors.get(patch.vertices.start).map(|front| back_color(*front)));
            if output.color_by == ColorBy::Body {
                backs.extend(patch.faces.iter().map(|_| back.unwrap_or_default()));
            }
        }
        Self {
            colors,
            triangles: patches.iter().flat_map(|patch| patch.faces.iter().copied()).collect(),
            back_colors: backs,
            sheets,
            color_by: output.color_by,
            fields: FrameFields {
                j: has(Field::J),
                plastic_strain: has(Field::PlasticStrain),
                stress_norm: has(Field::StressNorm),
                mass: has(Field::Mass),
                volume: has(Field::Volume),
                affine: has(Field::Affine),
            },
            timed: has(Field::Time),
            snapshot: ParticleSnapshot::default(),
            particles: Vec::new(),
            scalars: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Writes frame `number` of a run directory; returns its row of `frames.csv`.
    pub fn write(
        &mut self,
        directory: &Path,
        number: usize,
        world: &mut World,
    ) -> Result<FrameRow, RunError> {
        self.collect(world)?;
        let (path, time) = (frame_path(directory, number), world.time());
        let file = self.write_to(&path, time)?;
        Ok(FrameRow { frame: number, time, particles: self.particles.len(), file })
    }

    /// Takes the particles of a world as they are; those of ropes have the radius of the rope.
    pub fn collect(&mut self, world: &mut World) -> Result<(), BackendError> {
        world.snapshot(&mut self.snapshot)?;
        if world.torn_faces() > 0 {
            self.triangles.clear();
            self.triangles.extend(world.cloths().iter().flat_map(|patch| patch.faces.iter().copied()));
        }
        let s = &self.snapshot;
        self.particles.clear();
        self.particles.extend((0..s.positions.len()).map(|p| FrameParticle {
            position: s.positions[p].map(|x| x as f32),
            velocity: s.velocities[p].map(|v| v as f32),
            // Cloth is drawn as its triangles.
            radius: if self.sheets[p] { 0.0 } else { (RADIUS_PER_SPACING * s.volume[p].cbrt()) as f32 },
            color: self.colors[p],
            material: s.material[p] as u16,
            j: s.j[p],
            plastic_strain: s.state[p],
            stress_norm: s.stress_norm[p],
            mass: s.mass[p] as f32,
            volume: s.volume[p] as f32,
            affine: s.affine[p],
        }));
        let ropes = world.mpm().rope_particles().iter().zip(world.mpm().rope_materials());
        for (vertices, material) in ropes {
            self.particles[vertices.clone()].iter_mut().for_each(|p| p.radius = material.radius as f32);
        }
        self.color();
        Ok(())
    }

    /// Writes what was collected at a time \[s\].
    pub fn write_to(&self, path: &Path, time: f64) -> Result<FileDigest, IoError> {
        let triangles = FrameTriangles { corners: &self.triangles, back_colors: &self.back_colors };
        write_frame(path, &self.particles, triangles, self.fields, self.timed.then_some(time))
    }

    /// What was collected, as a frame that was read.
    pub fn frame(&self) -> Frame {
        Frame {
            particles: self.particles.clone(),
            triangles: self.triangles.clone(),
            back_colors: self.back_colors.clone(),
            ..Frame::default()
        }
    }

    /// Positions of the particles of the last frame \[m\], by their ids.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.snapshot.positions
    }

    /// Colours the particles by the scalar of `color_by`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FRAMES;
    use crate::record::cloth::tests::{standing, two_triangles, world};
    use crate::run::tests::material;
    use pliant_io::ply::read_frame;

    // Checks: a frame has the triangles of all cloth in the order of the sheets, with the given
    // back colour or one that follows from the front; particles of cloth are not drawn as spheres,
    // others are. By a scalar both sides are alike.
    #[test]
    fn frames_show_cloth_as_its_triangles() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FRAMES)).unwrap();
        let mut world = world(&standing(0.1), material());
        let (front, beige) = ([200, 10, 10], [230, 210, 180]);
        let mut frame = |color_by, number| {
            let output = Output { color_by, ..Output::default() };
            let mut writer =
                FrameWriter::new(vec![front; 9], &two_triangles(), &[None, Some(beige)], &output);
            writer.write(folder.path(), number, &mut world).unwrap();
            assert_eq!(writer.positions().len(), 9);
            read_frame(frame_path(folder.path(), number)).unwrap()
        };
        let seen = frame(ColorBy::Body, 0);
        assert_eq!(seen.triangles, [[0, 1, 2], [4, 5, 6]]);
        assert_eq!(seen.back_colors, [back_color(front), beige]);
        assert!(seen.particles[..8].iter().all(|p| p.radius == 0.0) && seen.particles[8].radius > 0.0);
        let by_speed = frame(ColorBy::Speed, 1);
        assert_eq!((by_speed.triangles, by_speed.back_colors), (seen.triangles, Vec::new()));
    }
}
