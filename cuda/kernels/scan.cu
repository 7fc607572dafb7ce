// Exclusive prefix sums of u32 in two levels (Blelloch 1990).
#include "block.cuh"
#include "parameters.cuh"

constexpr uint32_t SCAN_ITEMS = SCAN_TILE / SCAN_THREADS;

// Each thread sums a run of neighbouring elements, the block scans the threads' sums, and each
// thread scans its run.
PLIANT_KERNEL(scan_tiles, ScanTilesParameters, SCAN_THREADS) {
    const uint32_t first = blockIdx.x * SCAN_TILE + threadIdx.x * SCAN_ITEMS;
    uint32_t items[SCAN_ITEMS];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < SCAN_ITEMS; ++i) {
        items[i] = first + i < p.count ? p.input[first + i] : 0;
        sum += items[i];
    }
    uint32_t total;
    uint32_t before = block_exclusive_sum<SCAN_THREADS>(sum, total);
    for (uint32_t i = 0; i < SCAN_ITEMS; ++i) {
        if (first + i < p.count) {
            p.output[first + i] = before;
        }
        before += items[i];
    }
    if (threadIdx.x == 0) {
        p.tile_sums[blockIdx.x] = total;
    }
}

// One block goes through the tiles' sums, as many at a time as it has threads.
PLIANT_KERNEL(scan_tile_sums, ScanTileSumsParameters, SCAN_THREADS) {
    uint32_t before = 0;
    for (uint32_t start = 0; start < p.tiles; start += SCAN_THREADS) {
        const uint32_t tile = start + threadIdx.x;
        const uint32_t sum = tile < p.tiles ? p.tile_sums[tile] : 0;
        uint32_t total;
        const uint32_t within = block_exclusive_sum<SCAN_THREADS>(sum, total);
        if (tile < p.tiles) {
            p.tile_sums[tile] = before + within;
        }
        before += total;
    }
    if (threadIdx.x == 0) {
        p.total[0] = before;
    }
}

PLIANT_KERNEL(scan_add_offsets, ScanAddOffsetsParameters, SCAN_THREADS) {
    const uint32_t first = blockIdx.x * SCAN_TILE + threadIdx.x;
    if (first >= p.count) {
        return;
    }
    const uint32_t before = p.tile_offsets.constant(blockIdx.x);
    for (uint32_t i = 0; i < SCAN_ITEMS; ++i) {
        const uint32_t at = first + i * SCAN_THREADS;
        if (at < p.count) {
            p.output[at] += before;
        }
    }
}
