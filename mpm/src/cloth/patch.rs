//! A sheet's particles among all others.

use core::ops::Range;

/// A sheet in the order of particle ids: its vertices, then its centroids.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetParticles {
    /// Ids of the vertices' particles, in the order of the mesh's vertices.
    pub vertices: Range<usize>,
    /// Ids of the centroids' particles, in the order of the mesh's faces.
    pub centroids: Range<usize>,
    /// The particle ids of each face's vertices, in the order that defines its normal.
    pub faces: Vec<[u32; 3]>,
    /// Lengths of each face's edges at rest, from a corner to the next \[m\].
    pub rest_edges: Vec<[f64; 3]>,
}
