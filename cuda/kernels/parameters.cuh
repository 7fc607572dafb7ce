// Generated from cuda/src/kernels.rs by its test `parameters_header_is_current`; do not edit.
#pragma once

#include "prelude.cuh"

// Threads of a block of the scan kernels.
constexpr uint32_t SCAN_THREADS = 256;
// Elements that a block scans.
constexpr uint32_t SCAN_TILE = 2048;
// Threads of a block of the sort kernels.
constexpr uint32_t SORT_THREADS = 256;
// Keys that a block sorts.
constexpr uint32_t SORT_TILE = 2048;
// Bits of the key that a pass sorts by.
constexpr uint32_t SORT_BITS = 8;
// Values of those bits.
constexpr uint32_t SORT_DIGITS = 256;
// Threads of a block of the reductions.
constexpr uint32_t REDUCE_THREADS = 256;
// Elements that a block reduces.
constexpr uint32_t REDUCE_TILE = 2048;
// Words of a grid barrier's memory.
constexpr uint32_t GRID_BARRIER_WORDS = 2;
// Most threads of a block of a probe.
constexpr uint32_t PROBE_THREADS = 256;
// Threads of a block of the convex contact solve, and elements whose sum is formed by one of its blocks.
constexpr uint32_t CONVEX_THREADS = 128;
// Sums that one pass forms at most.
constexpr uint32_t CONVEX_SUMS = 4;
// f64 rows of a touched node: see `kernels/convex.cuh`.
constexpr uint32_t CONVEX_NODE_ROWS = 20;
// f64 rows of a contact.
constexpr uint32_t CONVEX_CONTACT_ROWS = 30;
// Rows of a touched node in a linear system.
constexpr uint32_t CONVEX_SYSTEM_ROWS = 19;
// Along an axis with an offset of this or more all weight is on the node of number offset - 8: a contact of a node.
constexpr uint32_t CONVEX_ON_NODE = 8;
// Start of a solve: the free velocities.
constexpr uint32_t CONVEX_GUESS_FREE = 0;
// Start of a solve: between the free velocities and what the guessed impulses do.
constexpr uint32_t CONVEX_GUESS_IMPULSES = 1;
// Start of a solve: between the free velocities and the guessed ones.
constexpr uint32_t CONVEX_GUESS_VELOCITIES = 2;
// Start of a solve: the better of the guessed velocities and what the guessed impulses do.
constexpr uint32_t CONVEX_GUESS_SOLUTION = 3;
// End of a solve: there are no contacts.
constexpr uint32_t CONVEX_NO_CONTACTS = 0;
// End of a solve: the tolerance is reached.
constexpr uint32_t CONVEX_CONVERGED = 1;
// End of a solve: the gradient is below its rounding.
constexpr uint32_t CONVEX_STAGNATED = 2;
// End of a solve: too many iterations.
constexpr uint32_t CONVEX_ITERATION_LIMIT = 3;
// End of a solve: a number is not finite.
constexpr uint32_t CONVEX_NOT_FINITE = 4;
// End of a solve, before it began: more contacts or touched nodes than there is room for, or a node that the grid lacks.
constexpr uint32_t CONVEX_NO_ROOM = 5;

// Some bits of a key, by which a pass sorts.
struct SortDigit {
    // The lowest of the bits.
    uint32_t shift;
    // The bits once shifted: 2^bits - 1.
    uint32_t mask;
};
static_assert(sizeof(SortDigit) == 8 && alignof(SortDigit) == 4, "SortDigit");
static_assert(PLIANT_OFFSET(SortDigit, shift) == 0, "SortDigit::shift");
static_assert(PLIANT_OFFSET(SortDigit, mask) == 4, "SortDigit::mask");

// The grid: a node block of 4x4x4 nodes has 64 nodes in a row, z fastest.
struct GridNodes {
    // Velocity x, y, z [m/s] and mass [kg] of each node; nodes of zero mass are all zero.
    Span<Array<float, 4>> nodes;
    // Key of each node block; its first node is at 4 times the key.
    Span<Array<int32_t, 3>> keys;
    // The table that finds a node block by its key: `find_key` of `kernels/mpm.cuh`. Its length is a power of two.
    Span<uint64_t> table_keys;
    // Slot of the node block at each place of the table.
    Span<uint32_t> table_slots;
};
static_assert(sizeof(GridNodes) == 64 && alignof(GridNodes) == 8, "GridNodes");
static_assert(PLIANT_OFFSET(GridNodes, nodes) == 0, "GridNodes::nodes");
static_assert(PLIANT_OFFSET(GridNodes, keys) == 16, "GridNodes::keys");
static_assert(PLIANT_OFFSET(GridNodes, table_keys) == 32, "GridNodes::table_keys");
static_assert(PLIANT_OFFSET(GridNodes, table_slots) == 48, "GridNodes::table_slots");

// The contacts of a substep as the convex solve reads them, an element each; `count[0]` of them are there. Contacts
// with the same base node that follow one another are worked on together; any order is right.
struct ConvexContacts {
    // Number of contacts; one element.
    Span<uint32_t> count;
    // First node of the stencil, in nodes of the grid.
    Span<Array<int32_t, 3>> base;
    // The particle's place in cells from that node, in [0.5, 1.5]; or along an axis `CONVEX_ON_NODE` and more.
    Span<Array<float, 3>> offset;
    // Unit normal, outward from the body, world axes.
    Span<Array<float, 3>> normal;
    // The body's velocity at the contact point, world axes, in m/s.
    Span<Array<float, 3>> body_velocity;
    // Signed distance in m, negative when overlapping.
    Span<float> gap;
    // In N/m.
    Span<float> stiffness;
    // Coefficient of friction.
    Span<float> friction;
    // In N s, what bounds friction; of a bonded contact with the tension's impulse added.
    Span<float> lagged_normal_impulse;
    // Largest tension of a bonded contact in N, 0 without a bond.
    Span<float> tension;
    // Hunt-Crossley dissipation in s/m; empty where the setting holds for all.
    Span<float> dissipation;
    // Stiction tolerance in m/s; empty where the setting holds for all.
    Span<float> stiction_tolerance;
};
static_assert(sizeof(ConvexContacts) == 192 && alignof(ConvexContacts) == 8, "ConvexContacts");
static_assert(PLIANT_OFFSET(ConvexContacts, count) == 0, "ConvexContacts::count");
static_assert(PLIANT_OFFSET(ConvexContacts, base) == 16, "ConvexContacts::base");
static_assert(PLIANT_OFFSET(ConvexContacts, offset) == 32, "ConvexContacts::offset");
static_assert(PLIANT_OFFSET(ConvexContacts, normal) == 48, "ConvexContacts::normal");
static_assert(PLIANT_OFFSET(ConvexContacts, body_velocity) == 64, "ConvexContacts::body_velocity");
static_assert(PLIANT_OFFSET(ConvexContacts, gap) == 80, "ConvexContacts::gap");
static_assert(PLIANT_OFFSET(ConvexContacts, stiffness) == 96, "ConvexContacts::stiffness");
static_assert(PLIANT_OFFSET(ConvexContacts, friction) == 112, "ConvexContacts::friction");
static_assert(PLIANT_OFFSET(ConvexContacts, lagged_normal_impulse) == 128, "ConvexContacts::lagged_normal_impulse");
static_assert(PLIANT_OFFSET(ConvexContacts, tension) == 144, "ConvexContacts::tension");
static_assert(PLIANT_OFFSET(ConvexContacts, dissipation) == 160, "ConvexContacts::dissipation");
static_assert(PLIANT_OFFSET(ConvexContacts, stiction_tolerance) == 176, "ConvexContacts::stiction_tolerance");

// Which contacts touch which nodes.
struct ConvexIncidence {
    // Number of contacts, of groups, of touched nodes, and whether there was no room for them.
    Span<uint32_t> counts;
    // The group of each contact: consecutive contacts with one stencil.
    Span<uint32_t> contact_groups;
    // First contact of each group, and the number of contacts.
    Span<uint32_t> group_begin;
    // The touched nodes of each group's stencil, at `27 group + (3 i + j) 3 + k`.
    Span<uint32_t> group_nodes;
    // First incidence of each touched node, and the number of incidences.
    Span<uint32_t> node_begin;
    // Places in `group_nodes` of each touched node, ascending.
    Span<uint32_t> incidences;
    // Where each touched node lies in the grid.
    Span<uint32_t> slots;
};
static_assert(sizeof(ConvexIncidence) == 112 && alignof(ConvexIncidence) == 8, "ConvexIncidence");
static_assert(PLIANT_OFFSET(ConvexIncidence, counts) == 0, "ConvexIncidence::counts");
static_assert(PLIANT_OFFSET(ConvexIncidence, contact_groups) == 16, "ConvexIncidence::contact_groups");
static_assert(PLIANT_OFFSET(ConvexIncidence, group_begin) == 32, "ConvexIncidence::group_begin");
static_assert(PLIANT_OFFSET(ConvexIncidence, group_nodes) == 48, "ConvexIncidence::group_nodes");
static_assert(PLIANT_OFFSET(ConvexIncidence, node_begin) == 64, "ConvexIncidence::node_begin");
static_assert(PLIANT_OFFSET(ConvexIncidence, incidences) == 80, "ConvexIncidence::incidences");
static_assert(PLIANT_OFFSET(ConvexIncidence, slots) == 96, "ConvexIncidence::slots");

// Settings of a convex solve, in device memory so that they can change between runs of a recording.
struct ConvexSettings {
    // Length of the substep in s.
    double substep;
    // Hunt-Crossley dissipation in s/m of contacts without their own.
    double dissipation;
    // Stiction tolerance in m/s of contacts without their own.
    double stiction_tolerance;
    // Relative tolerance of the residual.
    double relative_tolerance;
    // Absolute tolerance of the residual in sqrt(J).
    double absolute_tolerance;
    // Most outer iterations.
    uint32_t max_iterations;
    // Most products of one linear system.
    uint32_t max_inner_iterations;
    // Where to start: `CONVEX_GUESS_FREE` and so on.
    uint32_t guess;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ConvexSettings) == 56 && alignof(ConvexSettings) == 8, "ConvexSettings");
static_assert(PLIANT_OFFSET(ConvexSettings, substep) == 0, "ConvexSettings::substep");
static_assert(PLIANT_OFFSET(ConvexSettings, dissipation) == 8, "ConvexSettings::dissipation");
static_assert(PLIANT_OFFSET(ConvexSettings, stiction_tolerance) == 16, "ConvexSettings::stiction_tolerance");
static_assert(PLIANT_OFFSET(ConvexSettings, relative_tolerance) == 24, "ConvexSettings::relative_tolerance");
static_assert(PLIANT_OFFSET(ConvexSettings, absolute_tolerance) == 32, "ConvexSettings::absolute_tolerance");
static_assert(PLIANT_OFFSET(ConvexSettings, max_iterations) == 40, "ConvexSettings::max_iterations");
static_assert(PLIANT_OFFSET(ConvexSettings, max_inner_iterations) == 44, "ConvexSettings::max_inner_iterations");
static_assert(PLIANT_OFFSET(ConvexSettings, guess) == 48, "ConvexSettings::guess");
static_assert(PLIANT_OFFSET(ConvexSettings, unused) == 52, "ConvexSettings::unused");

// What a convex solve did.
struct ConvexReport {
    // Residual at the end in sqrt(J).
    double residual;
    // What it had to be below in sqrt(J).
    double tolerance;
    // Objective at the end in J.
    double objective;
    // Why it ended: `CONVEX_CONVERGED` and so on.
    uint32_t stop;
    // Outer iterations.
    uint32_t iterations;
    // Products with the Hessian.
    uint32_t inner_iterations;
    // Evaluations of the objective's derivative along a direction.
    uint32_t line_search_iterations;
    // Number of contacts.
    uint32_t contacts;
    // Number of groups of contacts.
    uint32_t groups;
    // Number of touched nodes.
    uint32_t nodes;
    // Linear systems that were solved in double precision.
    uint32_t double_systems;
    // Linear systems that even double precision did not solve as far as asked.
    uint32_t unresolved_systems;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ConvexReport) == 64 && alignof(ConvexReport) == 8, "ConvexReport");
static_assert(PLIANT_OFFSET(ConvexReport, residual) == 0, "ConvexReport::residual");
static_assert(PLIANT_OFFSET(ConvexReport, tolerance) == 8, "ConvexReport::tolerance");
static_assert(PLIANT_OFFSET(ConvexReport, objective) == 16, "ConvexReport::objective");
static_assert(PLIANT_OFFSET(ConvexReport, stop) == 24, "ConvexReport::stop");
static_assert(PLIANT_OFFSET(ConvexReport, iterations) == 28, "ConvexReport::iterations");
static_assert(PLIANT_OFFSET(ConvexReport, inner_iterations) == 32, "ConvexReport::inner_iterations");
static_assert(PLIANT_OFFSET(ConvexReport, line_search_iterations) == 36, "ConvexReport::line_search_iterations");
static_assert(PLIANT_OFFSET(ConvexReport, contacts) == 40, "ConvexReport::contacts");
static_assert(PLIANT_OFFSET(ConvexReport, groups) == 44, "ConvexReport::groups");
static_assert(PLIANT_OFFSET(ConvexReport, nodes) == 48, "ConvexReport::nodes");
static_assert(PLIANT_OFFSET(ConvexReport, double_systems) == 52, "ConvexReport::double_systems");
static_assert(PLIANT_OFFSET(ConvexReport, unresolved_systems) == 56, "ConvexReport::unresolved_systems");
static_assert(PLIANT_OFFSET(ConvexReport, unused) == 60, "ConvexReport::unused");

// Exclusive prefix sums within tiles of `SCAN_TILE` elements, and the sum of each tile.
struct ScanTilesParameters {
    // Numbers to add up.
    Span<uint32_t> input;
    // Sum of the numbers before each one in its tile; may be `input`.
    Span<uint32_t> output;
    // Sum of each tile.
    Span<uint32_t> tile_sums;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ScanTilesParameters) == 56 && alignof(ScanTilesParameters) == 8, "ScanTilesParameters");
static_assert(PLIANT_OFFSET(ScanTilesParameters, input) == 0, "ScanTilesParameters::input");
static_assert(PLIANT_OFFSET(ScanTilesParameters, output) == 16, "ScanTilesParameters::output");
static_assert(PLIANT_OFFSET(ScanTilesParameters, tile_sums) == 32, "ScanTilesParameters::tile_sums");
static_assert(PLIANT_OFFSET(ScanTilesParameters, count) == 48, "ScanTilesParameters::count");
static_assert(PLIANT_OFFSET(ScanTilesParameters, unused) == 52, "ScanTilesParameters::unused");

// Exclusive prefix sums of the tiles' sums, in place, by a single block.
struct ScanTileSumsParameters {
    // Sum of each tile; becomes the sum of all tiles before it.
    Span<uint32_t> tile_sums;
    // The sum of everything; one element.
    Span<uint32_t> total;
    // Number of tiles.
    uint32_t tiles;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ScanTileSumsParameters) == 40 && alignof(ScanTileSumsParameters) == 8, "ScanTileSumsParameters");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, tile_sums) == 0, "ScanTileSumsParameters::tile_sums");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, total) == 16, "ScanTileSumsParameters::total");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, tiles) == 32, "ScanTileSumsParameters::tiles");
static_assert(PLIANT_OFFSET(ScanTileSumsParameters, unused) == 36, "ScanTileSumsParameters::unused");

// Adds to each element what lies before its tile.
struct ScanAddOffsetsParameters {
    // Prefix sums within tiles; become those of the whole.
    Span<uint32_t> output;
    // Sum of all tiles before each.
    Span<uint32_t> tile_offsets;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ScanAddOffsetsParameters) == 40 && alignof(ScanAddOffsetsParameters) == 8, "ScanAddOffsetsParameters");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, output) == 0, "ScanAddOffsetsParameters::output");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, tile_offsets) == 16, "ScanAddOffsetsParameters::tile_offsets");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, count) == 32, "ScanAddOffsetsParameters::count");
static_assert(PLIANT_OFFSET(ScanAddOffsetsParameters, unused) == 36, "ScanAddOffsetsParameters::unused");

// Counts how often each digit occurs in each tile of keys.
struct SortCountDigitsParameters {
    // Keys.
    Span<uint32_t> keys;
    // Occurrences at `digit * tiles + tile`.
    Span<uint32_t> counts;
    // Number of keys.
    uint32_t count;
    // Number of tiles.
    uint32_t tiles;
    // What to sort by.
    SortDigit digit;
};
static_assert(sizeof(SortCountDigitsParameters) == 48 && alignof(SortCountDigitsParameters) == 8, "SortCountDigitsParameters");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, keys) == 0, "SortCountDigitsParameters::keys");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, counts) == 16, "SortCountDigitsParameters::counts");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, count) == 32, "SortCountDigitsParameters::count");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, tiles) == 36, "SortCountDigitsParameters::tiles");
static_assert(PLIANT_OFFSET(SortCountDigitsParameters, digit) == 40, "SortCountDigitsParameters::digit");

// Moves keys and values to where their digit belongs, keys of equal digits in the order they had.
struct SortScatterParameters {
    // Keys.
    Span<uint32_t> keys;
    // A value for each key.
    Span<uint32_t> values;
    // Keys in the order of their digits.
    Span<uint32_t> sorted_keys;
    // Their values.
    Span<uint32_t> sorted_values;
    // Exclusive prefix sums of the counts of `Kernel::SortCountDigits`.
    Span<uint32_t> offsets;
    // Number of keys.
    uint32_t count;
    // Number of tiles.
    uint32_t tiles;
    // What to sort by.
    SortDigit digit;
};
static_assert(sizeof(SortScatterParameters) == 96 && alignof(SortScatterParameters) == 8, "SortScatterParameters");
static_assert(PLIANT_OFFSET(SortScatterParameters, keys) == 0, "SortScatterParameters::keys");
static_assert(PLIANT_OFFSET(SortScatterParameters, values) == 16, "SortScatterParameters::values");
static_assert(PLIANT_OFFSET(SortScatterParameters, sorted_keys) == 32, "SortScatterParameters::sorted_keys");
static_assert(PLIANT_OFFSET(SortScatterParameters, sorted_values) == 48, "SortScatterParameters::sorted_values");
static_assert(PLIANT_OFFSET(SortScatterParameters, offsets) == 64, "SortScatterParameters::offsets");
static_assert(PLIANT_OFFSET(SortScatterParameters, count) == 80, "SortScatterParameters::count");
static_assert(PLIANT_OFFSET(SortScatterParameters, tiles) == 84, "SortScatterParameters::tiles");
static_assert(PLIANT_OFFSET(SortScatterParameters, digit) == 88, "SortScatterParameters::digit");

// Sums of tiles of `REDUCE_TILE` f32 elements, in f64.
struct SumTilesF32Parameters {
    // Numbers to add up.
    Span<float> input;
    // Sum of each tile.
    Span<double> tile_sums;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(SumTilesF32Parameters) == 40 && alignof(SumTilesF32Parameters) == 8, "SumTilesF32Parameters");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, input) == 0, "SumTilesF32Parameters::input");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, tile_sums) == 16, "SumTilesF32Parameters::tile_sums");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, count) == 32, "SumTilesF32Parameters::count");
static_assert(PLIANT_OFFSET(SumTilesF32Parameters, unused) == 36, "SumTilesF32Parameters::unused");

// Sums of tiles of `REDUCE_TILE` f64 elements.
struct SumTilesF64Parameters {
    // Numbers to add up.
    Span<double> input;
    // Sum of each tile.
    Span<double> tile_sums;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(SumTilesF64Parameters) == 40 && alignof(SumTilesF64Parameters) == 8, "SumTilesF64Parameters");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, input) == 0, "SumTilesF64Parameters::input");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, tile_sums) == 16, "SumTilesF64Parameters::tile_sums");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, count) == 32, "SumTilesF64Parameters::count");
static_assert(PLIANT_OFFSET(SumTilesF64Parameters, unused) == 36, "SumTilesF64Parameters::unused");

// The sum of the tiles' sums, by a single block.
struct SumOfTilesParameters {
    // Sum of each tile.
    Span<double> tile_sums;
    // The sum of all; one element.
    Span<double> total;
    // Number of tiles.
    uint32_t tiles;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(SumOfTilesParameters) == 40 && alignof(SumOfTilesParameters) == 8, "SumOfTilesParameters");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, tile_sums) == 0, "SumOfTilesParameters::tile_sums");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, total) == 16, "SumOfTilesParameters::total");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, tiles) == 32, "SumOfTilesParameters::tiles");
static_assert(PLIANT_OFFSET(SumOfTilesParameters, unused) == 36, "SumOfTilesParameters::unused");

// Maxima of tiles of `REDUCE_TILE` f32 elements; NaN where there is one.
struct MaxTilesF32Parameters {
    // Numbers to compare.
    Span<float> input;
    // Maximum of each tile.
    Span<double> tile_maxima;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MaxTilesF32Parameters) == 40 && alignof(MaxTilesF32Parameters) == 8, "MaxTilesF32Parameters");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, input) == 0, "MaxTilesF32Parameters::input");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, tile_maxima) == 16, "MaxTilesF32Parameters::tile_maxima");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, count) == 32, "MaxTilesF32Parameters::count");
static_assert(PLIANT_OFFSET(MaxTilesF32Parameters, unused) == 36, "MaxTilesF32Parameters::unused");

// Maxima of tiles of `REDUCE_TILE` f64 elements; NaN where there is one.
struct MaxTilesF64Parameters {
    // Numbers to compare.
    Span<double> input;
    // Maximum of each tile.
    Span<double> tile_maxima;
    // Number of elements.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MaxTilesF64Parameters) == 40 && alignof(MaxTilesF64Parameters) == 8, "MaxTilesF64Parameters");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, input) == 0, "MaxTilesF64Parameters::input");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, tile_maxima) == 16, "MaxTilesF64Parameters::tile_maxima");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, count) == 32, "MaxTilesF64Parameters::count");
static_assert(PLIANT_OFFSET(MaxTilesF64Parameters, unused) == 36, "MaxTilesF64Parameters::unused");

// The maximum of the tiles' maxima, by a single block; minus infinity of none.
struct MaxOfTilesParameters {
    // Maximum of each tile.
    Span<double> tile_maxima;
    // The maximum of all; one element.
    Span<double> maximum;
    // Number of tiles.
    uint32_t tiles;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MaxOfTilesParameters) == 40 && alignof(MaxOfTilesParameters) == 8, "MaxOfTilesParameters");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, tile_maxima) == 0, "MaxOfTilesParameters::tile_maxima");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, maximum) == 16, "MaxOfTilesParameters::maximum");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, tiles) == 32, "MaxOfTilesParameters::tiles");
static_assert(PLIANT_OFFSET(MaxOfTilesParameters, unused) == 36, "MaxOfTilesParameters::unused");

// Probe: one operation of a warp on the lanes of a mask. Lanes outside it write nothing.
struct ProbeWarpParameters {
    // A value for each thread.
    Span<uint32_t> input;
    // What the operation gives each thread.
    Span<uint32_t> output;
    // Which operation: see `kernels/probe.cu`.
    uint32_t operation;
    // Lanes that take part.
    uint32_t mask;
    // Lane, distance or lane mask of a shuffle.
    uint32_t parameter;
    // Width of a shuffle.
    uint32_t width;
};
static_assert(sizeof(ProbeWarpParameters) == 48 && alignof(ProbeWarpParameters) == 8, "ProbeWarpParameters");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, input) == 0, "ProbeWarpParameters::input");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, output) == 16, "ProbeWarpParameters::output");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, operation) == 32, "ProbeWarpParameters::operation");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, mask) == 36, "ProbeWarpParameters::mask");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, parameter) == 40, "ProbeWarpParameters::parameter");
static_assert(PLIANT_OFFSET(ProbeWarpParameters, width) == 44, "ProbeWarpParameters::width");

// Probe: shuffles f64 values along the warp, by exclusive or.
struct ProbeShuffleF64Parameters {
    // A value for each thread.
    Span<double> input;
    // The value of lane `lane ^ lane_mask`.
    Span<double> output;
    // The lanes' difference.
    uint32_t lane_mask;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ProbeShuffleF64Parameters) == 40 && alignof(ProbeShuffleF64Parameters) == 8, "ProbeShuffleF64Parameters");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, input) == 0, "ProbeShuffleF64Parameters::input");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, output) == 16, "ProbeShuffleF64Parameters::output");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, lane_mask) == 32, "ProbeShuffleF64Parameters::lane_mask");
static_assert(PLIANT_OFFSET(ProbeShuffleF64Parameters, unused) == 36, "ProbeShuffleF64Parameters::unused");

// Probe: every thread applies each atomic operation to cells that all threads share.
struct ProbeAtomicsParameters {
    // An operand for each thread.
    Span<uint32_t> operands;
    // u32 cells: add, subtract, minimum, maximum, and, or, exclusive or, exchange, compare-and-swap count.
    Span<uint32_t> words;
    // i32 cells: add, minimum, maximum.
    Span<int32_t> integers;
    // u64 cells: add, minimum, maximum, exchange, compare-and-swap count.
    Span<uint64_t> longs;
    // f32 cells: add, exchange.
    Span<float> floats;
    // f64 cells: add, the same through compare-and-swap.
    Span<double> doubles;
    // What each thread found before it added 1 to the last u32 cell.
    Span<uint32_t> tickets;
    // Number of operands.
    uint32_t count;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ProbeAtomicsParameters) == 120 && alignof(ProbeAtomicsParameters) == 8, "ProbeAtomicsParameters");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, operands) == 0, "ProbeAtomicsParameters::operands");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, words) == 16, "ProbeAtomicsParameters::words");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, integers) == 32, "ProbeAtomicsParameters::integers");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, longs) == 48, "ProbeAtomicsParameters::longs");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, floats) == 64, "ProbeAtomicsParameters::floats");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, doubles) == 80, "ProbeAtomicsParameters::doubles");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, tickets) == 96, "ProbeAtomicsParameters::tickets");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, count) == 112, "ProbeAtomicsParameters::count");
static_assert(PLIANT_OFFSET(ProbeAtomicsParameters, unused) == 116, "ProbeAtomicsParameters::unused");

// Probe: each block turns its values by one place through shared memory, and counts with barriers.
struct ProbeBlockParameters {
    // A value for each thread.
    Span<uint32_t> input;
    // The value of the next thread in the block, by static shared memory.
    Span<uint32_t> next;
    // The value of the thread before in the block, by dynamic shared memory.
    Span<uint32_t> previous;
    // For each thread, how many values in the block are odd, whether all are, whether any is.
    Span<Array<uint32_t, 3>> votes;
};
static_assert(sizeof(ProbeBlockParameters) == 64 && alignof(ProbeBlockParameters) == 8, "ProbeBlockParameters");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, input) == 0, "ProbeBlockParameters::input");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, next) == 16, "ProbeBlockParameters::next");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, previous) == 32, "ProbeBlockParameters::previous");
static_assert(PLIANT_OFFSET(ProbeBlockParameters, votes) == 48, "ProbeBlockParameters::votes");

// Probe: blocks exchange values across barriers of the whole grid.
struct ProbeGridParameters {
    // Memory of the barrier, zero at first: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // A value a block, in two halves that take turns.
    Span<uint32_t> values;
    // Number of rounds; in each, a block's value becomes the sum of its two neighbours'.
    uint32_t rounds;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ProbeGridParameters) == 40 && alignof(ProbeGridParameters) == 8, "ProbeGridParameters");
static_assert(PLIANT_OFFSET(ProbeGridParameters, barrier) == 0, "ProbeGridParameters::barrier");
static_assert(PLIANT_OFFSET(ProbeGridParameters, values) == 16, "ProbeGridParameters::values");
static_assert(PLIANT_OFFSET(ProbeGridParameters, rounds) == 32, "ProbeGridParameters::rounds");
static_assert(PLIANT_OFFSET(ProbeGridParameters, unused) == 36, "ProbeGridParameters::unused");

// Probe: threads race for cells, so that the result tells the order they ran in.
struct ProbeRacesParameters {
    // The thread that wrote last; one element.
    Span<uint32_t> last;
    // A sum of f32 in the order of the threads; one element.
    Span<float> sum;
};
static_assert(sizeof(ProbeRacesParameters) == 32 && alignof(ProbeRacesParameters) == 8, "ProbeRacesParameters");
static_assert(PLIANT_OFFSET(ProbeRacesParameters, last) == 0, "ProbeRacesParameters::last");
static_assert(PLIANT_OFFSET(ProbeRacesParameters, sum) == 16, "ProbeRacesParameters::sum");

// Probe: bits and roots, a thread a value.
struct ProbeArithmeticParameters {
    // Values.
    Span<uint32_t> input;
    // For each value, its set bits, lowest set bit from 1, leading zeros, and bits reversed.
    Span<Array<uint32_t, 4>> bits;
    // For each value, the reciprocal root of 1 + the value, in f32 and in f64.
    Span<Array<double, 2>> roots;
};
static_assert(sizeof(ProbeArithmeticParameters) == 48 && alignof(ProbeArithmeticParameters) == 8, "ProbeArithmeticParameters");
static_assert(PLIANT_OFFSET(ProbeArithmeticParameters, input) == 0, "ProbeArithmeticParameters::input");
static_assert(PLIANT_OFFSET(ProbeArithmeticParameters, bits) == 16, "ProbeArithmeticParameters::bits");
static_assert(PLIANT_OFFSET(ProbeArithmeticParameters, roots) == 32, "ProbeArithmeticParameters::roots");

// Numbers the nodes that contacts touch, by blocks that stay.
struct ConvexNumberParameters {
    // The contacts; count, base nodes and offsets are read.
    ConvexContacts contacts;
    // Where their nodes are.
    GridNodes grid;
    // Which nodes they touch: the result.
    ConvexIncidence incidence;
    // Two tables of touched nodes that take turns, each a power of two long: the nodes' keys, 0 where free. The one that is not
    // written holds the nodes of the last solve.
    Span<uint64_t> table_keys;
    // The first place in `group_nodes` of the nodes of the table that is written.
    Span<uint32_t> table_first;
    // Numbers of the tables' nodes.
    Span<uint32_t> table_numbers;
    // Which table was written last, and how much of it less one; zero of nothing.
    Span<uint32_t> table_state;
    // Velocity of each touched node after the last solve, by its numbers, in m/s.
    Span<Array<double, 3>> velocities;
    // The same by the new numbers, or the free velocity where the last solve did not have the node.
    Span<Array<double, 3>> guess_velocities;
    // Incidences of each touched node.
    Span<uint32_t> node_counts;
    // A sum for each block.
    Span<uint32_t> block_sums;
    // Memory of the barrier: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // Contacts there is room for.
    uint32_t contact_capacity;
    // Touched nodes there is room for.
    uint32_t node_capacity;
};
static_assert(sizeof(ConvexNumberParameters) == 520 && alignof(ConvexNumberParameters) == 8, "ConvexNumberParameters");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, contacts) == 0, "ConvexNumberParameters::contacts");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, grid) == 192, "ConvexNumberParameters::grid");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, incidence) == 256, "ConvexNumberParameters::incidence");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_keys) == 368, "ConvexNumberParameters::table_keys");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_first) == 384, "ConvexNumberParameters::table_first");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_numbers) == 400, "ConvexNumberParameters::table_numbers");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, table_state) == 416, "ConvexNumberParameters::table_state");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, velocities) == 432, "ConvexNumberParameters::velocities");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, guess_velocities) == 448, "ConvexNumberParameters::guess_velocities");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, node_counts) == 464, "ConvexNumberParameters::node_counts");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, block_sums) == 480, "ConvexNumberParameters::block_sums");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, barrier) == 496, "ConvexNumberParameters::barrier");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, contact_capacity) == 512, "ConvexNumberParameters::contact_capacity");
static_assert(PLIANT_OFFSET(ConvexNumberParameters, node_capacity) == 516, "ConvexNumberParameters::node_capacity");

// The whole convex contact solve, by blocks that stay.
struct ConvexSolveParameters {
    // The contacts.
    ConvexContacts contacts;
    // Which nodes they touch.
    ConvexIncidence incidence;
    // Settings; one element.
    Span<ConvexSettings> settings;
    // Free velocity in m/s and mass in kg of the grid's nodes; touched nodes get their new velocity.
    Span<Array<float, 4>> grid;
    // Guessed velocities of the touched nodes in m/s.
    Span<Array<double, 3>> guess_velocities;
    // Guessed impulses of the contacts on the particles in N s; may be short.
    Span<Array<float, 3>> guess_impulses;
    // Velocity of each touched node in m/s.
    Span<Array<double, 3>> velocities;
    // Impulse of the contacts on each touched node in N s.
    Span<Array<double, 3>> node_impulses;
    // Impulse of each contact on its particle in N s.
    Span<Array<double, 3>> impulses;
    // What happened; one element.
    Span<ConvexReport> report;
    // Objective, residual, tolerance and scale of the first iterates.
    Span<Array<double, 4>> trace;
    // Memory of touched nodes, row by row.
    Span<double> node_rows;
    // Memory of contacts, row by row.
    Span<double> contact_rows;
    // The linear system in single precision: rows of the nodes.
    Span<float> single_rows;
    // Hessians of the contacts.
    Span<float> single_hessians;
    // Scaled directions of the nodes.
    Span<Array<float, 4>> single_directions;
    // Images of the contacts.
    Span<Array<float, 4>> single_images;
    // In double precision: rows of the nodes.
    Span<double> double_rows;
    // Scaled directions of the nodes.
    Span<Array<double, 4>> double_directions;
    // Images of the contacts.
    Span<Array<double, 4>> double_images;
    // Sums of tiles, twice `CONVEX_SUMS` rows.
    Span<double> tile_sums;
    // Memory of the barrier: `GRID_BARRIER_WORDS` words.
    Span<uint32_t> barrier;
    // Length of a row of contacts.
    uint32_t contact_capacity;
    // Length of a row of touched nodes.
    uint32_t node_capacity;
};
static_assert(sizeof(ConvexSolveParameters) == 632 && alignof(ConvexSolveParameters) == 8, "ConvexSolveParameters");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, contacts) == 0, "ConvexSolveParameters::contacts");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, incidence) == 192, "ConvexSolveParameters::incidence");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, settings) == 304, "ConvexSolveParameters::settings");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, grid) == 320, "ConvexSolveParameters::grid");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, guess_velocities) == 336, "ConvexSolveParameters::guess_velocities");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, guess_impulses) == 352, "ConvexSolveParameters::guess_impulses");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, velocities) == 368, "ConvexSolveParameters::velocities");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, node_impulses) == 384, "ConvexSolveParameters::node_impulses");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, impulses) == 400, "ConvexSolveParameters::impulses");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, report) == 416, "ConvexSolveParameters::report");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, trace) == 432, "ConvexSolveParameters::trace");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, node_rows) == 448, "ConvexSolveParameters::node_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, contact_rows) == 464, "ConvexSolveParameters::contact_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_rows) == 480, "ConvexSolveParameters::single_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_hessians) == 496, "ConvexSolveParameters::single_hessians");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_directions) == 512, "ConvexSolveParameters::single_directions");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, single_images) == 528, "ConvexSolveParameters::single_images");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, double_rows) == 544, "ConvexSolveParameters::double_rows");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, double_directions) == 560, "ConvexSolveParameters::double_directions");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, double_images) == 576, "ConvexSolveParameters::double_images");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, tile_sums) == 592, "ConvexSolveParameters::tile_sums");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, barrier) == 608, "ConvexSolveParameters::barrier");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, contact_capacity) == 624, "ConvexSolveParameters::contact_capacity");
static_assert(PLIANT_OFFSET(ConvexSolveParameters, node_capacity) == 628, "ConvexSolveParameters::node_capacity");

// Probe, emulated only: breaks one rule, so that a test can see it told.
struct ProbeMisuseParameters {
    // Memory to miss.
    Span<uint32_t> cells;
    // Which rule: see `kernels/misuse.cu`.
    uint32_t rule;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ProbeMisuseParameters) == 24 && alignof(ProbeMisuseParameters) == 8, "ProbeMisuseParameters");
static_assert(PLIANT_OFFSET(ProbeMisuseParameters, cells) == 0, "ProbeMisuseParameters::cells");
static_assert(PLIANT_OFFSET(ProbeMisuseParameters, rule) == 16, "ProbeMisuseParameters::rule");
static_assert(PLIANT_OFFSET(ProbeMisuseParameters, unused) == 20, "ProbeMisuseParameters::unused");
