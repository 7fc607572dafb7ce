//! From a state to a later one: what acts on a mechanism ([`System`]), one implicit step of it ([`Stepper`]), and the integrators that
//! choose the steps ([`Integrator`], [`Simulation`]).

mod actuator;
mod assemble;
mod collide;
mod contact;
pub mod divergence;
mod energy;
mod equality;
mod error;
mod external;
mod free;
mod impact;
mod integrate;
mod integrator;
mod reactions;
mod response;
mod stepper;
mod system;
mod trapezoid;

pub use actuator::{Actuator, Control};
pub use collide::Collisions;
pub use contact::{ContactForce, ContactSource, NoContacts, Touch};
pub(crate) use energy::mechanical_energy;
pub use energy::{EnergyFlows, Lead, MechanicalEnergy};
pub use equality::Equality;
pub use error::SimulationError;
pub use external::ExternalSystem;
pub use integrate::{AdvanceSummary, Simulation, Snapshot};
pub use integrator::Integrator;
pub use response::Response;
pub use stepper::{StepSummary, Stepper};
pub use system::{LineForce, System};
