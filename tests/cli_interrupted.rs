//! Runs that something outside stops: Ctrl-C, and a file system that takes no more.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use std::process::Command;
use std::time::{Duration, Instant};

use cli_support::Place;

/// 64 particles for longer than anyone waits.
const ENDLESS: [&str; 9] = [
    "run",
    "elastic-drop",
    "--no-pictures",
    "--set",
    "grid_spacing=0.025",
    "--set",
    "soft[0].sampling.counts=[4,4,4]",
    "--time",
    "10000",
];

/// How long the slowest machine may take to write a few frames.
const PATIENCE: Duration = Duration::from_secs(60);

// The law (`pliant --help`): Ctrl-C, and SIGTERM and SIGHUP of a batch system, end a run after its
// step; the directory is whole, says `interrupted`, and can be resumed.
#[test]
fn a_signal_leaves_a_whole_directory_that_resumes() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        signalled(signal);
    }
}

fn signalled(signal: &str) {
    let place = Place::new();
    let endless = |more: &[&'static str]| [&ENDLESS[..], more].concat();
    interrupt(&place, signal, &endless(&["--out", "out"]), ".out.partial/frames/000003.ply");
    assert_eq!(place.names(), ["out"]);
    let manifest = place.json("out/manifest.json");
    assert_eq!(manifest["status"], "interrupted");
    let frames = manifest["frames"].as_u64().unwrap();
    assert!(frames >= 4, "{frames}");
    assert!(place.path(&format!("out/frames/{:06}.ply", frames - 1)).exists());
    assert!(!place.path(&format!("out/frames/{frames:06}.ply")).exists());
    let rows = place.read("out/diagnostics.csv").lines().count() as u64 - 1;
    assert_eq!(manifest["steps"].as_u64().unwrap(), rows);

    place.pliant(&["verify", "out"]).exits(0);
    interrupt(
        &place,
        signal,
        &endless(&["--out", "out", "--resume"]),
        &format!(".out.partial/frames/{:06}.ply", frames + 3),
    );
    let resumed = place.json("out/manifest.json");
    assert_eq!(resumed["status"], "interrupted");
    assert!(resumed["frames"].as_u64().unwrap() >= frames + 4);
}

/// Runs until `file` is there, then sends the signal; the run must end with exit 3.
fn interrupt(place: &Place, signal: &str, arguments: &[&str], file: &str) {
    interrupt_later(place, signal, arguments, file, Duration::ZERO);
}

/// The same, with a wait before the signal.
fn interrupt_later(place: &Place, signal: &str, arguments: &[&str], file: &str, wait: Duration) {
    let mut run = place.start(arguments);
    let begun = Instant::now();
    while !place.path(file).exists() {
        if let Some(status) = run.try_wait().unwrap() {
            panic!("ended by itself: {status}");
        }
        assert!(begun.elapsed() < PATIENCE, "{file} does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(wait);
    let sent = Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(run.wait().unwrap().code(), Some(3));
}

// The law (`pliant run --help`): a step that does not end within the grace is abandoned; the run is
// then at its last checkpoint, here its start, and says nothing of balances that it did not measure.
#[test]
fn a_long_step_is_abandoned_after_the_grace() {
    let place = Place::new();
    let slow = ["--set", "dt=0.01", "--set", "substeps=600000", "--time", "0.02", "--grace", "0.2"];
    let long = [&ENDLESS[..ENDLESS.len() - 2], &slow, &["--out", "out"]].concat();
    // The step begins some milliseconds after the checkpoint, and lasts for some seconds.
    let (start, wait) = (".out.partial/checkpoint/000000000000.bin", Duration::from_secs(1));
    interrupt_later(&place, "-TERM", &long, start, wait);
    let manifest = place.json("out/manifest.json");
    assert_eq!((&manifest["status"], &manifest["steps"]), (&"interrupted".into(), &0.into()));
    assert!(manifest["conservation"]["mass"].is_null(), "{manifest}");
    assert_eq!(manifest["energy"], serde_json::json!({}));
    place.pliant(&["verify", "out"]).exits(0);
}

// Checks: a file that cannot be completed is an error that names it, exit 1, and nothing half
// written stays. The limit on a file's size (in blocks of 512 bytes) stands in for a full disk: 0
// lets nothing be written at all, 16 stops the first checkpoint. 200 stops the table of diagnostics:
// then the checkpoint stays, and the run can be resumed with more space.
#[test]
fn a_file_system_that_takes_no_more_leaves_nothing_half_written() {
    for (blocks, code, said, left) in [
        ("0", 2, "output out: cannot be written", &[][..]),
        ("16", 1, "checkpoint/000000000000.bin", &[]),
        ("200", 1, "diagnostics.csv", &[".out.partial"]),
    ] {
        let place = Place::new();
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let run = Command::new("sh")
            .args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_pliant")])
            .args(ENDLESS)
            .args(["--out", "out"])
            .current_dir(place.path(""))
            .output()
            .unwrap();
        let error = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(code), "{error}");
        assert!(error.contains(said), "{error}");
        assert_eq!(place.names(), left, "{blocks}");
        if !left.is_empty() {
            let resumed = ["--time", "0.1", "--out", "out", "--resume"];
            place.pliant(&[&ENDLESS[..ENDLESS.len() - 2], &resumed].concat()).exits(0);
            place.pliant(&["verify", "out"]).exits(0);
        }
    }
}
