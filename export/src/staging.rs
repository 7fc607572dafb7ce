//! A folder beside the target, in which an export grows until it is complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{ExportError, failed};

/// The folder; removed with all in it when dropped.
pub struct Staging {
    folder: PathBuf,
    target: PathBuf,
}

fn refuse_existing(target: &Path) -> Result<(), ExportError> {
    // A link that leads nowhere is something too.
    if fs::symlink_metadata(target).is_ok() {
        return Err(ExportError::TargetExists { path: target.to_path_buf() });
    }
    Ok(())
}

impl Staging {
    /// Makes the folder beside `target`, which must not exist.
    pub fn new(target: &Path) -> Result<Self, ExportError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        refuse_existing(target)?;
        let name = target.file_name().ok_or_else(|| {
            failed("write", target)(std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                "the path names no file",
            ))
        })?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
        let folder = target.with_file_name(hidden);
        fs::create_dir(&folder).map_err(failed("create", &folder))?;
        let staging = Self { folder, target: target.to_path_buf() };
        fs::create_dir(staging.content()).map_err(failed("create", staging.content()))?;
        Ok(staging)
    }

    /// What becomes the target: a folder.
    pub fn content(&self) -> PathBuf {
        self.folder.join("content")
    }

    /// A file for the time of the export, or one that becomes the target.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Gives `from`, a file or folder of the staging, the name of the target; all of it is on the
    /// disk before.
    pub fn publish(self, from: &Path) -> Result<(), ExportError> {
        sync(from)?;
        refuse_existing(&self.target)?;
        fs::rename(from, &self.target).map_err(failed("rename", &self.target))?;
        match self.target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
            _ => sync_folder(Path::new(".")),
        }
    }
}

/// Waits until a file, or a folder with all in it, is on the disk.
fn sync(path: &Path) -> Result<(), ExportError> {
    if !path.is_dir() {
        let file = fs::File::open(path).map_err(failed("open", path))?;
        return file.sync_all().map_err(failed("sync", path));
    }
    for entry in fs::read_dir(path).map_err(failed("read", path))? {
        sync(&entry.map_err(failed("read", path))?.path())?;
    }
    sync_folder(path)
}

/// Waits until the names in a folder are on the disk (POSIX); elsewhere there is nothing to wait for.
fn sync_folder(path: &Path) -> Result<(), ExportError> {
    if cfg!(unix) {
        let folder = fs::File::open(path).map_err(failed("open", path))?;
        folder.sync_all().map_err(failed("sync", path))?;
    }
    Ok(())
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The error that led here is the one to report.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
