#include "engine.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace emulation {

namespace {

Kernel*& kernels() {
    static Kernel* first = nullptr;
    return first;
}

// splitmix64 (Steele, Lea and Flood 2014).
uint64_t mixed(uint64_t value) {
    value += 0x9e3779b97f4a7c15ull;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t volume(const uint32_t size[3]) {
    return static_cast<uint64_t>(size[0]) * size[1] * size[2];
}

uint32_t lowest(uint32_t bits) {
    return static_cast<uint32_t>(__builtin_ctz(bits));
}

}  // namespace

Kernel::Kernel(const char* name, uint32_t parameter_bytes, uint32_t max_threads, void (*run)(const void*))
    : name(name), parameter_bytes(parameter_bytes), max_threads(max_threads), run(run), next(kernels()) {
    kernels() = this;
}

const Kernel* find_kernel(const char* name) {
    const Kernel* kernel = kernels();
    while (kernel != nullptr && std::strcmp(kernel->name, name) != 0) {
        kernel = kernel->next;
    }
    return kernel;
}

const char* name(Operation operation) {
    switch (operation) {
        case Operation::SyncWarp: return "__syncwarp";
        case Operation::ShuffleIndex: return "__shfl_sync";
        case Operation::ShuffleUp: return "__shfl_up_sync";
        case Operation::ShuffleDown: return "__shfl_down_sync";
        case Operation::ShuffleXor: return "__shfl_xor_sync";
        case Operation::Ballot: return "__ballot_sync";
        case Operation::Any: return "__any_sync";
        case Operation::All: return "__all_sync";
        case Operation::MatchAny: return "__match_any_sync";
        case Operation::ReduceAdd: return "__reduce_add_sync";
        case Operation::ReduceMinSigned:
        case Operation::ReduceMinUnsigned: return "__reduce_min_sync";
        case Operation::ReduceMaxSigned:
        case Operation::ReduceMaxUnsigned: return "__reduce_max_sync";
        case Operation::ReduceAnd: return "__reduce_and_sync";
        case Operation::ReduceOr: return "__reduce_or_sync";
        case Operation::ReduceXor: return "__reduce_xor_sync";
        case Operation::SyncThreads: return "__syncthreads";
        case Operation::SyncThreadsCount: return "__syncthreads_count";
        case Operation::SyncThreadsAnd: return "__syncthreads_and";
        case Operation::SyncThreadsOr: return "__syncthreads_or";
        case Operation::None: break;
    }
    return "none";
}

Engine::~Engine() {
    release();
}

// The fibres are no more: what they were at is not what the sanitizer is to go on from.
void Engine::forget_fibres() {
    for (size_t thread = 0; thread < static_cast<size_t>(slots_) * slot_threads_; ++thread) {
        forget(threads_[thread].context);
    }
}

void Engine::release() {
    forget_fibres();
    for (uint32_t slot = 0; slot < slots_; ++slot) {
        for (SharedArraySlot& array : blocks_[slot].shared) {
            std::free(array.memory);
        }
        std::free(blocks_[slot].dynamic_shared);
    }
    std::free(blocks_);
    delete[] threads_;
    std::free(warps_);
    std::free(ready_);
    blocks_ = nullptr;
    threads_ = nullptr;
    warps_ = nullptr;
    ready_ = nullptr;
    slots_ = 0;
    slot_threads_ = 0;
}

// Memory for `slots` blocks that are resident at once.
bool Engine::reserve(uint32_t slots, uint32_t threads, uint32_t shared_bytes) {
    if (!stacks_.reserve(slots * threads)) {
        return false;
    }
    if (slots > slots_ || threads > slot_threads_) {
        release();
        const uint32_t warps = slots * ((threads + WARP - 1) / WARP);
        blocks_ = static_cast<Block*>(std::calloc(slots, sizeof(Block)));
        threads_ = new (std::nothrow) Thread[static_cast<size_t>(slots) * threads];
        warps_ = static_cast<Warp*>(std::calloc(warps, sizeof(Warp)));
        ready_ = static_cast<Warp**>(std::calloc(warps, sizeof(Warp*)));
        if (blocks_ == nullptr || threads_ == nullptr || warps_ == nullptr || ready_ == nullptr) {
            release();
            return false;
        }
        slots_ = slots;
        slot_threads_ = threads;
    }
    for (uint32_t slot = 0; slot < slots; ++slot) {
        Block& block = blocks_[slot];
        // Of the very size, so that the address sanitizer sees where it ends.
        if (block.dynamic_capacity != shared_bytes) {
            std::free(block.dynamic_shared);
            block.dynamic_shared = shared_bytes == 0 ? nullptr : static_cast<unsigned char*>(std::malloc(shared_bytes));
            block.dynamic_capacity = block.dynamic_shared == nullptr ? 0 : shared_bytes;
            if (block.dynamic_capacity != shared_bytes) {
                return false;
            }
        }
    }
    return true;
}

bool Engine::check(const LaunchRequest& request, const Kernel* kernel, ErrorReport& error) {
    const uint64_t threads = volume(request.block);
    const uint64_t blocks = volume(request.grid);
    error.operation = "launch";
    error.code = static_cast<uint32_t>(ErrorCode::InvalidLaunch);
    if (kernel == nullptr) {
        error.reason = "there is no kernel of this name";
    } else if (request.parameter_bytes != kernel->parameter_bytes) {
        error.reason = "the parameters' size is not the kernel's";
        error.index = request.parameter_bytes;
        error.length = kernel->parameter_bytes;
    } else if (threads == 0 || blocks == 0) {
        error.reason = "the grid or the block is empty";
    } else if (request.block[0] > MAX_BLOCK_THREADS || request.block[1] > MAX_BLOCK_THREADS || request.block[2] > 64 ||
               threads > kernel->max_threads) {
        error.reason = "more threads in a block than the kernel is made for";
        error.index = threads;
        error.length = kernel->max_threads;
    } else if (request.grid[0] > 0x7fffffffu || request.grid[1] > 65535 || request.grid[2] > 65535) {
        error.reason = "the grid is larger than 2147483647 x 65535 x 65535";
    } else if (request.cooperative != 0 && (blocks > RESIDENT_THREADS || blocks * threads > RESIDENT_THREADS)) {
        error.reason = "more threads than can be resident at once, which a cooperative launch needs";
        error.index = blocks * threads;
        error.length = RESIDENT_THREADS;
    } else if (request.shared_bytes > DYNAMIC_SHARED_BYTES) {
        error.reason = "more dynamic shared memory than a block can have";
        error.index = request.shared_bytes;
        error.length = DYNAMIC_SHARED_BYTES;
    } else {
        error.code = static_cast<uint32_t>(ErrorCode::None);
        return true;
    }
    return false;
}

void Engine::launch(const LaunchRequest& request, ErrorReport& error) {
    error = ErrorReport{};
    const Kernel* kernel = find_kernel(request.kernel);
    if (!check(request, kernel, error)) {
        return;
    }
    kernel_ = kernel;
    parameters_ = request.parameters;
    grid_size_ = {request.grid[0], request.grid[1], request.grid[2]};
    block_size_ = {request.block[0], request.block[1], request.block[2]};
    block_threads_ = static_cast<uint32_t>(volume(request.block));
    shared_bytes_ = request.shared_bytes;
    cooperative_ = request.cooperative != 0;
    const uint64_t blocks = volume(request.grid);
    resident_ = cooperative_ ? static_cast<uint32_t>(blocks) : together(blocks);
    error_ = &error;
    if (!reserve(resident_, block_threads_, shared_bytes_)) {
        error.code = static_cast<uint32_t>(ErrorCode::HostMemory);
        error.operation = "launch";
        error.reason = "no memory for the stacks of its threads";
        error.index = static_cast<uint64_t>(resident_) * block_threads_ * STACK_BYTES;
        return;
    }
    random_state_ = mixed(seed_ ^ mixed(launches_++)) | 1;
    choices_ = 1;
    // Blocks in the order a, a + s, a + 2 s, ... modulo their number, with s prime to it.
    const uint64_t start = mixed(random_state_) % blocks;
    uint64_t stride = mixed(random_state_ + 1) % blocks | 1;
    while (greatest_common_divisor(stride, blocks) != 1) {
        ++stride;
    }
    Engine* const outer = active_engine;
    active_engine = this;
    enter_host(host_);
    looks_ = 0;
    uint64_t block = start;
    for (uint64_t done = 0; done < blocks && error.code == 0; done += resident_) {
        resident_ = blocks - done < resident_ ? static_cast<uint32_t>(blocks - done) : resident_;
        ready_count_ = 0;
        alive_ = 0;
        for (uint32_t slot = 0; slot < resident_; ++slot) {
            start_block(slot, block);
            block = (block + stride) % blocks;
        }
        run_until_idle();
        for (uint32_t slot = 0; slot < resident_; ++slot) {
            order_acquire(&blocks_[slot].end);
        }
    }
    active_engine = outer;
    if (error.code != 0) {
        stacks_.abandon();
        forget_fibres();
    }
    error_ = nullptr;
}

// Blocks of a launch that is not cooperative, there at once: one, whose memory the next block finds
// in the cache. The thread sanitizer sees no race between blocks that are not.
uint32_t Engine::together(uint64_t blocks) const {
#if defined(PLIANT_THREAD_SANITIZER)
    // Its time grows with their square.
    constexpr uint32_t THREADS = 512;
    const uint64_t most = block_threads_ < THREADS ? THREADS / block_threads_ : 1;
    return static_cast<uint32_t>(most < blocks ? most : blocks);
#else
    return blocks > 0 ? 1 : 0;
#endif
}

void Engine::start_block(uint32_t slot, uint64_t index) {
    Block& block = blocks_[slot];
    const uint32_t warps = (block_threads_ + WARP - 1) / WARP;
    const uint64_t row = index / grid_size_.x;
    block.index = {static_cast<uint32_t>(index % grid_size_.x), static_cast<uint32_t>(row % grid_size_.y),
                   static_cast<uint32_t>(row / grid_size_.y)};
    block.warps = warps_ + static_cast<size_t>(slot) * warps;
    block.threads = block_threads_;
    block.exited = 0;
    block.arrived = 0;
    block.static_bytes = 0;
    block.tenure = ++tenure_;
    if (shared_bytes_ > 0) {
        std::memset(block.dynamic_shared, POISON, shared_bytes_);
    }
    Thread* threads = threads_ + static_cast<size_t>(slot) * block_threads_;
    for (uint32_t w = 0; w < warps; ++w) {
        Warp& warp = block.warps[w];
        const uint32_t lanes = block_threads_ - w * WARP < WARP ? block_threads_ - w * WARP : WARP;
        warp.block = &block;
        warp.threads = threads + w * WARP;
        warp.present = lanes == WARP ? ~0u : (1u << lanes) - 1;
        warp.exited = warp.ready = warp.waiting = 0;
        for (uint32_t l = 0; l < lanes; ++l) {
            const uint32_t linear = w * WARP + l;
            Thread& thread = warp.threads[l];
            thread.warp = &warp;
            thread.block = &block;
            thread.lane = l;
            thread.atomics = 0;
            thread.index = {linear % block_size_.x, linear / block_size_.x % block_size_.y,
                            linear / block_size_.x / block_size_.y};
            prepare(thread.context, stacks_.at(slot * block_threads_ + linear), &Engine::thread_main);
        }
        make_ready(warp, warp.present);
    }
    alive_ += block_threads_;
    order_release(&block.begin);
}

void Engine::run_until_idle() {
    current_warp_ = nullptr;
    current_ = next_thread();
    switch_context(host_, current_->context);
    current_ = nullptr;
    if (error_->code == 0 && alive_ != 0) {
        report_standstill();
    }
}

void Engine::thread_main() {
    arrived_first_time();
    Engine& engine = active();
    order_acquire(&engine.current_->block->begin);
    engine.kernel_->run(engine.parameters_);
    engine.finish_thread();
}

// xorshift64* (Vigna 2016).
uint32_t Engine::random() {
    random_state_ ^= random_state_ >> 12;
    random_state_ ^= random_state_ << 25;
    random_state_ ^= random_state_ >> 27;
    return static_cast<uint32_t>((random_state_ * 0x2545f4914f6cdd1dull) >> 32);
}

void Engine::make_ready(Warp& warp, uint32_t lanes) {
    if (lanes != 0 && warp.ready == 0) {
        warp.position = ready_count_;
        ready_[ready_count_++] = &warp;
    }
    warp.ready |= lanes;
}

// The thread that goes on: another lane of the same warp while there is one, from a random place up
// or down; then a random warp. None where nobody can.
Thread* Engine::next_thread() {
    if (current_warp_ == nullptr || current_warp_->ready == 0) {
        if (ready_count_ == 0) {
            return nullptr;
        }
        current_warp_ = ready_[static_cast<uint64_t>(random()) * ready_count_ >> 32];
    }
    Warp& warp = *current_warp_;
    if (choices_ <= 1) {
        // A one on top tells when they are used up.
        choices_ = (static_cast<uint64_t>(random()) << 28 | random() >> 4) | 1ull << 60;
    }
    const auto chance = static_cast<uint32_t>(choices_ & 63);
    choices_ >>= 6;
    const uint32_t turn = chance >> 1;
    const uint32_t turned = turn == 0 ? warp.ready : warp.ready >> turn | warp.ready << (WARP - turn);
    const uint32_t found = (chance & 1) != 0 ? lowest(turned) : 31 - static_cast<uint32_t>(__builtin_clz(turned));
    const uint32_t lane = (found + turn) % WARP;
    warp.ready &= ~(1u << lane);
    if (warp.ready == 0) {
        ready_[warp.position] = ready_[--ready_count_];
        ready_[warp.position]->position = warp.position;
    }
    return &warp.threads[lane];
}

void Engine::yield() {
    Thread* const before = current_;
    Thread* const next = next_thread();
    if (next == before) {
        return;
    }
    current_ = next;
    switch_context(before->context, next == nullptr ? host_ : next->context);
}

void Engine::finish_thread() {
    Warp& warp = *current_->warp;
    Block& block = *current_->block;
    const uint32_t bit = 1u << current_->lane;
    for (uint32_t waiting = warp.waiting; waiting != 0; waiting &= waiting - 1) {
        const uint32_t l = lowest(waiting);
        if ((warp.mask[l] & bit) != 0) {
            current_ = &warp.threads[l];
            fail({ErrorCode::WarpMisuse, name(warp.operation[l]), "a lane of the mask has returned", warp.mask[l], l,
                  WARP});
        }
    }
    order_release(&block.end);
    warp.exited |= bit;
    ++block.exited;
    --alive_;
    looks_ = 0;
    if (block.arrived > 0) {
        fail({ErrorCode::DivergentBarrier, name(block.barrier), "this thread returned while others wait", 0,
              block.arrived, block.threads});
    }
    yield();
    // Nobody makes a thread ready that has returned.
    __builtin_unreachable();
}

void Engine::report(const Thread& thread, const Place& place) {
    error_->code = static_cast<uint32_t>(place.code);
    const Index3& block = thread.block->index;
    const uint32_t blocks[3] = {block.x, block.y, block.z};
    const uint32_t threads[3] = {thread.index.x, thread.index.y, thread.index.z};
    std::memcpy(error_->block, blocks, sizeof blocks);
    std::memcpy(error_->thread, threads, sizeof threads);
    error_->mask = place.mask;
    error_->index = place.index;
    error_->length = place.length;
    error_->operation = place.operation;
    error_->reason = place.reason;
}

// The kernel ends here: the host goes on, and what the fibres were at is forgotten.
void Engine::fail(const Place& place) {
    report(*current_, place);
    Thread* const before = current_;
    switch_context(before->context, host_);
    __builtin_unreachable();
}

// Nobody can go on, and not everybody has returned: threads wait for others that wait elsewhere, at an
// operation of their warp or at a barrier of their block.
void Engine::report_standstill() {
    for (uint32_t slot = 0; slot < resident_; ++slot) {
        const Block& block = blocks_[slot];
        const uint32_t warps = (block_threads_ + WARP - 1) / WARP;
        for (uint32_t w = 0; w < warps; ++w) {
            const Warp& warp = block.warps[w];
            if (warp.waiting != 0) {
                const uint32_t lane = lowest(warp.waiting);
                report(warp.threads[lane],
                       {ErrorCode::WarpMisuse, name(warp.operation[lane]),
                        "lanes of the mask wait elsewhere or with another mask", warp.mask[lane], lane, WARP});
                return;
            }
        }
    }
    for (uint32_t slot = 0; slot < resident_; ++slot) {
        const Block& block = blocks_[slot];
        if (block.arrived > 0) {
            report(block.warps[0].threads[0], {ErrorCode::DivergentBarrier, name(block.barrier),
                                               "other threads wait elsewhere", 0, block.arrived, block.threads});
            return;
        }
    }
}

}  // namespace emulation
