//! Triangle meshes that are hard, and their signed distance by brute force.

use std::f64::consts::PI;

use nalgebra::Point3;
use pliant_geometry::Shape;

use crate::Random;

pub type Mesh = (Vec<Point3<f64>>, Vec<[u32; 3]>);

/// A torus about z, cut into `n` by `m` cells, twisted by nothing: not convex, with a hole.
pub fn torus(major: f64, minor: f64, n: u32, m: u32) -> Mesh {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..n {
        for j in 0..m {
            let (u, v) = (2.0 * PI * f64::from(i) / f64::from(n), 2.0 * PI * f64::from(j) / f64::from(m));
            let rho = major + minor * v.cos();
            vertices.push(Point3::new(rho * u.cos(), rho * u.sin(), minor * v.sin()));
            let at = |i: u32, j: u32| (i % n) * m + j % m;
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (vertices, triangles)
}

/// A sphere whose vertices are moved to random distances of 0.3 to 1 from its centre: sharp spikes
/// and notches.
pub fn star(seed: u64) -> Mesh {
    let (mut vertices, triangles) = Shape::Sphere { radius: 1.0 }.triangles(12);
    let mut random = Random::new(seed);
    vertices.iter_mut().for_each(|v| *v *= 0.65 + 0.35 * random.signed());
    (vertices, triangles)
}

/// A flat spike: a cone of 2 broad and 60 narrow triangles around its tip, so that the plain mean
/// of the normals at the tip is far from the mean weighted by the angles.
pub fn uneven_spike() -> Mesh {
    let n = 61;
    let mut vertices = vec![Point3::new(0.0, 0.0, 0.2), Point3::new(0.2, 0.0, -0.5)];
    vertices.extend((0..n).map(|k| {
        let angle = if k == 0 { PI } else { 0.4 * (f64::from(k) / f64::from(n - 1) - 0.5) };
        Point3::new(angle.cos(), angle.sin(), -0.3 - 0.3 * angle.cos())
    }));
    let ring = |k: u32| 2 + k % n as u32;
    let triangles = (0..n as u32).flat_map(|k| [[0, ring(k), ring(k + 1)], [1, ring(k + 1), ring(k)]]);
    (vertices, triangles.collect())
}

/// An L: the square [0, 2]^2 without its corner (1, 2]^2, from z = 0 to z = 1.
pub fn l_shape() -> Mesh {
    let outline = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)];
    let mut vertices: Vec<Point3<f64>> = outline.iter().map(|(x, y)| Point3::new(*x, *y, 0.0)).collect();
    vertices.extend(outline.iter().map(|(x, y)| Point3::new(*x, *y, 1.0)));
    let mut triangles = Vec::new();
    for k in 0..6 {
        let next = (k + 1) % 6;
        triangles.extend([[k, next, next + 6], [k, next + 6, k + 6]]);
    }
    // The floor and the lid as fans around the reentrant corner 3.
    for [a, b] in [[4, 5], [5, 0], [0, 1], [1, 2]] {
        triangles.extend([[3 + 6, a + 6, b + 6], [3, b, a]]);
    }
    (vertices, triangles)
}

/// Distance from `p` to triangle (a, b, c): to its plane where the foot is inside, else to the
/// nearest edge.
fn triangle_distance(p: &Point3<f64>, [a, b, c]: [Point3<f64>; 3]) -> f64 {
    let n = (b - a).cross(&(c - a)).normalize();
    let inside = [(a, b), (b, c), (c, a)].iter().all(|(s, e)| n.dot(&(e - s).cross(&(p - s))) >= 0.0);
    if inside {
        return n.dot(&(p - a)).abs();
    }
    let edge = |s: Point3<f64>, e: Point3<f64>| {
        let along = ((p - s).dot(&(e - s)) / (e - s).norm_squared()).clamp(0.0, 1.0);
        (p - (s + (e - s) * along)).norm()
    };
    edge(a, b).min(edge(b, c)).min(edge(c, a))
}

/// Signed distance by brute force; the sign from the winding number, a sum of solid angles (Van
/// Oosterom and Strackee, IEEE TBME 30, 1983).
pub fn brute_force(mesh: &Mesh, p: &Point3<f64>) -> f64 {
    let mut distance = f64::MAX;
    let mut solid_angle = 0.0;
    for t in &mesh.1 {
        let corners = t.map(|i| mesh.0[i as usize]);
        distance = distance.min(triangle_distance(p, corners));
        let [a, b, c] = corners.map(|v| v - p);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        solid_angle += 2.0 * a.dot(&b.cross(&c)).atan2(denominator);
    }
    if solid_angle > 2.0 * PI { -distance } else { distance }
}
