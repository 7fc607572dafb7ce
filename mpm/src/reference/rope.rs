//! Ropes in the reference's grid, see [`crate::rope`] for the method and its sources.
//!
//! Within a substep: vertices scatter mass, momentum and the impulse of the elastic forces; pins act on the
//! grid; vertices gather and move; strands that would pass through each other are kept apart; the torques turn
//! the segments, whose frames follow the line, and the couples that turn their spins act back on the vertices.

use super::cloth::ClothParticle;
use super::grid::Grid;
use super::particle::BodyForce;
use super::pins;
use super::totals::ReferenceTotals;
use crate::rope::{Rod, RodForces, RodFrames, Rope, RopeError, RopeStability};
use nalgebra::{Matrix3, Vector3};

/// A rope with its state.
#[derive(Clone, Debug)]
pub struct ReferenceRope {
    /// Its vertices' particles.
    pub vertices: Vec<ClothParticle>,
    /// Its segments' frames and spins.
    pub frames: RodFrames,
    source: Rope,
    rod: Rod,
    stability: RopeStability,
    /// Impulse \[N s\] of the pins in the last substep, and angular impulse of the twist pins \[N m s\].
    support: [Vector3<f64>; 2],
}

impl ReferenceRope {
    /// A rope in a grid of spacing `grid_spacing` \[m\].
    ///
    /// # Errors
    /// What is wrong with it ([`Rope::check`]).
    pub fn new(rope: &Rope, grid_spacing: f64) -> Result<Self, RopeError> {
        rope.check(grid_spacing)?;
        let (rod, frames) = Rod::new(rope);
        let vertex = |(position, mass): (&Vector3<f64>, &f64)| ClothParticle {
            position: *position,
            velocity: rope.velocity,
            affine: Matrix3::zeros(),
            mass: *mass,
        };
        Ok(Self {
            vertices: rope.vertices.iter().zip(&rod.masses).map(vertex).collect(),
            frames,
            source: rope.clone(),
            stability: RopeStability::new(rope, grid_spacing),
            rod,
            support: [Vector3::zeros(); 2],
        })
    }

    /// Its mechanics.
    pub fn rod(&self) -> &Rod {
        &self.rod
    }

    /// Largest substep in its present state for particles that move at up to `max_speed` \[m/s\] \[s\].
    pub fn largest_substep(&self, max_speed: f64) -> f64 {
        self.stability.largest_substep(&self.rod.state(&self.frames), max_speed)
    }

    /// Impulse of the pins on the rope and on other particles at its nodes in the last substep \[N s\], and
    /// the angular impulse of the twist pins \[N m s\].
    pub fn support(&self) -> [Vector3<f64>; 2] {
        self.support
    }

    /// Sets velocities from `field`(position in m) -> (velocity in m/s, its gradient in 1/s); spins are left.
    pub fn set_velocity(&mut self, mut field: impl FnMut(&Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>)) {
        for p in &mut self.vertices {
            (p.velocity, p.affine) = field(&p.position);
        }
    }

    /// Positions of its vertices \[m\].
    pub fn positions(&self) -> Vec<Vector3<f64>> {
        self.vertices.iter().map(|p| p.position).collect()
    }

    /// Adds mass and momentum, with the impulse of elastic forces over `kick` and of body forces over `substep` \[s\],
    /// to the grid.
    pub(super) fn particles_to_grid(
        &self,
        grid: &mut Grid,
        [kick, substep]: [f64; 2],
        time: f64,
        body_force: Option<&BodyForce>,
    ) {
        let forces = self.rod.forces(&self.frames).on_vertices;
        for (p, force) in self.vertices.iter().zip(forces) {
            let body = body_force.map_or_else(Vector3::zeros, |b| p.mass * b(&p.position, time));
            p.scatter(grid, kick * force + substep * body, Matrix3::zeros());
        }
    }

    /// Applies its pins to the grid in a substep of `substep` from `time` on \[s\].
    pub(super) fn apply_pins_to_grid(&mut self, grid: &mut Grid, time: f64, substep: f64) {
        let position = |vertex: usize| self.vertices[vertex].position;
        let impulse = pins::apply_to_grid(&self.source.pins, position, grid, time, substep);
        self.support = [impulse, Vector3::zeros()];
    }

    /// As it was given.
    pub(super) fn source(&self) -> &Rope {
        &self.source
    }

    /// 1 / mass of the vertices; 0 of those that pins hold at `time` \[s\] \[1/kg\].
    pub(super) fn inverse_masses(&self, time: f64) -> Vec<f64> {
        let mut inverse_masses: Vec<f64> = self.vertices.iter().map(|p| 1.0 / p.mass).collect();
        for pin in self.source.pins.iter().filter(|pin| pin.holds(time)) {
            inverse_masses[pin.vertex()] = 0.0;
        }
        inverse_masses
    }

    /// Gathers, and moves by `substep` \[s\] from `time` \[s\] on.
    pub(super) fn grid_to_particles(&mut self, grid: &Grid, time: f64, substep: f64) {
        for p in &mut self.vertices {
            p.gather(grid);
        }
        for pin in self.source.pins.iter().filter(|pin| pin.holds(time)) {
            let held = &mut self.vertices[pin.vertex()];
            let velocity = (pin.position(time + substep) - held.position) / substep;
            self.support[0] += held.mass * (velocity - held.velocity);
            held.velocity = velocity;
        }
        for p in &mut self.vertices {
            p.position += substep * p.velocity;
        }
    }

    /// Where contact between strands takes its vertices: position \[m\], velocity \[m/s\], and the impulse on
    /// held ones \[N s\].
    pub(super) fn set_contact(
        &mut self,
        moved: impl Iterator<Item = (Vector3<f64>, Vector3<f64>, Vector3<f64>)>,
    ) {
        for (p, (position, velocity, on_held)) in self.vertices.iter_mut().zip(moved) {
            (p.position, p.velocity) = (position, velocity);
            self.support[0] -= on_held;
        }
    }

    /// Turns the segments over `substep` \[s\] from `time` \[s\] on, after torques of a time of `kick` \[s\], and takes
    /// their frames to the vertices.
    pub(super) fn turn_segments(&mut self, time: f64, [kick, substep]: [f64; 2]) {
        let RodForces { torques, .. } = self.rod.forces(&self.frames);
        let inverse_masses = self.inverse_masses(time);
        self.turn(&torques, time, [kick, substep]);
        let positions = self.positions();
        let impulses = self.rod.carry(&mut self.frames, &positions, substep);
        for ((p, impulse), inverse_mass) in self.vertices.iter_mut().zip(impulses).zip(inverse_masses) {
            p.velocity += impulse * inverse_mass;
            if inverse_mass == 0.0 {
                self.support[0] -= impulse;
            }
            p.damp(self.source.material.damping);
        }
    }

    /// Gives the spins the impulses of the torques \[N m\] and of the twist pins.
    fn turn(&mut self, torques: &[f64], time: f64, [kick, substep]: [f64; 2]) {
        for ((segment, torque), rest) in self.frames.segments.iter_mut().zip(torques).zip(&self.rod.segments)
        {
            segment.spin += kick * torque / rest.inertia;
        }
        for pin in &self.source.twist_pins {
            if let Some(spin) = pin.spin(time, substep) {
                let segment = &mut self.frames.segments[pin.segment()];
                let inertia = self.rod.segments[pin.segment()].inertia;
                self.support[1] += segment.tangent * (inertia * (spin - segment.spin));
                segment.spin = spin;
            }
        }
    }

    /// Multiplies all velocities and spins by `kept`.
    pub(super) fn keep_velocities(&mut self, kept: f64) {
        for p in &mut self.vertices {
            (p.velocity, p.affine) = (p.velocity * kept, p.affine * kept);
        }
        self.frames.segments.iter_mut().for_each(|segment| segment.spin *= kept);
    }

    /// Mass, momenta and energies, those of the spins included.
    pub fn totals(&self, grid_spacing: f64) -> ReferenceTotals {
        let points = self
            .vertices
            .iter()
            .map(|p| ReferenceTotals::of_point(p.mass, &p.position, &p.velocity, &p.affine, grid_spacing));
        ReferenceTotals::sum(points.chain([ReferenceTotals {
            angular_momentum: self.rod.spin_momentum(&self.frames),
            kinetic_energy: self.rod.spin_energy(&self.frames),
            elastic_energy: self.rod.elastic_energy(&self.frames),
            ..ReferenceTotals::default()
        }]))
    }
}
