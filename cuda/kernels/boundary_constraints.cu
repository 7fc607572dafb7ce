// Grid boundary constraints: boundary conditions as part of the contact problem. This follows
// `coupling/src/boundary_constraints.rs`, which says why.
//
// Each touched node on which conditions act becomes a contact for each of them, after the contacts
// of the particles: by the first contact whose stencil has it, then by its place in the stencil,
// then by the list of conditions. That is the CPU's order, and it puts nodes of one stencil next to
// each other, which the solve works on together. A sticky node is fixed instead, by a mark that the
// solve reads. The constraints of a node follow one another, so that one thread goes through them
// in their order.
#include "convex.cuh"
#include "grid_scan.cuh"
#include "mpm.cuh"

namespace boundary {

// Stiffness number `substep^2 k / m` of a node's contact with a boundary: as
// `BOUNDARY_STIFFNESS_NUMBER` of the CPU.
constexpr double NUMBER = 1e4;

struct ConstraintWriter : PersistentBlocks<BOUNDARY_THREADS> {
    const BoundaryAddParameters& p;

    // What a place marks its node with: the first place's is the largest. Less than CONVEX_FIXED,
    // and not zero.
    static __device__ __forceinline__ uint32_t mark_of(uint32_t place) { return CONVEX_FIXED - 1 - place; }

    // Lattice coordinates of the node at a place.
    __device__ __forceinline__ Array<int32_t, 3> node_at(uint32_t place) const {
        const Array<int32_t, 3>& base = p.contacts.base[place / STENCIL_NODES];
        const int32_t s = static_cast<int32_t>(place % STENCIL_NODES);
        return {{base[0] + s / 9, base[1] + s / 3 % 3, base[2] + s % 3}};
    }

    // Calls `act(n)` for each condition that acts on a node.
    template <typename Act>
    __device__ __forceinline__ void each_condition(const Array<int32_t, 3>& node, Act act) const {
        const double position[3] = {
            static_cast<double>(node[0]), static_cast<double>(node[1]), static_cast<double>(node[2])};
        for (uint32_t n = 0; n < p.planes.length; ++n) {
            if (acts_on(p.planes[n], position)) {
                act(n);
            }
        }
    }

    // Slot of the node at a place, where it is a node with mass on which conditions act; else
    // CONTACT_NONE.
    __device__ __forceinline__ uint32_t bounded_slot(uint32_t place) const {
        if (!convex::has_new_stencil(p.contacts.base, place / STENCIL_NODES)) {
            return CONTACT_NONE;
        }
        const Array<int32_t, 3> node = node_at(place);
        bool is_bounded = false;
        each_condition(node, [&](uint32_t) { is_bounded = true; });
        const uint32_t slot = is_bounded ? find_node(p.grid, node[0], node[1], node[2]) : CONTACT_NONE;
        return slot != CONTACT_NONE && p.grid.nodes[slot][3] > 0.0f ? slot : CONTACT_NONE;
    }

    // Whether a place is the first of a node on which conditions act.
    __device__ __forceinline__ bool is_first(uint32_t place) const {
        const uint32_t slot = p.places[place];
        // Another place of the node may be marking it as fixed meanwhile.
        return slot != CONTACT_NONE && load_acquire(&p.marks[slot]) == mark_of(place);
    }

    // Number of contacts that the place brings: none of a sticky node.
    __device__ __forceinline__ uint32_t constraints_at(uint32_t place) const {
        uint32_t count = 0;
        bool is_sticky = false;
        if (is_first(place)) {
            each_condition(node_at(place), [&](uint32_t n) {
                is_sticky = is_sticky || p.planes[n].kind == MPM_STICKY;
                ++count;
            });
        }
        return is_sticky ? 0 : count;
    }

    // Writes the contacts of the place's node, from contact `at` on.
    __device__ __forceinline__ void add(uint32_t place, uint32_t first, uint32_t at) const {
        const uint32_t slot = p.places[place];
        const Array<int32_t, 3> node = node_at(place);
        const Array<int32_t, 3> base = p.contacts.base[place / STENCIL_NODES];
        const double mass = p.grid.nodes[slot][3];
        const double substep = p.clock[0].substep;
        const float stiffness = static_cast<float>(NUMBER * mass / (substep * substep));
        Array<float, 3> offset, lever;
        for (uint32_t d = 0; d < 3; ++d) {
            offset[d] = static_cast<float>(static_cast<int32_t>(CONVEX_ON_NODE) + node[d] - base[d]);
            lever[d] = static_cast<float>(static_cast<double>(node[d]) * p.grid_spacing);
        }
        const ContactArrays& contacts = p.contacts;
        each_condition(node, [&](uint32_t n) {
            if (at < contacts.particle.length) {
                const Array<float, 3> zero = {{0.0f, 0.0f, 0.0f}};
                p.constraints[at - first] = {n, slot};
                contacts.particle[at] = CONTACT_NONE;
                contacts.geometry[at] = CONTACT_NONE;
                contacts.body[at] = p.body_count;
                contacts.feature[at] = CONTACT_NONE;
                contacts.base[at] = base;
                contacts.offset[at] = offset;
                if (contacts.arm.length > 0) {
                    contacts.arm[at] = zero;
                }
                contacts.normal[at] = p.planes[n].normal;
                contacts.body_velocity[at] = zero;
                contacts.lever[at] = lever;
                contacts.gap[at] = 0.0f;
                contacts.distance[at] = 0.0f;
                contacts.exit_distance[at] = 0.0f;
                contacts.stiffness[at] = stiffness;
                contacts.dissipation[at] = 0.0f;
                contacts.friction[at] = 0.0f;
                contacts.lagged_normal_impulse[at] = 0.0f;
                contacts.tension[at] = 0.0f;
                contacts.last_impulse[at] = zero;
            }
            ++at;
        });
    }
};

// Which of the 27 nodes of its stencil a contact of a node is at.
__device__ __forceinline__ uint32_t place_in_stencil(const Array<float, 3>& offset) {
    const auto along = [&](uint32_t d) { return static_cast<uint32_t>(offset[d]) - CONVEX_ON_NODE; };
    return (along(0) * 3 + along(1)) * 3 + along(2);
}

// Momentum that the guessed impulses of the particles' contacts, those before `first`, bring to a
// touched node [N s].
__device__ __forceinline__ void gather_guess(const BoundaryGuessParameters& p, uint32_t node, uint32_t first, double (&pushed)[3]) {
    const ConvexIncidence& incidence = p.incidence;
    pushed[0] = pushed[1] = pushed[2] = 0.0;
    for (uint32_t e = incidence.node_begin[node]; e < incidence.node_begin[node + 1]; ++e) {
        const uint32_t place = incidence.incidences[e];
        const uint32_t group = place / STENCIL_NODES;
        const uint32_t s = place % STENCIL_NODES;
        const uint32_t end = min(incidence.group_begin[group + 1], first);
        for (uint32_t c = incidence.group_begin[group]; c < end; ++c) {
            const convex::Acting<double> at(p.contacts.offset, p.contacts.arm, c);
            const double weight = at.weight(0, s / 9) * at.weight(1, s / 3 % 3) * at.weight(2, s % 3);
            for (uint32_t d = 0; d < 3; ++d) {
                pushed[d] += static_cast<double>(p.contacts.last_impulse[c][d]) * weight;
            }
        }
    }
}

__device__ __forceinline__ float dot(const Array<float, 3>& a, const float (&b)[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The velocity [m/s] of a node of this mass that a boundary gave a normal impulse [N s] in the
// solve.
__device__ __forceinline__ void impose(const MpmPlane& plane, double friction, double mass, double solved, float (&velocity)[3]) {
    const Array<float, 3>& normal = plane.normal;
    const float into = fminf(dot(normal, velocity), 0.0f);
    float tangential[3];
    for (uint32_t d = 0; d < 3; ++d) {
        velocity[d] = velocity[d] - normal[d] * into;
    }
    const float apart = dot(normal, velocity);
    for (uint32_t d = 0; d < 3; ++d) {
        tangential[d] = velocity[d] - normal[d] * apart;
    }
    const float speed = sqrtf(tangential[0] * tangential[0] + tangential[1] * tangential[1] + tangential[2] * tangential[2]);
    const float slowed = static_cast<float>(friction * (solved / mass - static_cast<double>(into)));
    if (speed > 0.0f && slowed > 0.0f) {
        const float taken = fminf(slowed / speed, 1.0f);
        for (uint32_t d = 0; d < 3; ++d) {
            velocity[d] = velocity[d] - tangential[d] * taken;
        }
    }
}

// The boundary constraints of one node, the first of which is constraint `w`, in their order;
// `sums` gets the impulse on them, about the world's origin.
__device__ __forceinline__ void impose_node(
    const BoundaryImposeParameters& p, uint32_t first, uint32_t w, uint32_t constraints, double (&sums)[BOUNDARY_SUMS]) {
    const uint32_t slot = p.constraints[w].slot;
    Array<float, 4>& node = p.nodes[slot];
    const double mass = node[3];
    const Array<int32_t, 3>& base = p.contacts.base[first + w];
    const Array<float, 3>& offset = p.contacts.offset[first + w];
    float velocity[3] = {node[0], node[1], node[2]};
    double got[3] = {0.0, 0.0, 0.0};
    for (; w < constraints && p.constraints[w].slot == slot; ++w) {
        const MpmPlane& plane = p.planes[p.constraints[w].plane];
        const Array<double, 3>& impulse = p.impulses[first + w];
        const double solved = plane.normal_f64[0] * impulse[0] + plane.normal_f64[1] * impulse[1] + plane.normal_f64[2] * impulse[2];
        const float before[3] = {velocity[0], velocity[1], velocity[2]};
        impose(plane, p.friction[p.constraints[w].plane], mass, solved, velocity);
        for (uint32_t d = 0; d < 3; ++d) {
            got[d] += (static_cast<double>(velocity[d]) - static_cast<double>(before[d])) * mass;
        }
    }
    double arm[3];
    for (uint32_t d = 0; d < 3; ++d) {
        node[d] = velocity[d];
        arm[d] = (static_cast<double>(base[d]) + static_cast<double>(offset[d]) - static_cast<double>(CONVEX_ON_NODE)) *
            p.grid_spacing;
        sums[3 + d] = -got[d];
    }
    for (uint32_t d = 0; d < 3; ++d) {
        const uint32_t e = (d + 1) % 3, f = (d + 2) % 3;
        sums[d] = arm[e] * sums[3 + f] - arm[f] * sums[3 + e];
    }
}

}  // namespace boundary

PLIANT_KERNEL_FOR(boundary_add, BoundaryAddParameters, BOUNDARY_THREADS, 4) {
    if (p.clock[0].active == 0) {
        return;
    }
    const boundary::ConstraintWriter a = {{p.barrier, p.block_sums}, p};
    const uint32_t contacts = p.contacts.count[0];
    const uint32_t places = STENCIL_NODES * contacts;
    if (global_thread() == 0) {
        p.first[0] = contacts;
    }
    if (contacts == 0) {
        return;
    }
    a.each(places, [&](uint32_t place) {
        const uint32_t slot = a.bounded_slot(place);
        p.places[place] = slot;
        if (slot != CONTACT_NONE) {
            atomicMax(&p.marks[slot], boundary::ConstraintWriter::mark_of(place));
        }
    });
    a.barrier();
    const uint32_t found = a.scan(
        places, [&](uint32_t place) { return a.constraints_at(place); },
        [&](uint32_t place, uint32_t before) {
            if (!a.is_first(place)) {
                return;
            }
            if (a.constraints_at(place) == 0) {
                // The other places of the node do nothing, whether they read this mark or the one
                // before.
                atomicExch(&p.marks[p.places[place]], CONVEX_FIXED);
            } else {
                a.add(place, contacts, contacts + before);
            }
        });
    if (global_thread() == 0) {
        const uint32_t all = contacts + found;
        // Where their capacity is exceeded, the numbering sees it and stops the substep.
        p.contacts.count[0] = all;
        p.state[0].most_contacts = max(p.state[0].most_contacts, all);
    }
}

// A thread a constraint; that of a node's first constraint works for all of them.
PLIANT_KERNEL(boundary_guess, BoundaryGuessParameters, BOUNDARY_THREADS) {
    if (p.clock[0].active == 0 || p.incidence.counts[3] != 0) {
        return;
    }
    const uint32_t first = p.first[0];
    const uint32_t constraints = p.contacts.count[0] - first;
    uint32_t w = global_thread();
    if (w >= constraints || (w > 0 && p.constraints[w - 1].slot == p.constraints[w].slot)) {
        return;
    }
    const uint32_t slot = p.constraints[w].slot;
    const uint32_t stencil = p.incidence.contact_groups[first + w] * STENCIL_NODES;
    double pushed[3];
    boundary::gather_guess(
        p, p.incidence.group_nodes[stencil + boundary::place_in_stencil(p.contacts.offset[first + w])], first, pushed);
    const Array<float, 4>& node = p.nodes[slot];
    const double mass = node[3];
    for (; w < constraints && p.constraints[w].slot == slot; ++w) {
        const Array<double, 3>& normal = p.planes[p.constraints[w].plane].normal_f64;
        double into = 0.0;
        for (uint32_t d = 0; d < 3; ++d) {
            into += normal[d] * (pushed[d] + static_cast<double>(node[d]) * mass);
        }
        const double impulse = fmax(-into, 0.0);
        Array<float, 3>& guess = p.contacts.last_impulse[first + w];
        for (uint32_t d = 0; d < 3; ++d) {
            pushed[d] += normal[d] * impulse;
            guess[d] = static_cast<float>(normal[d] * impulse);
        }
    }
}

PLIANT_KERNEL(boundary_impose, BoundaryImposeParameters, BOUNDARY_THREADS) {
    if (p.clock[0].active == 0 || p.incidence.counts[3] != 0) {
        return;
    }
    const uint32_t first = p.first[0];
    const uint32_t constraints = p.contacts.count[0] - first;
    if (constraints == 0) {
        return;
    }
    const uint32_t tiles = (constraints + BOUNDARY_THREADS - 1) / BOUNDARY_THREADS;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint32_t w = tile * BOUNDARY_THREADS + threadIdx.x;
        double sums[BOUNDARY_SUMS] = {};
        if (w < constraints && (w == 0 || p.constraints[w - 1].slot != p.constraints[w].slot)) {
            boundary::impose_node(p, first, w, constraints, sums);
        }
        for (uint32_t k = 0; k < BOUNDARY_SUMS; ++k) {
            const double sum = block_reduce<Sum, BOUNDARY_THREADS>(sums[k]);
            if (threadIdx.x == 0) {
                p.sums[tile][k] = sum;
            }
        }
    }
    if (gridDim.x == 1) {
        __syncthreads();
    } else {
        grid_barrier(p.barrier);
    }
    if (blockIdx.x != 0) {
        return;
    }
    for (uint32_t k = 0; k < BOUNDARY_SUMS; ++k) {
        double value = 0.0;
        for (uint32_t tile = threadIdx.x; tile < tiles; tile += BOUNDARY_THREADS) {
            value += p.sums[tile][k];
        }
        value = block_reduce<Sum, BOUNDARY_THREADS>(value);
        if (threadIdx.x == 0) {
            p.totals[p.body_count][k] += value;
        }
    }
}
