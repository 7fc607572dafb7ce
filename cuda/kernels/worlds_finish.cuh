// What contacts add to each degree of freedom, joint limits and dry friction, the correction of
// velocities, and the motion of the step: `batch/src/finish.rs`.
#pragma once

#include "worlds.cuh"

namespace worlds {

// Speed [m/s, rad/s] beyond which a world is taken to diverge.
constexpr double FASTEST = 1e6;

// What the points of contact add to one degree of freedom, in the order of the points.
template <typename Arrays>
__device__ __forceinline__ void gather(const Arrays& arrays, uint32_t n, uint32_t number) {
    typedef typename RealOf<Arrays>::Type T;
    const BatchWorld<Arrays> world(arrays, number);
    const WorldsPlan& plan = world.plan;
    const WorldsDof dof = plan.dofs[n];
    if (dof.first_entry == dof.end_entry) {
        return;
    }
    const WorldsTree tree = plan.trees[dof.tree];
    const uint32_t body = tree.first_body;
    const bool is_floating = tree.floating != 0;
    // The moment on a free-floating body is about its centre, of a tree spatial vectors are about
    // its reference.
    const Vec<T> center = is_floating ? world.center_of(body) : Vec<T>::zero();
    const Vec<T> reference = world.reference(tree);
    const Motion<T> axis = is_floating ? Motion<T>::zero() : world.motion(plan.axes + 6 * n);
    const uint32_t within_body = n - tree.first_velocity;
    Number<T> sum = world.get(plan.loads + n);
    for (uint32_t e = dof.first_entry; e < dof.end_entry; ++e) {
        const Array<uint32_t, 2> entry = plan.entries[e];
        const Number<T> sign = entry[1] == 0 ? -1.0 : 1.0;
        const uint32_t touching = plan.touching[entry[0] * plan.worlds + number];
        const uint32_t first = plan.pairs[entry[0]].first_point;
        for (uint32_t k = 0; k < WORLDS_MOST_POINTS && touching >> k != 0; ++k) {
            if ((touching >> k & 1) == 0) {
                continue;
            }
            const bool turns = (touching >> (WORLDS_TURNING + k) & 1) != 0;
            const uint32_t at = WORLDS_POINT_NUMBERS * (first + k);
            const Vec<T> lever = world.contact_vector(at) - reference;
            const Vec<T> impulse = world.contact_vector(at + 3);
            if (!is_floating) {
                if (turns) {
                    sum = sum + dot(axis.angular * sign, world.contact_vector(at + 6));
                }
                sum = sum + dot(axis.at(lever) * sign, impulse);
            } else if (within_body < 3) {
                if (turns) {
                    sum = sum + world.contact(at + 6 + within_body) * sign;
                }
                sum = sum + cross(lever - center, impulse * sign)[within_body];
            } else {
                sum = sum + impulse[within_body - 3] * sign;
            }
        }
    }
    world.set(plan.loads + n, sum);
}

template <typename Arrays>
struct Finish : BatchWorld<Arrays> {
    typedef BatchWorld<Arrays> Base;
    typedef typename Base::T T;
    typedef Number<T> N;
    typedef Vec<T> V;
    using Base::p;
    using Base::plan;
    using Base::world;

    const WorldsTree tree;
    const uint32_t number;

    __device__ __forceinline__ Finish(const Arrays& arrays, uint32_t tree_number, uint32_t world_number)
        : Base(arrays, world_number), tree(arrays.plan.trees[tree_number]), number(tree_number) {}

    // The velocities with contact; those that are none, or too fast, stop the world.
    __device__ __forceinline__ void correct() const {
        const uint32_t end = tree.first_velocity + tree.size;
        if (tree.floating != 0) {
            correct_floating(tree.first_body, plan.loads + tree.first_velocity);
        } else {
            for (uint32_t n = tree.first_velocity; n < end; ++n) {
                push_joint(n, plan.dofs[n]);
            }
            this->solve(tree, plan.loads + tree.first_velocity);
        }
        bool is_fine = true;
        for (uint32_t n = tree.first_velocity; n < end; ++n) {
            const N v = this->get(plan.smooth + n) + this->get(plan.loads + n);
            this->set(plan.smooth + n, v);
            is_fine = is_fine && magnitude(v) < N(FASTEST);
        }
        if (!is_fine) {
            // Other trees of the world may do so too, or look: what they do then is not kept.
            atomicExch(&plan.stopped[world], 1u);
        }
    }

    // Changes of the velocities of a free-floating body, from its moment about the centre of mass
    // and its impulse.
    __device__ __forceinline__ void correct_floating(uint32_t b, uint32_t at) const {
        const V turn = this->inverse_inertia(b).apply(this->vector(at));
        const V push = this->vector(at + 3) * this->inverse_mass(b);
        this->set_motion(at, {turn, push - cross(turn, this->center_of(b))});
    }

    // The impedance in one dimension: limits on one side, dry friction up to its bound.
    __device__ __forceinline__ void push_joint(uint32_t n, const WorldsDof& dof) const {
        const uint32_t figures = plan.dof_numbers + WORLDS_DOF_NUMBERS * n;
        const N dt = this->dt(), kappa = this->kappa(), delta = this->delta();
        const N inertia = this->get(plan.bare + dof.diagonal);
        const N v = this->get(plan.smooth + n);
        const auto push = [&](N error, N speed) {
            const N mass = this->impedance_ratio(4, error) * inertia * -dt;
            return mass * (error * kappa + speed * (kappa * dt + delta));
        };
        N sum = this->get(plan.loads + n);
        if (dof.position != WORLDS_NONE) {
            const N q = this->position(dof.position);
            for (uint32_t side = 0; side < 2; ++side) {
                const N limit = this->constant(figures + 5 + side);
                const N sign = side == 0 ? 1.0 : -1.0;
                const N gap = (q - limit) * sign;
                // Infinite where there is no limit.
                if (gap < N(0.0)) {
                    sum = sum + most(push(gap, v * sign), N(0.0)) * sign;
                }
            }
        }
        const N friction = this->constant(figures + 4);
        if (N(0.0) < friction) {
            const N bound = friction * dt;
            sum = sum + within(push(0.0, v), -bound, bound);
        }
        this->set(plan.loads + n, sum);
    }

    // Positions after the step.
    __device__ __forceinline__ void advance() const {
        for (uint32_t n = tree.first_velocity; n < tree.first_velocity + tree.size; ++n) {
            set_velocity(n, this->get(plan.smooth + n));
        }
        for (uint32_t b = tree.first_body; b < tree.first_body + tree.bodies; ++b) {
            move_joint(b, plan.bodies[b]);
        }
        if (number == 0) {
            plan.steps[world] += 1;
        }
    }

    __device__ __forceinline__ void set_position(uint32_t n, N x) const { p.states[n * plan.worlds + world] = x.value; }
    __device__ __forceinline__ void set_velocity(uint32_t n, N x) const { set_position(plan.velocities + n, x); }

    __device__ __forceinline__ void move_joint(uint32_t b, const WorldsBody& body) const {
        const uint32_t v = plan.smooth + body.first_velocity;
        const uint32_t q = body.first_position;
        const N dt = this->dt();
        if (body.joint == WORLDS_REVOLUTE || body.joint == WORLDS_PRISMATIC) {
            set_position(q, this->position(q) + this->get(v) * dt);
            return;
        }
        const Quat<T> before = {this->position(q), this->position(q + 1), this->position(q + 2), this->position(q + 3)};
        const Quat<T> after = before.turned(this->vector(v) * dt);
        set_position(q, after.w);
        set_position(q + 1, after.x);
        set_position(q + 2, after.y);
        set_position(q + 3, after.z);
        if (body.joint == WORLDS_BALL) {
            return;
        }
        const V origin = {this->position(q + 4), this->position(q + 5), this->position(q + 6)};
        const V moved = tree.floating == 0 ? origin + this->vector(v + 3) * dt : fly(b, body, before, after, origin);
        set_position(q + 4, moved.x);
        set_position(q + 5, moved.y);
        set_position(q + 6, moved.z);
    }

    // Free flight: the centre of mass keeps its velocity and the body its angular momentum. Gives
    // the origin after it.
    __device__ __forceinline__ V fly(
        uint32_t b, const WorldsBody& body, const Quat<T>& from, const Quat<T>& to, V origin) const {
        const uint32_t numbers = plan.body_numbers + WORLDS_BODY_NUMBERS * b;
        const uint32_t v = plan.smooth + body.first_velocity;
        const V turning = this->vector(v), linear = this->vector(v + 3);
        const Mat<T> before = from.matrix(), after = to.matrix();
        const V center = this->constant_vector(numbers + WORLDS_BODY_CENTER);
        const V lever = before.apply(center);
        const V velocity = linear + cross(turning, lever);
        N i[6];
        for (uint32_t k = 0; k < 6; ++k) {
            i[k] = this->constant(numbers + WORLDS_BODY_INERTIA + k);
        }
        const Mat<T> inertia = {{{i[0], i[1], i[2]}, {i[1], i[3], i[4]}, {i[2], i[4], i[5]}}};
        const V momentum = before.apply(inertia.apply(before.apply_inverse(turning)));
        const Mat<T> inverse = this->constant_matrix(numbers + WORLDS_BODY_INVERSE);
        const V angular = after.apply(inverse.apply(after.apply_inverse(momentum)));
        const V moved = after.apply(center);
        const V origin_velocity = velocity - cross(angular, moved);
        for (uint32_t d = 0; d < 3; ++d) {
            set_velocity(body.first_velocity + d, angular[d]);
            set_velocity(body.first_velocity + 3 + d, origin_velocity[d]);
        }
        return origin + lever + velocity * this->dt() - moved;
    }
};

}  // namespace worlds
