//! What of bodies is changed between steps, against closed forms.

use crate::bodies_common::*;
use nalgebra::{Isometry3, Translation3, Vector3};
use pliant_rigid::simulation::AdvanceSummary;
use pliant_rigid::*;
use pliant_testing::Random;

const DT: f64 = 1e-3;

fn advance(bodies: &mut Bodies) -> AdvanceSummary {
    bodies.prepare(DT);
    bodies.integrate(DT, &vec![SpatialImpulse::zero(); bodies.len()]).unwrap()
}

/// Newton's second law under loads and masses that change: dv = (F/m + g) dt, dL = T dt. Ten sums
/// of numbers of size 100 at most.
#[test]
fn a_free_body_obeys_its_present_load_and_mass() {
    let seed = 20_261_125;
    let mut random = Random::new(seed);
    let mut builder = BodiesBuilder::new();
    let start = twist([0.0; 3], [1.0, -2.0, 0.5]);
    let id =
        builder.add(desc("b", at(0.0, 0.0, 1.0), dynamic(None, Joint::free(), mass(2.0, [0.1; 3]), start)));
    let (id, mut bodies) = (id.unwrap(), built(builder));
    let (mut m, mut v, mut w) = (2.0, start.linear, Vector3::zeros());
    for round in 0..10 {
        let (force, torque) = (random.vector() * 10.0, random.vector() * 0.1);
        bodies.set_load(id, &force, &torque).unwrap();
        if round % 2 == 1 {
            let heavier = random.uniform(0.1, 20.0);
            bodies.set_mass(id, heavier).unwrap();
            m = heavier;
        }
        for _ in 0..10 {
            advance(&mut bodies);
            v += DT * (force / m + GRAVITY);
            w += DT * torque / (0.1 * m / 2.0);
        }
        let found = bodies.velocity(id);
        assert!((found.linear - v).norm() < 1e-12 * v.norm().max(1.0), "seed {seed}: {} {v}", found.linear);
        // A ball's inertia has no axes.
        assert!((found.angular - w).norm() < 1e-11 * w.norm().max(1.0), "seed {seed}: {} {w}", found.angular);
    }
}

/// A change of mass by dm changes the energy by dm (v^2/2 + g z); that is its work, counted once.
#[test]
fn the_work_of_another_mass_is_counted() {
    let mut builder = BodiesBuilder::new();
    let start = twist([0.0; 3], [3.0, 0.0, 0.0]);
    let motion = dynamic(None, Joint::free(), mass(2.0, [0.1; 3]), start);
    let id = builder.add(desc("b", at(0.0, 0.0, 1.5), motion)).unwrap();
    let mut bodies = built(builder);
    bodies.set_mass(id, 5.0).unwrap();
    let expected = 3.0 * (0.5 * 9.0 + 9.81 * 1.5);
    let work = advance(&mut bodies).energy.prescribed;
    assert!((work - expected).abs() < 1e-12 * expected, "{work} {expected}");
    assert_eq!(advance(&mut bodies).energy.prescribed, 0.0);
}

/// Coulomb on a slope of angle t: a = g (sin t - mu cos t), with the coefficient that the box has
/// now. The regularised law lacks (1e-4/v)^2/2 of friction, 5e-9 from 1 m/s on; the contact settles
/// within 1e-6.
#[test]
fn a_box_slides_with_its_present_friction() {
    let (seed, angle) = (7, 0.5_f64);
    let mut random = Random::new(seed);
    let gravity = 9.81 * Vector3::new(angle.sin(), 0.0, -angle.cos());
    let mut builder = BodiesBuilder::new();
    let floor = builder.add(BodyDesc::fixed("floor", Shape::HalfSpace).friction(0.1)).unwrap();
    let slab = Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.02) };
    let slab = BodyDesc::dynamic("slab", slab, 500.0).unwrap().friction(0.1);
    let id = builder.add(slab.at(Isometry3::translation(0.0, 0.0, 0.02))).unwrap();
    let mut bodies = builder.build(gravity, DT, &RigidSettings::default()).unwrap();
    for _ in 0..500 {
        advance(&mut bodies);
    }
    for _ in 0..5 {
        let friction = random.uniform(0.0, 0.5);
        bodies.set_friction(id, friction).unwrap();
        bodies.set_friction(floor, friction).unwrap();
        for _ in 0..200 {
            advance(&mut bodies);
        }
        let before = bodies.velocity(id).linear.x;
        for _ in 0..200 {
            advance(&mut bodies);
        }
        let found = (bodies.velocity(id).linear.x - before) / 0.2;
        let expected = 9.81 * (angle.sin() - friction * angle.cos());
        assert!((found - expected).abs() < 1e-6 * 9.81, "seed {seed}, {friction}: {found} {expected}");
    }
}

/// A body that is moved arrives at the pose after the time, with the velocity that leads there, and
/// rests then; the numbers are those of a path, exact to rounding.
#[test]
fn a_moved_body_arrives_and_rests() {
    let seed = 3;
    let mut random = Random::new(seed);
    let mut builder = BodiesBuilder::new();
    let tool = BodyDesc::moved("tool", Shape::Sphere { radius: 0.1 }).at(at(0.1, 0.2, 0.3));
    let tool = builder.add(tool).unwrap();
    let mut bodies = built(builder);
    for _ in 0..3 {
        advance(&mut bodies);
    }
    assert_eq!(bodies.pose(tool), at(0.1, 0.2, 0.3));
    for _ in 0..5 {
        let from = bodies.pose(tool);
        let to = Isometry3::from_parts(Translation3::from(random.vector()), random.rotation());
        bodies.move_body(tool, &to, 20.0 * DT).unwrap();
        let expected = SpatialVelocity::between(&from, &to, 20.0 * DT);
        for step in 0..20 {
            advance(&mut bodies);
            if step < 19 {
                let found = bodies.velocity(tool);
                let apart =
                    (found.linear - expected.linear).norm() + (found.angular - expected.angular).norm();
                assert!(apart < 1e-9, "seed {seed}: {apart}");
            }
        }
        let apart = to.inverse() * bodies.pose(tool);
        assert!(apart.translation.vector.norm() + apart.rotation.angle() < 1e-12, "seed {seed}: {apart}");
        advance(&mut bodies);
        assert_eq!(bodies.velocity(tool), SpatialVelocity::zero());
    }
}

/// Values out of range are refused by name and unit, and nothing changes.
#[test]
fn what_cannot_be_is_refused() {
    let mut builder = BodiesBuilder::new();
    let floor = builder.add(BodyDesc::fixed("floor", Shape::HalfSpace)).unwrap();
    let tool = builder.add(BodyDesc::moved("tool", Shape::Sphere { radius: 0.1 })).unwrap();
    let ball = builder.add(BodyDesc::dynamic("ball", Shape::Sphere { radius: 0.1 }, 500.0).unwrap()).unwrap();
    let mut bodies = built(builder);
    let before = bodies.save();
    let zero = Vector3::zeros();
    let bad = Vector3::new(0.0, f64::NAN, 0.0);
    let refused = [
        (bodies.set_friction(floor, -1.0), "body 'floor': friction is -1"),
        (bodies.set_friction(floor, f64::INFINITY), "finite"),
        (bodies.set_load(ball, &bad, &zero), "body 'ball': force is NaN N"),
        (bodies.set_load(ball, &zero, &bad), "torque is NaN N m"),
        (bodies.set_mass(ball, 0.0), "mass is 0 kg"),
        (bodies.set_mass(floor, 1.0), "body 'floor': mass is 1 kg"),
        (bodies.set_mass(tool, 1.0), "has a mass"),
        (bodies.move_body(floor, &Isometry3::identity(), 1.0), "body 'floor': pose"),
        (bodies.move_body(ball, &Isometry3::identity(), 1.0), "prescribed joint"),
        (bodies.move_body(tool, &Isometry3::identity(), 0.0), "finite and positive"),
        (bodies.move_body(tool, &Isometry3::translation(f64::NAN, 0.0, 0.0), 1.0), "finite"),
    ];
    for (result, part) in refused {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part), "{error} lacks {part}");
    }
    assert!(bodies.save() == before && bodies.surface_changes() == 0);
    assert_eq!(bodies.body(floor).geometries[0].material.dynamic_friction, BodyDesc::FRICTION);
}
