// Fibres: threads that hand over to one another by name, never by a clock. One runs at a time, so
// the emulated kernels need no locks, and the order they run in is ours to choose.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define PLIANT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLIANT_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__))
#define PLIANT_HAND_WRITTEN_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace emulation {

// Where a fibre, or the host, goes on.
struct Context {
#if defined(PLIANT_HAND_WRITTEN_SWITCH)
    void* stack_pointer = nullptr;
#else
    ucontext_t context;
#endif
    // The stack's lowest byte and its size; the host's are found out by the sanitizer.
    const void* stack = nullptr;
    size_t stack_bytes = 0;
};

// Bytes of a fibre's stack; pages are given by the system when they are touched.
constexpr size_t STACK_BYTES = 256 * 1024;

// Stacks of equal size with a page between them that nothing may touch.
class Stacks {
public:
    Stacks() = default;
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;
    ~Stacks();
    // Makes sure of `count` stacks; false where the system has no memory for them. All contexts on
    // them are lost.
    bool reserve(uint32_t count);
    // Forgets what was on the stacks of fibres that will never go on: their frames never told the
    // sanitizer that they ended.
    void abandon();
    // Lowest byte of a stack.
    unsigned char* at(uint32_t index) const;

private:
    unsigned char* memory_ = nullptr;
    size_t bytes_ = 0;
    size_t pitch_ = 0;
    uint32_t count_ = 0;
};

// Makes a context that begins in `entry`, which must not return.
void prepare(Context& context, unsigned char* stack, void (*entry)());

// Leaves `from` and goes on in `to`; returns when someone goes on in `from`.
void switch_context(Context& from, Context& to);

// What a fibre must call first.
void arrived_first_time();

}  // namespace emulation
