//! Laws of run directories: files that were changed, by damage or on purpose.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU64;
use std::path::Path;

use pliant_io::digest::Hasher;
use pliant_io::parts::{Kind, Parts, write_parts};
use pliant_runner::run::{RunOptions, Status, run};
use pliant_runner::verify::verify;
use pliant_scenes::Scenario;
use pliant_scenes::format::parse_scene;
use tempfile::TempDir;

use crate::checks::changes::changes;
use crate::checks::message;

/// A soft block, a floor and a flap with a tactile pad, for eight steps.
const SCENE: &str = include_str!("scene.json");
/// Duration of the run that is damaged \[s\]: half of the scene's.
const HALF: f64 = 0.004;
/// A checkpoint after so many steps.
const CHECKPOINT_STEPS: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// Files by their paths in a folder.
type Files = BTreeMap<String, Vec<u8>>;

fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let (Ok(name), Ok(bytes)) = (path.strip_prefix(folder), fs::read(&path)) {
                found.insert(name.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    found
}

/// Runs the scene for a time \[s\]; what went wrong.
fn simulate(out: &Path, duration: f64, resume: bool) -> Result<Status, String> {
    let mut scene = parse_scene(SCENE).map_err(|e| e.to_string())?;
    scene.duration = duration;
    let scenario = Scenario::new(&scene).map_err(|e| e.to_string())?;
    let options = RunOptions {
        resume,
        pictures: false,
        checkpoint_steps: Some(CHECKPOINT_STEPS),
        ..RunOptions::new(out)
    };
    run(scenario, options).map(|summary| summary.manifest.status).map_err(|e| e.to_string())
}

/// Files without wall times: the same in every run of a scene.
fn repeatable(mut files: Files) -> Files {
    files.retain(|name, _| {
        !name.starts_with("checkpoint/") && name != "manifest.json" && name != "diagnostics.csv"
    });
    files
}

/// A run of half of the time, and one of the whole.
struct Examples {
    place: TempDir,
    half: Files,
    whole: Files,
}

impl Examples {
    fn new() -> Self {
        let Ok(place) = tempfile::tempdir() else { panic!("no temporary folder") };
        let run = |name: &str, duration| {
            let out = place.path().join(name);
            let status = simulate(&out, duration, false);
            assert_eq!(status, Ok(Status::Completed));
            let found = files(&out);
            let removed = fs::remove_dir_all(&out);
            assert!(removed.is_ok(), "{removed:?}");
            found
        };
        let (half, whole) = (run("half", HALF), run("whole", 2.0 * HALF));
        Self { place, half, whole: repeatable(whole) }
    }
}

/// Bytes with the changes of an input.
fn changed(bytes: &[u8], input: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes(input) {
        bytes.splice(change.range(bytes.len()), change.new.iter().copied());
    }
    bytes
}

/// A checkpoint with a changed part and a checksum that fits.
fn forged_checkpoint(path: &Path, part: &str, input: &[u8]) {
    let Ok(bytes) = fs::read(path) else { panic!("{} cannot be read", path.display()) };
    let (Some(magic), Some(version)) = (bytes.first_chunk(), bytes[8..].first_chunk()) else {
        panic!("a checkpoint of {} bytes", bytes.len())
    };
    let kind = Kind { magic: *magic, version: u32::from_le_bytes(*version) };
    let read = |name: &str| {
        let mut bytes = Vec::new();
        let read = Parts::open(path, kind).and_then(|parts| parts.part(name));
        let Ok(Ok(_)) = read.map(|mut part| part.read_to_end(&mut bytes)) else { panic!("no part {name}") };
        if name == part { changed(&bytes, input) } else { bytes }
    };
    let (runner, world) = (read("runner"), read("world"));
    let mut first = |out: &mut dyn Write| out.write_all(&runner);
    let mut second = |out: &mut dyn Write| out.write_all(&world);
    let written = write_parts(path, kind, &mut [("runner", &mut first), ("world", &mut second)]);
    assert!(written.is_ok(), "{written:?}");
}

/// A changed manifest with a checksum that fits, if the changes left its place.
fn forged_manifest(bytes: &[u8], input: &[u8]) -> Vec<u8> {
    const FIELD: &str = "\"manifest_sha256\": \"";
    let text = String::from_utf8_lossy(bytes);
    let at = text.rfind(FIELD).unwrap_or_default() + FIELD.len();
    let zeros = "0".repeat(64);
    let zeroed = format!("{}{zeros}{}", &text[..at], &text[at + 64..]);
    let forged = String::from_utf8_lossy(&changed(zeroed.as_bytes(), input)).into_owned();
    let Some((before, after)) = forged.rsplit_once(&zeros) else { return forged.into_bytes() };
    let mut hasher = Hasher::default();
    hasher.update(forged.as_bytes());
    format!("{before}{}{after}", hasher.digest().sha256).into_bytes()
}

/// Changes the file that the first byte of `input` names; whether its checksum was made to fit, and
/// whether anything changed.
fn change(out: &Path, half: &Files, input: &[u8]) -> (bool, bool) {
    let [which, how, rest @ ..] = input else { return (false, false) };
    let Some((name, bytes)) = half.iter().nth(usize::from(*which) % half.len()) else { panic!("no files") };
    let path = out.join(name);
    match (how % 4, name.as_str()) {
        (0, name) if name.starts_with("checkpoint/") => {
            forged_checkpoint(&path, "runner", rest);
            return (true, true);
        }
        (1, name) if name.starts_with("checkpoint/") => {
            forged_checkpoint(&path, "world", rest);
            return (true, true);
        }
        (0, "manifest.json") => {
            let written = fs::write(&path, forged_manifest(bytes, rest));
            assert!(written.is_ok(), "{written:?}");
            return (true, true);
        }
        _ => {}
    }
    let new = changed(bytes, rest);
    let written = fs::write(&path, &new);
    assert!(written.is_ok(), "{written:?}");
    (false, new != *bytes)
}

/// A run directory in which one file is changed: `input[0]` is the file, `input[1] % 4` whether the
/// checksum of a checkpoint (0: of its part `runner`, 1: `world`) or a manifest (0) is made to fit,
/// `input[1] & 8` whether the run goes on for the same time, or longer; then the changes. A change is
/// found; a run goes on to the bytes of one without it, or is refused and left as it is. With a
/// checksum that fits, nothing panics and nothing outside is touched.
pub fn directory(input: &[u8]) {
    thread_local! {
        static EXAMPLES: Examples = Examples::new();
    }
    EXAMPLES.with(|examples| {
        let out = examples.place.path().join("out");
        remove(examples.place.path());
        for (name, bytes) in &examples.half {
            let path = out.join(name);
            let written =
                fs::create_dir_all(path.parent().unwrap_or(&out)).and_then(|()| fs::write(&path, bytes));
            assert!(written.is_ok(), "{written:?}");
        }
        let (is_forged, is_changed) = change(&out, &examples.half, input);
        match verify(&out) {
            Ok(found) => {
                found.problems.iter().for_each(|problem| message::check(&problem.to_string()));
                assert!(is_forged || is_changed != found.problems.is_empty(), "{:?}", found.problems);
            }
            Err(error) => message::check(&error.to_string()),
        }
        let before = files(&out);
        let is_longer = input.get(1).is_none_or(|how| how & 8 == 0);
        let resumed = simulate(&out, if is_longer { 2.0 * HALF } else { HALF }, true);
        let after = files(&out);
        match &resumed {
            Ok(_) if is_forged => {}
            Ok(status) => {
                assert_eq!(*status, Status::Completed);
                let expected =
                    if is_longer { examples.whole.clone() } else { repeatable(examples.half.clone()) };
                assert!(repeatable(after) == expected, "a damaged run went on to other bytes");
            }
            Err(error) => {
                message::check(error);
                assert!(is_forged || after == before, "a run that was refused changed: {error}");
            }
        }
        let outside = fs::read_dir(examples.place.path()).into_iter().flatten().flatten();
        for entry in outside.map(|entry| entry.file_name()) {
            assert!(entry == "out" || entry == ".out.partial", "{} is left behind", entry.display());
        }
        remove(examples.place.path());
    });
}

/// Removes the run of an input; there is none before the first.
fn remove(place: &Path) {
    for name in ["out", ".out.partial"] {
        let _ = fs::remove_dir_all(place.join(name));
    }
}

/// Inputs that change nothing, for every file.
pub fn unchanged() -> Vec<[u8; 2]> {
    (0..16).flat_map(|file| [[file, 2], [file, 10]]).collect()
}
