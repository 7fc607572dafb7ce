//! Standard output and exit status of commands.

use std::io::{self, Write};

/// Failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage or an invalid scene; nothing was written. Exit code 2.
    Usage(anyhow::Error),
    /// Something failed while it ran; the message is for standard error. Exit code 1.
    Failed(anyhow::Error),
    /// At least one run failed, and was reported already. Exit code 1.
    Reported,
    /// A signal stopped the command; `--resume` continues. Exit code 3.
    Stopped,
}

impl Failure {
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::Usage(error.into())
    }

    pub fn failed(error: impl Into<anyhow::Error>) -> Self {
        Self::Failed(error.into())
    }
}

// Only standard output is written without a file name: its reader has closed it.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::failed(anyhow::Error::new(error).context("cannot write to standard output"))
    }
}

/// Writes text to standard output.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a value to standard output as indented JSON.
pub fn print_json(value: serde_json::Result<serde_json::Value>) -> Result<(), Failure> {
    let text = value.map_err(Failure::failed)?;
    Ok(print(&format!("{text:#}\n"))?)
}
