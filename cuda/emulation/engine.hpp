// The emulated device: blocks, warps and threads as fibres, and the rules that hold them together.
//
// A thread runs until it meets a barrier, an operation of its warp or a word that blocks meet at;
// then another one goes on, chosen by the seed. Between two such points nothing interrupts it, so
// whatever the result owes to the order of threads or blocks, rather than to barriers, changes with
// the seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fibre.hpp"

namespace emulation {

struct Index3 {
    uint32_t x, y, z;
};

// Shared with Rust (cuda/src/emulated.rs), as are ErrorReport, LaunchRequest and
// Interface.
enum class ErrorCode : uint32_t {
    None = 0,
    // A Span or shared array was indexed at or beyond its length.
    OutOfBounds = 1,
    // A barrier that some threads can never reach.
    DivergentBarrier = 2,
    // An operation of a warp whose mask and lanes do not fit together.
    WarpMisuse = 3,
    // Waiting for other blocks in a launch that is not cooperative.
    NotCooperative = 4,
    // More static shared memory than a block can have.
    SharedMemory = 5,
    // No memory for fibres or blocks on the host.
    HostMemory = 6,
    // A launch that the device cannot take: no threads, too many, too much shared memory, wrong
    // size of parameters.
    InvalidLaunch = 7,
    // A thread that does nothing but atomic operations, as one that waits for another does.
    Waiting = 8,
    // Threads that wait for a word to change, which none that can run does.
    Deadlock = 9,
};

struct ErrorReport {
    uint32_t code;
    uint32_t block[3];
    uint32_t thread[3];
    uint32_t mask;
    uint64_t index;
    uint64_t length;
    // What was under way, and what is wrong with it; both live as long as the library.
    const char* operation;
    const char* reason;
};

// What a warp or block operation does with its values.
enum class Operation : uint8_t {
    None,
    SyncWarp,
    ShuffleIndex,
    ShuffleUp,
    ShuffleDown,
    ShuffleXor,
    Ballot,
    Any,
    All,
    MatchAny,
    ReduceAdd,
    ReduceMinSigned,
    ReduceMaxSigned,
    ReduceMinUnsigned,
    ReduceMaxUnsigned,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    SyncThreads,
    SyncThreadsCount,
    SyncThreadsAnd,
    SyncThreadsOr,
};

const char* name(Operation operation);

constexpr uint32_t WARP = 32;
constexpr uint32_t MAX_BLOCK_THREADS = 1024;
// Of a multiprocessor of compute capability 8.6, the least of all since Ampere.
constexpr uint32_t STATIC_SHARED_BYTES = 48 * 1024;
constexpr uint32_t DYNAMIC_SHARED_BYTES = 99 * 1024;
// What can be resident at once, which bounds cooperative launches.
constexpr uint32_t MULTIPROCESSORS = 4;
#if defined(PLIANT_THREAD_SANITIZER)
// Its time grows with their square.
constexpr uint32_t RESIDENT_THREADS = 1024;
#else
constexpr uint32_t RESIDENT_THREADS = MULTIPROCESSORS * 1536;
#endif
constexpr uint32_t SHARED_ARRAYS = 32;

// Fresh memory reads as NaN in every float type, and as an index that no array has.
constexpr int POISON = 0xff;

struct Warp;
struct Block;

struct Thread {
    Context context;
    Warp* warp;
    Block* block;
    Index3 index;
    uint32_t lane;
    // Atomic operations so far.
    uint64_t atomics;
};

struct Warp {
    Block* block;
    Thread* threads;
    // Lanes that exist, have returned, can go on, wait for others of the warp.
    uint32_t present, exited, ready, waiting;
    // Where the warp is in the list of those that can go on.
    uint32_t position;
    uint32_t mask[WARP];
    // The lane that a shuffle reads.
    uint32_t argument[WARP];
    uint64_t value[WARP];
    uint64_t result[WARP];
    Operation operation[WARP];
    // Places of order of masks by their lowest lane, in two that take turns, as a block's.
    uint8_t turn[WARP];
    uint8_t order[WARP][2];
};

// A `__shared__` array, made when the first thread comes to it.
struct SharedArraySlot {
    const void* key;
    unsigned char* memory;
    // Which of the blocks that this slot held it belongs to.
    uint64_t tenure;
};

struct Block {
    Index3 index;
    Warp* warps;
    uint32_t threads, exited, arrived;
    Operation barrier;
    uint32_t count, all, any;
    uint32_t result;
    uint64_t tenure;
    // Places of order: of a barrier, in two that take turns, since some threads still leave one
    // when others are at the next; and of the block before and after.
    uint8_t turn;
    uint8_t order[2];
    uint8_t begin, end;
    size_t static_bytes;
    unsigned char* dynamic_shared;
    size_t dynamic_capacity;
    SharedArraySlot shared[SHARED_ARRAYS];
};

// A kernel that can be launched. Kernels register themselves before `main`, in a list.
struct Kernel {
    const char* name;
    uint32_t parameter_bytes;
    uint32_t max_threads;
    void (*run)(const void* parameters);
    Kernel* next;

    Kernel(const char* name, uint32_t parameter_bytes, uint32_t max_threads, void (*run)(const void*));
};

const Kernel* find_kernel(const char* name);

struct LaunchRequest {
    const char* kernel;
    const void* parameters;
    uint32_t parameter_bytes;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t cooperative;
};

class Engine;
// The engine whose kernel this thread of the host runs.
inline thread_local Engine* active_engine = nullptr;

class Engine {
public:
    explicit Engine(uint64_t seed) : seed_(seed) {}
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine();

    // Runs a kernel to its end, or to its first error.
    void launch(const LaunchRequest& request, ErrorReport& error);

    // For kernels, through device.hpp.
    static Engine& active() { return *active_engine; }
    const Thread& self() const { return *current_; }
    Index3 block_size() const { return block_size_; }
    Index3 grid_size() const { return grid_size_; }
    uint64_t warp_operation(Operation operation, uint32_t mask, uint64_t value, uint32_t argument);
    uint32_t block_barrier(Operation operation, uint32_t value);
    unsigned char* shared_array(const void* key, size_t bytes);
    unsigned char* dynamic_shared(size_t* bytes) const;
    void count_atomic();
    void before_release();
    void before_acquire();
    void wait_for_others();
    [[noreturn]] void out_of_bounds(uint64_t index, uint64_t length);

private:
    struct Place {
        ErrorCode code;
        const char* operation;
        const char* reason;
        uint32_t mask;
        uint64_t index;
        uint64_t length;
    };

    static void thread_main();
    bool check(const LaunchRequest& request, const Kernel* kernel, ErrorReport& error);
    bool reserve(uint32_t slots, uint32_t threads, uint32_t shared_bytes);
    void release();
    void forget_fibres();
    uint32_t together(uint64_t blocks) const;
    void start_block(uint32_t slot, uint64_t block);
    void run_until_idle();
    void report_standstill();
    void report(const Thread& thread, const Place& place);
    [[noreturn]] void fail(const Place& place);
    void yield();
    void give_way();
    void count_look();
    void finish_thread();
    Thread* next_thread();
    void make_ready(Warp& warp, uint32_t lanes);
    void resolve(Warp& warp, Operation operation, uint32_t mask);
    void release_barrier(Block& block);
    uint32_t random();

    uint64_t seed_;
    uint64_t launches_ = 0;
    uint64_t random_state_ = 0;
    // Random bits for some more choices of a lane.
    uint64_t choices_ = 1;
    uint64_t tenure_ = 0;

    const Kernel* kernel_ = nullptr;
    const void* parameters_ = nullptr;
    Index3 block_size_{}, grid_size_{};
    uint32_t block_threads_ = 0;
    uint32_t shared_bytes_ = 0;
    bool cooperative_ = false;

    Context host_;
    Stacks stacks_;
    Thread* threads_ = nullptr;
    Warp* warps_ = nullptr;
    Block* blocks_ = nullptr;
    uint32_t slots_ = 0, slot_threads_ = 0;

    Thread* current_ = nullptr;
    Warp* current_warp_ = nullptr;
    Warp** ready_ = nullptr;
    uint32_t ready_count_ = 0;
    uint32_t alive_ = 0;
    // Looks at words that others may change, since anything happened.
    uint64_t looks_ = 0;
    uint32_t resident_ = 0;
    ErrorReport* error_ = nullptr;
};

}  // namespace emulation
