// Kernels that show whether a device, or its emulation, keeps CUDA's promises. Tests run them.
#include "grid.cuh"
#include "parameters.cuh"
#include "prelude.cuh"
#include "worlds_number.cuh"

// What an operation of a warp gives a lane. The numbers are those of `WARP_OPERATIONS` in
// tests/warp.rs.
__device__ __forceinline__ uint32_t warp_operation(const ProbeWarpParameters& p, uint32_t value) {
    const uint32_t m = p.mask;
    const int32_t signed_value = static_cast<int32_t>(value);
    const int parameter = static_cast<int>(p.parameter);
    const int width = static_cast<int>(p.width);
    switch (p.operation) {
        case 0: return __shfl_sync(m, value, parameter, width);
        case 1: return __shfl_up_sync(m, value, p.parameter, width);
        case 2: return __shfl_down_sync(m, value, p.parameter, width);
        case 3: return __shfl_xor_sync(m, value, parameter, width);
        case 4: return __ballot_sync(m, (value & 1) != 0);
        case 5: return static_cast<uint32_t>(__any_sync(m, (value & 1) != 0) != 0);
        case 6: return static_cast<uint32_t>(__all_sync(m, (value & 1) != 0) != 0);
        case 7: return __match_any_sync(m, value % 5);
        case 8: return __reduce_add_sync(m, value);
        case 9: return __reduce_min_sync(m, value);
        case 10: return __reduce_max_sync(m, value);
        case 11: return static_cast<uint32_t>(__reduce_min_sync(m, signed_value));
        case 12: return static_cast<uint32_t>(__reduce_max_sync(m, signed_value));
        case 13: return __reduce_and_sync(m, value);
        case 14: return __reduce_or_sync(m, value);
        case 15: return __reduce_xor_sync(m, value);
        // Two masks, each with the lanes of one parity.
        case 16: return __reduce_add_sync(m & (lane_index() % 2 == 0 ? 0x55555555u : 0xaaaaaaaau), value);
        default: __syncwarp(m); return value;
    }
}

PLIANT_KERNEL(probe_warp, ProbeWarpParameters, PROBE_THREADS) {
    if ((p.mask >> lane_index() & 1) != 0) {
        p.output[global_thread()] = warp_operation(p, p.input[global_thread()]);
    }
    // Lanes outside the mask wait here, not in the operation.
    __syncwarp();
}

PLIANT_KERNEL(probe_shuffle_f64, ProbeShuffleF64Parameters, PROBE_THREADS) {
    const double value = p.input[global_thread()];
    p.output[global_thread()] = __shfl_xor_sync(ALL_LANES, value, static_cast<int>(p.lane_mask));
}

PLIANT_KERNEL(probe_atomics, ProbeAtomicsParameters, PROBE_THREADS) {
    const uint32_t thread = global_thread();
    if (thread >= p.count) {
        return;
    }
    const uint32_t operand = p.operands[thread];
    atomicAdd(&p.words[0], operand);
    atomicSub(&p.words[1], operand);
    atomicMin(&p.words[2], operand);
    atomicMax(&p.words[3], operand);
    atomicAnd(&p.words[4], operand);
    atomicOr(&p.words[5], operand);
    atomicXor(&p.words[6], operand);
    atomicExch(&p.words[7], operand);
    for (uint32_t found = *static_cast<const volatile uint32_t*>(&p.words[8]), expected = ~found; found != expected;) {
        expected = found;
        found = atomicCAS(&p.words[8], expected, expected + 1);
    }
    p.tickets[thread] = atomicAdd(&p.words[9], 1u);

    const int32_t signed_operand = static_cast<int32_t>(operand);
    atomicAdd(&p.integers[0], signed_operand);
    atomicMin(&p.integers[1], signed_operand);
    atomicMax(&p.integers[2], signed_operand);

    const uint64_t long_operand = static_cast<uint64_t>(operand) << 16 | thread;
    atomicAdd(&p.longs[0], long_operand);
    atomicMin(&p.longs[1], long_operand);
    atomicMax(&p.longs[2], long_operand);
    atomicExch(&p.longs[3], long_operand);
    for (uint64_t found = *static_cast<const volatile uint64_t*>(&p.longs[4]), expected = ~found; found != expected;) {
        expected = found;
        found = atomicCAS(&p.longs[4], expected, expected + 1);
    }

    // Whole numbers, so that no order rounds.
    const float small = static_cast<float>(operand % 16);
    atomicAdd(&p.floats[0], small);
    atomicExch(&p.floats[1], small);
    atomicAdd(&p.doubles[0], static_cast<double>(operand));
}

PLIANT_KERNEL(probe_block, ProbeBlockParameters, PROBE_THREADS) {
    SHARED(uint32_t, values, PROBE_THREADS);
    DYNAMIC_SHARED(uint32_t, more_values);
    const uint32_t thread = threadIdx.x;
    const uint32_t at = global_thread();
    const uint32_t value = p.input[at];
    values[thread] = value;
    more_values[thread] = value;
    __syncthreads();
    p.next[at] = values[(thread + 1) % blockDim.x];
    p.previous[at] = more_values[(thread + blockDim.x - 1) % blockDim.x];
    const bool odd = value % 2 == 1;
    p.votes[at][0] = static_cast<uint32_t>(__syncthreads_count(odd));
    p.votes[at][1] = static_cast<uint32_t>(__syncthreads_and(odd) != 0);
    p.votes[at][2] = static_cast<uint32_t>(__syncthreads_or(odd) != 0);
}

PLIANT_KERNEL(probe_grid, ProbeGridParameters, PROBE_THREADS) {
    const uint32_t blocks = gridDim.x;
    const uint32_t block = blockIdx.x;
    for (uint32_t round = 0; round < p.rounds; ++round) {
        const uint32_t from = round % 2 * blocks;
        const uint32_t to = blocks - from;
        if (threadIdx.x == blockDim.x - 1) {
            // Volatile: another block wrote these, and a cache of this one could be stale.
            const volatile uint32_t* const left = &p.values[from + (block + blocks - 1) % blocks];
            const volatile uint32_t* const right = &p.values[from + (block + 1) % blocks];
            p.values[to + block] = *left + *right;
        }
        grid_barrier(p.barrier);
    }
}

PLIANT_KERNEL(probe_races, ProbeRacesParameters, PROBE_THREADS) {
    p.last[0] = global_thread();
    // Terms of the harmonic series, which round differently in each order.
    atomicAdd(&p.sum[0], 1.0f / static_cast<float>(1 + global_thread()));
}

PLIANT_KERNEL(probe_arithmetic, ProbeArithmeticParameters, PROBE_THREADS) {
    const uint32_t at = global_thread();
    if (at >= p.input.length) {
        return;
    }
    const uint32_t value = p.input[at];
    p.bits[at][0] = static_cast<uint32_t>(__popc(value));
    p.bits[at][1] = static_cast<uint32_t>(__ffs(static_cast<int32_t>(value)));
    p.bits[at][2] = static_cast<uint32_t>(__clz(static_cast<int32_t>(value)));
    p.bits[at][3] = __brev(value);
    p.roots[at][0] = static_cast<double>(rsqrtf(1.0f + static_cast<float>(value)));
    p.roots[at][1] = rsqrt(1.0 + static_cast<double>(value));
}

// Each operation of the worlds' numbers on a pair, in the order of `right` in tests/worlds_number.rs.
template <typename T>
__device__ __forceinline__ void probe_number(double first, double second, Array<T, NUMBER_RESULTS>& results) {
    using N = worlds::Number<T>;
    const N a = N(first);
    const N b = N(second);
    N sine;
    N cosine;
    worlds::sine_cosine(a, sine, cosine);
    results[0] = (a + b).value;
    results[1] = (a - b).value;
    results[2] = (a * b).value;
    results[3] = (a / b).value;
    results[4] = (-a).value;
    results[5] = worlds::root(b).value;
    results[6] = worlds::magnitude(a).value;
    results[7] = worlds::power_of(b.value, static_cast<T>(1.5));
    results[8] = worlds::least(a, b).value;
    results[9] = worlds::most(a, b).value;
    results[10] = worlds::within(a, -b, b).value;
    results[11] = worlds::sign_of(a).value;
    results[12] = worlds::whole(a).value;
    results[13] = sine.value;
    results[14] = cosine.value;
    // What a compiler would fuse, and what it may: a product that no other result needs, since GCC fuses none of
    // which it must keep the rounded product.
    results[15] = (a * b + a).value;
    results[16] = results[0] * b.value + a.value;
}

PLIANT_KERNEL(probe_number, ProbeNumberParameters, PROBE_THREADS) {
    const uint32_t at = global_thread();
    if (at < p.input.length) {
        probe_number<double>(p.input[at][0], p.input[at][1], p.doubles[at]);
        probe_number<float>(p.input[at][0], p.input[at][1], p.singles[at]);
    }
}
