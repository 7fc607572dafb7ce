// What the particle and grid kernels share: the layout of rows and scratchpads, the table of
// blocks, and the quadratic B-spline.
#pragma once

#include "stop.cuh"

constexpr int32_t SCRATCHPAD_EDGE = 10;
// A scratchpad begins this many nodes before its block.
constexpr int32_t SCRATCHPAD_MARGIN = 2;
static_assert(SCRATCHPAD_EDGE * SCRATCHPAD_EDGE * SCRATCHPAD_EDGE == MPM_SCRATCHPAD_NODES, "a cube");
// Lowest stencil nodes, from the block's corner, that the scratchpad holds with the two nodes after
// them.
constexpr float LOWEST_BASE = -2.0f;
constexpr float HIGHEST_BASE = 5.0f;

// Row `row` of particle `i`.
__device__ __forceinline__ float& row_of(const ParticleRows& particles, uint32_t row, uint32_t i) {
    return particles.rows[row * particles.stride + i];
}

// Whether a particle's material is granular; those of cloth count on from the others.
__device__ __forceinline__ bool is_granular(const Span<MpmMaterial>& materials, uint32_t material) {
    return material < materials.length && materials[material].model == MPM_GRANULAR;
}

// Four floats at once; device memory and its elements of this type are aligned to 16 bytes.
__device__ __forceinline__ float4& quad(const Span<Array<float, 4>>& span, uint32_t i) {
    return *reinterpret_cast<float4*>(&span[i]);
}

// Offset in blocks of neighbour `n` of 27, x slowest.
__device__ __forceinline__ void neighbour_offset(uint32_t n, int32_t offset[3]) {
    offset[0] = static_cast<int32_t>(n / 9) - 1;
    offset[1] = static_cast<int32_t>(n / 3 % 3) - 1;
    offset[2] = static_cast<int32_t>(n % 3) - 1;
}

// The table of blocks: open addressing with linear probing. A key's 21 low bits an axis, and a bit
// that is always set, so that zero is an empty place.
constexpr uint32_t KEY_MASK = (1u << KEY_BITS) - 1;

__device__ __forceinline__ uint64_t packed_key(int32_t x, int32_t y, int32_t z) {
    const auto bits = [](int32_t k) { return static_cast<uint64_t>(static_cast<uint32_t>(k) & KEY_MASK); };
    return static_cast<uint64_t>(1) << (3 * KEY_BITS) | bits(x) << (2 * KEY_BITS) | bits(y) << KEY_BITS | bits(z);
}

__device__ __forceinline__ uint32_t first_place(uint64_t key, uint32_t places) {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4); the number of places is a power of two.
    const uint64_t product = key * 0x9e3779b97f4a7c15ull;
    return static_cast<uint32_t>(product >> 32) & (places - 1);
}

// Place of a key; the table's length where it is not in it.
__device__ __forceinline__ uint32_t find_key(const Span<uint64_t>& keys, uint64_t key) {
    uint32_t place = first_place(key, keys.length);
    for (uint32_t probes = 0; probes < keys.length; ++probes) {
        const uint64_t found = keys[place];
        if (found == key) {
            return place;
        }
        if (found == 0) {
            break;
        }
        place = (place + 1) & (keys.length - 1);
    }
    return keys.length;
}

// Place of a key, which is put there if it is new; the table's length where it is full.
__device__ __forceinline__ uint32_t insert_key(const Span<uint64_t>& keys, uint64_t key) {
    uint32_t place = first_place(key, keys.length);
    for (uint32_t probes = 0; probes < keys.length; ++probes) {
        // Most particles find their block there: a read is cheaper than an exchange.
        uint64_t found = *static_cast<const volatile uint64_t*>(&keys[place]);
        if (found == 0) {
            found = atomicCAS(&keys[place], static_cast<uint64_t>(0), key);
        }
        if (found == 0 || found == key) {
            return place;
        }
        place = (place + 1) & (keys.length - 1);
    }
    return keys.length;
}

// Weight of node `n` of an axis' three, for a particle at `f` in [0.5, 1.5) from the first (Jiang
// et al. 2016, equation 123).
template <typename Real>
__device__ __forceinline__ Real spline_weight(uint32_t n, Real f) {
    const Real centre = n == 0 ? Real(1.5) : n == 1 ? Real(1) : Real(0.5);
    const Real d = f - centre;
    return n == 1 ? Real(0.75) - d * d : Real(0.5) * d * d;
}

// Whether a boundary condition acts on the node at `position` [cells], as GridPlane::acts_at of
// mpm/src/boundary.rs.
__device__ __forceinline__ bool acts_on(const MpmPlane& plane, const double position[3]) {
    const double distance = position[0] * plane.normal_f64[0] + position[1] * plane.normal_f64[1] +
                            position[2] * plane.normal_f64[2] - plane.offset;
    // With slack, so that a plane through nodes acts on those nodes.
    return distance <= 1e-6;
}

// A particle's position along an axis, from its block's corner [cells].
__device__ __forceinline__ double cells_of(const ParticleRows& particles, uint32_t d, uint32_t i) {
    return static_cast<double>(row_of(particles, ROW_POSITION + d, i)) + static_cast<double>(row_of(particles, ROW_POSITION_LOW + d, i));
}

// First node of a particle's stencil from its block's corner, and the position from there, for all
// axes; whether the scratchpad holds it.
__device__ __forceinline__ bool stencil_of(
    const ParticleRows& particles, uint32_t i, float base[3], float offset[3]) {
    bool is_here = true;
#pragma unroll
    for (uint32_t d = 0; d < 3; ++d) {
        const float x = row_of(particles, ROW_POSITION + d, i);
        base[d] = floorf(x - 0.5f);
        offset[d] = x - base[d];
        // False for NaN.
        is_here = is_here && base[d] >= LOWEST_BASE && base[d] <= HIGHEST_BASE;
    }
    return is_here;
}

// Stops the step where a particle that `moved` [cells] to `x` in substep `substep_index` has left
// its scratchpad: for a sort before the next transfer, or for good if it is lost.
__device__ __forceinline__ void check_position(const ParticleRows& particles, const Span<uint32_t>& status, uint32_t substep_index, uint32_t i,
    const float (&x)[3], const float (&moved)[3]) {
    const float low = LOWEST_BASE + 0.5f, high = HIGHEST_BASE + 1.5f;
    bool is_here = true, is_near = true;
    for (uint32_t d = 0; d < 3; ++d) {
        is_here = is_here && x[d] >= low && x[d] < high;
        // More than two cells in a substep, or not a number.
        is_near = is_near && fabsf(moved[d]) <= static_cast<float>(MPM_LOST_CELLS) && !isnan(x[d]);
    }
    if (is_here) {
        return;
    }
    if (!is_near) {
        // The least of their indices of all that are lost; zero is none.
        atomicMax(&status[MPM_STATUS_LOST], ALL_LANES - particles.ids[i]);
        stop_after(status, substep_index + 1, MPM_LOST);
    } else {
        stop_after(status, substep_index + 1, MPM_DRIFTED);
    }
}

// Stencil box: the part of the scratchpad that the stencils of a block reach: bounds [low, high) an
// axis, counted in the scratchpad.
struct StencilBox {
    int32_t low[3];
    int32_t high[3];

    __device__ __forceinline__ int32_t extent(int axis) const { return high[axis] - low[axis]; }
    __device__ __forceinline__ uint32_t nodes() const {
        return static_cast<uint32_t>(extent(0) * extent(1) * extent(2));
    }
    // Coordinates in the scratchpad of the box's node `n`, z fastest.
    __device__ __forceinline__ void node(uint32_t n, int32_t at[3]) const {
        // Divisions are long, and those of signed numbers longer.
        const uint32_t y = static_cast<uint32_t>(extent(1)), z = static_cast<uint32_t>(extent(2));
        const uint32_t row = n / z, plane = row / y;
        at[2] = low[2] + static_cast<int32_t>(n - row * z);
        at[1] = low[1] + static_cast<int32_t>(row - plane * y);
        at[0] = low[0] + static_cast<int32_t>(plane);
    }
};

// Slot of the node block with this key; ALL_LANES where the grid has none.
__device__ __forceinline__ uint32_t find_node_block(const GridNodes& grid, int32_t x, int32_t y, int32_t z) {
    const uint32_t place = find_key(grid.table_keys, packed_key(x, y, z));
    return place < grid.table_keys.length ? grid.table_slots[place] : ALL_LANES;
}

// Slot of the node with these coordinates; ALL_LANES where the grid has none.
__device__ __forceinline__ uint32_t find_node(const GridNodes& grid, int32_t x, int32_t y, int32_t z) {
    const uint32_t block = find_node_block(grid, x >> 2, y >> 2, z >> 2);
    const int32_t within = ((x & 3) * BLOCK_EDGE + (y & 3)) * BLOCK_EDGE + (z & 3);
    return block == ALL_LANES ? ALL_LANES : block * MPM_BLOCK_NODES + static_cast<uint32_t>(within);
}

__device__ __forceinline__ StencilBox load_box(const Array<int32_t, 6>& packed) {
    StencilBox box;
    for (uint32_t d = 0; d < 3; ++d) {
        box.low[d] = packed[d];
        box.high[d] = packed[3 + d];
    }
    return box;
}

__device__ __forceinline__ uint32_t scratchpad_index(int32_t x, int32_t y, int32_t z) {
    return static_cast<uint32_t>((x * SCRATCHPAD_EDGE + y) * SCRATCHPAD_EDGE + z);
}
