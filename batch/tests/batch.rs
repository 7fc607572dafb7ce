//! Batches of worlds against single simulations of the same systems, and what a batch adds.

#![allow(clippy::unwrap_used)] // everything here runs in tests

use nalgebra::{Isometry3, Vector3};
use pliant_batch::*;
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionModel, ContactMaterial};
use pliant_rigid::comfree::*;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::comfree::*;
use pliant_testing::worlds::*;

const STICTION: f64 = 1e-4;

// Equations 2 to 13: a world of a batch is the single simulation with the published form, in other
// order of operations. Bodies that are not floating or turn about a principal axis (cube and ball),
// so that the free flights are the same too.
#[test]
fn a_world_is_the_simulation_of_the_same_system() {
    let seed = 11;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let dt = 2e-3;
    for settings in [
        ComFreeSettings::published(0.1, 0.005),
        ComFreeSettings { facets: 12, ..ComFreeSettings::published(0.5, 0.001) },
        ComFreeSettings { gains: GENTLE, ..ComFreeSettings::published(1.0, 1.0) },
    ] {
        let (system, scene) = everything(settings);
        let worlds = 21;
        let mut batch = WorldBatch::new(&system, &scene, worlds, dt).unwrap();
        let mut contacts = 0;
        for world in 0..worlds {
            let state = crowded(&system.model, &mut random);
            batch.set_state(world, &state).unwrap();
        }
        for steps in [1, 4] {
            let before: Vec<State> = (0..worlds).map(|world| batch.state(world).unwrap()).collect();
            batch.step(steps);
            for (world, state) in before.into_iter().enumerate() {
                let (system, scene) = everything(settings);
                let source = ClosedFormContactSource::new(scene, STICTION).unwrap();
                let integrator = Integrator::Fixed { step: dt };
                let mut single = Simulation::new(system, source, integrator, state.clone()).unwrap();
                for k in 1..=steps {
                    single.advance_to(state.time + k as f64 * dt).unwrap();
                }
                contacts += single.contact_forces().count();
                let (a, b) = (batch.state(world).unwrap(), single.state());
                // Rounding, some hundred operations deep, on numbers up to the speeds that deep
                // overlap gives.
                let size = b.v.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
                for (kind, a, b) in [("q", &a.q, &b.q), ("v", &a.v, &b.v)] {
                    for (i, (a, b)) in a.iter().zip(b).enumerate() {
                        let bound = 1e-10 * size;
                        assert!(
                            (a - b).abs() < bound,
                            "world {world}, {kind}[{i}]: {a} against {b} ({size:e})"
                        );
                    }
                }
            }
        }
        println!("{contacts} contacts");
        assert!(contacts > 200);
    }
}

// Worlds see nothing of each other: the same bits whatever the number of threads, and whatever
// stands beside.
#[test]
fn worlds_do_not_depend_on_threads_or_neighbours() {
    let (system, scene) = everything(ComFreeSettings::published(0.1, 0.005));
    let seed = 23;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let states: Vec<State> = (0..45).map(|_| crowded(&system.model, &mut random)).collect();
    let run = |threads: usize, states: &[State]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut batch = WorldBatch::new(&system, &scene, states.len(), 2e-3).unwrap();
            for (world, state) in states.iter().enumerate() {
                batch.set_state(world, state).unwrap();
            }
            batch.step(20);
            (0..states.len()).map(|world| batch.state(world).unwrap()).collect::<Vec<_>>()
        })
    };
    let (one, three) = (run(1, &states), run(3, &states));
    assert_eq!(one, three);
    for world in [0, 7, 8, 30, 44] {
        assert_eq!(run(1, &states[world..=world])[0], one[world], "world {world}");
    }
}

// A world that diverges stops at its last finite state and reports the time; the others continue as
// if it were not there, and it runs again from a new state.
#[test]
fn a_world_that_diverges_stops_alone() {
    let (system, scene) = everything(ComFreeSettings::published(0.1, 0.005));
    let dt = 2e-3;
    let mut random = Random::new(3);
    let state = crowded(&system.model, &mut random);
    let mut batches = [9, 9].map(|worlds| WorldBatch::new(&system, &scene, worlds, dt).unwrap());
    for batch in &mut batches {
        batch.set_states(&state).unwrap();
        batch.step(3);
    }
    let [spoiled, sound] = &mut batches;
    let last = spoiled.state(4).unwrap();
    spoiled.set_target(4, 2, 1e300).unwrap();
    [&mut *spoiled, &mut *sound].into_iter().for_each(|batch| batch.step(5));
    for world in 0..9 {
        if world == 4 {
            assert_eq!(spoiled.status(world).unwrap(), Status::Stopped { time: 3.0 * dt });
            assert_eq!(spoiled.state(world).unwrap(), last);
        } else {
            assert_eq!(spoiled.status(world).unwrap(), Status::Running);
            assert_eq!(spoiled.state(world).unwrap(), sound.state(world).unwrap(), "world {world}");
        }
    }
    spoiled.set_target(4, 2, 0.2).unwrap();
    spoiled.set_state(4, &state).unwrap();
    spoiled.step(8);
    assert_eq!(spoiled.state(4).unwrap(), sound.state(0).unwrap());
}

/// A cube of 10 cm and 1 kg over the floor, with a rail beside it that a motor pushes along x.
fn cube_and_rail() -> (System, CollisionModel) {
    let side = Shape::Box { half_extents: Vector3::repeat(0.05) };
    let mut builder = ModelBuilder::new(down());
    let cube = builder.add(body("cube", &side)).unwrap();
    let mut rail =
        link("rail", None, JointKind::Prismatic { axis: Vector3::x_axis() }, Isometry3::identity(), 2.0);
    rail.gravity = false;
    rail.dofs = Vec::new();
    let rail = builder.add(rail).unwrap();
    let mut system = System::new(builder.build().unwrap());
    system.solver = RigidSolver::ComFree(ComFreeSettings::published(0.5, 0.005));
    let control = Control::Position { target: 1.0, target_rate: 0.0, stiffness: 1e4, damping: 10.0 };
    system.actuators =
        vec![Actuator { link: rail, dof: 0, control, effort_limit: 3.0, gravity_compensation: false }];
    let material = ContactMaterial::with_friction(0.3);
    let geometries = vec![
        geometry("floor", None, Shape::HalfSpace, material),
        geometry("cube", Some(cube), side, material),
    ];
    let scene = CollisionModel::new(geometries, &system.model, &[]).unwrap();
    (system, scene)
}

// Closed forms: fall by g dt^2 n (n + 1)/2, a motor at its limit against twice the mass, a pushed
// cube that friction of its world slows, a larger one that rests higher.
#[test]
fn parameters_belong_to_one_world() {
    let (system, scene) = cube_and_rail();
    let (dt, steps) = (1e-3, 400);
    let mut batch = WorldBatch::new(&system, &scene, 6, dt).unwrap();
    let mut state = system.model.zero_configuration();
    state.q[6] = 5.0;
    batch.set_states(&state).unwrap();
    let rail = system.model.link("rail").unwrap();
    batch.set_parameter(1, Parameter::Gravity(2), -1.62).unwrap();
    batch.set_parameter(2, Parameter::Mass(rail), 2.5).unwrap();
    batch.set_parameter(3, Parameter::MotorLimit(0), 1.5).unwrap();
    batch.step(steps);
    let n = steps as f64;
    for (world, g, acceleration) in [(0, G, 1.5), (1, 1.62, 1.5), (2, G, 0.6), (3, G, 0.75)] {
        let state = batch.state(world).unwrap();
        let fallen = 0.5 * g * dt * dt * n * (n + 1.0);
        assert!((5.0 - state.q[6] - fallen).abs() < 1e-12, "world {world}: {}", state.q[6]);
        assert!((state.v[6] - acceleration * n * dt).abs() < 1e-12, "world {world}: {}", state.v[6]);
    }
    // On the floor.
    state.q[6] = 0.05;
    batch.set_states(&state).unwrap();
    let cube = 1;
    batch.set_parameter(4, Parameter::Friction(cube), 0.9).unwrap();
    for axis in 0..3 {
        batch.set_parameter(5, Parameter::ShapeClass(cube, axis), 0.06).unwrap();
    }
    batch.set_parameter(1, Parameter::Gravity(2), -G).unwrap();
    batch.step(1500);
    // At rest each of sixteen facets pushes m g/16 = K depth + (K dt + D) g dt, because the smooth
    // velocity is that of one step's fall. K and D of equations 11 to 13 with the trace of a
    // corner, 3/m + 2 r^2/I. The points are midway in the overlap, less than 1 % of the lever off.
    let curve = ImpedanceCurve::MUJOCO;
    for (world, half) in [(0, 0.05), (5, 0.06)] {
        let depth = half - batch.state(world).unwrap().q[6];
        let trace = 3.0 + 2.0 * 3.0 * half * half / (0.1 * 0.1 / 6.0);
        let mass = curve.ratio(depth) / trace;
        let (k, d) = (0.5 / dt * mass, 0.005 / dt * mass);
        let expected = (G / 16.0 - (k * dt + d) * G * dt) / k;
        assert!((depth / expected - 1.0).abs() < 0.02, "world {world}: {depth}, expected {expected}");
    }
    let mut speeds = Vec::new();
    for world in [0, 4] {
        let mut state = batch.state(world).unwrap();
        state.v[3] = 2.0;
        batch.set_state(world, &state).unwrap();
    }
    batch.step(200);
    for (world, mu) in [(0, 0.3), (4, 0.45)] {
        let v = batch.state(world).unwrap().v[3];
        // Four published facets pull with at most mu times the normal force, and with less where
        // some are not active; the cube does not tip at these.
        let least = 2.0 - mu * G * 0.2;
        assert!(v > least - 1e-3 && v < 2.0 - 0.5 * mu * G * 0.2, "world {world}: {v}, at least {least}");
        speeds.push(v);
    }
    assert!(speeds[1] < speeds[0] - 0.1, "{speeds:?}");
}

// What is observed is the state before each step, poses included, and targets that are set act in
// the step that follows.
#[test]
fn rollouts_observe_and_control() {
    let (system, scene) = cube_and_rail();
    let dt = 1e-3;
    let rail = system.model.link("rail").unwrap();
    let mut batch = WorldBatch::new(&system, &scene, 11, dt).unwrap();
    let mut state = system.model.zero_configuration();
    state.q[6] = 5.0;
    batch.set_states(&state).unwrap();
    let mut own: Vec<(usize, Vec<f64>)> = (0..11).map(|world| (world, Vec::new())).collect();
    batch
        .rollout(&mut own, 10, |(index, substep_states), world, step| {
            assert!((world.time() - step as f64 * dt).abs() < 1e-15);
            let origin = world.origin(rail);
            assert!((origin.x - world.position(7)).abs() < 1e-15 && origin.y == 0.0);
            assert_eq!(world.pose(rail).translation.vector, origin);
            substep_states.push(world.velocity(6));
            world.set_target(0, if *index % 2 == 0 { 1.0 } else { -1.0 });
        })
        .unwrap();
    for (index, substep_states) in &own {
        let sign = if index % 2 == 0 { 1.0 } else { -1.0 };
        for (step, v) in substep_states.iter().enumerate() {
            assert!((v - sign * 1.5 * step as f64 * dt).abs() < 1e-14, "{index}: {substep_states:?}");
        }
        assert_eq!(substep_states.len(), 11);
    }
    assert!(batch.rollout(&mut own[..3], 1, |_, _, _| {}).unwrap_err().to_string().contains("items is 3"));
}

#[test]
fn what_does_not_fit_is_named() {
    let (system, scene) = cube_and_rail();
    let mut batch = WorldBatch::new(&system, &scene, 2, 1e-3).unwrap();
    let message = |result: Result<(), BatchError>| result.unwrap_err().to_string();
    let state = system.model.zero_configuration();
    let spoiled = |at: usize, x: f64| {
        let mut state = state.clone();
        state.q[at] = x;
        state
    };
    let rail = system.model.link("rail").unwrap();
    for (result, expected) in [
        (batch.set_state(2, &state), "world is 2"),
        (batch.set_state(1, &spoiled(6, f64::NAN)), "state of world 1: number is NaN"),
        (batch.set_state(1, &spoiled(0, 0.9)), "norm of a quaternion is 0.9"),
        (batch.set_target(0, 1, 0.0), "motor is 1"),
        (batch.set_target(0, 0, f64::INFINITY), "motor 0: target is inf"),
        (batch.set_parameter(0, Parameter::Mass(rail), 0.0), "finite and positive"),
        (batch.set_parameter(0, Parameter::Friction(1), -0.1), "Friction(1): value is -0.1"),
        (batch.set_parameter(0, Parameter::ShapeClass(0, 0), 0.1), "a size that the shape has"),
        (batch.set_parameter(0, Parameter::Friction(9), 0.1), "geometry is 9"),
    ] {
        let text = message(result);
        assert!(text.contains(expected), "{text}");
    }
    let refused = |change: &dyn Fn(&mut System)| {
        let (mut system, scene) = cube_and_rail();
        change(&mut system);
        WorldBatch::new(&system, &scene, 2, 1e-3).unwrap_err().to_string()
    };
    assert!(refused(&|s| s.solver = RigidSolver::Icf).contains("convex solver"));
    assert!(refused(&|s| s.actuators[0].gravity_compensation = true).contains("actuator 0"));
    assert!(
        refused(&|s| s.solver = RigidSolver::ComFree(ComFreeSettings { facets: 0, ..Default::default() }))
            .contains("facets")
    );
    assert!(WorldBatch::new(&system, &scene, 0, 1e-3).unwrap_err().to_string().contains("worlds is 0"));
    assert!(WorldBatch::new(&system, &scene, 1, 0.0).unwrap_err().to_string().contains("step is 0 s"));
    let cylinder = geometry(
        "can",
        Some(rail),
        Shape::Cylinder { radius: 0.1, half_length: 0.1 },
        ContactMaterial::with_friction(0.3),
    );
    let mut geometries = scene.geometries().to_vec();
    geometries.push(cylinder);
    let scene = CollisionModel::new(geometries, &system.model, &[]).unwrap();
    let text = WorldBatch::new(&system, &scene, 1, 1e-3).unwrap_err().to_string();
    assert!(text.contains("cylinder") && text.contains("'can'"), "{text}");
}
