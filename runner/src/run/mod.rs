//! Runs a scene and writes its run directory.
//!
//! The directory holds `manifest.json`, `diagnostics.csv` (one row per step), `bodies.csv` (one row
//! per frame and body), `frames.csv` (one row per frame), `frames/*.ply`, `preview.png`, `preview.gif` and `checkpoint/`. With
//! tactile pads also `sensors.csv` (one row per frame and pad) and in `tactile/` each pad's
//! `NAME.csv` (one row per frame and bin), `NAME.png` and `NAME.gif`. With forces `forces.csv` (one
//! row per step and body) and `plots/*.svg`. It is complete or absent: see [`directory`].

pub(crate) mod checkpoint;
pub mod directory;
mod error;
mod frames;
mod goals;
mod histogram;
mod observe;
mod options;
mod outputs;
pub mod pictures;
mod simulate;
mod stages;
mod statistics;

pub use directory::{FinishedDirectory, RunDirectory, check};
pub use error::RunError;
pub(crate) use frames::FrameWriter;
pub use goals::{GoalMonitor, WorstMeasurement};
pub use options::{CHECKPOINT_INTERVAL, Progress, RunOptions, Stage, StopSignal, Summary};
pub(crate) use simulate::is_same_run;
pub use statistics::{DEEP_PENETRATION, Statistics, StepFigures};

pub use crate::record::{
    BODIES, BodyRow, ClothSummary, ClothWatch, Conservation, CouplingSummary, DIAGNOSTICS,
    ENERGY_GAIN_WARNING, FORCES, FRAME_LIST, FRAMES, ForceRow, FrameRow, GoalResult, JOINTS, JointRow,
    MANIFEST, Manifest, MeanMax, MsPerStep, Number, PadFrame, ROBOT_SENSORS, RigidSummary, SENSORS,
    SolverSummary, Status, TACTILE, Wrench, energy_figures, energy_warning, force_bodies, frame_path,
    hull_folder, pad_path, read_bodies, read_forces, read_frame_list, read_joints, read_pad,
};
use pliant_scenes::scenario::Scenario;

/// Runs a prepared scene to its end and writes the run directory.
///
/// A diverged run is not an error here: its manifest says `failed`, and the frames before it are
/// kept.
///
/// # Errors
/// [`RunError`]; a new run then leaves nothing behind but, with a checkpoint, the unfinished
/// directory.
pub fn run(scenario: Scenario, options: RunOptions) -> Result<Summary, RunError> {
    match options.threads {
        None => stages::run(scenario, options),
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| RunError::Threads { threads, reason: e.to_string() })?
            .install(|| stages::run(scenario, options)),
    }
}

#[cfg(test)]
mod tests {

    /// Some material.
    pub(super) fn material() -> pliant_mpm::Material {
        let scene = pliant_scenes::format::parse_scene(
            r#"{ "name": "m", "duration": 0.5, "dt": 0.01, "substeps": 1, "grid_spacing": 0.1,
                "materials": { "m": { "model": "fixed-corotated", "density": 1000, "youngs_modulus": 1e3, "poissons_ratio": 0 } },
                "soft": [{ "name": "s", "shape": { "type": "box", "half_extents": [0.05, 0.05, 0.05] }, "material": "m",
                    "sampling": { "counts": [2, 2, 2] } }] }"#,
        );
        pliant_scenes::assemble::assemble(&scene.unwrap(), None).unwrap().materials.remove(0)
    }
}
