// The kernels as C++, in one translation unit with the table that Rust asks for, so that the linker
// keeps them.
#include "interface.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#define PLIANT_EMULATED 1
#include "../kernels/pliant.cu"

namespace {

using namespace emulation;

Engine* create(uint64_t seed) {
    return new (std::nothrow) Engine(seed);
}

void destroy(Engine* engine) {
    delete engine;
}

void* allocate(uint64_t bytes) {
    void* memory = std::malloc(bytes);
    if (memory != nullptr) {
        std::memset(memory, POISON, bytes);
    }
    return memory;
}

void release(void* memory) {
    std::free(memory);
}

void copy(void* to, const void* from, uint64_t bytes) {
    // Even nothing must not be copied from nowhere.
    if (bytes > 0) {
        std::memmove(to, from, bytes);
    }
}

void fill(void* to, const void* pattern, uint64_t pattern_bytes, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes; done += pattern_bytes) {
        std::memcpy(static_cast<unsigned char*>(to) + done, pattern, pattern_bytes);
    }
}

void launch(Engine* engine, const LaunchRequest* request, ErrorReport* error) {
    engine->launch(*request, *error);
}

uint32_t find(const char* name, uint32_t* parameter_bytes) {
    const Kernel* kernel = find_kernel(name);
    if (kernel == nullptr) {
        return 0;
    }
    *parameter_bytes = kernel->parameter_bytes;
    return 1;
}

#if defined(PLIANT_ADDRESS_SANITIZER)
constexpr uint32_t SANITIZED = 1;
#else
constexpr uint32_t SANITIZED = 0;
#endif

const Interface INTERFACE = {create, destroy, allocate, release,          copy,            fill,
                             launch, find,    RESIDENT_THREADS, MULTIPROCESSORS, SANITIZED};

}  // namespace

extern "C" __attribute__((visibility("default"))) const emulation::Interface* pliant_emulation_interface() {
    return &INTERFACE;
}
