//! Derivatives of the quasi-dynamic step against differences.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod quasi_support;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_planning::quasi::*;
use pliant_rigid::Shape;
use pliant_rigid::multibody::Model;
use pliant_testing::Random;
use quasi_support::{Bench, place, shaken};

const GRAVITY: Vector3<f64> = Vector3::new(0.7, -0.4, -9.81);

/// A scene, and how its states are drawn.
struct Case {
    name: &'static str,
    bench: fn() -> Bench,
    joints: usize,
    draw: fn(&Model, &mut Random) -> Vec<f64>,
}

fn drawn(model: &Model) -> Vec<f64> {
    model.zero_configuration().q
}

fn sphere() -> Bench {
    let mut bench = Bench::with_floor(GRAVITY, 0.6);
    bench.object("ball", Shape::Sphere { radius: 0.05 }, 0.5, Vector3::new(0.004, -0.003, 0.002));
    bench.pusher(Shape::Sphere { radius: 0.03 });
    bench
}

fn sphere_state(model: &Model, random: &mut Random) -> Vec<f64> {
    let mut q = drawn(model);
    let at = Vector3::new(random.signed(), random.signed(), 0.05 + 0.002 * random.signed());
    let turn = random.rotation();
    place(model, &mut q, "ball", &Isometry3::from_parts(Translation3::from(at), turn));
    let aside = Vector3::new(random.signed(), random.signed(), 0.3 * random.signed()).normalize();
    let pusher = at + aside * (0.08 + 0.003 * random.signed());
    q[7..10].copy_from_slice(pusher.as_slice());
    q
}

fn cube() -> Bench {
    let mut bench = Bench::with_floor(GRAVITY, 0.5);
    let cube = bench.object(
        "cube",
        Shape::Box { half_extents: Vector3::repeat(0.05) },
        1.0,
        Vector3::new(0.01, 0.0, 0.005),
    );
    // Something welded to it, above the floor. Without weight there, the way that the cube falls
    // depends on how it lies.
    let frame = Isometry3::translation(0.0, 0.03, 0.08);
    bench.weightless_knob(cube, frame);
    bench
}

fn cube_state(model: &Model, random: &mut Random) -> Vec<f64> {
    let mut q = drawn(model);
    let yaw = UnitQuaternion::from_scaled_axis(Vector3::z() * (3.0 * random.signed()));
    let shake = shaken(random, 0.02, 0.002);
    let at = Vector3::new(0.2, 0.1, 0.05) + shake.translation.vector;
    place(model, &mut q, "cube", &Isometry3::from_parts(Translation3::from(at), shake.rotation * yaw));
    q
}

fn finger() -> Bench {
    let mut bench = Bench::with_floor(GRAVITY, 0.5);
    bench.object("box", Shape::Box { half_extents: Vector3::new(0.04, 0.05, 0.06) }, 0.4, Vector3::zeros());
    bench.finger("finger", None, Isometry3::translation(-0.2, 0.0, 0.05), 3);
    bench
}

/// The box touches the capsule in a random place of it.
fn finger_state(model: &Model, random: &mut Random) -> Vec<f64> {
    let mut state = model.zero_configuration();
    for q in &mut state.q[7..10] {
        *q = 0.4 + 0.3 * random.signed();
    }
    let mut kinematics = pliant_rigid::multibody::Kinematics::new(model);
    kinematics.update(model, &state);
    let tip = kinematics.pose(model.link("finger tip").unwrap());
    let touched = tip * nalgebra::Point3::new(0.0, 0.0, 0.04 + 0.05 * random.signed());
    let shake = shaken(random, 0.4, 0.003);
    let at = touched.coords + Vector3::new(0.06, 0.02 * random.signed(), 0.01 * random.signed());
    place(
        model,
        &mut state.q,
        "box",
        &Isometry3::from_parts(Translation3::from(at + shake.translation.vector), shake.rotation),
    );
    state.q
}

/// Two fingers on one wrist around a ball, close enough to touch each other, too.
fn hand() -> Bench {
    let mut bench = Bench::new(GRAVITY, 0.8);
    bench.object("ball", Shape::Capsule { radius: 0.03, half_length: 0.02 }, 0.3, Vector3::zeros());
    let axis = Vector3::x_axis();
    let wrist = bench.link(
        "wrist",
        None,
        pliant_rigid::multibody::JointKind::Revolute { axis },
        Isometry3::translation(0.1, 0.0, 0.2),
    );
    let slide = pliant_rigid::multibody::JointKind::Prismatic { axis: Vector3::z_axis() };
    let palm = bench.link("palm", Some(wrist), slide, Isometry3::identity());
    bench.finger("left", Some(palm), Isometry3::translation(-0.02, 0.05, 0.0), 2);
    bench.finger("right", Some(palm), Isometry3::translation(0.025, 0.05, 0.0), 2);
    bench
}

fn hand_state(model: &Model, random: &mut Random) -> Vec<f64> {
    let mut state = model.zero_configuration();
    for q in &mut state.q[7..13] {
        *q = 0.1 * random.signed();
    }
    let mut kinematics = pliant_rigid::multibody::Kinematics::new(model);
    kinematics.update(model, &state);
    let tip = kinematics.pose(model.link("left tip").unwrap());
    let touched = tip * nalgebra::Point3::new(0.0, 0.05, 0.03);
    let shake = shaken(random, 1.0, 0.003);
    place(
        model,
        &mut state.q,
        "ball",
        &Isometry3::from_parts(Translation3::from(touched.coords + shake.translation.vector), shake.rotation),
    );
    state.q
}

const CASES: [Case; 4] = [
    Case { name: "ball and pusher", bench: sphere, joints: 3, draw: sphere_state },
    Case { name: "cube on four corners", bench: cube, joints: 0, draw: cube_state },
    Case { name: "finger and box", bench: finger, joints: 3, draw: finger_state },
    Case { name: "two fingers", bench: hand, joints: 6, draw: hand_state },
];

/// Both Jacobians of every case, smooth and exact, with steps from 10 to 100 ms, 4 and 6 facets,
/// increments and targets, damped and not, against central differences. Two of them, of steps d and
/// d/2, give one that is off by d^4 of fifth derivatives: contacts act across 1/(beta K) = 1 mm, so
/// with d = 2e-6 that is (2e-3)^4 of the slopes, 2e-11; and by rounding, 2e-16 of positions up to 1
/// m and displacements over d, some ten of them: 1e-8 of slopes of 1 and more is far from neither.
/// A change of features between shows as two that are not alike.
#[test]
fn derivatives_are_those_of_differences() {
    let (seed, d) = (41, 2e-6);
    let mut random = Random::new(seed);
    for case in &CASES {
        for (sharp, h) in [(false, 1e-2), (false, 3e-2), (false, 1e-1), (true, 1e-2), (true, 1e-1)] {
            let (mut compared, mut kinks, mut worst, mut active, mut largest) = (0, 0, 0.0_f64, 0, 0.0_f64);
            for draw in 0..40 {
                let stiffness = 0.3 / (16.0 * h * h);
                let mut settings = QuasiSettings::new(
                    h,
                    (0..case.joints).map(|j| (1.0 + 0.2 * j as f64) * stiffness).collect(),
                    stiffness,
                );
                settings.sharpness =
                    if sharp { Smoothing::Exact } else { Smoothing::SoftPlus { beta: 1e3 / stiffness } };
                settings.facets = 4 + 2 * (draw % 2);
                settings.control = if draw % 4 < 2 { ControlMode::Increments } else { ControlMode::Targets };
                settings.damping = if draw % 8 < 4 { 0.0 } else { 0.3 * stiffness * h };
                settings.regularisation = 1.3;
                settings.margin = 0.04;
                let (model, mut dynamics) = (case.bench)().dynamics(&settings);
                let q = (case.draw)(&model, &mut random);
                let mut u: Vec<f64> = (0..case.joints).map(|_| 4e-3 * random.signed()).collect();
                if settings.control == ControlMode::Targets {
                    for (k, u) in u.iter_mut().enumerate() {
                        *u += q[7 + k];
                    }
                }
                let mut next = q.clone();
                let mut out = Derivatives::new(&dynamics);
                dynamics.derivatives(&q, &u, &mut next, &mut out).unwrap();
                active +=
                    dynamics.contacts().iter().filter(|c| c.force.norm() > 0.02 * GRAVITY.norm()).count();
                let dofs = model.velocities();
                for column in 0..dofs + case.joints {
                    let mut at = |step: f64| {
                        let (mut moved, mut control) = (q.clone(), u.clone());
                        let mut tangent = vec![0.0; dofs];
                        if column < dofs {
                            tangent[column] = step;
                            model.advance(&mut moved, &tangent, 1.0);
                        } else {
                            control[column - dofs] += step;
                        }
                        let mut there = moved.clone();
                        dynamics.step(&moved, &control, &mut there).unwrap();
                        model.difference(&next, &there, &mut tangent);
                        tangent
                    };
                    let [a, b, c, e] = [d, -d, 0.5 * d, -0.5 * d].map(&mut at);
                    for row in 0..dofs {
                        let coarse = (a[row] - b[row]) / (2.0 * d);
                        let fine = (c[row] - e[row]) / d;
                        let given = if column < dofs {
                            out.state[(row, column)]
                        } else {
                            out.control[(row, column - dofs)]
                        };
                        largest = largest.max(given.abs());
                        if (fine - coarse).abs() > 1e-4 * (1.0 + given.abs()) {
                            kinks += 1;
                            continue;
                        }
                        let error = ((4.0 * fine - coarse) / 3.0 - given).abs() / (1.0 + given.abs());
                        worst = worst.max(error);
                        compared += 1;
                        assert!(
                            error < 1e-8,
                            "seed {seed}, {}, {settings:?}: {error:e} in row {row}, column {column}: {given} {fine} {coarse}\n{q:?} {u:?}",
                            case.name
                        );
                    }
                }
            }
            println!(
                "{} {}, h {h}: {compared} within {worst:e}, {kinks} across kinks, {active} contacts push, slopes up to {largest}",
                case.name,
                if sharp { "exact" } else { "smooth" }
            );
            assert!(active > 20, "{}: {active}", case.name);
            assert!(kinks * 50 < compared, "{}: {kinks} of {compared}", case.name);
        }
    }
}
