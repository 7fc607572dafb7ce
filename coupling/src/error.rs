//! Errors of building and stepping a world.

use nalgebra::Vector3;
use pliant_mpm::MpmError;
use pliant_mpm::cloth::PinError;
use pliant_mpm::material::MaterialError;
use pliant_rigid::RigidError;
use pliant_rigid::simulation::SimulationError;

use crate::backend::BackendError;
use crate::convex::SettingsError;
use crate::settings::MOST_SUBSTEPS;

/// A step that would need more than [`MOST_SUBSTEPS`] substeps to be stable.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{:.3e} substeps of {largest:.3e} s would be needed for {coupling_step:.3e} s, more than {MOST_SUBSTEPS}; {}",
    coupling_step / largest,
    self.cause_and_cure()
)]
pub struct TooManySubsteps {
    /// Length of the step, or of the coupling step \[s\].
    pub coupling_step: f64,
    /// Largest stable substep \[s\].
    pub largest: f64,
    /// Largest substep that were stable if nothing moved or were deformed \[s\].
    pub at_rest: f64,
}

impl TooManySubsteps {
    fn cause_and_cure(&self) -> String {
        let materials = self.coupling_step / self.at_rest <= f64::from(MOST_SUBSTEPS);
        if materials && !self.largest.is_nan() {
            format!(
                "cause: speeds of particles or bodies, or the stretch of the material, for at rest {:.3e} s are \
                 stable; lower them, or use a smaller dt",
                self.at_rest
            )
        } else {
            "cause: the waves of the materials cross a cell of the grid so fast; use a smaller dt, a larger \
             grid_spacing, a higher density or a lower Young's modulus, for cloth and ropes also lower \
             stiffnesses (normal_stiffness, shear_stiffness, bending_stiffness, that of a weave or a twist)"
                .to_owned()
        }
    }
}

/// A world that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A setting is out of its range.
    #[error("{field}: {value} {unit} must be {requirement}")]
    Setting {
        /// Name of the setting.
        field: &'static str,
        /// The value given.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// The explicit elastic step is unstable with this many substeps.
    #[error(
        "substeps: {substeps} substeps of {substep:.3e} s are unstable for these materials on this grid; \
         the largest stable substep is {largest:.3e} s, which takes {needed} substeps"
    )]
    UnstableSubsteps {
        /// Substeps asked for.
        substeps: u32,
        /// Their length \[s\].
        substep: f64,
        /// Largest stable substep \[s\].
        largest: f64,
        /// Number of substeps that is stable.
        needed: u32,
    },
    /// Stability asks for more substeps than are taken.
    #[error("substeps: {0}")]
    TooManySubsteps(#[from] TooManySubsteps),
    /// A contact so stiff that double precision does not resolve it within a substep.
    #[error(
        "contact.stiffness: {stiffness:.3e} N/m on a particle of {mass:.3e} kg is {number:.1e} \
         times the near-rigid stiffness for a substep of {substep:.3e} s; use at most \
         {largest:.3e} N/m, \"auto\", or a smaller substep"
    )]
    TooStiff {
        /// Stiffness given \[N/m\].
        stiffness: f64,
        /// Lightest particle \[kg\].
        mass: f64,
        /// Longest substep \[s\].
        substep: f64,
        /// Its stiffness number `substep^2 k / m_p` against the near-rigid one.
        number: f64,
        /// Largest stiffness that is allowed \[N/m\].
        largest: f64,
    },
    /// A particle set's lists have different lengths.
    #[error(
        "particles: {positions} positions, {velocities} velocities and {volumes} volumes: the \
         counts must be equal"
    )]
    ParticleLists {
        /// Positions given.
        positions: usize,
        /// Velocities given.
        velocities: usize,
        /// Volumes given.
        volumes: usize,
    },
    /// Particles start inside a body or behind a plane.
    #[error(
        "{part} starts {depth:.4e} m inside {body}, deepest at particle {particle} at ({:.4}, \
         {:.4}, {:.4}) m ({count} particles are inside); at most {limit:.1e} m is allowed: move \
         one of them by that depth, or name it in allow_overlap",
        position.x, position.y, position.z
    )]
    Overlap {
        /// Name under which the particles were added.
        part: String,
        /// What they start inside.
        body: String,
        /// Particles deeper than the limit.
        count: usize,
        /// Index of the deepest particle within the part.
        particle: usize,
        /// Its depth: that of its contact sphere in a body, of its centre behind a plane \[m\].
        depth: f64,
        /// Where its centre is \[m\].
        position: Vector3<f64>,
        /// Allowed depth \[m\].
        limit: f64,
    },
    /// A value of a sensor is out of its range.
    #[error("sensor `{name}`: {field}: {value} {unit} {requirement}")]
    Sensor {
        /// Name of the sensor.
        name: String,
        /// Name of the field.
        field: &'static str,
        /// The value given.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// The world has neither particles nor bodies.
    #[error("a world needs particles or bodies")]
    Empty,
    /// A material is invalid.
    #[error("materials[{index}]: {source}")]
    Material {
        /// Its index.
        index: usize,
        /// What is wrong.
        source: MaterialError,
    },
    /// The solver's settings are invalid.
    #[error("solver: {0}")]
    Solver(#[from] SettingsError),
    /// The particles are invalid.
    #[error(transparent)]
    Mpm(#[from] MpmError),
    /// A body is invalid.
    #[error(transparent)]
    Rigid(#[from] RigidError),
}

/// The error of bodies that could not finish their part of a step from `time` \[s\].
pub(crate) fn of_bodies(step: u64, time: f64, error: RigidError) -> StepError {
    match error {
        RigidError::Simulation(SimulationError::Stopped { time }) => StepError::Stopped { step, time },
        error => StepError::Rigid { step, time, source: Box::new(error) },
    }
}

/// A world that has no branch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
    /// Its state is that of a step that was not finished.
    #[error("branch: the world failed before: {cause}; restore a state of before, or build it again")]
    Failed {
        /// The first failure.
        cause: String,
    },
    /// Its particles are on a device.
    #[error(
        "branch: the particles are on the {backend} backend, which cannot be copied; save the state and \
         read it in a second world"
    )]
    Backend {
        /// Name of the backend.
        backend: &'static str,
    },
}

/// Pins or particles that could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Its state is that of a step that was not finished.
    #[error("the world failed before: {cause}; restore a state of before, or build it again")]
    Failed {
        /// The first failure.
        cause: String,
    },
    /// No such sheet or vertex, or a value out of range.
    #[error("pin: {0}")]
    Pin(#[from] PinError),
    /// States of particles that the model does not take.
    #[error("particles: {0}")]
    Particles(#[from] MpmError),
    /// The device that has the particles failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The contacts that the device had do not fit the world.
    #[error("the contacts of the device cannot be used: {reason}")]
    Cache {
        /// Why.
        reason: &'static str,
    },
}

/// A step that could not be finished. The world is not to be stepped further.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A particle was lost: its position is not a number, or it flew two cells in one substep.
    #[error(
        "step {step}, substep {substep_index} (t = {time:.6} s): particle {particle} was lost at \
         ({:.4}, {:.4}, {:.4}) m with velocity ({:.3e}, {:.3e}, {:.3e}) m/s; likely cause: {cause}",
        position.x, position.y, position.z, velocity.x, velocity.y, velocity.z
    )]
    BlewUp {
        /// Step, from 0.
        step: u64,
        /// Substep within it, from 0.
        substep_index: u32,
        /// Time at the start of the substep \[s\].
        time: f64,
        /// The order in which the particle was added.
        particle: u32,
        /// Where it was \[m\].
        position: Vector3<f64>,
        /// Its velocity \[m/s\].
        velocity: Vector3<f64>,
        /// Probable cause.
        cause: String,
    },
    /// The contact problem held a number that is not finite.
    #[error(
        "step {step}, substep {substep_index} (t = {time:.6} s): the contact problem is not finite ({reason})"
    )]
    ContactNotFinite {
        /// Step, from 0.
        step: u64,
        /// Substep within it, from 0.
        substep_index: u32,
        /// Time at the start of the substep \[s\].
        time: f64,
        /// What is wrong with it.
        reason: String,
    },
    /// The bodies' step failed.
    #[error("step {step} (t = {time:.6} s): {source}")]
    Rigid {
        /// Step, from 0.
        step: u64,
        /// Time at its start \[s\].
        time: f64,
        /// What is wrong.
        source: Box<RigidError>,
    },
    /// Stability asks for more substeps than are taken.
    #[error("step {step} (t = {time:.6} s): {source}")]
    TooManySubsteps {
        /// Step, from 0.
        step: u64,
        /// Time at the start of the coupling step \[s\].
        time: f64,
        /// How many, and why.
        source: TooManySubsteps,
    },
    /// The inputs of the motors could not be found; nothing was stepped.
    #[error("t = {time:.6} s: {reason}")]
    Motors {
        /// Time at the start of the step \[s\].
        time: f64,
        /// What is wrong.
        reason: String,
    },
    /// The backend that steps the particles failed.
    #[error("step {step}: {reason}")]
    Backend {
        /// Step, from 0.
        step: u64,
        /// What is wrong.
        reason: String,
    },
    /// The watch of the world asked to stop ([`World::watch`](crate::World::watch)). The world is
    /// within the step: it can be read, but to continue it must be restored from a saved state.
    #[error("step {step} (t = {time:.6} s): stopped on request")]
    Stopped {
        /// Step, from 0.
        step: u64,
        /// Time that was reached within it \[s\].
        time: f64,
    },
    /// The world failed before; nothing was stepped.
    #[error("step {step}: the world failed before: {cause}; restore a state of before, or build it again")]
    Failed {
        /// Step in which it failed, from 0.
        step: u64,
        /// The first failure.
        cause: String,
    },
    /// Another failure of the particles.
    #[error("step {step}: {source}")]
    Mpm {
        /// Step, from 0.
        step: u64,
        /// What is wrong.
        source: MpmError,
    },
}

/// A saved state that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Reading or writing failed.
    #[error("state: {0}")]
    Io(#[from] std::io::Error),
    /// The backend cannot read or load the particles.
    #[error("state: {0}")]
    Backend(#[from] BackendError),
    /// The world failed, so that its state is that of a step that was not finished.
    #[error("state: the world failed before: {cause}; restore a state of before, or build it again")]
    Failed {
        /// The first failure.
        cause: String,
    },
    /// It is the state of another model, or of another step. The world is unchanged.
    #[error("state: it belongs to another world: {what} is {found} there and {expected} here")]
    Foreign {
        /// What differs first.
        what: String,
        /// In the state.
        found: String,
        /// In this world.
        expected: String,
    },
    /// It is not a state, or one of another version.
    #[error("state: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
}
