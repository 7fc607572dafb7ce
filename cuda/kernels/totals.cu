// Totals of the particles, as mpm/src/totals.rs: mass, first moment, momenta with the affine
// field's share, energies, power of the internal forces. Sums are f64 by a fixed tree: a thread takes every 256th particle of a
// tile, then threads, then tiles.
#include "block.cuh"
#include "constitutive.cuh"
#include "mpm.cuh"

constexpr uint32_t TOTALS_LANES = 32;
constexpr uint32_t TOTALS_THREADS = MPM_TOTALS * TOTALS_LANES;

// Power of the internal forces on the particle's velocity field v + C (x - x_p), as they act on the
// grid (p2g.cuh): -C : (V tau), for cloth with the force and the moment of a vertex or face [W].
__device__ __forceinline__ double internal_power(
    const ParticleRows& particles, uint32_t i, const double v[3], const double c[9], const double axial[3], bool is_cloth) {
    const auto row = [&](uint32_t r) { return static_cast<double>(row_of(particles, r, i)); };
    const double xx = row(ROW_STRESS), yy = row(ROW_STRESS + 1), zz = row(ROW_STRESS + 2);
    const double xy = row(ROW_STRESS + 3), xz = row(ROW_STRESS + 4), yz = row(ROW_STRESS + 5);
    double power = -(c[0] * xx + c[4] * yy + c[8] * zz + (c[1] + c[3]) * xy + (c[2] + c[6]) * xz + (c[5] + c[7]) * yz);
    if (is_cloth) {
#pragma unroll
        for (uint32_t d = 0; d < 3; ++d) {
            power += row(ROW_GRADIENT + 3 * d) * v[d] - row(ROW_GRADIENT + 1 + 3 * d) * axial[d];
        }
    }
    return power;
}

// Adds a particle; angular parts about the world's origin.
__device__ __forceinline__ void add_particle(const MpmTotalTilesParameters& p, uint32_t i, double (&sums)[MPM_TOTALS]) {
    const ParticleRows& particles = p.particles;
    const Array<int32_t, 3> key = particles.block_keys[particles.blocks[i]];
    const double mass = row_of(particles, ROW_MASS, i);
    double x[3], v[3], c[9];
#pragma unroll
    for (uint32_t d = 0; d < 3; ++d) {
        x[d] = (static_cast<double>(BLOCK_EDGE) * key[d] + cells_of(particles, d, i)) *
               p.grid_spacing;
        v[d] = row_of(particles, ROW_VELOCITY + d, i);
    }
    double squares = 0.0;
#pragma unroll
    for (uint32_t e = 0; e < 9; ++e) {
        c[e] = row_of(particles, ROW_AFFINE + e, i);
        squares += c[e] * c[e];
    }
    // Of a quadratic B-spline: m h^2/4 is the inertia that goes with the affine field (Jiang et al.
    // 2015).
    const double inertia = 0.25 * p.grid_spacing * p.grid_spacing;
    const double axial[3] = {c[7] - c[5], c[2] - c[6], c[3] - c[1]};
    sums[0] += mass;
#pragma unroll
    for (uint32_t d = 0; d < 3; ++d) {
        const uint32_t e = (d + 1) % 3, f = (d + 2) % 3;
        sums[1 + d] += mass * x[d];
        sums[4 + d] += mass * v[d];
        sums[7 + d] += mass * (x[e] * v[f] - x[f] * v[e] + inertia * axial[d]);
    }
    sums[10] += 0.5 * mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + inertia * squares);
    const bool is_cloth = particles.materials[i] >= p.materials.length;
    sums[11] += internal_power(particles, i, v, c, axial, is_cloth);
    if (is_cloth) {
        // The energy of cloth is its faces' and hinges'.
        return;
    }
    const auto row = [&](uint32_t first) {
        return Vec3{row_of(particles, first, i), row_of(particles, first + 1, i), row_of(particles, first + 2, i)};
    };
    const Mat3 f = {row(ROW_GRADIENT), row(ROW_GRADIENT + 3), row(ROW_GRADIENT + 6)};
    const float density = energy_density(p.materials[particles.materials[i]], f);
    sums[12] += static_cast<double>(density) * static_cast<double>(row_of(particles, ROW_VOLUME, i));
}

PLIANT_KERNEL_FOR(mpm_total_tiles, MpmTotalTilesParameters, MPM_TOTAL_THREADS, 2) {
    double sums[MPM_TOTALS] = {};
    const uint32_t first = blockIdx.x * MPM_TOTAL_TILE;
    const uint32_t end = min(first + MPM_TOTAL_TILE, p.particles.count);
    for (uint32_t i = first + threadIdx.x; i < end; i += MPM_TOTAL_THREADS) {
        add_particle(p, i, sums);
    }
#pragma unroll
    for (uint32_t entry = 0; entry < MPM_TOTALS; ++entry) {
        const double sum = block_reduce<Sum, MPM_TOTAL_THREADS>(sums[entry]);
        if (threadIdx.x == 0) {
            p.tile_sums[blockIdx.x * MPM_TOTALS + entry] = sum;
        }
    }
}

PLIANT_KERNEL(mpm_totals, MpmTotalsParameters, TOTALS_THREADS) {
    const uint32_t entry = warp_index();
    double sum = 0.0;
    for (uint32_t tile = lane_index(); tile < p.tiles; tile += TOTALS_LANES) {
        sum += p.tile_sums[tile * MPM_TOTALS + entry];
    }
    for (uint32_t distance = TOTALS_LANES / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    }
    if (lane_index() == 0) {
        p.totals[entry] = sum;
    }
}
