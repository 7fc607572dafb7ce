//! A sheet at rest: vertices, faces, edges and their neighbours.

use nalgebra::Vector3;

/// Longest edge of a face, in grid spacings.
///
/// Every point of a face is within a third of its longest edge of its centroid or one of its
/// vertices. The coupling of two particles through the grid, sum_i w_ip w_iq over its value at
/// distance zero, falls with their distance along an axis as the quintic B-spline: it is 2/3 at 2/3
/// of a spacing, 0.39 at one, 0.015 at two. So up to this length the sheet resists contact at any
/// point with at least 2/3 of its resistance at a particle; larger faces would have holes.
pub const LONGEST_EDGE: f64 = 2.0;

/// Smallest altitude of a face, in grid spacings.
///
/// Particles closer than this move together anyway: the grid's velocity is quadratic within a cell.
/// And the fast path's f32 positions within a block of four cells are rounded by 2^-23 cells each,
/// which in a face of this altitude is a strain of up to 2^-22 x 32 = 8e-6, and more in a smaller
/// one.
pub const SMALLEST_ALTITUDE: f64 = 1.0 / 32.0;

/// Twice the area over the square of the longest edge below which a face is degenerate: rounding of
/// f64 coordinates then begins to show in its normal.
const DEGENERATE: f64 = 1e-9;

/// Why a mesh is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// A mesh without faces.
    #[error("faces: a mesh needs at least one")]
    NoFaces,
    /// A vertex that is not finite.
    #[error("vertices[{vertex}]: ({}, {}, {}) m must be finite", .position.x, .position.y, .position.z)]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position \[m\].
        position: Vector3<f64>,
    },
    /// A face refers to a vertex that does not exist.
    #[error("faces[{face}]: vertex {vertex} is not one of the {count} vertices")]
    NoSuchVertex {
        /// Index of the face.
        face: usize,
        /// The index given.
        vertex: usize,
        /// Number of vertices.
        count: usize,
    },
    /// A face names a vertex twice.
    #[error("faces[{face}]: vertex {vertex} appears twice")]
    RepeatedVertex {
        /// Index of the face.
        face: usize,
        /// The vertex.
        vertex: usize,
    },
    /// A face whose corners are (almost) on a line.
    #[error(
        "faces[{face}]: area is {area} m^2, but its longest edge {longest_edge} m; it must not be degenerate"
    )]
    Degenerate {
        /// Index of the face.
        face: usize,
        /// Its area \[m^2\].
        area: f64,
        /// Its longest edge \[m\].
        longest_edge: f64,
    },
    /// A vertex of no face would have no mass.
    #[error("vertices[{vertex}]: belongs to no face")]
    Unused {
        /// Index of the vertex.
        vertex: usize,
    },
    /// More than two faces share an edge.
    #[error("faces[{face}]: edge between vertices {} and {} already has two faces", .edge[0], .edge[1])]
    NonManifoldEdge {
        /// The third face.
        face: usize,
        /// The edge's vertices.
        edge: [usize; 2],
    },
    /// Two neighbours pass their edge in the same direction, so their normals are on opposite
    /// sides.
    #[error(
        "faces[{}] and faces[{}]: opposite orientations: both pass the edge from vertex {} to {} \
         in the same direction; flip one of them",
        .faces[0], .faces[1], .edge[0], .edge[1]
    )]
    Orientation {
        /// The two faces.
        faces: [usize; 2],
        /// The edge's vertices, in the direction of both.
        edge: [usize; 2],
    },
    /// An edge longer than [`LONGEST_EDGE`] grid spacings.
    #[error(
        "faces[{face}]: longest edge is {longest_edge} m, but must be at most {limit} m ({LONGEST_EDGE} grid spacings)"
    )]
    TooLarge {
        /// Index of the face.
        face: usize,
        /// Its longest edge \[m\].
        longest_edge: f64,
        /// The largest allowed \[m\].
        limit: f64,
    },
    /// An altitude smaller than [`SMALLEST_ALTITUDE`] grid spacings.
    #[error(
        "faces[{face}]: smallest altitude is {altitude} m, but must be at least {limit} m ({SMALLEST_ALTITUDE} grid spacings)"
    )]
    TooSmall {
        /// Index of the face.
        face: usize,
        /// Its altitude on the longest edge \[m\].
        altitude: f64,
        /// The smallest allowed \[m\].
        limit: f64,
    },
    /// A size or a number of parts of a rectangle or disc that gives no mesh.
    #[error("{field}: {value} {requirement}")]
    Shape {
        /// Name of the argument.
        field: &'static str,
        /// Its value, with its unit.
        value: String,
        /// What it must be.
        requirement: &'static str,
    },
}

/// An edge and its one or two faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its vertices, in the direction of the first face.
    pub vertices: [usize; 2],
    /// The face on its left (seen from the side that normals point to).
    pub face: usize,
    /// The vertex of `face` that is not on the edge.
    pub opposite: usize,
    /// The other face and its vertex that is not on the edge; none on the boundary.
    pub other: Option<(usize, usize)>,
}

/// A sheet of triangles at rest: an orientable surface with or without boundary, in one part or
/// more.
///
/// The normal of a face with vertices (a, b, c) is along (b - a) x (c - a). Parts may touch in a
/// vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothMesh {
    vertices: Vec<Vector3<f64>>,
    faces: Vec<[usize; 3]>,
    edges: Vec<Edge>,
    /// Index of each vertex's first face in `vertex_faces`, and a last entry at the end.
    first_face: Vec<usize>,
    vertex_faces: Vec<usize>,
}

/// Area \[m^2\] and longest edge \[m\] of a triangle \[m\].
fn size([a, b, c]: [Vector3<f64>; 3]) -> (f64, f64) {
    let area = 0.5 * (b - a).cross(&(c - a)).norm();
    (area, (b - a).norm().max((c - b).norm()).max((a - c).norm()))
}

impl ClothMesh {
    /// Checks a mesh: rest positions of its vertices (m, world frame) and the three vertices of
    /// each face.
    ///
    /// # Errors
    /// The first vertex or face that is not part of an orientable surface, see [`MeshError`];
    /// [`Self::check_spacing`] compares sizes with a grid.
    pub fn new(vertices: Vec<Vector3<f64>>, faces: Vec<[usize; 3]>) -> Result<Self, MeshError> {
        check_faces(&vertices, &faces)?;
        let edges = find_edges(&faces)?;
        let mut first_face = vec![0; vertices.len() + 1];
        for &vertex in faces.iter().flatten() {
            first_face[vertex + 1] += 1;
        }
        if let Some(vertex) = first_face[1..].iter().position(|&count| count == 0) {
            return Err(MeshError::Unused { vertex });
        }
        for vertex in 0..vertices.len() {
            first_face[vertex + 1] += first_face[vertex];
        }
        let mut next = first_face.clone();
        let mut vertex_faces = vec![0; 3 * faces.len()];
        for (face, corners) in faces.iter().enumerate() {
            for &vertex in corners {
                vertex_faces[next[vertex]] = face;
                next[vertex] += 1;
            }
        }
        Ok(Self { vertices, faces, edges, first_face, vertex_faces })
    }

    /// A rectangle: corner `origin`, sides `along_u` and `along_v` \[m\], in `parts` of them, two
    /// faces each; the normal is along u x v. Vertex (i, j), i along u, is number i (parts\[1\] +
    /// 1) + j. The diagonals alternate, so that neither is preferred.
    ///
    /// # Errors
    /// No parts, or sides that are too short or parallel.
    pub fn rectangle(
        origin: Vector3<f64>,
        along_u: Vector3<f64>,
        along_v: Vector3<f64>,
        parts: [usize; 2],
    ) -> Result<Self, MeshError> {
        if parts.contains(&0) {
            let value = format!("{parts:?}");
            return Err(MeshError::Shape { field: "parts", value, requirement: "must both be positive" });
        }
        let [m, n] = parts;
        let at = |i: usize, j: usize| i * (n + 1) + j;
        let vertices = (0..(m + 1) * (n + 1))
            .map(|k| {
                let (i, j) = (k / (n + 1), k % (n + 1));
                origin + along_u * (i as f64 / m as f64) + along_v * (j as f64 / n as f64)
            })
            .collect();
        let mut faces = Vec::with_capacity(2 * m * n);
        for i in 0..m {
            for j in 0..n {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                if (i + j) % 2 == 0 {
                    faces.extend([[a, b, c], [a, c, d]]);
                } else {
                    faces.extend([[a, b, d], [b, c, d]]);
                }
            }
        }
        Self::new(vertices, faces)
    }

    /// A disc of `radius` \[m\] about `centre` with the given normal: the centre, then ring k of
    /// `rings` with 6 k vertices, so that edges are about radius / rings long.
    ///
    /// # Errors
    /// No rings, or a radius or normal that is zero or not a number.
    pub fn disc(
        centre: Vector3<f64>,
        normal: Vector3<f64>,
        radius: f64,
        rings: usize,
    ) -> Result<Self, MeshError> {
        let shape = |field, value, requirement| Err(MeshError::Shape { field, value, requirement });
        if rings == 0 {
            return shape("rings", rings.to_string(), "must be positive");
        }
        if !(radius > 0.0 && radius.is_finite()) {
            return shape("radius", format!("{radius} m"), "must be positive and finite");
        }
        let Some(normal) = normal.try_normalize(0.0).filter(|n| n.iter().all(|x| x.is_finite())) else {
            return shape("normal", format!("{normal:?}"), "must have a direction");
        };
        // The axis that is farthest from the normal spans the plane with it.
        let along_u = Vector3::ith(normal.iamin(), 1.0).cross(&normal).normalize();
        let along_v = normal.cross(&along_u);
        let mut vertices = vec![centre];
        for ring in 1..=rings {
            let r = radius * ring as f64 / rings as f64;
            for k in 0..6 * ring {
                let angle = core::f64::consts::TAU * k as f64 / (6 * ring) as f64;
                vertices.push(centre + r * (angle.cos() * along_u + angle.sin() * along_v));
            }
        }
        // Vertex k of a ring, modulo the number of its vertices; the rings before hold 1 + 3 ring
        // (ring - 1) vertices.
        let at = |ring: usize, k: usize| {
            if ring == 0 { 0 } else { 1 + 3 * ring * (ring - 1) + k % (6 * ring) }
        };
        let mut faces = Vec::with_capacity(6 * rings * rings);
        for ring in 1..=rings {
            for sector in 0..6 {
                for k in 0..ring {
                    let (outer, inner) = (sector * ring + k, sector * (ring - 1) + k);
                    faces.push([at(ring - 1, inner), at(ring, outer), at(ring, outer + 1)]);
                    if k + 1 < ring {
                        faces.push([at(ring - 1, inner), at(ring, outer + 1), at(ring - 1, inner + 1)]);
                    }
                }
            }
        }
        Self::new(vertices, faces)
    }

    /// Checks every face against [`LONGEST_EDGE`] and [`SMALLEST_ALTITUDE`] for a grid spacing h
    /// \[m\].
    ///
    /// # Errors
    /// The first face that is too large or too small.
    pub fn check_spacing(&self, grid_spacing: f64) -> Result<(), MeshError> {
        for face in 0..self.faces.len() {
            let (area, longest_edge) = size(self.corners(face));
            let limit = LONGEST_EDGE * grid_spacing;
            // Slack for the rounding of coordinates at exactly the limit.
            if longest_edge > limit * (1.0 + 1e-9) {
                return Err(MeshError::TooLarge { face, longest_edge, limit });
            }
            let (altitude, limit) = (2.0 * area / longest_edge, SMALLEST_ALTITUDE * grid_spacing);
            if altitude < limit * (1.0 - 1e-9) {
                return Err(MeshError::TooSmall { face, altitude, limit });
            }
        }
        Ok(())
    }

    /// Rest positions \[m\].
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// The three vertices of each face.
    pub fn faces(&self) -> &[[usize; 3]] {
        &self.faces
    }

    /// All edges, by their lower and then their higher vertex.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The faces of a vertex, in rising order.
    pub fn faces_of(&self, vertex: usize) -> &[usize] {
        &self.vertex_faces[self.first_face[vertex]..self.first_face[vertex + 1]]
    }

    /// Rest positions of a face's vertices \[m\].
    pub fn corners(&self, face: usize) -> [Vector3<f64>; 3] {
        self.faces[face].map(|vertex| self.vertices[vertex])
    }

    /// Area of a face at rest \[m^2\].
    pub fn area(&self, face: usize) -> f64 {
        size(self.corners(face)).0
    }
}

/// Every vertex finite, every face a triangle.
fn check_faces(vertices: &[Vector3<f64>], faces: &[[usize; 3]]) -> Result<(), MeshError> {
    if faces.is_empty() {
        return Err(MeshError::NoFaces);
    }
    if let Some(vertex) = vertices.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
        return Err(MeshError::NotFinite { vertex, position: vertices[vertex] });
    }
    for (face, corners) in faces.iter().enumerate() {
        let count = vertices.len();
        if let Some(&vertex) = corners.iter().find(|&&v| v >= count) {
            return Err(MeshError::NoSuchVertex { face, vertex, count });
        }
        if let Some(k) = (0..3).find(|&k| corners[k] == corners[(k + 1) % 3]) {
            return Err(MeshError::RepeatedVertex { face, vertex: corners[k] });
        }
        let (area, longest_edge) = size(corners.map(|v| vertices[v]));
        if 2.0 * area <= DEGENERATE * longest_edge * longest_edge {
            return Err(MeshError::Degenerate { face, area, longest_edge });
        }
    }
    Ok(())
}

/// Edges from the faces' sides: sides of the same two vertices are one edge.
fn find_edges(faces: &[[usize; 3]]) -> Result<Vec<Edge>, MeshError> {
    let mut sides: Vec<Edge> = Vec::with_capacity(3 * faces.len());
    for (face, corners) in faces.iter().enumerate() {
        for k in 0..3 {
            let [a, b, opposite] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
            sides.push(Edge { vertices: [a, b], face, opposite, other: None });
        }
    }
    let key = |side: &Edge| (side.vertices[0].min(side.vertices[1]), side.vertices[0].max(side.vertices[1]));
    sides.sort_by_key(|side| (key(side), side.face));
    let mut edges: Vec<Edge> = Vec::with_capacity(sides.len());
    for side in sides {
        match edges.last_mut().filter(|edge| key(edge) == key(&side)) {
            None => edges.push(side),
            Some(edge) if edge.other.is_some() => {
                let (low, high) = key(edge);
                return Err(MeshError::NonManifoldEdge { face: side.face, edge: [low, high] });
            }
            Some(edge) if edge.vertices == side.vertices => {
                return Err(MeshError::Orientation { faces: [edge.face, side.face], edge: side.vertices });
            }
            Some(edge) => edge.other = Some((side.face, side.opposite)),
        }
    }
    Ok(edges)
}
