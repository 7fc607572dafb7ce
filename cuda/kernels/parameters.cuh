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
// No contact, geometry, side or triangle.
constexpr uint32_t CONTACT_NONE = 4294967295;
// Threads of a block of the contact kernels, and particles of its tile.
constexpr uint32_t CONTACT_THREADS = 256;
// Geometries that a particle can touch at once.
constexpr uint32_t CONTACT_SLOTS = 8;
// Levels of a tree of triangles.
constexpr uint32_t CONTACT_TREE_DEPTH = 40;

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

// A geometry of a body, as contact sees it: constant while the bodies are.
struct ContactGeometry {
    // Kind of its shape: see `kernels/distance.cuh`.
    uint32_t kind;
    // Number of its body.
    uint32_t body;
    // Number of features: faces of a hull, triangles of a mesh.
    uint32_t features;
    // 1 where particles can adhere, else 0.
    uint32_t adhesive;
    // Box: half extents; sphere: radius; capsule and cylinder: radius, half length; ellipsoid: semi-axes; triangles: half of
    // their bounding box [m].
    Array<float, 3> size;
    // Radius of a ball around the triangles, about the middle of their bounding box [m].
    float radius;
    // Coulomb coefficient.
    float friction;
    // Tensile stress of a bond [Pa].
    float adhesion_stress;
    // Gap at which a bond breaks [m].
    float adhesion_range;
    // First node of its tree of triangles.
    uint32_t first_node;
    // First of its triangles.
    uint32_t first_triangle;
    // First of its planes.
    uint32_t first_plane;
    // Rotation from the shape's frame to the body's: w, x, y, z.
    Array<double, 4> rotation;
    // The shape's middle in the body's frame [m].
    Array<double, 3> translation;
};
static_assert(sizeof(ContactGeometry) == 112 && alignof(ContactGeometry) == 8, "ContactGeometry");
static_assert(PLIANT_OFFSET(ContactGeometry, kind) == 0, "ContactGeometry::kind");
static_assert(PLIANT_OFFSET(ContactGeometry, body) == 4, "ContactGeometry::body");
static_assert(PLIANT_OFFSET(ContactGeometry, features) == 8, "ContactGeometry::features");
static_assert(PLIANT_OFFSET(ContactGeometry, adhesive) == 12, "ContactGeometry::adhesive");
static_assert(PLIANT_OFFSET(ContactGeometry, size) == 16, "ContactGeometry::size");
static_assert(PLIANT_OFFSET(ContactGeometry, radius) == 28, "ContactGeometry::radius");
static_assert(PLIANT_OFFSET(ContactGeometry, friction) == 32, "ContactGeometry::friction");
static_assert(PLIANT_OFFSET(ContactGeometry, adhesion_stress) == 36, "ContactGeometry::adhesion_stress");
static_assert(PLIANT_OFFSET(ContactGeometry, adhesion_range) == 40, "ContactGeometry::adhesion_range");
static_assert(PLIANT_OFFSET(ContactGeometry, first_node) == 44, "ContactGeometry::first_node");
static_assert(PLIANT_OFFSET(ContactGeometry, first_triangle) == 48, "ContactGeometry::first_triangle");
static_assert(PLIANT_OFFSET(ContactGeometry, first_plane) == 52, "ContactGeometry::first_plane");
static_assert(PLIANT_OFFSET(ContactGeometry, rotation) == 56, "ContactGeometry::rotation");
static_assert(PLIANT_OFFSET(ContactGeometry, translation) == 88, "ContactGeometry::translation");

// A node of a tree of triangles.
struct ContactNode {
    // Lowest corner of the box around its triangles [m].
    Array<float, 3> low;
    // Highest corner [m].
    Array<float, 3> high;
    // First triangle of a leaf; the right child of an inner node, whose left child follows it. Both count from the
    // geometry's first.
    uint32_t start;
    // Triangles of a leaf; 0 for an inner node.
    uint32_t count;
};
static_assert(sizeof(ContactNode) == 32 && alignof(ContactNode) == 4, "ContactNode");
static_assert(PLIANT_OFFSET(ContactNode, low) == 0, "ContactNode::low");
static_assert(PLIANT_OFFSET(ContactNode, high) == 12, "ContactNode::high");
static_assert(PLIANT_OFFSET(ContactNode, start) == 24, "ContactNode::start");
static_assert(PLIANT_OFFSET(ContactNode, count) == 28, "ContactNode::count");

// All geometries of all bodies. Frames have their origin in the middle of the shape.
struct ContactShapes {
    // Geometries, in the order of the bodies.
    Span<ContactGeometry> geometries;
    // Nodes of the trees.
    Span<ContactNode> nodes;
    // Corners a, b, c [m] and outward unit normal of each triangle, in the order of its tree.
    Span<Array<float, 12>> triangles;
    // Sums of the normals of the triangles at edges ab, bc, ca, and angle-weighted sums of those at a, b, c.
    Span<Array<float, 18>> edge_normals;
    // Feature of each triangle: its number in the mesh, its face of a hull.
    Span<uint32_t> features;
    // Where each triangle of a mesh stands in `triangles`.
    Span<uint32_t> slots;
    // Outward normal and offset [m] of each face of a hull.
    Span<Array<float, 4>> planes;
};
static_assert(sizeof(ContactShapes) == 112 && alignof(ContactShapes) == 8, "ContactShapes");
static_assert(PLIANT_OFFSET(ContactShapes, geometries) == 0, "ContactShapes::geometries");
static_assert(PLIANT_OFFSET(ContactShapes, nodes) == 16, "ContactShapes::nodes");
static_assert(PLIANT_OFFSET(ContactShapes, triangles) == 32, "ContactShapes::triangles");
static_assert(PLIANT_OFFSET(ContactShapes, edge_normals) == 48, "ContactShapes::edge_normals");
static_assert(PLIANT_OFFSET(ContactShapes, features) == 64, "ContactShapes::features");
static_assert(PLIANT_OFFSET(ContactShapes, slots) == 80, "ContactShapes::slots");
static_assert(PLIANT_OFFSET(ContactShapes, planes) == 96, "ContactShapes::planes");

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

// Probe: signed distances of points to one geometry.
struct ProbeContactDistanceParameters {
    // The geometries.
    ContactShapes shapes;
    // Points relative to the shape's middle [m].
    Span<Array<float, 3>> points;
    // Feature that each point came through; `CONTACT_NONE` for none.
    Span<uint32_t> sides;
    // Signed distances [m].
    Span<float> distances;
    // Outward unit normals.
    Span<Array<float, 3>> normals;
    // Features.
    Span<uint32_t> features;
    // Lower bounds of the distances [m].
    Span<float> lower_bounds;
    // Number of the geometry.
    uint32_t geometry;
    // Zero.
    uint32_t unused;
};
static_assert(sizeof(ProbeContactDistanceParameters) == 216 && alignof(ProbeContactDistanceParameters) == 8, "ProbeContactDistanceParameters");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, shapes) == 0, "ProbeContactDistanceParameters::shapes");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, points) == 112, "ProbeContactDistanceParameters::points");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, sides) == 128, "ProbeContactDistanceParameters::sides");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, distances) == 144, "ProbeContactDistanceParameters::distances");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, normals) == 160, "ProbeContactDistanceParameters::normals");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, features) == 176, "ProbeContactDistanceParameters::features");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, lower_bounds) == 192, "ProbeContactDistanceParameters::lower_bounds");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, geometry) == 208, "ProbeContactDistanceParameters::geometry");
static_assert(PLIANT_OFFSET(ProbeContactDistanceParameters, unused) == 212, "ProbeContactDistanceParameters::unused");
