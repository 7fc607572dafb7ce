// What the kernels of cloth share: entries of pins, and where particles are.
#pragma once

#include "block.cuh"
#include "cloth.cuh"
#include "mpm.cuh"

namespace cloth {

// Entries of a pin's row.
constexpr uint32_t PIN_VELOCITY = 0;
constexpr uint32_t PIN_MOBILITY = 3;
constexpr uint32_t PIN_BASE = 4;
constexpr uint32_t PIN_MEAN = 7;
constexpr uint32_t PIN_DONE = 10;
static_assert(PIN_DONE + CLOTH_PIN_SUMS == CLOTH_PIN_ROW, "entries of a pin");

// Adds an impulse at a point [N s, m] of a pin that moves with `velocity` [m/s], the mean of those
// before and after; `sums(n)` is entry n.
template <typename Sums>
__device__ __forceinline__ void add_impulse(Sums sums, Wide at, Wide impulse, Wide velocity) {
    const Wide moment = cross(at, impulse);
    sums(0) += impulse.x;
    sums(1) += impulse.y;
    sums(2) += impulse.z;
    sums(3) += moment.x;
    sums(4) += moment.y;
    sums(5) += moment.z;
    sums(6) += dot(impulse, velocity);
}

__device__ __forceinline__ Wide wide(Vec3 v) { return {v.x, v.y, v.z}; }
__device__ __forceinline__ Wide wide(const Array<double, 3>& v) { return {v[0], v[1], v[2]}; }
__device__ __forceinline__ Vec3 vector(float4 v) { return {v.x, v.y, v.z}; }
__device__ __forceinline__ float4 quad_of(Vec3 v, float w) { return make_float4(v.x, v.y, v.z, w); }

// Corner of a particle's block [cells].
__device__ __forceinline__ Array<int32_t, 3> corner_of(const ParticleRows& particles, uint32_t i) {
    const Array<int32_t, 3> key = particles.block_keys[particles.blocks[i]];
    return {{BLOCK_EDGE * key[0], BLOCK_EDGE * key[1], BLOCK_EDGE * key[2]}};
}

}  // namespace cloth
