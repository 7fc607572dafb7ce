//! Signed distances of the device against those of `pliant_rigid::Shape` in f64, on random points.
//!
//! The points are exact in f32, so that all that differs is rounding. Each number of the device's
//! calculation is at most the size of the shape plus the point's distance from its center, S, and a
//! distance takes a few roundings of 2^-24 S in a row: it must be within 16 of them. A normal or
//! feature is discontinuous where the nearest point is not unique: there the device must give what
//! the reference gives somewhere within the same bound of the point.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_cuda::contact::{ContactError, DeviceGeometries};
use pliant_cuda::kernels::{CONTACT_NONE, CONTACT_THREADS, ProbeContactDistanceParameters};
use pliant_cuda::{Device, Launch};
use pliant_rigid::{Shape, SurfacePoint, TriangleMesh};
use support::shapes::{bodies, geometry, shapes, to_triangle, vector};
use support::{Random, device_kinds, devices};

/// Roundings of the size that a distance may be off.
const ROUNDINGS: f64 = 16.0 / (1 << 24) as f64;

/// What the device makes of points of a shape.
struct Answers {
    distances: Vec<f32>,
    normals: Vec<[f32; 3]>,
    features: Vec<u32>,
    lower_bounds: Vec<f32>,
}

fn ask(
    device: &Device,
    geometries: &DeviceGeometries,
    number: usize,
    points: &[[f32; 3]],
    sides: &[u32],
) -> Answers {
    let count = points.len();
    let (points, sides) = (device.upload(points).unwrap(), device.upload(sides).unwrap());
    let distances = device.allocate(count).unwrap();
    let normals = device.allocate(count).unwrap();
    let features = device.allocate(count).unwrap();
    let lower_bounds = device.allocate(count).unwrap();
    let parameters = ProbeContactDistanceParameters {
        shapes: geometries.shapes(),
        points: points.span(),
        sides: sides.span(),
        distances: distances.span(),
        normals: normals.span(),
        features: features.span(),
        lower_bounds: lower_bounds.span(),
        geometry: number as u32,
        unused: 0,
    };
    device.launch(Launch::over(count as u32, CONTACT_THREADS, CONTACT_THREADS), &parameters).unwrap();
    Answers {
        distances: distances.download().unwrap(),
        normals: normals.download().unwrap(),
        features: features.download().unwrap(),
        lower_bounds: lower_bounds.download().unwrap(),
    }
}

/// Radius of a ball around the shape about its center; 0 for the half-space [m].
fn radius(shape: &Shape) -> f64 {
    shape.bounding_sphere().map_or(0.0, |(_, radius)| radius)
}

/// Points around the shape: in a box of twice its size, near its surface, and on planes of
/// symmetry.
fn points(shape: &Shape, middle: &Vector3<f64>, count: usize, random: &mut Random) -> Vec<[f32; 3]> {
    let size = radius(shape).max(0.1);
    let any = |k: usize| {
        let mut p = vector(random) * (if k % 4 == 1 { 8.0 } else { 1.3 }) * size;
        if k % 4 == 2 {
            let near = shape.surface_point(&Point3::from(middle + p));
            p -= near.normal.into_inner() * (near.distance + 0.01 * size * random.signed());
        }
        if k % 8 == 3 {
            p[k / 8 % 3] = 0.0;
        }
        [p.x as f32, p.y as f32, p.z as f32]
    };
    (0..count).map(any).collect()
}

/// The point and others within `reach` [m] of it: what the device's point may be by rounding.
fn around(p: &Point3<f64>, reach: f64) -> Vec<Point3<f64>> {
    let offset =
        |k: usize| Vector3::new((k % 3) as f64 - 1.0, (k / 3 % 3) as f64 - 1.0, (k / 9) as f64 - 1.0);
    std::iter::once(*p).chain((0..27).map(|k| p + offset(k) * reach)).collect()
}

/// Whether the reference says the same somewhere: distance within `bound` [m], normal as far as it
/// changes there.
fn agrees(references: &[SurfacePoint], distance: f64, normal: &Vector3<f64>, bound: f64) -> bool {
    references.iter().any(|r| {
        // A normal turns by the angle that the point's error is seen under from the nearest point
        // or centre of curvature.
        let near = references.iter().map(|s| (s.normal.into_inner() - r.normal.into_inner()).norm());
        let turn = near.filter(|turn| *turn < 0.2).fold(1e-5, f64::max);
        (r.distance - distance).abs() <= 3.0 * bound && (r.normal.into_inner() - normal).norm() <= 3.0 * turn
    })
}

/// Whether a face or triangle of a shape is as near as the nearest, and so one of those that may be
/// named.
fn is_nearest(shape: &Shape, feature: u32, p: &Point3<f64>, distance: f64, bound: f64) -> bool {
    let mesh = match shape {
        Shape::Mesh(mesh) => mesh,
        Shape::HeightField(field) => field.mesh(),
        Shape::ConvexHull(hull) => {
            let (normal, offset) = hull.face(feature).unwrap();
            if distance < 0.0 {
                return (normal.dot(&p.coords) - offset - distance).abs() <= bound;
            }
            let mesh = hull.mesh();
            let corners = |t: &[u32; 3]| t.map(|i| mesh.vertices()[i as usize]);
            let in_plane =
                |t: &&[u32; 3]| corners(t).iter().all(|v| (normal.dot(&v.coords) - offset).abs() < 1e-9);
            let distances = mesh.triangles().iter().filter(in_plane).map(|t| to_triangle(p, corners(t)));
            return distances.fold(f64::MAX, f64::min) <= distance.abs() + bound;
        }
        _ => return false,
    };
    let corners = mesh.triangles()[feature as usize].map(|i| mesh.vertices()[i as usize]);
    to_triangle(p, corners) <= distance.abs() + bound
}

/// Whether `distance` [m] is what one of the triangles of a mesh gives that are nearest on side
/// `side`: at an edge or vertex there are several, and which of them is taken is by chance.
fn is_equally_near(shape: &Shape, side: u32, p: &Point3<f64>, distance: f64, bound: f64) -> bool {
    let mesh = match shape {
        Shape::Mesh(mesh) => mesh,
        Shape::HeightField(field) => field.mesh(),
        _ => return false,
    };
    let Some(entered) = mesh.face_normals().get(side as usize) else { return false };
    let corners = |t: usize| mesh.triangles()[t].map(|i| mesh.vertices()[i as usize]);
    let same_side = (0..mesh.triangles().len()).filter(|t| mesh.face_normals()[*t].dot(entered) > 0.5);
    let distances: Vec<(usize, f64)> = same_side.map(|t| (t, to_triangle(p, corners(t)))).collect();
    let least = distances.iter().map(|(_, d)| *d).fold(f64::MAX, f64::min);
    let nearest = shape.surface_point(p).distance;
    distances.iter().filter(|(_, d)| *d <= least + bound).any(|&(t, d)| {
        let height = mesh.face_normals()[t].dot(&(p - corners(t)[0]));
        // As `TriangleMesh` has it: behind the triangle, and in its shadow where the point is
        // outside.
        let behind = height < -(if nearest < 0.0 { 0.0 } else { 0.9 * d });
        ((if behind { height } else { nearest }) - distance).abs() <= bound
    })
}

/// Calls `check` with each kind of shape on each device, its center, and its number.
fn for_each_shape(check: impl Fn(&Device, &DeviceGeometries, usize, &Shape, Vector3<f64>)) {
    let all = shapes();
    let geometries = all.iter().map(|shape| vec![geometry(shape.clone(), Isometry3::identity(), false)]);
    let bodies = bodies(geometries.collect());
    for device in devices() {
        let geometries = DeviceGeometries::new(&device, &bodies).unwrap();
        assert_eq!(geometries.len(), all.len());
        for (number, shape) in all.iter().enumerate() {
            let middle = geometries.center(number).unwrap();
            check(&device, &geometries, number, shape, middle);
        }
    }
}

#[test]
fn distances_normals_and_features_are_those_of_the_shapes() {
    for_each_shape(|device, geometries, number, shape, middle| {
        let points = points(shape, &middle, 1500, &mut Random(number as u64));
        let body_velocity_changes =
            ask(device, geometries, number, &points, &vec![CONTACT_NONE; points.len()]);
        let mut compared = 0;
        for (k, point) in points.iter().enumerate() {
            let local = Vector3::from(point.map(f64::from));
            let p = Point3::from(middle + local);
            let bound = ROUNDINGS * (radius(shape) + local.norm());
            let distance = f64::from(body_velocity_changes.distances[k]);
            let nearest = shape.surface_point(&p);
            let about = format!("{} {number} at {local:?}", shape.name());
            assert!(
                (distance - nearest.distance).abs() <= bound,
                "{about}: {distance}, not {}",
                nearest.distance
            );
            let lower = f64::from(body_velocity_changes.lower_bounds[k]);
            assert!((lower - shape.lower_bound(&p)).abs() <= bound, "{about}: bound {lower}");
            // Next to an edge the direction to it is lost.
            if nearest.distance.abs() < 1e-5 * radius(shape) {
                continue;
            }
            compared += 1;
            let normal = Vector3::from(body_velocity_changes.normals[k].map(f64::from));
            assert!((normal.norm() - 1.0).abs() < 1e-6, "{about}: normal {normal:?}");
            let references: Vec<SurfacePoint> =
                around(&p, bound).iter().map(|q| shape.surface_point(q)).collect();
            assert!(
                agrees(&references, distance, &normal, bound),
                "{about}: {distance} {normal:?}, {nearest:?}"
            );
            let feature = body_velocity_changes.features[k];
            let same = references.iter().any(|r| r.feature == feature);
            assert!(
                same || is_nearest(shape, feature, &p, distance, 3.0 * bound),
                "{about}: {feature}, {nearest:?}"
            );
        }
        assert!(compared > 1000);
    });
}

#[test]
fn a_particle_is_measured_from_the_face_it_came_through() {
    for_each_shape(|device, geometries, number, shape, middle| {
        let mut random = Random(100 + number as u64);
        let points = points(shape, &middle, 1500, &mut random);
        let features = match shape {
            Shape::Box { .. } => 7,
            Shape::Cylinder { .. } => 4,
            Shape::ConvexHull(hull) => hull.face_count() as u32 + 1,
            Shape::Mesh(mesh) => mesh.triangles().len() as u32 + 1,
            Shape::HeightField(field) => field.mesh().triangles().len() as u32 + 1,
            _ => 2,
        };
        // One beyond the last: it is then as if there were no side.
        let sides: Vec<u32> = points.iter().map(|_| random.word() % features).collect();
        let body_velocity_changes = ask(device, geometries, number, &points, &sides);
        let mut followed = 0;
        for (k, point) in points.iter().enumerate() {
            let local = Vector3::from(point.map(f64::from));
            let p = Point3::from(middle + local);
            let bound = ROUNDINGS * (radius(shape) + local.norm());
            let from = |q: &Point3<f64>| shape.surface_point_from(q, sides[k]);
            let reference = from(&p);
            if reference.distance.abs() < 1e-5 * radius(shape) {
                continue;
            }
            followed += usize::from(reference.feature != shape.surface_point(&p).feature);
            let references: Vec<SurfacePoint> = around(&p, bound).iter().map(from).collect();
            let (distance, normal) = (
                f64::from(body_velocity_changes.distances[k]),
                Vector3::from(body_velocity_changes.normals[k].map(f64::from)),
            );
            assert!(
                agrees(&references, distance, &normal, bound)
                    || is_equally_near(shape, sides[k], &p, distance, bound),
                "{} {number} at {local:?} from {}: {distance} {normal:?}, not {reference:?}",
                shape.name(),
                sides[k]
            );
        }
        let has_sides = features > 2;
        assert_eq!(followed > 20, has_sides, "{} {number}: {followed} followed", shape.name());
    });
}

#[test]
fn sizes_that_single_precision_cannot_hold_are_refused() {
    for device in device_kinds() {
        // Shapes with sizes of their own are refused before; the size of a mesh is that of its box.
        let size = 1e-12;
        let corners = [[0.0; 3], [size, 0.0, 0.0], [0.0, size, 0.0], [0.0, 0.0, size]].map(Point3::from);
        let mesh =
            TriangleMesh::new(corners.into(), vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).unwrap();
        let tiny = geometry(Shape::Mesh(mesh), Isometry3::identity(), false);
        let error = DeviceGeometries::new(&device, &bodies(vec![vec![tiny]])).unwrap_err();
        let ContactError::Size { body, geometry: 0, shape: "mesh", value } = error else { panic!("{error}") };
        assert_eq!(body, "body 0");
        assert!((value / (0.5 * size) - 1.0).abs() < 1e-6, "{value}");
    }
}
