//! `frames.csv`: time, particles, length and digest of every frame.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use pliant_io::digest::{self, DigestError, FileDigest};
use pliant_io::files::IoError;

use super::csv_table::whole_lines;
use super::paths::frame_path;
use super::table::{Opening, Table};

/// Name of the table with one row per frame.
pub const FRAME_LIST: &str = "frames.csv";

const HEADER: &str = "frame,time,particles,bytes,sha256";

/// A frame that was written, and a row of `frames.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameRow {
    /// Number of the frame \[-\].
    pub frame: usize,
    /// Time \[s\].
    pub time: f64,
    /// Particles in it \[-\].
    pub particles: usize,
    /// Length and digest of its file.
    pub file: FileDigest,
}

/// The table in a run directory.
pub fn open(directory: &Path, opening: Opening) -> Result<Table, DigestError> {
    opening.table(directory, FRAME_LIST, HEADER)
}

/// The row of a frame.
pub fn frame(table: &mut Table, row: &FrameRow) -> Result<(), IoError> {
    let FrameRow { frame, time, particles, file: FileDigest { bytes, sha256 } } = row;
    table.line(&format!("{frame},{time:?},{particles},{bytes},{sha256}"))
}

/// Compares the first `frames` frames of a run directory with their digests in the first `bytes`
/// bytes of `frames.csv`.
///
/// # Errors
/// [`DigestError`] naming the first frame that is damaged or missing.
pub fn verify_frames(directory: &Path, bytes: u64, frames: usize) -> Result<(), DigestError> {
    let rows = read_rows(directory, bytes)?;
    if rows.len() != frames {
        let reason = format!("it lists {} frames; {frames} were written", rows.len());
        return Err(IoError::Malformed { path: directory.join(FRAME_LIST), reason }.into());
    }
    rows.iter().try_for_each(|row| digest::verify(&frame_path(directory, row.frame), &row.file))
}

/// Reads `frames.csv` of a run directory.
///
/// # Errors
/// The file is missing or a row is malformed.
pub fn read_frame_list(directory: &Path) -> Result<Vec<FrameRow>, IoError> {
    read_rows(directory, u64::MAX)
}

/// Reads `frames.csv` of a run that goes on: its whole lines.
///
/// # Errors
/// As [`read_frame_list`].
pub fn read_frame_list_so_far(directory: &Path) -> Result<Vec<FrameRow>, IoError> {
    let path = directory.join(FRAME_LIST);
    parse(&path, &whole_lines(&path)?)
}

/// The rows in the first `bytes` bytes of the table.
fn read_rows(directory: &Path, bytes: u64) -> Result<Vec<FrameRow>, IoError> {
    let path = directory.join(FRAME_LIST);
    let mut text = String::new();
    File::open(&path)
        .and_then(|file| file.take(bytes).read_to_string(&mut text))
        .map_err(|e| IoError::file("read", &path, e))?;
    parse(&path, &text)
}

fn parse(path: &Path, text: &str) -> Result<Vec<FrameRow>, IoError> {
    let row = |(at, line): (usize, &str)| {
        let read = || {
            let mut cells = line.split(',');
            let row = FrameRow {
                frame: cells.next()?.parse().ok()?,
                time: cells.next()?.parse().ok()?,
                particles: cells.next()?.parse().ok()?,
                file: FileDigest { bytes: cells.next()?.parse().ok()?, sha256: cells.next()?.to_owned() },
            };
            (row.file.sha256.len() == 64 && cells.next().is_none()).then_some(row)
        };
        read().ok_or_else(|| IoError::Malformed {
            path: path.to_path_buf(),
            reason: format!("line {}: '{line}'", at + 1),
        })
    };
    text.lines().enumerate().skip(1).map(row).collect()
}
