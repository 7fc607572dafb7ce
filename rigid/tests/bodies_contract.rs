//! What bodies promise besides their motion: runs resume bit for bit, invalid input is refused,
//! speeds and overlaps are reported.

use std::f64::consts::PI;

use crate::bodies_common::*;
use nalgebra::{Isometry3, Vector3};
use pliant_rigid::*;
use pliant_testing::Random;

/// A run that is saved, restored into fresh bodies and continued has the same bits as one that was
/// not.
#[test]
fn restored_run_continues_bit_for_bit() {
    let build = || {
        let spin = twist([0.1, 0.2, 0.3], [0.1, 0.0, 0.0]);
        let handle = Trajectory::Velocities(vec![VelocityKey { time: 0.05, velocity: spin }]);
        let (mut builder, ..) = roller_on_handle(handle, 4e-4);
        let motion = dynamic(
            None,
            Joint::free(),
            mass(1.0, [0.1, 0.2, 0.25]),
            twist([1.0, 5.0, 0.1], [1.0, 0.0, 0.0]),
        );
        builder.add(desc("free", at(0.0, 0.0, 2.0), motion)).unwrap();
        built(builder)
    };
    let run = |bodies: &mut Bodies, from: u64, to: u64| {
        for k in from..to {
            let mut random = Random::new(k);
            bodies.prepare(1e-3);
            let mut push =
                || SpatialImpulse { angular: random.vector() * 1e-4, linear: random.vector() * 1e-3 };
            let impulses = [push(), push(), push()];
            bodies.integrate(1e-3, &impulses).unwrap();
        }
    };
    let mut whole = build();
    run(&mut whole, 0, 200);
    let mut first = build();
    run(&mut first, 0, 77);
    let saved = first.save();
    let mut second = build();
    second.restore(&saved).unwrap();
    assert_eq!(second.save(), saved);
    run(&mut second, 77, 200);
    // Every f64 prints so that it reads back exactly: equal text is equal bits.
    assert_eq!(format!("{:?}", second.save()), format!("{:?}", whole.save()));
}

#[test]
fn bad_descriptions_are_refused() {
    let mut builder = BodiesBuilder::new();
    let table = builder.add(desc("table", Isometry3::identity(), Motion::Fixed)).unwrap();
    let ok = mass(1.0, [1.0; 3]);
    let free = dynamic(None, Joint::free(), ok, SpatialVelocity::zero());
    let ball = builder.add(desc("ball", Isometry3::identity(), free.clone())).unwrap();
    let (count, id) = (builder.len(), Isometry3::identity());
    let mut refused = |desc: BodyDesc| builder.add(desc).unwrap_err();

    assert!(matches!(refused(desc("ball", id, Motion::Fixed)), RigidError::DuplicateName { .. }));
    assert!(matches!(
        refused(desc("x", at(f64::NAN, 0.0, 0.0), Motion::Fixed)),
        RigidError::Invalid { field: "pose", .. }
    ));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let motion = dynamic(None, Joint::free(), mass(bad, [1.0; 3]), SpatialVelocity::zero());
        assert!(matches!(refused(desc("x", id, motion)), RigidError::Value { field: "mass", .. }));
    }
    for moments in [[1.0, 1.0, 2.1], [1.0, -1.0, 1.0], [0.0, 1.0, 1.0], [f64::NAN, 1.0, 1.0]] {
        let motion = dynamic(None, Joint::free(), mass(1.0, moments), SpatialVelocity::zero());
        assert!(matches!(refused(desc("x", id, motion)), RigidError::Inertia { .. }), "{moments:?}");
    }
    let mut skew = ok;
    skew.inertia[(0, 1)] = 0.1;
    let motion = dynamic(None, Joint::free(), skew, SpatialVelocity::zero());
    assert!(matches!(
        refused(desc("x", id, motion)),
        RigidError::Inertia { reason: "it is not symmetric", .. }
    ));

    let axis = Vector3::z_axis();
    for damping in [-1e-9, f64::NAN] {
        for joint in [Joint::revolute(axis, damping), Joint::prismatic(axis, damping)] {
            let motion = dynamic(None, joint, ok, SpatialVelocity::zero());
            assert!(matches!(
                refused(desc("x", id, motion)),
                RigidError::Value { field: "joint damping", .. }
            ));
        }
    }
    let hinge = Joint::revolute(axis, 0.0);
    for (parent, joint) in [(BodyId(99), hinge), (table, Joint::free())] {
        let motion = dynamic(Some(parent), joint, ok, SpatialVelocity::zero());
        assert!(matches!(refused(desc("x", id, motion)), RigidError::Parent { .. }), "{parent:?}");
    }
    let spin = twist([f64::NAN, 0.0, 0.0], [0.0; 3]);
    let motion = dynamic(None, Joint::free(), ok, spin);
    assert!(matches!(refused(desc("x", id, motion)), RigidError::Invalid { field: "angular velocity", .. }));

    let geometry = |radius, friction| BodyDesc {
        geometries: vec![Geometry::new(Shape::Sphere { radius }, friction)],
        ..desc("x", id, Motion::Fixed)
    };
    assert!(matches!(refused(geometry(0.0, 0.5)), RigidError::Geometry { geometry: 0, .. }));
    assert!(matches!(refused(geometry(1.0, -0.5)), RigidError::Value { field: "dynamic_friction", .. }));

    let pose_key = |time, angle| PoseKey { time, pose: Isometry3::rotation(Vector3::z() * angle) };
    let follow = |keys| desc("x", id, Motion::Prescribed(Trajectory::Poses(keys)));
    let key = |error| match error {
        RigidError::Trajectory { key, .. } => key,
        other => panic!("{other}"),
    };
    assert_eq!(key(refused(follow(vec![]))), 0);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(1.0, 0.1), pose_key(1.0, 0.2)]))), 2);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(f64::NAN, 0.1)]))), 1);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(1.0, PI)]))), 1);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(1.0, f64::NAN)]))), 1);
    // The trajectory does not start where the body is.
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.5)]))), 0);
    let early = VelocityKey { time: -0.1, velocity: SpatialVelocity::zero() };
    let motion = Motion::Prescribed(Trajectory::Velocities(vec![early]));
    assert_eq!(key(refused(desc("x", id, motion))), 0);

    assert_eq!(builder.len(), count);
    assert_eq!(builder.find("ball"), Some(ball));
    assert_eq!(builder.find("x"), None);
    step(&mut built(builder), 0.1);
}

/// A step that fails leaves the bodies as they were.
#[test]
fn bad_steps_are_refused_and_change_nothing() {
    let mut builder = BodiesBuilder::new();
    let free = dynamic(None, Joint::free(), mass(1.0, [1.0; 3]), SpatialVelocity::zero());
    builder.add(desc("a", Isometry3::identity(), free.clone())).unwrap();
    builder.add(desc("b", Isometry3::identity(), free)).unwrap();
    let mut bodies = built(builder);
    let none = [SpatialImpulse::zero(); 2];
    let before = bodies.save();
    assert!(matches!(bodies.integrate(0.1, &none), Err(RigidError::StepNotPrepared { .. })));
    for dt in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        bodies.prepare(dt);
        assert!(bodies.integrate(dt, &none).is_err());
    }
    bodies.prepare(0.1);
    assert!(matches!(bodies.integrate(0.2, &none), Err(RigidError::StepNotPrepared { .. })));
    assert!(matches!(bodies.integrate(0.1, &none[..1]), Err(RigidError::Count { .. })));
    let blown = SpatialImpulse { linear: Vector3::new(f64::NAN, 0.0, 0.0), angular: Vector3::zeros() };
    assert!(matches!(bodies.integrate(0.1, &[none[0], blown]), Err(RigidError::Simulation(_))));
    assert_eq!(bodies.save(), before);
    bodies.prepare(0.1);
    bodies.integrate(0.1, &none).unwrap();
    let mut shorter = before.clone();
    shorter.state.q.pop();
    assert!(bodies.restore(&shorter).is_err());
    let mut broken = before;
    broken.state.q[4] = f64::NAN;
    assert!(bodies.restore(&broken).is_err());
}

// Checks: a point of a body moves with v + w x r. The tips of a bar that turns about its middle are
// its fastest points: w L/2, here of a bar of 0.5 m at 100 to 200 rad/s whose middle is at rest;
// seen from a frame that moves along x, at most that and the frame's speed. The bound is by the
// ball around the bar, so it may be above by the bar's slenderness.
#[test]
fn the_fastest_surface_is_that_of_the_tips() {
    let half = Vector3::new(0.25, 0.005, 0.005);
    for spin in [100.0, 150.0, 200.0] {
        let turning = twist([0.0, 0.0, spin], [0.0; 3]);
        let key = VelocityKey { time: 0.0, velocity: turning };
        let path = Motion::Prescribed(Trajectory::Velocities(vec![key]));
        let free = dynamic(None, Joint::free(), mass(1.0, [1.0; 3]), turning);
        for motion in [path, free] {
            let mut builder = BodiesBuilder::new();
            let geometries = vec![Geometry::new(Shape::Box { half_extents: half }, 0.5)];
            builder.add(BodyDesc { geometries, ..desc("bar", Isometry3::identity(), motion) }).unwrap();
            let bodies = built(builder);
            for frame in [0.0, 5.0] {
                let fastest = bodies.fastest_surface(0.0, 1e-3, &Vector3::new(frame, 0.0, 0.0));
                let tips = spin * 0.25;
                // The ball is 4e-4 wider than the bar is long.
                assert!(fastest >= tips + frame, "{fastest} m/s, the tips {tips}, the frame {frame}");
                assert!(fastest <= 1.001 * (tips + frame), "{fastest} m/s, the tips {tips}");
            }
        }
    }
}

/// The penetration of a box into its support is reported in half thicknesses of the thinner: `m
/// g/k` of each of its four contacts over its half height, on a half-space and on a thicker box, at
/// rest.
#[test]
fn how_deep_bodies_are_in_each_other_is_told() {
    let mut random = Random::new(31);
    for on_box in [false, true] {
        for draw in 0..10 {
            let half = 0.01 * (2.0 + random.signed());
            let part = 0.75 * (1.0 + random.signed()) + 0.05;
            let weight = 9.81;
            // Two surfaces in series, four corners.
            let stiffness = 2.0 * weight / (4.0 * part * half);
            let geometry = |shape: Shape| {
                let mut geometry = Geometry::new(shape, 0.5);
                geometry.material.stiffness = stiffness;
                vec![geometry]
            };
            let mut builder = BodiesBuilder::new();
            let thick = Shape::Box { half_extents: Vector3::new(1.0, 1.0, 0.5) };
            let (floor, low) = if on_box { (thick, -0.5) } else { (Shape::HalfSpace, 0.0) };
            let floor =
                BodyDesc { geometries: geometry(floor), ..desc("floor", at(0.0, 0.0, low), Motion::Fixed) };
            builder.add(floor).unwrap();
            let slab = Shape::Box { half_extents: Vector3::new(0.2, 0.2, half) };
            let moments = [4.0 / 300.0; 3];
            let motion = dynamic(None, Joint::free(), mass(1.0, moments), SpatialVelocity::zero());
            let pose = at(0.0, 0.0, half - part * half);
            builder.add(BodyDesc { geometries: geometry(slab), ..desc("slab", pose, motion) }).unwrap();
            let mut bodies = built(builder);
            bodies.prepare(1e-3);
            let told = bodies.integrate(1e-3, &[SpatialImpulse::zero(); 2]).unwrap().solver.max_overlap_ratio;
            assert!(
                (told - part).abs() < 1e-9,
                "draw {draw}, on a box {on_box}: {told}, not {part} of {half} m"
            );
        }
    }
}

/// Newton's third law: two free bodies in an oblique collision, with friction and spin, keep
/// momentum and angular momentum to rounding, at fixed steps.
#[test]
fn bodies_that_meet_keep_their_angular_momentum() {
    let mut random = Random::new(600);
    for draw in 0..20 {
        let mut builder = BodiesBuilder::new();
        let mut add = |name: &str, z: f64, speed: f64| {
            let radius = 0.1 * (1.0 + 0.5 * random.signed());
            let kilograms = 2.0 + random.signed();
            let moments = [0.4 * kilograms * radius * radius; 3];
            let velocity = SpatialVelocity {
                angular: random.vector() * 10.0,
                linear: Vector3::new(0.1, 0.2, 1.0) * speed,
            };
            let motion = dynamic(None, Joint::free(), mass(kilograms, moments), velocity);
            let pose = at(0.05 * random.signed(), 0.05 * random.signed(), z);
            let geometries = vec![Geometry::new(Shape::Sphere { radius }, 0.8)];
            builder.add(BodyDesc { geometries, ..desc(name, pose, motion) }).unwrap();
        };
        add("low", 0.0, 1.0);
        add("high", 0.35, -1.0);
        let mut bodies = builder.build(Vector3::zeros(), 1e3, &RigidSettings::default()).unwrap();
        let (before, dt) = (bodies.momentum(), 2e-3 + 1e-3 * f64::from(draw % 5));
        let mut met = false;
        for _ in 0..100 {
            bodies.prepare(dt);
            let done = bodies.integrate(dt, &[SpatialImpulse::zero(); 2]).unwrap();
            met |= done.solver.contacts > 0;
        }
        let after = bodies.momentum();
        let off = (after.linear - before.linear).norm().max((after.angular - before.angular).norm());
        println!("draw {draw}: met {met}, off by {off:e}");
        assert!(met && off < 1e-9, "draw {draw}: met {met}, {off:e}");
    }
}
