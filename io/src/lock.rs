//! Locks of files: one process at a time, and the name of the one that holds it.
//!
//! The lock is the operating system's (`flock`, or its counterpart): it ends with the process that
//! holds it, however that ends, so that no lock is left behind by a crash. What the file says only
//! names the holder. On a network file system the server passes the locks on; where a file system
//! has none, [`LockError::Unsupported`] says so.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::files::IoError;

/// Times that a lock is tried again, and the pause between them.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(10);

/// The process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its machine.
    pub host: String,
    /// Its number on that machine.
    pub process: u32,
    /// When it took the lock \[s since 1970\].
    pub since: u64,
}

impl Holder {
    /// This process, now.
    fn this() -> Self {
        Self {
            host: gethostname::gethostname().to_string_lossy().into_owned(),
            process: std::process::id(),
            since: now(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(": ");
        Some(Self {
            process: field("process")?.parse().ok()?,
            host: field("host")?.to_owned(),
            since: field("since")?.parse().ok()?,
        })
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self { host, process, since } = self;
        // The clocks of two machines may differ.
        write!(f, "process {process} on {host}, for {} s", now().saturating_sub(*since))
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// A lock that was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{} is held by {}", path.display(), holder_text(holder.as_ref()))]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// The process; absent if the file does not name it.
        holder: Option<Holder>,
    },
    /// The file system has no locks.
    #[error("{}: this file system has no locks ({source}); use a folder on one that has", path.display())]
    Unsupported {
        /// The lock's file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Io(#[from] IoError),
}

/// The holder in words.
pub fn holder_text(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), ToString::to_string)
}

/// A lock that this process holds until it is dropped; the file goes away with it.
#[derive(Debug)]
pub struct FileLock {
    /// It has the lock as long as it is open.
    file: File,
    path: PathBuf,
}

impl FileLock {
    /// Takes the lock of the file `path`, which is made if it is not there.
    ///
    /// # Errors
    /// [`LockError`]: another process holds it, or the file cannot be written.
    pub fn try_acquire(path: impl Into<PathBuf>) -> Result<Self, LockError> {
        let path = path.into();
        let mut tries = 0;
        loop {
            match Self::acquire(path.clone(), File::try_lock) {
                // One who asks whether the lock is held has it for a moment.
                Err(LockError::Held { .. }) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(PAUSE);
                }
                result => return result,
            }
        }
    }

    /// As [`try_acquire`](Self::try_acquire), but waits for the process that holds it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn wait_for(path: impl Into<PathBuf>) -> Result<Self, LockError> {
        Self::acquire(path.into(), |file| file.lock().map_err(TryLockError::Error))
    }

    fn acquire(path: PathBuf, lock: fn(&File) -> Result<(), TryLockError>) -> Result<Self, LockError> {
        loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(|e| IoError::file("create", &path, e))?;
            match lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let holder = read_holder(&path);
                    return Err(LockError::Held { path, holder });
                }
                Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => {
                    return Err(LockError::Unsupported { path, source });
                }
                Err(TryLockError::Error(source)) => return Err(IoError::file("lock", &path, source).into()),
            }
            // The holder before may have removed the file between `open` and `lock`; this lock
            // would then be of a file that nobody else opens.
            if is_at(&file, &path) {
                let mut taken = Self { file, path };
                taken.name_holder().map_err(|e| IoError::file("write", &taken.path, e))?;
                return Ok(taken);
            }
        }
    }

    fn name_holder(&mut self) -> io::Result<()> {
        let Holder { host, process, since } = Holder::this();
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "process: {process}\nhost: {host}\nsince: {since}\n")
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Before the lock ends with the file: who takes it next sees that its file is gone. A file
        // that stays is in nobody's way.
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The process that the file of a lock names; `None` if nobody holds it, or it cannot be read.
pub fn holder(path: &Path) -> Option<Holder> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_holder(path),
        _ => None,
    }
}

/// Whether a process holds the lock of the file `path`.
pub fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Removes the file of a lock whose process was killed. One that is held stays.
pub fn remove_stale(path: &Path) {
    if path.exists() {
        // Its end removes the file.
        drop(FileLock::try_acquire(path));
    }
}

fn read_holder(path: &Path) -> Option<Holder> {
    let mut text = String::new();
    File::open(path).ok()?.take(4096).read_to_string(&mut text).ok()?;
    Holder::parse(&text)
}

/// Whether the open file is the one that has this path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().ok().zip(std::fs::metadata(path).ok()).is_some_and(|(a, b)| same(a, b))
}

/// Elsewhere the file is never removed.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    // Checks: a lock is refused while it is held, with the holder's name, and free afterwards; a
    // file that a crash left behind is taken over.
    #[test]
    fn a_lock_names_its_holder_and_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".run.lock");
        std::fs::write(&path, "process: 1\nhost: elsewhere\nsince: 5\n").unwrap();
        assert_eq!(holder(&path), None);
        let lock = FileLock::try_acquire(&path).unwrap();
        let error = FileLock::try_acquire(&path).unwrap_err();
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        assert_eq!(holder(&path).unwrap().process, std::process::id());
        assert!(is_held(&path));
        remove_stale(&path);
        assert!(is_held(&path));
        drop(lock);
        assert!(!is_held(&path) && !path.exists());
        std::fs::write(&path, "process: 1\n").unwrap();
        remove_stale(&path);
        assert_eq!(path.exists(), !cfg!(unix));
    }

    // Checks: of many threads that take the lock and remove its file again and again, one at a time
    // has it.
    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let lock = FileLock::wait_for(&path).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
    }

    #[test]
    fn a_place_without_a_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/.lock");
        let error = FileLock::try_acquire(&path).unwrap_err();
        assert!(matches!(&error, LockError::Io(_)) && error.to_string().contains(".lock"), "{error}");
    }
}
