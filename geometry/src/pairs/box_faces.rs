//! Faces of boxes clipped against each other.

use super::{ContactPoint, PlacedSolid};
use pliant_numeric::each;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Double;

/// Factor by which a face is enlarged for clipping: faces of equal boxes share their corners.
const LARGER: f64 = 1.0 + 1e-9;

/// A face of one of two boxes.
#[derive(Clone, Copy)]
pub(super) struct BoxFace<T> {
    /// \[m\]
    pub middle: Vec3<T>,
    /// Outwards.
    pub normal: Vec3<T>,
    /// Directions of its edges and half their lengths \[m\].
    pub sides: [Vec3<T>; 2],
    pub reach: [T; 2],
    /// 1 for a face of the second box, 0 for one of the first.
    pub second: T,
}

impl<T: Double> BoxFace<T> {
    #[inline(always)]
    pub fn pick(mask: T::Mask, then: Self, otherwise: Self) -> Self {
        Self {
            middle: Vec3::select(mask, then.middle, otherwise.middle),
            normal: Vec3::select(mask, then.normal, otherwise.normal),
            sides: each!(k in [0, 1] Vec3::select(mask, then.sides[k], otherwise.sides[k])),
            reach: each!(k in [0, 1] T::select(mask, then.reach[k], otherwise.reach[k])),
            second: T::select(mask, then.second, otherwise.second),
        }
    }

    /// Outward normal of the first box's, inward of the second's: from the first to the second.
    #[inline(always)]
    pub fn first_to_second(&self) -> Vec3<T> {
        self.normal * (self.second * -2.0 + 1.0)
    }

    /// The face of a box most aligned with `towards`, the first of equal ones.
    #[inline(always)]
    fn of(solid: &PlacedSolid<T>, axes: &[Vec3<T>; 3], towards: Vec3<T>) -> Self {
        let (mut best, mut most) = Self::across(solid, axes, towards, 0);
        for k in 1..3 {
            let (face, along) = Self::across(solid, axes, towards, k);
            let better = most.lt(along);
            best = Self::pick(better, face, best);
            most = T::select(better, along, most);
        }
        best
    }

    /// The face across axis `k`, and its alignment with `towards`.
    #[inline(always)]
    fn across(solid: &PlacedSolid<T>, axes: &[Vec3<T>; 3], towards: Vec3<T>, k: usize) -> (Self, T) {
        let along = axes[k].dot(towards);
        let normal = axes[k] * along.sign();
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let face = Self {
            middle: solid.pose.position + normal * solid.size[k],
            normal,
            sides: [axes[i], axes[j]],
            reach: [solid.size[i], solid.size[j]],
            second: T::zero(),
        };
        (face, along.abs())
    }

    /// Components of a vector along its edges and its normal.
    #[inline(always)]
    fn seen(&self, v: Vec3<T>) -> Vec3<T> {
        Vec3([self.sides[0].dot(v), self.sides[1].dot(v), self.normal.dot(v)])
    }

    /// The contact point at a point along its edges and above it, if the mask is true.
    #[inline(always)]
    fn meeting(&self, p: Vec3<T>, there: T::Mask) -> ContactPoint<T> {
        let along = self.middle + self.sides[0] * p.0[0] + self.sides[1] * p.0[1];
        let half = self.normal * (p.0[2] * 0.5);
        let normal = self.first_to_second();
        ContactPoint { point: along + half, normal, distance: p.0[2] }.only_if(there)
    }
}

/// The corners of the common part of `face` of one of the boxes and the opposite face of the other,
/// projected along its normal: the ends of the other face's edges over it (8) and its own corners
/// under the other one (4).
#[inline(always)]
pub(super) fn clip<T: Double>(
    face: &BoxFace<T>,
    axes: &[[Vec3<T>; 3]; 2],
    solids: [&PlacedSolid<T>; 2],
) -> [ContactPoint<T>; 12] {
    let zero = T::zero();
    let of_second = T::splat(0.5).lt(face.second);
    let other = BoxFace::pick(
        of_second,
        BoxFace::of(solids[0], &axes[0], -face.normal),
        BoxFace::of(solids[1], &axes[1], -face.normal),
    );
    // Coordinates along the face's edges and above it.
    let middle = face.seen(other.middle - face.middle);
    let edges = each!(k in [0, 1] face.seen(other.sides[k]) * other.reach[k]);
    let mut out = [face.meeting(middle, zero.lt(zero)); 12];
    let (u, v) = (edges[0], edges[1]);
    let around = [(middle - u - v, u), (middle + u - v, v), (middle + u + v, -u), (middle - u + v, -v)];
    for (k, (from, half)) in around.into_iter().enumerate() {
        let edge = half * T::splat(2.0);
        let (low, high, there) = within(from, edge, face.reach);
        // The end of an edge is the beginning of the next one.
        out[2 * k] = face.meeting(from + edge * low, there);
        out[2 * k + 1] = face.meeting(from + edge * high, there & high.lt(T::one()));
    }
    // Coordinates of the face's corners along the edges of the other face.
    let det = u.0[0] * v.0[1] - u.0[1] * v.0[0];
    // Not zero, since the faces are opposite.
    let inverse = T::one() / det;
    for (k, (a, b)) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].into_iter().enumerate() {
        let (x, y) = (face.reach[0] * a - middle.0[0], face.reach[1] * b - middle.0[1]);
        let along = (x * v.0[1] - y * v.0[0]) * inverse;
        let across = (u.0[0] * y - u.0[1] * x) * inverse;
        let larger = T::splat(LARGER);
        let there = along.abs().lt(larger) & across.abs().lt(larger);
        let height = middle.0[2] + u.0[2] * along + v.0[2] * across;
        out[8 + k] = face.meeting(Vec3([face.reach[0] * a, face.reach[1] * b, height]), there);
    }
    out
}

/// The part of an edge over a rectangle, as fractions of the edge, and whether there is any (Liang
/// and Barsky 1984).
#[inline(always)]
fn within<T: Double>(from: Vec3<T>, edge: Vec3<T>, reach: [T; 2]) -> (T, T, T::Mask) {
    let (mut low, mut high) = (T::zero(), T::one());
    for k in 0..2 {
        let (p, d, reach) = (from.0[k], edge.0[k], reach[k] * LARGER);
        // Infinite for an edge along a side.
        let (x, y) = ((-reach - p) / d, (reach - p) / d);
        low = x.min(y).max(low);
        high = x.max(y).min(high);
    }
    let there = low.lt(high);
    (T::select(there, low, T::zero()), T::select(there, high, T::one()), there)
}
