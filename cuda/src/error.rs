//! What can go wrong with a device.

use crate::emulation_error::EmulationError;

/// A failure of a device, of its driver or of a kernel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeviceError {
    /// There is no CUDA driver on this machine.
    #[error("no CUDA driver: the library libcuda.so.1 (nvcuda.dll) was not found; install NVIDIA's driver")]
    NoDriver,
    /// The driver is older than the kernels need.
    #[error(
        "the CUDA driver supports CUDA {}.{} and the kernels need {}.{}; update NVIDIA's driver",
        found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10
    )]
    DriverTooOld {
        /// Version that the driver supports, 1000 times the major and 10 times the minor one.
        found: i32,
        /// Version that is needed.
        needed: i32,
    },
    /// The machine has no device of this number.
    #[error("no CUDA device {ordinal}: there are {count}")]
    NoSuchDevice {
        /// The device asked for, from 0.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// The device is older than the kernels are compiled for.
    #[error("device {ordinal} ({name}) has compute capability {}.{}; the kernels need 8.0 (Ampere) or later", capability.0, capability.1)]
    DeviceTooOld {
        /// The device, from 0.
        ordinal: u32,
        /// Its name.
        name: String,
        /// Its compute capability, major and minor.
        capability: (u32, u32),
    },
    /// The device has too little memory.
    #[error("out of device memory: asked for {asked} bytes, {free} of {total} are free")]
    OutOfMemory {
        /// Size of the allocation that failed, in bytes.
        asked: u64,
        /// What was free, in bytes.
        free: u64,
        /// What the device has, in bytes.
        total: u64,
    },
    /// A model does not fit what is free; nothing was allocated.
    #[error(
        "{particles} particles with capacity for {particle_blocks} particle blocks and \
         {node_blocks} node blocks need {needed} bytes of device memory; {free} of {total} bytes \
         are free"
    )]
    ModelTooLarge {
        /// What it needs, in bytes.
        needed: u64,
        /// What is free, in bytes.
        free: u64,
        /// What the device has, in bytes.
        total: u64,
        /// Number of particles.
        particles: usize,
        /// Blocks of particles there was to be room for.
        particle_blocks: u32,
        /// Blocks of nodes there was to be room for.
        node_blocks: u32,
    },
    /// There cannot be more room for something.
    #[error("the capacity for {what} cannot grow from {from} to {to}: {source}")]
    CannotGrow {
        /// What there is to be room for.
        what: &'static str,
        /// How many there is room for.
        from: u64,
        /// How many there was to be room for.
        to: u64,
        /// Why.
        source: Box<DeviceError>,
    },
    /// More elements than a span can count.
    #[error("a buffer of {length} elements is longer than {} elements", u32::MAX)]
    BufferTooLong {
        /// Elements asked for.
        length: usize,
    },
    /// The lengths of a copy differ.
    #[error("cannot copy {given} elements to or from a buffer of {length} elements, beginning at {first}")]
    LengthMismatch {
        /// Elements on the host.
        given: usize,
        /// First element on the device.
        first: usize,
        /// Elements of the buffer.
        length: usize,
    },
    /// The driver does not load the kernels.
    #[error("the driver cannot load the kernels ({reason}){}", if log.is_empty() { String::new() } else { format!(":\n{log}") })]
    KernelsDoNotLoad {
        /// The driver's error.
        reason: String,
        /// What its compiler said.
        log: String,
    },
    /// A kernel is not among those that were loaded.
    #[error("kernel '{kernel}' is missing from the loaded kernels")]
    MissingKernel {
        /// Its name.
        kernel: &'static str,
    },
    /// The driver, or the emulated device, refuses a launch.
    #[error(
        "cannot launch '{kernel}' with {blocks:?} blocks of {threads:?} threads and {shared} bytes of shared memory: {reason}"
    )]
    Launch {
        /// The kernel's name.
        kernel: &'static str,
        /// Blocks along x, y, z.
        blocks: [u32; 3],
        /// Threads of a block along x, y, z.
        threads: [u32; 3],
        /// Dynamic shared memory of a block, in bytes.
        shared: u32,
        /// Why; of the emulated device with the figure that is wrong, and what it should be or at
        /// most.
        reason: String,
    },
    /// A span of a command does not lie in a live buffer of the device.
    #[error("{command}: a span of {bytes} bytes at {address:#x} is not in a live buffer of this device")]
    DanglingSpan {
        /// What was to run.
        command: &'static str,
        /// Where the span begins.
        address: u64,
        /// Its length, in bytes.
        bytes: u64,
    },
    /// A kernel failed and took the device's context along: nothing can run on it any more.
    /// Nor in any other library of the process that shares the primary context: only a new process
    /// has the device again.
    #[error(
        "the device is lost ({reason}), reported by {call}: a kernel before failed, and every later \
         call to this GPU from this process fails, those of other libraries too; start the program \
         anew (`pliant run --resume` goes on from a checkpoint)"
    )]
    Lost {
        /// The call that reported it; the failure lies before.
        call: &'static str,
        /// The driver's error.
        reason: String,
    },
    /// Any other error of the driver.
    #[error("{call} failed: {reason}")]
    Driver {
        /// The call that failed.
        call: &'static str,
        /// The driver's error.
        reason: String,
    },
    /// This build has no emulated device.
    #[error("the emulated device is not part of this build; build pliant-cuda with the feature 'emulated'")]
    NotEmulated,
    /// A library with another build of the emulation cannot be loaded.
    #[error("cannot load the emulation from {path}: {reason}")]
    EmulationLibrary {
        /// The library's file.
        path: String,
        /// The system's error.
        reason: String,
    },
    /// An emulated kernel broke a rule.
    #[error("{0}")]
    Emulation(#[from] Box<EmulationError>),
}

impl DeviceError {
    /// Makes [`DeviceError::CannotGrow`] of the error that kept `what` from growing.
    pub(crate) fn cannot_grow(
        what: &'static str,
        from: impl Into<u64>,
        to: impl Into<u64>,
    ) -> impl Fn(Self) -> Self {
        let (from, to) = (from.into(), to.into());
        move |source| Self::CannotGrow { what, from, to, source: Box::new(source) }
    }
}
