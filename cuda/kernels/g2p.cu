// Grid to particles: velocity, affine field, position, deformation gradient, return mapping and
// stress; as mpm/src/g2p.rs.
//
// v_p = sum_i w_ip v_i;  C_p = (4/h^2) sum_i w_ip v_i (x_i - x_p)^T;  F <- (I + δ C_p) F;  x_p += δ
// v_p.
//
// A block of threads takes a block of particles, with the node velocities that they reach in shared
// memory, and a thread a particle.
//
// Granular particles get a part of their subgrid motion back (mpm/src/detail.rs): what
// mpm_find_subgrid_motion found that their own grid velocities, without forces, do not hold. It
// exists only within a substep, so that sorts do not move it.
#include "constitutive.cuh"
#include "dither.cuh"
#include "mpm.cuh"
#include "position.cuh"

// Velocities in the stencil box, from the node blocks around.
template <typename Scratchpad>
__device__ __forceinline__ void load_scratchpad(
    const MpmGridToParticlesParameters& p, uint32_t block, const StencilBox& box, Scratchpad& scratchpad) {
    for (uint32_t n = threadIdx.x; n < box.nodes(); n += G2P_THREADS) {
        int32_t at[3];
        box.node(n, at);
        // In nodes from the corner of the block before.
        const uint32_t x = static_cast<uint32_t>(at[0] - SCRATCHPAD_MARGIN + BLOCK_EDGE);
        const uint32_t y = static_cast<uint32_t>(at[1] - SCRATCHPAD_MARGIN + BLOCK_EDGE);
        const uint32_t z = static_cast<uint32_t>(at[2] - SCRATCHPAD_MARGIN + BLOCK_EDGE);
        const uint32_t neighbour = (x / 4 * 3 + y / 4) * 3 + z / 4;
        const uint32_t slot = p.nodes_of_particles[block * MPM_NEIGHBOURS + neighbour];
        scratchpad[scratchpad_index(at[0], at[1], at[2])] =
            quad(p.grid.nodes, slot * MPM_BLOCK_NODES + (x % 4 * 4 + y % 4) * 4 + z % 4);
    }
}

// Sums over the 27 nodes of w v, and of w v (x_i - x_p) by the axes, in cells.
struct Gathered {
    Vec3 velocity;
    Vec3 moment[3];
};

template <typename Scratchpad>
__device__ __forceinline__ Gathered gather(const Scratchpad& scratchpad, uint32_t first, const float offset[3]) {
    Gathered sum = {};
    float weight[3][3];
#pragma unroll
    for (uint32_t d = 0; d < 3; ++d) {
#pragma unroll
        for (uint32_t n = 0; n < 3; ++n) {
            weight[d][n] = spline_weight(n, offset[d]);
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < 3; ++i) {
        Vec3 plane = {}, moment_y = {}, moment_z = {};
#pragma unroll
        for (uint32_t j = 0; j < 3; ++j) {
            Vec3 line = {}, line_z = {};
#pragma unroll
            for (uint32_t k = 0; k < 3; ++k) {
                const float4 node = scratchpad[first + (i * SCRATCHPAD_EDGE + j) * SCRATCHPAD_EDGE + k];
                const Vec3 velocity = {node.x, node.y, node.z};
                line = fused(weight[2][k], velocity, line);
                line_z = fused(weight[2][k] * (static_cast<float>(k) - offset[2]), velocity, line_z);
            }
            plane = fused(weight[1][j], line, plane);
            moment_y = fused(weight[1][j] * (static_cast<float>(j) - offset[1]), line, moment_y);
            moment_z = fused(weight[1][j], line_z, moment_z);
        }
        sum.velocity = fused(weight[0][i], plane, sum.velocity);
        sum.moment[0] = fused(weight[0][i] * (static_cast<float>(i) - offset[0]), plane, sum.moment[0]);
        sum.moment[1] = fused(weight[0][i], moment_y, sum.moment[1]);
        sum.moment[2] = fused(weight[0][i], moment_z, sum.moment[2]);
    }
    return sum;
}

__device__ __forceinline__ void store_vector(const ParticleRows& particles, uint32_t row, uint32_t i, Vec3 v) {
    row_of(particles, row, i) = v.x;
    row_of(particles, row + 1, i) = v.y;
    row_of(particles, row + 2, i) = v.z;
}

__device__ __forceinline__ Vec3 load_vector(const ParticleRows& particles, uint32_t row, uint32_t i) {
    return {row_of(particles, row, i), row_of(particles, row + 1, i), row_of(particles, row + 2, i)};
}

// Deformation gradient, return mapping and stress after a substep with the affine field `c` [1/s].
__device__ __forceinline__ void deform(
    const MpmGridToParticlesParameters& p, uint32_t i, const Mat3& c, float substep, const DitherPart* dither) {
    const ParticleRows& particles = p.particles;
    const Mat3 f = {load_vector(particles, ROW_GRADIENT, i), load_vector(particles, ROW_GRADIENT + 3, i),
                    load_vector(particles, ROW_GRADIENT + 6, i)};
    // Strain of grains that slide past each other does not add up: it is renewed in every substep.
    const bool granular = is_granular(p.materials, particles.materials[i]);
    const auto row = [&](uint32_t first, Vec3 before, Vec3 rate) {
        const Vec3 change = rate.x * f.a + rate.y * f.b + rate.z * f.c;
        const auto part = [&](uint32_t d) { return granular ? NOT_DITHERED : dither[(first + d) * DITHER_PHASES]; };
        return Vec3{dithered(part(0), before.x, substep, change.x), dithered(part(1), before.y, substep, change.y),
                    dithered(part(2), before.z, substep, change.z)};
    };
    const Mat3 trial = {row(0, f.a, c.a), row(3, f.b, c.b), row(6, f.c, c.c)};
    const MpmMaterial& material = p.materials[particles.materials[i]];
    const ConstitutiveResponse response = respond(material, trial, row_of(particles, ROW_HISTORY, i), substep);
    store_vector(particles, ROW_GRADIENT, i, response.gradient.a);
    store_vector(particles, ROW_GRADIENT + 3, i, response.gradient.b);
    store_vector(particles, ROW_GRADIENT + 6, i, response.gradient.c);
    const Sym3 stress = scaled_plus(row_of(particles, ROW_VOLUME, i), response.stress, 0.0f);
    store_vector(particles, ROW_STRESS, i, {stress.xx, stress.yy, stress.zz});
    store_vector(particles, ROW_STRESS + 3, i, {stress.xy, stress.xz, stress.yz});
    row_of(particles, ROW_HISTORY, i) = response.history;
}

// The scratchpad's index of a stencil's first node.
__device__ __forceinline__ uint32_t first_of(const float base[3]) {
    return scratchpad_index(static_cast<int32_t>(base[0]) + SCRATCHPAD_MARGIN, static_cast<int32_t>(base[1]) + SCRATCHPAD_MARGIN,
                        static_cast<int32_t>(base[2]) + SCRATCHPAD_MARGIN);
}

__device__ __forceinline__ Mat3 affine_of(const Gathered& sum, float h) {
    const float inverse = 4.0f / h;
    return transpose({inverse * sum.moment[0], inverse * sum.moment[1], inverse * sum.moment[2]});
}

// Row `row` of a particle's subgrid motion.
__device__ __forceinline__ float& subgrid_motion_of(const MpmGridToParticlesParameters& p, uint32_t row, uint32_t i) {
    return p.subgrid_motions[row * p.particles.stride + i];
}

static_assert(ROW_AFFINE == ROW_VELOCITY + 3 && MPM_SUBGRID_ROWS == 12, "details are velocity and affine field");

PLIANT_KERNEL_FOR(mpm_find_subgrid_motion, MpmFindSubgridMotionParameters, G2P_THREADS, 6) {
    SHARED(float4, scratchpad, MPM_SCRATCHPAD_NODES);
    const MpmGridToParticlesParameters& q = p.transfer;
    const uint32_t block = blockIdx.x;
    if (is_stopped(q.status, q.substep_index) || block >= q.block_count[0]) {
        return;
    }
    load_scratchpad(q, block, load_box(q.stencil_boxes[block]), scratchpad);
    __syncthreads();
    const uint32_t end = q.block_starts[block + 1];
    for (uint32_t i = q.block_starts[block] + threadIdx.x; i < end; i += G2P_THREADS) {
        float base[3], offset[3];
        if (!is_granular(q.materials, q.particles.materials[i]) || !stencil_of(q.particles, i, base, offset)) {
            continue;
        }
        const Gathered sum = gather(scratchpad, first_of(base), offset);
        const Mat3 c = affine_of(sum, q.settings[0].grid_spacing);
        const Vec3 from_grid[4] = {sum.velocity, c.a, c.b, c.c};
#pragma unroll
        for (uint32_t n = 0; n < 4; ++n) {
            const Vec3 lost = load_vector(q.particles, ROW_VELOCITY + 3 * n, i) - from_grid[n];
            subgrid_motion_of(q, 3 * n, i) = lost.x;
            subgrid_motion_of(q, 3 * n + 1, i) = lost.y;
            subgrid_motion_of(q, 3 * n + 2, i) = lost.z;
        }
    }
}

PLIANT_KERNEL_FOR(mpm_grid_to_particles, MpmGridToParticlesParameters, G2P_THREADS, 6) {
    SHARED(float4, scratchpad, MPM_SCRATCHPAD_NODES);
    SHARED(uint32_t, fastest, 1);
    SHARED(DitherPart, dither, DITHER_ENTRIES * DITHER_PHASES);
    const uint32_t block = blockIdx.x;
    // The same for all threads of the block: who stops a step names a later substep.
    if (is_stopped(p.status, p.substep_index) || block >= p.block_count[0]) {
        return;
    }
    if (threadIdx.x == 0) {
        fastest[0] = 0;
    }
    const MpmSettings& settings = p.settings[0];
    for (uint32_t n = threadIdx.x; n < DITHER_ENTRIES * DITHER_PHASES; n += G2P_THREADS) {
        dither[n] = dither_part(settings.first_number + p.substep_index, n / DITHER_PHASES, n % DITHER_PHASES);
    }
    load_scratchpad(p, block, load_box(p.stencil_boxes[block]), scratchpad);
    __syncthreads();
    const float substep = settings.substep, h = settings.grid_spacing;
    const uint32_t end = p.block_starts[block + 1];
    float speed_squared = 0.0f;
    for (uint32_t i = p.block_starts[block] + threadIdx.x; i < end; i += G2P_THREADS) {
        float base[3], offset[3];
        if (!stencil_of(p.particles, i, base, offset)) {
            // Out of the scratchpad's reach before the step: its stencil is unknown.
            const auto x = [&](uint32_t d) { return row_of(p.particles, ROW_POSITION + d, i); };
            check_position(p.particles, p.status, p.substep_index, i, {x(0), x(1), x(2)}, {0.0f, 0.0f, 0.0f});
            continue;
        }
        const Gathered sum = gather(scratchpad, first_of(base), offset);
        const Mat3 c = affine_of(sum, h);
        store_vector(p.particles, ROW_VELOCITY, i, sum.velocity);
        store_vector(p.particles, ROW_AFFINE, i, c.a);
        store_vector(p.particles, ROW_AFFINE + 3, i, c.b);
        store_vector(p.particles, ROW_AFFINE + 6, i, c.c);
        const Vec3 moved = (substep / h) * sum.velocity;
        const PositionSum sum_of = load_position(p.particles, i).plus(moved);
        const Vec3 x = sum_of.high;
        store_vector(p.particles, ROW_POSITION, i, x);
        store_vector(p.particles, ROW_POSITION_LOW, i, sum_of.low);
        if (p.particles.materials[i] >= p.materials.length) {
            // A particle of cloth: `cloth_advance` does the rest.
            continue;
        }
        check_position(p.particles, p.status, p.substep_index, i, {x.x, x.y, x.z}, {moved.x, moved.y, moved.z});
        deform(p, i, c, substep, dither + p.particles.ids[i] % DITHER_PHASES);
        Vec3 velocity = sum.velocity;
        if (p.subgrid_motions.length > 0 && is_granular(p.materials, p.particles.materials[i])) {
            // It has moved and deformed with the grid's velocity.
            for (uint32_t n = 0; n < MPM_SUBGRID_ROWS; ++n) {
                float& own = row_of(p.particles, ROW_VELOCITY + n, i);
                own = fmaf(settings.subgrid_retention, subgrid_motion_of(p, n, i), own);
            }
            velocity = load_vector(p.particles, ROW_VELOCITY, i);
        }
        // NaN is not larger: a particle that has it is lost.
        speed_squared = fmaxf(speed_squared, dot(velocity, velocity));
    }
    // The bits of floats that are not negative are in the order of their values.
    atomicMax(&fastest[0], __float_as_uint(speed_squared));
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMax(&p.status[MPM_STATUS_SPEED], fastest[0]);
    }
}

// Probe: a model's response to one trial deformation gradient a thread.
PLIANT_KERNEL(probe_constitutive, ProbeConstitutiveParameters, PROBE_THREADS) {
    const uint32_t i = global_thread();
    if (i >= p.trials.length) {
        return;
    }
    const Array<float, 10> t = p.trials[i];
    const Mat3 trial = {{t[0], t[1], t[2]}, {t[3], t[4], t[5]}, {t[6], t[7], t[8]}};
    const ConstitutiveResponse r = respond(p.materials[p.material], trial, t[9], p.substep);
    const Mat3& f = r.gradient;
    p.responses[i] = {{f.a.x, f.a.y, f.a.z, f.b.x, f.b.y, f.b.z, f.c.x, f.c.y, f.c.z, r.history, r.stress.xx, r.stress.yy,
                       r.stress.zz, r.stress.xy, r.stress.xz, r.stress.yz}};
}

// Probe: finds node blocks by their keys.
PLIANT_KERNEL(probe_find_nodes, ProbeFindNodesParameters, PROBE_THREADS) {
    const uint32_t i = global_thread();
    if (i < p.keys.length) {
        const Array<int32_t, 3> key = p.keys[i];
        p.slots[i] = find_node_block(p.grid, key[0], key[1], key[2]);
    }
}
