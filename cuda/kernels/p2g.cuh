// What the two transfers from particles to grid share: which particles are sent, and what each
// gives the nodes of its stencil.
//
// (m v)_i += w_ip [ m_p (v_p + C_p (x_i - x_p)) - kick V_p (4/h^2) tau_p (x_i - x_p) ]  (MLS-MPM, Hu et
// al. 2018, with APIC, Jiang et al. 2015), as mpm/src/p2g.rs.
//
// With `granular_of`, granular particles alone are transferred, without forces: for
// mpm_find_subgrid_motion.
#pragma once

#include "mpm.cuh"

// Momentum of a particle as a polynomial of the node (i, j, k) of its stencil: component d is
// constant[d] + slope[d][0] i + slope[d][1] j + slope[d][2] k, to be weighted [N s].
struct Polynomial {
    float constant[3];
    float slope[3][3];
    // [kg]
    float mass;
};

// What is the same for all particles.
struct TransferScales {
    // Grid spacing h [m].
    float spacing;
    // Time over which internal forces act [s]; zero without.
    float kick;
    // -4 kick/h [s/m].
    float force;
};

__device__ __forceinline__ TransferScales scales_of(const MpmParticlesToGridParameters& p) {
    const float spacing = p.settings[0].grid_spacing;
    // Within a step all substeps are of one length.
    const float of_substep = p.substep_index == 0 ? p.settings[0].first_kick : p.settings[0].substep;
    const float kick = p.granular_of.length == 0 ? of_substep : 0.0f;
    return {spacing, kick, -kick * 4.0f / spacing};
}

__device__ __forceinline__ Polynomial polynomial_of(
    const MpmParticlesToGridParameters& p, const TransferScales& scales, uint32_t i, const float offset[3]) {
    const ParticleRows& particles = p.particles;
    const auto row = [&](uint32_t r) { return row_of(particles, r, i); };
    const float mass = row(ROW_MASS);
    const float mass_h = mass * scales.spacing;
    const float xx = row(ROW_STRESS), yy = row(ROW_STRESS + 1), zz = row(ROW_STRESS + 2);
    const float xy = row(ROW_STRESS + 3), xz = row(ROW_STRESS + 4), yz = row(ROW_STRESS + 5);
    float stress[3][3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
    float impulse[3] = {0.0f, 0.0f, 0.0f};
    if (p.cloth_from != ALL_LANES && particles.materials[i] >= p.cloth_from) {
        // A force on a vertex; a face's stress has a skew part, S x = moment x x.
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
            impulse[d] = scales.kick * row(ROW_GRADIENT + 3 * d);
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
            const float slope = mass_h * row(ROW_AFFINE + d * 3 + e) + scales.force * stress[d][e];
            at_base = fmaf(-slope, offset[e], at_base);
            polynomial.slope[d][e] = slope;
        }
        polynomial.constant[d] = at_base;
    }
    polynomial.mass = mass;
    return polynomial;
}

// Whether a particle is transferred.
__device__ __forceinline__ bool is_sent(const MpmParticlesToGridParameters& p, uint32_t i) {
    return p.granular_of.length == 0 || is_granular(p.granular_of, p.particles.materials[i]);
}

// First node of a stencil in the scratchpad.
__device__ __forceinline__ void place_in_scratchpad(const float base[3], int32_t from[3]) {
#pragma unroll
    for (uint32_t d = 0; d < 3; ++d) {
        from[d] = static_cast<int32_t>(base[d]) + SCRATCHPAD_MARGIN;
    }
}

// Bounds of the stencils that a thread has seen, an axis: lowest first node, and the end.
struct Reach {
    int32_t low[3] = {SCRATCHPAD_EDGE, SCRATCHPAD_EDGE, SCRATCHPAD_EDGE};
    int32_t high[3] = {0, 0, 0};

    __device__ __forceinline__ void include(const int32_t from[3]) {
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
            low[d] = min(low[d], from[d]);
            high[d] = max(high[d], from[d] + 3);
        }
    }

    // Adds them to those of the block, by all lanes of a warp. Bounds are the same in any order.
    template <typename Bounds>
    __device__ __forceinline__ void join(Bounds& bounds) const {
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
            const int32_t least = __reduce_min_sync(ALL_LANES, low[d]);
            const int32_t most = __reduce_max_sync(ALL_LANES, high[d]);
            if (lane_index() == 0) {
                atomicMin(&bounds[d], least);
                atomicMax(&bounds[3 + d], most);
            }
        }
    }
};

// Sets the bounds of a block to those of no stencil; by six threads.
template <typename Bounds>
__device__ __forceinline__ void clear_bounds(Bounds& bounds) {
    if (threadIdx.x < 6) {
        bounds[threadIdx.x] = threadIdx.x < 3 ? SCRATCHPAD_EDGE : 0;
    }
}

// The stencil box of a block; an empty one, where no particle is in reach.
template <typename Bounds>
__device__ __forceinline__ Array<int32_t, 6> packed_bounds(const Bounds& bounds) {
    Array<int32_t, 6> packed;
    for (uint32_t d = 0; d < 3; ++d) {
        packed[d] = bounds[d];
        packed[3 + d] = max(bounds[3 + d], bounds[d]);
    }
    return packed;
}
