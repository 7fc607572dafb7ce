#include "fibre.hpp"

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#if defined(PLIANT_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(PLIANT_HAND_WRITTEN_SWITCH)
// void pliant_emulation_switch(void** save, void* load): the registers that a call preserves go
// onto the stack, the stack pointer into *save, and the same in reverse from `load`. It ends with a
// return: fibres of a warp wait in the same place, so that the processor's guess where this return
// and those of its callers lead is right. Rounding and exception modes are not switched: no kernel
// changes them.
extern "C" void pliant_emulation_switch(void** save, void* load);
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl pliant_emulation_switch
.hidden pliant_emulation_switch
.type pliant_emulation_switch, @function
pliant_emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size pliant_emulation_switch, .-pliant_emulation_switch
)");
#else
asm(R"(
.text
.p2align 4
.globl pliant_emulation_switch
.hidden pliant_emulation_switch
.type pliant_emulation_switch, %function
pliant_emulation_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size pliant_emulation_switch, .-pliant_emulation_switch
)");
#endif
#endif

namespace emulation {

Stacks::~Stacks() {
    abandon();
    if (memory_ != nullptr) {
        munmap(memory_, bytes_);
    }
}

bool Stacks::reserve(uint32_t count) {
    if (count <= count_) {
        return true;
    }
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t pitch = STACK_BYTES + page;
    const size_t bytes = pitch * count;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        // Stacks grow down, into this page, where they end with a fault instead of in the
        // neighbour's frames.
        if (mprotect(static_cast<unsigned char*>(memory) + pitch * i, page, PROT_NONE) != 0) {
            munmap(memory, bytes);
            return false;
        }
    }
    abandon();
    if (memory_ != nullptr) {
        munmap(memory_, bytes_);
    }
    memory_ = static_cast<unsigned char*>(memory);
    bytes_ = bytes;
    pitch_ = pitch;
    count_ = count;
    return true;
}

void Stacks::abandon() {
#if defined(PLIANT_ADDRESS_SANITIZER)
    if (memory_ != nullptr) {
        __asan_unpoison_memory_region(memory_, bytes_);
    }
#endif
}

unsigned char* Stacks::at(uint32_t index) const {
    return memory_ + pitch_ * index + (pitch_ - STACK_BYTES);
}

#if defined(PLIANT_THREAD_SANITIZER)
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);

Unseen::Unseen() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

Unseen::~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
#endif

void enter_host([[maybe_unused]] Context& host) {
#if defined(PLIANT_THREAD_SANITIZER)
    host.fiber = __tsan_get_current_fiber();
#endif
}

void forget([[maybe_unused]] Context& context) {
#if defined(PLIANT_THREAD_SANITIZER)
    if (context.fiber != nullptr) {
        __tsan_destroy_fiber(context.fiber);
        context.fiber = nullptr;
    }
#endif
}

void prepare(Context& context, unsigned char* stack, void (*entry)()) {
#if defined(PLIANT_THREAD_SANITIZER)
    if (context.fiber == nullptr) {
        context.fiber = __tsan_create_fiber(0);
    }
#endif
    context.stack = stack;
    context.stack_bytes = STACK_BYTES;
#if defined(PLIANT_ADDRESS_SANITIZER)
    // The fibre before on this stack left from its outermost frames, and never told that they
    // ended.
    constexpr size_t OUTERMOST = 16 * 1024;
    __asan_unpoison_memory_region(stack + STACK_BYTES - OUTERMOST, OUTERMOST);
#endif
#if defined(PLIANT_HAND_WRITTEN_SWITCH)
    // What pliant_emulation_switch takes off the stack, with the entry where it jumps to.
#if defined(__x86_64__)
    // After the seven words the stack is 8 bytes off a multiple of 16, as after a call.
    constexpr size_t WORDS = 8;
    constexpr size_t ENTRY = 6;
#else
    constexpr size_t WORDS = 20;
    constexpr size_t ENTRY = 11;
#endif
    void** top = reinterpret_cast<void**>(stack + STACK_BYTES) - WORDS;
    std::memset(top, 0, WORDS * sizeof(void*));
    top[ENTRY] = reinterpret_cast<void*>(entry);
    context.stack_pointer = top;
#else
    getcontext(&context.context);
    context.context.uc_stack.ss_sp = stack;
    context.context.uc_stack.ss_size = STACK_BYTES;
    context.context.uc_link = nullptr;
    makecontext(&context.context, entry, 0);
#endif
}

#if defined(PLIANT_ADDRESS_SANITIZER)
// Who switched last: the sanitizer tells the bounds of its stack on the other side, which for the
// host nobody else knows.
static thread_local Context* switched_from = nullptr;

static void finish_switch(void* fake_stack) {
    __sanitizer_finish_switch_fiber(fake_stack, &switched_from->stack, &switched_from->stack_bytes);
}
#endif

void switch_context(Context& from, Context& to) {
#if defined(PLIANT_ADDRESS_SANITIZER)
    void* fake_stack = nullptr;
    switched_from = &from;
    __sanitizer_start_switch_fiber(&fake_stack, to.stack, to.stack_bytes);
#endif
#if defined(PLIANT_THREAD_SANITIZER)
    __tsan_switch_to_fiber(to.fiber, __tsan_switch_to_fiber_no_sync);
#endif
#if defined(PLIANT_HAND_WRITTEN_SWITCH)
    pliant_emulation_switch(&from.stack_pointer, to.stack_pointer);
#else
    swapcontext(&from.context, &to.context);
#endif
#if defined(PLIANT_ADDRESS_SANITIZER)
    finish_switch(fake_stack);
#endif
}

void arrived_first_time() {
#if defined(PLIANT_ADDRESS_SANITIZER)
    finish_switch(nullptr);
#endif
}

}  // namespace emulation

#if defined(PLIANT_THREAD_SANITIZER)
// Volatile reads and writes are relaxed atomic ones for CUDA (PTX ISA, "Memory Consistency Model"),
// which race with no atomics.
extern "C" {
void __tsan_volatile_read4(void*) {}
void __tsan_volatile_read8(void*) {}
void __tsan_volatile_write4(void*) {}
void __tsan_volatile_write8(void*) {}
}
#endif
