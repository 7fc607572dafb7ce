//! A CSV table of a run, which grows by rows and knows the digest of what it holds.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use pliant_io::digest::{DigestError, FileDigest, Hasher};
use pliant_io::files::IoError;

/// A CSV file that grows by rows. Numbers have as many digits as they need to be read back exactly.
pub struct Table {
    /// Path in the run directory.
    name: String,
    path: PathBuf,
    file: BufWriter<File>,
    hasher: Hasher,
}

impl Table {
    /// Begins the table `name` of a run directory with its header.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn create(directory: &Path, name: &str, header: &str) -> Result<Self, IoError> {
        let path = directory.join(name);
        let file = File::create_new(&path).map_err(|e| IoError::file("create", &path, e))?;
        let file = BufWriter::new(file);
        let mut table = Self { name: name.to_owned(), path, file, hasher: Hasher::default() };
        table.line(header)?;
        Ok(table)
    }

    /// Checks that the file still begins with what `state` says; changes nothing.
    ///
    /// # Errors
    /// [`DigestError`] naming the file.
    pub fn verify(directory: &Path, name: &str, state: &FileDigest) -> Result<(), DigestError> {
        Hasher::of_prefix(&directory.join(name), state).map(drop)
    }

    /// Opens the table to continue after what `state` says; the rest is cut off. Nothing is cut if
    /// the beginning is not what `state` says.
    ///
    /// # Errors
    /// [`DigestError`] naming the file.
    pub fn reopen(directory: &Path, name: &str, state: &FileDigest) -> Result<Self, DigestError> {
        let path = directory.join(name);
        let hasher = Hasher::of_prefix(&path, state)?;
        let open = || {
            let mut file = OpenOptions::new().write(true).open(&path)?;
            file.set_len(state.bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|e| IoError::file("reopen", &path, e))?;
        Ok(Self { name: name.to_owned(), path, file: BufWriter::new(file), hasher })
    }

    /// Writes a row, or several with line ends between them.
    pub fn line(&mut self, line: &str) -> Result<(), IoError> {
        self.hasher.update(line.as_bytes());
        self.hasher.update(b"\n");
        writeln!(self.file, "{line}").map_err(|e| IoError::file("write", &self.path, e))
    }

    /// Hands every row to the system, so that others can read it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), IoError> {
        self.file.flush().map_err(|e| IoError::file("write", &self.path, e))
    }

    /// Writes every row to disk, and the table's length and digest into `files`, under its path in
    /// the run directory.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn sync(&mut self, files: &mut BTreeMap<String, FileDigest>) -> Result<(), IoError> {
        let error = |e| IoError::file("write", &self.path, e);
        self.file.flush().map_err(error)?;
        self.file.get_ref().sync_all().map_err(error)?;
        files.insert(self.name.clone(), self.hasher.digest());
        Ok(())
    }
}

/// How the tables of a run are opened.
#[derive(Clone, Copy)]
pub enum Opening<'a> {
    /// A new run begins them.
    New,
    /// A resumed run continues them from these lengths, with these digests.
    Resumed(&'a BTreeMap<String, FileDigest>),
}

impl Opening<'_> {
    /// Begins or continues a table.
    ///
    /// # Errors
    /// The file cannot be written, or is not what the checkpoint says.
    pub fn table(self, directory: &Path, name: &str, header: &str) -> Result<Table, DigestError> {
        match self {
            Self::New => Ok(Table::create(directory, name, header)?),
            Self::Resumed(files) => {
                let unknown = || IoError::Malformed {
                    path: directory.join(name),
                    reason: "the checkpoint does not have its length and checksum".to_owned(),
                };
                Table::reopen(directory, name, files.get(name).ok_or_else(unknown)?)
            }
        }
    }
}

/// A name as a CSV field (RFC 4180).
pub fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(table: &mut Table) -> FileDigest {
        let mut files = BTreeMap::new();
        table.sync(&mut files).unwrap();
        files.remove("t.csv").unwrap()
    }

    // Checks: a table that is cut back and continued has the bytes and the digest of one that was
    // written at once; a changed or cut table is named and stays as it is.
    #[test]
    fn a_table_goes_on_from_its_digest_and_from_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let write = |directory: &Path, rows: &[&str]| {
            std::fs::create_dir_all(directory).unwrap();
            let mut table = Table::create(directory, "t.csv", "a,b").unwrap();
            rows.iter().for_each(|row| table.line(row).unwrap());
            table
        };
        let whole = sync(&mut write(&one, &["1,2", "3,4"]));
        let mut table = write(&two, &["1,2"]);
        let state = sync(&mut table);
        table.line("lost,").unwrap();
        drop(table);
        Table::verify(&two, "t.csv", &state).unwrap();
        let mut table = Table::reopen(&two, "t.csv", &state).unwrap();
        table.line("3,4").unwrap();
        assert_eq!(sync(&mut table), whole);
        drop(table);
        let path = two.join("t.csv");
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(one.join("t.csv")).unwrap());

        for damaged in ["a,b\n1,3\n3,4\n", "a,b\n1"] {
            std::fs::write(&path, damaged).unwrap();
            assert!(Table::verify(&two, "t.csv", &state).is_err());
            let error = Table::reopen(&two, "t.csv", &state).err().unwrap();
            assert!(error.to_string().contains("t.csv"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
        }
    }
}
