//! Errors of reading a run back.

use std::path::PathBuf;

use pliant_io::digest::DigestError;
use pliant_io::files::IoError;
use pliant_scenes::assemble::AssembleError;

/// A run that cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file is missing or malformed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A frame or table is not what was written.
    #[error(transparent)]
    Damaged(#[from] DigestError),
    /// A body of the scene cannot be rebuilt, for instance because its mesh file is missing.
    #[error("{}: {source}", directory.display())]
    Bodies {
        /// The run directory.
        directory: PathBuf,
        /// Why.
        source: Box<AssembleError>,
    },
    /// There is no such frame.
    #[error("{}: the run has no frame {frame}; it has {frames}", directory.display())]
    NoFrame {
        /// The run directory.
        directory: PathBuf,
        /// The frame asked for.
        frame: usize,
        /// Number of frames that the run has.
        frames: usize,
    },
    /// Neither a run, finished or not, nor a place of one.
    #[error("{}: no run found: it has neither manifest.json nor a checkpoint", directory.display())]
    NoRun {
        /// The directory.
        directory: PathBuf,
    },
}
