// The contact model of one contact, in f64: compliant normal force with Hunt-Crossley dissipation
// and the tension of a bond, and regularised friction with a lagged normal impulse (Castro et al.
// 2023; rigid/src/contact_model.rs has the formulas).
#pragma once

#include "convex.cuh"

namespace convex {

// Below this friction is as good as Coulomb's and its Hessian would overflow [m/s].
constexpr double SMALLEST_STICTION = 1e-12;

// The constants of a contact model.
struct ContactModel {
    double release, linear, quadratic, friction_bound, stiction, tension_slope, tension_range;
};

// Potential, impulse and stiffness of the normal part at a normal velocity.
struct NormalResponse {
    double potential, impulse, stiffness;
};

__device__ __forceinline__ ContactModel contact_model_of(const Passes& m, uint32_t c, const ConvexSettings& settings) {
    const ConvexContacts& contacts = m.p.contacts;
    const double substep = settings.substep;
    const double d = contacts.dissipation.length > 0 ? contacts.dissipation[c] : settings.dissipation;
    const double v_s =
        contacts.stiction_tolerance.length > 0 ? contacts.stiction_tolerance[c] : settings.stiction_tolerance;
    const double gap = contacts.gap[c];
    const double k = contacts.stiffness[c];
    const double tension = contacts.tension[c];
    ContactModel model;
    // 1/0 is infinite: without dissipation the first is the smaller.
    model.release = min(quotient_of(-gap, substep), quotient_of(1.0, d));
    const double factor = substep + d * gap;
    model.linear = substep * k * (factor < 0.0 ? -factor : factor);
    model.quadratic = substep * substep * k * d;
    model.friction_bound = static_cast<double>(contacts.friction[c]) * contacts.lagged_normal_impulse[c];
    model.stiction = max(v_s, SMALLEST_STICTION);
    const bool bonded = tension > 0.0 && k > 0.0;
    model.tension_slope = bonded ? substep * substep * k : 0.0;
    model.tension_range = bonded ? quotient_of(tension, substep * k) : 0.0;
    return model;
}

__device__ __forceinline__ void store(const Passes& m, uint32_t c, const ContactModel& model) {
    m.contact(RELEASE, c) = model.release;
    m.contact(LINEAR, c) = model.linear;
    m.contact(QUADRATIC, c) = model.quadratic;
    m.contact(FRICTION_BOUND, c) = model.friction_bound;
    m.contact(STICTION, c) = model.stiction;
    m.contact(TENSION_SLOPE, c) = model.tension_slope;
    m.contact(TENSION_RANGE, c) = model.tension_range;
}

__device__ __forceinline__ ContactModel load_contact_model(const Passes& m, uint32_t c) {
    return {m.contact(RELEASE, c),        m.contact(LINEAR, c),
            m.contact(QUADRATIC, c),      m.contact(FRICTION_BOUND, c),
            m.contact(STICTION, c),       m.contact(TENSION_SLOPE, c),
            m.contact(TENSION_RANGE, c)};
}

// The device's min and max drop a NaN; a velocity that is not finite must stay so.
__device__ __forceinline__ double positive_part(double x) {
    return x < 0.0 ? 0.0 : x;
}

__device__ __forceinline__ NormalResponse normal_response(const ContactModel& model, double v_n) {
    const double u = positive_part(model.release - v_n);
    const double w = positive_part(v_n - model.release);
    const double stretch = w < model.tension_range ? w : model.tension_range;
    const double tension = model.tension_slope * stretch;
    NormalResponse response;
    response.potential =
        u * u * (0.5 * model.linear + model.quadratic * u * (1.0 / 3.0)) + tension * (w - 0.5 * stretch);
    response.impulse = u * (model.linear + model.quadratic * u) - tension;
    response.stiffness = (u > 0.0 ? model.linear + 2.0 * model.quadratic * u : 0.0) +
                         (w > 0.0 && w < model.tension_range ? model.tension_slope : 0.0);
    return response;
}

// The normal and tangential parts of a velocity.
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
__device__ __forceinline__ double write_impulse(const Passes& m, uint32_t c) {
    const ContactModel model = load_contact_model(m, c);
    const Split v = split(m, CONTACT_VELOCITY, c);
    const double slip = dot(v.t, v.t);
    const double s = root_of(slip + model.stiction * model.stiction);
    const double friction = quotient_of(model.friction_bound, s);
    const NormalResponse normal = normal_response(model, v.v_n);
    for (uint32_t a = 0; a < 3; ++a) {
        m.contact(CONTACT_IMPULSE + a, c) = normal.impulse * v.n[a] - friction * v.t[a];
    }
    return normal.potential + quotient_of(model.friction_bound * slip, s + model.stiction);
}

// Writes the Hessian at the contact's velocity; `hessian_blend` scales the part of friction that
// lowers it along the slip: 1 gives the Hessian, 0 the quadratic that touches friction's potential
// here and lies above it everywhere.
__device__ __forceinline__ void write_hessian(const Passes& m, uint32_t c, double hessian_blend) {
    const ContactModel model = load_contact_model(m, c);
    const Split v = split(m, CONTACT_VELOCITY, c);
    const double inverse_s = quotient_of(1.0, root_of(dot(v.t, v.t) + model.stiction * model.stiction));
    const double friction = model.friction_bound * inverse_s;
    const double kn = normal_response(model, v.v_n).stiffness - friction;
    const double ct = hessian_blend * friction;
    // The slip's direction is formed before it is squared: friction/s^2 alone overflows at no slip.
    const double e[3] = {v.t[0] * inverse_s, v.t[1] * inverse_s, v.t[2] * inverse_s};
    for (uint32_t a = 0; a < 3; ++a) {
        m.contact(HESSIAN + a, c) = friction + kn * v.n[a] * v.n[a] - ct * e[a] * e[a];
    }
    m.contact(HESSIAN + 3, c) = kn * v.n[0] * v.n[1] - ct * e[0] * e[1];
    m.contact(HESSIAN + 4, c) = kn * v.n[0] * v.n[2] - ct * e[0] * e[2];
    m.contact(HESSIAN + 5, c) = kn * v.n[1] * v.n[2] - ct * e[1] * e[2];
}

// Writes the ray of the contact's velocity along its direction: v_n, dv_n, |v_t|^2, v_t . dv_t,
// |dv_t|^2.
__device__ __forceinline__ void write_ray(const Passes& m, uint32_t c) {
    const Split v = split(m, CONTACT_VELOCITY, c);
    const Split d = split(m, CONTACT_DIRECTION, c);
    m.contact(RAY + 0, c) = v.v_n;
    m.contact(RAY + 1, c) = d.v_n;
    m.contact(RAY + 2, c) = dot(v.t, v.t);
    m.contact(RAY + 3, c) = dot(v.t, d.t);
    m.contact(RAY + 4, c) = dot(d.t, d.t);
}

// The potential and its first two derivatives by the step length.
static __device__ PLIANT_CALLED Array<double, 3> along(uint32_t c, double alpha) {
    const Passes m = Passes::called();
    const ContactModel model = load_contact_model(m, c);
    const double dv_n = m.contact(RAY + 1, c);
    const double dslip = m.contact(RAY + 4, c);
    const NormalResponse normal = normal_response(model, m.contact(RAY + 0, c) + alpha * dv_n);
    const double at_zero = m.contact(RAY + 3, c);
    // Rounding must not make the square of the slip negative.
    const double slip = positive_part(m.contact(RAY + 2, c) + alpha * (2.0 * at_zero + alpha * dslip));
    const double cross = at_zero + alpha * dslip;
    const double s = root_of(slip + model.stiction * model.stiction);
    const double inverse_s = quotient_of(1.0, s);
    const double friction = model.friction_bound * inverse_s;
    const double turned = cross * inverse_s;
    return {{normal.potential + quotient_of(model.friction_bound * slip, s + model.stiction),
             friction * cross - normal.impulse * dv_n,
             normal.stiffness * dv_n * dv_n + friction * positive_part(dslip - turned * turned)}};
}

}  // namespace convex
