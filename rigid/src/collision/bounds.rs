//! Boxes around shapes.

use nalgebra::{Point3, Vector3};
use pliant_geometry::Shape;

/// Corners of a box around a shape, in its frame \[m\].
pub(super) fn local_bounds(shape: &Shape) -> [Point3<f64>; 2] {
    let around = |h: Vector3<f64>| [Point3::from(-h), Point3::from(h)];
    match shape {
        Shape::HalfSpace => around(Vector3::repeat(f64::INFINITY)),
        Shape::Box { half_extents } => around(*half_extents),
        Shape::Sphere { radius } => around(Vector3::repeat(*radius)),
        Shape::Capsule { radius, half_length } => {
            around(Vector3::new(*radius, *radius, radius + half_length))
        }
        Shape::Cylinder { radius, half_length } => around(Vector3::new(*radius, *radius, *half_length)),
        Shape::Ellipsoid { semi_axes } => around(*semi_axes),
        Shape::ConvexHull(hull) => hull.mesh().bounds(),
        Shape::Mesh(mesh) => mesh.bounds(),
        Shape::HeightField(field) => field.mesh().bounds(),
    }
}
