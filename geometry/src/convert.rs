//! The only place where the types of parry (glam) and of this crate (nalgebra) meet.

use super::mesh::Triangulation;
use nalgebra::{Point3, Vector3};
use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;
use parry3d_f64::transformation::{ConvexHullError, try_convex_hull};

/// Vertices \[m\] and outward triangles of the convex hull of `points`, by parry's incremental
/// quickhull.
pub(super) fn convex_hull(points: &[Point3<f64>]) -> Result<Triangulation, ConvexHullError> {
    let points: Vec<_> = points.iter().map(|p| to_glam(&p.coords)).collect();
    let (vertices, triangles) = try_convex_hull(&points)?;
    Ok((vertices.iter().map(|v| Point3::new(v.x, v.y, v.z)).collect(), triangles))
}

fn to_glam(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn from_glam(v: Vector) -> Vector3<f64> {
    Vector3::new(v.x, v.y, v.z)
}

/// A function from a direction to the farthest point of a convex solid, as parry expects it.
struct Farthest<F>(F);

impl<F: Fn(&Vector3<f64>) -> Vector3<f64>> SupportMap for Farthest<F> {
    fn local_support_point(&self, direction: Vector) -> Vector {
        to_glam(&(self.0)(&from_glam(direction)))
    }
}

/// Result of parry for two convex solids.
pub enum Nearest {
    /// Nearest points of both, or deepest where they overlap \[m\], and the unit direction from the
    /// first to the second.
    Points([Vector3<f64>; 2], Vector3<f64>),
    /// They are probably farther apart than the limit; in this unit direction, which allows a
    /// check.
    Far(Vector3<f64>),
    /// They overlap.
    Overlap,
    /// The algorithm failed.
    Unknown,
}

/// Buffers of GJK and EPA.
#[derive(Default)]
pub struct Workspace {
    simplex: VoronoiSimplex,
    epa: EPA,
}

impl Workspace {
    /// Nearest points of two convex solids that are given by their support functions in one frame
    /// \[m\], if they are apart by less than `limit` \[m\]: GJK (Gilbert, Johnson and Keerthi
    /// 1988). `start` is a direction from the first to the second.
    pub fn nearest(
        &mut self,
        first: impl Fn(&Vector3<f64>) -> Vector3<f64>,
        second: impl Fn(&Vector3<f64>) -> Vector3<f64>,
        start: &Vector3<f64>,
        limit: f64,
    ) -> Nearest {
        let (pose, first, second) = (Pose::IDENTITY, Farthest(first), Farthest(second));
        self.simplex.reset(CsoPoint::from_shapes(&pose, &first, &second, to_glam(start)));
        match gjk::closest_points(&pose, &first, &second, limit, true, &mut self.simplex) {
            GJKResult::ClosestPoints(p, q, n) => points(p, q, n),
            GJKResult::NoIntersection(n) => Nearest::Far(from_glam(n)),
            GJKResult::Intersection => Nearest::Overlap,
            GJKResult::Proximity(_) => Nearest::Unknown,
        }
    }

    /// Deepest points of two convex solids that overlap, as the call of [`nearest`](Self::nearest)
    /// just before has found: EPA (van den Bergen 2001).
    pub fn deepest(
        &mut self,
        first: impl Fn(&Vector3<f64>) -> Vector3<f64>,
        second: impl Fn(&Vector3<f64>) -> Vector3<f64>,
    ) -> Nearest {
        let found =
            self.epa.closest_points(&Pose::IDENTITY, &Farthest(first), &Farthest(second), &self.simplex);
        found.map_or(Nearest::Unknown, |(p, q, n)| points(p, q, n))
    }
}

fn points(p: Vector, q: Vector, n: Vector) -> Nearest {
    if p.is_finite() && q.is_finite() && n.is_normalized() {
        Nearest::Points([from_glam(p), from_glam(q)], from_glam(n))
    } else {
        Nearest::Unknown
    }
}
