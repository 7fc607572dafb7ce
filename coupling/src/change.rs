//! What of a world can change between steps, besides its bodies: the pins of cloth.

use nalgebra::Vector3;
use pliant_mpm::Mpm;
use pliant_mpm::cloth::PinError;

use crate::error::PinChangeError;
use crate::world::World;

impl World {
    /// Holds a vertex of a sheet of [`cloths`](Self::cloths) and moves it on a line from where it is
    /// to `to` (m, world frame) within a time \[s\]. It is held there until it is moved again or
    /// released; a pin that holds it already is replaced. The work of pins is part of the balance of
    /// energy. Particles on a device are fetched and handed over again.
    ///
    /// # Errors
    /// [`PinChangeError`]: a world that failed, no such sheet or vertex, a time that is not finite and
    /// positive, a place that is not finite; nothing is changed then.
    pub fn move_pin(
        &mut self,
        sheet: usize,
        vertex: usize,
        to: &Vector3<f64>,
        within: f64,
    ) -> Result<(), PinChangeError> {
        let time = self.time;
        self.change_pins(|mpm| mpm.move_pin(sheet, vertex, time, to, within))
    }

    /// Releases a vertex of a sheet; one that is not held stays as it is.
    ///
    /// # Errors
    /// [`PinChangeError`]: a world that failed, no such sheet or vertex.
    pub fn release_pin(&mut self, sheet: usize, vertex: usize) -> Result<(), PinChangeError> {
        let time = self.time;
        self.change_pins(|mpm| mpm.release_pin(sheet, vertex, time))
    }

    fn change_pins(
        &mut self,
        change: impl FnOnce(&mut Mpm) -> Result<(), PinError>,
    ) -> Result<(), PinChangeError> {
        // Handing particles over would make a world that failed look whole.
        if let Some(cause) = &self.failure {
            return Err(PinChangeError::Failed { cause: cause.clone() });
        }
        if self.backend.is_host() {
            return Ok(change(&mut self.mpm)?);
        }
        self.refresh()?;
        let cache = self.contact_cache_state()?;
        self.contact.restore(cache).map_err(|reason| PinChangeError::Cache { reason })?;
        change(&mut self.mpm)?;
        let taken = self.backend.load(&self.mpm, &self.contact);
        // The device may have lost what it had.
        self.failure = taken.as_ref().err().map(ToString::to_string);
        Ok(taken?)
    }
}
