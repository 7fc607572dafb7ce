//! A capsule and a box.

use super::sphere::box_surface;
use super::{ABSENT_DISTANCE, ContactPoint, MERGE, PlacedSolid, merge};
use pliant_numeric::each;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Double;

/// Squared sine of the angle between an edge and the axis below which their common normal is none.
const PARALLEL: f64 = 1e-10;
/// Advantage that the separation by an edge must have over those by faces, as a fraction of the
/// least half extent.
const FACE_BIAS: f64 = 1e-9;

/// Factor by which a face is enlarged for clipping an axis.
const LARGER: f64 = 1.0 + 1e-9;

/// The axis of a capsule in the frame of a box: `centre + t axis`, |t| <= `half` \[m\].
#[derive(Clone, Copy)]
struct Segment<T> {
    centre: Vec3<T>,
    axis: Vec3<T>,
    half: T,
}

/// Separation of the axis and the box: outward normal of the box, signed distance \[m\], and
/// coordinate on the axis \[m\].
#[derive(Clone, Copy)]
struct Separation<T> {
    out: Vec3<T>,
    distance: T,
    at: T,
    /// 1 for the axis of the face that the normal is nearest to; zero across an edge.
    face: Vec3<T>,
}

impl<T: Double> Segment<T> {
    #[inline(always)]
    fn at(&self, t: T) -> Vec3<T> {
        self.centre + self.axis * t
    }

    /// Half the derivative of the squared distance to the box: monotone, and linear between the
    /// planes of the faces.
    #[inline(always)]
    fn slope(&self, box_half: &[T; 3], t: T) -> T {
        let [x, y, z] = each!(k in [0, 1, 2] {
            let p = self.centre.0[k] + self.axis.0[k] * t;
            (p - p.clamp(-box_half[k], box_half[k])) * self.axis.0[k]
        });
        x + y + z
    }

    /// Coordinates at which it passes the planes of the faces across axis `k`, in order; infinite
    /// or NaN if it is parallel to them.
    #[inline(always)]
    fn passes(&self, box_half: &[T; 3], k: usize) -> [T; 2] {
        let (c, a, h) = (self.centre.0[k], self.axis.0[k], box_half[k]);
        let (p, q) = ((-h - c) / a, (h - c) / a);
        [p.min(q), p.max(q)]
    }

    /// The coordinate \[m\] nearest to the box: the root of the slope, between the planes on either
    /// side of it; the middle if there are many.
    #[inline(always)]
    fn nearest(&self, box_half: &[T; 3]) -> T {
        let (zero, half) = (T::zero(), self.half);
        let [[p, q], [r, s], [u, v]] = each!(k in [0, 1, 2] self.passes(box_half, k));
        // The last coordinate at which the squared distance does not grow and the first at which it
        // does not fall, with their slopes.
        let (mut low, mut high) = ((-half, zero), (half, zero));
        for t in [-half, half, p, q, r, s, u, v] {
            // NaN becomes an end.
            let t = t.clamp(-half, half);
            let slope = self.slope(box_half, t);
            let keep = T::select(zero.lt(slope), T::splat(-ABSENT_DISTANCE), t).lt(low.0);
            low = (T::select(keep, low.0, t), T::select(keep, low.1, slope));
            let keep = high.0.lt(T::select(slope.lt(zero), T::splat(ABSENT_DISTANCE), t));
            high = (T::select(keep, high.0, t), T::select(keep, high.1, slope));
        }
        let between = low.0.lt(high.0);
        let rise = T::select(between, high.1 - low.1, T::one());
        low.0 + (high.0 - low.0) * T::select(between, -low.1 / rise, T::splat(0.5))
    }

    /// Nearest coordinate if the axis is outside the box, else the direction of least overlap.
    #[inline(always)]
    fn apart(&self, box_half: &[T; 3]) -> Separation<T> {
        let at = self.nearest(box_half);
        let (out, distance) = box_surface(box_half, self.at(at));
        let (zero, one) = (T::zero(), T::one());
        let [x, y, z] = out.map(T::abs).0;
        let first = T::select(x.lt(y) | x.lt(z), zero, one);
        let third = T::select(x.lt(z) & y.lt(z), one, zero);
        let near = Separation { out, distance, at, face: Vec3([first, one - first - third, third]) };
        Separation::pick(zero.lt(distance), near, self.overlap(box_half))
    }

    /// The best of the axes across faces and across an edge and the segment (Gottschalk, Lin and
    /// Manocha 1996).
    #[inline(always)]
    fn overlap(&self, box_half: &[T; 3]) -> Separation<T> {
        let (zero, one) = (T::zero(), T::one());
        let (c, a) = (self.centre.0, self.axis.0);
        let mut best = Separation {
            out: Vec3([one, zero, zero]),
            distance: T::splat(-ABSENT_DISTANCE),
            at: zero,
            face: Vec3([zero; 3]),
        };
        for k in 0..3 {
            let mut face = Vec3([zero; 3]);
            face.0[k] = one;
            let side = c[k].sign();
            let next = Separation {
                out: face * side,
                distance: c[k].abs() - box_half[k] - self.half * a[k].abs(),
                at: -self.half * (a[k] * side).sign(),
                face,
            };
            best = Separation::pick(best.distance.lt(next.distance), next, best);
        }
        let [x, y, z] = *box_half;
        let bias = x.min(y).min(z) * FACE_BIAS;
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let square = a[i] * a[i] + a[j] * a[j];
            let crosses = T::splat(PARALLEL).lt(square);
            let square = T::select(crosses, square, one);
            let norm = square.sqrt();
            // e_k x a has the components -a_j along i and a_i along j.
            let (ni, nj) = (-a[j] / norm, a[i] / norm);
            let along = ni * c[i] + nj * c[j];
            let side = along.sign();
            let (ni, nj) = (ni * side, nj * side);
            // Coordinates at which the segment passes the edge.
            let (ei, ej) = (box_half[i] * ni.sign() - c[i], box_half[j] * nj.sign() - c[j]);
            let mut out = Vec3([zero; 3]);
            (out.0[i], out.0[j]) = (ni, nj);
            let next = Separation {
                out,
                distance: along.abs() - box_half[i] * ni.abs() - box_half[j] * nj.abs(),
                at: ((ei * a[i] + ej * a[j]) / square).clamp(-self.half, self.half),
                face: Vec3([zero; 3]),
            };
            best = Separation::pick(crosses & (best.distance + bias).lt(next.distance), next, best);
        }
        best
    }

    /// Outward normal of the face of `apart`, coordinates and distances \[m\] of both ends of the
    /// part over it, and whether there is one.
    #[inline(always)]
    fn over_face(&self, box_half: &[T; 3], apart: &Separation<T>) -> (Vec3<T>, [(T, T); 2], T::Mask) {
        let (zero, half) = (T::zero(), self.half);
        // Slightly enlarged: an axis over an edge is over both faces.
        let larger = each!(k in [0, 1, 2] box_half[k] * LARGER);
        let planes = each!(k in [0, 1, 2] self.passes(&larger, k));
        let mut normal = Vec3([zero; 3]);
        let (mut low, mut high) = (half, -half);
        for k in 0..3 {
            let [[p, q], [r, s]] = [planes[(k + 1) % 3], planes[(k + 2) % 3]];
            let this = T::splat(0.5).lt(apart.face.0[k]);
            low = T::select(this, r.max(p.max(-half)), low);
            high = T::select(this, s.min(q.min(half)), high);
            normal.0[k] = apart.face.0[k] * apart.out.0[k].sign();
        }
        let over = low.lt(high);
        let reach = Vec3(*box_half).dot(normal.map(T::abs));
        let low = T::select(over, low, apart.at);
        let high = T::select(over, high, apart.at);
        let ends = [(low, self.at(low).dot(normal) - reach), (high, self.at(high).dot(normal) - reach)];
        (normal, ends, over)
    }
}

impl<T: Double> Separation<T> {
    #[inline(always)]
    fn pick(mask: T::Mask, then: Self, otherwise: Self) -> Self {
        Self {
            out: Vec3::select(mask, then.out, otherwise.out),
            distance: T::select(mask, then.distance, otherwise.distance),
            at: T::select(mask, then.at, otherwise.at),
            face: Vec3::select(mask, then.face, otherwise.face),
        }
    }
}

/// The contact point at the coordinate `at` \[m\] of the axis, `distance` \[m\] from the box along
/// its outward normal `out`.
#[inline(always)]
fn meeting<T: Double>(
    a: &PlacedSolid<T>,
    b: &PlacedSolid<T>,
    out: Vec3<T>,
    at: T,
    distance: T,
) -> ContactPoint<T> {
    let (normal, radius) = (-b.pose.rotation.apply(out), a.size[0]);
    let centre = a.pose.position + a.pose.rotation.column(2) * at;
    ContactPoint::on_first(centre + normal * radius, normal, distance - radius)
}

/// Capsule and box: the nearest or deepest point of the axis, and both ends of the part over the
/// face there.
#[inline(always)]
pub fn capsule_box<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 3] {
    let [radius, half, _] = a.size;
    let segment = Segment {
        centre: b.pose.apply_inverse(a.pose.position),
        axis: b.pose.rotation.apply_inverse(a.pose.rotation.column(2)),
        half,
    };
    let apart = segment.apart(&b.size);
    let (face, ends, over) = segment.over_face(&b.size, &apart);
    // Without a face the normal is that of the nearest point.
    let face = Vec3::select(over, face, apart.out);
    let nearest = meeting(a, b, apart.out, apart.at, apart.distance);
    let low = meeting(a, b, face, ends[0].0, ends[0].1).only_if(over);
    let high = meeting(a, b, face, ends[1].0, ends[1].1).only_if(over);
    let mut contact_points = [nearest, low, high];
    let [x, y, z] = b.size;
    merge(&mut contact_points, radius.min(x).min(y).min(z) * MERGE);
    contact_points
}
