// A barrier of the whole grid, for kernels that stay on the device through many phases. The launch
// must be cooperative: only then are all blocks resident, so that waiting for the others ends.
#pragma once

#include "parameters.cuh"
#include "prelude.cuh"

// All threads of the first `blocks` blocks call this, and each goes on when all have: then it sees
// what any of them wrote before. `memory` has GRID_BARRIER_WORDS words, zero before the first launch that uses
// it, and nothing else uses it; it is left ready for the next barrier and the next launch.
//
// What the blocks of a round add comes to 2^31: one from each, and from the first block the rest.
// So the highest bit turns when the last one comes, whatever their order, and the bits below are
// zero again, for any number of blocks the next time. A block is never two rounds ahead of another:
// the next round needs all of them.
//
// Memory order (PTX ISA, "Memory Consistency Model"; scope .gpu throughout). What a thread of block
// A writes comes before the arrival of A's first thread in causality order, by the block's barrier.
// The arrival is a release. A thread of block B that sees the bit turned reads, by an acquire, what
// the last arrival wrote. All arrivals of a round are read-modify-writes of the one word, so each is
// before that read in observation order: A's arrival synchronizes with it. The second barrier of the
// block hands this on to B's other threads. Causality order is transitive, so what A wrote is seen
// in B, and what B reads before is not overwritten by what A writes after.
__device__ __forceinline__ void grid_barrier(const Span<uint32_t>& memory, uint32_t blocks) {
    constexpr uint32_t TURN = 0x80000000u;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        uint32_t* const word = &memory[0];
        const uint32_t others = blocks - 1;
        const bool is_first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
        const uint32_t before = add_release(word, is_first ? TURN - others : 1u);
        while (((load_acquire(word) ^ before) & TURN) == 0) {
            __nanosleep(32);
        }
    }
    __syncthreads();
}

// The same of all blocks.
__device__ __forceinline__ void grid_barrier(const Span<uint32_t>& memory) {
    grid_barrier(memory, gridDim.x * gridDim.y * gridDim.z);
}
