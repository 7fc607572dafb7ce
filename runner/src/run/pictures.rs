//! The last stage of a run: its plots and pictures, drawn from its data under its final name.

use std::path::Path;

use super::RunError;
use super::outputs::pictures_of;
use crate::picture::{Animation, FrameRenderer, PictureError, PictureProgress};
use crate::record::{Manifest, Pictures};
use crate::recording::Recording;
use crate::{plots, pressure};
use pliant_io::digest::Hasher;
use pliant_io::files::IoError;

/// Whether a run has frames, and its pictures are not drawn.
pub fn are_missing(manifest: &Manifest) -> bool {
    manifest.frames > 0 && manifest.pictures != Pictures::Drawn
}

/// Draws the plots and pictures of a run directory, and enters them into its manifest. Each file is
/// complete or absent; those that exist are replaced. With `every_frame` there is also a picture
/// of each frame in `pictures/`.
///
/// # Errors
/// A table or frame cannot be read, a picture cannot be drawn or written, or `progress` asks to
/// stop. The manifest then says that the pictures are pending.
pub fn draw(
    directory: &Path,
    manifest: &mut Manifest,
    every_frame: bool,
    progress: PictureProgress,
) -> Result<(), RunError> {
    draw_from(directory, manifest, every_frame, None, progress)
}

/// As [`draw`], with an animation that was begun while the run went on.
pub(super) fn draw_from(
    directory: &Path,
    manifest: &mut Manifest,
    every_frame: bool,
    begun: Option<Animation>,
    progress: PictureProgress,
) -> Result<(), RunError> {
    let recording = Recording::open(directory).map_err(PictureError::from)?;
    let renderer = FrameRenderer::new(&recording)?;
    // Much of a single picture is the work of one thread: the animation goes on meanwhile.
    let stills = || -> Result<(), RunError> {
        plots::write(directory, manifest)?;
        pressure::pictures(directory, manifest)?;
        Ok(renderer.write_png()?)
    };
    let (drawn, animated) = std::thread::scope(|scope| {
        let stills = scope.spawn(stills);
        let animated = renderer.write_gif_from(begun, progress);
        (stills.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), animated)
    });
    drawn?;
    animated?;
    if every_frame {
        renderer.write_all(progress)?;
    }
    for name in pictures_of(&manifest.scene) {
        let path = directory.join(&name);
        // Plots without a row and pads without a frame have no file.
        let Ok(file) = std::fs::File::open(&path) else { continue };
        let hasher = Hasher::of_reader(file).map_err(|e| IoError::file("read", &path, e))?;
        manifest.digests.insert(name, hasher.digest());
    }
    for name in pictures_of(&manifest.scene) {
        if !manifest.files.contains(&name) {
            manifest.files.push(name);
        }
    }
    manifest.pictures = Pictures::Drawn;
    manifest.write(directory)?;
    Ok(())
}
