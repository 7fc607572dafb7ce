//! Parts of the suite, their options and their rows.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};

use pliant_runner::machine::{self, OpenBackend};

/// A part of the suite.
#[derive(Clone, Copy, Debug)]
pub struct BenchPart {
    /// Name on the command line.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Measures, and reports every row as soon as it is known, so that a long part shows
    /// intermediate results.
    pub run: Measure,
}

/// Function of a part: it calls its second argument with every row.
pub type Measure = fn(&BenchOptions, &mut dyn FnMut(Measurement)) -> Result<(), BenchError>;

/// Options of the suite.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Numbers of threads to measure with, one after the other \[-\].
    pub threads: Vec<usize>,
    /// Backend that steps the particles; rigid bodies and single contact solves always run on the
    /// processor.
    pub machine: OpenBackend,
    /// Folder for plots; without it none are drawn.
    pub plots: Option<PathBuf>,
    /// What was drawn there.
    pub figures: Figures,
    /// Options of `trials`.
    pub trials: TrialOptions,
    /// Called at intervals with the progress of a long part.
    pub progress: fn(&str),
}

/// A plot or picture of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnFigure {
    /// What it shows.
    pub caption: String,
    /// An SVG or PNG file.
    pub file: PathBuf,
}

/// The plots and pictures of all parts, in the order in which they were drawn.
#[derive(Clone, Debug, Default)]
pub struct Figures(Arc<Mutex<Vec<DrawnFigure>>>);

impl Figures {
    /// Adds a file that is complete.
    pub fn add(&self, caption: impl Into<String>, file: impl Into<PathBuf>) {
        let figure = DrawnFigure { caption: caption.into(), file: file.into() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(figure);
    }

    /// All of them so far.
    pub fn all(&self) -> Vec<DrawnFigure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Options of the trials.
#[derive(Clone, Debug, Default)]
pub struct TrialOptions {
    /// Seed of all draws.
    pub seed: u64,
    /// Trials in all; without it and `seconds`, twenty per family.
    pub count: Option<u64>,
    /// No trial begins after this time \[s\].
    pub seconds: Option<f64>,
    /// Families, by name; empty for all.
    pub families: Vec<String>,
    /// Number of the first trial of each family.
    pub first: u64,
    /// Spacing of the grid of garments; without it that of their scene \[m\].
    pub grid_spacing: Option<f64>,
    /// Folder for the scenes that fail, as drawn and as reduced; without it only family, seed and
    /// number are printed.
    pub out: Option<PathBuf>,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Name of the part.
    pub bench: String,
    /// The case within the part.
    pub case: String,
    /// Who was measured, where it is not this library as its settings are: a scheme, a solver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Whether that is a scheme of another paper.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rival: bool,
    /// `cpu`, `cuda` or `cuda-emulated`.
    pub backend: String,
    /// Threads \[-\].
    pub threads: usize,
    /// `f32` or `f64`.
    pub precision: String,
    /// The value, usually the median of the repeats, in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// The least of the repeats, in `unit`.
    pub min: f64,
    /// The most of the repeats, in `unit`.
    pub max: f64,
    /// Repeats \[-\].
    pub repeats: usize,
    /// Data to repeat the case: particles, contacts, grid, step, substeps, tolerances, commit,
    /// device.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Measurement {
    /// The same of this scheme or solver.
    pub(super) fn of(self, who: impl Into<String>, rival: bool) -> Self {
        Self { who: Some(who.into()), rival, ..self }
    }
}

/// A measurement that failed.
#[derive(Debug, thiserror::Error)]
#[error("bench {bench}: {reason}")]
pub struct BenchError {
    /// Name of the part.
    pub bench: &'static str,
    /// Why.
    pub reason: String,
}

/// Context of a row.
pub(super) struct RowContext<'a> {
    pub machine: &'a OpenBackend,
    pub part: &'static str,
    pub case: String,
    pub threads: usize,
    pub precision: &'static str,
    pub unit: &'static str,
}

impl RowContext<'_> {
    /// The row of these repeats: median, least, most; `details` is an object.
    pub(super) fn row(self, mut values: Vec<f64>, details: Value) -> Measurement {
        values.sort_by(f64::total_cmp);
        let mut details = if let Value::Object(map) = details { map } else { Map::new() };
        details.insert("device".to_owned(), self.machine.name().into());
        details.insert("version".to_owned(), machine::VERSION.into());
        details.insert("commit".to_owned(), machine::GIT_COMMIT.into());
        let at = |k: usize| values.get(k).copied().unwrap_or(f64::NAN);
        Measurement {
            bench: self.part.to_owned(),
            case: self.case,
            who: None,
            rival: false,
            backend: self.machine.backend.to_owned(),
            threads: self.threads,
            precision: self.precision.to_owned(),
            value: at(values.len() / 2),
            unit: self.unit.to_owned(),
            min: at(0),
            max: at(values.len().saturating_sub(1)),
            repeats: values.len(),
            details,
        }
    }
}

/// Runs `work` in a pool of this many threads.
pub(super) fn in_pool<R: Send>(
    bench: &'static str,
    threads: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<R, BenchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|e| BenchError { bench, reason: format!("no pool of {threads} threads: {e}") })?;
    Ok(pool.install(work))
}
