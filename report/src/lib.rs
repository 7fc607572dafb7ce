//! Reports of runs, sweeps and benchmarks as one HTML page, which needs no network: pictures and plots
//! are within it.
//!
//! - [`write_runs`]: a page of runs. One run has its animation, plots, tables, warnings and its scene;
//!   many have a thumbnail each, with the values that a sweep varied, to be sorted.
//! - [`write_bench`]: a page of benchmarks with their plots and pictures, rivals beside.
//!
//! The pages are made by `minijinja` 3, which escapes what comes from files: names of bodies and
//! messages cannot become markup.

mod bench;
mod error;
mod page;
mod picture;
mod plots;
mod run;

pub use error::ReportError;

pub use bench::{BenchFigure, BenchRow, read_peers, write_bench};

use std::collections::BTreeMap;
use std::path::Path;

use pliant_io::files::IoError;
use pliant_runner::report::Entry;
use serde::Serialize;

/// Runs on a page that have plots of their own; more would make it too long to load.
pub const MOST_DETAILED: usize = 24;

/// What the page of runs shows.
#[derive(Serialize)]
struct RunsPage {
    title: String,
    command: String,
    damaged: Vec<String>,
    runs: Vec<run::RunSection>,
    /// Fields that a sweep varied, the columns of the grid.
    varied: Vec<String>,
    most_detailed: usize,
}

/// Writes the page of runs; `changes` has the values that a sweep varied, for each run in the order
/// of `entries`, and `damaged` the runs that cannot be read, which the page names. What a run lacks,
/// such as its pictures, is said on the page. The page is complete or absent.
///
/// # Errors
/// [`ReportError`]: the file cannot be written.
pub fn write_runs(
    entries: &[Entry],
    changes: &[BTreeMap<String, String>],
    damaged: &[IoError],
    command: &str,
    out: &Path,
) -> Result<(), ReportError> {
    let detailed = entries.len() <= MOST_DETAILED;
    let none = BTreeMap::new();
    let section = |(at, entry)| run::section(entry, changes.get(at).unwrap_or(&none), detailed);
    let runs: Vec<run::RunSection> = entries.iter().enumerate().map(section).collect();
    let mut varied: Vec<String> = changes.iter().flat_map(BTreeMap::keys).cloned().collect();
    varied.sort();
    varied.dedup();
    let title = match &runs[..] {
        [one] => one.scene.clone(),
        _ => format!("{} runs", runs.len()),
    };
    let damaged = damaged.iter().map(ToString::to_string).collect();
    let page =
        RunsPage { title, command: command.to_owned(), damaged, runs, varied, most_detailed: MOST_DETAILED };
    page::write("runs.html", &page, out)
}
