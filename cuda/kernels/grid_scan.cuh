// Loops and prefix sums by blocks that stay on the device: for kernels that are launched
// cooperatively.
#pragma once

#include "block.cuh"
#include "grid.cuh"

// The blocks of a launch, of THREADS threads each.
template <uint32_t THREADS>
struct PersistentBlocks {
    // Memory of the barrier: GRID_BARRIER_WORDS words.
    const Span<uint32_t>& barrier_memory;
    // A word for each block.
    const Span<uint32_t>& block_sums;

    // All blocks. A single block needs no memory for it.
    __device__ __forceinline__ void barrier() const {
        if (gridDim.x == 1) {
            __syncthreads();
        } else {
            grid_barrier(barrier_memory);
        }
    }

    // `item(i)` for each i below `count`.
    template <typename Item>
    __device__ __forceinline__ void each(uint32_t count, Item item) const {
        for (uint32_t i = global_thread(); i < count; i += gridDim.x * THREADS) {
            item(i);
        }
    }

    // `take(i, sum of value(j) for j < i)` for each i below `count`; returns the sum of all. Ends
    // with a barrier. A block takes neighbouring tiles: it sums them, finds the sum before them,
    // and goes through them again.
    template <typename Value, typename Take>
    __device__ __forceinline__ uint32_t scan(uint32_t count, Value value, Take take) const {
        const uint32_t tiles = (count + THREADS - 1) / THREADS;
        const uint32_t of_block = (tiles + gridDim.x - 1) / gridDim.x;
        const uint32_t begin = min(blockIdx.x * of_block, tiles);
        const uint32_t end = min(begin + of_block, tiles);
        uint32_t mine = 0;
        for (uint32_t tile = begin; tile < end; ++tile) {
            const uint32_t i = tile * THREADS + threadIdx.x;
            mine += i < count ? value(i) : 0;
        }
        uint32_t sum;
        block_exclusive_sum<THREADS>(mine, sum);
        if (threadIdx.x == 0) {
            block_sums[blockIdx.x] = sum;
        }
        barrier();
        uint32_t before = 0;
        uint32_t total = 0;
        for (uint32_t block = 0; block < gridDim.x; ++block) {
            const uint32_t of = block_sums[block];
            before += block < blockIdx.x ? of : 0;
            total += of;
        }
        for (uint32_t tile = begin; tile < end; ++tile) {
            const uint32_t i = tile * THREADS + threadIdx.x;
            const uint32_t within = block_exclusive_sum<THREADS>(i < count ? value(i) : 0, sum);
            if (i < count) {
                take(i, before + within);
            }
            before += sum;
        }
        barrier();
        return total;
    }
};
