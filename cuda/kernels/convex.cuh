// The passes of the convex contact solve: barriers, sums in a fixed order, products with stencils.
//
// A pass is a loop over contacts or over touched nodes. 32 neighbouring elements are a tile, which
// one warp works on. An element is always the same thread's, so that what a pass leaves for the
// next one at the same element needs no barrier. Sums are formed tile by tile and then over the
// tiles: their bits depend neither on the number of blocks nor on the schedule.
#pragma once

#include "convex_rows.cuh"
#include "grid.cuh"

namespace convex {

// What functions that are called read, in shared memory. Where the kernel's own parameters were
// handed on, the compiler could not read them as constants anywhere.
struct CalledSolve {
    ConvexSolveParameters p;
    uint32_t contacts, nodes, blocks;
};

__device__ __forceinline__ CalledSolve& called_solve() {
    SHARED(CalledSolve, solve, 1);
    return solve[0];
}

// Entries of a node that a thread reads at once, as many as registers allow: one after the other
// would wait for each.
template <typename T>
constexpr uint32_t VISITED_AT_ONCE = sizeof(T) == sizeof(float) ? 8 : 4;

// The memory of a solve and its passes.
struct Passes {
    const ConvexSolveParameters& p;
    uint32_t contacts;
    uint32_t nodes;
    // Blocks that work on it.
    uint32_t blocks;
    // The half of the tiles' sums that the next pass writes. The other half may still be read.
    uint32_t half;
    // Barriers of the grid so far.
    uint32_t barriers;

    // In a function that is called.
    static __device__ __forceinline__ Passes called() {
        const CalledSolve& solve = called_solve();
        return {solve.p, solve.contacts, solve.nodes, solve.blocks, 0, 0};
    }

    __device__ __forceinline__ double& contact(uint32_t row, uint32_t c) const {
        return in_tile(p.contact_rows, CONTACT_END, row, c);
    }
    __device__ __forceinline__ double& node(uint32_t row, uint32_t i) const {
        return in_tile(p.node_rows, NODE_END, row, i);
    }

    // All blocks that work. A single one needs no memory for it.
    __device__ __forceinline__ void barrier() {
        if (blocks == 1) {
            __syncthreads();
        } else {
            all_blocks();
            ++barriers;
        }
    }

    // The first tile of a warp; the next is `tile_stride` on. Few tiles are spread over all blocks.
    __device__ __forceinline__ uint32_t first_tile() const { return blockIdx.x + blocks * warp_index(); }
    __device__ __forceinline__ uint32_t tile_stride() const { return blocks * WARPS; }

    // `item(i)` for each i below `count`.
    template <typename Item>
    __device__ __forceinline__ void each(uint32_t count, Item item) const {
#pragma unroll 1
        for (uint32_t tile = first_tile(); tile < tiles_of(count); tile += tile_stride()) {
            const uint32_t i = tile * WARP_SIZE + lane_index();
            if (i < count) {
                item(i);
            }
        }
    }

    // `item(i, values)` for each i below `count`, and the sums of the K values over all of them.
    // Ends with a barrier.
    template <uint32_t K, typename Item>
    __device__ __forceinline__ void sum_each(uint32_t count, double (&sums)[K], Item item) {
        sum_tiles(count, sums, item);
        publish_sums(sums, tiles_of(count));
    }

    // The same over nodes, and `of_bodies(values)` by all threads of the last block for the part of
    // strongly coupled bodies: a tile for each of its warps.
    template <uint32_t K, typename Bodies, typename Item, typename OfBodies>
    __device__ __forceinline__ void sum_nodes(const Bodies&, double (&sums)[K], Item item, OfBodies of_bodies) {
        sum_tiles(nodes, sums, item);
        uint32_t tiles = tiles_of(nodes);
        if constexpr (Bodies::ARE_STRONG) {
            const bool is_here = blockIdx.x == blocks - 1;
            double values[K];
            clear(values);
            if (is_here) {
                of_bodies(values);
            }
            store_body_sums(is_here, values);
            tiles += WARPS;
        }
        publish_sums(sums, tiles);
    }

    // `item(c, values, given)` for each contact and the sums of the K values; of the numbers
    // `given` to its body, N of them, the sums over each tile are stored for the bodies.
    template <uint32_t K, uint32_t N, typename Bodies, typename Item>
    __device__ __forceinline__ void sum_contacts(const Bodies& bodies, double (&sums)[K], Item item) {
#pragma unroll 1
        for (uint32_t tile = first_tile(); tile < tiles_of(contacts); tile += tile_stride()) {
            const uint32_t c = tile * WARP_SIZE + lane_index();
            typename Bodies::template Given<N> given = {};
            double values[K];
            clear(values);
            if (c < contacts) {
                item(c, values, given);
            }
            store_sums(values, tile);
            bodies.sum_tile(tile, c, given, 0);
        }
        publish_sums(sums, tiles_of(contacts));
    }

    // `item(c, given)` for each contact, and the sums of what it gives its body; ends with a
    // barrier.
    template <uint32_t N, typename Bodies, typename Item>
    __device__ __forceinline__ void each_contact(const Bodies& bodies, Item item) {
#pragma unroll 1
        for (uint32_t tile = first_tile(); tile < tiles_of(contacts); tile += tile_stride()) {
            const uint32_t c = tile * WARP_SIZE + lane_index();
            typename Bodies::template Given<N> given = {};
            if (c < contacts) {
                item(c, given);
            }
            bodies.sum_tile(tile, c, given, 0);
        }
        barrier();
    }

    // Sum over the warp, pairwise; lane 0's is whole.
    static __device__ __forceinline__ double warp_total(double value) {
#pragma unroll
        for (uint32_t distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
            value += __shfl_down_sync(ALL_LANES, value, distance);
        }
        return value;
    }

    // Writes the sums over the warp of some values of the lanes that count, `stride` apart. The
    // values are in memory, where one loop reads them.
    static __device__ PLIANT_CALLED void store_warp_totals(
        const double* values, bool counts, uint32_t count, double* out, uint32_t stride) {
#pragma unroll 1
        for (uint32_t k = 0; k < count; ++k) {
            const double sum = warp_total(counts ? values[k] : 0.0);
            if (lane_index() == 0) {
                out[k * stride] = sum;
            }
        }
    }

    static __device__ PLIANT_CALLED void all_blocks() { grid_barrier(called_solve().p.barrier, called_solve().blocks); }

    template <uint32_t K>
    static __device__ __forceinline__ void clear(double (&values)[K]) {
#pragma unroll
        for (uint32_t k = 0; k < K; ++k) {
            values[k] = 0.0;
        }
    }

    // Distance of the rows of the tiles' sums, and the first one of this pass.
    __device__ __forceinline__ uint32_t sums_stride() const { return p.tile_sums.length / (2 * CONVEX_SUMS); }
    __device__ __forceinline__ uint32_t sums_begin() const { return half * CONVEX_SUMS * sums_stride(); }

    template <uint32_t K>
    __device__ __forceinline__ void store_sums(const double (&values)[K], uint32_t tile) const {
        static_assert(K <= CONVEX_SUMS, "there are rows for so many sums");
        store_warp_totals(values, true, K, &p.tile_sums[sums_begin() + tile], sums_stride());
    }

    template <uint32_t K, typename Item>
    __device__ __forceinline__ void sum_tiles(uint32_t count, double (&)[K], Item item) const {
#pragma unroll 1
        for (uint32_t tile = first_tile(); tile < tiles_of(count); tile += tile_stride()) {
            const uint32_t i = tile * WARP_SIZE + lane_index();
            double values[K];
            clear(values);
            if (i < count) {
                item(i, values);
            }
            store_sums(values, tile);
        }
    }

    // The values of the warps of the last block, which work on the bodies: tiles after the nodes'.
    template <uint32_t K>
    __device__ __forceinline__ void store_body_sums(bool is_here, const double (&values)[K]) const {
        if (is_here) {
            store_sums(values, tiles_of(nodes) + warp_index());
        }
    }

    // The sum over a tile of contacts of their part of a curvature, after the nodes' and bodies'
    // tiles.
    __device__ __forceinline__ void store_curvature(double value, uint32_t tile, bool with_bodies) const {
        const uint32_t first = CURVATURE_SUM * sums_stride() + tiles_of(nodes) + (with_bodies ? WARPS : 0);
        store_warp_totals(&value, true, 1, &p.tile_sums[sums_begin() + first + tile], 0);
    }

    // The sums over the tiles of a block's shares (convex_share.cuh), after a barrier.
    __device__ __forceinline__ void add_share_sums(double (&sums)[4], bool with_bodies) {
        publish_sums(sums, tiles_of(nodes) + (with_bodies ? WARPS : 0), tiles_of(contacts));
    }

    // The sums over the tiles, the same in every thread, after a barrier; over `more` tiles of the
    // curvature.
    template <uint32_t K>
    __device__ __forceinline__ void publish_sums(double (&sums)[K], uint32_t tiles, uint32_t more = 0) {
        barrier();
        double* const totals = add_tiles(half, tiles, more, K);
#pragma unroll
        for (uint32_t k = 0; k < K; ++k) {
            sums[k] = totals[k];
        }
        half = 1 - half;
    }

    // Adds up the tiles' sums of `count` values, a warp each. The array's halves take turns: before
    // one is written again, all threads have passed a barrier since they read it.
    static __device__ PLIANT_CALLED double* add_tiles(uint32_t half, uint32_t tiles, uint32_t more, uint32_t count) {
        SHARED(double, totals, 2 * CONVEX_SUMS);
        static_assert(WARPS >= CONVEX_SUMS, "a warp for each sum");
        Passes m = called();
        m.half = half;
        if (warp_index() < count) {
            const uint32_t all = warp_index() == CURVATURE_SUM ? tiles + more : tiles;
            double sum = 0.0;
#pragma unroll 1
            for (uint32_t tile = lane_index(); tile < all; tile += WARP_SIZE) {
                sum += m.p.tile_sums[m.sums_begin() + warp_index() * m.sums_stride() + tile];
            }
            sum = warp_total(sum);
            if (lane_index() == 0) {
                totals[half * CONVEX_SUMS + warp_index()] = sum;
            }
        }
        __syncthreads();
        return &totals[half * CONVEX_SUMS];
    }

    // `out += sum_i w_ic x_i` of contact c; `load(i, x)` reads a node's vector.
    template <typename T, typename Load>
    __device__ __forceinline__ void gather(uint32_t c, T (&out)[3], Load load) const {
        const uint32_t first = p.incidence.contact_groups.constant(c) * STENCIL_NODES;
        const Acting<T> at(p.contacts.offset, p.contacts.arm, c);
        const T wz[3] = {at.weight(2, 0), at.weight(2, 1), at.weight(2, 2)};
        // Nine nodes at a time: one at a time would wait for each, all at once would take too many
        // registers.
#pragma unroll 1
        for (uint32_t i = 0; i < 3; ++i) {
            const T wx = at.weight(0, i);
            // Two of three of a contact of a node.
            if (wx == T(0)) {
                continue;
            }
            T x[9][3];
#pragma unroll
            for (uint32_t k = 0; k < 9; ++k) {
                load(p.incidence.group_nodes.constant(first + 9 * i + k), x[k]);
            }
#pragma unroll
            for (uint32_t k = 0; k < 9; ++k) {
                const T w = wx * at.weight(1, k / 3) * wz[k % 3];
                out[0] += w * x[k][0];
                out[1] += w * x[k][1];
                out[2] += w * x[k][2];
            }
        }
    }

    // `each(c, w_ic)` for the contacts c of node i that have a weight there, in the order of the
    // contacts.
    template <typename T, typename Each>
    __device__ __forceinline__ void visit(uint32_t i, Each each_contact) const {
        const ConvexIncidence& incidence = p.incidence;
        const uint32_t end = incidence.entry_begin.constant(i + 1);
#pragma unroll VISITED_AT_ONCE<T>
        for (uint32_t e = incidence.entry_begin.constant(i); e < end; ++e) {
            each_contact(incidence.entries.constant(e) / STENCIL_NODES, static_cast<T>(incidence.entry_weights.constant(e)));
        }
    }

    // J of a vector of the nodes, in f64; of the sizes of its components for a bound.
    static __device__ PLIANT_CALLED Array<double, 3> gathered(uint32_t c, uint32_t row, bool of_sizes) {
        const Passes m = called();
        double out[3] = {0.0, 0.0, 0.0};
        m.gather(c, out, [&](uint32_t i, double (&x)[3]) {
#pragma unroll
            for (uint32_t a = 0; a < 3; ++a) {
                const double value = m.node(row + a, i);
                x[a] = of_sizes ? fabs(value) : value;
            }
        });
        return {{out[0], out[1], out[2]}};
    }

    // J^T of a vector of the contacts, in f64.
    static __device__ PLIANT_CALLED Array<double, 3> collected(uint32_t i, uint32_t row) {
        const Passes m = called();
        Array<double, 3> out = {{0.0, 0.0, 0.0}};
        m.template visit<double>(i, [&](uint32_t c, double w) {
#pragma unroll
            for (uint32_t a = 0; a < 3; ++a) {
                out.data[a] += w * m.contact(row + a, c);
            }
        });
        return out;
    }

    // The contacts' part of the diagonal block of node i, or of the lumped one, which majorises the
    // Hessian.
    static __device__ PLIANT_CALLED Array<double, 6> block_of(uint32_t i, bool lumped) {
        const Passes m = called();
        Array<double, 6> block = {{0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
        m.template visit<double>(i, [&](uint32_t c, double w) {
            const double factor = lumped ? w : w * w;
#pragma unroll
            for (uint32_t e = 0; e < 6; ++e) {
                block.data[e] += factor * m.contact(HESSIAN + e, c);
            }
        });
        return block;
    }
};

}  // namespace convex
