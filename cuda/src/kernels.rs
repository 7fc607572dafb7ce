//! All kernels, with their parameters and the constants they share with the host.
//!
//! `kernels/parameters.cuh` is generated from this list ([`header`]); a test compares the two.

use std::fmt::Write;

use crate::layout::{DeviceType, Layout, Span, kernels, shared_constants, shared_structs};

/// The parameters of a kernel, which also say which kernel it is.
pub trait Parameters: DeviceType {
    /// The kernel that takes them.
    const KERNEL: Kernel;
}

shared_constants! {
    /// Threads of a block of the scan kernels.
    pub const SCAN_THREADS: u32 = 256;
    /// Elements that a block scans.
    pub const SCAN_TILE: u32 = 2048;
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
    pub const GRID_BARRIER_WORDS: u32 = 2;
    /// Most threads of a block of a probe.
    pub const PROBE_THREADS: u32 = 256;

    // The convex contact solve.
    /// Threads of a block of the convex contact solve, and elements whose sum is formed by one of its blocks.
    pub const CONVEX_THREADS: u32 = 128;
    /// Sums that one pass forms at most.
    pub const CONVEX_SUMS: u32 = 4;
    /// f64 rows of a touched node: see `kernels/convex.cuh`.
    pub const CONVEX_NODE_ROWS: u32 = 20;
    /// f64 rows of a contact.
    pub const CONVEX_CONTACT_ROWS: u32 = 30;
    /// Rows of a touched node in a linear system.
    pub const CONVEX_SYSTEM_ROWS: u32 = 19;
    /// Along an axis with an offset of this or more all weight is on the node of number offset - 8: a contact of a node.
    pub const CONVEX_ON_NODE: u32 = 8;
    /// Start of a solve: the free velocities.
    pub const CONVEX_GUESS_FREE: u32 = 0;
    /// Start of a solve: between the free velocities and what the guessed impulses do.
    pub const CONVEX_GUESS_IMPULSES: u32 = 1;
    /// Start of a solve: between the free velocities and the guessed ones.
    pub const CONVEX_GUESS_VELOCITIES: u32 = 2;
    /// Start of a solve: the better of the guessed velocities and what the guessed impulses do.
    pub const CONVEX_GUESS_SOLUTION: u32 = 3;
    /// End of a solve: there are no contacts.
    pub const CONVEX_NO_CONTACTS: u32 = 0;
    /// End of a solve: the tolerance is reached.
    pub const CONVEX_CONVERGED: u32 = 1;
    /// End of a solve: the gradient is below its rounding.
    pub const CONVEX_STAGNATED: u32 = 2;
    /// End of a solve: too many iterations.
    pub const CONVEX_ITERATION_LIMIT: u32 = 3;
    /// End of a solve: a number is not finite.
    pub const CONVEX_NOT_FINITE: u32 = 4;
    /// End of a solve, before it began: more contacts or touched nodes than there is room for, or a node that the grid lacks.
    pub const CONVEX_NO_ROOM: u32 = 5;
}

shared_structs! {
    /// Some bits of a key, by which a pass sorts.
    pub struct SortDigit {
        /// The lowest of the bits.
        pub shift: u32,
        /// The bits once shifted: 2^bits - 1.
        pub mask: u32,
    }

    /// The grid: a node block of 4x4x4 nodes has 64 nodes in a row, z fastest.
    pub struct GridNodes {
        /// Velocity x, y, z [m/s] and mass [kg] of each node; nodes of zero mass are all zero.
        pub nodes: Span<[f32; 4]>,
        /// Key of each node block; its first node is at 4 times the key.
        pub keys: Span<[i32; 3]>,
        /// The table that finds a node block by its key: `find_key` of `kernels/mpm.cuh`. Its length is a power of two.
        pub table_keys: Span<u64>,
        /// Slot of the node block at each place of the table.
        pub table_slots: Span<u32>,
    }

    /// The contacts of a substep as the convex solve reads them, an element each; `count[0]` of them are there. Contacts
    /// with the same base node that follow one another are worked on together; any order is right.
    pub struct ConvexContacts {
        /// Number of contacts; one element.
        pub count: Span<u32>,
        /// First node of the stencil, in nodes of the grid.
        pub base: Span<[i32; 3]>,
        /// The particle's place in cells from that node, in [0.5, 1.5]; or along an axis `CONVEX_ON_NODE` and more.
        pub offset: Span<[f32; 3]>,
        /// Unit normal, outward from the body, world axes.
        pub normal: Span<[f32; 3]>,
        /// The body's velocity at the contact point, world axes, in m/s.
        pub body_velocity: Span<[f32; 3]>,
        /// Signed distance in m, negative when overlapping.
        pub gap: Span<f32>,
        /// In N/m.
        pub stiffness: Span<f32>,
        /// Coefficient of friction.
        pub friction: Span<f32>,
        /// In N s, what bounds friction; of a bonded contact with the tension's impulse added.
        pub lagged_normal_impulse: Span<f32>,
        /// Largest tension of a bonded contact in N, 0 without a bond.
        pub tension: Span<f32>,
        /// Hunt-Crossley dissipation in s/m; empty where the setting holds for all.
        pub dissipation: Span<f32>,
        /// Stiction tolerance in m/s; empty where the setting holds for all.
        pub stiction_tolerance: Span<f32>,
    }

    /// Which contacts touch which nodes.
    pub struct ConvexIncidence {
        /// Number of contacts, of groups, of touched nodes, and whether there was no room for them.
        pub counts: Span<u32>,
        /// The group of each contact: consecutive contacts with one stencil.
        pub contact_groups: Span<u32>,
        /// First contact of each group, and the number of contacts.
        pub group_begin: Span<u32>,
        /// The touched nodes of each group's stencil, at `27 group + (3 i + j) 3 + k`.
        pub group_nodes: Span<u32>,
        /// First incidence of each touched node, and the number of incidences.
        pub node_begin: Span<u32>,
        /// Places in `group_nodes` of each touched node, ascending.
        pub incidences: Span<u32>,
        /// Where each touched node lies in the grid.
        pub slots: Span<u32>,
    }

    /// Settings of a convex solve, in device memory so that they can change between runs of a recording.
    pub struct ConvexSettings {
        /// Length of the substep in s.
        pub substep: f64,
        /// Hunt-Crossley dissipation in s/m of contacts without their own.
        pub dissipation: f64,
        /// Stiction tolerance in m/s of contacts without their own.
        pub stiction_tolerance: f64,
        /// Relative tolerance of the residual.
        pub relative_tolerance: f64,
        /// Absolute tolerance of the residual in sqrt(J).
        pub absolute_tolerance: f64,
        /// Most outer iterations.
        pub max_iterations: u32,
        /// Most products of one linear system.
        pub max_inner_iterations: u32,
        /// Where to start: `CONVEX_GUESS_FREE` and so on.
        pub guess: u32,
        /// Zero.
        pub unused: u32,
    }

    /// What a convex solve did.
    pub struct ConvexReport {
        /// Residual at the end in sqrt(J).
        pub residual: f64,
        /// What it had to be below in sqrt(J).
        pub tolerance: f64,
        /// Objective at the end in J.
        pub objective: f64,
        /// Why it ended: `CONVEX_CONVERGED` and so on.
        pub stop: u32,
        /// Outer iterations.
        pub iterations: u32,
        /// Products with the Hessian.
        pub inner_iterations: u32,
        /// Evaluations of the objective's derivative along a direction.
        pub line_search_iterations: u32,
        /// Number of contacts.
        pub contacts: u32,
        /// Number of groups of contacts.
        pub groups: u32,
        /// Number of touched nodes.
        pub nodes: u32,
        /// Linear systems that were solved in double precision.
        pub double_systems: u32,
        /// Linear systems that even double precision did not solve as far as asked.
        pub unresolved_systems: u32,
        /// Zero.
        pub unused: u32,
    }
}

kernels! {
    /// Exclusive prefix sums within tiles of [`SCAN_TILE`] elements, and the sum of each tile.
    ScanTiles = "scan_tiles", ScanTilesParameters {
        /// Numbers to add up.
        input: Span<u32>,
        /// Sum of the numbers before each one in its tile; may be `input`.
        output: Span<u32>,
        /// Sum of each tile.
        tile_sums: Span<u32>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Exclusive prefix sums of the tiles' sums, in place, by a single block.
    ScanTileSums = "scan_tile_sums", ScanTileSumsParameters {
        /// Sum of each tile; becomes the sum of all tiles before it.
        tile_sums: Span<u32>,
        /// The sum of everything; one element.
        total: Span<u32>,
        /// Number of tiles.
        tiles: u32,
        /// Zero.
        unused: u32,
    }

    /// Adds to each element what lies before its tile.
    ScanAddOffsets = "scan_add_offsets", ScanAddOffsetsParameters {
        /// Prefix sums within tiles; become those of the whole.
        output: Span<u32>,
        /// Sum of all tiles before each.
        tile_offsets: Span<u32>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Counts how often each digit occurs in each tile of keys.
    SortCountDigits = "sort_count_digits", SortCountDigitsParameters {
        /// Keys.
        keys: Span<u32>,
        /// Occurrences at `digit * tiles + tile`.
        counts: Span<u32>,
        /// Number of keys.
        count: u32,
        /// Number of tiles.
        tiles: u32,
        /// What to sort by.
        digit: SortDigit,
    }

    /// Moves keys and values to where their digit belongs, keys of equal digits in the order they had.
    SortScatter = "sort_scatter", SortScatterParameters {
        /// Keys.
        keys: Span<u32>,
        /// A value for each key.
        values: Span<u32>,
        /// Keys in the order of their digits.
        sorted_keys: Span<u32>,
        /// Their values.
        sorted_values: Span<u32>,
        /// Exclusive prefix sums of the counts of [`Kernel::SortCountDigits`].
        offsets: Span<u32>,
        /// Number of keys.
        count: u32,
        /// Number of tiles.
        tiles: u32,
        /// What to sort by.
        digit: SortDigit,
    }

    /// Sums of tiles of [`REDUCE_TILE`] f32 elements, in f64.
    SumTilesF32 = "sum_tiles_f32", SumTilesF32Parameters {
        /// Numbers to add up.
        input: Span<f32>,
        /// Sum of each tile.
        tile_sums: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Sums of tiles of [`REDUCE_TILE`] f64 elements.
    SumTilesF64 = "sum_tiles_f64", SumTilesF64Parameters {
        /// Numbers to add up.
        input: Span<f64>,
        /// Sum of each tile.
        tile_sums: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// The sum of the tiles' sums, by a single block.
    SumOfTiles = "sum_of_tiles", SumOfTilesParameters {
        /// Sum of each tile.
        tile_sums: Span<f64>,
        /// The sum of all; one element.
        total: Span<f64>,
        /// Number of tiles.
        tiles: u32,
        /// Zero.
        unused: u32,
    }

    /// Maxima of tiles of [`REDUCE_TILE`] f32 elements; NaN where there is one.
    MaxTilesF32 = "max_tiles_f32", MaxTilesF32Parameters {
        /// Numbers to compare.
        input: Span<f32>,
        /// Maximum of each tile.
        tile_maxima: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Maxima of tiles of [`REDUCE_TILE`] f64 elements; NaN where there is one.
    MaxTilesF64 = "max_tiles_f64", MaxTilesF64Parameters {
        /// Numbers to compare.
        input: Span<f64>,
        /// Maximum of each tile.
        tile_maxima: Span<f64>,
        /// Number of elements.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// The maximum of the tiles' maxima, by a single block; minus infinity of none.
    MaxOfTiles = "max_of_tiles", MaxOfTilesParameters {
        /// Maximum of each tile.
        tile_maxima: Span<f64>,
        /// The maximum of all; one element.
        maximum: Span<f64>,
        /// Number of tiles.
        tiles: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: one operation of a warp on the lanes of a mask. Lanes outside it write nothing.
    ProbeWarp = "probe_warp", ProbeWarpParameters {
        /// A value for each thread.
        input: Span<u32>,
        /// What the operation gives each thread.
        output: Span<u32>,
        /// Which operation: see `kernels/probe.cu`.
        operation: u32,
        /// Lanes that take part.
        mask: u32,
        /// Lane, distance or lane mask of a shuffle.
        parameter: u32,
        /// Width of a shuffle.
        width: u32,
    }

    /// Probe: shuffles f64 values along the warp, by exclusive or.
    ProbeShuffleF64 = "probe_shuffle_f64", ProbeShuffleF64Parameters {
        /// A value for each thread.
        input: Span<f64>,
        /// The value of lane `lane ^ lane_mask`.
        output: Span<f64>,
        /// The lanes' difference.
        lane_mask: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: every thread applies each atomic operation to cells that all threads share.
    ProbeAtomics = "probe_atomics", ProbeAtomicsParameters {
        /// An operand for each thread.
        operands: Span<u32>,
        /// u32 cells: add, subtract, minimum, maximum, and, or, exclusive or, exchange, compare-and-swap count.
        words: Span<u32>,
        /// i32 cells: add, minimum, maximum.
        integers: Span<i32>,
        /// u64 cells: add, minimum, maximum, exchange, compare-and-swap count.
        longs: Span<u64>,
        /// f32 cells: add, exchange.
        floats: Span<f32>,
        /// f64 cells: add, the same through compare-and-swap.
        doubles: Span<f64>,
        /// What each thread found before it added 1 to the last u32 cell.
        tickets: Span<u32>,
        /// Number of operands.
        count: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: each block turns its values by one place through shared memory, and counts with barriers.
    ProbeBlock = "probe_block", ProbeBlockParameters {
        /// A value for each thread.
        input: Span<u32>,
        /// The value of the next thread in the block, by static shared memory.
        next: Span<u32>,
        /// The value of the thread before in the block, by dynamic shared memory.
        previous: Span<u32>,
        /// For each thread, how many values in the block are odd, whether all are, whether any is.
        votes: Span<[u32; 3]>,
    }

    /// Probe: blocks exchange values across barriers of the whole grid.
    ProbeGrid = "probe_grid", ProbeGridParameters {
        /// Memory of the barrier, zero at first: [`GRID_BARRIER_WORDS`] words.
        barrier: Span<u32>,
        /// A value a block, in two halves that take turns.
        values: Span<u32>,
        /// Number of rounds; in each, a block's value becomes the sum of its two neighbours'.
        rounds: u32,
        /// Zero.
        unused: u32,
    }

    /// Probe: threads race for cells, so that the result tells the order they ran in.
    ProbeRaces = "probe_races", ProbeRacesParameters {
        /// The thread that wrote last; one element.
        last: Span<u32>,
        /// A sum of f32 in the order of the threads; one element.
        sum: Span<f32>,
    }

    /// Probe: bits and roots, a thread a value.
    ProbeArithmetic = "probe_arithmetic", ProbeArithmeticParameters {
        /// Values.
        input: Span<u32>,
        /// For each value, its set bits, lowest set bit from 1, leading zeros, and bits reversed.
        bits: Span<[u32; 4]>,
        /// For each value, the reciprocal root of 1 + the value, in f32 and in f64.
        roots: Span<[f64; 2]>,
    }

    /// Numbers the nodes that contacts touch, by blocks that stay.
    ConvexNumber = "convex_number", ConvexNumberParameters {
        /// The contacts; count, base nodes and offsets are read.
        contacts: ConvexContacts,
        /// Where their nodes are.
        grid: GridNodes,
        /// Which nodes they touch: the result.
        incidence: ConvexIncidence,
        /// Two tables of touched nodes that take turns, each a power of two long: the nodes' keys, 0 where free. The one that is not
        /// written holds the nodes of the last solve.
        table_keys: Span<u64>,
        /// The first place in `group_nodes` of the nodes of the table that is written.
        table_first: Span<u32>,
        /// Numbers of the tables' nodes.
        table_numbers: Span<u32>,
        /// Which table was written last, and how much of it less one; zero of nothing.
        table_state: Span<u32>,
        /// Velocity of each touched node after the last solve, by its numbers, in m/s.
        velocities: Span<[f64; 3]>,
        /// The same by the new numbers, or the free velocity where the last solve did not have the node.
        guess_velocities: Span<[f64; 3]>,
        /// Incidences of each touched node.
        node_counts: Span<u32>,
        /// A sum for each block.
        block_sums: Span<u32>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`] words.
        barrier: Span<u32>,
        /// Contacts there is room for.
        contact_capacity: u32,
        /// Touched nodes there is room for.
        node_capacity: u32,
    }

    /// The whole convex contact solve, by blocks that stay.
    ConvexSolve = "convex_solve", ConvexSolveParameters {
        /// The contacts.
        contacts: ConvexContacts,
        /// Which nodes they touch.
        incidence: ConvexIncidence,
        /// Settings; one element.
        settings: Span<ConvexSettings>,
        /// Free velocity in m/s and mass in kg of the grid's nodes; touched nodes get their new velocity.
        grid: Span<[f32; 4]>,
        /// Guessed velocities of the touched nodes in m/s.
        guess_velocities: Span<[f64; 3]>,
        /// Guessed impulses of the contacts on the particles in N s; may be short.
        guess_impulses: Span<[f32; 3]>,
        /// Velocity of each touched node in m/s.
        velocities: Span<[f64; 3]>,
        /// Impulse of the contacts on each touched node in N s.
        node_impulses: Span<[f64; 3]>,
        /// Impulse of each contact on its particle in N s.
        impulses: Span<[f64; 3]>,
        /// What happened; one element.
        report: Span<ConvexReport>,
        /// Objective, residual, tolerance and scale of the first iterates.
        trace: Span<[f64; 4]>,
        /// Memory of touched nodes, row by row.
        node_rows: Span<f64>,
        /// Memory of contacts, row by row.
        contact_rows: Span<f64>,
        /// The linear system in single precision: rows of the nodes.
        single_rows: Span<f32>,
        /// Hessians of the contacts.
        single_hessians: Span<f32>,
        /// Scaled directions of the nodes.
        single_directions: Span<[f32; 4]>,
        /// Images of the contacts.
        single_images: Span<[f32; 4]>,
        /// In double precision: rows of the nodes.
        double_rows: Span<f64>,
        /// Scaled directions of the nodes.
        double_directions: Span<[f64; 4]>,
        /// Images of the contacts.
        double_images: Span<[f64; 4]>,
        /// Sums of tiles, twice [`CONVEX_SUMS`] rows.
        tile_sums: Span<f64>,
        /// Memory of the barrier: [`GRID_BARRIER_WORDS`] words.
        barrier: Span<u32>,
        /// Length of a row of contacts.
        contact_capacity: u32,
        /// Length of a row of touched nodes.
        node_capacity: u32,
    }

    /// Probe, emulated only: breaks one rule, so that a test can see it told.
    ProbeMisuse = "probe_misuse", ProbeMisuseParameters {
        /// Memory to miss.
        cells: Span<u32>,
        /// Which rule: see `kernels/misuse.cu`.
        rule: u32,
        /// Zero.
        unused: u32,
    }
}

impl Kernel {
    /// Whether the kernel exists on a GPU; those that break rules do not.
    pub const fn is_on_gpu(self) -> bool {
        !matches!(self, Self::ProbeMisuse)
    }
}

/// The text of `kernels/parameters.cuh`: constants and structures, with assertions of their layout.
pub fn header() -> String {
    let mut text = String::from(
        "// Generated from cuda/src/kernels.rs by its test `parameters_header_is_current`; do not edit.\n\
         #pragma once\n\n#include \"prelude.cuh\"\n\n",
    );
    for (name, value, about) in CONSTANTS {
        comment(&mut text, "", about);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "constexpr uint32_t {name} = {value};");
    }
    let parameters = Kernel::ALL.iter().map(|kernel| kernel.layout());
    for layout in STRUCTURES.iter().map(|layout| layout()).chain(parameters) {
        text.push('\n');
        structure(&mut text, &layout);
    }
    text
}

fn structure(text: &mut String, layout: &Layout) {
    let name = layout.name;
    comment(text, "", layout.about);
    let _ = writeln!(text, "struct {name} {{");
    for field in &layout.fields {
        comment(text, "    ", field.about);
        let _ = writeln!(text, "    {} {};", field.cuda_type, field.name);
    }
    let (size, align) = (layout.size, layout.align);
    let _ = writeln!(
        text,
        "}};\nstatic_assert(sizeof({name}) == {size} && alignof({name}) == {align}, \"{name}\");"
    );
    for field in &layout.fields {
        let (field, offset) = (field.name, field.offset);
        let _ =
            writeln!(text, "static_assert(PLIANT_OFFSET({name}, {field}) == {offset}, \"{name}::{field}\");");
    }
}

/// Documentation as C++ comments, without the brackets of Rust's links.
fn comment(text: &mut String, indent: &str, about: &[&str]) {
    for line in about {
        let _ = writeln!(text, "{indent}//{}", line.replace("[`", "`").replace("`]", "`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One list of parameters and constants, in Rust; the C++ header follows it. PLIANT_WRITE_PARAMETERS=1 writes it anew.
    #[test]
    fn parameters_header_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/parameters.cuh");
        if std::env::var_os("PLIANT_WRITE_PARAMETERS").is_some() {
            std::fs::write(path, header()).unwrap();
        }
        let text = std::fs::read_to_string(path).unwrap_or_default().replace('\r', "");
        assert!(
            text == header(),
            "run PLIANT_WRITE_PARAMETERS=1 cargo test -p pliant-cuda --no-default-features --lib, then cuda/ptx.py"
        );
    }
}
