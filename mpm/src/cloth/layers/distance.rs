//! Distances of a point from a triangle and of two segments (after Ericson, "Real-time collision
//! detection", 2005, chapter 5.1), as weights of the four points.

use nalgebra::Vector3;

type V3 = Vector3<f64>;

/// Two elements that share no vertex, as indices of the four points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The first point and the triangle of the others.
    VertexFace,
    /// The segment of the first two points and that of the last two.
    EdgeEdge,
}

/// Where two elements are closest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closest {
    /// Weights w of the points: their sum w_i x_i is the vector from the second element to the first
    /// \[-\].
    pub weights: [f64; 4],
    /// That vector \[m\].
    pub apart: V3,
}

impl Closest {
    pub fn of(kind: Kind, points: &[V3; 4]) -> Self {
        let weights = match kind {
            Kind::VertexFace => {
                let [a, b, c] = point_triangle(points);
                [1.0, -a, -b, -c]
            }
            Kind::EdgeEdge => {
                let [s, t] = segments(points);
                [1.0 - s, s, t - 1.0, -t]
            }
        };
        let apart = points.iter().zip(weights).map(|(x, w)| x * w).sum();
        Self { weights, apart }
    }
}

/// Barycentric coordinates of the triangle's point closest to the first.
fn point_triangle([p, a, b, c]: &[V3; 4]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(&ac);
    let area = normal.norm_squared();
    // A triangle without area has no inside.
    if area > 1e-20 * ab.norm_squared() * ac.norm_squared() {
        let (of_b, of_c) = (ap.cross(&ac).dot(&normal), ab.cross(&ap).dot(&normal));
        if of_b >= 0.0 && of_c >= 0.0 && of_b + of_c <= area {
            return [1.0 - (of_b + of_c) / area, of_b / area, of_c / area];
        }
    }
    let sides = [(a, b), (b, c), (c, a)].map(|(from, to)| {
        let (along, to_point) = (to - from, p - from);
        let t = fraction(along.dot(&to_point), along.norm_squared());
        (t, (to_point - along * t).norm_squared())
    });
    let (mut side, mut least) = (0, f64::INFINITY);
    for (number, (_, distance)) in sides.into_iter().enumerate() {
        if distance < least {
            (side, least) = (number, distance);
        }
    }
    let mut weights = [0.0; 3];
    (weights[side], weights[(side + 1) % 3]) = (1.0 - sides[side].0, sides[side].0);
    weights
}

/// `x / length` within 0 and 1; 0 for points, of length 0, where any place will do.
fn fraction(x: f64, length: f64) -> f64 {
    if length > 0.0 { (x / length).clamp(0.0, 1.0) } else { 0.0 }
}

/// Where on the segments from the first to the second point and from the third to the fourth they
/// are closest, 0 to 1.
fn segments([p1, q1, p2, q2]: &[V3; 4]) -> [f64; 2] {
    let (d1, d2, r) = (q1 - p1, q2 - p2, p1 - p2);
    let (a, e, f) = (d1.norm_squared(), d2.norm_squared(), d2.dot(&r));
    let (b, c) = (d1.dot(&d2), d1.dot(&r));
    if e == 0.0 {
        return [fraction(-c, a), 0.0];
    }
    let area = a * e - b * b;
    let s = if area > 1e-14 * a * e { ((b * f - c * e) / area).clamp(0.0, 1.0) } else { 0.0 };
    let t = b * s + f;
    if t < 0.0 {
        [fraction(-c, a), 0.0]
    } else if t > e {
        [fraction(b - c, a), 1.0]
    } else {
        [s, fraction(t, e)]
    }
}
