//! Worlds side by side on the device against [`WorldBatch`] on the processor: equations 2 to 13 of ComFree (math.md 7) in the same order of operations.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../../rigid/tests/common/mod.rs"]
mod common;
mod support;

use common::Random;
use common::comfree::{body, down, geometry};
use common::worlds::{GENTLE, crowded, everything, random_pose};
use nalgebra::Vector3;
use pliant_cuda::worlds::{DeviceWorlds, WorldsError, WorldsNumber};
use pliant_cuda::{Device, DeviceError};
use pliant_rigid::Shape;
use pliant_rigid::batch::{BatchError, Parameter, Status, WorldBatch};
use pliant_rigid::collision::{ContactMaterial, Scene};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::{LinkId, ModelBuilder, State};
use pliant_rigid::simulation::System;
use support::{devices, emulated};

const DT: f64 = 2e-3;
/// What one step's rounding may come to, as part of the largest speed: some hundred operations deep, and the same on the processor
/// (`rigid/tests/batch.rs`).
const ROUNDING: f64 = 1e-10;

/// Four boxes of all proportions over a floor.
fn boxes(settings: ComFreeSettings) -> (System, Scene) {
    let halves = [[0.05, 0.05, 0.05], [0.08, 0.03, 0.02], [0.02, 0.07, 0.05], [0.04, 0.005, 0.06]];
    let mut builder = ModelBuilder::new(down());
    let material = ContactMaterial::with_friction(0.6);
    let mut geometries = vec![geometry("floor", None, Shape::HalfSpace, material)];
    for (i, half) in halves.into_iter().enumerate() {
        let (name, shape) = (format!("box {i}"), Shape::Box { half_extents: Vector3::from(half) });
        let link = builder.add(body(&name, &shape)).unwrap();
        geometries.push(geometry(&name, Some(link), shape, material));
    }
    let mut system = System::new(builder.build().unwrap());
    system.solver = RigidSolver::ComFree(settings);
    let scene = Scene::new(geometries, &system.model, &[]).unwrap();
    (system, scene)
}

/// A batch whose worlds are in random states where much overlaps, and the states.
fn batch_of((system, scene): &(System, Scene), worlds: usize, random: &mut Random) -> WorldBatch {
    let mut batch = WorldBatch::new(system, scene, worlds, DT).unwrap();
    for world in 0..worlds {
        batch.set_state(world, &crowded(&system.model, random)).unwrap();
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
    numbers(a).zip(numbers(b)).fold(0.0, |most, (a, b)| if (a - b).abs() <= most { most } else { (a - b).abs() })
}

/// The largest speed, at least 1.
fn size(state: &State) -> f64 {
    state.v.iter().fold(1.0, |most, v| v.abs().max(most))
}

/// Each number of all states off by as much, one way or the other.
fn perturbed(states: &[State], by: f64, random: &mut Random) -> Vec<State> {
    let mut states = states.to_vec();
    for state in &mut states {
        for x in state.q.iter_mut().chain(&mut state.v) {
            *x += by * random.signed().signum();
        }
    }
    states
}

/// States after some steps on the processor.
fn stepped((system, scene): &(System, Scene), from: &[State], steps: usize) -> Vec<State> {
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

// In f64 a step on the device is one on the processor to rounding; so are twenty, where each adds as much rounding and that grows as a difference of the
// same size at the beginning does.
#[test]
fn worlds_are_those_of_the_processor() {
    let seed = 31;
    println!("seed {seed}");
    for device in devices() {
        let mut random = Random::new(seed);
        for (setting, settings) in settings().into_iter().enumerate() {
            for (scene, system) in [everything(settings), boxes(settings)].into_iter().enumerate() {
                let mut batch = batch_of(&system, 21, &mut random);
                let before = states(&batch);
                let mut worlds = DeviceWorlds::<f64>::new(&device, &batch).unwrap();
                let mut same = 0;
                for steps in [1, 19] {
                    batch.step(steps);
                    worlds.step(steps).unwrap();
                    let (right, found) = (states(&batch), device_states(&worlds));
                    let off = stepped(&system, &perturbed(&before, ROUNDING, &mut random), 20);
                    for (world, (right, found)) in right.iter().zip(&found).enumerate() {
                        let grown = if steps == 1 { 0.0 } else { 20.0 * largest_difference(&off[world], right) };
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
