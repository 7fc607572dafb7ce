// Vectors, rotations and spatial vectors of the worlds, as `numeric/src/linalg` and
// `numeric/src/spatial.rs` have them, operation by operation.
#pragma once

#include "worlds_number.cuh"

namespace worlds {

template <typename T>
struct Vec {
    Number<T> x, y, z;

    static __device__ __forceinline__ Vec zero() { return {0.0, 0.0, 0.0}; }

    __device__ __forceinline__ Number<T> operator[](uint32_t k) const { return k == 0 ? x : k == 1 ? y : z; }

    __device__ __forceinline__ void set(uint32_t k, Number<T> value) {
        x = k == 0 ? value : x;
        y = k == 1 ? value : y;
        z = k == 2 ? value : z;
    }

    __device__ __forceinline__ Vec operator-() const { return {-x, -y, -z}; }
    friend __device__ __forceinline__ Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend __device__ __forceinline__ Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend __device__ __forceinline__ Vec operator*(Vec a, Number<T> s) { return {a.x * s, a.y * s, a.z * s}; }
};

template <typename T>
__device__ __forceinline__ Number<T> dot(Vec<T> a, Vec<T> b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <typename T>
__device__ __forceinline__ Vec<T> cross(Vec<T> a, Vec<T> b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <typename T>
__device__ __forceinline__ Vec<T> magnitudes(Vec<T> a) {
    return {magnitude(a.x), magnitude(a.y), magnitude(a.z)};
}

template <typename T>
__device__ __forceinline__ Number<T> least_of(Vec<T> a) {
    return least(least(a.x, a.y), a.z);
}

// Two unit vectors that make a right-handed frame with a unit vector: the first as much along x as
// it can be, along y where this is nearly x.
template <typename T>
__device__ __forceinline__ void find_tangents(Vec<T> n, Vec<T> (&tangents)[2]) {
    const bool is_steep = magnitude(n.x) < Number<T>(0.9);
    const Number<T> along = is_steep ? n.x : n.y;
    const Vec<T> aside = {is_steep ? 1.0 : 0.0, is_steep ? 0.0 : 1.0, 0.0};
    const Vec<T> first = aside - n * along;
    tangents[0] = first * (Number<T>(1.0) / root(dot(first, first)));
    tangents[1] = cross(n, tangents[0]);
}

template <typename T>
struct Mat {
    Vec<T> rows[3];

    __device__ __forceinline__ Vec<T> column(uint32_t c) const { return {rows[0][c], rows[1][c], rows[2][c]}; }
    __device__ __forceinline__ Vec<T> apply(Vec<T> v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
    // With its transpose.
    __device__ __forceinline__ Vec<T> apply_inverse(Vec<T> v) const {
        return {dot(column(0), v), dot(column(1), v), dot(column(2), v)};
    }
    __device__ __forceinline__ Mat times(const Mat& other) const {
        Mat product;
        for (uint32_t r = 0; r < 3; ++r) {
            product.rows[r] = {dot(rows[r], other.column(0)), dot(rows[r], other.column(1)), dot(rows[r], other.column(2))};
        }
        return product;
    }
};

// Sine and cosine of half of an angle whose square is given [rad^2], the sine divided by the angle,
// which may be 0.
template <typename T>
__device__ __forceinline__ void turn_terms(Number<T> square, Number<T>& sine, Number<T>& cosine) {
    using N = Number<T>;
    if (square < N(1e-7)) {
        sine = square * (-1.0 / 48.0) + 0.5;
        cosine = (square * (1.0 / 384.0) - 0.125) * square + 1.0;
    } else {
        const N angle = root(square);
        sine_cosine(angle * 0.5, sine, cosine);
        sine = sine / angle;
    }
}

// A unit quaternion.
template <typename T>
struct Quat {
    Number<T> w, x, y, z;

    // Turned by a rotation vector [rad] in the axes that it leads to.
    __device__ __forceinline__ Quat turned(Vec<T> by) const {
        Number<T> s, a;
        turn_terms(dot(by, by), s, a);
        const Number<T> b = by.x * s, c = by.y * s, d = by.z * s;
        const Quat q = {
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        };
        const Number<T> scale = Number<T>(1.0) / root(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
        return {q.w * scale, q.x * scale, q.y * scale, q.z * scale};
    }

    __device__ __forceinline__ Mat<T> matrix() const {
        const Number<T> xx = x * x, yy = y * y, zz = z * z;
        const Number<T> xy = x * y, xz = x * z, yz = y * z;
        const Number<T> wx = w * x, wy = w * y, wz = w * z;
        return {{
            {(yy + zz) * -2.0 + 1.0, (xy - wz) * 2.0, (xz + wy) * 2.0},
            {(xy + wz) * 2.0, (xx + zz) * -2.0 + 1.0, (yz - wx) * 2.0},
            {(xz - wy) * 2.0, (yz + wx) * 2.0, (xx + yy) * -2.0 + 1.0},
        }};
    }
};

// A frame in another one.
template <typename T>
struct Pose {
    Mat<T> rotation;
    Vec<T> position;

    __device__ __forceinline__ Vec<T> apply(Vec<T> p) const { return rotation.apply(p) + position; }
    __device__ __forceinline__ Vec<T> apply_inverse(Vec<T> p) const { return rotation.apply_inverse(p - position); }
    __device__ __forceinline__ Pose times(const Pose& inner) const {
        return {rotation.times(inner.rotation), apply(inner.position)};
    }
};

// A force or momentum: moment about the reference, and linear part.
template <typename T>
struct Force {
    Vec<T> angular, linear;

    __device__ __forceinline__ Force plus(const Force& other) const { return {angular + other.angular, linear + other.linear}; }
    __device__ __forceinline__ Force minus(const Force& other) const { return {angular - other.angular, linear - other.linear}; }
};

// A velocity, acceleration or joint axis: angular part, and that of the body's point at the
// reference.
template <typename T>
struct Motion {
    Vec<T> angular, linear;

    static __device__ __forceinline__ Motion zero() { return {Vec<T>::zero(), Vec<T>::zero()}; }

    // Of the body's point at `lever` from the reference.
    __device__ __forceinline__ Vec<T> at(Vec<T> lever) const { return linear + cross(angular, lever); }
    __device__ __forceinline__ Motion plus(const Motion& other) const { return {angular + other.angular, linear + other.linear}; }
    __device__ __forceinline__ Motion times(Number<T> s) const { return {angular * s, linear * s}; }
    __device__ __forceinline__ Number<T> on(const Force<T>& force) const {
        return dot(angular, force.angular) + dot(linear, force.linear);
    }
    __device__ __forceinline__ Motion cross_motion(const Motion& other) const {
        return {cross(angular, other.angular), cross(angular, other.linear) + cross(linear, other.angular)};
    }
    __device__ __forceinline__ Force<T> cross_force(const Force<T>& force) const {
        return {cross(angular, force.angular) + cross(linear, force.linear), cross(angular, force.linear)};
    }
};

// Mass, its first moment and its inertia about the reference: xx, xy, xz, yy, yz, zz.
template <typename T>
struct Inertia {
    Number<T> mass;
    Vec<T> moment;
    Number<T> inertia[6];

    // Of a body whose centre is at `center` from the reference, its inertia about that in the axes
    // of `rotation`.
    static __device__ __forceinline__ Inertia placed(
        Number<T> mass, Vec<T> center, const Mat<T>& rotation, const Number<T> (&own)[6]) {
        const Mat<T> local = {{{own[0], own[1], own[2]}, {own[1], own[3], own[4]}, {own[2], own[4], own[5]}}};
        const Mat<T> half = rotation.times(local);
        const Number<T> x = center.x, y = center.y, z = center.z;
        const Number<T> shift[6] = {y * y + z * z, -(x * y), -(x * z), x * x + z * z, -(y * z), x * x + y * y};
        Inertia result;
        result.mass = mass;
        result.moment = center * mass;
        uint32_t k = 0;
        for (uint32_t a = 0; a < 3; ++a) {
            for (uint32_t b = a; b < 3; ++b) {
                result.inertia[k] = dot(half.rows[a], rotation.rows[b]) + shift[k] * mass;
                ++k;
            }
        }
        return result;
    }

    __device__ __forceinline__ Inertia plus(const Inertia& other) const {
        Inertia sum;
        sum.mass = mass + other.mass;
        sum.moment = moment + other.moment;
        for (uint32_t k = 0; k < 6; ++k) {
            sum.inertia[k] = inertia[k] + other.inertia[k];
        }
        return sum;
    }

    __device__ __forceinline__ Force<T> momentum(const Motion<T>& v) const {
        const Vec<T> w = v.angular;
        const Vec<T> turning = {
            dot(Vec<T>{inertia[0], inertia[1], inertia[2]}, w),
            dot(Vec<T>{inertia[1], inertia[3], inertia[4]}, w),
            dot(Vec<T>{inertia[2], inertia[4], inertia[5]}, w),
        };
        return {turning + cross(moment, v.linear), v.linear * mass - cross(moment, w)};
    }
};

}  // namespace worlds
