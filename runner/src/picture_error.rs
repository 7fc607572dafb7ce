//! Errors of drawing pictures.

use pliant_io::files::IoError;
use pliant_render::RenderError;

use crate::recording_error::RecordingError;

/// A picture that cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// A file of the run cannot be read, or the picture cannot be written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The renderer refuses.
    #[error("picture: {0}")]
    Render(#[from] RenderError),
    /// The run cannot be read back.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The particles cannot be fetched from their device.
    #[error(transparent)]
    Backend(#[from] pliant_coupling::BackendError),
    /// Another number of colours than of particles.
    #[error("picture: {given} colours given for {particles} particles; give one for each, or none")]
    Colors {
        /// Number given.
        given: usize,
        /// Number of particles.
        particles: usize,
    },
    /// The pictures were stopped.
    #[error("pictures: stopped; --resume draws them")]
    Stopped,
}
