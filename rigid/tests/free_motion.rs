//! Jointed bodies that nothing touches keep their energy and momentum at the steps that scenes
//! take.

use nalgebra::{Isometry3, Matrix3, Unit, UnitQuaternion, Vector3};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use std::f64::consts::PI;

const G: f64 = 9.81;

fn simulate(model: Model, state: State, integrator: Integrator) -> Simulation<NoContacts> {
    Simulation::new(System::new(model), NoContacts, integrator, state).unwrap()
}

/// Uniform in the logarithm.
fn between(random: &mut Random, [low, high]: [f64; 2]) -> f64 {
    (low.ln() + (high / low).ln() * 0.5 * (1.0 + random.signed())).exp()
}

/// Kinetic and potential energy (J) and the angular momentum about the world's z axis (N m s).
fn balance(model: &Model, state: &State) -> [f64; 3] {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let turn = |(l, link): (usize, &Link)| {
        let pose = kinematics.pose(LinkId(l));
        let momentum = link.inertia.rotated(pose).momentum(kinematics.velocity(LinkId(l)));
        momentum.shifted(&-pose.translation.vector).angular.z
    };
    [
        kinetic_energy(model, &kinematics, state),
        potential_energy(model, &kinematics, state),
        model.links().iter().enumerate().map(turn).sum(),
    ]
}

fn integrators(random: &mut Random) -> [Integrator; 4] {
    let step = 1e-3 * (1.0 + 4.5 * (1.0 + random.signed()));
    [
        Integrator::Fixed { step },
        Integrator::Trapezoid { step, accuracy: None },
        Integrator::ErrorControlled { accuracy: 1e-4, max_step: 1e-2 },
        Integrator::Trapezoid { step: 1e-2, accuracy: Some(1e-4) },
    ]
}

/// A symmetric top on a ball joint at the origin in steady precession, and its rate of precession
/// (rad/s).
fn steady_top(random: &mut Random) -> (Model, State, f64, f64) {
    loop {
        let (mass, length) = (between(random, [0.01, 100.0]), between(random, [0.01, 1.0]));
        let spin = between(random, [10.0, 200.0]) * random.signed().signum();
        let axial = mass * length * length * between(random, [0.1, 2.0]);
        // Half of the axial one is the least that a body can have.
        let lateral = axial * (0.5 + between(random, [0.1, 2.0])) + mass * length * length;
        let tilt = 0.1 + (PI - 0.2) * 0.5 * (1.0 + random.signed());
        // I1 W^2 cos(t) - I3 w3 W + m g l = 0 (Goldstein, section 5.7); the slow root.
        let (a, b, c) = (lateral * tilt.cos(), axial * spin, mass * G * length);
        let root = b * b - 4.0 * a * c;
        if root < 0.1 * b * b {
            continue;
        }
        let rate = 2.0 * c / (b + b.signum() * root.sqrt());
        let moments = Vector3::new(lateral, lateral, axial);
        let inertia = RigidInertia {
            mass,
            moment: Vector3::z() * (mass * length),
            inertia: Matrix3::from_diagonal(&moments),
        };
        let mut builder = ModelBuilder::new(Vector3::z() * -G);
        let link = Link {
            name: "top".into(),
            parent: None,
            joint: JointKind::Ball,
            frame: Isometry3::identity(),
            inertia,
            gravity: true,
            dofs: Vec::new(),
        };
        builder.add(link).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), tilt);
        state.q.copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
        let axis = turn * Vector3::z();
        // Spin about the axis, and what of the precession is across it.
        let across = Vector3::z() - axis * axis.z;
        let w = axis * spin + across * rate;
        state.v.copy_from_slice(w.as_slice());
        return (model, state, rate, mass * G * length);
    }
}

// Steady precession in closed form (Goldstein, section 5.7), energy and vertical angular momentum.
// 10 to 200 rad/s at 1 to 10 ms for 10 s: the contact-free motion errs by 1e-9 a step, and an error
// of the tilt's rate grows linearly into the angle.
#[test]
fn tops_precess_steadily() {
    let seed = 4;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for draw in 0..10 {
        let (model, start, rate, weight) = steady_top(&mut random);
        let [kinetic, potential, momentum] = balance(&model, &start);
        for integrator in integrators(&mut random) {
            let mut top = simulate(model.clone(), start.clone(), integrator);
            top.advance_to(10.0).unwrap();
            let [k, p, m] = balance(&model, top.state());
            let scale = kinetic + weight;
            let energy = (k + p - kinetic - potential) / scale;
            let axis = |state: &State| {
                let q = nalgebra::Quaternion::new(state.q[0], state.q[1], state.q[2], state.q[3]);
                UnitQuaternion::from_quaternion(q) * Vector3::z()
            };
            let expected = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), rate * 10.0) * axis(&start);
            let off = (axis(top.state()) - expected).norm();
            let momentum =
                (m - momentum).abs() / (2.0 * kinetic / start.v[2].abs().max(1.0) + momentum.abs());
            println!("{draw} {integrator:?}: energy {energy:e}, axis {off:e}, momentum {momentum:e}");
            assert!(energy.abs() < 1e-4 && momentum < 1e-4 && off < 0.03, "draw {draw}, {integrator:?}");
        }
    }
}

/// A tree of 2 to 20 links on a ball joint at the origin, every kind of joint, 1 g to 100 kg, links
/// up to the given rate (rad/s).
fn tree(random: &mut Random, fastest: f64) -> (Model, State) {
    let mut builder = ModelBuilder::new(Vector3::z() * -G);
    let links = 2 + (random.bits() % 19) as usize;
    for l in 0..links {
        let axis = |random: &mut Random| Unit::new_normalize(random.vector());
        let joint = match random.bits() % 6 {
            _ if l == 0 => JointKind::Ball,
            0 => JointKind::Revolute { axis: axis(random) },
            1 => JointKind::Prismatic { axis: axis(random) },
            2 => {
                let first = axis(random);
                let second = Unit::new_normalize(first.cross(&random.vector()));
                JointKind::Universal { first, second }
            }
            3 => JointKind::Planar,
            4 => JointKind::Fixed,
            _ => JointKind::Ball,
        };
        let (mass, size) = (between(random, [1e-3, 100.0]), 0.1);
        let r = random.vector().map(|x| size * (0.3 + 0.2 * x));
        let moments =
            Vector3::new(r.y * r.y + r.z * r.z, r.z * r.z + r.x * r.x, r.x * r.x + r.y * r.y) * mass;
        let inertia = RigidInertia::at_center(mass, random.vector() * size, Matrix3::from_diagonal(&moments));
        let parent = (l > 0).then(|| LinkId((random.bits() % l as u64) as usize));
        let frame = Isometry3::from_parts(
            if l == 0 { Vector3::zeros().into() } else { (random.vector() * size).into() },
            random.rotation(),
        );
        builder
            .add(Link {
                name: format!("{l}"),
                parent,
                joint,
                frame,
                inertia,
                gravity: true,
                dofs: Vec::new(),
            })
            .unwrap();
    }
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    for l in 0..links {
        let joint = &model.links()[l].joint;
        let top = if matches!(joint, JointKind::Prismatic { .. }) { 1.0 } else { fastest };
        for n in model.velocities_of(LinkId(l)) {
            state.v[n] = top * random.signed();
        }
        if *joint == JointKind::Planar {
            let n = model.velocities_of(LinkId(l)).start;
            state.v[n] /= fastest;
            state.v[n + 1] /= fastest;
        }
    }
    (model, state)
}

// Energy, and the angular momentum about the vertical through the root, of random trees: chaotic
// ones, for which nothing else is known.
#[test]
fn trees_keep_energy_and_momentum() {
    let seed = 9;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for draw in 0..10 {
        let fastest = between(&mut random, [1.0, 200.0]);
        let (model, start) = tree(&mut random, fastest);
        let [kinetic, potential, momentum] = balance(&model, &start);
        for integrator in integrators(&mut random) {
            let mut simulation = simulate(model.clone(), start.clone(), integrator);
            simulation.advance_to(0.5).unwrap();
            let [k, p, m] = balance(&model, simulation.state());
            let energy = (k + p - kinetic - potential) / (kinetic + (p - potential).abs());
            let turned = (m - momentum).abs() / momentum.abs().max(kinetic / fastest);
            println!("{draw} {integrator:?}: energy {energy:e}, momentum {turned:e}");
            assert!(energy.abs() < 1e-4 && turned < 1e-4, "draw {draw}, {integrator:?}");
        }
    }
}

// The principle of equivalence: a tree that falls moves as without gravity, but for g t^2/2,
// whatever acts within it, at any step.
#[test]
fn falling_trees_do_not_feel_gravity() {
    let seed = 10;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for draw in 0..20 {
        let fastest = between(&mut random, [1.0, 20.0]);
        let (model, start) = tree(&mut random, fastest);
        let damping = between(&mut random, [1e-6, 1e-2]);
        let step = between(&mut random, [1e-3, 1e-2]);
        let steps = 40;
        let fallen = [Vector3::zeros(), Vector3::new(0.0, 0.0, -G)].map(|gravity| {
            let mut builder = ModelBuilder::new(gravity);
            for (l, link) in model.links().iter().enumerate() {
                let joint = if l == 0 { JointKind::Free } else { link.joint.clone() };
                let dof = Dof { damping, ..Dof::default() };
                let dofs = if l == 0 { Vec::new() } else { vec![dof; joint.velocities()] };
                // The root's velocities are along its frame's axes.
                let frame = if l == 0 { Isometry3::identity() } else { link.frame };
                builder.add(Link { joint, dofs, frame, ..link.clone() }).unwrap();
            }
            let model = builder.build().unwrap();
            let mut state = model.zero_configuration();
            // The root was a ball joint: its angular velocity comes first in both.
            state.v[..3].copy_from_slice(&start.v[..3]);
            state.v[6..].copy_from_slice(&start.v[3..]);
            let mut simulation = simulate(model, state, Integrator::Fixed { step });
            simulation.advance_to(f64::from(steps) * step).unwrap();
            simulation.state().clone()
        });
        let [floating, falling] = fallen;
        let time = falling.time;
        let mut expected = floating.clone();
        expected.q[6] -= 0.5 * G * time * time;
        expected.v[5] -= G * time;
        let off = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let (q, v) = (off(&falling.q, &expected.q), off(&falling.v, &expected.v) / fastest);
        println!("{draw}: {fastest} rad/s, damping {damping}, step {step}: {q:e}, {v:e}");
        // Both runs follow the motion to 1e-9 a step, and trees are chaotic.
        assert!(q < 1e-6 && v < 1e-6, "draw {draw}: positions {q:e}, velocities {v:e} off");
    }
}

/// A chain of rods of 0.1 kg and 0.1 m, released level: each turns about y.
fn chain(links: usize) -> (Model, State) {
    let mut builder = ModelBuilder::new(Vector3::z() * -G);
    for l in 0..links {
        let moments = Vector3::new(1e-6, 0.1 * 0.01 / 12.0, 0.1 * 0.01 / 12.0);
        let link = Link {
            name: format!("{l}"),
            parent: l.checked_sub(1).map(LinkId),
            joint: JointKind::Revolute { axis: Vector3::y_axis() },
            frame: Isometry3::translation(if l == 0 { 0.0 } else { 0.1 }, 0.0, 0.0),
            inertia: RigidInertia::at_center(0.1, Vector3::x() * 0.05, Matrix3::from_diagonal(&moments)),
            gravity: true,
            dofs: Vec::new(),
        };
        builder.add(link).unwrap();
    }
    let model = builder.build().unwrap();
    let state = model.zero_configuration();
    (model, state)
}

// Energy of a double pendulum and of a hanging chain of 20 links over 10 s by default, at the steps
// that scenes take: within 1 % of what gravity can give.
#[test]
fn chains_keep_their_energy() {
    for links in [2, 20] {
        let (model, start) = chain(links);
        let [_, potential, _] = balance(&model, &start);
        let depth = 0.1 * links as f64;
        let scale = 0.1 * links as f64 * G * 0.5 * depth;
        for step in [1e-3, 1e-2] {
            let mut simulation = simulate(model.clone(), start.clone(), Integrator::Fixed { step });
            let mut worst = 0.0_f64;
            for k in 1..=100 {
                simulation.advance_to(0.1 * f64::from(k)).unwrap();
                let [k, p, _] = balance(&model, simulation.state());
                worst = worst.max((k + p - potential).abs() / scale);
            }
            println!("{links} links, {step} s: {worst:e}");
            assert!(worst < 1e-3, "{links} links, {step} s: {worst}");
        }
    }
}

// What cannot be followed is refused, with the body and a step.
#[test]
fn a_body_too_fast_is_refused() {
    let (model, mut state, ..) = steady_top(&mut Random::new(1));
    state.v[2] = 1e12;
    let mut top = simulate(model, state, Integrator::Fixed { step: 1e-2 });
    match top.advance_to(1.0) {
        Err(SimulationError::TooFast { link, step, fits, .. }) => {
            assert!(link == "top" && step == 1e-2 && fits < 1e-2, "{link} {step} {fits}");
        }
        other => panic!("{other:?}"),
    }
}

/// Mean velocity (m/s) of a free body's mass, and its angular momentum about it (N m s).
fn free_motion(model: &Model, state: &State) -> (Vector3<f64>, Vector3<f64>) {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let (pose, inertia) = (kinematics.pose(LinkId(0)), model.links()[0].inertia);
    let momentum = inertia.rotated(pose).momentum(kinematics.velocity(LinkId(0)));
    let lever = pose.rotation * inertia.center();
    (momentum.linear / inertia.mass, momentum.shifted(&lever).angular)
}

// Free bodies keep their angular momentum (Euler) and fall with g (Galileo), at any step and any
// accuracy, loose ones too: a solver that stops at its tolerance once left them a part of it, up to
// all of it where they turn slowly for the accuracy. Rounding: a few units a step.
#[test]
fn free_bodies_keep_their_angular_momentum_at_any_accuracy() {
    let seed = 27;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for draw in 0..20 {
        let (mass, size) = (between(&mut random, [1e-6, 100.0]), between(&mut random, [1e-3, 1.0]));
        let moments = Vector3::new(1.0, 1.0 + 0.4 * random.signed(), 1.2 + 0.3 * random.signed());
        let (center, spin) =
            (random.vector() * (0.3 * size), random.vector() * between(&mut random, [0.1, 100.0]));
        let inertia =
            RigidInertia::at_center(mass, center, Matrix3::from_diagonal(&(moments * (mass * size * size))));
        let mut builder = ModelBuilder::new(Vector3::z() * -G);
        let link = Link {
            name: "body".into(),
            parent: None,
            joint: JointKind::Free,
            frame: Isometry3::identity(),
            inertia,
            gravity: true,
            dofs: Vec::new(),
        };
        builder.add(link).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        state.v[..3].copy_from_slice(spin.as_slice());
        let accuracy = between(&mut random, [1e-6, 1e-2]);
        let (velocity, momentum) = free_motion(&model, &state);
        for integrator in [
            Integrator::Fixed { step: 1e-3 },
            Integrator::Trapezoid { step: 1e-3, accuracy: None },
            Integrator::ErrorControlled { accuracy, max_step: 1e-2 },
            Integrator::Trapezoid { step: 1e-2, accuracy: Some(accuracy) },
        ] {
            let mut simulation = simulate(model.clone(), state.clone(), integrator);
            let mut steps = 0;
            for k in 1..=50 {
                steps += simulation.advance_to(0.002 * f64::from(k)).unwrap().steps;
            }
            let (end, turned) = free_motion(&model, simulation.state());
            let kept = (turned - momentum).norm() / momentum.norm();
            let fallen = (end - velocity + Vector3::z() * (G * 0.1)).norm() / (velocity.norm() + G * 0.1);
            println!("{draw} {integrator:?}: {steps} steps, {kept:e}, {fallen:e}");
            let rounding = 30.0 * (steps as f64) * f64::EPSILON;
            assert!(kept < rounding && fallen < rounding, "draw {draw}, {integrator:?}: {kept:e} {fallen:e}");
        }
    }
}
