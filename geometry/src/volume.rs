//! Integrals over solids that closed triangle meshes bound.

use nalgebra::{Matrix3, Point3, Vector3};

/// Signed volume \[m^3\] of a closed, oriented surface: the sum over the tetrahedra from a point
/// near it to each triangle.
pub fn signed_volume(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> f64 {
    let Some(origin) = vertices.first() else { return 0.0 };
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| vertices[i as usize] - origin);
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum()
}

/// Mass \[kg\], centre of mass \[m\] and inertia about it [kg m^2]: integrals over signed
/// tetrahedra. For a tetrahedron (0, a, b, c) of volume V: first moment V (a + b + c)/4, second
/// moment V/20 (a a^T + b b^T + c c^T + s s^T) with s = a + b + c.
pub(super) fn mesh_mass(
    vertices: &[Point3<f64>],
    triangles: &[[u32; 3]],
    density: f64,
) -> (f64, Point3<f64>, Matrix3<f64>) {
    // Moments about a point of the mesh lose fewer digits than about a frame's origin that may be
    // far away.
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
