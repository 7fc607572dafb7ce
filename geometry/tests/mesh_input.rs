//! Meshes that are refused, sizes that are refused, and mass properties.

#![allow(clippy::unwrap_used)] // helpers outside of test functions

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_geometry::{ConvexHull, GeometryError, Shape, TriangleMesh};
use pliant_testing::Random;

fn refusal((vertices, triangles): pliant_testing::meshes::Mesh) -> GeometryError {
    TriangleMesh::new(vertices, triangles).unwrap_err()
}

#[test]
fn broken_meshes_are_refused_with_the_first_offender() {
    let good = || pliant_testing::meshes::l_shape();
    assert!(TriangleMesh::new(good().0, good().1).is_ok());

    let mut open = good();
    let removed = open.1.remove(5);
    match refusal(open) {
        GeometryError::OpenEdge { count: 3, edge, .. } => {
            assert!(edge.iter().all(|v| removed.contains(v)), "{edge:?} {removed:?}");
        }
        other => panic!("{other}"),
    }

    let mut turned = good();
    turned.1[4].swap(0, 1);
    match refusal(turned) {
        GeometryError::InconsistentOrientation { count: 3, triangles, .. } => assert!(triangles.contains(&4)),
        other => panic!("{other}"),
    }

    let mut inside_out = good();
    inside_out.1.iter_mut().for_each(|t| t.swap(0, 1));
    // The L has 3 m^3.
    let GeometryError::InsideOut { volume } = refusal(inside_out) else { panic!() };
    assert!((volume + 3.0).abs() < 1e-14);

    // A fin on an edge of the L.
    let mut fin = good();
    fin.0.push(Point3::new(-1.0, -1.0, 0.5));
    fin.1.push([0, 6, 12]);
    assert!(matches!(refusal(fin), GeometryError::NonManifoldEdge { count: 1, edge: [0, 6], triangles: 3 }));

    let mut degenerate = good();
    degenerate.1[7][1] = degenerate.1[7][0];
    assert!(matches!(refusal(degenerate), GeometryError::DegenerateTriangle { count: 1, triangle: 7, .. }));

    let mut range = good();
    range.1[2][1] = 12;
    let expected = GeometryError::IndexOutOfRange { count: 1, triangle: 2, index: 12, vertices: 12 };
    assert_eq!(refusal(range), expected);

    for value in [f64::NAN, f64::INFINITY] {
        let mut bad = good();
        bad.0[3].y = value;
        bad.0[9].x = value;
        assert!(matches!(refusal(bad), GeometryError::NonFiniteVertex { count: 2, vertex: 3, .. }));
    }

    assert!(matches!(refusal((Vec::new(), Vec::new())), GeometryError::Empty { .. }));

    // Two tetrahedra that share a vertex.
    let tetrahedron = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mut vertices = vec![
        Point3::origin(),
        Point3::new(1.0, 0.0, 0.0),
        Point3::new(0.0, 1.0, 0.0),
        Point3::new(0.0, 0.0, 1.0),
    ];
    vertices.extend([1, 2, 3].map(|k| vertices[k] * -1.0));
    let mut triangles = tetrahedron.to_vec();
    triangles
        .extend(tetrahedron.map(|t| t.map(|v| if v == 0 { 0 } else { v + 3 })).map(|[a, b, c]| [a, c, b]));
    assert_eq!(refusal((vertices, triangles)), GeometryError::NonManifoldVertex { count: 1, vertex: 0 });
}

#[test]
fn sizes_that_are_not_positive_are_refused() {
    let box_of = |x: f64| Shape::Box { half_extents: Vector3::new(1.0, x, 1.0) };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(box_of(bad).validate(), Err(GeometryError::Size { field: "half_extents.y", .. })));
        assert!(Shape::Sphere { radius: bad }.validate().is_err());
        assert!(Shape::Capsule { radius: bad, half_length: 1.0 }.validate().is_err());
        assert!(Shape::Cylinder { radius: 1.0, half_length: bad }.validate().is_err());
    }
    assert!(box_of(0.5).validate().is_ok());
    assert!(Shape::Capsule { radius: 1.0, half_length: 0.0 }.validate().is_ok());
}

/// The integrals over a mesh match the closed forms; for round shapes the tessellation converges to
/// them from below, by a part of about (pi/n)^2.
#[test]
fn mass_properties_of_meshes_match_the_closed_forms() {
    let shapes = [
        (Shape::Box { half_extents: Vector3::new(0.5, 0.3, 0.7) }, 1e-13),
        (Shape::Sphere { radius: 0.6 }, 1.5e-3),
        (Shape::Capsule { radius: 0.3, half_length: 0.4 }, 1.5e-3),
        (Shape::Cylinder { radius: 0.4, half_length: 0.5 }, 1.5e-3),
    ];
    let mut random = Random::new(21);
    for (shape, tolerance) in shapes {
        let (mass, centre, inertia) = shape.mass_properties(800.0).unwrap();
        assert_eq!(centre, Point3::origin());
        // Moved and turned, so that nothing is centred or aligned.
        let (turn, shift) = (random.rotation(), random.vector() * 5.0);
        let (vertices, triangles) = shape.triangles(128);
        let moved: Vec<_> = vertices.iter().map(|v| turn * v + shift).collect();
        let hull = Shape::ConvexHull(ConvexHull::new(&moved).unwrap());
        let mesh = Shape::Mesh(TriangleMesh::new(moved, triangles).unwrap());
        for other in [mesh, hull] {
            let (m, c, i) = other.mass_properties(800.0).unwrap();
            assert!((m / mass - 1.0).abs() < tolerance, "{shape:?}: mass {m}, not {mass}");
            assert!((c - Point3::from(shift)).norm() < 1e-12, "{shape:?}: centre {c}, not {shift}");
            let expected: Matrix3<f64> =
                turn.to_rotation_matrix() * inertia * turn.inverse().to_rotation_matrix();
            assert!((i - expected).norm() < 2.0 * tolerance * expected.norm(), "{shape:?}: {i} {expected}");
        }
    }
    assert!(Shape::HalfSpace.mass_properties(1.0).is_none());
}

/// The divergence theorem holds wherever the origin is: an L of 3 m^3 that is 10 km away has the same
/// volume to the digits that its coordinates carry (1e4 * 2^-53 ~ 1e-12 each).
#[test]
fn volume_does_not_depend_on_the_place() {
    let (mut vertices, triangles) = pliant_testing::meshes::l_shape();
    vertices.iter_mut().for_each(|v| v.x += 1e4);
    let far = Shape::Mesh(TriangleMesh::new(vertices, triangles).unwrap());
    assert!((far.mass_properties(1.0).unwrap().0 - 3.0).abs() < 1e-11);
}

/// Torus of Pappus: volume 2 pi^2 R r^2; for n by m facets 2 pi R r^2/2 m sin(2 pi/m) times the
/// polygon's factor.
#[test]
fn volume_of_a_torus() {
    let (vertices, triangles) = pliant_testing::meshes::torus(0.6, 0.25, 400, 400);
    let mesh = Shape::Mesh(TriangleMesh::new(vertices, triangles).unwrap());
    let (volume, centre, _) = mesh.mass_properties(1.0).unwrap();
    let expected = 2.0 * std::f64::consts::PI.powi(2) * 0.6 * 0.25 * 0.25;
    // Each polygon of 400 sides takes away 2/3 (pi/400)^2 = 4e-5.
    assert!((volume / expected - 1.0).abs() < 1e-4, "{volume} {expected}");
    assert!(centre.coords.norm() < 1e-12);
}
