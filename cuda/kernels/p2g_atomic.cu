// Particles to grid by atomic additions, a thread a particle: particles of one cell are neighbours,
// so the first of each run in a warp adds up the others' parts by shuffles and makes one atomic
// addition a node and component (Gao et al. 2018, "GPU optimization of material point methods").
// The order of the additions depends on the schedule. p2g.cuh has the equation.
#include "p2g.cuh"

constexpr uint32_t RUN_STEPS = 5;
static_assert(1u << RUN_STEPS == WARP_SIZE, "a run may be as long as a warp");

// The lanes of a run of the same cell, seen from one of them.
struct Run {
    bool is_first;
    // Bit s: lane + 2^s is of the same run.
    uint32_t holds;
    // Steps that the longest run of the warp needs.
    uint32_t steps;

    // By all lanes of a warp; `node` is the first one of the lane's stencil.
    __device__ __forceinline__ explicit Run(uint32_t node) {
        const uint32_t lane = lane_index();
        const uint32_t before = __shfl_up_sync(ALL_LANES, node, 1);
        is_first = lane == 0 || before != node;
        const uint32_t heads = __ballot_sync(ALL_LANES, is_first);
        const uint32_t above = lane == WARP_SIZE - 1 ? 0 : heads >> (lane + 1);
        const uint32_t next = static_cast<uint32_t>(__ffs(static_cast<int32_t>(above)));
        const uint32_t after = above == 0 ? WARP_SIZE - 1 - lane : next - 1;
        holds = 0;
#pragma unroll
        for (uint32_t step = 0; step < RUN_STEPS; ++step) {
            holds |= after >= 1u << step ? 1u << step : 0u;
        }
        steps = static_cast<uint32_t>(__popc(__reduce_or_sync(ALL_LANES, holds)));
    }

    // Adds the values of the lanes after this one in the run, by all lanes of a warp; the sum of
    // all is the first lane's.
    template <uint32_t N>
    __device__ __forceinline__ void add(float (&values)[N]) const {
        // Eight particles a cell take three steps. Unrolled, nine columns would be 70 KB of code.
#pragma unroll 1
        for (uint32_t step = 0; step < steps; ++step) {
            const bool is_own = (holds >> step & 1) != 0;
#pragma unroll
            for (uint32_t n = 0; n < N; ++n) {
                const float other = __shfl_down_sync(ALL_LANES, values[n], 1u << step);
                if (is_own) {
                    values[n] += other;
                }
            }
        }
    }
};

// Where the nodes of a stencil lie, an axis each: the node block of the 27 around, as its part of
// their number, and the node in it.
struct NodePlaces {
    uint32_t block[3][3];
    uint32_t within[3][3];

    __device__ __forceinline__ explicit NodePlaces(const int32_t from[3]) {
        const uint32_t blocks[3] = {9, 3, 1}, nodes[3] = {BLOCK_EDGE * BLOCK_EDGE, BLOCK_EDGE, 1};
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
#pragma unroll
            for (uint32_t n = 0; n < 3; ++n) {
                // In nodes from the corner of the block before.
                const uint32_t at = static_cast<uint32_t>(from[d] - SCRATCHPAD_MARGIN + BLOCK_EDGE) + n;
                block[d][n] = at / BLOCK_EDGE * blocks[d];
                within[d][n] = at % BLOCK_EDGE * nodes[d];
            }
        }
    }
};

PLIANT_KERNEL_FOR(mpm_atomic_to_grid, MpmAtomicToGridParameters, P2G_ATOMIC_THREADS, 6) {
    SHARED(int32_t, bounds, 6);
    SHARED(uint32_t, around, MPM_NEIGHBOURS);
    const MpmParticlesToGridParameters& q = p.transfer;
    const uint32_t block = blockIdx.x;
    if (is_stopped(q.status, q.substep_index) || block >= q.block_count[0]) {
        return;
    }
    const TransferScales scales = scales_of(q);
    clear_bounds(bounds);
    if (threadIdx.x < MPM_NEIGHBOURS) {
        around[threadIdx.x] = p.nodes_of_particles[block * MPM_NEIGHBOURS + threadIdx.x];
    }
    __syncthreads();
    Reach reach;
    const uint32_t end = q.block_starts[block + 1];
    // All lanes go through all rounds, for the shuffles.
    for (uint32_t first = q.block_starts[block]; first < end; first += P2G_ATOMIC_THREADS) {
        const uint32_t i = first + threadIdx.x;
        float base[3], offset[3];
        int32_t from[3] = {0, 0, 0};
        uint32_t node = MPM_SCRATCHPAD_NODES;
        Polynomial polynomial = {};
        float weights[3][3] = {};
        if (i < end && is_sent(q, i) && stencil_of(q.particles, i, base, offset)) {
            place_in_scratchpad(base, from);
            reach.include(from);
            node = scratchpad_index(from[0], from[1], from[2]);
            polynomial = polynomial_of(q, scales, i, offset);
#pragma unroll
            for (uint32_t d = 0; d < 3; ++d) {
#pragma unroll
                for (uint32_t n = 0; n < 3; ++n) {
                    weights[d][n] = spline_weight(n, offset[d]);
                }
            }
        }
        const Run run(node);
        const bool adds = run.is_first && node < MPM_SCRATCHPAD_NODES;
        const NodePlaces places(from);
#pragma unroll
        for (uint32_t column = 0; column < 9; ++column) {
            // Three nodes along z at a time.
            const uint32_t nx = column / 3, ny = column % 3;
            const float xy = weights[0][nx] * weights[1][ny];
            float parts[12];
#pragma unroll
            for (uint32_t nz = 0; nz < 3; ++nz) {
                const float weight = xy * weights[2][nz];
#pragma unroll
                for (uint32_t d = 0; d < 3; ++d) {
                    const float (&slope)[3] = polynomial.slope[d];
                    const float along_x = polynomial.constant[d] + static_cast<float>(nx) * slope[0];
                    const float at_first = along_x + static_cast<float>(ny) * slope[1];
                    parts[nz * 4 + d] = weight * (at_first + static_cast<float>(nz) * slope[2]);
                }
                parts[nz * 4 + 3] = weight * polynomial.mass;
            }
            run.add(parts);
            if (adds) {
#pragma unroll
                for (uint32_t nz = 0; nz < 3; ++nz) {
                    const uint32_t slot = around[places.block[0][nx] + places.block[1][ny] + places.block[2][nz]];
                    const uint32_t within = places.within[0][nx] + places.within[1][ny] + places.within[2][nz];
                    Array<float, 4>& sum = p.nodes[slot * MPM_BLOCK_NODES + within];
#pragma unroll
                    for (uint32_t c = 0; c < 4; ++c) {
                        atomicAdd(&sum[c], parts[nz * 4 + c]);
                    }
                }
            }
        }
    }
    reach.join(bounds);
    __syncthreads();
    if (threadIdx.x == 0) {
        q.stencil_boxes[block] = packed_bounds(bounds);
    }
}
