//! What can go wrong with worlds on a device.

use pliant_batch::BatchError;

use crate::error::DeviceError;

/// Worlds that the device cannot take, or what does not belong to them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldsError {
    /// More than the device has room for; nothing was allocated.
    #[error(
        "{worlds} worlds with targets of {steps} steps need {needed} bytes of device memory; \
         {free} of {total} bytes are free"
    )]
    TooLarge {
        /// What they need, in bytes.
        needed: u64,
        /// What is free, in bytes.
        free: u64,
        /// What the device has, in bytes.
        total: u64,
        /// Number of worlds.
        worlds: usize,
        /// Steps whose targets there was to be room for.
        steps: usize,
    },
    /// Targets that are not those of all steps, motors and worlds, or not finite.
    #[error(
        "{given} targets given{}; {steps} steps x {motors} motors x {worlds} worlds are needed, all finite",
        wrong.map(|at| format!(", number {at} of them not finite")).unwrap_or_default()
    )]
    Targets {
        /// Targets given.
        given: usize,
        /// Steps.
        steps: usize,
        /// Number of motors.
        motors: usize,
        /// Number of worlds.
        worlds: usize,
        /// The first that is not finite.
        wrong: Option<usize>,
    },
    /// States that are not one for each world.
    #[error("{given} states given; {worlds} are needed, one for each world")]
    States {
        /// States given.
        given: usize,
        /// Number of worlds.
        worlds: usize,
    },
    /// The watch of the steps asked to stop. The worlds have a valid state after the steps done.
    #[error("stopped on request after {done} of {steps} steps")]
    Stopped {
        /// Steps that were launched.
        done: usize,
        /// Steps asked for.
        steps: usize,
    },
    /// What a batch refuses.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A failure of the device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
