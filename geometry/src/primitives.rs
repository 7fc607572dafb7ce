//! Exact signed distances of the analytic shapes, in closed form.
//!
//! Every function takes a point in the frame of its shape and gives the nearest point of the
//! surface as distance, outward normal and feature. On the medial axis, where the nearest point is
//! not unique, the lowest feature wins, or the +x (cylinder) or +z (sphere, capsule) direction, so
//! that results do not depend on the platform.

use super::SurfacePoint;
use nalgebra::{Point3, Unit, Vector3};

/// The direction of `v`, or `fallback` for the zero vector.
fn direction_or(v: Vector3<f64>, fallback: Unit<Vector3<f64>>) -> Unit<Vector3<f64>> {
    Unit::try_new(v, f64::MIN_POSITIVE).unwrap_or(fallback)
}

pub(super) fn half_space(p: &Point3<f64>) -> SurfacePoint {
    SurfacePoint { distance: p.z, normal: Vector3::z_axis(), feature: 0 }
}

/// Outward normal of box face `feature`: +x, -x, +y, -y, +z, -z.
pub(super) fn box_face_normal(feature: u32) -> Unit<Vector3<f64>> {
    let mut n = Vector3::zeros();
    n[(feature / 2) as usize] = if feature.is_multiple_of(2) { 1.0 } else { -1.0 };
    Unit::new_unchecked(n)
}

pub(super) fn cuboid(half_extents: &Vector3<f64>, p: &Point3<f64>) -> SurfacePoint {
    let excess = p.coords.abs() - half_extents;
    let mut axis = 0;
    for k in 1..3 {
        if excess[k] > excess[axis] {
            axis = k;
        }
    }
    let feature = 2 * axis as u32 + u32::from(p[axis] < 0.0);
    let face = box_face_normal(feature);
    if excess[axis] <= 0.0 {
        return SurfacePoint { distance: excess[axis], normal: face, feature };
    }
    let v = Vector3::from_fn(|k, _| excess[k].max(0.0).copysign(p[k]));
    SurfacePoint { distance: v.norm(), normal: direction_or(v, face), feature }
}

/// Distance \[m\] and normal of the plane of one box face, for a point behind it: between the
/// planes of the other four, at any depth. `None` for other points and faces that do not exist.
pub(super) fn cuboid_from(
    half_extents: &Vector3<f64>,
    p: &Point3<f64>,
    feature: u32,
) -> Option<SurfacePoint> {
    if feature >= 6 {
        return None;
    }
    let normal = box_face_normal(feature);
    let axis = (feature / 2) as usize;
    let distance = normal[axis] * p[axis] - half_extents[axis];
    let behind = distance < 0.0 && (0..3).all(|k| k == axis || p[k].abs() <= half_extents[k]);
    behind.then_some(SurfacePoint { distance, normal, feature })
}

pub(super) fn sphere(radius: f64, p: &Point3<f64>) -> SurfacePoint {
    SurfacePoint {
        distance: p.coords.norm() - radius,
        normal: direction_or(p.coords, Vector3::z_axis()),
        feature: 0,
    }
}

pub(super) fn capsule(radius: f64, half_length: f64, p: &Point3<f64>) -> SurfacePoint {
    let v = Vector3::new(p.x, p.y, p.z - p.z.clamp(-half_length, half_length));
    // Points on the axis are at the same distance from a whole circle (or a cap): any direction
    // across will do.
    let fallback = if p.z.abs() < half_length { Vector3::x_axis() } else { Vector3::z_axis() };
    SurfacePoint { distance: v.norm() - radius, normal: direction_or(v, fallback), feature: 0 }
}

/// Side of a cylinder.
const CYLINDER_SIDE: u32 = 0;
/// Cap of a cylinder at +z.
const CYLINDER_TOP: u32 = 1;
/// Cap of a cylinder at -z.
const CYLINDER_BOTTOM: u32 = 2;

pub(super) fn cylinder(radius: f64, half_length: f64, p: &Point3<f64>) -> SurfacePoint {
    let cap = if p.z < 0.0 { CYLINDER_BOTTOM } else { CYLINDER_TOP };
    let side = cylinder_face(radius, half_length, p, CYLINDER_SIDE);
    let end = cylinder_face(radius, half_length, p, cap);
    let nearest = if end.distance > side.distance { end } else { side };
    if side.distance <= 0.0 || end.distance <= 0.0 {
        return nearest;
    }
    // Outside both the side and the cap: the rim is nearest.
    let v = side.normal.into_inner() * side.distance + end.normal.into_inner() * end.distance;
    SurfacePoint { distance: v.norm(), normal: direction_or(v, nearest.normal), feature: nearest.feature }
}

/// Distance \[m\] and normal of a cylinder's side for a point inside, or of a cap for a point
/// behind it: within the radius, at any depth. `None` for other points and features that do not
/// exist.
pub(super) fn cylinder_from(
    radius: f64,
    half_length: f64,
    p: &Point3<f64>,
    feature: u32,
) -> Option<SurfacePoint> {
    let face = cylinder_face(radius, half_length, p, feature);
    let within = match feature {
        CYLINDER_SIDE => p.z.abs() <= half_length,
        CYLINDER_TOP | CYLINDER_BOTTOM => p.x.hypot(p.y) <= radius,
        _ => false,
    };
    (within && face.distance < 0.0).then_some(face)
}

/// Distance \[m\] and normal of the unbounded side or cap plane of a cylinder.
fn cylinder_face(radius: f64, half_length: f64, p: &Point3<f64>, feature: u32) -> SurfacePoint {
    let (distance, normal) = match feature {
        CYLINDER_TOP => (p.z - half_length, Vector3::z_axis()),
        CYLINDER_BOTTOM => (-p.z - half_length, -Vector3::z_axis()),
        _ => {
            let radial = Vector3::new(p.x, p.y, 0.0);
            (radial.norm() - radius, direction_or(radial, Vector3::x_axis()))
        }
    };
    SurfacePoint { distance, normal, feature }
}
