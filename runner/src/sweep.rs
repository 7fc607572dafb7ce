//! Many variants of a scene side by side, each on one thread, by one process or by several that share
//! a folder.
//!
//! A variant belongs to the process that holds the lock of its run directory. A process that finds
//! all others taken waits for them, and takes over those of a process that was killed.

mod existing;
mod plan;
mod random;
mod table;
mod variants;

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::machine::BackendChoice;
use crate::record::hull_folder;
use crate::run::{RunError, RunOptions, StopSignal, run};
use existing::{ExistingRun, find};
use pliant_scenes::scenario::Scenario;

pub use plan::{Shard, VariantState, VariantStatus, status};
pub use random::{RandomAxis, RandomPlan, random_variants};
pub use table::{GoalShare, SWEEP, SweepTable, VariantResult};
pub use variants::{SweepError, SweptField, Variant, of_scenes, variants};

/// Time between two looks at variants that other processes work on.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Options of a sweep.
pub struct SweepOptions<'a> {
    /// Directory of the variants' run directories.
    pub out: PathBuf,
    /// Backend that steps the particles.
    pub backend: BackendChoice,
    /// Number of variants that run in parallel \[-\].
    pub jobs: usize,
    /// The part of the variants that this process runs; `None` runs all.
    pub shard: Option<Shard>,
    /// Make pictures of every variant.
    pub pictures: bool,
    /// Wall time between the checkpoints of a run.
    pub checkpoint_interval: Duration,
    /// Steps between the checkpoints of a run, besides.
    pub checkpoint_steps: Option<NonZeroU64>,
    /// Plan of the variants' random values, for the table.
    pub random: Option<RandomPlan>,
    /// Asks all runs to stop.
    pub stop: Option<&'a StopSignal>,
}

/// Runs the variants of this process, `jobs` at a time, each on its own thread; `progress` is called
/// with each one as it ends, and the number that have ended.
///
/// A variant that fails does not affect the others. One that is complete in `out` with the same
/// scene is checked against its digests and skipped; an unfinished one is resumed; one that another
/// process works on is waited for. At the end `sweep.json`, `sweep.csv` and `sweep.parquet` are
/// written, with all variants of the folder.
///
/// # Errors
/// The directory cannot be written. Failures of variants are in the table.
pub fn sweep(
    variants: &[Variant],
    options: &SweepOptions,
    progress: &mut dyn FnMut(usize, &VariantResult),
) -> Result<SweepTable, SweepError> {
    options.backend.open().map_err(RunError::from)?;
    let not_writable = |source| RunError::NotWritable { path: options.out.clone(), source };
    std::fs::create_dir_all(&options.out).map_err(not_writable)?;
    table::write(&options.out, variants, &options.random, &[])?;
    let mine: VecDeque<Waiting> = (0..variants.len())
        .filter(|&at| options.shard.is_none_or(|shard| shard.has(at)))
        .map(|at| Waiting { at, was_taken: false })
        .collect();
    let jobs = options.jobs.clamp(1, mine.len().max(1));
    let queue = Mutex::new(mine);
    let (sender, receiver) = mpsc::channel();
    let mut outcomes: Vec<Option<VariantResult>> = vec![None; variants.len()];
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move || work(variants, options, queue, &sender));
        }
        drop(sender);
        for (ended, (at, outcome)) in receiver.iter().enumerate() {
            progress(ended + 1, &outcome);
            outcomes[at] = Some(outcome);
        }
    });
    table::write(&options.out, variants, &options.random, &outcomes)
}

/// A variant that is not done.
struct Waiting {
    at: usize,
    /// Whether another process worked on it when this one looked.
    was_taken: bool,
}

/// Runs variants until none is left.
fn work(
    variants: &[Variant],
    options: &SweepOptions,
    queue: &Mutex<VecDeque<Waiting>>,
    sender: &mpsc::Sender<(usize, VariantResult)>,
) {
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    while let Some(Waiting { at, was_taken }) = take() {
        if was_taken && !is_stopped(options) {
            std::thread::sleep(LOOK_AGAIN);
        }
        match run_variant(&variants[at], options) {
            Some(result) => {
                if sender.send((at, result)).is_err() {
                    return;
                }
            }
            None => queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_back(Waiting { at, was_taken: true }),
        }
    }
}

fn is_stopped(options: &SweepOptions) -> bool {
    options.stop.is_some_and(StopSignal::is_requested)
}

/// Runs, resumes or skips a variant; `None` if another process works on it.
fn run_variant(variant: &Variant, options: &SweepOptions) -> Option<VariantResult> {
    let failed = |error: String| Some(VariantResult::without_run(variant, Some(error)));
    let scene = match &variant.scene {
        Ok(scene) => scene,
        Err(error) => return failed(error.clone()),
    };
    let out = options.out.join(&variant.name);
    let resume = match find(scene, &out, options.pictures) {
        ExistingRun::Nothing => false,
        ExistingRun::Unfinished => true,
        ExistingRun::Complete(manifest) => {
            let skipped = true;
            return Some(VariantResult::of(variant, &manifest, skipped));
        }
        ExistingRun::Refused(error) => return failed(error),
        ExistingRun::InUse if !is_stopped(options) => return None,
        ExistingRun::InUse => return Some(VariantResult::without_run(variant, None)),
    };
    if is_stopped(options) {
        return Some(VariantResult::without_run(variant, None));
    }
    let scenario = match Scenario::with_cache(scene, &hull_folder(&out)) {
        Ok(scenario) => scenario,
        Err(error) => return failed(error.to_string()),
    };
    let run_options = RunOptions {
        backend: options.backend,
        threads: Some(1),
        resume,
        pictures: options.pictures,
        checkpoint_interval: options.checkpoint_interval,
        checkpoint_steps: options.checkpoint_steps,
        stop: options.stop,
        ..RunOptions::new(out)
    };
    match run(scenario, run_options) {
        Ok(summary) => Some(VariantResult::of(variant, &summary.manifest, false)),
        // Another process was faster: look again.
        Err(
            RunError::InUse { .. }
            | RunError::OutputExists { .. }
            | RunError::Unfinished { .. }
            | RunError::NothingToResume { .. },
        ) => None,
        Err(error) => failed(error.to_string()),
    }
}
