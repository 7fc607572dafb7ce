//! What emulated kernels can do wrong.

/// A rule of CUDA that an emulated kernel broke, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulationError {
    /// An index at or beyond the length of a span or shared array.
    #[error("kernel '{kernel}', block {block:?}, thread {thread:?}: index {index} of an array of {length}")]
    OutOfBounds {
        /// The kernel's name.
        kernel: &'static str,
        /// Block along x, y, z.
        block: [u32; 3],
        /// Thread in its block along x, y, z.
        thread: [u32; 3],
        /// The index.
        index: u64,
        /// The array's length.
        length: u64,
    },
    /// A barrier that some threads do not reach.
    #[error(
        "kernel '{kernel}', block {block:?}, thread {thread:?}: {barrier}: {reason} ({arrived} of {expected} arrived)"
    )]
    DivergentBarrier {
        /// The kernel's name.
        kernel: &'static str,
        /// Block along x, y, z.
        block: [u32; 3],
        /// Thread in its block along x, y, z.
        thread: [u32; 3],
        /// The barrier's name.
        barrier: String,
        /// Why it cannot open.
        reason: String,
        /// Threads that are there.
        arrived: u64,
        /// Threads that it needs.
        expected: u64,
    },
    /// An operation of a warp whose mask and lanes do not fit together.
    #[error(
        "kernel '{kernel}', block {block:?}, thread {thread:?}: {operation} with mask {mask:#010x}: {reason}"
    )]
    WarpMisuse {
        /// The kernel's name.
        kernel: &'static str,
        /// Block along x, y, z.
        block: [u32; 3],
        /// Thread in its block along x, y, z.
        thread: [u32; 3],
        /// The operation's name.
        operation: String,
        /// Its mask.
        mask: u32,
        /// What is wrong.
        reason: String,
    },
    /// A barrier of the grid in a launch that is not cooperative.
    #[error("kernel '{kernel}' waits for the whole grid, but its launch is not cooperative")]
    NotCooperative {
        /// The kernel's name.
        kernel: &'static str,
    },
    /// More static shared memory than a block can have.
    #[error("kernel '{kernel}': {asked} bytes of static shared memory; a block has {available}")]
    SharedMemory {
        /// The kernel's name.
        kernel: &'static str,
        /// What it asks for, in bytes.
        asked: u64,
        /// What there is, in bytes.
        available: u64,
    },
    /// No memory of the host for the emulation itself.
    #[error("kernel '{kernel}': {reason} ({bytes} bytes)")]
    HostMemory {
        /// The kernel's name.
        kernel: &'static str,
        /// For what.
        reason: String,
        /// What was asked for, in bytes.
        bytes: u64,
    },
    /// A thread that waits for another in a loop of atomic operations, where nothing lets the other
    /// one run.
    #[error("kernel '{kernel}', block {block:?}, thread {thread:?}: {reason} ({atomics} atomic operations)")]
    Waiting {
        /// The kernel's name.
        kernel: &'static str,
        /// Block along x, y, z.
        block: [u32; 3],
        /// Thread in its block along x, y, z.
        thread: [u32; 3],
        /// What it is at.
        reason: String,
        /// How many it did.
        atomics: u64,
    },
}
