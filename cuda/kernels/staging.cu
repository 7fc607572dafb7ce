// What a step gets from the host, and what it leaves to it: one image each way, of pieces that
// belong to many buffers. The host has checked that each piece lies in a live buffer.
#include "parameters.cuh"
#include "prelude.cuh"

// The words of a piece, wherever it belongs.
__device__ __forceinline__ uint32_t* words_of(const StagingPiece& piece) {
    return reinterpret_cast<uint32_t*>(piece.address);
}

PLIANT_KERNEL(staging_scatter, StagingScatterParameters, STAGING_THREADS) {
    const uint32_t threads = gridDim.x * STAGING_THREADS;
    for (uint32_t n = 0; n < p.counts[0]; ++n) {
        const StagingPiece& piece = p.pieces[n];
        for (uint32_t i = global_thread(); i < piece.words; i += threads) {
            words_of(piece)[i] = p.image[piece.first + i];
        }
    }
}

PLIANT_KERNEL(staging_gather, StagingGatherParameters, STAGING_THREADS) {
    const uint32_t threads = gridDim.x * STAGING_THREADS;
    for (uint32_t n = 0; n < p.counts[1]; ++n) {
        const StagingPiece& piece = p.pieces[n];
        for (uint32_t i = global_thread(); i < piece.words; i += threads) {
            p.image[piece.first + i] = words_of(piece)[i];
        }
    }
}
