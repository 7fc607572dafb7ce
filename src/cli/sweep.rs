//! `sweep`.

use std::time::Duration;

use anyhow::anyhow;
use pliant::io::text::printable;
use pliant::runner::machine;
use pliant::runner::run::{Manifest, RunError, Status};
use pliant::runner::sweep::{
    RandomPlan, Shard, SweepError, SweepOptions, Variant, VariantState, VariantStatus, of_scenes,
    random_variants, status, variants,
};
use pliant::scenes::load::load;
use pliant::scenes::scenario::Scenario;

use super::args::SweepArguments;
use super::output::{Failure, print, print_json, say};
use super::table;

pub fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    if arguments.status {
        return show_status(arguments);
    }
    let backend = arguments.backend.choice().map_err(Failure::Usage)?;
    backend.open().map_err(Failure::usage)?;
    let (variants, random) = plan(arguments)?;
    let options = SweepOptions {
        out: arguments.out.clone(),
        backend,
        jobs: arguments.threads.unwrap_or_else(machine::available_threads),
        shard: arguments.shard,
        pictures: !arguments.no_pictures,
        checkpoint_interval: Duration::from_secs_f64(arguments.safety.checkpoint_every),
        checkpoint_steps: arguments.safety.checkpoint_steps,
        random,
        stop: super::interrupt::signal(arguments.safety.grace),
    };
    let mine = |at: usize| arguments.shard.is_none_or(|shard: Shard| shard.has(at));
    let total = (0..variants.len()).filter(|&at| mine(at)).count();
    let sweep = pliant::runner::sweep::sweep(&variants, &options, &mut |ended, outcome| {
        let status = match (outcome.status, outcome.skipped) {
            (Some(status), true) => format!("{status} before"),
            (Some(status), false) => status.to_string(),
            (None, _) if outcome.error.is_some() => "failed".to_owned(),
            (None, _) => "not started".to_owned(),
        };
        let error = outcome.error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
        say(&format!("{ended} of {total}: {} {status}{error}", outcome.name));
    });
    let sweep = sweep.map_err(|error| match error {
        SweepError::Run(RunError::NotWritable { .. }) => Failure::usage(error),
        other => Failure::failed(other),
    })?;
    let own: Vec<_> =
        sweep.variants.iter().enumerate().filter(|(at, _)| mine(*at)).map(|(_, result)| result).collect();
    let completed = own.iter().filter(|v| v.status == Some(Status::Completed)).count();
    if arguments.output.json {
        print_json(serde_json::to_value(&sweep))?;
    } else {
        let manifests: Vec<_> = own
            .iter()
            .filter(|v| v.status.is_some())
            .filter_map(|v| Some((v.name.clone(), Manifest::read(&arguments.out.join(&v.name)).ok()?)))
            .collect();
        print(&table::runs(manifests.iter().map(|(name, manifest)| (name.clone(), manifest))))?;
        let skipped = own.iter().filter(|v| v.skipped).count();
        print(&format!("{completed} of {total} completed, {skipped} of them in an earlier run\n"))?;
        let all = sweep.variants.len();
        for goal in &sweep.goals {
            let (met, percent) = (goal.met, 100.0 * goal.share);
            print(&format!("goal {}: met by {met} of {all}, {percent:.1} %\n", printable(&goal.name)))?;
        }
    }
    if super::interrupt::is_stopped() {
        return Err(Failure::Stopped);
    }
    if completed == total { Ok(()) } else { Err(Failure::Reported) }
}

/// The variants that the arguments ask for. Of one scene all are valid, or the sweep is refused; of
/// several files each stands for itself.
fn plan(arguments: &SweepArguments) -> Result<(Vec<Variant>, Option<RandomPlan>), Failure> {
    let changes = arguments.changes.assignments();
    let [scene] = &arguments.scenes[..] else {
        if !arguments.vary.is_empty() || !arguments.random.is_empty() {
            let reason = "--vary and --random need one scene; several scenes are the variants themselves";
            return Err(Failure::Usage(anyhow!(reason)));
        }
        return Ok((of_scenes(&arguments.scenes, &changes).map_err(Failure::usage)?, None));
    };
    let scene = load(scene, &changes).map_err(Failure::usage)?;
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
    Ok((variants, random))
}

/// How far the sweep of a folder is.
fn show_status(arguments: &SweepArguments) -> Result<(), Failure> {
    let variants = status(&arguments.out).map_err(Failure::usage)?;
    if arguments.output.json {
        return print_json(serde_json::to_value(&variants));
    }
    let count = |state| variants.iter().filter(|variant| variant.state == state).count();
    for VariantStatus { name, state, details } in &variants {
        let state = match state {
            VariantState::Completed | VariantState::Waiting => continue,
            VariantState::Failed => "failed",
            VariantState::Running => "running",
            VariantState::Interrupted => "interrupted",
        };
        print(&format!("{name}: {state}: {}\n", details.escape_debug()))?;
    }
    Ok(print(&format!(
        "{} variants: {} completed, {} failed, {} running, {} interrupted, {} waiting\n",
        variants.len(),
        count(VariantState::Completed),
        count(VariantState::Failed),
        count(VariantState::Running),
        count(VariantState::Interrupted),
        count(VariantState::Waiting)
    ))?)
}
