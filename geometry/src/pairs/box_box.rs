//! Two boxes.

use super::box_faces::{BoxFace, clip};
use super::box_half_space::corners;
use super::sphere::box_surface;
use super::{ABSENT_DISTANCE, ContactPoint, MERGE, PlacedSolid, merge};
use pliant_numeric::each;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Double;

/// Squared sine of the angle below which two edges give no axis.
const PARALLEL: f64 = 1e-10;
/// As in [`collision`](pliant_rigid::collision): advantage that an axis across two edges must have
/// over those of the faces, as fractions of the overlap and of the least half extent, and the
/// difference that counts as rounding.
const EDGE_OVERLAP: f64 = 0.02;
const EDGE_SIZE: f64 = 1e-6;
const TIE: f64 = 1e-12;
/// Largest difference between the separation of the faces and their deepest contact point, as a
/// fraction of the least half extent.
const FLAT: f64 = 1e-9;

/// The best axis across two edges.
#[derive(Clone, Copy)]
struct Edges<T> {
    /// Unit vector from the first to the second.
    normal: Vec3<T>,
    /// Separation \[m\].
    distance: T,
    /// 1 for the axis along the edge, of both boxes.
    along: [Vec3<T>; 2],
}

/// Both boxes, and values that all steps share.
struct Boxes<'a, T> {
    solids: [&'a PlacedSolid<T>; 2],
    /// Axes of both, world frame.
    axes: [[Vec3<T>; 3]; 2],
    /// From the first's middle to the second's, world frame \[m\].
    between: Vec3<T>,
    /// Least half extent \[m\].
    size: T,
}

impl<'a, T: Double> Boxes<'a, T> {
    #[inline(always)]
    fn new(a: &'a PlacedSolid<T>, b: &'a PlacedSolid<T>) -> Self {
        let least = |s: &PlacedSolid<T>| s.size[0].min(s.size[1]).min(s.size[2]);
        Self {
            solids: [a, b],
            axes: [
                each!(k in [0, 1, 2] a.pose.rotation.column(k)),
                each!(k in [0, 1, 2] b.pose.rotation.column(k)),
            ],
            between: b.pose.position - a.pose.position,
            size: least(a).min(least(b)),
        }
    }

    /// The face of a box across its axis `k` towards the other one's middle, and the distance to
    /// that along its normal \[m\].
    #[inline(always)]
    fn face(&self, solid: usize, k: usize) -> (BoxFace<T>, T) {
        let (own, half) = (&self.axes[solid], &self.solids[solid].size);
        let one = T::one();
        let (away, second) = if solid == 0 { (one, T::zero()) } else { (-one, one) };
        let along = own[k].dot(self.between) * away;
        let normal = own[k] * along.sign();
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let face = BoxFace {
            middle: self.solids[solid].pose.position + normal * half[k],
            normal,
            sides: [own[i], own[j]],
            reach: [half[i], half[j]],
            second,
        };
        (face, along.abs())
    }

    /// The component of a box's half extent across axis `k` along a unit vector \[m\].
    #[inline(always)]
    fn half(&self, solid: usize, k: usize, along: Vec3<T>) -> T {
        self.axes[solid][k].dot(along).abs() * self.solids[solid].size[k]
    }

    /// The sum of two of them.
    #[inline(always)]
    fn reach(&self, solid: usize, [k, m]: [usize; 2], along: Vec3<T>) -> T {
        self.half(solid, k, along) + self.half(solid, m, along)
    }

    /// The face along whose normal the separation is greatest, and that separation \[m\].
    #[inline(always)]
    fn faces(&self) -> (BoxFace<T>, T) {
        let tie = self.size * TIE;
        let mut best = (self.face(0, 0).0, T::splat(-ABSENT_DISTANCE));
        for (one, other) in [(0, 1), (1, 0)] {
            for k in 0..3 {
                let (face, along) = self.face(one, k);
                let reach = self.reach(other, [0, 1], face.normal) + self.half(other, 2, face.normal);
                let separation = along - self.solids[one].size[k] - reach;
                let better = (best.1 + tie).lt(separation);
                best = (BoxFace::pick(better, face, best.0), T::select(better, separation, best.1));
            }
        }
        best
    }

    /// The best axis across two edges (Gottschalk, Lin and Manocha 1996).
    #[inline(always)]
    fn edges(&self) -> Edges<T> {
        let (zero, one) = (T::zero(), T::one());
        let mut best = Edges {
            normal: self.axes[0][0],
            distance: T::splat(-ABSENT_DISTANCE),
            along: [Vec3([one, zero, zero]); 2],
        };
        for i in 0..3 {
            for j in 0..3 {
                let axis = self.axes[0][i].cross(self.axes[1][j]);
                let square = axis.norm_squared();
                let crosses = T::splat(PARALLEL).lt(square);
                let normal = axis * (one / T::select(crosses, square, one).sqrt());
                let along = normal.dot(self.between);
                let mut named = [Vec3([zero; 3]); 2];
                (named[0].0[i], named[1].0[j]) = (one, one);
                let first = self.reach(0, [(i + 1) % 3, (i + 2) % 3], normal);
                let second = self.reach(1, [(j + 1) % 3, (j + 2) % 3], normal);
                let distance = along.abs() - first - second;
                let next = Edges { normal: normal * along.sign(), distance, along: named };
                best = Edges::pick(crosses & best.distance.lt(distance), next, best);
            }
        }
        best
    }

    /// The nearest points of the two edges, and whether they are within both.
    #[inline(always)]
    fn crossing(&self, edges: &Edges<T>) -> (ContactPoint<T>, T::Mask) {
        let (zero, one) = (T::zero(), T::one());
        let [(p, d, h), (q, e, g)] = each!(solid in [0, 1] {
            let towards = if solid == 0 { edges.normal } else { -edges.normal };
            let (own, half) = (&self.axes[solid], &self.solids[solid].size);
            let mut middle = self.solids[solid].pose.position;
            let (mut direction, mut reach) = (Vec3([zero; 3]), zero);
            for k in 0..3 {
                let named = edges.along[solid].0[k];
                middle += own[k] * (half[k] * own[k].dot(towards).sign() * (one - named));
                direction += own[k] * named;
                reach += half[k] * named;
            }
            (middle, direction, reach)
        });
        let (w, b) = (q - p, d.dot(e));
        let square = one - b * b;
        let square = T::select(T::splat(PARALLEL).lt(square), square, one);
        let t = (d.dot(w) - b * e.dot(w)) / square;
        let u = (b * d.dot(w) - e.dot(w)) / square;
        let within = t.abs().lt(h) & u.abs().lt(g);
        let surface = p + d * t.clamp(-h, h);
        (ContactPoint::on_first(surface, edges.normal, edges.distance), within)
    }

    /// The corner of one box that is nearest to the other, if none is inside: correct if neither
    /// the inside of a face nor those of two edges are nearest.
    #[inline(always)]
    fn corner(&self) -> ContactPoint<T> {
        let (of_first, of_second) = (self.corner_of(0, 1), self.corner_of(1, 0));
        let first = ContactPoint::on_first(of_first.0, -of_first.1, of_first.2);
        let second = ContactPoint::on_second(of_second.0, of_second.1, of_second.2);
        ContactPoint::pick(second.distance.lt(first.distance), second, first)
    }
}

impl<T: Double> Boxes<'_, T> {
    /// The corner of box `one` nearest to the other \[m\], the other's outward normal there, and
    /// its distance \[m\] from that.
    #[inline(always)]
    fn corner_of(&self, one: usize, other: usize) -> (Vec3<T>, Vec3<T>, T) {
        let (solid, axes) = (self.solids[other], &self.axes[one]);
        let axes = each!(k in [0, 1, 2] solid.pose.rotation.apply_inverse(axes[k]));
        let middle = solid.pose.apply_inverse(self.solids[one].pose.position);
        let mut best = (T::splat(ABSENT_DISTANCE * ABSENT_DISTANCE), middle);
        for corner in corners(axes, &self.solids[one].size) {
            let p = middle + corner;
            let beyond = p.zip(Vec3(solid.size), |x, h| x - x.clamp(-h, h)).norm_squared();
            let nearer = beyond.lt(best.0);
            best = (T::select(nearer, beyond, best.0), Vec3::select(nearer, p, best.1));
        }
        let (out, distance) = box_surface(&solid.size, best.1);
        (solid.pose.apply(best.1), solid.pose.rotation.apply(out), distance)
    }
}

impl<T: Double> Edges<T> {
    #[inline(always)]
    fn pick(mask: T::Mask, then: Self, otherwise: Self) -> Self {
        Self {
            normal: Vec3::select(mask, then.normal, otherwise.normal),
            distance: T::select(mask, then.distance, otherwise.distance),
            along: each!(s in [0, 1] Vec3::select(mask, then.along[s], otherwise.along[s])),
        }
    }
}

/// Two boxes: if a face is the best axis, its common part with the other's face; else the nearest
/// points of two edges, or the nearest corner.
#[inline(always)]
pub fn box_box<T: Double>(a: &PlacedSolid<T>, b: &PlacedSolid<T>) -> [ContactPoint<T>; 12] {
    let boxes = Boxes::new(a, b);
    let zero = T::zero();
    let (face, face_apart) = boxes.faces();
    let edges = boxes.edges();
    let mut contact_points = clip(&face, &boxes.axes, boxes.solids);
    let mut deepest = T::splat(ABSENT_DISTANCE);
    for point in &contact_points {
        deepest = deepest.min(point.distance);
    }
    let shares = deepest.lt(T::splat(0.5 * ABSENT_DISTANCE));

    let bias = boxes.size * EDGE_SIZE + (-face_apart).max(zero) * EDGE_OVERLAP;
    let by_edges = (face_apart + bias).lt(edges.distance);
    let apart = zero.lt(face_apart) | zero.lt(edges.distance);
    // For boxes apart beside a face, its normal is not the direction of the nearest points.
    let faces_meet = deepest.lt(face_apart + boxes.size * FLAT);
    let overlap = !apart;
    let flat = (apart & faces_meet) | (overlap & shares & !by_edges);
    let (crossing, within) = boxes.crossing(&edges);
    let cross = (apart & within & zero.lt(edges.distance)) | (overlap & by_edges);
    // Overlap without a common part along the face's normal: only if an axis across edges was
    // slightly better.
    let little = ContactPoint { normal: face.first_to_second(), distance: face_apart, ..crossing };
    let single = ContactPoint::pick(cross, crossing, ContactPoint::pick(overlap, little, boxes.corner()));

    for m in &mut contact_points {
        *m = m.only_if(flat);
    }
    contact_points[0] = ContactPoint::pick(flat, contact_points[0], single);
    merge(&mut contact_points, boxes.size * MERGE);
    contact_points
}
