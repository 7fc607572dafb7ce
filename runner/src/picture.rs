//! Pictures of a run directory: made from its frames, its bodies' poses and the scene in its
//! manifest.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_rigid::multibody::JointKind;
use pliant_rigid::{BodiesBuilder, Drawn, Shape};
use rayon::prelude::*;

pub use crate::picture_error::PictureError;
use crate::record::{BodyRow, Manifest, frame_path, hull_folder, read_bodies};
use pliant_io::files::{IoError, atomic_write};
use pliant_io::ply::{Frame, FrameParticle, read_frame};
use pliant_render::{
    BodyShape, Camera, GifWriter, Image, Picture, RenderBody, RenderCloth, RenderSphere, render, write_png,
};
use pliant_scenes::assemble::rigid_parts;
use pliant_scenes::format::Scene;

/// Name of the still picture in a run directory: its last frame.
pub const PREVIEW_PNG: &str = "preview.png";

/// Name of the animation in a run directory.
pub const PREVIEW_GIF: &str = "preview.gif";

/// Folder of single pictures in a run directory, if they were requested.
pub const PICTURES: &str = "pictures";

/// Most frames of the animation: enough for ten seconds at twelve a second.
pub(crate) const GIF_FRAMES: usize = 125;

/// Number of frames used to place the camera.
const FRAMING_FRAMES: usize = 8;

/// Fraction of the particles that may lie outside the picture, so that a few outliers do not shrink
/// the rest.
const STRAYS: f64 = 0.002;

/// Default direction of the camera: from the front right \[rad\].
const AZIMUTH: f64 = -1.05;
/// Above the horizon \[rad\].
const ELEVATION: f64 = 0.42;

/// Segments round a circle of a tessellated solid.
const SEGMENTS: u32 = 48;

/// Is told the number of pictures done and of all; may ask to stop.
pub type PictureProgress<'a> = &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>;

/// Draws the pictures of a run, with the data that all of them share.
pub struct FrameRenderer<'a> {
    directory: &'a Path,
    scene: &'a Scene,
    frames: usize,
    described: BodiesBuilder,
    centers: Vec<Vector3<f64>>,
    rows: Vec<Vec<BodyRow>>,
    camera: Camera,
    ground: Option<f64>,
}

/// A frame, ready to draw.
struct FrameContents {
    /// Every particle; those of cloth have no radius and are not drawn.
    balls: Vec<RenderSphere>,
    /// Positions and colours of all particles, where there is cloth, and its triangles.
    sheet: FrameCloth,
    bodies: Vec<RenderBody>,
    time: f64,
}

/// The cloth of a frame.
#[derive(Default)]
struct FrameCloth {
    positions: Vec<[f32; 3]>,
    colors: Vec<[u8; 3]>,
    triangles: Vec<[u32; 3]>,
    back_colors: Vec<[u8; 3]>,
}

impl FrameCloth {
    fn of(frame: Frame) -> Self {
        let Frame { particles, triangles, back_colors, .. } = frame;
        if triangles.is_empty() {
            return Self::default();
        }
        let (positions, colors) = particles.iter().map(|p| (p.position, p.color)).unzip();
        Self { positions, colors, triangles, back_colors }
    }

    fn cloth(&self) -> RenderCloth<'_> {
        let Self { positions, colors, triangles, back_colors } = self;
        RenderCloth { positions, colors, triangles, back_colors }
    }
}

impl<'a> FrameRenderer<'a> {
    /// Prepares to draw the run in `directory`.
    ///
    /// # Errors
    /// [`PictureError`]: a file of the run is missing or malformed.
    pub fn new(directory: &'a Path, manifest: &'a Manifest) -> Result<Self, PictureError> {
        let scene = &manifest.scene;
        let parts = rigid_parts(scene, Some(&hull_folder(directory)))?;
        let (described, centers) = (parts.builder, parts.centers);
        let rows = if described.is_empty() { Vec::new() } else { read_bodies(directory, described.len())? };
        let camera = Camera::frame(Point3::origin(), Point3::new(1.0, 1.0, 1.0), AZIMUTH, ELEVATION, 1.0);
        let frames = manifest.frames;
        let mut artist =
            Self { directory, scene, frames, described, centers, rows, camera, ground: ground(scene) };
        artist.camera = artist.place_camera()?;
        Ok(artist)
    }

    /// The camera of the scene, or one that shows all of the run. Upwards in the picture is against
    /// gravity, so that a tilted gravity looks like a slope.
    fn place_camera(&self) -> Result<Camera, PictureError> {
        let upright = upright(&self.scene.gravity);
        let up = upright.inverse() * Vector3::z();
        if let Some(camera) = &self.scene.output.camera {
            return Ok(Camera {
                position: camera.position.into(),
                target: camera.target.into(),
                up,
                vertical_fov: camera.field_of_view,
            });
        }
        let mut low = Point3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let mut high = -low;
        for frame in spread(self.frames, FRAMING_FRAMES) {
            let moment = self.moment(frame)?;
            for axis in 0..3 {
                let (least, most) =
                    extent(&moment.balls, &upright.inverse_transform_vector(&Vector3::ith(axis, 1.0)));
                low[axis] = low[axis].min(least);
                high[axis] = high[axis].max(most);
            }
            for (body, row) in self.described.bodies().iter().zip(self.rows.get(frame).into_iter().flatten())
            {
                let seen = body.appearance.iter().flat_map(|a| corners(&a.shape).map(|c| a.pose * c));
                for corner in seen.map(|corner| upright * (row.pose * corner)) {
                    low = low.inf(&corner);
                    high = high.sup(&corner);
                }
                for geometry in &body.geometries {
                    if let Some((center, radius)) = geometry.shape.bounding_sphere() {
                        let center = upright * (row.pose * geometry.pose * center);
                        low = low.inf(&(center - Vector3::repeat(radius)));
                        high = high.sup(&(center + Vector3::repeat(radius)));
                    }
                }
            }
        }
        if !(low.iter().chain(high.iter()).all(|x| x.is_finite())) {
            (low, high) = (Point3::new(-0.5, -0.5, 0.0), Point3::new(0.5, 0.5, 0.5));
        }
        let [width, height] = self.scene.output.picture_size;
        let camera = Camera::frame(low, high, AZIMUTH, ELEVATION, f64::from(width) / f64::from(height));
        let back = upright.inverse();
        Ok(Camera { position: back * camera.position, target: back * camera.target, up, ..camera })
    }

    fn moment(&self, frame: usize) -> Result<FrameContents, PictureError> {
        let seen = read_frame(frame_path(self.directory, frame))?;
        let ball = |p: &FrameParticle| RenderSphere { center: p.position, radius: p.radius, color: p.color };
        let balls = seen.particles.iter().map(ball).collect();
        let sheet = FrameCloth::of(seen);
        let rows = self.rows.get(frame).map_or(&[][..], Vec::as_slice);
        let mut bodies = Vec::new();
        for ((body, center), row) in self.described.bodies().iter().zip(&self.centers).zip(rows) {
            let pose = row.pose * Translation3::from(*center);
            let marked = body.link.is_some_and(|link| {
                let joint = &self.described.links()[link.0].joint;
                !matches!(joint, JointKind::Fixed | JointKind::Prescribed(_))
            });
            let touched = body.geometries.iter().filter(|g| g.seen);
            let touched = touched.map(|g| (shape(&g.shape), &g.pose, g.color));
            let seen = body.appearance.iter().map(|a| (drawn(&a.shape), &a.pose, a.color));
            for (shape, at, color) in touched.chain(seen) {
                bodies.push(RenderBody { shape, pose: pose * at, color, marked });
            }
        }
        bodies.extend(slopes(self.scene));
        let steps = (self.scene.output.frame_interval / self.scene.dt).round().max(1.0);
        let time = rows.first().map_or(frame as f64 * steps * self.scene.dt, |row| row.time);
        Ok(FrameContents { balls, sheet, bodies, time })
    }

    /// The picture of a frame, `width` x `height` pixels.
    ///
    /// # Errors
    /// [`PictureError`]: the frame cannot be read or drawn.
    pub fn draw(&self, frame: usize, width: u32, height: u32) -> Result<Image, PictureError> {
        if frame >= self.frames {
            return Err(PictureError::NoFrame { directory: self.directory.to_path_buf(), frame });
        }
        let moment = self.moment(frame)?;
        let caption = format!("{}  t = {:.2} s", self.scene.name, moment.time);
        let mut picture = Picture::new(width, height, self.camera);
        let cloths = [moment.sheet.cloth()];
        picture.particles = &moment.balls;
        picture.cloths = &cloths;
        picture.bodies = &moment.bodies;
        picture.ground = self.ground;
        picture.caption = Some(&caption);
        Ok(render(&picture)?)
    }

    /// Writes `preview.png`, the last frame.
    ///
    /// # Errors
    /// [`PictureError`].
    pub fn write_png(&self) -> Result<(), PictureError> {
        let [width, height] = self.scene.output.picture_size;
        let image = self.draw(self.frames.saturating_sub(1), width, height)?;
        Ok(write_png(self.directory.join(PREVIEW_PNG), &image)?)
    }

    /// Writes `preview.gif`, half as wide and high as the still, in real time.
    ///
    /// # Errors
    /// [`PictureError`]; [`PictureError::Stopped`] if `progress` asks for it.
    pub fn write_gif(&self, progress: PictureProgress) -> Result<(), PictureError> {
        let [width, height] = self.scene.output.picture_size.map(|side| (side / 2).max(1));
        let shown = spread(self.frames, GIF_FRAMES);
        let stride = (self.frames as f64 - 1.0).max(1.0) / (shown.len() as f64 - 1.0).max(1.0);
        let time = stride * self.scene.output.frame_interval;
        let mut failure = None;
        let result = atomic_write(self.directory.join(PREVIEW_GIF), |out| {
            let mut gif = GifWriter::new(out, width, height, time)?;
            let mut done = 0;
            for chunk in shown.chunks(2 * rayon::current_num_threads()) {
                let images: Result<Vec<Image>, PictureError> =
                    chunk.par_iter().map(|&frame| self.draw(frame, width, height)).collect();
                let images = match images {
                    Ok(images) => images,
                    Err(error) => {
                        failure = Some(error);
                        return Err(io::Error::other("a frame could not be drawn"));
                    }
                };
                for image in &images {
                    gif.add(image)?;
                }
                done += images.len();
                if progress(done, shown.len()).is_break() {
                    failure = Some(PictureError::Stopped);
                    return Err(io::Error::other("stopped"));
                }
            }
            gif.finish().map(drop)
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(result?),
        }
    }

    /// Writes `pictures/000000.png` and so on, one for every frame.
    ///
    /// # Errors
    /// [`PictureError`]; [`PictureError::Stopped`] if `progress` asks for it.
    pub fn write_all(&self, progress: PictureProgress) -> Result<(), PictureError> {
        let folder = self.directory.join(PICTURES);
        std::fs::create_dir_all(&folder).map_err(|e| IoError::file("create", &folder, e))?;
        let [width, height] = self.scene.output.picture_size;
        let all: Vec<usize> = (0..self.frames).collect();
        for chunk in all.chunks(2 * rayon::current_num_threads()) {
            chunk.par_iter().try_for_each(|&frame| {
                let image = self.draw(frame, width, height)?;
                Ok::<_, PictureError>(write_png(folder.join(format!("{frame:06}.png")), &image)?)
            })?;
            if progress(chunk.last().map_or(0, |last| last + 1), self.frames).is_break() {
                return Err(PictureError::Stopped);
            }
        }
        Ok(())
    }
}

/// At most `most` of the numbers below `count`, evenly spread, the first and the last among them.
pub(crate) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|k| k * (count - 1) / (most - 1)).collect()
}

/// The rotation after which gravity \[m/s^2\] points along -z; none without gravity.
fn upright(gravity: &[f64; 3]) -> UnitQuaternion<f64> {
    let up = -Vector3::from(*gravity);
    UnitQuaternion::rotation_between(&up, &Vector3::z()).unwrap_or_default()
}

/// The range of the spheres along an axis (a unit vector), without outliers.
fn extent(balls: &[RenderSphere], axis: &Vector3<f64>) -> (f64, f64) {
    let axis = axis.cast::<f32>();
    let along = balls.iter().map(|ball| Vector3::from(ball.center).dot(&axis));
    let mut values: Vec<f32> = along.filter(|x| x.is_finite()).collect();
    values.sort_unstable_by(f32::total_cmp);
    let strays = (STRAYS * values.len() as f64) as usize;
    match (values.get(strays), values.iter().rev().nth(strays)) {
        (Some(&least), Some(&most)) => (f64::from(least), f64::from(most)),
        _ => (f64::INFINITY, f64::NEG_INFINITY),
    }
}

/// Height of the highest level boundary [m]: it is drawn as the ground.
fn ground(scene: &Scene) -> Option<f64> {
    let level = scene.boundaries.iter().filter(|b| is_level(&b.normal));
    level.map(|b| b.point[2]).reduce(f64::max)
}

fn is_level(normal: &[f64; 3]) -> bool {
    Vector3::from(*normal).normalize().z > 1.0 - 1e-9
}

/// Boundaries that are neither level nor steep, as half-spaces; steep ones would hide the scene.
fn slopes(scene: &Scene) -> impl Iterator<Item = RenderBody> {
    let normal = |n: &[f64; 3]| Unit::new_normalize(Vector3::from(*n));
    scene.boundaries.iter().filter(move |b| !is_level(&b.normal) && normal(&b.normal).z > 0.5).map(move |b| {
        let turn = UnitQuaternion::rotation_between_axis(&Vector3::z_axis(), &normal(&b.normal));
        let pose = Isometry3::from_parts(Translation3::from(b.point), turn.unwrap_or_default());
        RenderBody { shape: BodyShape::HalfSpace, pose, color: [190, 190, 185], marked: false }
    })
}

/// The corners of the box round a shape that is only seen; none of one without bounds.
fn corners(drawn: &Drawn) -> impl Iterator<Item = Point3<f64>> {
    let range = match drawn {
        Drawn::Solid(solid) => solid
            .bounding_sphere()
            .map(|(center, radius)| (center - Vector3::repeat(radius), center + Vector3::repeat(radius))),
        Drawn::Surface(surface) => surface.vertices().first().map(|first| {
            surface.vertices().iter().fold((*first, *first), |(low, high), v| (low.inf(v), high.sup(v)))
        }),
    };
    range.into_iter().flat_map(|(low, high)| {
        (0..8).map(move |corner| {
            Point3::from(Vector3::from_fn(
                |axis, _| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] },
            ))
        })
    })
}

/// The renderer's shape of what is only seen.
pub fn drawn(drawn: &Drawn) -> BodyShape {
    match drawn {
        Drawn::Solid(solid) => shape(solid),
        Drawn::Surface(surface) => BodyShape::Mesh {
            vertices: surface.vertices().to_vec(),
            triangles: surface.triangles().to_vec(),
            smooth: false,
        },
    }
}

/// The renderer's shape of a solid.
pub fn shape(shape: &Shape) -> BodyShape {
    match shape {
        Shape::HalfSpace => BodyShape::HalfSpace,
        Shape::Box { half_extents } => BodyShape::Box { half_extents: *half_extents },
        Shape::Sphere { radius } => BodyShape::Sphere { radius: *radius },
        Shape::Capsule { radius, half_length } => {
            BodyShape::Capsule { radius: *radius, half_length: *half_length }
        }
        Shape::Cylinder { radius, half_length } => {
            BodyShape::Cylinder { radius: *radius, half_length: *half_length }
        }
        Shape::ConvexHull(_) | Shape::Mesh(_) | Shape::HeightField(_) => {
            let (vertices, triangles) = shape.triangles(SEGMENTS);
            BodyShape::Mesh { vertices, triangles, smooth: false }
        }
        Shape::Ellipsoid { semi_axes } => BodyShape::Ellipsoid { half_axes: *semi_axes },
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    // Checks: at most the requested number, in order, without repeats, with both ends.
    #[test]
    fn chosen_frames_are_spread_from_first_to_last() {
        for count in [0, 1, 2, 7, 125, 126, 1000] {
            let chosen = spread(count, 125);
            assert_eq!(chosen.len(), count.min(125));
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(chosen.first().copied(), (count > 0).then_some(0));
            assert_eq!(chosen.last().copied(), count.checked_sub(1));
        }
    }
}
