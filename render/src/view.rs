//! What samples of a picture see: rays, projections and the bounds of shapes.

use nalgebra::Vector3;

use super::camera::{Basis, Camera};
use super::primitive::Shape;
use super::ray::{Ray, V3};

/// Least depth along the view of what is projected in perspective \[m\].
pub(super) const NEAREST: f32 = 1e-4;

/// A view of `width` x `height` samples from a camera, or from a distant light.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub origin: V3,
    pub right: V3,
    pub up: V3,
    pub forward: V3,
    pub width: usize,
    pub height: usize,
    /// Samples per unit of slope (perspective) or per metre (orthographic).
    pub scale: f32,
    pub perspective: bool,
}

/// A rectangle of samples, ends excluded.
#[derive(Clone, Copy)]
pub(super) struct Rect {
    pub x: [usize; 2],
    pub y: [usize; 2],
}

impl View {
    pub fn perspective(camera: &Camera, basis: &Basis, width: usize, height: usize) -> Self {
        let scale = height as f64 / 2.0 / (camera.vertical_fov / 2.0).tan();
        Self {
            origin: camera.position.coords.cast(),
            right: basis.right.cast(),
            up: basis.up.cast(),
            forward: basis.forward.cast(),
            width,
            height,
            scale: scale as f32,
            perspective: true,
        }
    }

    /// Looks from far along `forward` (unit) on a disc of `radius` \[m\] about `center`.
    pub fn orthographic(forward: V3, center: V3, radius: f32, size: usize) -> Self {
        let side = if forward.z.abs() < 0.9 { Vector3::z() } else { Vector3::x() };
        let right = forward.cross(&side).normalize();
        Self {
            origin: center - forward * (2.0 * radius),
            right,
            up: right.cross(&forward),
            forward,
            width: size,
            height: size,
            scale: size as f32 / (2.0 * radius),
            perspective: false,
        }
    }

    /// The ray through the point (x, y) \[samples\].
    pub fn ray(&self, x: f32, y: f32) -> Ray {
        let a = (x - self.width as f32 / 2.0) / self.scale;
        let b = (self.height as f32 / 2.0 - y) / self.scale;
        let aside = self.right * a + self.up * b;
        if self.perspective {
            Ray { origin: self.origin, direction: (self.forward + aside).normalize() }
        } else {
            Ray { origin: self.origin + aside, direction: self.forward }
        }
    }

    /// Distance along the ray of a sample over the depth along the view.
    pub fn distance_per_depth(&self, x: usize, y: usize) -> f32 {
        if !self.perspective {
            return 1.0;
        }
        let a = (x as f32 + 0.5 - self.width as f32 / 2.0) / self.scale;
        let b = (y as f32 + 0.5 - self.height as f32 / 2.0) / self.scale;
        (1.0 + a * a + b * b).sqrt()
    }

    /// The point at distance `t` \[m\] along the ray of a sample.
    pub fn point(&self, x: usize, y: usize, t: f32) -> V3 {
        let ray = self.ray(x as f32 + 0.5, y as f32 + 0.5);
        ray.origin + ray.direction * t
    }

    /// Projection of a point (x, y \[samples\]) and its depth along `forward` \[m\].
    pub fn project(&self, point: &V3) -> (f32, f32, f32) {
        let offset = point - self.origin;
        let depth = offset.dot(&self.forward);
        let scale = if self.perspective { self.scale / depth } else { self.scale };
        let x = self.width as f32 / 2.0 + offset.dot(&self.right) * scale;
        let y = self.height as f32 / 2.0 - offset.dot(&self.up) * scale;
        (x, y, depth)
    }

    fn everything(&self) -> Rect {
        Rect { x: [0, self.width], y: [0, self.height] }
    }

    /// Samples whose centres, at halves, lie in the range or a tenth of a sample beside it, against
    /// rounding. Small triangles cover few samples, so a margin of whole ones would cost most.
    fn rect(&self, x: [f32; 2], y: [f32; 2]) -> Option<Rect> {
        // The casts saturate at 0.
        let clip = |range: [f32; 2], end: usize| {
            [((range[0] + 0.4) as usize).min(end), ((range[1] + 0.6) as usize).min(end)]
        };
        if x[1] < -1.0 || y[1] < -1.0 {
            return None;
        }
        let rect = Rect { x: clip(x, self.width), y: clip(y, self.height) };
        (rect.x[0] < rect.x[1] && rect.y[0] < rect.y[1]).then_some(rect)
    }

    /// The samples in which the shape may be visible.
    pub fn bounds(&self, shape: &Shape) -> Option<Rect> {
        match shape {
            Shape::Sphere { center, radius } => self.sphere_bounds(center, *radius),
            Shape::Posed { solid, rotation, center } => {
                self.point_bounds(&solid.box_corners(rotation, center))
            }
            Shape::Triangle { corners, .. } => self.point_bounds(corners),
        }
    }

    /// The tangents from the eye to a sphere in the planes of x and of y: (x z -+ r sqrt(x^2 + z^2
    /// - r^2)) / (z^2 - r^2).
    fn sphere_bounds(&self, center: &V3, radius: f32) -> Option<Rect> {
        if !self.perspective {
            let (x, y, _) = self.project(center);
            let reach = radius * self.scale;
            return self.rect([x - reach, x + reach], [y - reach, y + reach]);
        }
        let offset = center - self.origin;
        let z = offset.dot(&self.forward);
        if z < -radius {
            return None;
        }
        if z <= radius * 1.001 {
            return Some(self.everything());
        }
        let tangents = |x: f32| {
            let root = radius * (x * x + z * z - radius * radius).max(0.0).sqrt();
            let below = z * z - radius * radius;
            [(x * z - root) / below, (x * z + root) / below]
        };
        let (x, y) = (tangents(offset.dot(&self.right)), tangents(offset.dot(&self.up)));
        let (middle_x, middle_y) = (self.width as f32 / 2.0, self.height as f32 / 2.0);
        self.rect(
            x.map(|s| middle_x + s * self.scale),
            [middle_y - y[1] * self.scale, middle_y - y[0] * self.scale],
        )
    }

    fn point_bounds(&self, points: &[V3]) -> Option<Rect> {
        let near = |p: &V3| self.perspective && (p - self.origin).dot(&self.forward) <= NEAREST;
        if points.iter().any(near) {
            return if points.iter().all(near) { None } else { Some(self.everything()) };
        }
        let mut x = [f32::INFINITY, f32::NEG_INFINITY];
        let mut y = x;
        for (px, py, _) in points.iter().map(|p| self.project(p)) {
            x = [x[0].min(px), x[1].max(px)];
            y = [y[0].min(py), y[1].max(py)];
        }
        self.rect(x, y)
    }
}
