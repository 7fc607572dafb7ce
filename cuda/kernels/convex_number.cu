// Numbers the nodes that the contacts of a substep touch, and lists the contacts of each node.
//
// A place is one of the 27 nodes of a group's stencil, `27 group + node`. The touched nodes are
// numbered in the order of the first place of each, and a node's places are sorted: nothing depends
// on the order in which threads come to the table, nor on how many there are. All atomic operations
// are on integers.
//
// The table of the last solve's nodes is kept, so that each touched node finds its velocity after
// that solve.
#include "convex.cuh"
#include "grid_scan.cuh"
#include "mpm.cuh"

namespace convex {

constexpr uint32_t NO_PLACE = 0xffffffffu;
// Nodes are less than this far from the origin, so that their coordinates fit a key.
constexpr int32_t FARTHEST = 1 << (KEY_BITS - 1);

struct NodeNumbering : PersistentBlocks<CONVEX_THREADS> {
    const ConvexNumberParameters& p;

    __device__ __forceinline__ uint32_t begins_group(uint32_t c) const {
        return has_new_stencil(p.contacts.base, c) ? 1 : 0;
    }

    // The node at a place: its coordinates, which fit a key.
    __device__ __forceinline__ bool node_at(uint32_t place, int32_t (&x)[3]) const {
        const uint32_t group = place / STENCIL_NODES;
        const int32_t s = static_cast<int32_t>(place - group * STENCIL_NODES);
        const Array<int32_t, 3>& base = p.contacts.base[p.incidence.group_begin[group]];
        const int32_t offset[3] = {s / 9, s / 3 % 3, s % 3};
        bool near = true;
        for (uint32_t a = 0; a < 3; ++a) {
            near = near && base[a] >= -FARTHEST && base[a] < FARTHEST - 2;
            x[a] = near ? base[a] + offset[a] : 0;
        }
        return near;
    }

    // Where a node of the last solve is in its table; NO_PLACE where it was none.
    __device__ __forceinline__ uint32_t find_last(uint64_t key, uint32_t begin, uint32_t mask) const {
        uint32_t at = first_place(key, mask + 1);
        for (uint32_t probes = 0; mask > 0 && probes <= mask; ++probes) {
            const uint64_t found = p.table_keys[begin + at];
            if (found == key) {
                return begin + at;
            }
            if (found == 0) {
                break;
            }
            at = (at + 1) & mask;
        }
        return NO_PLACE;
    }

    __device__ __forceinline__ void fail(uint32_t flag) const { atomicOr(&p.incidence.counts[3], flag); }

    // Where a node is in the table that begins there, once it is in it; NO_PLACE where it is full.
    __device__ __forceinline__ uint32_t insert(uint64_t key, uint32_t begin, uint32_t mask) const {
        uint32_t at = first_place(key, mask + 1);
        // At least half of the table stays free, unless the nodes are too many: then the first
        // thread that finds it full stops the others.
        for (uint32_t probes = 0; probes <= mask; ++probes) {
            uint64_t found = *static_cast<const volatile uint64_t*>(&p.table_keys[begin + at]);
            if (found == 0) {
                found = atomicCAS(&p.table_keys[begin + at], static_cast<uint64_t>(0), key);
            }
            if (found == 0 || found == key) {
                return at;
            }
            if (probes % 64 == 63 && *static_cast<const volatile uint32_t*>(&p.incidence.counts[3]) != 0) {
                break;
            }
            at = (at + 1) & mask;
        }
        return NO_PLACE;
    }

    // Sorts a node's places, which are few: one for each group around it.
    __device__ __forceinline__ void sort_places(uint32_t node) const {
        const Span<uint32_t>& places = p.incidence.incidences;
        const uint32_t begin = p.incidence.node_begin[node];
        const uint32_t end = p.incidence.node_begin[node + 1];
        for (uint32_t i = begin + 1; i < end; ++i) {
            const uint32_t place = places[i];
            uint32_t j = i;
            while (j > begin && places[j - 1] > place) {
                places[j] = places[j - 1];
                --j;
            }
            places[j] = place;
        }
    }

    // `take(entry, weight)` for each contact of the group of a place that has a weight at its node.
    template <typename Take>
    __device__ __forceinline__ void entries_of(uint32_t place, Take take) const {
        const uint32_t group = place / STENCIL_NODES;
        const uint32_t s = place - group * STENCIL_NODES;
        const uint32_t end = p.incidence.group_begin[group + 1];
        for (uint32_t c = p.incidence.group_begin[group]; c < end; ++c) {
            const double weight = weight_at(p.contacts, c, s);
            if (weight != 0.0) {
                take(c * STENCIL_NODES + s, weight);
            }
        }
    }

    // Lists the contacts of each node: the products of a solve go through them again and again.
    __device__ __forceinline__ void list_entries(uint32_t places, uint32_t nodes) const {
        const ConvexIncidence& incidence = p.incidence;
        const auto count = [&](uint32_t e) {
            uint32_t entries = 0;
            entries_of(incidence.incidences[e], [&](uint32_t, double) { ++entries; });
            return entries;
        };
        const uint32_t all = scan(places, count, [&](uint32_t e, uint32_t before) {
            const uint32_t node = incidence.group_nodes[incidence.incidences[e]];
            if (incidence.node_begin[node] == e) {
                incidence.entry_begin[node] = before;
            }
            entries_of(incidence.incidences[e], [&](uint32_t entry, double weight) {
                incidence.entries[before] = entry;
                incidence.entry_weights[before] = weight;
                ++before;
            });
        });
        if (global_thread() == 0) {
            incidence.entry_begin[nodes] = all;
        }
    }
};

// Numbers; returns the capacity that is needed of what `counts[3]` says was exceeded.
__device__ __forceinline__ uint32_t number(const NodeNumbering& n, const ConvexNumberParameters& p) {
    const ConvexIncidence& incidence = p.incidence;
    const uint32_t contacts = p.contacts.count[0];
    const bool first = global_thread() == 0;
    // Arrays may be given more than they hold.
    const uint32_t length = p.contacts.base.length;
    const uint32_t overflow = contacts > length ? CONTACT_TOO_MANY : contacts > p.contact_capacity ? CONVEX_TOO_MANY_CONTACTS : 0;
    if (first) {
        incidence.counts[0] = contacts;
        incidence.counts[1] = 0;
        incidence.counts[2] = 0;
        incidence.counts[3] = overflow;
    }
    if (contacts == 0 || overflow != 0) {
        if (first && overflow == 0) {
            p.table_state[1] = 0;
        }
        return contacts;
    }
    // The table of the last solve, and this one's. No thread writes the state before all have read
    // it.
    const uint32_t table_length = p.table_keys.length / 2;
    const uint32_t last = p.table_state[0] * table_length;
    const uint32_t last_mask = p.table_state[1];
    const uint32_t table = table_length - last;
    const uint32_t groups = n.scan(
        contacts, [&](uint32_t c) { return n.begins_group(c); },
        [&](uint32_t c, uint32_t before) {
            const uint32_t begins = n.begins_group(c);
            incidence.contact_groups[c] = before + begins - 1;
            if (begins != 0) {
                incidence.group_begin[before] = c;
            }
        });
    const uint32_t places = STENCIL_NODES * groups;
    // As much of the table as can be half filled, so that a few contacts clear a small one.
    const uint32_t most = min(places, p.node_capacity);
    uint32_t mask = 63;
    while (mask < 2 * most - 1 && mask < table_length - 1) {
        mask = 2 * mask + 1;
    }
    if (first) {
        incidence.group_begin[groups] = contacts;
    }
    n.each(mask + 1, [&](uint32_t at) {
        p.table_keys[table + at] = 0;
        p.table_first[at] = convex::NO_PLACE;
    });
    n.barrier();
    n.each(places, [&](uint32_t place) {
        int32_t x[3];
        const bool near = n.node_at(place, x);
        const uint32_t at = near ? n.insert(packed_key(x[0], x[1], x[2]), table, mask) : convex::NO_PLACE;
        incidence.group_nodes[place] = at;
        if (at == convex::NO_PLACE) {
            n.fail(near ? CONVEX_TOO_MANY_NODES : CONVEX_MISSING_NODE);
        } else {
            atomicMin(&p.table_first[at], place);
        }
    });
    n.barrier();
    // All blocks see the same: the next to write it does so after another barrier.
    if (incidence.counts[3] != 0) {
        // The table was full: there are more nodes than that.
        return mask + 2;
    }
    const auto is_first = [&](uint32_t place) { return p.table_first[incidence.group_nodes[place]] == place ? 1u : 0u; };
    const uint32_t nodes = n.scan(places, is_first, [&](uint32_t place, uint32_t node) {
        if (is_first(place) == 0 || node >= p.node_capacity) {
            return;
        }
        int32_t x[3];
        n.node_at(place, x);
        const uint32_t slot = find_node(p.grid, x[0], x[1], x[2]);
        if (slot == convex::NO_PLACE) {
            n.fail(CONVEX_MISSING_NODE);
            return;
        }
        p.table_numbers[table + incidence.group_nodes[place]] = node;
        incidence.slots[node] = slot;
        p.node_counts[node] = 0;
        const uint32_t known = n.find_last(packed_key(x[0], x[1], x[2]), last, last_mask);
        for (uint32_t a = 0; a < 3; ++a) {
            p.guess_velocities[node][a] =
                known == convex::NO_PLACE ? p.grid.nodes[slot][a] : p.velocities[p.table_numbers[known]][a];
        }
    });
    if (nodes > p.node_capacity || incidence.counts[3] != 0) {
        n.barrier();
        if (first) {
            incidence.counts[3] |= nodes > p.node_capacity ? CONVEX_TOO_MANY_NODES : 0;
        }
        return nodes;
    }
    n.each(places, [&](uint32_t place) {
        const uint32_t node = p.table_numbers[table + incidence.group_nodes[place]];
        incidence.group_nodes[place] = node;
        atomicAdd(&p.node_counts[node], 1u);
    });
    n.barrier();
    n.scan(
        nodes, [&](uint32_t node) { return p.node_counts[node]; },
        [&](uint32_t node, uint32_t before) { incidence.node_begin[node] = before; });
    n.each(nodes, [&](uint32_t node) { p.node_counts[node] = 0; });
    n.barrier();
    n.each(places, [&](uint32_t place) {
        const uint32_t node = incidence.group_nodes[place];
        incidence.incidences[incidence.node_begin[node] + atomicAdd(&p.node_counts[node], 1u)] = place;
    });
    if (first) {
        incidence.node_begin[nodes] = places;
        incidence.counts[1] = groups;
        incidence.counts[2] = nodes;
        // Only now: a numbering that fails can be done again, with the last solve's velocities.
        p.table_state[0] = table == 0 ? 0 : 1;
        p.table_state[1] = mask;
    }
    n.barrier();
    n.each(nodes, [&](uint32_t node) { n.sort_places(node); });
    n.barrier();
    n.list_entries(places, nodes);
    return nodes;
}

}  // namespace convex

PLIANT_KERNEL_FOR(convex_number, ConvexNumberParameters, CONVEX_THREADS, 4) {
    if (is_inactive(p.clock)) {
        return;
    }
    const convex::NodeNumbering numbering = {{p.barrier, p.block_sums}, p};
    const uint32_t needed = convex::number(numbering, p);
    if (global_thread() != 0 || p.status.length == 0) {
        return;
    }
    const uint32_t flags = p.incidence.counts[3];
    if ((flags & CONVEX_TOO_MANY_NODES) != 0) {
        stop_contact(p.status, p.clock, CONVEX_TOO_MANY_NODES, needed, p.node_capacity);
    } else if (flags != 0) {
        const uint32_t room = flags == CONTACT_TOO_MANY ? p.contacts.base.length : p.contact_capacity;
        stop_contact(p.status, p.clock, flags, needed, room);
    }
}
