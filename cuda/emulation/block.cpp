// What the threads of a block, or of the grid, share: barriers, memory and words to wait for.

#include "engine.hpp"

#include <cstdlib>
#include <cstring>

namespace emulation {

uint32_t Engine::block_barrier(Operation operation, uint32_t value) {
    Block& block = *current_->block;
    looks_ = 0;
    if (block.exited > 0) {
        fail({ErrorCode::DivergentBarrier, name(operation), "other threads of the block have returned", 0,
              block.threads - block.exited, block.threads});
    }
    if (block.arrived == 0) {
        block.barrier = operation;
        block.count = 0;
        block.all = 1;
        block.any = 0;
    } else if (block.barrier != operation) {
        fail({ErrorCode::DivergentBarrier, name(operation), "other threads wait at another kind of barrier", 0,
              block.arrived, block.threads});
    }
    const uint8_t turn = block.turn;
    order_release(&block.order[turn]);
    const uint32_t truth = value != 0 ? 1 : 0;
    block.count += truth;
    block.all &= truth;
    block.any |= truth;
    if (++block.arrived < block.threads) {
        yield();
    } else {
        block.turn ^= 1;
        block.arrived = 0;
        block.result = operation == Operation::SyncThreadsAnd  ? block.all
                       : operation == Operation::SyncThreadsOr ? block.any
                                                               : block.count;
        release_barrier(block);
    }
    order_acquire(&block.order[turn]);
    return block.result;
}

// All threads of a block but the one that runs can go on.
void Engine::release_barrier(Block& block) {
    const uint32_t warps = (block_threads_ + WARP - 1) / WARP;
    for (uint32_t w = 0; w < warps; ++w) {
        Warp& warp = block.warps[w];
        const uint32_t self = current_->warp == &warp ? 1u << current_->lane : 0;
        make_ready(warp, warp.present & ~self);
    }
}

unsigned char* Engine::shared_array(const void* key, size_t bytes) {
    [[maybe_unused]] const Unseen unseen;
    Block& block = *current_->block;
    SharedArraySlot* found = nullptr;
    for (SharedArraySlot& array : block.shared) {
        if (array.key == key) {
            found = &array;
            break;
        }
        // One that this block does not use: of another kernel, or none.
        if (found == nullptr && array.tenure != block.tenure) {
            found = &array;
        }
    }
    if (found != nullptr && found->key != key) {
        std::free(found->memory);
        *found = SharedArraySlot{key, static_cast<unsigned char*>(std::malloc(bytes)), 0};
    }
    if (found == nullptr || found->memory == nullptr) {
        fail({ErrorCode::HostMemory, "__shared__", "too many shared arrays, or no memory for one", 0, bytes, SHARED_ARRAYS});
    }
    if (found->tenure != block.tenure) {
        found->tenure = block.tenure;
        block.static_bytes += bytes;
        if (block.static_bytes > STATIC_SHARED_BYTES) {
            fail({ErrorCode::SharedMemory, "__shared__", "static shared memory", 0, block.static_bytes,
                  STATIC_SHARED_BYTES});
        }
        std::memset(found->memory, POISON, bytes);
    }
    return found->memory;
}

unsigned char* Engine::dynamic_shared(size_t* bytes) const {
    *bytes = shared_bytes_;
    return current_->block->dynamic_shared;
}

void Engine::out_of_bounds(uint64_t index, uint64_t length) {
    fail({ErrorCode::OutOfBounds, "operator[]", "the index is not below the length", 0, index, length});
}

// A thread waits for another that cannot run before it gives way. Nobody counts plain reads, so a
// loop of those hangs.
void Engine::count_atomic() {
    constexpr uint64_t PLENTY = 1u << 22;
    looks_ = 0;
    if (++current_->atomics > PLENTY) {
        fail({ErrorCode::Waiting, "atomics", "a loop waits for another thread without a barrier", 0, PLENTY, 0});
    }
}

void Engine::before_release() {
    count_atomic();
    if (random() % 2 == 0) {
        give_way();
    }
}

void Engine::before_acquire() {
    count_look();
    if (random() % 2 == 0) {
        give_way();
    }
}

void Engine::wait_for_others() {
    count_look();
    give_way();
}

// Another thread goes on, of any warp; this one some time later.
void Engine::give_way() {
    make_ready(*current_->warp, 1u << current_->lane);
    current_warp_ = nullptr;
    yield();
}

// Since the last look at a word that another thread may change, or since the beginning, nobody
// changed one, came to a barrier or returned. After many, all that can run have looked in vain.
void Engine::count_look() {
    constexpr uint64_t PLENTY = 1u << 18;
    if (++looks_ <= PLENTY) {
        return;
    }
    if (!cooperative_) {
        fail({ErrorCode::NotCooperative, "load_acquire", "the launch is not cooperative", 0, 0, 0});
    }
    fail({ErrorCode::Deadlock, "load_acquire", "blocks wait for what no thread does any more", 0, alive_,
          resident_ * block_threads_});
}

}  // namespace emulation
