//! Capsules against half-spaces and each other.

use super::sphere::end_half_space;
use super::{ContactPoint, MERGE, PlacedSolid, direction, merge};
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Double;

/// Squared sine of the angle up to which two axes share a line.
const PARALLEL: f64 = 0.05 * 0.05;
/// Squared sine of the angle below which lines have no unique nearest points.
const SAME: f64 = 1e-14;
/// Squared sine of the angle to the normal that an axis needs for a common part across it.
const ACROSS: f64 = 0.25;
/// Axes nearer than this fraction of their size count as crossing.
const CROSSING: f64 = 1e-12;

/// Capsule and half-space: both ends, or one if they coincide.
#[inline(always)]
pub fn capsule_half_space<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 2] {
    let [radius, half, _] = a.size;
    let end = a.pose.rotation.column(2) * half;
    let first = end_half_space(a.pose.position - end, radius, b);
    let second = end_half_space(a.pose.position + end, radius, b);
    [first, second.only_if(T::zero().lt(half))]
}

/// Coordinates \[m\] of the nearest points of two segments along their unit directions, `w` from
/// the middle of the first to that of the second (Ericson, Real-Time Collision Detection, 2005,
/// section 5.1.9).
#[inline(always)]
fn nearest<T: Double>(directions: [Vec3<T>; 2], halves: [T; 2], w: Vec3<T>) -> [T; 2] {
    let [d, e] = directions;
    let [h, g] = halves;
    let (b, dw, ew) = (d.dot(e), d.dot(w), e.dot(w));
    let square = T::one() - b * b;
    let lines = T::splat(SAME).lt(square);
    let free = (dw - b * ew) / T::select(lines, square, T::one());
    let t = T::select(lines, free.clamp(-h, h), T::zero());
    let u = (b * t - ew).clamp(-g, g);
    let t = (dw + b * u).clamp(-h, h);
    // Once more, since t may have been clamped.
    [t, (b * t - ew).clamp(-g, g)]
}

/// Two capsules.
#[inline(always)]
pub fn capsule_capsule<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 2] {
    let ([ra, h, _], [rb, g, _]) = (a.size, b.size);
    let (d, e) = (a.pose.rotation.column(2), b.pose.rotation.column(2));
    let w = b.pose.position - a.pose.position;
    let [t, u] = nearest([d, e], [h, g], w);
    let apart = w + e * u - d * t;
    let n = normal(a, apart, w, d.cross(e), h + g);
    let axes = Axes { a, b, w, n };
    let single = axes.meeting(t, u);

    // Their common part in the projection along the normal.
    let (df, ef, wf) = (d - n * n.dot(d), e - n * n.dot(e), w - n * n.dot(w));
    let (dd, ee) = (df.norm_squared(), ef.norm_squared());
    let across = T::splat(ACROSS).lt(dd) & T::splat(ACROSS).lt(ee);
    let (dd, ee) = (T::select(across, dd, T::one()), T::select(across, ee, T::one()));
    let (middle, reach) = (wf.dot(df) / dd, (df.dot(ef) / dd * g).abs());
    let (low, high) = (middle - reach, middle + reach);
    let shares = across & d.cross(e).norm_squared().lt(T::splat(PARALLEL)) & low.max(-h).lt(high.min(h));
    // An end of the first over the second, or an end of the second if the first's is beyond it.
    let over_low = ((df * -h - wf).dot(ef) / ee).clamp(-g, g);
    let over_high = ((df * h - wf).dot(ef) / ee).clamp(-g, g);
    let mut ends = [
        axes.meeting(T::select((-h).lt(low), low, -h), over_low),
        axes.meeting(T::select(high.lt(h), high, h), over_high),
    ];
    merge(&mut ends, ra.min(rb) * MERGE);
    [ContactPoint::pick(shares, ends[0], single), ends[1].only_if(shares)]
}

/// Two capsules, from the middle of the first to that of the second \[m\], and the normal of all
/// their contact points.
struct Axes<'a, T> {
    a: &'a PlacedSolid<T>,
    b: &'a PlacedSolid<T>,
    w: Vec3<T>,
    n: Vec3<T>,
}

impl<T: Double> Axes<'_, T> {
    /// The contact point at the coordinates `t` and `u` \[m\] of the two axes.
    #[inline(always)]
    fn meeting(&self, t: T, u: T) -> ContactPoint<T> {
        let (ra, rb) = (self.a.size[0], self.b.size[0]);
        let (d, e) = (self.a.pose.rotation.column(2) * t, self.b.pose.rotation.column(2) * u);
        let between = self.w + e - d;
        let distance = between.dot(self.n) - ra - rb;
        // Midway between the two surfaces, even if the points are not opposite.
        let point = self.a.pose.position + d + (between + self.n * (ra - rb)) * T::splat(0.5);
        ContactPoint { point, normal: self.n, distance }
    }
}

/// From one axis to the other. Axes that cross: across both; axes on one line: across it.
#[inline(always)]
fn normal<T: Double>(a: &PlacedSolid<T>, apart: Vec3<T>, w: Vec3<T>, across: Vec3<T>, size: T) -> Vec3<T> {
    let x = a.pose.rotation.column(0);
    let (both, sine) = direction(across, x);
    let both = Vec3::select(sine.lt(T::splat(1e-9)), x, both);
    let both = both * both.dot(w).sign();
    let (between, gap) = direction(apart, both);
    Vec3::select((size * CROSSING).lt(gap), between, both)
}
