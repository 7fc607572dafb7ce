//! Where two elements come nearer to each other than they may in a substep.

use nalgebra::Vector3;

use crate::cloth::layers::distance::{Closest, Kind};
use crate::cloth::layers::first_contact::approach;

type V3 = Vector3<f64>;

/// Part of the least distance below which elements must not come on the way \[-\]; at the end of it no more
/// than [`ROUNDING`] may be missing.
const ON_THE_WAY: f64 = 0.9;

/// Part of the least distance that may be missing at the end of a substep \[-\].
const ROUNDING: f64 = 1e-5;

/// Most places of a pair: where two segments are closest, and the end points of each on the other.
const PLACES: usize = 5;

/// Two elements that may touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub kind: Kind,
    pub vertices: [u32; 4],
    /// Sum of the radii \[m\].
    pub reach: f64,
    /// Whether they come too near on the way, as if to pass through each other.
    pub is_through: bool,
    /// Least distance \[m\]: [`Self::reach`], or that at the start where it is smaller.
    pub least: f64,
    places: [Closest; PLACES],
    count: usize,
}

/// Vector and its weights between the points of a pair, by `weights`.
fn between(points: &[V3; 4], weights: [f64; 4]) -> Closest {
    Closest { weights, apart: points.iter().zip(weights).map(|(x, w)| x * w).sum() }
}

impl Pair {
    pub fn new(kind: Kind, vertices: [u32; 4], reach: f64) -> Self {
        let nowhere = Closest { weights: [0.0; 4], apart: V3::zeros() };
        let places = [nowhere; PLACES];
        Self { kind, vertices, reach, is_through: false, least: reach, places, count: 0 }
    }

    /// Places where the elements come too near, with the vectors between them at the start: impulses along
    /// these have no moment.
    pub fn places(&self) -> &[Closest] {
        &self.places[..self.count]
    }

    /// No place.
    pub fn forget(&mut self) {
        (self.count, self.is_through) = (0, false);
    }

    pub fn points(&self, of: &[V3]) -> [V3; 4] {
        self.vertices.map(|v| of[v as usize])
    }

    /// Whether the elements are certainly apart by more than the reach all the way.
    pub fn is_far(&self, from: &[V3; 4], to: &[V3; 4]) -> bool {
        let first = match self.kind {
            Kind::VertexFace => 1,
            Kind::EdgeEdge => 2,
        };
        // Spheres about the elements at the start; the second ones move with the first.
        let center = |points: &[V3]| points.iter().sum::<V3>() / points.len() as f64;
        let (a, b) = from.split_at(first);
        let (centers, moved) = ([center(a), center(b)], to[0] - from[0]);
        let radius = |points: &[V3], center: &V3| {
            points.iter().map(|x| (x - center).norm_squared()).fold(0.0, f64::max).sqrt()
        };
        let passed = (1..4).map(|i| (to[i] - from[i] - moved).norm_squared()).fold(0.0, f64::max).sqrt();
        let sizes = radius(a, &centers[0]) + radius(b, &centers[1]);
        (centers[0] - centers[1]).norm() > self.reach + sizes + 2.0 * passed
    }

    /// Finds the places where the elements come too near from `starts` to `ends`.
    pub fn find(&mut self, starts: &[V3], ends: &[V3]) {
        self.forget();
        let (from, to) = (self.points(starts), self.points(ends));
        if self.is_far(&from, &to) {
            return;
        }
        let closest = Closest::of(self.kind, &from);
        let distance = closest.apart.norm();
        self.least = self.reach.min(distance);
        if distance == 0.0 {
            // No direction: they are pushed apart.
            return;
        }
        let begun = (closest, closest.apart.norm_squared());
        if let Some(first) = approach(self.kind, (&from, &to), closest, ON_THE_WAY * self.least) {
            self.is_through = true;
            self.add(begun, first.closest.weights, (&from, &to));
            return;
        }
        let limit = (self.least * (1.0 - ROUNDING)).powi(2);
        // Strands side by side touch all along, not at one place.
        let ends = if self.kind == Kind::EdgeEdge { Some(end_points(&to)) } else { None };
        for end in core::iter::once(Closest::of(self.kind, &to)).chain(ends.into_iter().flatten()) {
            if end.apart.norm_squared() < limit {
                self.add(begun, end.weights, (&from, &to));
            }
        }
    }

    /// Adds where the elements were closest at the start, if they come too near along that direction: strands
    /// that slide are not held back by it. Else the place at `weights`.
    fn add(&mut self, (begun, squared): (Closest, f64), weights: [f64; 4], (from, to): (&[V3; 4], &[V3; 4])) {
        let now = between(to, begun.weights).apart;
        let is_begun = begun.apart.dot(&now) < self.least * (1.0 - ROUNDING) * squared.sqrt();
        let place = if is_begun { begun } else { between(from, weights) };
        if place.apart != V3::zeros() && !(is_begun && self.count > 0) {
            self.places[self.count] = place;
            self.count += 1;
        }
    }
}

/// From the end points of two segments to the other segment.
fn end_points(points: &[V3; 4]) -> [Closest; 4] {
    let [a, b, c, d] = *points;
    let on = |point: V3, from: V3, to: V3| {
        let along = to - from;
        let length = along.norm_squared();
        if length > 0.0 { ((point - from).dot(&along) / length).clamp(0.0, 1.0) } else { 0.0 }
    };
    let (of_a, of_b, of_c, of_d) = (on(a, c, d), on(b, c, d), on(c, a, b), on(d, a, b));
    [
        [1.0, 0.0, of_a - 1.0, -of_a],
        [0.0, 1.0, of_b - 1.0, -of_b],
        [1.0 - of_c, of_c, -1.0, 0.0],
        [1.0 - of_d, of_d, 0.0, -1.0],
    ]
    .map(|weights| between(points, weights))
}
