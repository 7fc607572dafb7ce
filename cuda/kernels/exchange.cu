// Results of the contact solve: velocities to the grid, impulses to the bodies, and the contact
// cache. This follows `coupling/src/exchange.rs` and `contact_cache.rs`.
//
// The bodies get exactly the opposite of what the grid got: the contact impulses act where the
// particles touch, and what the solve left over at a node (its momentum change in f32 less the
// contact impulses there) acts at that node, on the body whose contact touches it. Sums are in f64:
// a tile of contacts or nodes sums for each body that it has, by a fixed tree, and a block for each
// body sums the tiles'. Their bits do not depend on the schedule.
#include "block.cuh"
#include "contact_placement.cuh"
#include "convex.cuh"
#include "distance.cuh"

namespace contact {

struct Sums {
    double values[CONTACT_SUMS];
};

// Of a linear impulse at a lever, and the work.
__device__ __forceinline__ Sums sums_of(const double (&lever)[3], const double (&linear)[3], double work) {
    return {{lever[1] * linear[2] - lever[2] * linear[1], lever[2] * linear[0] - lever[0] * linear[2],
        lever[0] * linear[1] - lever[1] * linear[0], linear[0], linear[1], linear[2], work}};
}

// Sums over a tile, body by body in ascending order, to `sums` at `tile`. CONTACT_NONE is no body.
// All threads call this.
__device__ __forceinline__ void sum_tile(
    const Span<Array<double, 7>>& sums, uint32_t tile, uint32_t body_count, uint32_t body, const Sums& own) {
    constexpr uint32_t WARPS = CONTACT_THREADS / WARP_SIZE;
    SHARED(uint32_t, least, WARPS);
    uint32_t next = body;
    while (true) {
        const uint32_t of_warp = __reduce_min_sync(ALL_LANES, next);
        if (lane_index() == 0) {
            least[warp_index()] = of_warp;
        }
        __syncthreads();
        uint32_t current = least[0];
        for (uint32_t warp = 1; warp < WARPS; ++warp) {
            current = min(current, least[warp]);
        }
        if (current == CONTACT_NONE) {
            return;
        }
        for (uint32_t k = 0; k < CONTACT_SUMS; ++k) {
            // Its barriers let `least` be written again.
            const double sum = block_reduce<Sum, CONTACT_THREADS>(body == current ? own.values[k] : 0.0);
            if (threadIdx.x == 0) {
                sums[tile * (body_count + 1) + current][k] = sum;
            }
        }
        next = body > current ? body : CONTACT_NONE;
    }
}

// A place `cells` from a node, from the point that impulses on the body are about in this substep
// [m]; those on the grid's boundaries are about the world's origin.
__device__ __forceinline__ void lever_of(const Span<ContactBody>& bodies, uint32_t substep_index, uint32_t body_count, uint32_t body,
    const Array<int32_t, 3>& node, const double (&cells)[3], double spacing, double (&lever)[3]) {
    for (uint32_t d = 0; d < 3; ++d) {
        const double origin = body < body_count ? bodies[substep_index * body_count + body].origin[d] : 0.0;
        lever[d] = (static_cast<double>(node[d]) + cells[d]) * spacing - origin;
    }
}

// A tile of contacts: their impulses on the bodies, and the cache.
__device__ __forceinline__ void exchange_contacts(const ContactExchangeParameters& p) {
    const uint32_t c = global_thread();
    // Those beyond the capacity are no contacts.
    const uint32_t count = min(p.contacts.count[0], p.contacts.particle.length);
    if (c == 0 && (count == 0 || p.contacts.particle[0] == CONTACT_NONE)) {
        p.contact_cache.state[0].cached_contacts = 0;
    }
    if (blockIdx.x * CONTACT_THREADS >= count) {
        return;
    }
    Sums sums = {};
    uint32_t body = CONTACT_NONE;
    if (c < count) {
        body = p.contacts.body[c];
        const uint32_t geometry = p.contacts.geometry[c];
        const uint32_t particle = p.contacts.particle[c];
        const Array<float, 3> normal = p.contacts.normal[c];
        const Array<float, 3> velocity = p.contacts.body_velocity[c];
        const convex::Acting<double> at(p.contacts.offset, p.contacts.arm, c);
        double impulse[3], cells[3], lever[3], surface_velocity[3];
        double normal_impulse = 0.0;
        for (uint32_t d = 0; d < 3; ++d) {
            impulse[d] = p.solution.impulses[c][d];
            normal_impulse += static_cast<double>(normal[d]) * impulse[d];
            // A contact of a node is at one of them.
            const double on_node = static_cast<double>(CONVEX_ON_NODE);
            cells[d] = (at.offset[d] >= on_node ? at.offset[d] - on_node : at.offset[d]) + at.arm[d];
            surface_velocity[d] = static_cast<double>(velocity[d]);
        }
        lever_of(p.bodies, p.clock[0].substep_index, p.body_count, body, p.contacts.base[c], cells, p.grid_spacing, lever);
        if (p.solution.body_velocity_changes.length > body) {
            const Array<double, 6>& change = p.solution.body_velocity_changes[body];
            for (uint32_t d = 0; d < 3; ++d) {
                const uint32_t e = (d + 1) % 3, f = (d + 2) % 3;
                surface_velocity[d] += change[3 + d] + change[e] * lever[f] - change[f] * lever[e];
            }
        }
        const double work = impulse[0] * surface_velocity[0] + impulse[1] * surface_velocity[1] + impulse[2] * surface_velocity[2];
        const double reaction[3] = {-impulse[0], -impulse[1], -impulse[2]};
        sums = sums_of(lever, reaction, work);

        // The contacts with grid boundary constraints come after all others, and they are not
        // cached.
        if (particle != CONTACT_NONE) {
            const bool is_bonded = p.contacts.tension[c] > 0.0f;
            const bool adhesive = p.shapes.geometries[geometry].adhesive != 0;
            const float outside = p.contacts.exit_distance[c];
            DeviceCachedContact& cached = p.contact_cache.list[c];
            cached.particle = particle;
            cached.geometry = geometry;
            cached.feature = p.contacts.feature[c];
            cached.bonded = is_bonded || (adhesive && normal_impulse > 0.0) ? 1 : 0;
            cached.impulse = {{static_cast<float>(impulse[0]), static_cast<float>(impulse[1]), static_cast<float>(impulse[2])}};
            cached.normal_impulse = static_cast<float>(is_bonded ? normal_impulse : fmax(normal_impulse, 0.0));
            cached.distance = p.contacts.distance[c];
            cached.exit_distance = outside;
            cached.unused = {{0, 0}};
            if (c == 0 || p.contacts.particle[c - 1] != particle) {
                p.contact_cache.first[particle] = c;
            }
            if (c + 1 == count || p.contacts.particle[c + 1] == CONTACT_NONE) {
                p.contact_cache.state[0].cached_contacts = c + 1;
            }
            if (outside > 0.0f) {
                // Bits of positive numbers are in their order: which thread comes first does not
                // matter.
                atomicMax(&p.contact_cache.state[0].next_max_exit_distance, __float_as_uint(outside));
            }
        }
    }
    sum_tile(p.sums, blockIdx.x, p.body_count, body, sums);
}

// A tile of touched nodes: their velocities, and what the solve left over.
__device__ __forceinline__ void exchange_nodes(const ContactExchangeParameters& p, uint32_t tile) {
    const uint32_t n = tile * CONTACT_THREADS + threadIdx.x;
    const uint32_t count = p.contacts.count[0] > 0 ? p.incidence.counts[2] : 0;
    if (tile * CONTACT_THREADS >= count) {
        return;
    }
    Sums sums = {};
    uint32_t owner = CONTACT_NONE;
    if (n < count) {
        double left[3] = {0.0, 0.0, 0.0};
        const double mass = p.solution.nodes[p.solution.mass_row * p.solution.node_stride + n];
        Array<float, 4>& node = p.nodes[p.incidence.slots[n]];
        // A node with mass on the grid and none in the solve is held by a sticky boundary.
        const bool is_fixed = mass == 0.0 && node[3] > 0.0f;
        if (mass > 0.0) {
            for (uint32_t d = 0; d < 3; ++d) {
                const double before = p.solution.nodes[(p.solution.free_row + d) * p.solution.node_stride + n];
                const float rounded = static_cast<float>(p.solution.velocities[n][d]);
                left[d] = mass * (static_cast<double>(rounded) - before);
                node[d] = rounded;
            }
        }
        // The last contact that presses owns the node, else the last of all.
        bool pressed = false;
        uint32_t at = 0;
        Array<int32_t, 3> base = {};
        for (uint32_t k = p.incidence.node_begin[n]; k < p.incidence.node_begin[n + 1]; ++k) {
            const uint32_t place = p.incidence.incidences[k];
            const uint32_t group = place / STENCIL_NODES;
            at = place % STENCIL_NODES;
            for (uint32_t c = p.incidence.group_begin[group]; c < p.incidence.group_begin[group + 1]; ++c) {
                const convex::Acting<double> acting(p.contacts.offset, p.contacts.arm, c);
                const double weight = acting.weight(0, at / 9) * acting.weight(1, at / 3 % 3) * acting.weight(2, at % 3);
                bool presses = false;
                for (uint32_t d = 0; d < 3; ++d) {
                    const double impulse = p.solution.impulses[c][d];
                    presses = presses || impulse != 0.0;
                    left[d] -= weight * impulse;
                }
                const uint32_t body = p.contacts.body[c];
                if (body < p.body_count && (presses || !pressed)) {
                    owner = body;
                    pressed = pressed || presses;
                }
                base = p.contacts.base[c];
            }
        }
        // A node that a sticky boundary held did not move: the boundary held it against the
        // contacts.
        if (owner == CONTACT_NONE || is_fixed) {
            owner = p.body_count;
        }
        const double cells[3] = {
            static_cast<double>(at / 9), static_cast<double>(at / 3 % 3), static_cast<double>(at % 3)};
        double lever[3];
        lever_of(p.bodies, p.clock[0].substep_index, p.body_count, owner, base, cells, p.grid_spacing, lever);
        const double reaction[3] = {-left[0], -left[1], -left[2]};
        sums = sums_of(lever, reaction, 0.0);
    }
    sum_tile(p.sums, blockIdx.x, p.body_count, owner, sums);
}

}  // namespace contact

PLIANT_KERNEL_FOR(contact_exchange, ContactExchangeParameters, CONTACT_THREADS, 4) {
    if (p.clock[0].active == 0) {
        return;
    }
    // Bodies that the tile does not have get nothing from it.
    const uint32_t rows = p.body_count + 1;
    for (uint32_t body = threadIdx.x; body < rows; body += CONTACT_THREADS) {
        p.sums[blockIdx.x * rows + body] = {};
    }
    if (blockIdx.x < p.first_tile) {
        contact::exchange_contacts(p);
    } else {
        contact::exchange_nodes(p, blockIdx.x - p.first_tile);
    }
}

namespace contact {

// Moves a body's reference point for impulses to the next substep, after the impulse `given` [N s]:
// `ReferencePointPath` of coupling/src/body_state.rs.
__device__ __forceinline__ void move_reference(
    const ContactSumBodiesParameters& p, uint32_t body, const double (&given)[3]) {
    ContactReference& path = p.references[body];
    const uint32_t k = path.substep_index;
    const ContactBody& first = p.bodies[body];
    const ContactBody& now = p.bodies[k * p.body_count + body];
    ContactBody& next = p.bodies[(k + 1) * p.body_count + body];
    const double fallen = static_cast<double>(k + 1) * path.substep;
    for (uint32_t d = 0; d < 3; ++d) {
        const uint32_t e = (d + 1) % 3, f = (d + 2) % 3;
        path.moment_of_travel[d] += (now.origin[e] - first.origin[e]) * given[f] - (now.origin[f] - first.origin[f]) * given[e];
    }
    for (uint32_t d = 0; d < 3; ++d) {
        const double gained = p.totals[body][3 + d] / path.mass;
        next.origin[d] = now.origin[d] + path.substep * (path.velocity[d] + fallen * path.acceleration[d] + gained);
    }
    path.substep_index = k + 1;
}

}  // namespace contact

PLIANT_KERNEL(contact_sum_bodies, ContactSumBodiesParameters, CONTACT_THREADS) {
    if (p.clock[0].active == 0) {
        return;
    }
    const uint32_t body = blockIdx.x;
    double given[3] = {0.0, 0.0, 0.0};
    for (uint32_t k = 0; k < CONTACT_SUMS; ++k) {
        double value = 0.0;
        // Contacts, then nodes: tiles without any add zero, so that the bits do not depend on the
        // capacity.
        for (uint32_t tile = threadIdx.x; tile < p.first_tile; tile += CONTACT_THREADS) {
            value += p.sums[tile * (p.body_count + 1) + body][k];
        }
        for (uint32_t tile = p.first_tile + threadIdx.x; tile < p.tiles; tile += CONTACT_THREADS) {
            value += p.sums[tile * (p.body_count + 1) + body][k];
        }
        value = block_reduce<Sum, CONTACT_THREADS>(value);
        if (threadIdx.x == 0) {
            p.totals[body][k] += value;
            if (k >= 3 && k < 6) {
                given[k - 3] = value;
            }
        }
    }
    if (body < p.body_count) {
        if (threadIdx.x == 0) {
            contact::move_reference(p, body, given);
        }
        __syncthreads();
        contact::place_of_body(p.placement, p.clock[0], body, p.references[body].substep_index);
    }
    if (body == 0 && threadIdx.x == 0) {
        // The substep is over. Other blocks do not read these.
        ContactState& state = p.state[0];
        state.max_exit_distance = state.next_max_exit_distance;
        state.next_max_exit_distance = 0;
        state.step_contacts += state.detected;
        state.step_most_contacts = max(state.step_most_contacts, state.detected);
        p.clock[0].substep_index += 1;
    }
}

namespace contact {

// The rotation that follows `rotation` after a turn of `angle` radians about an axis: the
// exponential map. Quaternions w, x, y, z.
__device__ __forceinline__ void rotate(const double (&angle)[3], Array<double, 4>& rotation) {
    const double size = sqrt(angle[0] * angle[0] + angle[1] * angle[1] + angle[2] * angle[2]);
    // sin(size / 2) / size, and below the root of the rounding its limit.
    const double part = size > 1e-9 ? sin(0.5 * size) / size : 0.5;
    const double w = cos(0.5 * size);
    const double q[3] = {part * angle[0], part * angle[1], part * angle[2]};
    const Array<double, 4> r = rotation;
    rotation[0] = w * r[0] - (q[0] * r[1] + q[1] * r[2] + q[2] * r[3]);
    for (uint32_t a = 0; a < 3; ++a) {
        const uint32_t e = (a + 1) % 3, f = (a + 2) % 3;
        rotation[1 + a] = w * r[1 + a] + q[a] * r[0] + (q[e] * r[1 + f] - q[f] * r[1 + e]);
    }
}

}  // namespace contact

namespace contact {

// Moves a strongly coupled body, number `place` of them, to substep `next`: as
// coupling/src/motion.rs.
__device__ __forceinline__ void move_body(const ContactMoveBodiesParameters& p, uint32_t place, uint32_t next) {
    const uint32_t count = p.strongly_coupled.bodies.length;
    const double substeps = p.strongly_coupled.step[0][0];
    const double substep = p.strongly_coupled.step[0][1];
    const uint32_t body = p.strongly_coupled.bodies[place];
    const ContactBody& last = p.bodies[(next - 1) * p.body_count + body];
    ContactBody moved = last;
    // The sums have moved the point on already.
    moved.origin = p.bodies[next * p.body_count + body].origin;
    double velocity[6];
    for (uint32_t d = 0; d < 6; ++d) {
        const uint32_t i = 6 * place + d;
        double change = 0.0;
        for (uint32_t other = 0; other < count; ++other) {
            double of_other = 0.0;
            for (uint32_t e = 0; e < 6; ++e) {
                of_other += p.strongly_coupled.mobility[6 * count * i + 6 * other + e] * p.totals[p.strongly_coupled.bodies[other]][e];
            }
            change += of_other;
        }
        const double start = p.strongly_coupled.start[i];
        const double gain = p.strongly_coupled.gain[i];
        const double lag = p.strongly_coupled.lag[i];
        velocity[d] = start + static_cast<double>(next) / substeps * gain + change + lag;
        const double next_velocity = start + static_cast<double>(next + 1) / substeps * gain + change + lag;
        if (d < 3) {
            moved.angular[d] = next_velocity;
        } else {
            moved.linear[d - 3] = next_velocity;
        }
    }
    const double angle[3] = {velocity[0] * substep, velocity[1] * substep, velocity[2] * substep};
    rotate(angle, moved.rotation);
    for (uint32_t a = 0; a < 3; ++a) {
        moved.translation[a] += velocity[3 + a] * substep;
    }
    p.bodies[next * p.body_count + body] = moved;
}

}  // namespace contact

// A block a body, after the exchange.
PLIANT_KERNEL_FOR(contact_move_bodies, ContactMoveBodiesParameters, CONTACT_THREADS, 2) {
    const uint32_t place = blockIdx.x;
    if (p.clock[0].active == 0 || place >= p.strongly_coupled.bodies.length) {
        return;
    }
    // The exchange has moved the clock on.
    const uint32_t next = p.clock[0].substep_index;
    if (threadIdx.x == 0) {
        contact::move_body(p, place, next);
    }
    __syncthreads();
    contact::place_of_body(p.placement, p.clock[0], p.strongly_coupled.bodies[place], next);
}
