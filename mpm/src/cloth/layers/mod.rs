//! Contact between layers of cloth: over a step no vertex passes through a face and no edge through an
//! edge, within a sheet and between sheets.
//!
//! The grid keeps layers apart only as far as it resolves the distance between them. What it leaves is
//! found here at the end of a step, along straight lines from where the vertices were at its start:
//!
//! 1. pairs whose swept boxes meet ([`Cells`]);
//! 2. of these, pairs that come to touch ([`first_contact`]);
//! 3. impulses that keep them apart, opposite and without a moment ([`impulses`]); again from 2;
//! 4. what these do not separate in a few rounds moves rigidly ([`zones`]);
//! 5. layers that were moved while they slide would gain or lose angular momentum: those in contact get
//!    it back by a turn ([`zones`]).
//!
//! If no layers cross at the start, none cross at the end: each pair is known not to meet on the way
//! from one to the other, or moves rigidly. Held vertices (pins) go where they are told; layers that
//! they force through each other are counted ([`LayerReport::unresolved`]). Layers that cross at the
//! start may pass through each other where they do, and are drawn apart ([`untangle`]). Between layers
//! there is no friction here: the grid has it.

pub(crate) mod distance;
pub(crate) mod first_contact;
pub(crate) mod impulses;
#[cfg(test)]
mod tests;
mod untangle;
pub(crate) mod zones;

use nalgebra::Vector3;
use rayon::prelude::*;
use serde::Serialize;

use super::cells::{BoundingBox, Cells};
use super::crossings::CrossingDetector;
use distance::Kind;
use first_contact::{FirstContact, first_contact};
use impulses::{Contact, push_apart, stop_approach};
use untangle::EdgeFaces;
use zones::Zones;

type V3 = Vector3<f64>;

/// Distance up to which layers in contact are pushed apart, over the grid spacing \[-\]: far above the
/// rounding of positions, far below the distances that the grid keeps.
const CLEARANCE: f64 = 1e-4;

/// Displacement up to which pairs need not be looked for again, over the grid spacing \[-\].
const MARGIN: f64 = 0.02;

/// Displacement in a step by which layers that cross are drawn apart, over the grid spacing \[-\].
const UNTANGLING: f64 = 0.05;

/// Rounds of impulses before the rest moves rigidly.
const IMPULSE_ROUNDS: usize = 8;

/// Elements whose pairs one parallel job looks for.
const ELEMENTS_A_TASK: usize = 256;

/// What contact between layers came to in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LayerReport {
    /// Contacts for which there were impulses.
    pub contacts: usize,
    /// Vertices that had to move rigidly with others.
    pub rigid: usize,
    /// Contacts that nothing could keep apart, because pins hold their vertices.
    pub unresolved: usize,
    /// Vertices of layers that crossed at the start of the step.
    pub crossed: usize,
}

impl LayerReport {
    /// The report of two steps.
    pub fn with(&self, other: &Self) -> Self {
        Self {
            contacts: self.contacts + other.contacts,
            rigid: self.rigid + other.rigid,
            unresolved: self.unresolved + other.unresolved,
            crossed: self.crossed.max(other.crossed),
        }
    }
}

/// Two elements that may touch.
#[derive(Clone, Copy, Debug)]
struct Pair {
    kind: Kind,
    vertices: [u32; 4],
}

/// A part of the elements with what they may touch, and touch.
#[derive(Clone, Debug, Default)]
struct Task {
    pairs: Vec<Pair>,
    contacts: Vec<(Pair, FirstContact)>,
}

/// The layers of all sheets.
#[derive(Clone, Debug)]
pub(crate) struct LayerContact {
    detector: CrossingDetector,
    /// Displacements \[m\], see [`CLEARANCE`] and [`MARGIN`].
    clearance: f64,
    margin: f64,
    untangling: f64,
    edge_faces: EdgeFaces,
    /// Where the vertices are at the start and the end of the step \[m\].
    pub starts: Vec<V3>,
    pub ends: Vec<V3>,
    /// Their velocities at the end \[m/s\].
    pub velocities: Vec<V3>,
    /// 1 / mass; 0 where a pin holds the vertex \[1/kg\].
    pub inverse_masses: Vec<f64>,
    /// Ends with which pairs were looked for; whether they were, and whether elements crossed then.
    seen: Vec<V3>,
    is_listed: bool,
    is_listed_crossed: bool,
    /// Ends that impulses alone led to.
    pushed: Vec<V3>,
    /// Ends and velocities without contact.
    own_ends: Vec<V3>,
    own_velocities: Vec<V3>,
    faces: Cells,
    edges: Cells,
    tasks: Vec<Task>,
    contacts: Vec<Contact>,
    /// Whether a vertex has moved since contacts were looked for.
    has_moved: Vec<bool>,
    zones: Zones,
    /// Vertices of elements that cross, and whether there may be some.
    crossed: Vec<bool>,
    may_cross: bool,
}

impl LayerContact {
    /// The layers of `faces`, by the numbers of `vertices` vertices.
    pub fn new(faces: Vec<[u32; 3]>, vertices: usize, grid_spacing: f64) -> Self {
        let zero = vec![V3::zeros(); vertices];
        let detector = CrossingDetector::of_faces(faces);
        let (faces, edges) = detector.elements();
        Self {
            edge_faces: EdgeFaces::new(faces, edges),
            untangling: UNTANGLING * grid_spacing,
            detector,
            clearance: CLEARANCE * grid_spacing,
            margin: MARGIN * grid_spacing,
            starts: zero.clone(),
            ends: zero.clone(),
            velocities: zero.clone(),
            inverse_masses: vec![0.0; vertices],
            seen: zero.clone(),
            is_listed: false,
            is_listed_crossed: false,
            pushed: zero.clone(),
            own_ends: zero.clone(),
            own_velocities: zero,
            faces: Cells::new(),
            edges: Cells::new(),
            tasks: Vec::new(),
            contacts: Vec::new(),
            has_moved: vec![true; vertices],
            zones: Zones::default(),
            crossed: vec![false; vertices],
            may_cross: true,
        }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let (faces, edges) = self.detector.elements();
        let tasks = self.tasks.iter();
        let of_tasks = |task: &Task| {
            task.pairs.capacity() * size_of::<Pair>()
                + task.contacts.capacity() * size_of::<(Pair, FirstContact)>()
        };
        size_of_val(faces)
            + size_of_val(edges)
            + self.starts.len() * (7 * size_of::<V3>() + size_of::<f64>() + 2 * size_of::<bool>())
            + self.faces.memory()
            + self.edges.memory()
            + tasks.map(of_tasks).sum::<usize>()
            + self.contacts.capacity() * size_of::<Contact>()
            + self.zones.memory()
            + self.edge_faces.memory()
    }

    /// The vertices were put elsewhere: layers may cross.
    pub fn forget(&mut self) {
        self.may_cross = true;
        self.is_listed = false;
    }

    /// Changes `ends` and `velocities` so that no layer passes through another between `starts` and
    /// `ends`.
    pub fn keep_apart(&mut self) -> LayerReport {
        let mut report = LayerReport { crossed: self.find_crossed(), ..LayerReport::default() };
        self.contacts.clear();
        self.own_ends.copy_from_slice(&self.ends);
        self.own_velocities.copy_from_slice(&self.velocities);
        if !self.pairs_hold(report.crossed > 0) {
            self.find_pairs();
        }
        if self.tasks.iter().all(|task| task.pairs.is_empty()) {
            return report;
        }
        self.has_moved.fill(true);
        self.zones.begin(self.starts.len());
        for _ in 0..IMPULSE_ROUNDS {
            if self.find_contacts() == 0 {
                break;
            }
            self.push_apart();
        }
        if self.find_contacts() > 0 {
            report.unresolved = self.move_rigidly();
            report.rigid = self.zones.vertices();
        }
        report.contacts = self.contacts.len();
        stop_approach(&mut self.contacts, &self.inverse_masses, &mut self.velocities);
        self.zones.set_velocities(&self.inverse_masses, &self.ends, &mut self.velocities);
        for contact in &self.contacts {
            self.zones.join(contact.vertices);
        }
        self.zones.list();
        let own = (&self.own_ends[..], &self.own_velocities[..]);
        self.zones.keep_angular_momentum(&self.inverse_masses, own, &self.ends, &mut self.velocities);
        self.may_cross |= report.unresolved > 0;
        report
    }

    /// Finds the vertices of elements that cross at the start, and draws them apart; their number.
    fn find_crossed(&mut self) -> usize {
        if !self.may_cross {
            return 0;
        }
        let starts = &self.starts;
        let crossings = self.detector.find(|vertex| Some(starts[vertex as usize]));
        self.crossed.fill(false);
        for crossing in &crossings {
            for vertex in crossing.edge.iter().chain(&crossing.face) {
                self.crossed[*vertex as usize] = true;
            }
        }
        self.edge_faces.draw_apart(
            &crossings,
            self.detector.elements().1,
            (&self.starts, &mut self.ends),
            &self.inverse_masses,
            self.untangling,
        );
        self.may_cross = !crossings.is_empty();
        self.crossed.iter().filter(|crossed| **crossed).count()
    }

    /// Whether the pairs that were found in an earlier step are all that may touch in this one: no
    /// vertex is farther than the margin from where it was then. Of elements that cross, the pairs
    /// depend on which they are.
    fn pairs_hold(&self, elements_cross: bool) -> bool {
        let is_near = |x: &[V3]| {
            let limit = self.margin * self.margin;
            x.iter().zip(&self.seen).all(|(x, seen)| (x - seen).norm_squared() <= limit)
        };
        let is_listed = self.is_listed && !self.is_listed_crossed && !elements_cross;
        is_listed && is_near(&self.ends) && is_near(&self.starts)
    }

    /// Finds the pairs that may touch on the way, or after displacements of up to the margin.
    fn find_pairs(&mut self) {
        self.seen.copy_from_slice(&self.ends);
        self.is_listed = true;
        self.is_listed_crossed = self.may_cross;
        let (starts, ends) = (&self.starts, &self.ends);
        let reach = 0.5 * self.clearance + self.margin;
        let swept = |vertices: &[u32]| {
            let first = BoundingBox::of(&[starts[vertices[0] as usize], ends[vertices[0] as usize]]);
            let with =
                |b: BoundingBox, v: &u32| b.with(&BoundingBox::of(&[starts[*v as usize], ends[*v as usize]]));
            vertices[1..].iter().fold(first, with).grown(reach)
        };
        let (faces, edges) = self.detector.elements();
        let (of_faces, of_edges) = (&mut self.faces, &mut self.edges);
        rayon::join(
            || of_faces.fill(faces.iter().map(|face| Some(swept(face)))),
            || of_edges.fill(edges.iter().map(|edge| Some(swept(edge)))),
        );
        let (face_cells, edge_cells, crossed) = (&self.faces, &self.edges, &self.crossed);
        let is_crossed = |vertices: &[u32]| vertices.iter().any(|v| crossed[*v as usize]);
        let of_vertices = starts.len().div_ceil(ELEMENTS_A_TASK);
        self.tasks.resize_with(of_vertices + edges.len().div_ceil(ELEMENTS_A_TASK), Task::default);
        self.tasks.par_iter_mut().enumerate().for_each(|(number, task)| {
            task.pairs.clear();
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
                for edge in from..(from + ELEMENTS_A_TASK).min(edges.len()) {
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

    /// Finds the pairs that touch and have moved since the last time; their number.
    fn find_contacts(&mut self) -> usize {
        let (starts, ends, has_moved, zones) = (&self.starts, &self.ends, &self.has_moved, &self.zones);
        let is_free = |vertex: &usize| self.inverse_masses[*vertex] > 0.0;
        let touch = |pair: &Pair| {
            let vertices = pair.vertices.map(|v| v as usize);
            let moves_rigidly = || vertices.iter().all(is_free) && zones.are_one(&pair.vertices);
            if !vertices.iter().any(|v| has_moved[*v]) || moves_rigidly() {
                return None;
            }
            first_contact(pair.kind, &vertices.map(|v| starts[v]), &vertices.map(|v| ends[v]))
        };
        self.tasks.par_iter_mut().for_each(|Task { pairs, contacts }| {
            contacts.clear();
            contacts.extend(pairs.iter().filter_map(|pair| Some((*pair, touch(pair)?))));
            // In an order that does not depend on when the pairs were found.
            contacts.sort_unstable_by_key(|(pair, _)| pair.vertices);
        });
        self.has_moved.fill(false);
        self.tasks.iter().map(|task| task.contacts.len()).sum()
    }

    /// A round of impulses between what was found to touch, now and before.
    fn push_apart(&mut self) {
        let found = self.tasks.iter().flat_map(|task| &task.contacts);
        let contact = |(pair, first): &(Pair, FirstContact)| {
            let gap = first.distance.max(self.clearance);
            Contact::new(pair.vertices, &first.closest, gap, &self.inverse_masses)
        };
        self.contacts.extend(found.map(contact));
        push_apart(&mut self.contacts, &self.inverse_masses, &mut self.ends);
        for contact in &self.contacts {
            contact.vertices.iter().for_each(|v| self.has_moved[*v as usize] = true);
        }
        self.look_again();
    }

    /// Looks for pairs again if vertices have left the boxes in which they were looked for.
    fn look_again(&mut self) {
        let limit = self.margin * self.margin;
        let far = |(end, seen): (&V3, &V3)| (end - seen).norm_squared() > limit;
        if self.ends.iter().zip(&self.seen).any(far) {
            self.find_pairs();
        }
    }

    /// Joins what still touches to rigid zones, until nothing does; returns the contacts that are left
    /// because pins hold them.
    fn move_rigidly(&mut self) -> usize {
        self.pushed.copy_from_slice(&self.ends);
        loop {
            let mut joined = false;
            for (pair, _) in self.tasks.iter().flat_map(|task| &task.contacts) {
                joined |= self.zones.join(pair.vertices);
            }
            let left = self.tasks.iter().map(|task| task.contacts.len()).sum();
            if !joined {
                return left;
            }
            self.zones.list();
            self.ends.copy_from_slice(&self.pushed);
            self.zones.move_rigidly(&self.inverse_masses, &self.starts, &mut self.ends);
            self.has_moved.fill(true);
            self.look_again();
            if self.find_contacts() == 0 {
                return 0;
            }
        }
    }
}
