//! `run`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use pliant::runner::machine::BackendChoice;
use pliant::runner::run::{self, RunOptions, Status, Summary, hull_folder};
use pliant::scenes::format::Scene;
use pliant::scenes::load::load;
use pliant::scenes::scenario::Scenario;
use serde_json::json;

use super::args::RunArguments;
use super::output::{Failure, print, print_json, say};
use super::progress::Reporter;
use super::table;

/// A validated plan of runs: everything that can be refused without a step has been checked.
struct Plan {
    runs: Vec<(PathBuf, Scenario)>,
    backend: BackendChoice,
    arguments: RunArguments,
}

pub fn run(arguments: RunArguments) -> Result<(), Failure> {
    plan(arguments).map_err(Failure::Usage)?.execute()
}

/// Validates the arguments: scenes, output directories and backend.
fn plan(arguments: RunArguments) -> anyhow::Result<Plan> {
    let changes = arguments.changes.assignments();
    let scenes = arguments.scenes.iter().map(|scene| load(scene, &changes)).collect::<Result<Vec<_>, _>>()?;
    let outs = outputs(&arguments, &scenes)?;
    let backend = arguments.backend.choice()?;
    for out in &outs {
        run::check(out, backend, arguments.resume)?;
    }
    let mut runs = Vec::with_capacity(scenes.len());
    for ((scene, out), name) in scenes.iter().zip(outs).zip(&arguments.scenes) {
        let scenario = Scenario::with_cache(scene, &hull_folder(&out));
        runs.push((out, scenario.with_context(|| format!("scene '{name}'"))?));
    }
    Ok(Plan { runs, backend, arguments })
}

/// The run directories, all different.
fn outputs(arguments: &RunArguments, scenes: &[Scene]) -> anyhow::Result<Vec<PathBuf>> {
    let outs: Vec<PathBuf> = match (&arguments.out, scenes) {
        (Some(out), [_]) => vec![out.clone()],
        (out, _) => {
            let folder = out.clone().unwrap_or_else(|| PathBuf::from("runs"));
            scenes.iter().map(|scene| folder.join(&scene.name)).collect()
        }
    };
    let mut seen = BTreeSet::new();
    match outs.iter().find(|out| !seen.insert(*out)) {
        Some(out) => Err(anyhow!("two scenes would be written to {}", out.display())),
        None => Ok(outs),
    }
}

impl Plan {
    fn execute(self) -> Result<(), Failure> {
        let Self { runs, backend, arguments } = self;
        let mut summaries: Vec<Summary> = Vec::new();
        let mut errors = Vec::new();
        for (out, scenario) in runs {
            if super::interrupt::is_stopped() {
                break;
            }
            for warning in &scenario.warnings {
                say(&format!("warning: {warning}"));
            }
            for note in &scenario.notes {
                say(&format!("note: {note}"));
            }
            let said = scenario.warnings.len();
            let mut reporter = Reporter::new(&scenario.scene.name);
            let mut progress = |progress: &run::Progress| reporter.show(progress);
            let options = RunOptions {
                backend,
                threads: arguments.threads,
                resume: arguments.resume,
                pictures: !arguments.no_pictures,
                progress: Some(&mut progress),
                stop: super::interrupt::signal(arguments.safety.grace),
                checkpoint_interval: Duration::from_secs_f64(arguments.safety.checkpoint_every),
                checkpoint_steps: arguments.safety.checkpoint_steps,
                ..RunOptions::new(out)
            };
            let result = run::run(scenario, options);
            reporter.finish();
            match result {
                Ok(summary) => {
                    for note in &summary.notes {
                        say(&format!("note: {note}"));
                    }
                    // Warnings of the files were printed before the run.
                    for warning in summary.manifest.warnings.iter().skip(said) {
                        say(&format!("warning: {warning}"));
                    }
                    if let Some(error) = &summary.picture_error {
                        say(&format!("warning: {error}"));
                    }
                    if !arguments.output.json {
                        print(&table::summary(&summary.directory, &summary.manifest))?;
                    }
                    summaries.push(summary);
                }
                Err(error) => errors.push(error),
            }
        }
        if arguments.output.json {
            let all: Vec<_> = summaries
                .iter()
                .map(|s| json!({ "directory": s.directory, "manifest": s.manifest }))
                .collect();
            print_json(Ok(all.into()))?;
        }
        // Nothing was run and nothing written: the directory cannot be created, for instance.
        if summaries.is_empty() && errors.len() == 1 && errors[0].is_usage() {
            return Err(Failure::usage(errors.remove(0)));
        }
        let failed = summaries.iter().any(|s| s.manifest.status == Status::Failed);
        for error in &errors {
            say(&format!("error: {error}"));
        }
        if super::interrupt::is_stopped() {
            return Err(Failure::Stopped);
        }
        if failed || !errors.is_empty() { Err(Failure::Reported) } else { Ok(()) }
    }
}
