// The law of one contact, in f64: compliant normal force with Hunt-Crossley dissipation and the tension of a bond, and
// regularised friction with a lagged normal impulse (Castro et al. 2023; coupling/src/convex/contact_model.rs has the formulas).
#pragma once

#include "convex.cuh"

namespace convex {

// Below this friction is as good as Coulomb's and its Hessian would overflow [m/s].
constexpr double SMALLEST_STICTION = 1e-12;

// The constants of a contact's law.
struct Law {
    double release, linear, quadratic, friction_bound, stiction, tension_slope, tension_range;
};

// Impulse at rest of nothing, and how the normal part of a law stands at a normal velocity.
struct NormalResponse {
    double potential, impulse, stiffness;
};

__device__ __forceinline__ Law law_of(const Passes& m, uint32_t c, const ConvexSettings& settings) {
    const ConvexContacts& contacts = m.p.contacts;
    const double delta = settings.substep;
    const double d = contacts.dissipation.length > 0 ? contacts.dissipation[c] : settings.dissipation;
    const double v_s =
        contacts.stiction_tolerance.length > 0 ? contacts.stiction_tolerance[c] : settings.stiction_tolerance;
    const double gap = contacts.gap[c];
    const double k = contacts.stiffness[c];
    const double tension = contacts.tension[c];
    Law law;
    // 1/0 is infinite: without dissipation the first is the smaller.
    law.release = min(-gap / delta, 1.0 / d);
    const double factor = delta + d * gap;
    law.linear = delta * k * (factor < 0.0 ? -factor : factor);
    law.quadratic = delta * delta * k * d;
    law.friction_bound = static_cast<double>(contacts.friction[c]) * contacts.lagged_normal_impulse[c];
    law.stiction = max(v_s, SMALLEST_STICTION);
    const bool bonded = tension > 0.0 && k > 0.0;
    law.tension_slope = bonded ? delta * delta * k : 0.0;
    law.tension_range = bonded ? tension / (delta * k) : 0.0;
    return law;
}

__device__ __forceinline__ void store(const Passes& m, uint32_t c, const Law& law) {
    m.contact(RELEASE, c) = law.release;
    m.contact(LINEAR, c) = law.linear;
    m.contact(QUADRATIC, c) = law.quadratic;
    m.contact(FRICTION_BOUND, c) = law.friction_bound;
    m.contact(STICTION, c) = law.stiction;
    m.contact(TENSION_SLOPE, c) = law.tension_slope;
    m.contact(TENSION_RANGE, c) = law.tension_range;
}

__device__ __forceinline__ Law load_law(const Passes& m, uint32_t c) {
    return {m.contact(RELEASE, c),  m.contact(LINEAR, c),        m.contact(QUADRATIC, c),    m.contact(FRICTION_BOUND, c),
            m.contact(STICTION, c), m.contact(TENSION_SLOPE, c), m.contact(TENSION_RANGE, c)};
}

// min and max of the device give the number where one is NaN; a velocity that is not finite must stay so.
__device__ __forceinline__ double positive_part(double x) {
    return x < 0.0 ? 0.0 : x;
}

__device__ __forceinline__ NormalResponse normal_response(const Law& law, double v_n) {
    const double u = positive_part(law.release - v_n);
    const double w = positive_part(v_n - law.release);
    const double held = w < law.tension_range ? w : law.tension_range;
    const double tension = law.tension_slope * held;
    NormalResponse response;
    response.potential = u * u * (0.5 * law.linear + law.quadratic * u * (1.0 / 3.0)) + tension * (w - 0.5 * held);
    response.impulse = u * (law.linear + law.quadratic * u) - tension;
    response.stiffness = (u > 0.0 ? law.linear + 2.0 * law.quadratic * u : 0.0) +
                         (w > 0.0 && w < law.tension_range ? law.tension_slope : 0.0);
    return response;
}

// A velocity seen along a normal and across it.
struct Split {
    double n[3];
    double v_n;
    double t[3];
};

__device__ __forceinline__ Split split(const Passes& m, uint32_t row, uint32_t c) {
    const Array<float, 3>& normal = m.p.contacts.normal[c];
    Split s;
    double v[3];
    s.v_n = 0.0;
    for (uint32_t a = 0; a < 3; ++a) {
        s.n[a] = normal[a];
        v[a] = m.contact(row + a, c);
        s.v_n += s.n[a] * v[a];
    }
    for (uint32_t a = 0; a < 3; ++a) {
        s.t[a] = v[a] - s.v_n * s.n[a];
    }
    return s;
}

__device__ __forceinline__ double dot(const double (&a)[3], const double (&b)[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Writes the impulse at the contact's velocity; returns the potential.
__device__ __forceinline__ double respond(const Passes& m, uint32_t c) {
    const Law law = load_law(m, c);
    const Split v = split(m, CONTACT_VELOCITY, c);
    const double slip = dot(v.t, v.t);
    const double s = sqrt(slip + law.stiction * law.stiction);
    const double friction = law.friction_bound / s;
    const NormalResponse normal = normal_response(law, v.v_n);
    for (uint32_t a = 0; a < 3; ++a) {
        m.contact(CONTACT_IMPULSE + a, c) = normal.impulse * v.n[a] - friction * v.t[a];
    }
    return normal.potential + law.friction_bound * slip / (s + law.stiction);
}

// Writes the Hessian at the contact's velocity; `turning` scales the part of friction that lowers it along the slip: 1 gives
// the Hessian, 0 the quadratic that touches friction's potential here and lies above it everywhere.
__device__ __forceinline__ void bend(const Passes& m, uint32_t c, double turning) {
    const Law law = load_law(m, c);
    const Split v = split(m, CONTACT_VELOCITY, c);
    const double inverse_s = 1.0 / sqrt(dot(v.t, v.t) + law.stiction * law.stiction);
    const double friction = law.friction_bound * inverse_s;
    const double kn = normal_response(law, v.v_n).stiffness - friction;
    const double ct = turning * friction;
    // The slip's direction is formed before it is squared: friction/s^2 alone overflows at no slip.
    const double e[3] = {v.t[0] * inverse_s, v.t[1] * inverse_s, v.t[2] * inverse_s};
    for (uint32_t a = 0; a < 3; ++a) {
        m.contact(HESSIAN + a, c) = friction + kn * v.n[a] * v.n[a] - ct * e[a] * e[a];
    }
    m.contact(HESSIAN + 3, c) = kn * v.n[0] * v.n[1] - ct * e[0] * e[1];
    m.contact(HESSIAN + 4, c) = kn * v.n[0] * v.n[2] - ct * e[0] * e[2];
    m.contact(HESSIAN + 5, c) = kn * v.n[1] * v.n[2] - ct * e[1] * e[2];
}

// Writes the ray of the contact's velocity along its direction: v_n, dv_n, |v_t|^2, v_t . dv_t, |dv_t|^2.
__device__ __forceinline__ void aim(const Passes& m, uint32_t c) {
    const Split v = split(m, CONTACT_VELOCITY, c);
    const Split d = split(m, CONTACT_DIRECTION, c);
    m.contact(RAY + 0, c) = v.v_n;
    m.contact(RAY + 1, c) = d.v_n;
    m.contact(RAY + 2, c) = dot(v.t, v.t);
    m.contact(RAY + 3, c) = dot(v.t, d.t);
    m.contact(RAY + 4, c) = dot(d.t, d.t);
}

// The potential and its first two derivatives by the step length.
__device__ __forceinline__ void along(const Passes& m, uint32_t c, double alpha, double (&values)[3]) {
    const Law law = load_law(m, c);
    const double dv_n = m.contact(RAY + 1, c);
    const double dslip = m.contact(RAY + 4, c);
    const NormalResponse normal = normal_response(law, m.contact(RAY + 0, c) + alpha * dv_n);
    const double at_zero = m.contact(RAY + 3, c);
    // Rounding must not make the square of the slip negative.
    const double slip = positive_part(m.contact(RAY + 2, c) + alpha * (2.0 * at_zero + alpha * dslip));
    const double cross = at_zero + alpha * dslip;
    const double s = sqrt(slip + law.stiction * law.stiction);
    const double inverse_s = 1.0 / s;
    const double friction = law.friction_bound * inverse_s;
    const double turned = cross * inverse_s;
    values[0] = normal.potential + law.friction_bound * slip / (s + law.stiction);
    values[1] = friction * cross - normal.impulse * dv_n;
    values[2] = normal.stiffness * dv_n * dv_n + friction * positive_part(dslip - turned * turned);
}

}  // namespace convex
