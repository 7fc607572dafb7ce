//! The material point method on the device: particles, their sort, the grid and the transfers.
//!
//! The algorithm and its numbers are those of the crate `pliant-mpm`; see there for the equations.
//! Nothing comes back to the host within a step but a few words at its end.

mod advance;
mod capacity;
mod cloth;
mod error;
mod grow;
mod material;
mod particles;
mod sort;
mod sort_schedule;
mod step;
mod stopped;
mod totals;

pub use advance::Advance;
pub use capacity::BlockCapacities;
pub use error::DeviceMpmError;
pub(crate) use grow::grown_capacity;
pub use material::device_materials;
pub(crate) use material::device_plane;
pub use particles::DeviceParticles;
pub use pliant_coupling::Transfer;
pub use sort::{DeviceGrid, DeviceNode};
pub use step::{CommandCount, DeviceMpm, SubstepCommands, SubstepHook};
pub use stopped::{StopCause, Stopped};
pub use totals::StepMomentumBalance;
