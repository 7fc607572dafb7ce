// Where capsules meet boxes, in closed form: `geometry/src/pairs/capsule_box.rs`.
#pragma once

#include "worlds_pairs.cuh"

namespace worlds {

// The axis of a capsule in the frame of a box: `center + t axis`, |t| <= `half` [m].
template <typename T>
struct Segment {
    typedef Number<T> N;
    typedef Vec<T> V;

    // How the axis and the box are apart: outward normal of the box, signed distance [m], where on
    // the axis [m], and the axis of the face that the normal is nearest to, 3 across an edge.
    struct Separation {
        V out;
        N distance, at;
        uint32_t face;
    };

    V centre, axis;
    N half;
    // Half extents of the box.
    V box;

    __device__ __forceinline__ V point(N t) const { return centre + axis * t; }

    // Half the derivative of the squared distance to the box: it never falls, and is linear between
    // the planes of the faces.
    __device__ __forceinline__ N slope(N t) const {
        N parts[3];
        for (uint32_t k = 0; k < 3; ++k) {
            const N at = centre[k] + axis[k] * t;
            parts[k] = (at - within(at, -box[k], box[k])) * axis[k];
        }
        return parts[0] + parts[1] + parts[2];
    }

    // Where it passes the planes of the faces across axis `k`, in order; infinite or not a number
    // where it runs along them.
    __device__ __forceinline__ void pass(N extent, uint32_t k, N& first, N& second) const {
        const N x = (-extent - centre[k]) / axis[k], y = (extent - centre[k]) / axis[k];
        first = least(x, y);
        second = most(x, y);
    }

    // The place [m] nearest to the box: the root of the slope, between the planes on either side of
    // it; the middle of all nearest places where there are many.
    __device__ __forceinline__ N nearest() const {
        // The last place where the squared distance does not grow and the first where it does not
        // fall, with their slopes.
        N low = -half, low_slope = 0.0, high = half, high_slope = 0.0;
        const auto take = [&](N t) {
            // What is not a number becomes an end.
            t = within(t, -half, half);
            const N s = slope(t);
            if (!((N(0.0) < s ? N(-FAR) : t) < low)) {
                low = t;
                low_slope = s;
            }
            if (!(high < (s < N(0.0) ? N(FAR) : t))) {
                high = t;
                high_slope = s;
            }
        };
        take(-half);
        take(half);
        for (uint32_t k = 0; k < 3; ++k) {
            N first, second;
            pass(box[k], k, first, second);
            take(first);
            take(second);
        }
        const bool is_between = low < high;
        const N rise = is_between ? high_slope - low_slope : N(1.0);
        return low + (high - low) * (is_between ? -low_slope / rise : N(0.5));
    }

    // Nearest place where the axis is outside of the box, else the direction of least overlap.
    __device__ __forceinline__ Separation apart() const {
        Separation near;
        near.at = nearest();
        near.out = box_surface(box, point(near.at), near.distance);
        if (!(N(0.0) < near.distance)) {
            return overlap();
        }
        const V m = magnitudes(near.out);
        near.face = m.x < m.z && m.y < m.z ? 2 : m.x < m.y || m.x < m.z ? 1 : 0;
        return near;
    }

    // The best of the axes across faces and across an edge and the segment (Gottschalk, Lin and
    // Manocha 1996).
    __device__ __forceinline__ Separation overlap() const {
        Separation best = {{1.0, 0.0, 0.0}, -FAR, 0.0, 3};
        for (uint32_t k = 0; k < 3; ++k) {
            const N side = sign_of(centre[k]);
            const N distance = magnitude(centre[k]) - box[k] - half * magnitude(axis[k]);
            if (best.distance < distance) {
                best.out = V::zero();
                best.out.set(k, side);
                best.distance = distance;
                best.at = -half * sign_of(axis[k] * side);
                best.face = k;
            }
        }
        const N bias = least_of(box) * Bounds<T>::FACE_BIAS;
        for (uint32_t k = 0; k < 3; ++k) {
            across_edge(k, bias, best);
        }
        return best;
    }

    // The axis across an edge along `k` and the segment, where that is better.
    __device__ __forceinline__ void across_edge(uint32_t k, N bias, Separation& best) const {
        const uint32_t i = (k + 1) % 3, j = (k + 2) % 3;
        const N square = axis[i] * axis[i] + axis[j] * axis[j];
        if (!(N(Bounds<T>::PARALLEL_EDGES) < square)) {
            return;
        }
        const N norm = root(square);
        // e_k x axis has the components -axis_j along i and axis_i along j.
        N ni = -axis[j] / norm, nj = axis[i] / norm;
        const N along = ni * centre[i] + nj * centre[j];
        const N side = sign_of(along);
        ni = ni * side;
        nj = nj * side;
        const N distance = magnitude(along) - box[i] * magnitude(ni) - box[j] * magnitude(nj);
        if (best.distance + bias < distance) {
            // Where the segment passes the edge.
            const N ei = box[i] * sign_of(ni) - centre[i], ej = box[j] * sign_of(nj) - centre[j];
            best.out = V::zero();
            best.out.set(i, ni);
            best.out.set(j, nj);
            best.distance = distance;
            best.at = within((ei * axis[i] + ej * axis[j]) / square, -half, half);
            best.face = 3;
        }
    }

    // Outward normal of the face that `apart` names, place and distance [m] of both ends of what is
    // over it; whether anything is.
    __device__ __forceinline__ bool over_face(const Separation& apart, V& normal, N (&places)[2], N (&distances)[2]) const {
        N low = half, high = -half;
        normal = V::zero();
        if (apart.face < 3) {
            N p, q, r, s;
            const uint32_t i = (apart.face + 1) % 3, j = (apart.face + 2) % 3;
            // A little larger: an axis over an edge is over both faces.
            pass(box[i] * Bounds<T>::LARGER, i, p, q);
            pass(box[j] * Bounds<T>::LARGER, j, r, s);
            low = most(r, most(p, -half));
            high = least(s, least(q, half));
            normal.set(apart.face, sign_of(apart.out[apart.face]));
        }
        const bool is_over = low < high;
        const N reach = dot(box, magnitudes(normal));
        places[0] = is_over ? low : apart.at;
        places[1] = is_over ? high : apart.at;
        distances[0] = dot(point(places[0]), normal) - reach;
        distances[1] = dot(point(places[1]), normal) - reach;
        return is_over;
    }
};

// The nearest or deepest place of the axis, and both ends of what is over the face there.
template <typename T>
__device__ __forceinline__ void capsule_box(const Solid<T>& a, const Solid<T>& b, ContactPoint<T> (&out)[3]) {
    const Number<T> radius = a.size.x;
    const Vec<T> axis = a.pose.rotation.column(2);
    const Segment<T> segment = {
        b.pose.apply_inverse(a.pose.position), b.pose.rotation.apply_inverse(axis), a.size.y, b.size};
    const typename Segment<T>::Separation apart = segment.apart();
    Vec<T> face;
    Number<T> places[2], distances[2];
    const bool is_over = segment.over_face(apart, face, places, distances);
    const auto contact_point = [&](Vec<T> outward, Number<T> at, Number<T> distance) {
        const Vec<T> normal = -b.pose.rotation.apply(outward);
        const Vec<T> centre = a.pose.position + axis * at;
        return ContactPoint<T>::on_first(centre + normal * radius, normal, distance - radius);
    };
    // Without a face the normal is that of the nearest place.
    face = is_over ? face : apart.out;
    out[0] = contact_point(apart.out, apart.at, apart.distance);
    out[1] = contact_point(face, places[0], distances[0]).only_if(is_over);
    out[2] = contact_point(face, places[1], distances[1]).only_if(is_over);
    merge(out, least(least(least(radius, b.size.x), b.size.y), b.size.z) * MERGE);
}

}  // namespace worlds
