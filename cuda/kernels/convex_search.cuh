// The exact line search: Newton on the objective's slope along a direction, safeguarded by a
// bracket; the first step inside a bracket is the minimum of the cubic through values and slopes at
// its ends (coupling/src/convex/line_search.rs).
#pragma once

#include "convex.cuh"
#include "convex_contact_model.cuh"

namespace convex {

// The search ends where the slope has fallen to this fraction of the first one.
constexpr double SLOPE_REDUCTION = 0.02;
// Bisection alone has then resolved f64.
constexpr uint32_t MAX_EVALUATIONS = 60;

// The objective along a direction: l(0) + alpha slope + alpha^2/2 |d|_M^2 + contacts.
struct LineObjective {
    // Derivative of the whole objective at zero, and |d|_M^2 [J].
    double slope, mass_curvature;
    // Size of the terms whose difference the slope is [J].
    double term_magnitude;
    // Whether to try a step of one first, and not that of the quadratic model.
    bool try_one;
};

struct LineSearchResult {
    double alpha;
    uint32_t evaluations;
};

// Minimum of the cubic through position, value and slope at two points (Nocedal and Wright 2006,
// eq. 3.59); not a number where there is none.
__device__ __forceinline__ double cubic_minimum(const double (&a)[3], const double (&b)[3]) {
    const double d1 = a[2] + b[2] - quotient_of(3.0 * (a[1] - b[1]), a[0] - b[0]);
    const double d2 = root_of(d1 * d1 - a[2] * b[2]);
    return b[0] - quotient_of((b[0] - a[0]) * (b[2] + d2 - d1), b[2] - a[2] + 2.0 * d2);
}

// All blocks search alike, from the same sums. `at_zero` are the potentials of the contacts
// at zero with their derivatives.
__device__ __forceinline__ LineSearchResult search(Passes& m, const LineObjective& line, const double (&at_zero)[3]) {
    if (!(line.slope < 0.0)) {
        return {0.0, 0};
    }
    const double newton = quotient_of(-line.slope, at_zero[2] + line.mass_curvature);
    const double rounding = 8.0 * 2.220446049250313e-16 * line.term_magnitude;
    const double target = -line.slope * SLOPE_REDUCTION;
    // The slope is lost in rounding: only the quadratic model is left, and its step is as good as
    // any.
    if (target <= rounding) {
        return {newton, 1};
    }
    // Position, value and slope at the ends of the bracket.
    double low[3] = {0.0, 0.0, line.slope};
    double high[3] = {0.0, 0.0, 0.0};
    bool bracketed = false;
    double alpha = line.try_one ? 1.0 : newton;
    double width_before = __longlong_as_double(0x7ff0000000000000ll);
    for (uint32_t evaluation = 1;; ++evaluation) {
        double sums[3];
        m.sum_each<3>(m.contacts, sums, [&](uint32_t c, double (&values)[3]) {
            const Array<double, 3> l = along(c, alpha);
            values[0] = l.data[0], values[1] = l.data[1], values[2] = l.data[2];
        });
        const double linear = line.slope - at_zero[1];
        const double l = (sums[0] - at_zero[0]) + alpha * linear + 0.5 * alpha * alpha * line.mass_curvature;
        const double dl = line.slope + (sums[1] - at_zero[1]) + alpha * line.mass_curvature;
        const double ddl = sums[2] + line.mass_curvature;
        const bool enough = fabs(dl) <= target && l <= rounding;
        if (enough || evaluation == MAX_EVALUATIONS) {
            return {enough ? alpha : low[0], evaluation + 1};
        }
        if (dl < 0.0) {
            low[0] = alpha, low[1] = l, low[2] = dl;
        } else {
            high[0] = alpha, high[1] = l, high[2] = dl;
            bracketed = true;
        }
        const double step = alpha - quotient_of(dl, ddl);
        if (!bracketed) {
            alpha = step;
            continue;
        }
        const double width = high[0] - low[0];
        const bool halved = width < 0.5 * width_before;
        width_before = width;
        const double least = low[0] + 1e-3 * width;
        const double most = high[0] - 1e-3 * width;
        const double cubic = cubic_minimum(low, high);
        if (evaluation == 1 && cubic > least && cubic < most) {
            alpha = cubic;
        } else if (halved && step > least && step < most) {
            alpha = step;
        } else {
            alpha = low[0] + 0.5 * width;
        }
    }
}

}  // namespace convex
