// What the passes of a convex contact solve work on: rows of nodes and contacts, and stencils.
#pragma once

#include "parameters.cuh"
#include "prelude.cuh"

namespace convex {

constexpr uint32_t WARPS = CONVEX_THREADS / WARP_SIZE;

// Which of the sums of a share (convex_share.cuh) the contacts add to.
constexpr uint32_t CURVATURE_SUM = 2;

__device__ __forceinline__ uint32_t tiles_of(uint32_t elements) {
    return (elements + WARP_SIZE - 1) / WARP_SIZE;
}

// Rows of a contact: the contact model's constants, then vectors and the Hessian [xx, yy, zz, xy,
// xz, yz].
enum ContactRow : uint32_t {
    RELEASE = 0,
    LINEAR = 1,
    QUADRATIC = 2,
    FRICTION_BOUND = 3,
    STICTION = 4,
    TENSION_SLOPE = 5,
    TENSION_RANGE = 6,
    CONTACT_VELOCITY = 7,
    OTHER_CONTACT_VELOCITY = 10,
    CONTACT_DIRECTION = 13,
    CONTACT_IMPULSE = 16,
    HESSIAN = 19,
    RAY = 25,
    CONTACT_END = 30,
};
static_assert(CONTACT_END == CONVEX_CONTACT_ROWS, "rows of a contact");

// Rows of a touched node.
enum NodeRow : uint32_t {
    MASS = 0,
    INVERSE_MASS = 1,
    FREE = 2,
    VELOCITY = 5,
    OTHER_VELOCITY = 8,
    IMPULSE = 11,
    GRADIENT = 14,
    DIRECTION = 17,
    NODE_END = 20,
};
static_assert(NODE_END == CONVEX_NODE_ROWS, "rows of a node");

// Row `row` of `count` at element i. The rows of a tile follow one another, so that those of an
// element are at constant distances, which an instruction holds.
template <typename T>
__device__ __forceinline__ T& in_tile(const Span<T>& rows, uint32_t count, uint32_t row, uint32_t i) {
    const uint32_t first = i / WARP_SIZE * (count * WARP_SIZE) + i % WARP_SIZE;
    // Checked under emulation.
    (void)&rows[first + row * WARP_SIZE];
    return (&rows[first])[row * WARP_SIZE];
}

// Roots and quotients are much code, and those outside the products are few enough to call.
static __device__ PLIANT_CALLED double root_of(double x) { return sqrt(x); }
static __device__ PLIANT_CALLED double quotient_of(double x, double y) { return x / y; }

// The weight of node `k` of three along an axis: a quadratic B-spline (Steffen et al. 2008),
// `offset` in cells from the first.
template <typename T>
__device__ __forceinline__ T weight(T offset, uint32_t k) {
    if (offset >= static_cast<T>(CONVEX_ON_NODE)) {
        return offset - static_cast<T>(CONVEX_ON_NODE) == static_cast<T>(k) ? T(1) : T(0);
    }
    const T d = offset - static_cast<T>(k);
    const T outer = T(1.5) - (d < T(0) ? -d : d);
    return k == 1 ? T(0.75) - d * d : T(0.5) * outer * outer;
}

// Where a contact acts: its particle's place from the first node of the stencil, and the arm from
// there to the surface [cells], which only contacts of granular particles have (`arms` is empty
// without them).
template <typename T>
struct Acting {
    T offset[3];
    T arm[3];

    __device__ __forceinline__ Acting(
        const Span<Array<float, 3>>& offsets, const Span<Array<float, 3>>& arms, uint32_t c) {
        for (uint32_t d = 0; d < 3; ++d) {
            offset[d] = static_cast<T>(__ldg(&offsets[c].data[d]));
            arm[d] = arms.length > 0 ? static_cast<T>(__ldg(&arms[c].data[d])) : T(0);
        }
    }

    // By the particle's affine field: the second moment of quadratic B-splines is 1/4
    // (coupling/src/nodes.rs).
    __device__ __forceinline__ T weight(uint32_t d, uint32_t k) const {
        return convex::weight(offset[d], k) * (T(1) + T(4) * arm[d] * (static_cast<T>(k) - offset[d]));
    }
};

// The weight of contact c at node s of its stencil.
__device__ __forceinline__ double weight_at(const ConvexContacts& contacts, uint32_t c, uint32_t s) {
    const Acting<double> at(contacts.offset, contacts.arm, c);
    return at.weight(0, s / 9) * at.weight(1, s / 3 % 3) * at.weight(2, s % 3);
}

// Whether contact c has another stencil than the one before.
__device__ __forceinline__ bool has_new_stencil(const Span<Array<int32_t, 3>>& bases, uint32_t c) {
    if (c == 0) {
        return true;
    }
    const Array<int32_t, 3>& base = bases[c];
    const Array<int32_t, 3>& last = bases[c - 1];
    return base[0] != last[0] || base[1] != last[1] || base[2] != last[2];
}

}  // namespace convex
