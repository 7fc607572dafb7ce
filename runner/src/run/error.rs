//! Runs that could not be done or written.

use std::io;
use std::path::PathBuf;

use crate::machine::BackendUnavailable;
use crate::picture_error::PictureError;
use pliant_io::files::IoError;
use pliant_render::plot::PlotError;

/// A run that could not be done or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The output is there already.
    #[error("output {}: already exists; use another --out, or --resume", path.display())]
    OutputExists {
        /// The run directory.
        path: PathBuf,
    },
    /// An unfinished run of this name is there.
    #[error("output {}: an unfinished run is in {}; --resume it, or move it away", path.display(), partial.display())]
    Unfinished {
        /// The run directory.
        path: PathBuf,
        /// Where the unfinished run is.
        partial: PathBuf,
    },
    /// There is no run to go on with.
    #[error("output {}: there is no run to resume", path.display())]
    NothingToResume {
        /// The run directory.
        path: PathBuf,
    },
    /// The run to go on with is of another scene.
    #[error("output {}: its scene differs from this one in more than the duration; --resume needs the same scene", path.display())]
    DifferentScene {
        /// The run directory.
        path: PathBuf,
    },
    /// The run to go on with has no usable checkpoint.
    #[error("output {}: the checkpoint cannot be used: {reason}", path.display())]
    Checkpoint {
        /// The run directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The output cannot be written.
    #[error("output {}: cannot be written: {source}", path.display())]
    NotWritable {
        /// The run directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The disk is full.
    #[error("the disk is full: cannot write {}{}", path.display(), if *kept { "; free some space and --resume" } else { "" })]
    DiskFull {
        /// The file that did not fit.
        path: PathBuf,
        /// Whether a checkpoint was kept to go on from.
        kept: bool,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(IoError),
    /// A goal names what a robot's file does not hold.
    #[error("{0}")]
    Goal(String),
    /// The backend cannot be had.
    #[error(transparent)]
    BackendChoice(#[from] BackendUnavailable),
    /// The backend does not take the scene.
    #[error(transparent)]
    Attach(pliant_coupling::BackendError),
    /// The backend cannot give the particles.
    #[error("the particles cannot be read: {0}")]
    Particles(#[from] pliant_coupling::BackendError),
    /// Threads cannot be started.
    #[error("{threads} threads cannot be started: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why not.
        reason: String,
    },
    /// A picture cannot be made.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A plot cannot be made.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

impl From<IoError> for RunError {
    fn from(error: IoError) -> Self {
        match error {
            IoError::File { path, source, .. }
                if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
            {
                Self::DiskFull { path, kept: false }
            }
            other => Self::Io(other),
        }
    }
}

impl RunError {
    /// Whether the error was found before anything was written: wrong usage rather than a failed
    /// run.
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            Self::DiskFull { .. }
                | Self::Io(_)
                | Self::Picture(_)
                | Self::Plot(_)
                | Self::Particles(_)
                | Self::Threads { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    // The law: a full disk and a used-up quota are told as such, with the file; another refusal
    // keeps its own words.
    #[test]
    fn a_full_disk_is_told_as_one() {
        let error = |kind: io::ErrorKind| {
            RunError::from(IoError::file("write", Path::new("out/frames/000007.ply"), kind.into()))
        };
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let error = error(kind);
            assert!(matches!(error, RunError::DiskFull { kept: false, .. }));
            assert_eq!(error.to_string(), "the disk is full: cannot write out/frames/000007.ply");
            assert!(!error.is_usage());
        }
        assert!(matches!(error(io::ErrorKind::PermissionDenied), RunError::Io(_)));
    }
}
