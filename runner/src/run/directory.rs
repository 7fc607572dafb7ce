//! Run directories: complete or absent, and written by one process at a time.
//!
//! A run fills `.NAME.partial` beside its final path and renames it when its data are complete. As
//! long as a process works on a run, it holds the lock `.NAME.lock`. Data are never deleted, but
//! for those of a run that was stopped before its first checkpoint.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::RunError;
use crate::machine::BackendChoice;
use pliant_io::files::{IoError, remove_temporary};
use pliant_io::lock::{self, FileLock, LockError};

/// Folders of a run directory, beside itself, in which files are written under temporary names.
const FOLDERS: [&str; 6] = ["", "checkpoint", "frames", "pictures", "plots", "tactile"];

/// A run directory that this process works on: it holds its lock.
#[derive(Debug)]
pub struct RunDirectory {
    target: PathBuf,
    partial: PathBuf,
    /// Whether it had its final name before it was opened again.
    was_finished: bool,
    lock: FileLock,
}

/// The name of a run directory with a dot before it and `end` behind it, in the same folder.
fn beside(target: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_else(|| "run".as_ref()));
    name.push(end);
    target.with_file_name(name)
}

/// The path at which a run is written until its data are complete.
pub fn partial_path(target: &Path) -> PathBuf {
    beside(target, ".partial")
}

/// The lock of a run directory.
pub fn lock_path(target: &Path) -> PathBuf {
    beside(target, ".lock")
}

/// What exists at the path of a run directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Nothing.
    Nothing,
    /// A run under its temporary name.
    Unfinished,
    /// A run under its final name.
    Finished,
    /// Both: this program leaves one of them at most.
    Both,
}

/// What exists at the path of a run directory.
pub fn existing(target: &Path) -> Existing {
    // A dangling link counts as existing: a rename would replace it.
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    match (is_there(target), is_there(&partial_path(target))) {
        (false, false) => Existing::Nothing,
        (false, true) => Existing::Unfinished,
        (true, false) => Existing::Finished,
        (true, true) => Existing::Both,
    }
}

/// Takes the lock of a run directory.
///
/// # Errors
/// Another process works on the run, or the folder cannot be written.
pub fn lock(target: &Path) -> Result<FileLock, RunError> {
    FileLock::try_acquire(lock_path(target)).map_err(|error| match error {
        LockError::Held { holder, .. } => RunError::InUse { path: target.to_path_buf(), holder },
        LockError::Unsupported { .. } => RunError::NoLocks { path: target.to_path_buf(), source: error },
        LockError::Io(IoError::File { source, .. }) => {
            RunError::NotWritable { path: target.to_path_buf(), source }
        }
        LockError::Io(other) => other.into(),
    })
}

/// Refuses an output directory that exists, or whose unfinished run exists.
///
/// # Errors
/// [`RunError::OutputExists`], [`RunError::Unfinished`], [`RunError::InUse`].
pub fn check_absent(target: &Path) -> Result<(), RunError> {
    let path = target.to_path_buf();
    if target.file_name().is_none() {
        return Err(RunError::OutputExists { path });
    }
    let lock = lock_path(target);
    if lock::is_held(&lock) {
        return Err(RunError::InUse { path, holder: lock::holder(&lock) });
    }
    match existing(target) {
        Existing::Nothing => Ok(()),
        Existing::Unfinished => Err(RunError::Unfinished { path, partial: partial_path(target) }),
        Existing::Finished | Existing::Both => Err(RunError::OutputExists { path }),
    }
}

impl RunDirectory {
    /// Begins a new run directory, with its parent folders.
    ///
    /// # Errors
    /// It exists already, is in use, or cannot be written.
    pub fn create(target: &Path) -> Result<Self, RunError> {
        check_absent(target)?;
        let not_writable = |source| RunError::NotWritable { path: target.to_path_buf(), source };
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(not_writable)?;
        }
        let lock = lock(target)?;
        // Another process may have begun, and even ended, the run since.
        match existing(target) {
            Existing::Nothing => {}
            Existing::Unfinished => {
                return Err(RunError::Unfinished {
                    path: target.to_path_buf(),
                    partial: partial_path(target),
                });
            }
            Existing::Finished | Existing::Both => {
                return Err(RunError::OutputExists { path: target.to_path_buf() });
            }
        }
        let partial = partial_path(target);
        fs::create_dir(&partial).map_err(not_writable)?;
        Ok(Self { target: target.to_path_buf(), partial, was_finished: false, lock })
    }

    /// Takes hold of a run directory, unfinished or ended, to continue it. It keeps its name.
    ///
    /// # Errors
    /// There is none, or it is in use.
    pub fn take(target: &Path) -> Result<Self, RunError> {
        if existing(target) == Existing::Nothing {
            return Err(RunError::NothingToResume { path: target.to_path_buf() });
        }
        let lock = lock(target)?;
        let partial = partial_path(target);
        let was_finished = match existing(target) {
            Existing::Both => return Err(RunError::Unfinished { path: target.to_path_buf(), partial }),
            Existing::Nothing => return Err(RunError::NothingToResume { path: target.to_path_buf() }),
            Existing::Finished => true,
            Existing::Unfinished => false,
        };
        Ok(Self { target: target.to_path_buf(), partial, was_finished, lock })
    }

    /// Gives a run that was taken its temporary name, before its first change, and removes the
    /// temporary files of a process that was killed.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn reopen(&mut self) -> Result<(), RunError> {
        if self.was_finished && !self.partial.exists() {
            fs::rename(&self.target, &self.partial).map_err(|e| IoError::file("rename", &self.target, e))?;
        }
        self.was_finished = false;
        self.remove_temporary();
        Ok(())
    }

    /// Removes files under temporary names: only this process may write here.
    pub fn remove_temporary(&self) {
        for folder in FOLDERS {
            remove_temporary(&self.path().join(folder));
        }
    }

    /// Begins a run again that was killed before its first checkpoint: its files go.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn begin_again(&self) -> Result<(), RunError> {
        let failed = |action, source| IoError::file(action, &self.partial, source);
        fs::remove_dir_all(&self.partial).map_err(|e| failed("remove", e))?;
        fs::create_dir(&self.partial).map_err(|e| failed("create", e))?;
        Ok(())
    }

    /// The present path.
    pub fn path(&self) -> &Path {
        if self.was_finished { &self.target } else { &self.partial }
    }

    /// The final path.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Gives the run directory its final name; the lock stays.
    ///
    /// # Errors
    /// The rename fails, or the name was taken meanwhile.
    pub fn finish(self) -> Result<FinishedDirectory, RunError> {
        if !self.was_finished {
            if fs::symlink_metadata(&self.target).is_ok() {
                return Err(RunError::OutputExists { path: self.target });
            }
            fs::rename(&self.partial, &self.target).map_err(|e| IoError::file("rename", &self.partial, e))?;
            sync_parent(&self.target).map_err(|e| IoError::file("sync the folder of", &self.target, e))?;
        }
        Ok(FinishedDirectory { path: self.target, _lock: self.lock })
    }

    /// Removes the files of a new run after an error before its first checkpoint.
    pub fn abandon(self) {
        // The error that led here is the one to report.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

/// A run directory under its final name, whose pictures this process may still draw.
#[derive(Debug)]
pub struct FinishedDirectory {
    /// Its path.
    pub path: PathBuf,
    _lock: FileLock,
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
/// The backend is not available; the output exists or is in use, or there is nothing to resume.
pub fn check(out: &Path, backend: BackendChoice, resume: bool) -> Result<(), RunError> {
    backend.open()?;
    if !resume {
        return check_absent(out);
    }
    let lock = lock_path(out);
    if lock::is_held(&lock) {
        return Err(RunError::InUse { path: out.to_path_buf(), holder: lock::holder(&lock) });
    }
    match existing(out) {
        Existing::Nothing => Err(RunError::NothingToResume { path: out.to_path_buf() }),
        _ => Ok(()),
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
        assert!(matches!(RunDirectory::create(&target), Err(RunError::InUse { holder: Some(_), .. })));
        assert!(matches!(RunDirectory::take(&target), Err(RunError::InUse { holder: Some(_), .. })));
        assert_eq!(directory.finish().unwrap().path, target);
        assert_eq!(fs::read_to_string(target.join("x")).unwrap(), "1");
        assert!(!partial_path(&target).exists() && !lock_path(&target).exists());
    }

    // Checks: the directory of a process that was killed is no longer in use, and nobody's
    // temporary files stay in it.
    #[test]
    fn what_a_killed_process_leaves_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        let partial = partial_path(&target);
        fs::create_dir_all(partial.join("frames")).unwrap();
        fs::write(lock_path(&target), "process: 1\nhost: gone\nsince: 1\n").unwrap();
        for file in [".manifest.json.1.0.tmp", "frames/.000001.ply.1.7.tmp", "frames/000000.ply"] {
            fs::write(partial.join(file), "").unwrap();
        }
        assert!(matches!(RunDirectory::create(&target), Err(RunError::Unfinished { .. })));
        let mut directory = RunDirectory::take(&target).unwrap();
        directory.reopen().unwrap();
        let names = |folder: &Path| -> Vec<_> {
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        assert_eq!(names(&partial), ["frames"]);
        assert_eq!(names(&partial.join("frames")), ["000000.ply"]);
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
