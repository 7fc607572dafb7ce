//! `manifest.json`: scene, machine, speed and quality of a run.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cloth::ClothSummary;
use super::inputs::InputFile;
use super::paths::check_names;
use pliant_io::digest::{FileDigest, Hasher};
use pliant_io::files::{IoError, atomic_write};
use pliant_mpm::cloth::LayerReport;
use pliant_mpm::rope::StrandReport;
use pliant_scenes::format::{CouplingStep, Scene};

/// Name of the manifest in a run directory.
pub const MANIFEST: &str = "manifest.json";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The whole duration was simulated.
    Completed,
    /// It stopped at an error; the frames before it are kept.
    Failed,
    /// It was interrupted; it can be continued.
    Interrupted,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        })
    }
}

/// A number in JSON; a value that is not finite (after a failure, for instance) is null.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.serialize_none() }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN)))
    }
}

/// How far the pictures of a run are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pictures {
    /// None are wanted.
    #[default]
    Off,
    /// They are still to be drawn: `--resume` does so.
    Pending,
    /// They are drawn.
    Drawn,
}

/// Wall time of a step \[ms\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MsPerStep {
    /// Median \[ms\].
    pub median: Number,
    /// 95th percentile \[ms\].
    pub p95: Number,
    /// Mean \[ms\].
    pub mean: Number,
}

/// Mean and maximum of a count over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanMax {
    /// Mean \[-\].
    pub mean: Number,
    /// Maximum \[-\].
    pub max: u64,
}

/// Statistics of the contact solver, over the substeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverSummary {
    /// Mean iterations of a substep \[-\].
    pub iterations_mean: Number,
    /// Most iterations of a substep \[-\].
    pub iterations_max: u64,
    /// Substeps that did not reach the tolerance \[-\].
    pub not_converged: u64,
}

/// Contact between layers of cloth, over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerSummary {
    /// Contacts with impulses \[-\].
    pub contacts: u64,
    /// Vertices that had to move rigidly with others \[-\].
    pub rigid_vertices: u64,
    /// Contacts through which pins forced the layers \[-\].
    pub unresolved: u64,
    /// Vertices of layers that crossed at the start of a step, most of all steps \[-\].
    pub crossed_vertices: u64,
}

impl LayerSummary {
    /// Counts a step.
    pub(crate) fn add(&mut self, step: &LayerReport) {
        self.contacts += step.contacts as u64;
        self.rigid_vertices += step.rigid as u64;
        self.unresolved += step.unresolved as u64;
        self.crossed_vertices = self.crossed_vertices.max(step.crossed as u64);
    }

    /// The warning of layers that may have passed through each other.
    pub(crate) fn warning(&self) -> Option<String> {
        let Self { unresolved, crossed_vertices, .. } = *self;
        if unresolved > 0 {
            return Some(format!(
                "cloth: {unresolved} contacts between layers could not be kept apart, because pins hold their \
                 vertices: layers may have passed through each other; move the pins apart or slower"
            ));
        }
        (crossed_vertices > 0).then(|| {
            format!(
                "cloth: layers crossed at the start of a step, up to {crossed_vertices} vertices of them: there \
                 they may pass through each other"
            )
        })
    }
}

/// Contact between strands of ropes, over the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrandSummary {
    /// Contacts with impulses, all substeps together \[-\].
    pub contacts: u64,
    /// Vertices that had to move rigidly with others \[-\].
    pub rigid_vertices: u64,
    /// Pairs of segments that pins forced through each other \[-\].
    pub unresolved: u64,
    /// Pairs of segments nearer than the sum of their radii by more than a hundredth of it, most in a substep
    /// \[-\].
    pub overlapping: u64,
    /// Largest part of the sum of the radii that was missing in a distance \[-\].
    pub overlap: Number,
}

impl StrandSummary {
    /// Counts a step.
    pub(crate) fn add(&mut self, step: &StrandReport) {
        self.contacts += step.contacts as u64;
        self.rigid_vertices += step.rigid as u64;
        self.unresolved += step.unresolved as u64;
        self.overlapping = self.overlapping.max(step.overlapping as u64);
        self.overlap = Number(self.overlap.0.max(step.overlap));
    }

    /// The warning of strands that may have passed through each other, or that were too near.
    pub(crate) fn warning(&self) -> Option<String> {
        let Self { unresolved, overlapping, overlap: Number(overlap), .. } = *self;
        if unresolved > 0 {
            return Some(format!(
                "ropes: {unresolved} pairs of segments could not be kept apart, because pins hold their \
                 vertices: ropes may have passed through each other; move the pins apart or slower"
            ));
        }
        (overlapping > 0).then(|| {
            format!(
                "ropes: up to {overlapping} pairs of segments were nearer than the sum of their radii, by up to \
                 {:.0} % of it: they are pushed apart slowly; let ropes start apart",
                100.0 * overlap
            )
        })
    }
}

/// Number of coupling steps
/// ([`StepReport::coupling_steps`](pliant_coupling::StepReport::coupling_steps)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CouplingSummary {
    /// Coupling steps \[-\].
    pub steps: u64,
    /// Steps that were split into several \[-\].
    pub split: u64,
    /// Steps with a coupling step that was longer than the scheme resolves \[-\].
    pub too_long: u64,
    /// Largest ratio of a coupling step to the longest that the scheme resolves \[-\].
    pub worst: Number,
}

impl CouplingSummary {
    /// Counts a step with this number of coupling steps; `excess` is the largest ratio of one to
    /// the longest that the scheme resolves.
    pub(crate) fn add(&mut self, steps: u32, excess: f64) {
        self.steps += u64::from(steps);
        self.split += u64::from(steps > 1);
        self.too_long += u64::from(excess > 1.0);
        self.worst.0 = self.worst.0.max(excess);
    }

    /// The warning of coupling steps that were too long.
    pub(crate) fn warning(&self, asked: CouplingStep) -> Option<String> {
        let cure = match asked {
            CouplingStep::Fixed => "use a smaller dt or coupling_step auto",
            CouplingStep::Auto => "use a smaller dt",
        };
        (self.too_long > 0).then(|| {
            format!(
                "coupling: in {} steps the relative motion of bodies and particles, or the \
                 deceleration of bodies, was up to {:.1} times the largest that one coupling step \
                 resolves; {cure}; the forces between them are not reliable",
                self.too_long, self.worst.0
            )
        })
    }
}

/// Statistics of the bodies: their own steps, contacts among them, convex problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigidSummary {
    /// Steps of the bodies; with error control the integrator chooses them \[-\].
    pub steps: u64,
    /// Rejected steps \[-\].
    pub rejected: u64,
    /// Largest number of contacts among bodies within a step: mean over the steps, and maximum
    /// \[-\].
    pub contacts: MeanMax,
    /// Convex problems solved \[-\].
    pub solves: u64,
    /// Newton iterations of a problem, mean \[-\].
    pub iterations_mean: Number,
    /// Factorisations of Hessians \[-\].
    pub factorisations: u64,
    /// Problems solved once more for friction \[-\].
    pub refreshed: u64,
    /// Closed-form solves that are not reliable \[-\].
    #[serde(default)]
    #[serde(rename = "doubtful")]
    pub unreliable: u64,
}

/// Relative errors of the balances at the end, with external impulses and work counted \[-\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conservation {
    /// Mass \[-\].
    pub mass: Number,
    /// Linear momentum \[-\].
    pub linear_momentum: Number,
    /// Angular momentum \[-\].
    pub angular_momentum: Number,
    /// Largest energy gain by the scheme, of particles, bodies or both, relative to the energy
    /// input \[-\].
    pub energy: Number,
}

/// `manifest.json` of a run directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this file's layout: 2. Version 1 has no checksums.
    pub schema_version: u32,
    /// How the run ended.
    pub status: Status,
    /// Why it failed, or null.
    pub error: Option<String>,
    /// The scene that ran, with all defaults and changes.
    pub scene: Scene,
    /// Seed of all random numbers.
    pub seed: u64,
    /// `cpu`, `cuda` or `cuda-emulated`.
    pub backend: String,
    /// Name of the processor or GPU.
    pub device: String,
    /// Threads used \[-\].
    pub threads: usize,
    /// Version of Pliant.
    pub version: String,
    /// Commit of Pliant.
    pub git_commit: String,
    /// Wall time of the simulation, without pictures \[s\].
    pub wall_s: Number,
    /// Simulated time \[s\].
    pub sim_s: Number,
    /// Steps \[-\].
    pub steps: u64,
    /// Substeps of a step, at the end of the run \[-\].
    pub substeps: u32,
    /// Simulated time over wall time \[-\].
    pub real_time_rate: Number,
    /// Particles \[-\].
    pub particles: usize,
    /// Particles of each soft body \[-\], in the order of the scene and of the particles in frames;
    /// those of cloth follow. Empty: not written down.
    #[serde(default)]
    pub soft_particles: Vec<usize>,
    /// Wall time of a step \[ms\].
    pub ms_per_step: MsPerStep,
    /// Grid nodes with mass \[-\].
    pub grid_nodes: MeanMax,
    /// Contacts in a substep \[-\].
    pub contacts: MeanMax,
    /// The contact solver.
    pub solver: SolverSummary,
    /// Coupling steps.
    #[serde(default)]
    pub coupling: CouplingSummary,
    /// Names of the bodies that are coupled strongly to the particles.
    #[serde(default)]
    pub strongly_coupled: Vec<String>,
    /// The bodies' own steps.
    #[serde(default)]
    pub rigid: RigidSummary,
    /// Contact between layers of cloth; absent without cloth, and where layers are not kept apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<LayerSummary>,
    /// Contact between strands of ropes; absent without ropes, and where they are not kept apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strands: Option<StrandSummary>,
    /// Crossings of cloth; absent without cloth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloth: Option<ClothSummary>,
    /// Warnings: parts of robots' files that are approximated or left out, and results that are not
    /// reliable, one line each.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Relative errors of the balances; null if there is nothing to measure.
    pub conservation: Conservation,
    /// The terms of the energy balance at the end, by the names of the columns of
    /// `diagnostics.csv`; absent if not measured \[J\].
    #[serde(default)]
    pub energy: BTreeMap<String, Number>,
    /// Results of the scene's goals, in their order.
    #[serde(default)]
    pub goals: Vec<GoalResult>,
    /// Frames in `frames/` \[-\].
    pub frames: usize,
    /// Tables, plots and pictures, as paths in the run directory.
    #[serde(default)]
    pub files: Vec<String>,
    /// How far the pictures are.
    #[serde(default)]
    pub pictures: Pictures,
    /// The files that the scene was made of: models and meshes.
    #[serde(default)]
    pub inputs: Vec<InputFile>,
    /// Length and SHA-256 of every table and picture, by its path in the run directory. Those of the
    /// frames are in `frames.csv`.
    #[serde(default)]
    pub digests: BTreeMap<String, FileDigest>,
    /// The checkpoints, as paths in the run directory; each has checksums of its own.
    #[serde(default)]
    pub checkpoints: Vec<String>,
    /// SHA-256 of this file, with 64 zeros in this place.
    #[serde(default)]
    pub manifest_sha256: String,
}

impl Manifest {
    /// Goals that were met, and all of them.
    pub fn goals_met(&self) -> (usize, usize) {
        (self.goals.iter().filter(|goal| goal.met == Some(true)).count(), self.goals.len())
    }

    /// Writes `manifest.json` into `directory`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, directory: &Path) -> Result<(), IoError> {
        let path = directory.join(MANIFEST);
        self.manifest_sha256 = NO_DIGEST.to_owned();
        let text = serde_json::to_string_pretty(self).map_err(|e| IoError::file("write", &path, e.into()))?;
        let text = text + "\n";
        self.manifest_sha256 = sha256(&text);
        // It is the last field.
        let (before, after) = text.rsplit_once(NO_DIGEST).unwrap_or((&text, ""));
        atomic_write(&path, |file| write!(file, "{before}{}{after}", self.manifest_sha256))
    }

    /// Reads `manifest.json` of `directory`.
    ///
    /// # Errors
    /// It is missing, is not a manifest, does not match its own SHA-256, or names files elsewhere.
    pub fn read(directory: &Path) -> Result<Self, IoError> {
        let path = directory.join(MANIFEST);
        let text = std::fs::read_to_string(&path).map_err(|e| IoError::file("read", &path, e))?;
        let malformed = |reason: String| IoError::Malformed { path: path.clone(), reason };
        let manifest: Self = serde_json::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        if manifest.schema_version > 1 {
            let written = &manifest.manifest_sha256;
            let zeroed = text.rsplit_once(written.as_str()).map(|(a, b)| format!("{a}{NO_DIGEST}{b}"));
            if written.len() != NO_DIGEST.len() || zeroed.is_none_or(|text| sha256(&text) != *written) {
                return Err(malformed(
                    "it does not match its own SHA-256: it was damaged or edited".to_owned(),
                ));
            }
        }
        check_names(manifest.digests.keys().chain(&manifest.checkpoints)).map_err(malformed)?;
        Ok(manifest)
    }
}

/// Stands for the manifest's digest while that is computed.
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn sha256(text: &str) -> String {
    let mut hasher = Hasher::default();
    hasher.update(text.as_bytes());
    hasher.digest().sha256
}

/// Writes a value as indented JSON, complete or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), IoError> {
    atomic_write(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        file.write_all(b"\n")
    })
}

/// Reads a JSON file.
pub(crate) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, IoError> {
    let text = std::fs::read_to_string(path).map_err(|e| IoError::file("read", path, e))?;
    serde_json::from_str(&text).map_err(|e| IoError::malformed(path, e))
}

/// Result of a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalResult {
    /// Name of the goal.
    pub name: String,
    /// Whether it held at every step of its span; null if the run was stopped or cut short before
    /// the span's end, and it held until then.
    pub met: Option<bool>,
    /// The value nearest to a bound, or farthest beyond one; null if it was never measured or was
    /// NaN.
    pub worst: Number,
    /// Time of that measurement \[s\]; null if there was none.
    pub time: Number,
    /// Unit of the value.
    pub unit: String,
}
