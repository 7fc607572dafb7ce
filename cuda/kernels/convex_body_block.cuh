// Dense matrices of strongly coupled bodies' unknowns, by all threads of a block.
#pragma once

#include "convex.cuh"

namespace convex {

// Numbers that the contacts give each body: an impulse, a 6 x 6 matrix by its lower triangle, sizes
// of an impulse's parts.
constexpr uint32_t BODY_IMPULSE = 6;
constexpr uint32_t BODY_HESSIAN = CONVEX_BODY_SUMS;
constexpr uint32_t BODY_SIZES = 2;
static_assert(2 * BODY_IMPULSE <= CONVEX_BODY_SUMS, "the impulses of a product have two places that take turns");

// A row of a matrix, whose elements are `stride` apart.
struct MatrixRow {
    Span<double> memory;
    uint32_t first, stride;

    __device__ __forceinline__ double& operator[](uint32_t i) const { return memory[first + i * stride]; }
};

// Where a 6 x 6 matrix' lower triangle has an entry.
__device__ __forceinline__ uint32_t lower(uint32_t row, uint32_t column) {
    return row * (row + 1) / 2 + column;
}

// `act(j)` for each j below `count`, which is always the same thread's.
template <typename Act>
__device__ __forceinline__ void each_of_block(uint32_t count, Act act) {
#pragma unroll 1
    for (uint32_t j = threadIdx.x; j < count; j += CONVEX_THREADS) {
        act(j);
    }
}

// Sums over all tiles, `count` numbers for each body from the first on.
__device__ __forceinline__ void sum_body_tiles(
    Span<double> tile_sums, Span<double> sums, uint32_t tiles, uint32_t bodies, uint32_t count, uint32_t first) {
#pragma unroll 1
    for (uint32_t n = warp_index(); n < bodies * count; n += WARPS) {
        double sum = 0.0;
#pragma unroll 1
        for (uint32_t tile = lane_index(); tile < tiles; tile += WARP_SIZE) {
            sum += tile_sums[(tile * bodies + n / count) * CONVEX_BODY_SUMS + first + n % count];
        }
        sum = Passes::warp_total(sum);
        if (lane_index() == 0) {
            sums[n] = sum;
        }
    }
    __syncthreads();
}

// `out = L y` of a factor of so many columns and rows.
__device__ __forceinline__ void multiply(
    Span<double> factor, MatrixRow y, MatrixRow out, uint32_t columns, uint32_t rows) {
    __syncthreads();
    each_of_block(rows, [&](uint32_t i) {
        double sum = 0.0;
#pragma unroll 2
        for (uint32_t j = 0; j < columns; ++j) {
            sum += factor[i * columns + j] * y[j];
        }
        out[i] = sum;
    });
}

// `out = sign K^T K x` of the inverse K of a Cholesky factor; each thread may read its own elements
// at once.
__device__ __forceinline__ void solve_block(
    Span<double> inverse, MatrixRow x, MatrixRow scratch, MatrixRow out, uint32_t n, double sign) {
    __syncthreads();
    each_of_block(n, [&](uint32_t i) {
        double sum = 0.0;
#pragma unroll 2
        for (uint32_t j = 0; j <= i; ++j) {
            sum += inverse[i * n + j] * x[j];
        }
        scratch[i] = sum;
    });
    __syncthreads();
    each_of_block(n, [&](uint32_t j) {
        double sum = 0.0;
#pragma unroll 2
        for (uint32_t i = j; i < n; ++i) {
            sum += inverse[i * n + j] * scratch[i];
        }
        out[j] = sign * sum;
    });
}

// The block C = I + L^T (sum_c B_c^T G_c B_c) L of n unknowns from the bodies' sums, with what
// contacts add to its diagonal.
__device__ __forceinline__ void assemble_block(Span<double> factor, Span<double> sums, Span<double> images,
    Span<double> matrix, MatrixRow bend, uint32_t bodies, uint32_t n) {
    each_of_block(6 * bodies * n, [&](uint32_t at) {
        const uint32_t i = at / n, j = at % n, body = i / 6, d = i % 6;
        double sum = 0.0;
#pragma unroll 1
        for (uint32_t e = 0; e < 6; ++e) {
            sum += sums[body * BODY_HESSIAN + lower(max(d, e), min(d, e))] * factor[(6 * body + e) * n + j];
        }
        images[at] = sum;
    });
    __syncthreads();
    each_of_block(n * n, [&](uint32_t at) {
        const uint32_t i = at / n, j = at % n;
        double sum = 0.0;
#pragma unroll 1
        for (uint32_t k = 0; j <= i && k < 6 * bodies; ++k) {
            sum += factor[k * n + i] * images[k * n + j];
        }
        if (i == j) {
            bend[j] = sum;
            sum += 1.0;
        }
        matrix[at] = sum;
    });
    __syncthreads();
}

// The Cholesky factor of a matrix, in its place, and the factor's inverse.
__device__ __forceinline__ void factorise_block(
    Span<double> matrix, Span<double> inverse, MatrixRow scratch, uint32_t n) {
#pragma unroll 1
    for (uint32_t j = 0; j < n; ++j) {
        each_of_block(n - j, [&](uint32_t below) {
            const uint32_t i = j + below;
            double sum = matrix[i * n + j];
#pragma unroll 1
            for (uint32_t k = 0; k < j; ++k) {
                sum -= matrix[i * n + k] * matrix[j * n + k];
            }
            scratch[i] = sum;
        });
        __syncthreads();
        // The pivots' bound in exact arithmetic.
        const double square = scratch[j];
        const double pivot = root_of(square < 1.0 ? 1.0 : square);
        each_of_block(n - j, [&](uint32_t below) {
            const uint32_t i = j + below;
            matrix[i * n + j] = i == j ? pivot : quotient_of(scratch[i], pivot);
        });
        __syncthreads();
    }
    each_of_block(n, [&](uint32_t j) {
#pragma unroll 1
        for (uint32_t i = 0; i < n; ++i) {
            double sum = i == j ? 1.0 : 0.0;
#pragma unroll 1
            for (uint32_t k = j; k < i; ++k) {
                sum -= matrix[i * n + k] * inverse[k * n + j];
            }
            inverse[i * n + j] = i < j ? 0.0 : quotient_of(sum, matrix[i * n + i]);
        }
    });
    __syncthreads();
}

}  // namespace convex
