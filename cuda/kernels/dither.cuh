// Sums of many small steps in f32 that are right on average, as mpm/src/dither.rs: before a sum is
// rounded, a part of a unit in the last place is added, by a Weyl sequence over the substeps. Phases go
// by the particles' ids, which no schedule changes.
#pragma once

#include "prelude.cuh"

// Entries of a deformation gradient.
constexpr uint32_t DITHER_ENTRIES = 9;
// Different phases of particles.
constexpr uint32_t DITHER_PHASES = 16;

// The dither of one sum.
struct DitherPart {
    // A part of the power of two that is not above a number.
    float of_power;
    // A number times this is one within whose power of two the part falls.
    float toward;
};

// A sum that is rounded to nearest.
constexpr DitherPart NOT_DITHERED = {0.0f, 1.0f};

// Of the substep `number` since the start, an entry, and a particle's phase.
__device__ __forceinline__ DitherPart dither_part(uint64_t number, uint32_t entry, uint32_t phase) {
    constexpr uint64_t TURN = ~static_cast<uint64_t>(0), GOLDEN = 0x9E3779B97F4A7C15;
    constexpr float ULP_OF_ONE = 1.0f / 8388608.0f;
    const uint64_t turn = number * GOLDEN + TURN / DITHER_ENTRIES * entry + TURN / DITHER_PHASES * phase;
    // Exact, and between the halves.
    const float part = (static_cast<float>(turn >> 41) + 0.5f) * ULP_OF_ONE - 0.5f;
    return {part * ULP_OF_ONE, part < 0.0f ? 1.0f - 0.5f * ULP_OF_ONE : 1.0f};
}

// x + a b.
__device__ __forceinline__ float dithered(const DitherPart& part, float x, float a, float b) {
    constexpr uint32_t EXPONENT_BITS = 0x7f800000;
    const float power = __uint_as_float(__float_as_uint(x * part.toward) & EXPONENT_BITS);
    return x + fmaf(a, b, power * part.of_power);
}
