//! Paths of frames in a run directory.

use std::path::{Path, PathBuf};

/// Folder of the frames in a run directory.
pub const FRAMES: &str = "frames";

/// The file of a frame in a run directory.
pub fn frame_path(directory: &Path, frame: usize) -> PathBuf {
    directory.join(FRAMES).join(format!("{frame:06}.ply"))
}
