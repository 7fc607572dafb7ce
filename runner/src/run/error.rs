//! Errors of runs.

use std::io;
use std::path::PathBuf;

use crate::machine::BackendUnavailable;
use crate::picture_error::PictureError;
use pliant_io::digest::DigestError;
use pliant_io::files::IoError;
use pliant_io::lock::{Holder, LockError, holder_text};
use pliant_io::text::printable;
use pliant_render::plot::PlotError;

/// A run that could not be carried out or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The output exists.
    #[error("output {}: already exists; use another --out, or --resume", path.display())]
    OutputExists {
        /// The run directory.
        path: PathBuf,
    },
    /// An unfinished run of this name exists.
    #[error("output {}: an unfinished run is in {}; --resume it, or move it away", path.display(), partial.display())]
    Unfinished {
        /// The run directory.
        path: PathBuf,
        /// Path of the unfinished run.
        partial: PathBuf,
    },
    /// Another process works on the run.
    #[error("output {}: in use by {}", path.display(), holder_text(holder.as_ref()))]
    InUse {
        /// The run directory.
        path: PathBuf,
        /// The process; absent if it does not name itself.
        holder: Option<Holder>,
    },
    /// The file system of the run directory has no locks.
    #[error("output {}: {source}", path.display())]
    NoLocks {
        /// The run directory.
        path: PathBuf,
        /// Why.
        source: LockError,
    },
    /// An input file of the run to resume has changed.
    #[error("output {}: {} changed since the run began; --resume needs the same files", path.display(), printable(&input.to_string_lossy()))]
    InputChanged {
        /// The run directory.
        path: PathBuf,
        /// The input file.
        input: PathBuf,
    },
    /// There is no run to resume.
    #[error("output {}: there is no run to resume", path.display())]
    NothingToResume {
        /// The run directory.
        path: PathBuf,
    },
    /// The run to resume is of another scene.
    #[error("output {}: its scene differs from this one in more than the duration; --resume needs the same scene", path.display())]
    DifferentScene {
        /// The run directory.
        path: PathBuf,
    },
    /// The run to resume has no usable checkpoint.
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
        /// Whether there is a checkpoint to resume from.
        kept: bool,
    },
    /// A file of the run to resume is not what the checkpoint says.
    #[error(transparent)]
    Damaged(DigestError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(IoError),
    /// A goal refers to a name that the robot's file does not have.
    #[error("{0}")]
    Goal(String),
    /// The backend is not available.
    #[error(transparent)]
    BackendChoice(#[from] BackendUnavailable),
    /// The backend does not support the scene.
    #[error(transparent)]
    Attach(pliant_coupling::BackendError),
    /// The backend cannot return the particles.
    #[error("the particles cannot be read: {0}")]
    Particles(#[from] pliant_coupling::BackendError),
    /// Threads cannot be started.
    #[error("{threads} threads cannot be started: {reason}")]
    Threads {
        /// Their number.
        threads: usize,
        /// Why.
        reason: String,
    },
    /// A picture cannot be drawn.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A plot cannot be drawn.
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

impl From<DigestError> for RunError {
    fn from(error: DigestError) -> Self {
        match error {
            DigestError::Io(error) => error.into(),
            damaged => Self::Damaged(damaged),
        }
    }
}

impl RunError {
    /// The same error of a run that has, or has not, a checkpoint to resume from.
    pub(super) fn kept(self, kept: bool) -> Self {
        match self {
            Self::DiskFull { path, .. } => Self::DiskFull { path, kept },
            other => other,
        }
    }

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

    // Checks: a full disk and an exhausted quota are reported as such, with the file; other errors
    // keep their text.
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
