//! Exact signed distance of an ellipsoid.

use super::SurfacePoint;
use nalgebra::{Point3, Unit, Vector3};

/// Bisection halves the bracket of the multiplier down to the resolution of doubles.
const MAX_BISECTIONS: usize = 1100;

/// Nearest point of the ellipsoid of these semi-axes \[m\], inside and outside.
///
/// The nearest point x of p satisfies x_i = a_i^2 p_i/(t + a_i^2) with one multiplier t, the
/// largest root of sum (a_i p_i/(t + a_i^2))^2 = 1, found by bisection in the octant of p (Eberly,
/// Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid, 2013, sections 3 and 4).
/// The error is a few roundings of the largest semi-axis.
pub(super) fn ellipsoid(semi_axes: &Vector3<f64>, p: &Point3<f64>) -> SurfacePoint {
    // Decreasing semi-axes; ties keep their order.
    let mut order = [0, 1, 2];
    order.sort_by(|i, j| semi_axes[*j].total_cmp(&semi_axes[*i]));
    let e = order.map(|k| semi_axes[k]);
    let y = order.map(|k| p[k].abs());
    let x = nearest_in_octant(&e, &y);
    let mut foot = Vector3::zeros();
    for (k, axis) in order.into_iter().enumerate() {
        foot[axis] = x[k].copysign(p[axis]);
    }
    // The gradient of the implicit equation: a normal that holds its direction when p is on the
    // surface.
    let scaled = foot.component_div(semi_axes);
    let gradient = scaled.component_div(semi_axes);
    let outward = Unit::try_new(gradient, f64::MIN_POSITIVE).unwrap_or(Vector3::z_axis());
    let level: f64 = p.coords.component_div(semi_axes).norm_squared();
    let gap = (p.coords - foot).norm();
    SurfacePoint { distance: if level < 1.0 { -gap } else { gap }, normal: outward, feature: 0 }
}

/// The point of the ellipsoid nearest to `y`, both in the first octant, for decreasing semi-axes
/// `e`.
fn nearest_in_octant(e: &[f64; 3], y: &[f64; 3]) -> [f64; 3] {
    // Where the smallest coordinate vanishes, the nearest point may leave the coordinate plane:
    // then t sits at a pole.
    for last in (0..3).rev() {
        if y[last] > 0.0 {
            // Coordinates behind `last` are 0, and the point stays in their plane unless it is deep
            // inside.
            return leave_plane(e, y, last);
        }
    }
    // The centre: the nearest points are the ends of the shortest axis.
    [0.0, 0.0, e[2]]
}

/// As [`nearest_in_octant`], where `y[last]` is the last coordinate that is not 0.
fn leave_plane(e: &[f64; 3], y: &[f64; 3], last: usize) -> [f64; 3] {
    // Candidate pole: t = -e_k^2 of the shortest axis whose coordinate is 0.
    for k in (last + 1..3).rev() {
        let mut x = [0.0; 3];
        let mut rest = 1.0;
        let mut inside = true;
        for i in 0..=last {
            let gap = e[i] * e[i] - e[k] * e[k];
            inside &= e[i] * y[i] < gap;
            if inside && gap > 0.0 {
                let s = e[i] * y[i] / gap;
                x[i] = e[i] * s;
                rest -= s * s;
            }
        }
        if inside && rest > 0.0 {
            x[k] = e[k] * rest.sqrt();
            return x;
        }
    }
    let smallest = e[last];
    let r: [f64; 3] = core::array::from_fn(|i| if i <= last { (e[i] / smallest).powi(2) } else { 1.0 });
    let z: [f64; 3] = core::array::from_fn(|i| y[i] / e[i]);
    let level = |s: f64| (0..=last).map(|i| (r[i] * z[i] / (s + r[i])).powi(2)).sum::<f64>() - 1.0;
    let mut low = z[last] - 1.0;
    let far = (0..=last).map(|i| (r[i] * z[i]).powi(2)).sum::<f64>().sqrt();
    let mut high = if level(0.0) < 0.0 { 0.0 } else { far - 1.0 };
    let mut s = low;
    for _ in 0..MAX_BISECTIONS {
        s = 0.5 * (low + high);
        if s <= low.min(high) || s >= low.max(high) {
            break;
        }
        let value = level(s);
        if value > 0.0 {
            low = s;
        } else if value < 0.0 {
            high = s;
        } else {
            break;
        }
    }
    core::array::from_fn(|i| if i <= last { r[i] * y[i] / (s + r[i]) } else { 0.0 })
}

/// A lower bound of the signed distance \[m\]. With k = |(x/a, y/b, z/c)|, whose gradient is at
/// most 1/min: outside the distance is at least (k - 1) min; inside it is at most that along the
/// ray from the centre, (1 - k) max, and at most min.
pub(super) fn lower_bound(semi_axes: &Vector3<f64>, p: &Point3<f64>) -> f64 {
    let (least, greatest) = (semi_axes.min(), semi_axes.max());
    let k = p.coords.component_div(semi_axes).norm();
    if k > 1.0 { (k - 1.0) * least } else { -least.min((1.0 - k) * greatest) }
}
