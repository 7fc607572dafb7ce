// Positions of particles as the unevaluated sum of two f32, as mpm/src/tiles.rs has them (Dekker 1971,
// Kahan 1965): what is added is not lost, however little it is.
#pragma once

#include "mpm.cuh"
#include "svd.cuh"

// A position from its block's corner [cells].
struct PositionSum {
    Vec3 high;
    Vec3 low;

    __device__ __forceinline__ PositionSum plus(Vec3 moved) const {
        const Vec3 added = moved + low;
        const Vec3 rounded = high + added;
        return {rounded, added - (rounded - high)};
    }
};

__device__ __forceinline__ PositionSum load_position(const ParticleRows& particles, uint32_t i) {
    const auto three = [&](uint32_t r) { return Vec3{row_of(particles, r, i), row_of(particles, r + 1, i), row_of(particles, r + 2, i)}; };
    return {three(ROW_POSITION), three(ROW_POSITION_LOW)};
}
