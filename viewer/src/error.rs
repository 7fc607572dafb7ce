//! Why a run cannot be shown.

use std::io;
use std::path::PathBuf;

use pliant_io::digest::DigestError;
use pliant_io::files::IoError;
use pliant_runner::recording::RecordingError;

/// Why a run cannot be shown, served or written as a page.
#[derive(Debug, thiserror::Error)]
pub enum ViewerError {
    /// There is nothing to show.
    #[error("no run to show was given")]
    NoRuns,
    /// A run, one of its frames or tables is missing or damaged.
    #[error(transparent)]
    Run(#[from] RecordingError),
    /// A table is not what was written.
    #[error(transparent)]
    Damaged(#[from] DigestError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The port is taken or not allowed.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen {
        /// The port; 0: any that is free.
        port: u16,
        /// The cause.
        source: io::Error,
    },
    /// A part of a frame is larger than the page can address.
    #[error("frame {frame} has {count} {what}; the viewer shows at most {limit}")]
    TooMany {
        /// Number of the frame.
        frame: usize,
        /// What there is too much of.
        what: &'static str,
        /// How many of it \[-\].
        count: usize,
        /// Most that the format holds \[-\].
        limit: usize,
    },
    /// A triangle of cloth refers to a particle that does not exist.
    #[error("frame {frame}: triangle {triangle} refers to particle {particle}; there are {particles}")]
    Triangle {
        /// Number of the frame.
        frame: usize,
        /// Number of the triangle, from 0.
        triangle: usize,
        /// The particle it refers to.
        particle: u32,
        /// Particles in the frame \[-\].
        particles: usize,
    },
    /// The run has no frame yet.
    #[error("{}: the run has no frames", run.display())]
    NoFrames {
        /// The run directory.
        run: PathBuf,
    },
    /// Not even one frame fits.
    #[error(
        "{}: a page with one frame has about {needed} bytes, more than the limit of {limit} bytes",
        run.display()
    )]
    PageTooSmall {
        /// The run directory.
        run: PathBuf,
        /// Bytes that a page with one frame needs.
        needed: u64,
        /// The limit \[bytes\].
        limit: u64,
    },
    /// A part of the scene cannot be written as JSON.
    #[error("cannot write {what} as JSON: {source}")]
    Json {
        /// The part.
        what: &'static str,
        /// The cause.
        source: serde_json::Error,
    },
    /// Another request failed badly while it held the run.
    #[error("{}: the run cannot be read any more: an earlier request ended abnormally", run.display())]
    Poisoned {
        /// The run directory.
        run: PathBuf,
    },
}
