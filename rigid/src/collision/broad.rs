//! The broad phase: bounding boxes, sorted and swept.

use super::scene::Scene;
use crate::geometry::Shape;
use nalgebra::{Isometry3, Point3, Vector3};

/// Corners of a box around a shape, in its frame (m).
pub(super) fn local_bounds(shape: &Shape) -> [Point3<f64>; 2] {
    let around = |h: Vector3<f64>| [Point3::from(-h), Point3::from(h)];
    match shape {
        Shape::HalfSpace => around(Vector3::repeat(f64::INFINITY)),
        Shape::Box { half_extents } => around(*half_extents),
        Shape::Sphere { radius } => around(Vector3::repeat(*radius)),
        Shape::Capsule { radius, half_length } => {
            around(Vector3::new(*radius, *radius, radius + half_length))
        }
        Shape::Cylinder { radius, half_length } => around(Vector3::new(*radius, *radius, *half_length)),
        Shape::Ellipsoid { semi_axes } => around(*semi_axes),
        Shape::ConvexHull(hull) => hull.mesh().bounds(),
        Shape::Mesh(mesh) => mesh.bounds(),
        Shape::HeightField(field) => field.mesh().bounds(),
    }
}

/// Corners (m, world frame) of a box around geometry `index` at `pose`, with `reach` (m) on every side. A rotated box of the shape's
/// own is never smaller than the shape; round shapes have closer ones.
fn world_bounds(scene: &Scene, index: usize, pose: &Isometry3<f64>, reach: f64) -> [Vector3<f64>; 2] {
    let r = pose.rotation.to_rotation_matrix();
    let m = r.matrix();
    let along = |x: f64, y: f64, z: f64| {
        Vector3::from_fn(|k, _| {
            ((m[(k, 0)] * x).powi(2) + (m[(k, 1)] * y).powi(2) + (m[(k, 2)] * z).powi(2)).sqrt()
        })
    };
    let shape = &scene.geometries()[index].shape;
    let (centre, half) = match shape {
        Shape::Sphere { radius } => (pose.translation.vector, Vector3::repeat(*radius)),
        Shape::Capsule { radius, half_length } => {
            let axis = m.column(2).abs() * *half_length;
            (pose.translation.vector, axis + Vector3::repeat(*radius))
        }
        Shape::Cylinder { radius, half_length } => {
            (pose.translation.vector, m.column(2).abs() * *half_length + along(*radius, *radius, 0.0))
        }
        Shape::Ellipsoid { semi_axes: a } => (pose.translation.vector, along(a.x, a.y, a.z)),
        _ => {
            let [min, max] = scene.bounds(index);
            let centre = r * nalgebra::center(min, max);
            (centre.coords + pose.translation.vector, m.abs() * ((max - min) * 0.5))
        }
    };
    // Rounding of the sums above, which far from the origin is more than the margin may be.
    let rounding = 1e-14 * (centre.amax() + half.amax());
    let half = half.add_scalar(reach + rounding);
    [centre - half, centre + half]
}

/// Buffers of the broad phase.
#[derive(Clone, Debug, Default)]
pub(super) struct Broad {
    bounds: Vec<[Vector3<f64>; 2]>,
    /// Least coordinate along the swept axis and geometry.
    order: Vec<(f64, u32)>,
    planes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

impl Broad {
    /// The pairs (smaller number first, in order) that may touch and whose boxes are within `margin` (m). Half-spaces are tried
    /// against everything. Geometries whose pose is not finite have no pairs.
    pub(super) fn pairs(&mut self, scene: &Scene, poses: &[Isometry3<f64>], margin: f64) -> &[(u32, u32)] {
        self.bounds.clear();
        self.order.clear();
        self.planes.clear();
        self.pairs.clear();
        let (mut sum, mut squares) = (Vector3::zeros(), Vector3::zeros());
        for (k, pose) in poses.iter().enumerate() {
            let is_plane = matches!(scene.geometries()[k].shape, Shape::HalfSpace);
            let finite =
                pose.translation.vector.iter().chain(pose.rotation.coords.iter()).all(|x| x.is_finite());
            let bounds = if is_plane || !finite {
                [Vector3::zeros(); 2]
            } else {
                world_bounds(scene, k, pose, 0.5 * margin)
            };
            self.bounds.push(bounds);
            if is_plane && finite {
                self.planes.push(k as u32);
            } else if finite {
                self.order.push((0.0, k as u32));
                let centre = (bounds[0] + bounds[1]) * 0.5;
                sum += centre;
                squares += centre.component_mul(&centre);
            }
        }
        // Sweep along the axis on which the geometries are spread most.
        let count = self.order.len().max(1) as f64;
        let axis = (squares / count - sum.component_mul(&sum) / (count * count)).imax();
        for entry in &mut self.order {
            entry.0 = self.bounds[entry.1 as usize][0][axis];
        }
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        for (k, &(_, a)) in self.order.iter().enumerate() {
            let [low, high] = &self.bounds[a as usize];
            for &(start, b) in &self.order[k + 1..] {
                if start > high[axis] {
                    break;
                }
                let [other_low, other_high] = &self.bounds[b as usize];
                if low[i] <= other_high[i]
                    && other_low[i] <= high[i]
                    && low[j] <= other_high[j]
                    && other_low[j] <= high[j]
                    && scene.may_touch(a as usize, b as usize)
                {
                    self.pairs.push((a.min(b), a.max(b)));
                }
            }
        }
        for &plane in &self.planes {
            let pose = &poses[plane as usize];
            let normal = pose.rotation * Vector3::z();
            for &(_, b) in &self.order {
                let [low, high] = &self.bounds[b as usize];
                let (centre, half) = ((low + high) * 0.5, (high - low) * 0.5);
                let height = (centre - pose.translation.vector).dot(&normal) - half.dot(&normal.abs());
                // The boxes hold half of the margin.
                if height < 0.5 * margin && scene.may_touch(plane as usize, b as usize) {
                    self.pairs.push((plane.min(b), plane.max(b)));
                }
            }
        }
        self.pairs.sort_unstable();
        &self.pairs
    }
}
