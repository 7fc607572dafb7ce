// The part of a convex solve that belongs to strongly coupled bodies:
// coupling/src/convex/mobility.rs and body_block.rs.
//
// With their mobility W = L L^T the change of their velocities is V = L y. The unknowns y enter
// like nodes of mass one. They are few: the last block alone works on them in the passes over
// nodes. What the contacts give the bodies is summed tile by tile in the passes over contacts. So
// there are no more barriers than without bodies, and sums are in f64 and in an order that neither
// the number of blocks nor the schedule changes.
#pragma once

#include "convex.cuh"

namespace convex {

// Rows of an unknown.
enum BodyUnknownRow : uint32_t {
    BODY_VELOCITY = 0,
    BODY_OTHER_VELOCITY = 1,
    BODY_GRADIENT = 2,
    BODY_DIRECTION = 3,
    // What the contacts add to the diagonal of the Hessian.
    BODY_BEND = 4,
    BODY_SOLUTION = 5,
    BODY_RESIDUAL = 6,
    BODY_PRECONDITIONED = 7,
    BODY_CONJUGATE = 8,
    BODY_SCRATCH = 9,
    BODY_END = 10,
};
static_assert(BODY_END == CONVEX_BODY_ROWS, "rows of an unknown of the bodies");

// Which change of the bodies' velocities is meant: that of the iterate, or that along the
// direction.
enum BodyMotion : uint32_t { OF_ITERATE = 0, OF_DIRECTION = 1 };

// Numbers that the contacts give each body: an impulse, a 6 x 6 matrix by its lower triangle, sizes
// of an impulse's parts.
constexpr uint32_t BODY_IMPULSE = 6;
constexpr uint32_t BODY_HESSIAN = CONVEX_BODY_SUMS;
constexpr uint32_t BODY_SIZES = 2;

// A row of a matrix: `length` elements from `first` on.
struct MatrixRow {
    Span<double> memory;
    uint32_t first;

    __device__ __forceinline__ double& operator[](uint32_t i) const { return memory[first + i]; }
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

// Number k of those that the contact of a thread of the block gives its body.
__device__ __forceinline__ double& given(uint32_t k, uint32_t thread) {
    SHARED(double, all, CONVEX_BODY_SUMS * CONVEX_THREADS);
    return all[k * CONVEX_THREADS + thread];
}

// Sums the `count` numbers that the contacts of a tile give each body to those of the tile. `place`
// is which of the bodies the thread's contact is on.
static __device__ PLIANT_CALLED void sum_given(MatrixRow tile_sums, uint32_t place, uint32_t count) {
    SHARED(uint32_t, places, CONVEX_THREADS);
    places[threadIdx.x] = place;
    __syncthreads();
    uint32_t first = 0;
    while (true) {
        // The next body in the tile: every warp finds the same.
        uint32_t current = CONVEX_NOT_STRONG;
#pragma unroll
        for (uint32_t i = lane_index(); i < CONVEX_THREADS; i += WARP_SIZE) {
            current = places[i] >= first ? min(current, places[i]) : current;
        }
        current = __reduce_min_sync(ALL_LANES, current);
        if (current == CONVEX_NOT_STRONG) {
            break;
        }
#pragma unroll 1
        for (uint32_t k = warp_index(); k < count; k += WARPS) {
            double sum[1] = {0.0};
#pragma unroll
            for (uint32_t i = 0; i < WARPS; ++i) {
                const uint32_t thread = i * WARP_SIZE + lane_index();
                sum[0] += places[thread] == current ? given(k, thread) : 0.0;
            }
            Passes::warp_totals(sum);
            if (lane_index() == 0) {
                tile_sums[current * CONVEX_BODY_SUMS + k] = sum[0];
            }
        }
        first = current + 1;
    }
    // The arrays are free for the next tile.
    __syncthreads();
}

// Sums over all tiles, `count` numbers for each body.
static __device__ PLIANT_CALLED void sum_tiles(
    Span<double> tile_sums, Span<double> sums, uint32_t tiles, uint32_t bodies, uint32_t count) {
#pragma unroll 1
    for (uint32_t n = warp_index(); n < bodies * count; n += WARPS) {
        double sum[1] = {0.0};
#pragma unroll 1
        for (uint32_t tile = lane_index(); tile < tiles; tile += WARP_SIZE) {
            sum[0] += tile_sums[(tile * bodies + n / count) * CONVEX_BODY_SUMS + n % count];
        }
        Passes::warp_totals(sum);
        if (lane_index() == 0) {
            sums[n] = sum[0];
        }
    }
    __syncthreads();
}

// `out = L y` of a factor of so many columns and rows.
static __device__ PLIANT_CALLED void multiply(Span<double> factor, MatrixRow y, MatrixRow out, uint32_t columns, uint32_t rows) {
    __syncthreads();
    each_of_block(rows, [&](uint32_t i) {
        double sum = 0.0;
        for (uint32_t j = 0; j < columns; ++j) {
            sum += factor[i * columns + j] * y[j];
        }
        out[i] = sum;
    });
}

// `out = sign K^T K x` of the inverse K of a Cholesky factor; each thread may read its own elements
// at once.
static __device__ PLIANT_CALLED void solve_block(
    Span<double> inverse, MatrixRow x, MatrixRow scratch, MatrixRow out, uint32_t n, double sign) {
    __syncthreads();
    each_of_block(n, [&](uint32_t i) {
        double sum = 0.0;
        for (uint32_t j = 0; j <= i; ++j) {
            sum += inverse[i * n + j] * x[j];
        }
        scratch[i] = sum;
    });
    __syncthreads();
    each_of_block(n, [&](uint32_t j) {
        double sum = 0.0;
        for (uint32_t i = j; i < n; ++i) {
            sum += inverse[i * n + j] * scratch[i];
        }
        out[j] = sign * sum;
    });
}

// The block C = I + L^T (sum_c B_c^T G_c B_c) L of n unknowns from the bodies' sums, with what
// contacts add to its diagonal.
static __device__ PLIANT_CALLED void assemble_block(Span<double> factor, Span<double> sums, Span<double> images,
    Span<double> matrix, MatrixRow bend, uint32_t bodies, uint32_t n) {
    each_of_block(6 * bodies * n, [&](uint32_t at) {
        const uint32_t i = at / n, j = at % n, body = i / 6, d = i % 6;
        double sum = 0.0;
        for (uint32_t e = 0; e < 6; ++e) {
            sum += sums[body * BODY_HESSIAN + lower(max(d, e), min(d, e))] * factor[(6 * body + e) * n + j];
        }
        images[at] = sum;
    });
    __syncthreads();
    each_of_block(n * n, [&](uint32_t at) {
        const uint32_t i = at / n, j = at % n;
        double sum = 0.0;
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
static __device__ PLIANT_CALLED void factorise_block(Span<double> matrix, Span<double> inverse, MatrixRow scratch, uint32_t n) {
#pragma unroll 1
    for (uint32_t j = 0; j < n; ++j) {
        each_of_block(n - j, [&](uint32_t below) {
            const uint32_t i = j + below;
            double sum = matrix[i * n + j];
            for (uint32_t k = 0; k < j; ++k) {
                sum -= matrix[i * n + k] * matrix[j * n + k];
            }
            scratch[i] = sum;
        });
        __syncthreads();
        // The pivots' bound in exact arithmetic.
        const double square = scratch[j];
        const double pivot = sqrt(square < 1.0 ? 1.0 : square);
        each_of_block(n - j, [&](uint32_t below) {
            const uint32_t i = j + below;
            matrix[i * n + j] = i == j ? pivot : scratch[i] / pivot;
        });
        __syncthreads();
    }
    each_of_block(n, [&](uint32_t j) {
        for (uint32_t i = 0; i < n; ++i) {
            double sum = i == j ? 1.0 : 0.0;
            for (uint32_t k = j; k < i; ++k) {
                sum -= matrix[i * n + k] * inverse[k * n + j];
            }
            inverse[i * n + j] = i < j ? 0.0 : sum / matrix[i * n + i];
        }
    });
    __syncthreads();
}

// No strongly coupled bodies: nothing to do.
struct NoBodies {
    static constexpr bool ARE_STRONG = false;

    template <typename T>
    __device__ __forceinline__ void subtract_motion(uint32_t, BodyMotion, T (&)[3]) const {}
    template <typename T>
    __device__ __forceinline__ void react(uint32_t, const T (&)[3]) const {}
    __device__ __forceinline__ void bend(const Passes&, uint32_t) const {}
    __device__ __forceinline__ double size_motion(uint32_t) const { return 0.0; }
    __device__ __forceinline__ void size_reaction(uint32_t, double) const {}
    __device__ __forceinline__ void sum_tile(uint32_t, uint32_t, uint32_t) const {}
    __device__ __forceinline__ void load() const {}
    __device__ __forceinline__ void set_start() const {}
    __device__ __forceinline__ void start(bool, double (&)[1]) const {}
    __device__ __forceinline__ void evaluate(double (&)[8]) const {}
    __device__ __forceinline__ void factorise() const {}
    __device__ __forceinline__ void relax() const {}
    __device__ __forceinline__ void begin_system(double, double, double (&)[2]) const {}
    __device__ __forceinline__ void conjugate(double, double (&)[1]) const {}
    __device__ __forceinline__ void descend(double, double (&)[2]) const {}
    __device__ __forceinline__ void end_system(double) const {}
    __device__ __forceinline__ void publish_solution() const {}
    __device__ __forceinline__ void add_true_residual(double, double (&)[1]) const {}
    __device__ __forceinline__ void slope(double (&)[2]) const {}
    __device__ __forceinline__ void advance(double) const {}
    __device__ __forceinline__ void keep_iterate(bool) const {}
    __device__ __forceinline__ void publish_iterate() const {}
    __device__ __forceinline__ void rounding(double (&)[1]) const {}
    __device__ __forceinline__ void finish(bool) const {}
};

// All threads of the last block call the functions with `(&values)[K]`, `collect`, `factorise` and
// so on; the other blocks return at once.
struct StronglyCoupledBodies {
    static constexpr bool ARE_STRONG = true;
    const ConvexBodies& b;
    const ConvexContacts& list;
    uint32_t contacts;
    uint32_t bodies;
    uint32_t rank;

    __device__ __forceinline__ double& row(uint32_t row, uint32_t j) const { return b.rows[row * b.capacity + j]; }

    static __device__ __forceinline__ bool is_here() { return blockIdx.x == gridDim.x - 1; }

    // `act(j)` for each unknown, which is always the same thread's.
    template <typename Act>
    static __device__ __forceinline__ void each(uint32_t count, Act act) {
        each_of_block(count, act);
    }

    __device__ __forceinline__ MatrixRow row_of(uint32_t row) const { return {b.rows, row * b.capacity}; }

    // Contacts.

    // Which of the strongly coupled bodies contact c is on, if any.
    __device__ __forceinline__ uint32_t place_of(uint32_t c) const {
        const uint32_t body = c < contacts ? list.body[c] : CONVEX_NOT_STRONG;
        return body < b.places.length ? b.places[body] : CONVEX_NOT_STRONG;
    }

    // Subtracts the motion of its body, B_c V, from the velocity of contact c.
    template <typename T>
    __device__ __forceinline__ void subtract_motion(uint32_t c, BodyMotion which, T (&v)[3]) const {
        const uint32_t place = place_of(c);
        if (place == CONVEX_NOT_STRONG) {
            return;
        }
        const uint32_t first = which * b.capacity + 6 * place;
        const Array<float, 3>& lever = list.lever[c];
        for (uint32_t a = 0; a < 3; ++a) {
            const uint32_t e = (a + 1) % 3, f = (a + 2) % 3;
            const double turned = b.velocities[first + e] * static_cast<double>(lever[f]) -
                b.velocities[first + f] * static_cast<double>(lever[e]);
            v[a] -= static_cast<T>(b.velocities[first + 3 + a] + turned);
        }
    }

    // Stores the reaction on the body to the impulse of contact c, which belongs to this thread.
    template <typename T>
    __device__ __forceinline__ void react(uint32_t c, const T (&impulse)[3]) const {
        const Array<float, 3>& lever = list.lever[c];
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            const uint32_t e = (a + 1) % 3, f = (a + 2) % 3;
            given(a, threadIdx.x) = static_cast<double>(lever[f]) * static_cast<double>(impulse[e]) -
                static_cast<double>(lever[e]) * static_cast<double>(impulse[f]);
            given(3 + a, threadIdx.x) = -static_cast<double>(impulse[a]);
        }
    }

    // Stores its Hessian B_c^T G_c B_c: with B_c = [R^T, I] and R x = lever x x the blocks are R G
    // R^T, R G and G.
    __device__ __forceinline__ void bend(const Passes& m, uint32_t c) const {
        const double xx = m.contact(HESSIAN, c), yy = m.contact(HESSIAN + 1, c), zz = m.contact(HESSIAN + 2, c);
        const double xy = m.contact(HESSIAN + 3, c), xz = m.contact(HESSIAN + 4, c), yz = m.contact(HESSIAN + 5, c);
        const double g[3][3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
        const Array<float, 3>& lever = list.lever[c];
        const double r[3] = {lever[0], lever[1], lever[2]};
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            // Row a of R G.
            const uint32_t e = (a + 1) % 3, f = (a + 2) % 3;
            double u[3];
#pragma unroll
            for (uint32_t d = 0; d < 3; ++d) {
                u[d] = r[e] * g[f][d] - r[f] * g[e][d];
                given(lower(3 + d, a), threadIdx.x) = u[d];
            }
#pragma unroll
            for (uint32_t d = 0; d <= a; ++d) {
                const uint32_t h = (d + 1) % 3, i = (d + 2) % 3;
                given(lower(a, d), threadIdx.x) = r[h] * u[i] - r[i] * u[h];
                given(lower(3 + a, 3 + d), threadIdx.x) = g[a][d];
            }
        }
    }

    // Sum of the sizes of the components of what `subtract_motion` takes at the iterate.
    __device__ __forceinline__ double size_motion(uint32_t c) const {
        double v[3] = {0.0, 0.0, 0.0};
        subtract_motion(c, OF_ITERATE, v);
        return fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    }

    // Stores bounds of the components of an impulse of this size at contact c: angular, linear.
    __device__ __forceinline__ void size_reaction(uint32_t c, double size) const {
        const Array<float, 3>& lever = list.lever[c];
        const double reach = fabs(static_cast<double>(lever[0])) + fabs(static_cast<double>(lever[1])) +
            fabs(static_cast<double>(lever[2]));
        given(0, threadIdx.x) = reach * size;
        given(1, threadIdx.x) = size;
    }

    // Sums the `count` numbers that the contacts of a tile give each body. All threads of the block
    // call this, one a contact.
    __device__ __forceinline__ void sum_tile(uint32_t tile, uint32_t c, uint32_t count) const {
        sum_given({b.tile_sums, tile * bodies * CONVEX_BODY_SUMS}, place_of(c), count);
    }

    // The last block.

    // Sums over all tiles of what contacts gave, since a barrier, to `sums`.
    __device__ __forceinline__ void collect(uint32_t count) const {
        sum_tiles(b.tile_sums, b.sums, (contacts + CONVEX_THREADS - 1) / CONVEX_THREADS, bodies, count);
    }

    // Component j of L^T p, with the impulses p in `sums`.
    __device__ __forceinline__ double reduced(uint32_t j) const {
        double sum = 0.0;
#pragma unroll 1
        for (uint32_t i = 0; i < 6 * bodies; ++i) {
            sum += b.factor[i * rank + j] * b.sums[i];
        }
        return sum;
    }

    // Publishes L y of a row of unknowns, which contacts read after the next barrier.
    __device__ __forceinline__ void publish(uint32_t of, BodyMotion which) const {
        multiply(b.factor, row_of(of), {b.velocities, which * b.capacity}, rank, 6 * bodies);
    }

    // The bodies' block of the Newton system, its Cholesky factor, and that one's inverse.
    __device__ __forceinline__ void factorise() const {
        if (is_here()) {
            collect(BODY_HESSIAN);
            assemble_block(b.factor, b.sums, b.images, b.matrix, row_of(BODY_BEND), bodies, rank);
            factorise_block(b.matrix, b.inverse, row_of(BODY_SCRATCH), rank);
        }
    }

    // Row `to` becomes `sign` times the block's inverse times row `from`.
    __device__ __forceinline__ void precondition(uint32_t from, uint32_t to, double sign) const {
        solve_block(b.inverse, row_of(from), row_of(BODY_SCRATCH), row_of(to), rank, sign);
    }

    // The steps of a solve; convex_steps.cuh and convex_system.cuh have the nodes' parts.

    // Tiles without a body sum nothing for it in this whole solve.
    __device__ __forceinline__ void load() const {
        const uint32_t tiles = (contacts + CONVEX_THREADS - 1) / CONVEX_THREADS;
        const uint32_t count = bodies * CONVEX_BODY_SUMS;
#pragma unroll 1
        for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            each(count, [&](uint32_t n) { b.tile_sums[tile * count + n] = 0.0; });
        }
        if (is_here()) {
            each(rank, [&](uint32_t j) { row(BODY_VELOCITY, j) = 0.0; });
        }
    }

    // Sets the start to the effect of the guessed impulses.
    __device__ __forceinline__ void set_start() const {
        if (is_here()) {
            collect(BODY_IMPULSE);
            each(rank, [&](uint32_t j) { row(BODY_VELOCITY, j) = reduced(j); });
            publish(BODY_VELOCITY, OF_ITERATE);
        }
    }

    // Sets the start to rest, with the direction to the effect of the guessed impulses.
    __device__ __forceinline__ void start(bool push, double (&values)[1]) const {
        if (push) {
            collect(BODY_IMPULSE);
        }
        each(rank, [&](uint32_t j) {
            const double d = push ? reduced(j) : 0.0;
            row(BODY_VELOCITY, j) = 0.0;
            row(BODY_DIRECTION, j) = d;
            values[0] += d * d;
        });
        publish(BODY_VELOCITY, OF_ITERATE);
        publish(BODY_DIRECTION, OF_DIRECTION);
    }

    __device__ __forceinline__ void evaluate(double (&values)[8]) const {
        collect(BODY_IMPULSE);
        each(rank, [&](uint32_t j) {
            const double y = row(BODY_VELOCITY, j);
            const double impulse = reduced(j);
            const double g = y - impulse;
            row(BODY_GRADIENT, j) = g;
            values[0] += y * y;
            values[1] += g * g;
            values[2] += y * y;
            values[3] += impulse * impulse;
        });
    }

    __device__ __forceinline__ void relax() const {
        if (is_here()) {
            precondition(BODY_GRADIENT, BODY_DIRECTION, -1.0);
        }
    }

    __device__ __forceinline__ void begin_system(double norm, double largest, double (&values)[2]) const {
        each(rank, [&](uint32_t j) {
            row(BODY_RESIDUAL, j) = -1.0 / norm * row(BODY_GRADIENT, j);
            row(BODY_SOLUTION, j) = 0.0;
            row(BODY_CONJUGATE, j) = 0.0;
            // Also where it is not a number.
            values[1] += row(BODY_BEND, j) <= largest ? 0.0 : 1.0;
        });
        precondition(BODY_RESIDUAL, BODY_PRECONDITIONED, 1.0);
        each(rank, [&](uint32_t j) { values[0] += row(BODY_RESIDUAL, j) * row(BODY_PRECONDITIONED, j); });
    }

    __device__ __forceinline__ void conjugate(double beta, double (&values)[1]) const {
        each(rank, [&](uint32_t j) {
            const double value = beta * row(BODY_CONJUGATE, j) + row(BODY_PRECONDITIONED, j);
            row(BODY_CONJUGATE, j) = value;
            values[0] += value * value;
        });
        publish(BODY_CONJUGATE, OF_DIRECTION);
    }

    __device__ __forceinline__ void descend(double step, double (&values)[2]) const {
        collect(BODY_IMPULSE);
        each(rank, [&](uint32_t j) {
            const double along = row(BODY_CONJUGATE, j);
            const double r = row(BODY_RESIDUAL, j) - step * (reduced(j) + along);
            row(BODY_SOLUTION, j) += step * along;
            row(BODY_RESIDUAL, j) = r;
            values[1] += r * r;
        });
        precondition(BODY_RESIDUAL, BODY_PRECONDITIONED, 1.0);
        each(rank, [&](uint32_t j) { values[0] += row(BODY_RESIDUAL, j) * row(BODY_PRECONDITIONED, j); });
    }

    __device__ __forceinline__ void end_system(double norm) const {
        if (is_here()) {
            each(rank, [&](uint32_t j) { row(BODY_DIRECTION, j) = norm * row(BODY_SOLUTION, j); });
        }
    }

    __device__ __forceinline__ void publish_solution() const { publish(BODY_SOLUTION, OF_DIRECTION); }

    // The square of the residual that the solution leaves.
    __device__ __forceinline__ void add_true_residual(double norm, double (&values)[1]) const {
        collect(BODY_IMPULSE);
        each(rank, [&](uint32_t j) {
            const double left = -1.0 / norm * row(BODY_GRADIENT, j) - (row(BODY_SOLUTION, j) + reduced(j));
            values[0] += left * left;
        });
    }

    __device__ __forceinline__ void slope(double (&values)[2]) const {
        each(rank, [&](uint32_t j) {
            const double d = row(BODY_DIRECTION, j);
            values[0] += row(BODY_GRADIENT, j) * d;
            values[1] += d * d;
        });
        publish(BODY_DIRECTION, OF_DIRECTION);
    }

    __device__ __forceinline__ void advance(double alpha) const {
        if (is_here()) {
            each(rank, [&](uint32_t j) { row(BODY_VELOCITY, j) += alpha * row(BODY_DIRECTION, j); });
        }
    }

    __device__ __forceinline__ void keep_iterate(bool bring_back) const {
        if (is_here()) {
            const uint32_t to = bring_back ? BODY_VELOCITY : BODY_OTHER_VELOCITY;
            const uint32_t from = bring_back ? BODY_OTHER_VELOCITY : BODY_VELOCITY;
            each(rank, [&](uint32_t j) { row(to, j) = row(from, j); });
        }
    }

    __device__ __forceinline__ void publish_iterate() const {
        if (is_here()) {
            publish(BODY_VELOCITY, OF_ITERATE);
        }
    }

    // The bodies' part of `rounding_floor`: three unknowns together, as a node's components.
    __device__ __forceinline__ void rounding(double (&values)[1]) const {
        collect(BODY_SIZES);
        each((rank + 2) / 3, [&](uint32_t vector) {
            double term = 0.0;
#pragma unroll 1
            for (uint32_t j = 3 * vector; j < min(3 * vector + 3, rank); ++j) {
                term += fabs(row(BODY_VELOCITY, j));
#pragma unroll 1
                for (uint32_t i = 0; i < 6 * bodies; ++i) {
                    term += fabs(b.factor[i * rank + j]) * b.sums[i / 6 * BODY_SIZES + i % 6 / 3];
                }
            }
            values[0] += term * term;
        });
    }

    // Writes the changes of the bodies' velocities; zero after a solve that failed.
    __device__ __forceinline__ void finish(bool solved) const {
        if (!is_here()) {
            return;
        }
        publish(BODY_VELOCITY, OF_ITERATE);
        __syncthreads();
        each(b.places.length, [&](uint32_t body) {
            const uint32_t place = b.places[body];
            for (uint32_t d = 0; d < 6; ++d) {
                b.body_velocity_changes[body][d] =
                    solved && place != CONVEX_NOT_STRONG ? b.velocities[OF_ITERATE * b.capacity + 6 * place + d] : 0.0;
            }
        });
    }
};

}  // namespace convex
