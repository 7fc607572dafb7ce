//! Which bodies answer in the next solves, and how.

use pliant_coupling::convex::Mobility;

use super::DeviceConvexSolver;
use super::bodies::Bodies;
use crate::DeviceError;
use crate::kernels::CONVEX_NO_ANSWER;

impl DeviceConvexSolver {
    /// Has bodies answer in the next solves as their `mobility` says, whose attachments do not
    /// matter: `places` has for each body of the contacts its number among the mobility's bodies,
    /// if it answers. Memory grows where there is too little. True where commands are to be
    /// recorded anew; where none answers, and none did, nothing happens.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set_mobility(&mut self, mobility: &Mobility, places: &[Option<u32>]) -> Result<bool, DeviceError> {
        let answering = mobility.bodies();
        if answering == 0 && self.bodies.is_none() {
            return Ok(false);
        }
        let fits = |memory: &&Bodies| memory.capacity >= answering && memory.places.len() == places.len();
        let contacts = self.contact_capacity as usize;
        let is_new = self.bodies.as_ref().filter(fits).is_none();
        if is_new {
            self.bodies = Some(Bodies::new(&self.device, answering, places.len(), contacts)?);
        }
        if let Some(memory) = &mut self.bodies {
            let place = |place: &Option<u32>| place.unwrap_or(CONVEX_NO_ANSWER);
            memory.counts.upload(&[answering as u32, mobility.rank() as u32])?;
            memory.places.upload(&places.iter().map(place).collect::<Vec<_>>())?;
            memory.factor.upload(mobility.factor())?;
        }
        Ok(is_new)
    }

    /// What the last solve changed the velocity of each body by: angular \[rad/s\], linear \[m/s\],
    /// world axes, about the point that the contacts' levers are from. Zero of bodies that do not
    /// answer; nothing where none does.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download_answers(&self) -> Result<Vec<[f64; 6]>, DeviceError> {
        self.bodies.as_ref().map_or_else(|| Ok(Vec::new()), Bodies::download_answers)
    }
}
