// The motion of a tree without contact, by one thread: `batch/src/kinematics.rs` and `smooth.rs`.
//
// All spatial vectors of a tree are about the origin of its first body at the beginning of the
// step: numbers stay as small as the tree, which is what single precision needs.
#pragma once

#include "worlds.cuh"

namespace worlds {

template <typename Arrays>
struct Smooth : BatchWorld<Arrays> {
    typedef BatchWorld<Arrays> Base;
    typedef typename Base::T T;
    typedef Number<T> N;
    typedef Vec<T> V;
    using Base::p;
    using Base::plan;
    using Base::world;

    // Times that velocities are found again because motors are at their limits.
    static constexpr uint32_t SATURATIONS = 2;

    const WorldsTree tree;
    const uint32_t number;

    __device__ __forceinline__ Smooth(const Arrays& arrays, uint32_t tree_number, uint32_t world_number)
        : Base(arrays, world_number), tree(arrays.plan.trees[tree_number]), number(tree_number) {}

    __device__ __forceinline__ void run() const {
        for (uint32_t n = tree.first_velocity; n < tree.first_velocity + tree.size; ++n) {
            this->set(plan.loads + n, 0.0);
        }
        if (tree.floating != 0) {
            float_freely(tree.first_body, plan.bodies[tree.first_body]);
            return;
        }
        const uint32_t end = tree.first_body + tree.bodies;
        for (uint32_t b = tree.first_body; b < end; ++b) {
            place(b, plan.bodies[b]);
            move_body(b, plan.bodies[b]);
        }
        for (uint32_t b = tree.first_body; b < end; ++b) {
            weigh(b);
        }
        for (uint32_t b = end; b-- > tree.first_body;) {
            hand_on(b, plan.bodies[b]);
        }
        add_momenta();
        each_motor([&](uint32_t m, const WorldsMotor&) {
            this->set(plan.saturated + 2 * m, 0.0);
            this->set(plan.saturated + 2 * m + 1, 0.0);
        });
        for (uint32_t round = 1; round <= SATURATIONS; ++round) {
            begin();
            add_passive();
            add_motors();
            this->factorise(tree);
            this->solve(tree, plan.smooth + tree.first_velocity);
            if (round == SATURATIONS || !saturate()) {
                break;
            }
        }
    }

    // Pose of a free-floating body, what moves it, and its velocities: it falls, and turns on as it
    // did. What turns it without forces comes with its flight.
    __device__ __forceinline__ void float_freely(uint32_t b, const WorldsBody& body) const {
        const uint32_t numbers = plan.body_numbers + WORLDS_BODY_NUMBERS * b;
        const uint32_t q = body.first_position, v = body.first_velocity;
        const Quat<T> turn = {this->position(q), this->position(q + 1), this->position(q + 2), this->position(q + 3)};
        const V place = {this->position(q + 4), this->position(q + 5), this->position(q + 6)};
        const Mat<T> rotation = turn.matrix();
        set_pose(b, {rotation, this->constant_vector(numbers + 9) + place});
        const N scale = N(1.0) / this->parameter(plan.mass + b);
        const Mat<T> half = rotation.times(this->constant_matrix(numbers + WORLDS_BODY_INVERSE));
        uint32_t at = plan.inertias + INERTIA * b;
        this->set(at, scale * (N(1.0) / this->constant(numbers + WORLDS_BODY_MASS)));
        this->set_vector(at + 1, rotation.apply(this->constant_vector(numbers + WORLDS_BODY_CENTER)));
        at += 4;
        for (uint32_t r = 0; r < 3; ++r) {
            for (uint32_t c = r; c < 3; ++c) {
                this->set(at, dot(half.rows[r], rotation.rows[c]) * scale);
                ++at;
            }
        }
        const bool has_weight = N(0.0) < this->constant(numbers + WORLDS_BODY_WEIGHT);
        const V fall = this->parameter_vector(plan.gravity) * (has_weight ? this->dt() : N(0.0));
        const V turning = {this->velocity(v), this->velocity(v + 1), this->velocity(v + 2)};
        const V linear = {this->velocity(v + 3), this->velocity(v + 4), this->velocity(v + 5)};
        this->set_motion(plan.smooth + v, {turning, linear + fall});
    }

    __device__ __forceinline__ void set_pose(uint32_t b, const Pose<T>& pose) const {
        const uint32_t at = plan.poses + POSE * b;
        for (uint32_t r = 0; r < 3; ++r) {
            this->set_vector(at + 3 * r, pose.rotation.rows[r]);
        }
        this->set_vector(at + 9, pose.position);
    }

    // Pose of a body, and the axes of its joint as angular and linear part of the body at its own
    // origin.
    __device__ __forceinline__ void place(uint32_t b, const WorldsBody& body) const {
        const uint32_t numbers = plan.body_numbers + WORLDS_BODY_NUMBERS * b;
        Pose<T> frame = this->constant_pose(numbers);
        if (body.parent != WORLDS_NONE) {
            frame = this->body_pose(body.parent).times(frame);
        }
        const uint32_t axes = plan.axes + 6 * body.first_velocity;
        const uint32_t q = body.first_position;
        if (body.joint == WORLDS_REVOLUTE) {
            const V axis = this->constant_vector(numbers + WORLDS_BODY_AXIS);
            this->set_motion(axes, {frame.rotation.apply(axis), V::zero()});
            N sin, cos;
            sine_cosine(this->position(q), sin, cos);
            const N x = axis.x, y = axis.y, z = axis.z, rest = -cos + 1.0;
            const N xs = x * sin, ys = y * sin, zs = z * sin;
            const N xy = x * y * rest, xz = x * z * rest, yz = y * z * rest;
            frame.rotation = frame.rotation.times({{
                {cos + x * x * rest, xy - zs, xz + ys},
                {xy + zs, cos + y * y * rest, yz - xs},
                {xz - ys, yz + xs, cos + z * z * rest},
            }});
        } else if (body.joint == WORLDS_PRISMATIC) {
            const V axis = frame.rotation.apply(this->constant_vector(numbers + WORLDS_BODY_AXIS));
            this->set_motion(axes, {V::zero(), axis});
            frame.position = frame.position + axis * this->position(q);
        } else {
            for (uint32_t d = 0; d < 3; ++d) {
                const V axis = frame.rotation.column(d);
                this->set_motion(axes + 6 * d, {axis, V::zero()});
                if (body.joint == WORLDS_FREE) {
                    this->set_motion(axes + 6 * (d + 3), {V::zero(), axis});
                    frame.position = frame.position + axis * this->position(q + 4 + d);
                }
            }
            const Quat<T> turn = {this->position(q), this->position(q + 1), this->position(q + 2), this->position(q + 3)};
            frame.rotation = frame.rotation.times(turn.matrix());
        }
        set_pose(b, frame);
    }

    // From the tree's reference to a body's origin [m].
    __device__ __forceinline__ V lever_of(uint32_t b) const {
        return this->vector(plan.poses + POSE * b + 9) - this->reference(tree);
    }

    // Axes about the reference, velocity, and acceleration at zero joint accelerations.
    __device__ __forceinline__ void move_body(uint32_t b, const WorldsBody& body) const {
        const V lever = lever_of(b);
        Motion<T> own = Motion<T>::zero();
        for (uint32_t n = body.first_velocity; n < body.first_velocity + body.dofs; ++n) {
            Motion<T> axis = this->motion(plan.axes + 6 * n);
            axis.linear = axis.linear + cross(lever, axis.angular);
            this->set_motion(plan.axes + 6 * n, axis);
            own = own.plus(axis.times(this->velocity(n)));
        }
        Motion<T> moment_of_travel = Motion<T>::zero(), inherited = Motion<T>::zero();
        if (body.parent != WORLDS_NONE) {
            moment_of_travel = this->motion(plan.motions + 12 * body.parent);
            inherited = this->motion(plan.motions + 12 * body.parent + 6);
        }
        Motion<T> bias = moment_of_travel.cross_motion(own);
        if (body.joint == WORLDS_FREE) {
            // The axes of turning move along with the body.
            V along = V::zero();
            for (uint32_t n = body.first_velocity + 3; n < body.first_velocity + 6; ++n) {
                along = along + this->motion(plan.axes + 6 * n).linear * this->velocity(n);
            }
            bias.linear = bias.linear + cross(along, own.angular);
        }
        this->set_motion(plan.motions + 12 * b, moment_of_travel.plus(own));
        this->set_motion(plan.motions + 12 * b + 6, inherited.plus(bias));
    }

    __device__ __forceinline__ Inertia<T> inertia_at(uint32_t b) const {
        const uint32_t at = plan.inertias + INERTIA * b;
        Inertia<T> inertia;
        inertia.mass = this->get(at);
        inertia.moment = this->vector(at + 1);
        for (uint32_t k = 0; k < 6; ++k) {
            inertia.inertia[k] = this->get(at + 4 + k);
        }
        return inertia;
    }

    __device__ __forceinline__ void set_inertia(uint32_t b, const Inertia<T>& inertia) const {
        const uint32_t at = plan.inertias + INERTIA * b;
        this->set(at, inertia.mass);
        this->set_vector(at + 1, inertia.moment);
        for (uint32_t k = 0; k < 6; ++k) {
            this->set(at + 4 + k, inertia.inertia[k]);
        }
    }

    // Inertia of a body alone and the force that it needs at zero joint accelerations.
    __device__ __forceinline__ void weigh(uint32_t b) const {
        const uint32_t numbers = plan.body_numbers + WORLDS_BODY_NUMBERS * b;
        const N scale = this->parameter(plan.mass + b);
        const Mat<T> rotation = this->matrix(plan.poses + POSE * b);
        const V lever = lever_of(b);
        N own[6];
        for (uint32_t k = 0; k < 6; ++k) {
            own[k] = scale * this->constant(numbers + WORLDS_BODY_INERTIA + k);
        }
        const V center = rotation.apply(this->constant_vector(numbers + WORLDS_BODY_CENTER));
        const Inertia<T> inertia =
            Inertia<T>::placed(scale * this->constant(numbers + WORLDS_BODY_MASS), lever + center, rotation, own);
        set_inertia(b, inertia);
        const V gravity = this->parameter_vector(plan.gravity);
        const N mass = scale * this->constant(numbers + WORLDS_BODY_WEIGHT);
        V moment = rotation.apply(this->constant_vector(numbers + WORLDS_BODY_WEIGHT + 1)) * scale;
        moment = moment + lever * mass;
        const Force<T> pull = {cross(moment, gravity), gravity * mass};
        const Motion<T> v = this->motion(plan.motions + 12 * b);
        const Motion<T> a = this->motion(plan.motions + 12 * b + 6);
        const Force<T> needed = inertia.momentum(a).plus(v.cross_force(inertia.momentum(v)));
        this->set_force(plan.forces + 6 * b, needed.minus(pull));
    }

    // Rows of the mass matrix of a body's joint and the forces along it; then hands both to the
    // parent.
    __device__ __forceinline__ void hand_on(uint32_t b, const WorldsBody& body) const {
        const Inertia<T> inertia = inertia_at(b);
        const Force<T> force = this->force(plan.forces + 6 * b);
        const N minus_dt = -this->dt();
        for (uint32_t n = body.first_velocity; n < body.first_velocity + body.dofs; ++n) {
            const Motion<T> axis = this->motion(plan.axes + 6 * n);
            this->set(plan.momenta + n, axis.on(force) * minus_dt);
            const Force<T> momentum = inertia.momentum(axis);
            const uint32_t own = n - tree.first_velocity;
            const uint32_t row = plan.bare + tree.block + own * (own + 1) / 2;
            for (uint32_t column = 0; column <= own; ++column) {
                this->set(row + column, 0.0);
            }
            for (uint32_t c = body.first_chain; c < body.first_chain + body.chain; ++c) {
                const Array<uint32_t, 2> other = plan.chains[c];
                if (other[0] <= n) {
                    this->set(row + other[1], this->motion(plan.axes + 6 * other[0]).on(momentum));
                }
            }
        }
        if (body.parent != WORLDS_NONE) {
            set_inertia(body.parent, inertia_at(body.parent).plus(inertia));
            const uint32_t at = plan.forces + 6 * body.parent;
            this->set_force(at, this->force(at).plus(force));
        }
    }

    __device__ __forceinline__ N figure(uint32_t n, uint32_t which) const {
        return this->constant(plan.dof_numbers + WORLDS_DOF_NUMBERS * n + which);
    }

    // `M v`, of the bare mass matrix with the motors' own inertia.
    __device__ __forceinline__ void add_momenta() const {
        const uint32_t first = tree.first_velocity, block = plan.bare + tree.block;
        for (uint32_t n = first; n < first + tree.size; ++n) {
            const N armature = figure(n, 3);
            if (N(0.0) < armature) {
                const uint32_t at = plan.bare + plan.dofs[n].diagonal;
                this->set(at, this->get(at) + armature);
            }
        }
        for (uint32_t i = 0; i < tree.size; ++i) {
            N sum = this->get(plan.momenta + first + i);
            for (uint32_t j = 0; j < tree.size; ++j) {
                const uint32_t row = max(i, j), column = min(i, j);
                sum = sum + this->get(block + row * (row + 1) / 2 + column) * this->velocity(first + j);
            }
            this->set(plan.momenta + first + i, sum);
        }
    }

    // The bare matrix and the momenta, to be added to.
    __device__ __forceinline__ void begin() const {
        for (uint32_t n = tree.first_velocity; n < tree.first_velocity + tree.size; ++n) {
            this->set(plan.smooth + n, this->get(plan.momenta + n));
        }
        for (uint32_t k = tree.block; k < tree.block + tree.size * (tree.size + 1) / 2; ++k) {
            this->set(plan.blocks + k, this->get(plan.bare + k));
        }
    }

    __device__ __forceinline__ void add(uint32_t n, N x) const { this->set(n, this->get(n) + x); }

    // Damping and springs at the end of the step.
    __device__ __forceinline__ void add_passive() const {
        const N dt = this->dt();
        for (uint32_t n = tree.first_velocity; n < tree.first_velocity + tree.size; ++n) {
            const WorldsDof dof = plan.dofs[n];
            const N stiffness = figure(n, 1);
            const N gain = dt * (figure(n, 0) + dt * stiffness);
            if (N(0.0) < gain) {
                add(plan.blocks + dof.diagonal, gain);
            }
            if (dof.position != WORLDS_NONE && N(0.0) < stiffness) {
                add(plan.smooth + n, (-this->position(dof.position) + figure(n, 2)) * (dt * stiffness));
            }
        }
    }

    // Calls `act(m, motor)` for the tree's motors.
    template <typename Act>
    __device__ __forceinline__ void each_motor(Act act) const {
        for (uint32_t m = 0; m < plan.motors.length; ++m) {
            const WorldsMotor motor = plan.motors[m];
            if (motor.tree == number) {
                act(m, motor);
            }
        }
    }

    // Effort of a motor at no velocity, and the gain with which it falls.
    __device__ __forceinline__ void find_effort(uint32_t m, const WorldsMotor& motor, N& effort, N& gain) const {
        const uint32_t row = min(plan.clock[0], plan.clock[1]) * plan.motors.length + m;
        const N target = N::of(p.targets[row * plan.worlds + world]);
        const N stiffness = this->parameter(plan.motor_figures + 3 * m);
        const N damping = this->parameter(plan.motor_figures + 3 * m + 1);
        if (motor.position != WORLDS_NONE) {
            const N error = target - this->position(motor.position);
            effort = stiffness * error + damping * this->constant(plan.motor_numbers + m);
            gain = damping + stiffness * this->dt();
        } else {
            const bool is_rate = motor.order == WORLDS_RATE;
            effort = is_rate ? damping * target : target;
            gain = is_rate ? damping : N(0.0);
        }
    }

    // Motors; those at their limits give what they can.
    __device__ __forceinline__ void add_motors() const {
        each_motor([&](uint32_t m, const WorldsMotor& motor) {
            N effort, gain;
            find_effort(m, motor, effort, gain);
            const bool is_limited = N(0.5) < this->get(plan.saturated + 2 * m);
            const N limit = this->get(plan.saturated + 2 * m + 1);
            add(plan.blocks + plan.dofs[motor.dof].diagonal, (is_limited ? N(0.0) : gain) * this->dt());
            add(plan.smooth + motor.dof, (is_limited ? limit : effort) * this->dt());
        });
    }

    // Holds at their limits the motors that the velocities would have beyond them. Whether any was
    // not before.
    __device__ __forceinline__ bool saturate() const {
        bool again = false;
        each_motor([&](uint32_t m, const WorldsMotor& motor) {
            N effort, gain;
            find_effort(m, motor, effort, gain);
            const N limit = this->parameter(plan.motor_figures + 3 * m + 2);
            const N wanted = effort - gain * this->get(plan.smooth + motor.dof);
            const N given = within(wanted, -limit, limit);
            const bool is_fixed = !(this->get(plan.saturated + 2 * m) < N(0.5));
            // Rounding is not beyond a limit.
            if (limit * Bounds<T>::MOTOR < magnitude(wanted - given) && !is_fixed) {
                this->set(plan.saturated + 2 * m, 1.0);
                this->set(plan.saturated + 2 * m + 1, given);
                again = true;
            }
        });
        return again;
    }
};

}  // namespace worlds
