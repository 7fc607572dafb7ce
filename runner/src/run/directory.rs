//! Run directories: complete or absent.
//!
//! A run fills `.NAME.partial` beside its final path and renames it at the end. Existing files are
//! never deleted.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::RunError;
use crate::machine::BackendChoice;
use pliant_io::files::IoError;

/// A run directory that is being written.
#[derive(Debug)]
pub struct RunDirectory {
    target: PathBuf,
    partial: PathBuf,
    /// Whether it had its final name before it was opened again.
    was_finished: bool,
}

/// The path at which a run is written until it ends.
pub fn partial_path(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_else(|| "run".as_ref()));
    name.push(".partial");
    target.with_file_name(name)
}

/// Refuses an output directory that exists, or whose unfinished run exists.
///
/// # Errors
/// [`RunError::OutputExists`], [`RunError::Unfinished`], or a path that names no directory.
pub fn check_absent(target: &Path) -> Result<(), RunError> {
    if target.file_name().is_none() {
        return Err(RunError::OutputExists { path: target.to_path_buf() });
    }
    // A dangling link counts as existing: a rename would replace it.
    if fs::symlink_metadata(target).is_ok() {
        return Err(RunError::OutputExists { path: target.to_path_buf() });
    }
    let partial = partial_path(target);
    if fs::symlink_metadata(&partial).is_ok() {
        return Err(RunError::Unfinished { path: target.to_path_buf(), partial });
    }
    Ok(())
}

impl RunDirectory {
    /// Begins a new run directory, with its parent folders.
    ///
    /// # Errors
    /// It exists already, or cannot be written.
    pub fn create(target: &Path) -> Result<Self, RunError> {
        check_absent(target)?;
        let not_writable = |source| RunError::NotWritable { path: target.to_path_buf(), source };
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(not_writable)?;
        }
        let partial = partial_path(target);
        fs::create_dir(&partial).map_err(not_writable)?;
        Ok(Self { target: target.to_path_buf(), partial, was_finished: false })
    }

    /// Opens a run directory again, unfinished or ended, to continue it.
    ///
    /// # Errors
    /// There is none, or it cannot be renamed.
    pub fn reopen(target: &Path) -> Result<Self, RunError> {
        let partial = partial_path(target);
        let there = |path: &Path| fs::symlink_metadata(path).is_ok();
        let was_finished = there(target);
        match (was_finished, there(&partial)) {
            (true, true) => return Err(RunError::Unfinished { path: target.to_path_buf(), partial }),
            (false, false) => return Err(RunError::NothingToResume { path: target.to_path_buf() }),
            (true, false) => fs::rename(target, &partial).map_err(|e| IoError::file("rename", target, e))?,
            (false, true) => {}
        }
        Ok(Self { target: target.to_path_buf(), partial, was_finished })
    }

    /// The present path.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// The final path.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Ends the run directory: it gets its final name.
    ///
    /// # Errors
    /// The rename fails, or the name was taken meanwhile.
    pub fn finish(self) -> Result<PathBuf, RunError> {
        if fs::symlink_metadata(&self.target).is_ok() {
            return Err(RunError::OutputExists { path: self.target });
        }
        fs::rename(&self.partial, &self.target).map_err(|e| IoError::file("rename", &self.partial, e))?;
        sync_parent(&self.target).map_err(|e| IoError::file("sync the folder of", &self.target, e))?;
        Ok(self.target)
    }

    /// Gives a run that was opened again, and not changed, its former name.
    pub fn restore_name(self) {
        if self.was_finished {
            // The error that led here is the one to report.
            let _ = self.finish();
        }
    }

    /// Removes the files of a new run after an error before its first checkpoint.
    pub fn abandon(self) {
        // The error that led here is the one to report.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if cfg!(unix) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            fs::File::open(parent)?.sync_all()
        }
        _ => Ok(()),
    }
}

/// Makes the checks before the first step: see [`run`](super::run).
///
/// # Errors
/// The backend is not available; the output exists, or there is nothing to resume.
pub fn check(out: &Path, backend: BackendChoice, resume: bool) -> Result<(), RunError> {
    backend.open()?;
    if !resume {
        return check_absent(out);
    }
    if out.exists() || partial_path(out).exists() {
        Ok(())
    } else {
        Err(RunError::NothingToResume { path: out.to_path_buf() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: the name appears when the run ends, and not before.
    #[test]
    fn a_run_directory_is_complete_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("deep/er/run");
        let directory = RunDirectory::create(&target).unwrap();
        fs::write(directory.path().join("x"), "1").unwrap();
        assert!(!target.exists());
        assert!(matches!(RunDirectory::create(&target), Err(RunError::Unfinished { .. })));
        assert_eq!(directory.finish().unwrap(), target);
        assert_eq!(fs::read_to_string(target.join("x")).unwrap(), "1");
        assert!(!partial_path(&target).exists());
    }

    // Checks: an existing path is never replaced or deleted, be it an empty folder, a file, or made
    // during the run.
    #[test]
    fn what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        fs::create_dir(&target).unwrap();
        assert!(matches!(RunDirectory::create(&target), Err(RunError::OutputExists { .. })));
        fs::remove_dir(&target).unwrap();
        let directory = RunDirectory::create(&target).unwrap();
        fs::write(&target, "mine").unwrap();
        assert!(matches!(directory.finish(), Err(RunError::OutputExists { .. })));
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        match RunDirectory::create(&file.join("run")) {
            Err(RunError::NotWritable { path, .. }) => assert_eq!(path, file.join("run")),
            other => panic!("{other:?}"),
        }
    }
}
