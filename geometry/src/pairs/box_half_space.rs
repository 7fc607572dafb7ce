//! A box and a half-space: its corners.

use super::sphere::end_half_space;
use super::{ContactPoint, PlacedSolid};
use pliant_numeric::each;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Double;

/// The corners of a box relative to its middle, in the given axes \[m\].
#[inline(always)]
pub(super) fn corners<T: Double>(axes: [Vec3<T>; 3], half: &[T; 3]) -> [Vec3<T>; 8] {
    let [x, y, z] = each!(k in [0, 1, 2] axes[k] * half[k]);
    let plane = [-x - y, x - y, -x + y, x + y];
    each!(k in [0, 1, 2, 3, 4, 5, 6, 7] if k < 4 { plane[k] - z } else { plane[k - 4] + z })
}

/// Box and half-space.
#[inline(always)]
pub fn box_half_space<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 8] {
    let axes = each!(k in [0, 1, 2] a.pose.rotation.column(k));
    let corners = corners(axes, &a.size);
    let point = T::zero();
    each!(k in [0, 1, 2, 3, 4, 5, 6, 7] end_half_space(a.pose.position + corners[k], point, b))
}
