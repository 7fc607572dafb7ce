// What Rust calls. One table, so that a library built otherwise (with sanitizers, say) can take its
// place at run time.
#pragma once

#include "engine.hpp"

namespace emulation {

struct Interface {
    Engine* (*create)(uint64_t seed);
    void (*destroy)(Engine* engine);
    // Null where the host has no memory left. Filled with the poison pattern.
    void* (*allocate)(uint64_t bytes);
    void (*release)(void* memory);
    void (*copy)(void* to, const void* from, uint64_t bytes);
    // Writes the pattern of `pattern_bytes` over and over, for `bytes` in all, a multiple of that.
    void (*fill)(void* to, const void* pattern, uint64_t pattern_bytes, uint64_t bytes);
    void (*launch)(Engine* engine, const LaunchRequest* request, ErrorReport* error);
    // Whether there is a kernel of this name, and the size of its parameters.
    uint32_t (*find)(const char* name, uint32_t* parameter_bytes);
    // Threads that can be resident at once, for cooperative launches.
    uint32_t resident_threads;
    uint32_t multiprocessors;
    // 1 where the library was compiled with the address sanitizer.
    uint32_t sanitized;
};

}  // namespace emulation
