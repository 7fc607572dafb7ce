//! Runs a scene and writes its run directory.
//!
//! The directory holds `manifest.json`, `diagnostics.csv` (a row a step), `bodies.csv` (a row a frame and body),
//! `frames/*.ply`, `preview.png`, `preview.gif` and `checkpoint/`. Where the scene has tactile pads, `sensors.csv` (a row a frame and pad)
//! and in `tactile/` a pad's `NAME.csv` (a row a frame and bin), `NAME.png` and `NAME.gif`. Where it asks for forces,
//! `forces.csv` (a row a step and body) and `plots/*.svg`. It is complete or absent: see [`directory`].

mod checkpoint;
mod cloth;
pub mod directory;
mod energy;
mod forces;
mod frames;
mod goals;
mod manifest;
mod outputs;
mod simulate;
mod statistics;
mod tables;
mod tactile;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub(crate) use checkpoint::Checkpoint;
pub use cloth::{ClothSummary, ClothWatch};
pub use directory::RunDirectory;
pub use energy::ENERGY_GAIN_WARNING;
pub use forces::{FORCES, ForceRow, force_bodies, read_forces};
pub use frames::frame_path;
pub use goals::{GoalMonitor, GoalResult, WorstMeasurement};
pub use manifest::{
    Conservation, CouplingSummary, MANIFEST, Manifest, MeanMax, MsPerStep, Number, RigidSummary,
    SolverSummary, Status,
};
pub(crate) use manifest::{read_json, write_json};
pub use statistics::{DEEP_PENETRATION, Statistics, StepFigures};
pub use tables::{BODIES, BodyRow, DIAGNOSTICS, read_bodies};
pub use tactile::{PadFrame, SENSORS, TACTILE, pad_path, read_pad};

use crate::machine::{BackendChoice, BackendUnavailable};
use crate::picture::PictureError;
use pliant_io::files::IoError;
use pliant_render::plot::PlotError;
use pliant_scenes::scenario::Scenario;

/// Folder of the frames in a run directory.
pub const FRAMES: &str = "frames";

/// How a run is done.
pub struct RunOptions<'a> {
    /// The run directory.
    pub out: PathBuf,
    /// Where particles are computed.
    pub backend: BackendChoice,
    /// Threads [-]; `None` takes the pool that the caller is in.
    pub threads: Option<usize>,
    /// Go on with the run in `out` instead of beginning one.
    pub resume: bool,
    /// Make `preview.png` and `preview.gif`.
    pub pictures: bool,
    /// Wall time between checkpoints.
    pub checkpoint_interval: Duration,
    /// Set by the caller to stop the run after the current step.
    pub stop: Option<&'a AtomicBool>,
    /// Called after every step.
    pub progress: Option<&'a mut (dyn FnMut(&Progress) + Send)>,
}

impl RunOptions<'_> {
    /// A new run into `out`, on the processor, with pictures.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        Self {
            out: out.into(),
            backend: BackendChoice::Auto,
            threads: None,
            resume: false,
            pictures: true,
            checkpoint_interval: Duration::from_secs(30),
            stop: None,
            progress: None,
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// Steps done, of [`Stage::Simulating`], or pictures, of [`Stage::Drawing`] [-].
    pub done: u64,
    /// All of them [-].
    pub total: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Contacts in the last step, mean over its substeps [-].
    pub contacts: f64,
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Stepping.
    Simulating,
    /// Making the preview.
    Drawing,
}

/// A run that ended, however it did: see [`Manifest::status`].
#[derive(Clone, Debug)]
pub struct Summary {
    /// The run directory.
    pub directory: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Why there is no picture, if there should be one; the run's numbers do not depend on it.
    pub picture_error: Option<String>,
}

/// A run that could not be done or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The output is there already.
    #[error("output {}: exists already; choose another --out, or --resume it", path.display())]
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
    /// Whether the error was found before anything was written: wrong usage rather than a failed run.
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

/// Refuses what would be refused before the first step: see [`run`].
///
/// # Errors
/// The backend cannot be had; the output exists, or there is nothing to resume.
pub fn check(out: &Path, backend: BackendChoice, resume: bool) -> Result<(), RunError> {
    backend.open()?;
    if !resume {
        return directory::check_absent(out);
    }
    if out.exists() || directory::partial_path(out).exists() {
        Ok(())
    } else {
        Err(RunError::NothingToResume { path: out.to_path_buf() })
    }
}

/// Runs a scenario scene to its end and writes the run directory.
///
/// A run that blows up is no error here: its directory says `failed` and holds the frames before it.
///
/// # Errors
/// [`RunError`]; a new run then leaves nothing behind but, with a checkpoint, the unfinished directory.
pub fn run(scenario: Scenario, options: RunOptions) -> Result<Summary, RunError> {
    match options.threads {
        None => simulate::run(scenario, options),
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| RunError::Threads { threads, reason: e.to_string() })?
            .install(|| simulate::run(scenario, options)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some material.
    pub(super) fn material() -> pliant_mpm::Material {
        let scene = pliant_scenes::format::parse_scene(
            r#"{ "name": "m", "duration": 0.5, "dt": 0.01, "substeps": 1, "grid_spacing": 0.1,
                "materials": { "m": { "model": "fixed-corotated", "density": 1000, "youngs_modulus": 1e3, "poissons_ratio": 0 } },
                "soft": [{ "name": "s", "shape": { "type": "box", "half_extents": [0.05, 0.05, 0.05] }, "material": "m",
                    "sampling": { "counts": [2, 2, 2] } }] }"#,
        );
        pliant_scenes::assemble::assemble(&scene.unwrap()).unwrap().materials.remove(0)
    }

    // The law: a full disk and a used-up quota are told as such, with the file; another refusal keeps its own words.
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
