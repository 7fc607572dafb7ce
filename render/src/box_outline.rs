//! Where the box about a solid is seen, row by row: the rectangle about a long thing that lies askew
//! is mostly empty.

use super::ray::V3;
use super::view::{NEAREST, View};

/// Margin against rounding \[samples\].
const MARGIN: f32 = 0.6;

/// A box in a picture.
pub(super) struct BoxOutline {
    /// Corners (x, y) \[samples\]; bit 0 of the number is the side along the box's x, and so on.
    corners: [[f32; 2]; 8],
}

impl BoxOutline {
    /// The outline of the box with these corners; none if one is behind the eye.
    pub fn new(view: &View, corners: &[V3; 8]) -> Option<Self> {
        let seen = corners.map(|corner| view.project(&corner));
        let is_ahead = seen.iter().all(|(x, y, ahead)| *ahead > NEAREST && x.is_finite() && y.is_finite());
        is_ahead.then(|| Self { corners: seen.map(|(x, y, _)| [x, y]) })
    }

    /// First and last column, the last excluded, whose sample in a row may see the box. The outline of
    /// a box is made of its edges.
    pub fn columns(&self, row: usize) -> [usize; 2] {
        let y = row as f32 + 0.5;
        let (low, high) = (y - MARGIN, y + MARGIN);
        let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
        for (from, axis) in (0..8).flat_map(|from| (0..3).map(move |axis| (from, axis))) {
            if from >> axis & 1 == 1 {
                continue;
            }
            let [a, b] = [self.corners[from], self.corners[from | 1 << axis]];
            let (a, b) = if a[1] <= b[1] { (a, b) } else { (b, a) };
            if b[1] < low || a[1] > high {
                continue;
            }
            let slope = (b[0] - a[0]) / (b[1] - a[1]).max(f32::MIN_POSITIVE);
            let at = |height: f32| if height <= a[1] { a[0] } else { a[0] + slope * (height - a[1]) };
            for x in [at(low), if high >= b[1] { b[0] } else { at(high) }] {
                (left, right) = (left.min(x), right.max(x));
            }
        }
        // The casts saturate at 0, and at 0 for a row without the box.
        if left > right { [0, 0] } else { [(left - MARGIN) as usize, (right + MARGIN + 0.5) as usize] }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panics")]

    use nalgebra::{Point3, UnitQuaternion, Vector3};

    use super::*;
    use crate::camera::Camera;
    use crate::primitive::ConvexSolid;

    /// Law: a ray that meets a box belongs to a sample within its outline, whatever its place.
    #[test]
    fn samples_that_see_a_box_are_within_its_outline() {
        let camera = Camera {
            position: Point3::new(0.0, -2.0, 0.3),
            target: Point3::origin(),
            up: Vector3::z(),
            vertical_fov: 0.7,
        };
        let view = View::perspective(&camera, &camera.basis().unwrap(), 60, 48);
        let mut state = 7_u64;
        let mut draw = |low: f32, high: f32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            low + (high - low) * (state >> 40) as f32 / (1_u64 << 24) as f32
        };
        let (mut inside, mut seen) = (0, 0);
        for case in 0..300 {
            let half = V3::new(draw(0.001, 0.4), draw(0.001, 0.4), draw(0.001, 0.4));
            let center = V3::new(draw(-1.0, 1.0), draw(-1.0, 1.0), draw(-1.0, 1.0));
            let turn = V3::new(draw(-3.0, 3.0), draw(-3.0, 3.0), draw(-3.0, 3.0));
            let rotation = UnitQuaternion::from_scaled_axis(turn).to_rotation_matrix().into_inner();
            let solid = ConvexSolid::Box(half);
            let Some(outline) = BoxOutline::new(&view, &solid.box_corners(&rotation, &center)) else {
                continue;
            };
            for y in 0..view.height {
                let [first, last] = outline.columns(y);
                inside += last.min(view.width).saturating_sub(first);
                for x in 0..view.width {
                    let ray = view.ray(x as f32 + 0.5, y as f32 + 0.5);
                    let eye = rotation.tr_mul(&(ray.origin - center));
                    if solid.intersect(&eye, &rotation.tr_mul(&ray.direction)).is_some() {
                        seen += 1;
                        assert!((first..last).contains(&x), "seed 7, case {case}: ({x}, {y})");
                    }
                }
            }
        }
        // It is of use: not much larger than what is seen.
        assert!(seen > 10_000 && inside < 3 * seen / 2, "{inside} samples for {seen}");
    }
}
