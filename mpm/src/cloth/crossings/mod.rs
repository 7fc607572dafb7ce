//! Crossings of cloth: edges of its triangles that pass through its other faces, and segments of ropes
//! that pass through its faces.
//!
//! Sheets that do not intersect have none, so their number shows reliably whether garments have
//! passed through themselves or each other. Two triangles in general position that intersect, and
//! share no vertex, have exactly two: either an edge of each goes through the other, or two edges
//! of one do.
//!
//! An edge crosses a face if its ends are on different sides of the face's plane and its line
//! passes the face's three edges on the same side: five signs of determinants (Segura and Feito,
//! "Algorithms to test ray-triangle intersection", 2001). A sign counts only if it cannot be due to
//! rounding (the static filter of Shewchuk, "Adaptive precision floating-point arithmetic and fast
//! robust geometric predicates", 1997), so that touching, to within rounding, is not a crossing.

use core::ops::Range;

use nalgebra::Vector3;
use rayon::prelude::*;

use super::SheetParticles;
use super::cells::{BoundingBox, Cells};

/// Number of crossings that are listed.
const MAX_REPORTED: usize = 8;

/// Edges of one parallel job.
const EDGES_A_TASK: usize = 512;

/// Shewchuk's `o3derrboundA` over the permanent: (7 + 56 e) e, e = 2^-53.
const SIGN_ERROR: f64 = (7.0 + 56.0 * (f64::EPSILON / 2.0)) * (f64::EPSILON / 2.0);

/// An edge that passes through a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Particle ids of the edge's ends, the smaller first.
    pub edge: [u32; 2],
    /// Particle ids of the face's vertices.
    pub face: [u32; 3],
}

/// All crossings at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Pairs of an edge or a segment of a rope, and a face that it passes through \[-\].
    pub count: usize,
    /// Those of segments of ropes \[-\].
    pub of_ropes: usize,
    /// The first few of them, in the order of their edges' ids.
    pub first: Vec<Crossing>,
}

/// Finds crossings of all sheets: within each, and between them.
#[derive(Clone, Debug, Default)]
pub struct CrossingDetector {
    faces: Vec<[u32; 3]>,
    /// Every edge once, sorted, then the segments of ropes from `first_of_ropes` on.
    edges: Vec<[u32; 2]>,
    first_of_ropes: usize,
    torn: Torn,
}

/// Faces that have torn, and edges all of whose faces have.
#[derive(Clone, Debug, Default)]
struct Torn {
    faces: Vec<bool>,
    edges: Vec<bool>,
    /// The edges of each face.
    sides: Vec<[u32; 3]>,
}

impl CrossingDetector {
    /// Takes the faces of all `sheet_particles`, and their edges.
    pub fn new(patches: &[SheetParticles]) -> Self {
        Self::of_faces(patches.iter().flat_map(|patch| patch.faces.iter().copied()).collect())
    }

    /// Takes some faces, and their edges.
    pub(crate) fn of_faces(faces: Vec<[u32; 3]>) -> Self {
        let sides = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut edges: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        Self { faces, first_of_ropes: edges.len(), edges, torn: Torn::default() }
    }

    /// Looks at ropes too, of the particles of each in the order of its vertices. Without faces they cross
    /// nothing.
    #[must_use]
    pub fn with_ropes(mut self, ropes: &[Range<usize>]) -> Self {
        let segments = ropes.iter().flat_map(|ids| ids.clone().zip(ids.clone().skip(1)));
        self.edges.extend(segments.map(|(a, b)| [a as u32, b as u32]));
        self
    }

    /// Whether there are no faces.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// Takes note of which faces have torn, in their order: they, and edges that have no other face, are
    /// not there any more.
    pub(crate) fn set_torn(&mut self, torn: impl Iterator<Item = bool>) {
        let Torn { faces, edges, sides } = &mut self.torn;
        if sides.is_empty() {
            faces.resize(self.faces.len(), false);
            edges.resize(self.edges.len(), false);
            let edge = |a: u32, b: u32| {
                self.edges[..self.first_of_ropes].binary_search(&[a.min(b), a.max(b)]).unwrap_or_default()
                    as u32
            };
            sides.extend(self.faces.iter().map(|&[a, b, c]| [edge(a, b), edge(b, c), edge(c, a)]));
        }
        edges[..self.first_of_ropes].fill(true);
        for ((face, torn), sides) in faces.iter_mut().zip(torn).zip(sides) {
            *face = torn;
            if !torn {
                sides.iter().for_each(|edge| edges[*edge as usize] = false);
            }
        }
    }

    /// Whether a face is there.
    pub(crate) fn has_face(&self, face: usize) -> bool {
        !self.torn.faces.get(face).is_some_and(|torn| *torn)
    }

    /// Whether an edge is there.
    pub(crate) fn has_edge(&self, edge: usize) -> bool {
        !self.torn.edges.get(edge).is_some_and(|torn| *torn)
    }

    /// The faces, and every edge once.
    pub(crate) fn elements(&self) -> (&[[u32; 3]], &[[u32; 2]]) {
        (&self.faces, &self.edges)
    }

    /// Crossings where the particles are at `positions` \[m\], by their ids. An edge is compared
    /// with the faces that it shares no vertex with. Faces and edges with a vertex that does not
    /// exist or is not finite cross nothing. The result depends neither on threads nor on the order
    /// of the faces, and on the frame only for contacts to within rounding.
    pub fn count(&self, positions: &[[f64; 3]]) -> Crossings {
        let found = self.find(|id| positions.get(id as usize).map(|x| Vector3::from(*x)));
        let of_ropes = self.edges[self.first_of_ropes..].first().map_or(0, |[first, _]| {
            // Particles of ropes come after those of cloth.
            found.iter().filter(|crossing| crossing.edge[0] >= *first).count()
        });
        Crossings { count: found.len(), of_ropes, first: found.into_iter().take(MAX_REPORTED).collect() }
    }

    /// All crossings, where the particles are at `position` \[m\].
    pub(crate) fn find(&self, position: impl Fn(u32) -> Option<Vector3<f64>> + Sync) -> Vec<Crossing> {
        let corner = |&id: &u32| position(id).filter(|x| x.iter().all(|x| x.is_finite()));
        let solid = |face: &[u32; 3]| Some([corner(&face[0])?, corner(&face[1])?, corner(&face[2])?]);
        let there = |(at, face)| if self.has_face(at) { solid(face) } else { None };
        let faces: Vec<Option<[Vector3<f64>; 3]>> = self.faces.iter().enumerate().map(there).collect();
        let mut cells = Cells::new();
        cells.fill(faces.iter().map(|face| face.as_ref().map(|corners| BoundingBox::of(corners))));
        let through = |edge: &[u32; 2], found: &mut Vec<Crossing>| {
            let (Some(p), Some(q)) = (corner(&edge[0]), corner(&edge[1])) else { return };
            let from = found.len();
            let is_apart = |at: usize| !edge.iter().any(|vertex| self.faces[at].contains(vertex));
            cells.near(&BoundingBox::of(&[p, q]), is_apart, |at| {
                if faces[at].is_some_and(|face| crosses(&p, &q, &face)) {
                    found.push(Crossing { edge: *edge, face: self.faces[at] });
                }
            });
            // The order of the cells is arbitrary.
            found[from..].sort_unstable_by_key(|crossing| crossing.face);
        };
        let tasks = self.edges.par_chunks(EDGES_A_TASK).enumerate().map(|(task, edges)| {
            let mut found = Vec::new();
            for (at, edge) in (task * EDGES_A_TASK..).zip(edges) {
                if self.has_edge(at) {
                    through(edge, &mut found);
                }
            }
            found
        });
        let found: Vec<Vec<Crossing>> = tasks.collect();
        found.into_iter().flatten().collect()
    }
}

/// Whether the edge from `p` to `q` passes through the face's inside.
fn crosses(p: &Vector3<f64>, q: &Vector3<f64>, face: &[Vector3<f64>; 3]) -> bool {
    let [a, b, c] = face;
    let (above, below) = (side(a, b, c, p), side(a, b, c, q));
    if above == 0 || below != -above {
        return false;
    }
    let turn = side(p, q, a, b);
    turn != 0 && side(p, q, b, c) == turn && side(p, q, c, a) == turn
}

/// Sign of the volume of the tetrahedron `a b c d`, 0 if it may be due to rounding.
fn side(a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>, d: &Vector3<f64>) -> i8 {
    let (a, b, c) = (a - d, b - d, c - d);
    let products = [[b.x * c.y, c.x * b.y], [c.x * a.y, a.x * c.y], [a.x * b.y, b.x * a.y]];
    let heights = [a.z, b.z, c.z];
    let (mut volume, mut size) = (0.0, 0.0);
    for ([plus, minus], z) in products.into_iter().zip(heights) {
        volume += z * (plus - minus);
        size += z.abs() * (plus.abs() + minus.abs());
    }
    let error = SIGN_ERROR * size;
    i8::from(volume > error) - i8::from(volume < -error)
}
