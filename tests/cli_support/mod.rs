//! Runs the command as a user does.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder that goes away with the test, in which the command runs.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What the command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Makes a small and short scene of `elastic-drop`: 64 particles, 10 steps, no pictures.
pub const SMALL: [&str; 6] =
    ["--set", "grid_spacing=0.025", "--set", "soft[0].sampling.counts=[4,4,4]", "--time", "0.05"];

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Everything in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        names(self.folder.path())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    /// Starts the command without waiting for it; what it says is lost.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts the command; its standard output can be read while it runs.
    pub fn start_piped(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub fn pliant(&self, arguments: &[&str]) -> Said {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        Said {
            code: status.code().unwrap(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs `elastic-drop`, small, into `out`, with more arguments.
    pub fn run_small(&self, out: &str, more: &[&str]) -> Said {
        let mut arguments = vec!["run", "elastic-drop", "--no-pictures", "--out", out];
        arguments.extend(SMALL);
        arguments.extend(more);
        self.pliant(&arguments)
    }
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

impl Said {
    /// Checks the exit code, and shows everything where it is another.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Checks that standard error has this text.
    pub fn complains(self, text: &str) -> Self {
        assert!(self.err.contains(text), "'{text}' is not in:\n{}", self.err);
        self
    }
}
