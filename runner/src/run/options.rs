//! Options and progress of a run.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pliant_coupling::{StepProgress, StepWatch};

use crate::machine::BackendChoice;
use crate::record::manifest::Manifest;

/// Wall time between checkpoints, if nothing else is asked for.
pub const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);

/// Asks runs to stop, from another thread or a signal handler.
#[derive(Debug, Default)]
pub struct StopSignal {
    requested: AtomicBool,
    step_abandoned: Arc<AtomicBool>,
}

impl StopSignal {
    /// A signal that asks for nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What stops a world within a step when that is abandoned.
    pub(super) fn watch(&self) -> StepWatch {
        StepWatch::with_stop(Arc::clone(&self.step_abandoned))
    }

    /// Runs finish their step, write a checkpoint, and end as interrupted. Returns whether this was
    /// requested before.
    pub fn request(&self) -> bool {
        self.requested.swap(true, Ordering::Relaxed)
    }

    /// Runs abandon their step too, at its next substep; the last checkpoint stays. Returns whether
    /// this was requested before.
    pub fn abandon_step(&self) -> bool {
        self.requested.store(true, Ordering::Relaxed);
        self.step_abandoned.swap(true, Ordering::Relaxed)
    }

    /// Whether runs are to stop.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }
}

/// Options of a run.
pub struct RunOptions<'a> {
    /// The run directory.
    pub out: PathBuf,
    /// Backend that steps the particles.
    pub backend: BackendChoice,
    /// Threads \[-\]; `None` uses the caller's pool.
    pub threads: Option<usize>,
    /// Resume the run in `out` instead of starting a new one; one that is complete is left as it is.
    pub resume: bool,
    /// Make `preview.png` and `preview.gif`.
    pub pictures: bool,
    /// Wall time after which a checkpoint is written, at the end of a step. One is always written
    /// at the start and at the end.
    pub checkpoint_interval: Duration,
    /// Steps after which a checkpoint is written, whatever their wall time.
    pub checkpoint_steps: Option<NonZeroU64>,
    /// Asks the run to stop.
    pub stop: Option<&'a StopSignal>,
    /// Called after every step, and about once a second within a step that takes longer.
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
            checkpoint_interval: CHECKPOINT_INTERVAL,
            checkpoint_steps: None,
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
    /// How far the present step is, if it takes long.
    pub within: Option<StepProgress>,
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
    /// What a user should know of how the run was resumed, one line each.
    pub notes: Vec<String>,
}
