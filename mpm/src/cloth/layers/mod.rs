//! Contact between layers of cloth: over a step no vertex passes through a face and no edge through an
//! edge, within a sheet and between sheets.
//!
//! The grid keeps layers apart only as far as it resolves the distance between them. What it leaves is
//! found here at the end of a step, along straight lines from where the vertices were at its start:
//!
//! 1. pairs whose swept boxes meet ([`pairs`]);
//! 2. of these, pairs that come to touch ([`first_contact`]);
//! 3. impulses that keep them apart, opposite and without a moment ([`impulses`]); again from 2;
//! 4. what these do not separate in a few rounds moves in zones that cannot cross themselves, rigidly
//!    ([`zones`]) and then affinely ([`affine`]);
//! 5. layers that were moved while they slide would gain or lose angular momentum: those in contact get
//!    it back by a turn ([`zones`]).
//!
//! If no layers cross at the start, none cross at the end: each pair is known not to meet on the way
//! from one to the other. Held vertices (pins) go where they are told; layers that they force through
//! each other are counted ([`LayerReport::unresolved`]). Layers that cross at the start may pass through
//! each other where they do, and are drawn apart ([`untangle`]). Between layers there is no friction
//! here: the grid has it.

mod affine;
pub(crate) mod distance;
pub(crate) mod first_contact;
pub(crate) mod impulses;
mod pairs;
#[cfg(test)]
mod tests;
mod untangle;
pub(crate) mod zones;

use nalgebra::Vector3;
use serde::Serialize;

use super::crossings::CrossingDetector;
use affine::move_affinely;
use distance::Closest;
use first_contact::{FirstContact, first_contact};
use impulses::{Contact, push_apart, stop_approach};
use pairs::{Pair, Pairs};
use untangle::EdgeFaces;
use zones::Zones;

type V3 = Vector3<f64>;

/// Distance up to which layers in contact are pushed apart, over the grid spacing \[-\]: far above the
/// rounding of positions, far below the distances that the grid keeps.
const CLEARANCE: f64 = 1e-4;

/// Distance below which they are pushed apart however slowly they approach, and to which zones may become
/// thin, over the clearance \[-\].
const NEAR: f64 = 0.1;
const THINNEST: f64 = 1e-4;

/// Displacement up to which pairs need not be looked for again, over the grid spacing \[-\].
const MARGIN: f64 = 0.02;

/// Displacement in a step by which layers that cross are drawn apart, over the grid spacing \[-\].
const UNTANGLING: f64 = 0.05;

/// Rounds of impulses before the rest moves rigidly.
const IMPULSE_ROUNDS: usize = 8;

/// What contact between layers came to in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LayerReport {
    /// Contacts for which there were impulses.
    pub contacts: usize,
    /// Vertices that had to move in zones with others.
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

/// The layers of all sheets.
#[derive(Clone, Debug)]
pub(crate) struct LayerContact {
    detector: CrossingDetector,
    /// Displacements \[m\], see [`CLEARANCE`] and [`UNTANGLING`].
    clearance: f64,
    untangling: f64,
    edge_faces: EdgeFaces,
    /// Where the vertices are at the start and the end of the step \[m\].
    pub starts: Vec<V3>,
    pub ends: Vec<V3>,
    /// Their velocities at the end \[m/s\].
    pub velocities: Vec<V3>,
    /// 1 / mass; 0 where a pin holds the vertex \[1/kg\].
    pub inverse_masses: Vec<f64>,
    pairs: Pairs,
    /// Ends that impulses alone led to.
    pushed: Vec<V3>,
    /// Ends of vertices that moved rigidly.
    rigid: Vec<V3>,
    /// Ends and velocities without contact.
    own_ends: Vec<V3>,
    own_velocities: Vec<V3>,
    contacts: Vec<Contact>,
    /// Whether a vertex has moved since contacts were looked for.
    has_moved: Vec<bool>,
    zones: Zones,
    /// Vertices of elements that cross, and whether there may be some.
    crossed: Vec<bool>,
    may_cross: bool,
    /// Change of the angular momentum, about the world's origin, of what touches held vertices, in the
    /// last step \[N m s\].
    moment_of_held: V3,
}

impl LayerContact {
    /// The layers of `faces`, by the numbers of `vertices` vertices.
    pub fn new(faces: Vec<[u32; 3]>, vertices: usize, grid_spacing: f64) -> Self {
        let zero = vec![V3::zeros(); vertices];
        let detector = CrossingDetector::of_faces(faces);
        let (faces, edges) = detector.elements();
        let clearance = CLEARANCE * grid_spacing;
        Self {
            edge_faces: EdgeFaces::new(faces, edges),
            untangling: UNTANGLING * grid_spacing,
            detector,
            clearance,
            pairs: Pairs::new(vertices, MARGIN * grid_spacing, clearance),
            starts: zero.clone(),
            ends: zero.clone(),
            velocities: zero.clone(),
            inverse_masses: vec![0.0; vertices],
            pushed: zero.clone(),
            rigid: zero.clone(),
            own_ends: zero.clone(),
            own_velocities: zero,
            contacts: Vec::new(),
            has_moved: vec![true; vertices],
            zones: Zones::default(),
            crossed: vec![false; vertices],
            may_cross: true,
            moment_of_held: V3::zeros(),
        }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let (faces, edges) = self.detector.elements();
        size_of_val(faces)
            + size_of_val(edges)
            + self.starts.len() * (7 * size_of::<V3>() + size_of::<f64>() + 2 * size_of::<bool>())
            + self.pairs.memory()
            + self.contacts.capacity() * size_of::<Contact>()
            + self.zones.memory()
            + self.edge_faces.memory()
    }

    /// The vertices were put elsewhere: layers may cross.
    pub fn forget(&mut self) {
        self.may_cross = true;
        self.pairs.forget();
    }

    /// Takes note of which faces have torn, in their order: nothing is in contact with them.
    pub fn set_torn(&mut self, torn: impl Iterator<Item = bool>) {
        self.detector.set_torn(torn);
        self.pairs.forget();
    }

    /// Changes `ends` and `velocities` so that no layer passes through another between `starts` and
    /// `ends`.
    pub fn keep_apart(&mut self) -> LayerReport {
        let mut report = LayerReport { crossed: self.find_crossed(), ..LayerReport::default() };
        self.contacts.clear();
        self.moment_of_held = V3::zeros();
        self.own_ends.copy_from_slice(&self.ends);
        self.own_velocities.copy_from_slice(&self.velocities);
        if !self.pairs.hold((&self.starts, &self.ends), report.crossed > 0) {
            self.find_pairs();
        }
        if self.pairs.is_empty() {
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
            if report.unresolved == 0 {
                self.move_affinely();
            }
        }
        report.contacts = self.contacts.len();
        stop_approach(&mut self.contacts, &self.inverse_masses, &mut self.velocities);
        for contact in &self.contacts {
            self.zones.join(contact.vertices);
        }
        self.zones.list();
        let own = (&self.own_ends[..], &self.own_velocities[..]);
        self.zones.keep_angular_momentum(&self.inverse_masses, own, &self.ends, &mut self.velocities);
        self.moment_of_held =
            self.zones.moment_of_held(&self.inverse_masses, own, &self.ends, &self.velocities);
        self.may_cross |= report.unresolved > 0;
        report
    }

    /// Impulses that what holds vertices takes up in the last step, by the vertices' numbers \[N s\], and the
    /// angular momentum that it takes up in all \[N m s\].
    pub fn held_impulses(&self) -> (impl Iterator<Item = (usize, V3)> + '_, V3) {
        let held = |(v, _): &(usize, V3)| self.inverse_masses[*v] == 0.0;
        (self.contacts.iter().flat_map(Contact::impulses).filter(held), self.moment_of_held)
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

    /// Finds the pairs that may touch.
    fn find_pairs(&mut self) {
        let crossed = self.may_cross.then_some(&self.crossed[..]);
        self.pairs.find(&self.detector, (&self.starts, &self.ends), crossed);
    }

    /// Finds the pairs that touch and have moved since the last time; their number.
    fn find_contacts(&mut self) -> usize {
        let (starts, ends, has_moved, zones) = (&self.starts, &self.ends, &self.has_moved, &self.zones);
        let near = NEAR * self.clearance;
        let is_free = |vertex: &usize| self.inverse_masses[*vertex] > 0.0;
        let touch = |pair: &Pair| {
            let vertices = pair.vertices.map(|v| v as usize);
            let moves_rigidly = || vertices.iter().all(is_free) && zones.are_one(&pair.vertices);
            if !vertices.iter().any(|v| has_moved[*v]) || moves_rigidly() {
                return None;
            }
            first_contact(pair.kind, &vertices.map(|v| starts[v]), &vertices.map(|v| ends[v]), near)
        };
        let found = self.pairs.find_contacts(touch);
        self.has_moved.fill(false);
        found
    }

    /// A round of impulses between what was found to touch, now and before.
    fn push_apart(&mut self) {
        let contact = |(pair, first): &(Pair, FirstContact)| {
            let gap = first.distance.max(self.clearance);
            Contact::new(pair.vertices, &first.closest, gap, &self.inverse_masses)
        };
        self.contacts.extend(self.pairs.contacts().map(contact));
        push_apart(&mut self.contacts, &self.inverse_masses, &mut self.ends);
        for contact in &self.contacts {
            contact.vertices.iter().for_each(|v| self.has_moved[*v as usize] = true);
        }
        self.look_again();
    }

    /// Looks for pairs again if vertices have left the boxes in which they were looked for.
    fn look_again(&mut self) {
        if !self.pairs.are_near(&self.ends) {
            self.find_pairs();
        }
    }

    /// Joins what still touches to rigid zones, until nothing does; returns the contacts that are left
    /// because pins hold them.
    fn move_rigidly(&mut self) -> usize {
        self.pushed.copy_from_slice(&self.ends);
        loop {
            let mut joined = false;
            for (pair, _) in self.pairs.contacts() {
                joined |= self.zones.join(pair.vertices);
            }
            let left = self.pairs.contacts().count();
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

    /// Moves on what has moved rigidly, by the affine part of what impulses alone led to; zones that would
    /// meet others on the way from there, or become too thin, stay.
    fn move_affinely(&mut self) {
        self.rigid.copy_from_slice(&self.ends);
        move_affinely(&self.zones, &self.inverse_masses, &self.pushed, &mut self.ends);
        let crossed = self.may_cross.then_some(&self.crossed[..]);
        self.pairs.find(&self.detector, (&self.rigid, &self.ends), crossed);
        let [near, thinnest] = [NEAR, THINNEST].map(|part| part * self.clearance);
        // Each time at least one zone is put back.
        for _ in 0..self.zones.vertices() {
            let (rigid, ends, zones) = (&self.rigid, &self.ends, &self.zones);
            let meet = |pair: &Pair| {
                let vertices = pair.vertices.map(|v| v as usize);
                let [from, to] = [rigid, ends].map(|of| vertices.map(|v| of[v]));
                if !zones.are_one(&pair.vertices) {
                    return first_contact(pair.kind, &from, &to, near);
                }
                let closest = Closest::of(pair.kind, &to);
                let distance = closest.apart.norm();
                let is_thin = distance < thinnest && distance < Closest::of(pair.kind, &from).apart.norm();
                is_thin.then_some(FirstContact { closest, distance })
            };
            if self.pairs.find_contacts(meet) == 0 {
                return;
            }
            self.has_moved.fill(false);
            for (pair, _) in self.pairs.contacts() {
                pair.vertices.iter().for_each(|v| self.has_moved[*v as usize] = true);
            }
            for zone in self.zones.iter().filter(|zone| zone.clone().any(|v| self.has_moved[v])) {
                zone.for_each(|v| self.ends[v] = self.rigid[v]);
            }
        }
    }
}
