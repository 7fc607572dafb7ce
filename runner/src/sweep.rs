//! Many variants of a scene side by side, each on one thread.

mod random;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::machine::BackendChoice;
use crate::run::{
    Checkpoint, Conservation, GoalResult, Manifest, RunError, RunOptions, Status, Summary, directory,
    read_json, run, write_json,
};
use pliant_io::files::IoError;
use pliant_scenes::format::{Assignment, Scene, SetError, ValidationError, apply, split_values, validate};
use pliant_scenes::scenario::Scenario;

pub use random::{RandomAxis, RandomPlan, random_variants};

/// Name of the table of a sweep in its directory.
pub const SWEEP: &str = "sweep.json";

/// Values of one field: `path=a,b,c`.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptField {
    /// Path of the field.
    pub path: String,
    /// Its values.
    pub values: Vec<Value>,
}

/// One variant of a swept scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Name of its run directory within the sweep's.
    pub name: String,
    /// What differs.
    pub changes: Vec<Assignment>,
    /// The scene with the changes.
    pub scene: Scene,
}

/// A sweep that cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A change cannot be made, or the text is not `path=a,b,c`.
    #[error(transparent)]
    Set(#[from] SetError),
    /// A variant is not a valid scene.
    #[error("variant {name}:\n{source}")]
    Invalid {
        /// Name of the variant.
        name: String,
        /// What is wrong.
        source: ValidationError,
    },
    /// Two variants are the same.
    #[error("variant {name} comes twice: a value is repeated")]
    Repeated {
        /// Name of the variant.
        name: String,
    },
    /// Nothing is varied.
    #[error("nothing is varied: give --vary path=a,b,c or --random path=low..high")]
    Empty,
    /// A path is varied twice.
    #[error("{path} is varied twice")]
    Twice {
        /// The path.
        path: String,
    },
    /// A run cannot be written.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<IoError> for SweepError {
    fn from(error: IoError) -> Self {
        Self::Run(error.into())
    }
}

impl SweptField {
    /// Reads `path=a,b,c`; commas inside brackets do not separate values.
    ///
    /// # Errors
    /// [`SetError::Syntax`].
    pub fn parse(text: &str) -> Result<Self, SetError> {
        match text.split_once('=') {
            Some((path, values)) if !path.trim().is_empty() && !values.trim().is_empty() => {
                Ok(Self { path: path.trim().to_owned(), values: split_values(values) })
            }
            _ => Err(SetError::Syntax(text.to_owned())),
        }
    }
}

/// Every combination of the axes' values, the last axis fastest, all validated.
///
/// # Errors
/// [`SweepError`]: an unknown path, a variant that is not a valid scene, a repeated value.
pub fn variants(scene: &Scene, axes: &[SweptField]) -> Result<Vec<Variant>, SweepError> {
    if axes.is_empty() {
        return Err(SweepError::Empty);
    }
    let mut combinations: Vec<Vec<Assignment>> = vec![Vec::new()];
    for axis in axes {
        let longer = combinations.iter().flat_map(|changes| {
            axis.values.iter().map(|value| {
                let mut changes = changes.clone();
                changes.push(Assignment { path: axis.path.clone(), value: value.clone() });
                changes
            })
        });
        combinations = longer.collect();
    }
    let mut names = BTreeMap::new();
    let mut variants = Vec::with_capacity(combinations.len());
    for changes in combinations {
        let name = changes.iter().map(directory_name).collect::<Vec<_>>().join("+");
        let changed = apply(scene, &changes)?;
        validate(&changed).map_err(|source| SweepError::Invalid { name: name.clone(), source })?;
        if names.insert(name.clone(), ()).is_some() {
            return Err(SweepError::Repeated { name });
        }
        variants.push(Variant { name, changes, scene: changed });
    }
    Ok(variants)
}

/// `contact.stiffness=1e4` as a part of a file name: what a shell or a file system could take amiss becomes `_`.
fn directory_name(change: &Assignment) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "=.-_,".contains(c) { c } else { '_' };
    change.to_string().chars().map(plain).collect()
}

/// How a variant ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantResult {
    /// Name of its run directory.
    pub name: String,
    /// What differs: path and value.
    pub changes: BTreeMap<String, Value>,
    /// How it ended; null where there is no run directory.
    pub status: Option<Status>,
    /// Why it failed, or null.
    pub error: Option<String>,
    /// Whether it was there, complete, before.
    pub skipped: bool,
    /// How its goals came out, in their order; empty where there is no run directory.
    #[serde(default)]
    pub goals: Vec<GoalResult>,
    /// Relative errors of its balances; null where there is no run directory.
    #[serde(default)]
    pub conservation: Option<Conservation>,
}

impl VariantResult {
    /// Whether it completed and met all its goals, of which it has some.
    pub fn all_met(&self) -> bool {
        self.status == Some(Status::Completed)
            && !self.goals.is_empty()
            && self.goals.iter().all(|goal| goal.met == Some(true))
    }
}

/// How many variants met a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalShare {
    /// Name of the goal.
    pub name: String,
    /// Variants that met it [-].
    pub met: usize,
    /// That over all variants [-].
    pub share: f64,
}

/// `sweep.json`: the sweep's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepTable {
    /// Version of this layout: 1.
    pub schema_version: u32,
    /// Name of the scene.
    pub scene: String,
    /// How random values were drawn; null where none were.
    #[serde(default)]
    pub random: Option<RandomPlan>,
    /// How many variants met each goal; the last row, `all`, is of those that met all goals. Empty where the scene has none.
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

/// How a sweep is done.
pub struct SweepOptions<'a> {
    /// Directory of the variants' run directories.
    pub out: PathBuf,
    /// Where particles are computed.
    pub backend: BackendChoice,
    /// Variants that run at once [-].
    pub jobs: usize,
    /// Make pictures of every variant.
    pub pictures: bool,
    /// How the variants' random values were drawn, for the table.
    pub random: Option<RandomPlan>,
    /// Set by the caller to stop all runs after their current steps.
    pub stop: Option<&'a AtomicBool>,
}

/// Runs the variants, `jobs` at a time, each on a thread of its own; `progress` is told each one as it ends, with how many
/// have ended.
///
/// A variant that fails leaves the others alone. One that is complete in `out` with the same scene is skipped; an
/// unfinished one is gone on with. At the end `sweep.json` is written.
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
            let error = "its directory holds a run of another scene; move it away".to_owned();
            return outcome(None, Some(error), false);
        }
    };
    if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        return outcome(None, Some("not begun: the sweep was stopped".to_owned()), false);
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

/// What stands where a variant's run directory belongs.
enum ExistingRun {
    Nothing,
    Unfinished,
    /// Killed before its first checkpoint, a run left nothing to go on from but its directory.
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

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_scenes::builtin;

    fn axes(texts: &[&str]) -> Vec<SweptField> {
        texts.iter().map(|text| SweptField::parse(text).unwrap()).collect()
    }

    // The law: n values on one axis and m on another make n m variants, each with its own name and figures.
    #[test]
    fn variants_are_all_combinations() {
        let scene = builtin::scene("elastic-drop").unwrap().unwrap();
        let axes = axes(&["materials.rubber.density=500,1000,2000", "gravity=[0,0,-9.81],[0,0,-1.62]"]);
        let variants = variants(&scene, &axes).unwrap();
        assert_eq!(variants.len(), 6);
        assert_eq!(variants[1].scene.gravity, [0.0, 0.0, -1.62]);
        assert_eq!(variants[2].scene.materials["rubber"].elastic_figures().0, 1000.0);
        assert_eq!(variants[0].name, "materials.rubber.density=500+gravity=_0,0,-9.81_");
    }

    #[test]
    fn bad_variants_are_refused_before_any_runs() {
        let scene = builtin::scene("elastic-drop").unwrap().unwrap();
        let all = |texts: &[&str]| variants(&scene, &axes(texts));
        assert!(matches!(all(&[]), Err(SweepError::Empty)));
        assert!(matches!(all(&["dt=0.01,0.01"]), Err(SweepError::Repeated { .. })));
        assert!(matches!(all(&["dt=0.01,-1"]), Err(SweepError::Invalid { .. })));
        assert!(matches!(all(&["dd=1"]), Err(SweepError::Set(SetError::UnknownPath { .. }))));
        assert!(SweptField::parse("dt").is_err());
        assert!(SweptField::parse("dt=").is_err());
    }
}
