//! What a folder holds of a variant.

use std::path::Path;

use crate::record::{Manifest, Status, changed_input};
use crate::run::{directory, is_same_run, pictures};
use crate::verify::verify;
use pliant_io::lock;
use pliant_io::text::printable;
use pliant_scenes::format::Scene;

/// Why a run of another scene is not changed.
pub(super) const ANOTHER_SCENE: &str = "its directory holds a run of another scene; move that run first";

/// What exists at the path of a variant's run directory.
pub(super) enum ExistingRun {
    /// Nothing.
    Nothing,
    /// A run to resume, or to finish with its pictures.
    Unfinished,
    /// A run that ended, whose files are what was written.
    Complete(Box<Manifest>),
    /// Another process works on it.
    InUse,
    /// Something that is not to be changed, and why.
    Refused(String),
}

pub(super) fn find(scene: &Scene, out: &Path, with_pictures: bool) -> ExistingRun {
    let lock = directory::lock_path(out);
    if lock::is_held(&lock) {
        return ExistingRun::InUse;
    }
    // Of a process that was killed after its run had its name: nobody takes the lock of a complete run.
    lock::remove_stale(&lock);
    match directory::existing(out) {
        directory::Existing::Nothing => return ExistingRun::Nothing,
        directory::Existing::Unfinished => return ExistingRun::Unfinished,
        directory::Existing::Finished => {}
        directory::Existing::Both => {
            let partial = directory::partial_path(out);
            let reason = format!("there is both a run and an unfinished one in {}", partial.display());
            return ExistingRun::Refused(reason);
        }
    }
    let manifest = match Manifest::read(out) {
        Ok(manifest) => manifest,
        Err(error) => return ExistingRun::Refused(error.to_string()),
    };
    if !is_same_run(&manifest.scene, scene) {
        return ExistingRun::Refused(ANOTHER_SCENE.to_owned());
    }
    if manifest.status == Status::Interrupted && changed_input(&manifest.inputs).is_none() {
        return ExistingRun::Unfinished;
    }
    match problem(out, &manifest) {
        Some(problem) => ExistingRun::Refused(problem),
        // A run that failed would fail in the same way again.
        None if manifest.status == Status::Failed => ExistingRun::Complete(Box::new(manifest)),
        None if with_pictures && pictures::are_missing(&manifest) => ExistingRun::Unfinished,
        None => ExistingRun::Complete(Box::new(manifest)),
    }
}

/// Why the run in a directory does not count, though it ended: its input files are others now, or its
/// files are not what was written.
pub(super) fn problem(out: &Path, manifest: &Manifest) -> Option<String> {
    if let Some(input) = changed_input(&manifest.inputs) {
        return Some(format!(
            "{} changed since its run; move that run first",
            printable(&input.to_string_lossy())
        ));
    }
    let problem = match verify(out) {
        Ok(found) => found.problems.first().map(ToString::to_string),
        Err(error) => Some(error.to_string()),
    };
    problem.map(|problem| format!("{problem}; move its directory away to run it again"))
}
