// The memory and passes of the convex contact solve: rows of nodes and contacts, stencils, barriers
// and sums in a fixed order.
//
// A pass is a loop over contacts or over touched nodes, CONVEX_THREADS of them (a tile) to a block
// at a time. An element is always the same thread's, so that what a pass leaves for the next one at
// the same element needs no barrier. Sums are formed tile by tile and then over the tiles: their
// bits depend neither on the number of blocks nor on the schedule.
#pragma once

#include "grid.cuh"
#include "parameters.cuh"
#include "prelude.cuh"

namespace convex {

constexpr uint32_t WARPS = CONVEX_THREADS / WARP_SIZE;
// Tiles whose sums a thread adds up by itself.
constexpr uint32_t FEW_TILES = 32;

// Rows of a contact: the contact model's constants, then vectors and the Hessian [xx, yy, zz, xy,
// xz, yz].
enum ContactRow : uint32_t {
    RELEASE = 0,
    LINEAR = 1,
    QUADRATIC = 2,
    FRICTION_BOUND = 3,
    STICTION = 4,
    TENSION_SLOPE = 5,
    TENSION_RANGE = 6,
    CONTACT_VELOCITY = 7,
    OTHER_CONTACT_VELOCITY = 10,
    CONTACT_DIRECTION = 13,
    CONTACT_IMPULSE = 16,
    HESSIAN = 19,
    RAY = 25,
    CONTACT_END = 30,
};
static_assert(CONTACT_END == CONVEX_CONTACT_ROWS, "rows of a contact");

// Rows of a touched node.
enum NodeRow : uint32_t {
    MASS = CONVEX_MASS_ROW,
    INVERSE_MASS = 1,
    FREE = CONVEX_FREE_ROW,
    VELOCITY = 5,
    OTHER_VELOCITY = 8,
    IMPULSE = 11,
    GRADIENT = 14,
    DIRECTION = 17,
    NODE_END = 20,
};
static_assert(NODE_END == CONVEX_NODE_ROWS, "rows of a node");

// The weight of node `k` of three along an axis: a quadratic B-spline (Steffen et al. 2008),
// `offset` in cells from the first.
template <typename T>
__device__ __forceinline__ T weight(T offset, uint32_t k) {
    if (offset >= static_cast<T>(CONVEX_ON_NODE)) {
        return offset - static_cast<T>(CONVEX_ON_NODE) == static_cast<T>(k) ? T(1) : T(0);
    }
    const T d = offset - static_cast<T>(k);
    const T outer = T(1.5) - (d < T(0) ? -d : d);
    return k == 1 ? T(0.75) - d * d : T(0.5) * outer * outer;
}

// Where a contact acts: its particle's place from the first node of the stencil, and the arm from
// there to the surface [cells], which only contacts of granular particles have (`arms` is empty
// without them).
template <typename T>
struct Acting {
    T offset[3];
    T arm[3];

    __device__ __forceinline__ Acting(const Span<Array<float, 3>>& offsets, const Span<Array<float, 3>>& arms, uint32_t c) {
        for (uint32_t d = 0; d < 3; ++d) {
            offset[d] = static_cast<T>(offsets[c][d]);
            arm[d] = arms.length > 0 ? static_cast<T>(arms[c][d]) : T(0);
        }
    }

    // By the particle's affine field: the second moment of quadratic B-splines is 1/4
    // (coupling/src/nodes.rs).
    __device__ __forceinline__ T weight(uint32_t d, uint32_t k) const {
        return convex::weight(offset[d], k) * (T(1) + T(4) * arm[d] * (static_cast<T>(k) - offset[d]));
    }
};

// Whether contact c has another stencil than the one before.
__device__ __forceinline__ bool has_new_stencil(const Span<Array<int32_t, 3>>& bases, uint32_t c) {
    if (c == 0) {
        return true;
    }
    const Array<int32_t, 3>& base = bases[c];
    const Array<int32_t, 3>& last = bases[c - 1];
    return base[0] != last[0] || base[1] != last[1] || base[2] != last[2];
}

// The memory of a solve and its passes.
struct Passes {
    const ConvexSolveParameters& p;
    uint32_t contacts;
    uint32_t nodes;
    // The half of the tiles' sums that the next pass writes. The other half may still be read.
    uint32_t half;

    __device__ __forceinline__ double& contact(uint32_t row, uint32_t c) const {
        return p.contact_rows[row * p.contact_capacity + c];
    }
    __device__ __forceinline__ double& node(uint32_t row, uint32_t i) const {
        return p.node_rows[row * p.node_capacity + i];
    }

    // All blocks. A single block needs no memory for it.
    __device__ __forceinline__ void barrier() const {
        if (gridDim.x == 1) {
            __syncthreads();
        } else {
            grid_barrier(p.barrier);
        }
    }

    // `item(i)` for each i below `count`.
    template <typename Item>
    __device__ __forceinline__ void each(uint32_t count, Item item) const {
        for (uint32_t first = blockIdx.x * CONVEX_THREADS; first < count; first += gridDim.x * CONVEX_THREADS) {
            if (first + threadIdx.x < count) {
                item(first + threadIdx.x);
            }
        }
    }

    // `item(i, values)` for each i below `count`, and the sums of the K values over all of them.
    // Ends with a barrier.
    template <uint32_t K, typename Item>
    __device__ __forceinline__ void sum_each(uint32_t count, double (&sums)[K], Item item) {
        sum_all<K, false>(count, sums, item, [](uint32_t, uint32_t) {}, [](double (&)[K]) {});
    }

    // The same over nodes, and `of_bodies(values)` by all threads of the last block for the part of
    // strongly coupled bodies.
    template <uint32_t K, typename Bodies, typename Item, typename OfBodies>
    __device__ __forceinline__ void sum_nodes(const Bodies&, double (&sums)[K], Item item, OfBodies of_bodies) {
        sum_all<K, Bodies::ARE_STRONG>(nodes, sums, item, [](uint32_t, uint32_t) {}, of_bodies);
    }

    // `item(c, values)` for each contact and the sums of the K values; of the `given` numbers for
    // its body, if that is strongly coupled, the sums are stored for the bodies' block.
    template <uint32_t K, typename Bodies, typename Item>
    __device__ __forceinline__ void sum_contacts(const Bodies& bodies, uint32_t given, double (&sums)[K], Item item) {
        sum_all<K, false>(
            contacts, sums, item, [&](uint32_t tile, uint32_t c) { bodies.sum_tile(tile, c, given); }, [](double (&)[K]) {});
    }

    // `item(c)` for each contact, and the sums of what it gives its body; ends with a barrier.
    template <typename Bodies, typename Item>
    __device__ __forceinline__ void each_contact(const Bodies& bodies, uint32_t given, Item item) const {
        const uint32_t tiles = (contacts + CONVEX_THREADS - 1) / CONVEX_THREADS;
        for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const uint32_t c = tile * CONVEX_THREADS + threadIdx.x;
            if (c < contacts) {
                item(c);
            }
            bodies.sum_tile(tile, c, given);
        }
        barrier();
    }

    // The passes with sums: `after(tile, i)` by all threads of a tile, and with BODIES
    // `of_bodies(values)`.
    template <uint32_t K, bool BODIES, typename Item, typename After, typename OfBodies>
    __device__ __forceinline__ void sum_all(uint32_t count, double (&sums)[K], Item item, After after, OfBodies of_bodies) {
        static_assert(K <= CONVEX_SUMS, "there are rows for so many sums");
        const uint32_t tiles = (count + CONVEX_THREADS - 1) / CONVEX_THREADS;
        const uint32_t stride = p.tile_sums.length / (2 * CONVEX_SUMS);
        const uint32_t row = half * CONVEX_SUMS * stride;
        half = 1 - half;
        for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const uint32_t i = tile * CONVEX_THREADS + threadIdx.x;
            double values[K];
            for (uint32_t k = 0; k < K; ++k) {
                values[k] = 0.0;
            }
            if (i < count) {
                item(i, values);
            }
            // A warp without elements has nothing to add up.
            block_sums(values, i - lane_index() < count, p.tile_sums, row + tile, stride);
            after(tile, i);
        }
        // The last column is for the bodies.
        const uint32_t last = row + stride - 1;
        if constexpr (BODIES) {
            if (blockIdx.x == gridDim.x - 1) {
                double values[K];
                for (uint32_t k = 0; k < K; ++k) {
                    values[k] = 0.0;
                }
                of_bodies(values);
                block_sums(values, true, p.tile_sums, last, stride);
            }
        }
        barrier();
        add_tiles(sums, tiles, row, stride);
        if constexpr (BODIES) {
            for (uint32_t k = 0; k < K; ++k) {
                sums[k] += p.tile_sums[last + k * stride];
            }
        }
    }

    // Sums of the block's values to `out`, from `first` on and `stride` apart. A warp without
    // values skips its part.
    template <uint32_t K>
    static __device__ __forceinline__ void block_sums(
        double (&values)[K], bool has_any, const Span<double>& out, uint32_t first, uint32_t stride) {
        SHARED(double, warp_sums, WARPS * K);
        if (has_any) {
            warp_totals(values);
        }
        if (lane_index() == 0) {
            for (uint32_t k = 0; k < K; ++k) {
                warp_sums[k * WARPS + warp_index()] = values[k];
            }
        }
        __syncthreads();
        if (threadIdx.x < K) {
            double sum = 0.0;
            for (uint32_t w = 0; w < WARPS; ++w) {
                sum += warp_sums[threadIdx.x * WARPS + w];
            }
            out[first + threadIdx.x * stride] = sum;
        }
        // The array is free for the next call.
        __syncthreads();
    }

    // Sums of the tiles' sums, the same in every thread.
    template <uint32_t K>
    __device__ __forceinline__ void add_tiles(double (&sums)[K], uint32_t tiles, uint32_t row, uint32_t stride) const {
        SHARED(double, warp_sums, WARPS * K);
        for (uint32_t k = 0; k < K; ++k) {
            sums[k] = 0.0;
        }
        if (tiles <= FEW_TILES) {
            for (uint32_t tile = 0; tile < tiles; ++tile) {
                for (uint32_t k = 0; k < K; ++k) {
                    sums[k] += p.tile_sums[row + k * stride + tile];
                }
            }
            return;
        }
        for (uint32_t tile = threadIdx.x; tile < tiles; tile += CONVEX_THREADS) {
            for (uint32_t k = 0; k < K; ++k) {
                sums[k] += p.tile_sums[row + k * stride + tile];
            }
        }
        warp_totals(sums);
        if (lane_index() == 0) {
            for (uint32_t k = 0; k < K; ++k) {
                warp_sums[k * WARPS + warp_index()] = sums[k];
            }
        }
        __syncthreads();
        for (uint32_t k = 0; k < K; ++k) {
            sums[k] = 0.0;
            for (uint32_t w = 0; w < WARPS; ++w) {
                sums[k] += warp_sums[k * WARPS + w];
            }
        }
        __syncthreads();
    }

    // Sums over the warp, pairwise; lane 0's are whole.
    template <uint32_t K>
    static __device__ __forceinline__ void warp_totals(double (&values)[K]) {
        for (uint32_t k = 0; k < K; ++k) {
            for (uint32_t distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
                values[k] += __shfl_down_sync(ALL_LANES, values[k], distance);
            }
        }
    }

    // `out += sum_i w_ic x_i` of contact c; `load(i, x)` reads a node's vector.
    template <typename T, typename Load>
    __device__ __forceinline__ void gather(uint32_t c, T (&out)[3], Load load) const {
        const uint32_t first = p.incidence.contact_groups[c] * STENCIL_NODES;
        const Acting<T> at(p.contacts.offset, p.contacts.arm, c);
        const T wz[3] = {at.weight(2, 0), at.weight(2, 1), at.weight(2, 2)};
        // Nine rows, three nodes at a time: all at once would take too many registers.
#pragma unroll 1
        for (uint32_t r = 0; r < 9; ++r) {
            const T wxy = at.weight(0, r / 3) * at.weight(1, r % 3);
            // All rows but one of a contact of a node.
            if (wxy == T(0)) {
                continue;
            }
#pragma unroll
            for (uint32_t k = 0; k < 3; ++k) {
                T x[3];
                load(p.incidence.group_nodes[first + 3 * r + k], x);
                const T w = wxy * wz[k];
                out[0] += w * x[0];
                out[1] += w * x[1];
                out[2] += w * x[2];
            }
        }
    }

    // `each(c, w_ic)` for the contacts c of node i that have a weight there, in the order of the
    // contacts.
    template <typename T, typename Each>
    __device__ __forceinline__ void visit(uint32_t i, Each each_contact) const {
        const ConvexIncidence& incidence = p.incidence;
        const uint32_t end = incidence.node_begin[i + 1];
        for (uint32_t e = incidence.node_begin[i]; e < end; ++e) {
            const uint32_t place = incidence.incidences[e];
            const uint32_t group = place / STENCIL_NODES;
            const uint32_t s = place - group * STENCIL_NODES;
            const uint32_t x = s / 9;
            const uint32_t y = s / 3 - 3 * x;
            const uint32_t z = s % 3;
            const uint32_t last = incidence.group_begin[group + 1];
            for (uint32_t c = incidence.group_begin[group]; c < last; ++c) {
                const Acting<T> at(p.contacts.offset, p.contacts.arm, c);
                const T wxy = at.weight(0, x) * at.weight(1, y);
                const T w = wxy * at.weight(2, z);
                // A contact of a node has none at the other nodes of its stencil.
                if (w != T(0)) {
                    each_contact(c, w);
                }
            }
        }
    }
};

}  // namespace convex
