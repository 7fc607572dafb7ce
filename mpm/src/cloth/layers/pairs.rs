//! Pairs of elements that may touch on the way from one place to another, found by swept boxes. They
//! hold for later steps until a vertex has left the margin around them.

use nalgebra::Vector3;
use rayon::prelude::*;

use super::distance::Kind;
use super::first_contact::FirstContact;
use crate::cloth::cells::{BoundingBox, Cells};
use crate::cloth::crossings::CrossingDetector;

type V3 = Vector3<f64>;

/// Elements whose pairs one parallel job looks for.
const ELEMENTS_A_TASK: usize = 256;

/// Two elements that may touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub kind: Kind,
    pub vertices: [u32; 4],
}

/// A part of the elements with what they may touch, and touch.
#[derive(Clone, Debug, Default)]
struct Task {
    pairs: Vec<Pair>,
    contacts: Vec<(Pair, FirstContact)>,
}

/// The pairs, and where the vertices were when they were found.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    tasks: Vec<Task>,
    faces: Cells,
    edges: Cells,
    /// Displacement up to which pairs need not be looked for again, and by how much swept boxes are
    /// larger than what is swept \[m\].
    margin: f64,
    reach: f64,
    /// Ends with which pairs were looked for; whether they were, and whether elements crossed then.
    seen: Vec<V3>,
    is_listed: bool,
    is_listed_crossed: bool,
}

impl Pairs {
    pub fn new(vertices: usize, margin: f64, clearance: f64) -> Self {
        Self {
            tasks: Vec::new(),
            faces: Cells::new(),
            edges: Cells::new(),
            margin,
            reach: 0.5 * clearance + margin,
            seen: vec![V3::zeros(); vertices],
            is_listed: false,
            is_listed_crossed: false,
        }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let of_tasks = |task: &Task| {
            task.pairs.capacity() * size_of::<Pair>()
                + task.contacts.capacity() * size_of::<(Pair, FirstContact)>()
        };
        size_of_val(&self.seen[..])
            + self.faces.memory()
            + self.edges.memory()
            + self.tasks.iter().map(of_tasks).sum::<usize>()
    }

    /// The vertices were put elsewhere.
    pub fn forget(&mut self) {
        self.is_listed = false;
    }

    pub fn is_empty(&self) -> bool {
        self.tasks.iter().all(|task| task.pairs.is_empty())
    }

    /// Lists the pairs that `touch`, in an order that does not depend on when they were found; their number.
    pub fn find_contacts(&mut self, touch: impl Fn(&Pair) -> Option<FirstContact> + Sync) -> usize {
        self.tasks.par_iter_mut().for_each(|Task { pairs, contacts }| {
            contacts.clear();
            contacts.extend(pairs.iter().filter_map(|pair| Some((*pair, touch(pair)?))));
            contacts.sort_unstable_by_key(|(pair, _)| pair.vertices);
        });
        self.contacts().count()
    }

    /// The pairs that touch, of all tasks.
    pub fn contacts(&self) -> impl Iterator<Item = &(Pair, FirstContact)> {
        self.tasks.iter().flat_map(|task| &task.contacts)
    }

    /// Whether no vertex is farther than the margin from where it was when the pairs were found.
    pub fn are_near(&self, positions: &[V3]) -> bool {
        let limit = self.margin * self.margin;
        positions.iter().zip(&self.seen).all(|(x, seen)| (x - seen).norm_squared() <= limit)
    }

    /// Whether the pairs that were found in an earlier step are all that may touch from `starts` to
    /// `ends`. Of elements that cross, the pairs depend on which they are.
    pub fn hold(&self, (starts, ends): (&[V3], &[V3]), elements_cross: bool) -> bool {
        let is_listed = self.is_listed && !self.is_listed_crossed && !elements_cross;
        is_listed && self.are_near(ends) && self.are_near(starts)
    }

    /// Finds the pairs that may touch on the way from `starts` to `ends`, or after displacements of up to
    /// the margin; none of elements both of which cross others, if some do (`crossed` by vertex).
    pub fn find(
        &mut self,
        detector: &CrossingDetector,
        (starts, ends): (&[V3], &[V3]),
        crossed: Option<&[bool]>,
    ) {
        self.seen.copy_from_slice(ends);
        self.is_listed = true;
        self.is_listed_crossed = crossed.is_some();
        let reach = self.reach;
        let swept = |vertices: &[u32]| {
            let of = |v: u32| BoundingBox::of(&[starts[v as usize], ends[v as usize]]);
            vertices[1..].iter().fold(of(vertices[0]), |all, v| all.with(&of(*v))).grown(reach)
        };
        let (faces, edges) = detector.elements();
        let (of_faces, of_edges) = (&mut self.faces, &mut self.edges);
        rayon::join(
            || {
                let there = |(at, face): (usize, &[u32; 3])| detector.has_face(at).then(|| swept(face));
                of_faces.fill(faces.iter().enumerate().map(there));
            },
            || {
                let there = |(at, edge): (usize, &[u32; 2])| detector.has_edge(at).then(|| swept(edge));
                of_edges.fill(edges.iter().enumerate().map(there));
            },
        );
        let (face_cells, edge_cells) = (&self.faces, &self.edges);
        let is_crossed =
            |vertices: &[u32]| crossed.is_some_and(|of| vertices.iter().any(|v| of[*v as usize]));
        let of_vertices = starts.len().div_ceil(ELEMENTS_A_TASK);
        self.tasks.resize_with(of_vertices + edges.len().div_ceil(ELEMENTS_A_TASK), Task::default);
        self.tasks.par_iter_mut().enumerate().for_each(|(number, task)| {
            task.pairs.clear();
            // None that was found among other pairs.
            task.contacts.clear();
            let may_touch = |first: &[u32], second: &[u32]| {
                let is_apart = first.iter().all(|v| !second.contains(v));
                is_apart && !(is_crossed(first) && is_crossed(second))
            };
            let mut add = |kind, vertices: [u32; 4]| task.pairs.push(Pair { kind, vertices });
            if number < of_vertices {
                let from = number * ELEMENTS_A_TASK;
                for vertex in from..(from + ELEMENTS_A_TASK).min(starts.len()) {
                    let vertex = vertex as u32;
                    let wanted = |face: usize| may_touch(&[vertex], &faces[face]);
                    face_cells.near(&swept(&[vertex]), wanted, |face| {
                        let [a, b, c] = faces[face];
                        add(Kind::VertexFace, [vertex, a, b, c]);
                    });
                }
            } else {
                let from = (number - of_vertices) * ELEMENTS_A_TASK;
                let to = (from + ELEMENTS_A_TASK).min(edges.len());
                for edge in (from..to).filter(|edge| detector.has_edge(*edge)) {
                    let [a, b] = edges[edge];
                    let wanted = |other: usize| edge < other && may_touch(&[a, b], &edges[other]);
                    edge_cells.near(&swept(&[a, b]), wanted, |other| {
                        let [c, d] = edges[other];
                        add(Kind::EdgeEdge, [a, b, c, d]);
                    });
                }
            }
        });
    }
}
