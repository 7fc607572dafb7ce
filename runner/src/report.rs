//! Runs side by side: a table, and plots over time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::record::{DIAGNOSTICS, FRAMES, MANIFEST, Manifest};
use crate::sweep::SweepTable;
use crate::sweep_table::{self, SweepRow};
use pliant_io::digest::{self, DigestError};
use pliant_io::files::IoError;
use pliant_render::plot::{Plot, PlotError, Series, Style};

/// A run and its manifest.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The run directory.
    pub directory: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
}

/// The run directories among directories: they themselves, and the folders in them, such as those of
/// a sweep.
///
/// # Errors
/// A directory cannot be read or holds no run.
pub fn find(directories: &[PathBuf]) -> Result<Vec<PathBuf>, IoError> {
    let mut all = Vec::new();
    for directory in directories {
        if is_run(directory) {
            all.push(directory.clone());
            continue;
        }
        let read = |e| IoError::file("read", directory, e);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(directory).map_err(read)? {
            let path = entry.map_err(read)?.path();
            // Unfinished runs begin with a dot.
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if !hidden && is_run(&path) {
                found.push(path);
            }
        }
        if found.is_empty() {
            let reason = "no run found: no manifest.json in it or in its folders".to_owned();
            return Err(IoError::Malformed { path: directory.clone(), reason });
        }
        found.sort();
        all.append(&mut found);
    }
    Ok(all)
}

/// Whether a folder is a run directory; its manifest may be lost.
fn is_run(directory: &Path) -> bool {
    directory.join(MANIFEST).exists() || directory.join(FRAMES).exists()
}

/// Reads the runs of directories, as [`find`] finds them. The second list has the manifests that
/// cannot be used; one of them does not stop the others.
///
/// # Errors
/// A directory cannot be read or holds no run.
pub fn collect(directories: &[PathBuf]) -> Result<(Vec<Entry>, Vec<IoError>), IoError> {
    let mut entries = Vec::new();
    let mut damaged = Vec::new();
    for directory in find(directories)? {
        match Manifest::read(&directory) {
            Ok(manifest) => entries.push(Entry { directory, manifest }),
            Err(error) => damaged.push(error),
        }
    }
    Ok((entries, damaged))
}

/// The values that sweeps varied, for each run; none for runs that are no part of a sweep.
pub fn changes(entries: &[Entry]) -> Vec<BTreeMap<String, Value>> {
    let mut sweeps: BTreeMap<&Path, BTreeMap<String, BTreeMap<String, Value>>> = BTreeMap::new();
    for folder in entries.iter().filter_map(|entry| entry.directory.parent()) {
        sweeps.entry(folder).or_insert_with(|| {
            let variants = SweepTable::read(folder).map(|table| table.variants).unwrap_or_default();
            variants.into_iter().map(|variant| (variant.name, variant.changes)).collect()
        });
    }
    let of = |entry: &Entry| {
        let name = entry.directory.file_name()?.to_string_lossy();
        sweeps.get(entry.directory.parent()?)?.get(&*name).cloned()
    };
    entries.iter().map(|entry| of(entry).unwrap_or_default()).collect()
}

/// Writes the runs as one table, with the values that a sweep varied: Parquet if the name ends so,
/// else CSV.
///
/// # Errors
/// The file cannot be written.
pub fn write_table(entries: &[Entry], file: &Path) -> Result<(), IoError> {
    let row = |(entry, changes): (&Entry, BTreeMap<String, Value>)| SweepRow {
        changes,
        name: entry.directory.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        status: Some(entry.manifest.status),
        error: entry.manifest.error.clone(),
        manifest: Some(entry.manifest.clone()),
    };
    let rows: Vec<SweepRow> = entries.iter().zip(changes(entries)).map(row).collect();
    if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
        sweep_table::write_parquet(file, &rows)
    } else {
        sweep_table::write_csv(file, &rows)
    }
}

/// Columns of `diagnostics.csv` that are plotted: name, label, file.
const PLOTS: [(&str, &str, &str); 5] = [
    ("kinetic_energy", "kinetic energy [J]", "kinetic-energy.svg"),
    ("elastic_energy", "elastic energy [J]", "elastic-energy.svg"),
    ("contacts", "contacts [-]", "contacts.svg"),
    ("iterations", "solver iterations of a step [-]", "iterations.svg"),
    ("wall_ms", "wall time of a step [ms]", "wall-ms.svg"),
];

/// A plot that cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A table is not what was written.
    #[error(transparent)]
    Damaged(#[from] DigestError),
    /// There is nothing to plot.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// Writes plots of the runs' diagnostics over time into `out`; returns the files.
///
/// # Errors
/// [`ReportError`]: a table is missing, a plot cannot be written.
pub fn plot(entries: &[Entry], out: &Path) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(out).map_err(|e| IoError::file("create", out, e))?;
    let tables = entries.iter().map(read_diagnostics).collect::<Result<Vec<_>, _>>()?;
    let mut files = Vec::new();
    for (column, label, file) in PLOTS {
        let series = entries.iter().zip(&tables).map(|(entry, table)| Series {
            name: entry.directory.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
            points: table.points(column),
            style: Style::Line,
        });
        let plot = Plot {
            title: label.split(" [").next().unwrap_or(label).to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: label.to_owned(),
            series: series.collect(),
            ..Plot::default()
        };
        let path = out.join(file);
        match plot.write_svg(&path) {
            Ok(()) => files.push(path),
            // A run of no steps has nothing to plot.
            Err(PlotError::Empty { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(files)
}

/// `diagnostics.csv` of a run.
#[derive(Clone, Debug)]
pub struct DiagnosticsTable {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl DiagnosticsTable {
    /// A column over time \[s\]; what was not measured is not a number. Empty without the column.
    pub fn points(&self, column: &str) -> Vec<(f64, f64)> {
        let find = |name: &str| self.header.iter().position(|h| h == name);
        let (Some(time), Some(value)) = (find("time"), find(column)) else { return Vec::new() };
        self.rows.iter().map(|row| (row[time], row[value])).collect()
    }
}

/// The diagnostics of a run, if they are what was written.
///
/// # Errors
/// The table is missing, malformed or damaged.
pub fn read_diagnostics(entry: &Entry) -> Result<DiagnosticsTable, ReportError> {
    let path = entry.directory.join(DIAGNOSTICS);
    if let Some(expected) = entry.manifest.digests.get(DIAGNOSTICS) {
        digest::verify(&path, expected)?;
    }
    let text = std::fs::read_to_string(&path).map_err(|e| IoError::file("read", &path, e))?;
    let mut lines = text.lines();
    let header: Vec<String> = lines.next().unwrap_or_default().split(',').map(str::to_owned).collect();
    let mut rows = Vec::new();
    for (at, line) in lines.enumerate() {
        // Empty cells were not measured.
        let cell = |cell: &str| if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
        let row: Result<Vec<f64>, _> = line.split(',').map(cell).collect();
        match row {
            Ok(row) if row.len() == header.len() => rows.push(row),
            _ => {
                let reason = format!("line {}: '{line}'", at + 2);
                return Err(IoError::Malformed { path, reason }.into());
            }
        }
    }
    Ok(DiagnosticsTable { header, rows })
}
