//! Triangles as the device searches them: a tree of boxes, and normals of faces, edges and
//! vertices.

use nalgebra::{Point3, Vector3};

use crate::kernels::ContactNode;

/// Triangles in a leaf.
const LEAF_SIZE: usize = 4;

/// A closed mesh in single precision, its triangles in the order of its tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triangles {
    pub nodes: Vec<ContactNode>,
    /// Corners a, b, c \[m\], unit normal.
    pub triangles: Vec<[f32; 12]>,
    /// Sums of normals at edges ab, bc, ca and, weighted by angles, at a, b, c.
    pub edge_normals: Vec<[f32; 18]>,
    /// Number of each triangle in the mesh.
    pub numbers: Vec<u32>,
}

impl Triangles {
    /// Of a closed mesh of `vertices` \[m\], less `center`; `normals` are those of the triangles.
    pub(crate) fn new(
        vertices: &[Point3<f64>],
        triangles: &[[u32; 3]],
        face_normals: &[Vector3<f64>],
        center: &Vector3<f64>,
    ) -> Self {
        let single: Vec<[f32; 3]> =
            vertices.iter().map(|v| (v.coords - center).map(|x| x as f32).into()).collect();
        let corners = |t: u32| triangles[t as usize].map(|i| single[i as usize]);
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut nodes = Vec::with_capacity(triangles.len());
        build(&mut nodes, &mut order, 0, &corners);
        let edges = edge_normals(triangles, face_normals);
        let points = vertex_normals(vertices, triangles, face_normals);
        let sums = order.iter().map(|&t| {
            let t = t as usize;
            let rows = [edges[t], triangles[t].map(|i| points[i as usize])];
            core::array::from_fn(|k| rows[k / 9][k / 3 % 3][k % 3] as f32)
        });
        let rows = order.iter().map(|&t| {
            let corners = corners(t);
            core::array::from_fn(|k| match k {
                0..9 => corners[k / 3][k % 3],
                _ => face_normals[t as usize][k - 9] as f32,
            })
        });
        Self { triangles: rows.collect(), edge_normals: sums.collect(), nodes, numbers: order }
    }
}

/// Sums of the normals of the two triangles at edges ab, bc, ca of each triangle.
fn edge_normals(triangles: &[[u32; 3]], face_normals: &[Vector3<f64>]) -> Vec<[Vector3<f64>; 3]> {
    let mut edges: Vec<(u32, u32, usize)> = (0..3 * triangles.len())
        .map(|h| {
            let (i, j) = (triangles[h / 3][h % 3], triangles[h / 3][(h + 1) % 3]);
            (i.min(j), i.max(j), h)
        })
        .collect();
    edges.sort_unstable();
    let mut normals = vec![[Vector3::zeros(); 3]; triangles.len()];
    for edge in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let sum: Vector3<f64> = edge.iter().map(|(_, _, h)| face_normals[h / 3]).sum();
        for (_, _, h) in edge {
            normals[h / 3][h % 3] = sum;
        }
    }
    normals
}

/// Sums of the normals of the triangles around each vertex, weighted by their angles there.
fn vertex_normals(
    vertices: &[Point3<f64>],
    triangles: &[[u32; 3]],
    face_normals: &[Vector3<f64>],
) -> Vec<Vector3<f64>> {
    let mut normals = vec![Vector3::zeros(); vertices.len()];
    for (triangle, normal) in triangles.iter().zip(face_normals) {
        let x = triangle.map(|i| vertices[i as usize]);
        for k in 0..3 {
            let (next, last) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
            let angle = next.cross(&last).norm().atan2(next.dot(&last));
            normals[triangle[k] as usize] += normal * angle;
        }
    }
    normals
}

/// Appends the tree of the triangles `order`, which are those from `first` on: halved along the
/// longest side of the box around their middles.
fn build(
    nodes: &mut Vec<ContactNode>,
    order: &mut [u32],
    first: u32,
    corners: &impl Fn(u32) -> [[f32; 3]; 3],
) {
    let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
    let (mut least, mut most) = ([f32::MAX; 3], [f32::MIN; 3]);
    let center = |t: u32, axis: usize| corners(t).iter().map(|corner| corner[axis]).sum::<f32>();
    for &t in order.iter() {
        for axis in 0..3 {
            for corner in corners(t) {
                (low[axis], high[axis]) = (low[axis].min(corner[axis]), high[axis].max(corner[axis]));
            }
            (least[axis], most[axis]) = (least[axis].min(center(t, axis)), most[axis].max(center(t, axis)));
        }
    }
    let index = nodes.len();
    nodes.push(ContactNode { low, high, start: first, count: order.len() as u32 });
    if order.len() <= LEAF_SIZE {
        return;
    }
    let wide = |axis: usize| most[axis] - least[axis];
    let axis = (1..3).fold(0, |best, axis| if wide(axis) > wide(best) { axis } else { best });
    let half = order.len() / 2;
    // Ties are broken by the triangle's number, so that the tree is the same on every machine.
    order.select_nth_unstable_by(half, |s, t| center(*s, axis).total_cmp(&center(*t, axis)).then(s.cmp(t)));
    let (left, right) = order.split_at_mut(half);
    build(nodes, left, first, corners);
    let right_child = nodes.len() as u32;
    build(nodes, right, first + half as u32, corners);
    nodes[index].start = right_child;
    nodes[index].count = 0;
}
