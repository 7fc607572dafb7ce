//! Terrain: a grid of heights.

use super::error::is_size;
use super::{GeometryError, TriangleMesh};
use nalgebra::Point3;

/// A grid of heights, in its own frame: the solid between the surface through the heights, centred
/// on the z axis, and a level floor below.
///
/// Each cell is two triangles, cut along the diagonal from its corner of lowest x and y. The solid
/// is held as the closed mesh of that surface, of its sides and its floor, so that distances are
/// those of [`TriangleMesh`]: exact to rounding for the triangulated surface. Choose the floor deep
/// enough that no penetration reaches half of it: points nearer to the floor or the sides than to
/// the surface are measured from these.
#[derive(Clone, Debug)]
pub struct HeightField {
    mesh: TriangleMesh,
    surface_triangles: usize,
}

impl HeightField {
    /// `heights` \[m\] in rows of `columns` along x, rows along y; `spacing` \[m\] between
    /// neighbours along x and y; the floor is `depth` \[m\] below the lowest height.
    ///
    /// # Errors
    /// Fewer than 2 columns or rows, an incomplete row, heights that are not finite, sizes that are
    /// not positive.
    pub fn new(
        heights: &[f64],
        columns: usize,
        spacing: [f64; 2],
        depth: f64,
    ) -> Result<Self, GeometryError> {
        let shape = "height field";
        for (field, value) in [("spacing.x", spacing[0]), ("spacing.y", spacing[1]), ("depth", depth)] {
            if !is_size(value) {
                return Err(GeometryError::Size { shape, field, value });
            }
        }
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 || rows * columns != heights.len() {
            return Err(GeometryError::Grid { heights: heights.len(), columns });
        }
        let place = |i: usize, n: usize, s: f64| (i as f64 - 0.5 * (n - 1) as f64) * s;
        let mut vertices: Vec<Point3<f64>> = heights
            .iter()
            .enumerate()
            .map(|(k, h)| {
                Point3::new(place(k % columns, columns, spacing[0]), place(k / columns, rows, spacing[1]), *h)
            })
            .collect();
        super::topology::check_vertices(shape, &vertices)?;
        let mut triangles = surface(columns, rows);
        let surface_triangles = triangles.len();
        let floor = heights.iter().copied().fold(f64::MAX, f64::min) - depth;
        close(&mut vertices, &mut triangles, columns, rows, floor);
        Ok(Self { mesh: TriangleMesh::new(vertices, triangles)?, surface_triangles })
    }

    /// The solid as a closed mesh.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Number of triangles of the surface; they are the first of the mesh, two for each cell, row
    /// by row.
    pub fn surface_triangles(&self) -> usize {
        self.surface_triangles
    }
}

fn surface(columns: usize, rows: usize) -> Vec<[u32; 3]> {
    let at = |i: usize, j: usize| (j * columns + i) as u32;
    let mut triangles = Vec::with_capacity(2 * (columns - 1) * (rows - 1));
    for j in 0..rows - 1 {
        for i in 0..columns - 1 {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    triangles
}

/// Adds the sides, and the floor as a fan.
fn close(
    vertices: &mut Vec<Point3<f64>>,
    triangles: &mut Vec<[u32; 3]>,
    columns: usize,
    rows: usize,
    floor: f64,
) {
    let at = |i: usize, j: usize| (j * columns + i) as u32;
    // The rim, counter-clockwise seen from above.
    let mut rim: Vec<u32> = (0..columns - 1).map(|i| at(i, 0)).collect();
    rim.extend((0..rows - 1).map(|j| at(columns - 1, j)));
    rim.extend((1..columns).rev().map(|i| at(i, rows - 1)));
    rim.extend((1..rows).rev().map(|j| at(0, j)));
    let first = vertices.len() as u32;
    for &top in &rim {
        let p = vertices[top as usize];
        vertices.push(Point3::new(p.x, p.y, floor));
    }
    let centre = vertices.len() as u32;
    vertices.push(Point3::new(0.0, 0.0, floor));
    let n = rim.len() as u32;
    for k in 0..n {
        let next = (k + 1) % n;
        let (top, top_next) = (rim[k as usize], rim[next as usize]);
        triangles.extend([[top, first + k, first + next], [top, first + next, top_next]]);
        triangles.push([centre, first + next, first + k]);
    }
}
