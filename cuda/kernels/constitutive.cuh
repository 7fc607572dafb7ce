// Constitutive models: return mapping and Kirchhoff stress, in f32. The equations are in mpm/src/constitutive/mod.rs.
#pragma once

#include "parameters.cuh"
#include "svd.cuh"

// What a model makes of a trial deformation gradient.
struct Response {
    Mat3 gradient;
    // Kirchhoff stress [Pa].
    Sym3 stress;
    float history;
};

// Below these, a principal stretch counts as this, and ln J goes on as its tangent (mpm/src/constitutive).
constexpr float SMALLEST_STRETCH = 0.05f;
constexpr float EXTENSION_VOLUME_RATIO = 0.1f;

__device__ __forceinline__ Response fixed_corotated(const MpmMaterial& m, const Mat3& f, float history) {
    const Mat3 r = polar(f);
    const float j = determinant(f);
    // F - R is exact where it is small, which F F^T - R F^T would not be.
    const Sym3 shear = symmetric_product(f - r, f);
    return {f, scaled_plus(2.0f * m.mu, shear, m.lambda * (j - 1.0f) * j), history};
}

__device__ __forceinline__ Response linear_corotated(const MpmMaterial& m, const Mat3& f, float history) {
    const Mat3 r = polar(f);
    const Mat3 e = f - r;
    const float volumetric = m.lambda * (dot(r.a, e.a) + dot(r.b, e.b) + dot(r.c, e.c));
    const Sym3 shear = scaled_plus(2.0f * m.mu, symmetric_product(e, f), 0.0f);
    const Sym3 stretch = scaled_plus(volumetric, symmetric_product(r, f), 0.0f);
    return {f,
            {shear.xx + stretch.xx, shear.yy + stretch.yy, shear.zz + stretch.zz, shear.xy + stretch.xy,
             shear.xz + stretch.xz, shear.yz + stretch.yz},
            history};
}

__device__ __forceinline__ Response neo_hookean(const MpmMaterial& m, const Mat3& f, float history) {
    const float j = determinant(f);
    // Zero above the extension, where (J, 1) is (J, J/J).
    const float below = fminf(j, EXTENSION_VOLUME_RATIO) - EXTENSION_VOLUME_RATIO;
    const float log_j = below * (1.0f / EXTENSION_VOLUME_RATIO) + logf(fmaxf(j, EXTENSION_VOLUME_RATIO));
    const float slope = below * (1.0f / EXTENSION_VOLUME_RATIO) + 1.0f;
    return {f, scaled_plus(m.mu, symmetric_product(f, f), (m.lambda * log_j - m.mu) * slope), history};
}

// Both plastic models: Hencky strain on the principal axes, returned to the yield surface.
__device__ __forceinline__ Response plastic(const MpmMaterial& m, const Mat3& f, float history) {
    const Svd axes = svd(f);
    const Vec3 sigma = axes.sigma;
    Vec3 strain = {logf(fmaxf(sigma.x, SMALLEST_STRETCH)), logf(fmaxf(sigma.y, SMALLEST_STRETCH)),
                   logf(fmaxf(sigma.z, SMALLEST_STRETCH))};
    bool changed = sigma.x < SMALLEST_STRETCH || sigma.y < SMALLEST_STRETCH || sigma.z < SMALLEST_STRETCH;
    const bool is_granular = m.model == MPM_DRUCKER_PRAGER;
    if (is_granular) {
        // Volume gained earlier counts as part of the strain (Tampubolon et al. 2017).
        const float gained = history * (1.0f / 3.0f);
        strain = strain + Vec3{gained, gained, gained};
        changed = changed || history != 0.0f;
    }
    const float mean = sum_of(strain) * (1.0f / 3.0f);
    const Vec3 deviator = strain - Vec3{mean, mean, mean};
    const float norm = sqrtf(dot(deviator, deviator));
    const float trace = 3.0f * mean;
    // Largest |dev e|: on the cone of Drucker and Prager (Klar et al. 2016), or on the cylinder of von Mises.
    const float allowed = is_granular ? -m.yield_strain * trace : m.yield_strain;
    const bool yields = norm > allowed;
    const float factor = yields ? allowed / fmaxf(norm, 1e-30f) : 1.0f;
    Vec3 returned = factor * deviator + Vec3{mean, mean, mean};
    changed = changed || yields;
    if (is_granular) {
        const bool tension = trace >= 0.0f;
        returned = tension ? Vec3{0.0f, 0.0f, 0.0f} : returned;
        history = tension ? trace : 0.0f;
        changed = changed || tension;
    } else {
        // sqrt(2/3) times the plastic strain increment (Simo and Hughes, box 9.1).
        history += 0.81649658f * fmaxf(norm - allowed, 0.0f);
    }
    Mat3 gradient = f;
    if (changed) {
        const Vec3 stretch = {expf(returned.x), expf(returned.y), expf(returned.z)};
        gradient = mul_transpose(scale_columns(axes.u, stretch), axes.v);
    }
    const float pressure = m.lambda * sum_of(returned);
    const Vec3 principal = 2.0f * m.mu * returned + Vec3{pressure, pressure, pressure};
    return {gradient, symmetric_product(scale_columns(axes.u, principal), axes.u), history};
}

// Elastic energy per rest volume [J/m^3] of any model.
__device__ __forceinline__ float energy_density(const MpmMaterial& m, const Mat3& f) {
    float shear, volume;
    if (m.model == MPM_NEO_HOOKEAN) {
        const float j = determinant(f);
        const float below = fminf(j, EXTENSION_VOLUME_RATIO) - EXTENSION_VOLUME_RATIO;
        volume = below * (1.0f / EXTENSION_VOLUME_RATIO) + logf(fmaxf(j, EXTENSION_VOLUME_RATIO));
        shear = 0.5f * (norm_squared(f) - 3.0f) - volume;
    } else if (m.model == MPM_FIXED_COROTATED || m.model == MPM_LINEAR_COROTATED) {
        const Mat3 r = polar(f);
        const Mat3 e = f - r;
        shear = norm_squared(e);
        volume = m.model == MPM_FIXED_COROTATED ? determinant(f) - 1.0f : dot(r.a, e.a) + dot(r.b, e.b) + dot(r.c, e.c);
    } else {
        const Vec3 sigma = svd(f).sigma;
        const Vec3 strain = {logf(fmaxf(sigma.x, SMALLEST_STRETCH)), logf(fmaxf(sigma.y, SMALLEST_STRETCH)),
                             logf(fmaxf(sigma.z, SMALLEST_STRETCH))};
        shear = dot(strain, strain);
        volume = sum_of(strain);
    }
    return m.mu * shear + 0.5f * m.lambda * volume * volume;
}

// The response of any model. Threads of a warp whose particles have one material take one branch.
__device__ __forceinline__ Response respond(const MpmMaterial& m, const Mat3& trial, float history) {
    switch (m.model) {
        case MPM_FIXED_COROTATED: return fixed_corotated(m, trial, history);
        case MPM_NEO_HOOKEAN: return neo_hookean(m, trial, history);
        case MPM_LINEAR_COROTATED: return linear_corotated(m, trial, history);
        default: return plastic(m, trial, history);
    }
}
