//! Options and progress of a run.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::machine::BackendChoice;
use crate::record::manifest::Manifest;

/// Options of a run.
pub struct RunOptions<'a> {
    /// The run directory.
    pub out: PathBuf,
    /// Backend that steps the particles.
    pub backend: BackendChoice,
    /// Threads \[-\]; `None` uses the caller's pool.
    pub threads: Option<usize>,
    /// Resume the run in `out` instead of starting a new one.
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

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The present stage.
    pub stage: Stage,
    /// Steps done, of [`Stage::Simulating`], or pictures, of [`Stage::Drawing`] \[-\].
    pub done: u64,
    /// Their total number \[-\].
    pub total: u64,
    /// Simulated time \[s\].
    pub time: f64,
    /// Contacts in the last step, mean over its substeps \[-\].
    pub contacts: f64,
}

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Stepping.
    Simulating,
    /// Making the preview.
    Drawing,
}

/// A run that ended, in whatever way: see [`Manifest::status`].
#[derive(Clone, Debug)]
pub struct Summary {
    /// The run directory.
    pub directory: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Why there is no picture, if there should be one; the run's numbers do not depend on it.
    pub picture_error: Option<String>,
}
