//! Two capsules: the nearest points of two segments.

use super::half_space::unit_or;
use nalgebra::{Unit, Vector3};

/// Nearest points \[m\] of the segments [p, q] and [r, s] (Ericson, Real-Time Collision Detection,
/// 2005, section 5.1.9).
fn nearest(p: &Vector3<f64>, q: &Vector3<f64>, r: &Vector3<f64>, s: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let (d, e, w) = (q - p, s - r, p - r);
    let (a, c, f) = (d.norm_squared(), e.norm_squared(), e.dot(&w));
    let ratio = |x: f64, y: f64| if y > 0.0 { (x / y).clamp(0.0, 1.0) } else { 0.0 };
    let (b, g) = (d.dot(&e), d.dot(&w));
    let denominator = a * c - b * b;
    let mut t = if denominator > 1e-14 * a * c { ratio((b * f - g * c).max(0.0), denominator) } else { 0.5 };
    let u = ratio(b * t + f, c);
    t = ratio(b * u - g, a);
    // Once more, since t may have been clamped.
    let u = ratio(b * t + f, c);
    [p + d * t, r + e * u]
}

/// Nearest points of the axes of two capsules \[m\] and the direction from the first to the second.
/// Axes that cross: across both.
pub(super) fn axes(
    half_lengths: [f64; 2],
    axis: &Vector3<f64>,
    centre: &Vector3<f64>,
) -> ([Vector3<f64>; 2], Unit<Vector3<f64>>) {
    let z = Vector3::z() * half_lengths[0];
    let d = axis * half_lengths[1];
    let [x, y] = nearest(&-z, &z, &(centre - d), &(centre + d));
    let apart = y - x;
    let size = half_lengths[0] + half_lengths[1] + centre.norm();
    let normal = if apart.norm() > 1e-12 * size {
        unit_or(apart, Vector3::x_axis())
    } else {
        let both = Vector3::z().cross(axis);
        let both = if both.dot(centre) < 0.0 { -both } else { both };
        // Parallel axes on one line: any direction across them.
        if both.norm() > 1e-9 { unit_or(both, Vector3::x_axis()) } else { Vector3::x_axis() }
    };
    ([x, y], normal)
}
