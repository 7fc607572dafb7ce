// Where simple solids meet, in closed form: spheres, capsules, and boxes on half-spaces. This
// follows `geometry/src/pairs`, which has the sources. Capsules with boxes are in
// worlds_capsule_box.cuh, boxes among themselves in worlds_boxes.cuh.
#pragma once

#include "worlds_spatial.cuh"

namespace worlds {

// Distance of an absent contact point [m].
constexpr double FAR = 1e10;
// Contact points nearer to each other than this part of the smaller solid count once.
constexpr double MERGE = 0.02;

// A shape in the world. Sphere: radius. Capsule: radius, half length, along z. Box: half extents.
// Half-space: z <= 0 of its frame. [m]
template <typename T>
struct Solid {
    Pose<T> pose;
    Vec<T> size;
};

// Where two surfaces are near each other: a point midway between them [m], unit vector from the
// first to the second, signed distance [m].
template <typename T>
struct ContactPoint {
    Vec<T> point, normal;
    Number<T> distance;

    // From a point on the surface of the first, or of the second.
    static __device__ __forceinline__ ContactPoint on_first(Vec<T> surface, Vec<T> normal, Number<T> distance) {
        return {surface + normal * (distance * 0.5), normal, distance};
    }
    static __device__ __forceinline__ ContactPoint on_second(Vec<T> surface, Vec<T> normal, Number<T> distance) {
        return {surface - normal * (distance * 0.5), normal, distance};
    }
    // The same, or absent.
    __device__ __forceinline__ ContactPoint only_if(bool is_there) const {
        return {point, normal, is_there ? distance : Number<T>(FAR)};
    }
};

// The direction of a vector and its length; `fallback` and 0 where it has none.
template <typename T>
__device__ __forceinline__ Vec<T> direction(Vec<T> v, Vec<T> fallback, Number<T>& length) {
    const Number<T> square = dot(v, v);
    if (Number<T>(Bounds<T>::NO_LENGTH) < square) {
        length = root(square);
        return v * (Number<T>(1.0) / length);
    }
    length = 0.0;
    return fallback;
}

// Of contact points nearer to each other than `reach` [m] keeps the deepest; of equals, the first.
template <typename T, uint32_t COUNT>
__device__ __forceinline__ void merge(ContactPoint<T> (&points)[COUNT], Number<T> reach) {
    const Number<T> square = reach * reach;
    for (uint32_t i = 1; i < COUNT; ++i) {
        for (uint32_t k = 0; k < i; ++k) {
            const Vec<T> apart = points[k].point - points[i].point;
            if (dot(apart, apart) < square) {
                const bool is_deeper = points[i].distance < points[k].distance;
                points[is_deeper ? k : i].distance = FAR;
            }
        }
    }
}

// Outward normal (in the box's frame) and signed distance [m] at a point [m, its frame] of a box's
// surface. Inside the nearest face counts, of equals the first.
template <typename T>
__device__ __forceinline__ Vec<T> box_surface(Vec<T> half, Vec<T> at, Number<T>& distance) {
    using N = Number<T>;
    const Vec<T> excess = magnitudes(at) - half;
    const Vec<T> side = {sign_of(at.x), sign_of(at.y), sign_of(at.z)};
    N depth = excess.x;
    Vec<T> face = {side.x, 0.0, 0.0};
    if (depth < excess.y) {
        depth = excess.y;
        face = {0.0, side.y, 0.0};
    }
    if (depth < excess.z) {
        depth = excess.z;
        face = {0.0, 0.0, side.z};
    }
    if (N(0.0) < depth) {
        const N zero = 0.0;
        const Vec<T> out = {most(excess.x, zero) * side.x, most(excess.y, zero) * side.y, most(excess.z, zero) * side.z};
        return direction(out, face, distance);
    }
    distance = depth;
    return face;
}

// A sphere and a half-space.
template <typename T>
__device__ __forceinline__ ContactPoint<T> end_half_space(Vec<T> center, Number<T> radius, const Solid<T>& b) {
    const Vec<T> up = b.pose.rotation.column(2);
    const Number<T> distance = dot(up, center - b.pose.position) - radius;
    return ContactPoint<T>::on_first(center - up * radius, -up, distance);
}

template <typename T>
__device__ __forceinline__ ContactPoint<T> spheres(Vec<T> p, Vec<T> q, Number<T> first, Number<T> second, Vec<T> fallback) {
    Number<T> apart;
    const Vec<T> normal = direction(q - p, fallback, apart);
    return ContactPoint<T>::on_first(p + normal * first, normal, apart - first - second);
}

template <typename T>
__device__ __forceinline__ void sphere_half_space(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[1]) {
    out[0] = end_half_space(a.pose.position, a.size.x, b);
}

template <typename T>
__device__ __forceinline__ void sphere_sphere(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[1]) {
    out[0] = spheres(a.pose.position, b.pose.position, a.size.x, b.size.x, a.pose.rotation.column(2));
}

template <typename T>
__device__ __forceinline__ void sphere_capsule(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[1]) {
    const Vec<T> axis = b.pose.rotation.column(2);
    const Number<T> half = b.size.y;
    const Number<T> along = within(dot(axis, a.pose.position - b.pose.position), -half, half);
    out[0] = spheres(a.pose.position, b.pose.position + axis * along, a.size.x, b.size.x, b.pose.rotation.column(0));
}

template <typename T>
__device__ __forceinline__ void sphere_box(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[1]) {
    Number<T> distance;
    const Vec<T> outward = box_surface(b.size, b.pose.apply_inverse(a.pose.position), distance);
    const Vec<T> normal = -b.pose.rotation.apply(outward);
    out[0] = ContactPoint<T>::on_first(a.pose.position + normal * a.size.x, normal, distance - a.size.x);
}

// Both ends, one where they are the same.
template <typename T>
__device__ __forceinline__ void capsule_half_space(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[2]) {
    const Vec<T> end = a.pose.rotation.column(2) * a.size.y;
    out[0] = end_half_space(a.pose.position - end, a.size.x, b);
    out[1] = end_half_space(a.pose.position + end, a.size.x, b).only_if(Number<T>(0.0) < a.size.y);
}

// The corners of a box, from its center, in the axes that its frame is in [m].
template <typename T>
__device__ __forceinline__ Vec<T> corner_of(const Vec<T> (&axes)[3], Vec<T> half, uint32_t k) {
    const Vec<T> x = axes[0] * half.x, y = axes[1] * half.y, z = axes[2] * half.z;
    const uint32_t in_plane = k & 3;
    const Vec<T> plane = in_plane == 0 ? -x - y : in_plane == 1 ? x - y : in_plane == 2 ? -x + y : x + y;
    return k < 4 ? plane - z : plane + z;
}

template <typename T>
__device__ __forceinline__ void box_half_space(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[8]) {
    const Vec<T> axes[3] = {a.pose.rotation.column(0), a.pose.rotation.column(1), a.pose.rotation.column(2)};
    for (uint32_t k = 0; k < 8; ++k) {
        out[k] = end_half_space(a.pose.position + corner_of(axes, a.size, k), Number<T>(0.0), b);
    }
}

// Two capsules: the nearest points of the axes; of nearly parallel ones both ends of what they
// share.
template <typename T>
struct Capsules {
    typedef Number<T> N;
    typedef Vec<T> V;

    // Squared sine of the angle up to which two axes share a line, and of that to the normal that
    // an axis must have to share anything across it.
    static constexpr double PARALLEL = 0.05 * 0.05;
    static constexpr double ACROSS = 0.25;

    const Solid<T>& a;
    const Solid<T>& b;
    // Directions of the axes, half their lengths, from the first's center to the second's.
    V d, e;
    N h, g;
    V w, normal;

    // Places [m] of the nearest points along the axes (Ericson, Real-Time Collision Detection,
    // 2005, section 5.1.9).
    __device__ __forceinline__ void nearest(N& t, N& u) const {
        const N b = dot(d, e), dw = dot(d, w), ew = dot(e, w);
        const N square = N(1.0) - b * b;
        t = 0.0;
        if (N(Bounds<T>::SAME_LINE) < square) {
            t = within((dw - b * ew) / square, -h, h);
        }
        u = within(b * t - ew, -g, g);
        t = within(dw + b * u, -h, h);
        // Once more, since t may have been clamped.
        u = within(b * t - ew, -g, g);
    }

    // From one axis to the other. Axes that cross: across both; axes on one line: across it.
    __device__ __forceinline__ void find_normal(N t, N u) {
        const V x = a.pose.rotation.column(0);
        N sine, gap;
        V both = direction(cross(d, e), x, sine);
        both = sine < N(Bounds<T>::NO_SINE) ? x : both;
        both = both * sign_of(dot(both, w));
        const V between = direction(w + e * u - d * t, both, gap);
        normal = (h + g) * Bounds<T>::CROSSING < gap ? between : both;
    }

    __device__ __forceinline__ ContactPoint<T> contact_point(N t, N u) const {
        const V between = w + e * u - d * t;
        const N distance = dot(between, normal) - a.size.x - b.size.x;
        return {a.pose.position + d * t + (between + normal * (a.size.x - b.size.x)) * N(0.5), normal, distance};
    }

    // What is across the normal.
    __device__ __forceinline__ V flat(V x) const { return x - normal * dot(normal, x); }

    __device__ __forceinline__ void find(ContactPoint<T> (&out)[2]) {
        N t, u;
        nearest(t, u);
        find_normal(t, u);
        const ContactPoint<T> single = contact_point(t, u);
        const V df = flat(d), ef = flat(e), wf = flat(w);
        N dd = dot(df, df), ee = dot(ef, ef);
        const bool is_across = N(ACROSS) < dd && N(ACROSS) < ee;
        dd = is_across ? dd : N(1.0);
        ee = is_across ? ee : N(1.0);
        const N center = dot(wf, df) / dd, reach = magnitude(dot(df, ef) / dd * g);
        const N low = center - reach, high = center + reach;
        const V turn = cross(d, e);
        const bool shares = is_across && dot(turn, turn) < N(PARALLEL) && most(low, -h) < least(high, h);
        // An end of the first over the second, or an end of the second, which the first's is
        // beyond.
        const auto over = [&](N own) { return within(dot(df * own - wf, ef) / ee, -g, g); };
        out[0] = contact_point(-h < low ? low : -h, over(-h));
        out[1] = contact_point(high < h ? high : h, over(h));
        merge(out, least(a.size.x, b.size.x) * MERGE);
        out[0] = shares ? out[0] : single;
        out[1] = out[1].only_if(shares);
    }
};

template <typename T>
__device__ __forceinline__ void capsule_capsule(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[2]) {
    Capsules<T> capsules = {a, b, a.pose.rotation.column(2), b.pose.rotation.column(2), a.size.y, b.size.y,
        b.pose.position - a.pose.position, Vec<T>::zero()};
    capsules.find(out);
}

}  // namespace worlds
