//! The scene, and its settings of grid, contact, coupling and solver.

use std::collections::BTreeMap;

use pliant_coupling::{AutoOr, ContactSettings, Coupling, CouplingStep, GridMotion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::BodySpec;
use super::cloth::ClothSpec;
use super::copies::Copies;
use super::drive::{Actuator, Constraint, Controller, Force};
use super::goal::Goal;
use super::output::Output;
use super::rigid::{Rigid, RigidSolver};
use super::robot::Robot;
use super::sensor::Sensor;
use super::soft::{Material, SoftBodySpec};
use super::task::Task;
/// The version of the scene format that this library reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A scene: what there is, how it moves, how it is computed and what is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of this format: 1.
    #[serde(default = "schema_version")]
    pub schema_version: u32,
    /// Short name; it also names the run directory. Letters, digits, '-', '_' and '.'.
    pub name: String,
    /// What the scene shows, and which of its figures were chosen freely.
    #[serde(default)]
    pub description: String,
    /// Simulated time [s].
    pub duration: f64,
    /// Time step: how often bodies move and a row of diagnostics is written [s].
    pub dt: f64,
    /// Substeps of the particles in a step [-]. "auto" takes the fewest that are stable.
    #[serde(default)]
    pub substeps: AutoOr<u32>,
    /// Gravity, world frame [m/s^2].
    #[serde(default = "earth")]
    pub gravity: [f64; 3],
    /// Distance between the nodes of the particles' grid; needed where there are soft bodies [m].
    #[serde(default)]
    pub grid_spacing: Option<f64>,
    /// How bodies that forces move are coupled to the particles.
    #[serde(default)]
    pub coupling: Coupling,
    /// Whether a step may be split where bodies and particles must hear of each other sooner.
    #[serde(default)]
    pub coupling_step: CouplingStep,
    /// Whether the particles' grid moves with the scene.
    #[serde(default)]
    pub grid_motion: GridMotion,
    /// Contact between particles and bodies.
    #[serde(default)]
    pub contact: ContactSettings,
    /// The convex solver.
    #[serde(default)]
    pub solver: Solver,
    /// What solves contact between rigid bodies.
    #[serde(default)]
    pub rigid_solver: RigidSolver,
    /// How rigid bodies step, and contact between them.
    #[serde(default)]
    pub rigid: Rigid,
    /// Planes that bound the particles, as conditions on grid nodes.
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
    /// Rigid bodies.
    #[serde(default)]
    pub bodies: Vec<BodySpec>,
    /// Copies of the free bodies, side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<Copies>,
    /// Robots, from model files.
    #[serde(default)]
    pub robots: Vec<Robot>,
    /// Motors besides those of the robots' files.
    #[serde(default)]
    pub actuators: Vec<Actuator>,
    /// Forces from outside.
    #[serde(default)]
    pub forces: Vec<Force>,
    /// What holds bodies to each other besides joints.
    #[serde(default)]
    pub constraints: Vec<Constraint>,
    /// What puts forces on bodies from what it sees of them.
    #[serde(default)]
    pub controllers: Vec<Controller>,
    /// What robots are to do.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// What measures on bodies.
    #[serde(default)]
    pub sensors: Vec<Sensor>,
    /// Conditions by which a run is judged.
    #[serde(default)]
    pub goals: Vec<Goal>,
    /// Names of soft bodies, cloths, bodies and robots that may start inside others, such as an interference fit.
    #[serde(default)]
    pub allow_overlap: Vec<String>,
    /// Bounds beyond which a run fails.
    #[serde(default)]
    pub limits: Limits,
    /// What is written while the scene runs, and how it is drawn.
    #[serde(default)]
    pub output: Output,
    /// Seed of everything random: the jitter of the sampling.
    #[serde(default)]
    pub seed: u64,
}

impl Scene {
    /// A scene of this name with nothing in it, that lasts for `duration` and steps by `dt` [s].
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
            contact: ContactSettings::default(),
            solver: Solver::default(),
            rigid_solver: RigidSolver::default(),
            rigid: Rigid::default(),
            boundaries: Vec::new(),
            materials: BTreeMap::new(),
            soft: Vec::new(),
            cloths: Vec::new(),
            bodies: Vec::new(),
            copies: None,
            robots: Vec::new(),
            actuators: Vec::new(),
            forces: Vec::new(),
            constraints: Vec::new(),
            controllers: Vec::new(),
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
    /// Search direction. "auto" is the library's default, the one that was measured fastest to tolerance.
    pub direction: Direction,
    /// Relative tolerance eps_r of the stopping rule [-].
    pub relative_tolerance: f64,
    /// Absolute tolerance eps_a of the stopping rule, on the mass-weighted gradient [sqrt(J)].
    pub absolute_tolerance: f64,
    /// Most iterations in a substep [-].
    pub max_iterations: u32,
    /// Most conjugate-gradient products in an iteration of the directions that use them [-].
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

/// Bounds beyond which a run fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Largest energy that may come from nowhere, relative to what was put in: the largest rise of the imbalance of particles, bodies or
    /// both against energy at the start, released weight and work. Without a bound a run that exceeds 0.05 is only warned of [-].
    pub energy_gain: Option<f64>,
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
    /// Newton, by conjugate gradients preconditioned with the blocks.
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
    /// What happens to the grid nodes behind the plane.
    pub kind: BoundaryKind,
}

/// What a boundary does to the grid nodes on and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BoundaryKind {
    /// They stand still.
    Sticky {},
    /// They do not move out of the domain, and slide freely.
    Slip {},
    /// They do not move out of the domain, and slide with Coulomb friction.
    Frictional {
        /// Friction coefficient [-].
        friction: f64,
    },
}

/// The JSON Schema (draft 2020-12) of a scene.
pub fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Scene).to_value();
    unescape_brackets(&mut schema);
    schema
}

/// Descriptions are documentation comments, some with brackets that are escaped for rustdoc.
fn unescape_brackets(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::String(text) if text.contains('\\') => {
            *text = text.replace("\\[", "[").replace("\\]", "]");
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(unescape_brackets),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(unescape_brackets),
        _ => {}
    }
}

fn schema_version() -> u32 {
    SCHEMA_VERSION
}

fn earth() -> [f64; 3] {
    [0.0, 0.0, -9.81]
}
