// Constitutive models: return mapping and Kirchhoff stress, in f32. The equations are in
// mpm/src/constitutive/mod.rs.
#pragma once

#include "parameters.cuh"
#include "svd.cuh"

// The response of a model to a trial deformation gradient.
struct ConstitutiveResponse {
    Mat3 gradient;
    // Kirchhoff stress [Pa].
    Sym3 stress;
    float history;
};

// Below these, a principal stretch counts as this, and ln J goes on as its tangent
// (mpm/src/constitutive).
constexpr float SMALLEST_STRETCH = static_cast<float>(MPM_SMALLEST_STRETCH);
constexpr float EXTENSION_VOLUME_RATIO = static_cast<float>(MPM_EXTENSION_VOLUME_RATIO);

__device__ __forceinline__ ConstitutiveResponse fixed_corotated(const MpmMaterial& m, const Mat3& f, float history) {
    const Mat3 r = polar(f);
    const float j = determinant(f);
    // F - R is exact where it is small, which F F^T - R F^T would not be.
    const Sym3 shear = symmetric_product(f - r, f);
    return {f, scaled_plus(2.0f * m.mu, shear, m.lambda * (j - 1.0f) * j), history};
}

__device__ __forceinline__ ConstitutiveResponse linear_corotated(const MpmMaterial& m, const Mat3& f, float history) {
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

__device__ __forceinline__ ConstitutiveResponse neo_hookean(const MpmMaterial& m, const Mat3& f, float history) {
    const float j = determinant(f);
    // Zero above the extension, where (J, 1) is (J, J/J).
    const float below = fminf(j, EXTENSION_VOLUME_RATIO) - EXTENSION_VOLUME_RATIO;
    const float log_j = below * (1.0f / EXTENSION_VOLUME_RATIO) + logf(fmaxf(j, EXTENSION_VOLUME_RATIO));
    const float slope = below * (1.0f / EXTENSION_VOLUME_RATIO) + 1.0f;
    return {f, scaled_plus(m.mu, symmetric_product(f, f), (m.lambda * log_j - m.mu) * slope), history};
}

// Principal Hencky strains.
__device__ __forceinline__ Vec3 hencky(Vec3 sigma) {
    return {logf(fmaxf(sigma.x, SMALLEST_STRETCH)), logf(fmaxf(sigma.y, SMALLEST_STRETCH)), logf(fmaxf(sigma.z, SMALLEST_STRETCH))};
}

__device__ __forceinline__ bool is_collapsed(Vec3 sigma) {
    return sigma.x < SMALLEST_STRETCH || sigma.y < SMALLEST_STRETCH || sigma.z < SMALLEST_STRETCH;
}

// The response with the principal Hencky strains `returned` on the axes of the trial `f`, whose
// gradient stays where nothing changed.
__device__ __forceinline__ ConstitutiveResponse returned_to(
    const MpmMaterial& m, const Svd& axes, Vec3 returned, bool changed, const Mat3& f, float history) {
    Mat3 gradient = f;
    if (changed) {
        const Vec3 stretch = {expf(returned.x), expf(returned.y), expf(returned.z)};
        gradient = mul_transpose(scale_columns(axes.u, stretch), axes.v);
    }
    const float pressure = m.lambda * sum_of(returned);
    const Vec3 principal = 2.0f * m.mu * returned + Vec3{pressure, pressure, pressure};
    return {gradient, symmetric_product(scale_columns(axes.u, principal), axes.u), history};
}

// Von Mises and Drucker-Prager: Hencky strain on the principal axes, returned to the yield surface.
__device__ __forceinline__ ConstitutiveResponse plastic(const MpmMaterial& m, const Mat3& f, float history) {
    const Svd axes = svd(f);
    Vec3 strain = hencky(axes.sigma);
    bool changed = is_collapsed(axes.sigma);
    const bool is_cone = m.model == MPM_DRUCKER_PRAGER;
    if (is_cone) {
        // Volume gained earlier counts as part of the strain (Tampubolon et al. 2017).
        const float gained = history * (1.0f / 3.0f);
        strain = strain + Vec3{gained, gained, gained};
        changed = changed || history != 0.0f;
    }
    const float mean = sum_of(strain) * (1.0f / 3.0f);
    const Vec3 deviator = strain - Vec3{mean, mean, mean};
    const float norm = sqrtf(dot(deviator, deviator));
    const float trace = 3.0f * mean;
    // Largest |dev e|: on the cone of Drucker and Prager (Klar et al. 2016), or on the cylinder of
    // von Mises.
    const float allowed = is_cone ? -m.yield_strain * trace : m.yield_strain;
    const bool yields = norm > allowed;
    const float factor = yields ? allowed / fmaxf(norm, 1e-30f) : 1.0f;
    Vec3 returned = factor * deviator + Vec3{mean, mean, mean};
    changed = changed || yields;
    if (is_cone) {
        const bool tension = trace >= 0.0f;
        returned = tension ? Vec3{0.0f, 0.0f, 0.0f} : returned;
        history = tension ? trace : 0.0f;
        changed = changed || tension;
    } else {
        // sqrt(2/3) times the plastic strain increment (Simo and Hughes, box 9.1).
        history += 0.81649658f * fmaxf(norm - allowed, 0.0f);
    }
    return returned_to(m, axes, returned, changed, f, history);
}

// cos(acos(-x)/3) for |x| < 1: the root within (1/2, 1) of 4 y^3 - 3 y + x, as
// mpm/src/constitutive/granular.rs finds it.
__device__ __forceinline__ float lode_cosine(float x) {
    const float s = sqrtf(fmaxf((1.0f - x) * 0.5f, 1e-6f));
    float y = fmaf(fmaf(fmaf(0.02638f, s, -0.10373f), s, 0.57735f), s, 0.5f);
#pragma unroll
    for (uint32_t step = 0; step < 3; ++step) {
        const float square = y * y;
        y = (8.0f * square * y - x) / (12.0f * square - 3.0f);
    }
    return y;
}

// Dense granular flow: cones of Matsuoka and Nakai 1974, between which friction follows mu(I) (Jop
// et al. 2006).
__device__ __forceinline__ ConstitutiveResponse granular(const MpmMaterial& m, const Mat3& f, float history, float substep) {
    const Svd axes = svd(f);
    // Volume gained earlier counts as part of the strain (Tampubolon et al. 2017).
    const float gained = history * (1.0f / 3.0f);
    const Vec3 strain = hencky(axes.sigma) + Vec3{gained, gained, gained};
    const float mean = sum_of(strain) * (1.0f / 3.0f);
    const Vec3 deviator = strain - Vec3{mean, mean, mean};
    const float trace = 3.0f * mean;
    const bool tension = trace >= 0.0f;
    const float pressure = fmaxf(-(m.lambda + m.mu * (2.0f / 3.0f)) * trace, 0.0f);

    const float norm = fmaxf(sqrtf(dot(deviator, deviator)), 1e-30f);
    // cos(3 theta) of the stress, compression positive: -3 sqrt(6) times the product of the
    // direction's components.
    const float product_of_axes = (deviator.x / norm) * (deviator.y / norm) * (deviator.z / norm);
    const float cosine = fminf(fmaxf(-7.3484692f * product_of_axes, -1.0f), 1.0f);
    const float shear = 1.4142136f * m.mu * norm;
    const float slow = pressure * m.slow_ratio / lode_cosine(m.slow_triangularity * cosine);
    const float fast = pressure * m.fast_ratio / lode_cosine(m.fast_triangularity * cosine);
    // T^2 - T (fast + shear + a) + fast shear + slow a = 0: the flow of the substep relaxes the
    // stress (Dunatunga and Kamrin 2015).
    const float a = m.relaxation * substep * sqrtf(pressure);
    const float above = fast - shear + a;
    // (fast + shear + a)^2 - 4 (fast shear + slow a), as a sum of what does not cancel where the
    // stress slides.
    const float root = sqrtf(fmaxf(fmaf(above, above, 4.0f * a * (shear - slow)), 0.0f));
    const float flowing = 2.0f * fmaf(fast, shear, slow * a) / fmaxf(fast + shear + a + root, 1e-30f);
    const bool slides = slow < shear;
    const float factor = slides ? fminf(flowing / fmaxf(shear, 1e-30f), 1.0f) : 1.0f;
    const Vec3 in_cone = factor * deviator + Vec3{mean, mean, mean};
    const Vec3 returned = tension ? Vec3{0.0f, 0.0f, 0.0f} : in_cone;
    const bool changed = tension || slides || history != 0.0f || is_collapsed(axes.sigma);
    return returned_to(m, axes, returned, changed, f, tension ? trace : 0.0f);
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
        const Vec3 strain = hencky(svd(f).sigma);
        shear = dot(strain, strain);
        volume = sum_of(strain);
    }
    return m.mu * shear + 0.5f * m.lambda * volume * volume;
}

// The response of any model in a substep of `substep` [s]. Threads of a warp whose particles have
// one material take one branch.
__device__ __forceinline__ ConstitutiveResponse respond(const MpmMaterial& m, const Mat3& trial, float history, float substep) {
    switch (m.model) {
        case MPM_FIXED_COROTATED: return fixed_corotated(m, trial, history);
        case MPM_NEO_HOOKEAN: return neo_hookean(m, trial, history);
        case MPM_LINEAR_COROTATED: return linear_corotated(m, trial, history);
        case MPM_GRANULAR: return granular(m, trial, history, substep);
        default: return plastic(m, trial, history);
    }
}
