//! Pins of a sheet.

use super::{Grid, ReferenceCloth};
use crate::reference::pins;

impl ReferenceCloth {
    /// Applies the impulses that give the grid the pins' velocities at the pins, in a substep of
    /// `substep` \[s\] from `time` \[s\].
    pub(in crate::reference) fn apply_pins_to_grid(&mut self, grid: &mut Grid, time: f64, substep: f64) {
        let position = |vertex: usize| self.vertices[vertex].position;
        self.support_impulse = pins::apply_to_grid(&self.pins, position, grid, time, substep);
    }

    /// Gives held vertices the velocities that take them to the next positions of their pins, and
    /// finds the vertices that are free.
    pub(super) fn apply_pins_to_vertices(&mut self, time: f64, substep: f64) {
        for (inverse, p) in self.inverse_masses.iter_mut().zip(&self.vertices) {
            *inverse = 1.0 / p.mass;
        }
        for pin in self.pins.iter().filter(|pin| pin.holds(time)) {
            let held = &mut self.vertices[pin.vertex()];
            let velocity = (pin.position(time + substep) - held.position) / substep;
            self.support_impulse += held.mass * (velocity - held.velocity);
            held.velocity = velocity;
            self.inverse_masses[pin.vertex()] = 0.0;
        }
    }
}
