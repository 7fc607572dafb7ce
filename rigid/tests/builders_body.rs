//! Bodies that are described in a line.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_numeric::random::SplitMix64;
use pliant_rigid::{
    BodiesBuilder, BodyDesc, ConvexHull, DynamicMotion, MassProperties, Motion, PoseKey, RigidError,
    RigidSettings, Shape, SpatialVelocity, Trajectory,
};

// Checks: the mass of a box is its density times 8 a b c, that of any tetrahedron
// |det(b - a, c - a, d - a)| / 6 times the density; the body's origin is the centre of mass, which
// for the tetrahedron is the mean of its corners. The law of Archimedes is exact, so the bound is
// rounding.
#[test]
fn a_dynamic_body_has_the_mass_of_its_shape() {
    const SEED: u64 = 183;
    let mut random = SplitMix64::new(SEED);
    for _ in 0..50 {
        let mut point = || Vector3::from_fn(|_, _| random.uniform_in(0.1, 1.0));
        let half = point();
        let [a, b, c, d] = [point(), point(), point(), point()];
        let volume = Matrix3::from_columns(&[b - a, c - a, d - a]).determinant().abs() / 6.0;
        if volume < 1e-4 {
            continue; // too flat for a hull
        }
        let corners = [a, b, c, d].map(Point3::from);
        let hull = Shape::ConvexHull(ConvexHull::new(&corners).unwrap());
        let cube = Shape::Box { half_extents: half };
        for (shape, expected, center) in
            [(cube, 8.0 * half.product(), Vector3::zeros()), (hull, volume, (a + b + c + d) / 4.0)]
        {
            let body = BodyDesc::dynamic("body", shape, 700.0).unwrap();
            let Motion::Dynamic { mass, gravity, .. } = &body.motion else { unreachable!() };
            assert!((mass.mass / (700.0 * expected) - 1.0).abs() < 1e-9, "seed {SEED}: {mass:?}");
            assert!(*gravity);
            let offset = body.geometries[0].pose.translation.vector + center;
            assert!(offset.norm() < 1e-12 / expected, "seed {SEED}: {offset}");
        }
    }
}

// Checks: free fall from rest, v = -g t and no other motion; a body without gravity keeps its
// velocity; a fixed one its pose; a prescribed one starts where its path does. What is set is
// carried.
#[test]
fn bodies_move_as_their_builders_say() {
    let ball = || Shape::Sphere { radius: 0.1 };
    let far = |x: f64| Isometry3::translation(x, 0.0, 5.0);
    let mass = MassProperties { mass: 2.0, inertia: Matrix3::identity() };
    let velocity = SpatialVelocity { linear: Vector3::x(), angular: Vector3::zeros() };
    let drift = DynamicMotion::free(mass).velocity(velocity).weightless();
    let key = |time, pose| PoseKey { time, pose };
    let path = Trajectory::Poses(vec![key(0.0, far(30.0)), key(1.0, far(31.0))]);
    let mut builder = BodiesBuilder::new();
    let described = BodyDesc::dynamic("falls", ball(), 1000.0).unwrap().at(far(0.0)).friction(0.2);
    assert_eq!(described.geometries[0].material.dynamic_friction, 0.2);
    assert_eq!(described.geometries[0].material.static_friction, 0.2);
    let falls = builder.add(described).unwrap();
    let drifts = builder.add(BodyDesc::new("drifts", ball(), drift).at(far(10.0))).unwrap();
    let stays = builder.add(BodyDesc::fixed("stays", ball()).at(far(20.0)).color([1, 2, 3])).unwrap();
    let follows = builder.add(BodyDesc::prescribed("follows", ball(), path)).unwrap();
    let settings = RigidSettings::default();
    let mut bodies = builder.build(Vector3::new(0.0, 0.0, -10.0), 1e-2, &settings).unwrap();
    let impulses = vec![pliant_rigid::SpatialImpulse::zero(); bodies.len()];
    for _ in 0..50 {
        bodies.prepare(1e-2);
        bodies.integrate(1e-2, &impulses).unwrap();
    }
    assert!((bodies.velocity(falls).linear - Vector3::new(0.0, 0.0, -5.0)).norm() < 1e-9);
    assert!((bodies.pose(drifts).translation.x - 10.5).abs() < 1e-9);
    assert_eq!(bodies.pose(stays), far(20.0));
    assert!((bodies.pose(follows).translation.x - 30.5).abs() < 1e-9);
}

// Checks: what has no mass is refused, with the body's name.
#[test]
fn shapes_without_mass_are_refused() {
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = BodyDesc::dynamic("ball", Shape::Sphere { radius: 0.1 }, density);
        assert!(matches!(refused, Err(RigidError::Value { field: "density", .. })));
    }
    let refused = BodyDesc::dynamic("ground", Shape::HalfSpace, 1.0).unwrap_err();
    assert!(refused.to_string().contains("ground"), "{refused}");
}
