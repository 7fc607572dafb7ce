// Exclusive prefix sums of u32 in a single pass with look-back (Merrill and Garland 2016): each tile
// publishes its sum, finds what lies before it from the tiles before, and publishes that.
//
// A tile waits for tiles before it. Blocks take their tiles in the order in which they start, so
// those it waits for belong to blocks that have started. These stay on the device until they end,
// and wait only for others before them; the first waits for none. So all end, however few blocks
// fit at once.
#include "block.cuh"
#include "parameters.cuh"

constexpr uint32_t SCAN_ITEMS = SCAN_TILE / SCAN_THREADS;

// What a tile publishes, in one word, which is read as a whole: the run of the scan, what the value
// is, and the value. A word of an earlier run is none.
constexpr uint32_t TILE_SUM = 1;
constexpr uint32_t TILE_PREFIX = 2;
constexpr uint32_t KIND_BITS = 2;

__device__ __forceinline__ uint64_t tile_state(uint32_t run, uint32_t kind, uint32_t value) {
    return static_cast<uint64_t>(run << KIND_BITS | kind) << 32 | value;
}

// Sum of the tiles before `tile`, whose own sum is `sum`, by one warp.
__device__ __forceinline__ uint32_t sum_before(
    const Span<uint64_t>& states, uint32_t run, uint32_t tile, uint32_t sum) {
    const uint32_t lane = lane_index();
    if (lane == 0) {
        atomicExch(&states[tile], tile_state(run, tile == 0 ? TILE_PREFIX : TILE_SUM, sum));
    }
    uint32_t before = 0;
    // A lane a tile, backwards; before the first one there is nothing.
    bool is_complete = tile == 0;
    for (uint32_t end = tile; !is_complete; end -= WARP_SIZE) {
        uint64_t state = tile_state(run, TILE_PREFIX, 0);
        bool is_known = false;
        while (__any_sync(ALL_LANES, !is_known) != 0) {
            if (lane < end) {
                state = *static_cast<const volatile uint64_t*>(&states[end - 1 - lane]);
            }
            const uint32_t head = static_cast<uint32_t>(state >> 32);
            is_known = head >> KIND_BITS == (run << KIND_BITS) >> KIND_BITS && (head & ((1u << KIND_BITS) - 1)) != 0;
        }
        const bool is_prefix = (state >> 32 & TILE_PREFIX) != 0;
        const uint32_t prefixes = __ballot_sync(ALL_LANES, is_prefix);
        is_complete = prefixes != 0;
        // The nearest prefix holds all before it.
        const uint32_t nearest = static_cast<uint32_t>(__ffs(static_cast<int32_t>(prefixes))) - 1;
        const uint32_t last = is_complete ? nearest : WARP_SIZE;
        before += __reduce_add_sync(ALL_LANES, lane <= last ? static_cast<uint32_t>(state) : 0u);
    }
    if (lane == 0 && tile > 0) {
        atomicExch(&states[tile], tile_state(run, TILE_PREFIX, before + sum));
    }
    return before;
}

// Each thread sums a run of neighbouring elements, the block scans the threads' sums, and each
// thread scans its elements.
PLIANT_KERNEL(scan, ScanParameters, SCAN_THREADS) {
    // Tile, run, and the sum before the tile.
    SHARED(uint32_t, shared, 3);
    if (threadIdx.x == 0) {
        shared[0] = atomicAdd(&p.progress[SCAN_STARTED], 1u);
        shared[1] = *static_cast<const volatile uint32_t*>(&p.progress[SCAN_RUN]);
    }
    __syncthreads();
    const uint32_t tile = shared[0], run = shared[1];
    const uint32_t first = tile * SCAN_TILE + threadIdx.x * SCAN_ITEMS;
    uint32_t items[SCAN_ITEMS];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < SCAN_ITEMS; ++i) {
        items[i] = first + i < p.count ? p.input[first + i] : 0;
        sum += items[i];
    }
    uint32_t total;
    uint32_t before = block_exclusive_sum<SCAN_THREADS>(sum, total);
    if (warp_index() == 0) {
        const uint32_t before_tile = sum_before(p.states, run, tile, total);
        if (lane_index() == 0) {
            shared[2] = before_tile;
        }
    }
    __syncthreads();
    before += shared[2];
    for (uint32_t i = 0; i < SCAN_ITEMS; ++i) {
        if (first + i < p.count) {
            p.output[first + i] = before;
        }
        before += items[i];
    }
    if (threadIdx.x == 0) {
        if (tile == gridDim.x - 1) {
            p.total[0] = shared[2] + total;
        }
        // The last block to get here leaves all ready for the next run: no other reads them any more.
        if (add_release(&p.progress[SCAN_ENDED], 1u) == gridDim.x - 1) {
            load_acquire(&p.progress[SCAN_ENDED]);
            p.progress[SCAN_STARTED] = 0;
            p.progress[SCAN_ENDED] = 0;
            p.progress[SCAN_RUN] = run + 1;
        }
    }
}
