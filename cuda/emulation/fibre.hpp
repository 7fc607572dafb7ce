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

// PLIANT_THREAD_SANITIZER: the kernels are compiled with the thread sanitizer, and the emulation
// itself, which hands over between its fibres as no program could see, without. The sanitizer takes
// each fibre for a thread, and each order that CUDA promises for one that it is told of.
#if defined(PLIANT_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace emulation {

// What this thread did so far comes before what another does after it acquires from the same place.
inline void order_release([[maybe_unused]] void* place) {
#if defined(PLIANT_THREAD_SANITIZER)
    __tsan_release(place);
#endif
}
inline void order_acquire([[maybe_unused]] void* place) {
#if defined(PLIANT_THREAD_SANITIZER)
    __tsan_acquire(place);
#endif
}

// What the emulation writes on behalf of nobody, and memory that it makes, is no thread's write.
class Unseen {
public:
#if defined(PLIANT_THREAD_SANITIZER)
    Unseen();
    ~Unseen();
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;
#endif
};

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
#if defined(PLIANT_THREAD_SANITIZER)
    // The sanitizer's thread; a fibre's is made once, for all kernels of an engine.
    void* fiber = nullptr;
#endif
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

// What the sanitizer must know of the host before it switches to a fibre, and that a fibre is no
// more.
void enter_host(Context& host);
void forget(Context& context);

// Makes a context that begins in `entry`, which must not return.
void prepare(Context& context, unsigned char* stack, void (*entry)());

// Leaves `from` and goes on in `to`; returns when someone goes on in `from`.
void switch_context(Context& from, Context& to);

// What a fibre must call first.
void arrived_first_time();

}  // namespace emulation
