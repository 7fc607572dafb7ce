// Contact detection: one contact for every particle-geometry pair that touches or can touch within
// the substep; for the centroid of a face of cloth three, at the vertices of the face. This follows
// `coupling/src/detection.rs`, which says why.
//
// Two launches: each tile of particles finds the pairs of its particles and counts them, and the
// last tile that is done sums the counts up; each tile writes its contacts from there on. So the
// order is that of the particles, then of the geometries, then of the vertices, whatever the
// schedule. Pairs are decided once, in the first launch. The geometries are placed before.
#include "block.cuh"
#include "contact_placement.cuh"
#include "distance.cuh"
#include "mpm.cuh"

namespace contact {

// By rows.
__device__ __forceinline__ Vector rotated(const Array<float, 9>& r, Vector v) {
    return {r[0] * v.x + r[1] * v.y + r[2] * v.z, r[3] * v.x + r[4] * v.y + r[5] * v.z, r[6] * v.x + r[7] * v.y + r[8] * v.z};
}

__device__ __forceinline__ Vector rotated_back(const Array<float, 9>& r, Vector v) {
    return {r[0] * v.x + r[3] * v.y + r[6] * v.z, r[1] * v.x + r[4] * v.y + r[7] * v.z, r[2] * v.x + r[5] * v.y + r[8] * v.z};
}

// Corner of a block, and a position from there [cells].
struct Place {
    Array<int32_t, 3> corner;
    Vector cells;
};

struct Particle {
    uint32_t id;
    // The face of cloth whose centroid it is; CONTACT_NONE if it is none.
    uint32_t face;
    Place place;
    Vector velocity;
    float mass;
    // Area of the surface that it stands for [m^2], and its radius [m].
    float area;
    float radius;
};

__device__ __forceinline__ Vector row_vector(const ParticleRows& particles, uint32_t row, uint32_t i) {
    return {row_of(particles, row, i), row_of(particles, row + 1, i), row_of(particles, row + 2, i)};
}

__device__ __forceinline__ Place place_of(const ParticleRows& particles, uint32_t i) {
    const Array<int32_t, 3> key = particles.block_keys[particles.blocks[i]];
    return {{{BLOCK_EDGE * key[0], BLOCK_EDGE * key[1], BLOCK_EDGE * key[2]}}, row_vector(particles, ROW_POSITION, i)};
}

// The face whose centroid a particle is; CONTACT_NONE if it is none.
__device__ __forceinline__ uint32_t face_of(const ContactFindParameters& p, uint32_t i) {
    const uint32_t id = p.particles.ids[i];
    const uint32_t first_of_cloth = p.particles.count - p.faces.elements.length;
    if (id < first_of_cloth) {
        return CONTACT_NONE;
    }
    const uint32_t element = p.faces.elements[id - first_of_cloth];
    const uint32_t vertices = p.faces.places.length - p.faces.faces.length;
    return element < vertices ? CONTACT_NONE : element - vertices;
}

// How many contacts with a geometry a particle has that is the centroid of this face, or of none.
__device__ __forceinline__ uint32_t contacts_of(uint32_t face) { return face == CONTACT_NONE ? 1 : CONTACT_FACE_CORNERS; }

// Where a contact of a particle acts: that with this number among its contacts with a geometry.
__device__ __forceinline__ Place acting_place(const ContactFindParameters& p, const Particle& particle, uint32_t corner) {
    if (particle.face == CONTACT_NONE) {
        return particle.place;
    }
    return place_of(p.particles, p.faces.places[p.faces.faces[particle.face].corners[corner]]);
}

__device__ __forceinline__ Particle load_particle(const ContactFindParameters& p, uint32_t i) {
    const ParticleRows& particles = p.particles;
    const float thickness = row_of(particles, ROW_THICKNESS, i);
    const float area = row_of(particles, ROW_VOLUME, i) / thickness;
    return {particles.ids[i], face_of(p, i), place_of(particles, i), row_vector(particles, ROW_VELOCITY, i),
        row_of(particles, ROW_MASS, i), area, p.rules.radius >= 0.0f ? p.rules.radius : 0.5f * thickness};
}

// From a geometry's center to a position [cells], world axes [m]. Whole cells are subtracted
// exactly.
__device__ __forceinline__ Vector from_center(const ContactPlacedGeometry& placed, const Place& place, float spacing) {
    const Array<int32_t, 3>& corner = place.corner;
    const Vector whole = {static_cast<float>(corner[0] - placed.cell[0]), static_cast<float>(corner[1] - placed.cell[1]),
        static_cast<float>(corner[2] - placed.cell[2])};
    return (whole + (place.cells - vector(placed.fraction))) * spacing;
}

// Velocity of a geometry's body at a point relative to the geometry's center, world frame [m/s].
__device__ __forceinline__ Vector body_velocity(const ContactPlacedGeometry& placed, Vector from_center) {
    return vector(placed.linear) + cross(vector(placed.angular), from_center);
}

// The cached contacts of a particle and a geometry, in a row: the first, how many they are, and
// whether one of them is bonded.
struct CachedContacts {
    uint32_t first;
    uint32_t count;
    bool bonded;
};

__device__ __forceinline__ CachedContacts find_cached(const DeviceContactCache& contact_cache, uint32_t particle, uint32_t geometry) {
    const uint32_t all = contact_cache.state[0].cached_contacts;
    CachedContacts found = {0, 0, false};
    for (uint32_t at = contact_cache.first[particle]; at < all; ++at) {
        const DeviceCachedContact& cached = contact_cache.list[at];
        if (cached.particle != particle || (found.count > 0 && cached.geometry != geometry)) {
            break;
        }
        if (cached.geometry == geometry) {
            found.first = found.count == 0 ? at : found.first;
            ++found.count;
            found.bonded = found.bonded || cached.bonded != 0;
        }
    }
    return found;
}

// A particle and a geometry near each other.
struct Approach {
    // Whether they are a contact.
    bool touches;
    // Whether the cached contacts are of the same surface.
    bool is_cached;
    CachedContacts cached;
    Surface surface;
    // Position in the shape's frame [m].
    Vector local;
    // Velocity of the particle relative to the body's, world frame [m/s].
    Vector relative;
    float gap;
    // Of the bond [N].
    float tension;
};

__device__ __forceinline__ Approach approach(const ContactShapes& shapes, const ContactPlacedGeometry& placed, uint32_t number,
    const Particle& particle, const DeviceContactCache& contact_cache, const ContactRules& rules, float substep) {
    const ContactGeometry& geometry = shapes.geometries[number];
    const float spacing = static_cast<float>(rules.grid_spacing);
    Approach a;
    a.touches = false;
    a.is_cached = false;
    const Vector at = from_center(placed, particle.place, spacing);
    a.local = rotated(placed.inverse_rotation, at);
    a.relative = particle.velocity - body_velocity(placed, at);
    // A centroid over a plane is redundant beside the vertices of its face: see
    // `coupling/src/redundant_centroids.rs`.
    if (particle.face != CONTACT_NONE && geometry.adhesion_range == 0.0f && planar_clearance(geometry, a.local) > rules.vertex_reach) {
        return a;
    }
    const float reach = rules.margin + norm(a.relative) * substep;
    const float max_exit_distance = __uint_as_float(contact_cache.state[0].max_exit_distance);
    if (!(lower_bound(geometry, a.local) <= particle.radius + reach + max_exit_distance + geometry.adhesion_range)) {
        return a;
    }
    a.cached = find_cached(contact_cache, particle.id, number);
    a.is_cached = a.cached.count > 0;
    a.surface = surface_point(shapes, geometry, a.local);
    if (a.is_cached) {
        // A depth that jumps by more than a cell belongs to another contact: a particle moves less
        // than a cell in a substep.
        const DeviceCachedContact& cached = contact_cache.list[a.cached.first];
        const Surface followed = surface_point_from(shapes, geometry, a.local, cached.feature, a.surface);
        a.is_cached = !(followed.distance < 0.0f && followed.distance < cached.distance - spacing);
        if (a.is_cached) {
            a.surface = followed;
        }
    }
    a.gap = a.surface.distance - particle.radius;
    const bool bond = geometry.adhesive != 0 && a.is_cached && a.cached.bonded && a.gap <= geometry.adhesion_range;
    a.tension = bond ? geometry.adhesion_stress * particle.area : 0.0f;
    a.touches = bond || a.gap <= reach;
    return a;
}

// The normal impulse of the compliant contact model: see `rigid/src/contact_model.rs`.
__device__ __forceinline__ float normal_impulse(float velocity, float gap, float stiffness, float dissipation, float substep) {
    const float release = fminf(-gap / substep, 1.0f / dissipation);
    const float approach = fmaxf(release - velocity, 0.0f);
    const float linear = substep * stiffness * fabsf(substep + dissipation * gap);
    return approach * (linear + substep * substep * stiffness * dissipation * approach);
}

// Order of integers is that of these floats.
__device__ __forceinline__ int32_t ordered(float value) {
    const int32_t bits = __float_as_int(value);
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

__device__ __forceinline__ float from_ordered(int32_t bits) {
    return __int_as_float(bits ^ ((bits >> 31) & 0x7fffffff));
}

// Bounds of the particles of a tile: their box [cells] from the tile's first block, speed, radius.
struct TileExtent {
    Array<int32_t, 3> corner;
    Vector low, high;
    float speed;
    float radius;
};

// All threads of the block call this.
__device__ __forceinline__ TileExtent extent_of_tile(const ParticleRows& particles, const Particle& particle, bool live) {
    constexpr uint32_t WARPS = CONTACT_THREADS / WARP_SIZE;
    constexpr uint32_t VALUES = 8;
    SHARED(int32_t, maxima, WARPS * VALUES);
    TileExtent extent;
    const Array<int32_t, 3> key = particles.block_keys[particles.blocks[blockIdx.x * CONTACT_THREADS]];
    Vector place = {};
    for (uint32_t d = 0; d < 3; ++d) {
        extent.corner[d] = BLOCK_EDGE * key[d];
    }
    if (live) {
        const Array<int32_t, 3>& corner = particle.place.corner;
        place = Vector{static_cast<float>(corner[0] - extent.corner[0]), static_cast<float>(corner[1] - extent.corner[1]),
                    static_cast<float>(corner[2] - extent.corner[2])} +
            particle.place.cells;
    }
    const float values[VALUES] = {-place.x, -place.y, -place.z, place.x, place.y, place.z, norm(particle.velocity), particle.radius};
    for (uint32_t k = 0; k < VALUES; ++k) {
        const int32_t most = __reduce_max_sync(ALL_LANES, live ? ordered(values[k]) : ordered(-3e38f));
        if (lane_index() == 0) {
            maxima[warp_index() * VALUES + k] = most;
        }
    }
    __syncthreads();
    float most[VALUES];
    for (uint32_t k = 0; k < VALUES; ++k) {
        int32_t value = maxima[k];
        for (uint32_t warp = 1; warp < WARPS; ++warp) {
            value = max(value, maxima[warp * VALUES + k]);
        }
        most[k] = from_ordered(value);
    }
    extent.low = {-most[0], -most[1], -most[2]};
    extent.high = {most[3], most[4], most[5]};
    extent.speed = most[6];
    extent.radius = most[7];
    return extent;
}

// Whether some particle of the tile may touch the geometry.
__device__ __forceinline__ bool is_near(const ContactGeometry& geometry, const ContactPlacedGeometry& placed, const TileExtent& extent,
    float max_exit_distance, const ContactRules& rules, float substep) {
    const float spacing = static_cast<float>(rules.grid_spacing);
    const Vector center = from_center(placed, {extent.corner, (extent.low + extent.high) * 0.5f}, spacing);
    // Wider by a rounding of the distance and of the tile's own extent.
    const float slack = 1e-6f * (norm(center) + norm(extent.high - extent.low) * spacing);
    const Vector half = (extent.high - extent.low) * (0.5f * spacing) + Vector{slack, slack, slack};
    const float body_speed =
        norm(body_velocity(placed, center)) + norm(vector(placed.angular)) * norm(half);
    const float reach =
        extent.radius + rules.margin + (body_speed + extent.speed) * substep + max_exit_distance + geometry.adhesion_range;
    const Array<float, 9>& r = placed.inverse_rotation;
    const Vector around = {fabsf(r[0]) * half.x + fabsf(r[1]) * half.y + fabsf(r[2]) * half.z,
        fabsf(r[3]) * half.x + fabsf(r[4]) * half.y + fabsf(r[5]) * half.z,
        fabsf(r[6]) * half.x + fabsf(r[7]) * half.y + fabsf(r[8]) * half.z};
    return lower_bound_around(geometry, rotated(r, center), around) <= reach;
}

// Stores the number of a tile's contacts; the last tile of all finds how many are before each, and
// how many there are. All threads of the block call this.
__device__ __forceinline__ void finish_tile(const ContactFindParameters& p, uint32_t count) {
    SHARED(uint32_t, is_last, 1);
    if (threadIdx.x == 0) {
        p.tiles[blockIdx.x] = count;
        // The tile's number is out before it counts as done.
        is_last[0] = add_release(&p.done[0], 1u) + 1 == gridDim.x ? 1 : 0;
        if (is_last[0] != 0) {
            // What the other tiles stored is read after they were counted.
            load_acquire(&p.done[0]);
        }
    }
    __syncthreads();
    if (is_last[0] == 0) {
        return;
    }
    uint32_t before = 0;
    for (uint32_t first = 0; first < gridDim.x; first += CONTACT_THREADS) {
        const uint32_t tile = first + threadIdx.x;
        uint32_t sum;
        const uint32_t within = block_exclusive_sum<CONTACT_THREADS>(tile < gridDim.x ? p.tiles[tile] : 0, sum);
        if (tile < gridDim.x) {
            p.tiles[tile] = before + within;
        }
        before += sum;
    }
    if (threadIdx.x == 0) {
        p.total[0] = before;
        // Ready for the next substep.
        p.done[0] = 0;
    }
}

}  // namespace contact

// Places all geometries for the substep that a run begins with; later ones are placed at the end of
// the substep before.
PLIANT_KERNEL(contact_place, ContactPlaceParameters, CONTACT_THREADS) {
    const uint32_t number = global_thread();
    const uint32_t substep_index = p.clock[0].substep_index;
    if (number == 0) {
        p.state[0].max_geometries_per_particle = 0;
        if (substep_index == 0) {
            p.state[0].step_contacts = 0;
            p.state[0].step_most_contacts = 0;
        }
    }
    if (number < p.placement.shapes.geometries.length) {
        contact::place(p.placement, number, substep_index);
    }
}

PLIANT_KERNEL_FOR(contact_find, ContactFindParameters, CONTACT_THREADS, 2) {
    const uint32_t i = global_thread();
    const bool is_active = p.limit.length == 0 || p.clock[0].substep_index < p.limit[0];
    if (i == 0) {
        p.clock[0].active = is_active ? 1 : 0;
    }
    if (!is_active || p.particles.count == 0) {
        contact::finish_tile(p, 0);
        return;
    }
    const float substep = p.clock[0].substep;
    const float max_exit_distance = __uint_as_float(p.contact_cache.state[0].max_exit_distance);
    const bool live = i < p.particles.count;
    contact::Particle particle = {};
    if (live) {
        particle = contact::load_particle(p, i);
    }
    const contact::TileExtent extent = contact::extent_of_tile(p.particles, particle, live);
    SHARED(uint32_t, near, CONTACT_THREADS);
    uint32_t touched = 0;
    const uint32_t geometries = p.shapes.geometries.length;
    for (uint32_t first = 0; first < geometries; first += CONTACT_THREADS) {
        const uint32_t own = first + threadIdx.x;
        const bool is_near = own < geometries &&
            contact::is_near(p.shapes.geometries[own], p.placed[own], extent, max_exit_distance, p.rules, substep);
        uint32_t count;
        const uint32_t place = block_exclusive_sum<CONTACT_THREADS>(is_near ? 1 : 0, count);
        if (is_near) {
            near[place] = own;
        }
        __syncthreads();
        for (uint32_t k = 0; live && k < count; ++k) {
            const uint32_t number = near[k];
            if (contact::approach(p.shapes, p.placed[number], number, particle, p.contact_cache, p.rules, substep).touches) {
                if (touched < CONTACT_SLOTS) {
                    p.touched[touched * p.particles.count + i] = number;
                }
                ++touched;
            }
        }
        // The list is free for the next geometries.
        __syncthreads();
    }
    if (touched > CONTACT_SLOTS) {
        atomicMax(&p.contact_cache.state[0].most_of_particle, touched);
        atomicMax(&p.contact_cache.state[0].max_geometries_per_particle, touched);
        touched = CONTACT_SLOTS;
    }
    uint32_t total;
    const uint32_t before = block_exclusive_sum<CONTACT_THREADS>(touched * contact::contacts_of(particle.face), total);
    if (live) {
        p.counts[i] = before << 8 | touched;
    }
    contact::finish_tile(p, total);
}

PLIANT_KERNEL(contact_fill, ContactFillParameters, CONTACT_THREADS) {
    const ContactFindParameters& find = p.find;
    const uint32_t all = find.total[0];
    const uint32_t capacity = p.contacts.particle.length;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        ContactState& state = find.contact_cache.state[0];
        state.most_contacts = max(state.most_contacts, all);
        state.detected = min(all, capacity);
        if (state.max_geometries_per_particle > 0) {
            stop_contact(p.status, find.clock, CONTACT_TOO_MANY_GEOMETRIES, state.max_geometries_per_particle, CONTACT_SLOTS);
        } else if (all > capacity) {
            stop_contact(p.status, find.clock, CONTACT_TOO_MANY, all, capacity);
        }
        p.contacts.count[0] = find.clock[0].active == 0 ? 0 : state.detected;
    }
    const uint32_t first = find.tiles[blockIdx.x];
    const uint32_t total = (blockIdx.x + 1 < gridDim.x ? find.tiles[blockIdx.x + 1] : all) - first;
    if (total == 0) {
        return;
    }
    const float substep = find.clock[0].substep;
    const uint32_t tile = blockIdx.x * CONTACT_THREADS;
    // Thread of the tile, 256 times the corner of its face, and 1024 times the geometry, of each
    // contact.
    SHARED(uint32_t, pairs, CONTACT_THREADS * CONTACT_SLOTS * CONTACT_FACE_CORNERS);
    if (tile + threadIdx.x < find.particles.count) {
        const uint32_t i = tile + threadIdx.x;
        const uint32_t counts = find.counts[i];
        const uint32_t corners = contact::contacts_of(contact::face_of(find, i));
        for (uint32_t k = 0; k < corners * (counts & 0xff); ++k) {
            const uint32_t number = find.touched[k / corners * find.particles.count + i];
            pairs[(counts >> 8) + k] = threadIdx.x | k % corners << 8 | number << 10;
        }
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < total && first + k < capacity; k += CONTACT_THREADS) {
        const uint32_t number = pairs[k] >> 10;
        const uint32_t corner = pairs[k] >> 8 & 3;
        const uint32_t i = tile + (pairs[k] & 0xff);
        const contact::Particle particle = contact::load_particle(find, i);
        const ContactPlacedGeometry& placed = find.placed[number];
        const ContactGeometry& geometry = find.shapes.geometries[number];
        const contact::Approach a = contact::approach(find.shapes, placed, number, particle, find.contact_cache, find.rules, substep);
        const contact::Vector normal = contact::rotated_back(placed.inverse_rotation, a.surface.normal);
        // Of the pair's stiffness, mass and tension.
        const float share = 1.0f / static_cast<float>(contact::contacts_of(particle.face));
        const float mass = share * particle.mass;
        const float tension = share * a.tension;
        const float stiffness =
            find.rules.stiffness > 0.0f ? share * find.rules.stiffness : find.rules.near_rigid * mass / (substep * substep);
        float lagged;
        Array<float, 3> last_impulse = {{0.0f, 0.0f, 0.0f}};
        if (a.is_cached && corner < a.cached.count) {
            const DeviceCachedContact& cached = find.contact_cache.list[a.cached.first + corner];
            // Adhesion presses the surfaces together; a tension takes from that.
            lagged = fmaxf(cached.normal_impulse + substep * tension, 0.0f);
            last_impulse = cached.impulse;
        } else {
            // The compliant contact model at the velocity of the start, but no more than it takes
            // to stop the particle.
            const float velocity = contact::dot(normal, a.relative);
            const float compliant = contact::normal_impulse(velocity, a.gap, stiffness, find.rules.dissipation, substep);
            lagged = fminf(compliant, mass * fmaxf(-velocity - a.gap / substep, 0.0f));
        }
        const float outside = a.surface.distance < 0.0f ? fmaxf(contact::lower_bound(geometry, a.local), 0.0f) : 0.0f;
        // Grains touch at their surface, with their own friction on rough surfaces.
        Array<float, 2> grain = {{0.0f, -1.0f}};
        if (p.grains.length > 0 && find.particles.materials[i] < p.grains.length) {
            grain = p.grains[find.particles.materials[i]];
        }
        const contact::Vector arm = normal * -fminf(particle.radius, grain[0]);
        const uint32_t at = first + k;
        const contact::Place place = contact::acting_place(find, particle, corner);
        const contact::Vector base = {floorf(place.cells.x - 0.5f), floorf(place.cells.y - 0.5f), floorf(place.cells.z - 0.5f)};
        const contact::Vector acts_at =
            contact::from_center(placed, place, static_cast<float>(find.rules.grid_spacing)) + arm;
        p.contacts.particle[at] = particle.id;
        p.contacts.geometry[at] = number;
        p.contacts.body[at] = geometry.body;
        p.contacts.feature[at] = a.surface.feature;
        p.contacts.base[at] = {{place.corner[0] + static_cast<int32_t>(base.x),
            place.corner[1] + static_cast<int32_t>(base.y), place.corner[2] + static_cast<int32_t>(base.z)}};
        p.contacts.offset[at] = contact::array(place.cells - base);
        p.contacts.normal[at] = contact::array(normal);
        if (p.contacts.arm.length > 0) {
            p.contacts.arm[at] = contact::array(arm * static_cast<float>(1.0 / find.rules.grid_spacing));
        }
        p.contacts.body_velocity[at] = contact::array(contact::body_velocity(placed, acts_at));
        p.contacts.lever[at] = contact::array(acts_at + contact::vector(placed.lever));
        p.contacts.gap[at] = a.gap;
        p.contacts.distance[at] = a.surface.distance;
        p.contacts.exit_distance[at] = outside;
        p.contacts.stiffness[at] = stiffness;
        p.contacts.dissipation[at] = find.rules.dissipation;
        p.contacts.friction[at] = grain[1] >= 0.0f ? grain[1] : geometry.friction;
        p.contacts.lagged_normal_impulse[at] = lagged;
        p.contacts.tension[at] = tension;
        p.contacts.last_impulse[at] = last_impulse;
    }
}

// Probe: distances of points to one geometry, a thread a point.
PLIANT_KERNEL(probe_contact_distance, ProbeContactDistanceParameters, CONTACT_THREADS) {
    const uint32_t at = global_thread();
    if (at >= p.points.length) {
        return;
    }
    const ContactGeometry& geometry = p.shapes.geometries[p.geometry];
    const contact::Vector point = contact::vector(p.points[at]);
    contact::Surface surface = contact::surface_point(p.shapes, geometry, point);
    if (p.sides[at] != CONTACT_NONE) {
        surface = contact::surface_point_from(p.shapes, geometry, point, p.sides[at], surface);
    }
    p.distances[at] = surface.distance;
    p.normals[at] = contact::array(surface.normal);
    p.features[at] = surface.feature;
    p.lower_bounds[at] = contact::lower_bound(geometry, point);
}
