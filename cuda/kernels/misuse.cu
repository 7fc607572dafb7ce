// A kernel that breaks the rules, for the tests of the emulation. A GPU might hang, so it exists
// only under emulation.
#include "grid.cuh"
#include "parameters.cuh"
#include "prelude.cuh"

#if defined(PLIANT_EMULATED)

// The numbers are those of tests/misuse.rs.
PLIANT_KERNEL(probe_misuse, ProbeMisuseParameters, PROBE_THREADS) {
    SHARED(uint32_t, shared, 32);
    const uint32_t thread = threadIdx.x;
    switch (p.rule) {
        case 0:  // A span's end.
            p.cells[p.cells.length + (thread == 5 ? 2 : 0) - (thread == 5 ? 0 : 1)] = thread;
            break;
        case 1:  // A shared array's end.
            shared[thread] = thread;
            break;
        case 2:  // Half of the block returns before a barrier.
            if (thread < 32) {
                return;
            }
            __syncthreads();
            break;
        case 3:  // Warps wait at barriers of two kinds.
            if (thread < 32) {
                __syncthreads();
            } else {
                __syncthreads_count(1);
            }
            break;
        case 4:  // Some lanes wait for the warp, the others for the block.
            if (thread % 32 == 7) {
                __syncthreads();
            } else {
                __syncwarp();
            }
            __syncthreads();
            break;
        case 5:  // A lane outside its own mask.
            __ballot_sync(0x0000ffffu, 1);
            break;
        case 6:  // A shuffle from outside of the mask.
            if (thread % 32 < 16) {
                p.cells[thread] = __shfl_sync(0x0000ffffu, thread, 20);
            }
            break;
        case 7:  // A lane of the mask has returned.
            if (thread % 32 == 3) {
                return;
            }
            __any_sync(ALL_LANES, 1);
            break;
        case 8:  // Lanes of one mask in two operations.
            if (thread % 2 == 0) {
                __ballot_sync(ALL_LANES, 1);
            } else {
                __any_sync(ALL_LANES, 1);
            }
            break;
        case 9:  // Masks that name one another's lanes, but differ.
            __ballot_sync(thread % 2 == 0 ? ALL_LANES : ALL_LANES ^ 1u, 1);
            break;
        case 10:  // A barrier of the grid, which only a cooperative launch can wait at.
            grid_barrier(p.cells);
            break;
        case 11:  // A block leaves while the others wait for the grid.
            if (blockIdx.x == 0) {
                return;
            }
            grid_barrier(p.cells);
            break;
        case 12:  // A width that is no power of two.
            __shfl_xor_sync(ALL_LANES, thread, 1, 12);
            break;
        case 13:  // Shared memory is read before it is written.
            p.cells[thread] = shared[thread % 32];
            break;
        case 14:  // A lock that another thread of the block holds.
            while (atomicCAS(&p.cells[0], 0u, 1u) != 0) {
            }
            __syncthreads();
            break;
        case 15:  // A neighbour's word, with no barrier between.
            shared[thread] = thread;
            p.cells[thread] = shared[(thread + 1) % 32];
            break;
        default:  // Device memory past its end, behind the span's back: for the address sanitizer.
            *(&p.cells[p.cells.length - 1] + 1 + thread) = 1;
            break;
    }
}

#endif
