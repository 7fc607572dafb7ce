// The steps that a solve is made of: starts, evaluation, directions, and the results
// (coupling/src/convex/solver.rs and the files of its folder). Each is done by all blocks together,
// and every thread has the same sums at the end.
#pragma once

#include "convex.cuh"
#include "convex_bodies.cuh"
#include "convex_contact_model.cuh"
#include "convex_search.cuh"
#include "convex_system.cuh"

namespace convex {

constexpr double DOUBLE_EPSILON = 2.220446049250313e-16;
// Residual, as a part of its scale, below which friction's Hessian is used, and above it the
// quadratic over it.
constexpr double NEWTON_REGION = 0.03;

// What is known at an iterate.
struct Evaluation {
    double objective, residual, tolerance, scale;
    // |v - v*|_M^2 and |J^T gamma|^2 in M^-1.
    double deviation, impulse;

    __device__ __forceinline__ bool is_finite() const { return isfinite(objective) && isfinite(residual); }
};

// How far each system is solved (Eisenstat and Walker 1996, choice 2, with their safeguard).
struct Forcing {
    double before, eta;
    bool any;

    __device__ __forceinline__ double target(double residual, double goal, bool far) {
        double factor = 0.1;
        if (any) {
            const double ratio = residual / before;
            const double wanted = 0.9 * ratio * ratio;
            const double kept = 0.9 * eta * eta;
            const double safeguarded = kept > 0.1 ? max(wanted, kept) : wanted;
            factor = min(max(safeguarded, far ? 0.2 : 1e-8), 0.5);
        }
        any = true;
        before = residual;
        eta = factor;
        return max(factor, 0.8 * goal / residual);
    }
};

template <typename Bodies>
struct ConvexSolve {
    const ConvexSolveParameters& p;
    ConvexSettings settings;
    Passes m;
    Bodies bodies;
    ConvexReport report;

    // Takes over the nodes of the grid and works out the constants of the contact models.
    __device__ __forceinline__ void load() {
        m.each(m.nodes, [&](uint32_t i) {
            const uint32_t slot = p.incidence.slots[i];
            const Array<float, 4>& node = p.grid[slot];
            // A node that a sticky boundary holds is one of infinite mass: without an inverse of
            // it, it never moves.
            const bool is_fixed = p.fixed_nodes.length > 0 && p.fixed_nodes[slot] == CONVEX_FIXED;
            const double mass = is_fixed ? 0.0 : static_cast<double>(node[3]);
            m.node(MASS, i) = mass;
            m.node(INVERSE_MASS, i) = mass > 0.0 ? 1.0 / mass : 0.0;
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(FREE + a, i) = node[a];
                m.node(VELOCITY + a, i) = node[a];
            }
        });
        m.each(m.contacts, [&](uint32_t c) { store(m, c, contact_model_of(m, c, settings)); });
        bodies.load();
    }

    // J of a vector of the nodes, in f64, on top of `out`.
    __device__ __forceinline__ void gather(uint32_t c, uint32_t row, double (&out)[3]) const {
        m.gather(c, out, [&](uint32_t i, double (&x)[3]) {
            x[0] = m.node(row, i), x[1] = m.node(row + 1, i), x[2] = m.node(row + 2, i);
        });
    }

    // J^T of a vector of the contacts, in f64.
    __device__ __forceinline__ void collect(uint32_t i, uint32_t row, double (&out)[3]) const {
        out[0] = out[1] = out[2] = 0.0;
        m.template visit<double>(i, [&](uint32_t c, double w) {
            for (uint32_t a = 0; a < 3; ++a) {
                out[a] += w * m.contact(row + a, c);
            }
        });
    }

    // The contacts' velocities at those of the nodes, which lie there since a barrier.
    __device__ __forceinline__ void contact_velocities() {
        m.each(m.contacts, [&](uint32_t c) {
            const Array<float, 3>& body = p.contacts.body_velocity[c];
            double v[3] = {-static_cast<double>(body[0]), -static_cast<double>(body[1]), -static_cast<double>(body[2])};
            gather(c, VELOCITY, v);
            bodies.subtract_motion(c, OF_ITERATE, v);
            for (uint32_t a = 0; a < 3; ++a) {
                m.contact(CONTACT_VELOCITY + a, c) = v[a];
            }
        });
    }

    // Objective and gradient at the iterate.
    __device__ __forceinline__ Evaluation evaluate() {
        double potential[1];
        m.template sum_contacts<1>(bodies, BODY_IMPULSE, potential, [&](uint32_t c, double (&values)[1]) {
            values[0] = write_impulse(m, c);
            react(c);
        });
        // Squares of deviation, gradient, velocity and impulse; momentum and mass of the nodes.
        double norms[8];
        const auto of_node = [&](uint32_t i, double (&values)[8]) {
            double j[3];
            collect(i, CONTACT_IMPULSE, j);
            const double mass = m.node(MASS, i);
            const double inverse = m.node(INVERSE_MASS, i);
            for (uint32_t a = 0; a < 3; ++a) {
                const double v = m.node(VELOCITY + a, i);
                const double d = v - m.node(FREE + a, i);
                // Nodes without mass never move; a mass that is not a number is not lost.
                const double g = inverse > 0.0 ? mass * d - j[a] : 0.0 * mass;
                m.node(GRADIENT + a, i) = g;
                m.node(IMPULSE + a, i) = j[a];
                values[0] += mass * d * d;
                values[1] += inverse * g * g;
                values[2] += mass * v * v;
                values[3] += inverse * j[a] * j[a];
                values[4 + a] += mass * v;
            }
            values[7] += mass;
        };
        m.template sum_nodes<8>(bodies, norms, of_node, [&](double (&values)[8]) { bodies.evaluate(values); });
        // The nodes' common motion is taken off: the rule is the same in every inertial frame.
        const double common = norms[4] * norms[4] + norms[5] * norms[5] + norms[6] * norms[6];
        const double momentum = norms[7] > 0.0 ? norms[2] - common / norms[7] : norms[2];
        Evaluation e;
        e.deviation = norms[0];
        e.impulse = norms[3];
        e.scale = sqrt(momentum > norms[3] ? momentum : norms[3]);
        e.objective = 0.5 * norms[0] + potential[0];
        e.residual = sqrt(norms[1]);
        // 16 units in the last place of the velocities: their rounding.
        e.tolerance = settings.absolute_tolerance + settings.relative_tolerance * e.scale
            + 16.0 * 2.220446049250313e-16 * sqrt(norms[2]);
        return e;
    }

    // Carries the direction, which lies there since a barrier, to the contacts, prepares their
    // rays, and returns the sums along them at zero.
    __device__ __forceinline__ void project_direction(double (&at_zero)[3]) {
        m.template sum_each<3>(m.contacts, at_zero, [&](uint32_t c, double (&values)[3]) {
            double d[3] = {0.0, 0.0, 0.0};
            gather(c, DIRECTION, d);
            bodies.subtract_motion(c, OF_DIRECTION, d);
            for (uint32_t a = 0; a < 3; ++a) {
                m.contact(CONTACT_DIRECTION + a, c) = d[a];
            }
            write_ray(m, c);
            along(m, c, 0.0, values);
        });
    }

    // Moves the iterate along the direction, in nodes and in contacts.
    __device__ __forceinline__ void advance(double alpha) {
        m.each(m.nodes, [&](uint32_t i) {
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(VELOCITY + a, i) += alpha * m.node(DIRECTION + a, i);
            }
        });
        m.each(m.contacts, [&](uint32_t c) {
            for (uint32_t a = 0; a < 3; ++a) {
                m.contact(CONTACT_VELOCITY + a, c) += alpha * m.contact(CONTACT_DIRECTION + a, c);
            }
        });
        bodies.advance(alpha);
    }

    // Exchanges (or copies) the iterate with the other one.
    __device__ __forceinline__ void keep_iterate(bool bring_back) {
        m.each(m.nodes, [&](uint32_t i) {
            for (uint32_t a = 0; a < 3; ++a) {
                double& now = m.node(VELOCITY + a, i);
                double& other = m.node(OTHER_VELOCITY + a, i);
                (bring_back ? now : other) = bring_back ? other : now;
            }
        });
        m.each(m.contacts, [&](uint32_t c) {
            for (uint32_t a = 0; a < 3; ++a) {
                double& now = m.contact(CONTACT_VELOCITY + a, c);
                double& other = m.contact(OTHER_CONTACT_VELOCITY + a, c);
                (bring_back ? now : other) = bring_back ? other : now;
            }
        });
        bodies.keep_iterate(bring_back);
    }

    // Writes what bodies get by the impulse of contact c.
    __device__ __forceinline__ void react(uint32_t c) const {
        const double impulse[3] = {
            m.contact(CONTACT_IMPULSE, c), m.contact(CONTACT_IMPULSE + 1, c), m.contact(CONTACT_IMPULSE + 2, c)};
        bodies.react(c, impulse);
    }

    // Takes the guessed impulses of the contacts.
    __device__ __forceinline__ void guess_impulses() const {
        m.each_contact(bodies, BODY_IMPULSE, [&](uint32_t c) {
            const bool guessed = c < p.guess_impulses.length;
            for (uint32_t a = 0; a < 3; ++a) {
                m.contact(CONTACT_IMPULSE + a, c) = guessed ? p.guess_impulses[c][a] : 0.0;
            }
            react(c);
        });
    }

    // Starts at the guessed velocities of the nodes, and at what the guessed impulses do to the
    // bodies.
    __device__ __forceinline__ void set_start() {
        if constexpr (Bodies::ARE_STRONG) {
            guess_impulses();
        }
        m.each(m.nodes, [&](uint32_t i) {
            double d[3];
            towards_guess(i, d);
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(VELOCITY + a, i) = m.node(FREE + a, i) + d[a];
            }
        });
        bodies.set_start();
        m.barrier();
        contact_velocities();
    }

    // From a node's free velocity to the guessed one; zero without mass.
    __device__ __forceinline__ void towards_guess(uint32_t i, double (&d)[3]) const {
        const bool moves = m.node(INVERSE_MASS, i) > 0.0;
        for (uint32_t a = 0; a < 3; ++a) {
            d[a] = moves ? p.guess_velocities[i][a] - m.node(FREE + a, i) : 0.0;
        }
    }

    // Puts the first iterate at the best point between the free velocities and a guess of one kind.
    __device__ __forceinline__ void start_by_line_search(uint32_t guess) {
        const bool push = guess == CONVEX_GUESS_IMPULSES;
        if (push) {
            guess_impulses();
        }
        double curvature[1];
        const auto of_node = [&](uint32_t i, double (&values)[1]) {
            double d[3] = {0.0, 0.0, 0.0};
            double factor = 1.0;
            if (push) {
                collect(i, CONTACT_IMPULSE, d);
                factor = m.node(INVERSE_MASS, i);
            } else if (guess == CONVEX_GUESS_VELOCITIES) {
                towards_guess(i, d);
            }
            for (uint32_t a = 0; a < 3; ++a) {
                d[a] *= factor;
                m.node(VELOCITY + a, i) = m.node(FREE + a, i);
                m.node(DIRECTION + a, i) = d[a];
                values[0] += m.node(MASS, i) * d[a] * d[a];
            }
        };
        m.template sum_nodes<1>(bodies, curvature, of_node, [&](double (&values)[1]) { bodies.start(push, values); });
        contact_velocities();
        if (!(curvature[0] > 0.0 && isfinite(curvature[0]))) {
            return;
        }
        double at_zero[3];
        project_direction(at_zero);
        // The mass term has no slope at the free velocities: the line's slope is that of the
        // contacts alone.
        const LineObjective line = {at_zero[1], curvature[0], 0.0, true, {at_zero[0], at_zero[1], at_zero[2]}};
        const LineSearchResult step = search(m, line);
        report.line_search_iterations += step.evaluations + 1;
        advance(step.alpha);
    }

    // Hessians of the contacts at the iterate; the other blocks see them after the barrier.
    __device__ __forceinline__ void find_curvature(double hessian_blend) {
        m.each_contact(bodies, BODY_HESSIAN, [&](uint32_t c) {
            write_hessian(m, c, hessian_blend);
            SystemMemory<float>{m}.load_hessian(c);
            bodies.bend(m, c);
        });
        bodies.factorise();
    }

    // The direction of the first step from a warm start that already meets the tolerance: by the
    // lumped blocks, which majorise the Hessian.
    __device__ __forceinline__ void relaxation_direction() {
        find_curvature(1.0);
        m.each(m.nodes, [&](uint32_t i) {
            double b[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
            m.template visit<double>(i, [&](uint32_t c, double w) {
                for (uint32_t e = 0; e < 6; ++e) {
                    b[e] += w * m.contact(HESSIAN + e, c);
                }
            });
            const bool moves = m.node(INVERSE_MASS, i) > 0.0;
            double inverse[6];
            invert(b, moves ? m.node(MASS, i) : 1.0, inverse);
            const double g[3] = {m.node(GRADIENT, i), m.node(GRADIENT + 1, i), m.node(GRADIENT + 2, i)};
            double d[3];
            apply(inverse, g, d);
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(DIRECTION + a, i) = moves ? -d[a] : 0.0;
            }
        });
        bodies.relax();
    }

    // The Newton direction, for a residual to bring down to `goal`.
    __device__ __forceinline__ void newton_direction(const Evaluation& e, double goal, Forcing& forcing, bool& needs_double) {
        const bool far = e.residual > NEWTON_REGION * e.scale;
        find_curvature(far ? 0.0 : 1.0);
        const double target = forcing.target(e.residual, goal, far);
        if (!needs_double) {
            const SystemResult result = LinearSystem<float, Bodies>{m, bodies, e.residual}.solve(target, settings.max_inner_iterations, false);
            report.inner_iterations += result.products;
            needs_double = result.refused;
        }
        if (needs_double) {
            const LinearSystem<double, Bodies> system{m, bodies, e.residual};
            report.inner_iterations += system.solve(target, settings.max_inner_iterations, true).products + 1;
            report.double_systems += 1;
            report.unresolved_systems += system.true_residual() > 2.0 * target ? 1 : 0;
        }
    }

    // A bound on the rounding error of the residual's norm: coupling/src/convex/solver.rs has its
    // derivation.
    __device__ __forceinline__ double rounding_floor() {
        if constexpr (Bodies::ARE_STRONG) {
            bodies.publish_iterate();
            m.barrier();
        }
        m.each_contact(bodies, BODY_SIZES, [&](uint32_t c) {
            double sizes[3] = {0.0, 0.0, 0.0};
            m.gather(c, sizes, [&](uint32_t i, double (&x)[3]) {
                for (uint32_t a = 0; a < 3; ++a) {
                    x[a] = fabs(m.node(VELOCITY + a, i));
                }
            });
            double velocity = bodies.size_motion(c);
            double impulse = 0.0;
            double stiffness = 0.0;
            for (uint32_t a = 0; a < 3; ++a) {
                velocity += sizes[a] + fabs(static_cast<double>(p.contacts.body_velocity[c][a]));
                impulse += fabs(m.contact(CONTACT_IMPULSE + a, c));
                stiffness += m.contact(HESSIAN + a, c);
            }
            m.contact(CONTACT_DIRECTION, c) = impulse + stiffness * velocity;
            bodies.size_reaction(c, impulse + stiffness * velocity);
        });
        double squares[1];
        const auto of_node = [&](uint32_t i, double (&values)[1]) {
            double term = 0.0;
            m.template visit<double>(i, [&](uint32_t c, double w) { term += w * m.contact(CONTACT_DIRECTION, c); });
            double inertia = 0.0;
            for (uint32_t a = 0; a < 3; ++a) {
                inertia += fabs(m.node(VELOCITY + a, i)) + fabs(m.node(FREE + a, i));
            }
            term += m.node(MASS, i) * inertia;
            values[0] = term * term * m.node(INVERSE_MASS, i);
        };
        m.template sum_nodes<1>(bodies, squares, of_node, [&](double (&values)[1]) { bodies.rounding(values); });
        return 8.0 * DOUBLE_EPSILON * sqrt(squares[0]);
    }

    __device__ __forceinline__ void record(uint32_t iteration, const Evaluation& e) {
        report.objective = e.objective;
        report.residual = e.residual;
        report.tolerance = e.tolerance;
        if (global_thread() == 0 && iteration < p.trace.length) {
            p.trace[iteration] = {e.objective, e.residual, e.tolerance, e.scale};
        }
    }

    // Writes velocities and impulses; after a solve that failed, the free velocities and none.
    __device__ __forceinline__ void finish(bool solved) {
        m.each(m.nodes, [&](uint32_t i) {
            for (uint32_t a = 0; a < 3; ++a) {
                const double v = m.node((solved ? VELOCITY : FREE) + a, i);
                p.velocities[i][a] = v;
                p.node_impulses[i][a] = solved ? m.node(IMPULSE + a, i) : 0.0;
                if (solved) {
                    p.grid[p.incidence.slots[i]][a] = static_cast<float>(v);
                }
            }
        });
        m.each(m.contacts, [&](uint32_t c) {
            for (uint32_t a = 0; a < 3; ++a) {
                p.impulses[c][a] = solved ? m.contact(CONTACT_IMPULSE + a, c) : 0.0;
            }
        });
        bodies.finish(solved);
    }
};

}  // namespace convex
