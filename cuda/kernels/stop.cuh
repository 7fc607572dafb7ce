// What stops a step: status words that every kernel of a substep reads, and contact's clock, which
// follows them.
//
// A substep that is stopped before its exchange can be done again: until then only the grid and
// scratch memory were written. A stop sets the status' limit to that substep, so that the rest of
// it and all after it do nothing, and sets the clock's `active` to zero, so that the rest of
// contact does nothing.
#pragma once

#include "parameters.cuh"
#include "prelude.cuh"

// Whether substep `substep_index`, or a sort before it, is not to run: something stopped the step
// earlier, or another block stops it now.
__device__ __forceinline__ bool is_stopped(const Span<uint32_t>& status, uint32_t substep_index) {
    return substep_index >= *static_cast<const volatile uint32_t*>(&status[MPM_STATUS_LIMIT]);
}

// Lets the first `substeps` substeps run and no more; `flag` says why. The result does not depend
// on the order of the calls.
__device__ __forceinline__ void stop_after(const Span<uint32_t>& status, uint32_t substeps, uint32_t flag) {
    atomicMin(&status[MPM_STATUS_LIMIT], substeps);
    atomicOr(&status[MPM_STATUS_FLAGS], flag);
}

// The same where the capacity was exceeded, with the numbers; of several, the largest.
__device__ __forceinline__ void stop_for_capacity(
    const Span<uint32_t>& status, uint32_t substeps, uint32_t flag, uint32_t needed, uint32_t capacity) {
    atomicMax(&status[MPM_STATUS_NEEDED], needed);
    atomicMax(&status[MPM_STATUS_CAPACITY], capacity);
    stop_after(status, substeps, flag);
}

// Whether contact has nothing to do; never without a clock. Another block that has found it too much
// may stop it at this very time; a block that sees this late finds the same itself.
__device__ __forceinline__ bool is_inactive(const Span<ContactClock>& clock) {
    return clock.length > 0 && *static_cast<const volatile uint32_t*>(&clock[0].active) == 0;
}

// Stops contact's substep, which is possible until the exchange. Without a status it does nothing.
__device__ __forceinline__ void stop_contact(const Span<uint32_t>& status, const Span<ContactClock>& clock, uint32_t flag,
    uint32_t needed, uint32_t capacity) {
    if (status.length > 0 && clock.length > 0) {
        atomicExch(&clock[0].active, 0u);
        stop_for_capacity(status, clock[0].substep_index, flag, needed, capacity);
    }
}
