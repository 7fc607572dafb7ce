//! Bodies with one shape of each kind, and distances to triangles the plain way.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_rigid::{
    Adhesion, Bodies, BodiesBuilder, BodyDesc, ConvexHull, Geometry, HeightField, Motion, RigidSettings,
    Shape, TriangleMesh,
};

use super::Random;

pub fn vector(random: &mut Random) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.signed())
}

pub fn pose(random: &mut Random, size: f64) -> Isometry3<f64> {
    Isometry3::new(vector(random) * size, vector(random) * 3.0)
}

/// A torus about `z`, displaced by a metre: not convex, and not about its frame's origin.
fn torus() -> TriangleMesh {
    let (around, across) = (16_u32, 10_u32);
    let angle = |k: u32, n: u32| f64::from(k) / f64::from(n) * std::f64::consts::TAU;
    let at = |i: u32, j: u32| (i % around) * across + j % across;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..around {
        for j in 0..across {
            let (a, b) = (angle(i, around), angle(j, across));
            let r = 0.10 + 0.03 * b.cos();
            vertices.push(Point3::new(1.0 + r * a.cos(), r * a.sin(), 0.03 * b.sin()));
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    TriangleMesh::new(vertices, triangles).unwrap()
}

/// A shape of each kind, and some that are thin.
pub fn shapes() -> Vec<Shape> {
    let mut random = Random(7);
    let cloud: Vec<Point3<f64>> = (0..40)
        .map(|_| Point3::from(vector(&mut random).normalize().component_mul(&Vector3::new(0.1, 0.06, 0.08))))
        .collect();
    let plate = Shape::Box { half_extents: Vector3::new(0.1, 0.08, 0.001) };
    let (vertices, triangles) = plate.triangles(3);
    let heights: Vec<f64> =
        (0..9 * 7).map(|k| 0.02 * f64::from(k % 9).sin() * f64::from(k / 9).cos()).collect();
    vec![
        Shape::HalfSpace,
        Shape::Box { half_extents: Vector3::new(0.05, 0.03, 0.08) },
        plate,
        Shape::Sphere { radius: 0.06 },
        Shape::Capsule { radius: 0.03, half_length: 0.05 },
        Shape::Cylinder { radius: 0.05, half_length: 0.03 },
        Shape::Cylinder { radius: 0.1, half_length: 0.001 },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.04, 0.1, 0.06) },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.08, 0.01, 0.08) },
        Shape::ConvexHull(ConvexHull::new(&cloud).unwrap()),
        Shape::ConvexHull(ConvexHull::new(&vertices).unwrap()),
        Shape::Mesh(torus()),
        Shape::Mesh(TriangleMesh::new(vertices, triangles).unwrap()),
        Shape::HeightField(HeightField::new(&heights, 9, [0.03, 0.03], 0.1).unwrap()),
    ]
}

/// Bodies with these geometries each, at their poses in the body's frame.
pub fn bodies(geometries: Vec<Vec<Geometry>>) -> Bodies {
    let mut builder = BodiesBuilder::new();
    for (b, geometries) in geometries.into_iter().enumerate() {
        let (name, pose, motion) = (format!("body {b}"), Isometry3::identity(), Motion::Fixed);
        builder.add(BodyDesc { name, pose, motion, geometries, appearance: Vec::new() }).unwrap();
    }
    builder.build(Vector3::zeros(), 0.01, &RigidSettings::default()).unwrap()
}

/// Friction 0.3, and adhesion of 2 kPa up to 1 mm where asked for.
pub fn geometry(shape: Shape, pose: Isometry3<f64>, adhesive: bool) -> Geometry {
    let adhesion = adhesive.then_some(Adhesion { stress: 2e3, range: 1e-3 });
    Geometry { adhesion, ..Geometry::new(shape, 0.3).at(pose) }
}

fn to_segment(p: &Point3<f64>, a: &Point3<f64>, b: &Point3<f64>) -> f64 {
    let t = ((p - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
    (p - a - (b - a) * t).norm()
}

/// Distance of a point to a triangle [m]: to its plane over the inside, else to the nearest edge.
pub fn to_triangle(p: &Point3<f64>, [a, b, c]: [Point3<f64>; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a)).normalize();
    let inside = [(a, b), (b, c), (c, a)].iter().all(|(s, e)| (e - s).cross(&(p - s)).dot(&normal) >= 0.0);
    if inside {
        return normal.dot(&(p - a)).abs();
    }
    to_segment(p, &a, &b).min(to_segment(p, &b, &c)).min(to_segment(p, &c, &a))
}
