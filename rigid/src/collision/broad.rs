//! The broad phase: bounding boxes in strips, sorted and swept within each strip.

use super::scene::CollisionModel;
use nalgebra::{Isometry3, Vector3};
use pliant_geometry::Shape;

/// Corners (m, world frame) of a box around geometry `index` at `pose`, with `reach` \[m\] on every
/// side. A rotated box of the shape's own is never smaller than the shape; round shapes have closer
/// ones.
fn world_bounds(
    scene: &CollisionModel,
    index: usize,
    pose: &Isometry3<f64>,
    reach: f64,
) -> [Vector3<f64>; 2] {
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
    // Rounding of the sums above, which may exceed the margin far from the origin.
    let rounding = 1e-14 * (centre.amax() + half.amax());
    let half = half.add_scalar(reach + rounding);
    [centre - half, centre + half]
}

/// Buffers of the broad phase.
#[derive(Clone, Debug, Default)]
pub(super) struct BroadPhase {
    bounds: Vec<[Vector3<f64>; 2]>,
    /// Geometries that have bounds.
    bounded: Vec<u32>,
    planes: Vec<u32>,
    entries: Vec<Entry>,
    /// Boxes and first strips of the entries' geometries, in the order of the entries.
    boxes: Vec<([Vector3<f64>; 2], u32)>,
    pairs: Vec<(u32, u32)>,
}

/// A geometry in one of the strips that its box reaches into.
#[derive(Clone, Copy, Debug)]
struct Entry {
    strip: u32,
    geometry: u32,
    /// Least coordinate along the swept axis \[m\].
    start: f64,
}

/// Parallel strips across one axis.
#[derive(Clone, Copy, Debug)]
struct Strips {
    axis: usize,
    /// Start of the first \[m\], and their number per length \[1/m\].
    from: f64,
    density: f64,
}

impl Strips {
    /// Strips twice as wide as the boxes are on average. A box reaches into at most two strips more
    /// than its width spans, so that all boxes together have at most 5/2 entries per box. There are
    /// no more strips than boxes.
    fn new(axis: usize, bounds: &[[Vector3<f64>; 2]], bounded: &[u32]) -> Self {
        let (mut sum, mut from, mut to) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
        for &k in bounded {
            let [low, high] = &bounds[k as usize];
            sum += high[axis] - low[axis];
            (from, to) = (from.min(low[axis]), to.max(high[axis]));
        }
        let count = bounded.len().max(1) as f64;
        let width = (2.0 * sum / count).max((to - from) / count);
        let density = if width.is_finite() && width > 0.0 { 1.0 / width } else { 0.0 };
        Self { axis, from, density }
    }

    /// First and last strip that a box reaches into; coordinates out of range, or no numbers, are
    /// in the first or last.
    fn of(&self, [low, high]: &[Vector3<f64>; 2]) -> [u32; 2] {
        [low, high].map(|corner| ((corner[self.axis] - self.from) * self.density) as u32)
    }
}

impl BroadPhase {
    /// The pairs (smaller number first, in order) that may touch and whose boxes are within
    /// `margin` \[m\]. Half-spaces are tested against all geometries. Geometries whose pose is not
    /// finite have no pairs.
    pub(super) fn pairs(
        &mut self,
        scene: &CollisionModel,
        poses: &[Isometry3<f64>],
        margin: f64,
    ) -> &[(u32, u32)] {
        let [axis, across] = self.enclose(scene, poses, margin);
        self.sort(axis, Strips::new(across, &self.bounds, &self.bounded));
        self.sweep(scene, axis);
        self.find_half_space_pairs(scene, poses, margin);
        self.pairs.sort_unstable();
        &self.pairs
    }

    /// Computes the boxes, and the two axes along which their centres are spread most.
    fn enclose(&mut self, scene: &CollisionModel, poses: &[Isometry3<f64>], margin: f64) -> [usize; 2] {
        self.bounds.clear();
        self.bounded.clear();
        self.planes.clear();
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
                self.bounded.push(k as u32);
                let centre = (bounds[0] + bounds[1]) * 0.5;
                sum += centre;
                squares += centre.component_mul(&centre);
            }
        }
        let count = self.bounded.len().max(1) as f64;
        let spread = squares / count - sum.component_mul(&sum) / (count * count);
        let axis = spread.imax();
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        [axis, if spread[i] >= spread[j] { i } else { j }]
    }

    /// Sorts the geometries by strips, and within a strip by their start along `axis`.
    fn sort(&mut self, axis: usize, strips: Strips) {
        // No more than this is ever needed: see `Strips::new`.
        let most = 5 * self.bounded.len() / 2;
        self.entries.clear();
        self.entries.reserve(most);
        for &geometry in &self.bounded {
            let bounds = &self.bounds[geometry as usize];
            let [first, last] = strips.of(bounds);
            let start = bounds[0][axis];
            self.entries.extend((first..=last).map(|strip| Entry { strip, geometry, start }));
        }
        self.entries.sort_unstable_by(|a, b| {
            a.strip.cmp(&b.strip).then(a.start.total_cmp(&b.start)).then(a.geometry.cmp(&b.geometry))
        });
        self.boxes.clear();
        self.boxes.reserve(most);
        let boxes = self.entries.iter().map(|entry| &self.bounds[entry.geometry as usize]);
        self.boxes.extend(boxes.map(|bounds| (*bounds, strips.of(bounds)[0])));
    }

    /// Finds the boxes that overlap. A sweep along one axis alone would test every box of a wide
    /// heap against all beside it: the cost would grow with the power 3/2 of their number.
    fn sweep(&mut self, scene: &CollisionModel, axis: usize) {
        self.pairs.clear();
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        for (k, entry) in self.entries.iter().enumerate() {
            let ([low, high], first) = &self.boxes[k];
            for (other, ([other_low, other_high], other_first)) in
                self.entries[k + 1..].iter().zip(&self.boxes[k + 1..])
            {
                if other.start > high[axis] || other.strip != entry.strip {
                    break;
                }
                if low[i] <= other_high[i]
                    && other_low[i] <= high[i]
                    && low[j] <= other_high[j]
                    && other_low[j] <= high[j]
                    // A pair that shares several strips counts in the first of them.
                    && *first.max(other_first) == entry.strip
                {
                    let (a, b) = (entry.geometry.min(other.geometry), entry.geometry.max(other.geometry));
                    if scene.may_touch(a as usize, b as usize) {
                        self.pairs.push((a, b));
                    }
                }
            }
        }
    }

    /// Finds the boxes that half-spaces reach.
    fn find_half_space_pairs(&mut self, scene: &CollisionModel, poses: &[Isometry3<f64>], margin: f64) {
        for &plane in &self.planes {
            let pose = &poses[plane as usize];
            let normal = pose.rotation * Vector3::z();
            for &b in &self.bounded {
                let [low, high] = &self.bounds[b as usize];
                let (centre, half) = ((low + high) * 0.5, (high - low) * 0.5);
                let height = (centre - pose.translation.vector).dot(&normal) - half.dot(&normal.abs());
                // The boxes hold half of the margin.
                if height < 0.5 * margin && scene.may_touch(plane as usize, b as usize) {
                    self.pairs.push((plane.min(b), plane.max(b)));
                }
            }
        }
    }
}
