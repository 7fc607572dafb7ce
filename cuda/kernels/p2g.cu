// Particles to grid in a fixed order, so that the bits do not depend on the schedule; p2g.cuh has
// the equation.
//
// A block of threads takes a block of particles, some particles at a time:
//
// 1. A thread a particle: weights and momentum polynomial, into shared memory.
// 2. One warp finds the runs: neighbouring particles whose stencils begin at the same node. The
//    sort makes a run of a cell's particles; long ones are cut.
// 3. Nine lanes a run, each for the three nodes of a column of the stencil: the sum of the run, in
//    registers, particle by particle.
// 4. One warp adds the sums to the scratchpad, run by run, while others begin the next step 1.
#include "p2g.cuh"

// Particles at a time.
constexpr uint32_t P2G_CHUNK = 128;
// A run longer than this is cut where it has filled a group of this many, counted from the first
// particle of its chunk, so that none has more than 2 P2G_GROUP - 1.
constexpr uint32_t P2G_GROUP = WARP_SIZE;
constexpr uint32_t RUN_LANES = 9;
constexpr uint32_t WARP_RUNS = WARP_SIZE / RUN_LANES;
constexpr uint32_t P2G_RUNS = P2G_THREADS / WARP_SIZE * WARP_RUNS;
// Nodes of a scratchpad in shared memory: a stencil box of 8^3, which particles that drifted by a
// cell each way reach. A larger one is summed up where it goes.
constexpr uint32_t P2G_SHARED_NODES = 512;
constexpr uint32_t NO_NODE = ALL_LANES;
static_assert(P2G_THREADS == 2 * P2G_CHUNK, "half of the threads load particles while a warp of the others adds");
static_assert(P2G_CHUNK > 2 * P2G_GROUP - 1, "a chunk holds a whole run");

struct P2gShared {
    // Row d of particle k, at d P2G_CHUNK + k: constant and slopes of momentum d; in row 3 the
    // weights along z, and the mass.
    Array<float4, 4 * P2G_CHUNK> momenta;
    // Sums of run r at node n of its stencil, at r STENCIL_NODES + n.
    Array<float4, P2G_RUNS * STENCIL_NODES> sums;
    Array<float4, P2G_SHARED_NODES> scratchpad;
    // Weights along x, then y, of each particle.
    Array<float, 6 * P2G_CHUNK> weights;
    // First node of each particle's stencil, in the scratchpad.
    Array<uint32_t, P2G_CHUNK> nodes;
    // First node of each run's stencil.
    Array<uint32_t, P2G_RUNS> run_nodes;
    // First particle of each run in the chunk, and the end of the last.
    Array<uint32_t, P2G_CHUNK + 1> run_starts;
    uint32_t run_count;
    Array<int32_t, 6> bounds;
    TransferScales scales;
};

// A block's scratchpad: dense over the stencil box in shared memory, or where the grid pass reads
// it.
struct Layout {
    bool is_shared;
    int32_t low[3];
    // Nodes from one to the next along x and y.
    uint32_t stride[2];

    __device__ __forceinline__ explicit Layout(const StencilBox& box) : is_shared(box.nodes() <= P2G_SHARED_NODES) {
        for (uint32_t d = 0; d < 3; ++d) {
            low[d] = is_shared ? box.low[d] : 0;
        }
        stride[1] = static_cast<uint32_t>(is_shared ? box.extent(2) : SCRATCHPAD_EDGE);
        stride[0] = stride[1] * static_cast<uint32_t>(is_shared ? box.extent(1) : SCRATCHPAD_EDGE);
    }

    __device__ __forceinline__ uint32_t index(const int32_t at[3]) const {
        return static_cast<uint32_t>(at[0] - low[0]) * stride[0] + static_cast<uint32_t>(at[1] - low[1]) * stride[1] +
               static_cast<uint32_t>(at[2] - low[2]);
    }
};

// The block's stencil box, of all its particles; and what is the same for all of them.
__device__ __forceinline__ StencilBox prepare(
    const MpmParticlesToGridParameters& p, P2gShared& shared, uint32_t begin, uint32_t end) {
    clear_bounds(shared.bounds);
    if (threadIdx.x == 0) {
        shared.scales = scales_of(p);
    }
    __syncthreads();
    Reach reach;
    for (uint32_t i = begin + threadIdx.x; i < end; i += P2G_THREADS) {
        float base[3], offset[3];
        int32_t from[3];
        if (is_sent(p, i) && stencil_of(p.particles, i, base, offset)) {
            place_in_scratchpad(base, from);
            reach.include(from);
        }
    }
    reach.join(shared.bounds);
    __syncthreads();
    return load_box(packed_bounds(shared.bounds));
}

// Step 1 for particle `i`, the chunk's number `k`.
__device__ __forceinline__ void load_particle(
    const MpmParticlesToGridParameters& p, P2gShared& shared, const Layout& layout, uint32_t i, uint32_t end,
    uint32_t k) {
    float base[3], offset[3];
    uint32_t node = NO_NODE;
    const bool is_here = i < end && is_sent(p, i) && stencil_of(p.particles, i, base, offset);
    if (is_here) {
        int32_t from[3];
        place_in_scratchpad(base, from);
        node = layout.index(from);
        const Polynomial q = polynomial_of(p, shared.scales, i, offset);
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
            shared.momenta[d * P2G_CHUNK + k] = make_float4(q.constant[d], q.slope[d][0], q.slope[d][1], q.slope[d][2]);
        }
        shared.momenta[3 * P2G_CHUNK + k] =
            make_float4(spline_weight(0, offset[2]), spline_weight(1, offset[2]), spline_weight(2, offset[2]), q.mass);
#pragma unroll
        for (uint32_t n = 0; n < 6; ++n) {
            shared.weights[6 * k + n] = spline_weight(n % 3, offset[n / 3]);
        }
    }
    // One that is not sent adds zeros to the run that it is in, which it must not end.
    const uint32_t sent = __ballot_sync(ALL_LANES, is_here);
    const uint32_t below = sent & ((1u << lane_index()) - 1);
    const int32_t first = __ffs(static_cast<int32_t>(sent)) - 1;
    const int32_t neighbour = below != 0 ? 31 - __clz(static_cast<int32_t>(below)) : first;
    const uint32_t joined = __shfl_sync(ALL_LANES, node, max(neighbour, 0));
    if (!is_here) {
        node = joined;
        for (uint32_t d = 0; d < 4; ++d) {
            shared.momenta[d * P2G_CHUNK + k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        for (uint32_t n = 0; n < 6; ++n) {
            shared.weights[6 * k + n] = 0.0f;
        }
    }
    shared.nodes[k] = node;
}

// Step 2, by one warp, for `count` particles. The last run of a chunk may go on in the next, which
// begins with it, unless this is the last chunk.
__device__ __forceinline__ void find_runs(P2gShared& shared, uint32_t count, bool is_last) {
    const uint32_t lane = lane_index();
    uint32_t runs = 0;
    bool is_filled = false;
#pragma unroll
    for (uint32_t group = 0; group < P2G_CHUNK / P2G_GROUP; ++group) {
        const uint32_t k = group * P2G_GROUP + lane;
        const bool differs = k < count && (k == 0 || shared.nodes[k] != shared.nodes[k - 1]);
        const bool is_cut = is_filled && group * P2G_GROUP < count;
        const uint32_t heads = __ballot_sync(ALL_LANES, differs) | (is_cut ? 1u : 0u);
        is_filled = heads <= 1;
        if ((heads >> lane & 1) != 0) {
            shared.run_starts[runs + static_cast<uint32_t>(__popc(heads & ((1u << lane) - 1)))] = k;
        }
        runs += static_cast<uint32_t>(__popc(heads));
    }
    if (lane == 0) {
        shared.run_starts[runs] = count;
        shared.run_count = is_last ? runs : runs - 1;
    }
}

// Step 3 for the runs from `first` on, one for each nine lanes.
__device__ __forceinline__ void sum_runs(P2gShared& shared, uint32_t first) {
    const uint32_t lane = lane_index(), column = lane % RUN_LANES;
    const uint32_t slot = warp_index() * WARP_RUNS + lane / RUN_LANES, run = first + slot;
    if (lane >= WARP_RUNS * RUN_LANES || run >= shared.run_count) {
        return;
    }
    const uint32_t nx = column / 3, ny = column % 3;
    const float fx = static_cast<float>(nx), fy = static_cast<float>(ny);
    const uint32_t begin = shared.run_starts[run], end = shared.run_starts[run + 1];
    float sums[3][4] = {};
    for (uint32_t k = begin; k < end; ++k) {
        const float4 last = shared.momenta[3 * P2G_CHUNK + k];
        const float xy = shared.weights[6 * k + nx] * shared.weights[6 * k + 3 + ny];
        const float weights[3] = {xy * last.x, xy * last.y, xy * last.z};
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
            const float4 q = shared.momenta[d * P2G_CHUNK + k];
            const float at_first = fmaf(fy, q.z, fmaf(fx, q.y, q.x));
            sums[0][d] = fmaf(weights[0], at_first, sums[0][d]);
            sums[1][d] = fmaf(weights[1], at_first + q.w, sums[1][d]);
            sums[2][d] = fmaf(weights[2], fmaf(2.0f, q.w, at_first), sums[2][d]);
        }
#pragma unroll
        for (uint32_t n = 0; n < 3; ++n) {
            sums[n][3] = fmaf(weights[n], last.w, sums[n][3]);
        }
    }
#pragma unroll
    for (uint32_t n = 0; n < 3; ++n) {
        const float (&sum)[4] = sums[n];
        shared.sums[slot * STENCIL_NODES + column * 3 + n] = make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
    if (column == 0) {
        shared.run_nodes[slot] = shared.nodes[begin];
    }
}

// Step 4 for so many runs, by one warp with a lane a node.
__device__ __forceinline__ void add_runs(
    const MpmParticlesToGridParameters& p, P2gShared& shared, uint32_t runs, const Layout& layout) {
    const uint32_t lane = lane_index();
    if (lane >= STENCIL_NODES) {
        return;
    }
    const uint32_t own = lane / 9 * layout.stride[0] + lane / 3 % 3 * layout.stride[1] + lane % 3;
#pragma unroll 1
    for (uint32_t run = 0; run < runs; ++run) {
        const uint32_t first = shared.run_nodes[run];
        if (first != NO_NODE) {
            const float4 sum = shared.sums[run * STENCIL_NODES + lane];
            float4& node = layout.is_shared ? shared.scratchpad[first + own]
                                            : quad(p.scratchpads, blockIdx.x * MPM_SCRATCHPAD_NODES + first + own);
            node = make_float4(node.x + sum.x, node.y + sum.y, node.z + sum.z, node.w + sum.w);
        }
        // The next run's lanes add to nodes of others.
        __syncwarp((1u << STENCIL_NODES) - 1);
    }
}

// Calls `act(index in the layout, where the grid pass reads the node)` for all nodes of the box.
template <typename Act>
__device__ __forceinline__ void each_node(
    const MpmParticlesToGridParameters& p, const StencilBox& box, const Layout& layout, Act act) {
    for (uint32_t n = threadIdx.x; n < box.nodes(); n += P2G_THREADS) {
        int32_t at[3];
        box.node(n, at);
        const uint32_t index = scratchpad_index(at[0], at[1], at[2]);
        act(layout.index(at), quad(p.scratchpads, blockIdx.x * MPM_SCRATCHPAD_NODES + index));
    }
}

// All four steps for the particles of a block.
__device__ __forceinline__ void add_particles(
    const MpmParticlesToGridParameters& p, P2gShared& shared, const Layout& layout, uint32_t begin, uint32_t end) {
    const bool loads = threadIdx.x >= P2G_CHUNK, adds = warp_index() == 0;
    // The next particle, the next run of `run_count`, and how many runs before it are not added yet.
    uint32_t first = begin, run = 0, run_count = 0, summed = 0;
    while (true) {
        const bool is_new = run >= run_count;
        if (adds) {
            add_runs(p, shared, summed, layout);
        } else if (loads && is_new) {
            const uint32_t k = threadIdx.x % P2G_CHUNK;
            load_particle(p, shared, layout, first + k, end, k);
        }
        __syncthreads();
        if (is_new) {
            if (first == end) {
                return;
            }
            const uint32_t count = min(end - first, P2G_CHUNK);
            if (adds) {
                find_runs(shared, count, first + count == end);
            }
            __syncthreads();
            run = 0;
            run_count = shared.run_count;
            first += shared.run_starts[run_count];
        }
        sum_runs(shared, run);
        summed = min(run_count - run, P2G_RUNS);
        run += P2G_RUNS;
        __syncthreads();
    }
}

PLIANT_KERNEL_FOR(mpm_particles_to_grid, MpmParticlesToGridParameters, P2G_THREADS, 4) {
    SHARED(P2gShared, memory, 1);
    P2gShared& shared = memory[0];
    const uint32_t block = blockIdx.x;
    if (is_stopped(p.status, p.substep_index) || block >= p.block_count[0]) {
        return;
    }
    const uint32_t begin = p.block_starts[block], end = p.block_starts[block + 1];
    const StencilBox box = prepare(p, shared, begin, end);
    if (threadIdx.x == 0) {
        p.stencil_boxes[block] = packed_bounds(shared.bounds);
    }
    if (box.nodes() == 0) {
        return;
    }
    const Layout layout(box);
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (layout.is_shared) {
        for (uint32_t n = threadIdx.x; n < box.nodes(); n += P2G_THREADS) {
            shared.scratchpad[n] = zero;
        }
    } else {
        each_node(p, box, layout, [&](uint32_t, float4& node) { node = zero; });
    }
    add_particles(p, shared, layout, begin, end);
    if (layout.is_shared) {
        each_node(p, box, layout, [&](uint32_t index, float4& node) { node = shared.scratchpad[index]; });
    }
}
