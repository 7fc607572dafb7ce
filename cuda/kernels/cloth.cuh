// A face of cloth: QR, return mapping, stress and energy in f32, as mpm/src/cloth/model.rs; a hinge
// in f64, as mpm/src/cloth/bending.rs. The equations are there.
#pragma once

#include "parameters.cuh"
#include "svd.cuh"

namespace cloth {

// A length below which a direction is taken as zero rather than divided by: the square is still a
// normal number.
constexpr float TINY = 1e-18f;

__device__ __forceinline__ float fused_dot(Vec3 a, Vec3 b) {
    return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z));
}

// F = Q R.
struct Qr {
    // Columns of Q.
    Vec3 q[3];
    float r11, r12, r22;
    float r13, r23;
    float r33;

    __device__ __forceinline__ Vec3 director() const { return fused(r33, q[2], fused(r13, q[0], r23 * q[1])); }

    // y = R2^-1 r of a part r in the plane, by back substitution.
    __device__ __forceinline__ void carried_back(float r13, float r23, float& y1, float& y2) const {
        y2 = r23 / fmaxf(r22, TINY);
        y1 = (r13 - r12 * y2) / fmaxf(r11, TINY);
    }
};

// Of the columns of F; a face that has collapsed gives zeros for the directions it lost.
__device__ __forceinline__ Qr qr_of(Vec3 f1, Vec3 f2, Vec3 f3) {
    Qr qr;
    qr.r11 = sqrtf(fused_dot(f1, f1));
    qr.q[0] = (1.0f / fmaxf(qr.r11, TINY)) * f1;
    const float along = fused_dot(qr.q[0], f2);
    Vec3 rest = fused(-along, qr.q[0], f2);
    // Once more: what is left is orthogonal to rounding also where f2 is almost along f1 (Giraud et
    // al. 2005).
    const float again = fused_dot(qr.q[0], rest);
    rest = fused(-again, qr.q[0], rest);
    qr.r12 = along + again;
    qr.r22 = sqrtf(fused_dot(rest, rest));
    qr.q[1] = (1.0f / fmaxf(qr.r22, TINY)) * rest;
    qr.q[2] = cross(qr.q[0], qr.q[1]);
    qr.r13 = fused_dot(qr.q[0], f3);
    qr.r23 = fused_dot(qr.q[1], f3);
    qr.r33 = fused_dot(qr.q[2], f3);
    return qr;
}

// r33 below which the normal response no longer grows.
constexpr float THINNEST = 0.05f;

// -f' of the normal response [Pa].
__device__ __forceinline__ float pressure_across(const ClothSheetMaterial& sheet, float normal) {
    const float r33 = fmaxf(normal, THINNEST);
    if (r33 < 0.5f) {
        return sheet.normal_stiffness * (0.125f * (1.0f - logf(r33 + r33)) / r33);
    }
    const float compression = fmaxf(1.0f - r33, 0.0f);
    return sheet.normal_stiffness * (compression * compression);
}

// f of the normal response [J/m^3].
__device__ __forceinline__ float pressing_energy(const ClothSheetMaterial& sheet, float normal) {
    const float r33 = fmaxf(normal, THINNEST);
    const float compression = fmaxf(1.0f - fmaxf(r33, 0.5f), 0.0f);
    const float cubic = (1.0f / 3.0f) * compression * compression * compression;
    const float beyond = -logf(fminf(r33 + r33, 1.0f));
    const float linear = 0.125f * beyond * fmaf(0.5f, beyond, 1.0f);
    return fmaf(pressure_across(sheet, normal), fmaxf(THINNEST - normal, 0.0f), sheet.normal_stiffness * (cubic + linear));
}

// The state with r33 in [0, 1], shear within the friction cone, |y| <= 1 and |f' y| <= K.
__device__ __forceinline__ Qr return_mapping(const ClothSheetMaterial& sheet, Qr qr) {
    const float apart = fabsf(qr.r33);
    const float normal = fminf(apart, 1.0f);
    const float pressure = pressure_across(sheet, normal);
    const float shear = sheet.shear_stiffness * sqrtf(fmaf(qr.r13, qr.r13, qr.r23 * qr.r23));
    const float limit = sheet.friction * pressure;
    const bool holds = sheet.shear_stiffness > 0.0f && apart <= 1.0f;
    float kept = !holds ? 0.0f : limit < shear ? limit / fmaxf(shear, TINY) : 1.0f;
    float y1, y2;
    qr.carried_back(qr.r13 * kept, qr.r23 * kept, y1, y2);
    const float excess = fmaxf(pressure / fmaxf(sheet.normal_stiffness, TINY), 1.0f);
    kept /= fmaxf(excess * sqrtf(fmaf(y1, y1, y2 * y2)), 1.0f);
    qr.r13 *= kept;
    qr.r23 *= kept;
    qr.r33 = normal;
    return qr;
}

// A symmetric matrix of the plane.
struct Sym2 {
    float xx, xy, yy;
};

// Polar decomposition of the plane's R: rotation times U.
struct Polar {
    Rotation turn;
    Sym2 stretch;
    // det U.
    float area;
};

// Of a face; one that has collapsed gives zeros.
__device__ __forceinline__ Polar polar_of(const Qr& qr) {
    const float sum = qr.r11 + qr.r22, difference = -qr.r12;
    const float scale = 1.0f / fmaxf(sqrtf(fmaf(sum, sum, difference * difference)), TINY);
    const float c = sum * scale, s = difference * scale;
    return {{c, s}, {c * qr.r11, -s * qr.r11, c * qr.r22 - s * qr.r12}, qr.r11 * qr.r22};
}

// Biot stress of the plane [Pa].
__device__ __forceinline__ Sym2 biot_of(const ClothSheetMaterial& sheet, const Polar& polar) {
    const float two_mu = sheet.mu + sheet.mu;
    const Sym2& u = polar.stretch;
    const float area = sheet.lambda * (polar.area - 1.0f);
    return {fmaf(two_mu, u.xx - 1.0f, area * u.yy), (two_mu - area) * u.xy, fmaf(two_mu, u.yy - 1.0f, area * u.xx)};
}

// The plane's part of the stress' first two columns [Pa], of a Biot stress T: rotation (T + a e),
// where a leaves no moment.
__device__ __forceinline__ void plane_piola(const Qr& qr, const Polar& polar, const Sym2& biot, Vec3 (&stress)[2]) {
    const float c = polar.turn.c, s = polar.turn.s;
    const Sym2& u = polar.stretch;
    const float commutator = fmaf(biot.xx - biot.yy, u.xy, biot.xy * (u.yy - u.xx));
    const float a = -commutator / fmaxf(u.xx + u.yy, TINY);
    const float above = biot.xy + a, below = biot.xy - a;
    const float p11 = c * biot.xx - s * below, p21 = fmaf(s, biot.xx, c * below);
    const float p12 = c * above - s * biot.yy, p22 = fmaf(s, above, c * biot.yy);
    stress[0] = fused(p11, qr.q[0], p21 * qr.q[1]);
    stress[1] = fused(p12, qr.q[0], p22 * qr.q[1]);
}

// Energy per rest volume [J/m^3].
__device__ __forceinline__ float energy_density(const ClothSheetMaterial& sheet, const Qr& qr) {
    const Rotation turn = polar_of(qr).turn;
    const float a = qr.r11 - turn.c, b = qr.r12 + turn.s, d = qr.r22 - turn.c;
    const float strain = fmaf(a, a, fmaf(b, b, fmaf(d, d, turn.s * turn.s)));
    const float area = qr.r11 * qr.r22 - 1.0f;
    const float normal = pressing_energy(sheet, qr.r33);
    const float shear = 0.5f * sheet.shear_stiffness * fmaf(qr.r13, qr.r13, qr.r23 * qr.r23);
    return sheet.mu * strain + 0.5f * sheet.lambda * area * area + normal + shear;
}

// First Piola-Kirchhoff stress [Pa], of a Biot stress in the plane: its first two columns, and the
// third, which is returned.
__device__ __forceinline__ Vec3 first_piola(const ClothSheetMaterial& sheet, const Qr& qr, const Polar& polar, const Sym2& biot, Vec3 (&stress)[2]) {
    const float normal = -pressure_across(sheet, qr.r33);
    float y1, y2;
    qr.carried_back(qr.r13, qr.r23, y1, y2);
    const float turning = sheet.shear_stiffness * qr.r33 - normal;
    plane_piola(qr, polar, biot, stress);
    stress[0] = fused(turning * y1, qr.q[2], stress[0]);
    stress[1] = fused(turning * y2, qr.q[2], stress[1]);
    const float s13 = sheet.shear_stiffness * qr.r13, s23 = sheet.shear_stiffness * qr.r23;
    return fused(normal, qr.q[2], fused(s13, qr.q[0], s23 * qr.q[1]));
}

// A vector in f64.
struct Wide {
    double x, y, z;
};

__device__ __forceinline__ Wide operator-(Wide a, Wide b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Wide operator+(Wide a, Wide b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Wide operator*(double s, Wide a) { return {s * a.x, s * a.y, s * a.z}; }
__device__ __forceinline__ double dot(Wide a, Wide b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Wide cross(Wide a, Wide b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A hinge's corners from its first one [m]: the edge's other end, and the tips of the faces on its
// left and right.
struct Corners {
    Wide edge, left, right;
};

// How far the angle is from that at rest [rad].
__device__ __forceinline__ double bend_of(const ClothHinge& hinge, const Corners& c) {
    const Wide left = cross(c.edge, c.left), right = cross(c.right, c.edge);
    const double angle = atan2(dot(cross(left, right), c.edge), dot(left, right) * sqrt(dot(c.edge, c.edge)));
    const double bend = angle - hinge.rest_angle;
    constexpr double TURN = 6.283185307179586;
    return bend - TURN * round(bend / TURN);
}

// Areas of a hinge's faces that bend, that is of those whose vertices are not all held [m^2];
// `is_held(v)` is whether a pin holds vertex v.
template <typename IsHeld>
__device__ __forceinline__ Array<double, 2> bending_areas(const ClothHinge& hinge, IsHeld is_held) {
    const bool edge = is_held(hinge.vertices[0]) && is_held(hinge.vertices[1]);
    const auto of = [&](uint32_t side) { return edge && is_held(hinge.vertices[2 + side]) ? 0.0 : hinge.areas[side]; };
    return {of(0), of(1)};
}

// Curvature across a hinge's edge over its angle [1/m].
__device__ __forceinline__ double curvature_per_angle(const ClothHinge& hinge, const Array<double, 2>& areas) {
    const double area = areas[0] + areas[1];
    return area > 0.0 ? hinge.length / area : 0.0;
}

// Moment of hinge number `own` [N m]; `corners_of(h)` are those of a hinge.
template <typename CornersOf, typename IsHeld>
__device__ __forceinline__ double moment_of(const Span<ClothHinge>& hinges, uint32_t own, CornersOf corners_of, IsHeld is_held) {
    const auto curvature = [&](uint32_t number) {
        const ClothHinge& hinge = hinges[number];
        return curvature_per_angle(hinge, bending_areas(hinge, is_held)) * bend_of(hinge, corners_of(hinge));
    };
    const ClothHinge& hinge = hinges[own];
    const Array<double, 2> areas = bending_areas(hinge, is_held);
    const double here = curvature(own);
    double across = (areas[0] + areas[1]) * here;
#pragma unroll 1
    for (uint32_t k = 0; k < 4; ++k) {
        if (hinge.couplings[k] > 0.0) {
            across += areas[k / 2] * hinge.couplings[k] * curvature(hinge.neighbours[k]);
        }
    }
    return hinge.stiffness * curvature_per_angle(hinge, areas) * across;
}

// Forces of a moment [N m] on the hinge's vertices [N]; none where a face has collapsed.
__device__ __forceinline__ void hinge_forces(double resisting, const Corners& c, Wide (&forces)[4]) {
    const Wide left = cross(c.edge, c.left), right = cross(c.right, c.edge);
    const double length_squared = dot(c.edge, c.edge), length = sqrt(length_squared);
    const double left_squared = dot(left, left), right_squared = dot(right, right);
    const bool is_whole = left_squared > 0.0 && right_squared > 0.0;
    const double moment = is_whole ? -resisting : 0.0;
    const Wide of_left = (is_whole ? -length / left_squared : 0.0) * left;
    const Wide of_right = (is_whole ? -length / right_squared : 0.0) * right;
    // Where the tips' feet are along the edge, 0 at its first end and 1 at its second.
    const double s = is_whole ? dot(c.left, c.edge) / (length * length) : 0.0;
    const double t = is_whole ? dot(c.right, c.edge) / (length * length) : 0.0;
    forces[0] = -moment * ((1.0 - s) * of_left + (1.0 - t) * of_right);
    forces[1] = -moment * (s * of_left + t * of_right);
    forces[2] = moment * of_left;
    forces[3] = moment * of_right;
}

}  // namespace cloth
