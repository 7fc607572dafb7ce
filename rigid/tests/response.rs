//! The response of bodies to impulses within a step: where everything is linear, exactly as a step
//! with those impulses would.

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_rigid::simulation::LinearResponse;
use pliant_rigid::*;
use pliant_testing::Random;

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
const DT: f64 = 0.01;

/// A free ball, and a damped slide on a damped slide.
fn bodies() -> (Bodies, Vec<BodyId>) {
    let mut builder = BodiesBuilder::new();
    let mut add = |name: &str, parent, joint, mass: f64, moment: f64| {
        let mass = MassProperties { mass, inertia: Matrix3::identity() * moment };
        let motion = Motion::Dynamic {
            parent,
            joint,
            mass,
            force: Vector3::new(0.3, -0.2, 0.1),
            torque: Vector3::zeros(),
            velocity: SpatialVelocity { angular: Vector3::zeros(), linear: Vector3::new(0.1, 0.2, 0.3) },
            gravity: true,
        };
        let pose = Isometry3::translation(0.1, 0.2, 0.3);
        let (geometries, appearance) = (Vec::new(), Vec::new());
        builder.add(BodyDesc { name: name.into(), pose, motion, geometries, appearance }).unwrap()
    };
    let slide = |axis, damping| Joint::prismatic(nalgebra::Unit::new_normalize(axis), damping);
    let ball = add("ball", None, Joint::free(), 2.0, 0.02);
    let cart = add("cart", None, slide(Vector3::new(1.0, 0.0, 1.0), 30.0), 0.5, 1.0);
    let tool = add("tool", Some(cart), slide(Vector3::new(0.0, 1.0, 1.0), 5.0), 0.2, 1.0);
    let bodies = builder.build(GRAVITY, DT, &RigidSettings::default()).unwrap();
    (bodies, vec![ball, cart, tool])
}

/// Velocities of the bodies, angular parts first.
fn velocities(bodies: &Bodies, ids: &[BodyId]) -> Vec<f64> {
    ids.iter()
        .flat_map(|&id| {
            let v = bodies.velocity(id);
            [v.angular, v.linear].map(|x| x.as_slice().to_vec()).concat()
        })
        .collect()
}

fn random_impulses(random: &mut Random) -> Vec<SpatialImpulse> {
    (0..3).map(|_| SpatialImpulse { angular: random.vector() * 0.01, linear: random.vector() }).collect()
}

/// Free bodies and damped slides are linear: the end of a step with impulses p is the start plus
/// change plus W (p - p_0), whatever p_0 the response was linearised about; W is symmetric. To
/// rounding of the solver's tolerance, 1e-8 of velocities of about 1 m/s.
#[test]
fn the_answer_is_what_the_step_does() {
    let seed = 5;
    let mut random = Random::new(seed);
    for case in 0..20 {
        let (mut bodies, ids) = bodies();
        let (expected, impulses) = (random_impulses(&mut random), random_impulses(&mut random));
        bodies.prepare(DT);
        let before = velocities(&bodies, &ids);
        let (state, mut response) = (bodies.state().clone(), LinearResponse::default());
        bodies.linearise_response(DT, &ids, &expected, &mut Vec::new(), &mut response).unwrap();
        assert_eq!(bodies.state(), &state, "the state does not change");
        bodies.integrate(DT, &impulses).unwrap();
        let after = velocities(&bodies, &ids);
        let flat = |p: &[SpatialImpulse]| -> Vec<f64> {
            p.iter().flat_map(|p| [p.angular, p.linear].map(|x| x.as_slice().to_vec()).concat()).collect()
        };
        let (p, p_0, n) = (flat(&impulses), flat(&expected), 18);
        for i in 0..n {
            let answer: f64 = (0..n).map(|j| response.mobility[i * n + j] * (p[j] - p_0[j])).sum();
            let error = (before[i] + response.change[i] + answer - after[i]).abs();
            assert!(error < 1e-7, "seed {seed} case {case} component {i}: {error:e}");
            for j in 0..n {
                let skew = response.mobility[i * n + j] - response.mobility[j * n + i];
                assert!(skew.abs() < 1e-12, "seed {seed} case {case}: W is not symmetric by {skew:e}");
            }
        }
    }
}

/// A free ball of 2 kg responds with 1/m and 1/I, and falls with g.
#[test]
fn a_free_body_answers_with_its_inverse_inertia() {
    let (mut bodies, ids) = bodies();
    bodies.prepare(DT);
    let mut response = LinearResponse::default();
    let nothing = vec![SpatialImpulse::zero(); 3];
    bodies.linearise_response(DT, &ids[..1], &nothing, &mut Vec::new(), &mut response).unwrap();
    for i in 0..6 {
        for j in 0..6 {
            let expected = if i != j {
                0.0
            } else if i < 3 {
                1.0 / 0.02
            } else {
                0.5
            };
            assert!((response.mobility[6 * i + j] - expected).abs() < 1e-12 * 50.0);
        }
    }
    let force = Vector3::new(0.3, -0.2, 0.1) / 2.0 + GRAVITY;
    for a in 0..3 {
        assert!((response.change[3 + a] - force[a] * DT).abs() < 1e-9);
    }
}
