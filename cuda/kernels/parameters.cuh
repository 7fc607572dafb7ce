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
// Rows of `ParticleRows`.
constexpr uint32_t MPM_ROWS = 33;
// Nodes of a node block, and cells of a particle block.
constexpr uint32_t MPM_BLOCK_NODES = 64;
// Blocks around a block, itself included.
constexpr uint32_t MPM_NEIGHBOURS = 27;
// Nodes of a window: what the particles of a block reach between two sorts.
constexpr uint32_t MPM_WINDOW_NODES = 1000;
// Threads of a block of the particles' passes to the grid, and back, of a sort's kernels and of the account's closing.
constexpr uint32_t P2G_THREADS = 64;
// See `P2G_THREADS`.
constexpr uint32_t G2P_THREADS = 128;
// See `P2G_THREADS`.
constexpr uint32_t MPM_SORT_THREADS = 256;
// See `P2G_THREADS`.
constexpr uint32_t MPM_CLOSE_THREADS = 256;
// Entries of an account of momentum: mass; impulse of gravity, linear and angular; impulse of the boundary conditions, linear and
// angular; work.
constexpr uint32_t MPM_ACCOUNT = 14;
// A particle that moves more cells than this in a substep and leaves its window is lost.
constexpr uint32_t MPM_LOST_CELLS = 2;
// Blocks along an axis from the origin, exclusive.
constexpr uint32_t MPM_KEY_LIMIT = 1048575;
// Words of the status: how many substeps of the step may run, 2^32 - 1 for all.
constexpr uint32_t MPM_STATUS_LIMIT = 0;
// Why not all of them.
constexpr uint32_t MPM_STATUS_FLAGS = 1;
// 2^32 - 1 less the lost particle's id.
constexpr uint32_t MPM_STATUS_LOST = 2;
// Bits of the square of the largest speed after the last substep [m^2/s^2], as f32.
constexpr uint32_t MPM_STATUS_SPEED = 3;
// Number of words.
constexpr uint32_t MPM_STATUS_WORDS = 4;
// Flag: a particle left its window, and a sort is due.
constexpr uint32_t MPM_DRIFTED = 1;
// Flag: a particle is lost.
constexpr uint32_t MPM_LOST = 2;
// Flag: more particle blocks than there is room for.
constexpr uint32_t MPM_TOO_MANY_PARTICLE_BLOCKS = 4;
// Flag: more node blocks than there is room for.
constexpr uint32_t MPM_TOO_MANY_NODE_BLOCKS = 8;
// Flag: a block is too far from the origin.
constexpr uint32_t MPM_OUT_OF_RANGE = 16;
// Model of a material: fixed corotated elasticity.
constexpr uint32_t MPM_FIXED_COROTATED = 0;
// Neo-Hookean elasticity.
constexpr uint32_t MPM_NEO_HOOKEAN = 1;
// Linear corotated elasticity.
constexpr uint32_t MPM_LINEAR_COROTATED = 2;
// Von Mises plasticity.
constexpr uint32_t MPM_VON_MISES = 3;
// Drucker-Prager plasticity.
constexpr uint32_t MPM_DRUCKER_PRAGER = 4;
// Boundary condition of a plane: sticky.
constexpr uint32_t MPM_STICKY = 0;
// Slip without friction.
constexpr uint32_t MPM_SLIP = 1;
// Slip with friction.
constexpr uint32_t MPM_FRICTIONAL = 2;

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

// Particles in device memory, sorted by cell at the start of a step. Row r of particle i is `rows[r * stride + i]`.
//
// Rows 0..3: position, cells from the corner of its block of 4x4x4 cells; 3..6: velocity [m/s]; 6..15: affine field C by rows [1/s];
// 15..24: deformation gradient by rows; 24: the model's history; 25: mass [kg]; 26: rest volume [m^3]; 27..33: Kirchhoff stress times
// rest volume [J] as xx, yy, zz, xy, xz, yz. All in the world frame.
struct ParticleRows {
    // `MPM_ROWS` rows.
    Span<float> rows;
    // The order in which each was added.
    Span<uint32_t> ids;
    // Index of each one's material.
    Span<uint32_t> materials;
    // Slot of each one's block.
    Span<uint32_t> blocks;
    // Key of each block; its corner is at 4 times the key [cells].
    Span<Array<int32_t, 3>> block_keys;
    // Number of particles.
    uint32_t count;
    // Elements from one row to the next.
    uint32_t stride;
};
static_assert(sizeof(ParticleRows) == 88 && alignof(ParticleRows) == 8, "ParticleRows");
static_assert(PLIANT_OFFSET(ParticleRows, rows) == 0, "ParticleRows::rows");
static_assert(PLIANT_OFFSET(ParticleRows, ids) == 16, "ParticleRows::ids");
static_assert(PLIANT_OFFSET(ParticleRows, materials) == 32, "ParticleRows::materials");
static_assert(PLIANT_OFFSET(ParticleRows, blocks) == 48, "ParticleRows::blocks");
static_assert(PLIANT_OFFSET(ParticleRows, block_keys) == 64, "ParticleRows::block_keys");
static_assert(PLIANT_OFFSET(ParticleRows, count) == 80, "ParticleRows::count");
static_assert(PLIANT_OFFSET(ParticleRows, stride) == 84, "ParticleRows::stride");

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

// What may change from step to step.
struct MpmSettings {
    // Substep times gravity, world frame [m/s].
    Array<double, 3> gravity_step;
    // Grid spacing h [m].
    double grid_spacing_f64;
    // Grid spacing h [m].
    float grid_spacing;
    // Substep [s].
    float delta;
};
static_assert(sizeof(MpmSettings) == 40 && alignof(MpmSettings) == 8, "MpmSettings");
static_assert(PLIANT_OFFSET(MpmSettings, gravity_step) == 0, "MpmSettings::gravity_step");
static_assert(PLIANT_OFFSET(MpmSettings, grid_spacing_f64) == 24, "MpmSettings::grid_spacing_f64");
static_assert(PLIANT_OFFSET(MpmSettings, grid_spacing) == 32, "MpmSettings::grid_spacing");
static_assert(PLIANT_OFFSET(MpmSettings, delta) == 36, "MpmSettings::delta");

// A material.
struct MpmMaterial {
    // Which model: `MPM_FIXED_COROTATED` and those after it.
    uint32_t model;
    // Shear modulus [Pa].
    float mu;
    // First Lame parameter [Pa].
    float lambda;
    // Von Mises: largest |dev e|; Drucker-Prager: slope of the cone, -|dev e| / tr e on it (no unit).
    float yield_strain;
};
static_assert(sizeof(MpmMaterial) == 16 && alignof(MpmMaterial) == 4, "MpmMaterial");
static_assert(PLIANT_OFFSET(MpmMaterial, model) == 0, "MpmMaterial::model");
static_assert(PLIANT_OFFSET(MpmMaterial, mu) == 4, "MpmMaterial::mu");
static_assert(PLIANT_OFFSET(MpmMaterial, lambda) == 8, "MpmMaterial::lambda");
static_assert(PLIANT_OFFSET(MpmMaterial, yield_strain) == 12, "MpmMaterial::yield_strain");

// A boundary condition.
struct MpmPlane {
    // Unit normal into the domain.
    Array<double, 3> normal_f64;
    // Cells from the origin along the normal.
    double offset;
    // Unit normal into the domain.
    Array<float, 3> normal;
    // Coefficient of friction.
    float friction;
    // Which condition: `MPM_STICKY` and those after it.
    uint32_t kind;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmPlane) == 56 && alignof(MpmPlane) == 8, "MpmPlane");
static_assert(PLIANT_OFFSET(MpmPlane, normal_f64) == 0, "MpmPlane::normal_f64");
static_assert(PLIANT_OFFSET(MpmPlane, offset) == 24, "MpmPlane::offset");
static_assert(PLIANT_OFFSET(MpmPlane, normal) == 32, "MpmPlane::normal");
static_assert(PLIANT_OFFSET(MpmPlane, friction) == 44, "MpmPlane::friction");
static_assert(PLIANT_OFFSET(MpmPlane, kind) == 48, "MpmPlane::kind");
static_assert(PLIANT_OFFSET(MpmPlane, unused) == 52, "MpmPlane::unused");

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

// Sorts particles, 1: each one's block, into the table.
struct MpmSortClassifyParameters {
    // Particles.
    ParticleRows particles;
    // Table of particle blocks: keys, zero at first.
    Span<uint64_t> table_keys;
    // For each place, 2^32 - 1 less its first particle; zero at first.
    Span<uint32_t> table_first;
    // Each particle's place in the table.
    Span<uint32_t> places;
    // Each particle's cell in its block.
    Span<uint32_t> cells;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortClassifyParameters) == 176 && alignof(MpmSortClassifyParameters) == 8, "MpmSortClassifyParameters");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, particles) == 0, "MpmSortClassifyParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, table_keys) == 88, "MpmSortClassifyParameters::table_keys");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, table_first) == 104, "MpmSortClassifyParameters::table_first");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, places) == 120, "MpmSortClassifyParameters::places");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, cells) == 136, "MpmSortClassifyParameters::cells");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, status) == 152, "MpmSortClassifyParameters::status");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, substep) == 168, "MpmSortClassifyParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortClassifyParameters, unused) == 172, "MpmSortClassifyParameters::unused");

// Sorts particles, 2: marks the first of each block.
struct MpmSortMarkFirstParameters {
    // Each particle's place in the table.
    Span<uint32_t> places;
    // For each place, 2^32 - 1 less its first particle.
    Span<uint32_t> table_first;
    // One for the first particle of a block, zero for others.
    Span<uint32_t> is_first;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortMarkFirstParameters) == 72 && alignof(MpmSortMarkFirstParameters) == 8, "MpmSortMarkFirstParameters");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, places) == 0, "MpmSortMarkFirstParameters::places");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, table_first) == 16, "MpmSortMarkFirstParameters::table_first");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, is_first) == 32, "MpmSortMarkFirstParameters::is_first");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, status) == 48, "MpmSortMarkFirstParameters::status");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, substep) == 64, "MpmSortMarkFirstParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortMarkFirstParameters, unused) == 68, "MpmSortMarkFirstParameters::unused");

// Sorts particles, 3: numbers the blocks.
struct MpmSortNumberBlocksParameters {
    // Particles.
    ParticleRows particles;
    // Whether a particle is the first of its block.
    Span<uint32_t> is_first;
    // How many blocks have their first particle before each one.
    Span<uint32_t> numbers;
    // Each particle's place in the table.
    Span<uint32_t> places;
    // Number of the block at each place.
    Span<uint32_t> table_numbers;
    // Key of each block.
    Span<Array<int32_t, 3>> new_keys;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortNumberBlocksParameters) == 192 && alignof(MpmSortNumberBlocksParameters) == 8, "MpmSortNumberBlocksParameters");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, particles) == 0, "MpmSortNumberBlocksParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, is_first) == 88, "MpmSortNumberBlocksParameters::is_first");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, numbers) == 104, "MpmSortNumberBlocksParameters::numbers");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, places) == 120, "MpmSortNumberBlocksParameters::places");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, table_numbers) == 136, "MpmSortNumberBlocksParameters::table_numbers");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, new_keys) == 152, "MpmSortNumberBlocksParameters::new_keys");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, status) == 168, "MpmSortNumberBlocksParameters::status");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, substep) == 184, "MpmSortNumberBlocksParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortNumberBlocksParameters, unused) == 188, "MpmSortNumberBlocksParameters::unused");

// Sorts particles, 4: what to sort by.
struct MpmSortMakeKeysParameters {
    // Each particle's place in the table.
    Span<uint32_t> places;
    // Each particle's cell.
    Span<uint32_t> cells;
    // Number of the block at each place.
    Span<uint32_t> table_numbers;
    // Block and cell of each particle.
    Span<uint32_t> keys;
    // Each particle's index.
    Span<uint32_t> order;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortMakeKeysParameters) == 104 && alignof(MpmSortMakeKeysParameters) == 8, "MpmSortMakeKeysParameters");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, places) == 0, "MpmSortMakeKeysParameters::places");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, cells) == 16, "MpmSortMakeKeysParameters::cells");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, table_numbers) == 32, "MpmSortMakeKeysParameters::table_numbers");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, keys) == 48, "MpmSortMakeKeysParameters::keys");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, order) == 64, "MpmSortMakeKeysParameters::order");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, status) == 80, "MpmSortMakeKeysParameters::status");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, substep) == 96, "MpmSortMakeKeysParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortMakeKeysParameters, unused) == 100, "MpmSortMakeKeysParameters::unused");

// Sorts particles, 5: gathers them in their new order.
struct MpmSortGatherParameters {
    // Particles.
    ParticleRows particles;
    // Block and cell of each, sorted.
    Span<uint32_t> keys;
    // Where each one was.
    Span<uint32_t> order;
    // Key of each block.
    Span<Array<int32_t, 3>> new_keys;
    // First particle of each block, and the end of the last.
    Span<uint32_t> block_starts;
    // Rows in the new order.
    Span<float> spare_rows;
    // Ids in the new order.
    Span<uint32_t> spare_ids;
    // Materials in the new order.
    Span<uint32_t> spare_materials;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortGatherParameters) == 224 && alignof(MpmSortGatherParameters) == 8, "MpmSortGatherParameters");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, particles) == 0, "MpmSortGatherParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, keys) == 88, "MpmSortGatherParameters::keys");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, order) == 104, "MpmSortGatherParameters::order");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, new_keys) == 120, "MpmSortGatherParameters::new_keys");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, block_starts) == 136, "MpmSortGatherParameters::block_starts");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, spare_rows) == 152, "MpmSortGatherParameters::spare_rows");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, spare_ids) == 168, "MpmSortGatherParameters::spare_ids");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, spare_materials) == 184, "MpmSortGatherParameters::spare_materials");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, status) == 200, "MpmSortGatherParameters::status");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, substep) == 216, "MpmSortGatherParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortGatherParameters, unused) == 220, "MpmSortGatherParameters::unused");

// Sorts particles, 6: puts them back.
struct MpmSortStoreParameters {
    // Particles.
    ParticleRows particles;
    // Block and cell of each, sorted.
    Span<uint32_t> keys;
    // Key of each block.
    Span<Array<int32_t, 3>> new_keys;
    // Rows in the new order.
    Span<float> spare_rows;
    // Ids in the new order.
    Span<uint32_t> spare_ids;
    // Materials in the new order.
    Span<uint32_t> spare_materials;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortStoreParameters) == 192 && alignof(MpmSortStoreParameters) == 8, "MpmSortStoreParameters");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, particles) == 0, "MpmSortStoreParameters::particles");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, keys) == 88, "MpmSortStoreParameters::keys");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, new_keys) == 104, "MpmSortStoreParameters::new_keys");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, spare_rows) == 120, "MpmSortStoreParameters::spare_rows");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, spare_ids) == 136, "MpmSortStoreParameters::spare_ids");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, spare_materials) == 152, "MpmSortStoreParameters::spare_materials");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, status) == 168, "MpmSortStoreParameters::status");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, substep) == 184, "MpmSortStoreParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortStoreParameters, unused) == 188, "MpmSortStoreParameters::unused");

// Finds node blocks, 1: for each particle block and neighbour, the first pair that names the same node block.
struct MpmSortFindOwnersParameters {
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // Key of each particle block.
    Span<Array<int32_t, 3>> block_keys;
    // Table of particle blocks.
    Span<uint64_t> table_keys;
    // Number of the block at each place.
    Span<uint32_t> table_numbers;
    // That pair: 27 times the particle block and the neighbour.
    Span<uint32_t> owners;
    // One where it is the pair itself, zero elsewhere and beyond the last block.
    Span<uint32_t> is_owner;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortFindOwnersParameters) == 120 && alignof(MpmSortFindOwnersParameters) == 8, "MpmSortFindOwnersParameters");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, block_count) == 0, "MpmSortFindOwnersParameters::block_count");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, block_keys) == 16, "MpmSortFindOwnersParameters::block_keys");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, table_keys) == 32, "MpmSortFindOwnersParameters::table_keys");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, table_numbers) == 48, "MpmSortFindOwnersParameters::table_numbers");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, owners) == 64, "MpmSortFindOwnersParameters::owners");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, is_owner) == 80, "MpmSortFindOwnersParameters::is_owner");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, status) == 96, "MpmSortFindOwnersParameters::status");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, substep) == 112, "MpmSortFindOwnersParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortFindOwnersParameters, unused) == 116, "MpmSortFindOwnersParameters::unused");

// Finds node blocks, 2: gives them their slots.
struct MpmSortPlaceNodesParameters {
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // Key of each particle block.
    Span<Array<int32_t, 3>> block_keys;
    // The pair that gives each its slot.
    Span<uint32_t> owners;
    // Slots of the pairs that do.
    Span<uint32_t> slots;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
    // Particle blocks around each node block, plus one; zero at first.
    Span<uint32_t> particles_of_nodes;
    // Keys and table of node blocks, the table's keys zero at first.
    GridNodes grid;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep that comes after the sort.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmSortPlaceNodesParameters) == 184 && alignof(MpmSortPlaceNodesParameters) == 8, "MpmSortPlaceNodesParameters");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, block_count) == 0, "MpmSortPlaceNodesParameters::block_count");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, block_keys) == 16, "MpmSortPlaceNodesParameters::block_keys");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, owners) == 32, "MpmSortPlaceNodesParameters::owners");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, slots) == 48, "MpmSortPlaceNodesParameters::slots");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, nodes_of_particles) == 64, "MpmSortPlaceNodesParameters::nodes_of_particles");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, particles_of_nodes) == 80, "MpmSortPlaceNodesParameters::particles_of_nodes");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, grid) == 96, "MpmSortPlaceNodesParameters::grid");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, status) == 160, "MpmSortPlaceNodesParameters::status");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, substep) == 176, "MpmSortPlaceNodesParameters::substep");
static_assert(PLIANT_OFFSET(MpmSortPlaceNodesParameters, unused) == 180, "MpmSortPlaceNodesParameters::unused");

// Particles to grid, a block of threads a particle block, into its window.
struct MpmParticlesToGridParameters {
    // Particles.
    ParticleRows particles;
    // One element.
    Span<MpmSettings> settings;
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // First particle of each block, and the end of the last.
    Span<uint32_t> block_starts;
    // Momentum [N s] and mass [kg] of `MPM_WINDOW_NODES` nodes a particle block.
    Span<Array<float, 4>> windows;
    // Bounds of the box in each window that is filled: lowest node, then the end.
    Span<Array<int32_t, 6>> boxes;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmParticlesToGridParameters) == 192 && alignof(MpmParticlesToGridParameters) == 8, "MpmParticlesToGridParameters");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, particles) == 0, "MpmParticlesToGridParameters::particles");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, settings) == 88, "MpmParticlesToGridParameters::settings");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, block_count) == 104, "MpmParticlesToGridParameters::block_count");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, block_starts) == 120, "MpmParticlesToGridParameters::block_starts");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, windows) == 136, "MpmParticlesToGridParameters::windows");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, boxes) == 152, "MpmParticlesToGridParameters::boxes");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, status) == 168, "MpmParticlesToGridParameters::status");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, substep) == 184, "MpmParticlesToGridParameters::substep");
static_assert(PLIANT_OFFSET(MpmParticlesToGridParameters, unused) == 188, "MpmParticlesToGridParameters::unused");

// Particles to grid by atomic additions, a block of threads a particle block.
struct MpmAtomicToGridParameters {
    // As without atomics; the windows are not used.
    MpmParticlesToGridParameters transfer;
    // Momentum [N s] and mass [kg] of each node; zero at first.
    Span<Array<float, 4>> nodes;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
};
static_assert(sizeof(MpmAtomicToGridParameters) == 224 && alignof(MpmAtomicToGridParameters) == 8, "MpmAtomicToGridParameters");
static_assert(PLIANT_OFFSET(MpmAtomicToGridParameters, transfer) == 0, "MpmAtomicToGridParameters::transfer");
static_assert(PLIANT_OFFSET(MpmAtomicToGridParameters, nodes) == 192, "MpmAtomicToGridParameters::nodes");
static_assert(PLIANT_OFFSET(MpmAtomicToGridParameters, nodes_of_particles) == 208, "MpmAtomicToGridParameters::nodes_of_particles");

// The grid pass: momenta from the windows, or from the nodes themselves where there are no windows; free motion, boundary conditions, account.
struct MpmGridParameters {
    // The grid.
    GridNodes grid;
    // One element.
    Span<MpmSettings> settings;
    // Number of node blocks; one element.
    Span<uint32_t> node_count;
    // Particle blocks around each node block, plus one; zero for none.
    Span<uint32_t> particles_of_nodes;
    // The windows.
    Span<Array<float, 4>> windows;
    // Their boxes.
    Span<Array<int32_t, 6>> boxes;
    // Boundary conditions.
    Span<MpmPlane> planes;
    // Account of each node block: `MPM_ACCOUNT` entries, summed over the substeps.
    Span<double> accounts;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmGridParameters) == 200 && alignof(MpmGridParameters) == 8, "MpmGridParameters");
static_assert(PLIANT_OFFSET(MpmGridParameters, grid) == 0, "MpmGridParameters::grid");
static_assert(PLIANT_OFFSET(MpmGridParameters, settings) == 64, "MpmGridParameters::settings");
static_assert(PLIANT_OFFSET(MpmGridParameters, node_count) == 80, "MpmGridParameters::node_count");
static_assert(PLIANT_OFFSET(MpmGridParameters, particles_of_nodes) == 96, "MpmGridParameters::particles_of_nodes");
static_assert(PLIANT_OFFSET(MpmGridParameters, windows) == 112, "MpmGridParameters::windows");
static_assert(PLIANT_OFFSET(MpmGridParameters, boxes) == 128, "MpmGridParameters::boxes");
static_assert(PLIANT_OFFSET(MpmGridParameters, planes) == 144, "MpmGridParameters::planes");
static_assert(PLIANT_OFFSET(MpmGridParameters, accounts) == 160, "MpmGridParameters::accounts");
static_assert(PLIANT_OFFSET(MpmGridParameters, status) == 176, "MpmGridParameters::status");
static_assert(PLIANT_OFFSET(MpmGridParameters, substep) == 192, "MpmGridParameters::substep");
static_assert(PLIANT_OFFSET(MpmGridParameters, unused) == 196, "MpmGridParameters::unused");

// Adds the node blocks' accounts to the step's, and clears them; by a single block.
struct MpmCloseAccountParameters {
    // Number of node blocks; one element.
    Span<uint32_t> node_count;
    // Account of each node block.
    Span<double> accounts;
    // The step's; `MPM_ACCOUNT` elements.
    Span<double> total;
};
static_assert(sizeof(MpmCloseAccountParameters) == 48 && alignof(MpmCloseAccountParameters) == 8, "MpmCloseAccountParameters");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, node_count) == 0, "MpmCloseAccountParameters::node_count");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, accounts) == 16, "MpmCloseAccountParameters::accounts");
static_assert(PLIANT_OFFSET(MpmCloseAccountParameters, total) == 32, "MpmCloseAccountParameters::total");

// Grid to particles, motion, return mapping and stress.
struct MpmGridToParticlesParameters {
    // Particles.
    ParticleRows particles;
    // The grid.
    GridNodes grid;
    // One element.
    Span<MpmSettings> settings;
    // Materials.
    Span<MpmMaterial> materials;
    // Number of particle blocks; one element.
    Span<uint32_t> block_count;
    // First particle of each block, and the end of the last.
    Span<uint32_t> block_starts;
    // Boxes of the windows.
    Span<Array<int32_t, 6>> boxes;
    // Node blocks around each particle block.
    Span<uint32_t> nodes_of_particles;
    // See `MPM_STATUS_LIMIT`.
    Span<uint32_t> status;
    // The substep in the step.
    uint32_t substep;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(MpmGridToParticlesParameters) == 272 && alignof(MpmGridToParticlesParameters) == 8, "MpmGridToParticlesParameters");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, particles) == 0, "MpmGridToParticlesParameters::particles");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, grid) == 88, "MpmGridToParticlesParameters::grid");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, settings) == 152, "MpmGridToParticlesParameters::settings");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, materials) == 168, "MpmGridToParticlesParameters::materials");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, block_count) == 184, "MpmGridToParticlesParameters::block_count");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, block_starts) == 200, "MpmGridToParticlesParameters::block_starts");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, boxes) == 216, "MpmGridToParticlesParameters::boxes");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, nodes_of_particles) == 232, "MpmGridToParticlesParameters::nodes_of_particles");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, status) == 248, "MpmGridToParticlesParameters::status");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, substep) == 264, "MpmGridToParticlesParameters::substep");
static_assert(PLIANT_OFFSET(MpmGridToParticlesParameters, unused) == 268, "MpmGridToParticlesParameters::unused");

// Probe: finds node blocks by their keys.
struct ProbeFindNodesParameters {
    // The grid.
    GridNodes grid;
    // Keys.
    Span<Array<int32_t, 3>> keys;
    // Slot of each one's block; 2^32 - 1 where there is none.
    Span<uint32_t> slots;
};
static_assert(sizeof(ProbeFindNodesParameters) == 96 && alignof(ProbeFindNodesParameters) == 8, "ProbeFindNodesParameters");
static_assert(PLIANT_OFFSET(ProbeFindNodesParameters, grid) == 0, "ProbeFindNodesParameters::grid");
static_assert(PLIANT_OFFSET(ProbeFindNodesParameters, keys) == 64, "ProbeFindNodesParameters::keys");
static_assert(PLIANT_OFFSET(ProbeFindNodesParameters, slots) == 80, "ProbeFindNodesParameters::slots");

// Probe: a material's response to trial deformation gradients.
struct ProbeConstitutiveParameters {
    // Materials.
    Span<MpmMaterial> materials;
    // Deformation gradients by rows, and the history.
    Span<Array<float, 10>> trials;
    // Deformation gradient by rows, history, Kirchhoff stress [Pa] as xx, yy, zz, xy, xz, yz.
    Span<Array<float, 16>> responses;
    // Which material.
    uint32_t material;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ProbeConstitutiveParameters) == 56 && alignof(ProbeConstitutiveParameters) == 8, "ProbeConstitutiveParameters");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, materials) == 0, "ProbeConstitutiveParameters::materials");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, trials) == 16, "ProbeConstitutiveParameters::trials");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, responses) == 32, "ProbeConstitutiveParameters::responses");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, material) == 48, "ProbeConstitutiveParameters::material");
static_assert(PLIANT_OFFSET(ProbeConstitutiveParameters, unused) == 52, "ProbeConstitutiveParameters::unused");
