// What the threads of a block make together, in an order that does not depend on the schedule. All
// threads of a one-dimensional block of whole warps must call these.
#pragma once

#include "prelude.cuh"

// Sum of the values of the lanes before this one.
__device__ __forceinline__ uint32_t warp_exclusive_sum(uint32_t value) {
    uint32_t sum = value;
    for (uint32_t distance = 1; distance < WARP_SIZE; distance *= 2) {
        const uint32_t below = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane_index() >= distance) {
            sum += below;
        }
    }
    return sum - value;
}

// Sum of the values of the threads before this one; `total` gets the block's sum.
template <uint32_t THREADS>
__device__ __forceinline__ uint32_t block_exclusive_sum(uint32_t value, uint32_t& total) {
    constexpr uint32_t WARPS = THREADS / WARP_SIZE;
    static_assert(THREADS % WARP_SIZE == 0 && WARPS <= WARP_SIZE, "whole warps, whose sums one warp can scan");
    SHARED(uint32_t, warp_sums, WARPS + 1);
    const uint32_t before = warp_exclusive_sum(value);
    if (lane_index() == WARP_SIZE - 1) {
        warp_sums[warp_index()] = before + value;
    }
    __syncthreads();
    if (warp_index() == 0) {
        const uint32_t sum = lane_index() < WARPS ? warp_sums[lane_index()] : 0;
        const uint32_t before_warp = warp_exclusive_sum(sum);
        // Lanes beyond the last warp hold the sum of all.
        if (lane_index() < WARPS) {
            warp_sums[lane_index()] = before_warp;
        }
        if (lane_index() == WARPS - 1) {
            warp_sums[WARPS] = before_warp + sum;
        }
    }
    __syncthreads();
    total = warp_sums[WARPS];
    const uint32_t result = warp_sums[warp_index()] + before;
    // The array is free for the next call.
    __syncthreads();
    return result;
}

struct Sum {
    static __device__ __forceinline__ double identity() { return 0.0; }
    static __device__ __forceinline__ double of(double a, double b) { return a + b; }
};

// NaN where either is.
struct Maximum {
    static __device__ __forceinline__ double identity() { return -__longlong_as_double(0x7ff0000000000000ll); }
    static __device__ __forceinline__ double of(double a, double b) { return a > b || isnan(a) ? a : b; }
};

// The threads' values combined, pairwise along a fixed tree; the result is thread 0's.
template <typename Combine, uint32_t THREADS>
__device__ __forceinline__ double block_reduce(double value) {
    constexpr uint32_t WARPS = THREADS / WARP_SIZE;
    static_assert(THREADS % WARP_SIZE == 0 && WARPS <= WARP_SIZE, "whole warps, whose values one warp can combine");
    SHARED(double, warp_values, WARPS);
    for (uint32_t distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
        value = Combine::of(value, __shfl_down_sync(ALL_LANES, value, distance));
    }
    if (lane_index() == 0) {
        warp_values[warp_index()] = value;
    }
    __syncthreads();
    if (warp_index() == 0) {
        value = lane_index() < WARPS ? warp_values[lane_index()] : Combine::identity();
        for (uint32_t distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
            value = Combine::of(value, __shfl_down_sync(ALL_LANES, value, distance));
        }
    }
    __syncthreads();
    return value;
}
