//! Two convex solids: the direction of greatest separation, then the common part of their faces
//! along it.

use super::manifold::{Clipper, LocalContact, MAX_POINTS, NEAREST, SupportFace, across, reduce};
use super::pair::{ConvexPair, Separation};
use super::sharpen::refine_direction;
use super::smooth::{self, Ascent};
use super::solid::ShapeWithTables;
use super::{box_box, capsule};
use nalgebra::{Unit, Vector3};
use pliant_geometry::Shape;
use pliant_geometry::convert::{Nearest, Workspace};

/// The normal of a face replaces the direction found if that loses at most this fraction of the
/// smaller solid's size in separation.
const FACE_BIAS: f64 = 1e-9;
/// Largest difference in depth between the common corners of flat faces and the deepest point, as a
/// fraction of the smaller solid's size.
const FLAT: f64 = 1e-9;
/// The same for rims, as part of their radius: octagons replace them, with at most this error while
/// they rotate towards their deepest point (see [`super::solid::rim_point`]).
const ROUND: f64 = 2e-5;

/// A direction whose separation is this close to the distance of two points of the solids, relative
/// to the smaller one's size, is exact.
const CERTAIN: f64 = 1e-9;
/// Most steps of the search for a better direction.
const POLISH_STEPS: usize = 150;

/// Buffers of the narrow phase.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    pub(super) faces: [SupportFace; 2],
    pub(super) clipper: Clipper,
    pub(super) workspace: Workspace,
    pub(super) triangles: Vec<u32>,
    pub(super) vertices: Vec<u32>,
}

/// Contacts of two convex solids nearer than `margin` \[m\], in the frame of the first.
pub(super) fn contacts(
    pair: &ConvexPair<'_>,
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<LocalContact>,
) {
    let start = out.len();
    if let (Shape::Box { half_extents: a }, Shape::Box { half_extents: b }) = (pair.a.shape, pair.b.shape) {
        let Some((normal, distance)) =
            box_box::separating_axis(a, b, &pair.rotation, &pair.translation, margin)
        else {
            return;
        };
        pair.faces(&normal, &mut scratch.faces);
        if let Some(deepest) = shared(pair, &normal, margin, scratch, out, start) {
            // For separated solids beside a face, the axis is not the direction of the nearest
            // points.
            if distance <= 0.0 || deepest <= distance + FLAT * pair.size() {
                return;
            }
        } else if distance <= 0.0 {
            let point = pair.support_b(&-normal.as_ref()) - normal.as_ref() * distance;
            out.push(LocalContact { point, normal, distance, feature: NEAREST });
            return;
        }
        out.truncate(start);
    }
    let Some(found) = separation(pair, margin, scratch) else { return };
    let found = prefer_faces(pair, found, &mut scratch.faces);
    if found.distance >= margin {
        return;
    }
    let deepest = shared(pair, &found.normal, margin, scratch, out, start);
    let rim = |solid: &ShapeWithTables<'_>| match solid.shape {
        Shape::Cylinder { radius, .. } => ROUND * radius,
        _ => 0.0,
    };
    let tolerance = (FLAT * pair.size()).max(rim(&pair.a)).max(rim(&pair.b));
    if deepest.is_none_or(|d| d > found.distance + tolerance) {
        let Separation { normal, distance, point } = found;
        out.push(LocalContact { point, normal, distance, feature: NEAREST });
    }
}

/// Appends the contacts of the common part of the faces in `scratch`, at most [`MAX_POINTS`], and
/// returns the least distance \[m\].
fn shared(
    pair: &ConvexPair<'_>,
    normal: &Unit<Vector3<f64>>,
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<LocalContact>,
    start: usize,
) -> Option<f64> {
    let [a, b] = &scratch.faces;
    scratch.clipper.contacts(normal, [a, b], pair.radii(), pair.size(), out);
    let mut kept = start;
    for i in start..out.len() {
        if out[i].distance < margin {
            out.swap(kept, i);
            kept += 1;
        }
    }
    out.truncate(kept);
    reduce(out, start, MAX_POINTS);
    out[start..].iter().map(|c| c.distance).reduce(f64::min)
}

/// The direction of greatest separation; `None` if that is certainly more than `margin`.
fn separation(pair: &ConvexPair<'_>, margin: f64, scratch: &mut Scratch) -> Option<Separation> {
    let [ra, rb] = pair.radii();
    if let (Shape::Capsule { half_length: a, .. }, Shape::Capsule { half_length: b, .. }) =
        (pair.a.shape, pair.b.shape)
    {
        let axis = pair.rotation * Vector3::z();
        let ([p, q], normal) = capsule::axes([*a, *b], &axis, &pair.translation);
        let distance = (q - p).dot(&normal) - ra - rb;
        return (distance < margin).then_some(Separation {
            normal,
            distance,
            point: p + normal.as_ref() * ra,
        });
    }
    let start = Unit::try_new(pair.translation, f64::MIN_POSITIVE).unwrap_or(Vector3::x_axis());
    if smooth::applies(pair)
        && let Some(found) = ascended(pair, start, margin)
    {
        return found;
    }
    let workspace = &mut scratch.workspace;
    let (first, second) = (|d: &Vector3<f64>| pair.a.support(d), |d: &Vector3<f64>| pair.support_b(d));
    let mut found = workspace.nearest(first, second, &start, margin + ra + rb);
    if matches!(found, Nearest::Overlap) {
        found = workspace.deepest(first, second);
    }
    let rough = match found {
        Nearest::Far(n) if pair.separation(&n) >= margin => return None,
        Nearest::Points([p, q], n) => {
            let n = Unit::new_normalize(n);
            let mut best = (n, pair.separation(&n));
            // No direction has a separation above this, that of two points of the solids.
            let bound = (q - p).dot(&n) - ra - rb;
            let error = (bound - best.1) / pair.size();
            if error > CERTAIN && !pair.is_round() {
                pattern_search(pair, &mut best, error);
            }
            let (normal, distance) = best;
            Separation { normal, distance, point: pair.touching_point(&normal, distance, &p) }
        }
        _ => search(pair),
    };
    let sharper = if pair.is_round() { refine_direction(pair, &rough.normal, rough.distance) } else { None };
    Some(sharper.unwrap_or(rough))
}

/// Newton's method for solids one of which is an ellipsoid: finds that they are farther apart than
/// `margin` \[m\], or the direction of greatest separation; `None` if it does not converge. Solids
/// that overlap may have several local maxima, so the search is repeated from the best of their
/// axes.
fn ascended(pair: &ConvexPair<'_>, start: Unit<Vector3<f64>>, margin: f64) -> Option<Option<Separation>> {
    let (mut normal, mut distance) = match smooth::ascend(pair, start, margin) {
        Ascent::Separation => return Some(None),
        Ascent::Found(n, s) => (n, s),
        Ascent::NotConverged => return None,
    };
    if distance < 0.0 {
        match smooth::ascend(pair, best_axis(pair).0, margin) {
            Ascent::Separation => return Some(None),
            Ascent::Found(n, s) if s > distance => (normal, distance) = (n, s),
            Ascent::Found(..) => {}
            Ascent::NotConverged => return None,
        }
        return Some(Some(Separation { normal, distance, point: pair.outer_point(&normal, distance) }));
    }
    let point = pair.touching_point(&normal, distance, &pair.a.support(&normal));
    Some(Some(Separation { normal, distance, point }))
}

/// Improves the direction `best.0` of separation `best.1` \[m\] by a pattern search over the sphere
/// of directions (Hooke and Jeeves 1961), from steps for an error of `error`, in proportion to the
/// solids' size, down to rounding. The pattern rotates, so that a ridge does not stop it.
fn pattern_search(pair: &ConvexPair<'_>, best: &mut (Unit<Vector3<f64>>, f64), error: f64) {
    /// Cosine and sine of the rotation: some 34 degrees, so that directions do not repeat.
    const TURN: [f64; 2] = [0.829_037_572_555_041_7, 0.559_192_903_470_746_8];
    let mut step = (4.0 * error).sqrt().clamp(1e-6, 0.5);
    let (mut c, mut s) = (1.0, 0.0);
    for _ in 0..POLISH_STEPS {
        if step < 1e-8 {
            break;
        }
        let n = best.0.into_inner();
        let [t, u] = across(&n);
        let (t, u) = (t * c + u * s, u * c - t * s);
        (c, s) = (c * TURN[0] - s * TURN[1], s * TURN[0] + c * TURN[1]);
        let mut moved = false;
        for v in [t, u, -t, -u] {
            let m = Unit::new_normalize(n + v * step);
            let separation = pair.separation(&m);
            if separation > best.1 {
                *best = (m, separation);
                moved = true;
                break;
            }
        }
        step *= if moved { 1.5 } else { 0.5 };
    }
}

/// The best of the axes of both solids and the line of their centres, and its separation \[m\].
fn best_axis(pair: &ConvexPair<'_>) -> (Unit<Vector3<f64>>, f64) {
    let mut best = (Vector3::x_axis(), f64::NEG_INFINITY);
    let mut try_direction = |v: Vector3<f64>| {
        if let Some(n) = Unit::try_new(v, f64::MIN_POSITIVE) {
            let s = pair.separation(&n);
            if s > best.1 {
                best = (n, s);
            }
        }
    };
    try_direction(pair.translation);
    for k in 0..3 {
        let axis = Vector3::ith(k, 1.0);
        for v in [axis, -axis, pair.rotation * axis, -(pair.rotation * axis)] {
            try_direction(v);
        }
    }
    best
}

/// A direction of little overlap if the exact algorithms fail.
fn search(pair: &ConvexPair<'_>) -> Separation {
    let mut best = best_axis(pair);
    pattern_search(pair, &mut best, 1.0);
    let (normal, distance) = best;
    Separation { normal, distance, point: pair.outer_point(&normal, distance) }
}

/// Replaces the direction by the normal of a face along it that is no worse, which is free of the
/// rounding of nearest points. Leaves the faces along the result in `faces`.
fn prefer_faces(pair: &ConvexPair<'_>, found: Separation, faces: &mut [SupportFace; 2]) -> Separation {
    pair.faces(&found.normal, faces);
    let mut best = found;
    let mut least = found.distance - FACE_BIAS * pair.size();
    for (k, face) in faces.iter().enumerate() {
        let Some(outward) = face.normal() else { continue };
        let n = if k == 0 { outward } else { -outward };
        let s = pair.separation(&n);
        if s >= least {
            // A face touches a point of the other solid.
            let point = if k == 0 {
                pair.support_b(&-n.as_ref()) - n.as_ref() * (s + pair.b.radius())
            } else {
                pair.a.support(&n) + n.as_ref() * pair.a.radius()
            };
            best = Separation { normal: n, distance: s, point };
            // The second one's face must be clearly better than the first one's.
            least = s + 1e-12 * pair.size();
        }
    }
    if best.normal != found.normal {
        pair.faces(&best.normal, faces);
    }
    best
}
