//! Exports without the tools that they are for: structure, counts, refusals.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod random;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use pliant_export::{ExportError, ExportOptions, Format, Source, export, export_source};
use pliant_runner::recording::Recording;
use pliant_runner::run::{RunOptions, run};
use pliant_scenes::{builtin, scenario::Scenario};
use random::{Random, RandomRun};

fn go_on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn write(source: &RandomRun, format: Format, out: &Path) -> Result<(), ExportError> {
    export_source(source, format, out, &ExportOptions::default(), &mut go_on).map(|made| {
        assert_eq!(made.len(), 1);
        assert!(made[0].is_file() || format == Format::Zarr, "{}", made[0].display());
    })
}

/// Names in a folder, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// Whatever is in a run, each format is written, and nothing else is left beside it: no particles, no
// bodies, cloth only, nothing at all, one frame.
#[test]
fn runs_that_lack_something_are_exported() {
    for (balls, sheet, bodies) in [(0, 0, true), (9, 0, false), (0, 5, false), (0, 0, false), (7, 6, true)] {
        for frames in [1, 2] {
            let mut source = RandomRun::of(&mut Random(11), balls, sheet, bodies);
            source.times.truncate(frames);
            for format in Format::ALL {
                let folder = tempfile::tempdir().unwrap();
                let out = folder.path().join("out");
                write(&source, format, &out)
                    .unwrap_or_else(|e| panic!("{balls} {sheet} {bodies} {frames} {format:?}: {e}"));
                assert_eq!(names(folder.path()), ["out"], "{format:?}");
            }
        }
    }
}

// Law: the same run gives the same bytes.
#[test]
fn exports_are_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Gltf, Format::Npz, Format::Mp4] {
        let source = RandomRun::new(3);
        let [a, b] = ["a", "b"].map(|name| folder.path().join(format!("{name}{}", format.ending())));
        write(&source, format, &a).unwrap();
        write(&source, format, &b).unwrap();
        assert_eq!(fs::read(a).unwrap(), fs::read(b).unwrap(), "{format:?}");
    }
}

// A layer of USD and a file of VTK for every chosen frame; a glTF file says its length.
#[test]
fn files_count_the_frames() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = RandomRun::new(5);
    let frames = source.times.len();
    write(&source, Format::Usd, &at("usd")).unwrap();
    // The manifest is one more.
    assert_eq!(names(&at("usd/clips")).len(), frames + 1);
    let options = ExportOptions { range: Some(0..99), stride: 2, ..ExportOptions::default() };
    export_source(&source, Format::Vtk, &at("vtk"), &options, &mut go_on).unwrap();
    let chosen = frames.div_ceil(2);
    assert_eq!(names(&at("vtk")).iter().filter(|n| n.starts_with("bodies_")).count(), chosen);
    let listed = fs::read_to_string(at("vtk/run.pvd")).unwrap();
    assert_eq!(listed.matches("<DataSet").count(), 3 * chosen, "{listed}");
    write(&source, Format::Gltf, &at("run.glb")).unwrap();
    let bytes = fs::read(at("run.glb")).unwrap();
    assert_eq!(bytes[8..12], (bytes.len() as u32).to_le_bytes());
    write(&source, Format::Zarr, &at("zarr")).unwrap();
    assert_eq!(names(&at("zarr/positions/c")).len(), frames);
}

// What exists is not touched: file, folder, or a link that leads nowhere.
#[test]
fn an_existing_target_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, place) = (folder.path().join("file"), folder.path().join("place"));
    fs::write(&file, "kept").unwrap();
    fs::create_dir(&place).unwrap();
    for format in Format::ALL {
        for out in [&file, &place] {
            let error = write(&RandomRun::new(1), format, out).unwrap_err();
            assert!(matches!(error, ExportError::TargetExists { ref path } if path == out), "{error}");
        }
    }
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    assert_eq!(names(folder.path()), ["file", "place"]);
}

// A stop at any frame leaves nothing, also at the last.
#[test]
fn a_stop_leaves_nothing_behind() {
    let source = RandomRun::new(2);
    for format in Format::ALL {
        for last in 0..=source.times.len() {
            let folder = tempfile::tempdir().unwrap();
            let mut stop = |done: usize, total: usize| {
                assert!(done <= total);
                // A video has fewer frames where they are fast.
                if done == last.min(total) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let out = folder.path().join("out");
            let error = export_source(&source, format, &out, &ExportOptions::default(), &mut stop);
            assert!(matches!(error, Err(ExportError::Stopped)), "{format:?} {last}");
            assert!(names(folder.path()).is_empty(), "{format:?} {last}");
        }
    }
}

/// The error of every format, which leaves nothing behind.
fn refused(source: &RandomRun) -> String {
    let mut said = Vec::new();
    for format in Format::ALL {
        let folder = tempfile::tempdir().unwrap();
        let error = write(source, format, &folder.path().join("out")).unwrap_err();
        assert!(names(folder.path()).is_empty(), "{format:?}");
        said.push(error.to_string());
    }
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}

// Numbers that are not finite are refused by frame, place and property; so are frames that differ.
#[test]
fn what_formats_cannot_hold_is_refused() {
    let changed = |change: fn(&mut RandomRun)| {
        let mut source = RandomRun::new(4);
        // A video leaves out frames that are fast, and does not look at them.
        source.times = (0..source.times.len()).map(|at| 0.1 * at as f64).collect();
        change(&mut source);
        refused(&source)
    };
    let said = changed(|run| run.frames[1].particles[3].velocity[2] = f32::NAN);
    assert_eq!(said, "frame 1: `velocity` of particle 3 is NaN, not finite");
    let said = changed(|run| run.frames[0].particles[2].mass = f32::INFINITY);
    assert_eq!(said, "frame 0: `mass` of particle 2 is inf, not finite");
    let said = changed(|run| run.poses[1][6].translation.vector.y = f64::NAN);
    assert_eq!(said, "frame 1: `position` of body 6 is NaN, not finite");
    let said = changed(|run| run.frames[1].particles.truncate(4));
    assert_eq!(said, "frame 1: the numbers of particles differ from those of frame 0");
    let said = changed(|run| run.frames[1].particles[0].material = 9);
    assert_eq!(said, "frame 1: the materials differ from those of frame 0");
    let said = changed(|run| run.times[1] = run.times[0]);
    assert!(said.starts_with("frame 1: its time"), "{said}");
    let said = changed(|run| run.frames[0].triangles[1][2] = 999);
    assert!(said.starts_with("frame 0: triangle 1 refers to particle 999 of"), "{said}");
    let said = changed(|run| run.times.clear());
    assert!(said.starts_with("no frames to export: the run has 0"), "{said}");
}

// A stride of zero and a range beyond the run are errors, not empty files.
#[test]
fn frames_must_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let choose = |range, stride| {
        let options = ExportOptions { range, stride, size: None };
        export_source(&RandomRun::new(1), Format::Npz, &folder.path().join("o"), &options, &mut go_on)
    };
    assert!(matches!(choose(None, 0), Err(ExportError::ZeroStride)));
    assert!(matches!(choose(Some(50..60), 1), Err(ExportError::NoFrames { .. })));
    assert!(names(folder.path()).is_empty());
}

// A recorded run is exported; one whose frame was cut is refused by the name of the file.
#[test]
fn a_damaged_run_is_refused_by_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("run");
    let mut scene = builtin::scene("elastic-drop").unwrap().unwrap();
    scene.duration = 0.08;
    run(Scenario::new(&scene).unwrap(), RunOptions { pictures: false, ..RunOptions::new(&place) }).unwrap();
    let recording = Recording::open(&place).unwrap();
    assert!(Source::times(&recording).len() > 1);
    let options = ExportOptions::default();
    for format in Format::ALL {
        let out = folder.path().join(format.name());
        export(&recording, format, &out, &options, &mut go_on).unwrap();
    }
    let frame = place.join("frames/000001.ply");
    let bytes = fs::read(&frame).unwrap();
    fs::write(&frame, &bytes[..bytes.len() / 2]).unwrap();
    let before = names(folder.path());
    for format in Format::ALL {
        let out = folder.path().join("damaged");
        let error = export(&recording, format, &out, &options, &mut go_on).unwrap_err();
        let expected = error.to_string().contains("000001.ply");
        assert!(matches!(error, ExportError::Recording(_)) && expected, "{error}");
    }
    assert_eq!(names(folder.path()), before);
}
