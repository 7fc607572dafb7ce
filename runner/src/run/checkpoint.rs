//! Checkpoints: states from which a run continues bit for bit.
//!
//! `checkpoint/STEP.bin` is a file of two parts with checksums ([`pliant_io::parts`]): `runner`, the
//! runner's state as JSON, and `world`, the world's. The newest two are kept, so that one is whole
//! whatever happens to the other. [`newest_usable`] checks a checkpoint together with all that was
//! written before it.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use pliant_coupling::{StateError, World};
use serde::{Deserialize, Serialize};

use super::goals::WorstMeasurement;
use super::{RunError, Statistics};
use crate::record::cloth::ClothSummary;
use crate::record::{FRAME_LIST, InputFile, TablesState, check_names, verify_frames};
use pliant_io::digest::DigestError;
use pliant_io::files::IoError;
use pliant_io::parts::{Kind, Parts, write_parts};
use pliant_scenes::SeenFrame;
use pliant_scenes::format::Scene;

/// Folder of the checkpoints in a run directory.
const CHECKPOINT: &str = "checkpoint";

/// The file of a checkpoint, and the version of its contents.
const KIND: Kind = Kind { magic: *b"PLIANTCK", version: 2 };

/// Names of the parts.
const RUNNER: &str = "runner";
const WORLD: &str = "world";

/// Checkpoints that are kept.
const KEPT: usize = 2;

/// Of the version before: it has no checksums.
const OLD: &str = "run.json";

/// The runner's state at a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Steps done.
    pub steps: u64,
    /// Frames written.
    pub frames: usize,
    /// The tables.
    pub tables: TablesState,
    /// Wall time so far \[s\].
    pub wall_s: f64,
    /// Step of the last frame.
    pub frame_step: u64,
    /// Statistics for the manifest.
    pub statistics: Statistics,
    /// Crossings of cloth so far.
    pub cloth: Option<ClothSummary>,
    /// The worst measurement of each goal.
    pub goals: Vec<WorstMeasurement>,
    /// The files that the scene was made of.
    pub inputs: Vec<InputFile>,
    /// As in the manifest.
    #[serde(default)]
    pub soft_particles: Vec<usize>,
    /// The frames that the scene's sightings found.
    #[serde(default)]
    pub seen: Vec<Option<SeenFrame>>,
    /// The scene.
    pub scene: Scene,
}

/// A checkpoint whose checksums match, as do those of the tables and frames before it.
#[derive(Debug)]
pub struct UsableCheckpoint {
    /// The runner's state.
    pub checkpoint: Checkpoint,
    file: PathBuf,
    parts: Parts,
    /// Newer checkpoints that are not usable, one line each.
    pub damaged: Vec<String>,
}

fn folder(directory: &Path) -> PathBuf {
    directory.join(CHECKPOINT)
}

/// The checkpoints of a run directory, newest first.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder(directory)) else { return Vec::new() };
    let number = |path: &Path| -> Option<u64> {
        let is_checkpoint = path.extension().is_some_and(|extension| extension == "bin");
        path.file_stem().filter(|_| is_checkpoint)?.to_str()?.parse().ok()
    };
    let mut found: Vec<(u64, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| number(&entry.path()).map(|steps| (steps, entry.path())))
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The checkpoints as paths in the run directory, newest first.
pub fn names(directory: &Path) -> Vec<String> {
    let name = |file: &PathBuf| {
        file.strip_prefix(directory).ok().map(|file| file.to_string_lossy().replace('\\', "/"))
    };
    files(directory).iter().filter_map(name).collect()
}

/// Compares a checkpoint's checksums with its contents.
///
/// # Errors
/// It cannot be read, is of another version, or is damaged.
pub fn verify(file: &Path) -> Result<(), IoError> {
    open(file).map(drop)
}

/// The runner's state in a run directory, from its newest checkpoint that can be read; `None`
/// without checkpoints.
///
/// # Errors
/// None of the checkpoints can be read.
pub fn state(directory: &Path) -> Result<Option<Checkpoint>, IoError> {
    let mut first_error = None;
    for file in files(directory) {
        match open(&file) {
            Ok((checkpoint, _)) => return Ok(Some(checkpoint)),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    first_error.map_or(Ok(None), Err)
}

fn open(file: &Path) -> Result<(Checkpoint, Parts), IoError> {
    let parts = Parts::open(file, KIND)?;
    let mut json = Vec::new();
    parts.part(RUNNER)?.read_to_end(&mut json).map_err(|e| IoError::file("read", file, e))?;
    parts.part(WORLD)?;
    let checkpoint: Checkpoint = serde_json::from_slice(&json).map_err(|e| IoError::malformed(file, e))?;
    check_names(checkpoint.tables.files.keys()).map_err(|reason| IoError::malformed(file, reason))?;
    Ok((checkpoint, parts))
}

/// The newest checkpoint that is whole and whose tables and frames are; `None` in a directory
/// without checkpoints. Nothing is changed.
///
/// # Errors
/// [`RunError::Checkpoint`]: none is usable, with the reason of each.
pub fn newest_usable(directory: &Path, target: &Path) -> Result<Option<UsableCheckpoint>, RunError> {
    let mut damaged = Vec::new();
    for file in files(directory) {
        let usable = || -> Result<(Checkpoint, Parts), DigestError> {
            let (checkpoint, parts) = open(&file)?;
            checkpoint.tables.verify(directory)?;
            let list = checkpoint.tables.files.get(FRAME_LIST).map_or(0, |digest| digest.bytes);
            verify_frames(directory, list, checkpoint.frames)?;
            Ok((checkpoint, parts))
        };
        match usable() {
            Ok((checkpoint, parts)) => {
                return Ok(Some(UsableCheckpoint { checkpoint, file, parts, damaged }));
            }
            Err(error) => {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                damaged.push(format!("{CHECKPOINT}/{name} cannot be used: {error}"));
            }
        }
    }
    if folder(directory).join(OLD).exists() {
        damaged.push("it was written by an older version, without checksums".to_owned());
    }
    if damaged.is_empty() {
        return Ok(None);
    }
    Err(RunError::Checkpoint { path: target.to_path_buf(), reason: damaged.join("; ") })
}

impl UsableCheckpoint {
    /// Restores the world to the state of the checkpoint.
    ///
    /// # Errors
    /// The state does not fit the world.
    pub fn restore(&self, target: &Path, world: &mut World) -> Result<(), RunError> {
        let fail = |reason: String| RunError::Checkpoint {
            path: target.to_path_buf(),
            reason: format!("{}: {reason}", self.file.display()),
        };
        let mut state = self.parts.part(WORLD).map_err(|e| fail(e.to_string()))?;
        world.read_state(&mut state).map_err(|e| fail(e.to_string()))
    }
}

impl Checkpoint {
    /// Writes the checkpoint, then removes those before the last one.
    ///
    /// # Errors
    /// The file cannot be written; those before stay.
    pub fn write(&self, directory: &Path, world: &mut World) -> Result<(), IoError> {
        let folder = folder(directory);
        fs::create_dir_all(&folder).map_err(|e| IoError::file("create", &folder, e))?;
        let file = folder.join(format!("{:012}.bin", self.steps));
        let mut runner = |out: &mut dyn Write| Ok(serde_json::to_writer(out, self)?);
        let mut state = |mut out: &mut dyn Write| {
            world.write_state(&mut out).map_err(|error| match error {
                StateError::Io(error) => error,
                other => io::Error::other(other),
            })
        };
        write_parts(&file, KIND, &mut [(RUNNER, &mut runner), (WORLD, &mut state)])?;
        for old in files(directory).into_iter().skip(KEPT) {
            // One that is not removed only costs space.
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    /// Whether a directory has a checkpoint, usable or not.
    pub fn exists(directory: &Path) -> bool {
        !files(directory).is_empty() || folder(directory).join(OLD).exists()
    }
}
