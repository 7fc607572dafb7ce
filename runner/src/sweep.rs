//! Many variants of a scene side by side, each on one thread.

mod random;
mod variants;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::machine::BackendChoice;
use crate::record::{read_json, write_json};
use crate::run::{
    Checkpoint, Conservation, GoalResult, Manifest, RunError, RunOptions, Status, Summary, directory, run,
};
use pliant_io::files::IoError;
use pliant_scenes::format::Scene;
use pliant_scenes::scenario::Scenario;

pub use random::{RandomAxis, RandomPlan, random_variants};
pub use variants::{SweepError, SweptField, Variant, variants};

/// Name of the table of a sweep in its directory.
pub const SWEEP: &str = "sweep.json";

/// Result of a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantResult {
    /// Name of its run directory.
    pub name: String,
    /// Its changes: path and value.
    pub changes: BTreeMap<String, Value>,
    /// Status of its run; null without a run directory.
    pub status: Option<Status>,
    /// Why it failed, or null.
    pub error: Option<String>,
    /// Whether it was complete before.
    pub skipped: bool,
    /// Results of its goals, in their order; empty without a run directory.
    #[serde(default)]
    pub goals: Vec<GoalResult>,
    /// Relative errors of its balances; null without a run directory.
    #[serde(default)]
    pub conservation: Option<Conservation>,
}

impl VariantResult {
    /// Whether it completed, has goals and met all of them.
    pub fn all_met(&self) -> bool {
        self.status == Some(Status::Completed)
            && !self.goals.is_empty()
            && self.goals.iter().all(|goal| goal.met == Some(true))
    }
}

/// Number of variants that met a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalShare {
    /// Name of the goal.
    pub name: String,
    /// Variants that met it \[-\].
    pub met: usize,
    /// That over all variants \[-\].
    pub share: f64,
}

/// `sweep.json`: the sweep's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepTable {
    /// Version of this layout: 1.
    pub schema_version: u32,
    /// Name of the scene.
    pub scene: String,
    /// Plan of the random values; null if there are none.
    #[serde(default)]
    pub random: Option<RandomPlan>,
    /// Number of variants that met each goal; the last row, `all`, counts those that met all goals.
    /// Empty if the scene has none.
    #[serde(default)]
    pub goals: Vec<GoalShare>,
    /// The variants, in order.
    pub variants: Vec<VariantResult>,
}

impl SweepTable {
    /// Reads `sweep.json` of a directory.
    ///
    /// # Errors
    /// It is missing or not a sweep's table.
    pub fn read(directory: &Path) -> Result<Self, IoError> {
        read_json(&directory.join(SWEEP))
    }

    /// Whether every variant is completed.
    pub fn all_completed(&self) -> bool {
        self.variants.iter().all(|v| v.status == Some(Status::Completed))
    }
}

/// How many variants met each goal of the scene, and all of them.
fn shares(scene: &Scene, variants: &[VariantResult]) -> Vec<GoalShare> {
    if scene.goals.is_empty() {
        return Vec::new();
    }
    let share = |name: &str, held: &dyn Fn(&VariantResult) -> bool| {
        let met = variants.iter().filter(|variant| held(variant)).count();
        GoalShare { name: name.to_owned(), met, share: met as f64 / variants.len().max(1) as f64 }
    };
    let each = scene.goals.iter().map(|goal| {
        share(&goal.name, &|v| v.goals.iter().any(|g| g.name == goal.name && g.met == Some(true)))
    });
    each.chain([share("all", &VariantResult::all_met)]).collect()
}

/// Options of a sweep.
pub struct SweepOptions<'a> {
    /// Directory of the variants' run directories.
    pub out: PathBuf,
    /// Backend that steps the particles.
    pub backend: BackendChoice,
    /// Number of variants that run in parallel \[-\].
    pub jobs: usize,
    /// Make pictures of every variant.
    pub pictures: bool,
    /// Plan of the variants' random values, for the table.
    pub random: Option<RandomPlan>,
    /// Set by the caller to stop all runs after their current steps.
    pub stop: Option<&'a AtomicBool>,
}

/// Runs the variants, `jobs` at a time, each on its own thread; `progress` is called with each one
/// as it ends, and the number that have ended.
///
/// A variant that fails does not affect the others. One that is complete in `out` with the same
/// scene is skipped; an unfinished one is resumed. At the end `sweep.json` is written.
///
/// # Errors
/// The directory cannot be written. Failures of variants are in the table.
pub fn sweep(
    scene: &Scene,
    variants: &[Variant],
    options: &SweepOptions,
    progress: &mut dyn FnMut(usize, &VariantResult),
) -> Result<SweepTable, SweepError> {
    options.backend.open().map_err(RunError::from)?;
    let not_writable = |source| RunError::NotWritable { path: options.out.clone(), source };
    std::fs::create_dir_all(&options.out).map_err(not_writable)?;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut outcomes: Vec<Option<VariantResult>> = vec![None; variants.len()];
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, variants.len().max(1)) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((at, variant)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    variants.get(at).map(|variant| (at, variant))
                } {
                    if sender.send((at, run_variant(variant, options))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (ended, (at, outcome)) in receiver.iter().enumerate() {
            progress(ended + 1, &outcome);
            outcomes[at] = Some(outcome);
        }
    });
    let outcomes: Vec<VariantResult> = outcomes.into_iter().flatten().collect();
    let table = SweepTable {
        schema_version: 1,
        scene: scene.name.clone(),
        random: options.random.clone(),
        goals: shares(scene, &outcomes),
        variants: outcomes,
    };
    write_json(&options.out.join(SWEEP), &table)?;
    Ok(table)
}

fn run_variant(variant: &Variant, options: &SweepOptions) -> VariantResult {
    let changes = variant.changes.iter().map(|c| (c.path.clone(), c.value.clone())).collect();
    let outcome = |status, error, skipped| VariantResult {
        name: variant.name.clone(),
        changes,
        status,
        error,
        skipped,
        goals: Vec::new(),
        conservation: None,
    };
    let ended = |outcome: VariantResult, manifest: Manifest| VariantResult {
        goals: manifest.goals,
        conservation: Some(manifest.conservation),
        ..outcome
    };
    let out = options.out.join(&variant.name);
    let resume = match found(variant, &out) {
        ExistingRun::Nothing => false,
        ExistingRun::Unfinished => true,
        ExistingRun::Unstarted(partial) => match std::fs::remove_dir_all(&partial) {
            Ok(()) => false,
            Err(source) => {
                let error = IoError::file("remove", &partial, source).to_string();
                return outcome(None, Some(error), false);
            }
        },
        ExistingRun::Ended(manifest) => {
            return ended(outcome(Some(manifest.status), manifest.error.clone(), true), *manifest);
        }
        ExistingRun::Other => {
            let error = "its directory holds a run of another scene; move that run first".to_owned();
            return outcome(None, Some(error), false);
        }
    };
    if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        return outcome(None, Some("not started: the sweep was stopped".to_owned()), false);
    }
    let scenario = match Scenario::new(&variant.scene) {
        Ok(scenario) => scenario,
        Err(error) => return outcome(None, Some(error.to_string()), false),
    };
    let run_options = RunOptions {
        backend: options.backend,
        threads: Some(1),
        resume,
        pictures: options.pictures,
        stop: options.stop,
        ..RunOptions::new(out)
    };
    match run(scenario, run_options) {
        Ok(Summary { manifest, .. }) => {
            ended(outcome(Some(manifest.status), manifest.error.clone(), false), manifest)
        }
        Err(error) => outcome(None, Some(error.to_string()), false),
    }
}

/// What exists at the path of a variant's run directory.
enum ExistingRun {
    Nothing,
    Unfinished,
    /// A run killed before its first checkpoint: there is a directory, but nothing to resume.
    Unstarted(PathBuf),
    Ended(Box<Manifest>),
    Other,
}

fn found(variant: &Variant, out: &Path) -> ExistingRun {
    let partial = directory::partial_path(out);
    if partial.exists() && !out.exists() {
        return if Checkpoint::exists(&partial) {
            ExistingRun::Unfinished
        } else {
            ExistingRun::Unstarted(partial)
        };
    }
    if !out.exists() {
        return ExistingRun::Nothing;
    }
    match Manifest::read(out) {
        Ok(manifest) if manifest.scene == variant.scene => match manifest.status {
            Status::Interrupted => ExistingRun::Unfinished,
            // A run that failed would fail in the same way again.
            Status::Completed | Status::Failed => ExistingRun::Ended(Box::new(manifest)),
        },
        _ => ExistingRun::Other,
    }
}
