//! The plain, serial f64 MPM: the oracle for the fast paths. Written to be read, never optimised.
//!
//! MLS-MPM (Hu et al. 2018) with APIC transfers (Jiang et al. 2015) on quadratic B-splines, and
//! explicit symplectic Euler. One substep is [`ReferenceMpm::particles_to_grid`],
//! [`Grid::free_motion`], boundary conditions or contact on the nodes, and
//! [`ReferenceMpm::grid_to_particles`]; each is public so that another path can be compared step by
//! step. Cloth ([`ReferenceCloth`]) and ropes ([`ReferenceRope`]) are in the same grid; where they are pinned,
//! [`ReferenceMpm::apply_pins`] comes before boundary conditions and contact. Positions are world
//! coordinates \[m\]; node (i, j, k) is at h (i, j, k).

mod cloth;
mod error;
mod grid;
mod particle;
mod pins;
mod rope;
mod totals;

pub use crate::cloth::ClothError;
pub use cloth::{ClothFace, ClothParticle, ReferenceCloth};
pub use error::ReferenceError;
pub use grid::{Grid, Node};
pub use particle::{BodyForce, ReferenceParticle};
pub use rope::ReferenceRope;
pub use totals::ReferenceTotals;

use crate::bspline::INVERSE_SECOND_MOMENT;
use crate::cloth::{ClothMaterial, ClothMesh, Pin};
use crate::constitutive::{AnyModel, Constitutive};
use crate::detail;
use crate::material::Material;
use crate::rope::contact::StrandContact;
use crate::rope::{Rope, RopeError};
use crate::stable_step::LastSubstep;
use nalgebra::{Matrix3, Vector3};

/// Particles, materials and settings of the reference.
pub struct ReferenceMpm {
    /// Grid spacing h \[m\].
    pub grid_spacing: f64,
    /// Gravity \[m/s^2\].
    pub gravity: Vector3<f64>,
    /// Time \[s\], advanced by each substep.
    pub time: f64,
    /// The material points.
    pub particles: Vec<ReferenceParticle>,
    /// Sheets of cloth, see [`Self::add_cloth`].
    pub cloths: Vec<ReferenceCloth>,
    /// Ropes, see [`Self::add_rope`].
    pub ropes: Vec<ReferenceRope>,
    /// Acceleration applied to particles, e.g. the source of a manufactured solution.
    pub body_force: Option<BodyForce>,
    /// Rates of mass-proportional damping, by material, then by sheet of cloth and by rope; those that are
    /// left out are zero \[1/s\].
    pub mass_damping: Vec<f64>,
    materials: Vec<Material>,
    models: Vec<AnyModel<f64>>,
    /// Length of the last substep; zero at the start \[s\].
    last_substep: LastSubstep,
    strands: Option<StrandContact>,
}

impl ReferenceMpm {
    /// Checks materials, particles' material indices and the grid spacing \[m\]; gravity in m/s^2.
    ///
    /// # Errors
    /// The first of them that is out of range.
    pub fn new(
        grid_spacing: f64,
        gravity: Vector3<f64>,
        materials: Vec<Material>,
        particles: Vec<ReferenceParticle>,
    ) -> Result<Self, ReferenceError> {
        if !(grid_spacing > 0.0 && grid_spacing.is_finite()) {
            return Err(ReferenceError::GridSpacing(grid_spacing));
        }
        for (index, material) in materials.iter().enumerate() {
            material.validate().map_err(|source| ReferenceError::Material { index, source })?;
        }
        let count = materials.len();
        if let Some((particle, p)) = particles.iter().enumerate().find(|(_, p)| p.material >= count) {
            return Err(ReferenceError::NoSuchMaterial { particle, material: p.material, count });
        }
        let models = materials.iter().map(|m| AnyModel::new(&m.model)).collect();
        Ok(Self {
            grid_spacing,
            gravity,
            time: 0.0,
            particles,
            cloths: Vec::new(),
            ropes: Vec::new(),
            strands: None,
            body_force: None,
            mass_damping: Vec::new(),
            materials,
            models,
            last_substep: LastSubstep::default(),
        })
    }

    /// The materials, in the order that [`ReferenceParticle::material`] counts.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// Kirchhoff stress of a particle \[Pa\].
    pub fn kirchhoff_stress(&self, particle: &ReferenceParticle) -> Matrix3<f64> {
        let model = &self.models[particle.material];
        model.update(particle.deformation_gradient.into(), particle.state, 0.0).kirchhoff_stress.into()
    }

    /// Scatters mass and momentum, including the impulse of body forces over `substep` \[s\] and of internal forces
    /// over a time k, which is the same where the last substep was as long ([`LastSubstep::kick`]):
    /// (m v)_i = sum_p w_ip [m_p (v_p + substep b + C_p (x_i - x_p)) - k V_p (4/h^2) tau_p (x_i - x_p)].
    ///
    /// # Errors
    /// [`ReferenceError::OutsideGrid`].
    pub fn particles_to_grid(&self, substep: f64) -> Result<Grid, ReferenceError> {
        let h = self.grid_spacing;
        let of_cloths = self.cloths.iter().flat_map(|cloth| cloth.particles().map(|p| &p.position));
        let of_ropes = self.ropes.iter().flat_map(|rope| rope.vertices.iter().map(|p| &p.position));
        let all = self.particles.iter().map(|p| &p.position).chain(of_cloths).chain(of_ropes);
        let mut grid = Grid::around(h, all)?;
        let kick = self.last_substep.kick(substep);
        for p in &self.particles {
            let stress = self.kirchhoff_stress(p);
            let internal = stress * (-kick * p.volume * INVERSE_SECOND_MOMENT / (h * h));
            let body = self.body_force.as_ref().map_or_else(Vector3::zeros, |b| b(&p.position, self.time));
            let momentum = p.mass * (p.velocity + substep * body);
            let gradient = p.mass * p.affine + internal;
            let keeps = detail::has_subgrid_motion(&self.materials[p.material]);
            for (node, weight, offset) in grid.stencil(&p.position) {
                let target = &mut grid.nodes_mut()[node];
                target.mass += weight * p.mass;
                target.momentum += weight * (momentum + gradient * offset);
                if keeps {
                    target.granular_mass += weight * p.mass;
                    target.granular_momentum += weight * p.mass * (p.velocity + p.affine * offset);
                }
            }
        }
        for cloth in &self.cloths {
            cloth.particles_to_grid(&mut grid, [kick, substep], self.time, self.body_force.as_ref());
        }
        for rope in &self.ropes {
            rope.particles_to_grid(&mut grid, [kick, substep], self.time, self.body_force.as_ref());
        }
        Ok(grid)
    }

    /// Adds a rope, and returns its index in [`Self::ropes`]. To be called at time 0: the pins' paths begin
    /// there.
    ///
    /// # Errors
    /// What is wrong with it ([`Rope::check`]).
    pub fn add_rope(&mut self, rope: &Rope) -> Result<usize, RopeError> {
        self.ropes.push(ReferenceRope::new(rope, self.grid_spacing)?);
        let sources: Vec<Rope> = self.ropes.iter().map(|rope| rope.source().clone()).collect();
        self.strands = Some(StrandContact::new(&sources, self.grid_spacing));
        Ok(self.ropes.len() - 1)
    }

    /// Adds a sheet of cloth at rest, see [`ReferenceCloth::new`], and returns its index in
    /// [`Self::cloths`]. To be called at time 0: the pins' paths begin there.
    ///
    /// # Errors
    /// A face that does not fit the grid, or a value out of range.
    pub fn add_cloth(
        &mut self,
        mesh: ClothMesh,
        material: ClothMaterial,
        pins: Vec<Pin>,
    ) -> Result<usize, ClothError> {
        self.cloths.push(ReferenceCloth::new(mesh, material, pins, self.grid_spacing)?);
        Ok(self.cloths.len() - 1)
    }

    /// Applies the pins of cloth and ropes to the grid's velocities, to be called after its free motion.
    pub fn apply_pins(&mut self, grid: &mut Grid, substep: f64) {
        for cloth in &mut self.cloths {
            cloth.apply_pins_to_grid(grid, self.time, substep);
        }
        for rope in &mut self.ropes {
            rope.apply_pins_to_grid(grid, self.time, substep);
        }
    }

    /// Gathers velocity and affine field, advances deformation gradients and positions by `substep`
    /// seconds, then maps each deformation gradient back to its yield surface: v = sum_i w_ip v_i;
    /// C = (4/h^2) sum_i w_ip v_i (x_i - x_p)^T; F <- (I + substep C) F; x <- x + substep v.
    pub fn grid_to_particles(&mut self, grid: &Grid, substep: f64) {
        let inverse_moment = INVERSE_SECOND_MOMENT / (self.grid_spacing * self.grid_spacing);
        let kept = detail::subgrid_retention(self.gravity.norm(), self.grid_spacing, substep);
        for p in &mut self.particles {
            let (velocity, affine) = (p.velocity, p.affine);
            p.velocity = Vector3::zeros();
            p.affine = Matrix3::zeros();
            let (mut carried, mut carried_affine) = (Vector3::zeros(), Matrix3::zeros());
            for (node, weight, offset) in grid.stencil(&p.position) {
                let node = &grid.nodes()[node];
                p.velocity += weight * node.velocity;
                p.affine += weight * inverse_moment * node.velocity * offset.transpose();
                let before = node.granular_velocity();
                carried += weight * before;
                carried_affine += weight * inverse_moment * before * offset.transpose();
            }
            let trial = (Matrix3::identity() + substep * p.affine) * p.deformation_gradient;
            let response = self.models[p.material].update(trial.into(), p.state, substep);
            p.deformation_gradient = response.deformation_gradient.into();
            p.state = response.state;
            p.position += substep * p.velocity;
            if detail::has_subgrid_motion(&self.materials[p.material]) {
                p.velocity += kept * (velocity - carried);
                p.affine += kept * (affine - carried_affine);
            }
        }
        for cloth in &mut self.cloths {
            cloth.grid_to_particles(grid, self.time, substep, self.gravity);
        }
        let kick = self.last_substep.kick(substep);
        let starts: Vec<Vector3<f64>> = self.ropes.iter().flat_map(ReferenceRope::positions).collect();
        for rope in &mut self.ropes {
            rope.grid_to_particles(grid, self.time, substep);
        }
        self.keep_strands_apart(starts, substep);
        for rope in &mut self.ropes {
            rope.turn_segments(self.time, [kick, substep]);
        }
        self.last_substep =
            LastSubstep { length: substep, gravity: self.gravity, count: self.last_substep.count + 1 };
        self.damp_velocities(substep);
    }

    /// Keeps the strands of all ropes apart in a substep of `substep` \[s\] from `starts` \[m\]; pins take the
    /// impulses on held vertices.
    fn keep_strands_apart(&mut self, starts: Vec<Vector3<f64>>, substep: f64) {
        let Some(contact) = &mut self.strands else { return };
        let vertices = || self.ropes.iter().flat_map(|rope| &rope.vertices);
        contact.starts = starts;
        contact.ends = vertices().map(|p| p.position).collect();
        contact.velocities = vertices().map(|p| p.velocity).collect();
        contact.inverse_masses = self.ropes.iter().flat_map(|rope| rope.inverse_masses(self.time)).collect();
        contact.keep_apart(substep);
        let moved = contact.ends.iter().zip(&contact.velocities).zip(&contact.on_held);
        let mut moved = moved.map(|((end, velocity), on_held)| (*end, *velocity, *on_held));
        for rope in &mut self.ropes {
            let count = rope.vertices.len();
            rope.set_contact(moved.by_ref().take(count));
        }
    }

    /// Mass-proportional damping after a substep of `substep` \[s\]: a force -alpha m v on every
    /// particle, by its exact factor exp(-alpha substep).
    fn damp_velocities(&mut self, substep: f64) {
        let rate = |material: usize| self.mass_damping.get(material).copied().unwrap_or(0.0);
        let of_sheets: Vec<f64> =
            (0..self.cloths.len()).map(|sheet| rate(self.materials.len() + sheet)).collect();
        let of_particles: Vec<f64> = self.particles.iter().map(|p| rate(p.material)).collect();
        for (p, rate) in self.particles.iter_mut().zip(of_particles) {
            let kept = (-rate * substep).exp();
            (p.velocity, p.affine) = (p.velocity * kept, p.affine * kept);
        }
        for (cloth, rate) in self.cloths.iter_mut().zip(of_sheets) {
            let kept = (-rate * substep).exp();
            for p in cloth.vertices.iter_mut().chain(&mut cloth.centroids) {
                (p.velocity, p.affine) = (p.velocity * kept, p.affine * kept);
            }
        }
        let first = self.materials.len() + self.cloths.len();
        let of_ropes: Vec<f64> = (0..self.ropes.len()).map(|rope| rate(first + rope)).collect();
        for (rope, rate) in self.ropes.iter_mut().zip(of_ropes) {
            rope.keep_velocities((-rate * substep).exp());
        }
    }

    /// One substep of `substep` seconds. `condition(position, mass, velocity)` is called for every
    /// node with mass, after its free motion and the pins of cloth, and may change the velocity:
    /// boundary conditions, contact, damping.
    ///
    /// # Errors
    /// [`ReferenceError::OutsideGrid`]; the particles are then unchanged.
    pub fn substep(
        &mut self,
        substep: f64,
        condition: impl FnMut(&Vector3<f64>, f64, &mut Vector3<f64>),
    ) -> Result<(), ReferenceError> {
        let mut grid = self.particles_to_grid(substep)?;
        grid.free_motion(substep, &self.gravity);
        self.apply_pins(&mut grid, substep);
        grid.apply(condition);
        self.grid_to_particles(&grid, substep);
        self.time += substep;
        Ok(())
    }

    /// Mass, momenta and energies of all particles, those of cloth and ropes included.
    pub fn totals(&self) -> ReferenceTotals {
        let energy = |p: &ReferenceParticle| {
            let model = &self.models[p.material];
            p.volume * model.energy_density(&p.deformation_gradient.into(), p.state)
        };
        let of_particles = ReferenceTotals::of_particles(&self.particles, self.grid_spacing, energy);
        let of_cloths = self.cloths.iter().map(|cloth| cloth.totals(self.grid_spacing));
        let of_ropes = self.ropes.iter().map(|rope| rope.totals(self.grid_spacing));
        ReferenceTotals::sum(core::iter::once(of_particles).chain(of_cloths).chain(of_ropes))
    }
}
