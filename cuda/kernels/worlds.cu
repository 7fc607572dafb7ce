// Isolated worlds side by side, a step of all of them in five launches: `batch/src` on the device.
//
// A world that has stopped takes no part. No world sees another, every sum has one thread and a
// fixed order, and nothing is fused: double precision has the processor's bits where powers of
// impedances are 1 or 2.
#include "worlds_contact.cuh"
#include "worlds_finish.cuh"
#include "worlds_smooth.cuh"

namespace worlds {

template <typename Arrays>
__device__ __forceinline__ void smooth(const Arrays& p) {
    uint32_t tree, world;
    if (find_place(p, p.plan.trees.length, tree, world)) {
        Smooth<Arrays>(p, tree, world).run();
    }
}

template <typename Arrays>
__device__ __forceinline__ void contact(const Arrays& p) {
    uint32_t pair, world;
    if (find_place(p, p.plan.pairs.length, pair, world)) {
        BatchContact<Arrays>(p, pair, world).run();
    }
}

template <typename Arrays>
__device__ __forceinline__ void gather(const Arrays& p) {
    uint32_t dof, world;
    if (find_place(p, p.plan.dofs.length, dof, world)) {
        gather(p, dof, world);
    }
}

template <typename Arrays>
__device__ __forceinline__ void correct(const Arrays& p) {
    uint32_t tree, world;
    if (find_place(p, p.plan.trees.length, tree, world)) {
        Finish<Arrays>(p, tree, world).correct();
    }
}

template <typename Arrays>
__device__ __forceinline__ void advance(const Arrays& p) {
    uint32_t tree, world;
    if (find_place(p, p.plan.trees.length, tree, world)) {
        Finish<Arrays>(p, tree, world).advance();
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        p.plan.clock[0] += 1;
    }
}

}  // namespace worlds

PLIANT_KERNEL(worlds_smooth_f32, WorldsSmoothF32Parameters, WORLDS_THREADS) { worlds::smooth(p.worlds); }
PLIANT_KERNEL(worlds_smooth_f64, WorldsSmoothF64Parameters, WORLDS_THREADS) { worlds::smooth(p.worlds); }
PLIANT_KERNEL(worlds_contact_f32, WorldsContactF32Parameters, WORLDS_THREADS) { worlds::contact(p.worlds); }
PLIANT_KERNEL(worlds_contact_f64, WorldsContactF64Parameters, WORLDS_THREADS) { worlds::contact(p.worlds); }
PLIANT_KERNEL(worlds_gather_f32, WorldsGatherF32Parameters, WORLDS_THREADS) { worlds::gather(p.worlds); }
PLIANT_KERNEL(worlds_gather_f64, WorldsGatherF64Parameters, WORLDS_THREADS) { worlds::gather(p.worlds); }
PLIANT_KERNEL(worlds_correct_f32, WorldsCorrectF32Parameters, WORLDS_THREADS) { worlds::correct(p.worlds); }
PLIANT_KERNEL_FOR(worlds_correct_f64, WorldsCorrectF64Parameters, WORLDS_THREADS, 4) { worlds::correct(p.worlds); }
PLIANT_KERNEL_FOR(worlds_advance_f32, WorldsAdvanceF32Parameters, WORLDS_THREADS, 8) { worlds::advance(p.worlds); }
PLIANT_KERNEL(worlds_advance_f64, WorldsAdvanceF64Parameters, WORLDS_THREADS) { worlds::advance(p.worlds); }
