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
        totals.residual = fmax(totals.residual, quotient_of(report.residual, report.tolerance));
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
    uint32_t start = s.settings.guess;
    uint32_t stage = start == CONVEX_GUESS_SOLUTION ? OF_VELOCITIES : SETTLED;
    // Where the iterate's velocities are those of another solve, it is never taken without a step.
    bool adopted = false;
    bool needs_double = false;
    double first_residual = 0.0;
    double first_scale = 0.0;
    double aim = 1.0;
    Forcing forcing = {0.0, 0.0, false};
    // A turn is a start or a step. The places that both come by are in the code once.
#pragma unroll 1
    while (true) {
        LineObjective line = {0.0, 0.0, 0.0, true};
        const bool starts = start != NO_START;
        if (starts) {
            line.mass_curvature = s.start(start);
            const bool whole = start == CONVEX_GUESS_SOLUTION;
            start = NO_START;
            if (whole || !(line.mass_curvature > 0.0 && isfinite(line.mass_curvature))) {
                continue;
            }
        } else {
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
            s.direct(e, settling, aim * e.tolerance, forcing, needs_double);
            double sums[2];
            s.slope(sums);
            const double term_magnitude = root_of(sums[1] * e.deviation) + root_of(sums[1] * e.impulse);
            if (-sums[0] <= 64.0 * DOUBLE_EPSILON * term_magnitude && e.residual <= s.rounding_floor()) {
                return CONVEX_STAGNATED;
            }
            line = {sums[0], sums[1], term_magnitude, false};
        }
        double at_zero[3];
        s.project_direction(at_zero);
        if (starts) {
            // The mass term has no slope at the free velocities: the line's slope is that of the
            // contacts alone.
            line.slope = at_zero[1];
        }
        const LineSearchResult step = search(s.m, line, at_zero);
        s.report.line_search_iterations += step.evaluations + (starts ? 1 : 0);
        s.advance(step.alpha);
        s.report.iterations += starts ? 0 : 1;
    }
}

// The whole solve. `bodies_of(contacts, blocks)` gives the strongly coupled bodies in one with so
// many contacts, on so many blocks.
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
    // Barriers of the grid would take longer than the work of a small problem.
    const uint32_t tiles = max(tiles_of(report.contacts), tiles_of(report.nodes));
    const uint32_t blocks = tiles <= CONVEX_SMALL ? 1 : min(gridDim.x, (tiles + CONVEX_TILES - 1) / CONVEX_TILES);
    if (blockIdx.x >= blocks) {
        return;
    }
    if (threadIdx.x == 0) {
        called_solve() = {p, report.contacts, report.nodes, blocks};
    }
    const auto bodies = bodies_of(report.contacts, blocks);
    __syncthreads();
    const Passes passes = {p, report.contacts, report.nodes, blocks, 0, 0};
    ConvexSolve<decltype(bodies)> solve = {p, p.settings[0], passes, share_of(passes), bodies, report};
    const double substep = solve.settings.substep;
    solve.load();
    const uint32_t stop = substep > 0.0 && isfinite(substep) ? iterate(solve) : CONVEX_NOT_FINITE;
    solve.finish(stop != CONVEX_NOT_FINITE);
    if (global_thread() == 0) {
        solve.report.stop = stop;
        solve.report.grid_barriers = solve.m.barriers;
        p.report[0] = solve.report;
        if (stop == CONVEX_NOT_FINITE && p.status.length > 0) {
            stop_contact(p.status, p.clock, CONVEX_FAILED, 0, 0);
        } else {
            add(p.totals[0], solve.report);
        }
    }
}

}  // namespace convex

PLIANT_KERNEL_FOR(convex_solve, ConvexSolveParameters, CONVEX_THREADS, 1) {
    convex::solve(p, [](uint32_t, uint32_t) { return convex::NoBodies{}; });
}

PLIANT_KERNEL_FOR(convex_solve_bodies, ConvexSolveBodiesParameters, CONVEX_THREADS, 1) {
    convex::solve(p.solve, [&](uint32_t contacts, uint32_t blocks) {
        const uint32_t bodies = p.bodies.counts[0];
        const uint32_t rank = p.bodies.counts[1];
        if (threadIdx.x == 0) {
            convex::called_bodies() = {p.bodies, bodies, rank};
        }
        return convex::StronglyCoupledBodies{p.bodies, p.solve.contacts, contacts, bodies, rank, blocks};
    });
}
