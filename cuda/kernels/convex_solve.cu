// The convex contact solve: Newton's method on the objective of a substep, as
// coupling/src/convex/solver.rs does it, by blocks that stay on the device from the first
// evaluation to the last. Every thread keeps the same state of the solve from the same sums, so
// that all take the same branches; the host sees nothing before the report.
#include "convex_steps.cuh"
#include "stop.cuh"

namespace convex {

// A solve that starts within NEAR tolerances goes on to MARGIN of one:
// coupling/src/convex/solver.rs says why.
constexpr double NEAR = 10.0;
constexpr double MARGIN = 0.25;
constexpr uint32_t NO_START = 0xffffffffu;

// Adds a solve to those of the step (coupling/src/observe.rs).
__device__ __forceinline__ void add(ConvexTotals& totals, const ConvexReport& report) {
    if (report.tolerance > 0.0) {
        totals.residual = fmax(totals.residual, report.residual / report.tolerance);
    }
    totals.contacts += report.contacts;
    totals.iterations += report.iterations;
    totals.inner_iterations += report.inner_iterations;
    totals.unresolved_systems += report.unresolved_systems;
    totals.solves += 1;
    totals.most_contacts = max(totals.most_contacts, report.contacts);
    totals.most_iterations = max(totals.most_iterations, report.iterations);
    totals.not_converged += report.stop == CONVEX_CONVERGED || report.stop == CONVEX_STAGNATED ? 0 : 1;
}

// From the start to the end; returns why it ended.
template <typename Bodies>
__device__ __forceinline__ uint32_t iterate(ConvexSolve<Bodies>& s) {
    // Which start is being looked at, if any.
    enum Stage : uint32_t { OF_VELOCITIES, OF_IMPULSES, SETTLED };
    uint32_t stage = SETTLED;
    uint32_t start = s.settings.guess;
    // Where the iterate's velocities are those of another solve, it is never taken without a step.
    bool adopted = false;
    bool needs_double = false;
    double first_residual = 0.0;
    double first_scale = 0.0;
    double aim = 1.0;
    Forcing forcing = {0.0, 0.0, false};
    if (start == CONVEX_GUESS_SOLUTION) {
        s.set_start();
        stage = OF_VELOCITIES;
    }
    while (true) {
        if (start != CONVEX_GUESS_SOLUTION && start != NO_START) {
            s.start_by_line_search(start);
        }
        start = NO_START;
        const Evaluation e = s.evaluate();
        if (stage == OF_VELOCITIES) {
            if (e.residual < e.tolerance) {
                adopted = true;
                stage = SETTLED;
            } else {
                first_residual = e.residual;
                first_scale = e.scale;
                s.keep_iterate(false);
                start = CONVEX_GUESS_IMPULSES;
                stage = OF_IMPULSES;
                continue;
            }
        } else if (stage == OF_IMPULSES) {
            stage = SETTLED;
            if (!(e.residual * first_scale <= first_residual * e.scale)) {
                s.keep_iterate(true);
                adopted = true;
                continue;
            }
        }
        s.record(s.report.iterations, e);
        if (!e.is_finite()) {
            return CONVEX_NOT_FINITE;
        }
        const bool reached = e.residual < aim * e.tolerance || e.residual == 0.0;
        const bool settling = adopted && s.report.iterations == 0 && reached && e.residual > 0.0;
        if (reached && !settling) {
            return CONVEX_CONVERGED;
        }
        if (s.report.iterations == s.settings.max_iterations) {
            return e.residual < e.tolerance ? CONVEX_CONVERGED : CONVEX_ITERATION_LIMIT;
        }
        if (s.report.iterations == 0 && e.residual < NEAR * e.tolerance) {
            aim = MARGIN;
        }
        if (settling) {
            s.relaxation_direction();
        } else {
            s.newton_direction(e, aim * e.tolerance, forcing, needs_double);
        }
        double sums[2];
        const auto of_node = [&](uint32_t i, double (&values)[2]) {
            for (uint32_t a = 0; a < 3; ++a) {
                const double d = s.m.node(DIRECTION + a, i);
                values[0] += s.m.node(GRADIENT + a, i) * d;
                values[1] += s.m.node(MASS, i) * d * d;
            }
        };
        s.m.template sum_nodes<2>(s.bodies, sums, of_node, [&](double (&values)[2]) { s.bodies.slope(values); });
        const double slope = sums[0];
        const double term_magnitude = sqrt(sums[1] * e.deviation) + sqrt(sums[1] * e.impulse);
        if (-slope <= 64.0 * DOUBLE_EPSILON * term_magnitude && e.residual <= s.rounding_floor()) {
            return CONVEX_STAGNATED;
        }
        double at_zero[3];
        s.project_direction(at_zero);
        const LineObjective line = {slope, sums[1], term_magnitude, false, {at_zero[0], at_zero[1], at_zero[2]}};
        const LineSearchResult step = search(s.m, line);
        s.report.line_search_iterations += step.evaluations;
        s.advance(step.alpha);
        s.report.iterations += 1;
    }
}

// The whole solve. `bodies_of(contacts)` gives the strongly coupled bodies in one with so many
// contacts.
template <typename BodiesOf>
__device__ __forceinline__ void solve(const ConvexSolveParameters& p, BodiesOf bodies_of) {
    const Span<uint32_t>& counts = p.incidence.counts;
    if (is_inactive(p.clock)) {
        return;
    }
    ConvexReport report = {0.0, 0.0, 0.0, CONVEX_NO_CONTACTS, 0, 0, 0, counts[0], counts[1], counts[2], 0, 0, 0};
    const bool capacity_exceeded = counts[3] != 0;
    if (report.contacts == 0 || capacity_exceeded) {
        if (global_thread() == 0) {
            report.stop = capacity_exceeded ? CONVEX_CAPACITY_EXCEEDED : CONVEX_NO_CONTACTS;
            report.tolerance = p.settings[0].absolute_tolerance;
            p.report[0] = report;
        }
        return;
    }
    const auto bodies = bodies_of(report.contacts);
    ConvexSolve<decltype(bodies)> solve = {p, p.settings[0], {p, report.contacts, report.nodes, 0}, bodies, report};
    const double substep = solve.settings.substep;
    solve.load();
    const uint32_t stop = substep > 0.0 && isfinite(substep) ? iterate(solve) : CONVEX_NOT_FINITE;
    solve.finish(stop != CONVEX_NOT_FINITE);
    if (global_thread() == 0) {
        solve.report.stop = stop;
        p.report[0] = solve.report;
        if (stop == CONVEX_NOT_FINITE && p.status.length > 0) {
            stop_contact(p.status, p.clock, CONVEX_FAILED, 0, 0);
        } else {
            add(p.totals[0], solve.report);
        }
    }
}

}  // namespace convex

PLIANT_KERNEL(convex_solve, ConvexSolveParameters, CONVEX_THREADS) {
    convex::solve(p, [](uint32_t) { return convex::NoBodies{}; });
}

PLIANT_KERNEL_FOR(convex_solve_bodies, ConvexSolveBodiesParameters, CONVEX_THREADS, 3) {
    convex::solve(p.solve, [&](uint32_t contacts) {
        return convex::StronglyCoupledBodies{p.bodies, p.solve.contacts, contacts, p.bodies.counts[0], p.bodies.counts[1]};
    });
}
