//! What of a world can change between steps, besides its bodies: the pins of cloth, and particles.

use nalgebra::Vector3;
use pliant_mpm::ParticleRecord;

use crate::error::ChangeError;
use crate::world::World;

/// Where a particle is, to the bit.
fn place(particle: &ParticleRecord) -> ([i32; 3], [[u32; 3]; 2]) {
    (particle.block, [particle.position, particle.position_low].map(|part| part.map(f32::to_bits)))
}

impl World {
    /// Holds a vertex of a sheet of [`cloths`](Self::cloths), or of a rope of [`ropes`](Self::ropes), numbered
    /// after them, and moves it on a line from where it is
    /// to `to` (m, world frame) within a time \[s\]. It is held there until it is moved again or
    /// released; a pin that holds it already is replaced. The work of pins is part of the balance of
    /// energy. Particles on a device are fetched and handed over again.
    ///
    /// # Errors
    /// [`ChangeError`]: a world that failed, no such sheet or vertex, a time that is not finite and
    /// positive, a place that is not finite; nothing is changed then.
    pub fn move_pin(
        &mut self,
        sheet: usize,
        vertex: usize,
        to: &Vector3<f64>,
        within: f64,
    ) -> Result<(), ChangeError> {
        self.fetch_particles()?;
        self.mpm.move_pin(sheet, vertex, self.time, to, within)?;
        self.hand_over_particles()
    }

    /// Releases a vertex of a sheet or rope; one that is not held stays as it is.
    ///
    /// # Errors
    /// [`ChangeError`]: a world that failed, no such sheet or vertex.
    pub fn release_pin(&mut self, sheet: usize, vertex: usize) -> Result<(), ChangeError> {
        self.fetch_particles()?;
        self.mpm.release_pin(sheet, vertex, self.time)?;
        self.hand_over_particles()
    }

    /// Takes other states of the particles, those of all, as
    /// [`Mpm::set_particles`](pliant_mpm::Mpm::set_particles).
    /// The balances of momentum and energy count the difference as impulse and work from outside. The
    /// contacts of particles that are moved are forgotten. Particles on a device are fetched and handed
    /// over again.
    ///
    /// # Errors
    /// [`ChangeError`]: a world that failed, particles that are missing, doubled, out of the grid's
    /// reach or of an unknown material; nothing is changed then.
    pub fn set_particles(&mut self, particles: &[ParticleRecord]) -> Result<(), ChangeError> {
        self.fetch_particles()?;
        let mut left = vec![None; self.mpm.len()];
        self.mpm.stored_particles().for_each(|p| left[p.id as usize] = Some(place(&p)));
        let mut scratch = Vec::new();
        let before = self.mpm.totals(&mut scratch);
        self.mpm.set_particles(particles)?;
        self.balance_tracker.set_particles(&before, &self.mpm.totals(&mut scratch));
        let mut cache = self.contact.memory();
        let mut moved = vec![false; left.len()];
        particles.iter().for_each(|p| moved[p.id as usize] = left[p.id as usize] != Some(place(p)));
        cache.contacts.retain(|contact| !moved[contact.particle as usize]);
        self.contact.restore(cache).map_err(|reason| ChangeError::Cache { reason })?;
        self.hand_over_particles()
    }

    /// Particles and contacts of a device, to be changed.
    fn fetch_particles(&mut self) -> Result<(), ChangeError> {
        // Handing particles over would make a world that failed look whole.
        if let Some(cause) = &self.failure {
            return Err(ChangeError::Failed { cause: cause.clone() });
        }
        if self.backend.is_host() {
            return Ok(());
        }
        self.refresh()?;
        let cache = self.contact_cache_state()?;
        self.contact.restore(cache).map_err(|reason| ChangeError::Cache { reason })
    }

    /// Gives them back.
    fn hand_over_particles(&mut self) -> Result<(), ChangeError> {
        let taken = self.backend.load(&self.mpm, &self.contact);
        // The device may have lost what it had.
        self.failure = taken.as_ref().err().map(ToString::to_string);
        Ok(taken?)
    }
}
