//! Two solids, one of them a cylinder or an ellipsoid: refines an approximate direction of greatest
//! separation to rounding, and finds the points that touch along it.
//!
//! The separation s(n) = -h_A(n) - h_B(-n), h being support functions, is smooth in the direction n
//! except for kinks where an edge of a solid is across n. At its maximum none, one or two edges are
//! across n, so each of these cases is solved as a smooth one: on the sphere of directions, on the
//! circle of directions across one edge, and at the one direction across two. The best of them is
//! the maximum.

use super::pair::{ConvexPair, Separation};
use super::smooth::{self, Ascent};
use super::solid::ShapeWithTables;
use nalgebra::{Unit, Vector3};

/// Edges nearer to being across the rough direction than this (sine of the angle) may touch. GJK
/// has errors of some thousandths on round solids.
const NEAR: f64 = 0.05;
/// Most edges of one solid that are tried, those most nearly across the direction: common hulls
/// have four edges at a corner.
const MOST_EDGES: usize = 6;
/// Two edges more parallel than this (sine of their angle) have no direction across both.
const PARALLEL: f64 = 1e-6;
/// Separations that differ by less than this part of the smaller solid are rounding.
const ROUNDING: f64 = 1e-13;
/// Most steps of Newton's method on a circle: smooth cases take four or five.
const STEPS: usize = 12;
/// Longest of them \[rad\].
const LONGEST: f64 = 0.1;
/// A step below this \[rad\] is the last: the next would be its square.
const SETTLED: f64 = 1e-8;

/// Directions of edges of one solid that may touch, in the frame of the first.
struct Edges {
    directions: [Unit<Vector3<f64>>; MOST_EDGES],
    count: usize,
}

impl Edges {
    /// Those of `solid` nearest to across `n` (frame of the solid), rotated into the first's frame
    /// by `turn`.
    fn near(
        solid: &ShapeWithTables<'_>,
        n: &Vector3<f64>,
        turn: impl Fn(Unit<Vector3<f64>>) -> Unit<Vector3<f64>>,
    ) -> Self {
        let mut edges = Self { directions: [Vector3::z_axis(); MOST_EDGES], count: 0 };
        let mut along = [f64::INFINITY; MOST_EDGES];
        solid.edges(n, |edge| {
            let slope = edge.dot(n).abs();
            let mut k = edges.count.min(MOST_EDGES - 1);
            if slope > NEAR || (edges.count == MOST_EDGES && slope >= along[k]) {
                return;
            }
            // Sorted by insertion.
            while k > 0 && along[k - 1] > slope {
                (along[k], edges.directions[k]) = (along[k - 1], edges.directions[k - 1]);
                k -= 1;
            }
            (along[k], edges.directions[k]) = (slope, turn(edge));
            edges.count = (edges.count + 1).min(MOST_EDGES);
        });
        edges
    }

    fn as_slice(&self) -> &[Unit<Vector3<f64>>] {
        &self.directions[..self.count]
    }
}

/// The edges of the first and of the second solid that are across a direction.
type Across = [Option<Unit<Vector3<f64>>>; 2];

/// The best direction near `start`; none if none is as good as the separation `at_start` \[m\]
/// there.
pub(super) fn refine_direction(
    pair: &ConvexPair<'_>,
    start: &Unit<Vector3<f64>>,
    at_start: f64,
) -> Option<Separation> {
    let rounding = ROUNDING * pair.size();
    // Of equal ones the last, with the most edges, which determine the points of contact.
    let mut best: Option<(Unit<Vector3<f64>>, f64, Across)> = None;
    let mut offer = |n: Unit<Vector3<f64>>, edges: Across| {
        let s = pair.separation(&n);
        if s >= best.as_ref().map_or(at_start, |b| b.1) - rounding {
            best = Some((n, s, edges));
        }
    };
    if let Ascent::Found(n, _) = smooth::ascend(pair, *start, f64::INFINITY) {
        offer(n, [None, None]);
    }
    let of_first = Edges::near(&pair.a, start, |e| e);
    let of_second = Edges::near(&pair.b, &pair.rotation.inverse_transform_vector(&-start.as_ref()), |e| {
        pair.rotation * e
    });
    for &e in of_first.as_slice() {
        if let Some(n) = on_circle(pair, &e, start) {
            offer(n, [Some(e), None]);
        }
    }
    for &e in of_second.as_slice() {
        if let Some(n) = on_circle(pair, &e, start) {
            offer(n, [None, Some(e)]);
        }
    }
    for &e in of_first.as_slice() {
        for &f in of_second.as_slice() {
            if let Some(n) = Unit::try_new(e.cross(&f), PARALLEL) {
                let n = if n.dot(start) < 0.0 { -n } else { n };
                offer(n, [Some(e), Some(f)]);
            }
        }
    }
    best.map(|(normal, distance, edges)| Separation {
        normal,
        distance,
        point: touching(pair, &normal, edges),
    })
}

/// The direction of greatest separation on the circle of those across the edge `e`, near `start`:
/// Newton's method with the second derivative -(t.H t) - s along the circle's tangent t, H being
/// the sum of the second derivatives of the support functions.
fn on_circle(
    pair: &ConvexPair<'_>,
    e: &Unit<Vector3<f64>>,
    start: &Unit<Vector3<f64>>,
) -> Option<Unit<Vector3<f64>>> {
    let mut n = Unit::try_new(start.as_ref() - e.as_ref() * e.dot(start), 0.5)?;
    for _ in 0..STEPS {
        let t = e.cross(&n);
        let between = pair.between(&n);
        let curvature = t.dot(&(smooth::curvature(pair, &n) * t)) + between.dot(&n);
        if curvature <= 0.0 {
            return None;
        }
        let step = (between.dot(&t) / curvature).clamp(-LONGEST, LONGEST);
        n = Unit::new_normalize(n.as_ref() * step.cos() + t * step.sin());
        if step.abs() <= SETTLED {
            return Some(n);
        }
    }
    // It oscillates about a kink, where another edge is across.
    None
}

/// The point of the first's surface that touches along `n`, where `edges` of the first and the
/// second are across it: the point opposite the other's along `n`.
fn touching(
    pair: &ConvexPair<'_>,
    n: &Unit<Vector3<f64>>,
    edges: [Option<Unit<Vector3<f64>>>; 2],
) -> Vector3<f64> {
    let p = pair.a.support(n);
    let between = pair.between(n);
    let on_core = match edges {
        // An edge against a point: it is opposite the point.
        [Some(_), None] => p + between - n.as_ref() * between.dot(n),
        [Some(e), Some(f)] => {
            // p + x e and q + y f are opposite each other: between + y f - x e has no part across
            // n.
            let across = f.cross(n);
            let x = between.dot(&across) / e.dot(&across);
            if x.is_finite() { p + e.as_ref() * x } else { p }
        }
        [None, _] => p,
    };
    on_core + n.as_ref() * pair.a.radius()
}
