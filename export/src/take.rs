//! The chosen frames of a source, each checked before a format sees it.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use nalgebra::Isometry3;
use pliant_io::ply::{Frame, FrameFields, FrameParticle};
use pliant_runner::recording::RecordedBody;

use crate::error::ExportError;
use crate::source::{Paint, Source, Table};

/// What of a run is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// Frames to choose from; none: all. An end beyond the run is that of the run.
    pub range: Option<Range<usize>>,
    /// Every n-th frame of the range, counted from its first one; at least 1.
    pub stride: usize,
    /// Width and height of a video \[pixels\]; none: those of the run's pictures.
    pub size: Option<[u32; 2]>,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { range: None, stride: 1, size: None }
    }
}

/// Tells how far the export is (frames done, frames in all) and hears whether to go on.
pub type Progress<'a> = dyn FnMut(usize, usize) -> ControlFlow<()> + 'a;

/// A real property of particles.
pub struct Column {
    /// Its name in the formats.
    pub name: &'static str,
    /// Numbers a particle: 1, 3 or 9.
    pub width: usize,
    /// Adds the numbers of a particle.
    pub push: fn(&FrameParticle, &mut Vec<f32>),
}

/// A frame on its way to a format.
pub struct Moment<'a> {
    /// Number of the frame in the export, from 0.
    pub step: usize,
    /// Number of the frame in the source.
    pub number: usize,
    /// Time \[s\].
    pub time: f64,
    /// Particles and cloth.
    pub frame: &'a Frame,
    /// Pose of each body in the world; unit quaternions whose sign does not jump between frames.
    pub poses: &'a [Isometry3<f64>],
}

/// The frames to export, and what is the same in all of them.
pub struct Take<'a> {
    source: &'a dyn Source,
    frames: Vec<usize>,
    /// Time of each \[s\].
    pub times: Vec<f64>,
    /// The first frame.
    pub first: Frame,
    /// Particles of each material that are drawn as balls, in their order.
    pub balls: BTreeMap<u16, Vec<usize>>,
    /// Particles of cloth, in their order: those of radius 0 or at a corner of a triangle.
    pub cloth: Vec<usize>,
    /// Corners of the triangles, as places in `cloth`.
    pub triangles: Vec<[usize; 3]>,
}

impl<'a> Take<'a> {
    /// Chooses the frames.
    pub fn new(source: &'a dyn Source, options: &ExportOptions) -> Result<Self, ExportError> {
        let all = source.times();
        let range = options.range.clone().unwrap_or(0..all.len());
        if options.stride == 0 {
            return Err(ExportError::ZeroStride);
        }
        let frames: Vec<usize> = (range.start..range.end.min(all.len())).step_by(options.stride).collect();
        let Some(&start) = frames.first() else {
            return Err(ExportError::NoFrames { frames: all.len(), first: range.start, end: range.end });
        };
        let times: Vec<f64> = frames.iter().map(|&frame| all[frame]).collect();
        for (at, pair) in times.windows(2).enumerate() {
            // Written so that NaN fails too.
            if pair[1].partial_cmp(&pair[0]) != Some(std::cmp::Ordering::Greater) {
                return Err(ExportError::Times { frame: frames[at + 1], time: pair[1], before: pair[0] });
            }
        }
        let first = source.frame(start)?;
        check_triangles(start, &first)?;
        let mut is_cloth: Vec<bool> = first.particles.iter().map(|p| p.radius == 0.0).collect();
        first.triangles.iter().flatten().for_each(|&corner| is_cloth[corner as usize] = true);
        let mut balls: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        let (mut cloth, mut place) = (Vec::new(), vec![0; is_cloth.len()]);
        for (index, particle) in first.particles.iter().enumerate() {
            if is_cloth[index] {
                place[index] = cloth.len();
                cloth.push(index);
            } else {
                balls.entry(particle.material).or_default().push(index);
            }
        }
        let triangles = first.triangles.iter().map(|t| t.map(|corner| place[corner as usize])).collect();
        Ok(Self { source, frames, times, first, balls, cloth, triangles })
    }

    /// Leaves out frames less than `least` \[s\] after the one before, but neither the first nor the
    /// last.
    pub fn thinned(mut self, least: f64) -> Self {
        let last = self.times.len() - 1;
        let mut due = f64::NEG_INFINITY;
        let mut kept = Vec::new();
        for (step, &time) in self.times.iter().enumerate() {
            if time >= due || step == last {
                kept.push(step);
                due = time + least;
            }
        }
        self.frames = kept.iter().map(|&step| self.frames[step]).collect();
        self.times = kept.iter().map(|&step| self.times[step]).collect();
        self
    }

    /// Number in the source of a frame of the export.
    pub fn number(&self, step: usize) -> usize {
        self.frames[step]
    }

    /// What draws the frames.
    pub fn painter(&self) -> Result<Box<dyn Paint + '_>, ExportError> {
        self.source.painter()
    }

    /// Width and height of the run's pictures \[pixels\].
    pub fn picture_size(&self) -> [u32; 2] {
        self.source.picture_size()
    }

    /// Bodies, in the order of the poses.
    pub fn bodies(&self) -> &[RecordedBody] {
        self.source.bodies()
    }

    /// The diagnostics.
    pub fn diagnostics(&self) -> Result<Table, ExportError> {
        self.source.diagnostics()
    }

    /// The real properties of the particles beyond the position.
    pub fn columns(&self) -> Vec<Column> {
        columns(self.first.fields)
    }

    /// Gives each frame to `write`, in their order.
    pub fn each(
        &self,
        progress: &mut Progress,
        mut write: impl FnMut(&Moment) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut before: Vec<Isometry3<f64>> = Vec::new();
        for (step, (&number, &time)) in self.frames.iter().zip(&self.times).enumerate() {
            if progress(step, self.frames.len()).is_break() {
                return Err(ExportError::Stopped);
            }
            let frame = if step == 0 { self.first.clone() } else { self.source.frame(number)? };
            self.check(number, &frame)?;
            let mut poses = self.source.poses(number);
            check_poses(number, &poses)?;
            for (pose, before) in poses.iter_mut().zip(&before) {
                if pose.rotation.coords.dot(&before.rotation.coords) < 0.0 {
                    pose.rotation = nalgebra::UnitQuaternion::new_unchecked(-pose.rotation.into_inner());
                }
            }
            if poses.len() != self.bodies().len() {
                return Err(self.changed(number, "the bodies"));
            }
            write(&Moment { step, number, time, frame: &frame, poses: &poses })?;
            before = poses;
        }
        match progress(self.frames.len(), self.frames.len()) {
            ControlFlow::Break(()) => Err(ExportError::Stopped),
            ControlFlow::Continue(()) => Ok(()),
        }
    }

    fn changed(&self, frame: usize, what: &'static str) -> ExportError {
        ExportError::Changed { frame, first: self.frames[0], what }
    }

    fn check(&self, number: usize, frame: &Frame) -> Result<(), ExportError> {
        let first = &self.first;
        if frame.particles.len() != first.particles.len() {
            return Err(self.changed(number, "the numbers of particles"));
        }
        if frame.fields != first.fields {
            return Err(self.changed(number, "the fields"));
        }
        if frame.triangles != first.triangles || frame.back_colors != first.back_colors {
            return Err(self.changed(number, "the triangles of cloth"));
        }
        if frame.particles.iter().zip(&first.particles).any(|(now, then)| now.material != then.material) {
            return Err(self.changed(number, "the materials"));
        }
        let columns = self.columns();
        let mut values = Vec::new();
        for (index, particle) in frame.particles.iter().enumerate() {
            let refuse = |property, values: &[f32]| match values.iter().find(|v| !v.is_finite()) {
                Some(&value) => {
                    let (what, value) = ("particle", f64::from(value));
                    Err(ExportError::NotFinite { frame: number, what, index, property, value })
                }
                None => Ok(()),
            };
            refuse("position", &particle.position)?;
            for column in &columns {
                values.clear();
                (column.push)(particle, &mut values);
                refuse(column.name, &values)?;
            }
        }
        Ok(())
    }
}

fn check_triangles(number: usize, frame: &Frame) -> Result<(), ExportError> {
    let particles = frame.particles.len();
    for (triangle, corners) in frame.triangles.iter().enumerate() {
        if let Some(&particle) = corners.iter().find(|&&corner| corner as usize >= particles) {
            return Err(ExportError::Triangle { frame: number, triangle, particle, particles });
        }
    }
    Ok(())
}

fn check_poses(frame: usize, poses: &[Isometry3<f64>]) -> Result<(), ExportError> {
    for (index, pose) in poses.iter().enumerate() {
        let position = ("position", pose.translation.vector.iter().find(|v| !v.is_finite()));
        let rotation = ("orientation", pose.rotation.coords.iter().find(|v| !v.is_finite()));
        for (property, wrong) in [position, rotation] {
            if let Some(&value) = wrong {
                return Err(ExportError::NotFinite { frame, what: "body", index, property, value });
            }
        }
    }
    Ok(())
}

fn columns(fields: FrameFields) -> Vec<Column> {
    let always = |name, width, push| Some(Column { name, width, push });
    let field = |has: bool, name, width, push| has.then_some(Column { name, width, push });
    [
        always("velocity", 3, |p, out| out.extend(p.velocity)),
        always("radius", 1, |p, out| out.push(p.radius)),
        field(fields.j, "J", 1, |p, out| out.push(p.j)),
        field(fields.plastic_strain, "plastic_strain", 1, |p, out| out.push(p.plastic_strain)),
        field(fields.stress_norm, "stress_norm", 1, |p, out| out.push(p.stress_norm)),
        field(fields.mass, "mass", 1, |p, out| out.push(p.mass)),
        field(fields.volume, "volume", 1, |p, out| out.push(p.volume)),
        field(fields.affine, "affine", 9, |p, out| out.extend(p.affine)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
