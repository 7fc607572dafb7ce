// Small matrices, singular values and the polar decomposition in f32: numeric/src/linalg and
// numeric/src/svd.rs, a matrix a thread.
#pragma once

#include "prelude.cuh"

struct Vec3 {
    float x, y, z;
};

__device__ __forceinline__ Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Vec3 operator*(float s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
// s a + b, each component rounded once.
__device__ __forceinline__ Vec3 fused(float s, Vec3 a, Vec3 b) { return {fmaf(s, a.x, b.x), fmaf(s, a.y, b.y), fmaf(s, a.z, b.z)}; }
__device__ __forceinline__ float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Vec3 cross(Vec3 a, Vec3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __forceinline__ float sum_of(Vec3 a) { return a.x + a.y + a.z; }
__device__ __forceinline__ float max_abs(Vec3 a) { return fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fabsf(a.z)); }

// A matrix by rows.
struct Mat3 {
    Vec3 a, b, c;
};

__device__ __forceinline__ Mat3 operator-(const Mat3& m, const Mat3& n) { return {m.a - n.a, m.b - n.b, m.c - n.c}; }
__device__ __forceinline__ Mat3 transpose(const Mat3& m) {
    return {{m.a.x, m.b.x, m.c.x}, {m.a.y, m.b.y, m.c.y}, {m.a.z, m.b.z, m.c.z}};
}
__device__ __forceinline__ Vec3 operator*(const Mat3& m, Vec3 v) { return {dot(m.a, v), dot(m.b, v), dot(m.c, v)}; }
// m n^T.
__device__ __forceinline__ Mat3 mul_transpose(const Mat3& m, const Mat3& n) { return {n * m.a, n * m.b, n * m.c}; }
__device__ __forceinline__ Mat3 scale_columns(const Mat3& m, Vec3 s) {
    return {{m.a.x * s.x, m.a.y * s.y, m.a.z * s.z}, {m.b.x * s.x, m.b.y * s.y, m.b.z * s.z},
            {m.c.x * s.x, m.c.y * s.y, m.c.z * s.z}};
}
__device__ __forceinline__ float determinant(const Mat3& m) { return dot(m.a, cross(m.b, m.c)); }
__device__ __forceinline__ float norm_squared(const Mat3& m) { return dot(m.a, m.a) + dot(m.b, m.b) + dot(m.c, m.c); }

// A symmetric matrix.
struct Sym3 {
    float xx, yy, zz, xy, xz, yz;
};

// m n^T, known to be symmetric.
__device__ __forceinline__ Sym3 symmetric_product(const Mat3& m, const Mat3& n) {
    return {dot(m.a, n.a), dot(m.b, n.b), dot(m.c, n.c), dot(m.a, n.b), dot(m.a, n.c), dot(m.b, n.c)};
}
__device__ __forceinline__ Sym3 scaled_plus(float s, const Sym3& m, float isotropic) {
    return {s * m.xx + isotropic, s * m.yy + isotropic, s * m.zz + isotropic, s * m.xy, s * m.xz, s * m.yz};
}

struct Svd {
    Mat3 u;
    Vec3 sigma;
    Mat3 v;
};

constexpr float F32_EPSILON = 1.1920929e-7f;

// Tangent of the Jacobi angle that annihilates `off` between the diagonal entries p and q; at most
// 1.
__device__ __forceinline__ float jacobi_tangent(float p, float q, float off) {
    const float d = q - p;
    const float twice_off = off + off;
    const float root = sqrtf(d * d + twice_off * twice_off);
    const float t = twice_off / fmaxf(fabsf(d) + root, 1e-3f * F32_EPSILON * F32_EPSILON);
    return d < 0.0f ? -t : t;
}

struct Rotation {
    float c, s;
};

__device__ __forceinline__ Rotation from_tangent(float t) {
    const float c = 1.0f / sqrtf(t * t + 1.0f);
    return {c, t * c};
}

// Columns (x, y) turned to (c x - s y, s x + c y).
__device__ __forceinline__ void rotate(Rotation r, Vec3& x, Vec3& y) {
    const Vec3 first = r.c * x - r.s * y;
    y = r.s * x + r.c * y;
    x = first;
}

// (y, -x) instead of (x, y): a swap that keeps the determinant.
__device__ __forceinline__ void swap_if(bool swaps, Vec3& x, Vec3& y) {
    const Vec3 first = swaps ? y : x;
    y = swaps ? -1.0f * x : y;
    x = first;
}

// One rotation of cyclic Jacobi: `off` couples p and q; `pk` and `qk` couple them to the third
// index.
__device__ __forceinline__ void jacobi_rotate(
    float negligible, float& p, float& q, float& off, float& pk, float& qk, Vec3& vp, Vec3& vq) {
    const bool is_zero = fabsf(off) <= negligible;
    const float t = is_zero ? 0.0f : jacobi_tangent(p, q, off);
    const Rotation r = from_tangent(t);
    p -= t * off;
    q += t * off;
    off = is_zero ? off : 0.0f;
    const float first = r.c * pk - r.s * qk;
    qk = r.s * pk + r.c * qk;
    pk = first;
    rotate(r, vp, vq);
}

// Eigenvalues of a symmetric matrix of order one, in no order; the columns of a rotation of
// eigenvectors.
__device__ __forceinline__ void jacobi(const Sym3& m, float d[3], Vec3 v[3]) {
    d[0] = m.xx;
    d[1] = m.yy;
    d[2] = m.zz;
    float xy = m.xy, xz = m.xz, yz = m.yz;
    v[0] = {1.0f, 0.0f, 0.0f};
    v[1] = {0.0f, 1.0f, 0.0f};
    v[2] = {0.0f, 0.0f, 1.0f};
    const float off_diagonal = max_abs({xy, xz, yz});
    const float largest_entry = fmaxf(max_abs({d[0], d[1], d[2]}), off_diagonal);
    const float negligible = fmaxf(fabsf(d[0] + d[1] + d[2]), largest_entry) * (0.0625f * F32_EPSILON);
    // As many sweeps as make any 3x3 matrix diagonal to f32.
#pragma unroll 1
    for (int sweep = 0; sweep < 4; ++sweep) {
        if (!(negligible < max_abs({xy, xz, yz}))) {
            break;
        }
        jacobi_rotate(negligible, d[0], d[1], xy, xz, yz, v[0], v[1]);
        jacobi_rotate(negligible, d[0], d[2], xz, xy, yz, v[0], v[2]);
        jacobi_rotate(negligible, d[1], d[2], yz, xy, xz, v[1], v[2]);
    }
}

// A unit vector perpendicular to the unit vector u.
__device__ __forceinline__ Vec3 perpendicular(Vec3 u) {
    const Vec3 raw = fabsf(u.z) < fabsf(u.x) ? Vec3{-u.y, u.x, 0.0f} : Vec3{0.0f, -u.z, u.y};
    return (1.0f / fmaxf(sqrtf(dot(raw, raw)), 0.5f)) * raw;
}

// F = U diag(sigma) V^T with proper rotations, the largest first; the sign of det F is on the
// smallest (numeric/src/svd.rs).
__device__ __forceinline__ Svd svd(const Mat3& matrix) {
    const float scale = fmaxf(fmaxf(fmaxf(max_abs(matrix.a), max_abs(matrix.b)), max_abs(matrix.c)), 1e-30f);
    const float inverse = 1.0f / scale;
    const Mat3 f = {inverse * matrix.a, inverse * matrix.b, inverse * matrix.c};
    const Mat3 f_transposed = transpose(f);
    float d[3];
    Vec3 v[3];
    jacobi(symmetric_product(f_transposed, f_transposed), d, v);
#pragma unroll
    for (int j = 1; j < 3; ++j) {
        const bool swaps = d[0] < d[j];
        swap_if(swaps, v[0], v[j]);
        const float larger = swaps ? d[j] : d[0];
        d[j] = swaps ? d[0] : d[j];
        d[0] = larger;
    }

    // The largest column of F V gives the first left vector. F is scaled to a largest entry of one,
    // unless it is zero.
    const Vec3 b0 = f * v[0];
    const float sigma0 = sqrtf(dot(b0, b0));
    const Vec3 u0 = sigma0 < 0.5f ? Vec3{1.0f, 0.0f, 0.0f} : (1.0f / fmaxf(sigma0, 0.5f)) * b0;

    // The other two, freed of the first direction, are made orthogonal to each other by one more
    // rotation.
    const Vec3 b1 = f * v[1];
    const Vec3 b2 = f * v[2];
    Vec3 c1 = b1 - dot(u0, b1) * u0;
    Vec3 c2 = b2 - dot(u0, b2) * u0;
    const Rotation r = from_tangent(jacobi_tangent(dot(c1, c1), dot(c2, c2), dot(c1, c2)));
    rotate(r, c1, c2);
    rotate(r, v[1], v[2]);
    const bool swaps = dot(c1, c1) < dot(c2, c2);
    swap_if(swaps, c1, c2);
    swap_if(swaps, v[1], v[2]);

    const float sigma1 = sqrtf(dot(c1, c1));
    const float noise = fmaxf(sigma0, 1.0f) * (4.0f * F32_EPSILON);
    const Vec3 u1 = sigma1 <= noise ? perpendicular(u0) : (1.0f / fmaxf(sigma1, noise)) * c1;
    const Vec3 u2 = cross(u0, u1);
    return {transpose({u0, u1, u2}), {scale * sigma0, scale * sigma1, scale * dot(u2, c2)}, transpose({v[0], v[1], v[2]})};
}

// The rotation R of F = R S, by Newton's iteration (Higham 1986) where it converges to a proper
// rotation, else U V^T.
__device__ __forceinline__ Mat3 polar(const Mat3& f) {
    Mat3 r = f;
    float change = 1.0f;
#pragma unroll 1
    for (int i = 0; i < 5; ++i) {
        const Mat3 cofactors = {cross(r.b, r.c), cross(r.c, r.a), cross(r.a, r.b)};
        const float inverse = 0.5f / dot(r.a, cofactors.a);
        const Mat3 next = {0.5f * r.a + inverse * cofactors.a, 0.5f * r.b + inverse * cofactors.b,
                           0.5f * r.c + inverse * cofactors.c};
        change = norm_squared(next - r);
        r = next;
        // Quadratic convergence: the next change would be below rounding.
        if (change <= 1e-9f) {
            break;
        }
    }
    if (change <= F32_EPSILON && determinant(f) > 0.0f) {
        return r;
    }
    const Svd s = svd(f);
    return mul_transpose(s.u, s.v);
}
