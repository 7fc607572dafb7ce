//! Files that are complete or absent: written under a temporary name, synced, renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::text::shown_lines;

/// Longest text of a file that a message repeats \[bytes\].
const LONGEST: usize = 400;

/// A file could not be read or written; names the file and the cause.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// The operating system or an encoder refused.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The action: `read`, `write`, `create`, `rename`, ...
        action: &'static str,
        /// The file concerned.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file was read but its content is malformed.
    #[error("{} is malformed: {}", path.display(), shown_lines(reason, LONGEST))]
    Malformed {
        /// The file concerned.
        path: PathBuf,
        /// What is wrong, with the line or element where known. Parsers repeat what they read: the
        /// message shows its beginning, with what a terminal obeys escaped.
        reason: String,
    },
}

impl IoError {
    /// An operating-system error on `path` while trying to `action`.
    pub fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_path_buf(), source }
    }

    /// A file whose content is malformed.
    pub fn malformed(path: &Path, reason: impl ToString) -> Self {
        Self::Malformed { path: path.to_path_buf(), reason: reason.to_string() }
    }
}

/// A file under a temporary name; removed when dropped before it was renamed.
struct Temporary {
    path: PathBuf,
    renamed: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // Nothing can be done about a failure here; the error that led here is the one to
            // report.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A name in the folder of `path` that no other writer of this or another process uses.
fn temporary_name(path: &Path) -> Result<PathBuf, IoError> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| {
        IoError::file("write", path, io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))
    })?;
    let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.{unique}.tmp", std::process::id()));
    Ok(path.with_file_name(temporary))
}

/// A rename is durable once its folder is synced (POSIX); elsewhere there is nothing to sync.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Writes `path` so that it is complete or unchanged: `write` fills a temporary file in the same
/// folder, which is then flushed, synced and renamed over `path`. On an error (also one of `write`,
/// also a panic in it) nothing is left.
///
/// # Errors
/// [`IoError::File`] naming `path` and the step that failed.
pub fn atomic_write<F>(path: impl AsRef<Path>, write: F) -> Result<(), IoError>
where
    F: FnOnce(&mut BufWriter<File>) -> io::Result<()>,
{
    let path = path.as_ref();
    let mut temporary = Temporary { path: temporary_name(path)?, renamed: false };
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary.path)
        .map_err(|e| IoError::file("create", path, e))?;
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    write(&mut writer).map_err(|e| IoError::file("write", path, e))?;
    writer.flush().map_err(|e| IoError::file("write", path, e))?;
    writer.get_ref().sync_all().map_err(|e| IoError::file("sync", path, e))?;
    drop(writer);
    fs::rename(&temporary.path, path).map_err(|e| IoError::file("rename", path, e))?;
    temporary.renamed = true;
    sync_folder(path).map_err(|e| IoError::file("sync the folder of", path, e))
}

/// Removes what a killed process left in `folder` of files that it was writing. Only for a folder in
/// which nobody else writes.
pub fn remove_temporary(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(".tmp") {
            // One that stays costs space only.
            let _ = fs::remove_file(entry.path());
        }
    }
}
