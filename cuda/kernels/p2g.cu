// Particles to grid: mass, momentum and internal force (MLS-MPM, Hu et al. 2018, with APIC, Jiang
// et al. 2015), as mpm/src/p2g.rs.
//
// (m v)_i += w_ip [ m_p (v_p + C_p (x_i - x_p)) - δ V_p (4/h^2) tau_p (x_i - x_p) ].
//
// A block of threads takes a block of particles, in a fixed order, so that the bits do not depend
// on the schedule: each thread computes the momentum polynomials of some particles; then each warp
// goes through all of them with a lane for each of the 27 nodes and for its own two of the four
// components, and adds to the scratchpad in shared memory whenever the cell changes.
//
// With `granular_of`, granular particles alone are transferred, without forces: for
// mpm_find_subgrid_motion.
#include "mpm.cuh"

constexpr uint32_t P2G_WARPS = P2G_THREADS / WARP_SIZE;
constexpr uint32_t COMPONENTS = 4;
static_assert(P2G_WARPS * 2 == COMPONENTS, "two components a warp");

// Data of a particle for all lanes.
struct alignas(16) Momentum {
    // For vx and vy, then vz and mass: node (i, j, k) gets w (constant + i x + j y + k z) of each.
    float constant[2], x[2], y[2], z[2];
};

struct alignas(16) StencilPlace {
    // Position from the first node, in [0.5, 1.5).
    float offset[3];
    // First node in the scratchpad; MPM_SCRATCHPAD_NODES for a particle out of its reach.
    uint32_t node;
};

struct Polynomial {
    // Constant and slopes along x, y, z of the three momenta and of the mass.
    float constant[COMPONENTS];
    float slope[3][3];
};

__device__ __forceinline__ Polynomial polynomial_of(
    const ParticleRows& particles, uint32_t i, const float offset[3], const MpmSettings& settings, float substep, uint32_t cloth_from) {
    const auto row = [&](uint32_t r) { return row_of(particles, r, i); };
    const float mass = row(ROW_MASS);
    const float mass_h = mass * settings.grid_spacing;
    const float force = -substep * 4.0f / settings.grid_spacing;
    const float xx = row(ROW_STRESS), yy = row(ROW_STRESS + 1), zz = row(ROW_STRESS + 2);
    const float xy = row(ROW_STRESS + 3), xz = row(ROW_STRESS + 4), yz = row(ROW_STRESS + 5);
    float stress[3][3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
    float impulse[3] = {0.0f, 0.0f, 0.0f};
    if (cloth_from != ALL_LANES && particles.materials[i] >= cloth_from) {
        // A force on a vertex; a face's stress has a skew part, S x = moment x x.
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
            impulse[d] = substep * row(ROW_GRADIENT + 3 * d);
            const float moment = row(ROW_GRADIENT + 1 + 3 * d);
            const uint32_t e = (d + 1) % 3, f = (d + 2) % 3;
            stress[e][f] -= moment;
            stress[f][e] += moment;
        }
    }
    Polynomial polynomial;
#pragma unroll
    for (uint32_t d = 0; d < 3; ++d) {
        float at_base = fmaf(mass, row(ROW_VELOCITY + d), impulse[d]);
#pragma unroll
        for (uint32_t e = 0; e < 3; ++e) {
            const float slope = mass_h * row(ROW_AFFINE + d * 3 + e) + force * stress[d][e];
            at_base = fmaf(-slope, offset[e], at_base);
            polynomial.slope[d][e] = slope;
        }
        polynomial.constant[d] = at_base;
    }
    polynomial.constant[3] = mass;
    return polynomial;
}

// Whether a particle is transferred.
__device__ __forceinline__ bool is_sent(const MpmParticlesToGridParameters& p, uint32_t i) {
    return p.granular_of.length == 0 || is_granular(p.granular_of, p.particles.materials[i]);
}

// The substep's length for forces [s].
__device__ __forceinline__ float substep_of_forces(const MpmParticlesToGridParameters& p) {
    return p.granular_of.length == 0 ? p.settings[0].substep : 0.0f;
}

// The stencil box of a block; an empty one, where no particle is in reach.
__device__ __forceinline__ Array<int32_t, 6> packed_bounds(const int32_t* bounds) {
    Array<int32_t, 6> packed;
    for (uint32_t d = 0; d < 3; ++d) {
        packed[d] = bounds[d];
        packed[3 + d] = max(bounds[3 + d], bounds[d]);
    }
    return packed;
}

PLIANT_KERNEL(mpm_particles_to_grid, MpmParticlesToGridParameters, P2G_THREADS) {
    SHARED(float, scratchpad, MPM_SCRATCHPAD_NODES * COMPONENTS);
    SHARED(Momentum, momenta, P2G_THREADS * 2);
    SHARED(StencilPlace, places, P2G_THREADS);
    SHARED(int32_t, bounds, 6);
    const uint32_t block = blockIdx.x;
    if (is_stopped(p.status, p.substep_index) || block >= p.block_count[0]) {
        return;
    }
    const MpmSettings& settings = p.settings[0];
    const float substep = substep_of_forces(p);
    for (uint32_t i = threadIdx.x; i < MPM_SCRATCHPAD_NODES * COMPONENTS; i += P2G_THREADS) {
        scratchpad[i] = 0.0f;
    }
    if (threadIdx.x < 6) {
        bounds[threadIdx.x] = threadIdx.x < 3 ? SCRATCHPAD_EDGE : 0;
    }

    const uint32_t lane = lane_index();
    const uint32_t nx = lane / 9, ny = lane / 3 % 3, nz = lane % 3;
    const float fx = static_cast<float>(nx), fy = static_cast<float>(ny), fz = static_cast<float>(nz);
    const uint32_t node_offset = (nx * SCRATCHPAD_EDGE + ny) * SCRATCHPAD_EDGE + nz;
    const uint32_t first_component = warp_index() * 2;
    int32_t low[3] = {SCRATCHPAD_EDGE, SCRATCHPAD_EDGE, SCRATCHPAD_EDGE}, high[3] = {0, 0, 0};
    float sum0 = 0.0f, sum1 = 0.0f;
    uint32_t at = MPM_SCRATCHPAD_NODES;
    const auto flush = [&]() {
        if (at < MPM_SCRATCHPAD_NODES && lane < 27) {
            scratchpad[first_component * MPM_SCRATCHPAD_NODES + at + node_offset] += sum0;
            scratchpad[(first_component + 1) * MPM_SCRATCHPAD_NODES + at + node_offset] += sum1;
        }
    };

    const uint32_t end = p.block_starts[block + 1];
    for (uint32_t first = p.block_starts[block]; first < end; first += P2G_THREADS) {
        const uint32_t i = first + threadIdx.x;
        // The scratchpad is clear, and the last particles are done with.
        __syncthreads();
        if (i < end) {
            StencilPlace place;
            float base[3];
            place.node = MPM_SCRATCHPAD_NODES;
            if (is_sent(p, i) && stencil_of(p.particles, i, base, place.offset)) {
                int32_t from[3];
                for (uint32_t d = 0; d < 3; ++d) {
                    from[d] = static_cast<int32_t>(base[d]) + SCRATCHPAD_MARGIN;
                    low[d] = min(low[d], from[d]);
                    high[d] = max(high[d], from[d] + 3);
                }
                place.node = scratchpad_index(from[0], from[1], from[2]);
                const Polynomial q = polynomial_of(p.particles, i, place.offset, settings, substep, p.cloth_from);
                momenta[threadIdx.x * 2] = {{q.constant[0], q.constant[1]}, {q.slope[0][0], q.slope[1][0]},
                                            {q.slope[0][1], q.slope[1][1]}, {q.slope[0][2], q.slope[1][2]}};
                momenta[threadIdx.x * 2 + 1] = {{q.constant[2], q.constant[3]}, {q.slope[2][0], 0.0f},
                                                {q.slope[2][1], 0.0f}, {q.slope[2][2], 0.0f}};
            }
            places[threadIdx.x] = place;
        }
        __syncthreads();
        const uint32_t here = min(end - first, P2G_THREADS);
        for (uint32_t k = 0; k < here; ++k) {
            const StencilPlace place = places[k];
            if (place.node >= MPM_SCRATCHPAD_NODES) {
                continue;
            }
            if (place.node != at) {
                flush();
                at = place.node;
                sum0 = 0.0f;
                sum1 = 0.0f;
                // A lane's next sum may lie where another lane just added.
                __syncwarp();
            }
            const float weight = spline_weight(nx, place.offset[0]) * spline_weight(ny, place.offset[1]) *
                                 spline_weight(nz, place.offset[2]);
            const Momentum m = momenta[k * 2 + warp_index()];
            sum0 = fmaf(weight, fmaf(fz, m.z[0], fmaf(fy, m.y[0], fmaf(fx, m.x[0], m.constant[0]))), sum0);
            sum1 = fmaf(weight, fmaf(fz, m.z[1], fmaf(fy, m.y[1], fmaf(fx, m.x[1], m.constant[1]))), sum1);
        }
    }
    flush();
    for (uint32_t d = 0; d < 3; ++d) {
        // Bounds are the same in any order.
        atomicMin(&bounds[d], low[d]);
        atomicMax(&bounds[3 + d], high[d]);
    }
    __syncthreads();

    const Array<int32_t, 6> packed = packed_bounds(bounds);
    const StencilBox box = load_box(packed);
    for (uint32_t n = threadIdx.x; n < box.nodes(); n += P2G_THREADS) {
        int32_t node[3];
        box.node(n, node);
        const uint32_t index = scratchpad_index(node[0], node[1], node[2]);
        quad(p.scratchpads, block * MPM_SCRATCHPAD_NODES + index) =
            make_float4(scratchpad[index], scratchpad[MPM_SCRATCHPAD_NODES + index], scratchpad[2 * MPM_SCRATCHPAD_NODES + index],
                        scratchpad[3 * MPM_SCRATCHPAD_NODES + index]);
    }
    if (threadIdx.x == 0) {
        p.stencil_boxes[block] = packed;
    }
}

// The variant with atomics, a thread a particle: particles of one cell are neighbours, so the first
// of each run in a warp adds up the others' parts by shuffles and makes one atomic addition a node
// and component (Gao et al. 2018, "GPU optimization of material point methods"). The order of the
// additions depends on the schedule.
PLIANT_KERNEL(mpm_atomic_to_grid, MpmAtomicToGridParameters, P2G_THREADS) {
    SHARED(int32_t, bounds, 6);
    SHARED(uint32_t, around, MPM_NEIGHBOURS);
    const MpmParticlesToGridParameters& q = p.transfer;
    const uint32_t block = blockIdx.x;
    if (is_stopped(q.status, q.substep_index) || block >= q.block_count[0]) {
        return;
    }
    const MpmSettings& settings = q.settings[0];
    const float substep = substep_of_forces(q);
    if (threadIdx.x < 6) {
        bounds[threadIdx.x] = threadIdx.x < 3 ? SCRATCHPAD_EDGE : 0;
    }
    if (threadIdx.x < MPM_NEIGHBOURS) {
        around[threadIdx.x] = p.nodes_of_particles[block * MPM_NEIGHBOURS + threadIdx.x];
    }
    __syncthreads();
    const uint32_t lane = lane_index();
    int32_t low[3] = {SCRATCHPAD_EDGE, SCRATCHPAD_EDGE, SCRATCHPAD_EDGE}, high[3] = {0, 0, 0};
    const uint32_t end = q.block_starts[block + 1];
    // All lanes go through all rounds, for the shuffles.
    for (uint32_t first = q.block_starts[block]; first < end; first += P2G_THREADS) {
        const uint32_t i = first + threadIdx.x;
        float base[3], offset[3] = {1.0f, 1.0f, 1.0f};
        int32_t from[3] = {0, 0, 0};
        uint32_t node = MPM_SCRATCHPAD_NODES;
        Polynomial polynomial = {};
        if (i < end && is_sent(q, i) && stencil_of(q.particles, i, base, offset)) {
            for (uint32_t d = 0; d < 3; ++d) {
                from[d] = static_cast<int32_t>(base[d]) + SCRATCHPAD_MARGIN;
                low[d] = min(low[d], from[d]);
                high[d] = max(high[d], from[d] + 3);
            }
            node = scratchpad_index(from[0], from[1], from[2]);
            polynomial = polynomial_of(q.particles, i, offset, settings, substep, q.cloth_from);
        }
        // Runs of the same cell: where this lane's ends, and whether this lane is its first.
        const uint32_t before = __shfl_up_sync(ALL_LANES, node, 1);
        const bool is_head = lane == 0 || before != node;
        const uint32_t heads = __ballot_sync(ALL_LANES, is_head);
        const uint32_t heads_above = lane == WARP_SIZE - 1 ? 0 : heads >> (lane + 1);
        const uint32_t last =
            heads_above == 0 ? WARP_SIZE - 1 : lane + static_cast<uint32_t>(__ffs(static_cast<int32_t>(heads_above))) - 1;
        const uint32_t longest = __reduce_max_sync(ALL_LANES, last - lane);
        for (uint32_t n = 0; n < 27; ++n) {
            const uint32_t nx = n / 9, ny = n / 3 % 3, nz = n % 3;
            const float weight =
                spline_weight(nx, offset[0]) * spline_weight(ny, offset[1]) * spline_weight(nz, offset[2]);
            float part[COMPONENTS];
            for (uint32_t c = 0; c < 3; ++c) {
                part[c] = weight * (polynomial.constant[c] + static_cast<float>(nx) * polynomial.slope[c][0] +
                                    static_cast<float>(ny) * polynomial.slope[c][1] +
                                    static_cast<float>(nz) * polynomial.slope[c][2]);
            }
            part[3] = weight * polynomial.constant[3];
            for (uint32_t distance = 1; distance <= longest; distance *= 2) {
                for (uint32_t c = 0; c < COMPONENTS; ++c) {
                    const float other = __shfl_down_sync(ALL_LANES, part[c], distance);
                    part[c] += lane + distance <= last ? other : 0.0f;
                }
            }
            if (is_head && node < MPM_SCRATCHPAD_NODES) {
                // In nodes from the corner of the block before.
                const uint32_t x = static_cast<uint32_t>(from[0] - SCRATCHPAD_MARGIN + BLOCK_EDGE) + nx;
                const uint32_t y = static_cast<uint32_t>(from[1] - SCRATCHPAD_MARGIN + BLOCK_EDGE) + ny;
                const uint32_t z = static_cast<uint32_t>(from[2] - SCRATCHPAD_MARGIN + BLOCK_EDGE) + nz;
                const uint32_t slot = around[(x / 4 * 3 + y / 4) * 3 + z / 4];
                Array<float, 4>& sum = p.nodes[slot * MPM_BLOCK_NODES + (x % 4 * 4 + y % 4) * 4 + z % 4];
                for (uint32_t c = 0; c < COMPONENTS; ++c) {
                    atomicAdd(&sum[c], part[c]);
                }
            }
        }
    }
    for (uint32_t d = 0; d < 3; ++d) {
        atomicMin(&bounds[d], low[d]);
        atomicMax(&bounds[3 + d], high[d]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        q.stencil_boxes[block] = packed_bounds(bounds);
    }
}
