//! The files that a scene is made of, beside itself: models and meshes.

use std::fs::File;
use std::path::{Path, PathBuf};

use pliant_io::digest::{self, FileDigest, Hasher};
use pliant_io::files::IoError;
use pliant_scenes::scenario::Scenario;
use serde::{Deserialize, Serialize};

/// A file that a scene was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length and digest.
    #[serde(flatten)]
    pub digest: FileDigest,
}

/// The first of the files that is no longer what it was; none if all are.
pub fn changed_input(inputs: &[InputFile]) -> Option<&Path> {
    let is_changed = |input: &&InputFile| digest::verify(&input.path, &input.digest).is_err();
    inputs.iter().find(is_changed).map(|input| input.path.as_path())
}

/// The files that a scenario was made of, in the order of their paths.
///
/// # Errors
/// One cannot be read.
pub fn input_files(scenario: &Scenario) -> Result<Vec<InputFile>, IoError> {
    let read = |path: &PathBuf| {
        let failed = |e| IoError::file("read", path, e);
        let hasher = File::open(path).and_then(Hasher::of_reader).map_err(failed)?;
        Ok(InputFile { path: path.clone(), digest: hasher.digest() })
    };
    scenario.files.iter().map(read).collect()
}
