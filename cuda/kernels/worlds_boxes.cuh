// Where boxes meet each other, in closed form: `geometry/src/pairs/{box_faces,box_box}.rs`.
#pragma once

#include "worlds_pairs.cuh"

namespace worlds {

// A face of one of two boxes.
template <typename T>
struct Face {
    // Its center [m], its outward normal, directions of its edges and half their lengths [m].
    Vec<T> center, normal, sides[2];
    Number<T> reach[2];
};

// Two boxes: where a face is the best axis, what it shares with the other's face; else the nearest
// points of two edges, or the nearest corner.
template <typename T>
struct Boxes {
    typedef Number<T> N;
    typedef Vec<T> V;

    // As in `rigid/src/collision`: by how much an axis across two edges must be better than those
    // of the faces, in parts of the overlap.
    static constexpr double EDGE_OVERLAP = 0.02;

    const Solid<T>& a;
    const Solid<T>& b;
    // From the first's center to the second's [m].
    V between;
    // Least half extent [m].
    N size;

    __device__ __forceinline__ Boxes(const Solid<T>& first, const Solid<T>& second)
        : a(first), b(second), between(second.pose.position - first.pose.position),
          size(least(least_of(first.size), least_of(second.size))) {}

    __device__ __forceinline__ const Solid<T>& solid(uint32_t s) const { return s == 0 ? a : b; }
    __device__ __forceinline__ V axis(uint32_t s, uint32_t k) const { return solid(s).pose.rotation.column(k); }

    // The face of a box across its axis `k` with a normal to this side.
    __device__ __forceinline__ Face<T> face(uint32_t s, uint32_t k, N side) const {
        const V half = solid(s).size;
        const uint32_t i = (k + 1) % 3, j = (k + 2) % 3;
        const V normal = axis(s, k) * side;
        return {solid(s).pose.position + normal * half[k], normal, {axis(s, i), axis(s, j)}, {half[i], half[j]}};
    }

    // The face along whose normal the boxes are farthest apart or overlap least: of which box,
    // across which axis, on which side, and that separation [m].
    __device__ __forceinline__ N best_face(uint32_t& box, uint32_t& across, N& side) const {
        const N tie = size * Bounds<T>::TIE;
        N best = -FAR;
        for (uint32_t one = 0; one < 2; ++one) {
            const N away = one == 0 ? 1.0 : -1.0;
            const Solid<T>& other = solid(1 - one);
            for (uint32_t k = 0; k < 3; ++k) {
                const N along = dot(axis(one, k), between) * away;
                const V normal = axis(one, k) * sign_of(along);
                const auto reach = [&](uint32_t j) { return magnitude(dot(axis(1 - one, j), normal)) * other.size[j]; };
                const N separation = magnitude(along) - solid(one).size[k] - (reach(0) + reach(1) + reach(2));
                if (best + tie < separation) {
                    best = separation;
                    box = one;
                    across = k;
                    side = sign_of(along);
                }
            }
        }
        return best;
    }

    // The best axis across two edges (Gottschalk, Lin and Manocha 1996): unit vector from the first
    // to the second, along which axes the edges run, and the separation [m].
    __device__ __forceinline__ N best_edges(V& normal, uint32_t (&along_axes)[2]) const {
        N best = -FAR;
        normal = axis(0, 0);
        along_axes[0] = along_axes[1] = 0;
        for (uint32_t i = 0; i < 3; ++i) {
            for (uint32_t j = 0; j < 3; ++j) {
                const V both = cross(axis(0, i), axis(1, j));
                const N square = dot(both, both);
                if (!(N(Bounds<T>::PARALLEL_EDGES) < square)) {
                    continue;
                }
                const V unit = both * (N(1.0) / root(square));
                const N along = dot(unit, between);
                const auto reach = [&](uint32_t s, uint32_t k) {
                    const auto own = [&](uint32_t m) { return magnitude(dot(axis(s, m), unit)) * solid(s).size[m]; };
                    return own((k + 1) % 3) + own((k + 2) % 3);
                };
                const N distance = magnitude(along) - reach(0, i) - reach(1, j);
                if (best < distance) {
                    best = distance;
                    normal = unit * sign_of(along);
                    along_axes[0] = i;
                    along_axes[1] = j;
                }
            }
        }
        return best;
    }

    // Middle of the edge along axis `k` of a box that is farthest in a direction.
    __device__ __forceinline__ V edge_center(uint32_t s, uint32_t k, V towards) const {
        V center = solid(s).pose.position;
        for (uint32_t m = 0; m < 3; ++m) {
            const N is_other = m == k ? 0.0 : 1.0;
            center = center + axis(s, m) * (solid(s).size[m] * sign_of(dot(axis(s, m), towards)) * is_other);
        }
        return center;
    }

    // Where the two edges are nearest to each other, and whether that is within both.
    __device__ __forceinline__ ContactPoint<T> crossing(V normal, const uint32_t (&edges)[2], N distance, bool& is_within) const {
        const V p = edge_center(0, edges[0], normal), q = edge_center(1, edges[1], -normal);
        const V d = axis(0, edges[0]), e = axis(1, edges[1]);
        const N h = a.size[edges[0]], g = b.size[edges[1]];
        const V w = q - p;
        const N both = dot(d, e);
        N square = N(1.0) - both * both;
        square = N(Bounds<T>::PARALLEL_EDGES) < square ? square : N(1.0);
        const N t = (dot(d, w) - both * dot(e, w)) / square;
        const N u = (both * dot(d, w) - dot(e, w)) / square;
        is_within = magnitude(t) < h && magnitude(u) < g;
        return ContactPoint<T>::on_first(p + d * within(t, -h, h), normal, distance);
    }

    // The corner of one box that is nearest to the other's inside: where that is in the world,
    // outward normal of the other there, and distance [m].
    __device__ __forceinline__ N corner_of_one(uint32_t one, V& point, V& outward) const {
        const Solid<T>& other = solid(1 - one);
        const V center = other.pose.apply_inverse(solid(one).pose.position);
        const V axes[3] = {other.pose.rotation.apply_inverse(axis(one, 0)), other.pose.rotation.apply_inverse(axis(one, 1)),
            other.pose.rotation.apply_inverse(axis(one, 2))};
        N least_beyond = FAR * FAR;
        V best = center;
        for (uint32_t k = 0; k < 8; ++k) {
            const V at = center + corner_of(axes, solid(one).size, k);
            V beyond;
            for (uint32_t d = 0; d < 3; ++d) {
                beyond.set(d, at[d] - within(at[d], -other.size[d], other.size[d]));
            }
            const N square = dot(beyond, beyond);
            if (square < least_beyond) {
                least_beyond = square;
                best = at;
            }
        }
        N distance;
        const V out = box_surface(other.size, best, distance);
        point = other.pose.apply(best);
        outward = other.pose.rotation.apply(out);
        return distance;
    }

    // The corner that is nearest to the other box, where none is within: right where no face's
    // inside and no two edges' insides are nearest.
    __device__ __forceinline__ ContactPoint<T> corner() const {
        V first_point, first_out, second_point, second_out;
        const N first = corner_of_one(0, first_point, first_out), second = corner_of_one(1, second_point, second_out);
        return second < first ? ContactPoint<T>::on_second(second_point, second_out, second)
                              : ContactPoint<T>::on_first(first_point, -first_out, first);
    }

    // The face of a box that looks most along `towards`, of equals the first.
    __device__ __forceinline__ Face<T> facing(uint32_t s, V towards) const {
        uint32_t best = 0;
        N most_along = dot(axis(s, 0), towards);
        for (uint32_t k = 1; k < 3; ++k) {
            const N along = dot(axis(s, k), towards);
            if (magnitude(most_along) < magnitude(along)) {
                most_along = along;
                best = k;
            }
        }
        return face(s, best, sign_of(most_along));
    }

    // The part of an edge over a rectangle, as fractions of the edge; whether there is any (Liang
    // and Barsky 1984).
    static __device__ __forceinline__ bool clip_edge(V from, V edge, const N (&reach)[2], N& low, N& high) {
        low = 0.0;
        high = 1.0;
        for (uint32_t k = 0; k < 2; ++k) {
            const N at = from[k], d = edge[k], larger = reach[k] * Bounds<T>::LARGER;
            // Infinite for an edge along a side.
            const N x = (-larger - at) / d, y = (larger - at) / d;
            low = most(least(x, y), low);
            high = least(most(x, y), high);
        }
        const bool is_there = low < high;
        low = is_there ? low : N(0.0);
        high = is_there ? high : N(1.0);
        return is_there;
    }

    // The corners of what `own`, a face of box `s`, and the face of the other that looks at it
    // share, projected along its normal: the ends of the other face's edges over it (8) and its own
    // corners under the other one (4).
    __device__ __forceinline__ void clip(const Face<T>& own, uint32_t s, V normal, ContactPoint<T> (&out)[12]) const {
        const Face<T> other = facing(1 - s, -own.normal);
        // Coordinates along the face's edges and above it.
        const auto in_face = [&](V v) { return V{dot(own.sides[0], v), dot(own.sides[1], v), dot(own.normal, v)}; };
        const V center = in_face(other.center - own.center);
        const V u = in_face(other.sides[0]) * other.reach[0], v = in_face(other.sides[1]) * other.reach[1];
        const auto contact_point = [&](V at, bool is_there) {
            const V along = own.center + own.sides[0] * at.x + own.sides[1] * at.y;
            return ContactPoint<T>{along + own.normal * (at.z * 0.5), normal, at.z}.only_if(is_there);
        };
        for (uint32_t k = 0; k < 4; ++k) {
            const V from = k == 0 ? center - u - v : k == 1 ? center + u - v : k == 2 ? center + u + v : center - u + v;
            const V half = k == 0 ? u : k == 1 ? v : k == 2 ? -u : -v;
            const V edge = half * N(2.0);
            N low, high;
            const bool is_there = clip_edge(from, edge, own.reach, low, high);
            // The end of an edge is the beginning of the next one.
            out[2 * k] = contact_point(from + edge * low, is_there);
            out[2 * k + 1] = contact_point(from + edge * high, is_there && high < N(1.0));
        }
        // Coordinates of the face's corners along the edges of the other face. It looks at this
        // one, so they are not along one line.
        const N inverse = N(1.0) / (u.x * v.y - u.y * v.x);
        const N larger = Bounds<T>::LARGER;
        for (uint32_t k = 0; k < 4; ++k) {
            const N right = k == 1 || k == 2 ? 1.0 : -1.0, up = k >= 2 ? 1.0 : -1.0;
            const N left = own.reach[0] * right, above = own.reach[1] * up;
            const N x = left - center.x, y = above - center.y;
            const N along = (x * v.y - y * v.x) * inverse;
            const N across = (u.x * y - u.y * x) * inverse;
            const bool is_there = magnitude(along) < larger && magnitude(across) < larger;
            out[8 + k] = contact_point({left, above, center.z + u.z * along + v.z * across}, is_there);
        }
    }

    __device__ __forceinline__ void find(ContactPoint<T> (&out)[12]) const {
        uint32_t s = 0, across = 0, edges[2];
        N side = 1.0;
        V edge_normal;
        const N face_apart = best_face(s, across, side);
        const N edges_apart = best_edges(edge_normal, edges);
        const Face<T> own = face(s, across, side);
        // From the first to the second.
        const V normal = own.normal * (s == 0 ? N(1.0) : N(-1.0));
        clip(own, s, normal, out);
        N deepest = FAR;
        for (uint32_t k = 0; k < 12; ++k) {
            deepest = least(deepest, out[k].distance);
        }
        const bool shares = deepest < N(0.5 * FAR);
        const N bias = size * Bounds<T>::EDGE_SIZE + most(-face_apart, N(0.0)) * EDGE_OVERLAP;
        const bool by_edges = face_apart + bias < edges_apart;
        const bool is_apart = N(0.0) < face_apart || N(0.0) < edges_apart;
        // Where the boxes are apart beside a face, its normal is not the direction of the nearest
        // points.
        const bool faces_meet = deepest < face_apart + size * Bounds<T>::FLAT;
        const bool is_flat = is_apart ? faces_meet : shares && !by_edges;
        if (!is_flat) {
            bool is_within;
            const ContactPoint<T> cross_point = crossing(edge_normal, edges, edges_apart, is_within);
            const bool is_cross = is_apart ? is_within && N(0.0) < edges_apart : by_edges;
            for (uint32_t k = 1; k < 12; ++k) {
                out[k].distance = FAR;
            }
            // Overlapping without sharing anything along the face's normal: only where an axis
            // across edges was a little better.
            const ContactPoint<T> little = {cross_point.point, normal, face_apart};
            out[0] = is_cross ? cross_point : is_apart ? corner() : little;
        }
        merge(out, size * MERGE);
    }
};

template <typename T>
__device__ __forceinline__ void box_box(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[12]) {
    Boxes<T>(a, b).find(out);
}

}  // namespace worlds
