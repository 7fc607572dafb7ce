// A pair of geometries by one thread: whether their bounding spheres overlap, where they meet, and
// the impulse and moment of each point by facets (equations 5 to 13 of ComFree):
// `batch/src/contact.rs`.
//
// Each point has its own memory for its impulse, and a word of each pair says which points touch,
// so that degrees of freedom sum them in a fixed order.
#pragma once

#include "worlds.cuh"
#include "worlds_boxes.cuh"
#include "worlds_capsule_box.cuh"

namespace worlds {

template <typename Arrays>
struct BatchContact : BatchWorld<Arrays> {
    typedef BatchWorld<Arrays> Base;
    typedef typename Base::T T;
    typedef Number<T> N;
    typedef Vec<T> V;
    using Base::p;
    using Base::plan;
    using Base::world;

    // Gains of a contact's friction cones. Velocities are those of the second body against the
    // first.
    struct ContactGains {
        V normal;
        V tangents[2];
        // Impulse for each m/s of slip and each unit of the coefficient [N s/(m/s)].
        N gain;
        // Impulse of a facet without slip [N s].
        N violation;
    };

    const uint32_t number;
    const WorldsPair pair;
    // Which points touch, and which of them have a moment.
    uint32_t touching = 0;

    __device__ __forceinline__ BatchContact(const Arrays& arrays, uint32_t pair_number, uint32_t world_number)
        : Base(arrays, world_number), number(pair_number), pair(arrays.plan.pairs[pair_number]) {}

    __device__ __forceinline__ void run() {
        if (may_touch()) {
            const Solid<T> a = solid(0), b = solid(1);
            switch (pair.kind) {
                case PAIR_SPHERE_HALF_SPACE: find<1, sphere_half_space<T>>(a, b); break;
                case PAIR_SPHERE_SPHERE: find<1, sphere_sphere<T>>(a, b); break;
                case PAIR_SPHERE_CAPSULE: find<1, sphere_capsule<T>>(a, b); break;
                case PAIR_SPHERE_BOX: find<1, sphere_box<T>>(a, b); break;
                case PAIR_CAPSULE_HALF_SPACE: find<2, capsule_half_space<T>>(a, b); break;
                case PAIR_CAPSULE_CAPSULE: find<2, capsule_capsule<T>>(a, b); break;
                case PAIR_CAPSULE_BOX: find<3, capsule_box<T>>(a, b); break;
                case PAIR_BOX_HALF_SPACE: find<8, box_half_space<T>>(a, b); break;
                default: find<12, box_box<T>>(a, b); break;
            }
        }
        plan.touching[number * plan.worlds + world] = touching;
    }

    template <uint32_t COUNT, void (*FIND)(const Solid<T>&, const Solid<T>&, ContactPoint<T> (&)[COUNT])>
    __device__ __forceinline__ void find(const Solid<T>& a, const Solid<T>& b) {
        ContactPoint<T> points[COUNT];
        FIND(a, b, points);
        for (uint32_t k = 0; k < COUNT; ++k) {
            if (points[k].distance < N(0.0)) {
                push(k, points[k]);
            }
        }
    }

    __device__ __forceinline__ V size_of(uint32_t g) const { return this->parameter_vector(plan.sizes + 3 * g); }

    // Center of a geometry [m].
    __device__ __forceinline__ V geometry_center(uint32_t g) const {
        const V local = this->constant_vector(plan.geometry_numbers + POSE * g + 9);
        const uint32_t body = plan.geometries[g].body;
        return body == WORLDS_NONE ? local : this->body_pose(body).apply(local);
    }

    __device__ __forceinline__ Solid<T> solid(uint32_t k) const {
        const uint32_t g = pair.geometries[k];
        const Pose<T> local = this->constant_pose(plan.geometry_numbers + POSE * g);
        const uint32_t body = plan.geometries[g].body;
        return {body == WORLDS_NONE ? local : this->body_pose(body).times(local), size_of(g)};
    }

    // Radius of a geometry's bounding sphere [m].
    __device__ __forceinline__ N radius_of(uint32_t g) const {
        const V size = size_of(g);
        switch (plan.geometries[g].shape) {
            case WORLDS_SPHERE: return size.x;
            case WORLDS_CAPSULE: return size.x + size.y;
            case WORLDS_BOX: return root(dot(size, size));
            default: return 0.0;
        }
    }

    // Outward normal of a half-space.
    __device__ __forceinline__ V up_of(uint32_t g) const {
        const V local = this->constant_matrix(plan.geometry_numbers + POSE * g).column(2);
        const uint32_t body = plan.geometries[g].body;
        return body == WORLDS_NONE ? local : this->body_pose(body).rotation.apply(local);
    }

    // Whether the bounding spheres of the two overlap; of a half-space its surface counts.
    __device__ __forceinline__ bool may_touch() const {
        const uint32_t a = pair.geometries[0], b = pair.geometries[1];
        const V apart = geometry_center(b) - geometry_center(a);
        const N reach = radius_of(a) + radius_of(b);
        if (plan.geometries[b].shape == WORLDS_HALF_SPACE) {
            return -dot(up_of(b), apart) < reach;
        }
        return dot(apart, apart) < reach * reach;
    }

    // Coefficients of sliding, of turning and rolling [m]: the larger ones or harmonic means.
    __device__ __forceinline__ void find_friction(N (&mu)[3]) const {
        for (uint32_t k = 0; k < 3; ++k) {
            const N a = this->parameter(plan.friction + 3 * pair.geometries[0] + k);
            const N b = this->parameter(plan.friction + 3 * pair.geometries[1] + k);
            if (pair.larger_friction != 0) {
                mu[k] = a < b ? b : a;
                continue;
            }
            const N product = a * b;
            mu[k] = N(0.0) < product ? product * 2.0 / (a + b) : N(0.0);
        }
    }

    // Tree of the geometry's body, or WORLDS_NONE.
    __device__ __forceinline__ uint32_t tree_of(uint32_t k) const {
        const uint32_t body = plan.geometries[pair.geometries[k]].body;
        return body == WORLDS_NONE ? WORLDS_NONE : plan.bodies[body].tree;
    }

    // Writes what `part` takes of the axes that move a body of the pair, second less first, where
    // the columns of its tree are; for both bodies where they are of one tree.
    template <typename Part>
    __device__ __forceinline__ void write_columns(uint32_t t, uint32_t base, Part part) const {
        const WorldsTree tree = plan.trees[t];
        for (uint32_t i = 0; i < tree.size; ++i) {
            this->set_contact_vector(base + 3 * i, V::zero());
        }
        for (uint32_t k = 0; k < 2; ++k) {
            if (tree_of(k) != t) {
                continue;
            }
            const WorldsBody body = plan.bodies[plan.geometries[pair.geometries[k]].body];
            for (uint32_t c = body.first_chain; c < body.first_chain + body.chain; ++c) {
                const Array<uint32_t, 2> dof = plan.chains[c];
                const V column = part(this->motion(plan.axes + 6 * dof[0]));
                const uint32_t at = base + 3 * dof[1];
                this->set_contact_vector(at, this->contact_vector(at) + (k == 0 ? -column : column));
            }
        }
    }

    // What the smooth velocities of a tree give through the columns.
    __device__ __forceinline__ V velocity_through(const WorldsTree& tree, uint32_t base) const {
        V sum = V::zero();
        for (uint32_t i = 0; i < tree.size; ++i) {
            sum = sum + this->contact_vector(base + 3 * i) * this->get(plan.smooth + tree.first_velocity + i);
        }
        return sum;
    }

    // A tree's part of the trace of `J M^-1 J^T` (equation 12), in place of the columns.
    __device__ __forceinline__ N trace_of(const WorldsTree& tree, uint32_t base) const {
        const uint32_t block = plan.blocks + tree.block;
        N trace = 0.0;
        for (uint32_t i = 0; i < tree.size; ++i) {
            const uint32_t row = block + i * (i + 1) / 2;
            V sum = this->contact_vector(base + 3 * i);
            for (uint32_t k = 0; k < i; ++k) {
                sum = sum - this->contact_vector(base + 3 * k) * this->get(row + k);
            }
            sum = sum * this->get(row + i);
            this->set_contact_vector(base + 3 * i, sum);
            trace = trace + dot(sum, sum);
        }
        return trace;
    }

    // Adds what a free-floating body has of the velocities at a point, of those of turning, and of
    // the trace.
    __device__ __forceinline__ void add_floating(uint32_t side, const WorldsTree& tree, V point, V& v, V& w, N& trace) const {
        const uint32_t b = tree.first_body;
        const N sign = side == 0 ? -1.0 : 1.0;
        const V lever = point - this->reference(tree);
        const Motion<T> motion = this->motion(plan.smooth + tree.first_velocity);
        v = v + motion.at(lever) * sign;
        w = w + motion.angular * sign;
        // tr([r] W [r]^T) = tr(W) r^2 - r . W r.
        const V r = lever - this->center_of(b);
        const Mat<T> inverse = this->inverse_inertia(b);
        const N spread = inverse.rows[0].x + inverse.rows[1].y + inverse.rows[2].z;
        trace = trace + this->inverse_mass(b) * 3.0 + spread * dot(r, r) - dot(r, inverse.apply(r));
    }

    // One contact: its impulse and moment.
    PLIANT_CALLED __device__ void push(uint32_t k, const ContactPoint<T>& point) {
        const uint32_t base = plan.columns + 3 * plan.largest * number;
        const uint32_t trees[2] = {tree_of(0), tree_of(1)};
        const uint32_t sides = trees[0] == trees[1] ? 1 : 2;
        V v = V::zero(), w = V::zero();
        N trace = 0.0;
        N mu[3];
        find_friction(mu);
        const bool turns = N(0.0) < mu[1] || N(0.0) < mu[2];
        for (uint32_t side = 0; side < sides; ++side) {
            if (trees[side] == WORLDS_NONE) {
                continue;
            }
            const WorldsTree tree = plan.trees[trees[side]];
            if (tree.floating != 0) {
                add_floating(side, tree, point.point, v, w, trace);
                continue;
            }
            const V lever = point.point - this->reference(tree);
            write_columns(trees[side], base, [&](const Motion<T>& axis) { return axis.at(lever); });
            v = v + velocity_through(tree, base);
            trace = trace + trace_of(tree, base);
            if (turns) {
                write_columns(trees[side], base, [&](const Motion<T>& axis) { return axis.angular; });
                w = w + velocity_through(tree, base);
            }
        }
        if (!(N(0.0) < trace)) {
            return;
        }
        const N dt = this->dt(), kappa = this->kappa(), delta = this->delta();
        const uint32_t curve = plan.pair_numbers + WORLDS_CURVE_NUMBERS * number;
        const N mass = this->impedance_ratio(curve, -point.distance) / trace;
        ContactGains gains;
        gains.normal = point.normal;
        find_tangents(point.normal, gains.tangents);
        gains.gain = mass * (dt * (kappa * dt + delta));
        gains.violation = mass * point.distance * (-dt * kappa) - gains.gain * dot(point.normal, v);
        V impulse = cone(gains, v, mu[0]), moment = V::zero();
        if (turns) {
            N along, about;
            torsion(gains, w, mu[1], along, about);
            // An absent cone gives no normal impulse either.
            const bool is_twisting = N(0.0) < mu[1];
            along = is_twisting ? along : N(0.0);
            about = is_twisting ? about : N(0.0);
            const V roll = N(0.0) < mu[2] ? cone(gains, w, mu[2]) : V::zero();
            const N rolled = dot(gains.normal, roll);
            impulse = impulse + gains.normal * (along + rolled);
            moment = roll + gains.normal * (about - rolled);
        }
        const uint32_t at = WORLDS_POINT_NUMBERS * (pair.first_point + k);
        this->set_contact_vector(at, point.point);
        this->set_contact_vector(at + 3, impulse);
        this->set_contact_vector(at + 6, moment);
        touching |= 1u << k | (turns ? 1u << (WORLDS_TURNING + k) : 0u);
    }

    // Sum over the facets of a plane cone, `sum_j lambda_j (n - mu d_j)` (equations 7 to 9).
    __device__ __forceinline__ V cone(const ContactGains& gains, V slip, N mu) const {
        const N slopes[2] = {gains.gain * mu * dot(gains.tangents[0], slip), gains.gain * mu * dot(gains.tangents[1], slip)};
        // The published impedance belongs to four facets.
        const N weight = this->constant(3);
        N normal = 0.0, plane[2] = {0.0, 0.0};
        for (uint32_t f = 0; f < plan.facets; ++f) {
            const N x = this->constant(plan.facet_numbers + 2 * f), y = this->constant(plan.facet_numbers + 2 * f + 1);
            const N lambda = most(gains.violation + slopes[0] * x + slopes[1] * y, N(0.0)) * weight;
            normal = normal + lambda;
            plane[0] = plane[0] + lambda * x;
            plane[1] = plane[1] + lambda * y;
        }
        return gains.normal * normal - (gains.tangents[0] * plane[0] + gains.tangents[1] * plane[1]) * mu;
    }

    // Normal impulse and moment about the normal of the two facets of torsion.
    __device__ __forceinline__ void torsion(const ContactGains& gains, V w, N mu, N& along, N& turning) const {
        const N slope = gains.gain * mu * dot(gains.normal, w);
        const N with = most(gains.violation + slope, N(0.0)), against = most(gains.violation + -slope, N(0.0));
        along = with + against;
        turning = mu * (against - with);
    }
};

}  // namespace worlds
