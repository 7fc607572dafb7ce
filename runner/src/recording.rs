//! A run read back from its directory, for all that show it or write it in other formats: what its
//! bodies look like, where they were, and its frames of particles. A run that still goes on can be
//! read as far as it is.

use std::path::{Path, PathBuf};

use nalgebra::{Isometry3, Unit, UnitQuaternion, Vector3};
use pliant_io::digest;
use pliant_io::files::IoError;
use pliant_io::ply::{Frame, read_frame};
use pliant_render::RenderBody;
use pliant_rigid::{BodiesBuilder, Body};
use pliant_scenes::assemble::rigid_parts;
use pliant_scenes::format::{Boundary, ColorBy, Scene};

pub use crate::recording_error::RecordingError;

use crate::picture_frame::{body_numbers, granular_bodies};
use crate::picture_parts::{Plane, add_shapes};
use crate::record::{
    BODIES, BodyRow, FRAME_LIST, FrameRow, MANIFEST, Manifest, frame_path, hull_folder, read_bodies,
    read_bodies_so_far, read_frame_list, read_frame_list_so_far,
};
use crate::run::checkpoint;
use crate::run::directory::partial_path;

/// What a body of a run looks like.
#[derive(Clone, Debug)]
pub struct RecordedBody {
    /// Its name, as in `bodies.csv`; of a robot's link `robot/link`.
    pub name: String,
    /// Its shapes, their poses in the frame of the body that `bodies.csv` gives; those that
    /// pictures show. A half-space among them has no bounds.
    pub shapes: Vec<RenderBody>,
}

/// A run as its directory has it. A frame is checked against its SHA-256 when it is read.
#[derive(Debug)]
pub struct Recording {
    target: PathBuf,
    directory: PathBuf,
    scene: Scene,
    soft_particles: Vec<usize>,
    manifest: Option<Manifest>,
    described: BodiesBuilder,
    centers: Vec<Vector3<f64>>,
    bodies: Vec<RecordedBody>,
    frames: Vec<FrameRow>,
    rows: Vec<Vec<BodyRow>>,
}

impl Recording {
    /// Opens the run directory `target`, or the run that is to have this name and is not ended.
    ///
    /// # Errors
    /// [`RecordingError`]: there is no run, or its manifest, tables or mesh files are missing or
    /// damaged.
    pub fn open(target: impl Into<PathBuf>) -> Result<Self, RecordingError> {
        let target = target.into();
        let directory = present_path(&target);
        let manifest = read_manifest(&directory)?;
        let (scene, soft_particles) = match &manifest {
            Some(manifest) => (manifest.scene.clone(), manifest.soft_particles.clone()),
            None => {
                let state = checkpoint::state(&directory)?
                    .ok_or_else(|| RecordingError::NoRun { directory: target.clone() })?;
                (state.scene, state.soft_particles)
            }
        };
        let failed = |source| RecordingError::Bodies { directory: target.clone(), source: Box::new(source) };
        let parts = rigid_parts(&scene, Some(&hull_folder(&directory))).map_err(failed)?;
        let (described, centers) = (parts.builder, parts.centers);
        let body = |(body, center): (&Body, &Vector3<f64>)| {
            let mut shapes = Vec::new();
            // From the centre of mass, where a body's own origin is, to that of the scene's frame.
            let origin = Isometry3::from_parts((*center).into(), UnitQuaternion::identity());
            add_shapes(body, &origin, described.links(), &mut shapes);
            RecordedBody { name: body.name.clone(), shapes }
        };
        let bodies = described.bodies().iter().zip(&centers).map(body).collect();
        let (frames, rows) = (Vec::new(), Vec::new());
        let mut recording = Self {
            target,
            directory,
            scene,
            soft_particles,
            manifest,
            described,
            centers,
            bodies,
            frames,
            rows,
        };
        recording.read_tables()?;
        Ok(recording)
    }

    /// Reads what was written since, of a run that goes on; returns whether something changed. A
    /// run that has ended meanwhile has its manifest from then on.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self) -> Result<bool, RecordingError> {
        if self.manifest.is_some() {
            return Ok(false);
        }
        let before = self.frame_count();
        self.directory = present_path(&self.target);
        self.manifest = read_manifest(&self.directory)?;
        self.read_tables()?;
        Ok(self.manifest.is_some() || self.frame_count() > before)
    }

    /// Reads the tables; of a run that goes on, as far as both have whole frames.
    fn read_tables(&mut self) -> Result<(), RecordingError> {
        let (directory, bodies) = (&self.directory, self.described.bodies().len());
        if let Some(manifest) = &self.manifest {
            let has_bodies = (bodies > 0).then_some(BODIES);
            for name in has_bodies.into_iter().chain([FRAME_LIST]) {
                if let Some(expected) = manifest.digests.get(name) {
                    digest::verify(&directory.join(name), expected)?;
                }
            }
            self.frames = read_frame_list(directory)?;
            self.rows = if bodies > 0 { read_bodies(directory, bodies)? } else { Vec::new() };
        } else {
            self.frames = read_frame_list_so_far(directory)?;
            self.rows = if bodies > 0 { read_bodies_so_far(directory, bodies)? } else { Vec::new() };
            self.rows.retain(|frame| frame.len() == bodies);
            if bodies > 0 {
                self.frames.truncate(self.rows.len());
            }
        }
        Ok(())
    }

    /// Where the run is at present: its run directory, or the hidden one of a run that goes on.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The scene as it ran.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Particles of each soft body \[-\], in the order of the particles in frames, where those of
    /// cloth follow; empty if the run does not have them written down.
    pub fn soft_particles(&self) -> &[usize] {
        &self.soft_particles
    }

    /// A number for each particle of a frame of this run that tells soft bodies apart. Of a run without
    /// [`soft_particles`](Self::soft_particles) materials tell them apart, and colours if those are of
    /// bodies.
    pub fn body_numbers(&self, frame: &Frame) -> Vec<u32> {
        let has_body_colors = self.scene.output.color_by == ColorBy::Body;
        body_numbers(&frame.particles, &self.soft_particles, has_body_colors)
    }

    /// The numbers among those of [`body_numbers`](Self::body_numbers) that are of heaps of grains,
    /// which pictures do not make smooth; none of a run without
    /// [`soft_particles`](Self::soft_particles).
    pub fn granular_bodies(&self) -> Vec<u32> {
        granular_bodies(&self.scene, &self.soft_particles)
    }

    /// The manifest; none as long as the run goes on.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// What the bodies look like, in the order of the poses.
    pub fn bodies(&self) -> &[RecordedBody] {
        &self.bodies
    }

    /// The bodies and links as the scene describes them.
    pub(crate) fn described(&self) -> &BodiesBuilder {
        &self.described
    }

    /// Centre of mass of each body in the frame that the scene gives the body \[m\]; zero for links.
    pub(crate) fn centers(&self) -> &[Vector3<f64>] {
        &self.centers
    }

    /// Number of frames so far \[-\].
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// Time, number of particles and file of each frame.
    pub fn frames(&self) -> &[FrameRow] {
        &self.frames
    }

    /// Pose in the world of each body's frame at a frame, as in `bodies.csv`; none of a frame that
    /// does not exist.
    pub fn poses(&self, frame: usize) -> impl Iterator<Item = Isometry3<f64>> {
        self.body_rows(frame).iter().map(|row| row.pose)
    }

    /// The rows of `bodies.csv` at a frame, in the order of the bodies.
    pub fn body_rows(&self, frame: usize) -> &[BodyRow] {
        self.rows.get(frame).map_or(&[], Vec::as_slice)
    }

    /// The bodies' shapes at a frame, posed in the world.
    pub fn posed_shapes(&self, frame: usize) -> Vec<RenderBody> {
        let posed = |(body, pose): (&RecordedBody, Isometry3<f64>)| {
            let shapes = body.shapes.iter().cloned();
            shapes.map(move |shape| RenderBody { pose: pose * shape.pose, ..shape }).collect::<Vec<_>>()
        };
        self.bodies.iter().zip(self.poses(frame)).flat_map(posed).collect()
    }

    /// The particles and cloth of a frame.
    ///
    /// # Errors
    /// [`RecordingError`]: there is no such frame, or its file is missing, malformed or not what was
    /// written.
    pub fn frame(&self, frame: usize) -> Result<Frame, RecordingError> {
        let row = self.frames.get(frame).ok_or_else(|| RecordingError::NoFrame {
            directory: self.target.clone(),
            frame,
            frames: self.frames.len(),
        })?;
        let path = frame_path(&self.directory, row.frame);
        digest::verify(&path, &row.file)?;
        Ok(read_frame(&path)?)
    }

    /// The planes that particles do not cross: a point \[m\], and the normal towards them.
    pub fn planes(&self) -> Vec<Plane> {
        let plane = |b: &Boundary| (b.point.into(), Unit::new_normalize(b.normal.into()));
        self.scene.boundaries.iter().map(plane).collect()
    }
}

/// The run directory of this name, or the hidden one of a run that is not ended.
fn present_path(target: &Path) -> PathBuf {
    let partial = partial_path(target);
    if !target.exists() && partial.exists() { partial } else { target.to_path_buf() }
}

fn read_manifest(directory: &Path) -> Result<Option<Manifest>, IoError> {
    directory.join(MANIFEST).exists().then(|| Manifest::read(directory)).transpose()
}
