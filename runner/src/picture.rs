//! Pictures of a run directory: made from its frames, its bodies' poses and the scene in its
//! manifest.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use nalgebra::{Point3, Translation3, Unit, Vector3};
use pliant_rigid::BodiesBuilder;
use rayon::prelude::*;

pub use crate::picture_error::PictureError;
use crate::picture_parts::{AZIMUTH, ELEVATION, Plane, Region, add_shapes, ground, slopes, upright};
pub use crate::picture_parts::{drawn, shape};
use crate::record::{BodyRow, Manifest, frame_path, hull_folder, read_bodies};
pub use crate::world_picture::WorldLook;
use pliant_io::files::{IoError, atomic_write};
use pliant_io::ply::{Frame, FrameParticle, read_frame};
use pliant_render::{
    Camera, GifWriter, Image, Picture, RenderBody, RenderCloth, RenderSphere, render, write_png,
};
use pliant_scenes::assemble::rigid_parts;
use pliant_scenes::format::{Boundary, Scene};

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
    planes: Vec<Plane>,
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
pub(crate) struct FrameCloth {
    positions: Vec<[f32; 3]>,
    colors: Vec<[u8; 3]>,
    triangles: Vec<[u32; 3]>,
    back_colors: Vec<[u8; 3]>,
}

impl FrameCloth {
    pub fn of(frame: Frame) -> Self {
        let Frame { particles, triangles, back_colors, .. } = frame;
        if triangles.is_empty() {
            return Self::default();
        }
        let (positions, colors) = particles.iter().map(|p| (p.position, p.color)).unzip();
        Self { positions, colors, triangles, back_colors }
    }

    pub fn cloth(&self) -> RenderCloth<'_> {
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
        let planes = planes(scene);
        let mut artist = Self { directory, scene, frames, described, centers, rows, camera, planes };
        artist.camera = artist.place_camera()?;
        Ok(artist)
    }

    /// The camera of the scene, or one that shows all of the run. Upwards in the picture is against
    /// gravity, so that a tilted gravity looks like a slope.
    fn place_camera(&self) -> Result<Camera, PictureError> {
        let upright = upright(&self.scene.gravity.into());
        let up = upright.inverse() * Vector3::z();
        if let Some(camera) = &self.scene.output.camera {
            return Ok(Camera {
                position: camera.position.into(),
                target: camera.target.into(),
                up,
                vertical_fov: camera.field_of_view,
            });
        }
        let mut region = Region::new(upright);
        for frame in spread(self.frames, FRAMING_FRAMES) {
            region.add_balls(&self.moment(frame)?.balls);
            let rows = self.rows.get(frame).into_iter().flatten();
            for (body, row) in self.described.bodies().iter().zip(rows) {
                region.add_body(body, &row.pose);
            }
        }
        Ok(region.camera(self.scene.output.picture_size))
    }

    fn moment(&self, frame: usize) -> Result<FrameContents, PictureError> {
        let seen = read_frame(frame_path(self.directory, frame))?;
        let balls = balls(&seen);
        let sheet = FrameCloth::of(seen);
        let rows = self.rows.get(frame).map_or(&[][..], Vec::as_slice);
        let mut bodies = Vec::new();
        for ((body, center), row) in self.described.bodies().iter().zip(&self.centers).zip(rows) {
            let pose = row.pose * Translation3::from(*center);
            add_shapes(body, &pose, self.described.links(), &mut bodies);
        }
        bodies.extend(slopes(&self.planes));
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
        picture.ground = ground(&self.planes);
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

/// The particles of a frame.
pub(crate) fn balls(frame: &Frame) -> Vec<RenderSphere> {
    let ball = |p: &FrameParticle| RenderSphere { center: p.position, radius: p.radius, color: p.color };
    frame.particles.iter().map(ball).collect()
}

/// At most `most` of the numbers below `count`, evenly spread, the first and the last among them.
pub(crate) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|k| k * (count - 1) / (most - 1)).collect()
}

/// The boundaries of a scene.
fn planes(scene: &Scene) -> Vec<Plane> {
    let plane = |b: &Boundary| (b.point.into(), Unit::new_normalize(b.normal.into()));
    scene.boundaries.iter().map(plane).collect()
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
