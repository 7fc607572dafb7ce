//! Triangles as they lie in a picture: fewer operations a sample than a ray takes.

use super::ray::V3;
use super::view::{NEAREST, View};

/// Farthest corner from the picture's corner that is still exact enough \[samples\].
const FARTHEST: f32 = 1e5;

/// A triangle in a picture.
pub(super) struct FlatTriangle {
    /// Corners \[samples\].
    corners: [[f32; 2]; 3],
    /// What is linear across the picture: the depth along the view, in perspective its inverse.
    depths: [f32; 3],
}

impl FlatTriangle {
    /// The triangle in a view; none if a corner is behind the eye or far off.
    pub fn new(view: &View, corners: &[V3; 3]) -> Option<Self> {
        let seen = corners.map(|corner| view.project(&corner));
        let is_exact =
            |(x, y, ahead): &(f32, f32, f32)| *ahead > NEAREST && x.abs() < FARTHEST && y.abs() < FARTHEST;
        seen.iter().all(is_exact).then(|| Self {
            corners: seen.map(|(x, y, _)| [x, y]),
            depths: seen.map(|(.., ahead)| if view.perspective { 1.0 / ahead } else { ahead }),
        })
    }

    /// Depth along the view \[m\] at a point (x, y \[samples\]), if it is in the triangle.
    ///
    /// The areas of an edge that two triangles share are opposite to the last bit, so that no point
    /// slips between them (after Woop, Benthin and Wald, "Watertight ray/triangle intersection",
    /// 2013).
    pub fn depth(&self, view: &View, x: f32, y: f32) -> Option<f32> {
        let [a, b, c] = self.corners.map(|corner| [corner[0] - x, corner[1] - y]);
        let area = |i: [f32; 2], j: [f32; 2]| i[0] * j[1] - i[1] * j[0];
        let areas = [area(b, c), area(c, a), area(a, b)];
        if !(areas.iter().all(|a| *a >= 0.0) || areas.iter().all(|a| *a <= 0.0)) {
            return None;
        }
        let whole = areas[0] + areas[1] + areas[2];
        if whole == 0.0 {
            return None;
        }
        let mean = (0..3).map(|i| areas[i] * self.depths[i]).sum::<f32>() / whole;
        Some(if view.perspective { 1.0 / mean } else { mean })
    }
}
