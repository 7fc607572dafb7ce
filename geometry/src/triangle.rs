//! The point of a triangle nearest to a point.

use nalgebra::{Point3, Vector3};

/// The part of a triangle (a, b, c) that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TriangleFeature {
    /// The inside of the triangle.
    Face,
    /// Edge 0 is ab, 1 is bc, 2 is ca.
    Edge(u8),
    /// Vertex 0 is a, 1 is b, 2 is c.
    Vertex(u8),
}

/// The point of triangle (a, b, c) nearest to `p`, and where on the triangle it lies. Voronoi
/// regions of the triangle's features (Ericson, Real-Time Collision Detection, 2005, section
/// 5.1.5).
pub(super) fn closest_point(
    p: &Point3<f64>,
    a: &Point3<f64>,
    b: &Point3<f64>,
    c: &Point3<f64>,
) -> (Point3<f64>, TriangleFeature) {
    let (ab, ac) = (b - a, c - a);
    let along = |v: &Vector3<f64>| (ab.dot(v), ac.dot(v));
    let (a1, a2) = along(&(p - a));
    if a1 <= 0.0 && a2 <= 0.0 {
        return (*a, TriangleFeature::Vertex(0));
    }
    let (b1, b2) = along(&(p - b));
    if b1 >= 0.0 && b2 <= b1 {
        return (*b, TriangleFeature::Vertex(1));
    }
    // Areas spanned with each edge: barycentric coordinates up to their sum.
    let vc = a1 * b2 - b1 * a2;
    if vc <= 0.0 && a1 >= 0.0 && b1 <= 0.0 {
        return (a + ab * (a1 / (a1 - b1)), TriangleFeature::Edge(0));
    }
    let (c1, c2) = along(&(p - c));
    if c2 >= 0.0 && c1 <= c2 {
        return (*c, TriangleFeature::Vertex(2));
    }
    let vb = c1 * a2 - a1 * c2;
    if vb <= 0.0 && a2 >= 0.0 && c2 <= 0.0 {
        return (a + ac * (a2 / (a2 - c2)), TriangleFeature::Edge(2));
    }
    let va = b1 * c2 - c1 * b2;
    let (from_b, from_c) = (b2 - b1, c1 - c2);
    if va <= 0.0 && from_b >= 0.0 && from_c >= 0.0 {
        return (b + (c - b) * (from_b / (from_b + from_c)), TriangleFeature::Edge(1));
    }
    let scale = 1.0 / (va + vb + vc);
    (a + ab * (vb * scale) + ac * (vc * scale), TriangleFeature::Face)
}
