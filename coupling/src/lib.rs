//! Convex two-way contact between material points and rigid bodies, and the one stepping loop.
//!
//! [`World`] owns particles ([`pliant_mpm`]), bodies ([`pliant_rigid`]) and settings;
//! [`World::step`] is the loop. Each of its steps is a private module: `motion` has the states of
//! the bodies at each substep, `detection` finds contacts and `contact_cache` keeps them, `nodes`
//! numbers the touched grid nodes by contact islands, `boundary_constraints` adds the boundary
//! conditions of the grid, [`convex`] solves an island and `islands` all of them, `exchange`
//! applies the impulses, `sensor` measures them on tactile pads, and `momentum_balance` and
//! `energy` keep the balances. [`sample`] fills solids with particles.

mod attached_backend;
mod auto_or;
mod backend;
mod body_impulses;
mod body_state;
mod boundary_constraints;
mod bounding_region;
mod builder;
mod change;
mod contact_cache;
mod contact_stage;
pub mod convex;
mod detection;
mod energy;
mod error;
mod exchange;
mod fingerprint;
mod grid_frame;
mod host;
mod initial_overlap;
mod islands;
mod mass_ratio;
mod momentum_balance;
mod motion;
mod nodes;
mod observe;
mod pair;
mod particles;
mod placed_geometry;
mod redundant_centroids;
mod report;
pub mod sample;
mod saved_pin;
mod sensor;
mod settings;
mod state;
mod steady_substep;
mod travel;
mod warm_start;
mod world;
mod worlds;
mod wrench;

pub use auto_or::AutoOr;
pub use backend::{Backend, BackendError, ContactCacheState, NodeVelocity, SubstepPlan, SubstepsResult};
pub use body_state::{ReferencePointPath, StronglyCoupledBodies, SubstepBodyState};
pub use builder::WorldBuilder;
pub use contact_cache::CachedContact;
pub use detection::{DETECTION_MARGIN, LONGEST_ARM};
pub use error::{BranchError, BuildError, ChangeError, StateError, StepError, TooManySubsteps};
pub use initial_overlap::ALLOWED_OVERLAP;
pub use pliant_mpm::{Boundary, BoundaryKind, InstructionSet, Material};
pub use pliant_rigid::{StepProgress, StepWatch};
pub use report::{
    Balance, BodyEnergy, ContactStatistics, Diagnostics, EnergyBalance, EnergyDomain, EnergyGain,
    ParticleEnergy, ParticleFlows, ParticleSnapshot, StepReport,
};
pub use sensor::{TactilePad, TactileReading};
pub use settings::{
    ContactSettings, Coupling, CouplingStep, GridMotion, MOST_SUBSTEPS, MaterialId,
    NEAR_RIGID_STIFFNESS_NUMBER, ParticleSet, Settings, Transfer,
};
pub use world::World;
pub use worlds::{Workers, Worlds, WorldsError};
pub use wrench::Wrench;
