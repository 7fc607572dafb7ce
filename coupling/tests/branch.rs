//! Branches of a world, failed worlds, and states of other worlds.

use crate::common::{self, block, fixed, fixed_corotated, floor, run_for};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{BranchError, Coupling, Settings, StateError, StepError, World};
use pliant_rigid::{Shape, SpatialVelocity};

/// Rubber falls on a floor with a ball beside it, coupled strongly.
fn world_of(dt: f64, density: f64, name: &str) -> World {
    let mut settings = Settings::new(0.02, dt);
    settings.coupling = Coupling::Strong;
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(3e4, 0.3, density));
    builder.particles(block(rubber, [-0.05, -0.05, 0.0], [10, 10, 6], 0.01, Vector3::new(0.3, 0.0, -0.5)));
    builder.body(floor(0.5)).unwrap();
    let velocity =
        SpatialVelocity { angular: Vector3::new(1.0, 2.0, 0.0), linear: Vector3::new(-1.0, 0.0, 0.0) };
    let ball = Shape::Sphere { radius: 0.03 };
    let pose = Isometry3::translation(0.1, 0.0, 0.032);
    builder.body(common::free(name, ball, pose, 0.7, 500.0, velocity)).unwrap();
    builder.build().unwrap()
}

fn busy() -> World {
    let mut world = world_of(2e-3, 1000.0, "ball");
    let mut touch = 0.0_f64;
    run_for(&mut world, 0.03, |world, _| touch = touch.max(world.body_impulses()[1].linear.norm()));
    assert!(touch > 0.0, "the ball does not touch the rubber");
    world
}

/// The state, which holds all that changes, and the impulses of the last step.
fn bits(world: &mut World) -> Vec<u8> {
    let mut bits = Vec::new();
    world.write_state(&mut bits).unwrap();
    for impulse in world.body_impulses().iter().chain(world.contact_impulses()) {
        bits.extend(impulse.linear.iter().chain(&impulse.angular).flat_map(|x| x.to_le_bytes()));
    }
    bits
}

fn stepped(mut world: World, steps: usize) -> Vec<u8> {
    for _ in 0..steps {
        world.step().unwrap();
    }
    bits(&mut world)
}

// Checks: a branch is the same function of the same numbers as its original, so that its bits are
// the same; and neither sees the other.
#[test]
fn branches_continue_with_the_same_bits() {
    let mut world = busy();
    let start = bits(&mut world);
    let branch = world.branch().unwrap();
    let ahead = stepped(world.branch().unwrap(), 20);
    assert!(bits(&mut world) == start, "stepping a branch changed the original");
    let mut of_branch = branch.branch().unwrap();
    assert!(bits(&mut of_branch) == start);
    for _ in 0..20 {
        world.step().unwrap();
    }
    assert!(bits(&mut world) == ahead, "the branch and the original differ");
    assert!(stepped(of_branch, 20) == ahead, "a branch of a branch differs");
    // Its original went on by 20 steps meanwhile.
    assert!(stepped(branch, 20) == ahead, "stepping the original changed a branch");
}

// Checks: results do not depend on the schedule.
#[test]
fn branches_on_threads_equal_the_serial_ones() {
    let world = busy();
    let push = |world: &World, n: usize| {
        let mut branch = world.branch().unwrap();
        // The ball's velocity along y, behind its angular velocity.
        let mut start = branch.bodies().save();
        start.state.v[4] += 0.2 * n as f64;
        branch.bodies_mut().restore(&start).unwrap();
        branch
    };
    let serial: Vec<_> = (0..4).map(|n| stepped(push(&world, n), 10)).collect();
    let branches: Vec<_> = (0..4).map(|n| push(&world, n)).collect();
    let parallel: Vec<_> = std::thread::scope(|scope| {
        let run = |branch| scope.spawn(move || stepped(branch, 10));
        let runs: Vec<_> = branches.into_iter().map(run).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(serial == parallel);
    assert!(serial[0] != serial[3], "the ball's velocity does nothing");
}

// Checks: `World` can be sent to a thread.
#[test]
fn worlds_are_send() {
    fn is_send<T: Send>() {}
    is_send::<World>();
}

// Checks: what was not finished leaves no state to go on from; the first failure is named by
// all that would, and a saved state mends it.
#[test]
fn a_failed_world_says_so() {
    let mut world = busy();
    let mut saved = Vec::new();
    world.write_state(&mut saved).unwrap();
    let ahead = stepped(world.branch().unwrap(), 5);
    let first = world.read_state(&mut &saved[..saved.len() - 1]).unwrap_err();
    let cause = world.failure().unwrap().to_owned();
    assert!(cause.contains(&first.to_string()), "{cause}: {first}");
    let second = world.step().unwrap_err();
    assert!(matches!(&second, StepError::Failed { cause: c, .. } if *c == cause), "{second:?}");
    let branch = world.branch().unwrap_err();
    assert_eq!(branch, BranchError::Failed { cause: cause.clone() });
    let written = world.write_state(&mut Vec::new());
    assert!(matches!(&written, Err(StateError::Failed { cause: c }) if *c == cause), "{written:?}");
    assert_eq!(world.failure(), Some(&cause[..]));
    world.read_state(&mut &saved[..]).unwrap();
    assert_eq!(world.failure(), None);
    assert!(stepped(world, 5) == ahead, "the restored world differs");
}

// Checks: a state fits the model and the step that it was written with only; others are refused
// with what differs, and change nothing.
#[test]
fn states_of_other_worlds_are_refused() {
    let mut saved = Vec::new();
    busy().write_state(&mut saved).unwrap();
    for (mut other, differs) in [
        (world_of(1e-3, 1000.0, "ball"), "dt [s]"),
        (world_of(2e-3, 900.0, "ball"), "materials[0]"),
        (world_of(2e-3, 1000.0, "balloon"), "the name of body 1"),
    ] {
        let before = bits(&mut other);
        match other.read_state(&mut &saved[..]) {
            Err(StateError::Foreign { what, found, expected }) => {
                assert_eq!(what, differs);
                assert_ne!(found, expected);
            }
            other => panic!("{differs}: {other:?}"),
        }
        assert!(bits(&mut other) == before, "{differs}: the world changed");
        other.step().unwrap();
    }
    let mut bare = World::builder(Settings::new(0.02, 2e-3));
    bare.body(fixed("table", Shape::HalfSpace, Isometry3::identity(), 0.5)).unwrap();
    let refused = bare.build().unwrap().read_state(&mut &saved[..]);
    assert!(matches!(refused, Err(StateError::Foreign { .. })), "{refused:?}");
}

// Checks: a world that took a part of a state is not stepped on.
#[test]
fn a_state_that_was_cut_is_not_stepped_on() {
    let mut world = busy();
    let mut saved = Vec::new();
    world.write_state(&mut saved).unwrap();
    assert!(world.read_state(&mut &saved[..saved.len() - 1]).is_err());
    assert!(matches!(world.step(), Err(StepError::Failed { .. })));
    world.read_state(&mut &saved[..]).unwrap();
    world.step().unwrap();
}
