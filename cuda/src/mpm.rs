//! The material point method on the device: particles, their sort, the grid and the transfers.
//!
//! The algorithm and its numbers are those of the crate `pliant-mpm`; see there for the equations. Nothing comes back to the host within a step but
//! a few words at its end.

mod error;
mod particles;
mod sort;
mod step;

pub use error::DeviceMpmError;
pub use particles::DeviceParticles;
pub use sort::{BlockCapacities, DeviceGrid, DeviceNode};
pub(crate) use step::device_plane;
pub use step::{Between, DeviceMpm, StepAccount, Transfer, device_material};
