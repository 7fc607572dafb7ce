//! What can go wrong in a step on the device.

use pliant_mpm::MpmError;

use super::stopped::Stopped;
use crate::DeviceError;

/// Errors of [`crate::mpm::DeviceMpm`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeviceMpmError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A particle was lost. The particles are as after that substep.
    #[error("substep {substep_index}: {source}")]
    Lost {
        /// The substep in which it was, from 0.
        substep_index: u32,
        /// Which, where and how fast.
        source: MpmError,
    },
    /// The particles do not fit the model that they are written to.
    #[error(transparent)]
    Mpm(#[from] MpmError),
    /// A step stopped, and [`crate::mpm::DeviceMpm::grow_blocks`] cannot mend what it stopped for.
    /// Particles are as before the substep.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The watch of the steps asked to stop.
    #[error("stopped on request before substep {substep_index}")]
    StoppedOnRequest {
        /// The substep that was not run, from 0.
        substep_index: u32,
    },
    /// There is no step that stopped.
    #[error("there is no unfinished step to continue")]
    NothingToResume,
    /// A particle is more than 4 million cells from the origin. The particles are as after the last
    /// substep that ran.
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
