//! Files of named parts, each with its SHA-256 (FIPS 180-4): a damaged part is found and named
//! before any of it is used.
//!
//! Layout, little-endian: 8 bytes that name the kind of file, `u32` version, `u32` number of parts;
//! then for each part its name (16 bytes, filled with zeros), its length \[bytes\] as `u64`, its
//! SHA-256 (32 bytes), and its bytes. Nothing follows the last part.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};

use crate::digest::{Hasher, HashingWriter};
use crate::files::{IoError, atomic_write};

/// Kind and version of a file of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The first bytes of the file.
    pub magic: [u8; 8],
    /// Version of the contents.
    pub version: u32,
}

/// Bytes of a part's name.
const NAME: usize = 16;

/// Most parts of a file; more are a damaged number.
const MOST_PARTS: u32 = 64;

/// Bytes before a part's contents: name, length, SHA-256.
const PART_HEADER: usize = NAME + 8 + 32;

/// A part to write: its name, at most 16 bytes, and what writes it.
pub type PartWriter<'a> = (&'a str, &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>);

/// Writes a file of parts, complete or not at all.
///
/// # Errors
/// The file cannot be written.
pub fn write_parts(path: &Path, kind: Kind, parts: &mut [PartWriter]) -> Result<(), IoError> {
    atomic_write(path, |file| {
        file.write_all(&kind.magic)?;
        file.write_all(&kind.version.to_le_bytes())?;
        file.write_all(&u32::try_from(parts.len()).map_err(io::Error::other)?.to_le_bytes())?;
        parts.iter_mut().try_for_each(|(name, write)| write_part(file, name, write))
    })
}

fn write_part(
    file: &mut BufWriter<File>,
    name: &str,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut header = [0; PART_HEADER];
    let at = header.get_mut(..name.len()).filter(|at| at.len() <= NAME);
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "the name of a part is too long");
    at.ok_or_else(too_long)?.copy_from_slice(name.as_bytes());
    let start = file.stream_position()?;
    file.write_all(&header)?;
    let mut hashing = HashingWriter::new(&mut *file);
    write(&mut hashing)?;
    let hasher = hashing.hasher();
    header[NAME..NAME + 8].copy_from_slice(&hasher.bytes().to_le_bytes());
    header[NAME + 8..].copy_from_slice(&hasher.sha256());
    file.seek(SeekFrom::Start(start))?;
    file.write_all(&header)?;
    file.seek(SeekFrom::End(0))?;
    Ok(())
}

/// A file of parts whose checksums match.
#[derive(Debug)]
pub struct Parts {
    path: PathBuf,
    /// Name, first byte and length of each part.
    table: Vec<(String, u64, u64)>,
}

impl Parts {
    /// Reads the whole file and compares every part with its checksum.
    ///
    /// # Errors
    /// The file cannot be read, is of another kind or version, or is damaged: the message names
    /// the part.
    pub fn open(path: &Path, kind: Kind) -> Result<Self, IoError> {
        let unreadable = |e| IoError::file("read", path, e);
        let malformed = |reason: String| IoError::Malformed { path: path.to_path_buf(), reason };
        let cut = |what: &str| malformed(format!("it ends within {what}"));
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut file = BufReader::new(file);
        let mut head = [0; 16];
        file.read_exact(&mut head).map_err(|_| cut("its first 16 bytes"))?;
        if head[..8] != kind.magic {
            return Err(malformed("its first bytes are those of another kind of file".to_owned()));
        }
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (version, count) = (number(8), number(12));
        if version != kind.version {
            let reason = format!("it has version {version}; this program reads version {}", kind.version);
            return Err(malformed(reason));
        }
        if count > MOST_PARTS {
            return Err(malformed(format!("it has {count} parts; at most {MOST_PARTS} are possible")));
        }
        let mut table = Vec::new();
        let mut start = head.len() as u64;
        for number in 0..count {
            let mut header = [0; PART_HEADER];
            file.read_exact(&mut header).map_err(|_| cut(&format!("the header of part {number}")))?;
            start += PART_HEADER as u64;
            let name = String::from_utf8_lossy(&header[..NAME]).trim_end_matches('\0').to_owned();
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&header[NAME..NAME + 8]);
            let bytes = u64::from_le_bytes(bytes);
            if bytes > length.saturating_sub(start) {
                return Err(cut(&format!("part '{}'", name.escape_debug())));
            }
            let hasher = Hasher::of_reader((&mut file).take(bytes)).map_err(unreadable)?;
            if hasher.sha256()[..] != header[NAME + 8..] {
                let name = name.escape_debug();
                return Err(malformed(format!("part '{name}' does not match its SHA-256: it is damaged")));
            }
            table.push((name, start, bytes));
            start += bytes;
        }
        if start != length {
            return Err(malformed(format!("{} bytes follow its last part", length - start)));
        }
        Ok(Self { path: path.to_path_buf(), table })
    }

    /// The bytes of a part.
    ///
    /// # Errors
    /// There is no such part, or it cannot be read.
    pub fn part(&self, name: &str) -> Result<Take<BufReader<File>>, IoError> {
        let &(_, start, bytes) = self.table.iter().find(|(known, ..)| known == name).ok_or_else(|| {
            IoError::Malformed { path: self.path.clone(), reason: format!("it has no part '{name}'") }
        })?;
        let open = || {
            let mut file = BufReader::new(File::open(&self.path)?);
            file.seek(SeekFrom::Start(start))?;
            Ok(file.take(bytes))
        };
        open().map_err(|e| IoError::file("read", &self.path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { magic: *b"PLTEST\r\n", version: 3 };

    fn written(folder: &Path) -> PathBuf {
        let path = folder.join("parts");
        let long: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut first = |out: &mut dyn Write| out.write_all(b"first");
        let mut second = |out: &mut dyn Write| long.chunks(7).try_for_each(|chunk| out.write_all(chunk));
        let mut third = |_: &mut dyn Write| Ok(());
        write_parts(
            &path,
            KIND,
            &mut [("runner", &mut first), ("a name of 16 by.", &mut second), ("empty", &mut third)],
        )
        .unwrap();
        path
    }

    #[test]
    fn parts_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let parts = Parts::open(&path, KIND).unwrap();
        let read = |name: &str| {
            let mut bytes = Vec::new();
            parts.part(name).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        };
        assert_eq!(read("runner"), b"first");
        assert_eq!(read("a name of 16 by.")[79_996..], 19_999_u32.to_le_bytes());
        assert_eq!(read("empty"), b"");
        let error = parts.part("other").unwrap_err().to_string();
        assert!(error.contains("no part 'other'"), "{error}");
        let mut name_too_long = |_: &mut dyn Write| Ok(());
        assert!(write_parts(&path, KIND, &mut [("a name of 17 byte", &mut name_too_long)]).is_err());
    }

    // Checks: every changed bit of the headers, every cut, and what is added are found. (A SHA-256
    // finds the rest.)
    #[test]
    fn every_damage_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let whole = std::fs::read(&path).unwrap();
        let is_found = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Parts::open(&path, KIND).is_err() || {
                // A changed name is found by who asks for the part.
                let parts = Parts::open(&path, KIND).unwrap();
                ["runner", "a name of 16 by.", "empty"].iter().any(|name| parts.part(name).is_err())
            }
        };
        assert!(!is_found(&whole));
        let headers = (0..16 + PART_HEADER + 5).chain(whole.len() - PART_HEADER..whole.len());
        for at in headers {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                assert!(is_found(&bytes), "bit {bit} of byte {at}");
            }
        }
        for length in (0..200).chain([1000, whole.len() - 57, whole.len() - 1]) {
            assert!(is_found(&whole[..length]), "cut to {length}");
        }
        assert!(is_found(&[&whole[..], b"x"].concat()));
    }
}
