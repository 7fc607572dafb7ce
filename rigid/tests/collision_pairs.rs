//! Contacts of pairs of shapes against closed forms.

use crate::collision_common::*;
use nalgebra::{Point3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

fn close(found: &Vector3<f64>, expected: [f64; 3], tolerance: f64) {
    assert!((found - Vector3::from(expected)).amax() < tolerance, "{found} is not {expected:?}");
}

/// Two spheres: distance |c2 - c1| - r1 - r2 along the line of centres; with equal stiffness the
/// point is halfway between the surfaces.
#[test]
fn spheres() {
    let (a, b) = (Shape::Sphere { radius: 0.3 }, Shape::Sphere { radius: 0.5 });
    let found = contacts((&a, at(1.0, 2.0, 3.0)), (&b, at(1.0, 2.0, 3.7)), 0.0);
    assert_eq!(found.len(), 1);
    assert!((found[0].distance + 0.1).abs() < 1e-15);
    close(&found[0].normal, [0.0, 0.0, 1.0], 1e-15);
    close(&found[0].point, [1.0, 2.0, 3.25], 1e-15);
    // Beyond the margin there is nothing; within it, the gap.
    assert!(contacts((&a, at(0.0, 0.0, 0.0)), (&b, at(0.9, 0.0, 0.0)), 0.1 - 1e-12).is_empty());
    let apart = contacts((&a, at(0.0, 0.0, 0.0)), (&b, at(0.9, 0.0, 0.0)), 0.1 + 1e-12);
    assert!((apart[0].distance - 0.1).abs() < 1e-15);
}

/// The point lies between the surfaces, nearer to the stiffer one: p = (k_A p_A + k_B p_B)/(k_A +
/// k_B) (Drake's point contact).
#[test]
fn the_softer_one_gives_way_more() {
    for order in [[0, 1], [1, 0]] {
        let mut builder = pliant_rigid::multibody::ModelBuilder::new(Vector3::zeros());
        let mut geometries: Vec<CollisionGeometry> = ["a", "b"]
            .map(|name| {
                let id = builder.add(link(name, None, pliant_rigid::multibody::JointKind::Free)).unwrap();
                geometry(Some(id), Shape::Sphere { radius: 0.5 })
            })
            .into();
        geometries[order[0]].material.stiffness = 3e4;
        geometries[order[1]].material.stiffness = 1e4;
        let scene = CollisionModel::new(geometries, &builder.build().unwrap(), &[]).unwrap();
        let mut poses = [at(0.0, 0.0, 0.0); 2];
        poses[order[1]] = at(0.0, 0.0, 0.9);
        let found = detect(&scene, &poses, 0.0);
        // The stiff sphere's top is at 0.5, the soft one's bottom at 0.4: a quarter of the way from
        // the stiff one's surface.
        close(&found[0].point, [0.0, 0.0, 0.475], 1e-15);
    }
}

/// A box on a plane: its four lower corners, each at its own height; on an edge two; on a corner
/// one.
#[test]
fn box_on_a_plane() {
    let h = Vector3::new(0.3, 0.2, 0.1);
    let shape = cuboid(h.x, h.y, h.z);
    let plane = (&Shape::HalfSpace, at(0.0, 0.0, 0.0));
    let flat = contacts(plane, (&shape, at(0.5, 0.5, 0.1 - 1e-4)), 1e-3);
    assert_eq!(flat.len(), 4);
    for c in &flat {
        assert!((c.distance + 1e-4).abs() < 1e-15);
        close(&c.normal, [0.0, 0.0, 1.0], 1e-15);
        assert!(
            ((c.point.x - 0.5).abs() - h.x).abs() < 1e-15 && ((c.point.y - 0.5).abs() - h.y).abs() < 1e-15
        );
        // Halfway between the plane and the corner.
        assert!((c.point.z + 0.5e-4).abs() < 1e-15);
    }
    let angle = 0.01;
    let tilted = contacts(plane, (&shape, posed(0.0, 0.0, 0.1, Vector3::new(0.0, angle, 0.0))), 1.0);
    let heights: Vec<f64> = tilted.iter().map(|c| c.distance).collect();
    for sign in [-1.0, 1.0] {
        let expected = 0.1 - h.z * angle.cos() + sign * h.x * angle.sin();
        assert_eq!(heights.iter().filter(|z| (**z - expected).abs() < 1e-15).count(), 2, "{heights:?}");
    }
    let on_edge = posed(0.0, 0.0, 0.1, Vector3::new(FRAC_PI_4, 0.0, 0.0));
    assert_eq!(contacts(plane, (&shape, on_edge), 1e-6).len(), 2);
    let on_corner = posed(0.0, 0.0, 0.3, Vector3::new(0.5, 0.6, 0.0));
    let found = contacts(plane, (&shape, on_corner), 0.0);
    assert_eq!(found.len(), 1);
    let lowest = (0..8).map(|k| {
        let sign = |bit: i32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        (on_corner * Point3::new(sign(0) * h.x, sign(1) * h.y, sign(2) * h.z)).z
    });
    assert!((found[0].distance - lowest.fold(f64::MAX, f64::min)).abs() < 1e-15);
}

/// A cylinder on a plane: standing, points around the rim, all at one depth; lying, two; tilted by
/// b, its lowest point is at z - h cos b - r sin b whatever the angle.
#[test]
fn cylinder_on_a_plane() {
    let (r, h) = (0.1, 0.2);
    let shape = Shape::Cylinder { radius: r, half_length: h };
    let plane = (&Shape::HalfSpace, at(0.0, 0.0, 0.0));
    let standing = contacts(plane, (&shape, at(0.0, 0.0, h - 1e-5)), 1e-4);
    assert!(standing.len() >= 4);
    assert!(
        standing.iter().all(|c| (c.distance + 1e-5).abs() < 1e-15 && (c.point.xy().norm() - r).abs() < 1e-15)
    );
    let centre: Vector3<f64> = standing.iter().map(|c| c.point).sum();
    assert!(centre.xy().norm() < 1e-14);
    let lying = contacts(plane, (&shape, posed(0.0, 0.0, r - 1e-5, Vector3::new(FRAC_PI_2, 0.0, 0.0))), 1e-4);
    assert_eq!(lying.len(), 2);
    assert!((lying[0].point - lying[1].point).norm() - 2.0 * h < 1e-14);
    assert!(lying.iter().all(|c| (c.distance + 1e-5).abs() < 1e-15));
    for k in 1..30 {
        let b = 0.0523 * f64::from(k);
        for turn in 0..7 {
            let pose = posed(0.0, 0.0, 0.2, Vector3::zeros())
                * posed(0.0, 0.0, 0.0, Vector3::new(0.0, b, 0.0))
                * posed(0.0, 0.0, 0.0, Vector3::new(0.0, 0.0, 0.3 * f64::from(turn)));
            let found = contacts(plane, (&shape, pose), 1.0);
            let expected = 0.2 - h * b.cos() - r * b.sin();
            assert!((deepest(&found).unwrap().distance - expected).abs() < 1e-15, "{b} {turn}");
        }
    }
}

/// Capsule (two ends), sphere and ellipsoid (one point; lowest at -|(a n_x, b n_y, c n_z)|) and
/// hull on a plane.
#[test]
fn others_on_a_plane() {
    let plane = (&Shape::HalfSpace, at(0.0, 0.0, 0.0));
    let capsule = Shape::Capsule { radius: 0.1, half_length: 0.3 };
    let tilt = 0.01_f64;
    let found =
        contacts(plane, (&capsule, posed(0.0, 0.0, 0.1, Vector3::new(0.0, FRAC_PI_2 + tilt, 0.0))), 0.01);
    let mut heights: Vec<f64> = found.iter().map(|c| c.distance).collect();
    heights.sort_by(f64::total_cmp);
    assert!(heights.len() == 2 && (heights[0] + 0.3 * tilt.sin()).abs() < 1e-15);
    assert!((heights[1] - 0.3 * tilt.sin()).abs() < 1e-15);
    let sphere = contacts(plane, (&Shape::Sphere { radius: 0.1 }, at(3.0, 0.0, 0.05)), 0.0);
    assert!(sphere.len() == 1 && (sphere[0].distance + 0.05).abs() < 1e-15);
    let ellipsoid = Shape::Ellipsoid { semi_axes: Vector3::new(0.1, 0.2, 0.3) };
    let pose = posed(0.0, 0.0, 0.2, Vector3::new(0.4, 0.9, 0.1));
    let n = pose.rotation.inverse_transform_vector(&Vector3::z());
    let expected = 0.2 - Vector3::new(0.1 * n.x, 0.2 * n.y, 0.3 * n.z).norm();
    let found = contacts(plane, (&ellipsoid, pose), 0.1);
    assert!(found.len() == 1 && (found[0].distance - expected).abs() < 1e-15);
    // A prism of 24 sides on its end: no more than eight well spread points, the deepest of them
    // among these.
    let ring = |z: f64| {
        (0..24).map(move |k| {
            let (s, c) = (PI / 12.0 * f64::from(k)).sin_cos();
            Point3::new(0.1 * c, 0.1 * s, z)
        })
    };
    let prism = hull(&ring(-0.1).chain(ring(0.1)).collect::<Vec<_>>());
    let found = contacts(plane, (&prism, posed(0.0, 0.0, 0.1, Vector3::new(1e-4, 2e-4, 0.0))), 1e-3);
    assert!((4..=8).contains(&found.len()), "{}", found.len());
    let pose = posed(0.0, 0.0, 0.1, Vector3::new(1e-4, 2e-4, 0.0));
    let lowest = ring(-0.1).map(|p| (pose * p).z).fold(f64::MAX, f64::min);
    assert!((deepest(&found).unwrap().distance - lowest).abs() < 1e-15);
    for quadrant in 0..4 {
        let (x, y) = (if quadrant & 1 == 1 { 1.0 } else { -1.0 }, if quadrant & 2 == 2 { 1.0 } else { -1.0 });
        assert!(found.iter().any(|c| c.point.x * x > 0.01 && c.point.y * y > 0.01), "quadrant {quadrant}");
    }
}

/// Face on face: the corners of the overlap rectangle, all at the overlap's depth along the faces'
/// normal.
#[test]
fn box_faces() {
    let (a, b) = (cuboid(0.5, 0.5, 0.1), cuboid(0.2, 0.3, 0.1));
    for (x, corners) in [(0.0, [-0.2, 0.2]), (0.4, [0.2, 0.5])] {
        let found = contacts((&a, at(0.0, 0.0, 0.0)), (&b, at(x, 0.0, 0.2 - 1e-3)), 0.01);
        assert_eq!(found.len(), 4, "{found:?}");
        for c in &found {
            assert!((c.distance + 1e-3).abs() < 1e-15);
            close(&c.normal, [0.0, 0.0, 1.0], 1e-15);
            assert!(
                corners.iter().any(|e| (c.point.x - e).abs() < 1e-15)
                    && (c.point.y.abs() - 0.3).abs() < 1e-15
            );
            assert!((c.point.z - (0.1 - 0.5e-3)).abs() < 1e-15);
        }
    }
    // Turned by 45 degrees about the normal, equal squares share an octagon.
    let square = cuboid(0.1, 0.1, 0.1);
    let turned = posed(0.0, 0.0, 0.2, Vector3::new(0.0, 0.0, FRAC_PI_4));
    let found = contacts((&square, at(0.0, 0.0, 0.0)), (&square, turned), 0.01);
    assert_eq!(found.len(), 8);
    for c in &found {
        let (x, y) = (c.point.x.abs(), c.point.y.abs());
        assert!((x.max(y) - 0.1).abs() < 1e-15 && (x.min(y) - 0.1 * (2.0_f64.sqrt() - 1.0)).abs() < 1e-15);
    }
    // Equal boxes exactly stacked have four points, not two in each corner.
    assert_eq!(contacts((&square, at(0.0, 0.0, 0.0)), (&square, at(0.0, 0.0, 0.2)), 0.01).len(), 4);
}

/// Two boxes on their edges, crossed at right angles: along z, at |gap| = dz - 2 h sqrt 2, in one
/// point where the edges cross.
#[test]
fn box_edges() {
    let shape = cuboid(0.1, 0.1, 0.1);
    let root = 0.1 * 2.0_f64.sqrt();
    for overlap in [-0.01, 0.004] {
        let below = posed(0.0, 0.0, 0.0, Vector3::new(FRAC_PI_4, 0.0, 0.0));
        let above = posed(0.03, -0.02, 2.0 * root - overlap, Vector3::new(0.0, FRAC_PI_4, 0.0));
        let found = contacts((&shape, below), (&shape, above), 0.011);
        let c = deepest(&found).unwrap();
        assert!((c.distance + overlap).abs() < 1e-14, "{}", c.distance);
        close(&c.normal, [0.0, 0.0, 1.0], 1e-12);
        close(&c.point, [0.03, 0.0, root - 0.5 * overlap].map(|x| x + 0.0), 0.021);
        assert!((c.point.x - 0.03).abs() < 1e-9 && c.point.y.abs() < 1e-9, "{c:?}");
        // Nothing else overlaps while the overlap is shallow.
        assert_eq!(
            found.iter().filter(|c| c.distance < -0.5 * overlap.abs()).count(),
            usize::from(overlap > 0.0)
        );
    }
}

/// A box on its corner over the face of another: one point under the corner, at its height; beside
/// the face, the distance between corner and corner.
#[test]
fn box_corner_on_a_face() {
    let (a, b) = (cuboid(0.5, 0.5, 0.1), cuboid(0.1, 0.1, 0.1));
    let turn =
        nalgebra::UnitQuaternion::rotation_between(&Vector3::new(1.0, 1.0, 1.0), &Vector3::z()).unwrap();
    let root = 0.1 * 3.0_f64.sqrt();
    for overlap in [-0.003, 0.002] {
        let pose = nalgebra::Isometry3::from_parts(
            nalgebra::Translation3::new(0.1, 0.2, 0.1 + root - overlap),
            turn,
        );
        let found = contacts((&a, at(0.0, 0.0, 0.0)), (&b, pose), 0.004);
        assert_eq!(found.len(), 1);
        assert!((found[0].distance + overlap).abs() < 1e-14);
        close(&found[0].normal, [0.0, 0.0, 1.0], 1e-14);
        close(&found[0].point, [0.1, 0.2, 0.1 - 0.5 * overlap], 1e-14);
    }
    // Diagonally apart by (0.01, 0.02, 0.02): the nearest points are two corners, 0.03 apart.
    let found = contacts((&b, at(0.0, 0.0, 0.0)), (&b, at(0.21, 0.22, 0.22)), 0.031);
    assert!((deepest(&found).unwrap().distance - 0.03).abs() < 1e-12, "{found:?}");
    assert!(contacts((&b, at(0.0, 0.0, 0.0)), (&b, at(0.21, 0.22, 0.22)), 0.029).is_empty());
}

/// Crossed capsules touch between their axes; parallel ones along what they share, in two points.
#[test]
fn capsules() {
    let shape = Shape::Capsule { radius: 0.1, half_length: 0.3 };
    let across = posed(0.05, 0.0, 0.19, Vector3::new(FRAC_PI_2, 0.0, 0.0));
    let along = posed(0.0, 0.0, 0.0, Vector3::new(0.0, FRAC_PI_2, 0.0));
    let found = contacts((&shape, along), (&shape, across), 0.01);
    assert_eq!(found.len(), 1);
    assert!((found[0].distance + 0.01).abs() < 1e-14);
    close(&found[0].point, [0.05, 0.0, 0.095], 1e-14);
    let beside = posed(0.2, 0.0, 0.19, Vector3::new(0.0, FRAC_PI_2, 0.0));
    let found = contacts((&shape, along), (&shape, beside), 0.01);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|c| (c.distance + 0.01).abs() < 1e-14));
    let mut x: Vec<f64> = found.iter().map(|c| c.point.x).collect();
    x.sort_by(f64::total_cmp);
    assert!((x[0] + 0.1).abs() < 1e-14 && (x[1] - 0.3).abs() < 1e-14, "{x:?}");
}

/// Capsule and cylinder lying on a box: two points at the ends of what they share; a cylinder
/// standing on it: a ring of points.
#[test]
fn round_shapes_on_a_box() {
    let table = cuboid(0.2, 0.5, 0.1);
    let lying = Vector3::new(0.0, FRAC_PI_2, 0.0);
    for (shape, end) in [
        (Shape::Capsule { radius: 0.05, half_length: 0.1 }, 0.1),
        (Shape::Cylinder { radius: 0.05, half_length: 0.1 }, 0.1),
        (Shape::Cylinder { radius: 0.05, half_length: 0.4 }, 0.2),
    ] {
        for depth in [-1e-3, 1e-3] {
            let found =
                contacts((&table, at(0.0, 0.0, 0.0)), (&shape, posed(0.0, 0.1, 0.15 - depth, lying)), 5e-3);
            assert_eq!(found.len(), 2, "{shape:?} {found:?}");
            for c in &found {
                assert!((c.distance + depth).abs() < 1e-12, "{shape:?} {depth} {}", c.distance);
                close(&c.normal, [0.0, 0.0, 1.0], 1e-12);
                assert!((c.point.x.abs() - end).abs() < 1e-12 && (c.point.y - 0.1).abs() < 1e-9, "{c:?}");
            }
        }
    }
    let standing = Shape::Cylinder { radius: 0.05, half_length: 0.1 };
    let found = contacts((&table, at(0.0, 0.0, 0.0)), (&standing, at(0.0, 0.0, 0.2 - 1e-4)), 5e-3);
    assert!(found.len() >= 4 && found.iter().all(|c| (c.distance + 1e-4).abs() < 1e-12));
    let centre: Vector3<f64> = found.iter().map(|c| c.point).sum();
    assert!(centre.xy().norm() < 1e-9, "{centre}");
}

/// A hull that is a box touches as that box does.
#[test]
fn hulls_of_boxes_are_boxes() {
    let (a, b) = (cuboid(0.5, 0.4, 0.1), cuboid(0.2, 0.3, 0.1));
    let [hull_a, hull_b] = [&a, &b].map(|s| hull(&s.triangles(3).0));
    for axis_angle in [Vector3::zeros(), Vector3::new(0.01, 0.02, 0.5), Vector3::new(0.6, 0.3, 0.2)] {
        let pose = posed(0.1, 0.2, 0.25, axis_angle);
        let expected = contacts((&a, at(0.0, 0.0, 0.0)), (&b, pose), 0.02);
        let found = contacts((&hull_a, at(0.0, 0.0, 0.0)), (&hull_b, pose), 0.02);
        assert_eq!(expected.len(), found.len());
        for c in &expected {
            let same = |f: &&GeometricContact| {
                (f.point - c.point).norm() < 1e-9 && (f.distance - c.distance).abs() < 1e-12
            };
            assert!(found.iter().any(|f| same(&f)), "{c:?} is not among {found:?}");
        }
    }
}

/// In series: equal stiffnesses halve, the dissipation is weighted by the other's compliance,
/// friction is 2 mu1 mu2/(mu1 + mu2).
#[test]
fn materials_combine() {
    let a = ContactMaterial {
        stiffness: 3e5,
        dissipation: 10.0,
        static_friction: 1.0,
        dynamic_friction: 0.5,
        ..ContactMaterial::with_friction(0.0)
    };
    let b = ContactMaterial {
        stiffness: 1e5,
        dissipation: 2.0,
        static_friction: 0.25,
        dynamic_friction: 0.0,
        ..ContactMaterial::with_friction(0.0)
    };
    let c = a.combine(&b);
    assert!((c.stiffness - 0.75e5).abs() < 1e-9);
    assert!((c.dissipation - (1e5 * 10.0 + 3e5 * 2.0) / 4e5).abs() < 1e-14);
    assert!((c.static_friction - 0.4).abs() < 1e-15 && c.dynamic_friction == 0.0);
    // MuJoCo's rule holds for two surfaces that both have it.
    let larger =
        |material: &ContactMaterial| ContactMaterial { friction_rule: FrictionRule::Larger, ..*material };
    let e = larger(&a).combine(&larger(&b));
    assert_eq!([e.static_friction, e.dynamic_friction], [1.0, 0.5]);
    assert_eq!(larger(&a).combine(&b), c);
    let d = b.combine(&a);
    assert!((c.stiffness - d.stiffness).abs() < 1e-9 && (c.dissipation - d.dissipation).abs() < 1e-14);
}
