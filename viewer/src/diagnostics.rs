//! The table of diagnostics as JSON for the page.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord};
use pliant_io::digest;
use pliant_io::files::IoError;
use pliant_runner::recording::Recording;
use pliant_runner::run::DIAGNOSTICS;
use serde_json::{Value, json};

use crate::error::ViewerError;

/// Most rows that the page gets; a plot has fewer pixels than that.
const MOST_ROWS: usize = 4000;

/// Columns with their units and values; `every` says that only every so-manyth row is there.
///
/// # Errors
/// [`ViewerError`]: the table is missing, damaged or malformed.
pub(crate) fn diagnostics(recording: &Recording) -> Result<Value, ViewerError> {
    let path = recording.directory().join(DIAGNOSTICS);
    if let Some(expected) = recording.manifest().and_then(|manifest| manifest.digests.get(DIAGNOSTICS)) {
        digest::verify(&path, expected)?;
    }
    let mut text = std::fs::read_to_string(&path).map_err(|e| IoError::file("read", &path, e))?;
    if recording.manifest().is_none() {
        // The run may be in the middle of a line.
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    }
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| IoError::malformed(&path, e))?.clone();
    let rows = reader.records().collect::<Result<Vec<_>, _>>();
    let rows = rows.map_err(|e| IoError::malformed(&path, e))?;
    let every = rows.len().div_ceil(MOST_ROWS).max(1);
    let last = rows.len().checked_sub(1).filter(|last| last % every != 0);
    let kept: Vec<&StringRecord> =
        rows.iter().step_by(every).chain(last.and_then(|last| rows.get(last))).collect();
    let columns = header
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let values =
                kept.iter().map(|row| cell(&path, name, number, row)).collect::<Result<Vec<_>, _>>()?;
            Ok(json!({ "name": name, "unit": unit(name), "values": values }))
        })
        .collect::<Result<Vec<_>, ViewerError>>()?;
    Ok(json!({ "columns": columns, "rows": rows.len(), "every": every }))
}

/// The number in a cell; none if it is empty or not finite.
fn cell(path: &Path, name: &str, column: usize, row: &StringRecord) -> Result<Option<f64>, ViewerError> {
    let text = row.get(column).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    let line = row.position().map_or(0, csv::Position::line);
    let value: f64 = text.parse().map_err(|_| {
        IoError::malformed(path, format!("line {line}, column {name}: '{text}' is no number"))
    })?;
    Ok(value.is_finite().then_some(value))
}

/// Unit of a column of `diagnostics.csv`; empty for one that this version does not know.
fn unit(name: &str) -> &'static str {
    let base = name.trim_end_matches("_x").trim_end_matches("_y").trim_end_matches("_z");
    match base {
        "time" => "s",
        "wall_ms" => "ms",
        "mass" => "kg",
        "com" => "m",
        "linear_momentum" => "N s",
        "angular_momentum" => "N m s",
        "dissipation" | "imbalance" | "energy_gained" | "energy_put_in" => "J",
        "substeps"
        | "contacts"
        | "iterations"
        | "residual"
        | "rigid_steps"
        | "rigid_rejected"
        | "rigid_contacts"
        | "rigid_solves"
        | "rigid_iterations"
        | "rigid_factorisations"
        | "rigid_refreshed"
        | "coupling_steps"
        | "coupling_excess"
        | "crossings" => "-",
        _ if base.ends_with("_energy") || base.ends_with("_imbalance") => "J",
        _ if base.contains("work_") || base.contains("lost_") => "J",
        _ => "",
    }
}
