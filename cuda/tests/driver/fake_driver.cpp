// A stand-in for NVIDIA's driver, so that src/driver.rs is tested where there is none: the calls
// that it makes, with the emulated kernels behind them. It is lazier than a driver may be and
// stricter than one is: work in a stream waits until somebody waits for it, and every call checks
// its handles and that the context is current in the calling thread.
//
// Numbers in the environment make it misbehave: FAKE_VERSION, FAKE_DEVICES, FAKE_CAPABILITY (major
// * 10 + minor), FAKE_JIT_FAILS, FAKE_MISSING (a kernel's name), FAKE_MEMORY [bytes], FAKE_FAULT (the
// error of a kernel that breaks a rule, after which every call of the context gives it).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../../emulation/interface.hpp"

extern "C" const emulation::Interface* pliant_emulation_interface();

namespace {

// CUresult.
enum Result : int {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719,
    COOPERATIVE_TOO_LARGE = 720,
    CAPTURE_UNSUPPORTED = 900,
};

using Work = std::function<Result()>;

struct Function {
    std::string name;
    uint32_t parameter_bytes;
    uint32_t shared_allowed = 48 * 1024;
};

struct Graph {
    std::vector<Work> work;
};

const emulation::Interface& emulated = *pliant_emulation_interface();
emulation::Engine* engine = emulated.create(12345);
// Recursive: freeing waits for the stream.
std::recursive_mutex lock;
int context, module;
thread_local void* current = nullptr;
bool initialised = false;
int retained = 0;
Result sticky = SUCCESS;
// What a stream was given, and what it records meanwhile.
struct Stream {
    std::vector<Work> pending;
    std::vector<Work> captured;
    bool capturing = false;
};
std::set<Stream*> streams;
std::map<std::string, Function> functions;
std::map<uint64_t, uint64_t> allocations;
// Copies to the device and back, started graphs and waits of the host.
std::map<std::string, uint64_t> calls;

uint64_t number(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

uint64_t memory_in_all() {
    return number("FAKE_MEMORY", 8ull << 30);
}

uint64_t memory_free() {
    uint64_t used = 0;
    for (const auto& [address, bytes] : allocations) {
        used += bytes;
    }
    return memory_in_all() - used;
}

bool is_here(const void* handle, const void* right) {
    return handle == right && current == &context;
}

bool is_allocated(uint64_t address, uint64_t bytes) {
    auto after = allocations.upper_bound(address);
    return after != allocations.begin() && address - std::prev(after)->first + bytes <= std::prev(after)->second;
}

// The stream of a handle, if it is one and the context is current.
Stream* stream_of(void* handle) {
    const auto at = streams.find(static_cast<Stream*>(handle));
    return current == &context && at != streams.end() ? *at : nullptr;
}

Result enqueue(Stream& stream, Work work) {
    (stream.capturing ? stream.captured : stream.pending).push_back(std::move(work));
    return sticky;
}

// Does what a stream was given.
Result drain(Stream& stream) {
    for (const Work& work : stream.pending) {
        const Result result = sticky == SUCCESS ? work() : sticky;
        if (result != SUCCESS) {
            sticky = result;
        }
    }
    stream.pending.clear();
    return sticky;
}

// Does what all streams were given.
Result drain() {
    for (Stream* stream : streams) {
        drain(*stream);
    }
    return sticky;
}

Result launch(Function* function, const uint32_t grid[3], const uint32_t block[3], uint32_t shared, void* handle, void** parameters,
              bool cooperative) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    Stream* const stream = stream_of(handle);
    if (stream == nullptr || functions.count(function->name) == 0) {
        return INVALID_HANDLE;
    }
    if (grid[0] == 0 || block[0] == 0 || block[0] > 1024 || shared > function->shared_allowed) {
        return INVALID_VALUE;
    }
    if (cooperative && static_cast<uint64_t>(grid[0]) * block[0] > emulated.resident_threads) {
        return COOPERATIVE_TOO_LARGE;
    }
    // As a driver does: the parameters are copied before the call returns.
    const auto* bytes = static_cast<const unsigned char*>(parameters[0]);
    std::vector<unsigned char> copy(bytes, bytes + function->parameter_bytes);
    emulation::LaunchRequest request{};
    std::memcpy(request.grid, grid, sizeof request.grid);
    std::memcpy(request.block, block, sizeof request.block);
    request.parameter_bytes = function->parameter_bytes;
    request.shared_bytes = shared;
    request.cooperative = cooperative ? 1 : 0;
    return enqueue(*stream, [=]() mutable {
        request.kernel = function->name.c_str();
        request.parameters = copy.data();
        emulation::ErrorReport error;
        emulated.launch(engine, &request, &error);
        return error.code == 0 ? SUCCESS : static_cast<Result>(number("FAKE_FAULT", LAUNCH_FAILED));
    });
}

}  // namespace

// After a fault the context does nothing any more.
#define IF_WORKING            \
    if (sticky != SUCCESS) {  \
        return sticky;        \
    }

#define CALL(name, ...)                                                    \
    extern "C" __attribute__((visibility("default"))) int name(__VA_ARGS__)

extern "C" __attribute__((visibility("default"))) uint64_t fake_calls(const char* what) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    return calls[what];
}

CALL(cuDriverGetVersion, int* version) {
    *version = static_cast<int>(number("FAKE_VERSION", 12020));
    return SUCCESS;
}
CALL(cuInit, unsigned) {
    initialised = number("FAKE_DEVICES", 1) > 0;
    return initialised ? SUCCESS : NO_DEVICE;
}
CALL(cuGetErrorName, int error, const char** text) {
    static thread_local char buffer[32];
    std::snprintf(buffer, sizeof buffer, "FAKE_ERROR_%d", error);
    *text = buffer;
    return SUCCESS;
}
CALL(cuGetErrorString, int, const char** text) {
    *text = "of the fake driver";
    return SUCCESS;
}
CALL(cuDeviceGetCount, int* count) {
    *count = static_cast<int>(number("FAKE_DEVICES", 1));
    return initialised ? SUCCESS : NOT_INITIALIZED;
}
CALL(cuDeviceGet, int* device, int ordinal) {
    *device = ordinal;
    return initialised && ordinal < static_cast<int>(number("FAKE_DEVICES", 1)) ? SUCCESS : INVALID_DEVICE;
}
CALL(cuDeviceGetName, char* name, int length, int) {
    std::snprintf(name, static_cast<size_t>(length), "Fake GPU");
    return SUCCESS;
}
CALL(cuDeviceTotalMem_v2, size_t* bytes, int) {
    *bytes = memory_in_all();
    return SUCCESS;
}
CALL(cuDeviceGetAttribute, int* value, int attribute, int) {
    const int capability = static_cast<int>(number("FAKE_CAPABILITY", 90));
    switch (attribute) {
        case 16: *value = static_cast<int>(emulated.multiprocessors); return SUCCESS;
        case 75: *value = capability / 10; return SUCCESS;
        case 76: *value = capability % 10; return SUCCESS;
        default: return INVALID_VALUE;
    }
}
CALL(cuDevicePrimaryCtxRetain, void** handle, int) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    ++retained;
    *handle = &context;
    return SUCCESS;
}
CALL(cuDevicePrimaryCtxRelease_v2, int) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    return --retained >= 0 ? SUCCESS : INVALID_CONTEXT;
}
CALL(cuCtxSetCurrent, void* handle) {
    current = handle;
    // Others' contexts, and none, are taken as they are.
    return handle != &context || retained > 0 ? SUCCESS : INVALID_CONTEXT;
}
CALL(cuCtxGetCurrent, void** handle) {
    *handle = current;
    return SUCCESS;
}
CALL(cuStreamCreate, void** handle, unsigned) {
    IF_WORKING
    const std::lock_guard<std::recursive_mutex> hold(lock);
    if (current != &context) {
        return INVALID_CONTEXT;
    }
    auto* const fresh = new Stream;
    streams.insert(fresh);
    *handle = fresh;
    return SUCCESS;
}
CALL(cuStreamDestroy_v2, void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    Stream* const stream = stream_of(handle);
    if (stream == nullptr) {
        return INVALID_HANDLE;
    }
    const Result result = drain(*stream);
    streams.erase(stream);
    delete stream;
    return result;
}
CALL(cuStreamSynchronize, void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    ++calls["waits"];
    Stream* const stream = stream_of(handle);
    if (stream == nullptr) {
        return INVALID_HANDLE;
    }
    return stream->capturing ? CAPTURE_UNSUPPORTED : drain(*stream);
}
CALL(cuModuleLoadDataEx, void** handle, const void* image, unsigned count, int* options, void** values) {
    IF_WORKING
    // A cubin is an ELF file whose flags name the architecture.
    if (std::memcmp(image, "\x7f" "ELF", 4) == 0) {
        if (static_cast<const unsigned char*>(image)[48] != number("FAKE_CAPABILITY", 90)) {
            return NO_BINARY_FOR_GPU;
        }
        *handle = &module;
        return current == &context ? SUCCESS : INVALID_CONTEXT;
    }
    if (number("FAKE_JIT_FAILS", 0) != 0 || std::strstr(static_cast<const char*>(image), ".version 8.0") == nullptr) {
        // CU_JIT_ERROR_LOG_BUFFER and its size.
        if (count == 2 && options[0] == 5 && options[1] == 6) {
            std::snprintf(static_cast<char*>(values[0]), reinterpret_cast<size_t>(values[1]), "ptxas fatal: line 7 is bad");
        }
        return INVALID_PTX;
    }
    *handle = &module;
    return current == &context ? SUCCESS : INVALID_CONTEXT;
}
CALL(cuModuleUnload, void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    return is_here(handle, &module) ? drain() : INVALID_HANDLE;
}
CALL(cuModuleGetFunction, void** handle, void* from, const char* name) {
    IF_WORKING
    const std::lock_guard<std::recursive_mutex> hold(lock);
    const char* missing = std::getenv("FAKE_MISSING");
    uint32_t bytes = 0;
    if (!is_here(from, &module)) {
        return INVALID_HANDLE;
    }
    if ((missing != nullptr && std::strcmp(missing, name) == 0) || emulated.find(name, &bytes) == 0) {
        return NOT_FOUND;
    }
    const auto [at, fresh] = functions.try_emplace(name, Function{name, bytes});
    *handle = &at->second;
    return SUCCESS;
}
CALL(cuFuncSetAttribute, Function* function, int attribute, int value) {
    IF_WORKING
    // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, up to what compute capability 9.0 has.
    if (attribute != 8 || value > 227 * 1024) {
        return INVALID_VALUE;
    }
    function->shared_allowed = static_cast<uint32_t>(value);
    return SUCCESS;
}
CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, Function*, int threads, size_t) {
    IF_WORKING
    *blocks = static_cast<int>(emulated.resident_threads / emulated.multiprocessors) / threads;
    return current == &context ? SUCCESS : INVALID_CONTEXT;
}
CALL(cuMemGetInfo_v2, size_t* free_bytes, size_t* total) {
    IF_WORKING
    const std::lock_guard<std::recursive_mutex> hold(lock);
    *free_bytes = memory_free();
    *total = memory_in_all();
    return current == &context ? SUCCESS : INVALID_CONTEXT;
}
CALL(cuMemAlloc_v2, uint64_t* address, size_t bytes) {
    IF_WORKING
    const std::lock_guard<std::recursive_mutex> hold(lock);
    if (current != &context || bytes == 0) {
        return INVALID_VALUE;
    }
    void* memory = bytes <= memory_free() ? emulated.allocate(bytes) : nullptr;
    if (memory == nullptr) {
        return OUT_OF_MEMORY;
    }
    *address = reinterpret_cast<uint64_t>(memory);
    allocations[*address] = bytes;
    return sticky;
}
CALL(cuMemHostAlloc, void** memory, size_t bytes, unsigned) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    *memory = current == &context && bytes > 0 ? std::malloc(bytes) : nullptr;
    return *memory != nullptr ? SUCCESS : INVALID_VALUE;
}
CALL(cuMemFreeHost, void* memory) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    // Work in the stream may use it still.
    drain();
    std::free(memory);
    return current == &context ? sticky : INVALID_CONTEXT;
}
CALL(cuMemFree_v2, uint64_t address) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    if (current != &context || allocations.erase(address) == 0) {
        return INVALID_VALUE;
    }
    drain();
    emulated.release(reinterpret_cast<void*>(address));
    return sticky;
}
CALL(cuMemsetD8Async, uint64_t address, unsigned char byte, size_t bytes, void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    Stream* const stream = stream_of(handle);
    if (stream == nullptr || !is_allocated(address, bytes)) {
        return INVALID_VALUE;
    }
    return enqueue(*stream, [=] {
        std::memset(reinterpret_cast<void*>(address), byte, bytes);
        return SUCCESS;
    });
}

static int copy(void* to, const void* from, size_t bytes, void* handle, uint64_t device, const char* counted) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    Stream* const stream = stream_of(handle);
    if (stream == nullptr || !is_allocated(device, bytes)) {
        return INVALID_VALUE;
    }
    return enqueue(*stream, [=] {
        // Also where it is part of a graph.
        ++calls[counted];
        std::memmove(to, from, bytes);
        return SUCCESS;
    });
}
CALL(cuMemcpyHtoDAsync_v2, uint64_t to, const void* from, size_t bytes, void* handle) {
    return copy(reinterpret_cast<void*>(to), from, bytes, handle, to, "to the device");
}
CALL(cuMemcpyDtoHAsync_v2, void* to, uint64_t from, size_t bytes, void* handle) {
    return copy(to, reinterpret_cast<const void*>(from), bytes, handle, from, "from the device");
}
CALL(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t bytes, void* handle) {
    return is_allocated(to, bytes)
               ? copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, handle, from, "on the device")
               : static_cast<int>(INVALID_VALUE);
}
CALL(cuLaunchKernel, Function* function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
     uint32_t shared, void* handle, void** parameters, void** extra) {
    const uint32_t grid[3] = {gx, gy, gz};
    const uint32_t block[3] = {bx, by, bz};
    return extra == nullptr ? launch(function, grid, block, shared, handle, parameters, false) : INVALID_VALUE;
}
CALL(cuLaunchCooperativeKernel, Function* function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,
     uint32_t bz, uint32_t shared, void* handle, void** parameters) {
    const uint32_t grid[3] = {gx, gy, gz};
    const uint32_t block[3] = {bx, by, bz};
    return launch(function, grid, block, shared, handle, parameters, true);
}
CALL(cuStreamBeginCapture_v2, void* handle, int) {
    IF_WORKING
    const std::lock_guard<std::recursive_mutex> hold(lock);
    Stream* const stream = stream_of(handle);
    if (stream == nullptr || stream->capturing) {
        return INVALID_HANDLE;
    }
    stream->capturing = true;
    stream->captured.clear();
    return sticky;
}
CALL(cuStreamEndCapture, void* handle, Graph** graph) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    Stream* const stream = stream_of(handle);
    if (stream == nullptr || !stream->capturing) {
        return INVALID_HANDLE;
    }
    stream->capturing = false;
    *graph = new Graph{std::move(stream->captured)};
    return SUCCESS;
}
CALL(cuGraphInstantiateWithFlags, Graph** instance, const Graph* graph, unsigned long long) {
    IF_WORKING
    *instance = new Graph(*graph);
    return SUCCESS;
}
CALL(cuGraphDestroy, Graph* graph) {
    delete graph;
    return SUCCESS;
}
CALL(cuGraphExecDestroy, Graph* instance) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    drain();
    delete instance;
    return current == &context ? SUCCESS : INVALID_CONTEXT;
}
CALL(cuGraphLaunch, const Graph* instance, void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(lock);
    ++calls["graphs"];
    Stream* const stream = stream_of(handle);
    if (stream == nullptr) {
        return INVALID_HANDLE;
    }
    for (const Work& work : instance->work) {
        enqueue(*stream, work);
    }
    return sticky;
}
