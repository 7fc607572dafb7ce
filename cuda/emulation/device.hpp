// CUDA C++ as far as the kernels use it, for the host compiler. Included by kernels/prelude.cuh
// instead of what nvcc brings along. What has no sound emulation (__activemask, warp-synchronous
// code without masks) is left out, so that it does not compile.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define threadIdx (::emulation::Engine::active().self().index)
#define blockIdx (::emulation::Engine::active().self().block->index)
#define blockDim (::emulation::Engine::active().block_size())
#define gridDim (::emulation::Engine::active().grid_size())
constexpr int warpSize = 32;

namespace emulation {

template <typename T>
uint64_t to_bits(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "a warp exchanges values of up to 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T>
T from_bits(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename To, typename From>
To reinterpreted(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &value, sizeof value);
    return result;
}

inline uint64_t in_warp(Operation operation, uint32_t mask, uint64_t value, uint32_t argument = 0) {
    return Engine::active().warp_operation(operation, mask, value, argument);
}

template <typename T>
T shuffled(Operation operation, uint32_t mask, T value, uint32_t parameter, int width) {
    const uint32_t argument = (parameter & 0xffff) | static_cast<uint32_t>(width) << 16;
    return from_bits<T>(in_warp(operation, mask, to_bits(value), argument));
}

inline uint32_t checked(uint64_t index, uint64_t length) {
    if (index >= length) {
        Engine::active().out_of_bounds(index, length);
    }
    return static_cast<uint32_t>(index);
}

// A `__shared__` array of the block that asks, with bounds.
template <typename T>
class SharedArray {
public:
    SharedArray(T* data, uint32_t length) : data_(data), length_(length) {}
    T& operator[](uint32_t index) const { return data_[checked(index, length_)]; }
    operator T*() const { return data_; }

private:
    T* data_;
    uint32_t length_;
};

template <typename T>
SharedArray<T> static_shared(const void* key, uint32_t length) {
    return {reinterpret_cast<T*>(Engine::active().shared_array(key, sizeof(T) * length)), length};
}

template <typename T>
SharedArray<T> dynamic_shared() {
    size_t bytes = 0;
    unsigned char* data = Engine::active().dynamic_shared(&bytes);
    return {reinterpret_cast<T*>(data), static_cast<uint32_t>(bytes / sizeof(T))};
}

}  // namespace emulation

// Barriers.

inline void __syncthreads() { emulation::Engine::active().block_barrier(emulation::Operation::SyncThreads, 0); }
inline int __syncthreads_count(int value) {
    return static_cast<int>(
        emulation::Engine::active().block_barrier(emulation::Operation::SyncThreadsCount, value != 0));
}
inline int __syncthreads_and(int value) {
    return static_cast<int>(emulation::Engine::active().block_barrier(emulation::Operation::SyncThreadsAnd, value != 0));
}
inline int __syncthreads_or(int value) {
    return static_cast<int>(emulation::Engine::active().block_barrier(emulation::Operation::SyncThreadsOr, value != 0));
}
inline void __syncwarp(uint32_t mask = 0xffffffffu) { emulation::in_warp(emulation::Operation::SyncWarp, mask, 0); }

// One thread runs at a time: memory is always in order.
inline void __threadfence() {}
inline void __threadfence_block() {}

// Warps.

template <typename T>
T __shfl_sync(uint32_t mask, T value, int lane, int width = 32) {
    return emulation::shuffled(emulation::Operation::ShuffleIndex, mask, value, static_cast<uint32_t>(lane), width);
}
template <typename T>
T __shfl_up_sync(uint32_t mask, T value, uint32_t substep, int width = 32) {
    return emulation::shuffled(emulation::Operation::ShuffleUp, mask, value, substep, width);
}
template <typename T>
T __shfl_down_sync(uint32_t mask, T value, uint32_t substep, int width = 32) {
    return emulation::shuffled(emulation::Operation::ShuffleDown, mask, value, substep, width);
}
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, int lane_mask, int width = 32) {
    return emulation::shuffled(emulation::Operation::ShuffleXor, mask, value, static_cast<uint32_t>(lane_mask), width);
}
inline uint32_t __ballot_sync(uint32_t mask, int predicate) {
    return static_cast<uint32_t>(emulation::in_warp(emulation::Operation::Ballot, mask, predicate != 0));
}
inline int __any_sync(uint32_t mask, int predicate) {
    return static_cast<int>(emulation::in_warp(emulation::Operation::Any, mask, predicate != 0));
}
inline int __all_sync(uint32_t mask, int predicate) {
    return static_cast<int>(emulation::in_warp(emulation::Operation::All, mask, predicate != 0));
}
template <typename T>
uint32_t __match_any_sync(uint32_t mask, T value) {
    return static_cast<uint32_t>(emulation::in_warp(emulation::Operation::MatchAny, mask, emulation::to_bits(value)));
}

#define PLIANT_EMULATED_REDUCE(name, type, operation)                                                             \
    inline type name(uint32_t mask, type value) {                                                                 \
        return static_cast<type>(emulation::in_warp(emulation::Operation::operation, mask, emulation::to_bits(value))); \
    }
PLIANT_EMULATED_REDUCE(__reduce_add_sync, uint32_t, ReduceAdd)
PLIANT_EMULATED_REDUCE(__reduce_add_sync, int32_t, ReduceAdd)
PLIANT_EMULATED_REDUCE(__reduce_min_sync, uint32_t, ReduceMinUnsigned)
PLIANT_EMULATED_REDUCE(__reduce_min_sync, int32_t, ReduceMinSigned)
PLIANT_EMULATED_REDUCE(__reduce_max_sync, uint32_t, ReduceMaxUnsigned)
PLIANT_EMULATED_REDUCE(__reduce_max_sync, int32_t, ReduceMaxSigned)
PLIANT_EMULATED_REDUCE(__reduce_and_sync, uint32_t, ReduceAnd)
PLIANT_EMULATED_REDUCE(__reduce_or_sync, uint32_t, ReduceOr)
PLIANT_EMULATED_REDUCE(__reduce_xor_sync, uint32_t, ReduceXor)
#undef PLIANT_EMULATED_REDUCE

// Atomics: only the types that the hardware has. Each gives the value from before.

namespace emulation {

template <typename T>
constexpr bool IS_WORD = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

// Unsigned arithmetic wraps, as the hardware's does.
template <typename T>
T sum(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
        return a + b;
    }
}

// `change(before)` takes the place of what is there, with no order to anything else: one thread runs at
// a time, so the two steps are one. They are atomic for the thread sanitizer.
template <typename T, typename Change>
T exchanged(T* address, Change change) {
    Engine::active().count_atomic();
    T before;
    __atomic_load(address, &before, __ATOMIC_RELAXED);
    T after = static_cast<T>(change(before));
    __atomic_store(address, &after, __ATOMIC_RELAXED);
    return before;
}

}  // namespace emulation

template <typename T>
T atomicAdd(T* address, std::common_type_t<T> value) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int32_t> ||
                      (emulation::IS_WORD<T> && std::is_unsigned_v<T>),
                  "CUDA has atomicAdd for int, unsigned int, unsigned long long, float and double");
    return emulation::exchanged(address, [=](T before) { return emulation::sum(before, value); });
}
template <typename T>
T atomicSub(T* address, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T> && sizeof(T) == 4, "CUDA has atomicSub for int and unsigned int");
    const auto negative = static_cast<T>(0u - static_cast<uint32_t>(value));
    return emulation::exchanged(address, [=](T before) { return emulation::sum(before, negative); });
}
template <typename T>
T atomicMin(T* address, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T>, "CUDA has atomicMin for integers");
    return emulation::exchanged(address, [=](T before) { return value < before ? value : before; });
}
template <typename T>
T atomicMax(T* address, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T>, "CUDA has atomicMax for integers");
    return emulation::exchanged(address, [=](T before) { return value > before ? value : before; });
}
template <typename T>
T atomicExch(T* address, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T> || std::is_same_v<T, float>, "CUDA has atomicExch for integers and float");
    return emulation::exchanged(address, [=](T) { return value; });
}
template <typename T>
T atomicCAS(T* address, std::common_type_t<T> compare, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T>, "CUDA has atomicCAS for integers");
    return emulation::exchanged(address, [=](T before) { return before == compare ? value : before; });
}
template <typename T>
T atomicAnd(T* address, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T>, "CUDA has atomicAnd for integers");
    return emulation::exchanged(address, [=](T before) { return before & value; });
}
template <typename T>
T atomicOr(T* address, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T>, "CUDA has atomicOr for integers");
    return emulation::exchanged(address, [=](T before) { return before | value; });
}
template <typename T>
T atomicXor(T* address, std::common_type_t<T> value) {
    static_assert(emulation::IS_WORD<T>, "CUDA has atomicXor for integers");
    return emulation::exchanged(address, [=](T before) { return before ^ value; });
}

// Words that blocks meet at (kernels/prelude.cuh). Others may run in between, and while one waits.

inline uint32_t add_release(uint32_t* word, uint32_t value) {
    emulation::Engine::active().before_release();
    return __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
}
inline uint32_t load_acquire(const uint32_t* word) {
    emulation::Engine::active().before_acquire();
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
inline void __nanosleep(uint32_t) { emulation::Engine::active().wait_for_others(); }

// Memory, bits and arithmetic.

template <typename T>
T __ldg(const T* address) {
    return *address;
}
inline int __popc(uint32_t bits) { return __builtin_popcount(bits); }
inline int __popcll(uint64_t bits) { return __builtin_popcountll(bits); }
inline int __ffs(int32_t bits) { return __builtin_ffs(bits); }
inline int __clz(int32_t bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(bits)); }
inline uint32_t __brev(uint32_t bits) {
    uint32_t reversed = 0;
    for (int i = 0; i < 32; ++i) {
        reversed |= (bits >> i & 1) << (31 - i);
    }
    return reversed;
}
inline uint32_t __float_as_uint(float value) { return emulation::reinterpreted<uint32_t>(value); }
inline int32_t __float_as_int(float value) { return emulation::reinterpreted<int32_t>(value); }
inline float __uint_as_float(uint32_t bits) { return emulation::reinterpreted<float>(bits); }
inline float __int_as_float(int32_t bits) { return emulation::reinterpreted<float>(bits); }
inline long long __double_as_longlong(double value) { return emulation::reinterpreted<long long>(value); }
inline double __longlong_as_double(long long bits) { return emulation::reinterpreted<double>(bits); }

namespace emulation {

// Where the processor has fused operations, the compiler does not see what the value comes from, so
// that it fuses no product with a sum.
template <typename T>
T apart(T value) {
#if defined(__FMA__)
    asm("" : "+x"(value));
#elif defined(__aarch64__)
    asm("" : "+w"(value));
#endif
    return value;
}

}  // namespace emulation

// Rounded one by one, whatever the compiler fuses elsewhere.
inline double __dadd_rn(double a, double b) { return emulation::apart(a) + emulation::apart(b); }
inline double __dsub_rn(double a, double b) { return emulation::apart(a) - emulation::apart(b); }
inline double __dmul_rn(double a, double b) { return emulation::apart(a * b); }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline float __fadd_rn(float a, float b) { return emulation::apart(a) + emulation::apart(b); }
inline float __fsub_rn(float a, float b) { return emulation::apart(a) - emulation::apart(b); }
inline float __fmul_rn(float a, float b) { return emulation::apart(a * b); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
// Good to 2 ulp on the device; here rounded once or twice.
inline float rsqrtf(float value) { return 1.0f / std::sqrt(value); }
inline double rsqrt(double value) { return 1.0 / std::sqrt(value); }
using std::isfinite;
using std::isnan;
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline uint32_t min(uint32_t a, uint32_t b) { return a < b ? a : b; }
inline uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }
// As fmin and fmax: the other one, where one is NaN.
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }

// Vector types, with the alignment that lets the device load one at once (CUDA C++ Programming
// Guide, "Built-in Vector Types"). Those of four are loaded from arrays too.

#define PLIANT_EMULATED_VECTORS(name, type)                                                                 \
    struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                                \
    struct name##3 { type x, y, z; };                                                                       \
    struct alignas(16) [[gnu::may_alias]] name##4 { type x, y, z, w; };                                   \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                        \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                             \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
PLIANT_EMULATED_VECTORS(float, float)
PLIANT_EMULATED_VECTORS(double, double)
PLIANT_EMULATED_VECTORS(int, int32_t)
PLIANT_EMULATED_VECTORS(uint, uint32_t)
#undef PLIANT_EMULATED_VECTORS
