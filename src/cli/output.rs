//! Standard output and exit status of commands.

use std::io::{self, Write};

use pliant::io::text::printable_lines;

/// Failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage or an invalid scene; nothing was written. Exit code 2.
    Usage(anyhow::Error),
    /// Something failed while it ran; the message is for standard error. Exit code 1.
    Failed(anyhow::Error),
    /// At least one run failed, and was reported already. Exit code 1.
    Reported,
    /// An invalid scene, which was reported already. Exit code 2.
    Refused,
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

/// Writes a line to standard error; names in it cannot command the terminal.
pub fn say(text: &str) {
    // Standard error may be closed; the message is then lost.
    let _ = writeln!(io::stderr(), "{}", printable_lines(text));
}

/// Writes a value to standard output as indented JSON.
pub fn print_json(value: serde_json::Result<serde_json::Value>) -> Result<(), Failure> {
    let text = value.map_err(Failure::failed)?;
    Ok(print(&format!("{text:#}\n"))?)
}

/// The command as it was given, for reports.
pub fn command_line() -> String {
    let quoted = |argument: String| {
        let is_plain = |c: char| c.is_alphanumeric() || "-_=./,:+[]".contains(c);
        if !argument.is_empty() && argument.chars().all(is_plain) {
            argument
        } else {
            format!("'{}'", argument.replace('\'', "'\\''"))
        }
    };
    let arguments = std::env::args_os().skip(1).map(|a| quoted(a.to_string_lossy().into_owned()));
    std::iter::once("pliant".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
