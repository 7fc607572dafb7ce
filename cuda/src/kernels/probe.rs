//! Kernels that tests run to see what a device does.

use crate::layout::{Span, kernel_parameters, shared_constants};

shared_constants! {
    /// Most threads of a block of a probe.
    pub const PROBE_THREADS: u32 = 256;
    /// Results of `probe_number` for a pair.
    pub const NUMBER_RESULTS: u32 = 17;
}

kernel_parameters! {
    /// Probe: one operation of a warp on the lanes of a mask. Lanes outside it write nothing.
    pub struct ProbeWarpParameters = "probe_warp" {
        /// A value for each thread.
        pub input: Span<u32>,
        /// What the operation gives each thread.
        pub output: Span<u32>,
        /// Which operation: see `kernels/probe.cu`.
        pub operation: u32,
        /// Lanes that take part.
        pub mask: u32,
        /// Lane, distance or lane mask of a shuffle.
        pub parameter: u32,
        /// Width of a shuffle.
        pub width: u32,
    }

    /// Probe: shuffles f64 values along the warp, by exclusive or.
    pub struct ProbeShuffleF64Parameters = "probe_shuffle_f64" {
        /// A value for each thread.
        pub input: Span<f64>,
        /// The value of lane `lane ^ lane_mask`.
        pub output: Span<f64>,
        /// The lanes' difference.
        pub lane_mask: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Probe: every thread applies each atomic operation to cells that all threads share.
    pub struct ProbeAtomicsParameters = "probe_atomics" {
        /// An operand for each thread.
        pub operands: Span<u32>,
        /// u32 cells: add, subtract, minimum, maximum, and, or, exclusive or, exchange,
        /// compare-and-swap count.
        pub words: Span<u32>,
        /// i32 cells: add, minimum, maximum.
        pub integers: Span<i32>,
        /// u64 cells: add, minimum, maximum, exchange, compare-and-swap count.
        pub longs: Span<u64>,
        /// f32 cells: add, exchange.
        pub floats: Span<f32>,
        /// f64 cells: add, the same through compare-and-swap.
        pub doubles: Span<f64>,
        /// What each thread found before it added 1 to the last u32 cell.
        pub tickets: Span<u32>,
        /// Number of operands.
        pub count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Probe: each block turns its values by one place through shared memory, and counts with
    /// barriers.
    pub struct ProbeBlockParameters = "probe_block" {
        /// A value for each thread.
        pub input: Span<u32>,
        /// The value of the next thread in the block, by static shared memory.
        pub next: Span<u32>,
        /// The value of the thread before in the block, by dynamic shared memory.
        pub previous: Span<u32>,
        /// For each thread, how many values in the block are odd, whether all are, whether any is.
        pub votes: Span<[u32; 3]>,
    }

    /// Probe: blocks exchange values across barriers of the whole grid.
    pub struct ProbeGridParameters = "probe_grid" {
        /// Memory of the barrier, zero at first: [`GRID_BARRIER_WORDS`] words.
        pub barrier: Span<u32>,
        /// A value a block, in two halves that take turns.
        pub values: Span<u32>,
        /// Number of rounds; in each, a block's value becomes the sum of its two neighbours'.
        pub rounds: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Probe: threads race for cells, so that the result shows the order they ran in.
    pub struct ProbeRacesParameters = "probe_races" {
        /// The thread that wrote last; one element.
        pub last: Span<u32>,
        /// A sum of f32 in the order of the threads; one element.
        pub sum: Span<f32>,
    }

    /// Probe: bits and roots, a thread a value.
    pub struct ProbeArithmeticParameters = "probe_arithmetic" {
        /// Values.
        pub input: Span<u32>,
        /// For each value, its set bits, lowest set bit from 1, leading zeros, and bits reversed.
        pub bits: Span<[u32; 4]>,
        /// For each value, the reciprocal root of 1 + the value, in f32 and in f64.
        pub roots: Span<[f64; 2]>,
    }

    /// Probe: the numbers of the worlds, a thread a pair.
    pub struct ProbeNumberParameters = "probe_number" {
        /// Pairs of numbers.
        pub input: Span<[f64; 2]>,
        /// For each pair a, b in double precision: see `kernels/probe.cu`.
        pub doubles: Span<[f64; NUMBER_RESULTS as usize]>,
        /// The same in single precision, of a and b rounded.
        pub singles: Span<[f32; NUMBER_RESULTS as usize]>,
    }

    /// Probe, emulated only: breaks one rule, so that a test can see it reported.
    pub struct ProbeMisuseParameters = "probe_misuse" {
        /// Memory to miss.
        pub cells: Span<u32>,
        /// Which rule: see `kernels/misuse.cu`.
        pub rule: u32,
        /// Zero.
        pub unused: u32,
    }
}
