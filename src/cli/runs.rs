//! `render` and `report`: commands on finished runs.

use pliant::runner::picture::{FrameRenderer, PREVIEW_GIF, PREVIEW_PNG};
use pliant::runner::run::{Manifest, Progress, RunError, Stage};
use pliant::runner::{plots, pressure, report};
use serde_json::json;

use super::args::{RenderArguments, ReportArguments};
use super::output::{Failure, print, print_json};
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
    for (directory, manifest) in arguments.directories.iter().zip(&manifests) {
        let mut reporter = Reporter::new(&manifest.scene.name);
        let draw = |reporter: &mut Reporter| -> Result<(), RunError> {
            let mut progress = |done: usize, total: usize| {
                let (done, total) = (done as u64, total as u64);
                reporter.show(&Progress { stage: Stage::Drawing, done, total, time: 0.0, contacts: 0.0 });
            };
            plots::write(directory, manifest)?;
            pressure::pictures(directory, manifest)?;
            let artist = FrameRenderer::new(directory, manifest)?;
            artist.write_png()?;
            artist.write_gif(&mut progress)?;
            if arguments.all {
                artist.write_all(&mut progress)?;
            }
            Ok(())
        };
        let result = draw(&mut reporter);
        reporter.finish();
        match result {
            Ok(()) => {
                for name in [PREVIEW_PNG, PREVIEW_GIF] {
                    print(&format!("{}\n", directory.join(name).display()))?;
                }
            }
            Err(error) => {
                failed = true;
                eprintln!("error: {error}");
            }
        }
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

pub fn report(arguments: &ReportArguments) -> Result<(), Failure> {
    let entries = report::collect(&arguments.directories).map_err(Failure::usage)?;
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
    if let Some(out) = &arguments.plots {
        for file in report::plot(&entries, out).map_err(Failure::failed)? {
            eprintln!("{}", file.display());
        }
    }
    Ok(())
}
