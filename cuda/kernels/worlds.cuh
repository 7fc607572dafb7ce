// One of many isolated worlds: its numbers, a row for each with the worlds side by side, and the
// factors of its mass matrix. The worlds' kernels follow `batch/src`, which says why, operation by
// operation.
#pragma once

#include "parameters.cuh"
#include "worlds_spatial.cuh"

namespace worlds {

constexpr uint32_t POSE = WORLDS_POSE_NUMBERS;
constexpr uint32_t INERTIA = 10;

template <typename Arrays>
struct RealOf;
template <>
struct RealOf<WorldsF32> {
    typedef float Type;
};
template <>
struct RealOf<WorldsF64> {
    typedef double Type;
};

template <typename Arrays>
struct BatchWorld {
    typedef typename RealOf<Arrays>::Type T;
    typedef Number<T> N;
    typedef Vec<T> V;

    const Arrays& p;
    const WorldsPlan& plan;
    // Which one.
    const uint32_t world;

    __device__ __forceinline__ BatchWorld(const Arrays& arrays, uint32_t number) : p(arrays), plan(arrays.plan), world(number) {}

    // Constants: settings, then those of the plan's parts.
    __device__ __forceinline__ N constant(uint32_t at) const { return N::of(p.constants.constant(at)); }
    __device__ __forceinline__ V constant_vector(uint32_t at) const { return {constant(at), constant(at + 1), constant(at + 2)}; }
    __device__ __forceinline__ Mat<T> constant_matrix(uint32_t at) const {
        return {{constant_vector(at), constant_vector(at + 3), constant_vector(at + 6)}};
    }
    __device__ __forceinline__ Pose<T> constant_pose(uint32_t at) const { return {constant_matrix(at), constant_vector(at + 9)}; }
    __device__ __forceinline__ N dt() const { return constant(0); }
    __device__ __forceinline__ N kappa() const { return constant(1); }
    __device__ __forceinline__ N delta() const { return constant(2); }

    __device__ __forceinline__ N position(uint32_t n) const { return N::of(p.states[n * plan.worlds + world]); }
    __device__ __forceinline__ N velocity(uint32_t n) const { return position(plan.velocities + n); }
    __device__ __forceinline__ N parameter(uint32_t n) const { return N::of(p.parameters.constant(n * plan.worlds + world)); }
    __device__ __forceinline__ V parameter_vector(uint32_t n) const { return {parameter(n), parameter(n + 1), parameter(n + 2)}; }
    __device__ __forceinline__ bool is_stopped() const { return plan.stopped[world] != 0; }

    // Numbers of the step.
    __device__ __forceinline__ N get(uint32_t n) const { return N::of(p.scratch[n * plan.worlds + world]); }
    __device__ __forceinline__ void set(uint32_t n, N x) const { p.scratch[n * plan.worlds + world] = x.value; }
    __device__ __forceinline__ V vector(uint32_t n) const { return {get(n), get(n + 1), get(n + 2)}; }
    __device__ __forceinline__ void set_vector(uint32_t n, V v) const {
        set(n, v.x);
        set(n + 1, v.y);
        set(n + 2, v.z);
    }
    __device__ __forceinline__ Mat<T> matrix(uint32_t n) const { return {{vector(n), vector(n + 3), vector(n + 6)}}; }
    __device__ __forceinline__ Motion<T> motion(uint32_t n) const { return {vector(n), vector(n + 3)}; }
    __device__ __forceinline__ void set_motion(uint32_t n, const Motion<T>& m) const {
        set_vector(n, m.angular);
        set_vector(n + 3, m.linear);
    }
    __device__ __forceinline__ Force<T> force(uint32_t n) const { return {vector(n), vector(n + 3)}; }
    __device__ __forceinline__ void set_force(uint32_t n, const Force<T>& f) const {
        set_vector(n, f.angular);
        set_vector(n + 3, f.linear);
    }

    // Numbers of contacts.
    __device__ __forceinline__ N contact(uint32_t n) const { return N::of(p.contacts[n * plan.worlds + world]); }
    __device__ __forceinline__ void set_contact(uint32_t n, N x) const { p.contacts[n * plan.worlds + world] = x.value; }
    __device__ __forceinline__ V contact_vector(uint32_t n) const { return {contact(n), contact(n + 1), contact(n + 2)}; }
    __device__ __forceinline__ void set_contact_vector(uint32_t n, V v) const {
        set_contact(n, v.x);
        set_contact(n + 1, v.y);
        set_contact(n + 2, v.z);
    }

    // Origin of a tree's first body [m], about which its spatial vectors are.
    __device__ __forceinline__ V reference(const WorldsTree& tree) const { return vector(plan.poses + POSE * tree.first_body + 9); }

    __device__ __forceinline__ Pose<T> body_pose(uint32_t b) const {
        return {matrix(plan.poses + POSE * b), vector(plan.poses + POSE * b + 9)};
    }

    // What moves a free-floating body, in the place of an inertia: inverse mass [1/kg], its centre
    // from its origin [m] and the inverse inertia about that [1/(kg m^2)], world axes.
    __device__ __forceinline__ N inverse_mass(uint32_t b) const { return get(plan.inertias + INERTIA * b); }
    __device__ __forceinline__ V center_of(uint32_t b) const { return vector(plan.inertias + INERTIA * b + 1); }
    __device__ __forceinline__ Mat<T> inverse_inertia(uint32_t b) const {
        const uint32_t at = plan.inertias + INERTIA * b + 4;
        const N xx = get(at), xy = get(at + 1), xz = get(at + 2), yy = get(at + 3), yz = get(at + 4), zz = get(at + 5);
        return {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
    }

    // Cholesky's factor of a tree's block in place, the diagonal inverted.
    __device__ __forceinline__ void factorise(const WorldsTree& tree) const {
        const uint32_t block = plan.blocks + tree.block;
        for (uint32_t i = 0; i < tree.size; ++i) {
            const uint32_t row = block + i * (i + 1) / 2;
            for (uint32_t j = 0; j <= i; ++j) {
                const uint32_t other = block + j * (j + 1) / 2;
                N sum = get(row + j);
                for (uint32_t k = 0; k < j; ++k) {
                    sum = sum - get(row + k) * get(other + k);
                }
                set(row + j, i == j ? N(1.0) / root(sum) : sum * get(other + j));
            }
        }
    }

    // Solves with a tree's factor, for the numbers from `x` on, in place.
    __device__ __forceinline__ void solve(const WorldsTree& tree, uint32_t x) const {
        const uint32_t block = plan.blocks + tree.block;
        for (uint32_t i = 0; i < tree.size; ++i) {
            const uint32_t row = block + i * (i + 1) / 2;
            N sum = get(x + i);
            for (uint32_t k = 0; k < i; ++k) {
                sum = sum - get(row + k) * get(x + k);
            }
            set(x + i, sum * get(row + i));
        }
        for (uint32_t i = tree.size; i-- > 0;) {
            N sum = get(x + i);
            for (uint32_t k = i + 1; k < tree.size; ++k) {
                sum = sum - get(block + k * (k + 1) / 2 + i) * get(x + k);
            }
            set(x + i, sum * get(block + i * (i + 3) / 2));
        }
    }

    // `r/(1 - r)` of the impedance at `curve` among the constants, at a depth [m].
    __device__ __forceinline__ N impedance_ratio(uint32_t curve, N depth) const {
        const N lowest = constant(curve), highest = constant(curve + 1), width = constant(curve + 2);
        const N center = constant(curve + 3), exponent = constant(curve + 4);
        const N x = least(magnitude(depth) * (N(1.0) / width), N(1.0));
        N rise;
        if (x < center) {
            rise = raised(x * (N(1.0) / center), exponent) * center;
        } else {
            const N rest = N(1.0) - center;
            rise = -raised((-x + 1.0) * (N(1.0) / rest), exponent) * rest + 1.0;
        }
        const N r = rise * (highest - lowest) + lowest;
        return r / (-r + 1.0);
    }

    static __device__ __forceinline__ N raised(N x, N exponent) {
        if (exponent.value == T(1)) {
            return x;
        }
        return exponent.value == T(2) ? x * x : N::of(power_of(x.value, exponent.value));
    }
};

// The item (tree, pair, degree of freedom) and world of this thread; whether there is one and it
// runs. A block's threads have one item.
template <typename Arrays>
__device__ __forceinline__ bool find_place(const Arrays& p, uint32_t items, uint32_t& item, uint32_t& world) {
    const uint32_t blocks = (p.plan.worlds + WORLDS_THREADS - 1) / WORLDS_THREADS;
    item = blockIdx.x / blocks;
    world = blockIdx.x % blocks * WORLDS_THREADS + threadIdx.x;
    if (item >= items || world >= p.plan.worlds) {
        return false;
    }
    // Volatile: another tree may stop the world meanwhile.
    return *static_cast<const volatile uint32_t*>(&p.plan.stopped[world]) == 0;
}

}  // namespace worlds
