//! `export`: runs in the formats of other tools.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pliant::export::{ExportOptions, Format, export};
use pliant::runner::recording::Recording;

use super::args::ExportArguments;
use super::interrupt;
use super::output::{Failure, print, say};

pub fn export_runs(arguments: &ExportArguments) -> Result<(), Failure> {
    let formats: Vec<Format> =
        arguments.format.iter().map(|name| name.parse()).collect::<Result<_, _>>().map_err(Failure::usage)?;
    let options = ExportOptions { stride: arguments.every, size: arguments.size, ..ExportOptions::default() };
    let made = match &arguments.out {
        Some(folder) if !folder.exists() => {
            let context = || format!("cannot create {}", folder.display());
            fs::create_dir_all(folder).with_context(context).map_err(Failure::failed)?;
            Some(folder)
        }
        _ => None,
    };
    let exported = export_into(arguments, &formats, &options);
    if let Some(folder) = made {
        // Only one that is empty goes: nothing could be exported into it.
        let _ = fs::remove_dir(folder);
    }
    exported
}

/// Exports all runs in all formats.
fn export_into(
    arguments: &ExportArguments,
    formats: &[Format],
    options: &ExportOptions,
) -> Result<(), Failure> {
    interrupt::without_steps();
    interrupt::signal(0.0);
    let mut failed = false;
    for directory in &arguments.directories {
        let recording = match Recording::open(directory) {
            Ok(recording) => recording,
            Err(error) => {
                failed = true;
                say(&format!("error: {error}"));
                continue;
            }
        };
        for format in formats {
            let out = target(directory, arguments.out.as_deref(), *format);
            let mut progress = |_, _| match interrupt::is_stopped() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            match export(&recording, *format, &out, options, &mut progress) {
                Ok(files) => {
                    for file in files {
                        print(&format!("{}\n", file.display()))?;
                    }
                }
                Err(error) => {
                    failed = true;
                    say(&format!("error: {error}"));
                }
            }
            if interrupt::is_stopped() {
                return Err(Failure::Stopped);
            }
        }
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// Where a run is exported to: beside it or into the folder, under its name.
fn target(directory: &Path, folder: Option<&Path>, format: Format) -> PathBuf {
    // A path such as `.` has no name.
    let place = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ending = match format.ending() {
        "" => format!("-{}", format.name()),
        ending => ending.to_owned(),
    };
    let folder = folder.or_else(|| place.parent()).unwrap_or(Path::new(""));
    folder.join(name + &ending)
}
