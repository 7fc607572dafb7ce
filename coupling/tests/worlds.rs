//! Many worlds at once against each alone.

use crate::common::{block, fixed_corotated, floor};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Settings, StepError, World, Worlds};
use pliant_rigid::{BodyDesc, BodyId, Shape};
use pliant_testing::Random;

/// Rubber of a density slides on a floor, a ball falls beside it.
fn world(density: f64, count: usize) -> World {
    let mut builder = World::builder(Settings::new(0.02, 2e-3));
    let rubber = builder.material(fixed_corotated(3e4, 0.3, density));
    builder.particles(block(
        rubber,
        [-0.05, -0.05, 0.0],
        [count, count, 4],
        0.01,
        Vector3::new(0.3, 0.0, -0.5),
    ));
    builder.body(floor(0.5)).unwrap();
    let ball = BodyDesc::dynamic("ball", Shape::Sphere { radius: 0.03 }, 500.0).unwrap();
    builder.body(ball.at(Isometry3::translation(0.1, 0.0, 0.06))).unwrap();
    builder.build().unwrap()
}

fn bits(world: &mut World) -> Vec<u8> {
    let mut bits = Vec::new();
    world.write_state(&mut bits).unwrap();
    bits
}

/// A world takes the same steps with the same bits as alone, whatever the others are: worlds of two
/// scenes, each with random friction and a random load of its own, on one thread and on three, some
/// begun again in between.
#[test]
fn each_world_is_as_alone() {
    let seed = 41;
    let mut random = Random::new(seed);
    let starts = [world(1000.0, 8), world(700.0, 5)];
    let figures: Vec<(f64, Vector3<f64>)> =
        (0..10).map(|_| (random.uniform(0.0, 1.0), random.vector() * 0.2)).collect();
    let made = |k: usize| {
        let mut world = starts[k % 2].branch().unwrap();
        let (friction, force) = figures[k];
        world.bodies_mut().set_friction(BodyId(0), friction).unwrap();
        world.bodies_mut().set_load(BodyId(1), &force, &Vector3::zeros()).unwrap();
        world
    };
    let alone: Vec<Vec<u8>> = (0..10)
        .map(|k| {
            let mut world = made(k);
            // World 3 begins again after 10 of 30 steps.
            let steps = if k == 3 { 20 } else { 30 };
            (0..steps).for_each(|_| assert!(world.step().is_ok()));
            bits(&mut world)
        })
        .collect();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let list: Vec<World> = (0..10).map(made).collect();
        let mut worlds = pool.install(|| Worlds::new(list)).unwrap();
        for step in 0..30 {
            if step == 10 {
                worlds.reset(3, &made(3)).unwrap();
            }
            assert!(worlds.step().iter().all(Result::is_ok));
        }
        for (k, (world, alone)) in worlds.iter_mut().zip(&alone).enumerate() {
            assert!(bits(world) == *alone, "seed {seed}, {threads} threads: world {k} differs");
        }
    }
}

/// Rollouts of their own length give their results in the order of the worlds.
#[test]
fn rollouts_are_in_order() {
    let mut worlds = Worlds::branches(&world(1000.0, 5), 6).unwrap();
    let times = worlds.each(|k, world| {
        (0..k).for_each(|_| assert!(world.step().is_ok()));
        (k, world.step_count())
    });
    assert_eq!(times, (0..6).map(|k| (k, k as u64)).collect::<Vec<_>>());
    assert_eq!(worlds.iter().map(World::step_count).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
}

/// A world that failed says so and holds up no other, until it begins again.
#[test]
fn a_failure_stays_in_its_world() {
    let start = world(1000.0, 5);
    let mut worlds = Worlds::branches(&start, 3).unwrap();
    let ball = BodyId(1);
    // Such a force throws the ball out of the range of numbers that a step takes.
    let huge = Vector3::new(1e300, 0.0, 0.0);
    worlds.get_mut(1).unwrap().bodies_mut().set_load(ball, &huge, &Vector3::zeros()).unwrap();
    let first = worlds.step();
    assert!(first[0].is_ok() && first[1].is_err() && first[2].is_ok(), "{first:?}");
    let second = worlds.step();
    assert!(second[0].is_ok() && matches!(second[1], Err(StepError::Failed { .. })), "{second:?}");
    worlds.reset(1, &start).unwrap();
    worlds.reset(9, &start).unwrap();
    assert!(worlds.step().iter().all(Result::is_ok));
    assert_eq!(worlds.get(1).unwrap().step_count(), 1);
    assert_eq!((worlds.len(), worlds.get(3).is_none()), (3, true));
}
