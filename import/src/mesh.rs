//! Triangle meshes as the convex hulls that touch.

use nalgebra::Vector3;
use pliant_geometry::{ConvexHull, GeometryError, Shape, signed_volume};
use pliant_io::mesh::MeshData;

/// Part of the hull's volume by which a mesh may differ from it and still count as convex.
const CONVEX: f64 = 1e-3;

/// The name of a part of what one element describes.
pub(super) fn part_name(name: &str, part: usize) -> String {
    if part == 0 { name.to_owned() } else { format!("{name}.{part}") }
}

/// Each coordinate times a factor.
pub(super) fn scale(mesh: &mut MeshData, factors: &Vector3<f64>) {
    mesh.vertices.iter_mut().for_each(|v| v.coords.component_mul_assign(factors));
    // An odd number of reflections turns the surface inside out.
    if factors.x * factors.y * factors.z < 0.0 {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
}

/// The convex hull, and whether the mesh fills it.
pub(super) fn hull(mesh: &MeshData) -> Result<(Shape, bool), GeometryError> {
    let hull = ConvexHull::new(&mesh.vertices)?;
    let filled = signed_volume(hull.mesh().vertices(), hull.mesh().triangles());
    let convex = mesh.triangles.is_empty()
        || (signed_volume(&mesh.vertices, &mesh.triangles).abs() - filled).abs() <= CONVEX * filled;
    Ok((Shape::ConvexHull(hull), convex))
}
