//! Runs as a library: stopping, going on, and what is left behind after an error.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::fs;
use std::path::Path;

use pliant_runner::run::{DIAGNOSTICS, FRAMES, RunError, RunOptions, Status, StopSignal, run};
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, Scene, apply};
use pliant_scenes::scenario::Scenario;

/// `elastic-drop` with 64 particles, 20 steps, near the table.
fn small() -> Scene {
    let changes = [
        "grid_spacing=0.025",
        "soft[0].sampling.counts=[4,4,4]",
        "soft[0].pose.position[2]=0.09",
        "duration=0.1",
        "output.frame_interval=0.015",
    ];
    let changes: Vec<_> = changes.iter().map(|c| Assignment::parse(c).unwrap()).collect();
    apply(&builtin::scene("elastic-drop").unwrap().unwrap(), &changes).unwrap()
}

fn options(out: &Path) -> RunOptions<'static> {
    RunOptions { pictures: false, ..RunOptions::new(out) }
}

/// Frames and diagnostics without the wall times.
fn results(directory: &Path) -> (Vec<Vec<u8>>, Vec<String>) {
    let mut paths: Vec<_> =
        fs::read_dir(directory.join(FRAMES)).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let frames = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    let text = fs::read_to_string(directory.join(DIAGNOSTICS)).unwrap();
    (frames, text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect())
}

// Checks: what the processor does not do is refused before anything is stepped, by its field.
#[test]
fn the_processor_refuses_atomic_transfers() {
    let folder = tempfile::tempdir().unwrap();
    let scene = apply(&small(), &[Assignment::parse("transfer=atomic").unwrap()]).unwrap();
    match run(Scenario::new(&scene).unwrap(), options(&folder.path().join("run"))) {
        Err(RunError::Attach(error)) => {
            let told = error.to_string();
            assert!(told.contains("cpu") && told.contains("transfer: atomic"), "{told}");
        }
        other => panic!("{other:?}"),
    }
}

// Checks: a run that is stopped between two frames says `interrupted`, and resumed it equals the
// run that was never stopped, bit for bit.
#[test]
fn a_stopped_run_goes_on_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let summary = run(Scenario::new(&small()).unwrap(), options(&whole)).unwrap();
    assert_eq!((summary.manifest.status, summary.manifest.steps), (Status::Completed, 20));

    let stop = StopSignal::new();
    let mut progress = |progress: &pliant_runner::run::Progress| {
        if progress.done == 8 {
            stop.request();
        }
    };
    let stopped = RunOptions { stop: Some(&stop), progress: Some(&mut progress), ..options(&parts) };
    let summary = run(Scenario::new(&small()).unwrap(), stopped).unwrap();
    assert_eq!((summary.manifest.status, summary.manifest.steps), (Status::Interrupted, 8));

    let summary =
        run(Scenario::new(&small()).unwrap(), RunOptions { resume: true, ..options(&parts) }).unwrap();
    assert_eq!((summary.manifest.status, summary.manifest.steps), (Status::Completed, 20));
    assert!(results(&whole) == results(&parts));
}

// Checks: an unfinished run (killed, say) stands under its temporary name; a new run does not
// replace it, and it can be resumed, with the frames after its checkpoint written again.
#[test]
fn an_unfinished_run_is_found_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    run(Scenario::new(&small()).unwrap(), options(&whole)).unwrap();
    let short = Scene { duration: 0.05, ..small() };
    run(Scenario::new(&short).unwrap(), options(&killed)).unwrap();
    let partial = folder.path().join(".killed.partial");
    fs::rename(&killed, &partial).unwrap();
    fs::remove_file(partial.join("manifest.json")).unwrap();
    // What a killed run leaves after its checkpoint.
    fs::write(partial.join(FRAMES).join("000005.ply"), "half").unwrap();
    let mut table = fs::read_to_string(partial.join(DIAGNOSTICS)).unwrap();
    table.push_str("0.055,6,1.0");
    fs::write(partial.join(DIAGNOSTICS), table).unwrap();

    let error = run(Scenario::new(&small()).unwrap(), options(&killed)).unwrap_err();
    assert!(matches!(error, RunError::Unfinished { .. }), "{error}");
    let other = Scene { grid_spacing: Some(0.03), ..small() };
    let error =
        run(Scenario::new(&other).unwrap(), RunOptions { resume: true, ..options(&killed) }).unwrap_err();
    assert!(matches!(error, RunError::DifferentScene { .. }), "{error}");
    assert!(partial.exists() && !killed.exists());

    run(Scenario::new(&small()).unwrap(), RunOptions { resume: true, ..options(&killed) }).unwrap();
    assert!(!partial.exists());
    // The short run's last step, 10, was a frame of its own beside those of every third step.
    assert!(results(&killed) == results(&whole));
}

/// A box that falls freely with 2.2e7 m/s^2: beyond 1e6 m/s in the fifth step of 10 ms.
fn falling(solver: &str, steps: u32) -> Scene {
    let text = format!(
        r#"{{ "name": "falling", "duration": {}, "dt": 0.01, "gravity": [0, 0, -2.2e7], "rigid_solver": "{solver}",
            "bodies": [{{ "name": "stone", "motion": {{ "type": "dynamic", "joint": {{ "type": "free" }}, "density": 1000 }},
                "geometries": [{{ "shape": {{ "type": "box", "half_extents": [0.1, 0.1, 0.1] }}, "friction": 0.5 }}] }}],
            "output": {{ "frame_interval": 0.01 }} }}"#,
        0.01 * f64::from(steps)
    );
    pliant_scenes::format::parse_scene(&text).unwrap()
}

// Checks: a body that no step can resolve ends the run as failed, in its last step too, with the
// body, the time and the step; what is written is what was before, and none of it is NaN.
#[test]
fn divergence_in_the_last_step_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    for solver in ["icf", "comfree"] {
        for steps in [4, 5] {
            let out = folder.path().join(format!("{solver}-{steps}"));
            let manifest =
                run(Scenario::new(&falling(solver, steps)).unwrap(), options(&out)).unwrap().manifest;
            assert_eq!(manifest.steps, 4);
            if steps == 4 {
                assert_eq!((manifest.status, manifest.error), (Status::Completed, None));
            } else {
                assert_eq!(manifest.status, Status::Failed);
                let error = manifest.error.unwrap();
                for part in ["'stone'", "t = 0.05", "step of 0.01", "shorter dt"] {
                    assert!(error.contains(part), "{part}: {error}");
                }
            }
            for table in [DIAGNOSTICS, pliant_runner::run::BODIES] {
                let text = fs::read_to_string(out.join(table)).unwrap();
                assert!(!text.contains("NaN") && !text.contains("inf"), "{table}: {text}");
            }
        }
    }
}

#[test]
fn a_full_disk_is_told_as_such() {
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let error = RunError::from(pliant_io::files::IoError::file("write", Path::new("x.ply"), full));
    assert!(matches!(error, RunError::DiskFull { .. }) && !error.is_usage());
    assert!(error.to_string().contains("x.ply"), "{error}");
}
