//! The runs that are shown. A run is opened when it is first asked for, read on while it goes on, and
//! opened again when its manifest has changed; a run that cannot be opened is tried again each time.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use pliant_runner::recording::{Recording, RecordingError};
use pliant_runner::run::MANIFEST;
use serde_json::{Value, json};

use crate::error::ViewerError;
use crate::surface::SurfaceInput;
use crate::surfaces::Key;
use crate::{diagnostics, frame, scene};

/// Length and time of change of a manifest; none without one.
type Stamp = Option<(u64, Option<SystemTime>)>;

/// A run that was opened.
struct Opened {
    recording: Recording,
    stamp: Stamp,
}

#[derive(Default)]
struct State {
    opened: Option<Opened>,
    /// Number of times that it was opened; the page begins anew when it changes.
    generation: u64,
}

/// A run directory and what was read of it.
struct Run {
    path: PathBuf,
    state: Mutex<State>,
}

/// The runs, by their number.
pub(crate) struct Library(Vec<Run>);

impl Library {
    /// The runs of these directories, none of them opened yet.
    pub fn new(runs: &[PathBuf]) -> Self {
        Self(runs.iter().map(|path| Run { path: path.clone(), state: Mutex::default() }).collect())
    }

    /// How each run stands; of one that cannot be read its error.
    pub fn status(&self) -> Value {
        let one = |run: &Run| {
            let status = run.with(|recording, generation| Ok(scene::status(recording, generation)));
            status.unwrap_or_else(|error| json!({ "name": name(&run.path), "error": error.to_string() }))
        };
        json!({ "runs": self.0.iter().map(one).collect::<Vec<_>>() })
    }

    /// The scene of a run; none if there is no such run.
    pub fn scene(&self, run: usize) -> Option<Result<Value, ViewerError>> {
        Some(self.0.get(run)?.with(|recording, _| Ok(scene::describe(recording))))
    }

    /// The diagnostics of a run; none if there is no such run.
    pub fn diagnostics(&self, run: usize) -> Option<Result<Value, ViewerError>> {
        Some(self.0.get(run)?.with(|recording, _| diagnostics::diagnostics(recording)))
    }

    /// A frame of a run, encoded; none if there is no such run.
    pub fn frame(&self, run: usize, frame: usize) -> Option<Result<Vec<u8>, ViewerError>> {
        Some(self.0.get(run)?.with(|recording, _| frame::encode(recording, frame)))
    }

    /// What a frame of a run is, as it is opened now; none if there is no such run.
    pub fn key(&self, run: usize, frame: usize) -> Option<Result<Key, ViewerError>> {
        let key = |recording: &Recording, generation| {
            let (directory, frames) = (recording.directory().to_path_buf(), recording.frame_count());
            if frame < frames {
                Ok(Key { run, generation, frame })
            } else {
                Err(RecordingError::NoFrame { directory, frame, frames }.into())
            }
        };
        Some(self.0.get(run)?.with(key))
    }

    /// What the surfaces of a frame are made of; none if the run was opened anew meanwhile.
    ///
    /// # Errors
    /// [`ViewerError`]: the run or the frame cannot be read.
    pub fn surface_input(&self, key: Key) -> Result<Option<SurfaceInput>, ViewerError> {
        let Some(run) = self.0.get(key.run) else { return Ok(None) };
        run.with(|recording, generation| {
            if generation != key.generation {
                return Ok(None);
            }
            SurfaceInput::read(recording, key.frame).map(Some)
        })
    }
}

/// Last part of a path, for a run whose name cannot be read.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

impl Run {
    /// Lends the run as it is now.
    fn with<T>(
        &self,
        use_it: impl FnOnce(&Recording, u64) -> Result<T, ViewerError>,
    ) -> Result<T, ViewerError> {
        let poisoned = |_| ViewerError::Poisoned { run: self.path.clone() };
        let mut state = self.state.lock().map_err(poisoned)?;
        let stamp = stamp(&self.path);
        let is_stale = state.opened.as_ref().is_some_and(|opened| {
            // A run that went on and has ended gets its manifest by being read on.
            opened.recording.manifest().is_some() && opened.stamp != stamp
        });
        if is_stale {
            state.opened = None;
        }
        let opened = match state.opened.take() {
            Some(mut opened) => {
                opened.recording.refresh()?;
                Opened { stamp, ..opened }
            }
            None => {
                let recording = Recording::open(&self.path)?;
                state.generation += 1;
                Opened { recording, stamp }
            }
        };
        let generation = state.generation;
        let opened = state.opened.insert(opened);
        use_it(&opened.recording, generation)
    }
}

fn stamp(run: &Path) -> Stamp {
    let metadata = std::fs::metadata(run.join(MANIFEST)).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}
