// A barrier of the whole grid, for kernels that stay on the device through many phases. The launch
// must be cooperative: only then are all blocks resident, so that waiting for the others ends.
#pragma once

#include "parameters.cuh"
#include "prelude.cuh"

// All threads of all blocks call this, and each goes on when all have: then it sees what any of
// them wrote before. `memory` has GRID_BARRIER_WORDS words, zero before the first launch that uses
// it, and nothing else uses it; it is left ready for the next barrier and the next launch.
__device__ __forceinline__ void grid_barrier(const Span<uint32_t>& memory) {
#if defined(PLIANT_EMULATED)
    // The words are read, so that their length is checked.
    (void)(memory[0] + memory[GRID_BARRIER_WORDS - 1]);
    emulation::Engine::active().grid_barrier();
#else
    uint32_t* const arrived = &memory[0];
    volatile uint32_t* const round = &memory[1];
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        const uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;
        // Read before arriving: the round cannot end without this block.
        const uint32_t this_round = *round;
        // What the block wrote is out before its arrival is.
        __threadfence();
        if (atomicAdd(arrived, 1u) == blocks - 1) {
            atomicExch(arrived, 0u);
            __threadfence();
            atomicAdd(&memory[1], 1u);
        } else {
            while (*round == this_round) {
                __nanosleep(32);
            }
        }
        // What the others wrote is read after their arrival was.
        __threadfence();
    }
    __syncthreads();
#endif
}
