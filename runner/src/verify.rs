//! Whether the files of a run are what was written: compares them with the digests in its manifest,
//! in `frames.csv` and in its checkpoints.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::record::{FRAME_LIST, FRAMES, MANIFEST, Manifest, frame_path, read_frame_list};
use crate::run::checkpoint;
use pliant_io::digest::{self, DigestError, FileDigest};
use pliant_io::files::IoError;

/// A file that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Its path in the run directory.
    pub file: String,
    /// What is wrong.
    pub reason: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.reason)
    }
}

/// What was checked, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Files compared with their digests \[-\].
    pub files: usize,
    /// Their lengths \[bytes\].
    pub bytes: u64,
    /// What is wrong; empty if all is well.
    pub problems: Vec<Problem>,
}

impl Verification {
    fn problem(&mut self, file: &str, reason: impl ToString) {
        self.problems.push(Problem { file: file.to_owned(), reason: reason.to_string() });
    }

    fn compare(&mut self, directory: &Path, name: &str, expected: &FileDigest) {
        self.files += 1;
        self.bytes += expected.bytes;
        if let Err(error) = digest::verify(&directory.join(name), expected) {
            self.problem(name, error);
        }
    }

    /// The frames: those that `frames.csv` lists, and no others.
    fn frames(&mut self, directory: &Path, expected: usize) {
        let rows = match read_frame_list(directory) {
            Ok(rows) => rows,
            Err(error) => return self.problem(FRAME_LIST, error),
        };
        if rows.len() != expected {
            let reason = format!("{FRAME_LIST} lists {} frames, {MANIFEST} says {expected}", rows.len());
            self.problem(FRAME_LIST, reason);
        }
        let mut listed = BTreeSet::new();
        for row in rows {
            let path = frame_path(Path::new(""), row.frame);
            self.compare(directory, &path.to_string_lossy(), &row.file);
            listed.extend(path.file_name().map(ToOwned::to_owned));
        }
        let found = std::fs::read_dir(directory.join(FRAMES)).into_iter().flatten().flatten();
        let mut others: Vec<_> = found.map(|entry| entry.file_name()).collect();
        others.retain(|name| !listed.contains(name));
        others.sort();
        for name in others {
            let name = format!("{FRAMES}/{}", name.to_string_lossy().escape_debug());
            self.problem(&name, format!("{name} is not in {FRAME_LIST}"));
        }
    }

    /// The checkpoints: those that the manifest names.
    fn checkpoints(&mut self, directory: &Path, expected: &[String]) {
        let found = checkpoint::files(directory);
        for name in expected.iter().filter(|name| !found.contains(&directory.join(name))) {
            self.files += 1;
            self.problem(name, format!("{name} is missing"));
        }
        for file in found {
            self.files += 1;
            self.bytes += file.metadata().map_or(0, |metadata| metadata.len());
            if let Err(error) = checkpoint::verify(&file) {
                let name = file.strip_prefix(directory).unwrap_or(&file).to_string_lossy().into_owned();
                self.problem(&name, error);
            }
        }
    }
}

/// Compares the files of a run directory with their digests.
///
/// # Errors
/// It is no run directory. A manifest that is damaged or missing is a problem, not an error.
pub fn verify(directory: &Path) -> Result<Verification, IoError> {
    let mut found = Verification { files: 1, ..Verification::default() };
    let manifest = match Manifest::read(directory) {
        Ok(manifest) => manifest,
        Err(IoError::Malformed { path, reason }) => {
            found.problem(MANIFEST, IoError::Malformed { path, reason });
            return Ok(found);
        }
        Err(error) if !directory.join(FRAMES).exists() => return Err(error),
        Err(error) => {
            found.problem(MANIFEST, error);
            return Ok(found);
        }
    };
    found.bytes = directory.join(MANIFEST).metadata().map_or(0, |metadata| metadata.len());
    if manifest.schema_version < 2 {
        let reason = "the run was written by a version without checksums and cannot be verified";
        found.problem(MANIFEST, reason);
        return Ok(found);
    }
    for (name, expected) in &manifest.digests {
        found.compare(directory, name, expected);
    }
    found.frames(directory, manifest.frames);
    found.checkpoints(directory, &manifest.checkpoints);
    Ok(found)
}

/// Checks that the tables and frames from which pictures and plots are drawn are what was written.
///
/// # Errors
/// [`DigestError`] naming the first file that is not.
pub fn verify_data(directory: &Path, manifest: &Manifest) -> Result<(), DigestError> {
    for (name, expected) in &manifest.digests {
        if name.ends_with(".csv") {
            digest::verify(&directory.join(name), expected)?;
        }
    }
    if manifest.schema_version < 2 {
        return Ok(());
    }
    crate::record::verify_frames(directory, u64::MAX, manifest.frames)
}
