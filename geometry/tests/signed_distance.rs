//! Signed distances: closed forms, brute force, and the eikonal equation |grad d| = 1.

#![allow(clippy::unwrap_used)] // helpers outside of test functions

use nalgebra::{Point3, UnitQuaternion, Vector3};
use pliant_geometry::{ConvexHull, Shape, TriangleMesh};
use pliant_testing::Random;
use pliant_testing::meshes::brute_force;

fn mesh((vertices, triangles): pliant_testing::meshes::Mesh) -> Shape {
    Shape::Mesh(TriangleMesh::new(vertices, triangles).unwrap())
}

fn hull(points: &[Point3<f64>]) -> Shape {
    Shape::ConvexHull(ConvexHull::new(points).unwrap())
}

fn random_points(seed: u64, count: usize) -> Vec<Point3<f64>> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.vector().into()).collect()
}

/// One of each, all about one metre in size.
fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("half-space", Shape::HalfSpace),
        ("box", Shape::Box { half_extents: Vector3::new(0.5, 0.3, 0.7) }),
        ("sphere", Shape::Sphere { radius: 0.6 }),
        ("capsule", Shape::Capsule { radius: 0.3, half_length: 0.4 }),
        ("cylinder", Shape::Cylinder { radius: 0.4, half_length: 0.5 }),
        ("hull", hull(&random_points(7, 40))),
        ("torus", mesh(pliant_testing::meshes::torus(0.6, 0.25, 24, 12))),
        ("L", mesh(pliant_testing::meshes::l_shape())),
    ]
}

/// The gradient of a distance has length 1 and is the normal, except where the nearest point is not
/// unique (Osher and Fedkiw 2003, 2.3). Points where a small move changes the normal by much are
/// left out: they are near the medial axis or an edge of the solid.
#[test]
fn normal_is_the_gradient_and_has_length_one() {
    for (name, shape) in shapes() {
        let mut random = Random::new(11);
        let mut checked = 0;
        for _ in 0..2000 {
            let p: Point3<f64> = (random.vector() * 1.2).into();
            let here = shape.surface_point(&p);
            let h = 1e-6;
            let sides = |k: usize| {
                let step = Vector3::ith(k, h);
                (shape.surface_point(&(p + step)), shape.surface_point(&(p - step)))
            };
            let smooth = (0..3).all(|k| {
                let (plus, minus) = sides(k);
                plus.normal.dot(&here.normal) > 0.999 && minus.normal.dot(&here.normal) > 0.999
            });
            if !smooth {
                continue;
            }
            checked += 1;
            let gradient = Vector3::from_fn(|k, _| {
                let (plus, minus) = sides(k);
                (plus.distance - minus.distance) / (2.0 * h)
            });
            // Differences: truncation h^2/d^2 and rounding eps/h, about 1e-10 each; creases within
            // h of p give more.
            assert!((here.normal.norm() - 1.0).abs() < 1e-12, "{name} at {p}");
            assert!((gradient - *here.normal).norm() < 1e-4, "{name} at {p}: {gradient} {:?}", here.normal);
        }
        assert!(checked > 1900, "{name}: only {checked} of 2000 points are off the medial axis");
    }
}

/// p - d n is the nearest surface point: it lies on the surface.
#[test]
fn foot_of_the_distance_lies_on_the_surface() {
    for (name, shape) in shapes() {
        let mut random = Random::new(12);
        for _ in 0..1000 {
            let p: Point3<f64> = (random.vector() * 1.5).into();
            let s = shape.surface_point(&p);
            let foot = p - s.normal.into_inner() * s.distance;
            let residual = shape.surface_point(&foot).distance;
            assert!(residual.abs() < 1e-14, "{name} at {p}: foot is {residual} m off");
        }
    }
}

/// Closed forms: half-space z; sphere |p| - r; capsule distance to a segment less r; box by Quilez'
/// formula; cylinder by the same formula in the half-plane (radius, z).
#[test]
fn analytic_shapes_match_their_closed_forms() {
    let rectangle = |x: f64, y: f64| x.max(y).min(0.0) + x.max(0.0).hypot(y.max(0.0));
    let h = Vector3::new(0.5, 0.3, 0.7);
    let mut random = Random::new(13);
    for _ in 0..2000 {
        let p: Point3<f64> = (random.vector() * 1.5).into();
        let segment = (p - Point3::new(0.0, 0.0, p.z.clamp(-0.4, 0.4))).norm();
        let q = p.coords.abs() - h;
        let outside = q.sup(&Vector3::zeros()).norm();
        let cases = [
            (Shape::HalfSpace, p.z),
            (Shape::Sphere { radius: 0.6 }, p.coords.norm() - 0.6),
            (Shape::Capsule { radius: 0.3, half_length: 0.4 }, segment - 0.3),
            (Shape::Box { half_extents: h }, outside + q.max().min(0.0)),
            (
                Shape::Cylinder { radius: 0.4, half_length: 0.5 },
                rectangle(p.x.hypot(p.y) - 0.4, p.z.abs() - 0.5),
            ),
        ];
        for (shape, expected) in cases {
            let found = shape.surface_point(&p).distance;
            assert!((found - expected).abs() < 1e-15, "{shape:?} at {p}: {found}, not {expected}");
        }
    }
}

/// The hierarchy and the pseudo-normals give what all triangles and the winding number give.
#[test]
fn meshes_match_brute_force() {
    let ball = Shape::Sphere { radius: 0.8 }.triangles(32);
    let hull_surface = hull(&random_points(3, 200)).triangles(0);
    let meshes = [
        ("torus", pliant_testing::meshes::torus(0.6, 0.25, 24, 12)),
        ("L", pliant_testing::meshes::l_shape()),
        ("ball", ball),
        ("star", pliant_testing::meshes::star(1)),
        ("another star", pliant_testing::meshes::star(2)),
        ("spike", pliant_testing::meshes::uneven_spike()),
        ("hull", hull_surface),
    ];
    for (name, surface) in meshes {
        let shape = mesh(surface.clone());
        let mut random = Random::new(14);
        for k in 0..2000 {
            // Half of the points around the solid, half within a millimetre of its surface.
            let mut p: Point3<f64> = (random.vector() * 1.5).into();
            if k % 2 == 0 {
                let corner = surface.0[(random.bits() % surface.0.len() as u64) as usize];
                p = corner + random.vector() * 1e-3;
            }
            let (found, expected) = (shape.surface_point(&p).distance, brute_force(&surface, &p));
            assert!((found - expected).abs() < 1e-13, "{name} at {p}: {found}, not {expected}");
        }
    }
}

/// A box, a cylinder and their hulls and meshes are the same solid. The tessellated cylinder is
/// inside the round one by at most the sagitta r (1 - cos(pi/n)).
#[test]
fn meshes_and_hulls_match_analytic_shapes() {
    let cuboid = Shape::Box { half_extents: Vector3::new(0.5, 0.3, 0.7) };
    let cylinder = Shape::Cylinder { radius: 0.4, half_length: 0.5 };
    let segments = 200;
    let sagitta = 0.4 * (1.0 - (std::f64::consts::PI / f64::from(segments)).cos());
    for (shape, tolerance) in [(cuboid, 1e-14), (cylinder, sagitta * 1.001)] {
        let surface = shape.triangles(segments);
        let others = [hull(&surface.0), mesh(surface)];
        let mut random = Random::new(15);
        for _ in 0..2000 {
            let p: Point3<f64> = (random.vector() * 1.2).into();
            let exact = shape.surface_point(&p);
            for other in &others {
                let found = other.surface_point(&p);
                assert!((found.distance - exact.distance).abs() < tolerance, "{p}: {found:?} {exact:?}");
            }
        }
    }
}

/// In the notch of the L the distance is that to its two walls, positive, and inside the arms it is
/// negative.
#[test]
fn notch_of_an_l_is_outside() {
    let shape = mesh(pliant_testing::meshes::l_shape());
    let mut random = Random::new(16);
    for _ in 0..1000 {
        let v = (random.vector() + Vector3::repeat(1.0)) / 2.0;
        let notch = Point3::new(1.0 + v.x, 1.0 + v.y, v.z);
        let found = shape.surface_point(&notch);
        assert!((found.distance - v.x.min(v.y)).abs() < 1e-15, "{notch}: {found:?}");
        let arm = Point3::new(v.x * 0.999, v.y * 2.0, 0.5);
        assert!(shape.surface_point(&arm).distance < 0.0, "{arm}");
    }
    // Inside the elbow, the reentrant edge (1, 1) is nearest.
    let found = shape.surface_point(&Point3::new(0.9, 0.9, 0.5));
    assert!((found.distance + 0.1 * 2.0_f64.sqrt()).abs() < 1e-15);
    assert!((found.normal.into_inner() - Vector3::new(1.0, 1.0, 0.0).normalize()).norm() < 1e-14);
}

/// The hole of a torus is outside: on its axis the distance is that to the ring of facets.
#[test]
fn hole_of_a_torus_is_outside() {
    let shape = mesh(pliant_testing::meshes::torus(0.6, 0.25, 24, 12));
    let found = shape.surface_point(&Point3::origin());
    let expected = 0.35 * (std::f64::consts::PI / 24.0).cos();
    assert!((found.distance - expected).abs() < 1e-14, "{found:?}");
}

/// A bound that is above the distance would drop contacts.
#[test]
fn lower_bound_and_bounding_sphere_are_bounds() {
    for (name, shape) in shapes() {
        let mut random = Random::new(17);
        for _ in 0..2000 {
            let p: Point3<f64> = (random.vector() * 3.0).into();
            let distance = shape.surface_point(&p).distance;
            let bound = shape.lower_bound(&p);
            assert!(bound <= distance + 1e-14, "{name} at {p}: {bound} > {distance}");
            let reach = random.vector().abs() * 0.3;
            let around = shape.lower_bound_around(&(p + random.vector().component_mul(&reach)), &reach);
            assert!(around <= distance + 1e-14, "{name} near {p}: {around} > {distance}");
            if let Some((centre, radius)) = shape.bounding_sphere() {
                let ball = (p - centre).norm() - radius;
                assert!(ball <= distance + 1e-14, "{name} at {p}: {ball} > {distance}");
            }
        }
    }
}

/// A point that entered a 1 mm plate through the top and is 0.9 mm deep is pushed out through the
/// top, in all forms of the plate; without the side it would be pushed through.
#[test]
fn side_of_a_thin_plate_does_not_flip() {
    let plate = Shape::Box { half_extents: Vector3::new(0.1, 0.1, 0.5e-3) };
    let disk = Shape::Cylinder { radius: 0.1, half_length: 0.5e-3 };
    let surface = plate.triangles(0);
    let forms = [hull(&surface.0), mesh(surface), plate, disk];
    let mut random = Random::new(18);
    for shape in &forms {
        for _ in 0..200 {
            let (x, y) = (random.signed() * 0.06, random.signed() * 0.06);
            let side = shape.surface_point(&Point3::new(x, y, 0.6e-3)).feature;
            let deep = Point3::new(x, y, -0.4e-3);
            assert!(shape.surface_point(&deep).normal.z < -0.99, "{shape:?}");
            let held = shape.surface_point_from(&deep, side);
            assert!((held.distance + 0.9e-3).abs() < 1e-15, "{shape:?}: {held:?}");
            assert!(held.normal.z > 1.0 - 1e-12, "{shape:?}: {held:?}");
            // Near the rim too, where the rim is nearest.
            let rim = Point3::new(0.0999, 0.0, 0.2e-3);
            assert!(shape.surface_point_from(&rim, side).normal.z > 0.99, "{shape:?}");
            // Pressed out at the far side, it is still behind the top.
            for depth in [1.1e-3, 5e-3, 0.02] {
                let below = Point3::new(x, y, 0.5e-3 - depth);
                let held = shape.surface_point_from(&below, side);
                assert!((held.distance + depth).abs() < 1e-15, "{shape:?}: {held:?}");
                assert!(held.normal.z > 1.0 - 1e-12, "{shape:?}: {held:?}");
            }
            // Before the top, beside the plate, and for a side that does not exist, the nearest
            // surface counts.
            let beside = Point3::new(0.102, y, -1e-3);
            for p in [Point3::new(x, y, 2e-3), beside] {
                assert_eq!(shape.surface_point_from(&p, side), shape.surface_point(&p), "{shape:?}");
            }
            assert_eq!(shape.surface_point_from(&deep, u32::MAX), shape.surface_point(&deep));
        }
    }
}

/// On a round hull or mesh a point that slides under the surface changes facets and keeps its
/// depth.
#[test]
fn side_follows_a_point_around_a_faceted_cylinder() {
    let surface = Shape::Cylinder { radius: 0.03, half_length: 0.1 }.triangles(48);
    for shape in [hull(&surface.0), mesh(surface)] {
        let at = |angle: f64, r: f64| Point3::new(r * angle.cos(), r * angle.sin(), 0.01);
        let mut side = shape.surface_point(&at(0.0, 0.031)).feature;
        for k in 0..=100 {
            let p = at(f64::from(k) * 0.0628, 0.029);
            let found = shape.surface_point_from(&p, side);
            assert!((found.distance - shape.surface_point(&p).distance).abs() < 1e-15, "{found:?}");
            side = found.feature;
        }
    }
}

/// Hulls: points inside are dropped, faces join coplanar triangles, and the distance inside is to
/// the nearest plane.
#[test]
fn hull_of_a_grid_is_a_box() {
    let mut points = Vec::new();
    for i in 0..5 {
        for j in 0..5 {
            for k in 0..5 {
                points.push(Point3::new(0.1 * f64::from(i), 0.1 * f64::from(j), 0.1 * f64::from(k)));
            }
        }
    }
    let hull = ConvexHull::new(&points).unwrap();
    assert_eq!(hull.face_count(), 6);
    let found = Shape::ConvexHull(hull).surface_point(&Point3::new(0.2, 0.2, 0.35));
    assert!((found.distance + 0.05).abs() < 1e-15 && (found.normal.z - 1.0).abs() < 1e-15);
    // A round one with many coplanar points, far from the origin.
    let shift = Vector3::new(10.0, -20.0, 5.0);
    let round = Shape::Cylinder { radius: 0.4, half_length: 0.5 }.triangles(64).0;
    let hull = ConvexHull::new(&round.iter().map(|p| p + shift).collect::<Vec<_>>()).unwrap();
    assert_eq!(hull.face_count(), 66);
    // Flat and repeated points have none.
    let flat: Vec<_> = points.iter().filter(|p| p.z == 0.0).copied().collect();
    assert!(ConvexHull::new(&flat).is_err());
    assert!(ConvexHull::new(&[Point3::origin(); 8]).is_err());
    assert!(ConvexHull::new(&[]).is_err());
    assert!(ConvexHull::new(&[Point3::new(f64::NAN, 0.0, 0.0)]).is_err());
}

/// Clouds that hulls are bad at: lattices with many points on each edge and face and many repeated,
/// flattened to 1:10,000, turned, far from the origin, from millimetres to kilometres. The hull
/// reaches as far as the points in every direction, and no further.
#[test]
fn hulls_of_lattices_and_thin_clouds() {
    for seed in 0..540 {
        let mut random = Random::new(seed);
        let pick = |values: [f64; 3], digit: u64| values[(seed / 3_u64.pow(digit as u32) % 3) as usize];
        let (cell, flatness) = (pick([0.0, 0.2, 0.5], 0), pick([1.0, 1e-2, 1e-4], 1));
        let (scale, far) = (pick([1.0, 1e-3, 1e3], 2), pick([0.0, 1.0, 1e3], 3));
        let turn = if seed % 2 == 0 { UnitQuaternion::identity() } else { random.rotation() };
        let shift = random.vector() * (far * scale);
        // At least 30, so that a lattice does not happen to be flat.
        let count = 30 + random.bits() % 170;
        let snap = |x: f64| if cell > 0.0 { (x / cell).round() * cell } else { x };
        let points: Vec<Point3<f64>> = (0..count)
            .map(|_| {
                let v = random.vector().map(snap);
                Point3::from(turn * (Vector3::new(v.x, v.y, v.z * flatness) * scale) + shift)
            })
            .collect();
        let hull = ConvexHull::new(&points).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let radius = hull.mesh().bounding_sphere().1;
        // A millionth of the radius, as promised, and the rounding of coordinates far from the
        // origin.
        let tolerance = 1e-6 * radius;
        for _ in 0..50 {
            let direction = random.vector().normalize();
            let support =
                |v: &[Point3<f64>]| v.iter().map(|p| direction.dot(&p.coords)).fold(f64::MIN, f64::max);
            let (found, expected) = (support(hull.mesh().vertices()), support(&points));
            assert!((found - expected).abs() < tolerance, "seed {seed}: {found} {expected}");
        }
        let shape = Shape::ConvexHull(hull);
        for p in &points {
            assert!(shape.surface_point(p).distance < tolerance, "seed {seed}: {p} is outside");
        }
    }
}

/// Shapes are shared between the threads of the coupling.
#[test]
fn shapes_can_be_shared() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Shape>();
}
