//! A run of a scene into a run directory, as the command makes it.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pliant_runner::run::{CHECKPOINT_INTERVAL, RunOptions, StopSignal, run as run_scenario};
use pliant_scenes::Scenario;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{OrRaise, RunError, SceneError, refused};
use crate::pool;
use crate::scene::{loaded, scene};
use crate::world::backend;

/// How often signals (an interrupt from the keyboard) and progress are looked at.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

/// Longest wall time between checkpoints that is taken, as by the command \[s\].
const LONGEST_INTERVAL: f64 = 1e9;

/// Wall time \[s\] and steps between checkpoints.
fn checkpoints(every: f64, steps: Option<i64>) -> PyResult<(Duration, Option<NonZeroU64>)> {
    if !(0.0..=LONGEST_INTERVAL).contains(&every) {
        return Err(refused(format!("checkpoint_every: {every} s must be from 0 to {LONGEST_INTERVAL}")));
    }
    let counted = |steps: i64| {
        let found = u64::try_from(steps).ok().and_then(NonZeroU64::new);
        found.ok_or_else(|| refused(format!("checkpoint_steps: {steps} steps; it must be 1 or more")))
    };
    Ok((Duration::from_secs_f64(every), steps.map(counted).transpose()?))
}

/// Runs a scene into a directory; returns its manifest. `progress` is called with the steps done,
/// their number and the simulated time. An interrupt ends the run at its step, with a checkpoint to
/// resume from.
#[pyfunction]
#[pyo3(signature = (scene, out, changes = None, *, backend = "cpu", threads = None, resume = false,
                    pictures = true, progress = None,
                    checkpoint_every = CHECKPOINT_INTERVAL.as_secs_f64(), checkpoint_steps = None))]
pub fn run<'py>(
    py: Python<'py>,
    scene: &Bound<'py, PyAny>,
    out: PathBuf,
    changes: Option<&Bound<'py, PyDict>>,
    backend: &str,
    threads: Option<usize>,
    resume: bool,
    pictures: bool,
    progress: Option<&Bound<'py, PyAny>>,
    checkpoint_every: f64,
    checkpoint_steps: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let checkpoints = checkpoints(checkpoint_every, checkpoint_steps)?;
    let scene = self::scene(scene, changes)?;
    let choice = self::backend(backend)?;
    let pool = pool::pool(pool::thread_count(threads)?)?;
    let scenario = py.detach(|| pool.install(|| Scenario::new(&scene))).or_raise::<SceneError>()?;
    let stop = StopSignal::new();
    let (sender, mut receiver) = sync_channel(1);
    let mut latest = None;
    let (ended, interrupted) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // Dropped at the end of the run: the other end sees that.
            let sender = sender;
            let mut tell = |progress: &pliant_runner::run::Progress| {
                let _ = sender.try_send(*progress);
            };
            let mut options = RunOptions::new(out);
            options.backend = choice;
            options.resume = resume;
            options.pictures = pictures;
            (options.checkpoint_interval, options.checkpoint_steps) = checkpoints;
            options.stop = Some(&stop);
            options.progress = Some(&mut tell);
            pool.install(|| run_scenario(scenario, options))
        });
        let mut interrupted = Ok(());
        loop {
            let receiver = &mut receiver;
            match py.detach(move || receiver.recv_timeout(SIGNAL_INTERVAL)) {
                Ok(progress) => latest = Some(progress),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let told = match (progress, latest.take()) {
                (Some(call), Some(p)) => call.call1((p.done, p.total, p.time)).map(drop),
                _ => Ok(()),
            };
            if let Err(error) = told.and_then(|()| py.check_signals()) {
                stop.request();
                interrupted = interrupted.and(Err(error));
            }
        }
        (py.detach(|| worker.join()), interrupted)
    });
    let summary = ended.map_err(|_| RunError::new_err("the run broke: a defect of Pliant"))?;
    let summary = summary.or_raise::<RunError>()?;
    interrupted?;
    loaded(py, &serde_json::to_value(&summary.manifest).or_raise::<RunError>()?)
}
