//! An outline filled with triangles that are nearly equilateral.
//!
//! Inside, vertices start on a hexagonal lattice without those too near to the outline. The
//! constrained Delaunay triangulation (crate `spade`) joins them, short edges push their ends
//! apart, and both are repeated (Persson and Strang 2004, "A simple mesh generator in MATLAB"),
//! which distributes the irregularity at the edge over the panel. Refinement alone would stop at
//! angles of 30 degrees and triangles of many sizes.

use nalgebra::Vector2;
use spade::handles::{DirectedEdgeHandle, FixedVertexHandle, VertexHandle};
use spade::{CdtEdge, ConstrainedDelaunayTriangulation, Point2, Triangulation};

use super::outline::{BoundaryPiece, LONGEST_EDGE, Outline, OutlineError, PanelBoundary};

/// Distance from the outline within which the lattice has no vertices, in spacings. A row of
/// triangles is 0.87 high, so that a vertex of the outline covers the nearest 0.43 of it; slightly
/// less leaves no gap.
const MARGIN: f64 = 0.4;

/// Rest length of an edge's spring, in spacings. It is more than one, so that edges push everywhere
/// and vertices keep their distance from the outline.
const SPRING_LENGTH: f64 = 1.25;

/// Fraction of an edge's missing length by which each of its ends moves in a round.
const STEP: f64 = 0.25;

/// Number of rounds. Of eleven halves of shirts with spacings of 6 to 20 mm, 40 rounds left
/// smallest angles of at least 34 degrees and edges of up to 1.34 spacings; 60 rounds did no
/// better.
const ROUNDS: usize = 40;

/// Why an outline cannot be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TriangulateError {
    /// The outline is refused.
    #[error(transparent)]
    Outline(#[from] OutlineError),
    /// The triangulation library refuses a vertex.
    #[error("triangulation: {0}")]
    Library(String),
    /// The triangles do not fill the outline: it is too narrow somewhere, or its parts are so long
    /// that vertices left it between them.
    #[error(
        "triangulation: {faces} triangles cover {area} m^2, but {expected_faces} should cover {expected_area} m^2; the outline is too narrow or its parts are too long for a spacing of {spacing} m"
    )]
    NotFilled {
        /// Number of triangles found.
        faces: usize,
        /// Their area \[m^2\].
        area: f64,
        /// Number of faces by Euler's formula.
        expected_faces: usize,
        /// Area within the outline's edges \[m^2\].
        expected_area: f64,
        /// The spacing \[m\].
        spacing: f64,
    },
    /// An edge is longer than [`LONGEST_EDGE`] spacings.
    #[error(
        "triangulation: an edge near ({}, {}) m is {length} m long, but must be below {limit} m ({LONGEST_EDGE} spacings)",
        .near.x, .near.y
    )]
    LongEdge {
        /// Its middle \[m\].
        near: Vector2<f64>,
        /// Its length \[m\].
        length: f64,
        /// The largest allowed \[m\].
        limit: f64,
    },
}

/// A flat panel of triangles in the plane of its pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelMesh {
    /// Vertices \[m\]: first those of the outline, in its order, then those inside.
    pub points: Vec<Vector2<f64>>,
    /// The vertices of each triangle, counter-clockwise.
    pub faces: Vec<[usize; 3]>,
    /// The pieces of the outline.
    pub pieces: Vec<BoundaryPiece>,
    /// Number of vertices on the outline.
    pub outer: usize,
}

/// Quality of a mesh's triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Smallest angle \[rad\].
    pub min_angle: f64,
    /// Shortest edge \[m\].
    pub shortest_edge: f64,
    /// Longest edge \[m\].
    pub longest_edge: f64,
}

impl PanelMesh {
    /// Fills an outline with triangles whose edges are about `spacing` \[m\] long. Its boundary has
    /// exactly the vertices of [`Outline::divide`]. The lattice has a line of vertices along y
    /// through the outline's start. The same outline and spacing give the same sheet.
    ///
    /// # Errors
    /// The outline is refused, or is too narrow somewhere to be filled with such triangles.
    pub fn fill(outline: &Outline, spacing: f64) -> Result<Self, TriangulateError> {
        let boundary = outline.divide(spacing)?;
        let outer = boundary.points.len();
        let mut points = boundary.points.clone();
        points.extend(lattice(&boundary, spacing));
        for _ in 0..ROUNDS {
            let joined = join(&points, outer)?;
            let moved =
                joined.fixed_vertices().skip(outer).map(|vertex| relaxed_position(&joined, vertex, spacing));
            let moved: Vec<_> = moved.collect();
            points.splice(outer.., moved);
        }
        let faces = faces_within(&join(&points, outer)?, outer);
        let sheet = Self { points, faces, pieces: boundary.pieces.clone(), outer };
        sheet.check(&boundary, spacing)?;
        Ok(sheet)
    }

    /// Area of all triangles \[m^2\].
    pub fn area(&self) -> f64 {
        self.faces.iter().map(|face| self.face_area(face)).sum()
    }

    /// The vertices along a piece in its direction, both ends included; `None` if there is no piece
    /// of this name.
    pub fn along(&self, piece: &str) -> Option<Vec<usize>> {
        let piece = self.pieces.iter().find(|known| known.name == piece)?;
        Some((piece.first..=piece.first + piece.parts).map(|k| k % self.outer).collect())
    }

    /// Smallest angle, shortest and longest edge.
    pub fn quality(&self) -> Quality {
        let corners = self.faces.iter().map(|face| face.map(|v| self.points[v].push(0.0)));
        Quality::of(corners)
    }

    fn face_area(&self, &[a, b, c]: &[usize; 3]) -> f64 {
        let [a, b, c] = [a, b, c].map(|v| self.points[v]);
        0.5 * (b - a).perp(&(c - a))
    }

    /// Checks that the mesh is a disc with all vertices, the correct area, and short edges.
    fn check(&self, boundary: &PanelBoundary, spacing: f64) -> Result<(), TriangulateError> {
        // Euler's formula for a disc: F = 2 V - B - 2.
        let expected_faces = (2 * self.points.len()).saturating_sub(self.outer + 2);
        let (faces, area, expected_area) = (self.faces.len(), self.area(), boundary.area());
        let upside_down = self.faces.iter().any(|face| self.face_area(face) <= 0.0);
        if faces != expected_faces || upside_down || (area - expected_area).abs() > 1e-9 * expected_area {
            return Err(TriangulateError::NotFilled { faces, area, expected_faces, expected_area, spacing });
        }
        let limit = LONGEST_EDGE * spacing;
        for face in &self.faces {
            for k in 0..3 {
                let [a, b] = [face[k], face[(k + 1) % 3]].map(|v| self.points[v]);
                let length = (b - a).norm();
                if length >= limit {
                    return Err(TriangulateError::LongEdge { near: 0.5 * (a + b), length, limit });
                }
            }
        }
        Ok(())
    }
}

impl Quality {
    /// Quality of triangles in space \[m\]. Without triangles, angle and shortest edge are infinite
    /// and the longest is zero.
    pub fn of(triangles: impl Iterator<Item = [nalgebra::Vector3<f64>; 3]>) -> Self {
        let mut quality = Self { min_angle: f64::INFINITY, shortest_edge: f64::INFINITY, longest_edge: 0.0 };
        for corners in triangles {
            for k in 0..3 {
                let [a, b, c] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
                let length = (b - a).norm();
                quality.min_angle = quality.min_angle.min((b - a).angle(&(c - a)));
                quality.shortest_edge = quality.shortest_edge.min(length);
                quality.longest_edge = quality.longest_edge.max(length);
            }
        }
        quality
    }
}

type Delaunay = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// The vertices of a hexagonal lattice that are well within the boundary, column after column.
fn lattice(boundary: &PanelBoundary, spacing: f64) -> Vec<Vector2<f64>> {
    let origin = boundary.points[0];
    let (mut low, mut high) = (origin, origin);
    for x in &boundary.points {
        (low, high) = (low.inf(x), high.sup(x));
    }
    let (across, along) = (spacing * 0.75f64.sqrt(), spacing);
    let columns = ((low.x - origin.x) / across).floor() as i64..=((high.x - origin.x) / across).ceil() as i64;
    let mut points = Vec::new();
    for column in columns {
        // Every second column is moved by half a spacing.
        let shift = 0.5 * column.rem_euclid(2) as f64;
        let rows = ((low.y - origin.y) / along - shift).floor() as i64
            ..=((high.y - origin.y) / along - shift).ceil() as i64;
        for row in rows {
            let x = origin + Vector2::new(column as f64 * across, (row as f64 + shift) * along);
            if boundary.depth(x) >= MARGIN * spacing {
                points.push(x);
            }
        }
    }
    points
}

/// Joins vertices, of which the first `outer` are a closed boundary; it keeps their order.
fn join(points: &[Vector2<f64>], outer: usize) -> Result<Delaunay, TriangulateError> {
    let vertices: Vec<_> = points.iter().map(|x| Point2::new(x.x, x.y)).collect();
    let edges: Vec<_> = (0..outer).map(|k| [k, (k + 1) % outer]).collect();
    let mut refused = 0;
    let joined = Delaunay::try_bulk_load_cdt(vertices, edges, |_| refused += 1)
        .map_err(|error| TriangulateError::Library(error.to_string()))?;
    if refused > 0 || joined.num_vertices() != points.len() {
        let twice = points.len() - joined.num_vertices();
        let message = format!("{refused} edges of the outline cross, {twice} vertices are there twice");
        return Err(TriangulateError::Library(message));
    }
    Ok(joined)
}

/// New position of a vertex in a round.
fn relaxed_position(joined: &Delaunay, vertex: FixedVertexHandle, spacing: f64) -> Vector2<f64> {
    let at = |vertex: VertexHandle<Point2<f64>, (), CdtEdge<()>, ()>| {
        let x = vertex.position();
        Vector2::new(x.x, x.y)
    };
    let x = at(joined.vertex(vertex));
    let push = |edge: DirectedEdgeHandle<Point2<f64>, (), CdtEdge<()>, ()>| {
        let away = x - at(edge.to());
        let length = away.norm();
        away * ((SPRING_LENGTH * spacing - length).max(0.0) / length)
    };
    x + STEP * joined.vertex(vertex).out_edges().map(push).sum::<Vector2<f64>>()
}

/// The triangles within the boundary, of which the triangulation has every edge. A triangle with a
/// vertex that is not on the boundary is inside. Going around any other counter-clockwise, its
/// vertices come in the order of the boundary if it is inside, and in the opposite order if it is
/// outside; so the slivers along straight pieces do not depend on rounding.
fn faces_within(joined: &Delaunay, outer: usize) -> Vec<[usize; 3]> {
    let faces = joined.inner_faces().map(|face| face.vertices().map(|vertex| vertex.index()));
    faces
        .filter(|&[a, b, c]| {
            let falls = usize::from(a > b) + usize::from(b > c) + usize::from(c > a);
            a.max(b).max(c) >= outer || falls == 1
        })
        .collect()
}
