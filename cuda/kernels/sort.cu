// A stable radix sort: count the digits of each tile, scan the counts digit by digit (scan.cu), and
// scatter. Within a tile the rank of a key among those of its digit comes from matching lanes
// (Ashkiani et al. 2016, "GPU Multisplit"), warp by warp in the order of the keys, so that no
// atomic decides an order.
#include "block.cuh"
#include "parameters.cuh"

constexpr uint32_t SORT_WARPS = SORT_THREADS / WARP_SIZE;
constexpr uint32_t SORT_WARP_KEYS = SORT_TILE / SORT_WARPS;
static_assert(SORT_DIGITS == SORT_THREADS, "a thread a digit");

__device__ __forceinline__ uint32_t digit_of(uint32_t key, const SortDigit& digit) {
    return key >> digit.shift & digit.mask;
}

PLIANT_KERNEL(sort_count_digits, SortCountDigitsParameters, SORT_THREADS) {
    SHARED(uint32_t, digit_counts, SORT_DIGITS);
    digit_counts[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < SORT_TILE; i += SORT_THREADS) {
        const uint32_t at = blockIdx.x * SORT_TILE + i;
        if (at < p.count) {
            // Integers add up to the same in any order.
            atomicAdd(&digit_counts[digit_of(p.keys[at], p.digit)], 1u);
        }
    }
    __syncthreads();
    p.counts[threadIdx.x * p.tiles + blockIdx.x] = digit_counts[threadIdx.x];
}

PLIANT_KERNEL(sort_scatter, SortScatterParameters, SORT_THREADS) {
    // How many keys of a digit a warp has met; then, where its first one goes.
    SHARED(uint32_t, warp_digits, SORT_WARPS * SORT_DIGITS);
    for (uint32_t i = threadIdx.x; i < SORT_WARPS * SORT_DIGITS; i += SORT_THREADS) {
        warp_digits[i] = 0;
    }
    __syncthreads();

    constexpr uint32_t ROUNDS = SORT_WARP_KEYS / WARP_SIZE;
    const uint32_t first = blockIdx.x * SORT_TILE + warp_index() * SORT_WARP_KEYS + lane_index();
    const uint32_t row = warp_index() * SORT_DIGITS;
    const uint32_t lanes_below = (1u << lane_index()) - 1;
    uint32_t digits[ROUNDS];
    uint32_t ranks[ROUNDS];
#pragma unroll
    for (uint32_t r = 0; r < ROUNDS; ++r) {
        const uint32_t at = first + r * WARP_SIZE;
        const bool here = at < p.count;
        // Lanes beyond the end match only one another.
        digits[r] = here ? digit_of(p.keys[at], p.digit) : SORT_DIGITS;
        const uint32_t peers = __match_any_sync(ALL_LANES, digits[r]);
        const uint32_t met = here ? warp_digits[row + digits[r]] : 0;
        ranks[r] = met + static_cast<uint32_t>(__popc(peers & lanes_below));
        __syncwarp();
        if (here && (peers & lanes_below) == 0) {
            warp_digits[row + digits[r]] = met + static_cast<uint32_t>(__popc(peers));
        }
        __syncwarp();
    }
    __syncthreads();

    uint32_t before = p.offsets[threadIdx.x * p.tiles + blockIdx.x];
    for (uint32_t warp = 0; warp < SORT_WARPS; ++warp) {
        const uint32_t met = warp_digits[warp * SORT_DIGITS + threadIdx.x];
        warp_digits[warp * SORT_DIGITS + threadIdx.x] = before;
        before += met;
    }
    __syncthreads();

#pragma unroll
    for (uint32_t r = 0; r < ROUNDS; ++r) {
        const uint32_t at = first + r * WARP_SIZE;
        if (at < p.count) {
            const uint32_t to = warp_digits[row + digits[r]] + ranks[r];
            p.sorted_keys[to] = p.keys[at];
            p.sorted_values[to] = p.values[at];
        }
    }
}
