//! Errors of geometries.

use thiserror::Error;

/// The smallest size of a shape \[m\].
pub const SMALLEST_SIZE: f64 = 1e-9;
/// The largest size of a shape and distance of a vertex from its origin \[m\]: products of four of
/// them, as collisions have, stay far from the ends of `f64`.
pub const LARGEST_SIZE: f64 = 1e9;

/// Whether a size can be computed with \[m\].
pub(super) fn is_size(value: f64) -> bool {
    (SMALLEST_SIZE..=LARGEST_SIZE).contains(&value)
}

/// A geometry that cannot be used. Lengths are in metres, volumes in cubic metres; vertex and
/// triangle numbers count from 0 in the order in which they were given.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GeometryError {
    /// A size that is not positive, or beyond what can be computed with.
    #[error("{shape}: {field} is {value:?} m; it must be from {SMALLEST_SIZE:e} to {LARGEST_SIZE:e} m")]
    Size {
        /// The kind of shape.
        shape: &'static str,
        /// The field of the shape.
        field: &'static str,
        /// The value given \[m\].
        value: f64,
    },
    /// An invalid grid of heights.
    #[error(
        "height field: {heights} heights in rows of {columns}; it needs at least 2 full rows of at least 2"
    )]
    Grid {
        /// Number of heights.
        heights: usize,
        /// The length of a row.
        columns: usize,
    },
    /// A mesh or a hull without any triangle or point.
    #[error("{shape}: there are no {what}")]
    Empty {
        /// The kind of shape.
        shape: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// Coordinates that are NaN, infinite or beyond what can be computed with.
    #[error(
        "{shape}: {count} vertices are not finite or beyond {LARGEST_SIZE:e} m, the first is vertex {vertex} at {position:?} m"
    )]
    NonFiniteVertex {
        /// The kind of shape.
        shape: &'static str,
        /// Number of such vertices.
        count: usize,
        /// The first of them.
        vertex: usize,
        /// Its coordinates \[m\].
        position: [f64; 3],
    },
    /// Triangles that refer to vertices that do not exist.
    #[error(
        "mesh: {count} triangles refer to vertices that do not exist, the first is triangle {triangle}: index \
         {index} with {vertices} vertices"
    )]
    IndexOutOfRange {
        /// Number of such triangles.
        count: usize,
        /// The first of them.
        triangle: usize,
        /// The index it uses.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// Triangles that use a vertex twice, or have no area in proportion to their edges.
    #[error("mesh: {count} triangles are degenerate, the first is triangle {triangle} {indices:?}")]
    DegenerateTriangle {
        /// Number of such triangles.
        count: usize,
        /// The first of them.
        triangle: usize,
        /// Its vertices.
        indices: [u32; 3],
    },
    /// Edges that belong to one triangle only: the surface has a hole.
    #[error(
        "mesh: {count} edges are open (not closed surface), the first is {edge:?} of triangle {triangle}; \
         merge vertices that coincide and fill the holes"
    )]
    OpenEdge {
        /// Number of such edges.
        count: usize,
        /// Vertices of the first of them.
        edge: [u32; 2],
        /// The triangle it belongs to.
        triangle: usize,
    },
    /// Edges where more than two triangles meet.
    #[error("mesh: {count} edges join more than two triangles, the first is {edge:?} with {triangles}")]
    NonManifoldEdge {
        /// Number of such edges.
        count: usize,
        /// Vertices of the first of them.
        edge: [u32; 2],
        /// Number of triangles at it.
        triangles: usize,
    },
    /// Edges whose two triangles run through them in the same direction.
    #[error(
        "mesh: {count} edges join triangles of opposite orientation, the first is {edge:?} between \
         triangles {triangles:?}"
    )]
    InconsistentOrientation {
        /// Number of such edges.
        count: usize,
        /// Vertices of the first of them.
        edge: [u32; 2],
        /// The two triangles.
        triangles: [usize; 2],
    },
    /// Vertices where two fans of triangles touch: the sign of a distance is not defined there.
    #[error("mesh: {count} vertices join separate fans of triangles, the first is vertex {vertex}")]
    NonManifoldVertex {
        /// Number of such vertices.
        count: usize,
        /// The first of them.
        vertex: usize,
    },
    /// The enclosed volume is not positive: the triangles face inwards, or enclose nothing.
    #[error("mesh: it is inside out or empty (signed volume {volume} m^3); reverse the triangles")]
    InsideOut {
        /// Signed volume \[m^3\].
        volume: f64,
    },
    /// The points of a hull do not span a volume, or their hull could not be built.
    #[error("convex hull of {points} points: {reason}")]
    Hull {
        /// Number of points given.
        points: usize,
        /// Why there is no hull.
        reason: String,
    },
}
