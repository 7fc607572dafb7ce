//! Tells the library which commit it is built from.

use std::path::Path;
use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A published crate is built inside another project's checkout or none; only our own tells our
    // commit.
    let ours = Path::new("../mpm/Cargo.toml").exists();
    let commit = if ours { git(&["rev-parse", "HEAD"]) } else { None };
    if commit.is_some() {
        // The log grows with every commit, merge and checkout; HEAD alone only changes with the
        // branch.
        for path in ["HEAD", "logs/HEAD"] {
            if let Some(path) = git(&["rev-parse", "--git-path", path]) {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    println!("cargo::rustc-env=PLIANT_GIT_COMMIT={}", commit.unwrap_or_else(|| "unknown".to_owned()));
}
