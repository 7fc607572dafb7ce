//! Prefix sums, sorting and reductions.

use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// Threads of a block of the scan kernels.
    pub const SCAN_THREADS: u32 = 256;
    /// Elements that a block scans.
    pub const SCAN_TILE: u32 = 2048;
    /// Words of a scan's progress: blocks that have started.
    pub const SCAN_STARTED: u32 = 0;
    /// Blocks that have ended.
    pub const SCAN_ENDED: u32 = 1;
    /// Number of the run, modulo 2^30 in the tiles' words.
    pub const SCAN_RUN: u32 = 2;
    /// Number of words.
    pub const SCAN_PROGRESS: u32 = 3;
    /// Threads of a block of the sort kernels.
    pub const SORT_THREADS: u32 = 256;
    /// Keys that a block sorts.
    pub const SORT_TILE: u32 = 2048;
    /// Bits of the key that a pass sorts by.
    pub const SORT_BITS: u32 = 8;
    /// Values of those bits.
    pub const SORT_DIGITS: u32 = 1 << SORT_BITS;
    /// Threads of a block of the reductions.
    pub const REDUCE_THREADS: u32 = 256;
    /// Elements that a block reduces.
    pub const REDUCE_TILE: u32 = 2048;
    /// Words of a grid barrier's memory.
    pub const GRID_BARRIER_WORDS: u32 = 1;
}

shared_structs! {
    /// Some bits of a key, by which a pass sorts.
    pub struct SortDigit {
        /// The lowest of the bits.
        pub shift: u32,
        /// The bits once shifted: 2^bits - 1.
        pub mask: u32,
    }
}

kernel_parameters! {
    /// Exclusive prefix sums, a block a tile of [`SCAN_TILE`] elements.
    pub struct ScanParameters = "scan" {
        /// Numbers to add up.
        pub input: Span<u32>,
        /// Sum of the numbers before each one; may be `input`.
        pub output: Span<u32>,
        /// What each tile has published: see `kernels/scan.cu`. Zero before the first run.
        pub states: Span<u64>,
        /// [`SCAN_PROGRESS`] words, zero before the first run, left ready for the next.
        pub progress: Span<u32>,
        /// The sum of everything; one element.
        pub total: Span<u32>,
        /// Number of elements.
        pub count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Counts how often each digit occurs in each tile of keys.
    pub struct SortCountDigitsParameters = "sort_count_digits" {
        /// Keys.
        pub keys: Span<u32>,
        /// Occurrences at `digit * tiles + tile`.
        pub counts: Span<u32>,
        /// Number of keys.
        pub count: u32,
        /// Number of tiles.
        pub tiles: u32,
        /// What to sort by.
        pub digit: SortDigit,
    }

    /// Moves keys and values to where their digit belongs, keys of equal digits in the order they
    /// had.
    pub struct SortScatterParameters = "sort_scatter" {
        /// Keys.
        pub keys: Span<u32>,
        /// A value for each key.
        pub values: Span<u32>,
        /// Keys in the order of their digits.
        pub sorted_keys: Span<u32>,
        /// Their values.
        pub sorted_values: Span<u32>,
        /// Exclusive prefix sums of the counts of [`Kernel::SortCountDigits`].
        pub offsets: Span<u32>,
        /// Number of keys.
        pub count: u32,
        /// Number of tiles.
        pub tiles: u32,
        /// What to sort by.
        pub digit: SortDigit,
    }

    /// Sums of tiles of [`REDUCE_TILE`] f32 elements, in f64.
    pub struct SumTilesF32Parameters = "sum_tiles_f32" {
        /// Numbers to add up.
        pub input: Span<f32>,
        /// Sum of each tile.
        pub tile_sums: Span<f64>,
        /// Number of elements.
        pub count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Sums of tiles of [`REDUCE_TILE`] f64 elements.
    pub struct SumTilesF64Parameters = "sum_tiles_f64" {
        /// Numbers to add up.
        pub input: Span<f64>,
        /// Sum of each tile.
        pub tile_sums: Span<f64>,
        /// Number of elements.
        pub count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// The sum of the tiles' sums, by a single block.
    pub struct SumOfTilesParameters = "sum_of_tiles" {
        /// Sum of each tile.
        pub tile_sums: Span<f64>,
        /// The sum of all; one element.
        pub total: Span<f64>,
        /// Number of tiles.
        pub tiles: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Maxima of tiles of [`REDUCE_TILE`] f32 elements; NaN where there is one.
    pub struct MaxTilesF32Parameters = "max_tiles_f32" {
        /// Numbers to compare.
        pub input: Span<f32>,
        /// Maximum of each tile.
        pub tile_maxima: Span<f64>,
        /// Number of elements.
        pub count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Maxima of tiles of [`REDUCE_TILE`] f64 elements; NaN where there is one.
    pub struct MaxTilesF64Parameters = "max_tiles_f64" {
        /// Numbers to compare.
        pub input: Span<f64>,
        /// Maximum of each tile.
        pub tile_maxima: Span<f64>,
        /// Number of elements.
        pub count: u32,
        /// Zero.
        pub unused: u32,
    }

    /// The maximum of the tiles' maxima, by a single block; minus infinity of none.
    pub struct MaxOfTilesParameters = "max_of_tiles" {
        /// Maximum of each tile.
        pub tile_maxima: Span<f64>,
        /// The maximum of all; one element.
        pub maximum: Span<f64>,
        /// Number of tiles.
        pub tiles: u32,
        /// Zero.
        pub unused: u32,
    }
}
