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
            const double ratio = quotient_of(residual, before);
            const double wanted = 0.9 * ratio * ratio;
            const double kept = 0.9 * eta * eta;
            const double safeguarded = kept > 0.1 ? max(wanted, kept) : wanted;
            factor = min(max(safeguarded, far ? 0.2 : 1e-8), 0.5);
        }
        any = true;
        before = residual;
        eta = factor;
        return max(factor, quotient_of(0.8 * goal, residual));
    }
};

template <typename Bodies>
struct ConvexSolve {
    using ImpulseGiven = typename Bodies::template Given<BODY_IMPULSE>;
    using HessianGiven = typename Bodies::template Given<BODY_HESSIAN>;
    using SizesGiven = typename Bodies::template Given<BODY_SIZES>;
    const ConvexSolveParameters& p;
    ConvexSettings settings;
    Passes m;
    Share share;
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
            m.node(INVERSE_MASS, i) = mass > 0.0 ? quotient_of(1.0, mass) : 0.0;
            p.moved_nodes[i] = mass;
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(FREE + a, i) = node[a];
                m.node(VELOCITY + a, i) = node[a];
                p.moved_nodes[(1 + a) * p.node_capacity + i] = node[a];
            }
        });
        m.each(m.contacts, [&](uint32_t c) { store(m, c, contact_model_of(m, c, settings)); });
        bodies.load();
    }

    // The contacts' velocities at those of the nodes, which lie there since a barrier.
    __device__ __forceinline__ void contact_velocities() {
        m.each(m.contacts, [&](uint32_t c) {
            const Array<float, 3>& body = p.contacts.body_velocity[c];
            const Array<double, 3> of_nodes = Passes::gathered(c, VELOCITY, false);
            double v[3];
            for (uint32_t a = 0; a < 3; ++a) {
                v[a] = of_nodes.data[a] - static_cast<double>(body[a]);
            }
            bodies.subtract_motion(c, OF_ITERATE, v);
            for (uint32_t a = 0; a < 3; ++a) {
                m.contact(CONTACT_VELOCITY + a, c) = v[a];
            }
        });
    }

    // Objective and gradient at the iterate.
    __device__ __forceinline__ Evaluation evaluate() {
        double potential[1];
        const auto of_contact = [&](uint32_t c, double (&values)[1], ImpulseGiven& given) {
            values[0] = write_impulse(m, c);
            react(c, given);
        };
        m.template sum_contacts<1, BODY_IMPULSE>(bodies, potential, of_contact);
        // Squares of deviation, gradient, velocity and impulse; momentum and mass of the nodes.
        double norms[8];
        const auto of_node = [&](uint32_t i, double (&values)[8]) {
            const Array<double, 3> j = Passes::collected(i, CONTACT_IMPULSE);
            const double mass = m.node(MASS, i);
            const double inverse = m.node(INVERSE_MASS, i);
            for (uint32_t a = 0; a < 3; ++a) {
                const double v = m.node(VELOCITY + a, i);
                const double d = v - m.node(FREE + a, i);
                // Nodes without mass never move; a mass that is not a number is not lost.
                const double g = inverse > 0.0 ? mass * d - j.data[a] : 0.0 * mass;
                m.node(GRADIENT + a, i) = g;
                m.node(IMPULSE + a, i) = j.data[a];
                values[0] += mass * d * d;
                values[1] += inverse * g * g;
                values[2] += mass * v * v;
                values[3] += inverse * j.data[a] * j.data[a];
                values[4 + a] += mass * v;
            }
            values[7] += mass;
        };
        m.template sum_nodes<8>(bodies, norms, of_node, [&](double (&values)[8]) { bodies.evaluate(values); });
        // The nodes' common motion is taken off: the rule is the same in every inertial frame.
        const double common = norms[4] * norms[4] + norms[5] * norms[5] + norms[6] * norms[6];
        const double momentum = norms[7] > 0.0 ? norms[2] - quotient_of(common, norms[7]) : norms[2];
        Evaluation e;
        e.deviation = norms[0];
        e.impulse = norms[3];
        e.scale = root_of(momentum > norms[3] ? momentum : norms[3]);
        e.objective = 0.5 * norms[0] + potential[0];
        e.residual = root_of(norms[1]);
        // 16 units in the last place of the velocities: their rounding.
        e.tolerance = settings.absolute_tolerance + settings.relative_tolerance * e.scale
            + 16.0 * 2.220446049250313e-16 * root_of(norms[2]);
        return e;
    }

    // Carries the direction, which lies there since a barrier, to the contacts, prepares their
    // rays, and returns the sums along them at zero.
    __device__ __forceinline__ void project_direction(double (&at_zero)[3]) {
        m.template sum_each<3>(m.contacts, at_zero, [&](uint32_t c, double (&values)[3]) {
            const Array<double, 3> of_nodes = Passes::gathered(c, DIRECTION, false);
            double d[3] = {of_nodes.data[0], of_nodes.data[1], of_nodes.data[2]};
            bodies.subtract_motion(c, OF_DIRECTION, d);
            for (uint32_t a = 0; a < 3; ++a) {
                m.contact(CONTACT_DIRECTION + a, c) = d[a];
            }
            write_ray(m, c);
            const Array<double, 3> l = along(c, 0.0);
            values[0] = l.data[0], values[1] = l.data[1], values[2] = l.data[2];
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

    // Keeps the iterate as the other one, or brings that back.
    __device__ __forceinline__ void keep_iterate(bool bring_back) {
        copy_iterate(bring_back);
        bodies.keep_iterate(bring_back);
    }
    static __device__ PLIANT_CALLED void copy_iterate(bool bring_back) {
        const Passes m = Passes::called();
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
    }

    // What its body gets by the impulse of contact c.
    __device__ __forceinline__ void react(uint32_t c, ImpulseGiven& given) const {
        const double impulse[3] = {
            m.contact(CONTACT_IMPULSE, c), m.contact(CONTACT_IMPULSE + 1, c), m.contact(CONTACT_IMPULSE + 2, c)};
        bodies.react(c, impulse, given);
    }

    // Takes the guessed impulses of the contacts.
    __device__ __forceinline__ void guess_impulses() {
        m.template each_contact<BODY_IMPULSE>(bodies, [&](uint32_t c, ImpulseGiven& given) {
            const bool guessed = c < p.guess_impulses.length;
            for (uint32_t a = 0; a < 3; ++a) {
                m.contact(CONTACT_IMPULSE + a, c) = guessed ? p.guess_impulses[c][a] : 0.0;
            }
            react(c, given);
        });
    }

    // Puts the first iterate at a guess of a whole solution: its velocities of the nodes, and what
    // its impulses do to the bodies. Of any other guess it directs a line from the free velocities
    // to it, and returns |d|_M^2.
    __device__ __forceinline__ double start(uint32_t guess) {
        const bool whole = guess == CONVEX_GUESS_SOLUTION;
        const bool push = guess == CONVEX_GUESS_IMPULSES;
        if (push || (Bodies::ARE_STRONG && whole)) {
            guess_impulses();
        }
        double curvature[1];
        const auto of_node = [&](uint32_t i, double (&values)[1]) {
            Array<double, 3> d = {{0.0, 0.0, 0.0}};
            double factor = 1.0;
            if (push) {
                d = Passes::collected(i, CONTACT_IMPULSE);
                factor = m.node(INVERSE_MASS, i);
            } else if (guess != CONVEX_GUESS_FREE && m.node(INVERSE_MASS, i) > 0.0) {
                for (uint32_t a = 0; a < 3; ++a) {
                    d.data[a] = p.guess_velocities[i][a] - m.node(FREE + a, i);
                }
            }
            for (uint32_t a = 0; a < 3; ++a) {
                const double along = factor * d.data[a];
                m.node(VELOCITY + a, i) = m.node(FREE + a, i) + (whole ? along : 0.0);
                m.node(DIRECTION + a, i) = along;
                values[0] += m.node(MASS, i) * along * along;
            }
        };
        const auto of_bodies = [&](double (&values)[1]) { bodies.start(push, whole, values); };
        m.template sum_nodes<1>(bodies, curvature, of_node, of_bodies);
        contact_velocities();
        return curvature[0];
    }

    // Hessians of the contacts at the iterate; the other blocks see them after the barrier.
    __device__ __forceinline__ void find_curvature(double hessian_blend) {
        m.template each_contact<BODY_HESSIAN>(bodies, [&](uint32_t c, HessianGiven& given) {
            write_hessian(m, c, hessian_blend);
            SystemMemory<float>::load_hessian(m, c);
            bodies.bend(m, c, given);
        });
        bodies.factorise();
        if constexpr (Bodies::ARE_STRONG) {
            // Every block reads the factor.
            m.barrier();
        }
    }

    // The direction by the inverse diagonal blocks (Yu et al. 2025, Algorithm 1), or by the lumped
    // ones, which majorise the Hessian.
    __device__ __forceinline__ void block_direction(bool lumped) {
        m.each(m.nodes, [&](uint32_t i) {
            const Array<double, 6> b = Passes::block_of(i, lumped);
            const bool moves = m.node(INVERSE_MASS, i) > 0.0;
            double inverse[6];
            invert(b.data, moves ? m.node(MASS, i) : 1.0, inverse);
            const double g[3] = {m.node(GRADIENT, i), m.node(GRADIENT + 1, i), m.node(GRADIENT + 2, i)};
            double d[3];
            apply(inverse, g, d);
            for (uint32_t a = 0; a < 3; ++a) {
                m.node(DIRECTION + a, i) = moves ? -d[a] : 0.0;
            }
        });
        bodies.relax();
    }

    // The Newton direction by conjugate gradients, to a target that is a part of the residual.
    __device__ __forceinline__ void newton_direction(double residual, double target, bool& needs_double) {
        const double inverse = quotient_of(1.0, residual);
        const uint32_t most = settings.max_inner_iterations;
        if (!needs_double) {
            const LinearSystem<float, Bodies> system{
                m, share, bodies, ProductVectors<float>::of(m), residual, inverse};
            const SystemResult result = system.solve(target, most, false);
            report.inner_iterations += result.products;
            needs_double = result.refused;
        }
        if (needs_double) {
            const LinearSystem<double, Bodies> system{
                m, share, bodies, ProductVectors<double>::of(m), residual, inverse};
            const SystemResult result = system.solve(target, most, true);
            report.inner_iterations += result.products + 1;
            report.double_systems += 1;
            report.unresolved_systems += result.residual > 2.0 * target ? 1 : 0;
        }
    }

    // Directs a step for a residual to bring down to `goal`; `settling` is the first one from a
    // warm start that meets the tolerance already, by blocks that need to include every contact.
    __device__ __forceinline__ void direct(
        const Evaluation& e, bool settling, double goal, Forcing& forcing, bool& needs_double) {
        const bool by_blocks = settling || settings.direction != CONVEX_NEWTON_CG;
        const bool far = !by_blocks && e.residual > NEWTON_REGION * e.scale;
        find_curvature(far ? 0.0 : 1.0);
        if (by_blocks) {
            block_direction(settling || settings.direction == CONVEX_LUMPED_BLOCK);
        } else {
            newton_direction(e.residual, forcing.target(e.residual, goal, far), needs_double);
        }
    }

    // Slope of the objective along the direction, and |d|_M^2.
    __device__ __forceinline__ void slope(double (&sums)[2]) {
        const auto of_node = [&](uint32_t i, double (&values)[2]) {
            for (uint32_t a = 0; a < 3; ++a) {
                const double d = m.node(DIRECTION + a, i);
                values[0] += m.node(GRADIENT + a, i) * d;
                values[1] += m.node(MASS, i) * d * d;
            }
        };
        m.template sum_nodes<2>(bodies, sums, of_node, [&](double (&values)[2]) { bodies.slope(values); });
    }

    // A bound on the rounding error of the residual's norm: coupling/src/convex/solver.rs has its
    // derivation.
    __device__ __forceinline__ double rounding_floor() {
        if constexpr (Bodies::ARE_STRONG) {
            bodies.publish_iterate();
            m.barrier();
        }
        m.template each_contact<BODY_SIZES>(bodies, [&](uint32_t c, SizesGiven& given) {
            const Array<double, 3> sizes = Passes::gathered(c, VELOCITY, true);
            double velocity = bodies.size_motion(c);
            double impulse = 0.0;
            double stiffness = 0.0;
            for (uint32_t a = 0; a < 3; ++a) {
                velocity += sizes.data[a] + fabs(static_cast<double>(p.contacts.body_velocity[c][a]));
                impulse += fabs(m.contact(CONTACT_IMPULSE + a, c));
                stiffness += m.contact(HESSIAN + a, c);
            }
            m.contact(CONTACT_DIRECTION, c) = impulse + stiffness * velocity;
            bodies.size_reaction(c, impulse + stiffness * velocity, given);
        });
        double squares[1];
        const auto of_node = [&](uint32_t i, double (&values)[1]) {
            double term = Passes::collected(i, CONTACT_DIRECTION).data[0];
            double inertia = 0.0;
            for (uint32_t a = 0; a < 3; ++a) {
                inertia += fabs(m.node(VELOCITY + a, i)) + fabs(m.node(FREE + a, i));
            }
            term += m.node(MASS, i) * inertia;
            values[0] = term * term * m.node(INVERSE_MASS, i);
        };
        m.template sum_nodes<1>(bodies, squares, of_node, [&](double (&values)[1]) { bodies.rounding(values); });
        return 8.0 * DOUBLE_EPSILON * root_of(squares[0]);
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
