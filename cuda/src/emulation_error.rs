//! What emulated kernels can do wrong.

/// A rule of CUDA that an emulated kernel broke, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel '{kernel}'{}: {fault}", thread.map_or_else(String::new, |at| format!(", block {:?}, thread {:?}", at.block, at.thread)))]
pub struct EmulationError {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The thread that broke the rule; absent where the whole launch did.
    pub thread: Option<EmulatedThread>,
    /// The rule.
    pub fault: EmulationFault,
}

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatedThread {
    /// Block along x, y, z.
    pub block: [u32; 3],
    /// Thread in its block along x, y, z.
    pub thread: [u32; 3],
}

/// How a kernel broke a rule of CUDA.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulationFault {
    /// An index at or beyond the length of a span or shared array.
    #[error("index {index} of an array of {length}")]
    OutOfBounds {
        /// The index.
        index: u64,
        /// The array's length.
        length: u64,
    },
    /// A barrier that some threads do not reach.
    #[error("{barrier}: {reason} ({arrived} of {expected} arrived)")]
    DivergentBarrier {
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
    #[error("{operation} with mask {mask:#010x}: {reason}")]
    WarpMisuse {
        /// The operation's name.
        operation: String,
        /// Its mask.
        mask: u32,
        /// What is wrong.
        reason: String,
    },
    /// Waiting for another block in a launch that is not cooperative, where it need not be resident.
    #[error("it waits for other blocks, but the launch is not cooperative")]
    NotCooperative,
    /// More static shared memory than a block can have.
    #[error("{asked} bytes of static shared memory; a block has {available}")]
    SharedMemory {
        /// What it asks for, in bytes.
        asked: u64,
        /// What there is, in bytes.
        available: u64,
    },
    /// No memory of the host for the emulation itself.
    #[error("{reason} ({bytes} bytes)")]
    HostMemory {
        /// For what.
        reason: String,
        /// What was asked for, in bytes.
        bytes: u64,
    },
    /// A thread that waits for another in a loop of atomic operations, where nothing lets the other
    /// one run.
    #[error("{reason} ({atomics} atomic operations)")]
    Waiting {
        /// What it is at.
        reason: String,
        /// How many it did.
        atomics: u64,
    },
    /// Threads that wait for a word to change, which none that can run does: a barrier of the grid
    /// that some block never reaches, for instance. The thread of the error is one of those that
    /// wait.
    #[error("deadlock in {operation}: {reason} ({unfinished} of {threads} threads have not returned)")]
    Deadlock {
        /// How it looks at the word.
        operation: String,
        /// What it is at.
        reason: String,
        /// Threads of the launch that have not returned.
        unfinished: u64,
        /// Threads of the launch.
        threads: u64,
    },
}
