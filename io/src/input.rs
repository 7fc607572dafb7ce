//! Reading files that a user, or another file, names.

use std::fs;
use std::io;
use std::path::Path;

use crate::files::IoError;

/// The bytes of a regular file. Robots' files name other files, and a pipe or a device among them
/// would be read for ever.
///
/// # Errors
/// [`IoError::File`] naming `path`: missing, not readable, or no regular file.
pub fn read_input(path: impl AsRef<Path>) -> Result<Vec<u8>, IoError> {
    let path = path.as_ref();
    let failed = |source| IoError::file("read", path, source);
    // Before it is opened: opening a pipe waits for its writer.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
    }
    fs::read(path).map_err(failed)
}
