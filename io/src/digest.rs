//! SHA-256 digests (FIPS 180-4) of files, taken while they are written.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::IoError;

/// Length and digest of what was written to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Length \[bytes\].
    pub bytes: u64,
    /// SHA-256 as 64 hexadecimal digits, lower case.
    pub sha256: String,
}

/// A file that is not what its digest says; names the file.
#[derive(Debug, thiserror::Error)]
pub enum DigestError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The file is too short.
    #[error("{} is damaged: it has {bytes} of {expected} bytes", path.display())]
    Shorter {
        /// The file.
        path: PathBuf,
        /// Its length \[bytes\].
        bytes: u64,
        /// Its length when the digest was taken \[bytes\].
        expected: u64,
    },
    /// The file is too long.
    #[error("{} is damaged: it has {bytes} bytes, {expected} were written", path.display())]
    Longer {
        /// The file.
        path: PathBuf,
        /// Its length \[bytes\].
        bytes: u64,
        /// Its length when the digest was taken \[bytes\].
        expected: u64,
    },
    /// The file has other bytes.
    #[error("{} is damaged: its first {bytes} bytes do not match their SHA-256", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Length that the digest covers \[bytes\].
        bytes: u64,
    },
}

/// Hashes bytes as they come.
#[derive(Clone, Debug, Default)]
pub struct Hasher {
    sha256: Sha256,
    bytes: u64,
}

impl Hasher {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// The bytes so far \[-\].
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The SHA-256 of all bytes so far.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256.clone().finalize().into()
    }

    /// The digest of all bytes so far.
    pub fn digest(&self) -> FileDigest {
        let sha256 = self.sha256().iter().map(|byte| format!("{byte:02x}")).collect();
        FileDigest { bytes: self.bytes, sha256 }
    }

    /// Takes all that a reader gives.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut hashing = HashingWriter::new(io::sink());
        io::copy(&mut reader, &mut hashing)?;
        Ok(hashing.hasher)
    }

    /// Hashes the first `expected.bytes` bytes of a file and compares them with `expected`. The
    /// hasher can take the bytes that follow.
    ///
    /// # Errors
    /// [`DigestError`] naming `path`: it cannot be read, is shorter, or has other bytes.
    pub fn of_prefix(path: &Path, expected: &FileDigest) -> Result<Self, DigestError> {
        let error = |e| IoError::file("read", path, e);
        let file = File::open(path).map_err(error)?;
        let hasher = Self::of_reader(file.take(expected.bytes)).map_err(error)?;
        let path = path.to_path_buf();
        if hasher.bytes < expected.bytes {
            return Err(DigestError::Shorter { path, bytes: hasher.bytes, expected: expected.bytes });
        }
        if hasher.digest() != *expected {
            return Err(DigestError::Changed { path, bytes: expected.bytes });
        }
        Ok(hasher)
    }
}

/// Compares a whole file with its digest.
///
/// # Errors
/// [`DigestError`] naming `path`: it cannot be read, or has other bytes.
pub fn verify(path: &Path, expected: &FileDigest) -> Result<(), DigestError> {
    let metadata = std::fs::metadata(path).map_err(|e| IoError::file("read", path, e))?;
    if !metadata.is_file() {
        return Err(IoError::malformed(path, "it is no regular file").into());
    }
    let bytes = metadata.len();
    if bytes > expected.bytes {
        return Err(DigestError::Longer { path: path.to_path_buf(), bytes, expected: expected.bytes });
    }
    Hasher::of_prefix(path, expected).map(drop)
}

/// A writer that hashes what it passes on.
#[derive(Debug)]
pub struct HashingWriter<W> {
    inner: W,
    hasher: Hasher,
}

impl<W: Write> HashingWriter<W> {
    /// Passes bytes on to `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, hasher: Hasher::default() }
    }

    /// What has hashed all bytes so far.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// The digest of all bytes so far.
    pub fn digest(&self) -> FileDigest {
        self.hasher.digest()
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: the digest of FIPS 180-4's example, by the writer and of a file's prefix; a changed
    // byte and a short file are named, and bytes beyond the prefix do not matter.
    #[test]
    fn digests_are_those_of_the_standard() {
        let mut writer = HashingWriter::new(Vec::new());
        writer.write_all(b"a").unwrap();
        writer.write_all(b"bc").unwrap();
        let digest = writer.digest();
        assert_eq!(digest.bytes, 3);
        assert_eq!(digest.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        for (text, said) in [
            ("abc", None),
            ("abcd", None),
            ("abd", Some("x.csv is damaged: its first 3 bytes do not match their SHA-256")),
            ("ab", Some("x.csv is damaged: it has 2 of 3 bytes")),
        ] {
            std::fs::write(&path, text).unwrap();
            let found = Hasher::of_prefix(&path, &digest);
            assert_eq!(found.as_ref().err().is_some(), said.is_some(), "{text}");
            let message = found.err().map(|e| e.to_string()).unwrap_or_default();
            assert!(message.ends_with(said.unwrap_or_default()), "{text}: {message}");
        }
        let mut hasher =
            Hasher::of_prefix(&path, &FileDigest { bytes: 0, ..Hasher::default().digest() }).unwrap();
        hasher.update(b"abc");
        assert_eq!(hasher.digest(), digest);
    }
}
