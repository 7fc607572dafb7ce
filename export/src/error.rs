//! What can go wrong in an export.

use std::io;
use std::path::PathBuf;

use pliant_io::files::IoError;
use pliant_runner::picture::PictureError;
use pliant_runner::recording::RecordingError;

/// An export that was not made. Nothing of it is left then.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is something at the target already.
    #[error("{}: exists already; an export never overwrites", path.display())]
    TargetExists {
        /// The target.
        path: PathBuf,
    },
    /// The run cannot be read; the message names the file.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A table of the run or a file of the export.
    #[error(transparent)]
    Io(#[from] IoError),
    /// No frames are left to export.
    #[error("no frames to export: the run has {frames}, the range begins at {first}, ends before {end}")]
    NoFrames {
        /// Frames that the run has \[-\].
        frames: usize,
        /// First frame asked for.
        first: usize,
        /// End of the range, itself not in it.
        end: usize,
    },
    /// The stride is zero.
    #[error("stride 0: every n-th frame needs n of at least 1")]
    ZeroStride,
    /// A number of the run is not finite, which most of the formats cannot hold.
    #[error("frame {frame}: `{property}` of {what} {index} is {value}, not finite")]
    NotFinite {
        /// The frame.
        frame: usize,
        /// `particle` or `body`.
        what: &'static str,
        /// Its number.
        index: usize,
        /// The property.
        property: &'static str,
        /// Its value, in SI units.
        value: f64,
    },
    /// A frame has other particles, fields or cloth than the first one.
    #[error("frame {frame}: {what} differ from those of frame {first}")]
    Changed {
        /// The frame.
        frame: usize,
        /// The first frame of the export.
        first: usize,
        /// What differs.
        what: &'static str,
    },
    /// A triangle refers to a particle that its frame does not have.
    #[error("frame {frame}: triangle {triangle} refers to particle {particle} of {particles}")]
    Triangle {
        /// The frame.
        frame: usize,
        /// Number of the triangle.
        triangle: usize,
        /// The particle that it refers to.
        particle: u32,
        /// Particles in the frame \[-\].
        particles: usize,
    },
    /// Times do not rise from frame to frame.
    #[error("frame {frame}: its time {time} s is not after that of the frame before, {before} s")]
    Times {
        /// The frame.
        frame: usize,
        /// Its time \[s\].
        time: f64,
        /// Time of the frame before \[s\].
        before: f64,
    },
    /// More than the format can hold.
    #[error("{bytes} bytes do not fit in a file of {format}, which holds {most}")]
    TooLarge {
        /// The format.
        format: &'static str,
        /// Bytes to write.
        bytes: usize,
        /// Bytes that it holds.
        most: usize,
    },
    /// More particles than a format can move.
    #[error("{particles} particles move by {bytes} bytes from frame to frame; {format} gets at most {most}")]
    Motion {
        /// The format.
        format: &'static str,
        /// Particles \[-\].
        particles: usize,
        /// Bytes of one displacement of all.
        bytes: usize,
        /// Bytes that all displacements have at most.
        most: usize,
    },
    /// A frame cannot be drawn.
    #[error(transparent)]
    Picture(PictureError),
    /// A size that a video cannot have.
    #[error(
        "a video of {width} x {height} pixels: its sides must be even, at least 16, and at most 3840 and 2160"
    )]
    VideoSize {
        /// Width \[pixels\].
        width: u32,
        /// Height \[pixels\].
        height: u32,
    },
    /// Frames that lie further apart than a video can say.
    #[error("frame {frame}: the next is {seconds} s later; a video shows one for at most {most} s")]
    VideoPause {
        /// The frame.
        frame: usize,
        /// Time to the next one \[s\].
        seconds: f64,
        /// Longest time that a frame can last \[s\].
        most: f64,
    },
    /// The encoder of videos refuses.
    #[error("frame {frame}: the encoder of the video refuses: {reason}")]
    Encoder {
        /// The frame.
        frame: usize,
        /// What it says.
        reason: String,
    },
    /// The caller stopped it.
    #[error("stopped; nothing was written")]
    Stopped,
}

impl From<PictureError> for ExportError {
    fn from(error: PictureError) -> Self {
        match error {
            PictureError::Io(error) => Self::Io(error),
            PictureError::Recording(error) => Self::Recording(error),
            other => Self::Picture(other),
        }
    }
}

/// The error of a file while trying to `action`.
pub(crate) fn failed(
    action: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> ExportError {
    let path = path.into();
    move |source| IoError::file(action, &path, source).into()
}
