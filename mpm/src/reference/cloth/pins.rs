//! Pins: impulses that make the grid move with the held vertices, and the exact positions of these
//! vertices.

use super::{Grid, ReferenceCloth};
use nalgebra::Vector3;

/// Sweeps over the pins. A residual (pins within a cell of each other share nodes) does not affect
/// the vertex itself, whose position is set.
const PIN_SWEEPS: usize = 8;

impl ReferenceCloth {
    /// Applies the impulses that give the grid the pins' velocities at the pins, in a substep of
    /// `substep` \[s\] from `time` \[s\].
    ///
    /// A pin that only set its vertex's position would carry only that vertex's mass: the pull of a
    /// face on it acts on the same nodes as the opposite force on its neighbours. So the pin is a
    /// constraint on the grid's velocity, sum_i w_ip v_i = v_pin, satisfied by an impulse
    /// distributed with w_ip: v_i += w_ip J / m_i with J = (v_pin - sum w v) / sum (w^2 / m).
    pub(in crate::reference) fn apply_pins_to_grid(&mut self, grid: &mut Grid, time: f64, substep: f64) {
        self.support_impulse = Vector3::zeros();
        for _ in 0..PIN_SWEEPS {
            for pin in self.pins.iter().filter(|pin| pin.holds(time)) {
                let held = &self.vertices[pin.vertex()];
                let velocity = (pin.position(time + substep) - held.position) / substep;
                let (mut missing, mut mobility) = (velocity, 0.0);
                // A node at the edge of its stencil has no mass if no other particle reaches it.
                let reached = |grid: &Grid, node: usize| grid.nodes()[node].mass > 0.0;
                for (node, weight, _) in grid.stencil(&held.position).filter(|s| reached(grid, s.0)) {
                    missing -= weight * grid.nodes()[node].velocity;
                    mobility += weight * weight / grid.nodes()[node].mass;
                }
                let impulse = missing / mobility;
                self.support_impulse += impulse;
                for (node, weight, _) in grid.stencil(&held.position) {
                    let node = &mut grid.nodes_mut()[node];
                    if node.mass > 0.0 {
                        node.velocity += impulse * (weight / node.mass);
                    }
                }
            }
        }
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
