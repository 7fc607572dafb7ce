//! Scenes of two or more free bodies, and support functions written out again, for the tests of
//! contact detection.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)] // the bench uses a part, and all of it runs in tests

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_rigid::collision::*;
use pliant_rigid::multibody::*;
use pliant_rigid::{ConvexHull, HeightField, Shape, TriangleMesh};

pub const MATERIAL: ContactMaterial = ContactMaterial {
    stiffness: 1e6,
    dissipation: 10.0,
    static_friction: 0.5,
    dynamic_friction: 0.4,
    ..ContactMaterial::with_friction(0.0)
};

pub fn geometry(link: Option<LinkId>, shape: Shape) -> CollisionGeometry {
    CollisionGeometry {
        name: shape.name().into(),
        link,
        pose: Isometry3::identity(),
        shape,
        material: MATERIAL,
        group: 1,
        mask: 1,
        color: [0; 3],
    }
}

/// A link with the mass of a ball.
pub fn link(name: &str, parent: Option<LinkId>, joint: JointKind) -> Link {
    let inertia = RigidInertia::at_center(1.0, Vector3::zeros(), Matrix3::identity() * 0.01);
    Link {
        name: name.into(),
        parent,
        joint,
        frame: Isometry3::identity(),
        inertia,
        gravity: true,
        dofs: vec![],
    }
}

/// As many free links as there are shapes, one shape on each.
pub fn free_bodies(shapes: Vec<Shape>) -> CollisionModel {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let geometries = shapes
        .into_iter()
        .enumerate()
        .map(|(k, shape)| {
            geometry(Some(builder.add(link(&format!("body {k}"), None, JointKind::Free)).unwrap()), shape)
        })
        .collect();
    CollisionModel::new(geometries, &builder.build().unwrap(), &[]).unwrap()
}

pub fn detect(scene: &CollisionModel, poses: &[Isometry3<f64>], margin: f64) -> Vec<GeometricContact> {
    let mut out = Vec::new();
    Detector::new().detect(scene, |link| poses[link.0], margin, &mut out);
    out
}

/// Contacts of two shapes.
pub fn contacts(
    a: (&Shape, Isometry3<f64>),
    b: (&Shape, Isometry3<f64>),
    margin: f64,
) -> Vec<GeometricContact> {
    detect(&free_bodies(vec![a.0.clone(), b.0.clone()]), &[a.1, b.1], margin)
}

pub fn deepest(contacts: &[GeometricContact]) -> Option<&GeometricContact> {
    contacts.iter().min_by(|x, y| x.distance.total_cmp(&y.distance))
}

pub fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

pub fn posed(x: f64, y: f64, z: f64, axis_angle: Vector3<f64>) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_scaled_axis(axis_angle))
}

pub fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::Box { half_extents: Vector3::new(x, y, z) }
}

pub fn hull(points: &[Point3<f64>]) -> Shape {
    Shape::ConvexHull(ConvexHull::new(points).unwrap())
}

pub fn mesh((vertices, triangles): (Vec<Point3<f64>>, Vec<[u32; 3]>)) -> Shape {
    Shape::Mesh(TriangleMesh::new(vertices, triangles).unwrap())
}

pub fn terrain(height: impl Fn(f64, f64) -> f64, n: usize, spacing: f64) -> Shape {
    let place = |i: usize| (i as f64 - 0.5 * (n - 1) as f64) * spacing;
    let heights: Vec<f64> = (0..n * n).map(|k| height(place(k % n), place(k / n))).collect();
    Shape::HeightField(HeightField::new(&heights, n, [spacing, spacing], 1.0).unwrap())
}

/// The farthest point of a convex shape along `d` (shape frame), from its definition.
pub fn support(shape: &Shape, d: &Vector3<f64>) -> Vector3<f64> {
    let radial = |r: f64| {
        let rho = d.x.hypot(d.y);
        if rho > 0.0 { Vector3::new(r * d.x / rho, r * d.y / rho, 0.0) } else { Vector3::zeros() }
    };
    match shape {
        Shape::Box { half_extents: h } => h.component_mul(&d.map(|x| if x < 0.0 { -1.0 } else { 1.0 })),
        Shape::Sphere { radius } => d.normalize() * *radius,
        Shape::Capsule { radius, half_length } => {
            d.normalize() * *radius + Vector3::z() * half_length.copysign(d.z)
        }
        Shape::Cylinder { radius, half_length } => radial(*radius) + Vector3::z() * half_length.copysign(d.z),
        Shape::Ellipsoid { semi_axes: a } => a.component_mul(&a.component_mul(d)) / a.component_mul(d).norm(),
        Shape::ConvexHull(hull) => {
            let farther = |x: &&Point3<f64>, y: &&Point3<f64>| x.coords.dot(d).total_cmp(&y.coords.dot(d));
            hull.mesh().vertices().iter().max_by(farther).unwrap().coords
        }
        _ => panic!("no support function"),
    }
}

/// How far two convex shapes are apart along `n`.
pub fn separation(a: (&Shape, &Isometry3<f64>), b: (&Shape, &Isometry3<f64>), n: &Vector3<f64>) -> f64 {
    let world = |(shape, pose): (&Shape, &Isometry3<f64>), d: Vector3<f64>| {
        pose * Point3::from(support(shape, &pose.rotation.inverse_transform_vector(&d)))
    };
    (world(b, -n) - world(a, *n)).dot(n)
}

/// The signed distance of two convex shapes: the greatest separation over all directions, from a
/// Fibonacci sphere of them and a pattern search around the best few. Where the shapes overlap this
/// is minus the least translation that parts them.
pub fn signed_distance(
    a: (&Shape, &Isometry3<f64>),
    b: (&Shape, &Isometry3<f64>),
) -> (f64, Unit<Vector3<f64>>) {
    const N: usize = 200;
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let mut sampled: Vec<(f64, Vector3<f64>)> = (0..N)
        .map(|k| {
            let z = 1.0 - (2 * k + 1) as f64 / N as f64;
            let rho = (1.0 - z * z).sqrt();
            let n = Vector3::new(rho * (golden * k as f64).cos(), rho * (golden * k as f64).sin(), z);
            (separation(a, b, &n), n)
        })
        .collect();
    sampled.sort_by(|x, y| y.0.total_cmp(&x.0));
    let refined = sampled[..5].iter().map(|&(mut best, mut n)| {
        let mut step = 0.1;
        while step > 1e-9 {
            let t = Unit::new_normalize(n.cross(&Vector3::ith(n.iamin(), 1.0))).into_inner();
            let u = n.cross(&t);
            let around = (0..8).map(|k| {
                let angle = f64::from(k) * std::f64::consts::FRAC_PI_4;
                (n + (t * angle.cos() + u * angle.sin()) * step).normalize()
            });
            let found = around.map(|m| (separation(a, b, &m), m)).max_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
            if found.0 > best {
                (best, n) = found;
            } else {
                step *= 0.5;
            }
        }
        (best, n)
    });
    let (d, n) = refined.max_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
    (d, Unit::new_normalize(n))
}
