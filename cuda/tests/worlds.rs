//! Worlds side by side on the device against [`WorldBatch`] on the processor: equations 2 to 13 of
//! ComFree (`docs/book/src/theory/comfree.md`) in the same order of operations.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;
mod worlds_support;

use pliant_batch::{BatchError, Parameter, Status, WorldBatch};
use pliant_cuda::Device;
use pliant_cuda::worlds::{DeviceWorlds, WorldsError, WorldsNumber};
use pliant_rigid::collision::CollisionModel;
use pliant_rigid::comfree::ComFreeSettings;
use pliant_rigid::multibody::{Model, State};
use pliant_rigid::simulation::System;
use pliant_testing::Random;
use pliant_testing::worlds::{GENTLE, crowded, everything};
use support::{device_kinds, devices};
use worlds_support::{ball, random_state, systems};

const DT: f64 = 2e-3;
/// What one step's rounding may come to, as part of the largest speed: some hundred operations
/// deep, and the same on the processor (`batch/tests/batch.rs`).
const ROUNDING: f64 = 1e-10;

/// A batch whose worlds are in random states where much overlaps, and the states.
fn batch_of((system, scene): &(System, CollisionModel), worlds: usize, random: &mut Random) -> WorldBatch {
    let mut batch = WorldBatch::new(system, scene, worlds, DT).unwrap();
    for world in 0..worlds {
        batch.set_state(world, &random_state(system, random)).unwrap();
    }
    batch
}

fn states(batch: &WorldBatch) -> Vec<State> {
    (0..batch.worlds()).map(|world| batch.state(world).unwrap()).collect()
}

fn device_states<T: WorldsNumber>(worlds: &DeviceWorlds<T>) -> Vec<State> {
    (0..worlds.worlds()).map(|world| worlds.state(world).unwrap()).collect()
}

fn numbers(state: &State) -> impl Iterator<Item = f64> {
    state.q.iter().chain(&state.v).copied()
}

fn largest_difference(a: &State, b: &State) -> f64 {
    numbers(a)
        .zip(numbers(b))
        .fold(0.0, |most, (a, b)| if (a - b).abs() <= most { most } else { (a - b).abs() })
}

/// The largest speed, at least 1.
fn size(state: &State) -> f64 {
    state.v.iter().fold(1.0, |most, v| v.abs().max(most))
}

/// Each number of all states off by as much of it, or of 1 where it is less, one way or the other;
/// quaternions of unit length.
fn perturbed(model: &Model, states: &[State], by: f64, random: &mut Random) -> Vec<State> {
    let mut states = states.to_vec();
    let quaternions = model.links().iter().filter(|link| link.joint.has_quaternion());
    let quaternions: Vec<usize> = quaternions
        .map(|link| model.link(&link.name).map(|link| model.positions_of(link).start).unwrap())
        .collect();
    for state in &mut states {
        for x in state.q.iter_mut().chain(&mut state.v) {
            *x += by * x.abs().max(1.0) * random.signed().signum();
        }
        for first in &quaternions {
            let turn = &mut state.q[*first..first + 4];
            let length = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
            turn.iter_mut().for_each(|x| *x /= length);
        }
    }
    states
}

/// States after some steps on the processor.
fn stepped((system, scene): &(System, CollisionModel), from: &[State], steps: usize) -> Vec<State> {
    let mut batch = WorldBatch::new(system, scene, from.len(), DT).unwrap();
    for (world, state) in from.iter().enumerate() {
        batch.set_state(world, state).unwrap();
    }
    batch.step(steps);
    states(&batch)
}

fn settings() -> [ComFreeSettings; 3] {
    [
        ComFreeSettings::published(0.1, 0.005),
        ComFreeSettings { facets: 12, ..ComFreeSettings::published(0.5, 0.001) },
        ComFreeSettings { gains: GENTLE, ..ComFreeSettings::published(1.0, 1.0) },
    ]
}

// In f64 a step on the device is one on the processor to rounding; so are twenty, where each adds
// as much rounding and that grows as a difference of the same size at the beginning does.
#[test]
fn worlds_are_those_of_the_processor() {
    let seed = 31;
    println!("seed {seed}");
    for device in devices() {
        let mut random = Random::new(seed);
        for (setting, settings) in settings().into_iter().enumerate() {
            for (scene, system) in systems(settings).into_iter().enumerate() {
                let mut batch = batch_of(&system, 21, &mut random);
                let before = states(&batch);
                let mut worlds = DeviceWorlds::<f64>::new(&device, &batch).unwrap();
                let mut same = 0;
                for steps in [1, 19] {
                    batch.step(steps);
                    worlds.step(steps).unwrap();
                    let (right, found) = (states(&batch), device_states(&worlds));
                    let off =
                        stepped(&system, &perturbed(&system.0.model, &before, ROUNDING, &mut random), 20);
                    for (world, (right, found)) in right.iter().zip(&found).enumerate() {
                        let grown =
                            if steps == 1 { 0.0 } else { 20.0 * largest_difference(&off[world], right) };
                        let bound = (ROUNDING * size(right)).max(grown);
                        let difference = largest_difference(found, right);
                        let place = format!("setting {setting}, scene {scene}, world {world}, {steps} steps");
                        assert!(difference <= bound, "{place}: {difference:e}, bound {bound:e}");
                        assert_eq!(found.time, right.time, "{place}");
                        same += usize::from(found == right);
                    }
                }
                println!("setting {setting}, scene {scene}: {same} of 42 states have the same bits");
            }
        }
    }
}

// Single precision: half of a number's last bit is 2^-24 of it, a step is about a thousand
// roundings deep, and those have random signs: all of them are as if the state were off by root of
// a thousand times as much. Steps in double precision from states that are so off, thirty-two for
// each world, tell what that comes to, also where a contact is at the edge of touching.
#[test]
fn single_precision_is_double_to_its_rounding() {
    let rounding = 1000.0_f64.sqrt() * 2.0_f64.powi(-24);
    let seed = 41;
    println!("seed {seed}");
    for device in devices() {
        let mut random = Random::new(seed);
        for (setting, settings) in settings().into_iter().enumerate() {
            for (scene, system) in systems(settings).into_iter().enumerate() {
                let batch = batch_of(&system, 40, &mut random);
                let before = states(&batch);
                let mut single = DeviceWorlds::<f32>::new(&device, &batch).unwrap();
                let mut double = DeviceWorlds::<f64>::new(&device, &batch).unwrap();
                single.step(1).unwrap();
                double.step(1).unwrap();
                let (found, right) = (device_states(&single), device_states(&double));
                let mut off = vec![0.0_f64; right.len()];
                for _ in 0..32 {
                    let moved =
                        stepped(&system, &perturbed(&system.0.model, &before, rounding, &mut random), 1);
                    for (off, (moved, right)) in off.iter_mut().zip(moved.iter().zip(&right)) {
                        *off = off.max(largest_difference(moved, right));
                    }
                }
                let mut worst = 0.0_f64;
                for (world, (found, right)) in found.iter().zip(&right).enumerate() {
                    let (difference, bound) = (largest_difference(found, right), off[world]);
                    let place = format!("setting {setting}, scene {scene}, world {world}");
                    assert!(difference <= bound, "{place}: {difference:e}, bound {bound:e}");
                    worst = worst.max(difference / bound);
                }
                // The bound tells steps apart, but in worlds where something is at an edge.
                let moved = before.iter().zip(&right).map(|(a, b)| largest_difference(a, b));
                let told = moved.zip(&off).filter(|(moved, off)| *moved > 100.0 * **off).count();
                println!("setting {setting}, scene {scene}: at most {worst:.2} of the bound; {told} told");
                assert!(told > 30);
            }
        }
    }
}

fn steps_on<T: WorldsNumber>(device: &Device, batch: &WorldBatch, steps: usize) -> Vec<State> {
    let mut worlds = DeviceWorlds::<T>::new(device, batch).unwrap();
    worlds.step(steps).unwrap();
    device_states(&worlds)
}

// Sums have one order: the same bits in every run, whatever order blocks and threads have, and
// whatever worlds stand beside.
#[test]
fn worlds_do_not_depend_on_the_schedule_or_neighbours() {
    let seed = 23;
    println!("seed {seed}");
    let system = everything(ComFreeSettings::published(0.1, 0.005));
    // Two blocks of threads for each tree, pair and degree of freedom.
    let batch = batch_of(&system, 150, &mut Random::new(seed));
    let mut first = None;
    for device in devices() {
        for _ in 0..2 {
            let found = (steps_on::<f32>(&device, &batch, 6), steps_on::<f64>(&device, &batch, 6));
            assert!(!device.is_emulated() || first.get_or_insert_with(|| found.clone()) == &found);
        }
        let all = steps_on::<f32>(&device, &batch, 6);
        for world in [0, 31, 128, 149] {
            let mut alone = WorldBatch::new(&system.0, &system.1, 1, DT).unwrap();
            alone.set_state(0, &batch.state(world).unwrap()).unwrap();
            assert_eq!(steps_on::<f32>(&device, &alone, 6)[0], all[world], "world {world}");
        }
    }
}

fn diverge<T: WorldsNumber>(device: &Device) {
    let (system, scene) = everything(ComFreeSettings::published(0.1, 0.005));
    let state = crowded(&system.model, &mut Random::new(3));
    let mut batch = WorldBatch::new(&system, &scene, 9, DT).unwrap();
    batch.set_states(&state).unwrap();
    let [mut spoiled, mut sound] = [(); 2].map(|()| DeviceWorlds::<T>::new(device, &batch).unwrap());
    spoiled.step(3).unwrap();
    sound.step(3).unwrap();
    let last = spoiled.state(4).unwrap();
    spoiled.set_target(4, 2, 1e300).unwrap();
    spoiled.step(5).unwrap();
    sound.step(5).unwrap();
    for world in 0..9 {
        if world == 4 {
            assert_eq!(spoiled.status(world).unwrap(), Status::Stopped { time: 3.0 * DT });
            assert_eq!(spoiled.state(world).unwrap(), last);
        } else {
            assert_eq!(spoiled.status(world).unwrap(), Status::Running);
            assert_eq!(spoiled.state(world).unwrap(), sound.state(world).unwrap(), "world {world}");
        }
    }
    spoiled.set_target(4, 2, 0.2).unwrap();
    spoiled.set_state(4, &state).unwrap();
    spoiled.step(8).unwrap();
    assert_eq!(spoiled.state(4).unwrap(), sound.state(0).unwrap());
}

// A world that diverges stops at its last finite state and says when; the others go on as if it
// were not there, and it runs again from a new state.
#[test]
fn a_world_that_diverges_stops_alone() {
    for device in devices() {
        diverge::<f64>(&device);
        diverge::<f32>(&device);
    }
}

// What stopped on the processor is stopped on the device, at the same time.
#[test]
fn a_stopped_world_stays_stopped() {
    let system = everything(ComFreeSettings::published(0.1, 0.005));
    for device in devices() {
        let mut batch = batch_of(&system, 3, &mut Random::new(3));
        batch.step(2);
        batch.set_target(1, 2, 1e300).unwrap();
        batch.step(2);
        let mut worlds = DeviceWorlds::<f64>::new(&device, &batch).unwrap();
        worlds.step(3).unwrap();
        batch.step(3);
        assert_eq!(worlds.status(1).unwrap(), Status::Stopped { time: 2.0 * DT });
        for world in 0..3 {
            let (found, right) = (worlds.state(world).unwrap(), batch.state(world).unwrap());
            assert!(largest_difference(&found, &right) <= ROUNDING * size(&right), "world {world}");
            // The device counts steps from the state that it began in.
            assert!((found.time - right.time).abs() < 1e-15, "world {world}");
        }
    }
}

// Each parameter that a world can have, in that world only: as on the processor, and not as without
// it.
#[test]
fn parameters_belong_to_one_world() {
    let seed = 8;
    println!("seed {seed}");
    let system = everything(ComFreeSettings::published(0.1, 0.005));
    let id = |name: &str| system.0.model.link(name).unwrap();
    let parameters = [
        (Parameter::Gravity(0), 3.0),
        (Parameter::Mass(id("wrist")), 2.5),
        (Parameter::Mass(id("cube")), 0.5),
        (Parameter::ShapeClass(1, 0), 0.07),
        (Parameter::ShapeClass(3, 1), 0.09),
        (Parameter::ShapeClass(4, 2), 0.08),
        (Parameter::ShapeClass(5, 0), 0.08),
        (Parameter::Friction(0), 0.2),
        // Both of a pair must have it.
        (Parameter::TorsionalFriction(1), 0.03),
        (Parameter::RollingFriction(4), 0.004),
        (Parameter::MotorStiffness(0), 90.0),
        (Parameter::MotorDamping(1), 50.0),
        (Parameter::MotorLimit(0), 0.05),
        (Parameter::MotorLimit(1), 0.01),
        (Parameter::MotorLimit(2), 0.02),
    ];
    for device in devices() {
        let worlds = parameters.len() + 1;
        let mut batch = batch_of(&system, worlds, &mut Random::new(seed));
        let plain = steps_on::<f64>(&device, &batch, 1);
        let mut on_device = DeviceWorlds::<f64>::new(&device, &batch).unwrap();
        for (world, (parameter, value)) in parameters.into_iter().enumerate() {
            on_device.set_parameter(world, parameter, value).unwrap();
            batch.set_parameter(world, parameter, value).unwrap();
        }
        // A batch with parameters brings them along.
        let brought = steps_on::<f64>(&device, &batch, 1);
        on_device.step(1).unwrap();
        batch.step(1);
        let (found, right) = (device_states(&on_device), states(&batch));
        assert_eq!(found, brought);
        for world in 0..worlds {
            let bound = ROUNDING * size(&right[world]);
            assert!(largest_difference(&found[world], &right[world]) <= bound, "world {world}");
            let changed = largest_difference(&found[world], &plain[world]) > 1e3 * bound;
            assert_eq!(changed, world < parameters.len(), "world {world}: {:?}", parameters.get(world));
        }
    }
}

// Targets of many steps in one piece are those of each step set one by one, and the last ones stay.
#[test]
fn rollouts_follow_their_targets() {
    let seed = 12;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let system = everything(ComFreeSettings { gains: GENTLE, ..ComFreeSettings::published(1.0, 1.0) });
    let (worlds, motors, steps) = (5, 3, 7);
    let mut batch = batch_of(&system, worlds, &mut random);
    let targets: Vec<f64> = (0..steps * motors * worlds).map(|_| random.signed()).collect();
    let devices = devices();
    let mut rolled: Vec<_> =
        devices.iter().map(|device| DeviceWorlds::<f64>::new(device, &batch).unwrap()).collect();
    let mut right = Vec::new();
    // Targets that do not change follow those that do, then one is changed again.
    for step in 0..steps + 2 {
        let row = step.min(steps - 1) * motors * worlds;
        for world in 0..worlds {
            for motor in 0..motors {
                batch.set_target(world, motor, targets[row + motor * worlds + world]).unwrap();
            }
        }
        batch.step(1);
        right.push(states(&batch));
    }
    batch.set_target(2, 1, 0.9).unwrap();
    batch.step(1);
    for worlds in &mut rolled {
        worlds.rollout(&targets, steps).unwrap();
        let compare = |worlds: &DeviceWorlds<f64>, right: &[State], steps: usize| {
            for (world, right) in right.iter().enumerate() {
                let found = worlds.state(world).unwrap();
                let bound = steps as f64 * ROUNDING * size(right);
                let difference = largest_difference(&found, right);
                assert!(difference <= bound, "world {world}, {steps} steps: {difference:e}");
            }
        };
        compare(worlds, &right[steps - 1], steps);
        worlds.step(2).unwrap();
        compare(worlds, &right[steps + 1], steps + 2);
        worlds.set_target(2, 1, 0.9).unwrap();
        worlds.step(1).unwrap();
        compare(worlds, &states(&batch), steps + 3);
        // All numbers at once are the same numbers.
        let (all, one) = (worlds.states().unwrap(), worlds.state(3).unwrap());
        assert!(numbers(&one).enumerate().all(|(row, x)| all[row * worlds.worlds() + 3] == x));
        // And from the beginning again.
        let begin = right[0].clone();
        worlds.set_states(&begin).unwrap();
        assert_eq!(device_states(worlds), begin);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let system = everything(ComFreeSettings::published(0.1, 0.005));
    let batch = batch_of(&system, 4, &mut Random::new(1));
    for device in device_kinds() {
        let mut worlds = DeviceWorlds::<f32>::new(&device, &batch).unwrap();
        let state = batch.state(0).unwrap();
        let mut spoiled = state.clone();
        spoiled.q[0] = f64::NAN;
        let text = |result: Result<(), WorldsError>| result.unwrap_err().to_string();
        for (result, expected) in [
            (worlds.set_state(4, &state), "world is 4"),
            (worlds.set_state(1, &spoiled), "state of world 1: number is NaN"),
            (
                worlds.set_states(std::slice::from_ref(&state)),
                "1 states given; 4 are needed, one for each world",
            ),
            (worlds.set_target(0, 3, 0.0), "motor is 3"),
            (worlds.set_target(0, 1, f64::NAN), "motor 1: target is NaN"),
            (worlds.set_parameter(5, Parameter::Friction(0), 0.1), "world is 5"),
            (worlds.set_parameter(0, Parameter::Friction(0), -0.1), "Friction(0): value is -0.1"),
            (worlds.rollout(&[0.0; 11], 1), "11 targets given; 1 steps x 3 motors x 4 worlds are needed"),
            (worlds.rollout(&[f64::INFINITY; 12], 1), "number 0 of them not finite"),
        ] {
            let text = text(result);
            assert!(text.contains(expected), "{text}");
        }
        assert!(matches!(worlds.status(4), Err(WorldsError::Batch(BatchError::Value { .. }))));
        assert!(worlds.state(4).is_err());
    }
}

// What is told to be needed is what is taken, to the byte, and what does not fit is refused before
// any of it is taken.
#[test]
fn memory_is_told_before_it_is_taken() {
    for device in devices().into_iter().filter(Device::is_emulated) {
        for system in systems(ComFreeSettings::default()) {
            let batch = batch_of(&system, 33, &mut Random::new(1));
            let free = || device.memory().unwrap().free;
            let before = free();
            let worlds = DeviceWorlds::<f32>::with_room(&device, &batch, 4).unwrap();
            assert_eq!(before - free(), DeviceWorlds::<f32>::bytes_needed(&batch, 4));
            drop(worlds);
            let worlds = DeviceWorlds::<f64>::new(&device, &batch).unwrap();
            assert_eq!(before - free(), DeviceWorlds::<f64>::bytes_needed(&batch, 1));
            drop(worlds);
            assert_eq!(before, free());
        }
        let batch = batch_of(&everything(ComFreeSettings::default()), 2, &mut Random::new(1));
        let steps = 1 << 40;
        let needed = DeviceWorlds::<f64>::bytes_needed(&batch, steps);
        let error = DeviceWorlds::<f64>::with_room(&device, &batch, steps).unwrap_err();
        assert!(
            matches!(error, WorldsError::TooLarge { needed: n, worlds: 2, .. } if n == needed),
            "{error}"
        );
    }
}

// Semi-implicit fall by g dt^2 n (n + 1)/2 where there are no pairs and no motors.
#[test]
fn a_body_without_contacts_falls() {
    for device in devices() {
        let (system, scene) = ball();
        let batch = WorldBatch::new(&system, &scene, 3, DT).unwrap();
        let mut worlds = DeviceWorlds::<f64>::new(&device, &batch).unwrap();
        worlds.rollout(&[], 20).unwrap();
        for world in 0..3 {
            let fallen = 9.81 * 0.5 * DT * DT * 20.0 * 21.0;
            assert!((worlds.state(world).unwrap().q[6] + fallen).abs() < 1e-15);
        }
    }
}
