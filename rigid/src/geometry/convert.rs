//! The only place where the types of parry (glam) and of this crate (nalgebra) meet.

use super::tessellate::Triangulation;
use nalgebra::Point3;
use parry3d_f64::transformation::{ConvexHullError, try_convex_hull};

/// Vertices (m) and outward triangles of the convex hull of `points`, by parry's incremental quickhull.
pub(super) fn convex_hull(points: &[Point3<f64>]) -> Result<Triangulation, ConvexHullError> {
    let points: Vec<_> = points.iter().map(|p| parry3d_f64::math::Vector::new(p.x, p.y, p.z)).collect();
    let (vertices, triangles) = try_convex_hull(&points)?;
    Ok((vertices.iter().map(|v| Point3::new(v.x, v.y, v.z)).collect(), triangles))
}
