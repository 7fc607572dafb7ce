// The linear system of a Newton step by preconditioned conjugate gradients with matrix-free
// products, in velocities scaled by the roots of the masses: (I + S J^T G J S) y = -S g with S =
// M^-1/2, in single or in double precision.
#pragma once

#include "convex.cuh"
#include "convex_bodies.cuh"

namespace convex {

// Largest trace of a scaled diagonal block that single precision is trusted with: 1e-2 of 1/2^-23,
// as on the CPU.
constexpr double LARGEST_SINGLE = 1e-2 / 1.1920928955078125e-7;

// Rows of a node in a system.
enum SystemRow : uint32_t {
    SCALE = 0,
    INVERSE_BLOCK = 1,
    SOLUTION = 7,
    RESIDUAL = 10,
    PRECONDITIONED = 13,
    CONJUGATE = 16,
    SYSTEM_END = 19,
};
static_assert(SYSTEM_END == CONVEX_SYSTEM_ROWS, "rows of a node in a system");

// The memory of a system in each precision; the largest scale is a root of an inverse mass whose
// square times a Hessian stays in range.
template <typename T>
struct SystemMemory;

template <>
struct SystemMemory<float> {
    const Passes& m;
    static constexpr double LARGEST_SCALE = 1e18;
    __device__ __forceinline__ float& row(uint32_t row, uint32_t i) const {
        return m.p.single_rows[row * m.p.node_capacity + i];
    }
    __device__ __forceinline__ float hessian(uint32_t e, uint32_t c) const {
        return m.p.single_hessians[e * m.p.contact_capacity + c];
    }
    // Takes over the Hessian of a contact.
    __device__ __forceinline__ void load_hessian(uint32_t c) const {
        for (uint32_t e = 0; e < 6; ++e) {
            m.p.single_hessians[e * m.p.contact_capacity + c] = static_cast<float>(m.contact(HESSIAN + e, c));
        }
    }
    __device__ __forceinline__ Array<float, 4>& direction(uint32_t i) const { return m.p.single_directions[i]; }
    __device__ __forceinline__ Array<float, 4>& image(uint32_t c) const { return m.p.single_images[c]; }
};

template <>
struct SystemMemory<double> {
    const Passes& m;
    static constexpr double LARGEST_SCALE = 1e150;
    __device__ __forceinline__ double& row(uint32_t row, uint32_t i) const {
        return m.p.double_rows[row * m.p.node_capacity + i];
    }
    __device__ __forceinline__ double hessian(uint32_t e, uint32_t c) const { return m.contact(HESSIAN + e, c); }
    __device__ __forceinline__ void load_hessian(uint32_t) const {}
    __device__ __forceinline__ Array<double, 4>& direction(uint32_t i) const { return m.p.double_directions[i]; }
    __device__ __forceinline__ Array<double, 4>& image(uint32_t c) const { return m.p.double_images[c]; }
};

// The first three of four numbers, at once where the device can.
__device__ __forceinline__ void load3(const Array<float, 4>& from, float (&x)[3]) {
#if defined(PLIANT_EMULATED)
    x[0] = from[0], x[1] = from[1], x[2] = from[2];
#else
    const float4 v = *reinterpret_cast<const float4*>(&from);
    x[0] = v.x, x[1] = v.y, x[2] = v.z;
#endif
}

__device__ __forceinline__ void load3(const Array<double, 4>& from, double (&x)[3]) {
    x[0] = from[0], x[1] = from[1], x[2] = from[2];
}

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

// The inverse of `least I + b` for a positive semidefinite b, by LDL^T with the pivots held at
// `least`, their bound in exact arithmetic.
template <typename T>
__device__ __forceinline__ void invert(const T (&b)[6], T least, T (&out)[6]) {
    const T i0 = T(1) / (b[0] + least);
    const T l10 = b[3] * i0;
    const T l20 = b[4] * i0;
    const T i1 = T(1) / at_least(b[1] + least - l10 * b[3], least);
    const T c21 = b[5] - l20 * b[3];
    const T l21 = c21 * i1;
    const T i2 = T(1) / at_least(b[2] + least - l20 * b[4] - l21 * c21, least);
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
};

template <typename T, typename Bodies>
struct LinearSystem {
    Passes& m;
    const Bodies& bodies;
    // The gradient's norm in M^-1: a right-hand side of norm one keeps single precision in its
    // range.
    double norm;

    // Block, preconditioner and first residual of node i; values get r . z and whether the block is
    // beyond single precision.
    __device__ __forceinline__ void begin_node(uint32_t i, double (&values)[2]) const {
        const SystemMemory<T> memory{m};
        const double root = sqrt(m.node(INVERSE_MASS, i));
        const T scale = static_cast<T>(root < SystemMemory<T>::LARGEST_SCALE ? root : SystemMemory<T>::LARGEST_SCALE);
        T block[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
        m.template visit<T>(i, [&](uint32_t c, T w) {
            for (uint32_t e = 0; e < 6; ++e) {
                block[e] += w * w * memory.hessian(e, c);
            }
        });
        for (uint32_t e = 0; e < 6; ++e) {
            block[e] = block[e] * scale * scale;
        }
        T inverse[6];
        invert(block, T(1), inverse);
        memory.row(SCALE, i) = scale;
        for (uint32_t e = 0; e < 6; ++e) {
            memory.row(INVERSE_BLOCK + e, i) = inverse[e];
        }
        T r[3];
        T z[3];
        for (uint32_t a = 0; a < 3; ++a) {
            r[a] = static_cast<T>(-1.0 / norm * static_cast<double>(scale) * m.node(GRADIENT + a, i));
        }
        apply(inverse, r, z);
        for (uint32_t a = 0; a < 3; ++a) {
            memory.row(SOLUTION + a, i) = T(0);
            memory.row(CONJUGATE + a, i) = T(0);
            memory.row(RESIDUAL + a, i) = r[a];
            memory.row(PRECONDITIONED + a, i) = z[a];
        }
        values[0] = static_cast<double>(r[0] * z[0] + r[1] * z[1] + r[2] * z[2]);
        // Also where it is not a number.
        values[1] = static_cast<double>(block[0] + block[1] + block[2]) <= LARGEST_SINGLE ? 0.0 : 1.0;
    }

    // p = z + beta p and t = S p of node i; returns |p|^2.
    __device__ __forceinline__ double conjugate_node(uint32_t i, T beta) const {
        const SystemMemory<T> memory{m};
        const T scale = memory.row(SCALE, i);
        T square = T(0);
        for (uint32_t a = 0; a < 3; ++a) {
            const T value = beta * memory.row(CONJUGATE + a, i) + memory.row(PRECONDITIONED + a, i);
            memory.row(CONJUGATE + a, i) = value;
            memory.direction(i)[a] = scale * value;
            square += value * value;
        }
        return static_cast<double>(square);
    }

    // The image G J t of contact c, and the reaction on its body; returns its part of the
    // curvature.
    __device__ __forceinline__ double image_contact(uint32_t c) const {
        const SystemMemory<T> memory{m};
        T g[6];
        T y[3] = {T(0), T(0), T(0)};
        T curvature = T(0);
        for (uint32_t e = 0; e < 6; ++e) {
            g[e] = memory.hessian(e, c);
        }
        // A contact that is apart and without friction has none.
        if (!(g[0] + g[1] + g[2] == T(0))) {
            T v[3] = {T(0), T(0), T(0)};
            m.gather(c, v, [&](uint32_t i, T (&x)[3]) { load3(memory.direction(i), x); });
            bodies.subtract_motion(c, OF_DIRECTION, v);
            apply(g, v, y);
            curvature = v[0] * y[0] + (v[1] * y[1] + v[2] * y[2]);
        }
        for (uint32_t a = 0; a < 3; ++a) {
            memory.image(c)[a] = y[a];
        }
        bodies.react(c, y);
        return static_cast<double>(curvature);
    }

    // J^T of the images at node i.
    __device__ __forceinline__ void collect_image(uint32_t i, T (&q)[3]) const {
        const SystemMemory<T> memory{m};
        q[0] = q[1] = q[2] = T(0);
        m.template visit<T>(i, [&](uint32_t c, T w) {
            T y[3];
            load3(memory.image(c), y);
            q[0] += w * y[0];
            q[1] += w * y[1];
            q[2] += w * y[2];
        });
    }

    // A step along the conjugate direction at node i; values get r . z and |r|^2.
    __device__ __forceinline__ void descend_node(uint32_t i, T step, double (&values)[2]) const {
        const SystemMemory<T> memory{m};
        const T scale = memory.row(SCALE, i);
        T q[3];
        T r[3];
        T z[3];
        T inverse[6];
        collect_image(i, q);
        for (uint32_t a = 0; a < 3; ++a) {
            const T p = memory.row(CONJUGATE + a, i);
            memory.row(SOLUTION + a, i) += step * p;
            r[a] = memory.row(RESIDUAL + a, i) - step * (scale * q[a] + p);
            memory.row(RESIDUAL + a, i) = r[a];
        }
        for (uint32_t e = 0; e < 6; ++e) {
            inverse[e] = memory.row(INVERSE_BLOCK + e, i);
        }
        apply(inverse, r, z);
        for (uint32_t a = 0; a < 3; ++a) {
            memory.row(PRECONDITIONED + a, i) = z[a];
        }
        values[0] = static_cast<double>(r[0] * z[0] + r[1] * z[1] + r[2] * z[2]);
        values[1] = static_cast<double>(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }

    // Solves from zero until the residual's norm is below `reduction`, into DIRECTION; every
    // iterate is a direction of descent. The gradient is there, the Hessians since a barrier.
    __device__ __forceinline__ SystemResult solve(double reduction, uint32_t most, bool trusted) const {
        double begun[2];
        m.template sum_nodes<2>(
            bodies, begun, [&](uint32_t i, double (&values)[2]) { begin_node(i, values); },
            [&](double (&values)[2]) { bodies.begin_system(norm, LARGEST_SINGLE, values); });
        if (!trusted && begun[1] > 0.0) {
            return {0, true};
        }
        double product = begun[0];
        double beta = 0.0;
        uint32_t products = 0;
        while (products < most) {
            ++products;
            double inertia[1];
            m.template sum_nodes<1>(
                bodies, inertia,
                [&](uint32_t i, double (&values)[1]) { values[0] = conjugate_node(i, static_cast<T>(beta)); },
                [&](double (&values)[1]) { bodies.conjugate(beta, values); });
            double bent[1];
            m.template sum_contacts<1>(
                bodies, BODY_IMPULSE, bent, [&](uint32_t c, double (&values)[1]) { values[0] = image_contact(c); });
            const double curvature = inertia[0] + bent[0];
            // Not positive only where everything has underflowed, not finite where it has
            // overflowed.
            if (!(curvature > 0.0 && isfinite(curvature) && product > 0.0)) {
                break;
            }
            const T step = static_cast<T>(product / curvature);
            double after[2];
            m.template sum_nodes<2>(
                bodies, after, [&](uint32_t i, double (&values)[2]) { descend_node(i, step, values); },
                [&](double (&values)[2]) { bodies.descend(static_cast<double>(step), values); });
            if (after[1] <= reduction * reduction) {
                break;
            }
            beta = after[0] / product;
            product = after[0];
        }
        m.each(m.nodes, [&](uint32_t i) {
            const SystemMemory<T> memory{m};
            const double scale = norm * static_cast<double>(memory.row(SCALE, i));
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(DIRECTION + a, i) = scale * static_cast<double>(memory.row(SOLUTION + a, i));
            }
        });
        bodies.end_system(norm);
        return {products, false};
    }

    // The norm of the residual of SOLUTION, as a part of the gradient's, by one more product: the
    // recurrence's own can have lost touch with it.
    __device__ __forceinline__ double true_residual() const {
        const SystemMemory<T> memory{m};
        double unused[1];
        // The next barrier is the one that publishes the scaled solution.
        const auto show_node = [&](uint32_t i, double (&)[1]) {
            for (uint32_t a = 0; a < 3; ++a) {
                memory.direction(i)[a] = memory.row(SCALE, i) * memory.row(SOLUTION + a, i);
            }
        };
        m.template sum_nodes<1>(bodies, unused, show_node, [&](double (&)[1]) { bodies.publish_solution(); });
        m.template sum_contacts<1>(
            bodies, BODY_IMPULSE, unused, [&](uint32_t c, double (&values)[1]) { values[0] = image_contact(c); });
        double square[1];
        const auto of_node = [&](uint32_t i, double (&values)[1]) {
            T q[3];
            collect_image(i, q);
            const double scale = static_cast<double>(memory.row(SCALE, i));
            for (uint32_t a = 0; a < 3; ++a) {
                const double right = -1.0 / norm * scale * m.node(GRADIENT + a, i);
                const double left = static_cast<double>(memory.row(SOLUTION + a, i)) + scale * static_cast<double>(q[a]);
                values[0] += (right - left) * (right - left);
            }
        };
        m.template sum_nodes<1>(bodies, square, of_node, [&](double (&values)[1]) { bodies.add_true_residual(norm, values); });
        return sqrt(square[0]);
    }
};

}  // namespace convex
