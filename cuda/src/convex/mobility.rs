//! The strongly coupled bodies of the next solves, and their mobility.

use pliant_coupling::convex::Mobility;

use super::DeviceConvexSolver;
use super::bodies::StrongBodyMemory;
use crate::DeviceError;
use crate::kernels::CONVEX_NOT_STRONG;
use crate::staging::Staging;

impl DeviceConvexSolver {
    /// Stages the strongly coupled bodies of the next solves by their `mobility`, whose attachments
    /// do not matter: `places` has for each body of the contacts its number among the mobility's
    /// bodies, if it is strongly coupled. Memory grows where there is too little. True where
    /// commands are to be recorded anew; where no body is strongly coupled, and none was, nothing
    /// happens.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set_mobility(
        &mut self,
        staging: &mut Staging,
        mobility: &Mobility,
        places: &[Option<u32>],
    ) -> Result<bool, DeviceError> {
        let strongly_coupled = mobility.bodies();
        if strongly_coupled == 0 && self.bodies.is_none() {
            return Ok(false);
        }
        let fits = |memory: &&StrongBodyMemory| {
            memory.capacity >= strongly_coupled && memory.places.len() == places.len()
        };
        let contacts = self.contact_capacity as usize;
        let is_new = self.bodies.as_ref().filter(fits).is_none();
        if is_new {
            self.bodies =
                Some(StrongBodyMemory::new(&self.device, strongly_coupled, places.len(), contacts)?);
        }
        if let Some(memory) = &mut self.bodies {
            let place = |place: &Option<u32>| place.unwrap_or(CONVEX_NOT_STRONG);
            staging.upload(memory.counts.span(), &[strongly_coupled as u32, mobility.rank() as u32])?;
            staging.upload(memory.places.span(), &places.iter().map(place).collect::<Vec<_>>())?;
            staging.upload(memory.factor.span(), mobility.factor())?;
        }
        Ok(is_new)
    }

    /// Change of the velocity of each body in the last solve: angular \[rad/s\], linear \[m/s\],
    /// world axes, about the point that the contacts' levers are from. Zero of weakly coupled
    /// bodies; empty where none is strongly coupled.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download_body_velocity_changes(&self) -> Result<Vec<[f64; 6]>, DeviceError> {
        self.bodies.as_ref().map_or_else(|| Ok(Vec::new()), StrongBodyMemory::download_body_velocity_changes)
    }
}
