//! A run from its options to its pictures: what is there, the simulation, the manifest and the final
//! name, then the pictures.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::checkpoint::{self, Checkpoint};
use super::directory::{FinishedDirectory, RunDirectory, check};
use super::pictures;
use super::simulate::{Run, is_same_run, same_but_duration, steps_of};
use super::{Progress, RunError, RunOptions, Stage, StopSignal, Summary};
use crate::early_pictures::EarlyPictures;
use crate::picture::Animation;
use crate::record::{MANIFEST, Manifest, Status, changed_input};
use crate::verify::verify;
use pliant_io::files::IoError;
use pliant_scenes::scenario::Scenario;

/// A run whose data are on disk.
struct Recorded {
    directory: RunDirectory,
    manifest: Manifest,
    notes: Vec<String>,
    /// Its animation, if it was begun.
    animation: Option<Animation>,
}

pub(super) fn run(scenario: Scenario, mut options: RunOptions) -> Result<Summary, RunError> {
    check(&options.out, options.backend, options.resume)?;
    let recorded =
        if options.resume { resume(scenario, &mut options)? } else { begin(scenario, &mut options)? };
    let Recorded { directory, mut manifest, notes, animation } = recorded;
    let directory = directory.finish()?;
    let picture_error = draw(&directory, &mut manifest, animation, &mut options);
    Ok(Summary { directory: directory.path, manifest, picture_error, notes })
}

/// A new run.
fn begin(scenario: Scenario, options: &mut RunOptions) -> Result<Recorded, RunError> {
    let directory = RunDirectory::create(&options.out)?;
    match record(scenario, &directory, options, None) {
        Ok((manifest, animation)) => Ok(Recorded { directory, manifest, notes: Vec::new(), animation }),
        Err(error) => {
            let kept = Checkpoint::exists(directory.path());
            if !kept {
                directory.abandon();
            }
            Err(error.kept(kept))
        }
    }
}

/// A run that was begun before: complete, to be continued, or killed before its first checkpoint.
fn resume(mut scenario: Scenario, options: &mut RunOptions) -> Result<Recorded, RunError> {
    let mut directory = RunDirectory::take(&options.out)?;
    let mut notes = Vec::new();
    match complete(&scenario, &directory) {
        Found::Complete(manifest) => {
            directory.remove_temporary();
            return Ok(Recorded { directory, manifest: *manifest, notes, animation: None });
        }
        Found::Damaged(reason) => notes.push(reason),
        Found::Incomplete => {}
    }
    let usable = checkpoint::newest_usable(directory.path(), directory.target())?;
    match usable {
        Some(mut usable) => {
            same_run(&scenario, &usable.checkpoint, directory.target())?;
            // Before anything is changed.
            usable.restore(directory.target(), &mut scenario.world)?;
            notes.append(&mut usable.damaged);
            if !notes.is_empty() {
                notes.push(format!("continued from step {}", usable.checkpoint.steps));
            }
            directory.reopen()?;
            remove_manifest(directory.path())?;
            let (manifest, animation) =
                record(scenario, &directory, options, Some(usable.checkpoint)).map_err(|e| e.kept(true))?;
            Ok(Recorded { directory, manifest, notes, animation })
        }
        // Nothing but what a run makes before its first checkpoint.
        None if directory.path() != directory.target() => {
            directory.begin_again()?;
            let (manifest, animation) = record(scenario, &directory, options, None)?;
            Ok(Recorded { directory, manifest, notes, animation })
        }
        None => Err(RunError::Checkpoint {
            path: directory.target().to_path_buf(),
            reason: notes.pop().unwrap_or_else(|| "there is none".to_owned()),
        }),
    }
}

/// What a directory holds for a scenario.
enum Found {
    /// Its whole run.
    Complete(Box<Manifest>),
    /// Its whole run, but for the damage described.
    Damaged(String),
    /// Less, or a run of another scene.
    Incomplete,
}

fn complete(scenario: &Scenario, directory: &RunDirectory) -> Found {
    if !directory.path().join(MANIFEST).exists() {
        return Found::Incomplete;
    }
    let manifest = match Manifest::read(directory.path()) {
        Ok(manifest) => manifest,
        Err(error) => return Found::Damaged(error.to_string()),
    };
    let is_same = is_same_run(&manifest.scene, &scenario.scene) && changed_input(&manifest.inputs).is_none();
    if manifest.status != Status::Completed || !is_same {
        return Found::Incomplete;
    }
    match verify(directory.path()) {
        Ok(found) => match found.problems.first() {
            None => Found::Complete(Box::new(manifest)),
            Some(problem) => Found::Damaged(problem.to_string()),
        },
        Err(error) => Found::Damaged(error.to_string()),
    }
}

/// Refuses to continue a run with another scene, other input files or a shorter duration.
fn same_run(scenario: &Scenario, before: &Checkpoint, target: &Path) -> Result<(), RunError> {
    let path = target.to_path_buf();
    if !same_but_duration(&scenario.scene, &before.scene) {
        return Err(RunError::DifferentScene { path });
    }
    if let Some(input) = changed_input(&before.inputs) {
        return Err(RunError::InputChanged { path, input: input.to_path_buf() });
    }
    let steps = steps_of(&scenario.scene);
    if before.steps > steps {
        let reason = format!("it is at step {} already, beyond the {steps} steps asked for", before.steps);
        return Err(RunError::Checkpoint { path, reason });
    }
    Ok(())
}

/// The manifest says that the data are complete: it goes before they change.
fn remove_manifest(directory: &Path) -> Result<(), RunError> {
    let path = directory.join(MANIFEST);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(IoError::file("remove", &path, error).into())
        }
        _ => Ok(()),
    }
}

/// Simulates, and writes all data up to the manifest. Frames of the animation are drawn meanwhile.
fn record(
    scenario: Scenario,
    directory: &RunDirectory,
    options: &mut RunOptions,
    from: Option<Checkpoint>,
) -> Result<(Manifest, Option<Animation>), RunError> {
    let machine = options.backend.open()?;
    let mut run = match from {
        Some(checkpoint) => Run::resume(scenario, directory, &machine, checkpoint)?,
        None => Run::begin(scenario, directory, &machine)?,
    };
    let early = if options.pictures { run.draw_early(directory.target()) } else { None };
    let (status, error) = run.simulate(options)?;
    let mut manifest = run.manifest(status, error, &machine, options.pictures)?;
    manifest.write(directory.path())?;
    Ok((manifest, early.and_then(EarlyPictures::finish)))
}

/// Draws what is wanted and not there yet. A run whose pictures fail is still a run: the reason is
/// returned.
fn draw(
    directory: &FinishedDirectory,
    manifest: &mut Manifest,
    animation: Option<Animation>,
    options: &mut RunOptions,
) -> Option<String> {
    let stop = options.stop;
    let is_stopped = || stop.is_some_and(StopSignal::is_requested);
    // Who stops a run does not wait for pictures.
    if !options.pictures || is_stopped() || !pictures::are_missing(manifest) {
        return None;
    }
    let time = manifest.sim_s.0;
    let mut progress = |done: usize, total: usize| {
        if let Some(report) = &mut options.progress {
            let (done, total) = (done as u64, total as u64);
            report(&Progress { stage: Stage::Drawing, done, total, time, contacts: 0.0, within: None });
        }
        if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = pictures::draw_from(&directory.path, manifest, false, animation, &mut progress);
    result.err().map(|error| error.to_string())
}
