//! Pictures of a run directory: made from its frames, its bodies' poses and the scene in its
//! manifest.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::sync::OnceLock;

use nalgebra::{Translation3, Vector3};
use rayon::prelude::*;

pub use crate::picture_error::PictureError;
use crate::picture_frame::{FrameContents, balls};
use crate::picture_parts::{Plane, Region, ground, slopes, upright};
pub use crate::picture_parts::{drawn, shape};
use crate::recording::Recording;
pub use crate::world_picture::WorldLook;
use pliant_io::files::{IoError, atomic_write};
use pliant_render::{
    Background, Camera, GifWriter, Image, Picture, render, render_before, weave_coordinates, write_png,
};
use pliant_scenes::format::Output;

/// Name of the still picture in a run directory: its last frame.
pub const PREVIEW_PNG: &str = "preview.png";

/// Name of the animation in a run directory.
pub const PREVIEW_GIF: &str = "preview.gif";

/// Folder of single pictures in a run directory, if they were requested.
pub const PICTURES: &str = "pictures";

/// Most frames of the animation, and most a second: enough to follow a motion, and a small part of
/// the time of the run.
pub(crate) const GIF_FRAMES: usize = 60;
const GIF_RATE: f64 = 10.0;

/// Number of frames used to place the camera.
const FRAMING_FRAMES: usize = 8;

/// Is told the number of pictures done and of all; may ask to stop.
pub type PictureProgress<'a> = &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>;

/// Draws the pictures of a run.
pub struct FrameRenderer<'a> {
    recording: &'a Recording,
    camera: Camera,
    planes: Vec<Plane>,
    /// That of the first picture drawn.
    background: OnceLock<Background>,
    /// Coordinates in the material of the vertices of cloth \[m\], from the first frame.
    weave: OnceLock<Vec<[f32; 2]>>,
}

impl<'a> FrameRenderer<'a> {
    /// Prepares to draw a run.
    ///
    /// # Errors
    /// [`PictureError`]: a frame of the run is missing or malformed.
    pub fn new(recording: &'a Recording) -> Result<Self, PictureError> {
        let camera = place_camera(recording)?;
        let (background, weave) = (OnceLock::new(), OnceLock::new());
        Ok(Self { recording, camera, planes: recording.planes(), background, weave })
    }

    /// The picture of a frame, `width` x `height` pixels. The caption says which soft bodies are
    /// drawn as particles because they have no surface.
    ///
    /// # Errors
    /// [`PictureError`]: the frame cannot be read or drawn.
    pub fn draw(&self, frame: usize, width: u32, height: u32) -> Result<Image, PictureError> {
        self.drawn(frame, [width, height], false, Some(&self.background))
    }

    /// A frame of the animation, with a background that they share.
    pub(crate) fn draw_small(
        &self,
        frame: usize,
        background: &OnceLock<Background>,
    ) -> Result<Image, PictureError> {
        self.drawn(frame, small_size(self.output()), true, Some(background))
    }

    /// Draws a frame; frames of a size share a background, which is made for the first.
    fn drawn(
        &self,
        frame: usize,
        size: [u32; 2],
        draft: bool,
        background: Option<&OnceLock<Background>>,
    ) -> Result<Image, PictureError> {
        let [width, height] = size;
        let (scene, seen) = (self.recording.scene(), self.recording.frame(frame)?);
        let bodies = self.recording.body_numbers(&seen);
        let contents = FrameContents::new(
            seen,
            scene.ropes.len(),
            &bodies,
            &self.recording.granular_bodies(),
            &self.camera,
            height,
            draft,
        );
        let mut bodies = self.recording.posed_shapes(frame);
        bodies.extend(slopes(&self.planes));
        let time = self.recording.frames().get(frame).map_or(0.0, |row| row.time);
        let caption = contents.caption(&scene.name, time);
        let mut picture = Picture::new(width, height, self.camera);
        let weave = if contents.has_cloth() { self.weave()? } else { &[] };
        let cloths = [contents.cloth(weave)];
        picture.particles = contents.spheres();
        picture.surfaces = contents.surfaces();
        picture.cloths = &cloths;
        picture.bodies = &bodies;
        picture.ground = ground(&self.planes);
        picture.caption = Some(&caption);
        picture.draft = draft;
        let Some(background) = background else { return Ok(render(&picture)?) };
        let background = match background.get() {
            Some(made) => made,
            None => {
                let made = Background::new(&picture)?;
                background.get_or_init(|| made)
            }
        };
        Ok(render_before(&picture, background)?)
    }

    /// The coordinates of cloth in its material: a run begins with cloth at rest, or nearly.
    fn weave(&self) -> Result<&[[f32; 2]], PictureError> {
        if let Some(weave) = self.weave.get() {
            return Ok(weave);
        }
        let first = self.recording.frame(0)?;
        let positions: Vec<[f32; 3]> = first.particles.iter().map(|p| p.position).collect();
        let known = first.triangles.iter().flatten().all(|&v| (v as usize) < positions.len());
        let made = if known { weave_coordinates(&positions, &first.triangles) } else { Vec::new() };
        Ok(self.weave.get_or_init(|| made))
    }

    fn output(&self) -> &Output {
        &self.recording.scene().output
    }

    /// Writes `preview.png`, the last frame.
    ///
    /// # Errors
    /// [`PictureError`].
    pub fn write_png(&self) -> Result<(), PictureError> {
        let [width, height] = self.output().picture_size;
        let last = self.recording.frame_count().saturating_sub(1);
        let image = self.drawn(last, [width, height], false, None)?;
        Ok(write_png(self.recording.directory().join(PREVIEW_PNG), &image)?)
    }

    /// Writes `preview.gif`, half as wide and high as the still, in real time.
    ///
    /// # Errors
    /// [`PictureError`]; [`PictureError::Stopped`] if `progress` asks for it.
    pub fn write_gif(&self, progress: PictureProgress) -> Result<(), PictureError> {
        self.write_gif_from(None, progress)
    }

    /// As [`write_gif`](Self::write_gif), going on from an animation that was begun before; one of
    /// other frames is begun anew.
    pub(crate) fn write_gif_from(
        &self,
        begun: Option<Animation>,
        progress: PictureProgress,
    ) -> Result<(), PictureError> {
        let path = self.recording.directory().join(PREVIEW_GIF);
        let frames = self.recording.frame_count();
        let fits = |begun: &Animation| begun.shown == shown_frames(self.output(), frames);
        let mut animation = match begun.filter(fits) {
            Some(begun) => begun,
            None => Animation::begin(self.output(), frames).map_err(|e| IoError::file("write", &path, e))?,
        };
        let background = OnceLock::new();
        let all = animation.shown.len();
        let mut images: Vec<Image> = Vec::new();
        while animation.done < all {
            let first = animation.done + images.len();
            let last = (first + 2 * rayon::current_num_threads()).min(all);
            let chunk = animation.shown[first..last].to_vec();
            let draw = || chunk.par_iter().map(|frame| self.draw_small(*frame, &background)).collect();
            // The frames before are compressed meanwhile.
            let add = || images.iter().try_for_each(|image| animation.add(image));
            let (drawn, added): (Result<Vec<Image>, PictureError>, io::Result<()>) = rayon::join(draw, add);
            added.map_err(|e| IoError::file("write", &path, e))?;
            images = drawn?;
            if progress(last, all).is_break() {
                return Err(PictureError::Stopped);
            }
        }
        let bytes = animation.gif.finish().map_err(|e| IoError::file("write", &path, e))?;
        Ok(atomic_write(&path, |out| out.write_all(&bytes))?)
    }

    /// Writes `pictures/000000.png` and so on, one for every frame.
    ///
    /// # Errors
    /// [`PictureError`]; [`PictureError::Stopped`] if `progress` asks for it.
    pub fn write_all(&self, progress: PictureProgress) -> Result<(), PictureError> {
        let folder = self.recording.directory().join(PICTURES);
        std::fs::create_dir_all(&folder).map_err(|e| IoError::file("create", &folder, e))?;
        let [width, height] = self.output().picture_size;
        let frames = self.recording.frame_count();
        let all: Vec<usize> = (0..frames).collect();
        for chunk in all.chunks(2 * rayon::current_num_threads()) {
            chunk.par_iter().try_for_each(|&frame| {
                let image = self.draw(frame, width, height)?;
                Ok::<_, PictureError>(write_png(folder.join(format!("{frame:06}.png")), &image)?)
            })?;
            if progress(chunk.last().map_or(0, |last| last + 1), frames).is_break() {
                return Err(PictureError::Stopped);
            }
        }
        Ok(())
    }
}

/// Width and height of the animation \[pixels\].
pub(crate) fn small_size(output: &Output) -> [u32; 2] {
    output.picture_size.map(|side| (side / 2).max(1))
}

/// The frames that the animation of a run of `frames` shows.
pub(crate) fn shown_frames(output: &Output, frames: usize) -> Vec<usize> {
    let length = frames.saturating_sub(1) as f64 * output.frame_interval;
    // The cast saturates; both ends are shown.
    let most = ((length * GIF_RATE).ceil() as usize).saturating_add(1).clamp(2, GIF_FRAMES);
    spread(frames, most)
}

/// An animation in memory, its first frames compressed.
pub(crate) struct Animation {
    /// The frames of the run that it shows.
    shown: Vec<usize>,
    /// How many of them are in it.
    done: usize,
    gif: GifWriter<Vec<u8>>,
}

impl Animation {
    /// The animation of a run of `frames` frames, none of them drawn.
    pub fn begin(output: &Output, frames: usize) -> io::Result<Self> {
        let [width, height] = small_size(output);
        let shown = shown_frames(output, frames);
        let stride = (frames as f64 - 1.0).max(1.0) / (shown.len() as f64 - 1.0).max(1.0);
        let gif = GifWriter::new(Vec::new(), width, height, stride * output.frame_interval)?;
        Ok(Self { shown, done: 0, gif })
    }

    /// The frame that is to be added next; none when all are there.
    pub fn next_frame(&self) -> Option<usize> {
        self.shown.get(self.done).copied()
    }

    /// Adds that frame.
    pub fn add(&mut self, image: &Image) -> io::Result<()> {
        self.gif.add(image)?;
        self.done += 1;
        Ok(())
    }
}

/// The camera of the scene, or one that shows all of the run. Upwards in the picture is against
/// gravity, so that a tilted gravity looks like a slope.
fn place_camera(recording: &Recording) -> Result<Camera, PictureError> {
    let scene = recording.scene();
    let upright = upright(&scene.gravity.into());
    let up = upright.inverse() * Vector3::z();
    if let Some(camera) = &scene.output.camera {
        return Ok(Camera {
            position: camera.position.into(),
            target: camera.target.into(),
            up,
            vertical_fov: camera.field_of_view,
        });
    }
    let mut region = Region::new(upright);
    for frame in spread(recording.frame_count(), FRAMING_FRAMES) {
        region.add_balls(&balls(&recording.frame(frame)?));
        let centered = recording.described().bodies().iter().zip(recording.centers());
        for ((body, center), pose) in centered.zip(recording.poses(frame)) {
            region.add_body(body, &(pose * Translation3::from(*center)));
        }
    }
    Ok(region.camera(scene.output.picture_size))
}

/// At most `most` of the numbers below `count`, evenly spread, the first and the last among them.
pub(crate) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|k| k * (count - 1) / (most - 1)).collect()
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
