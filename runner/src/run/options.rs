//! How a run is done, and how far it is.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::machine::BackendChoice;
use crate::record::manifest::Manifest;

/// How a run is done.
pub struct RunOptions<'a> {
    /// The run directory.
    pub out: PathBuf,
    /// Where particles are computed.
    pub backend: BackendChoice,
    /// Threads \[-\]; `None` takes the pool that the caller is in.
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
    /// Steps done, of [`Stage::Simulating`], or pictures, of [`Stage::Drawing`] \[-\].
    pub done: u64,
    /// All of them \[-\].
    pub total: u64,
    /// Simulated time \[s\].
    pub time: f64,
    /// Contacts in the last step, mean over its substeps \[-\].
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
