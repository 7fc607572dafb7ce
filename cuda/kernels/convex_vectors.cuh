// The memory of a linear system in each precision: rows of the nodes, and the vectors of its products.
#pragma once

#include "convex.cuh"

namespace convex {

// Rows of a node in a system. Residual and s = A p have two places that take turns: another block
// may still read the last ones of a node when this one writes the next.
enum SystemRow : uint32_t {
    SCALE = 0,
    INVERSE_BLOCK = 1,
    SOLUTION = 7,
    CONJUGATE = 10,
    RESIDUAL = 13,
    PRODUCT = 19,
    SYSTEM_END = 25,
};
static_assert(SYSTEM_END == CONVEX_SYSTEM_ROWS, "rows of a node in a system");

// Four numbers that are loaded at once.
struct alignas(16) SharedVector {
    Array<float, 4> vector;
};

// Vectors of a system of one block that fit its shared memory.
constexpr uint32_t SHARED_NODES = CONVEX_SMALL * WARP_SIZE;
constexpr uint32_t SHARED_IMAGES = CONVEX_SMALL * WARP_SIZE;

// The memory of a system in each precision; the largest scale is a root of an inverse mass whose
// square times a Hessian stays in range.
template <typename T>
struct SystemMemory;

template <>
struct SystemMemory<float> {
    static constexpr double LARGEST_SCALE = 1e18;
    static __device__ __forceinline__ float& row(const Passes& m, uint32_t row, uint32_t i) {
        return in_tile(m.p.single_rows, SYSTEM_END, row, i);
    }
    static __device__ __forceinline__ float hessian(const Passes& m, uint32_t e, uint32_t c) {
        return in_tile(m.p.single_hessians, 6, e, c);
    }
    // The contacts' part of the diagonal block of node i.
    static __device__ __forceinline__ void add_block(const Passes& m, uint32_t i, float (&block)[6]) {
        m.template visit<float>(i, [&](uint32_t c, float w) {
#pragma unroll
            for (uint32_t e = 0; e < 6; ++e) {
                block[e] += w * w * hessian(m, e, c);
            }
        });
    }
    // Takes over the Hessian of a contact.
    static __device__ __forceinline__ void load_hessian(const Passes& m, uint32_t c) {
        for (uint32_t e = 0; e < 6; ++e) {
            in_tile(m.p.single_hessians, 6, e, c) = static_cast<float>(m.contact(HESSIAN + e, c));
        }
    }
};

template <>
struct SystemMemory<double> {
    static constexpr double LARGEST_SCALE = 1e150;
    static __device__ __forceinline__ double& row(const Passes& m, uint32_t row, uint32_t i) {
        return in_tile(m.p.double_rows, SYSTEM_END, row, i);
    }
    static __device__ __forceinline__ double hessian(const Passes& m, uint32_t e, uint32_t c) {
        return m.contact(HESSIAN + e, c);
    }
    static __device__ __forceinline__ void add_block(const Passes&, uint32_t i, double (&block)[6]) {
        const Array<double, 6> of = Passes::block_of(i, false);
#pragma unroll
        for (uint32_t e = 0; e < 6; ++e) {
            block[e] += of.data[e];
        }
    }
};

// The first three of four numbers, at once where the device can.
__device__ __forceinline__ void load3(const Array<float, 4>& from, float (&x)[3]) {
    const float4 v = *reinterpret_cast<const float4*>(&from);
    x[0] = v.x, x[1] = v.y, x[2] = v.z;
}

// Where the vectors of the products are: the scaled directions of the nodes, and the images of the
// contacts in two places that take turns.
template <typename T>
struct ProductVectors;

template <>
struct ProductVectors<float> {
    Span<Array<float, 4>> directions, images;
    // From one place of the images to the other.
    uint32_t turn;

    // A system of one block has its vectors in shared memory where they fit, and needs no second
    // place.
    static __device__ __forceinline__ ProductVectors of(const Passes& m) {
        SHARED(SharedVector, directions, SHARED_NODES);
        SHARED(SharedVector, images, SHARED_IMAGES);
        if (m.blocks == 1 && m.nodes <= SHARED_NODES && m.contacts <= SHARED_IMAGES) {
            return {{&directions[0].vector, SHARED_NODES, 0}, {&images[0].vector, SHARED_IMAGES, 0}, 0};
        }
        return {m.p.single_directions, m.p.single_images, m.p.contact_capacity};
    }

    __device__ __forceinline__ float& direction(const Passes&, uint32_t i, uint32_t a) const {
        return directions[i][a];
    }
    __device__ __forceinline__ float& image(const Passes&, uint32_t at, uint32_t c, uint32_t a) const {
        return images[at * turn + c][a];
    }
    // J of the directions.
    __device__ __forceinline__ void gather(const Passes& m, uint32_t c, float (&v)[3]) const {
        m.gather(c, v, [&](uint32_t i, float (&x)[3]) { load3(directions[i], x); });
    }
    // J^T of the images.
    __device__ __forceinline__ Array<float, 3> collect(const Passes& m, uint32_t at, uint32_t i) const {
        Array<float, 3> q = {{0.0f, 0.0f, 0.0f}};
        m.template visit<float>(i, [&](uint32_t c, float w) {
            float y[3];
            load3(images[at * turn + c], y);
#pragma unroll
            for (uint32_t a = 0; a < 3; ++a) {
                q.data[a] += w * y[a];
            }
        });
        return q;
    }
};

// Systems in double precision are rare: theirs are in rows that hold nothing else meanwhile.
template <>
struct ProductVectors<double> {
    static __device__ __forceinline__ ProductVectors of(const Passes&) { return {}; }
    static __device__ __forceinline__ uint32_t images(uint32_t at) { return at == 0 ? CONTACT_DIRECTION : RAY; }

    __device__ __forceinline__ double& direction(const Passes& m, uint32_t i, uint32_t a) const {
        return m.node(DIRECTION + a, i);
    }
    __device__ __forceinline__ double& image(const Passes& m, uint32_t at, uint32_t c, uint32_t a) const {
        return m.contact(images(at) + a, c);
    }
    __device__ __forceinline__ void gather(const Passes&, uint32_t c, double (&v)[3]) const {
        const Array<double, 3> of = Passes::gathered(c, DIRECTION, false);
#pragma unroll
        for (uint32_t a = 0; a < 3; ++a) {
            v[a] = of.data[a];
        }
    }
    __device__ __forceinline__ Array<double, 3> collect(const Passes&, uint32_t at, uint32_t i) const {
        return Passes::collected(i, images(at));
    }
};

}  // namespace convex
