//! What a run writes of the sensors of its robots.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::fs;
use std::path::Path;

use pliant_runner::run::{Progress, ROBOT_SENSORS, RunOptions, Status, StopSignal, read_joints, run};
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, Scene, apply};
use pliant_scenes::scenario::Scenario;

/// A plate of 1 kg that is welded to a mount, on which a swinging rod hangs beside it.
const PLATE: &str = r#"<mujoco><worldbody><body name="mount"><body name="plate"><geom type="box" size=".2 .2 .05" mass="1"/>
<site name="s" type="box" size="1 1 1"/></body>
<body name="rod" pos=".6 0 .5"><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".01" mass="1"/>
<site name="end" pos=".3 0 0"/></body></body></worldbody><sensor><force name="f" site="s"/><touch name="t" site="s"/>
<jointpos name="q" joint="hinge"/><accelerometer name="a" site="end"/><framequat name="r" objtype="site" objname="end"/>
</sensor></mujoco>"#;

/// A rubber cube of 64 particles that falls on the plate: 40 steps.
fn small(folder: &Path) -> Scene {
    let file = folder.join("plate.xml");
    fs::write(&file, PLATE).unwrap();
    let changes = [
        "grid_spacing=0.025",
        "soft[0].sampling.counts=[4,4,4]",
        "soft[0].pose.position[2]=0.14",
        "duration=0.2",
        "output.frame_interval=0.015",
        "bodies=[]",
        &format!(r#"robots=[{{"name":"r","file":{:?}}}]"#, file.to_str().unwrap()),
    ];
    let changes: Vec<_> = changes.iter().map(|c| Assignment::parse(c).unwrap()).collect();
    apply(&builtin::scene("elastic-drop").unwrap().unwrap(), &changes).unwrap()
}

fn options(out: &Path) -> RunOptions<'static> {
    RunOptions { pictures: false, ..RunOptions::new(out) }
}

/// The header and the rows; none for an empty cell.
fn rows(directory: &Path) -> (String, Vec<Vec<Option<f64>>>) {
    let text = fs::read_to_string(directory.join(ROBOT_SENSORS)).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_owned();
    let cell = |cell: &str| (!cell.is_empty()).then(|| cell.parse().unwrap());
    (header, lines.map(|line| line.split(',').map(cell).collect()).collect())
}

// Checks: a column for each component; forces and accelerations are empty at the start and there
// afterwards. A force sensor has what `joints.csv` says of its joint, with what particles press: the
// plate's weight without them, more with them. A touch sensor feels no particles (the book says so).
#[test]
fn a_run_writes_what_sensors_of_robots_read() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let scene = small(folder.path());
    let summary = run(Scenario::new(&scene).unwrap(), options(&out)).unwrap();
    assert_eq!(summary.manifest.status, Status::Completed, "{:?}", summary.manifest.error);
    assert!(summary.manifest.files.contains(&ROBOT_SENSORS.to_owned()));
    let (header, rows) = rows(&out);
    assert_eq!(header, "time,r/f_x,r/f_y,r/f_z,r/t,r/q,r/a_x,r/a_y,r/a_z,r/r_w,r/r_x,r/r_y,r/r_z");
    let of_plate: Vec<_> =
        read_joints(&out).unwrap().into_iter().filter(|row| row.link == "r/plate").collect();
    let of_rod: Vec<_> = read_joints(&out).unwrap().into_iter().filter(|row| row.link == "r/rod").collect();
    assert_eq!((of_plate.len(), of_rod.len()), (rows.len(), rows.len()));
    let measured = [0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0];
    let at_start: Vec<usize> = rows[0].iter().map(|cell| usize::from(cell.is_none())).collect();
    assert_eq!(at_start, measured);
    let mut largest = 0.0_f64;
    for ((row, plate), rod) in rows.iter().zip(&of_plate).zip(&of_rod).skip(1) {
        let row: Vec<f64> = row.iter().map(|cell| cell.unwrap()).collect();
        let joint = plate.reaction.unwrap().force;
        assert_eq!((row[0], row[5]), (plate.time, rod.position.unwrap()));
        assert!((0..3).all(|d| (row[1 + d] - joint[d]).abs() < 1e-12 * joint.norm()), "{row:?}, {joint}");
        assert_eq!(row[4], 0.0, "a touch sensor felt particles");
        largest = largest.max(row[3]);
    }
    let gravity = -scene.gravity[2];
    assert!((rows[1][3].unwrap() - gravity).abs() < 1e-9, "{:?} N", rows[1][3]);
    assert!(largest > 1.1 * gravity, "nothing presses: {largest} N");
}

// Checks: a run stopped between two frames and resumed writes the table of the run that was never
// stopped, bit for bit.
#[test]
fn a_stopped_run_goes_on_with_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let scene = small(folder.path());
    run(Scenario::new(&scene).unwrap(), options(&whole)).unwrap();
    let stop = StopSignal::new();
    let mut progress = |progress: &Progress| {
        if progress.done == 20 {
            stop.request();
        }
    };
    let stopped = RunOptions { stop: Some(&stop), progress: Some(&mut progress), ..options(&parts) };
    assert_eq!(run(Scenario::new(&scene).unwrap(), stopped).unwrap().manifest.status, Status::Interrupted);
    run(Scenario::new(&scene).unwrap(), RunOptions { resume: true, ..options(&parts) }).unwrap();
    let read = |folder: &Path| fs::read_to_string(folder.join(ROBOT_SENSORS)).unwrap();
    assert_eq!(read(&whole), read(&parts));
}
