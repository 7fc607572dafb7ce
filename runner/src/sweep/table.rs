//! The table of a sweep: what its folder holds of each variant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::existing::{ANOTHER_SCENE, problem};
use super::random::RandomPlan;
use super::variants::{SweepError, Variant};
use crate::record::{Conservation, GoalResult, Manifest, Status, read_json, write_json};
use crate::run::{RunError, directory, is_same_run};
use crate::sweep_table::{self, SWEEP_CSV, SWEEP_PARQUET, SweepRow};
use pliant_io::files::{IoError, remove_temporary};
use pliant_io::lock::{FileLock, LockError};

/// Name of the table of a sweep in its directory.
pub const SWEEP: &str = "sweep.json";

/// Held by the process that writes the table.
const LOCK: &str = ".sweep.lock";

/// Result of a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantResult {
    /// Name of its run directory.
    pub name: String,
    /// Its changes: path and value.
    pub changes: BTreeMap<String, Value>,
    /// Status of its run; null without an ended one.
    pub status: Option<Status>,
    /// Why it failed, or null. Null too for one that has not been run yet.
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
    /// A variant that has no ended run.
    pub(super) fn without_run(variant: &Variant, error: Option<String>) -> Self {
        Self {
            name: variant.name.clone(),
            changes: variant.changes.iter().map(|c| (c.path.clone(), c.value.clone())).collect(),
            status: None,
            error,
            skipped: false,
            goals: Vec::new(),
            conservation: None,
        }
    }

    /// A variant whose run ended.
    pub(super) fn of(variant: &Variant, manifest: &Manifest, skipped: bool) -> Self {
        Self {
            status: Some(manifest.status),
            skipped,
            goals: manifest.goals.clone(),
            conservation: Some(manifest.conservation),
            ..Self::without_run(variant, manifest.error.clone())
        }
    }

    /// Whether it has no run that ended, and an error.
    pub(super) fn is_error(&self) -> bool {
        self.status.is_none() && self.error.is_some()
    }

    /// Its row in the table of columns.
    pub(crate) fn row(&self, manifest: Option<Manifest>) -> SweepRow {
        SweepRow {
            name: self.name.clone(),
            changes: self.changes.clone(),
            status: self.status,
            error: self.error.clone(),
            manifest,
        }
    }

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

/// `sweep.json`: the sweep's table. It is written at the start too, and is then the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepTable {
    /// Version of this layout: 1.
    pub schema_version: u32,
    /// Name of the scene; null if there are several.
    pub scene: Option<String>,
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

/// How many variants met each goal of the scenes, and all of them.
fn shares(variants: &[Variant], results: &[VariantResult]) -> Vec<GoalShare> {
    let mut names: Vec<&str> = Vec::new();
    for goal in variants.iter().filter_map(|variant| variant.scene.as_ref().ok()).flat_map(|s| &s.goals) {
        if !names.contains(&goal.name.as_str()) {
            names.push(&goal.name);
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let share = |name: &str, held: &dyn Fn(&VariantResult) -> bool| {
        let met = results.iter().filter(|result| held(result)).count();
        GoalShare { name: name.to_owned(), met, share: met as f64 / results.len().max(1) as f64 }
    };
    let each = names
        .iter()
        .map(|name| share(name, &|v| v.goals.iter().any(|g| g.name == *name && g.met == Some(true))));
    each.chain([share("all", &VariantResult::all_met)]).collect()
}

/// Writes the table of a folder: what the folder holds of each variant, and for those without an ended
/// run what this process found. Of several processes that share the folder, the last one to end sees
/// all results. The files of a run are compared with their digests where this process, or the table
/// of another, has an error.
pub(super) fn write(
    out: &Path,
    variants: &[Variant],
    random: &Option<RandomPlan>,
    outcomes: &[Option<VariantResult>],
) -> Result<SweepTable, SweepError> {
    let _lock = FileLock::wait_for(out.join(LOCK)).map_err(|error| match error {
        LockError::Io(error) => SweepError::from(error),
        source => RunError::NoLocks { path: out.to_path_buf(), source }.into(),
    })?;
    remove_temporary(out);
    let before = SweepTable::read(out).ok();
    let before = before.iter().flat_map(|table| &table.variants).filter(|variant| variant.is_error());
    let before: BTreeSet<&str> = before.map(|variant| variant.name.as_str()).collect();
    let mut results = Vec::with_capacity(variants.len());
    let mut rows = Vec::with_capacity(variants.len());
    for (at, variant) in variants.iter().enumerate() {
        let own = outcomes.get(at).and_then(Option::as_ref);
        let is_doubtful = own.map_or(before.contains(variant.name.as_str()), VariantResult::is_error);
        let skipped = own.is_some_and(|own| own.skipped);
        let (result, manifest) = match ended(variant, &out.join(&variant.name), is_doubtful) {
            Ended::Run(manifest) => (VariantResult::of(variant, &manifest, skipped), Some(*manifest)),
            Ended::Refused(error) => (VariantResult::without_run(variant, Some(error)), None),
            Ended::Nothing => {
                let none = || VariantResult::without_run(variant, variant.scene.as_ref().err().cloned());
                (own.cloned().unwrap_or_else(none), None)
            }
        };
        rows.push(result.row(manifest));
        results.push(result);
    }
    let mut scenes = variants.iter().filter_map(|variant| Some(&variant.scene.as_ref().ok()?.name));
    let first = scenes.next();
    let table = SweepTable {
        schema_version: 1,
        scene: first.filter(|first| scenes.all(|name| name == *first)).cloned(),
        random: random.clone(),
        goals: shares(variants, &results),
        variants: results,
    };
    sweep_table::write_csv(&out.join(SWEEP_CSV), &rows)?;
    sweep_table::write_parquet(&out.join(SWEEP_PARQUET), &rows)?;
    write_json(&out.join(SWEEP), &table)?;
    Ok(table)
}

/// What a folder holds of a variant.
enum Ended {
    /// A run of its scene that ended.
    Run(Box<Manifest>),
    /// A run that does not count, and why.
    Refused(String),
    /// No run that ended.
    Nothing,
}

/// What is in the directory of a variant; `is_doubtful`: its files are compared with their digests.
fn ended(variant: &Variant, out: &Path, is_doubtful: bool) -> Ended {
    let (Ok(scene), directory::Existing::Finished) = (&variant.scene, directory::existing(out)) else {
        return Ended::Nothing;
    };
    let manifest = match Manifest::read(out) {
        Ok(manifest) => Box::new(manifest),
        Err(error) => return Ended::Refused(error.to_string()),
    };
    if !is_same_run(&manifest.scene, scene) {
        return Ended::Refused(ANOTHER_SCENE.to_owned());
    }
    match is_doubtful.then(|| problem(out, &manifest)).flatten() {
        Some(problem) => Ended::Refused(problem),
        None => Ended::Run(manifest),
    }
}
