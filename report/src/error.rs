//! Errors of reports.

use pliant_io::files::IoError;

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The page cannot be made of its template.
    #[error("report: {0}")]
    Template(#[from] minijinja::Error),
}
