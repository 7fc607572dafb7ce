//! Checkpoints: the state from which a run continues bit for bit.
//!
//! `checkpoint/state-STEP.bin` is the world's dynamic state, `checkpoint/run.json` the runner's
//! own, which names the state file. `run.json` is replaced after the state is on disk, so that the
//! two always agree.

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use pliant_coupling::{StateError, World};
use serde::{Deserialize, Serialize};

use super::goals::WorstMeasurement;
use super::{RunError, Statistics};
use crate::record::cloth::ClothSummary;
use crate::record::{TablesState, read_json, write_json};
use pliant_io::files::{IoError, atomic_write};
use pliant_scenes::format::Scene;

/// Folder of the checkpoint in a run directory.
const CHECKPOINT: &str = "checkpoint";

/// The runner's state at a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Version of this layout: 2.
    pub schema_version: u32,
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
    #[serde(default)]
    pub cloth: Option<ClothSummary>,
    /// The worst measurement of each goal.
    #[serde(default)]
    pub goals: Vec<WorstMeasurement>,
    /// The scene.
    pub scene: Scene,
}

fn folder(directory: &Path) -> PathBuf {
    directory.join(CHECKPOINT)
}

fn state_path(directory: &Path, steps: u64) -> PathBuf {
    folder(directory).join(format!("state-{steps}.bin"))
}

impl Checkpoint {
    /// Writes the checkpoint, then removes the states of earlier ones.
    pub fn write(&self, directory: &Path, world: &mut World) -> Result<(), IoError> {
        let folder = folder(directory);
        fs::create_dir_all(&folder).map_err(|e| IoError::file("create", &folder, e))?;
        let state = state_path(directory, self.steps);
        atomic_write(&state, |file| {
            world.write_state(file).map_err(|error| match error {
                StateError::Io(error) => error,
                other => io::Error::other(other),
            })
        })?;
        write_json(&folder.join("run.json"), self)?;
        for entry in fs::read_dir(&folder).map_err(|e| IoError::file("read", &folder, e))?.flatten() {
            let path = entry.path();
            if path != state && path.extension().is_some_and(|extension| extension == "bin") {
                // A state that is not removed only costs space.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// Whether a directory has a checkpoint.
    pub fn exists(directory: &Path) -> bool {
        folder(directory).join("run.json").exists()
    }

    /// Reads the runner's state; `target` is the run directory's own name, for messages.
    pub fn read(directory: &Path, target: &Path) -> Result<Self, RunError> {
        read_json(&folder(directory).join("run.json"))
            .map_err(|e| RunError::Checkpoint { path: target.to_path_buf(), reason: e.to_string() })
    }

    /// Restores the world to the state of the checkpoint.
    pub fn restore(&self, directory: &Path, target: &Path, world: &mut World) -> Result<(), RunError> {
        let fail = |reason: String| RunError::Checkpoint { path: target.to_path_buf(), reason };
        let path = state_path(directory, self.steps);
        let file = fs::File::open(&path).map_err(|e| fail(format!("{}: {e}", path.display())))?;
        world.read_state(&mut BufReader::new(file)).map_err(|e| fail(format!("{}: {e}", path.display())))?;
        Ok(())
    }
}
