//! The page of benchmarks.

use std::fs;
use std::path::{Path, PathBuf};

use pliant_io::files::IoError;
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::page;
use crate::picture;

/// A measured figure on the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// Benchmark.
    pub bench: String,
    /// Its case.
    pub case: String,
    /// Who was measured: `Pliant` with its backend, or a rival.
    pub who: String,
    /// Number of threads.
    pub threads: usize,
    /// The figure, a median over the repeats.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Least over the repeats; none if not given.
    pub min: Option<f64>,
    /// Greatest over the repeats; none if not given.
    pub max: Option<f64>,
    /// Whether it is a rival's.
    pub rival: bool,
}

/// Reads rivals' figures: a JSON array of objects with `bench`, `case`, `who`, `threads`, `value`, `unit` and,
/// if known, `min` and `max`. Compare them only where they were measured in the same run.
///
/// # Errors
/// The file cannot be read, is no such array, or has a figure that is not finite.
pub fn read_peers(file: &Path) -> Result<Vec<BenchRow>, IoError> {
    #[derive(Deserialize)]
    struct Peer {
        bench: String,
        case: String,
        who: String,
        threads: usize,
        value: f64,
        unit: String,
        min: Option<f64>,
        max: Option<f64>,
    }
    let text = fs::read_to_string(file).map_err(|e| IoError::file("read", file, e))?;
    let peers: Vec<Peer> = serde_json::from_str(&text).map_err(|e| IoError::malformed(file, e))?;
    let row = |peer: Peer| {
        let Peer { bench, case, who, threads, value, unit, min, max } = peer;
        BenchRow { bench, case, who, threads, value, unit, min, max, rival: true }
    };
    Ok(peers.into_iter().map(row).collect())
}

/// Figures of one case that can be compared, in one unit.
#[derive(Serialize)]
struct Case {
    bench: String,
    case: String,
    unit: String,
    rows: Vec<BarRow>,
}

#[derive(Serialize)]
struct BarRow {
    #[serde(flatten)]
    row: BenchRow,
    shown: String,
    range: String,
    /// Length of its bar, of the longest of the case \[%\].
    percent: f64,
}

#[derive(Serialize)]
struct BenchPage {
    title: &'static str,
    command: String,
    machine: Vec<String>,
    figures: Vec<FigurePart>,
    cases: Vec<Case>,
    failures: Vec<String>,
}

/// A plot or picture of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchFigure {
    /// What it shows.
    pub caption: String,
    /// An SVG or PNG file.
    pub file: PathBuf,
}

/// A figure within the page, or why it is not there.
#[derive(Serialize)]
struct FigurePart {
    caption: String,
    address: Option<String>,
    missing: Option<String>,
}

impl FigurePart {
    fn of(figure: &BenchFigure) -> Self {
        let is_svg = figure.file.extension().is_some_and(|ending| ending == "svg");
        let read = picture::whole(&figure.file, if is_svg { "image/svg+xml" } else { "image/png" });
        let (address, missing) = match read {
            Ok(address) => (Some(address), None),
            Err(reason) => (None, Some(reason)),
        };
        Self { caption: figure.caption.clone(), address, missing }
    }
}

/// Writes the page of benchmarks: the figures, then a group a case and unit, rivals beside. `machine`
/// has a line for each fact of it, `failures` the parts that could not be measured. The page is complete
/// or absent; a figure that cannot be read is named on it.
///
/// # Errors
/// [`ReportError`]: the file cannot be written.
pub fn write_bench(
    rows: &[BenchRow],
    figures: &[BenchFigure],
    machine: &[String],
    failures: &[String],
    command: &str,
    out: &Path,
) -> Result<(), ReportError> {
    let page = BenchPage {
        title: "Benchmarks",
        command: command.to_owned(),
        machine: machine.to_vec(),
        figures: figures.iter().map(FigurePart::of).collect(),
        cases: cases(rows),
        failures: failures.to_vec(),
    };
    page::write("bench.html", &page, out)
}

/// The rows by bench, case and unit, in the order in which these come first.
fn cases(rows: &[BenchRow]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for row in rows {
        let same =
            |case: &&mut Case| (&case.bench, &case.case, &case.unit) == (&row.bench, &row.case, &row.unit);
        let bar = BarRow { row: row.clone(), shown: figure(row.value), range: range(row), percent: 0.0 };
        match cases.iter_mut().find(same) {
            Some(case) => case.rows.push(bar),
            None => cases.push(Case {
                bench: row.bench.clone(),
                case: row.case.clone(),
                unit: row.unit.clone(),
                rows: vec![bar],
            }),
        }
    }
    for case in &mut cases {
        let most = case.rows.iter().map(|bar| bar.row.value).filter(|v| v.is_finite()).fold(0.0, f64::max);
        for bar in &mut case.rows {
            let share = bar.row.value / most;
            bar.percent = if share.is_finite() { 100.0 * share.clamp(0.0, 1.0) } else { 0.0 };
        }
    }
    cases
}

/// Small figures must not look like 0.
fn figure(value: f64) -> String {
    if !value.is_finite() {
        "not measured".to_owned()
    } else if value != 0.0 && !(1e-2..1e6).contains(&value.abs()) {
        format!("{value:.3e}")
    } else {
        format!("{value:.4}")
    }
}

fn range(row: &BenchRow) -> String {
    let ends = row.min.zip(row.max).filter(|(min, max)| min.is_finite() && max.is_finite() && min < max);
    ends.map_or_else(String::new, |(min, max)| format!("{} to {}", figure(min), figure(max)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, who: &str, value: f64) -> BenchRow {
        BenchRow {
            bench: "mpm".into(),
            case: case.into(),
            who: who.into(),
            threads: 1,
            value,
            unit: "ns".into(),
            min: None,
            max: Some(value),
            rival: who != "Pliant",
        }
    }

    // Checks: rows of one case stand together whatever their order, the longest bar is the whole width,
    // a figure that is not finite has none and is not shown as 0.
    #[test]
    fn rows_are_grouped_by_case() {
        let rows = [
            row("6k", "Pliant", 50.0),
            row("47k", "Pliant", 20.0),
            row("6k", "other", 200.0),
            row("6k", "x", f64::NAN),
        ];
        let cases = cases(&rows);
        assert_eq!(cases.iter().map(|c| c.rows.len()).collect::<Vec<_>>(), [3, 1]);
        let percent: Vec<f64> = cases[0].rows.iter().map(|bar| bar.percent).collect();
        assert_eq!(percent, [25.0, 100.0, 0.0]);
        assert_eq!(cases[0].rows[2].shown, "not measured");
        assert_eq!(cases[0].rows[0].range, "");
    }
}
