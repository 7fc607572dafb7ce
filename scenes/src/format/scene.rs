//! The scene, and its settings of grid, contact, coupling and solver.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pliant_coupling::{AutoOr, ContactSettings, Coupling, CouplingStep, GridMotion, Transfer};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde::{Deserialize, Serialize};

use super::body::{BodySpec, RigidShape, yes};
use super::cloth::{ClothShape, ClothSpec};
use super::copies::Copies;
use super::drive::{Actuator, Constraint, Controller, Force};
use super::goal::Goal;
use super::limits;
use super::output::Output;
use super::rigid::{Rigid, RigidSolver};
use super::robot::Robot;
use super::rope::RopeSpec;
use super::sensor::Sensor;
use super::sighting::Sighting;
use super::soft::{Material, SoftBodySpec, SoftShape};
use super::task::Task;
/// The version of the scene format that this library reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A scene: bodies and materials, their motion, numerical settings and output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Scene {
    /// Version of this format: 1.
    #[serde(default = "schema_version")]
    pub schema_version: u32,
    /// Short name; it also names the run directory. Letters, digits, '-', '_' and '.'.
    pub name: String,
    /// Purpose of the scene, and which of its values were chosen freely.
    #[serde(default)]
    pub description: String,
    /// Simulated time [s].
    pub duration: f64,
    /// Time step of the world: bodies move and a row of diagnostics is written once per step [s].
    pub dt: f64,
    /// Number of substeps of the particles in a step [-]. "auto" is the smallest stable number.
    #[serde(default)]
    pub substeps: AutoOr<u32>,
    /// Gravity, world frame [m/s^2].
    #[serde(default = "earth")]
    pub gravity: [f64; 3],
    /// Grid spacing: distance between neighbouring grid nodes; required if there are soft bodies,
    /// cloths or ropes [m].
    #[serde(default)]
    pub grid_spacing: Option<f64>,
    /// How dynamic bodies are coupled to the particles.
    #[serde(default)]
    pub coupling: Coupling,
    /// Whether a step may be split into shorter coupling steps.
    #[serde(default)]
    pub coupling_step: CouplingStep,
    /// Whether the particles' grid moves with the scene.
    #[serde(default)]
    pub grid_motion: GridMotion,
    /// How particles add to the grid on a device; the processor refuses "atomic".
    #[serde(default)]
    pub transfer: Transfer,
    /// Contact between particles and bodies.
    #[serde(default)]
    pub contact: ContactSettings,
    /// Whether layers of cloth, and strands of ropes, are kept from passing through each other, on the
    /// processor; a device only counts crossings of cloth.
    #[serde(default = "yes")]
    pub layer_contact: bool,
    /// The convex solver.
    #[serde(default)]
    pub solver: Solver,
    /// Solver of contact between rigid bodies.
    #[serde(default)]
    pub rigid_solver: RigidSolver,
    /// Integrator of the rigid bodies, and contact between them.
    #[serde(default)]
    pub rigid: Rigid,
    /// Planes that bound the particles: boundary conditions of the grid.
    #[serde(default)]
    pub boundaries: Vec<Boundary>,
    /// Materials by name.
    #[serde(default)]
    pub materials: BTreeMap<String, Material>,
    /// Soft bodies.
    #[serde(default)]
    pub soft: Vec<SoftBodySpec>,
    /// Sheets of cloth.
    #[serde(default)]
    pub cloths: Vec<ClothSpec>,
    /// Ropes and cables, on the processor; a device refuses them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ropes: Vec<RopeSpec>,
    /// Rigid bodies.
    #[serde(default)]
    pub bodies: Vec<BodySpec>,
    /// Copies of the free bodies on a lattice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<Copies>,
    /// Robots, from model files.
    #[serde(default)]
    pub robots: Vec<Robot>,
    /// Motors in addition to those of the robots' files.
    #[serde(default)]
    pub actuators: Vec<Actuator>,
    /// External forces.
    #[serde(default)]
    pub forces: Vec<Force>,
    /// Holonomic constraints between bodies, in addition to joints.
    #[serde(default)]
    pub constraints: Vec<Constraint>,
    /// Controllers of bodies and robots.
    #[serde(default)]
    pub controllers: Vec<Controller>,
    /// Frames that are found on cloth during the run, for tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sightings: Vec<Sighting>,
    /// Tasks of robots.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// Sensors on bodies.
    #[serde(default)]
    pub sensors: Vec<Sensor>,
    /// Conditions by which a run is judged.
    #[serde(default)]
    pub goals: Vec<Goal>,
    /// Names of soft bodies, cloths, ropes, bodies and robots that may overlap others at the start,
    /// for instance in an interference fit.
    #[serde(default)]
    pub allow_overlap: Vec<String>,
    /// Bounds beyond which a scene is refused or a run fails.
    #[serde(default)]
    pub limits: Limits,
    /// Output of the run, and its pictures.
    #[serde(default)]
    pub output: Output,
    /// Seed of all random numbers: jitter of the sampling, velocities of copies.
    #[serde(default)]
    pub seed: u64,
}

impl Scene {
    /// The files that the scene names: meshes and models.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let soft = self.soft.iter_mut().filter_map(|soft| match &mut soft.shape {
            SoftShape::Mesh { file, .. } => Some(file),
            _ => None,
        });
        let cloths = self.cloths.iter_mut().filter_map(|cloth| match &mut cloth.shape {
            ClothShape::Mesh { file, .. } => Some(file),
            _ => None,
        });
        let robots = self.robots.iter_mut().filter_map(|robot| robot.file.as_mut());
        let geometries = self.bodies.iter_mut().flat_map(|body| &mut body.geometries);
        let shapes = geometries.filter_map(|geometry| match &mut geometry.shape {
            RigidShape::Mesh { file, .. } => Some(file),
            _ => None,
        });
        soft.chain(cloths).chain(robots).chain(shapes)
    }

    /// An empty scene of this name, duration and step `dt` [s].
    pub fn empty(name: &str, duration: f64, dt: f64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            name: name.to_owned(),
            description: String::new(),
            duration,
            dt,
            substeps: AutoOr::Auto,
            gravity: earth(),
            grid_spacing: None,
            coupling: Coupling::default(),
            coupling_step: CouplingStep::default(),
            grid_motion: GridMotion::default(),
            transfer: Transfer::default(),
            contact: ContactSettings::default(),
            layer_contact: yes(),
            solver: Solver::default(),
            rigid_solver: RigidSolver::default(),
            rigid: Rigid::default(),
            boundaries: Vec::new(),
            materials: BTreeMap::new(),
            soft: Vec::new(),
            cloths: Vec::new(),
            ropes: Vec::new(),
            bodies: Vec::new(),
            copies: None,
            robots: Vec::new(),
            actuators: Vec::new(),
            forces: Vec::new(),
            constraints: Vec::new(),
            controllers: Vec::new(),
            sightings: Vec::new(),
            tasks: Vec::new(),
            sensors: Vec::new(),
            goals: Vec::new(),
            allow_overlap: Vec::new(),
            limits: Limits::default(),
            output: Output::default(),
            seed: 0,
        }
    }
}

/// Settings of the convex contact solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Search direction. "auto" is the library's default.
    pub direction: Direction,
    /// Relative tolerance eps_r of the stopping rule [-].
    pub relative_tolerance: f64,
    /// Absolute tolerance eps_a of the stopping rule, on the mass-weighted gradient [sqrt(J)].
    pub absolute_tolerance: f64,
    /// Largest number of iterations in a substep [-].
    pub max_iterations: u32,
    /// Largest number of conjugate-gradient iterations within one Newton iteration [-].
    pub max_inner_iterations: u32,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            direction: Direction::Auto,
            relative_tolerance: 1e-3,
            absolute_tolerance: 16.0 * f64::EPSILON,
            max_iterations: 1000,
            max_inner_iterations: 500,
        }
    }
}

/// Bounds beyond which a scene is refused or a run fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Largest allowed energy gain of the scheme, relative to the energy input: the largest rise of
    /// the imbalance of particles, bodies or both, over the initial energy, the released potential
    /// energy and the work. Without a value a run above 0.05 only gets a warning [-].
    pub energy_gain: Option<f64>,
    /// Largest memory that a run is estimated to need; null for that of the machine [bytes].
    pub memory: Option<u64>,
    /// Most steps of a run [-].
    pub steps: u64,
    /// Most substeps of a run, in all its steps [-]. Those of `substeps` "auto" are the fewest that
    /// are stable at the start.
    pub substeps: u64,
    /// Most steps of the bodies in a run, by `rigid.integrator` [-]. Those with error control are
    /// the fewest that it may take.
    pub rigid_steps: u64,
    /// Largest predicted wall time of the steps; null for none [s].
    pub wall_time: Option<f64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            energy_gain: None,
            memory: None,
            steps: 10_000_000,
            substeps: 100_000_000,
            rigid_steps: 100_000_000,
            wall_time: None,
        }
    }
}

/// Search directions of the convex solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The library's default.
    Auto,
    /// The 3x3 diagonal blocks of the Hessian.
    Block,
    /// The lumped blocks, which majorise the Hessian.
    LumpedBlock,
    /// L-BFGS (eight pairs) with the blocks as its first matrix.
    Lbfgs,
    /// Newton direction, by conjugate gradients with the block preconditioner.
    NewtonCg,
    /// Newton, by factorisation over the touched nodes.
    NewtonFactorised,
}

/// A plane that bounds the particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Boundary {
    /// A point on the plane, world frame [m].
    pub point: [f64; 3],
    /// Direction into the domain, world frame; its length does not matter [-].
    pub normal: [f64; 3],
    /// Condition on the grid nodes behind the plane.
    pub kind: BoundaryKind,
}

/// Condition on the grid nodes on and behind a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BoundaryKind {
    /// Velocity zero.
    Sticky {},
    /// Nodes do not move out of the domain, and slide freely.
    Slip {},
    /// Nodes do not move out of the domain, and slide with Coulomb friction.
    Frictional {
        /// Friction coefficient [-].
        friction: f64,
    },
}

/// The JSON Schema (draft 2020-12) of a scene, with the limits of every count, list and text.
pub fn schema() -> serde_json::Value {
    /// Descriptions are wrapped comments, some with brackets that are escaped for rustdoc; each
    /// becomes one line of plain text.
    fn unwrap(schema: &mut schemars::Schema) {
        if let Some(serde_json::Value::String(text)) = schema.get_mut("description") {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            *text = text.replace("\\[", "[").replace("\\]", "]");
        }
    }
    let settings = SchemaSettings::default().with_transform(RecursiveTransform(unwrap));
    let mut schema = settings.into_generator().into_root_schema_for::<Scene>().to_value();
    limits::write(&mut schema);
    schema
}

fn schema_version() -> u32 {
    SCHEMA_VERSION
}

fn earth() -> [f64; 3] {
    [0.0, 0.0, -9.81]
}
