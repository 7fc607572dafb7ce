//! `view`: runs in a browser.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};
use pliant::runner::run::{self, RunOptions, hull_folder};
use pliant::scenes::load::load;
use pliant::scenes::scenario::Scenario;
use pliant::viewer::{PageOptions, serve, write_page};

use super::args::ViewArguments;
use super::interrupt;
use super::output::{Failure, print, say};

/// How often it is looked whether to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

pub fn view(arguments: &ViewArguments) -> Result<(), Failure> {
    let mut directories = Vec::new();
    let mut scenarios = Vec::new();
    for target in &arguments.targets {
        if is_run(Path::new(target)) {
            directories.push(PathBuf::from(target));
        } else {
            let (out, scenario) = scene(target, &arguments.out).map_err(Failure::Usage)?;
            directories.push(out.clone());
            scenarios.push((out, scenario));
        }
    }
    if let Some(file) = &arguments.html {
        return page(arguments, &directories, scenarios.is_empty(), file);
    }
    interrupt::without_steps();
    let signal = interrupt::signal(0.0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !interrupt::is_stopped() && !stop.load(Ordering::Relaxed) {
                std::thread::sleep(STOP_INTERVAL);
            }
            stop.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            for (out, scenario) in scenarios {
                let options = RunOptions { stop: signal, ..RunOptions::new(&out) };
                match run::run(scenario, options) {
                    Ok(summary) => say(&format!("{}: {}", out.display(), summary.manifest.status)),
                    Err(error) => say(&format!("error: {error}")),
                }
            }
        });
        // Who asked for a page that cannot be served waits for nothing.
        let result = serve(&directories, arguments.port, ready, &stop);
        stop.store(true, Ordering::Relaxed);
        result
    })
    .map_err(Failure::failed)
}

/// Whether there is a run of this name, ended or not.
fn is_run(target: &Path) -> bool {
    target.is_dir() || run::directory::partial_path(target).is_dir()
}

/// A scene to run, and its run directory.
fn scene(name: &str, folder: &Path) -> anyhow::Result<(PathBuf, Scenario)> {
    let scene = load(name, &[]).with_context(|| format!("'{name}' is no run directory, and no scene"))?;
    let out = folder.join(&scene.name);
    run::check(&out, Default::default(), false)?;
    let scenario = Scenario::with_cache(&scene, &hull_folder(&out));
    Ok((out, scenario.with_context(|| format!("scene '{name}'"))?))
}

fn page(
    arguments: &ViewArguments,
    directories: &[PathBuf],
    are_runs: bool,
    file: &Path,
) -> Result<(), Failure> {
    let [directory] = directories else {
        return Err(Failure::Usage(anyhow!("--html: one run, {} were given", directories.len())));
    };
    if !are_runs {
        return Err(Failure::Usage(anyhow!("--html: {} is no run directory", arguments.targets[0])));
    }
    let options = PageOptions { max_bytes: arguments.max_bytes, ..PageOptions::default() };
    let written = write_page(directory, file, &options).map_err(Failure::failed)?;
    let (frames, of, bytes) = (written.frames, written.of, written.bytes);
    Ok(print(&format!("{}: {frames} of {of} frames, {bytes} bytes\n", file.display()))?)
}

fn ready(address: &str) {
    // Standard output has nothing but the address, for programs that open it.
    let _ = print(&format!("{address}\n"));
    say("open this address in a browser; Ctrl-C ends");
}
