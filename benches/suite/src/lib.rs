//! The benchmark suite: parts that register themselves in [`PARTS`] and give rows.
//!
//! A new part is a module beside this one with a [`BenchPart`] constant, and one line in [`PARTS`].

mod clutter;
mod comfree;
mod dough;
pub mod grip;
mod mpm;
mod rigid;
mod scene_run;
mod table1;
mod tolerance;
mod trials;
mod worlds;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

pub use trials::TrialOptions;

use pliant_runner::machine::{self, OpenBackend};

/// The parts of the suite, in the order in which they run.
pub const PARTS: &[BenchPart] = &[
    mpm::PART,
    table1::PART,
    tolerance::PART,
    clutter::PART,
    rigid::SLIDE,
    rigid::STACK,
    rigid::BALL,
    comfree::CONTACTS,
    comfree::PILE,
    worlds::WORLDS,
    trials::PART,
];

/// A part of the suite.
#[derive(Clone, Copy, Debug)]
pub struct BenchPart {
    /// Name on the command line.
    pub name: &'static str,
    /// What it measures, in one line.
    pub about: &'static str,
    /// Measures, and gives every row as soon as it is there, so that a long part shows what it has.
    pub run: Measure,
}

/// What a part does: it calls its second argument with every row.
pub type Measure = fn(&BenchOptions, &mut dyn FnMut(Measurement)) -> Result<(), BenchError>;

/// How the suite is run.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Numbers of threads to measure with, one after the other [-].
    pub threads: Vec<usize>,
    /// Where particles are computed; rigid bodies, and single contact solves, always are on the processor.
    pub machine: OpenBackend,
    /// Folder for the plots of the parts that draw; none are drawn without.
    pub plots: Option<PathBuf>,
    /// What `trials` draws.
    pub trials: TrialOptions,
    /// Told now and then how far a long part is.
    pub progress: fn(&str),
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Name of the part.
    pub bench: String,
    /// The case within the part.
    pub case: String,
    /// `cpu`, `cuda` or `cuda-emulated`.
    pub backend: String,
    /// Threads [-].
    pub threads: usize,
    /// `f32` or `f64`.
    pub precision: String,
    /// The figure, usually the median of the repeats, in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// The least of the repeats, in `unit`.
    pub min: f64,
    /// The most of the repeats, in `unit`.
    pub max: f64,
    /// Repeats [-].
    pub repeats: usize,
    /// What the case needs to be repeated elsewhere: particles, contacts, grid, step, substeps, tolerances, commit, device.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

/// A measurement that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("bench {bench}: {reason}")]
pub struct BenchError {
    /// Name of the part.
    pub bench: &'static str,
    /// Why.
    pub reason: String,
}

/// The part of a name, or `None`.
pub fn part(name: &str) -> Option<&'static BenchPart> {
    PARTS.iter().find(|part| part.name == name)
}

/// What a row says besides its figures.
struct RowContext<'a> {
    machine: &'a OpenBackend,
    part: &'static str,
    case: String,
    threads: usize,
    precision: &'static str,
    unit: &'static str,
}

impl RowContext<'_> {
    /// The row of these repeats: median, least, most; `details` is an object.
    fn row(self, mut values: Vec<f64>, details: Value) -> Measurement {
        values.sort_by(f64::total_cmp);
        let mut details = if let Value::Object(map) = details { map } else { Map::new() };
        details.insert("device".to_owned(), self.machine.name().into());
        details.insert("version".to_owned(), machine::VERSION.into());
        details.insert("commit".to_owned(), machine::GIT_COMMIT.into());
        let at = |k: usize| values.get(k).copied().unwrap_or(f64::NAN);
        Measurement {
            bench: self.part.to_owned(),
            case: self.case,
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
fn in_pool<R: Send>(
    bench: &'static str,
    threads: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<R, BenchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|e| BenchError { bench, reason: format!("no pool of {threads} threads: {e}") })?;
    Ok(pool.install(work))
}
