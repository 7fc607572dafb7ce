//! A sweep as one table with typed columns: CSV and Parquet.

mod columns;
mod parquet_file;
mod row;

use std::path::Path;

use columns::columns;
use pliant_io::files::{IoError, atomic_write};

pub use row::SweepRow;

/// Name of the table of a sweep as CSV.
pub const SWEEP_CSV: &str = "sweep.csv";

/// Name of the table of a sweep as Parquet.
pub const SWEEP_PARQUET: &str = "sweep.parquet";

/// Writes the table as CSV (RFC 4180), complete or not at all. Missing cells are empty.
///
/// # Errors
/// The file cannot be written.
pub fn write_csv(path: &Path, rows: &[SweepRow]) -> Result<(), IoError> {
    let columns = columns(rows);
    atomic_write(path, |out| {
        let mut out = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        out.write_record(columns.iter().map(|column| &column.name))?;
        for row in 0..rows.len() {
            out.write_record(columns.iter().map(|column| column.cell(row)))?;
        }
        out.flush()
    })
}

/// Writes the table as Parquet, complete or not at all, with the columns of [`write_csv`]: text as
/// UTF-8, numbers as 64-bit floats, whole numbers as 64-bit integers. Missing cells are null.
///
/// # Errors
/// The file cannot be written.
pub fn write_parquet(path: &Path, rows: &[SweepRow]) -> Result<(), IoError> {
    let columns = columns(rows);
    atomic_write(path, |out| parquet_file::write(out, &columns).map_err(std::io::Error::other))
}
