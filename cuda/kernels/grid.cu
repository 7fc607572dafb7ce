// The grid pass: sum the scratchpads, free motion, boundary conditions, and the balance of
// momentum; as mpm/src/grid.rs.
#include "mpm.cuh"

// Imposes a boundary condition on a velocity [m/s] (mpm/src/boundary.rs).
__device__ __forceinline__ void impose(const MpmPlane& plane, float v[3]) {
    const float nx = plane.normal[0], ny = plane.normal[1], nz = plane.normal[2];
    const float normal_velocity = nx * v[0] + ny * v[1] + nz * v[2];
    if (plane.kind == MPM_STICKY) {
        v[0] = v[1] = v[2] = 0.0f;
        return;
    }
    if (normal_velocity >= 0.0f) {
        return;
    }
    const float t[3] = {v[0] - normal_velocity * nx, v[1] - normal_velocity * ny, v[2] - normal_velocity * nz};
    float factor = 1.0f;
    if (plane.kind == MPM_FRICTIONAL) {
        const float speed = sqrtf(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
        const float kept = fmaxf(speed + plane.friction * normal_velocity, 0.0f);
        factor = speed > 0.0f ? kept / speed : 0.0f;
    }
    v[0] = factor * t[0];
    v[1] = factor * t[1];
    v[2] = factor * t[2];
}

// Particle block n of those around a node block, plus one, where its scratchpad reaches the node
// block; zero elsewhere.
__device__ __forceinline__ uint32_t reaching_block(const MpmGridParameters& p, uint32_t slot, uint32_t n) {
    const uint32_t block = p.particles_of_nodes[slot * MPM_NEIGHBOURS + n];
    if (block == 0) {
        return 0;
    }
    int32_t o[3];
    neighbour_offset(n, o);
    const StencilBox box = load_box(p.stencil_boxes[block - 1]);
    bool reaches = true;
    for (int d = 0; d < 3; ++d) {
        const int32_t first = SCRATCHPAD_MARGIN - BLOCK_EDGE * o[d];
        reaches = reaches && box.low[d] < first + BLOCK_EDGE && box.high[d] > first;
    }
    return reaches ? block : 0;
}

// Sum of the scratchpads at node (x, y, z) of a node block, in the order of the neighbours.
__device__ __forceinline__ void sum_scratchpads(
    const MpmGridParameters& p, const uint32_t* neighbours, int32_t x, int32_t y, int32_t z, float sum[4]) {
    for (uint32_t n = 0; n < MPM_NEIGHBOURS; ++n) {
        const uint32_t block = neighbours[n];
        if (block == 0) {
            continue;
        }
        // The particle block lies at offset o, so this node is at -4 o from its corner.
        int32_t o[3];
        neighbour_offset(n, o);
        const int32_t at[3] = {x - BLOCK_EDGE * o[0] + SCRATCHPAD_MARGIN, y - BLOCK_EDGE * o[1] + SCRATCHPAD_MARGIN,
                               z - BLOCK_EDGE * o[2] + SCRATCHPAD_MARGIN};
        const StencilBox box = load_box(p.stencil_boxes[block - 1]);
        bool is_inside = true;
        for (int d = 0; d < 3; ++d) {
            is_inside = is_inside && at[d] >= box.low[d] && at[d] < box.high[d];
        }
        if (is_inside) {
            const float4 value = quad(p.scratchpads, (block - 1) * MPM_SCRATCHPAD_NODES + scratchpad_index(at[0], at[1], at[2]));
            sum[0] += value.x;
            sum[1] += value.y;
            sum[2] += value.z;
            sum[3] += value.w;
        }
    }
}

// What a node adds to the balance; angular parts about the world's origin.
struct NodeBalance {
    double values[MPM_BALANCE];
};

// Free motion of a node with mass, its boundary conditions, and what both did. `position` in cells.
__device__ __forceinline__ NodeBalance move_node(
    const MpmGridParameters& p, const double position[3], const float momentum[4], float v[3]) {
    const MpmSettings& settings = p.settings[0];
    const double h = settings.grid_spacing_f64;
    const double mass = momentum[3];
    const double* const step = settings.gravity_step.data;
    NodeBalance balance = {};
    double* const a = balance.values;
    a[0] = mass;
    a[MPM_BALANCE - 1] = 1.0;
    double change[3], arm[3];
    for (int d = 0; d < 3; ++d) {
        change[d] = mass * step[d];
        arm[d] = position[d] * h;
        a[1 + d] = change[d];
        // Gravity's impulse times the mean velocity.
        a[13] += step[d] * (static_cast<double>(momentum[d]) + 0.5 * mass * step[d]);
    }
    a[4] = arm[1] * change[2] - arm[2] * change[1];
    a[5] = arm[2] * change[0] - arm[0] * change[2];
    a[6] = arm[0] * change[1] - arm[1] * change[0];

    const float inverse = 1.0f / momentum[3];
    float before[3];
    for (int d = 0; d < 3; ++d) {
        // Rounded once: all nodes of a body in free fall round alike, and what they lose adds up.
        before[d] = v[d] = fmaf(momentum[d], inverse, static_cast<float>(step[d]));
    }
    bool is_changed = false;
    for (uint32_t n = 0; n < p.planes.length; ++n) {
        const MpmPlane& plane = p.planes[n];
        if (acts_on(plane, position)) {
            impose(plane, v);
            is_changed = true;
        }
    }
    if (is_changed) {
        for (int d = 0; d < 3; ++d) {
            change[d] = mass * (static_cast<double>(v[d]) - static_cast<double>(before[d]));
            a[7 + d] = change[d];
            a[13] += change[d] * 0.5 * (static_cast<double>(v[d]) + static_cast<double>(before[d]));
        }
        a[10] = arm[1] * change[2] - arm[2] * change[1];
        a[11] = arm[2] * change[0] - arm[0] * change[2];
        a[12] = arm[0] * change[1] - arm[1] * change[0];
    }
    return balance;
}

// Stores an entry of what a substep adds to a node block's balance. It joins the sums when the next
// substep comes, because this one may be stopped and repeated; `is_again` says that the last one is
// repeated.
__device__ __forceinline__ void accumulate(const MpmGridParameters& p, uint32_t slot, uint32_t entry, bool is_again, double added) {
    double* const row = &p.balances[slot * MPM_BALANCE_ROW];
    row[entry] += is_again ? 0.0 : row[MPM_BALANCE + entry];
    row[MPM_BALANCE + entry] = added;
    if (entry == 0) {
        row[MPM_BALANCE_ROW - 1] = static_cast<double>(p.substep_index);
    }
}

// A block of threads a node block, a thread a node.
PLIANT_KERNEL(mpm_move_grid, MpmGridParameters, MPM_BLOCK_NODES) {
    SHARED(uint32_t, neighbours, MPM_NEIGHBOURS);
    SHARED(double, balances, MPM_BALANCE * MPM_BLOCK_NODES);
    const uint32_t slot = blockIdx.x;
    if (is_stopped(p.status, p.substep_index)) {
        return;
    }
    if (slot == 0 && threadIdx.x == 0) {
        // The largest speed is that of the last substep; the particles' pass comes after this one.
        p.status[MPM_STATUS_SPEED] = 0;
    }
    if (slot >= p.node_count[0]) {
        return;
    }
    const uint32_t node = threadIdx.x;
    // Without a balance, velocities are all that is wanted.
    const bool moves = p.balances.length > 0;
    const bool is_again = moves && p.balances[slot * MPM_BALANCE_ROW + MPM_BALANCE_ROW - 1] == static_cast<double>(p.substep_index);
    uint32_t reaching = 0;
    if (node < MPM_NEIGHBOURS) {
        reaching = reaching_block(p, slot, node);
        neighbours[node] = reaching;
    }
    if (__syncthreads_or(reaching != 0) == 0) {
        quad(p.grid.nodes, slot * MPM_BLOCK_NODES + node) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (moves && node < MPM_BALANCE) {
            accumulate(p, slot, node, is_again, 0.0);
        }
        return;
    }
    const int32_t local[3] = {static_cast<int32_t>(node / 16), static_cast<int32_t>(node / 4 % 4),
                              static_cast<int32_t>(node % 4)};
    float momentum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (p.scratchpads.length > 0) {
        sum_scratchpads(p, neighbours, local[0], local[1], local[2], momentum);
    } else {
        const float4 sum = quad(p.grid.nodes, slot * MPM_BLOCK_NODES + node);
        momentum[0] = sum.x;
        momentum[1] = sum.y;
        momentum[2] = sum.z;
        momentum[3] = sum.w;
    }
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    NodeBalance balance = {};
    if (!moves) {
        if (momentum[3] > 0.0f) {
            const float inverse = 1.0f / momentum[3];
            value = make_float4(momentum[0] * inverse, momentum[1] * inverse, momentum[2] * inverse, momentum[3]);
        }
        quad(p.grid.nodes, slot * MPM_BLOCK_NODES + node) = value;
        return;
    }
    if (momentum[3] > 0.0f) {
        const Array<int32_t, 3> key = p.grid.keys[slot];
        double position[3];
        for (uint32_t d = 0; d < 3; ++d) {
            position[d] = static_cast<double>(BLOCK_EDGE) * key[d] + local[d];
        }
        float v[3];
        balance = move_node(p, position, momentum, v);
        value = make_float4(v[0], v[1], v[2], momentum[3]);
    }
    quad(p.grid.nodes, slot * MPM_BLOCK_NODES + node) = value;

    // Sums over the block, in f64 and in the order of the nodes: sixteen at a time, then these.
    for (uint32_t a = 0; a < MPM_BALANCE; ++a) {
        balances[a * MPM_BLOCK_NODES + node] = balance.values[a];
    }
    __syncthreads();
    constexpr uint32_t PARTS = 4;
    static_assert(MPM_BALANCE * PARTS <= MPM_BLOCK_NODES, "a thread a part");
    double sum = 0.0;
    if (node < MPM_BALANCE * PARTS) {
        for (uint32_t i = 0; i < MPM_BLOCK_NODES / PARTS; ++i) {
            sum += balances[node * (MPM_BLOCK_NODES / PARTS) + i];
        }
    }
    __syncthreads();
    if (node < MPM_BALANCE * PARTS) {
        balances[node] = sum;
    }
    __syncthreads();
    if (node < MPM_BALANCE) {
        const double* const parts = &balances[node * PARTS];
        accumulate(p, slot, node, is_again, parts[0] + parts[1] + (parts[2] + parts[3]));
    }
}

// Adds the node blocks' balances to the step's, in the order of the blocks, and sets them to zero;
// by a single block of threads.
PLIANT_KERNEL(mpm_sum_balance, MpmSumBalanceParameters, MPM_BALANCE_THREADS) {
    SHARED(double, parts, MPM_BALANCE_THREADS);
    constexpr uint32_t LANES = 16;
    static_assert(MPM_BALANCE * LANES <= MPM_BALANCE_THREADS, "lanes for each entry");
    if (p.substep_index > p.status[MPM_STATUS_LIMIT]) {
        // The substeps of this balance are not all done.
        return;
    }
    const uint32_t entry = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    // Mass and number of nodes are those of the last substep.
    const bool is_last = entry == 0 || entry == MPM_BALANCE - 1;
    double sum = 0.0;
    if (entry < MPM_BALANCE) {
        // Blocks beyond the capacity were never filled.
        for (uint32_t slot = lane; slot < min(p.node_count[0], p.balances.length / MPM_BALANCE_ROW); slot += LANES) {
            double* const row = &p.balances[slot * MPM_BALANCE_ROW];
            const bool is_again = row[MPM_BALANCE_ROW - 1] == static_cast<double>(p.substep_index);
            const double last = is_again ? 0.0 : row[MPM_BALANCE + entry];
            sum += is_last ? last : row[entry] + last;
            row[entry] = row[MPM_BALANCE + entry] = 0.0;
        }
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (entry < MPM_BALANCE && lane == 0) {
        for (uint32_t i = 1; i < LANES; ++i) {
            sum += parts[threadIdx.x + i];
        }
        p.total[entry] = is_last ? sum : p.total[entry] + sum;
    }
}
