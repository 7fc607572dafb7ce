//! Contact between strands of ropes: their centre lines stay apart by the sum of their radii, within a rope and
//! between ropes.
//!
//! The grid keeps strands apart only as far as it resolves the distance between them. What it leaves is found here
//! in every substep, when the vertices have moved by dt v:
//!
//! 1. pairs of segments near each other ([`Cells`]), but those next to each other along a rope
//!    ([`strands::Strand::may_touch`]);
//! 2. of these, pairs that come too near on the way, or at its end ([`pair`]);
//! 3. impulses that keep them apart, as changes of the velocities and by dt of the positions; again from 2;
//! 4. what still would pass through each other moves rigidly ([`Zones`]);
//! 5. strands that are too near, at the start of a run or by rounding, are pushed apart slowly, by their positions
//!    alone.
//!
//! # Why in every substep
//! With weights w of the four vertices, d = sum w x is the vector between two places of two segments. The impulse
//! l >= 0 along n = d / |d| at the start of the substep is such that n . d at its end is at least the
//! sum R of the radii, and 0 where it is more: Moreau's time stepping (Moreau 1988, "Unilateral contact and dry
//! friction in finite freedom dynamics") of an inelastic impact.
//!
//! - Positions move with the velocities, as they do in symplectic Euler steps without contact: nothing is
//!   moved at once over the way of many substeps, which would stretch a stiff rope by far more than its
//!   kinetic energy can.
//! - Impulses are opposite, and along the line between the places at the start: they have no moment there, and so
//!   sum m x1 x v1 = sum m (x0 + dt v1) x v1 stays, to rounding.
//! - Kinetic energy does not grow. Sweeps of projected Gauss-Seidel lower f(l) = |v1|^2 / 2 + sum l (|d| - R)
//!   / dt (norm by mass) from f(0) = |v0|^2 / 2; where |d| >= R at the start, the sum is not negative, so
//!   |v1| <= |v0| after any number of sweeps. Where |d| < R, |d| is to be kept, not R.
//!
//! If strands are apart at the start, they do not pass through each other: each pair is known not to on the way, or
//! moves rigidly. Held vertices (pins) go where they are told; what they force through each other is counted
//! ([`StrandReport::unresolved`]). There is no friction here: the grid has it.

mod pair;
mod push;
mod strands;
#[cfg(test)]
mod tests;

use nalgebra::Vector3;
use rayon::prelude::*;
use serde::Serialize;

use super::line::Rope;
use crate::cloth::cells::{BoundingBox, Cells};
use crate::cloth::layers::distance::Kind;
use crate::cloth::layers::impulses::{Contact, push_apart};
use crate::cloth::layers::zones::Zones;
use pair::Pair;
use strands::{Strand, strands};

type V3 = Vector3<f64>;

/// Displacement up to which pairs need not be looked for again, over the grid spacing \[-\].
const MARGIN: f64 = 0.1;

/// Rounds of impulses before the rest moves rigidly.
const ROUNDS: usize = 30;

/// Smallest number of pairs in a parallel job.
const GRAIN: usize = 64;

/// What contact between strands of ropes came to in a substep, or in several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StrandReport {
    /// Contacts for which there were impulses.
    pub contacts: usize,
    /// Vertices that had to move rigidly with others.
    pub rigid: usize,
    /// Pairs of segments that nothing could keep apart, because pins hold their vertices.
    pub unresolved: usize,
    /// Pairs of segments that are nearer than the sum of their radii by more than a hundredth of it; of several
    /// substeps the most in one.
    pub overlapping: usize,
    /// Largest part of the sum of the radii that is missing in a distance \[-\].
    pub overlap: f64,
}

impl StrandReport {
    /// The report of two times.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self {
            contacts: self.contacts + other.contacts,
            rigid: self.rigid + other.rigid,
            unresolved: self.unresolved + other.unresolved,
            overlapping: self.overlapping.max(other.overlapping),
            overlap: self.overlap.max(other.overlap),
        }
    }
}

/// The strands of all ropes.
#[derive(Clone, Debug)]
pub(crate) struct StrandContact {
    strands: Vec<Strand>,
    margin: f64,
    /// Where the vertices are at the start and the end of the substep \[m\].
    pub starts: Vec<V3>,
    pub ends: Vec<V3>,
    /// Their velocities at the end \[m/s\].
    pub velocities: Vec<V3>,
    /// 1 / mass; 0 where a pin holds the vertex \[1/kg\].
    pub inverse_masses: Vec<f64>,
    /// Impulses on held vertices, which their pins take \[N s\].
    pub on_held: Vec<V3>,
    /// Ends and velocities without contact, and those that impulses alone led to.
    own_ends: Vec<V3>,
    pushed: Vec<V3>,
    pushed_velocities: Vec<V3>,
    /// Ends with which pairs were looked for, if they were.
    seen: Vec<V3>,
    is_listed: bool,
    cells: Cells,
    pairs: Vec<Pair>,
    contacts: Vec<Contact>,
    /// Whether a vertex has moved since places were looked for.
    has_moved: Vec<bool>,
    zones: Zones,
    /// Whether zones move rigidly now.
    has_zones: bool,
    /// Vertices at an end of a rope.
    is_end: Vec<bool>,
}

impl StrandContact {
    /// The strands of `ropes` in a grid of this spacing \[m\]. Vertices are those of the ropes, one after the
    /// other.
    pub fn new(ropes: &[Rope], grid_spacing: f64) -> Self {
        let of_rope = |rope: &Rope| {
            let last = rope.vertices.len() - 1;
            (0..=last).map(move |k| k == 0 || k == last)
        };
        let is_end: Vec<bool> = ropes.iter().flat_map(of_rope).collect();
        let count = is_end.len();
        let zero = vec![V3::zeros(); count];
        Self {
            strands: strands(ropes, 0),
            margin: MARGIN * grid_spacing,
            starts: zero.clone(),
            ends: zero.clone(),
            velocities: zero.clone(),
            inverse_masses: vec![0.0; count],
            on_held: zero.clone(),
            own_ends: zero.clone(),
            pushed: zero.clone(),
            pushed_velocities: zero.clone(),
            seen: zero,
            is_listed: false,
            cells: Cells::new(),
            pairs: Vec::new(),
            contacts: Vec::new(),
            has_moved: vec![true; count],
            zones: Zones::default(),
            has_zones: false,
            is_end,
        }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.strands.capacity() * size_of::<Strand>()
            + self.starts.len() * (8 * size_of::<V3>() + size_of::<f64>() + 2 * size_of::<bool>())
            + self.cells.memory()
            + self.pairs.capacity() * size_of::<Pair>()
            + self.contacts.capacity() * size_of::<Contact>()
            + self.zones.memory()
    }

    /// The vertices were put elsewhere.
    pub fn forget(&mut self) {
        self.is_listed = false;
    }

    /// Changes `ends` and `velocities` so that no strand passes through another in the substep of `substep`
    /// \[s\] from `starts` to `ends`, nor ends too near; [`Self::is_changed`] says where.
    pub fn keep_apart(&mut self, substep: f64) -> StrandReport {
        let mut report = StrandReport::default();
        if !self.pairs_hold() {
            self.find_pairs();
        }
        self.own_ends.copy_from_slice(&self.ends);
        self.contacts.clear();
        self.on_held.fill(V3::zeros());
        if self.pairs.is_empty() {
            return report;
        }
        self.has_moved.fill(true);
        let mut is_settled = false;
        for _ in 0..ROUNDS {
            is_settled = self.find_places() == 0;
            if is_settled {
                break;
            }
            self.push_apart();
        }
        self.add_impulses(substep);
        if !is_settled {
            (report.rigid, report.unresolved) = self.move_rigidly();
        }
        report.contacts = self.contacts.iter().filter(|contact| contact.is_pushed()).count();
        self.push_slowly(&mut report);
        report
    }

    /// Whether contact has changed where a vertex goes.
    pub fn is_changed(&self, vertex: usize) -> bool {
        self.ends[vertex] != self.own_ends[vertex]
    }

    /// Whether the pairs that were found in an earlier substep are all that may touch in this one: apart from
    /// their common way, no vertex is farther than the margin from where it was then.
    fn pairs_hold(&self) -> bool {
        let limit = self.margin * self.margin;
        let is_near = |x: &[V3]| {
            let common: V3 = x.iter().zip(&self.seen).map(|(x, seen)| x - seen).sum::<V3>() / x.len() as f64;
            x.iter().zip(&self.seen).all(|(x, seen)| (x - seen - common).norm_squared() <= limit)
        };
        self.is_listed && is_near(&self.ends) && is_near(&self.starts)
    }

    /// Finds the pairs that may touch on the way, or after displacements of up to the margin.
    fn find_pairs(&mut self) {
        self.seen.copy_from_slice(&self.ends);
        self.is_listed = true;
        let (starts, ends, margin) = (&self.starts, &self.ends, self.margin);
        let swept = |strand: &Strand| {
            let [a, b] = strand.vertices.map(|v| v as usize);
            BoundingBox::of(&[starts[a], starts[b], ends[a], ends[b]]).grown(strand.radius + margin)
        };
        let (cells, strands, pairs) = (&mut self.cells, &self.strands, &mut self.pairs);
        cells.fill(strands.iter().map(|strand| Some(swept(strand))));
        pairs.clear();
        for (number, strand) in strands.iter().enumerate() {
            let wanted = |other: usize| number < other && strand.may_touch(&strands[other]);
            cells.near(&swept(strand), wanted, |other| {
                let ([a, b], [c, d]) = (strand.vertices, strands[other].vertices);
                pairs.push(Pair::new(Kind::EdgeEdge, [a, b, c, d], strand.radius + strands[other].radius));
            });
        }
        // In an order that does not depend on when they were found.
        pairs.sort_unstable_by_key(|pair| pair.vertices);
    }

    /// Finds the places of the pairs that have moved since the last time; the number of pairs that come too near.
    fn find_places(&mut self) -> usize {
        let (starts, ends, has_moved, zones) = (&self.starts, &self.ends, &self.has_moved, &self.zones);
        let has_zones = self.has_zones;
        let is_free = |vertex: &u32| self.inverse_masses[*vertex as usize] > 0.0;
        self.pairs.par_iter_mut().with_min_len(GRAIN).for_each(|pair| {
            let moves_rigidly =
                || has_zones && pair.vertices.iter().all(is_free) && zones.are_one(&pair.vertices);
            if !pair.vertices.iter().any(|v| has_moved[*v as usize]) || moves_rigidly() {
                pair.forget();
            } else {
                pair.find(starts, ends);
            }
        });
        self.has_moved.fill(false);
        self.pairs.iter().filter(|pair| !pair.places().is_empty()).count()
    }

    /// A round of impulses at the places that were found now and before.
    fn push_apart(&mut self) {
        for pair in &self.pairs {
            for place in pair.places() {
                let contact = Contact::new(pair.vertices, place, pair.least, &self.inverse_masses);
                self.contacts.push(contact);
            }
        }
        push_apart(&mut self.contacts, &self.inverse_masses, &mut self.ends);
        for contact in &self.contacts {
            contact.vertices.iter().for_each(|v| self.has_moved[*v as usize] = true);
        }
        self.look_again();
    }

    /// Looks for pairs again if impulses have taken vertices out of the boxes in which they were looked for.
    fn look_again(&mut self) {
        if !self.pairs_hold() {
            self.find_pairs();
        }
    }

    /// Gives the velocities the impulses that changed the ends.
    fn add_impulses(&mut self, substep: f64) {
        let moved = self.ends.iter().zip(&self.own_ends);
        for (velocity, (end, own)) in self.velocities.iter_mut().zip(moved) {
            *velocity += (end - own) / substep;
        }
        for contact in &self.contacts {
            for (v, pushed) in contact.pushes() {
                if self.inverse_masses[v] == 0.0 {
                    self.on_held[v] += pushed / substep;
                }
            }
        }
    }

    /// Joins what still comes too near on the way to rigid zones, until nothing does. Returns the number of
    /// their vertices, and of the pairs that are left because pins hold them.
    fn move_rigidly(&mut self) -> (usize, usize) {
        self.pushed.copy_from_slice(&self.ends);
        self.pushed_velocities.copy_from_slice(&self.velocities);
        self.zones.begin(self.starts.len());
        self.has_zones = true;
        let left = loop {
            self.has_moved.fill(true);
            self.find_places();
            let through = self.pairs.iter().filter(|pair| pair.is_through);
            let mut joined = false;
            let mut left = 0;
            for pair in through {
                joined |= self.zones.join(pair.vertices);
                left += 1;
            }
            if !joined {
                break left;
            }
            self.zones.list();
            self.ends.copy_from_slice(&self.pushed);
            self.zones.move_rigidly(&self.inverse_masses, &self.starts, &mut self.ends);
            self.look_again();
        };
        self.zones.set_velocities(&self.inverse_masses, &self.ends, &mut self.velocities);
        let own = (&self.pushed[..], &self.pushed_velocities[..]);
        self.zones.keep_angular_momentum(&self.inverse_masses, own, &self.ends, &mut self.velocities);
        let rigid = self.zones.vertices();
        self.has_zones = false;
        self.add_impulses_on_held_zones();
        (rigid, left)
    }

    /// What holds a vertex of a zone gives the zone the momentum that it has beyond that of the impulses.
    fn add_impulses_on_held_zones(&mut self) {
        for zone in self.zones.iter() {
            let Some(held) = zone.clone().find(|v| self.inverse_masses[*v] == 0.0) else { continue };
            let gained = |v: usize| (self.velocities[v] - self.pushed_velocities[v]) / self.inverse_masses[v];
            let free = zone.filter(|v| self.inverse_masses[*v] > 0.0);
            self.on_held[held] -= free.map(gained).sum::<V3>();
        }
    }
}
