//! Mass, centre of mass and inertia of homogeneous solids.

use super::Shape;
use nalgebra::{Matrix3, Point3, Vector3};
use std::f64::consts::PI;

pub(super) fn mass_properties(shape: &Shape, density: f64) -> Option<(f64, Point3<f64>, Matrix3<f64>)> {
    let centred = |mass: f64, diagonal: Vector3<f64>| {
        Some((mass, Point3::origin(), Matrix3::from_diagonal(&(diagonal * mass))))
    };
    match shape {
        Shape::HalfSpace => None,
        Shape::Box { half_extents: h } => {
            let s = h.component_mul(h) / 3.0;
            centred(8.0 * density * h.x * h.y * h.z, Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y))
        }
        Shape::Sphere { radius: r } => {
            centred(density * 4.0 / 3.0 * PI * r.powi(3), Vector3::repeat(0.4 * r * r))
        }
        Shape::Capsule { radius: r, half_length: h } => {
            let middle = density * PI * r * r * 2.0 * h;
            let ends = density * 4.0 / 3.0 * PI * r.powi(3);
            // Each half ball has its centre of mass 3 r/8 beyond the end of the cylinder.
            let axial = middle * r * r / 2.0 + ends * 0.4 * r * r;
            let across = middle * (h * h / 3.0 + r * r / 4.0) + ends * (0.4 * r * r + h * h + 0.75 * h * r);
            let mass = middle + ends;
            centred(mass, Vector3::new(across, across, axial) / mass)
        }
        Shape::Cylinder { radius: r, half_length: h } => {
            let across = h * h / 3.0 + r * r / 4.0;
            centred(density * PI * r * r * 2.0 * h, Vector3::new(across, across, r * r / 2.0))
        }
        Shape::ConvexHull(hull) => Some(mesh_mass(hull.mesh().vertices(), hull.mesh().triangles(), density)),
        Shape::Mesh(mesh) => Some(mesh_mass(mesh.vertices(), mesh.triangles(), density)),
        Shape::Ellipsoid { semi_axes: a } => {
            let s = a.component_mul(a) / 5.0;
            let mass = density * 4.0 / 3.0 * PI * a.x * a.y * a.z;
            centred(mass, Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y))
        }
        Shape::HeightField(field) => {
            Some(mesh_mass(field.mesh().vertices(), field.mesh().triangles(), density))
        }
    }
}

/// Signed volume (m^3) of a closed, oriented surface: the sum over the tetrahedra from a point near it to
/// each triangle.
pub(super) fn signed_volume(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> f64 {
    let Some(origin) = vertices.first() else { return 0.0 };
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| vertices[i as usize] - origin);
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum()
}

/// Integrals over signed tetrahedra. For a tetrahedron (0, a, b, c) of volume V: first moment V (a + b +
/// c)/4, second moment V/20 (a a^T + b b^T + c c^T + s s^T) with s = a + b + c.
fn mesh_mass(
    vertices: &[Point3<f64>],
    triangles: &[[u32; 3]],
    density: f64,
) -> (f64, Point3<f64>, Matrix3<f64>) {
    // Moments about a point of the mesh lose fewer digits than about a frame's origin that may be far away.
    let origin = vertices.first().copied().unwrap_or_else(Point3::origin);
    let mut volume = 0.0;
    let mut first = Vector3::zeros();
    let mut second = Matrix3::zeros();
    for t in triangles {
        let [a, b, c] = t.map(|i| vertices[i as usize] - origin);
        let v = a.dot(&b.cross(&c)) / 6.0;
        let s = a + b + c;
        volume += v;
        first += s * (v / 4.0);
        let moment = a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose();
        second += moment * (v / 20.0);
    }
    let centre = first / volume;
    let about_centre = second - centre * centre.transpose() * volume;
    let inertia = Matrix3::identity() * about_centre.trace() - about_centre;
    (density * volume, origin + centre, inertia * density)
}
