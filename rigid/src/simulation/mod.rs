//! Simulation in time: forces on a mechanism ([`System`]), one implicit step of it ([`Stepper`]),
//! and the integrators that choose the steps ([`Integrator`], [`Simulation`]).

mod actuator;
mod advance_summary;
mod assemble;
mod collide;
mod contact;
mod contact_solver;
mod contact_sums;
mod corner;
pub mod divergence;
mod energy;
mod equality;
mod error;
mod error_estimate;
mod external;
mod free;
mod free_bodies;
mod impact;
mod impulses;
mod integrate;
mod integrator;
mod last_step;
mod mechanical;
mod move_link;
mod passed;
mod paths;
mod reactions;
mod response;
mod step_motion;
mod stepper;
mod summary;
mod system;
mod transmission;
mod trapezoid;
mod trapezoid_data;
mod trial_step;
mod unused;

pub use actuator::{Actuator, Control};
pub use advance_summary::AdvanceSummary;
pub use collide::Collisions;
pub use contact::{ContactCandidate, ContactForce, ContactSource, NoContacts};
pub use contact_sums::BodyOrigin;
pub use energy::{EnergyFlows, PotentialOffset};
pub use equality::Equality;
pub use error::SimulationError;
pub use external::{CloneExternal, ExternalSystem};
pub use integrate::{Simulation, Snapshot};
pub use integrator::Integrator;
pub use mechanical::MechanicalEnergy;
pub(crate) use mechanical::mechanical_energy;
pub use paths::{MovedLink, MovedLinks};
pub use reactions::Reactions;
pub use response::LinearResponse;
pub use step_motion::StepMotion;
pub use stepper::Stepper;
pub use summary::StepSummary;
pub use system::{LineForce, System};
pub use transmission::{
    Activation, ActivationTimes, Drive, ForceLaw, Muscle, PathElement, Tendon, TendonHold, TendonPath,
    Transmission, WrapSurface,
};
pub use unused::{StepMaker, Unused, UnusedFigure, unused_figures};
