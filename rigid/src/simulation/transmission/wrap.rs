//! The shortest way of a string around a sphere or a cylinder.
//!
//! A string that is pulled tight is a geodesic: straight outside, along a great circle of a sphere
//! or a helix of a cylinder, and tangent to both where they meet (do Carmo 1976, section 4-4). Seen
//! along a cylinder's axis, or in the plane of the sphere's centre and both ends, it is the shortest
//! way around a circle. A string that passes through a ring touches it in one point at most.

use core::f64::consts::TAU;

use nalgebra::{Isometry3, Point3, Vector2, Vector3};

/// What a string lies on. The axis of a cylinder is the z axis of its frame; it has no ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapSurface {
    /// A sphere.
    Sphere,
    /// A cylinder without ends.
    Cylinder,
}

/// Where a string touches a surface: first and last point in the frame of its ends, and the way
/// between them \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    pub points: [Vector3<f64>; 2],
    pub length: f64,
}

/// Shorter distances count as none \[m\].
const TINY: f64 = 1e-15;
/// Iterations for the touched point of a ring; each halves its interval at least.
const BISECTIONS: usize = 80;

/// The touch of a tight string between two points (world frame) with a surface of a `radius` at
/// `pose`; none if the string passes by. A point at the `side` (world frame) chooses the side: the
/// string passes the surface there, inside it if the point is inside.
pub(super) fn touch(
    surface: WrapSurface,
    pose: &Isometry3<f64>,
    radius: f64,
    ends: [Vector3<f64>; 2],
    side: Option<Vector3<f64>>,
) -> Option<Touch> {
    let local = ends.map(|p| pose.inverse_transform_point(&Point3::from(p)).coords);
    let side = side.map(|p| pose.inverse_transform_point(&Point3::from(p)).coords);
    // The plane of the circle.
    let (x, y) = match surface {
        WrapSurface::Cylinder => (Vector3::x(), Vector3::y()),
        WrapSurface::Sphere => plane(&local)?,
    };
    let flat = |p: &Vector3<f64>| Vector2::new(p.dot(&x), p.dot(&y));
    let circle = [flat(&local[0]), flat(&local[1])];
    let (angles, arc) = match side {
        Some(side) if side.norm() < radius => {
            let angle = inside(&circle, radius)?;
            ([angle; 2], 0.0)
        }
        side => around(&circle, radius, side.map(|s| flat(&s)))?,
    };
    let on_circle = angles.map(|a| Vector2::new(a.cos(), a.sin()) * radius);
    let mut points = on_circle.map(|p| x * p.x + y * p.y);
    let mut length = arc;
    if surface == WrapSurface::Cylinder {
        // A helix rises evenly with the way seen along the axis, and so do its tangents.
        let straight = [(circle[0] - on_circle[0]).norm(), (circle[1] - on_circle[1]).norm()];
        let all = straight[0] + arc + straight[1];
        let rise = local[1].z - local[0].z;
        points[0].z = local[0].z + rise * straight[0] / all;
        points[1].z = local[1].z - rise * straight[1] / all;
        length = arc.hypot(points[1].z - points[0].z);
    }
    Some(Touch { points: points.map(|p| (pose * Point3::from(p)).coords), length })
}

/// Two unit vectors of the plane of the centre and both ends; none for an end at the centre.
fn plane(ends: &[Vector3<f64>; 2]) -> Option<(Vector3<f64>, Vector3<f64>)> {
    let x = ends[0].try_normalize(TINY)?;
    let across = ends[1] - x * x.dot(&ends[1]);
    // In line with the centre any plane will do.
    let least = x.iamin();
    let y = across
        .try_normalize(TINY)
        .or_else(|| (Vector3::ith(least, 1.0) - x * x[least]).try_normalize(TINY))?;
    Some((x, y))
}

/// Angles of the two tangent points of the way around a circle, and the arc between them \[m\]; none
/// if the straight line is free.
fn around(ends: &[Vector2<f64>; 2], radius: f64, side: Option<Vector2<f64>>) -> Option<([f64; 2], f64)> {
    let [near, distant] = ends.map(|p| p.norm());
    let line = ends[1] - ends[0];
    if near < radius || distant < radius || line.norm() < TINY || radius < TINY {
        return None;
    }
    // The point of the straight line that is nearest to the centre.
    let along = (-line.dot(&ends[0]) / line.norm_squared()).clamp(0.0, 1.0);
    let nearest = ends[0] + line * along;
    let far = side.is_some_and(|side| is_opposite(ends, &side));
    if nearest.norm() > radius && !far {
        return None;
    }
    let [from, to] = ends.map(|p| p.y.atan2(p.x));
    // Angles between an end and its tangent points.
    let [first, last] = [(radius / near).acos(), (radius / distant).acos()];
    let shorter = if ends[0].perp(&ends[1]) < 0.0 { -1.0 } else { 1.0 };
    let turn = if far { -shorter } else { shorter };
    let arc = (turn * (to - from)).rem_euclid(TAU) - first - last;
    // Tangents that cross before they reach the circle.
    (arc >= 0.0).then_some(([from + turn * first, to - turn * last], radius * arc))
}

/// Whether a direction is between the opposites of both ends: the string must pass the far side, as
/// MuJoCo 4.0.0 has it.
fn is_opposite(ends: &[Vector2<f64>; 2], side: &Vector2<f64>) -> bool {
    let turn = ends[0].perp(&ends[1]);
    turn * ends[1].perp(side) > 0.0 && turn * side.perp(&ends[0]) > 0.0
}

/// Angle of the point at which a string through a ring touches it; none if the straight line passes
/// through, and for ends within the ring.
fn inside(ends: &[Vector2<f64>; 2], radius: f64) -> Option<f64> {
    let [near, far] = ends.map(|p| p.norm());
    let line = ends[1] - ends[0];
    if near <= radius || far <= radius || line.norm() < TINY || radius < TINY {
        return None;
    }
    let along = (-line.dot(&ends[0]) / line.norm_squared()).clamp(0.0, 1.0);
    if (ends[0] + line * along).norm() <= radius {
        return None;
    }
    // The way over a point of the ring is shortest where its two parts have the same angle with the
    // radius: the derivative by the angle grows between the ends.
    let from = ends[0].y.atan2(ends[0].x);
    let sweep = ends[0].perp(&ends[1]).atan2(ends[0].dot(&ends[1]));
    let slope = |t: f64| {
        let (s, c) = (from + t * sweep).sin_cos();
        let (point, tangent) = (Vector2::new(c, s) * radius, Vector2::new(-s, c) * sweep.signum());
        ends.iter().map(|end| tangent.dot(&(point - end).normalize())).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    Some(from + 0.5 * (low + high) * sweep)
}
