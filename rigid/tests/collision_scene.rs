//! Whole scenes: which pairs are tried, repeatability, stability under small motions, meshes.

use crate::collision_common::*;
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, Vector3};
use pliant_rigid::collision::*;
use pliant_rigid::multibody::*;
use pliant_rigid::{HeightField, Shape};
use pliant_testing::Random;
use std::f64::consts::FRAC_PI_2;

/// A heap of every kind of shape above two planes.
fn heap(seed: u64, count: usize) -> (CollisionModel, Vec<Isometry3<f64>>) {
    let mut random = Random::new(seed);
    let kinds = [
        cuboid(0.05, 0.04, 0.03),
        Shape::Sphere { radius: 0.05 },
        Shape::Capsule { radius: 0.03, half_length: 0.04 },
        Shape::Cylinder { radius: 0.04, half_length: 0.05 },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.03, 0.04, 0.06) },
        hull(&cuboid(0.05, 0.05, 0.03).triangles(3).0),
    ];
    let mut shapes: Vec<Shape> = (0..count).map(|k| kinds[k % kinds.len()].clone()).collect();
    shapes.push(Shape::HalfSpace);
    let mut poses: Vec<Isometry3<f64>> = (0..count)
        .map(|_| Isometry3::from_parts(Translation3::from(random.vector() * 0.3), random.rotation()))
        .collect();
    poses.push(posed(0.0, 0.0, -0.2, Vector3::new(0.1, 0.2, 0.0)));
    (free_bodies(shapes), poses)
}

/// The broad phase leaves out nothing: the contacts of a scene are those of each pair taken alone.
#[test]
fn broad_phase_equals_all_pairs() {
    for seed in 0..5 {
        let (scene, poses) = heap(seed, 40);
        let found = detect(&scene, &poses, 0.01);
        let mut expected = Vec::new();
        for a in 0..poses.len() {
            for b in a + 1..poses.len() {
                let (shape_a, shape_b) = (&scene.geometries()[a].shape, &scene.geometries()[b].shape);
                let alone = contacts((shape_a, poses[a]), (shape_b, poses[b]), 0.01);
                // With room to spare: boxes that are too small would show here.
                let near = contacts((shape_a, poses[a]), (shape_b, poses[b]), 0.1);
                assert_eq!(alone.is_empty(), deepest(&near).is_none_or(|c| c.distance >= 0.01), "{a} {b}");
                expected.extend(alone.into_iter().map(|c| GeometricContact { a, b, ..c }));
            }
        }
        assert!(found.len() > 30, "seed {seed}: only {} contacts", found.len());
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// The same for bodies far apart from each other, and for rods and boards that reach over many of
/// them, in each plane: the broad phase works in strips, and two may share several.
#[test]
fn broad_phase_equals_all_pairs_across_strips() {
    let rods = [cuboid(0.01, 0.01, 0.8), cuboid(0.5, 0.6, 0.02), Shape::Sphere { radius: 0.04 }];
    for seed in 0..6 {
        let mut random = Random::new(90 + seed);
        let shapes: Vec<Shape> = (0..90).map(|k| rods[if k < 12 { k % 2 } else { 2 }].clone()).collect();
        let flat = (seed % 3) as usize;
        let poses: Vec<Isometry3<f64>> = (0..90)
            .map(|_| {
                let mut place = random.vector();
                place[flat] *= 0.05;
                Isometry3::from_parts(Translation3::from(place), random.rotation())
            })
            .collect();
        let scene = free_bodies(shapes);
        let found = detect(&scene, &poses, 0.01);
        let mut expected = Vec::new();
        for a in 0..poses.len() {
            for b in a + 1..poses.len() {
                let shapes = [a, b].map(|k| &scene.geometries()[k].shape);
                let alone = contacts((shapes[0], poses[a]), (shapes[1], poses[b]), 0.01);
                expected.extend(alone.into_iter().map(|c| GeometricContact { a, b, ..c }));
            }
        }
        assert!(found.len() > 60, "seed {seed}: only {} contacts", found.len());
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// Equal poses give equal bits, whatever the detector did before: a run that was saved and restored
/// goes on the same.
#[test]
fn results_do_not_depend_on_the_past() {
    let mut used = Detector::new();
    let mut out = Vec::new();
    for seed in 0..20 {
        let (scene, poses) = heap(seed, 30);
        used.detect(&scene, |link| poses[link.0], 0.01, &mut out);
        let fresh = detect(&scene, &poses, 0.01);
        assert_eq!(out.len(), fresh.len());
        for (x, y) in out.iter().zip(&fresh) {
            assert_eq!(format!("{x:?}"), format!("{y:?}"), "seed {seed}");
            assert_eq!(x.distance.to_bits(), y.distance.to_bits(), "seed {seed}");
        }
        assert!(out.windows(2).all(|w| (w[0].a, w[0].b, w[0].feature) < (w[1].a, w[1].b, w[1].feature)));
    }
}

/// Six spheres in one place, one a link; which pairs touch is what the filters leave.
#[test]
fn filters() {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let hinge = || JointKind::Revolute { axis: Vector3::z_axis() };
    let base = builder.add(link("base", None, JointKind::Fixed)).unwrap();
    let arm = builder.add(link("arm", Some(base), hinge())).unwrap();
    let tool = builder.add(link("tool", Some(arm), JointKind::Fixed)).unwrap();
    let finger = builder.add(link("finger", Some(tool), hinge())).unwrap();
    let ball = builder.add(link("ball", None, JointKind::Free)).unwrap();
    let model = builder.build().unwrap();
    let sphere = || Shape::Sphere { radius: 0.1 };
    let links = [None, Some(base), Some(arm), Some(tool), Some(finger), Some(ball)];
    let geometries: Vec<CollisionGeometry> = links.iter().map(|l| geometry(*l, sphere())).collect();
    let pairs = |geometries: Vec<CollisionGeometry>, excluded: &[(LinkId, LinkId)]| {
        let scene = CollisionModel::new(geometries, &model, excluded).unwrap();
        let mut out = Vec::new();
        Detector::new().detect(&scene, |_| Isometry3::identity(), 0.0, &mut out);
        out.iter().map(|c| (c.a, c.b)).collect::<Vec<_>>()
    };
    let [world, base_, arm_, tool_, finger_, ball_] = [0, 1, 2, 3, 4, 5];
    // Not: world-base (fixed), base-arm (parent), arm-tool (welded), arm-finger and tool-finger
    // (joined, through the weld).
    let usual = vec![
        (world, arm_),
        (world, tool_),
        (world, finger_),
        (world, ball_),
        (base_, tool_),
        (base_, finger_),
        (base_, ball_),
        (arm_, ball_),
        (tool_, ball_),
        (finger_, ball_),
    ];
    assert_eq!(pairs(geometries.clone(), &[]), usual);
    let without: Vec<_> = usual.iter().copied().filter(|p| *p != (tool_, ball_)).collect();
    assert_eq!(pairs(geometries.clone(), &[(ball, tool)]), without);
    // The ball is in group 2, and only the finger's mask has it; the ball's mask has all.
    let mut grouped = geometries.clone();
    grouped[ball_].group = 2;
    grouped[ball_].mask = u32::MAX;
    grouped[finger_].mask = 3;
    let left: Vec<_> = usual.iter().copied().filter(|p| p.1 != ball_ || p.0 == finger_).collect();
    assert_eq!(pairs(grouped, &[]), left);
}

/// Unsupported or invalid input is reported when the scene is made, with the geometry's name.
#[test]
fn scenes_that_cannot_be_done_are_refused() {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let [a, b] = ["a", "b"].map(|name| builder.add(link(name, None, JointKind::Free)).unwrap());
    let model = builder.build().unwrap();
    let torus = || mesh(pliant_testing::meshes::torus(0.1, 0.03, 12, 8));
    let two = |x: Shape, y: Shape| vec![geometry(Some(a), x), geometry(Some(b), y)];
    let unsupported = CollisionModel::new(two(torus(), torus()), &model, &[]);
    assert!(matches!(unsupported, Err(CollisionError::UnsupportedPair { first: 0, second: 1, .. })));
    assert!(CollisionModel::new(two(torus(), torus()), &model, &[(a, b)]).is_ok());
    let ground = terrain(|_, _| 0.0, 3, 1.0);
    assert!(matches!(
        CollisionModel::new(two(ground, torus()), &model, &[]),
        Err(CollisionError::UnsupportedPair { .. })
    ));
    let planes = CollisionModel::new(two(Shape::HalfSpace, Shape::HalfSpace), &model, &[]);
    assert!(matches!(planes, Err(CollisionError::UnsupportedPair { .. })));
    let ball = Shape::Sphere { radius: 0.1 };
    let mut soft = two(ball.clone(), ball.clone());
    soft[1].material.stiffness = 0.0;
    let told = CollisionModel::new(soft, &model, &[]).unwrap_err().to_string();
    assert!(told.contains("'sphere', stiffness: 0 N/m"), "{told}");
    let flat = CollisionModel::new(two(ball.clone(), cuboid(1.0, -1.0, 1.0)), &model, &[]);
    assert!(matches!(flat, Err(CollisionError::Shape { geometry: 1, .. })));
    let lost = CollisionModel::new(vec![geometry(Some(LinkId(7)), ball)], &model, &[]);
    assert!(matches!(lost, Err(CollisionError::NoLink { link: 7, .. })));
}

/// A motion by at most `step` moves contacts by no more than a few times as much; those that come
/// and go are near the margin.
fn assert_stable(path: impl Fn(f64) -> Isometry3<f64>, table: &Shape, shape: &Shape, margin: f64) {
    let step = 1e-6;
    let mut before: Option<Vec<GeometricContact>> = None;
    for k in 0..400 {
        let now = contacts((table, at(0.0, 0.0, 0.0)), (shape, path(f64::from(k) * step)), margin);
        if let Some(before) = &before {
            for (some, others) in [(before, &now), (&now, before)] {
                for c in some {
                    let near_margin = c.distance > margin - 10.0 * step;
                    let moved = others.iter().any(|o| {
                        (o.point - c.point).norm() < 10.0 * step
                            && (o.distance - c.distance).abs() < 10.0 * step
                            && (o.normal.into_inner() - c.normal.into_inner()).norm() < 50.0 * step
                            && o.feature == c.feature
                    });
                    assert!(near_margin || moved, "step {k}: {c:?} jumped; {others:?}");
                }
            }
        }
        before = Some(now);
    }
}

/// A box that sinks, slides, tilts and turns by small amounts on a plane, on a larger box and on
/// terrain; a standing cylinder that tilts on a plane, and a lying one.
#[test]
fn contact_points_do_not_jump() {
    let cube = cuboid(0.1, 0.08, 0.05);
    let table = cuboid(0.5, 0.5, 0.1);
    let mut random = Random::new(21);
    for _ in 0..6 {
        let (slide, tilt) = (random.vector(), random.vector());
        let path = |height: f64| {
            move |s: f64| {
                let d = s - 2e-4;
                posed(d * slide.x, d * slide.y, height + d * slide.z, tilt * (d * 5.0))
            }
        };
        assert_stable(path(0.05), &Shape::HalfSpace, &cube, 1e-3);
        assert_stable(path(0.15), &table, &cube, 1e-3);
        let standing = Shape::Cylinder { radius: 0.05, half_length: 0.07 };
        let small = move |s: f64| path(0.07)(2e-4 + (s - 2e-4) * 0.02);
        assert_stable(small, &Shape::HalfSpace, &standing, 1e-3);
        let lying = move |s: f64| path(0.05)(s) * posed(0.0, 0.0, 0.0, Vector3::x() * FRAC_PI_2);
        assert_stable(lying, &Shape::HalfSpace, &standing, 1e-3);
    }
}

/// A mesh of a box touches as the box does: corners on faces at the same depth, edges at the edges'
/// depth.
#[test]
fn meshes_of_boxes_touch_as_boxes() {
    let table = cuboid(0.5, 0.5, 0.1);
    let mesh_table = mesh(table.triangles(3));
    let cases = [
        ("flat", cuboid(0.1, 0.1, 0.1), at(0.05, 0.02, 0.2 - 1e-3)),
        ("corner", cuboid(0.1, 0.1, 0.1), posed(0.05, 0.02, 0.26, Vector3::new(0.6, 0.6, 0.0))),
        ("beam across", cuboid(0.7, 0.1, 0.1), at(0.0, 0.0, 0.2 - 1e-3)),
        ("cylinder", Shape::Cylinder { radius: 0.1, half_length: 0.1 }, at(0.1, 0.1, 0.2 - 1e-3)),
        ("sphere", Shape::Sphere { radius: 0.1 }, at(0.2, 0.1, 0.2 - 1e-3)),
        (
            "capsule",
            Shape::Capsule { radius: 0.1, half_length: 0.2 },
            posed(0.0, 0.1, 0.2 - 1e-3, Vector3::x() * FRAC_PI_2),
        ),
        ("ellipsoid", Shape::Ellipsoid { semi_axes: Vector3::new(0.2, 0.2, 0.1) }, at(0.1, 0.1, 0.2 - 1e-3)),
    ];
    for (name, shape, pose) in cases {
        let expected = contacts((&table, at(0.0, 0.0, 0.0)), (&shape, pose), 5e-3);
        let found = contacts((&mesh_table, at(0.0, 0.0, 0.0)), (&shape, pose), 5e-3);
        let (e, f) = (deepest(&expected).unwrap(), deepest(&found).unwrap());
        assert!((e.distance - f.distance).abs() < 1e-6, "{name}: {e:?} {f:?}");
        assert!((e.normal.into_inner() - f.normal.into_inner()).norm() < 1e-5, "{name}: {e:?} {f:?}");
        // Deep contacts span as much of the table.
        let spread = |contacts: &[GeometricContact]| {
            let deep: Vec<_> = contacts.iter().filter(|c| c.distance < e.distance + 1e-5).collect();
            let x = deep.iter().map(|c| c.point.x);
            let y = deep.iter().map(|c| c.point.y);
            let width = |v: &mut dyn Iterator<Item = f64>| {
                let (low, high) = v.fold((f64::MAX, f64::MIN), |(l, h), t| (l.min(t), h.max(t)));
                high - low
            };
            [width(&mut x.into_iter()), width(&mut y.into_iter())]
        };
        let (expected, found) = (spread(&expected), spread(&found));
        assert!((0..2).all(|k| found[k] > 0.9 * expected[k] - 1e-9), "{name}: {found:?} of {expected:?}");
    }
}

/// A ball falls through the hole of a torus, whose hull is solid; in the reentrant corner of an L
/// it touches both sides.
#[test]
fn meshes_are_not_their_hulls() {
    let torus = mesh(pliant_testing::meshes::torus(0.2, 0.05, 32, 16));
    let ball = Shape::Sphere { radius: 0.1 };
    assert!(contacts((&torus, at(0.0, 0.0, 0.0)), (&ball, at(0.0, 0.0, 0.0)), 0.01).is_empty());
    for shape in [
        cuboid(0.05, 0.05, 0.2),
        Shape::Cylinder { radius: 0.1, half_length: 0.3 },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.1, 0.1, 0.3) },
        Shape::Capsule { radius: 0.1, half_length: 0.2 },
    ] {
        assert!(
            contacts((&torus, at(0.0, 0.0, 0.0)), (&shape, at(0.0, 0.0, 0.0)), 0.01).is_empty(),
            "{shape:?}"
        );
    }
    let l = mesh(pliant_testing::meshes::l_shape());
    let found = contacts((&l, at(0.0, 0.0, 0.0)), (&ball, at(1.09, 1.08, 0.5)), 0.01);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|c| (c.distance + 0.01).abs() < 1e-12 && c.normal.x > 0.999));
    assert!(found.iter().any(|c| (c.distance + 0.02).abs() < 1e-12 && c.normal.y > 0.999));
    // A box wholly inside is pushed out.
    let inside = contacts((&l, at(0.0, 0.0, 0.0)), (&cuboid(0.01, 0.01, 0.01), at(0.5, 0.5, 0.9)), 0.0);
    assert!(
        !inside.is_empty() && inside.iter().all(|c| c.normal.z > 0.999 && c.distance < 0.0),
        "{inside:?}"
    );
}

/// On flat terrain of many triangles a box slides without feeling the edges between them: every
/// normal is up, every depth the same.
#[test]
fn flat_terrain_is_smooth() {
    let ground = terrain(|_, _| 0.0, 21, 0.05);
    let mut random = Random::new(41);
    for shape in [
        cuboid(0.08, 0.07, 0.05),
        Shape::Cylinder { radius: 0.07, half_length: 0.05 },
        Shape::Sphere { radius: 0.05 },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.1, 0.1, 0.05) },
    ] {
        for _ in 0..50 {
            let r = random.vector() * 0.3;
            let pose = posed(r.x, r.y, 0.05 - 1e-4, Vector3::new(0.0, 0.0, r.z));
            let found = contacts((&ground, at(0.0, 0.0, 0.0)), (&shape, pose), 1e-3);
            assert!(!found.is_empty());
            for c in &found {
                assert!((c.distance + 1e-4).abs() < 1e-9 && c.normal.z > 1.0 - 1e-9, "{shape:?} {c:?}");
            }
        }
    }
}

/// The distance to an ellipsoid: its foot lies on it, along the normal, and no sampled point of the
/// surface is nearer; known values on the axes. Inside at the centre it is the shortest semi-axis.
#[test]
fn ellipsoid_distances() {
    let a = Vector3::new(0.3, 0.5, 0.2);
    let shape = Shape::Ellipsoid { semi_axes: a };
    assert!((shape.surface_point(&Point3::origin()).distance + 0.2).abs() < 1e-15);
    for k in 0..3 {
        let p = Point3::from(Vector3::ith(k, 1.0));
        assert!((shape.surface_point(&p).distance - (1.0 - a[k])).abs() < 1e-15);
    }
    let mut random = Random::new(51);
    let surface: Vec<Vector3<f64>> =
        (0..2000).map(|_| a.component_mul(&random.vector().normalize())).collect();
    for k in 0..400 {
        let mut p = random.vector() * 0.6;
        // Some in the planes of symmetry, where the nearest point leaves the plane.
        if k % 3 == 0 {
            p[k % 2 + 1] = 0.0;
        }
        let s = shape.surface_point(&p.into());
        let foot = p - s.normal.into_inner() * s.distance;
        assert!((foot.component_div(&a).norm() - 1.0).abs() < 1e-13, "{p}: foot {foot}");
        let gradient = Unit::new_normalize(foot.component_div(&a.component_mul(&a)));
        assert!((gradient.into_inner() - s.normal.into_inner()).norm() < 1e-7, "{p}");
        assert_eq!(s.distance < 0.0, p.component_div(&a).norm() < 1.0);
        assert!(surface.iter().all(|x| (x - p).norm() > s.distance.abs() - 1e-13), "{p}");
        assert!(shape.lower_bound(&p.into()) <= s.distance + 1e-15, "{p}");
    }
    // Mass and inertia: 4/3 pi abc, m (b^2 + c^2)/5; the tessellation fills it but for 2 percent.
    let (mass, centre, inertia) = shape.mass_properties(1000.0).unwrap();
    assert!((mass - 4000.0 / 3.0 * std::f64::consts::PI * 0.03).abs() < 1e-10 && centre == Point3::origin());
    let expected = Matrix3::from_diagonal(&Vector3::new(0.29, 0.13, 0.34)) * (mass / 5.0);
    assert!((inertia - expected).amax() < 1e-12);
    let (filled, _, _) = mesh(shape.triangles(48)).mass_properties(1000.0).unwrap();
    assert!(filled < mass && filled > 0.98 * mass);
}

/// A height field is the solid below its heights: on a slope z = x/2 the distance is (z - x/2)
/// cos(atan 1/2); its volume is the mean height over the floor times the area; nonsense is refused.
#[test]
fn height_field_distances() {
    let slope = terrain(|x, _| 0.5 * x, 11, 0.2);
    let mut random = Random::new(61);
    for _ in 0..200 {
        let p = Point3::from(random.vector() * 0.3);
        let s = slope.surface_point(&p);
        assert!((s.distance - (p.z - 0.5 * p.x) / 1.25_f64.sqrt()).abs() < 1e-14, "{p}");
    }
    // Heights from -0.5 to 0.5 over 2 m x 2 m, the floor 1 m below the lowest.
    let (mass, _, _) = slope.mass_properties(1.0).unwrap();
    assert!((mass - 1.5 * 4.0).abs() < 1e-12);
    assert!(HeightField::new(&[0.0; 5], 2, [1.0, 1.0], 1.0).is_err());
    assert!(HeightField::new(&[0.0, 0.0, f64::NAN, 0.0], 2, [1.0, 1.0], 1.0).is_err());
    assert!(HeightField::new(&[0.0; 4], 2, [1.0, 0.0], 1.0).is_err());
}
