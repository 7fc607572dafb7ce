// What every kernel includes: integer types, spans of device memory, shared arrays and the form of
// a kernel, for the device compiler (NVRTC or nvcc) and, with PLIANT_EMULATED, for the host's.
#pragma once

#if defined(PLIANT_EMULATED)

#include "../emulation/device.hpp"

#include <cstddef>

#else

#if defined(__CUDACC_RTC__)
// NVRTC brings no headers. 64-bit integers are the types that CUDA's atomics are declared for.
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <cstddef>
#include <cstdint>
#endif

#endif

// Bytes from a structure's beginning to its field.
#if defined(__CUDACC_RTC__)
#define PLIANT_OFFSET(type, field) __INTADDR__(&(static_cast<type*>(nullptr)->field))
#else
#define PLIANT_OFFSET(type, field) offsetof(type, field)
#endif

// A field of a structure that Rust shares.
struct LayoutField {
    const char* name;
    uint64_t offset, size;
};

__device__ constexpr uint64_t hash_byte(uint64_t hash, uint64_t byte) {
    return (hash ^ byte) * 0x100000001b3ull;
}

__device__ constexpr uint64_t hash_text(uint64_t hash, const char* text) {
    for (; *text != 0; ++text) {
        hash = hash_byte(hash, static_cast<unsigned char>(*text));
    }
    return hash_byte(hash, 0);
}

__device__ constexpr uint64_t hash_number(uint64_t hash, uint64_t number) {
    for (uint32_t k = 0; k < 8; ++k) {
        hash = hash_byte(hash, number >> (8 * k) & 0xff);
    }
    return hash;
}

// FNV-1a of the names, offsets and sizes: `Layout::hash` of src/layout.rs.
template <uint32_t N>
__device__ constexpr uint64_t layout_hash(
    const char* name, uint64_t size, uint64_t align, const LayoutField (&fields)[N]) {
    uint64_t hash = hash_number(hash_number(hash_text(0xcbf29ce484222325ull, name), size), align);
    for (uint32_t k = 0; k < N; ++k) {
        hash = hash_text(hash, fields[k].name);
        hash = hash_number(hash_number(hash, fields[k].offset), fields[k].size);
    }
    return hash;
}

// Refuses a structure whose layout is not the one that Rust computed `hash` of; FIELD(name) are its
// fields.
#define FIELD(field) LayoutField{#field, PLIANT_OFFSET(Type, field), sizeof(Type::field)}
#define PLIANT_CHECK_LAYOUT(type, hash, ...)                                                       \
    namespace layout_of_##type {                                                                   \
    typedef type Type;                                                                             \
    static_assert(layout_hash(#type, sizeof(type), alignof(type), {__VA_ARGS__}) == (hash),        \
                  "the layout of " #type " differs from Rust's");                                  \
    }

constexpr uint32_t WARP_SIZE = 32;
constexpr uint32_t ALL_LANES = 0xffffffffu;

// Device memory with its length, in elements. Indices are checked under emulation and free on the
// device.
template <typename T>
struct Span {
    T* data;
    uint32_t length;
    // Zero, so that a span has no padding.
    uint32_t unused;

    __device__ __forceinline__ T& operator[](uint32_t index) const {
#if defined(PLIANT_EMULATED)
        return data[emulation::checked(index, length)];
#else
        return data[index];
#endif
    }

    // Through the read-only cache: nothing may write the element while the kernel runs.
    __device__ __forceinline__ T constant(uint32_t index) const { return __ldg(&(*this)[index]); }
};

// `[T; N]` of Rust: a vector, or with an array as its element a matrix by rows.
template <typename T, uint32_t N>
struct Array {
    T data[N];

    __device__ __forceinline__ T& operator[](uint32_t index) {
#if defined(PLIANT_EMULATED)
        emulation::checked(index, N);
#endif
        return data[index];
    }
    __device__ __forceinline__ const T& operator[](uint32_t index) const {
#if defined(PLIANT_EMULATED)
        emulation::checked(index, N);
#endif
        return data[index];
    }
};

// PLIANT_KERNEL(name, Parameters, threads) { ... p.input ... }: a kernel of at most `threads`
// threads a block, with its parameters in `p`. SHARED(type, name, count): an array that the block
// shares. DYNAMIC_SHARED(type, name): the array whose size the launch gives; a kernel has one at
// most. PLIANT_CALLED: a function that is never inlined, for large code that many places call
// outside inner loops. PLIANT_KERNEL_FOR(name, Parameters, threads, blocks) { ... }: with registers
// for that many blocks on a multiprocessor, where a compiler would spill: to have more blocks, or
// because it would use more than there are.
#if defined(PLIANT_EMULATED)

#define PLIANT_KERNEL(name, Parameters, threads)                                                   \
    static void name(Parameters p);                                                                \
    static void run_##name(const void* bytes) {                                                    \
        Parameters p;                                                                              \
        std::memcpy(&p, bytes, sizeof p);                                                          \
        name(p);                                                                                   \
    }                                                                                              \
    static ::emulation::Kernel kernel_##name(#name, sizeof(Parameters), (threads), &run_##name);   \
    static void name([[maybe_unused]] Parameters p)

#define PLIANT_KERNEL_FOR(name, Parameters, threads, blocks) PLIANT_KERNEL(name, Parameters, threads)

#define SHARED(type, name, count)         \
    static char pliant_key_of_##name;     \
    const auto name = ::emulation::static_shared<type>(&pliant_key_of_##name, (count))

#define DYNAMIC_SHARED(type, name) const auto name = ::emulation::dynamic_shared<type>()

#define PLIANT_CALLED

#else

#define PLIANT_KERNEL(name, Parameters, threads) extern "C" __global__ void __launch_bounds__(threads) name(const Parameters p)

#define PLIANT_KERNEL_FOR(name, Parameters, threads, blocks) \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(const Parameters p)

#define SHARED(type, name, count) __shared__ type name[count]

#define PLIANT_CALLED __noinline__

#define DYNAMIC_SHARED(type, name)                                       \
    extern __shared__ __align__(16) unsigned char pliant_dynamic_shared[]; \
    type* const name = reinterpret_cast<type*>(pliant_dynamic_shared)

#endif

// Words that blocks meet at; in emulation/device.hpp for the host. `add_release` gives the value from
// before: what this thread wrote, or knows of, is seen by whoever reads its sum, or a later one, by
// `load_acquire`. A loop that waits calls __nanosleep.
#if !defined(PLIANT_EMULATED)

__device__ __forceinline__ uint32_t add_release(uint32_t* word, uint32_t value) {
    uint32_t before;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(value) : "memory");
    return before;
}

__device__ __forceinline__ uint32_t load_acquire(const uint32_t* word) {
    uint32_t value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

#endif

// Linear index of the thread in a one-dimensional grid.
__device__ __forceinline__ uint32_t global_thread() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint32_t lane_index() {
    return threadIdx.x % WARP_SIZE;
}

__device__ __forceinline__ uint32_t warp_index() {
    return threadIdx.x / WARP_SIZE;
}
