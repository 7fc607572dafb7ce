// The linear system of a Newton step by preconditioned conjugate gradients with matrix-free
// products, in velocities scaled by the roots of the masses: (I + S J^T G J S) y = -S g with S =
// M^-1/2, in single or in double precision.
//
// Conjugate gradients in the form of Chronopoulos and Gear (1989): the products are with the
// preconditioned residuals z, and s = A p follows by a recurrence, so that all sums of an iteration
// are formed at once. A block works on a share of the contacts, and on all nodes that these touch
// (convex_share.cuh): it needs nothing of the other blocks between the nodes' step and the contacts'
// images. So there is one barrier a product.
#pragma once

#include "convex.cuh"
#include "convex_bodies.cuh"
#include "convex_share.cuh"
#include "convex_vectors.cuh"

namespace convex {

// Largest trace of a scaled diagonal block that single precision is trusted with: 1e-2 of 1/2^-23,
// as on the CPU.
constexpr double LARGEST_SINGLE = 1e-2 / 1.1920928955078125e-7;

template <typename T>
__device__ __forceinline__ T at_least(T x, T least) {
    return x < least ? least : x;
}

// y = B x of a symmetric matrix [xx, yy, zz, xy, xz, yz].
template <typename T>
__device__ __forceinline__ void apply(const T (&b)[6], const T (&x)[3], T (&y)[3]) {
    y[0] = b[0] * x[0] + (b[3] * x[1] + b[4] * x[2]);
    y[1] = b[3] * x[0] + (b[1] * x[1] + b[5] * x[2]);
    y[2] = b[4] * x[0] + (b[5] * x[1] + b[2] * x[2]);
}

__device__ __forceinline__ float reciprocal(float x) { return 1.0f / x; }
__device__ __forceinline__ double reciprocal(double x) { return quotient_of(1.0, x); }

// The inverse of `least I + b` for a positive semidefinite b, by LDL^T with the pivots held at
// `least`, their bound in exact arithmetic.
template <typename T>
__device__ __forceinline__ void invert(const T (&b)[6], T least, T (&out)[6]) {
    const T i0 = reciprocal(b[0] + least);
    const T l10 = b[3] * i0;
    const T l20 = b[4] * i0;
    const T i1 = reciprocal(at_least(b[1] + least - l10 * b[3], least));
    const T c21 = b[5] - l20 * b[3];
    const T l21 = c21 * i1;
    const T i2 = reciprocal(at_least(b[2] + least - l20 * b[4] - l21 * c21, least));
    // Rows of L^-1: [1, 0, 0], [-l10, 1, 0], [p, -l21, 1].
    const T p = l10 * l21 - l20;
    out[0] = i0 + l10 * l10 * i1 + p * p * i2;
    out[1] = i1 + l21 * l21 * i2;
    out[2] = i2;
    out[3] = -l10 * i1 - p * (l21 * i2);
    out[4] = p * i2;
    out[5] = -l21 * i2;
}

// Result of a linear system.
struct SystemResult {
    // Products with the Hessian.
    uint32_t products;
    // Whether a diagonal block is beyond this precision: nothing has been solved then.
    bool refused;
    // The norm of the residual that is left, as a part of the gradient's; of double precision.
    double residual;
};

template <typename T, typename Bodies>
struct LinearSystem {
    using Memory = SystemMemory<T>;
    using Given = typename Bodies::template Given<BODY_IMPULSE>;
    Passes& m;
    const Share& share;
    const Bodies& bodies;
    ProductVectors<T> vectors;
    // The gradient's norm in M^-1: a right-hand side of norm one keeps single precision in its
    // range.
    double norm, inverse_norm;

    // Adds r . z, |r|^2 and |z|^2 of node i, and publishes S z.
    __device__ __forceinline__ void show(
        uint32_t i, T scale, const T (&inverse)[6], const T (&r)[3], double (&values)[4]) const {
        T z[3];
        apply(inverse, r, z);
        for (uint32_t a = 0; a < 3; ++a) {
            vectors.direction(m, i, a) = scale * z[a];
        }
        values[0] = static_cast<double>(r[0] * z[0] + r[1] * z[1] + r[2] * z[2]);
        values[1] = static_cast<double>(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        values[2] = static_cast<double>(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    }

    // Block, preconditioner and first residual of node i. The last value counts the blocks that are
    // beyond single precision.
    __device__ __forceinline__ void begin_node(uint32_t i, double (&values)[4]) const {
        const double root = root_of(m.node(INVERSE_MASS, i));
        const T scale = static_cast<T>(root < Memory::LARGEST_SCALE ? root : Memory::LARGEST_SCALE);
        T block[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
        Memory::add_block(m, i, block);
        for (uint32_t e = 0; e < 6; ++e) {
            block[e] = block[e] * scale * scale;
        }
        T inverse[6];
        invert(block, T(1), inverse);
        Memory::row(m, SCALE, i) = scale;
        for (uint32_t e = 0; e < 6; ++e) {
            Memory::row(m, INVERSE_BLOCK + e, i) = inverse[e];
        }
        T r[3];
        for (uint32_t a = 0; a < 3; ++a) {
            r[a] = static_cast<T>(-inverse_norm * static_cast<double>(scale) * m.node(GRADIENT + a, i));
            Memory::row(m, SOLUTION + a, i) = T(0);
            Memory::row(m, CONJUGATE + a, i) = T(0);
            Memory::row(m, RESIDUAL + a, i) = r[a];
            Memory::row(m, PRODUCT + a, i) = T(0);
        }
        show(i, scale, inverse, r, values);
        // Also where it is not a number.
        values[3] = static_cast<double>(block[0] + block[1] + block[2]) <= LARGEST_SINGLE ? 0.0 : 1.0;
    }

    // A step at node i: s = A z + beta s and r -= step s, from the places of `turn` to the others.
    // Of its own nodes the block also moves p = z + beta p and the solution.
    __device__ __forceinline__ void step_node(
        uint32_t i, bool is_own, uint32_t turn, T step, T beta, double (&values)[4]) const {
        const uint32_t last = 3 * turn;
        const uint32_t next = 3 - last;
        const T scale = Memory::row(m, SCALE, i);
        T inverse[6];
        for (uint32_t e = 0; e < 6; ++e) {
            inverse[e] = Memory::row(m, INVERSE_BLOCK + e, i);
        }
        T r[3];
        T z[3];
        for (uint32_t a = 0; a < 3; ++a) {
            r[a] = Memory::row(m, RESIDUAL + last + a, i);
        }
        apply(inverse, r, z);
        const Array<T, 3> q = vectors.collect(m, turn, i);
        for (uint32_t a = 0; a < 3; ++a) {
            const T s = (z[a] + scale * q.data[a]) + beta * Memory::row(m, PRODUCT + last + a, i);
            r[a] -= step * s;
            Memory::row(m, PRODUCT + next + a, i) = s;
            Memory::row(m, RESIDUAL + next + a, i) = r[a];
        }
        if (is_own) {
            for (uint32_t a = 0; a < 3; ++a) {
                const T p = beta * Memory::row(m, CONJUGATE + a, i) + z[a];
                Memory::row(m, CONJUGATE + a, i) = p;
                Memory::row(m, SOLUTION + a, i) += step * p;
            }
        }
        show(i, scale, inverse, r, values);
    }

    // The image G J t of contact c, and the reaction on its body; returns its part of the
    // curvature.
    __device__ __forceinline__ double image_contact(uint32_t c, uint32_t turn, Given& given) const {
        T g[6];
        T y[3] = {T(0), T(0), T(0)};
        T curvature = T(0);
        for (uint32_t e = 0; e < 6; ++e) {
            g[e] = Memory::hessian(m, e, c);
        }
        // A contact that is apart and without friction has none.
        if (!(g[0] + g[1] + g[2] == T(0))) {
            T v[3] = {T(0), T(0), T(0)};
            vectors.gather(m, c, v);
            bodies.subtract_motion(c, OF_DIRECTION, v);
            apply(g, v, y);
            curvature = v[0] * y[0] + (v[1] * y[1] + v[2] * y[2]);
        }
        for (uint32_t a = 0; a < 3; ++a) {
            vectors.image(m, turn, c, a) = y[a];
        }
        bodies.react(c, y, given);
        return static_cast<double>(curvature);
    }

    // What a pass over the nodes is for.
    enum Pass : uint32_t { BEGIN, STEP, SHOW_SOLUTION };

    // A pass over the nodes and then over the contacts of this block, with one barrier at its end.
    // Sums: r . z, |r|^2, z . A z, and of the first pass the blocks beyond single precision. The
    // contacts' images go to the places of `turn`.
    __device__ __forceinline__ void pass(Pass which, uint32_t turn, double step, double beta, double (&sums)[4]) const {
        share.each_node<4>(m, [&](uint32_t i, bool is_own, double (&values)[4]) {
            if (which == BEGIN) {
                begin_node(i, values);
            } else if (which == STEP) {
                step_node(i, is_own, 1 - turn, static_cast<T>(step), static_cast<T>(beta), values);
            } else {
                for (uint32_t a = 0; a < 3; ++a) {
                    vectors.direction(m, i, a) = Memory::row(m, SCALE, i) * Memory::row(m, SOLUTION + a, i);
                }
            }
        });
        if constexpr (Bodies::ARE_STRONG) {
            double values[4] = {0.0, 0.0, 0.0, 0.0};
            if (which == BEGIN) {
                bodies.begin_system(inverse_norm, LARGEST_SINGLE, values);
            } else if (which == STEP) {
                bodies.step(step, beta, 1 - turn, values);
            } else {
                bodies.publish_solution();
            }
            m.store_body_sums(bodies.is_here(), values);
        }
        __syncthreads();
        share.template each_contact<BODY_IMPULSE>(m, bodies, turn, [&](uint32_t c, Given& given) {
            return image_contact(c, turn, given);
        });
        m.add_share_sums(sums, Bodies::ARE_STRONG);
    }

    // Solves from zero until the residual's norm is below `reduction`, into DIRECTION; every
    // iterate is a direction of descent. The gradient is there, the Hessians since a barrier.
    __device__ __forceinline__ SystemResult solve(double reduction, uint32_t most, bool trusted) const {
        double sums[4];
        double step = 0.0;
        double beta = 0.0;
        double product = 0.0;
        double curvature = 0.0;
        uint32_t products = 0;
        bool shown = false;
        SystemResult result = {0, false, 0.0};
#pragma unroll 1
        while (true) {
            const Pass which = shown ? SHOW_SOLUTION : products == 0 ? BEGIN : STEP;
            pass(which, products % 2, step, beta, sums);
            if (shown) {
                break;
            }
            if (products == 0 && !trusted && sums[3] > 0.0) {
                return {0, true, 0.0};
            }
            const bool done = products > 0 && (sums[1] <= reduction * reduction || products == most);
            beta = products > 0 ? quotient_of(sums[0], product) : 0.0;
            curvature = sums[2] - beta * beta * curvature;
            product = sums[0];
            // Not positive only where everything has underflowed, not finite where it has
            // overflowed.
            const bool lost = !(curvature > 0.0 && isfinite(curvature) && product > 0.0);
            if (done || lost) {
                products += done ? 0 : 1;
                result.products = products;
                if (!trusted) {
                    break;
                }
                // The recurrences can have lost touch with the residual.
                shown = true;
                products = 0;
                continue;
            }
            step = quotient_of(product, curvature);
            ++products;
        }
        if (shown) {
            result.residual = true_residual();
        }
        m.each(m.nodes, [&](uint32_t i) {
            const double scale = norm * static_cast<double>(Memory::row(m, SCALE, i));
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(DIRECTION + a, i) = scale * static_cast<double>(Memory::row(m, SOLUTION + a, i));
            }
        });
        bodies.end_system(norm);
        return result;
    }

    // The norm of the residual of SOLUTION, whose images are there since a barrier, as a part of
    // the gradient's.
    __device__ __forceinline__ double true_residual() const {
        double square[1];
        const auto of_node = [&](uint32_t i, double (&values)[1]) {
            const Array<T, 3> q = vectors.collect(m, 0, i);
            const double scale = static_cast<double>(Memory::row(m, SCALE, i));
            for (uint32_t a = 0; a < 3; ++a) {
                const double right = -inverse_norm * scale * m.node(GRADIENT + a, i);
                const double y = static_cast<double>(Memory::row(m, SOLUTION + a, i));
                const double left = y + scale * static_cast<double>(q.data[a]);
                values[0] += (right - left) * (right - left);
            }
        };
        const auto of_bodies = [&](double (&values)[1]) { bodies.add_true_residual(inverse_norm, values); };
        m.template sum_nodes<1>(bodies, square, of_node, of_bodies);
        return root_of(square[0]);
    }
};

}  // namespace convex
