//! Convex two-way contact between material points and rigid bodies, and the one stepping loop.
//!
//! [`World`] owns particles ([`pliant_mpm`]), bodies ([`pliant_rigid`]) and settings; [`World::step`] is the loop. Its steps,
//! a private module each: `motion` is where contact sees the bodies, `register` finds contacts (and `memory` remembers them), `nodes` numbers the grid nodes they touch region by region, `walls` adds the boundary conditions on those, [`convex`] solves for
//! the velocities of a region (and `regions` for those of all), `exchange` hands impulses back, `sensor` reads them where they act, `account` keeps the books.

mod account;
mod attached;
mod backend;
mod body_impulses;
mod body_state;
mod builder;
mod contact_stage;
pub mod convex;
mod energy;
mod error;
mod exchange;
mod flat;
mod frame;
mod host;
mod mass_ratio;
mod memory;
mod motion;
mod near;
mod nodes;
mod observe;
mod pair;
mod particles;
mod placed;
mod regions;
mod register;
mod report;
mod room;
mod sensor;
mod settings;
mod starts;
mod state;
mod walls;
mod warm_start;
mod world;

pub use backend::{Backend, BackendError, ContactMemory, NodeVelocity, SubstepPlan, SubstepsDone};
pub use body_state::{AnsweringBodies, ReferencePath, SeenBody};
pub use builder::WorldBuilder;
pub use error::{BuildError, StateError, StepError};
pub use memory::RememberedContact;
pub use pliant_mpm::{Boundary, BoundaryKind, Level, Material};
pub use report::{
    Balance, BodyEnergy, ContactFigures, Diagnostics, EnergyBalance, EnergyGain, ParticleEnergy,
    ParticleFlows, ParticleSnapshot, StepReport,
};
pub use sensor::{TactilePad, TactileReading};
pub use settings::{
    ContactSettings, Coupling, CouplingStep, GridMotion, MaterialId, NEAR_RIGID_NUMBER, ParticleRadius,
    ParticleSet, Settings, Stiffness, Substeps,
};
pub use starts::ALLOWED_OVERLAP;
pub use world::World;
