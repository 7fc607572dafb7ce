//! What can go wrong in a step on the device.

use pliant_mpm::MpmError;

use crate::DeviceError;

/// Errors of [`crate::mpm::DeviceMpm`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeviceMpmError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A particle was lost, or the particles do not fit the model that they are written to.
    #[error(transparent)]
    Mpm(#[from] MpmError),
    /// The particles spread over more blocks than there is room for. They are as after the last substep that ran.
    #[error(
        "particles reach {needed} or more {what} blocks, there is room for {capacity}; {substeps} substeps of the step ran"
    )]
    TooManyBlocks {
        /// "particle" or "node".
        what: &'static str,
        /// Blocks that are needed, as far as they were counted.
        needed: u32,
        /// Blocks that there is room for.
        capacity: u32,
        /// Substeps that ran before.
        substeps: u32,
    },
    /// A particle is more than 4 million cells from the origin. The particles are as after the last substep that ran.
    #[error(
        "a particle is more than {limit} blocks of 4 cells from the origin; {substeps} substeps of the step ran"
    )]
    OutOfRange {
        /// Blocks along an axis that the device can tell apart on each side of the origin.
        limit: u32,
        /// Substeps that ran before.
        substeps: u32,
    },
}
