//! Quasi-dynamic steps that have closed forms, and what is refused.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod quasi_support;

use nalgebra::{Isometry3, Vector3};
use pliant_planning::quasi::*;
use pliant_rigid::Shape;
use pliant_rigid::comfree::many_facets;
use pliant_rigid::multibody::{JointKind, Model};
use pliant_testing::Random;
use quasi_support::{Bench, place};

const G: f64 = 9.81;
const H: f64 = 0.02;
const MASS: f64 = 0.8;

fn cube() -> Shape {
    Shape::Box { half_extents: Vector3::repeat(0.05) }
}

/// Gain K of a facet for which `points` contacts together give the fraction `part` of the impulse
/// that would stop the mass at contact.
fn stiffness(part: f64, points: f64, epsilon: f64) -> f64 {
    part * epsilon * MASS / (H * H) / (4.0 * points)
}

/// Steps without control until `steps` are done.
fn settle(dynamics: &mut QuasiDynamics, q: &mut Vec<f64>, control: &[f64], steps: usize) {
    let mut next = q.clone();
    for _ in 0..steps {
        dynamics.step(q, control, &mut next).unwrap();
        core::mem::swap(q, &mut next);
    }
}

fn at(model: &Model, name: &str, x: f64, y: f64, z: f64) -> Vec<f64> {
    let mut q = model.zero_configuration().q;
    place(model, &mut q, name, &Isometry3::translation(x, y, z));
    q
}

/// Without contact `Q y = b`: a body falls by g h^2/epsilon, whatever its mass, and a joint moves
/// by its control.
#[test]
fn without_contact_everything_moves_by_what_acts_on_it() {
    let mut bench = Bench::new(Vector3::new(0.0, 0.0, -G), 0.5);
    bench.object("cube", cube(), MASS, Vector3::new(0.01, 0.02, 0.0));
    bench.pusher(Shape::Sphere { radius: 0.03 });
    let settings = QuasiSettings { regularisation: 2.5, ..QuasiSettings::new(H, vec![500.0; 3], 100.0) };
    let (model, mut dynamics) = bench.dynamics(&settings);
    let mut q = at(&model, "cube", 1.0, 0.0, 1.0);
    settle(&mut dynamics, &mut q, &[0.001, -0.002, 0.003], 1);
    let fallen = 1.0 - G * H * H / 2.5;
    // Its centre of mass is not its origin, and yet it does not turn.
    for (found, expected) in q.iter().zip([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, fallen, 0.001, -0.002, 0.003]) {
        assert!((found - expected).abs() < 4.0 * f64::EPSILON, "{q:?}");
    }
}

/// A weightless knob welded to a cube makes it a body whose weight acts beside the centre of its
/// mass: `Q y = b` with the mass matrix about the cube's origin of both together, the knob's by the
/// parallel axis theorem.
#[test]
fn what_is_welded_on_is_part_of_the_body() {
    let offset = Vector3::new(0.0, 0.03, 0.08);
    let mut bench = Bench::new(Vector3::new(0.0, 0.0, -G), 0.5);
    let object = bench.object("cube", cube(), MASS, Vector3::zeros());
    bench.weightless_knob(object, Isometry3::from(offset));
    let (model, mut dynamics) = bench.dynamics(&QuasiSettings::new(H, vec![], 100.0));
    let mut q = model.zero_configuration().q;
    settle(&mut dynamics, &mut q, &[], 1);
    let y = nalgebra::Vector6::from_column_slice(dynamics.displacement());
    let (turn, shift) = (y.fixed_rows::<3>(0).into_owned(), y.fixed_rows::<3>(3).into_owned());
    // Momenta of both, of mass 0.1 kg and 1e-4 kg m^2 the knob's, per h^2.
    let of_knob = (shift + turn.cross(&offset)) * 0.1;
    let linear = shift * MASS + of_knob;
    let angular = turn * (MASS * 2.0 / 3.0 * 0.05 * 0.05 + 1e-4) + offset.cross(&of_knob);
    assert!((linear / (H * H) + Vector3::z() * MASS * G).norm() < 1e-12 * MASS * G, "{linear}");
    assert!((angular / (H * H)).norm() < 1e-13 && turn.norm() > 1e-4, "{angular} {turn}");
}

/// A cube at rest on its corners is as deep as their forces, equation 25, carry its weight: 16 (K
/// depth + (K + D/h) g h^2/epsilon) = m g.
#[test]
fn a_body_sinks_to_the_predicted_depth() {
    for epsilon in [1.0, 2.0] {
        for part in [0.1, 0.5, 1.0, 1.3] {
            for damped in [0.0, 0.4] {
                let k = stiffness(part, 4.0, epsilon);
                let d = damped * k * H;
                let mut settings = QuasiSettings::new(H, vec![], k);
                (settings.regularisation, settings.damping) = (epsilon, d);
                let mut bench = Bench::with_floor(Vector3::new(0.0, 0.0, -G), 0.5);
                bench.object("cube", cube(), MASS, Vector3::zeros());
                let (model, mut dynamics) = bench.dynamics(&settings);
                let mut q = at(&model, "cube", 0.3, 0.2, 0.05);
                // What is left of the way falls by 1 - part in a step: below 1e-15 of it after 330
                // steps at 0.1.
                settle(&mut dynamics, &mut q, &[], 400);
                let depth = (MASS * G / 16.0 - (k + d / H) * G * H * H / epsilon) / k;
                // Rounding of positions near 0.05 m, over the fraction that each step resolves.
                assert!(
                    (0.05 - q[6] - depth).abs() < 1e-16 / part,
                    "{part} {damped}: {} {depth}",
                    0.05 - q[6]
                );
                // The pair's order has the cube first.
                let weight: Vector3<f64> = dynamics.contacts().iter().map(|c| -c.force).sum();
                assert!((weight - Vector3::z() * MASS * G).norm() < 1e-12 * MASS * G, "{weight}");
            }
        }
    }
}

/// A ball that is pushed moves as the pusher does: with F = w epsilon m/h^2 for the way w of a
/// step, which the drive gives up F/K_r for, w = u/(1 + epsilon m/(h^2 K_r)); and it is as deep as
/// 4 K (depth + u) = F, where nothing else acts.
#[test]
fn a_pushed_body_moves_with_the_pusher() {
    let (u, drive) = (1e-3, 2e4);
    for part in [0.2, 1.0] {
        let k = stiffness(part, 1.0, 1.0);
        let settings = QuasiSettings::new(H, vec![drive; 3], k);
        let mut bench = Bench::new(Vector3::zeros(), 0.0);
        bench.object("ball", Shape::Sphere { radius: 0.05 }, MASS, Vector3::zeros());
        bench.pusher(Shape::Sphere { radius: 0.03 });
        let (model, mut dynamics) = bench.dynamics(&settings);
        let mut q = at(&model, "ball", 0.085, 0.0, 0.0);
        settle(&mut dynamics, &mut q, &[u, 0.0, 0.0], 300);
        let heavy = MASS / (H * H);
        let way = u / (1.0 + heavy / drive);
        let depth = 0.08 - (q[4] - q[7]);
        assert!((depth - (way * heavy / (4.0 * k) - u)).abs() < 1e-13, "{part}: {depth}");
        let moved = dynamics.displacement();
        assert!((moved[3] - way).abs() < 1e-15 && (moved[6] - way).abs() < 1e-15, "{part}: {moved:?} {way}");
    }
}

/// One contact of a ball that weight drives along the floor, with its exact force.
fn slipping(facets: usize, gravity: Vector3<f64>, depth: f64, mu: f64) -> (Vector3<f64>, f64, Vector3<f64>) {
    let k = stiffness(0.7, 1.0, 1.0);
    let settings = QuasiSettings { facets, ..QuasiSettings::new(H, vec![], k) };
    let mut bench = Bench::with_floor(gravity, mu);
    bench.object("ball", Shape::Sphere { radius: 0.05 }, MASS, Vector3::zeros());
    let (model, mut dynamics) = bench.dynamics(&settings);
    let mut q = at(&model, "ball", 0.0, 0.0, 0.05 - depth);
    settle(&mut dynamics, &mut q, &[], 1);
    let contact = dynamics.contacts()[0];
    // The pair's order has the ball first.
    (-contact.force, k, gravity * (H * H))
}

/// Friction opposes the way that a body would take without contact, stays in the cone, is 2 mu^2 K
/// times that way while every facet pushes, for any number of facets, and tends to the integral
/// over all directions with the square of their number.
#[test]
fn friction_opposes_sliding_within_the_cone() {
    let seed = 51;
    let mut random = Random::new(seed);
    let (mut partly, mut wholly) = (0, 0);
    for _ in 0..500 {
        let mu = 0.1 + 0.4 * (random.signed() + 1.0);
        let slope = random.vector() * 12.0;
        let gravity = Vector3::new(slope.x, slope.y, -G);
        let depth = 0.004 * random.signed();
        let mut errors = [0.0; 3];
        for (n, facets) in [4, 6, 32, 64, 128].into_iter().enumerate() {
            let (force, k, motion) = slipping(facets, gravity, depth, mu);
            let at = format!("seed {seed}, mu {mu}, {gravity:?}, {depth}, {facets} facets: {force:?}");
            let (across, way) = (force.xy(), motion.xy());
            assert!(across.norm() <= mu * force.z * (1.0 + 1e-14), "{at}");
            assert!(across.dot(&way) <= 0.0, "{at}");
            let violation = k * (depth - motion.z);
            if violation > k * mu * way.norm() {
                wholly += 1;
                let expected = way * (-2.0 * mu * mu * k);
                assert!((across - expected).norm() < 1e-12 * violation, "{at}");
                assert!((force.z - 4.0 * violation).abs() < 1e-12 * violation, "{at}");
            } else if violation > -k * mu * way.norm() {
                partly += 1;
                let slope = [k * mu * way.x, k * mu * way.y];
                let limit = many_facets(violation, &slope, mu);
                let limit = Vector3::new(limit.tangential[0], limit.tangential[1], limit.normal);
                if n >= 2 {
                    errors[n - 2] = (force - limit).norm() / (k * mu * way.norm());
                }
            }
        }
        // The trapezoidal rule over a kink: at most 4/12 of the square of the angle between facets,
        // times the slope there.
        for (error, facets) in errors.into_iter().zip([32.0, 64.0, 128.0]) {
            let angle: f64 = 2.0 * core::f64::consts::PI / facets;
            assert!(error <= angle * angle, "seed {seed}, mu {mu}, {gravity:?}, {depth}: {errors:?}");
        }
    }
    println!("all facets push in {wholly} cases, some in {partly}");
    assert!(wholly > 200 && partly > 200);
}

/// SoftPlus is above the exact law by ln 2/beta where a contact begins, so a ball that is just not
/// touched yet is lifted by `4 ln 2/beta h^2/(epsilon m)`; everywhere it is above by no more, and
/// by the factor exp(-beta |x|) less away from there.
#[test]
fn soft_contacts_become_exact_as_one_over_beta() {
    let k = stiffness(0.5, 1.0, 1.0);
    let fall = G * H * H;
    let step = |sharpness: Smoothing, height: f64| {
        let settings = QuasiSettings { sharpness, margin: 0.2, ..QuasiSettings::new(H, vec![], k) };
        let mut bench = Bench::with_floor(Vector3::new(0.0, 0.0, -G), 0.0);
        bench.object("ball", Shape::Sphere { radius: 0.05 }, MASS, Vector3::zeros());
        let (model, mut dynamics) = bench.dynamics(&settings);
        let mut q = at(&model, "ball", 0.0, 0.0, 0.05 + height);
        settle(&mut dynamics, &mut q, &[], 1);
        q[6]
    };
    for beta in [1.0, 2.0, 4.0, 8.0, 100.0] {
        let most = 4.0 * core::f64::consts::LN_2 / beta * H * H / MASS;
        let lift = |height: f64| step(Smoothing::SoftPlus { beta }, height) - step(Smoothing::Exact, height);
        assert!((lift(fall) - most).abs() < 1e-9 * most + 1e-16, "{beta}: {} {most}", lift(fall));
        for x in [0.1, 1.0, 5.0, 20.0] {
            for side in [-1.0, 1.0] {
                let away = lift(fall + side * x / k);
                let expected = most / core::f64::consts::LN_2 * (-beta * x).exp().ln_1p();
                assert!((away - expected).abs() < 1e-9 * most + 1e-16, "{beta} {x}: {away} {expected}");
            }
        }
    }
}

/// Unsupported joints, pairs and values are typed errors that identify them.
#[test]
fn what_has_no_closed_form_is_refused() {
    let message = |bench: Bench, settings: &QuasiSettings| {
        let (model, scene) = bench.build();
        QuasiDynamics::new(&model, &scene, settings).unwrap_err().to_string()
    };
    let settings = QuasiSettings::new(H, vec![], 100.0);
    let mut bench = Bench::with_floor(Vector3::z(), 0.5);
    bench.object("cylinder", Shape::Cylinder { radius: 0.1, half_length: 0.1 }, 1.0, Vector3::zeros());
    let told = message(bench, &settings);
    assert!(told.contains("'floor' (half-space) and 'cylinder' (cylinder)"), "{told}");

    let mut bench = Bench::new(Vector3::z(), 0.5);
    let (first, second) = (Vector3::x_axis(), Vector3::y_axis());
    bench.link("shoulder", None, JointKind::Universal { first, second }, Isometry3::identity());
    let told = message(bench, &settings);
    assert!(told.contains("'shoulder': a universal joint on the world"), "{told}");

    let mut bench = Bench::new(Vector3::z(), 0.5);
    let cube_link = bench.object("cube", cube(), 1.0, Vector3::zeros());
    bench.link(
        "lid",
        Some(cube_link),
        JointKind::Revolute { axis: Vector3::x_axis() },
        Isometry3::identity(),
    );
    let told = message(bench, &settings);
    assert!(told.contains("'lid': a revolute joint on a free body"), "{told}");

    let pushed = || {
        let mut bench = Bench::new(Vector3::z(), 0.5);
        bench.pusher(cube());
        bench
    };
    let good = QuasiSettings::new(H, vec![10.0; 3], 100.0);
    for (bad, named) in [
        (QuasiSettings { step: 0.0, ..good.clone() }, "step: 0 s"),
        (QuasiSettings { regularisation: -1.0, ..good.clone() }, "regularisation: -1"),
        (QuasiSettings { drives: vec![1.0; 2], ..good.clone() }, "drives: 2 numbers given; the model has 3"),
        (QuasiSettings { drives: vec![0.0; 3], ..good.clone() }, "drives: 0 N m/rad or N/m"),
        (QuasiSettings { stiffness: f64::NAN, ..good.clone() }, "stiffness: NaN N/m"),
        (QuasiSettings { damping: -0.1, ..good.clone() }, "damping: -0.1 N s/m"),
        (QuasiSettings { facets: 5, ..good.clone() }, "facets: 5"),
        (QuasiSettings { facets: 0, ..good.clone() }, "facets: 0"),
        (QuasiSettings { margin: f64::INFINITY, ..good.clone() }, "margin: inf m"),
        (QuasiSettings { sharpness: Smoothing::SoftPlus { beta: 0.0 }, ..good.clone() }, "beta: 0 1/N"),
    ] {
        let told = message(pushed(), &bad);
        assert!(told.contains(named), "{told}");
    }

    let (model, mut dynamics) = pushed().dynamics(&good);
    let (q, mut next) = (model.zero_configuration().q, model.zero_configuration().q);
    let told = dynamics.step(&q, &[0.0; 2], &mut next).unwrap_err().to_string();
    assert!(told.contains("control: 2 numbers given; the model has 3"), "{told}");
    let told = dynamics.step(&q, &[0.0, f64::NAN, 0.0], &mut next).unwrap_err().to_string();
    assert!(told.contains("control: NaN"), "{told}");
    let told = dynamics.step(&[0.0, f64::NAN, 0.0], &[0.0; 3], &mut next).unwrap_err().to_string();
    assert!(told.contains("number 1 is NaN"), "{told}");
    let told = dynamics.step(&q, &[f64::MAX, f64::MAX, 0.0], &mut next).unwrap_err();
    assert!(matches!(told, QuasiError::NotFinite { .. }), "{told}");
}
