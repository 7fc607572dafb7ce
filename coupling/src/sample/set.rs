//! Particle sets of filled solids.

use nalgebra::{Isometry3, Vector3};

use super::{Density, ParticleSample, SampleError, SamplingSolid, sample};
use crate::settings::{MaterialId, ParticleSet};

impl ParticleSample {
    /// The particles at rest, of a material.
    pub fn at_rest(self, material: MaterialId) -> ParticleSet {
        let count = self.positions.len();
        ParticleSet {
            velocities: vec![Vector3::zeros(); count],
            volumes: vec![self.particle_volume; count],
            positions: self.positions,
            material,
        }
    }
}

impl ParticleSet {
    /// A solid (a [`Shape`](pliant_rigid::Shape) or the inside of a closed mesh) at a pose (its
    /// frame to the world), filled at rest with particles about `spacing` \[m\] apart. Half of the
    /// grid spacing is usual. Their volumes add up to that of the solid.
    ///
    /// # Errors
    /// As [`sample`].
    pub fn filling(
        solid: impl Into<SamplingSolid>,
        pose: &Isometry3<f64>,
        spacing: f64,
        material: MaterialId,
    ) -> Result<Self, SampleError> {
        Ok(sample(&solid.into(), pose, Density::Spacing(spacing), None)?.at_rest(material))
    }

    /// The same with one velocity \[m/s\] of all particles.
    pub fn moving(self, velocity: Vector3<f64>) -> Self {
        Self { velocities: vec![velocity; self.positions.len()], ..self }
    }
}
