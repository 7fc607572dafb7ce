// Assigns particles to blocks, sorts them by block and cell, and finds the node blocks that they
// reach, all on the device and in an order that does not depend on the schedule: blocks are
// numbered by their first particle in the old order, node blocks by the first particle block and
// neighbour that reach them. The hash table only finds them.
#include "mpm.cuh"

// Block of the lowest node of a particle's stencil, as an offset from the particle's block, and the
// cell in it.
struct Destination {
    int32_t offset[3];
    uint32_t cell;
    bool is_finite;
};

__device__ __forceinline__ Destination destination_of(const ParticleRows& particles, uint32_t i) {
    Destination to = {{0, 0, 0}, 0, true};
    for (uint32_t d = 0; d < 3; ++d) {
        const float x = row_of(particles, ROW_POSITION + d, i);
        // The transfers stop long before this; NaN is not below.
        const bool is_finite = fabsf(x) < 1e6f;
        const int32_t base = is_finite ? static_cast<int32_t>(floorf(x - 0.5f)) : 0;
        to.is_finite = to.is_finite && is_finite;
        // Rounds down.
        to.offset[d] = base >> 2;
        to.cell = to.cell * 4 + static_cast<uint32_t>(base & 3);
    }
    return to;
}

PLIANT_KERNEL(mpm_sort_classify, MpmSortClassifyParameters, MPM_SORT_THREADS) {
    const uint32_t i = global_thread();
    if (i >= p.particles.count || is_stopped(p.status, p.substep_index)) {
        return;
    }
    const Destination to = destination_of(p.particles, i);
    if (!to.is_finite) {
        atomicMax(&p.status[MPM_STATUS_LOST], ALL_LANES - p.particles.ids[i]);
        stop_after(p.status, p.substep_index, MPM_LOST);
    }
    const Array<int32_t, 3> old = p.particles.block_keys[p.particles.blocks[i]];
    int32_t key[3];
    bool is_in_range = true;
    for (uint32_t d = 0; d < 3; ++d) {
        key[d] = old[d] + to.offset[d];
        // One less, for the neighbours.
        is_in_range = is_in_range && key[d] > -static_cast<int32_t>(MPM_KEY_LIMIT) &&
                      key[d] < static_cast<int32_t>(MPM_KEY_LIMIT);
    }
    uint32_t place = is_in_range ? insert_key(p.table_keys, packed_key(key[0], key[1], key[2])) : 0;
    if (!is_in_range) {
        stop_after(p.status, p.substep_index, MPM_OUT_OF_RANGE);
    } else if (place >= p.table_keys.length) {
        // More keys than the table holds: their number is unknown.
        stop_for_capacity(p.status, p.substep_index, MPM_TOO_MANY_PARTICLE_BLOCKS, p.table_keys.length + 1, p.capacity);
        place = 0;
    }
    // The least index wins; zero is none.
    atomicMax(&p.table_first[place], ALL_LANES - i);
    p.places[i] = place;
    p.cells[i] = to.cell;
}

PLIANT_KERNEL(mpm_sort_clear, MpmSortClearParameters, MPM_SORT_THREADS) {
    if (is_stopped(p.status, p.substep_index)) {
        return;
    }
    const uint32_t threads = gridDim.x * MPM_SORT_THREADS;
    for (uint32_t i = global_thread(); i < p.particles_of_nodes.length; i += threads) {
        p.particles_of_nodes[i] = 0;
    }
    for (uint32_t i = global_thread(); i < p.table_keys.length; i += threads) {
        p.table_keys[i] = 0;
    }
}

PLIANT_KERNEL(mpm_sort_mark_first, MpmSortMarkFirstParameters, MPM_SORT_THREADS) {
    const uint32_t i = global_thread();
    if (i < p.places.length && !is_stopped(p.status, p.substep_index)) {
        p.is_first[i] = p.table_first[p.places[i]] == ALL_LANES - i ? 1 : 0;
    }
}

PLIANT_KERNEL(mpm_sort_number_blocks, MpmSortNumberBlocksParameters, MPM_SORT_THREADS) {
    const uint32_t i = global_thread();
    if (i >= p.particles.count || is_stopped(p.status, p.substep_index)) {
        return;
    }
    const uint32_t number = p.numbers[i], end = number + p.is_first[i];
    if (i + 1 == p.particles.count && end > p.new_keys.length) {
        // Only the last thread, which knows the number, stops the step; the others may read the
        // flag and return.
        stop_for_capacity(p.status, p.substep_index, MPM_TOO_MANY_PARTICLE_BLOCKS, end, p.new_keys.length);
    }
    if (number == end || end > p.new_keys.length) {
        return;
    }
    const Destination to = destination_of(p.particles, i);
    Array<int32_t, 3> key = p.particles.block_keys[p.particles.blocks[i]];
    for (uint32_t d = 0; d < 3; ++d) {
        key[d] += to.offset[d];
    }
    p.new_keys[number] = key;
    p.table_numbers[p.places[i]] = number;
}

PLIANT_KERNEL(mpm_sort_make_keys, MpmSortMakeKeysParameters, MPM_SORT_THREADS) {
    const uint32_t i = global_thread();
    if (i < p.places.length && !is_stopped(p.status, p.substep_index)) {
        p.keys[i] = p.table_numbers[p.places[i]] * MPM_BLOCK_NODES + p.cells[i];
        p.order[i] = i;
    }
}

// Particles in their new order, into spare memory; positions from the corner of the new block.
PLIANT_KERNEL(mpm_sort_gather, MpmSortGatherParameters, MPM_SORT_THREADS) {
    const uint32_t i = global_thread();
    const uint32_t count = p.particles.count;
    if (i >= count || is_stopped(p.status, p.substep_index)) {
        return;
    }
    const uint32_t from = p.order[i];
    const uint32_t block = p.keys[i] / MPM_BLOCK_NODES;
    const Array<int32_t, 3> old_key = p.particles.block_keys[p.particles.blocks[from]];
    const Array<int32_t, 3> new_key = p.new_keys[block];
    for (uint32_t d = 0; d < 3; ++d) {
        const float moved = static_cast<float>((new_key[d] - old_key[d]) * BLOCK_EDGE);
        const float before = row_of(p.particles, ROW_POSITION + d, from), after = before - moved;
        p.spare_rows[(ROW_POSITION + d) * p.particles.stride + i] = after;
        // What rounding took from it.
        p.spare_rows[(ROW_POSITION_LOW + d) * p.particles.stride + i] =
            row_of(p.particles, ROW_POSITION_LOW + d, from) + (before - (after + moved));
    }
    for (uint32_t r = ROW_POSITION + 3; r < ROW_POSITION_LOW; ++r) {
        p.spare_rows[r * p.particles.stride + i] = row_of(p.particles, r, from);
    }
    p.spare_ids[i] = p.particles.ids[from];
    p.spare_materials[i] = p.particles.materials[from];
    if (i == 0 || p.keys[i - 1] / MPM_BLOCK_NODES != block) {
        p.block_starts[block] = i;
    }
    if (i == count - 1) {
        p.block_starts[block + 1] = count;
    }
}

PLIANT_KERNEL(mpm_sort_store, MpmSortStoreParameters, MPM_SORT_THREADS) {
    const uint32_t i = global_thread();
    if (is_stopped(p.status, p.substep_index)) {
        return;
    }
    if (i < p.new_keys.length) {
        p.particles.block_keys[i] = p.new_keys[i];
    }
    if (i >= p.particles.count) {
        return;
    }
    for (uint32_t r = 0; r < MPM_ROWS; ++r) {
        row_of(p.particles, r, i) = p.spare_rows[r * p.particles.stride + i];
    }
    const uint32_t id = p.spare_ids[i];
    p.particles.ids[i] = id;
    const uint32_t first_of_cloth = p.particles.count - p.cloth_elements.length;
    if (id >= first_of_cloth) {
        p.cloth_places[p.cloth_elements[id - first_of_cloth]] = i;
    }
    p.particles.materials[i] = p.spare_materials[i];
    p.particles.blocks[i] = p.keys[i] / MPM_BLOCK_NODES;
}

// For each particle block and neighbour: the first pair that names the same node block, and whether
// it is this one.
PLIANT_KERNEL(mpm_sort_find_owners, MpmSortFindOwnersParameters, MPM_SORT_THREADS) {
    const uint32_t t = global_thread();
    if (t >= p.owners.length || is_stopped(p.status, p.substep_index)) {
        return;
    }
    const uint32_t block = t / MPM_NEIGHBOURS, n = t % MPM_NEIGHBOURS;
    if (block >= p.block_count[0]) {
        p.is_owner[t] = 0;
        return;
    }
    const Array<int32_t, 3> key = p.block_keys[block];
    int32_t o[3];
    neighbour_offset(n, o);
    uint32_t owner = t;
    for (uint32_t m = 0; m < MPM_NEIGHBOURS; ++m) {
        int32_t q[3];
        neighbour_offset(m, q);
        const uint64_t other = packed_key(key[0] + o[0] - q[0], key[1] + o[1] - q[1], key[2] + o[2] - q[2]);
        const uint32_t place = m == n ? p.table_keys.length : find_key(p.table_keys, other);
        if (place < p.table_keys.length) {
            owner = min(owner, p.table_numbers[place] * MPM_NEIGHBOURS + m);
        }
    }
    p.owners[t] = owner;
    p.is_owner[t] = owner == t ? 1 : 0;
}

// Node blocks get their slots, keys and neighbours, and their places in the table.
PLIANT_KERNEL(mpm_sort_place_nodes, MpmSortPlaceNodesParameters, MPM_SORT_THREADS) {
    const uint32_t t = global_thread();
    const uint32_t block = t / MPM_NEIGHBOURS, n = t % MPM_NEIGHBOURS;
    if (is_stopped(p.status, p.substep_index) || block >= p.block_count[0]) {
        return;
    }
    const bool is_owner = p.owners[t] == t;
    const uint32_t count = p.slots[t] + (is_owner ? 1 : 0);
    if (t + 1 == p.block_count[0] * MPM_NEIGHBOURS && count > p.grid.keys.length) {
        // As above: the last pair knows how many there are.
        stop_for_capacity(p.status, p.substep_index, MPM_TOO_MANY_NODE_BLOCKS, count, p.grid.keys.length);
    }
    const uint32_t slot = p.slots[p.owners[t]];
    if (slot >= p.grid.keys.length) {
        return;
    }
    p.nodes_of_particles[t] = slot;
    // The particle block is the opposite neighbour of the node block.
    p.particles_of_nodes[slot * MPM_NEIGHBOURS + MPM_NEIGHBOURS - 1 - n] = block + 1;
    if (is_owner) {
        Array<int32_t, 3> key = p.block_keys[block];
        int32_t o[3];
        neighbour_offset(n, o);
        for (uint32_t d = 0; d < 3; ++d) {
            key[d] += o[d];
        }
        p.grid.keys[slot] = key;
        // Never full: the table is larger than the number of slots.
        p.grid.table_slots[insert_key(p.grid.table_keys, packed_key(key[0], key[1], key[2]))] = slot;
    }
}
