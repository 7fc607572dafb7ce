//! A bounding volume hierarchy over triangles, for nearest-triangle queries that do not allocate.

use super::triangle::{TriangleFeature, closest_point};
use nalgebra::{Point3, Vector3};

/// Triangles in a leaf.
const LEAF_SIZE: usize = 4;
/// Each level halves the number of triangles, of which there are fewer than 2^32: the stack cannot
/// overflow.
const MAX_DEPTH: usize = 40;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundingBox {
    pub(super) min: Point3<f64>,
    pub(super) max: Point3<f64>,
}

impl BoundingBox {
    pub(super) fn of<'a>(points: impl Iterator<Item = &'a Point3<f64>>) -> Self {
        let start =
            BoundingBox { min: Vector3::repeat(f64::MAX).into(), max: Vector3::repeat(f64::MIN).into() };
        points.fold(start, |b, p| BoundingBox { min: b.min.inf(p), max: b.max.sup(p) })
    }

    /// Squared distance \[m^2\] from `p` to the box, 0 inside.
    fn distance_squared(&self, p: &Point3<f64>) -> f64 {
        (self.min - p).sup(&(p - self.max)).sup(&Vector3::zeros()).norm_squared()
    }

    /// Signed distance \[m\] to the surface of the box, negative inside.
    pub(super) fn signed_distance(&self, p: &Point3<f64>) -> f64 {
        let excess = (self.min - p).sup(&(p - self.max));
        let inside = excess.max();
        if inside <= 0.0 { inside } else { excess.sup(&Vector3::zeros()).norm() }
    }
}

/// The nearest point found by a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) triangle: u32,
    pub(super) region: TriangleFeature,
    pub(super) point: Point3<f64>,
    /// Squared distance \[m^2\].
    pub(super) distance_squared: f64,
}

#[derive(Clone, Debug)]
struct Node {
    bounds: BoundingBox,
    /// A leaf's first entry in `order`; the right child of an inner tree node (the left child
    /// follows its parent).
    start: u32,
    /// Number of triangles of a leaf; 0 for an inner tree node.
    count: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl Bvh {
    /// Builds the tree by halving along the longest side of the centroids' bounds.
    pub(super) fn new(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Self {
        let corners = |t: u32| triangles[t as usize].map(|i| vertices[i as usize]);
        let centroids: Vec<Point3<f64>> = (0..triangles.len() as u32)
            .map(|t| {
                let [a, b, c] = corners(t);
                ((a.coords + b.coords + c.coords) / 3.0).into()
            })
            .collect();
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut nodes = Vec::with_capacity(triangles.len());
        build(&mut nodes, &mut order, 0, &centroids, &corners);
        Bvh { nodes, order }
    }

    /// The triangle nearest to `p` among those that `accept` accepts; `None` if there is none.
    pub(super) fn nearest(
        &self,
        vertices: &[Point3<f64>],
        triangles: &[[u32; 3]],
        p: &Point3<f64>,
        accept: impl Fn(u32) -> bool,
    ) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        let mut limit = f64::INFINITY;
        let mut stack = [(0_u32, 0.0_f64); MAX_DEPTH];
        stack[0] = (0, self.nodes.first()?.bounds.distance_squared(p));
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let (index, distance) = stack[depth];
            if distance >= limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count == 0 {
                // The nearer child goes on top of the stack.
                let (left, right) = (index + 1, node.start);
                let to_left = self.nodes[left as usize].bounds.distance_squared(p);
                let to_right = self.nodes[right as usize].bounds.distance_squared(p);
                let (near, far) = ((left, to_left), (right, to_right));
                let (near, far) = if to_right < to_left { (far, near) } else { (near, far) };
                stack[depth] = far;
                stack[depth + 1] = near;
                depth += 2;
                continue;
            }
            let leaf = node.start as usize..(node.start + node.count) as usize;
            for &triangle in self.order[leaf].iter().filter(|t| accept(**t)) {
                let [a, b, c] = triangles[triangle as usize].map(|i| &vertices[i as usize]);
                let (point, region) = closest_point(p, a, b, c);
                let distance_squared = (p - point).norm_squared();
                if distance_squared < limit {
                    limit = distance_squared;
                    best = Some(Hit { triangle, region, point, distance_squared });
                }
            }
        }
        best
    }
}

impl Bvh {
    /// Calls `f` with the triangles of every leaf that touches `query`.
    pub(super) fn for_each_near(&self, query: &BoundingBox, mut f: impl FnMut(u32)) {
        let mut stack = [0_u32; MAX_DEPTH];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let index = stack[depth];
            let node = &self.nodes[index as usize];
            let b = &node.bounds;
            if (0..3).any(|k| b.min[k] > query.max[k] || b.max[k] < query.min[k]) {
                continue;
            }
            if node.count > 0 {
                let leaf = node.start as usize..(node.start + node.count) as usize;
                self.order[leaf].iter().for_each(|t| f(*t));
            } else {
                stack[depth] = node.start;
                stack[depth + 1] = index + 1;
                depth += 2;
            }
        }
    }
}

/// Appends the tree of the triangles `order`, which are the entries from `first` on of the whole
/// order.
fn build(
    nodes: &mut Vec<Node>,
    order: &mut [u32],
    first: u32,
    centroids: &[Point3<f64>],
    corners: &impl Fn(u32) -> [Point3<f64>; 3],
) {
    let bounds = order.iter().fold(BoundingBox::of([].iter()), |bounds, t| {
        let triangle = BoundingBox::of(corners(*t).iter());
        BoundingBox { min: bounds.min.inf(&triangle.min), max: bounds.max.sup(&triangle.max) }
    });
    let index = nodes.len();
    nodes.push(Node { bounds, start: first, count: order.len() as u32 });
    if order.len() <= LEAF_SIZE {
        return;
    }
    let spread = BoundingBox::of(order.iter().map(|t| &centroids[*t as usize]));
    let axis = (spread.max - spread.min).imax();
    let middle = order.len() / 2;
    // Ties are broken by the triangle's number, so that the tree is the same on every machine.
    order.select_nth_unstable_by(middle, |s, t| {
        centroids[*s as usize][axis].total_cmp(&centroids[*t as usize][axis]).then(s.cmp(t))
    });
    let (left, right) = order.split_at_mut(middle);
    build(nodes, left, first, centroids, corners);
    let right_child = nodes.len() as u32;
    build(nodes, right, first + middle as u32, centroids, corners);
    nodes[index].start = right_child;
    nodes[index].count = 0;
}
