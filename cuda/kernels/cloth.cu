// Cloth, as mpm/src/sheets: what only sheets need between the transfer to the particles and the
// next one to the grid. Vertices and centroids are ordinary particles for the rest of the substep;
// every sort changes their indices and writes them to `ClothTables::places`.
//
// One thread works on each element, and sums go through lists in a fixed order: the bits do not
// depend on the schedule nor on the number of blocks.
#include "cloth_common.cuh"
#include "dither.cuh"
#include "grid_scan.cuh"
#include "position.cuh"

namespace cloth {

// Sweeps of the vertex-face constraint (mpm/src/sheets/tie.rs says why so many).
constexpr uint32_t VERTEX_FACE_SWEEPS = 3;

// Step of Chebyshev's method for eigenvalues within [1, 4/3].
__device__ __forceinline__ float chebyshev_step(uint32_t sweep) {
    return sweep == 0 ? 0.9781586f : sweep == 1 ? 0.85714287f : 0.76277405f;
}

// Position of a vertex.
struct Place {
    Array<int32_t, 3> corner;
    Vec3 local;
};

// A position as the sum of two f32 [cells].
__device__ __forceinline__ PositionSum split_position(Wide x) {
    const Vec3 high = {static_cast<float>(x.x), static_cast<float>(x.y), static_cast<float>(x.z)};
    const Wide left = x - wide(high);
    return {high, {static_cast<float>(left.x), static_cast<float>(left.y), static_cast<float>(left.z)}};
}

// Displacement from one position to another, both rounded [cells].
__device__ __forceinline__ Vec3 displacement(const Place& from, const Place& to) {
    const auto whole = [&](uint32_t d) { return static_cast<float>(to.corner[d] - from.corner[d]); };
    return {whole(0) + (to.local.x - from.local.x), whole(1) + (to.local.y - from.local.y),
            whole(2) + (to.local.z - from.local.z)};
}

// Corners of a hinge from its first one; `place(v)` is where vertex v is.
template <typename PlaceOf>
__device__ __forceinline__ Corners corners_of(const ClothHinge& hinge, double spacing, PlaceOf place) {
    const Place first = place(hinge.vertices[0]);
    const auto from_first = [&](uint32_t k) { return spacing * wide(displacement(first, place(hinge.vertices[k]))); };
    return {from_first(1), from_first(2), from_first(3)};
}

// A face from its first corner to the others [cells].
struct Edges {
    Vec3 first, second;
};

// Edges of a face; `place(v)` is where vertex v is.
template <typename PlaceOf>
__device__ __forceinline__ Edges edges_of(const ClothFace& face, PlaceOf place) {
    const Place a = place(face.corners[0]);
    return {displacement(a, place(face.corners[1])), displacement(a, place(face.corners[2]))};
}

// The columns of F that edges make.
struct PlaneColumns {
    Vec3 f1, f2;
};

__device__ __forceinline__ PlaneColumns columns_of(const ClothFace& face, const Edges& d) {
    const float m11 = face.inverse_edges[0], m12 = face.inverse_edges[1], m22 = face.inverse_edges[2];
    return {m11 * d.first, fused(m12, d.first, m22 * d.second)};
}

struct Advancing : PersistentBlocks<CLOTH_THREADS> {
    const ClothAdvanceParameters& p;

    __device__ __forceinline__ uint32_t vertices() const { return p.tables.inverse_masses.length; }
    __device__ __forceinline__ Place place(uint32_t vertex) const { return {p.corners[vertex], vector(quad(p.locals, vertex))}; }

    // The pin that holds a vertex in this substep; CLOTH_NO_PIN where none does.
    __device__ __forceinline__ uint32_t pin_of(uint32_t vertex) const {
        const uint32_t pin = p.pins.vertices.length > 0 ? p.pins.of_vertices[vertex] : CLOTH_NO_PIN;
        const bool holds = pin != CLOTH_NO_PIN && target(pin).holds != 0;
        return holds ? pin : CLOTH_NO_PIN;
    }
    __device__ __forceinline__ const PinTarget& target(uint32_t pin) const {
        return p.pins.targets[p.substep_index * p.pins.vertices.length + pin];
    }
    // What a pin does to its vertex.
    __device__ __forceinline__ void add_to_pin(uint32_t pin, Wide impulse) const {
        const uint32_t first = pin * CLOTH_PIN_ROW + PIN_DONE;
        add_impulse([&](uint32_t n) -> double& { return p.pins.rows[first + n]; }, wide(target(pin).position), impulse, of_pin(pin, PIN_MEAN));
    }
    __device__ __forceinline__ Wide velocity_of(uint32_t pin) const { return of_pin(pin, PIN_VELOCITY); }
    // Three entries of a pin's row.
    __device__ __forceinline__ Wide of_pin(uint32_t pin, uint32_t entry) const {
        const uint32_t first = pin * CLOTH_PIN_ROW + entry;
        return {p.pins.rows[first], p.pins.rows[first + 1], p.pins.rows[first + 2]};
    }

    // Damps a particle's affine field: keeps only a part of its symmetric part. Returns the field
    // before [1/s].
    __device__ __forceinline__ Mat3 damp(uint32_t i) const {
        const auto row = [&](uint32_t n) -> float& { return row_of(p.particles, ROW_AFFINE + n, i); };
        const Mat3 c = {{row(0), row(1), row(2)}, {row(3), row(4), row(5)}, {row(6), row(7), row(8)}};
        const float kept = p.tables.sheets[p.particles.materials[i] - p.cloth_from].damping;
        const float own = 0.5f * (kept + 1.0f), other = 0.5f * (kept - 1.0f);
        const Mat3 t = transpose(c);
        const auto store = [&](uint32_t first, Vec3 v) {
            row(first) = v.x;
            row(first + 1) = v.y;
            row(first + 2) = v.z;
        };
        store(0, fused(own, c.a, other * t.a));
        store(3, fused(own, c.b, other * t.b));
        store(6, fused(own, c.c, other * t.c));
        return c;
    }

    // A vertex as the transfer left it, or where its pin holds it.
    __device__ __forceinline__ void fetch_vertex(uint32_t vertex) const {
        const uint32_t i = p.tables.places[vertex];
        damp(i);
        const Array<int32_t, 3> corner = corner_of(p.particles, i);
        const auto row = [&](uint32_t r) { return row_of(p.particles, r, i); };
        PositionSum local = load_position(p.particles, i);
        Vec3 velocity = {row(ROW_VELOCITY), row(ROW_VELOCITY + 1), row(ROW_VELOCITY + 2)};
        const float inverse_mass = p.tables.inverse_masses[vertex];
        const uint32_t pin = pin_of(vertex);
        if (pin != CLOTH_NO_PIN) {
            const Wide before = wide(velocity), to = wide(target(pin).position), pin_velocity = velocity_of(pin);
            const double h = p.settings[0].grid_spacing_f64;
            const auto cells = [&](double x, uint32_t d) { return x / h - static_cast<double>(corner[d]); };
            local = split_position({cells(to.x, 0), cells(to.y, 1), cells(to.z, 2)});
            store_low(i, local.low);
            velocity = {static_cast<float>(pin_velocity.x), static_cast<float>(pin_velocity.y), static_cast<float>(pin_velocity.z)};
            add_to_pin(pin, (1.0 / static_cast<double>(inverse_mass)) * (wide(velocity) - before));
        }
        p.corners[vertex] = corner;
        quad(p.locals, vertex) = quad_of(local.high, 0.0f);
        quad(p.velocities, vertex) = quad_of(velocity, pin != CLOTH_NO_PIN ? 0.0f : inverse_mass);
    }

    // A face as the transfer left it; its director goes with the velocity gradient, to second order.
    __device__ __forceinline__ void fetch_face(uint32_t face) const {
        const uint32_t i = p.tables.places[vertices() + face];
        const Mat3 c = damp(i);
        const auto director = [&](uint32_t d) -> float& { return row_of(p.particles, ROW_GRADIENT + 2 + 3 * d, i); };
        const Vec3 before = {director(0), director(1), director(2)};
        const Vec3 rate = c * fused(0.5f * p.settings[0].substep, c * before, before);
        const uint64_t number = p.settings[0].first_number + p.substep_index;
        const auto after = [&](uint32_t d, float from, float rate_of) {
            const DitherPart part = dither_part(number, 3 * d + 2, p.particles.ids[i] % DITHER_PHASES);
            return dithered(part, from, p.settings[0].substep, rate_of);
        };
        director(0) = after(0, before.x, rate.x);
        director(1) = after(1, before.y, rate.y);
        director(2) = after(2, before.z, rate.z);
        const auto row = [&](uint32_t d) { return row_of(p.particles, ROW_VELOCITY + d, i); };
        quad(p.face_velocities, face) = make_float4(row(0), row(1), row(2), 0.0f);
    }

    // Moves a centroid's velocity towards the mean of its vertices, and stores the impulse on
    // these.
    __device__ __forceinline__ void pull_face(uint32_t number, float relaxation) const {
        const ClothFace& face = p.tables.faces[number];
        const auto of = [&](uint32_t k) { return vector(quad(p.velocities, face.corners[k])); };
        const Vec3 velocity = vector(quad(p.face_velocities, number));
        const Vec3 apart = velocity - (1.0f / 3.0f) * (of(0) + of(1) + of(2));
        const Vec3 change = relaxation * apart;
        quad(p.face_velocities, number) = quad_of(velocity - change, 0.0f);
        quad(p.impulses, number) = quad_of(face.mass * change, 0.0f);
    }

    // Applies the impulses of its faces to a vertex, or to the pin that holds it. A free vertex
    // moves by `step` [cells per m/s] times the change of its velocity.
    __device__ __forceinline__ void push_vertex(uint32_t vertex, float step) const {
        const float4 motion = quad(p.velocities, vertex);
        const uint32_t pin = pin_of(vertex);
        const uint32_t corners_of_faces = 3 * p.tables.faces.length;
        Vec3 sum = {0.0f, 0.0f, 0.0f};
        Wide exact = {0.0, 0.0, 0.0};
        for (uint32_t e = p.tables.around_first[vertex]; e < p.tables.around_first[vertex + 1]; ++e) {
            const uint32_t corner = p.tables.around[e];
            if (corner >= corners_of_faces) {
                break;
            }
            const Vec3 impulse = vector(quad(p.impulses, corner / 3));
            sum = sum + impulse;
            if (pin != CLOTH_NO_PIN) {
                exact = exact + wide(impulse);
            }
        }
        if (pin != CLOTH_NO_PIN) {
            add_to_pin(pin, (-1.0 / 3.0) * exact);
            return;
        }
        const Vec3 change = (motion.w * (1.0f / 3.0f)) * sum;
        quad(p.velocities, vertex) = quad_of(vector(motion) + change, motion.w);
        // What rounding leaves of positions stays with the particles.
        const uint32_t i = p.tables.places[vertex];
        const PositionSum at = load_position(p.particles, i);
        const PositionSum to = PositionSum{vector(quad(p.locals, vertex)), at.low}.plus(step * change);
        quad(p.locals, vertex) = quad_of(to.high, 0.0f);
        store_low(i, to.low);
    }

    __device__ __forceinline__ void store_low(uint32_t i, Vec3 low) const {
        row_of(p.particles, ROW_POSITION_LOW, i) = low.x;
        row_of(p.particles, ROW_POSITION_LOW + 1, i) = low.y;
        row_of(p.particles, ROW_POSITION_LOW + 2, i) = low.z;
    }

    // Writes a particle's position and velocity, reports it if it is out of reach, and returns the
    // square of its speed.
    __device__ __forceinline__ float move(uint32_t i, Vec3 local, Vec3 velocity) const {
        const float x[3] = {local.x, local.y, local.z}, v[3] = {velocity.x, velocity.y, velocity.z};
        const MpmSettings& settings = p.settings[0];
        float moved[3];
        for (uint32_t d = 0; d < 3; ++d) {
            row_of(p.particles, ROW_POSITION + d, i) = x[d];
            row_of(p.particles, ROW_VELOCITY + d, i) = v[d];
            moved[d] = settings.substep / settings.grid_spacing * v[d];
        }
        check_position(p.particles, p.status, p.substep_index, i, x, moved);
        return dot(velocity, velocity);
    }

    // Writes the forces on a face's corners, by the chain rule from F = d D^-1; edges are in cells.
    __device__ __forceinline__ void write_forces(uint32_t number, const ClothFace& face, const Vec3 (&stress)[2]) const {
        const float over_cell = face.volume * (1.0f / p.settings[0].grid_spacing);
        const float m11 = face.inverse_edges[0], m12 = face.inverse_edges[1], m22 = face.inverse_edges[2];
        const Vec3 first = over_cell * fused(m12, stress[1], m11 * stress[0]);
        const Vec3 second = m22 * (over_cell * stress[1]);
        quad(p.forces, 3 * number) = quad_of(first + second, 0.0f);
        quad(p.forces, 3 * number + 1) = quad_of(-1.0f * first, 0.0f);
        quad(p.forces, 3 * number + 2) = quad_of(-1.0f * second, 0.0f);
    }

    // Adds to the mean of a face's Biot stresses in a step of its mesh, which it returns; `edges`
    // are those at the beginning. Finds the forces on its corners unless it is the last step.
    __device__ __forceinline__ Sym2 step_face(uint32_t number, const ClothFace& face, Edges edges, uint32_t step) const {
        const ClothMeshSteps& mesh = p.mesh[face.sheet];
        if (step > 0) {
            const auto moved = [&](uint32_t k) { return vector(quad(p.displacements, face.corners[k])); };
            const Vec3 first = moved(0);
            edges.first = edges.first + (moved(1) - first);
            edges.second = edges.second + (moved(2) - first);
        }
        const PlaneColumns f = columns_of(face, edges);
        // Only the columns in the plane are used.
        const Qr qr = qr_of(f.f1, f.f2, f.f1);
        const Polar polar = polar_of(qr);
        const Sym2 biot = biot_of(p.tables.sheets[face.sheet], polar);
        const float weight = mesh.weights[step];
        Sym2 mean = {weight * biot.xx, weight * biot.xy, weight * biot.yy};
        if (step > 0) {
            const float4 before = quad(p.biot, number);
            mean = {before.x + mean.xx, before.y + mean.xy, before.z + mean.yy};
        }
        if (step + 1 < mesh.steps) {
            quad(p.biot, number) = make_float4(mean.xx, mean.xy, mean.yy, 0.0f);
            Vec3 stress[2];
            plane_piola(qr, polar, biot, stress);
            write_forces(number, face, stress);
        }
        return mean;
    }

    // A step of a face's mesh that is not its last.
    __device__ __forceinline__ void step_mesh(uint32_t number, uint32_t step) const {
        const ClothFace& face = p.tables.faces[number];
        if (step + 1 < p.mesh[face.sheet].steps) {
            step_face(number, face, edges_of(face, [&](uint32_t v) { return place(v); }), step);
        }
    }

    // The same for a vertex: leapfrog from rest, beginning with half a step of its velocity. A held
    // vertex stays.
    __device__ __forceinline__ void move_mesh(uint32_t vertex, uint32_t step) const {
        const ClothMeshSteps& mesh = p.mesh[p.tables.sheets_of_vertices[vertex]];
        if (step + 1 >= mesh.steps) {
            return;
        }
        const float inverse_mass = quad(p.velocities, vertex).w;
        Vec3 velocity = {0.0f, 0.0f, 0.0f}, moved = velocity;
        if (inverse_mass > 0.0f) {
            if (step > 0) {
                velocity = vector(quad(p.mesh_velocities, vertex));
                moved = vector(quad(p.displacements, vertex));
            }
            const float part = step == 0 ? 0.5f : 1.0f;
            const Vec3 gravity_velocity_step = {part * mesh.gravity_velocity_step[0], part * mesh.gravity_velocity_step[1], part * mesh.gravity_velocity_step[2]};
            velocity = velocity + ((part * mesh.impulse_step * inverse_mass) * force_of_faces(vertex) + gravity_velocity_step);
            moved = moved + mesh.step * velocity;
        }
        quad(p.mesh_velocities, vertex) = quad_of(velocity, 0.0f);
        quad(p.displacements, vertex) = quad_of(moved, 0.0f);
    }

    // Sum of the forces on a vertex as a corner of faces.
    __device__ __forceinline__ Vec3 force_of_faces(uint32_t vertex) const {
        const uint32_t corners_of_faces = 3 * p.tables.faces.length;
        Vec3 force = {0.0f, 0.0f, 0.0f};
        for (uint32_t e = p.tables.around_first[vertex]; e < p.tables.around_first[vertex + 1]; ++e) {
            const uint32_t corner = p.tables.around[e];
            if (corner >= corners_of_faces) {
                break;
            }
            force = force + vector(quad(p.forces, corner));
        }
        return force;
    }

    // The last step of a face's mesh: return mapping and stress, the forces on its corners, and its
    // centroid's particle.
    __device__ __forceinline__ float stress_face(uint32_t number) const {
        const ClothFace& face = p.tables.faces[number];
        const ClothSheetMaterial& sheet = p.tables.sheets[face.sheet];
        const uint32_t i = p.tables.places[vertices() + number];
        const auto row = [&](uint32_t r) -> float& { return row_of(p.particles, r, i); };
        const Vec3 director = {row(ROW_GRADIENT + 2), row(ROW_GRADIENT + 5), row(ROW_GRADIENT + 8)};
        const Edges edges = edges_of(face, [&](uint32_t v) { return place(v); });
        const PlaneColumns f = columns_of(face, edges);
        const Qr mapped = return_mapping(sheet, qr_of(f.f1, f.f2, director));
        const Polar polar = polar_of(mapped);
        const uint32_t steps = p.mesh[face.sheet].steps;
        const Sym2 biot = steps > 1 ? step_face(number, face, edges, steps - 1) : biot_of(sheet, polar);
        Vec3 stress[2];
        const Vec3 across = first_piola(sheet, mapped, polar, biot, stress);
        write_forces(number, face, stress);

        // The director, and stress V p3 d3^T by its symmetric and its skew part.
        const Vec3 n = (0.5f * face.volume) * across, d = mapped.director();
        row(ROW_GRADIENT + 2) = d.x;
        row(ROW_GRADIENT + 5) = d.y;
        row(ROW_GRADIENT + 8) = d.z;
        row(ROW_STRESS) = fmaf(n.x, d.x, n.x * d.x);
        row(ROW_STRESS + 1) = fmaf(n.y, d.y, n.y * d.y);
        row(ROW_STRESS + 2) = fmaf(n.z, d.z, n.z * d.z);
        row(ROW_STRESS + 3) = fmaf(n.x, d.y, n.y * d.x);
        row(ROW_STRESS + 4) = fmaf(n.x, d.z, n.z * d.x);
        row(ROW_STRESS + 5) = fmaf(n.y, d.z, n.z * d.y);
        row(ROW_GRADIENT + 1) = n.z * d.y - n.y * d.z;
        row(ROW_GRADIENT + 4) = n.x * d.z - n.z * d.x;
        row(ROW_GRADIENT + 7) = n.y * d.x - n.x * d.y;
        row(ROW_HISTORY) = polar.area;

        // The mean of the vertices from the corner of its own block. Small numbers first: blocks'
        // corners differ by few cells.
        const Array<int32_t, 3> own = corner_of(p.particles, i);
        const auto near = [&](uint32_t k) {
            const Place at = place(face.corners[k]);
            const auto whole = [&](uint32_t axis) { return static_cast<float>(at.corner[axis] - own[axis]); };
            return Vec3{whole(0), whole(1), whole(2)} + at.local;
        };
        const Vec3 centroid = (1.0f / 3.0f) * (near(0) + near(1) + near(2));
        store_low(i, {0.0f, 0.0f, 0.0f});
        return move(i, centroid, vector(quad(p.face_velocities, number)));
    }

    __device__ __forceinline__ void bend_hinge(uint32_t number) const {
        const ClothHinge& hinge = p.tables.hinges[number];
        Wide forces[4];
        const auto corners = [&](const ClothHinge& h) {
            return corners_of(h, p.settings[0].grid_spacing_f64, [&](uint32_t v) { return place(v); });
        };
        const auto is_held = [&](uint32_t v) { return quad(p.velocities, v).w == 0.0f; };
        hinge_forces(moment_of(p.tables.hinges, number, corners, is_held), corners(hinge), forces);
        for (uint32_t k = 0; k < 4; ++k) {
            const Wide f = forces[k];
            const Vec3 rounded = {static_cast<float>(f.x), static_cast<float>(f.y), static_cast<float>(f.z)};
            quad(p.forces, 3 * p.tables.faces.length + 4 * number + k) = quad_of(rounded, 0.0f);
        }
    }

    // A vertex' particle: place, velocity, and the force of its faces and then of its hinges.
    __device__ __forceinline__ float scatter_vertex(uint32_t vertex) const {
        const uint32_t i = p.tables.places[vertex];
        Vec3 force = {0.0f, 0.0f, 0.0f};
        for (uint32_t e = p.tables.around_first[vertex]; e < p.tables.around_first[vertex + 1]; ++e) {
            force = force + vector(quad(p.forces, p.tables.around[e]));
        }
        row_of(p.particles, ROW_GRADIENT, i) = force.x;
        row_of(p.particles, ROW_GRADIENT + 3, i) = force.y;
        row_of(p.particles, ROW_GRADIENT + 6, i) = force.z;
        return move(i, vector(quad(p.locals, vertex)), vector(quad(p.velocities, vertex)));
    }

    // What the pins did in this substep is added to the step's, in the order of the pins; a thread
    // an entry.
    __device__ __forceinline__ void close_pins() const {
        const uint32_t entry = global_thread();
        if (entry >= CLOTH_PIN_SUMS || p.pins.vertices.length == 0) {
            return;
        }
        double sum = p.pins.of_grid[entry];
        for (uint32_t pin = 0; pin < p.pins.vertices.length; ++pin) {
            if (target(pin).holds != 0) {
                sum += p.pins.rows[pin * CLOTH_PIN_ROW + PIN_DONE + entry];
            }
        }
        p.pins.total[entry] += sum;
    }
};

}  // namespace cloth

PLIANT_KERNEL(cloth_advance, ClothAdvanceParameters, CLOTH_THREADS) {
    SHARED(uint32_t, fastest, 1);
    // The same for all threads: who stops a step here names a later substep.
    if (is_stopped(p.status, p.substep_index)) {
        return;
    }
    if (threadIdx.x == 0) {
        fastest[0] = 0;
    }
    const Span<uint32_t> none = {};
    const cloth::Advancing a = {{p.barrier, none}, p};
    const uint32_t vertices = a.vertices(), faces = p.tables.faces.length;
    a.each(vertices, [&](uint32_t vertex) { a.fetch_vertex(vertex); });
    a.each(faces, [&](uint32_t face) { a.fetch_face(face); });
    a.barrier();
    const float step = static_cast<float>(p.settings[0].substep_f64 / p.settings[0].grid_spacing_f64);
#pragma unroll 1
    for (uint32_t sweep = 0; sweep < cloth::VERTEX_FACE_SWEEPS; ++sweep) {
        const float relaxation = cloth::chebyshev_step(sweep);
        a.each(faces, [&](uint32_t face) { a.pull_face(face, relaxation); });
        a.barrier();
        a.each(vertices, [&](uint32_t vertex) { a.push_vertex(vertex, step); });
        a.barrier();
    }
    // The same for all threads. The last step of a sheet is part of `stress_face`.
    const uint32_t most = p.mesh[0].most;
#pragma unroll 1
    for (uint32_t step = 0; step + 1 < most; ++step) {
        a.each(faces, [&](uint32_t face) { a.step_mesh(face, step); });
        a.barrier();
        a.each(vertices, [&](uint32_t vertex) { a.move_mesh(vertex, step); });
        a.barrier();
    }
    float speed_squared = 0.0f;
    a.each(faces, [&](uint32_t face) { speed_squared = fmaxf(speed_squared, a.stress_face(face)); });
    a.each(p.tables.hinges.length, [&](uint32_t hinge) { a.bend_hinge(hinge); });
    a.close_pins();
    a.barrier();
    a.each(vertices, [&](uint32_t vertex) { speed_squared = fmaxf(speed_squared, a.scatter_vertex(vertex)); });
    // The bits of floats that are not negative are in the order of their values.
    atomicMax(&fastest[0], __float_as_uint(speed_squared));
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMax(&p.status[MPM_STATUS_SPEED], fastest[0]);
    }
}

PLIANT_KERNEL_FOR(cloth_energy, ClothEnergyParameters, MPM_TOTAL_THREADS, 2) {
    const auto place = [&](uint32_t vertex) {
        const uint32_t i = p.tables.places[vertex];
        const auto row = [&](uint32_t d) { return row_of(p.particles, ROW_POSITION + d, i); };
        return cloth::Place{cloth::corner_of(p.particles, i), {row(0), row(1), row(2)}};
    };
    const uint32_t faces = p.tables.faces.length, vertices = p.tables.inverse_masses.length;
    const uint32_t first = blockIdx.x * MPM_TOTAL_TILE;
    const uint32_t end = min(first + MPM_TOTAL_TILE, faces + p.tables.hinges.length);
    double sum = 0.0;
    for (uint32_t element = first + threadIdx.x; element < end; element += MPM_TOTAL_THREADS) {
        if (element < faces) {
            const ClothFace& face = p.tables.faces[element];
            const uint32_t i = p.tables.places[vertices + element];
            const auto row = [&](uint32_t d) { return row_of(p.particles, ROW_GRADIENT + 2 + 3 * d, i); };
            const cloth::PlaneColumns f = cloth::columns_of(face, cloth::edges_of(face, place));
            const cloth::Qr qr = cloth::qr_of(f.f1, f.f2, {row(0), row(1), row(2)});
            sum += static_cast<double>(cloth::energy_density(p.tables.sheets[face.sheet], qr) * face.volume);
        } else {
            const ClothHinge& hinge = p.tables.hinges[element - faces];
            const auto corners = [&](const ClothHinge& h) { return cloth::corners_of(h, p.grid_spacing, place); };
            const auto is_held = [&](uint32_t v) { return quad(p.velocities, v).w == 0.0f; };
            const double moment = cloth::moment_of(p.tables.hinges, element - faces, corners, is_held);
            sum += 0.5 * moment * cloth::bend_of(hinge, corners(hinge));
        }
    }
    sum = block_reduce<Sum, MPM_TOTAL_THREADS>(sum);
    if (threadIdx.x < MPM_TOTALS) {
        p.tile_sums[blockIdx.x * MPM_TOTALS + threadIdx.x] = 0.0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        // Elastic energy is the last of the entries.
        p.tile_sums[blockIdx.x * MPM_TOTALS + MPM_TOTALS - 1] = sum;
    }
}
