//! The only place where the types of parry (glam) and of this crate (nalgebra) meet.

use std::collections::HashSet;

use super::mesh::Triangulation;
use nalgebra::{Point3, Vector3};
use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};
use parry3d_f64::transformation::voxelization::{VoxelSet, VoxelizedVolume};
use parry3d_f64::transformation::{ConvexHullError, try_convex_hull};

/// Vertices \[m\] and outward triangles of the convex hull of `points`, by parry's incremental
/// quickhull.
pub(super) fn convex_hull(points: &[Point3<f64>]) -> Result<Triangulation, ConvexHullError> {
    let points: Vec<_> = points.iter().map(|p| to_glam(&p.coords)).collect();
    let (vertices, triangles) = try_convex_hull(&points)?;
    Ok((vertices.iter().map(|v| Point3::new(v.x, v.y, v.z)).collect(), triangles))
}

/// The convex parts of a surface of a size near 1: points of each, and corners of its voxels. The
/// points are those of the surface, and the corners of the voxels inside at which it was cut.
pub(super) fn voxel_parts(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    concavity: f64,
    parts: u32,
    resolution: u32,
) -> Vec<[Vec<Vector3<f64>>; 2]> {
    // parry makes at least 4 parts, and halves them once more often than its limit allows.
    let halvings = parts.max(4).ilog2();
    let parameters = VHACDParameters {
        concavity,
        max_convex_hulls: 1 << (halvings - 1),
        resolution,
        ..VHACDParameters::default()
    };
    let vertices: Vec<_> = vertices.iter().map(to_glam).collect();
    let fill = parameters.fill_mode;
    let whole = VoxelSet::from(VoxelizedVolume::voxelize(&vertices, triangles, resolution, fill, true));
    let inside: HashSet<_> =
        whole.voxels().iter().filter(|v| !v.is_on_surface).map(|v| v.coords.to_array()).collect();
    let parts = VHACD::from_voxels(&parameters, whole);
    let surfaces = parts.compute_primitive_intersections(&vertices, triangles);
    let part = |(surface, voxels): (Vec<Vector>, &VoxelSet)| {
        let half = voxels.scale / 2.0;
        let mut points: Vec<_> = surface.into_iter().map(from_glam).collect();
        let mut corners = Vec::new();
        // Those that are not on the surface or a cut are within.
        for voxel in voxels.voxels().iter().filter(|voxel| voxel.is_on_surface) {
            let center = from_glam(voxels.get_voxel_point(voxel));
            let corner = |i: u32| {
                center + Vector3::from([0, 1, 2].map(|k| if i >> k & 1 == 1 { half } else { -half }))
            };
            if inside.contains(&voxel.coords.to_array()) {
                points.extend((0..8).map(corner));
            }
            corners.extend((0..8).map(corner));
        }
        [points, corners]
    };
    surfaces.into_iter().zip(parts.voxel_parts()).map(part).collect()
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

/// Its buffers hold nothing between calls, so a clone has its own, empty.
impl Clone for Workspace {
    fn clone(&self) -> Self {
        Self::default()
    }
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
        let (pose, first, second) = (Pose::IDENTITY, Farthest(first), Farthest(second));
        if !self.has_direction(&first, &second) {
            return Nearest::Unknown;
        }
        let found = self.epa.closest_points(&pose, &first, &second, &self.simplex);
        found.map_or(Nearest::Unknown, |(p, q, n)| points(p, q, n))
    }

    /// Whether the line from which parry begins where GJK ended with one or two points has a
    /// direction: the square of its length is neither zero nor infinite. Without one it panics.
    fn has_direction(&self, first: &impl SupportMap, second: &impl SupportMap) -> bool {
        let start = self.simplex.point(0).point;
        let is_line = |end: Vector| (end - start).length_squared().is_normal();
        match self.simplex.dimension() {
            // To the farthest point along an axis: one that is near is passed over there.
            0 => AXES.iter().all(|axis| {
                let end = CsoPoint::from_shapes(&Pose::IDENTITY, first, second, *axis).point;
                (end - start).length_squared() <= gjk::eps_tol() || is_line(end)
            }),
            1 => is_line(self.simplex.point(1).point),
            _ => true,
        }
    }
}

const AXES: [Vector; 6] = [Vector::X, Vector::Y, Vector::Z, Vector::NEG_X, Vector::NEG_Y, Vector::NEG_Z];

fn points(p: Vector, q: Vector, n: Vector) -> Nearest {
    if p.is_finite() && q.is_finite() && n.is_normalized() {
        Nearest::Points([from_glam(p), from_glam(q)], from_glam(n))
    } else {
        Nearest::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: overlapping boxes of any scale, at any place, have deepest points or are not known;
    // nothing panics. (A cylinder of 1e300 m in a URDF file did, found by its fuzz target.)
    #[test]
    fn boxes_of_any_scale_are_taken() {
        let mut workspace = Workspace::default();
        let mut known = 0;
        for power in (-320..=308).step_by(4) {
            for (place, other) in [(0, -320), (-2, 0), (power, power), (power, 0), (0, power)] {
                let scale = |power: i32| 10_f64.powi(power);
                let half = Vector3::new(1.0, 0.5, 0.25);
                let corner = |d: &Vector3<f64>, s: f64| half.zip_map(d, |h: f64, d| s * h.copysign(d));
                let offset = Vector3::new(0.3 * scale(place), 0.0, 0.0);
                let first = |d: &Vector3<f64>| corner(d, scale(power));
                let second = |d: &Vector3<f64>| corner(d, scale(other)) + offset;
                let found = workspace.nearest(first, second, &Vector3::x(), f64::MAX);
                if matches!(found, Nearest::Overlap) {
                    known += i32::from(matches!(workspace.deepest(first, second), Nearest::Points(..)));
                }
            }
        }
        assert!(known > 50, "{known}");
    }
}
