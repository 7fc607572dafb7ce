//! `sweep`.

use pliant::runner::machine;
use pliant::runner::run::{Manifest, RunError, Status};
use pliant::runner::sweep::{RandomPlan, SweepError, SweepOptions, random_variants, variants};
use pliant::scenes::load::load;
use pliant::scenes::scenario::Scenario;

use super::args::SweepArguments;
use super::output::{Failure, print, print_json};
use super::table;

pub fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    let backend = machine::BackendChoice::from(arguments.backend);
    backend.open().map_err(Failure::usage)?;
    let scene =
        load(&arguments.scene.scene, &arguments.scene.changes.assignments()).map_err(Failure::usage)?;
    let random = arguments.samples.map(|samples| RandomPlan {
        axes: arguments.random.clone(),
        samples: samples as usize,
        seed: scene.seed,
    });
    let variants = match &random {
        Some(plan) => random_variants(&scene, &arguments.vary, plan),
        None => variants(&scene, &arguments.vary),
    };
    let variants = variants.map_err(Failure::usage)?;
    // A scene without a valid world is refused here; a single invalid variant must not stop the
    // others.
    Scenario::new(&scene).map_err(Failure::usage)?;
    let options = SweepOptions {
        out: arguments.out.clone(),
        backend,
        jobs: arguments.threads.unwrap_or_else(machine::available_threads),
        pictures: !arguments.no_pictures,
        random,
        stop: super::interrupt::flag(),
    };
    let total = variants.len();
    let sweep = pliant::runner::sweep::sweep(&scene, &variants, &options, &mut |ended, outcome| {
        let status = match (outcome.status, outcome.skipped) {
            (Some(status), true) => format!("{status} before"),
            (Some(status), false) => status.to_string(),
            (None, _) => "failed".to_owned(),
        };
        let error = outcome.error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
        eprintln!("{ended} of {total}: {} {status}{error}", outcome.name);
    });
    let sweep = sweep.map_err(|error| match error {
        SweepError::Run(RunError::NotWritable { .. }) => Failure::usage(error),
        other => Failure::failed(other),
    })?;
    if arguments.output.json {
        print_json(serde_json::to_value(&sweep))?;
    } else {
        let manifests: Vec<_> = sweep
            .variants
            .iter()
            .filter(|v| v.status.is_some())
            .filter_map(|v| Some((v.name.clone(), Manifest::read(&arguments.out.join(&v.name)).ok()?)))
            .collect();
        print(&table::runs(manifests.iter().map(|(name, manifest)| (name.clone(), manifest))))?;
        let completed = sweep.variants.iter().filter(|v| v.status == Some(Status::Completed)).count();
        let skipped = sweep.variants.iter().filter(|v| v.skipped).count();
        print(&format!("{completed} of {total} completed, {skipped} of them in an earlier run\n"))?;
        for goal in &sweep.goals {
            let (met, percent) = (goal.met, 100.0 * goal.share);
            print(&format!("goal {}: met by {met} of {total}, {percent:.1} %\n", goal.name))?;
        }
    }
    if sweep.all_completed() { Ok(()) } else { Err(Failure::Reported) }
}
