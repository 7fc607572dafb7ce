// What the lanes of a warp give one another.

#include "engine.hpp"

namespace emulation {

namespace {

uint32_t lowest(uint32_t bits) {
    return static_cast<uint32_t>(__builtin_ctz(bits));
}

// CUDA C++ Programming Guide, "Warp Shuffle Functions": the lane whose value a lane gets.
// `argument` holds the lane, distance or mask in its low half and the width in its high half.
uint32_t shuffle_source(Operation operation, uint32_t lane, uint32_t argument) {
    const uint32_t parameter = argument & 0xffff;
    const uint32_t width = argument >> 16;
    const uint32_t first = lane & ~(width - 1);
    const uint32_t last = first + width - 1;
    uint32_t source = lane;
    switch (operation) {
        case Operation::ShuffleIndex:
            return first + (parameter & (width - 1));
        case Operation::ShuffleUp:
            return parameter <= lane - first ? lane - parameter : lane;
        case Operation::ShuffleDown:
            source = lane + parameter;
            break;
        default:
            source = lane ^ parameter;
            break;
    }
    return source <= last ? source : lane;
}

bool is_shuffle(Operation operation) {
    return operation >= Operation::ShuffleIndex && operation <= Operation::ShuffleXor;
}

uint32_t combine(Operation operation, uint32_t a, uint32_t b) {
    const auto signed_a = static_cast<int32_t>(a);
    const auto signed_b = static_cast<int32_t>(b);
    switch (operation) {
        case Operation::ReduceAdd: return a + b;
        case Operation::ReduceMinSigned: return signed_a < signed_b ? a : b;
        case Operation::ReduceMaxSigned: return signed_a > signed_b ? a : b;
        case Operation::ReduceMinUnsigned: return a < b ? a : b;
        case Operation::ReduceMaxUnsigned: return a > b ? a : b;
        case Operation::ReduceAnd: return a & b;
        case Operation::ReduceOr: return a | b;
        default: return a ^ b;
    }
}

// The lanes whose value is not this one.
template <typename T>
uint32_t differing(const T (&values)[WARP], T value) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < WARP; ++l) {
        lanes |= static_cast<uint32_t>(values[l] != value) << l;
    }
    return lanes;
}

}  // namespace

uint64_t Engine::warp_operation(Operation operation, uint32_t mask, uint64_t value, uint32_t argument) {
    Warp& warp = *current_->warp;
    const uint32_t lane = current_->lane;
    const uint32_t bit = 1u << lane;
    looks_ = 0;
    const auto misuse = [&](const char* reason) {
        fail({ErrorCode::WarpMisuse, name(operation), reason, mask, lane, WARP});
    };
    if ((mask & bit) == 0) {
        misuse("the calling lane is not in its own mask");
    }
    if ((mask & ~warp.present) != 0) {
        misuse("the mask names a lane that the block does not have");
    }
    if ((mask & warp.exited) != 0) {
        misuse("the mask names a lane that has returned");
    }
    if (is_shuffle(operation)) {
        const uint32_t width = argument >> 16;
        if (width == 0 || width > WARP || (width & (width - 1)) != 0) {
            misuse("the width is not a power of two up to 32");
        }
        argument = shuffle_source(operation, lane, argument);
        if ((mask >> argument & 1) == 0) {
            misuse("it reads a lane that is not in the mask");
        }
    }
    const uint32_t place = lowest(mask);
    const uint8_t turn = warp.turn[place];
    if (operation == Operation::SyncWarp) {
        order_release(&warp.order[place][turn]);
    }
    warp.operation[lane] = operation;
    warp.mask[lane] = mask;
    warp.value[lane] = value;
    warp.argument[lane] = argument;
    warp.waiting |= bit;
    if ((warp.waiting & mask) != mask || (differing(warp.mask, mask) & mask) != 0) {
        yield();
        if (operation == Operation::SyncWarp) {
            order_acquire(&warp.order[place][turn]);
        }
        return warp.result[lane];
    }
    if ((differing(warp.operation, operation) & mask) != 0) {
        misuse("other lanes of the mask are in another operation");
    }
    resolve(warp, operation, mask);
    warp.waiting &= ~mask;
    make_ready(warp, mask & ~bit);
    if (operation == Operation::SyncWarp) {
        warp.turn[place] ^= 1;
        order_acquire(&warp.order[place][turn]);
    }
    return warp.result[lane];
}

void Engine::resolve(Warp& warp, Operation operation, uint32_t mask) {
    if (operation == Operation::SyncWarp) {
        return;
    }
    if (is_shuffle(operation)) {
        for (uint32_t l = 0; l < WARP; ++l) {
            if ((mask >> l & 1) != 0) {
                warp.result[l] = warp.value[warp.argument[l]];
            }
        }
        return;
    }
    if (operation == Operation::MatchAny) {
        for (uint32_t l = 0; l < WARP; ++l) {
            uint32_t equal = 0;
            for (uint32_t other = 0; other < WARP; ++other) {
                equal |= static_cast<uint32_t>(warp.value[other] == warp.value[l]) << other;
            }
            if ((mask >> l & 1) != 0) {
                warp.result[l] = equal & mask;
            }
        }
        return;
    }
    uint32_t ballot = 0;
    uint32_t total = 0;
    bool first = true;
    for (uint32_t l = 0; l < WARP; ++l) {
        if ((mask >> l & 1) == 0) {
            continue;
        }
        const auto value = static_cast<uint32_t>(warp.value[l]);
        ballot |= static_cast<uint32_t>(value != 0) << l;
        total = first ? value : combine(operation, total, value);
        first = false;
    }
    uint64_t result = total;
    if (operation == Operation::Ballot) {
        result = ballot;
    } else if (operation == Operation::Any) {
        result = ballot != 0 ? 1 : 0;
    } else if (operation == Operation::All) {
        result = ballot == mask ? 1 : 0;
    }
    for (uint32_t l = 0; l < WARP; ++l) {
        if ((mask >> l & 1) != 0) {
            warp.result[l] = result;
        }
    }
}

}  // namespace emulation
