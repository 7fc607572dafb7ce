// Pins of cloth on the grid, as mpm/src/sheets/pins.rs: nodes and held vertices agree on
// velocities, pin after pin.
#include "cloth_common.cuh"

namespace cloth {

// Sweeps of a round of Gauss-Seidel.
constexpr uint32_t PIN_SWEEPS = 8;

// Most rounds, and the residual at which the last one ends, over that of the first sweep: what the
// host's conjugate gradients leave, but for the rounding of the nodes' velocities.
constexpr uint32_t PIN_ROUNDS = 16;
constexpr float PIN_TOLERANCE = 1e-6f;

static_assert(PIN_SWEEPS * WARP_SIZE == CLOTH_PIN_THREADS, "a warp a sweep");

// Sum over the lanes of the warp, the same for all, along a fixed tree.
__device__ __forceinline__ double warp_sum(double value) {
    for (uint32_t distance = WARP_SIZE / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    }
    return value;
}

__device__ __forceinline__ bool holds(const ClothHoldGridParameters& p, uint32_t pin) {
    return p.pins.targets[p.substep_index * p.pins.vertices.length + pin].holds != 0;
}

// Distance in the list to the first pin that may share nodes with this one. Stencils have three
// nodes along an axis.
__device__ __forceinline__ uint32_t first_shared(const ClothHoldGridParameters& p, uint32_t pin) {
    const auto base = [&](uint32_t of, uint32_t d) { return p.pins.rows[of * CLOTH_PIN_ROW + PIN_BASE + d]; };
    for (uint32_t other = 0; holds(p, pin) && other < pin; ++other) {
        bool is_shared = holds(p, other);
        for (uint32_t d = 0; d < 3; ++d) {
            is_shared = is_shared && fabs(base(other, d) - base(pin, d)) <= 2.0;
        }
        if (is_shared) {
            return pin - other;
        }
    }
    return 0;
}

// A pin's stencil: where its vertex will be and how fast, and the nodes with mass around it, a lane
// each.
__device__ __forceinline__ void begin_pin(const ClothHoldGridParameters& p, uint32_t pin) {
    const PinTarget target = p.pins.targets[p.substep_index * p.pins.vertices.length + pin];
    if (target.holds == 0) {
        return;
    }
    const MpmSettings& settings = p.settings[0];
    const uint32_t lane = lane_index();
    const uint32_t i = p.tables.places[p.pins.vertices[pin]];
    const Array<int32_t, 3> corner = corner_of(p.particles, i);
    const uint32_t o[3] = {lane / 9, lane / 3 % 3, lane % 3};
    double weight = 1.0, velocity[3], first[3];
    uint32_t neighbour = 0, node = 0;
    for (uint32_t d = 0; d < 3; ++d) {
        const double cells = cells_of(p.particles, d, i);
        const double base = floor(cells - 0.5);
        weight *= spline_weight(o[d], cells - base);
        const double from = (static_cast<double>(corner[d]) + cells) * settings.grid_spacing_f64;
        velocity[d] = (target.position[d] - from) / settings.substep_f64;
        first[d] = static_cast<double>(corner[d]) + base;
        // In nodes from the corner of the block before.
        const uint32_t at = static_cast<uint32_t>(static_cast<int32_t>(base) + BLOCK_EDGE) + o[d];
        neighbour = neighbour * 3 + at / 4;
        node = node * 4 + at % 4;
    }
    double mobility = 0.0;
    if (lane < STENCIL_NODES) {
        const uint32_t block = p.particles.blocks[i];
        const uint32_t slot = p.nodes_of_particles[block * MPM_NEIGHBOURS + neighbour] * MPM_BLOCK_NODES + node;
        const double mass = quad(p.grid.nodes, slot).w;
        weight = mass > 0.0 ? weight : 0.0;
        mobility = weight > 0.0 ? weight * weight / mass : 0.0;
        p.reach[pin * STENCIL_NODES + lane] = slot;
        p.weights[pin * STENCIL_NODES + lane] = weight;
    }
    mobility = warp_sum(mobility);
    const uint32_t row = pin * CLOTH_PIN_ROW;
    if (lane < CLOTH_PIN_SUMS) {
        p.pins.rows[row + PIN_DONE + lane] = 0.0;
    }
    if (lane == 0) {
        for (uint32_t d = 0; d < 3; ++d) {
            p.pins.rows[row + PIN_VELOCITY + d] = velocity[d];
            p.pins.rows[row + PIN_BASE + d] = first[d];
            // Forces act at the positions, in the middle of both velocities.
            p.pins.rows[row + PIN_MEAN + d] = 0.5 * (row_of(p.particles, ROW_VELOCITY + d, i) + velocity[d]);
        }
        p.pins.rows[row + PIN_MOBILITY] = mobility;
    }
}

// Moves the grid with one pin, and adds the impulse to the lane's sums. Returns what its velocity
// lacked [m/s].
__device__ __forceinline__ float sweep_pin(const ClothHoldGridParameters& p, uint32_t pin, double (&sums)[CLOTH_PIN_SUMS]) {
    const uint32_t lane = lane_index(), row = pin * CLOTH_PIN_ROW;
    const double mobility = p.pins.rows[row + PIN_MOBILITY];
    if (!holds(p, pin) || mobility == 0.0) {
        return 0.0f;
    }
    const double weight = lane < STENCIL_NODES ? p.weights[pin * STENCIL_NODES + lane] : 0.0;
    const uint32_t slot = lane < STENCIL_NODES ? p.reach[pin * STENCIL_NODES + lane] : 0;
    const float4 node = quad(p.grid.nodes, slot);
    const Wide from = wide(vector(node));
    const Wide grid_velocity = {warp_sum(weight * from.x), warp_sum(weight * from.y), warp_sum(weight * from.z)};
    const Wide pin_velocity = {p.pins.rows[row], p.pins.rows[row + 1], p.pins.rows[row + 2]};
    const Wide mean_velocity = {p.pins.rows[row + PIN_MEAN], p.pins.rows[row + PIN_MEAN + 1], p.pins.rows[row + PIN_MEAN + 2]};
    const Wide missing = pin_velocity - grid_velocity;
    const Wide impulse = (1.0 / mobility) * missing;
    if (weight > 0.0) {
        const double mass = node.w;
        const Wide wanted = from + (weight / mass) * impulse;
        const Vec3 to = {static_cast<float>(wanted.x), static_cast<float>(wanted.y), static_cast<float>(wanted.z)};
        quad(p.grid.nodes, slot) = quad_of(to, node.w);
        const Array<int32_t, 3> key = p.grid.keys[slot / MPM_BLOCK_NODES];
        const auto along = [&](uint32_t d, uint32_t local) {
            return (static_cast<double>(BLOCK_EDGE) * key[d] + static_cast<double>(local)) * p.settings[0].grid_spacing_f64;
        };
        const uint32_t local = slot % MPM_BLOCK_NODES;
        const Wide at = {along(0, local / 16), along(1, local / 4 % 4), along(2, local % 4)};
        add_impulse([&](uint32_t n) -> double& { return sums[n]; }, at, mass * (wide(to) - from), mean_velocity);
    }
    return static_cast<float>(sqrt(dot(missing, missing)));
}

}  // namespace cloth

// A warp takes a sweep of a round, a lane a node. The result is that of sweeps one after the other,
// each through the pins in their order: a sweep follows the one before at such a distance that no two
// warps work on pins that share nodes.
PLIANT_KERNEL(cloth_hold_grid, ClothHoldGridParameters, CLOTH_PIN_THREADS) {
    SHARED(uint32_t, farthest, 1);
    // What the first sweep found, and the last of each round, as bits: those of floats that are not
    // negative are in the order of their values.
    SHARED(uint32_t, found, 1 + cloth::PIN_ROUNDS);
    SHARED(double, parts, cloth::PIN_SWEEPS * CLOTH_PIN_SUMS);
    if (is_stopped(p.status, p.substep_index)) {
        return;
    }
    const uint32_t pins = p.pins.vertices.length, sweep = warp_index();
    if (threadIdx.x == 0) {
        farthest[0] = 0;
    }
    if (threadIdx.x <= cloth::PIN_ROUNDS) {
        found[threadIdx.x] = 0;
    }
    for (uint32_t pin = sweep; pin < pins; pin += cloth::PIN_SWEEPS) {
        cloth::begin_pin(p, pin);
    }
    __syncthreads();
    for (uint32_t pin = threadIdx.x; pin < pins; pin += CLOTH_PIN_THREADS) {
        atomicMax(&farthest[0], cloth::first_shared(p, pin));
    }
    __syncthreads();
    const uint32_t behind = sweep * (farthest[0] + 1), last = (cloth::PIN_SWEEPS - 1) * (farthest[0] + 1);
    double sums[CLOTH_PIN_SUMS] = {};
    // The same for all threads: a round's entry is not written in later ones.
#pragma unroll 1
    for (uint32_t round = 0; round < cloth::PIN_ROUNDS; ++round) {
#pragma unroll 1
        for (uint32_t step = 0; step < pins + last; ++step) {
            if (step >= behind && step - behind < pins) {
                const uint32_t missing = __float_as_uint(cloth::sweep_pin(p, step - behind, sums));
                if (lane_index() == 0 && round == 0 && sweep == 0) {
                    atomicMax(&found[0], missing);
                }
                if (lane_index() == 0 && sweep + 1 == cloth::PIN_SWEEPS) {
                    atomicMax(&found[1 + round], missing);
                }
            }
            __syncthreads();
        }
        if (__uint_as_float(found[1 + round]) <= cloth::PIN_TOLERANCE * __uint_as_float(found[0])) {
            break;
        }
    }
    for (uint32_t entry = 0; entry < CLOTH_PIN_SUMS; ++entry) {
        const double sum = cloth::warp_sum(sums[entry]);
        if (lane_index() == 0) {
            parts[sweep * CLOTH_PIN_SUMS + entry] = sum;
        }
    }
    __syncthreads();
    if (threadIdx.x < CLOTH_PIN_SUMS) {
        double sum = 0.0;
        for (uint32_t k = 0; k < cloth::PIN_SWEEPS; ++k) {
            sum += parts[k * CLOTH_PIN_SUMS + threadIdx.x];
        }
        p.pins.of_grid[threadIdx.x] = sum;
    }
}
