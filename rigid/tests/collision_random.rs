//! Random pairs against an independent search over all directions, and laws that hold for every
//! pair.

use crate::collision_common::*;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::GeometricContact;
use pliant_testing::Random;

/// One of each convex kind, about 0.1 m in size.
fn convex_shapes() -> Vec<Shape> {
    let mut random = Random::new(5);
    let points: Vec<Point3<f64>> = (0..30).map(|_| (random.vector() * 0.08).into()).collect();
    vec![
        cuboid(0.05, 0.08, 0.06),
        Shape::Sphere { radius: 0.07 },
        Shape::Capsule { radius: 0.04, half_length: 0.06 },
        Shape::Cylinder { radius: 0.05, half_length: 0.07 },
        hull(&points),
        Shape::Ellipsoid { semi_axes: Vector3::new(0.04, 0.07, 0.09) },
    ]
}

/// Poses at which two of the shapes are from a little apart to one third into each other.
fn random_poses(random: &mut Random, a: &Shape, b: &Shape) -> [Isometry3<f64>; 2] {
    let pose =
        |random: &mut Random| Isometry3::from_parts(Translation3::from(random.vector()), random.rotation());
    let (first, mut second) = (pose(random), Isometry3::rotation(random.vector() * 3.0));
    let direction = random.vector().normalize();
    let apart =
        separation((a, &first), (b, &Isometry3::from_parts(first.translation, second.rotation)), &direction);
    let distance = -apart + 0.03 * (random.signed() - 0.3);
    second.translation = Translation3::from(first.translation.vector + direction * distance);
    [first, second]
}

/// The signed distance of two convex bodies is their greatest separation over all directions. So
/// the reported distance is right when it is the separation along the reported normal, and no
/// direction that a search tries has a greater one. Tolerances: directions found by GJK are good to
/// the square root of its relative tolerance, 5e-8; EPA stops after a hundred facets of a round
/// solid; where boxes overlap, an edge must beat a face by 2 percent of the depth.
#[test]
fn deepest_contacts_match_a_search_over_all_directions() {
    let shapes = convex_shapes();
    let mut random = Random::new(31);
    let mut worst = [[0.0_f64; 6]; 6];
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            let boxes = matches!((a, b), (Shape::Box { .. }, Shape::Box { .. }));
            for case in 0..12 {
                let [first, second] = random_poses(&mut random, a, b);
                let (greatest, _) = signed_distance((a, &first), (b, &second));
                let found = contacts((a, first), (b, second), 0.2);
                let c = deepest(&found).unwrap();
                let along = separation((a, &first), (b, &second), &c.normal);
                // A chord of a rim may stand for its arc up to 2e-5 of the radius.
                let round = [a, b].iter().any(|s| matches!(s, Shape::Cylinder { .. }));
                let chord = if round { 1.1e-6 } else { 1e-9 };
                assert!((along - c.distance).abs() < chord, "{i} {j} {case}: {} along n {along}", c.distance);
                let bias = if boxes { 0.02 * greatest.abs() } else { 0.0 };
                let error = greatest - c.distance - bias;
                worst[i][j] = worst[i][j].max(error);
                assert!(
                    error < 1e-6 + chord,
                    "{i} {j} {case}: {} m, not {greatest} m; {first:?} {second:?}",
                    c.distance
                );
                // Near the margin: within it there is a contact, beyond it none.
                if c.distance > 0.0 {
                    assert!(!contacts((a, first), (b, second), c.distance + 1e-6).is_empty());
                    assert!(contacts((a, first), (b, second), c.distance - 1e-6).is_empty());
                }
            }
        }
    }
    println!("greatest errors of a distance (m): {worst:?}");
}

/// No point of one body lies deeper in the other than the reported depth: moving by the depth along
/// the normal parts them.
#[test]
fn no_sampled_point_is_deeper_than_reported() {
    let shapes = convex_shapes();
    let mut random = Random::new(32);
    for a in &shapes {
        for b in &shapes {
            for _ in 0..10 {
                let [first, second] = random_poses(&mut random, a, b);
                let found = contacts((a, first), (b, second), 0.2);
                let depth = -deepest(&found).unwrap().distance;
                for _ in 0..200 {
                    let d = random.vector().normalize();
                    let p = second * Point3::from(support(b, &d));
                    let local = first.inverse_transform_point(&p);
                    let inside = -a.surface_point(&local).distance;
                    assert!(
                        inside <= depth.max(0.0) + 1e-6,
                        "{a:?} {b:?}: {inside} m deep, {depth} m reported"
                    );
                }
            }
        }
    }
}

fn same(found: &[GeometricContact], expected: &[GeometricContact], tolerance: f64, flip: bool) -> bool {
    let sign = if flip { -1.0 } else { 1.0 };
    found.len() == expected.len()
        && expected.iter().all(|e| {
            found.iter().any(|f| {
                (f.point - e.point).norm() < tolerance
                    && (f.distance - e.distance).abs() < tolerance
                    && (f.normal.into_inner() * sign - e.normal.into_inner()).norm() < 1e-3
            })
        })
}

/// Contacts do not depend on the frame, and exchanging the bodies only turns the normal: to
/// rounding, which the curvature of round solids makes larger (a direction is where supporting
/// points face each other to a billionth of the size). Flat ones agree in every point, and the
/// deepest contact of round ones where there is one alone; of several that are equally deep
/// rounding chooses.
#[test]
fn contacts_move_with_the_bodies_and_do_not_depend_on_their_order() {
    let shapes = convex_shapes();
    let mut random = Random::new(33);
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            for case in 0..60 {
                let [first, second] = random_poses(&mut random, a, b);
                let motion =
                    Isometry3::from_parts(Translation3::from(random.vector() * 3.0), random.rotation());
                let here = contacts((a, first), (b, second), 0.005);
                let moved = contacts((a, motion * first), (b, motion * second), 0.005);
                let swapped = contacts((b, second), (a, first), 0.005);
                let back = motion.inverse();
                let moved: Vec<GeometricContact> = moved
                    .iter()
                    .map(|c| GeometricContact {
                        point: (back * Point3::from(c.point)).coords,
                        normal: back.rotation * c.normal,
                        ..*c
                    })
                    .collect();
                let flat =
                    |s: &Shape| matches!(s, Shape::Box { .. } | Shape::ConvexHull(_) | Shape::Sphere { .. });
                if flat(a) && flat(b) {
                    assert!(same(&moved, &here, 1e-9, false), "{i} {j} {case}: {here:?} moved {moved:?}");
                    assert!(
                        same(&swapped, &here, 1e-9, true),
                        "{i} {j} {case}: {here:?} swapped {swapped:?}"
                    );
                } else if let Some(nearest) = deepest(&here) {
                    for (others, sign) in [(&moved, 1.0), (&swapped, -1.0)] {
                        let other = deepest(others).unwrap();
                        let farther = (other.distance - nearest.distance).abs();
                        assert!(farther < 1e-9, "{i} {j} {case}: farther by {farther} m");
                        let turned = (other.normal.into_inner() * sign - nearest.normal.into_inner()).norm();
                        assert!(turned < 1e-6, "{i} {j} {case}: turned by {turned}");
                        assert_eq!(others.len(), here.len(), "{i} {j} {case}");
                        let shifted = (other.point - nearest.point).norm();
                        assert!(here.len() > 1 || shifted < 1e-6, "{i} {j} {case}: shifted by {shifted} m");
                    }
                }
            }
        }
    }
}

/// Capsules whose axes are nearly parallel touch in two points, whichever is named first: places
/// and distances to rounding.
#[test]
fn nearly_parallel_capsules_touch_alike_in_either_order() {
    let mut random = Random::new(35);
    let [a, b] =
        [(0.27, 0.27), (0.15, 0.21)].map(|(radius, half_length)| Shape::Capsule { radius, half_length });
    for case in 0..100 {
        let turn = UnitQuaternion::from_scaled_axis(random.vector() * 0.025);
        let first = Isometry3::from_parts(Translation3::from(random.vector()), random.rotation());
        let aside = Translation3::new(0.42, 0.0, 0.3 * random.signed());
        let second = first * Isometry3::from_parts(aside, turn);
        let here = contacts((&a, first), (&b, second), 0.02);
        let swapped = contacts((&b, second), (&a, first), 0.02);
        assert!(here.len() >= 2, "{case}: {here:?}");
        assert!(same(&swapped, &here, 1e-12, true), "{case}: {here:?} swapped {swapped:?}");
    }
}

/// Contacts, of any kind, keep the pair's promises: ordered, unique names, finite, unit normals,
/// nearer than the margin.
#[test]
fn contacts_are_finite_in_extreme_states() {
    let mut shapes = convex_shapes();
    shapes.push(cuboid(0.5, 0.5, 1e-6));
    shapes.push(Shape::Capsule { radius: 1e-6, half_length: 0.5 });
    shapes.push(Shape::Cylinder { radius: 0.5, half_length: 1e-6 });
    shapes.push(Shape::Ellipsoid { semi_axes: Vector3::new(1e-4, 0.1, 0.1) });
    shapes.push(mesh(pliant_testing::meshes::torus(0.1, 0.03, 24, 12)));
    shapes.push(Shape::HalfSpace);
    let is = |s: &Shape, kind: &str| s.name() == kind;
    let mut random = Random::new(34);
    for a in &shapes {
        for b in &shapes {
            if (is(a, "mesh") && is(b, "mesh")) || (is(a, "half-space") && is(b, "half-space")) {
                continue;
            }
            let mut poses =
                vec![at(0.0, 0.0, 0.0), at(1e-12, 0.0, 0.0), at(0.0, 0.0, -0.05), at(1e-9, 1e-5, 1e-3)];
            poses.extend((0..20).map(|_| {
                Isometry3::from_parts(Translation3::from(random.vector() * 0.1), random.rotation())
            }));
            for pose in poses {
                for offset in [at(0.0, 0.0, 0.0), at(1e6, -1e6, 1e6)] {
                    let found = contacts((a, offset), (b, offset * pose), 1e-3);
                    for c in &found {
                        assert!(
                            c.point.iter().chain(c.normal.iter()).all(|x| x.is_finite())
                                && c.distance.is_finite()
                        );
                        assert!((c.normal.norm() - 1.0).abs() < 1e-9, "{a:?} {b:?} {c:?}");
                        assert!(c.distance < 1e-3 && c.distance > -10.0, "{a:?} {b:?} {c:?}");
                        assert!((c.point - offset.translation.vector).norm() < 3.0, "{a:?} {b:?} {c:?}");
                    }
                    assert!(found.windows(2).all(|w| w[0].feature < w[1].feature), "{a:?} {b:?} {found:?}");
                    // Bodies at one place surely overlap.
                    if pose.translation.vector.norm() < 1e-8 && !is(a, "mesh") && !is(b, "mesh") {
                        assert!(!found.is_empty(), "{a:?} {b:?}");
                    }
                }
            }
        }
    }
}

/// Two cubes face to face, their edges along each other but for turns and shifts of a nanometre:
/// the corners of what they share lie in both. (Where an edge runs within the clipping's tolerance
/// of another, the crossing of the two is anywhere along it.)
#[test]
fn edges_along_each_other_give_no_points_outside() {
    let seed = 77;
    let mut random = Random::new(seed);
    let (h, overlap) = (0.05, 1e-4);
    let cube = cuboid(h, h, h);
    let mut least = f64::INFINITY;
    for sample in 0..2000 {
        let (shift, turn) = (random.vector() * 3e-10, random.vector() * 5e-9);
        let poses = [at(0.0, 0.0, 0.0), posed(2.0 * h - overlap, shift.y, shift.z, turn)];
        let found = contacts((&cube, poses[0]), (&cube, poses[1]), 1e-3);
        assert!(found.len() >= 4, "seed {seed}, sample {sample}: {} points", found.len());
        for contact in &found {
            for pose in &poses {
                let outside = pose.inverse_transform_point(&contact.point.into()).coords.amax() - h;
                assert!(outside < overlap, "seed {seed}, sample {sample}: a point {outside:e} m outside");
            }
            least = least.min(contact.distance);
        }
    }
    assert!(least > -1.01 * overlap, "seed {seed}: {least:e} m deep");
}
