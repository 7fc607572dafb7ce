//! CSV tables as they are read back: columns by their names.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use csv::{ReaderBuilder, StringRecord};
use pliant_io::files::IoError;

/// A table that was read.
pub struct CsvTable {
    path: PathBuf,
    header: StringRecord,
    rows: Vec<StringRecord>,
}

impl CsvTable {
    /// Reads a table with a header (RFC 4180).
    ///
    /// # Errors
    /// The file is missing, or a row has another number of cells than the header.
    pub fn read(path: PathBuf) -> Result<Self, IoError> {
        let file = std::fs::File::open(&path).map_err(|e| IoError::file("read", &path, e))?;
        Self::parse(path, file)
    }

    /// Reads the whole lines of a table that another process writes to; the rest of a line is left
    /// out.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_so_far(path: PathBuf) -> Result<Self, IoError> {
        let text = whole_lines(&path)?;
        Self::parse(path, text.as_bytes())
    }

    fn parse(path: PathBuf, input: impl std::io::Read) -> Result<Self, IoError> {
        let mut reader = ReaderBuilder::new().from_reader(input);
        let malformed = |error: csv::Error| {
            let reason = error.to_string();
            match error.into_kind() {
                csv::ErrorKind::Io(error) => IoError::file("read", &path, error),
                _ => IoError::Malformed { path: path.clone(), reason },
            }
        };
        let header = reader.headers().map_err(malformed)?.clone();
        let rows = reader.records().collect::<Result<_, _>>().map_err(malformed)?;
        Ok(Self { path, header, rows })
    }

    /// Number of the column `name`; none if there is no such column.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    /// Numbers of the columns with these names.
    ///
    /// # Errors
    /// There is no such column.
    pub fn columns<const N: usize>(&self, names: [&str; N]) -> Result<[usize; N], IoError> {
        let mut found = [0; N];
        for (column, name) in found.iter_mut().zip(names) {
            *column = self.find(name).ok_or_else(|| IoError::Malformed {
                path: self.path.clone(),
                reason: format!("it has no column `{name}`"),
            })?;
        }
        Ok(found)
    }

    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = CsvRow<'_>> {
        self.rows.iter().map(|cells| CsvRow { table: self, cells })
    }
}

/// A row of a table.
#[derive(Clone, Copy)]
pub struct CsvRow<'a> {
    table: &'a CsvTable,
    cells: &'a StringRecord,
}

impl<'a> CsvRow<'a> {
    /// The cell of a column.
    pub fn text(&self, column: usize) -> &'a str {
        self.cells.get(column).unwrap_or_default()
    }

    /// The value of a cell.
    ///
    /// # Errors
    /// It is not one, or the cell is empty.
    pub fn value<T: FromStr>(&self, column: usize) -> Result<T, IoError> {
        let text = self.text(column);
        text.parse().map_err(|_| self.malformed(column))
    }

    /// The value of a cell; none if it is empty.
    ///
    /// # Errors
    /// It is not one.
    pub fn optional<T: FromStr>(&self, column: usize) -> Result<Option<T>, IoError> {
        if self.text(column).is_empty() { Ok(None) } else { self.value(column).map(Some) }
    }

    /// The three numbers of a vector.
    ///
    /// # Errors
    /// One of them is not a number.
    pub fn vector(&self, columns: [usize; 3]) -> Result<nalgebra::Vector3<f64>, IoError> {
        let [x, y, z] = columns;
        Ok(nalgebra::Vector3::new(self.value(x)?, self.value(y)?, self.value(z)?))
    }

    fn malformed(&self, column: usize) -> IoError {
        let name = self.table.header.get(column).unwrap_or_default();
        let line = self.cells.position().map_or(0, csv::Position::line);
        IoError::Malformed {
            path: self.table.path.clone(),
            reason: format!("line {line}, column {name}: '{}'", self.text(column)),
        }
    }
}

/// The whole lines of a text file that another process writes to.
///
/// # Errors
/// It cannot be read.
pub fn whole_lines(path: &Path) -> Result<String, IoError> {
    let mut text = std::fs::read_to_string(path).map_err(|e| IoError::file("read", path, e))?;
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}

/// The table at a path in a run directory.
pub fn read(directory: &Path, name: &str) -> Result<CsvTable, IoError> {
    CsvTable::read(directory.join(name))
}
