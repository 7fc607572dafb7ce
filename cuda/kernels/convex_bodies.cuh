// The part of a convex solve that belongs to bodies which answer within the step: coupling/src/convex/mobility.rs and body_block.rs.
//
// With their mobility W = L L^T the change of their velocities is V = L y, and the unknowns y are as nodes of mass one. They are few: the
// last block works on them alone, in the passes over nodes, while the others work on theirs. What the contacts give the bodies is summed tile
// by tile in the passes over contacts. So there are no more barriers than without bodies, and sums are in f64 and in an order that neither the
// number of blocks nor the schedule changes.
#pragma once

#include "convex.cuh"

namespace convex {

// Rows of an unknown.
enum BodyRow : uint32_t {
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

// Which change of the bodies' velocities contacts are to see.
enum BodyMotion : uint32_t { OF_ITERATE = 0, OF_DIRECTION = 1 };

// Numbers that the contacts give each body: an impulse, a 6 x 6 matrix by its lower triangle, sizes of an impulse's parts.
constexpr uint32_t BODY_IMPULSE = 6;
constexpr uint32_t BODY_HESSIAN = CONVEX_BODY_SUMS;
constexpr uint32_t BODY_SIZES = 2;

// Bodies that keep their velocity: nothing to do anywhere.
struct NoBodies {
    static constexpr bool ANSWER = false;

    template <typename T>
    __device__ __forceinline__ void subtract_motion(uint32_t, BodyMotion, T (&)[3]) const {}
    template <typename T>
    __device__ __forceinline__ void react(uint32_t, const T (&)[3], double (&)[BODY_IMPULSE]) const {}
    __device__ __forceinline__ void bend(const Passes&, uint32_t, double (&)[BODY_HESSIAN]) const {}
    __device__ __forceinline__ double size_motion(uint32_t) const { return 0.0; }
    __device__ __forceinline__ void size_reaction(uint32_t, double, double (&)[BODY_SIZES]) const {}
    template <uint32_t B>
    __device__ __forceinline__ void sum_tile(uint32_t, uint32_t, const double (&)[B]) const {}
    __device__ __forceinline__ void load() const {}
    __device__ __forceinline__ void adopt() const {}
    __device__ __forceinline__ void start(bool, double (&)[1]) const {}
    __device__ __forceinline__ void evaluate(double (&)[4]) const {}
    __device__ __forceinline__ void factorise() const {}
    __device__ __forceinline__ void settle() const {}
    __device__ __forceinline__ void begin_system(double, double, double (&)[2]) const {}
    __device__ __forceinline__ void conjugate(double, double (&)[1]) const {}
    __device__ __forceinline__ void descend(double, double (&)[2]) const {}
    __device__ __forceinline__ void end_system(double) const {}
    __device__ __forceinline__ void show_solution() const {}
    __device__ __forceinline__ void leave(double, double (&)[1]) const {}
    __device__ __forceinline__ void slope(double (&)[2]) const {}
    __device__ __forceinline__ void advance(double) const {}
    __device__ __forceinline__ void keep_iterate(bool) const {}
    __device__ __forceinline__ void show_iterate() const {}
    __device__ __forceinline__ void rounding(double (&)[1]) const {}
    __device__ __forceinline__ void finish(bool) const {}
};

// Of what has `(&values)[K]`, and of `collect`, `factorise` and so on, all threads of the last block are to call; the others return at once.
struct AnsweringBodies {
    static constexpr bool ANSWER = true;
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
        for (uint32_t j = threadIdx.x; j < count; j += CONVEX_THREADS) {
            act(j);
        }
    }

    // Contacts.

    // Which of the bodies that answer contact c is on, if any.
    __device__ __forceinline__ uint32_t place_of(uint32_t c) const {
        const uint32_t body = c < contacts ? list.body[c] : CONVEX_NO_ANSWER;
        return body < b.places.length ? b.places[body] : CONVEX_NO_ANSWER;
    }

    // Takes what its body's motion brings off the velocity of contact c: B_c V.
    template <typename T>
    __device__ __forceinline__ void subtract_motion(uint32_t c, BodyMotion which, T (&v)[3]) const {
        const uint32_t place = place_of(c);
        if (place == CONVEX_NO_ANSWER) {
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

    // What the body gets where contact c gives its particle an impulse: the opposite.
    template <typename T>
    __device__ __forceinline__ void react(uint32_t c, const T (&impulse)[3], double (&given)[BODY_IMPULSE]) const {
        const Array<float, 3>& lever = list.lever[c];
        for (uint32_t a = 0; a < 3; ++a) {
            const uint32_t e = (a + 1) % 3, f = (a + 2) % 3;
            given[a] = static_cast<double>(lever[f]) * static_cast<double>(impulse[e]) -
                static_cast<double>(lever[e]) * static_cast<double>(impulse[f]);
            given[3 + a] = -static_cast<double>(impulse[a]);
        }
    }

    // B_c^T G_c B_c of contact c: with B_c = [R^T, I] and R x = lever x x the blocks are R G R^T, R G and G.
    __device__ __forceinline__ void bend(const Passes& m, uint32_t c, double (&given)[BODY_HESSIAN]) const {
        const double xx = m.contact(HESSIAN, c), yy = m.contact(HESSIAN + 1, c), zz = m.contact(HESSIAN + 2, c);
        const double xy = m.contact(HESSIAN + 3, c), xz = m.contact(HESSIAN + 4, c), yz = m.contact(HESSIAN + 5, c);
        const double g[3][3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
        const Array<float, 3>& lever = list.lever[c];
        const double r[3] = {lever[0], lever[1], lever[2]};
        double u[3][3];
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            const uint32_t e = (a + 1) % 3, f = (a + 2) % 3;
            for (uint32_t d = 0; d < 3; ++d) {
                u[a][d] = r[e] * g[f][d] - r[f] * g[e][d];
            }
        }
        uint32_t k = 0;
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            for (uint32_t d = 0; d <= a; ++d) {
                const uint32_t e = (d + 1) % 3, f = (d + 2) % 3;
                given[k++] = r[e] * u[a][f] - r[f] * u[a][e];
            }
        }
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            for (uint32_t d = 0; d < 3; ++d) {
                given[k++] = u[d][a];
            }
            for (uint32_t d = 0; d <= a; ++d) {
                given[k++] = g[a][d];
            }
        }
    }

    // Sum of the sizes of the components of what `subtract_motion` takes at the iterate.
    __device__ __forceinline__ double size_motion(uint32_t c) const {
        double v[3] = {0.0, 0.0, 0.0};
        subtract_motion(c, OF_ITERATE, v);
        return fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    }

    // Bounds of the sizes of the components of an impulse of this size at contact c: angular, linear.
    __device__ __forceinline__ void size_reaction(uint32_t c, double size, double (&given)[BODY_SIZES]) const {
        const Array<float, 3>& lever = list.lever[c];
        const double reach = fabs(static_cast<double>(lever[0])) + fabs(static_cast<double>(lever[1])) +
            fabs(static_cast<double>(lever[2]));
        given[0] = reach * size;
        given[1] = size;
    }

    // Sums what the contacts of a tile give each body; all threads of the tile call this, one a contact.
    template <uint32_t B>
    __device__ __forceinline__ void sum_tile(uint32_t tile, uint32_t c, const double (&given)[B]) const {
        SHARED(uint32_t, least, WARPS);
        const uint32_t place = place_of(c);
        uint32_t next = place;
        while (true) {
            const uint32_t of_warp = __reduce_min_sync(ALL_LANES, next);
            if (lane_index() == 0) {
                least[warp_index()] = of_warp;
            }
            __syncthreads();
            uint32_t current = least[0];
            for (uint32_t w = 1; w < WARPS; ++w) {
                current = min(current, least[w]);
            }
            // The array is free for the next body.
            __syncthreads();
            if (current == CONVEX_NO_ANSWER) {
                return;
            }
            double values[B];
            for (uint32_t k = 0; k < B; ++k) {
                values[k] = place == current ? given[k] : 0.0;
            }
            Passes::block_sums(values, true, b.tile_sums, (tile * bodies + current) * CONVEX_BODY_SUMS, 1);
            next = place > current ? place : CONVEX_NO_ANSWER;
        }
    }

    // The last block.

    // Sums over all tiles of what contacts gave, since a barrier, to `sums`.
    template <uint32_t B>
    __device__ __forceinline__ void collect() const {
        const uint32_t tiles = (contacts + CONVEX_THREADS - 1) / CONVEX_THREADS;
        for (uint32_t n = warp_index(); n < bodies * B; n += WARPS) {
            double sum[1] = {0.0};
            for (uint32_t tile = lane_index(); tile < tiles; tile += WARP_SIZE) {
                sum[0] += b.tile_sums[(tile * bodies + n / B) * CONVEX_BODY_SUMS + n % B];
            }
            Passes::warp_totals(sum);
            if (lane_index() == 0) {
                b.sums[n] = sum[0];
            }
        }
        __syncthreads();
    }

    // Component j of L^T p, with the impulses p in `sums`.
    __device__ __forceinline__ double reduced(uint32_t j) const {
        double sum = 0.0;
        for (uint32_t i = 0; i < 6 * bodies; ++i) {
            sum += b.factor[i * rank + j] * b.sums[i];
        }
        return sum;
    }

    // Lets contacts see L y of a row of unknowns after the next barrier.
    __device__ __forceinline__ void show(uint32_t of, BodyMotion which) const {
        __syncthreads();
        each(6 * bodies, [&](uint32_t i) {
            double sum = 0.0;
            for (uint32_t j = 0; j < rank; ++j) {
                sum += b.factor[i * rank + j] * row(of, j);
            }
            b.velocities[which * b.capacity + i] = sum;
        });
    }

    // The bodies' block C = I + L^T (sum_c B_c^T G_c B_c) L of the Newton system, its Cholesky factor, and that one's inverse.
    __device__ __forceinline__ void factorise() const {
        if (!is_here()) {
            return;
        }
        collect<BODY_HESSIAN>();
        const uint32_t n = rank;
        each(6 * bodies * n, [&](uint32_t at) {
            const uint32_t i = at / n, j = at % n, body = i / 6, d = i % 6;
            double sum = 0.0;
            for (uint32_t e = 0; e < 6; ++e) {
                const uint32_t high = max(d, e), low = min(d, e);
                sum += b.sums[body * BODY_HESSIAN + high * (high + 1) / 2 + low] * b.factor[(6 * body + e) * n + j];
            }
            b.images[at] = sum;
        });
        __syncthreads();
        each(n * n, [&](uint32_t at) {
            const uint32_t i = at / n, j = at % n;
            double sum = 0.0;
            for (uint32_t k = 0; j <= i && k < 6 * bodies; ++k) {
                sum += b.factor[k * n + i] * b.images[k * n + j];
            }
            if (i == j) {
                row(BODY_BEND, j) = sum;
                sum += 1.0;
            }
            b.matrix[at] = sum;
        });
        __syncthreads();
        for (uint32_t j = 0; j < n; ++j) {
            each(n - j, [&](uint32_t below) {
                const uint32_t i = j + below;
                double sum = b.matrix[i * n + j];
                for (uint32_t k = 0; k < j; ++k) {
                    sum -= b.matrix[i * n + k] * b.matrix[j * n + k];
                }
                row(BODY_SCRATCH, i) = sum;
            });
            __syncthreads();
            // The pivots' bound in exact arithmetic.
            const double square = row(BODY_SCRATCH, j);
            const double pivot = sqrt(square < 1.0 ? 1.0 : square);
            each(n - j, [&](uint32_t below) {
                const uint32_t i = j + below;
                b.matrix[i * n + j] = i == j ? pivot : row(BODY_SCRATCH, i) / pivot;
            });
            __syncthreads();
        }
        each(n, [&](uint32_t j) {
            for (uint32_t i = 0; i < n; ++i) {
                double sum = i == j ? 1.0 : 0.0;
                for (uint32_t k = j; k < i; ++k) {
                    sum -= b.matrix[i * n + k] * b.inverse[k * n + j];
                }
                b.inverse[i * n + j] = i < j ? 0.0 : sum / b.matrix[i * n + i];
            }
        });
        __syncthreads();
    }

    // Row `to` becomes `sign` C^-1 times row `from`; each thread may read its own unknowns' at once.
    __device__ __forceinline__ void precondition(uint32_t from, uint32_t to, double sign) const {
        __syncthreads();
        each(rank, [&](uint32_t i) {
            double sum = 0.0;
            for (uint32_t j = 0; j <= i; ++j) {
                sum += b.inverse[i * rank + j] * row(from, j);
            }
            row(BODY_SCRATCH, i) = sum;
        });
        __syncthreads();
        each(rank, [&](uint32_t j) {
            double sum = 0.0;
            for (uint32_t i = j; i < rank; ++i) {
                sum += b.inverse[i * rank + j] * row(BODY_SCRATCH, i);
            }
            row(to, j) = sign * sum;
        });
    }

    // The steps of a solve; convex_steps.cuh and convex_system.cuh have the nodes' parts.

    // Tiles without a body sum nothing for it in this whole solve.
    __device__ __forceinline__ void load() const {
        const uint32_t tiles = (contacts + CONVEX_THREADS - 1) / CONVEX_THREADS;
        const uint32_t count = bodies * CONVEX_BODY_SUMS;
        for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            each(count, [&](uint32_t n) { b.tile_sums[tile * count + n] = 0.0; });
        }
        if (is_here()) {
            each(rank, [&](uint32_t j) { row(BODY_VELOCITY, j) = 0.0; });
        }
    }

    // To what the guessed impulses do.
    __device__ __forceinline__ void adopt() const {
        if (is_here()) {
            collect<BODY_IMPULSE>();
            each(rank, [&](uint32_t j) { row(BODY_VELOCITY, j) = reduced(j); });
            show(BODY_VELOCITY, OF_ITERATE);
        }
    }

    // To rest, with the direction to what the guessed impulses do.
    __device__ __forceinline__ void start(bool push, double (&values)[1]) const {
        if (push) {
            collect<BODY_IMPULSE>();
        }
        each(rank, [&](uint32_t j) {
            const double d = push ? reduced(j) : 0.0;
            row(BODY_VELOCITY, j) = 0.0;
            row(BODY_DIRECTION, j) = d;
            values[0] += d * d;
        });
        show(BODY_VELOCITY, OF_ITERATE);
        show(BODY_DIRECTION, OF_DIRECTION);
    }

    __device__ __forceinline__ void evaluate(double (&values)[4]) const {
        collect<BODY_IMPULSE>();
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

    __device__ __forceinline__ void settle() const {
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
        show(BODY_CONJUGATE, OF_DIRECTION);
    }

    __device__ __forceinline__ void descend(double step, double (&values)[2]) const {
        collect<BODY_IMPULSE>();
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

    __device__ __forceinline__ void show_solution() const { show(BODY_SOLUTION, OF_DIRECTION); }

    // The square of the residual that the solution leaves.
    __device__ __forceinline__ void leave(double norm, double (&values)[1]) const {
        collect<BODY_IMPULSE>();
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
        show(BODY_DIRECTION, OF_DIRECTION);
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

    __device__ __forceinline__ void show_iterate() const {
        if (is_here()) {
            show(BODY_VELOCITY, OF_ITERATE);
        }
    }

    // The bodies' part of `rounding_floor`: three unknowns together, as a node's components.
    __device__ __forceinline__ void rounding(double (&values)[1]) const {
        collect<BODY_SIZES>();
        each((rank + 2) / 3, [&](uint32_t vector) {
            double term = 0.0;
            for (uint32_t j = 3 * vector; j < min(3 * vector + 3, rank); ++j) {
                term += fabs(row(BODY_VELOCITY, j));
                for (uint32_t i = 0; i < 6 * bodies; ++i) {
                    term += fabs(b.factor[i * rank + j]) * b.sums[i / 6 * BODY_SIZES + i % 6 / 3];
                }
            }
            values[0] += term * term;
        });
    }

    // Hands out the answers; of a solve that failed, none.
    __device__ __forceinline__ void finish(bool solved) const {
        if (!is_here()) {
            return;
        }
        show(BODY_VELOCITY, OF_ITERATE);
        __syncthreads();
        each(b.places.length, [&](uint32_t body) {
            const uint32_t place = b.places[body];
            for (uint32_t d = 0; d < 6; ++d) {
                b.answers[body][d] =
                    solved && place != CONVEX_NO_ANSWER ? b.velocities[OF_ITERATE * b.capacity + 6 * place + d] : 0.0;
            }
        });
    }
};

}  // namespace convex
