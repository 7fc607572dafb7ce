// The part of a convex solve that belongs to strongly coupled bodies:
// coupling/src/convex/mobility.rs and body_block.rs.
//
// With their mobility W = L L^T the change of their velocities is V = L y. The unknowns y enter
// like nodes of mass one. They are few: the last block alone works on them in the passes over
// nodes, and in the products of a system, where the contacts need them at once, every block by
// itself. What the contacts give the bodies is summed tile by tile in the passes over contacts. So
// there is one barrier more a step than without bodies, after the factorisation, and sums are in f64
// and in an order that neither the number of blocks nor the schedule changes.
#pragma once

#include "convex.cuh"
#include "convex_body_block.cuh"

namespace convex {

// Rows of an unknown. Of a system's residual r, of z = C^-1 r and of s = A p there are two places
// that take turns, as those of a node.
enum BodyUnknownRow : uint32_t {
    BODY_VELOCITY = 0,
    BODY_OTHER_VELOCITY = 1,
    BODY_GRADIENT = 2,
    BODY_DIRECTION = 3,
    // What the contacts add to the diagonal of the Hessian.
    BODY_BEND = 4,
    BODY_SOLUTION = 5,
    BODY_CONJUGATE = 6,
    BODY_SCRATCH = 7,
    BODY_RESIDUAL = 8,
    BODY_PRECONDITIONED = 10,
    BODY_PRODUCT = 12,
    BODY_END = 14,
};
static_assert(BODY_END == CONVEX_BODY_ROWS, "rows of an unknown of the bodies");

// Which change of the bodies' velocities is meant: that of the iterate, or that along the
// direction.
enum BodyMotion : uint32_t { OF_ITERATE = 0, OF_DIRECTION = 1 };

// As CalledSolve.
struct CalledBodies {
    ConvexBodies p;
    uint32_t bodies, rank;
};

__device__ __forceinline__ CalledBodies& called_bodies() {
    SHARED(CalledBodies, bodies, 1);
    return bodies[0];
}

// No strongly coupled bodies: nothing to do.
struct NoBodies {
    static constexpr bool ARE_STRONG = false;
    template <uint32_t N>
    struct Given {};

    template <typename T>
    __device__ __forceinline__ void subtract_motion(uint32_t, BodyMotion, T (&)[3]) const {}
    template <typename T>
    __device__ __forceinline__ void react(uint32_t, const T (&)[3], Given<BODY_IMPULSE>&) const {}
    __device__ __forceinline__ void bend(const Passes&, uint32_t, Given<BODY_HESSIAN>&) const {}
    __device__ __forceinline__ double size_motion(uint32_t) const { return 0.0; }
    __device__ __forceinline__ void size_reaction(uint32_t, double, Given<BODY_SIZES>&) const {}
    template <uint32_t N>
    __device__ __forceinline__ void sum_tile(uint32_t, uint32_t, const Given<N>&, uint32_t) const {}
    __device__ __forceinline__ void load() const {}
    __device__ __forceinline__ void start(bool, bool, double (&)[1]) const {}
    __device__ __forceinline__ void evaluate(double (&)[8]) const {}
    __device__ __forceinline__ void factorise() const {}
    __device__ __forceinline__ void relax() const {}
    __device__ __forceinline__ void begin_system(double, double, double (&)[4]) const {}
    __device__ __forceinline__ void step(double, double, uint32_t, double (&)[4]) const {}
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
// so on; those that are not its alone say so.
struct StronglyCoupledBodies {
    static constexpr bool ARE_STRONG = true;
    const ConvexBodies& b;
    const ConvexContacts& list;
    uint32_t contacts;
    uint32_t bodies;
    uint32_t rank;
    // Blocks that work on the solve.
    uint32_t blocks;

    // In a function that is called.
    static __device__ __forceinline__ StronglyCoupledBodies called() {
        const CalledBodies& bodies = called_bodies();
        const CalledSolve& solve = called_solve();
        return {bodies.p, solve.p.contacts, solve.contacts, bodies.bodies, bodies.rank, solve.blocks};
    }

    // What a contact gives its body: N numbers; of an impulse only the impulse itself, to which the
    // body's reaction follows where the tiles are summed.
    template <uint32_t N>
    struct Given {
        double of[N == BODY_IMPULSE ? 3 : N];
    };

    // The rows of an unknown follow one another.
    __device__ __forceinline__ double& row(uint32_t row, uint32_t j) const {
        // Checked under emulation.
        (void)&b.rows[j * BODY_END + row];
        return (&b.rows[j * BODY_END])[row];
    }

    __device__ __forceinline__ bool is_here() const { return blockIdx.x == blocks - 1; }

    // `act(j)` for each unknown, which is always the same thread's.
    template <typename Act>
    static __device__ __forceinline__ void each(uint32_t count, Act act) {
        each_of_block(count, act);
    }

    __device__ __forceinline__ MatrixRow row_of(uint32_t row) const { return {b.rows, row, BODY_END}; }

    // Contacts.

    // Which of the strongly coupled bodies contact c is on, if any.
    __device__ __forceinline__ uint32_t place_of(uint32_t c) const {
        const uint32_t body = c < contacts ? list.body[c] : CONVEX_NOT_STRONG;
        return body < b.places.length ? b.places[body] : CONVEX_NOT_STRONG;
    }

    // Subtracts the motion of its body, B_c V, from the velocity of contact c.
    template <typename T>
    __device__ __forceinline__ void subtract_motion(uint32_t c, BodyMotion which, T (&v)[3]) const {
        const Array<double, 3> motion = motion_at(c, which);
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            v[a] -= static_cast<T>(motion.data[a]);
        }
    }

    static __device__ PLIANT_CALLED Array<double, 3> motion_at(uint32_t c, BodyMotion which) {
        const StronglyCoupledBodies of = called();
        Array<double, 3> motion = {{0.0, 0.0, 0.0}};
        const uint32_t place = of.place_of(c);
        if (place == CONVEX_NOT_STRONG) {
            return motion;
        }
        const uint32_t first = which * of.b.capacity + 6 * place;
        const Array<float, 3>& lever = of.list.lever[c];
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            const uint32_t e = (a + 1) % 3, f = (a + 2) % 3;
            const double turned = of.b.velocities[first + e] * static_cast<double>(lever.data[f]) -
                of.b.velocities[first + f] * static_cast<double>(lever.data[e]);
            motion.data[a] = of.b.velocities[first + 3 + a] + turned;
        }
        return motion;
    }

    // The impulse of contact c, whose reaction its body gets.
    template <typename T>
    __device__ __forceinline__ void react(uint32_t, const T (&impulse)[3], Given<BODY_IMPULSE>& given) const {
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            given.of[a] = static_cast<double>(impulse[a]);
        }
    }

    // Its Hessian B_c^T G_c B_c: with B_c = [R^T, I] and R x = lever x x the blocks are R G
    // R^T, R G and G.
    __device__ __forceinline__ void bend(const Passes& m, uint32_t c, Given<BODY_HESSIAN>& given) const {
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
                given.of[lower(3 + d, a)] = u[d];
            }
#pragma unroll
            for (uint32_t d = 0; d <= a; ++d) {
                const uint32_t h = (d + 1) % 3, i = (d + 2) % 3;
                given.of[lower(a, d)] = r[h] * u[i] - r[i] * u[h];
                given.of[lower(3 + a, 3 + d)] = g[a][d];
            }
        }
    }

    // Sum of the sizes of the components of what `subtract_motion` takes at the iterate.
    __device__ __forceinline__ double size_motion(uint32_t c) const {
        double v[3] = {0.0, 0.0, 0.0};
        subtract_motion(c, OF_ITERATE, v);
        return fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    }

    // Bounds of the components of an impulse of this size at contact c: angular, linear.
    __device__ __forceinline__ void size_reaction(uint32_t c, double size, Given<BODY_SIZES>& given) const {
        const Array<float, 3>& lever = list.lever[c];
        const double reach = fabs(static_cast<double>(lever[0])) + fabs(static_cast<double>(lever[1])) +
            fabs(static_cast<double>(lever[2]));
        given.of[0] = reach * size;
        given.of[1] = size;
    }

    // Sums what the contacts of a tile give each body, at the place of `turn`. All threads of the
    // warp call this, one a contact.
    template <uint32_t N>
    __device__ __forceinline__ void sum_tile(uint32_t tile, uint32_t c, const Given<N>& given, uint32_t turn) const {
        sum_given(tile, c, given, turn);
    }

    template <uint32_t N>
    static __device__ PLIANT_CALLED void sum_given(
        uint32_t tile, uint32_t c, Given<N> given, uint32_t turn) {
        const StronglyCoupledBodies of = called();
        const uint32_t begin = tile * of.bodies * CONVEX_BODY_SUMS + turn * N;
        const uint32_t place = of.place_of(c);
        Array<float, 3> lever = {{0.0f, 0.0f, 0.0f}};
        if (place != CONVEX_NOT_STRONG) {
            lever = of.list.lever[c];
        }
        double all[N];
#pragma unroll
        for (uint32_t k = 0; k < N; ++k) {
            all[k] = N == BODY_IMPULSE ? reaction(k, lever, given) : given.of[N == BODY_IMPULSE ? 0 : k];
        }
        uint32_t first = 0;
#pragma unroll 1
        while (true) {
            // The next body in the tile.
            const uint32_t current = __reduce_min_sync(ALL_LANES, place >= first ? place : CONVEX_NOT_STRONG);
            if (current == CONVEX_NOT_STRONG) {
                break;
            }
            const bool counts = place == current;
            Passes::store_warp_totals(all, counts, N, &of.b.tile_sums[begin + current * CONVEX_BODY_SUMS], 1);
            first = current + 1;
        }
    }

    // Component k of the reaction to an impulse at the lever: angular, then linear.
    template <uint32_t N>
    static __device__ __forceinline__ double reaction(uint32_t k, const Array<float, 3>& lever, const Given<N>& given) {
        if (k >= 3) {
            return -given.of[k - 3];
        }
        const uint32_t e = (k + 1) % 3, f = (k + 2) % 3;
        return static_cast<double>(lever.data[f]) * given.of[e] - static_cast<double>(lever.data[e]) * given.of[f];
    }

    // The last block.

    // Sums over all tiles of what contacts gave at the place of `turn`, since a barrier, to `sums`.
    __device__ __forceinline__ void collect(uint32_t count, uint32_t turn = 0) const { collected(count, turn); }
    static __device__ PLIANT_CALLED void collected(uint32_t count, uint32_t turn) {
        const StronglyCoupledBodies of = called();
        sum_body_tiles(of.b.tile_sums, of.b.sums, tiles_of(of.contacts), of.bodies, count, turn * count);
    }

    // Component j of L^T p, with the impulses p in `sums`.
    __device__ __forceinline__ double reduced(uint32_t j) const { return reduction(j); }
    static __device__ PLIANT_CALLED double reduction(uint32_t j) {
        const StronglyCoupledBodies of = called();
        double sum = 0.0;
#pragma unroll 2
        for (uint32_t i = 0; i < 6 * of.bodies; ++i) {
            sum += of.b.factor[i * of.rank + j] * of.b.sums[i];
        }
        return sum;
    }

    // Publishes L y of a row of unknowns, which contacts read after the next barrier.
    __device__ __forceinline__ void publish(uint32_t row, BodyMotion which) const { published(row, which); }
    static __device__ PLIANT_CALLED void published(uint32_t row, BodyMotion which) {
        const StronglyCoupledBodies of = called();
        multiply(of.b.factor, of.row_of(row), {of.b.velocities, which * of.b.capacity, 1}, of.rank, 6 * of.bodies);
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
        preconditioned(from, to, sign);
    }
    static __device__ PLIANT_CALLED void preconditioned(uint32_t from, uint32_t to, double sign) {
        const StronglyCoupledBodies of = called();
        solve_block(of.b.inverse, of.row_of(from), of.row_of(BODY_SCRATCH), of.row_of(to), of.rank, sign);
    }

    // The steps of a solve; convex_steps.cuh and convex_system.cuh have the nodes' parts.

    // Tiles without a body sum nothing for it in this whole solve.
    __device__ __forceinline__ void load() const {
        const uint32_t count = bodies * CONVEX_BODY_SUMS;
#pragma unroll 1
        for (uint32_t tile = blockIdx.x + blocks * warp_index(); tile < tiles_of(contacts); tile += blocks * WARPS) {
            for (uint32_t n = lane_index(); n < count; n += WARP_SIZE) {
                b.tile_sums[tile * count + n] = 0.0;
            }
        }
        if (is_here()) {
            each(rank, [&](uint32_t j) { row(BODY_VELOCITY, j) = 0.0; });
        }
    }

    // The start: at rest, with the direction to the effect of the guessed impulses if they push;
    // of a whole solution at that effect.
    __device__ __forceinline__ void start(bool push, bool whole, double (&values)[1]) const {
        if (push || whole) {
            collect(BODY_IMPULSE);
        }
        each(rank, [&](uint32_t j) {
            const double d = push || whole ? reduced(j) : 0.0;
            row(BODY_VELOCITY, j) = whole ? d : 0.0;
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

    // All blocks do these three.

    __device__ __forceinline__ void begin_system(double inverse_norm, double largest, double (&values)[4]) const {
        take(begun(inverse_norm, largest), values);
    }

    __device__ __forceinline__ void step(double step, double beta, uint32_t turn, double (&values)[4]) const {
        take(stepped(step, beta, turn), values);
    }

    static __device__ __forceinline__ void take(const Array<double, 4>& from, double (&values)[4]) {
#pragma unroll
        for (uint32_t k = 0; k < 4; ++k) {
            values[k] = from.data[k];
        }
    }

    static __device__ PLIANT_CALLED Array<double, 4> begun(double inverse_norm, double largest) {
        const StronglyCoupledBodies of = called();
        Array<double, 4> values = {{0.0, 0.0, 0.0, 0.0}};
        each(of.rank, [&](uint32_t j) {
            of.row(BODY_RESIDUAL, j) = -inverse_norm * of.row(BODY_GRADIENT, j);
            of.row(BODY_PRODUCT, j) = 0.0;
            if (of.is_here()) {
                of.row(BODY_SOLUTION, j) = 0.0;
                of.row(BODY_CONJUGATE, j) = 0.0;
            }
            // Also where it is not a number.
            values.data[3] += of.row(BODY_BEND, j) <= largest ? 0.0 : 1.0;
        });
        of.show(0, values);
        return values;
    }

    // s = A z + beta s and r -= step s, from the places of `turn` to the others; then z.
    static __device__ PLIANT_CALLED Array<double, 4> stepped(double step, double beta, uint32_t turn) {
        const StronglyCoupledBodies of = called();
        of.collect(BODY_IMPULSE, turn);
        const uint32_t next = 1 - turn;
        each(of.rank, [&](uint32_t j) {
            const double z = of.row(BODY_PRECONDITIONED + turn, j);
            const double s = (z + of.reduced(j)) + beta * of.row(BODY_PRODUCT + turn, j);
            of.row(BODY_PRODUCT + next, j) = s;
            of.row(BODY_RESIDUAL + next, j) = of.row(BODY_RESIDUAL + turn, j) - step * s;
            if (of.is_here()) {
                const double p = beta * of.row(BODY_CONJUGATE, j) + z;
                of.row(BODY_CONJUGATE, j) = p;
                of.row(BODY_SOLUTION, j) += step * p;
            }
        });
        Array<double, 4> values = {{0.0, 0.0, 0.0, 0.0}};
        of.show(next, values);
        return values;
    }

    // Finds and publishes z, and adds r . z, |r|^2 and |z|^2.
    __device__ __forceinline__ void show(uint32_t turn, Array<double, 4>& values) const {
        precondition(BODY_RESIDUAL + turn, BODY_PRECONDITIONED + turn, 1.0);
        each(rank, [&](uint32_t j) {
            const double r = row(BODY_RESIDUAL + turn, j);
            const double z = row(BODY_PRECONDITIONED + turn, j);
            values.data[0] += r * z;
            values.data[1] += r * r;
            values.data[2] += z * z;
        });
        publish(BODY_PRECONDITIONED + turn, OF_DIRECTION);
    }

    __device__ __forceinline__ void publish_solution() const { publish(BODY_SOLUTION, OF_DIRECTION); }

    __device__ __forceinline__ void end_system(double norm) const {
        if (is_here()) {
            each(rank, [&](uint32_t j) { row(BODY_DIRECTION, j) = norm * row(BODY_SOLUTION, j); });
        }
    }

    // The square of the residual that the solution leaves.
    __device__ __forceinline__ void add_true_residual(double inverse_norm, double (&values)[1]) const {
        collect(BODY_IMPULSE);
        each(rank, [&](uint32_t j) {
            const double left = -inverse_norm * row(BODY_GRADIENT, j) - (row(BODY_SOLUTION, j) + reduced(j));
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
