//! A sphere: the nearest point of the other solid to its centre.

use super::{ContactPoint, PlacedSolid, direction};
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Double;

/// Outward normal (in the box's frame) and signed distance \[m\] at the point `p` (m, in its frame)
/// of a box's surface. Inside, the nearest face counts, the first of equal ones.
#[inline(always)]
pub(super) fn box_surface<T: Double>(half: &[T; 3], p: Vec3<T>) -> (Vec3<T>, T) {
    let (zero, one) = (T::zero(), T::one());
    let excess = Vec3(*half).zip(p, |h, x| x.abs() - h);
    let side = p.map(T::sign);
    let mut depth = excess.0[0];
    let mut face = Vec3([side.0[0], zero, zero]);
    for (k, axis) in [(1, [zero, one, zero]), (2, [zero, zero, one])] {
        let nearer = depth.lt(excess.0[k]);
        depth = T::select(nearer, excess.0[k], depth);
        face = Vec3::select(nearer, Vec3(axis) * side.0[k], face);
    }
    let out = excess.zip(side, |e, s| e.max(zero) * s);
    let (normal, distance) = direction(out, face);
    let outside = zero.lt(depth);
    (Vec3::select(outside, normal, face), T::select(outside, distance, depth))
}

/// Sphere and half-space.
#[inline(always)]
pub fn sphere_half_space<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 1] {
    [end_half_space(a.pose.position, a.size[0], b)]
}

/// A sphere around `centre` \[m\] and a half-space.
#[inline(always)]
pub(super) fn end_half_space<T: Double>(centre: Vec3<T>, radius: T, b: &PlacedSolid<T>) -> ContactPoint<T> {
    let up = b.pose.rotation.column(2);
    let distance = up.dot(centre - b.pose.position) - radius;
    ContactPoint::on_first(centre - up * radius, -up, distance)
}

/// Two spheres.
#[inline(always)]
pub fn sphere_sphere<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 1] {
    [balls(a.pose.position, b.pose.position, [a.size[0], b.size[0]], a.pose.rotation.column(2))]
}

/// Sphere and capsule.
#[inline(always)]
pub fn sphere_capsule<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 1] {
    let (axis, half) = (b.pose.rotation.column(2), b.size[1]);
    let along = axis.dot(a.pose.position - b.pose.position).clamp(-half, half);
    let nearest = b.pose.position + axis * along;
    [balls(a.pose.position, nearest, [a.size[0], b.size[0]], b.pose.rotation.column(0))]
}

/// Sphere and box.
#[inline(always)]
pub fn sphere_box<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 1] {
    let (out, distance) = box_surface(&b.size, b.pose.apply_inverse(a.pose.position));
    let normal = -b.pose.rotation.apply(out);
    [ContactPoint::on_first(a.pose.position + normal * a.size[0], normal, distance - a.size[0])]
}

#[inline(always)]
fn balls<T: Double>(p: Vec3<T>, q: Vec3<T>, radii: [T; 2], fallback: Vec3<T>) -> ContactPoint<T> {
    let (normal, apart) = direction(q - p, fallback);
    ContactPoint::on_first(p + normal * radii[0], normal, apart - radii[0] - radii[1])
}
