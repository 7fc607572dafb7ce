//! `render`, `verify` and `report`: commands on finished runs.

use std::ops::ControlFlow;
use std::path::Path;

use pliant::report as html;
use pliant::runner::picture::{PREVIEW_GIF, PREVIEW_PNG};
use pliant::runner::report;
use pliant::runner::run::{Manifest, Progress, RunError, Stage, directory, pictures};
use pliant::runner::verify::{verify as verify_run, verify_data};
use serde_json::json;

use super::args::{RenderArguments, ReportArguments, VerifyArguments};
use super::output::{Failure, command_line, print, print_json, say};
use super::progress::Reporter;
use super::table;

pub fn render(arguments: &RenderArguments) -> Result<(), Failure> {
    // All of them are checked before the first is drawn.
    let manifests = arguments
        .directories
        .iter()
        .map(|directory| Manifest::read(directory))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    let mut failed = false;
    for (directory, mut manifest) in arguments.directories.iter().zip(manifests) {
        let mut reporter = Reporter::new(&manifest.scene.name);
        let result = draw(directory, &mut manifest, arguments.all, &mut reporter);
        reporter.finish();
        match result {
            Ok(()) => {
                for name in [PREVIEW_PNG, PREVIEW_GIF] {
                    print(&format!("{}\n", directory.join(name).display()))?;
                }
            }
            Err(error) => {
                failed = true;
                say(&format!("error: {error}"));
            }
        }
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// Draws the pictures of a run whose data are what was written.
fn draw(
    directory: &Path,
    manifest: &mut Manifest,
    every_frame: bool,
    reporter: &mut Reporter,
) -> Result<(), RunError> {
    // A path such as `.` has no name beside which a lock could be.
    let place = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
    let _lock = directory::lock(&place)?;
    verify_data(directory, manifest)?;
    let mut progress = |done: usize, total: usize| {
        let (done, total) = (done as u64, total as u64);
        reporter.show(&Progress {
            stage: Stage::Drawing,
            done,
            total,
            time: 0.0,
            contacts: 0.0,
            within: None,
        });
        ControlFlow::Continue(())
    };
    pictures::draw(directory, manifest, every_frame, &mut progress)
}

pub fn verify(arguments: &VerifyArguments) -> Result<(), Failure> {
    let found = report::find(&arguments.directories).map_err(Failure::usage)?;
    let mut checked = Vec::with_capacity(found.len());
    for directory in found {
        let result = verify_run(&directory).map_err(Failure::failed)?;
        if !arguments.output.json {
            for problem in &result.problems {
                print(&format!("{problem}\n"))?;
            }
            let (files, bytes) = (result.files, result.bytes);
            let state = if result.problems.is_empty() { "whole" } else { "DAMAGED" };
            print(&format!("{}: {state}, {files} files, {bytes} bytes\n", directory.display()))?;
        }
        checked.push((directory, result));
    }
    if arguments.output.json {
        let all: Vec<_> = checked
            .iter()
            .map(|(directory, result)| json!({ "directory": directory, "verification": result }))
            .collect();
        print_json(Ok(all.into()))?;
    }
    if checked.iter().all(|(_, result)| result.problems.is_empty()) { Ok(()) } else { Err(Failure::Reported) }
}

pub fn report(arguments: &ReportArguments) -> Result<(), Failure> {
    let (entries, damaged) = report::collect(&arguments.directories).map_err(Failure::usage)?;
    if arguments.output.json {
        let all: Vec<_> =
            entries.iter().map(|e| json!({ "directory": e.directory, "manifest": e.manifest })).collect();
        print_json(Ok(all.into()))?;
    } else {
        let named = entries.iter().map(|e| {
            let name = e.directory.file_name().unwrap_or(e.directory.as_os_str());
            (name.to_string_lossy().into_owned(), &e.manifest)
        });
        print(&table::runs(named))?;
    }
    if let Some(file) = &arguments.table {
        report::write_table(&entries, file).map_err(Failure::failed)?;
    }
    if let Some(out) = &arguments.plots {
        for file in report::plot(&entries, out).map_err(Failure::failed)? {
            say(&file.display().to_string());
        }
    }
    if let Some(file) = &arguments.html {
        let text =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let changes: Vec<_> = report::changes(&entries)
            .iter()
            .map(|changes| changes.iter().map(|(path, value)| (path.clone(), text(value))).collect())
            .collect();
        html::write_runs(&entries, &changes, &damaged, &command_line(), file).map_err(Failure::failed)?;
        say(&file.display().to_string());
    }
    for error in &damaged {
        say(&format!("error: {error}"));
    }
    if damaged.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}
