//! Steps of batches of worlds allocate nothing.

#![allow(clippy::unwrap_used)] // everything here runs in tests

use pliant_batch::WorldBatch;
use pliant_rigid::comfree::ComFreeSettings;
use pliant_testing::Random;
use pliant_testing::allocations::{Counting, on_this_thread};
use pliant_testing::worlds::{crowded, everything};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// Each share of a batch has its own step statistics, whatever its contacts are.
#[test]
fn steps_of_batches_allocate_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let made = pool.install(|| {
        let (system, scene) = everything(ComFreeSettings::published(0.1, 0.005));
        let mut random = Random::new(17);
        let mut batch = WorldBatch::new(&system, &scene, 20, 2e-3).unwrap();
        for world in 0..20 {
            batch.set_state(world, &crowded(&system.model, &mut random)).unwrap();
        }
        let mut substep_states = vec![0.0; 20];
        let before = on_this_thread();
        batch.step(50);
        batch
            .rollout(&mut substep_states, 50, |substep_states, world, _| *substep_states += world.position(0))
            .unwrap();
        on_this_thread() - before
    });
    assert_eq!(made, 0);
}
