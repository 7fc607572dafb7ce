//! What a run writes of its sensors.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::fs;
use std::path::Path;

use pliant_runner::run::{
    BodyRow, Progress, RunOptions, SENSORS, Status, StopSignal, pad_path, read_bodies, read_pad, run,
};
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, Scene, apply, validate};
use pliant_scenes::scenario::Scenario;

const PAD: &str = r#"sensors=[{"type":"tactile-pad","name":"skin","body":"plate","half_extents":[0.2,0.3],"bins":[4,3],
    "pose":{"position":[0,0,0.05]}}]"#;

/// A rubber cube of 64 particles that falls on a plate with a pad on it: 40 steps.
fn small() -> Scene {
    let changes = [
        "grid_spacing=0.025",
        "soft[0].sampling.counts=[4,4,4]",
        "soft[0].pose.position[2]=0.14",
        "duration=0.2",
        "output.frame_interval=0.015",
        r#"bodies=[{"name":"plate","motion":{"type":"fixed"},
            "geometries":[{"shape":{"type":"box","half_extents":[0.2,0.3,0.05]}}]}]"#,
        PAD,
    ];
    let changes: Vec<_> = changes.iter().map(|c| Assignment::parse(c).unwrap()).collect();
    apply(&builtin::scene("elastic-drop").unwrap().unwrap(), &changes).unwrap()
}

fn options(out: &Path) -> RunOptions<'static> {
    RunOptions { pictures: false, ..RunOptions::new(out) }
}

/// Rows of `sensors.csv`: time, force, centre, largest pressure.
fn rows(directory: &Path) -> Vec<[f64; 7]> {
    let text = fs::read_to_string(directory.join(SENSORS)).unwrap();
    assert!(text.starts_with("time,sensor,fx,fy,fz,cx,cy,max_pressure\n"), "{text}");
    let numbers = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[1], "skin");
        [0, 2, 3, 4, 5, 6, 7].map(|n| fields[n].parse().unwrap())
    };
    text.lines().skip(1).map(numbers).collect()
}

// Checks: a pad over the whole plate has the force of the plate in `bodies.csv` to the solver's
// tolerance (1e-3 of the momentum's scale: a hundredth of the largest force here; measured 2e-4);
// its bins' pressures sum to that force to rounding; the largest pressure is one of them; pictures
// are there.
#[test]
fn a_run_writes_what_its_pads_feel() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let summary = run(Scenario::new(&small()).unwrap(), RunOptions::new(&out)).unwrap();
    assert_eq!((summary.manifest.status, summary.picture_error), (Status::Completed, None));
    let (rows, frames) = (rows(&out), read_pad(&out, "skin", 12).unwrap());
    let bodies = read_bodies(&out, 1).unwrap();
    assert_eq!((rows.len(), frames.len()), (bodies.len(), bodies.len()));
    let force = |row: &BodyRow| row.particles.map_or_else(nalgebra::Vector3::zeros, |wrench| wrench.force);
    let largest = bodies.iter().map(|b| force(&b[0]).norm()).fold(0.0, f64::max);
    let mut worst = 0.0_f64;
    for ((row, frame), body) in rows.iter().zip(&frames).zip(&bodies) {
        let [time, fx, fy, fz, _, _, most] = *row;
        assert_eq!((time, time), (frame.time, body[0].time));
        let difference = nalgebra::Vector3::new(fx, fy, fz) - force(&body[0]);
        worst = worst.max(difference.norm() / largest);
        let sum: f64 = frame.pressure.iter().map(|p| p * 0.4 * 0.6 / 12.0).sum();
        assert!((sum + fz).abs() <= 1e-12 * largest, "{sum} N, {fz} N");
        assert_eq!(most, frame.pressure.iter().copied().fold(0.0, f64::max));
    }
    println!("largest force {largest} N; pad and body differ by {worst:.1e} of it");
    assert!(largest > 1.0 && worst < 1e-2, "{largest} N, {worst}");
    for kind in ["png", "gif"] {
        assert!(fs::metadata(out.join("tactile/skin").with_extension(kind)).unwrap().len() > 500);
    }
}

// Checks: a run stopped between two frames and resumed writes the tables of the run that was never
// stopped, bit for bit.
#[test]
fn a_stopped_run_goes_on_with_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    run(Scenario::new(&small()).unwrap(), options(&whole)).unwrap();
    let stop = StopSignal::new();
    let mut progress = |progress: &Progress| {
        if progress.done == 20 {
            stop.request();
        }
    };
    let stopped = RunOptions { stop: Some(&stop), progress: Some(&mut progress), ..options(&parts) };
    assert_eq!(run(Scenario::new(&small()).unwrap(), stopped).unwrap().manifest.status, Status::Interrupted);
    run(Scenario::new(&small()).unwrap(), RunOptions { resume: true, ..options(&parts) }).unwrap();
    for path in [SENSORS.into(), pad_path(Path::new(""), "skin")] {
        let read = |folder: &Path| fs::read_to_string(folder.join(&path)).unwrap();
        assert_eq!(read(&whole), read(&parts), "{}", path.display());
    }
    assert!(rows(&whole).iter().any(|row| row[3] < 0.0), "nothing touches");
}

// Checks: invalid values are refused with path, value and unit.
#[test]
fn bad_sensors_are_named_with_value_and_unit() {
    for (change, expected) in [
        ("sensors[0].name=\"a/b\"", "sensors[0].name: 'a/b' must be letters"),
        ("sensors[0].body=nobody", "sensors[0].body: 'nobody' is neither one of the bodies [plate]"),
        ("sensors[0].half_extents[1]=0", "sensors[0].half_extents[1]: 0 m must be positive"),
        ("sensors[0].bins=[4,0]", "sensors[0].bins[1]: 0 must be at least 1"),
        ("sensors[0].reach=-1", "sensors[0].reach: -1 m must be positive"),
        (
            "sensors[0].pose.orientation=[0,0,0,0]",
            "sensors[0].pose.orientation: [0.0, 0.0, 0.0, 0.0] has norm 0",
        ),
    ] {
        let scene = apply(&small(), &[Assignment::parse(change).unwrap()]).unwrap();
        let error = validate(&scene).unwrap_err();
        assert_eq!(error.problems.len(), 1, "{error}");
        assert!(error.to_string().starts_with(expected), "{change}: {error}");
    }
    let twice = Scene { sensors: vec![small().sensors[0].clone(); 2], ..small() };
    let error = validate(&twice).unwrap_err().to_string();
    assert_eq!(error, "sensors[1].name: the name 'skin' is used by another sensor");
}
