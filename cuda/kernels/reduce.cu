// Sums and maxima in f64. The number of elements alone decides which are combined with which: a tile has a fixed size, a
// thread takes fixed elements of it, and the rest is a fixed tree.
#include "block.cuh"
#include "parameters.cuh"

template <typename Combine, typename T>
__device__ __forceinline__ double reduce_tile(const Span<T>& input, uint32_t count) {
    double value = Combine::identity();
    for (uint32_t i = threadIdx.x; i < REDUCE_TILE; i += REDUCE_THREADS) {
        const uint32_t at = blockIdx.x * REDUCE_TILE + i;
        if (at < count) {
            value = Combine::of(value, static_cast<double>(input[at]));
        }
    }
    return block_reduce<Combine, REDUCE_THREADS>(value);
}

template <typename Combine>
__device__ __forceinline__ double reduce_tiles(const Span<double>& tile_values, uint32_t tiles) {
    double value = Combine::identity();
    for (uint32_t tile = threadIdx.x; tile < tiles; tile += REDUCE_THREADS) {
        value = Combine::of(value, tile_values[tile]);
    }
    return block_reduce<Combine, REDUCE_THREADS>(value);
}

PLIANT_KERNEL(sum_tiles_f32, SumTilesF32Parameters, REDUCE_THREADS) {
    const double sum = reduce_tile<Sum>(p.input, p.count);
    if (threadIdx.x == 0) {
        p.tile_sums[blockIdx.x] = sum;
    }
}

PLIANT_KERNEL(sum_tiles_f64, SumTilesF64Parameters, REDUCE_THREADS) {
    const double sum = reduce_tile<Sum>(p.input, p.count);
    if (threadIdx.x == 0) {
        p.tile_sums[blockIdx.x] = sum;
    }
}

PLIANT_KERNEL(sum_of_tiles, SumOfTilesParameters, REDUCE_THREADS) {
    const double sum = reduce_tiles<Sum>(p.tile_sums, p.tiles);
    if (threadIdx.x == 0) {
        p.total[0] = sum;
    }
}

PLIANT_KERNEL(max_tiles_f32, MaxTilesF32Parameters, REDUCE_THREADS) {
    const double maximum = reduce_tile<Maximum>(p.input, p.count);
    if (threadIdx.x == 0) {
        p.tile_maxima[blockIdx.x] = maximum;
    }
}

PLIANT_KERNEL(max_tiles_f64, MaxTilesF64Parameters, REDUCE_THREADS) {
    const double maximum = reduce_tile<Maximum>(p.input, p.count);
    if (threadIdx.x == 0) {
        p.tile_maxima[blockIdx.x] = maximum;
    }
}

PLIANT_KERNEL(max_of_tiles, MaxOfTilesParameters, REDUCE_THREADS) {
    const double maximum = reduce_tiles<Maximum>(p.tile_maxima, p.tiles);
    if (threadIdx.x == 0) {
        p.maximum[0] = maximum;
    }
}
