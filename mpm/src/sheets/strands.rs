//! Contact between strands of ropes on the arrays of the fast path ([`crate::rope::contact`]).

use nalgebra::Vector3;

use super::arrays::Vertices;
use super::pins::PinImpulse;
use super::rope_positions::RopePositions;
use crate::rope::contact::StrandContact;
use crate::rope::{Rope, StrandReport};

/// Contact between strands.
#[derive(Clone, Debug)]
pub(super) struct Strands {
    contact: StrandContact,
    /// Number of the first vertex of a rope among those of all sheets and ropes.
    first: usize,
    /// Whether strands are kept apart.
    pub is_on: bool,
    /// What the last substep came to.
    pub report: StrandReport,
}

impl Strands {
    pub fn new(ropes: &[Rope], first: usize, grid_spacing: f64) -> Self {
        let contact = StrandContact::new(ropes, grid_spacing);
        Self { contact, first, is_on: true, report: StrandReport::default() }
    }

    /// The vertices were put elsewhere.
    pub fn forget(&mut self) {
        self.contact.forget();
        self.report = StrandReport::default();
    }

    fn is_idle(&self) -> bool {
        !self.is_on || self.contact.starts.is_empty()
    }

    /// Begins a substep with the vertices as they are; `grid` has the grid's origin and spacing \[m\].
    pub fn begin(&mut self, positions: &RopePositions, grid: (Vector3<f64>, f64)) {
        if !self.is_idle() {
            let starts = self.contact.starts.iter_mut().enumerate();
            starts.for_each(|(k, start)| *start = positions.place_of(k, grid));
        }
    }

    /// Keeps the strands apart at the end of a substep of `substep` \[s\]; pins take the impulses on held
    /// vertices.
    pub fn keep_apart(
        &mut self,
        (positions, vertices): (&mut RopePositions, &mut Vertices),
        applied: &mut PinImpulse,
        substep: f64,
        grid: (Vector3<f64>, f64),
    ) {
        self.report = StrandReport::default();
        if self.is_idle() {
            return;
        }
        let contact = &mut self.contact;
        let count = contact.starts.len();
        for k in 0..count {
            contact.ends[k] = positions.place_of(k, grid);
            let velocity = vertices.velocities[self.first + k];
            contact.velocities[k] = velocity.vector();
            contact.inverse_masses[k] = f64::from(velocity.0[3]);
        }
        self.report = contact.keep_apart(substep);
        for k in (0..count).filter(|k| contact.is_changed(*k)) {
            positions.cells[k] = (contact.ends[k] - grid.0) / grid.1;
            for d in 0..3 {
                vertices.velocities[self.first + k].0[d] = contact.velocities[k][d] as f32;
            }
        }
        for (k, impulse) in contact.on_held.iter().enumerate() {
            if *impulse != Vector3::zeros() {
                applied.add(&contact.starts[k], &-impulse, &contact.velocities[k]);
            }
        }
    }

    pub fn memory(&self) -> usize {
        self.contact.memory()
    }
}
