// The share of a block in the products of a linear system: neighbouring contacts, its own nodes, and
// the other nodes that these contacts touch, its fringe. It works on the fringe too, as the owners of
// its nodes do, with the same bits. So between the nodes' and the contacts' part of a product it
// needs no other block. (Such an overlap of subdomains is common in parallel solvers; its price is
// the work on the fringe.)
//
// Nodes are numbered in the order of the first contact that touches them: those that a share's
// contacts touch first are neighbours too. Own nodes are whole tiles, so that the tiles' sums are the
// same for any number of shares.
#pragma once

#include "convex.cuh"

namespace convex {

struct Share {
    uint32_t contact_begin, contact_end;
    // Own nodes.
    uint32_t node_begin, node_end;
    // Fringe: its part of the list.
    uint32_t fringe_begin, fringe;

    // `item(i, is_own, values)` for each node of the share; the K sums over each own tile are
    // stored.
    template <uint32_t K, typename Item>
    __device__ __forceinline__ void each_node(const Passes& m, Item item) const {
        const uint32_t first = node_begin / WARP_SIZE;
        const uint32_t own = tiles_of(node_end - node_begin);
        const uint32_t all = own + tiles_of(fringe);
#pragma unroll 1
        for (uint32_t tile = warp_index(); tile < all; tile += WARPS) {
            const bool is_own = tile < own;
            const uint32_t at = (is_own ? tile : tile - own) * WARP_SIZE + lane_index();
            double values[K];
            Passes::clear(values);
            if (is_own ? node_begin + at < node_end : at < fringe) {
                item(is_own ? node_begin + at : m.p.fringe_nodes[fringe_begin + at], is_own, values);
            }
            if (is_own) {
                m.store_sums(values, first + tile);
            }
        }
    }

    // `item(c, given)` for each contact of the share. The sums of what it returns over each tile are
    // stored, and so are those of what is `given` to bodies, at the place of `turn`.
    template <uint32_t N, typename Bodies, typename Item>
    __device__ __forceinline__ void each_contact(
        const Passes& m, const Bodies& bodies, uint32_t turn, Item item) const {
#pragma unroll 1
        for (uint32_t tile = contact_begin / WARP_SIZE + warp_index(); tile < tiles_of(contact_end); tile += WARPS) {
            const uint32_t c = tile * WARP_SIZE + lane_index();
            typename Bodies::template Given<N> given = {};
            double value = 0.0;
            if (c < contact_end) {
                value = item(c, given);
            }
            m.store_curvature(value, tile, Bodies::ARE_STRONG);
            bodies.sum_tile(tile, c, given, turn);
        }
    }
};

// The first node that no group before this one touches.
__device__ __forceinline__ uint32_t first_node_of(const Passes& m, uint32_t group) {
    const ConvexIncidence& incidence = m.p.incidence;
    uint32_t low = 0;
    uint32_t high = m.nodes;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const bool before = incidence.incidences[incidence.node_begin[middle]] < group * STENCIL_NODES;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

// Finds the share of this block.
__device__ __forceinline__ Share share_of(const Passes& m) {
    if (m.blocks == 1) {
        return {0, m.contacts, 0, m.nodes, 0, 0};
    }
    const ConvexIncidence& incidence = m.p.incidence;
    // Whole tiles.
    const uint32_t length = (tiles_of(m.contacts) + m.blocks - 1) / m.blocks * WARP_SIZE;
    const uint32_t begin = min(blockIdx.x * length, m.contacts);
    const uint32_t end = min(begin + length, m.contacts);
    if (begin == end) {
        return {0, 0, 0, 0, 0, 0};
    }
    const uint32_t first_group = incidence.contact_groups[begin];
    const uint32_t last_group = incidence.contact_groups[end - 1];
    const auto tile_from = [&](uint32_t group) { return tiles_of(first_node_of(m, group)) * WARP_SIZE; };
    // A group that two shares have is the first one's.
    const bool begins = incidence.group_begin[first_group] == begin;
    const uint32_t node_begin = tile_from(begins ? first_group : first_group + 1);
    const uint32_t node_end = end == m.contacts ? m.nodes : tile_from(last_group + 1);
    SHARED(uint32_t, found, 1);
    if (threadIdx.x == 0) {
        found[0] = 0;
    }
    __syncthreads();
    // Every node once: at its first place in these groups. The order does not matter.
    const uint32_t first_place = first_group * STENCIL_NODES;
    const uint32_t fringe_begin = begin * STENCIL_NODES;
    const uint32_t places = (last_group + 1) * STENCIL_NODES;
#pragma unroll 1
    for (uint32_t place = first_place + threadIdx.x; place < places; place += CONVEX_THREADS) {
        const uint32_t node = incidence.group_nodes[place];
        uint32_t e = incidence.node_begin[node];
        while (incidence.incidences[e] < first_place) {
            ++e;
        }
        if (incidence.incidences[e] == place && (node < node_begin || node >= node_end)) {
            m.p.fringe_nodes[fringe_begin + atomicAdd(&found[0], 1u)] = node;
        }
    }
    __syncthreads();
    return {begin, end, min(node_begin, m.nodes), min(node_end, m.nodes), fringe_begin, found[0]};
}

}  // namespace convex
